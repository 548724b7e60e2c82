# Reports what is at a path, and its file system.
#
#   bash -c MARK+QUEUES+MEMORY+LEADS+SCRIPT cephtui-inspect PATH
#
# A line is KEY<tab>VALUE...
path=$1
real=$(readlink -f -- "$path") && [ -n "$real" ] || real=$path
directory=$(dirname -- "$real")
say() { printf '%s' "$1"; shift; printf '\t%s' "$@"; printf '\n'; }
[ "$(id -u)" = 0 ] && say root yes
if [ -f "$path" ]; then
    say kind file
    say size "$(stat -Lc %s -- "$path")"
    say allocated "$(( $(stat -Lc %b -- "$path") * $(stat -Lc %B -- "$path") ))"
    say inode "$(stat -Lc %d:%i -- "$path")"
    [ -w "$path" ] && [ -r "$path" ] && say writable yes
    marked "$path" && say marked yes
    # by descriptor: by name, flock would make the file again if it has just been removed
    flock -s -w 1 -E 75 9 9< "$path" 2>/dev/null; [ $? -eq 75 ] && say busy yes
    claim=$(claim_of "$path")
    if [ -n "$claim" ]; then echo "$claim"; fi
    case $claim in *free) ;; *) users_of "$(id_of "$path")" "$path"; esac
elif [ -e "$path" ] || [ -L "$path" ]; then
    say kind "$(stat -c %F -- "$path")"
else
    say kind missing
    [ -w "$directory" ] && [ -x "$directory" ] && say writable yes
fi
[ -d "$directory" ] && say directory yes && say mount "$(stat -Lc %m -- "$directory")"
memory_in "$(mount_of "$path" || mount_of "$directory")"
# the data directory of an OSD is a tmpfs, or on the system disk: never on the disk that the OSD writes to
osd_of "$path"
df -B1 --output=avail,size,fstype,source -- "$directory" 2>/dev/null | tail -n 1 | {
    read -r free total fstype source
    say free "$free"; say total "$total"; say filesystem "$fstype"; say device "$source"
    # shellcheck disable=SC2046 # two words
    [ -b "$source" ] && set -- $(stat -Lc '%t %T' -- "$source") &&
        queues "$(readlink -f -- "/sys/dev/block/$(( 0x$1 )):$(( 0x$2 ))")"
}
exit 0
