"""The pool of a console session's own: made before the first step that uses it, on the undo list before it is made."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

from cephtui.ceph.pools import PoolUsage
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import ClusterEnvironment, Notice
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.running.bench import Bench
from cephtui.running.outcomes import PartEnded
from cephtui.running.recorder import StopRequest
from cephtui.sessions.undo import Undo
from cephtui.targets.base import OwnPool, Target, TargetFault

_READY_SECONDS, _ASK_SECONDS = 120.0, 1.0
_SETTLED_SECONDS, _SETTLED_STEP_SECONDS = 20.0, 2.5
log = logging.getLogger(__name__)


async def note_undo(
    bench: Bench, shell: NodeShell, specs: Sequence[str], pool: str | None, mount: str | None = None
) -> None:
    """Store that these parts, in a pool or on a mount, are to be removed, before they are created; raises PartEnded."""
    node = shell.node.name
    new = [spec for spec in specs if (node, spec) not in bench.created]
    cluster, pool_id = await _origin(shell, pool) if new and pool else (None, None)
    for spec in new:
        origin = {"cluster": cluster, "pool_id": pool_id, "mount": mount}
        bench.note_undo(Undo(node=node, target=spec, at=shell.node, owner=bench.session.owner, **origin))


async def _origin(shell: NodeShell, pool: str) -> tuple[str | None, int | None]:
    """The ids of the cluster and of the pool; None where the cluster can't be asked, or does not have it."""
    try:
        osd_map = await ClusterReader(shell).ask(reader.OSD_MAP)
    except ClusterError as error:
        log.warning("%s: %s", shell.node.name, error)
        return None, None
    pool_facts = osd_map.pools.get(pool)
    return osd_map.fsid or None, pool_facts.id if pool_facts else None


async def provide(bench: Bench, target: Target, shell: NodeShell, stop: StopRequest) -> Refusal | None:
    """Make the pool that a target needs, unless it is there, and wait until it can be used; why not, or None."""
    pool = target.new_pool
    if pool is None or any(spec == pool.part for _, spec in bench.created):
        return None
    bench.publish(Notice(0, f"making pool {pool.pool_name} ..."))
    try:
        await note_undo(bench, shell, [pool.part], pool.pool_name)
        await pool.make(shell, bench.session.owner)
        return await _ready(pool, shell, stop)
    except PartEnded as ended:
        return Refusal(ended.error or "")
    except (TargetFault, TransportError) as error:
        return Refusal(str(error))


async def _ready(pool: OwnPool, shell: NodeShell, stop: StopRequest) -> Refusal | None:
    until = time.monotonic() + _READY_SECONDS
    while why := await pool.unready(shell):
        if time.monotonic() > until:
            return Refusal(
                f"pool {pool.pool_name} can't be used after {_READY_SECONDS:.0f} s: {why}", "see ceph health detail"
            )
        if await stop.asked_within(_ASK_SECONDS):
            return Refusal("stopped before the pool could be used")
    return None


async def with_space(
    environment: ClusterEnvironment | None, target: Target, shell: NodeShell
) -> ClusterEnvironment | None:
    """The environment with the bytes stored in the pool that was made for a target, and what they take of the OSDs.

    ``ceph df`` is some seconds late: it is asked until it says the same twice, for so long. The last answer counts.
    """
    if environment is None or target.new_pool is None:
        return environment
    until, before = time.monotonic() + _SETTLED_SECONDS, None
    while True:
        usage = await _usage(shell)
        pool_usage = usage.get(target.new_pool.pool_name) if usage else None
        now = (pool_usage.stored, pool_usage.raw) if pool_usage else None
        if now is None or (now == before and any(now)) or time.monotonic() > until:
            break
        before = now
        await asyncio.sleep(_SETTLED_STEP_SECONDS)
    stored, raw = now or (None, None)
    return environment.model_copy(update={"stored_bytes": stored, "raw_bytes": raw})


async def _usage(shell: NodeShell) -> Mapping[str, PoolUsage] | None:
    try:
        return await ClusterReader(shell).optional(reader.USAGE)
    except TransportError:
        return None
