"""The objects of one RADOS namespace: the commands that mark it as cephtui's own, list it and empty it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui import models
from cephtui.paths import packaged_text

if TYPE_CHECKING:
    from cephtui.models import Place


def rados(place: Place, *words: str) -> tuple[str, ...]:
    """A rados command on a place's own objects; raises ValueError without a pool and a namespace."""
    if not (isinstance(place, models.RadosPlace) and place.pool and place.namespace):
        raise ValueError("expected a pool and a namespace")
    user = ("--id", place.ceph_id) if place.ceph_id else ()
    return ("rados", *user, "-p", place.pool, "-N", place.namespace, *words)


_CLAIM = packaged_text("cephtui.ceph", "objects_claim.sh")
_EMPTY = packaged_text("cephtui.ceph", "objects_empty.sh")
ABSENT_STATUS, OTHERS_STATUS = 66, 76
"""Exit statuses of ``empty_argv``: nothing is there; what is there does not carry the mark."""


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
