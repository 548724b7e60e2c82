# Reports the disks, partitions and volumes of a node; it opens none of them.
#
#   bash -c SCRIPT cephtui-devices SYS DEV
#
# SYS and DEV are /sys and /dev. A line is KEY<tab>VALUE, a device begins with its kind. Left out are devices in memory
# (ram, zram) and with removable media (fd, sr).
sys=$1 dev=$2
say() { printf '%s\t%s\n' "$1" "$2"; }
said() { local value; [ -r "$2" ] && IFS= read -r value < "$2" && say "$1" "$value"; }
for node in "$sys"/class/block/*; do
    name=${node##*/} path=$dev/${node##*/} size=0
    path=${path//!//}
    case $name in ram[0-9]*|zram[0-9]*|fd[0-9]*|sr[0-9]*) continue;; esac
    [ -r "$node/size" ] && read -r size < "$node/size" && [ "$size" -gt 0 ] || continue
    [ -r "$node/dm/name" ] && IFS= read -r volume < "$node/dm/name" && [ -b "$dev/mapper/$volume" ] &&
        path=$dev/mapper/$volume
    [ -b "$path" ] || continue
    say kind device; say alias "$path"; say name "$name"; say size "$(( size * 512 ))"
    read -r readonly < "$node/ro" && [ "$readonly" = 0 ] || say readonly yes
    said dm.name "$node/dm/name"; said dm.uuid "$node/dm/uuid"; said backing "$node/loop/backing_file"
    for part in "$node"/*/partition; do
        [ -e "$part" ] && part=${part%/partition} && say partition "${part##*/}"
    done
    for holder in "$node"/holders/* "$node"/*/holders/*; do
        [ -e "$holder" ] && say holder "${holder##*/}"
    done
done
exit 0
