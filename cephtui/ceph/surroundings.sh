# Reports what a host has to measure, and what it is: by its files alone. It asks no cluster, and writes nothing.
#
#   bash -c SCRIPT cephtui-surroundings ROOT
#
# ROOT stands before all paths. lines.sh comes first; the last line is "done".
text host "$root/proc/sys/kernel/hostname"
text release "$root/etc/os-release"
if [ -d "$root/etc/pve" ]; then
    say proxmox "$(awk '/^Package:/ { is = $2 == "pve-manager" } is && /^Version:/ { print $2; exit }' \
        "$root/var/lib/dpkg/status" 2>/dev/null)"
    [ -r "$root/etc/pve" ] && [ -x "$root/etc/pve" ] || say unreadable /etc/pve
    text storage "$root/etc/pve/storage.cfg"
    for node in "$root"/etc/pve/nodes/*/; do
        [ -d "$node" ] && node=${node%/} && say node "${node##*/}"
    done
    text corosync "$root/etc/pve/corosync.conf" || text corosync "$root/etc/corosync/corosync.conf"
fi
for file in "$root"/etc/ceph/*.conf "$root"/etc/pve/ceph.conf; do
    [ -r "$file" ] && say conf "${file#"$root"}"
done
for file in "$root"/etc/ceph/*.keyring "$root"/etc/ceph/keyring "$root"/etc/pve/priv/ceph.*.keyring \
        "$root"/etc/pve/priv/ceph/*.keyring; do
    [ -e "$file" ] || continue
    if [ -r "$file" ]; then say keyring "${file#"$root"}"; else say unreadable "${file#"$root"}"; fi
done
while read -r _ path type _; do
    case $type in
        ceph|fuse.ceph|fuse.ceph-fuse) say mount "$path" ;;
        nfs*|cifs|ext4|xfs|btrfs|zfs) say mounted "$path" ;;
    esac
done 2>/dev/null < "$root/proc/self/mounts"
for name in ceph rados rbd cephadm apt-get dnf zypper; do
    command -v "$name" >/dev/null 2>&1 && say program "$name"
done
say curl "$(timeout 3 curl --version 2>/dev/null | head -n 1)"
command -v ssh >/dev/null 2>&1 && say ssh "$(ssh -V 2>&1 | head -n 1)"
say 'done' ''
