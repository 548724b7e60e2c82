"""What is tested: where the data is, whether it may be written, how it is created and removed.

To add a kind of target: its module here, and its row in the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.nodes.shell import Shell
from cephtui.sessions.undo import Undo
from cephtui.targets.base import Removed, Target, TargetError, TargetKind
from cephtui.targets.device import DeviceKind
from cephtui.targets.file import FileKind
from cephtui.targets.pool import PoolKind
from cephtui.targets.rbd import RbdKind

__all__ = ["Target", "TargetError", "kind_of", "parse_target", "remove"]
KINDS: Mapping[str, TargetKind] = {kind.scheme: kind for kind in (FileKind(), RbdKind(), DeviceKind(), PoolKind())}
"""Every kind of target by its scheme."""
EXAMPLES = tuple(example for kind in KINDS.values() for example in kind.examples)
_OWNER = re.compile(r"[A-Za-z0-9._-]*")


def kind_of(text: str) -> TargetKind | None:
    """The kind of a target, or of a part of one, by its scheme; None for any other text."""
    scheme, colon, _ = text.partition(":")
    return KINDS.get(scheme) if colon else None


def parse_target(text: str, *, owner_id: str | None = None, data_pool: str | None = None) -> Target:
    """The target that a text names; raises TargetError.

    ``owner_id`` makes the names of new images unique. Without it the target can't be laid out.
    """
    kind, name = kind_of(text), text.partition(":")[2]
    if kind is None or not name:
        raise TargetError(f"unknown target {text!r}: expected {', '.join(EXAMPLES[:-1])} or {EXAMPLES[-1]}")
    target = kind.parse(name, owner_id)
    return with_data_pool(target, data_pool) if data_pool else target


def with_data_pool(target: Target, name: str) -> Target:
    """A target whose new images have their data in this pool; raises TargetError where it has none."""
    if not target.creates_images:
        raise TargetError("--data-pool is for the images that rbd:POOL creates")
    return replace(target, data_pool=name)


async def remove(shell: Shell, undo: Undo) -> Removed:
    """Remove a part that carries its owner, and nothing else; raises TransportError.

    A part whose pool was removed, or that others have removed, is done.
    """
    kind, name = kind_of(undo.target), undo.target.partition(":")[2]
    if kind is None or (kind.in_pool and not _OWNER.fullmatch(undo.owner or "")):
        return Removed("not ours", "it is nothing that cephtui makes")
    removed = await kind.remove(shell, name, undo.owner)
    if not kind.in_pool or removed.status != "absent":
        return removed
    pool, _, part = name.partition("/")
    try:
        now = await _name_now(shell, pool, undo)
    except ClusterError as error:
        return Removed("failed", str(error))
    if now is None:
        return Removed("done", f"it was removed with its pool: there is no pool {pool} any more")
    if now != pool:
        removed = await kind.remove(shell, f"{now}/{part}", undo.owner)
    return Removed("done", "it was removed already") if removed.status == "absent" else removed


async def _name_now(shell: Shell, pool: str, undo: Undo) -> str | None:
    """What the pool of a part is called now; None where it does not exist any more.

    Without its id it is known by its name. Raises ClusterError, also where another cluster answers.
    """
    found = await ClusterReader(shell).ask(reader.OSD_MAP)
    if undo.cluster and found.fsid != undo.cluster:
        where = f"the cluster that answers is {found.fsid or 'unknown'}, it was made in {undo.cluster}"
        raise ClusterError(where, "see --ceph-conf and --ceph-keyring")
    if undo.pool_id is None:
        return pool if pool in found.pools else None
    return next((name for name, one in found.pools.items() if one.id == undo.pool_id), None)
