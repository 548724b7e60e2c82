# Counts the images of a pool that have a watcher.
#
#   bash -c SCRIPT cephtui-images POOL MOST SECONDS PROGRAM COMMANDS
#
# Each OSD is asked once for its watchers, of all pools, in a single process: PROGRAM (commands_on_node.py), or ceph
# tell where only that may know how. Where the cephx caps deny it, each image takes a process: then MOST images are
# inspected, in about SECONDS. A line is KEY<tab>VALUE.
pool=$1 most=$2 seconds=$3 program=$4 commands=$5
say() { printf '%s\t%s\n' "$1" "$2"; }
listed=$(timeout "$seconds" rados -p "$pool" listomapkeys rbd_directory 2>&1) || {
    case $listed in *'No such file or directory'*rbd_directory*|*rbd_directory*'No such file or directory'*)
        say images 0; say looked 0; say used 0; exit 0;; esac
    printf '%s\n' "$listed" >&2; exit 1
}
ids=$(printf '%s\n' "$listed" | sed -n 's/^id_//p')
count=$(printf '%s' "$ids" | grep -c .)
say images "$count"
watchers() {
    timeout "$seconds" python3 -c "$program" "$commands" plain
    local status=$?
    [ "$status" = 127 ] || return "$status"
    timeout "$seconds" ceph tell 'osd.*' dump_watchers -f json
}
watched=$(watchers 2>/dev/null)
case $? in 0|6) # 6: an OSD is down, and its watchers are with others
    say looked "$count"
    say used "$(printf '%s' "$watched" | grep -o 'rbd_header\.[0-9a-f]*' | sort -u | sed 's/^rbd_header\.//' |
        grep -cxF -f <(printf '%s\n' "$ids"))"
    exit 0
esac
read -r up _ < /proc/uptime # which nobody sets, unlike the time of day
end=$(( ${up%.*} + seconds ))
printf '%s\n' "$ids" | head -n "$most" | xargs -P 4 -I '{}' bash -c '
    read -r up _ < /proc/uptime && [ "${up%.*}" -lt "$2" ] || exit 0
    found=$(timeout 5 rados -p "$1" listwatchers "rbd_header.$3" 2>/dev/null) || exit 0
    case $found in *watcher=*) echo used;; *) echo free;; esac
' cephtui-watchers "$pool" "$end" '{}' | sort | uniq -c | {
    used=0 free=0
    while read -r number word; do
        case $word in used) used=$number;; free) free=$number;; esac
    done
    say looked "$(( used + free ))"; say used "$used"
}
exit 0
