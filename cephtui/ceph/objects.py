"""The objects of one RADOS namespace: the commands that mark it as cephtui's own, list it and empty it."""

from __future__ import annotations

from cephtui.models import Place, RadosPlace


def rados(place: Place, *words: str) -> tuple[str, ...]:
    """A rados command on a place's own objects; raises ValueError where they are not told from others."""
    if not (isinstance(place, RadosPlace) and place.pool and place.namespace):
        raise ValueError("expected a pool and a namespace")
    user = ("--id", place.ceph_id) if place.ceph_id else ()
    return ("rados", *user, "-p", place.pool, "-N", place.namespace, *words)


def list_argv(place: Place) -> tuple[str, ...]:
    """The command that prints the name of every object of a place, one a line."""
    return rados(place, "ls")


ABSENT_STATUS, OTHERS_STATUS = 66, 76
"""Of ``empty_argv``: nothing is there; what is there does not carry the mark."""

_CLAIM = r"""
mark=$1; shift
"$@" stat "$mark" >/dev/null 2>&1 && exit 0
left=$("$@" ls | wc -l; exit "${PIPESTATUS[0]}") || exit 1
[ "$left" -eq 0 ] || { echo "$left objects of others are in it" >&2; exit 76; }
"$@" create "$mark"
"""

_EMPTY = r"""
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
    # it may have been the question that failed
    [ "$left" -eq "$(count "$@")" ] && exit 76
    exit 1
fi
before= most=200
while :; do
    left=$(count "$@") || exit 1
    [ "$left" -gt 0 ] || break
    # objects that come back as fast as they go are somebody's who is still at work
    [ -z "$before" ] || [ "$left" -lt "$before" ] || break
    before=$left
    # a batch ends at the first name that is gone already: the next round takes its rest
    [ "$left" -ge 1600 ] || most=$(( left / 8 + 1 ))
    others "$@" | xargs -r -d '\n' -n "$most" -P 8 "$@" rm --force-full --
done
echo "$left"
[ "$left" -eq 0 ] || exit 1
"$@" rm --force-full -- "$mark"
"""


def claim_argv(place: Place, mark: str) -> tuple[str, ...]:
    """The command that makes an object of this name the first of a place; it fails where others have objects there.

    No benchmark reads, writes or counts it.
    """
    return ("bash", "-c", _CLAIM, "cephtui-claim", mark, *rados(place))


def empty_argv(place: Place, mark: str) -> tuple[str, ...]:
    """The command that removes every object of a place that carries the mark, on a full pool too, the mark last.

    It prints how many others are left; status 0 only for none, with the reason on stderr otherwise, or one of the two
    above. It needs bash and GNU xargs, and takes a second for 400 to 2,000 objects.
    """
    return ("bash", "-c", _EMPTY, "cephtui-empty", mark, *rados(place))
