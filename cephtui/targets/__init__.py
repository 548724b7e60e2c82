"""What is tested: where the data is, whether it may be written, how it is created and removed.

To add a kind of target: its module here, a function that imports it, and its row in the table. The kinds that are in
a cluster are imported where one is named: with what they know of Ceph they are a tenth of the console's start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from cephtui.printable import either
from cephtui.targets.access import AccessKind
from cephtui.targets.base import Target, TargetError, TargetKind
from cephtui.targets.file import FileKind

__all__ = ["Target", "TargetError", "every_kind", "parse_target", "removal_groups", "target_examples", "target_kind"]
T = TypeVar("T")


def _rbd() -> TargetKind:
    from cephtui.targets.rbd import RbdKind

    return RbdKind()


def _device() -> TargetKind:
    from cephtui.targets.device import DeviceKind

    return DeviceKind()


def _pool() -> TargetKind:
    from cephtui.targets.pool import PoolKind

    return PoolKind()


def _host() -> TargetKind:
    from cephtui.targets.host import HostKind

    return HostKind()


def _s3() -> TargetKind:
    from cephtui.targets.s3 import S3Kind

    return S3Kind()


def _krbd() -> TargetKind:
    from cephtui.targets.krbd import KrbdKind

    return KrbdKind()


def _cephfs() -> TargetKind:
    from cephtui.targets.cephfs import CephfsKind

    return CephfsKind()


def _osd() -> TargetKind:
    from cephtui.targets.osd import OsdKind

    return OsdKind()


def _new_pool() -> TargetKind:
    from cephtui.targets.new_pool import NewPoolKind

    return NewPoolKind()


KINDS: Mapping[str, Callable[[], TargetKind]] = {
    "file": FileKind,
    "rbd": _rbd,
    "krbd": _krbd,
    "device": _device,
    "pool": _pool,
    "cephfs": _cephfs,
    "host": _host,
    "s3": _s3,
    "osd": _osd,
    "new-pool": _new_pool,
}
"""A function for each kind of target, by its scheme."""


def _quiet() -> TargetKind:
    from cephtui.targets.quiet import QuietKind

    return QuietKind()


LEFTOVERS: Mapping[str, Callable[[], TargetKind]] = {AccessKind.scheme: AccessKind, "quiet": _quiet}
"""The kinds of parts that are in no target and have to be removed as parts of targets are."""


def every_kind() -> list[TargetKind]:
    """All kinds of targets, in their order."""
    return [make() for make in KINDS.values()]


def target_examples() -> list[str]:
    """Examples of how targets are written."""
    return [example for kind in every_kind() for example in kind.examples]


def usual_target(kinds: Collection[str]) -> str:
    """The target that is used where none is named, for a tool that can use these kinds; empty for a scratch file."""
    usual = (kind.spec(kind.usual) for kind in every_kind() if kind.usual and {*kinds} == {kind.scheme})
    return next(usual, "")


def target_kind(text: str) -> TargetKind | None:
    """The kind of a target, or of a part of one, by its scheme; None for any other text."""
    scheme, colon, _ = text.partition(":")
    make = {**KINDS, **LEFTOVERS}.get(scheme) if colon else None
    return make() if make else None


def removal_groups(parts: Iterable[T], spec: Callable[[T], str]) -> list[list[T]]:
    """Parts in groups that are removed one after the other: pools first, with all that is in them."""
    groups: dict[bool, list[T]] = {True: [], False: []}
    for part in parts:
        kind = target_kind(spec(part))
        groups[kind is not None and kind.holds_parts].append(part)
    return [group for group in groups.values() if group]


def parse_target(text: str, *, owner_id: str | None = None, data_pool: str | None = None) -> Target:
    """The target that a text names; raises TargetError.

    ``owner_id`` makes the names of new images unique. Without it the target can't be laid out.
    """
    kind, name = target_kind(text), text.partition(":")[2]
    if kind is None or not name:
        meant = _meant(text)
        hint = f"did you mean {meant}?" if meant else f"expected {either(target_examples())}"
        raise TargetError(f"unknown target {text!r}: {hint}")
    target = kind.parse(name, owner_id)
    return with_data_pool(target, data_pool) if data_pool else target


def _meant(text: str) -> str:
    """A path with its scheme, or a scheme that is written otherwise; empty for any other text."""
    scheme, _, name = text.partition(":")
    if text.startswith("/"):
        return f"{'device' if text.startswith('/dev/') else 'file'}:{text}"
    return f"{scheme.lower()}:{name}" if name and scheme.lower() in KINDS else ""


def with_data_pool(target: Target, name: str) -> Target:
    """A target whose new images have their data in this pool; raises TargetError where it has none."""
    if not target.creates_images:
        raise TargetError("--data-pool is for the images that rbd:POOL creates")
    return replace(target, data_pool=name)
