# Removes all objects of a namespace that carries the mark, the mark last, and prints how many are left.
#
#   bash -c SCRIPT cephtui-empty MARK RADOS...
#
# The exit status is 66 if there are no objects, 76 if there are some without the mark.
mark=$1; shift
# all but the mark
others() (
    set -o pipefail
    "$@" ls | { grep -Fxv -e "$mark" || [ $? -eq 1 ]; }
)
count() { others "$@" | wc -l; return "${PIPESTATUS[0]}"; }
if ! "$@" stat "$mark" >/dev/null 2>&1; then
    left=$("$@" ls | wc -l; exit "${PIPESTATUS[0]}") || exit 1
    echo "$left"
    [ "$left" -eq 0 ] && exit 66
    # a failed stat is no proof that the mark is missing: the count has to be the same without it
    [ "$left" -eq "$(count "$@")" ] && exit 76
    exit 1
fi
before='' most=200
while :; do
    left=$(count "$@") || exit 1
    [ "$left" -gt 0 ] || break
    # the number must fall: if not, another client still creates objects
    [ -z "$before" ] || [ "$left" -lt "$before" ] || break
    before=$left
    # rm ends at the first object that does not exist any more: the next round removes the rest of its batch
    [ "$left" -ge 1600 ] || most=$(( left / 8 + 1 ))
    others "$@" | xargs -r -d '\n' -n "$most" -P 8 "$@" rm --force-full --
done
echo "$left"
[ "$left" -eq 0 ] || exit 1
"$@" rm --force-full -- "$mark"
