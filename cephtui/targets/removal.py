"""Removes what cephtui has made, wherever it is now."""

from __future__ import annotations

import re

from cephtui.ceph.pools import OsdMap
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.nodes.shell import Shell
from cephtui.printable import printable
from cephtui.sessions.undo import Undo
from cephtui.targets import target_kind
from cephtui.targets.base import Removed

_OWNER = re.compile(r"[A-Za-z0-9._-]*")


async def remove_part(shell: Shell, undo: Undo) -> Removed:
    """Remove a part that carries its owner, and nothing else; raises TransportError.

    A part whose pool was removed, or that others have removed, is done.
    """
    kind, name = target_kind(undo.target), undo.target.partition(":")[2]
    if kind is None or (kind.in_pool and not _OWNER.fullmatch(undo.owner or "")):
        return Removed("not ours", "cephtui does not create such targets")
    removed = await kind.remove(shell, name, undo.owner)
    if removed.status != "absent":
        return removed
    if kind.ends_with_study:
        return await _absent_setting(shell, undo)
    if not kind.in_pool:
        return _absent_file(name, undo.mount, removed.text)
    pool, _, part = name.partition("/")
    try:
        current_name = await _name_now(shell, pool, undo)
    except ClusterError as error:
        return Removed("failed", str(error))
    if current_name is None:
        return Removed("done", f"it was removed with its pool: there is no pool {pool} any more")
    if current_name != pool:
        removed = await kind.remove(shell, f"{current_name}/{part}", undo.owner)
    return Removed("done", "it was removed already") if removed.status == "absent" else removed


def _absent_file(path: str, before: str | None, now: str) -> Removed:
    """A missing file was removed by others, unless its file system is not mounted any more, as after a reboot."""
    if before in (None, printable(now)):
        return Removed("done")
    return Removed(
        "failed", f"it is on the file system of {before}, but {path} is on that of {now} now: mount the first one"
    )


async def _absent_setting(shell: Shell, undo: Undo) -> Removed:
    """What the cluster does not know of is put back already, unless another cluster answers."""
    try:
        await _osd_map_of(shell, undo)
    except ClusterError as error:
        return Removed("failed", str(error))
    return Removed("done")


async def _osd_map_of(shell: Shell, undo: Undo) -> OsdMap:
    """The pools of the cluster that a part is in; raises ClusterError, also where another cluster answers."""
    osd_map = await ClusterReader(shell).ask(reader.OSD_MAP)
    if undo.cluster and osd_map.fsid != undo.cluster:
        problem = f"it was created in cluster {undo.cluster}, but {osd_map.fsid or 'an unknown one'} answers"
        raise ClusterError(problem, "start cephtui with the right --ceph-conf and --ceph-keyring")
    return osd_map


async def _name_now(shell: Shell, pool: str, undo: Undo) -> str | None:
    """The name that the pool of a part has now; None where the pool does not exist any more.

    Without its id it is known by its name. Raises ClusterError.
    """
    osd_map = await _osd_map_of(shell, undo)
    if undo.pool_id is None:
        return pool if pool in osd_map.pools else None
    return next((other.name for other in osd_map.pools.values() if other.id == undo.pool_id), None)
