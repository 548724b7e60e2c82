# Reports what of a device or a file system is memory, and what caches it whatever is asked for: the script that this is part of has `say`, which prints
# KEY<tab>VALUE.
#
# memory_in MAJOR:MINOR: the device, or the file system whose files have this device number. What lies below is looked at
# too: volumes, partitions, loop devices and the file systems that their files are on.
memory_in() {
    local number=$1 other kind rest source
    local node=${sys:-/sys}/dev/block/$number
    [ -e "$node" ] && { memory_below "$(readlink -f -- "$node")"; return; }
    while read -r _ _ other _ _ rest; do
        [ "$other" = "$number" ] || continue
        rest=${rest#* - } kind=${rest%% *} rest=${rest#* } source=${rest%% *}
        case $kind in
        tmpfs|ramfs) say memory "$kind";;
        *) [ -b "$source" ] && memory_in "$(device_number "$source")";;
        esac
        return
    done < /proc/self/mountinfo
}
# shellcheck disable=SC2046 # two words
device_number() { set -- $(stat -Lc '%t %T' -- "$1") && echo "$(( 0x$1 )):$(( 0x$2 ))"; }
# the device number of the file system that a file is on
mount_of() {
    local number
    number=$(stat -Lc %d -- "$1" 2>/dev/null) || return
    echo "$(( (number >> 8 & 0xfff) | (number >> 32 & ~0xfff) )):$(( (number & 0xff) | (number >> 12 & ~0xff) ))"
}
memory_below() {
    local disk=$1 below number
    [ -e "$disk/partition" ] && disk=${disk%/*}
    for below in "$disk"/slaves/*; do
        [ -e "$below" ] && memory_below "$(readlink -f -- "$below")"
    done
    case ${disk##*/} in ram[0-9]*|zram[0-9]*|nullb[0-9]*) say memory "${disk##*/}";; esac
    [ "$(cat "$disk/device/model" 2>/dev/null)" != scsi_debug ] || say memory scsi_debug
    [ -r "$disk/loop/backing_file" ] || return 0
    [ "$(cat "$disk/loop/dio" 2>/dev/null)" != 0 ] || say cached "${disk##*/}"
    # by the kernel's own number: the file may be deleted, or in another mount namespace
    number=$(losetup -nO BACK-MAJ:MIN "/dev/${disk##*/}" 2>/dev/null | tr -d ' ')
    number=${number:-$(mount_of "$(cat "$disk/loop/backing_file")")}
    [ -z "$number" ] || memory_in "$number"
}
