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
# a faster disk that keeps a part of a slower one; what can't be read without root is not known
cache_at() {
    local disk=$1 below number kind='' mode
    case ${disk##*/} in bcache[0-9]*)
        mode=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$disk/bcache/cache_mode" 2>/dev/null)
        case "$mode $(cat "$disk/bcache/state" 2>/dev/null)" in ' '*|none*|*' no cache') ;;
        *) say cache "${disk##*/} (bcache, $mode)";;
        esac
    esac
    [ -r "$disk/dm/name" ] || return 0
    for below in "$disk"/slaves/*/dm; do
        case "$(cat "$below/uuid" "$below/name" 2>/dev/null)" in
        LVM-*_corig) kind=dm-cache;;
        LVM-*_wcorig) kind=dm-writecache;;
        esac
    done
    number=$(cat "$disk/dev" 2>/dev/null)
    while [ -n "$number" ] && read -r _ _ mode below; do
        case "$mode $below" in
        'cache '*' passthrough '*) kind='';;
        'cache '*|'writecache '*) kind=dm-$mode;;
        esac
    done < <(dmsetup table -j "${number%:*}" -m "${number#*:}" 2>/dev/null)
    [ -z "$kind" ] || say cache "$(cat "$disk/dm/name") ($kind)"
}
memory_below() {
    local disk=$1 below number
    [ -e "$disk/partition" ] && disk=${disk%/*}
    for below in "$disk"/slaves/*; do
        [ -e "$below" ] && memory_below "$(readlink -f -- "$below")"
    done
    cache_at "$disk"
    case ${disk##*/} in ram[0-9]*|zram[0-9]*|nullb[0-9]*) say memory "${disk##*/}";; esac
    [ "$(cat "$disk/device/model" 2>/dev/null)" != scsi_debug ] || say memory scsi_debug
    [ -r "$disk/loop/backing_file" ] || return 0
    [ "$(cat "$disk/loop/dio" 2>/dev/null)" != 0 ] || say cached "${disk##*/}"
    # by the kernel's own number: the file may be deleted, or in another mount namespace
    number=$(losetup -nO BACK-MAJ:MIN "/dev/${disk##*/}" 2>/dev/null | tr -d ' ')
    number=${number:-$(mount_of "$(cat "$disk/loop/backing_file")")}
    [ -z "$number" ] || memory_in "$number"
}
