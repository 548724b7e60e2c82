"""The cluster watched during a step: its samples are recorded, and a step that harms it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence

from cephtui.ceph import cluster, pool_guards
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.osd_counters import OSDS_MOST, OsdDifferences, OsdRound
from cephtui.cluster import monitor, reader
from cephtui.cluster.monitor import Observation
from cephtui.cluster.preflight import Preflight
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.running.recorder import Recorder, StopRequest

log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def monitored(shell: NodeShell, before: Preflight, recorder: Recorder, stop: StopRequest) -> AsyncIterator[None]:
    """Context manager: inside, this node watches the cluster."""
    task = asyncio.create_task(_monitor(shell, before, recorder, stop))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _monitor(shell: NodeShell, before: Preflight, recorder: Recorder, stop: StopRequest) -> None:
    """Keep what the cluster reports of itself until cancelled; a run that harms it is stopped."""
    if before.state is None:
        return
    recorder.cluster(Observation(before.state, down=before.state.osds_down).sample())
    differences = OsdDifferences()
    try:
        async with contextlib.aclosing(monitor.observe(shell, before.pool, _osds_of(before))) as observations:
            async for now in observations:
                if isinstance(now, OsdRound):
                    _keep_counters(now, differences, recorder)
                    continue
                recorder.cluster(now.sample())
                if stop.reason is None and (why := await _why_stop(shell, before, now.state)):
                    stop.request(why)
    except (ClusterError, TransportError) as error:
        log.warning("the cluster is not watched: %s", error)
        recorder.course.no_longer_asked(str(error))


def _osds_of(before: Preflight) -> list[int]:
    """The OSDs that are asked for their counters: those of the pool, unless there are too many."""
    osds = [int(osd) for osd in before.environment.pgs_by_osd] if before.environment else []
    return osds if len(osds) <= OSDS_MOST else []


def _keep_counters(answered: OsdRound, differences: OsdDifferences, recorder: Recorder) -> None:
    if answered.denied:
        recorder.course.osds_denied()
    elif sample := differences.take(answered):
        recorder.osds(sample)


async def _why_stop(shell: NodeShell, before: Preflight, now: ClusterState) -> str | None:
    """Why a run that began like this has to end, or None; raises TransportError."""
    assert before.state
    why = cluster.stop_reason(before.state, now)
    if why != cluster.POOL_FULL:
        return why
    osd_map = await ClusterReader(shell).optional(reader.OSD_MAP)
    return pool_guards.full_reason(before.pools, osd_map) if osd_map else why


async def deleted_pool(shell: NodeShell, names: Sequence[str]) -> str | None:
    """That one of these pools does not exist any more, or None; raises TransportError."""
    osd_map = await ClusterReader(shell).optional(reader.OSD_MAP) if names else None
    missing = [name for name in names if osd_map and name not in osd_map.pools]
    return f"pool {missing[0]} was deleted during the run" if missing else None
