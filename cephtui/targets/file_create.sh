# Creates a file, or resizes one of cephtui, marks it, and prints its device and inode.
#
#   bash -c MARK+SCRIPT cephtui-create PATH SPAN OWNER
#
# noclobber creates with O_EXCL: a file that was created after the inspection is not taken. Before the lock is held for a
# run, the last to write its mark owns the file: the watchdog checks the owner once it holds the lock.
path=$1 span=$2 owner=$3 new=
refuse() { echo "$path $1" >&2; exit 1; }
if [ ! -e "$path" ]; then
    ( set -o noclobber; : > "$path" ) || exit 1
    new=yes
fi
[ -f "$path" ] || refuse "exists and was not made by cephtui"
exec 9< "$path" || exit 1
flock -w 1 9 || refuse "is in use by another run"
[ "$(stat -Lc %d:%i /proc/self/fd/9)" = "$(stat -Lc %d:%i -- "$path")" ] || refuse "does not exist any more"
[ -n "$new" ] || marked "$path" || refuse "exists and was not made by cephtui"
# fullblock: bash writes each line by itself, and dd would take the first for all of it
printf 'cephtui scratch file: cephtui may overwrite and remove it\n%s\n' "$owner" |
    dd of="$path" bs=4096 seek="$span" iflag=fullblock oflag=seek_bytes conv=notrunc,sync status=none &&
    truncate -s "$(( span + 4096 ))" -- "$path" && stat -Lc %d:%i -- "$path" && exit 0
[ -n "$new" ] && rm -f -- "$path" # without its mark cleanup could not recognise it
exit 1
