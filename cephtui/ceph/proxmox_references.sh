# Prints the lines in the files of Proxmox VE guests that name an image.
#
#   bash -c SCRIPT cephtui-guests PVE IMAGE
#
# PVE is /etc/pve. grep only saves sending most of the files: the console checks each line itself.
pve=$1 image=$2
for file in "$pve"/qemu-server/*.conf "$pve"/lxc/*.conf "$pve"/nodes/*/qemu-server/*.conf "$pve"/nodes/*/lxc/*.conf; do
    [ -e "$file" ] || continue
    if [ -r "$file" ]; then
        grep -F -- "$image" "$file" | while IFS= read -r line; do printf 'line\t%s\t%s\n' "$file" "$line"; done
    else
        printf 'unreadable\t%s\n' "$file"
    fi
done
[ -d "$pve" ] && [ ! -x "$pve" ] && printf 'unreadable\t%s\n' "$pve"
printf 'done\t\n'
