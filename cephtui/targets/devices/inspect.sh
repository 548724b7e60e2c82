# Reports what a block device is and who uses it; it writes nothing.
#
#   bash -c QUEUES+MEMORY+LEADS+SCRIPT cephtui-device PATH SYS PVE
#
# SYS and PVE are /sys and /etc/pve. A line is KEY<tab>VALUE; targets/devices/facts.py has the keys.

# O_RDONLY|O_EXCL asks the kernel for the claim that mounts, swap, LVM, RAID, ZFS, OSDs and exports take, in every
# mount namespace; read-only, since closing a device that was open for writing wakes udev. No coreutils opens so.
claim() {
    if command -v perl >/dev/null; then
        perl -MFcntl -MErrno -e 'exit 0 if sysopen(my $f, $ARGV[0], O_RDONLY | O_EXCL); exit($!{EBUSY} ? 75 : 76)' "$1"
    elif command -v python3 >/dev/null; then
        python3 -c 'if True:
            import errno, os, sys
            try:
                os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
            except OSError as error:
                sys.exit(75 if error.errno == errno.EBUSY else 76)' "$1"
    else
        return 77
    fi 2>/dev/null
}

path=$1 sys=$2 pve=$3
say() { printf '%s' "$1"; shift; printf '\t%s' "$@"; printf '\n'; }
# shellcheck disable=SC2046 # two words
number_of() { set -- $(stat -Lc '%t %T' -- "$1" 2>/dev/null) && [ $# = 2 ] && number=$(( 0x$1 )):$(( 0x$2 )); }
ours() { case " $family " in *" $1 "*) return 0; esac; return 1; }
# the files that it is made of, by loop devices on whatever level, and the name of each of those
files_below() {
    local below
    for below in "$1"/slaves/*; do
        [ -e "$below" ] && files_below "$(readlink -f -- "$below")"
    done
    [ -e "$1/partition" ] && below=${1%/*} || below=$1
    [ -r "$below/loop/backing_file" ] && printf '%s\t%s\n' "${below##*/}" "$(cat "$below/loop/backing_file")"
}
if [ ! -b "$path" ]; then
    if [ -e "$path" ] || [ -L "$path" ]; then say kind "$(stat -Lc %F -- "$path" 2>/dev/null || echo 'dangling link')"
    else say kind missing; fi
    exit 0
fi
say kind device
number_of "$path" && node=$(readlink -f -- "$sys/dev/block/$number") && [ -r "$node/size" ] || exit 0
say name "${node##*/}"; say number "$number"
say size "$(( $(cat "$node/size") * 512 ))"
[ "$(cat "$node/ro")" = 0 ] || say readonly yes
[ "$(id -u)" = 0 ] && say root yes
whole=$node; [ -e "$node/partition" ] && { whole=${node%/*}; say whole "${whole##*/}"; }
[ -r "$node/dm/name" ] && { say dm.name "$(cat "$node/dm/name")"; say dm.uuid "$(cat "$node/dm/uuid")"; }
[ -r "$node/loop/backing_file" ] && say backing "$(cat "$node/loop/backing_file")"
files_below "$node" | while IFS=$'\t' read -r loop file; do
    [ -e "$file" ] || continue
    osd_of "$file"
    users_of "$(id_of "$file")" "$file" | grep -vxF -e "$(say holder "$loop")"
done
queues "$node"
memory_in "$number"

family=$number
for part in "$node"/*/partition; do
    [ -e "$part" ] || continue
    part=${part%/partition}; say partition "${part##*/}"; family="$family $(cat "$part/dev")"
done
[ "$whole" = "$node" ] || family="$family $(cat "$whole/dev")"
for holder in "$node"/holders/* "$node"/*/holders/* "$whole"/holders/*; do
    [ -e "$holder" ] && say holder "${holder##*/}"
done

# the kernel neither claims nor lists as held the device behind a loop device or an NVMe export
for file in "$sys"/block/loop*/loop/backing_file "$sys"/kernel/config/nvmet/subsystems/*/namespaces/*/device_path; do
    [ -r "$file" ] && other=$(cat "$file" 2>/dev/null) && [ -b "$other" ] && number_of "$other" && ours "$number" || continue
    case $file in */loop/*) file=${file%/loop/*};; *) file=${file%/namespaces/*}; esac
    say holder "${file##*/}"
done

while read -r _ _ number _ point rest; do
    rest=${rest#* - } rest=${rest#* } source=${rest%% *}
    # btrfs and some others mount with a device number of their own
    case "$number $source" in 0:*' /dev/'*) [ -b "$source" ] && number_of "$source"; esac
    ours "$number" && unescape "$point" && say mounted "$plain"
done < /proc/self/mountinfo
while read -r file _; do
    unescape "$file"; [ -b "$plain" ] && number_of "$plain" && ours "$number" && say swap "$plain"
done < /proc/swaps
# by device number: in a container the same device has another name. Only links to /dev, since others may hang
find /proc/[0-9]*/fd -maxdepth 1 -lname '/dev/*' -xtype b -exec stat -Lc '%t %T %n' -- {} + 2>/dev/null |
    while read -r major minor file; do
        ours $(( 0x$major )):$(( 0x$minor )) && file=${file%/fd/*} || continue
        say opened "${file##*/}" "$(cat "$file/comm" 2>/dev/null)"
    done

if found=$(wipefs -n -J -- "$path" 2>/dev/null); then say signatures "$(printf %s "$found" | tr -d '\n\t')"; fi
has_label "$path" && say osd-data "$path"
claim "$path"; case $? in 0) say claim free;; 75) say claim busy;; 77) say claim untried;; esac

find -L /dev -xdev -samefile "$path" 2>/dev/null | sort | while read -r alias; do say alias "$alias"; done
for file in "$pve"/qemu-server/*.conf "$pve"/lxc/*.conf "$pve"/nodes/*/qemu-server/*.conf "$pve"/nodes/*/lxc/*.conf; do
    [ -e "$file" ] || continue
    [ -r "$file" ] || { say unreadable "$file"; continue; }
    grep -oE '/dev/[^,[:space:]]+' -- "$file" | sort -u | while read -r other; do
        [ -b "$other" ] && number_of "$other" && ours "$number" && say reference "$file"
    done
done

mapping=${whole##*/}
case $mapping in rbd[0-9]*)
    for key in pool name pool_ns current_snap client_id cluster_fsid; do
        [ -r "$sys/bus/rbd/devices/${mapping#rbd}/$key" ] || continue
        say "rbd.$key" "$(cat "$sys/bus/rbd/devices/${mapping#rbd}/$key")"
    done
esac
exit 0
