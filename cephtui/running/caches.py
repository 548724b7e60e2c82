"""Caches that are dropped before a run: the page cache of its nodes, and the caches of the OSDs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from cephtui.ceph import answers
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import Event, Finding, Notice
from cephtui.models.findings.data import CACHES
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import TransportError
from cephtui.paths import packaged_text
from cephtui.running.recorder import StopRequest

PAGE_CACHE_SECONDS, OSDS_SECONDS = 120.0, 60.0
"""A node may have gigabytes to write first; an OSD answers within milliseconds."""
_SCRIPT = packaged_text("cephtui.running", "drop_page_cache.sh")
_NAMED_MOST = 4
"""OSDs that a text names."""


@dataclass(frozen=True, slots=True)
class DroppedOsds:
    """On how many OSDs the caches were dropped, and why not on the others."""

    number: int | None = None
    """None where that was not to be done."""
    problems: Sequence[str] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One for each reason."""
        return tuple(CACHES.found(problem=problem) for problem in self.problems)


async def drop_caches(
    shell: Shell | None,
    on_nodes: Coroutine[Any, Any, None],
    stop: StopRequest,
    publish: Callable[[Event], None],
) -> DroppedOsds:
    """Carry out what drops those ``on_nodes``, and drop those of the OSDs that a ``shell`` reaches, at the same time.

    After a request to stop nothing is waited for.
    """
    work: asyncio.Future[tuple[DroppedOsds, None]] = asyncio.gather(drop_osd_caches(shell), on_nodes)
    is_announced = False
    while not (await asyncio.wait([work], timeout=1.0))[0]:
        if stop.reason is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            return DroppedOsds()
        if not is_announced:
            publish(Notice(0, "dropping caches ..."))
            is_announced = True
    return work.result()[0]


async def drop_page_cache(shell: Shell) -> Finding | None:
    """Write what is dirty and drop the page cache of a node; a finding where that is not possible."""
    argv = ("bash", "-c", _SCRIPT, "cephtui-drop-page-cache", "/proc/sys/vm/drop_caches")
    try:
        done = await shell.run(argv, timeout_seconds=PAGE_CACHE_SECONDS)
    except TransportError as error:
        return CACHES.found(problem=f"the page cache of {shell.node.name} was not dropped: {error}")
    if done.status == 0:
        return None
    return CACHES.found(problem=f"the page cache of {shell.node.name} was not dropped: {failure_reason(done)}")


async def drop_osd_caches(shell: Shell | None) -> DroppedOsds:
    """Drop the caches of all OSDs that are up, several at a time; without a ``shell`` there are none."""
    if shell is None:
        return DroppedOsds()
    try:
        async with asyncio.timeout(OSDS_SECONDS):
            return await _drop_osd_caches(ClusterReader(shell))
    except TimeoutError:
        return DroppedOsds(0, [f"the caches of the OSDs were not dropped within {OSDS_SECONDS:.0f} s"])
    except (ClusterError, TransportError) as error:
        return DroppedOsds(0, [f"the caches of the OSDs were not dropped: {error}"])


async def _drop_osd_caches(cluster: ClusterReader) -> DroppedOsds:
    """Raises ClusterError and TransportError."""
    queries = {osd: reader.osd_cache_drop(osd) for osd in (await cluster.ask(reader.OSDS_UP)).names}
    await cluster.fetch(*queries.values())
    failed: dict[str, list[str]] = {}
    for osd, query in queries.items():
        try:
            await cluster.ask(query)
        except ClusterError as error:
            why = "no permission, the user needs the caps osd 'allow *'" if error.denied else str(error)
            failed.setdefault(why, []).append(osd)
    problems = [f"the caches of {_named(osds, len(queries))} were not dropped: {why}" for why, osds in failed.items()]
    return DroppedOsds(len(queries) - sum(map(len, failed.values())), problems)


def _named(osds: Sequence[str], of: int) -> str:
    return "all OSDs" if len(osds) == of else answers.listed(osds, _NAMED_MOST)
