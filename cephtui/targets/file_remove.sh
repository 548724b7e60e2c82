# Removes a file that carries the mark of its owner, has no other name and is not in use.
#
#   bash -c MARK+SCRIPT cephtui-remove PATH OWNER HELD
#
# HELD is empty; the script calls itself with it once it holds the lock, or once no process can hold it. The exit status
# is 75 if a run holds the file, 76 if it is not the owner's, 77 if it is not there: then stderr has the mount point of
# the file system that it would be on.
path=$1 owner=$2 held=$3
refuse() { echo "$path $1" >&2; exit 76; }
if [ ! -e "$path" ]; then
    while [ -n "$path" ] && [ ! -e "$path" ]; do path=${path%/*}; done
    stat -Lc %m -- "${path:-/}" >&2
    exit 77
fi
[ ! -L "$path" ] && marked "$path" || refuse "does not carry cephtui's mark any more"
found=$(owner_of "$path") || { echo "the mark of $path can't be read" >&2; exit 1; }
[ "$found" = "$owner" ] || refuse "carries the mark of another session"
[ "$(stat -c %h -- "$path")" -eq 1 ] || refuse "has other names (hard links)"
[ -z "$held" ] || exec rm -f -- "$path"
# waits for processes that only test the lock, then checks the file again: it may have been replaced meanwhile
flock -w 1 -E 75 "$path" bash -c "$BASH_EXECUTION_STRING" "$0" "$path" "$owner" held
rc=$?
# The lock of a process that was killed while its client was cut off stays with CephFS until that is unmounted.
is_open() { find /proc/[0-9]*/fd -maxdepth 1 -lname "$(readlink -f -- "$path")" -print -quit 2>/dev/null | grep -q .; }
if [ $rc -eq 75 ] && [ "$(stat -f -c %T -- "$path")" = ceph ] && ! is_open; then
    exec bash -c "$BASH_EXECUTION_STRING" "$0" "$path" "$owner" held
fi
[ $rc -eq 75 ] && echo "$path is in use by another run" >&2
exit $rc
