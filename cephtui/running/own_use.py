"""What this user has just done to Ceph pools, by the sessions on this machine: the cluster's figures follow later."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from cephtui.cluster import preflight, reader
from cephtui.cluster.preflight import Demand, Preflight
from cephtui.cluster.reader import ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.nodes.shell import Shell
from cephtui.sessions.store import UNDO_FILE, StoreError, read_run, readable_lines, run_directories
from cephtui.sessions.undo import Undo
from cephtui.targets import TargetError, parse_target, target_kind

FREED_SECONDS = 60.0
"""How long what was removed can be missing in the free space."""
CHECK_AGAIN_SECONDS = 3.0
_WAITS_FOR_ROOM = "waiting until the space of removed data is free"


@dataclass(frozen=True, slots=True)
class OwnUse:
    """A run or a removal that a session knows of."""

    cluster: str | None
    """Its fsid; None where it could not be asked."""
    pool: str
    ended: bool = True
    """False is a run in progress."""
    removal: bool = False


def own_uses(root: Path, seconds: float) -> list[OwnUse]:
    """Uses of the runs that ended in the last seconds, or go on. Sessions that can't be read are left out."""
    since, uses = time.time() - seconds, list[OwnUse]()
    with contextlib.suppress(OSError):
        for directory in root.iterdir():
            with contextlib.suppress(OSError):
                uses += [*_removals(directory, since), *_runs(directory, since)]
    return uses


def _removals(directory: Path, since: float) -> Iterator[OwnUse]:
    """The last of a session: when those before it were is not known."""
    path = directory / UNDO_FILE
    if not _written_since(path, since):
        return
    for undo in list(readable_lines(path, Undo))[-1:]:
        kind = target_kind(undo.target)
        if undo.done and kind is not None and kind.in_pool:
            yield OwnUse(undo.cluster, undo.target.partition(":")[2].partition("/")[0], removal=True)


def _runs(directory: Path, since: float) -> Iterator[OwnUse]:
    """The newest first; those that ended earlier are not read."""
    for number, path in reversed(run_directories(directory)):
        if not any(_written_since(path / name, since) for name in ("run.json", "samples.jsonl")):
            return
        with contextlib.suppress(StoreError):
            run = read_run(directory, number)
            if pool := _pool_of(run):
                yield OwnUse(run.cluster.fsid if run.cluster else None, pool, ended=run.outcome is not None)


def _pool_of(run: Run) -> str | None:
    try:
        return parse_target(run.target).pool
    except TargetError:
        return None


def _written_since(path: Path, since: float) -> bool:
    try:
        return since <= path.stat().st_mtime <= time.time()
    except OSError:
        return False


async def has_just_ended(root: Path, cluster: ClusterReader, pool: str) -> bool:
    """Whether the I/O that the cluster reports of a pool can be that of this user's last run; raises TransportError."""
    uses = [use for use in own_uses(root, preflight.LINGER_SECONDS) if use.pool == pool and use.cluster]
    if not uses:
        return False
    osd_map = await cluster.optional(reader.OSD_MAP)
    return osd_map is not None and {use.ended for use in uses if use.cluster == osd_map.fsid} == {True}


async def check_cluster(shell: Shell, demand: Demand, root: Path, pause: Callable[[str], Awaitable[bool]]) -> Preflight:
    """The cluster before a step, asked again where a refusal passes, and where own data was removed lately.

    ``pause`` waits a little for what its text says, and tells whether to stop waiting. Raises TransportError.
    """
    until = time.monotonic() + preflight.PASSES_SECONDS
    while True:
        before = await preflight.check(shell, demand)
        if before.is_full and _freed_lately(root, before):
            waits_for = _WAITS_FOR_ROOM
        elif before.refusal and before.refusal.passes and time.monotonic() < until:
            waits_for = preflight.WAITS_FOR_PGS
        else:
            return before
        if await pause(waits_for):
            return before


def _freed_lately(root: Path, before: Preflight) -> bool:
    cluster = before.environment and before.environment.fsid
    return any(use.removal and use.cluster in (None, cluster) for use in own_uses(root, FREED_SECONDS))
