# Extends a file that the user has given up to a size, if it is smaller: a tool would put another in its place.
#
#   bash -c MARK+SCRIPT cephtui-extend PATH IDENTITY BYTES
#
# IDENTITY is the device and inode of the file that was inspected.
[ -f "$1" ] && exec 9< "$1" && [ "$(stat -Lc %d:%i /proc/self/fd/9)" = "$2" ] ||
    { echo "$1 leads to something else than when it was inspected" >&2; exit 1; }
exec truncate -s ">$3" /proc/self/fd/9
