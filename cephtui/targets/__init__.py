"""What is tested: where the data is, whether it may be written, how it is created and removed.

One module for each kind of target; ``base`` says what they have in common.
"""

from __future__ import annotations

import re

from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import Step
from cephtui.shell import Shell
from cephtui.store import Undo
from cephtui.targets import device, file, pool, rbd
from cephtui.targets.base import Removed, Target, TargetError, is_text
from cephtui.targets.device import DeviceTarget
from cephtui.targets.file import FileTarget
from cephtui.targets.pool import PoolTarget

__all__ = ["Target", "TargetError", "parse_target", "remove", "target_of"]
EXPECTED = "file:PATH, rbd:POOL, rbd:POOL/IMAGE, device:PATH or pool:POOL"
_OWNER = re.compile(r"[A-Za-z0-9._-]*")
_OF_POOLS = {"rbd": rbd.remove, "pool": pool.remove}


def parse_target(text: str, *, sitting: str | None = None, data_pool: str | None = None) -> Target:
    """The target that a text names; raises TargetError.

    ``sitting`` makes the names of new images unique. Without it the target can't be laid out.
    """
    scheme, _, rest = text.partition(":")
    if data_pool and (scheme != "rbd" or "/" in rest):
        raise TargetError("--data-pool is for the images that rbd:POOL creates")
    if rest and scheme == "file":
        return FileTarget(file.parse_path(text, rest))
    if rest and scheme == "device":
        return DeviceTarget(device.parse_path(text, rest))
    if rest and scheme == "rbd":
        return rbd.parse(text, rest, sitting, data_pool)
    if rest and scheme == "pool":
        return PoolTarget(pool.parse_name(text, rest))
    raise TargetError(f"unknown target {text!r}: expected {EXPECTED}")


def target_of(step: Step) -> Target:
    """What a step tests, where it is laid out already; raises TargetError."""
    return parse_target(step.target, data_pool=step.data_pool)


async def remove(shell: Shell, undo: Undo) -> Removed:
    """Remove a part that carries its owner, and nothing else; raises TransportError.

    What is gone with its pool, or was removed by others, is done.
    """
    scheme, _, name = undo.target.partition(":")
    if scheme == "file" and name.startswith("/") and is_text(name):
        return await file.remove(shell, name, undo.owner)
    if scheme not in _OF_POOLS or not _OWNER.fullmatch(undo.owner or ""):
        return Removed("not ours", "it is nothing that cephtui makes")
    pool, _, part = name.partition("/")
    removed = await _OF_POOLS[scheme](shell, pool, part, undo.owner)
    if removed.status != "absent":
        return removed
    try:
        now = await _name_now(shell, pool, undo)
    except ClusterError as error:
        return Removed("failed", str(error))
    if now is None:
        return Removed("done", f"it is gone with its pool: there is no pool {pool} any more")
    if now != pool:
        removed = await _OF_POOLS[scheme](shell, now, part, undo.owner)
    return Removed("done", "it was gone already") if removed.status == "absent" else removed


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
