"""What is tested: where the data is, whether it may be written, how it is created and removed.

To add a kind of target: its module here, a function that imports it, and its row in the table. The kinds that are in
a cluster are imported where one is named: with what they know of Ceph they are a tenth of the console's start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from cephtui.targets.base import Target, TargetError, TargetKind
from cephtui.targets.file import FileKind

__all__ = ["Target", "TargetError", "every_kind", "examples", "kind_of", "parse_target"]


def _rbd() -> TargetKind:
    from cephtui.targets.rbd import RbdKind

    return RbdKind()


def _device() -> TargetKind:
    from cephtui.targets.device import DeviceKind

    return DeviceKind()


def _pool() -> TargetKind:
    from cephtui.targets.pool import PoolKind

    return PoolKind()


KINDS: Mapping[str, Callable[[], TargetKind]] = {"file": FileKind, "rbd": _rbd, "device": _device, "pool": _pool}
"""What makes every kind of target, by its scheme."""


def every_kind() -> list[TargetKind]:
    """All of them, in their order."""
    return [make() for make in KINDS.values()]


def examples() -> list[str]:
    """How targets are written."""
    return [example for kind in every_kind() for example in kind.examples]


def kind_of(text: str) -> TargetKind | None:
    """The kind of a target, or of a part of one, by its scheme; None for any other text."""
    scheme, colon, _ = text.partition(":")
    make = KINDS.get(scheme) if colon else None
    return make() if make else None


def parse_target(text: str, *, owner_id: str | None = None, data_pool: str | None = None) -> Target:
    """The target that a text names; raises TargetError.

    ``owner_id`` makes the names of new images unique. Without it the target can't be laid out.
    """
    kind, name = kind_of(text), text.partition(":")[2]
    if kind is None or not name:
        *others, last = examples()
        raise TargetError(f"unknown target {text!r}: expected {', '.join(others)} or {last}")
    target = kind.parse(name, owner_id)
    return with_data_pool(target, data_pool) if data_pool else target


def with_data_pool(target: Target, name: str) -> Target:
    """A target whose new images have their data in this pool; raises TargetError where it has none."""
    if not target.creates_images:
        raise TargetError("--data-pool is for the images that rbd:POOL creates")
    return replace(target, data_pool=name)
