# Creates the mark of a namespace, unless other objects are in it.
#
#   bash -c SCRIPT cephtui-claim MARK RADOS...
#
# RADOS is the command with its pool and namespace.
mark=$1; shift
"$@" stat "$mark" >/dev/null 2>&1 && exit 0
left=$("$@" ls | wc -l; exit "${PIPESTATUS[0]}") || exit 1
[ "$left" -eq 0 ] || { echo "$left objects of others are in it" >&2; exit 76; }
"$@" create "$mark"
