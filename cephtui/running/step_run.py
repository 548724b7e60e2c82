"""A step carried out on all its nodes: guarded, prepared, released at once, measured, stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cephtui import __version__, stats
from cephtui.ceph import cluster, pool_guards
from cephtui.ceph.cluster import ClusterState
from cephtui.cluster import monitor, preflight, reader
from cephtui.cluster.monitor import Observation
from cephtui.cluster.preflight import Preflight
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import ClusterEnvironment, Finding, NodeResult, Notice, Plan, Run, Seconds, Step
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.planning import new_bytes
from cephtui.running.bench import Bench
from cephtui.running.follow import NodeTask
from cephtui.running.node_run import NodeRun
from cephtui.running.outcomes import PARTLY_SAVED, UNSAVED, worst
from cephtui.running.recorder import Recorder, StopRequest
from cephtui.sessions.writer import RawLimits, RunWriter, SessionWriter, unwritable
from cephtui.targets.base import Target
from cephtui.tools import TOOLS

_FIRST_OF_ALL = {"short", "incomplete", "in-flight"}
"""Findings whose figures differ a little from node to node, and mean the same."""
_NOT_STARTED = "not started, because of "
_UNKNOWN_SECONDS = 3600.0
"""Where a run ends with its data."""
_SPARE_BYTES_PER_SAMPLE = 6000
"""Ten times the size of one."""
_REPORT_SECONDS = 5.0
_PREPARING_ON_A_HOST = 4
"""Nodes that are containers of one host, or the same host many times, are prefilled no faster all at once."""
_FREED_SECONDS, _CHECK_AGAIN_SECONDS = 60.0, 3.0
Shells = Mapping[str, NodeShell]
log = logging.getLogger(__name__)


async def execute(bench: Bench, plan: Plan, step: Step, target: Target, shells: Shells, stop: StopRequest) -> Run:
    """Carry out a step and store it; raises OSError where nothing was begun, because it could not be stored."""
    started = time.monotonic()
    run = _begin(bench.session, step)
    writer = bench.session.start_run(run, _raw_limits(step))
    bench.publish(run)
    bench.recorder = recorder = Recorder(run.run, step, shells, writer, bench.publish, stop)
    nodes = [NodeRun(NodeTask(bench, step, n, target, shells[n.node], recorder)) for n in step.nodes]
    shell = ceph_shell(plan, shells)
    before = await _preflight(bench, shell, target, step, stop)
    busy = pool_guards.guard_busy_pool(
        plan.pool_use, writes=step.writes, nodes=len(step.nodes), agreed=plan.shared_pool
    )
    refusal = before.refusal or busy
    if refusal:
        for node in nodes:
            node.end("refused", refusal.text)
    await _on_all(nodes, lambda node: node.inspect(plan.destroy), _progress(bench, "inspected"))
    _refuse_all(nodes)
    async with _monitored(shell, before, recorder, stop):
        turns = {shell.node.host: asyncio.Semaphore(_PREPARING_ON_A_HOST) for shell in shells.values()}

        async def prepare(node: NodeRun) -> None:
            async with turns[shells[node.name].node.host]:
                await node.prepare(stop)

        await _on_all(nodes, prepare, _progress(bench, "prepared"))
        environment = await _with_features(before, nodes[0])
        await _on_all(nodes, lambda node: node.hold(stop), _progress(bench, "ready to begin"))
        await _measure(nodes, recorder, stop)
    await _explain(shell, before, nodes)
    lost = {node.name: _named(node) for node in nodes if node.outcome == "lost"}
    findings = (*before.findings, *recorder.course.findings(lost), *writer.findings())
    seconds = recorder.course.seconds.summary()
    finished = _finished(run, nodes, findings, seconds, environment, stop, time.monotonic() - started)
    bench.recorder = None
    finished = _saved(finished, writer, recorder)
    bench.publish(finished)
    return finished


def _saved(run: Run, writer: RunWriter, recorder: Recorder) -> Run:
    """The run as it is stored; with a finding where it could not be."""
    recorder.close()
    kept = run
    if recorder.unsaved:
        kept = _with_finding(run, PARTLY_SAVED, f"only a part of this run is saved: {recorder.unsaved}")
    try:
        writer.finish(kept)
    except OSError as error:
        log.exception("can't write %s", writer.directory)
        return _with_finding(run, UNSAVED, f"this run is not saved: {unwritable(error)}")
    return kept


def _with_finding(run: Run, code: str, text: str) -> Run:
    return run.model_copy(update={"findings": (*run.findings, Finding(code=code, text=text))})


def ceph_shell(plan: Plan, shells: Shells) -> NodeShell:
    """The node that asks the cluster."""
    return shells.get(plan.ceph_node or "") or next(iter(shells.values()))


async def _preflight(bench: Bench, shell: NodeShell, target: Target, step: Step, stop: StopRequest) -> Preflight:
    """The cluster before the step; space that an earlier step has used takes some time to be free again."""
    wanted = new_bytes([step])
    while True:
        try:
            found = await preflight.check(shell, target.demand(step, wanted))
        except TransportError as error:
            return Preflight(Refusal(str(error)))
        fresh = bench.removed_at is not None and time.monotonic() - bench.removed_at < _FREED_SECONDS
        if not (found.is_full and fresh) or await stop.asked_within(_CHECK_AGAIN_SECONDS):
            return found


async def _on_all(
    nodes: list[NodeRun],
    work: Callable[[NodeRun], Coroutine[Any, Any, None]],
    report: Callable[[int, int], None] = lambda done, of: None,
) -> None:
    """At the same time on every node whose part is not over; ``report`` is called every few seconds."""
    left = [asyncio.ensure_future(node.guarded(work(node))) for node in nodes if node.outcome is None]

    async def report_now_and_then() -> None:
        reported = -1
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            done = sum(task.done() for task in left)
            if done != reported:
                reported = done
                report(done, len(left))

    reporting = asyncio.create_task(report_now_and_then())
    try:
        await asyncio.gather(*left)
    finally:
        reporting.cancel()


def _progress(bench: Bench, state: str) -> Callable[[int, int], None]:
    """Publishes how many nodes have come so far on their way to the release."""

    def report(done: int, of: int) -> None:
        if of > 1:
            bench.publish(Notice(0, f"{done} of {of} nodes are {state} ..."))

    return report


def _refuse_all(nodes: list[NodeRun]) -> None:
    """Nothing has been written yet: where one node can't take part, the others need not begin."""
    first = next((node for node in nodes if node.outcome is not None), None)
    for node in nodes:
        if first is not None:
            node.end("refused", f"{_NOT_STARTED}{_named(first)}")


async def _measure(nodes: list[NodeRun], recorder: Recorder, stop: StopRequest) -> None:
    for node in nodes:
        if node.process is None:
            recorder.end(node.name, preparing=False)
    ready = [node for node in nodes if node.outcome is None and node.process]
    if stop.reason is not None:
        await asyncio.gather(*(node.call_off(stop) for node in ready))
        return
    for node in ready:
        assert node.process is not None
        node.process.release()
    recorder.released()
    await _on_all(ready, lambda node: node.measure(stop))


@contextlib.asynccontextmanager
async def _monitored(shell: NodeShell, before: Preflight, recorder: Recorder, stop: StopRequest) -> AsyncIterator[None]:
    task = asyncio.create_task(_monitor(shell, before, recorder, stop))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _monitor(shell: NodeShell, before: Preflight, recorder: Recorder, stop: StopRequest) -> None:
    """Keep what the cluster reports of itself until cancelled; a run that harms it is stopped."""
    if before.state is None or before.pool is None:
        return
    recorder.cluster(Observation(before.state, down=before.state.osds_down).sample())
    try:
        async with contextlib.aclosing(monitor.observe(shell, before.pool)) as observations:
            async for now in observations:
                recorder.cluster(now.sample())
                if stop.reason is None and (why := await _why_stop(shell, before, now.state)):
                    stop.request(why)
    except (ClusterError, TransportError) as error:
        log.warning("the cluster is not watched: %s", error)
        recorder.course.no_longer_asked(str(error))


async def _why_stop(shell: NodeShell, before: Preflight, now: ClusterState) -> str | None:
    """Why a run that began like this has to end, or None; raises TransportError."""
    assert before.state
    why = cluster.stop_reason(before.state, now)
    if why != cluster.POOL_FULL:
        return why
    osd_map = await ClusterReader(shell).optional(reader.OSD_MAP)
    return pool_guards.full_reason(before.pools, osd_map) if osd_map else why


async def _explain(shell: NodeShell, before: Preflight, nodes: list[NodeRun]) -> None:
    """A tool reports that its I/O failed; only the cluster knows whether the pool was deleted."""
    failed = [node for node in nodes if node.outcome == "failed"]
    if failed and before.refusal is None:
        with contextlib.suppress(TransportError):
            deleted = await deleted_pool(shell, before.pools)
            for node in failed:
                node.error = deleted or node.error


async def deleted_pool(shell: NodeShell, names: Sequence[str]) -> str | None:
    """That one of these pools does not exist any more, or None; raises TransportError."""
    osd_map = await ClusterReader(shell).optional(reader.OSD_MAP) if names else None
    missing = [name for name in names if osd_map and name not in osd_map.pools]
    return f"pool {missing[0]} was deleted during the run" if missing else None


async def _with_features(before: Preflight, node: NodeRun) -> ClusterEnvironment | None:
    if before.environment is None or node.outcome is not None:
        return before.environment
    with contextlib.suppress(TransportError):
        return before.environment.model_copy(update={"image_features": await node.image_features()})
    return before.environment


def _raw_limits(step: Step) -> RawLimits:
    entries = TOOLS[step.tool].bind(step.options).entries()
    seconds = step.prepare_seconds + step.ramp_seconds + (step.run_seconds or _UNKNOWN_SECONDS)
    return RawLimits(
        bytes_per_second=RawLimits().bytes_per_second * entries,
        spare_bytes=round(_SPARE_BYTES_PER_SAMPLE * (len(step.nodes) + 1) * seconds),
    )


def _begin(session: SessionWriter, step: Step) -> Run:
    return Run(
        session=session.name,
        run=session.next_run(),
        batch=step.batch,
        repeat=step.repeat,
        step=step.number,
        preset=step.preset,
        tool=step.tool,
        target=step.target,
        options=step.options,
        command=step.nodes[0].command,
        cephtui_version=__version__,
        started_at=datetime.now(UTC),
        nodes=tuple(NodeResult(node=n.node, command=n.command) for n in step.nodes),
    )


def _finished(
    run: Run,
    nodes: list[NodeRun],
    findings: tuple[Finding, ...],
    seconds: Seconds | None,
    environment: ClusterEnvironment | None,
    stop: StopRequest,
    lasted_seconds: float,
) -> Run:
    begun = [node.process.released_at for node in nodes if node.process and node.ended_at]
    released_at = min(begun, default=None)
    results = tuple(node.node_result(released_at) for node in nodes)
    own = _once_each([finding for node in nodes for finding in node.findings])
    return run.model_copy(
        update={
            "outcome": worst([result.outcome or "lost" for result in results]),
            "error": _error(nodes, stop),
            "duration_seconds": round(lasted_seconds, 3),
            "start_spread_seconds": round(max(begun) - min(begun), 4) if len(begun) > 1 else None,
            "findings": (*findings, *own),
            "cluster": environment,
            "environment": {node.name: node.environment for node in nodes},
            "summary": stats.summarise((node.result.flows for node in nodes), histogram=True),
            "seconds": seconds,
            "nodes": results,
        }
    )


def _once_each(findings: list[Finding]) -> tuple[Finding, ...]:
    """A finding of several nodes once, in the words of the first."""
    return tuple({(f.code if f.code in _FIRST_OF_ALL else f.text): f for f in reversed(findings)}.values())[::-1]


def _error(nodes: list[NodeRun], stop: StopRequest) -> str | None:
    """The first reason that is no consequence of another node's, with the node's name where it is one of several."""
    failed = [node for node in nodes if node.error]
    first = min(failed, key=lambda node: (node.error or "").startswith(_NOT_STARTED), default=None)
    if first is None or len(nodes) == 1 or first.error == stop.reason:
        return first.error if first else None
    return _named(first)


def _named(node: NodeRun) -> str:
    error = node.error or ""
    return error if error.startswith(f"{node.name}: ") else f"{node.name}: {error}"
