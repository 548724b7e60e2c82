"""A step carried out on all its nodes: guarded, prepared, released at once, measured, stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from cephtui import stats
from cephtui.analysis.detectors.caches import cached_reads
from cephtui.analysis.detectors.explaining import with_operations
from cephtui.ceph import pool_guards
from cephtui.cluster.preflight import Preflight
from cephtui.frozen import dataclass
from cephtui.models import (
    ClusterEnvironment,
    FilePlace,
    Finding,
    HostPlace,
    NodeEnvironment,
    Notice,
    Plan,
    Run,
    SlowestOperation,
    Step,
)
from cephtui.models.findings.client import LEFT_CHANGED
from cephtui.models.findings.record import PARTLY_SAVED, UNSAVED
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.planning import new_bytes
from cephtui.printable import one_line
from cephtui.running import own_use
from cephtui.running.bench import Bench
from cephtui.running.caches import DroppedOsds, drop_caches
from cephtui.running.companions import (
    RunningCompanion,
    companion_failure,
    first_failure,
    inspect_others,
    running_companions,
)
from cephtui.running.follow import NodeTask
from cephtui.running.new_pool import provide, with_space
from cephtui.running.node_run import NodeRun
from cephtui.running.outcomes import begin_run, mtus_apart, once_each, with_the_pool, worst
from cephtui.running.quieting import hold_back
from cephtui.running.recorder import Recorder, StopRequest
from cephtui.running.slowest import slowest_operations
from cephtui.running.together import Together
from cephtui.running.watch_cluster import deleted_pool, monitored
from cephtui.sessions.ceilings import with_ceilings
from cephtui.sessions.changes import changes_elsewhere
from cephtui.sessions.cluster_records import keep_records
from cephtui.sessions.store import unwritable
from cephtui.sessions.writer import RawLimits, RunWriter
from cephtui.targets.base import Target
from cephtui.tools import TOOLS

_NOT_STARTED = "not started, because of "
_UNKNOWN_SECONDS = 3600.0
"""Where a run ends with its data."""
_SPARE_BYTES_PER_SAMPLE = 6000
"""Ten times the size of one."""
_REPORT_SECONDS = 5.0
_PREPARING_ON_A_HOST = 4
"""Nodes that are containers of one host, or the same host many times, are prefilled no faster all at once."""
_CAUSE_SECONDS = 1.0
"""How long the end of a companion is waited for where a node has failed."""
Shells = Mapping[str, NodeShell]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _StepRun:
    """A step, and what it is carried out with."""

    bench: Bench
    plan: Plan
    step: Step
    target: Target
    tested: Target
    """The target as the tool uses it."""
    shells: Shells
    stop: StopRequest
    recorder: Recorder
    nodes: list[NodeRun]

    @property
    def shell(self) -> NodeShell:
        return ceph_shell(self.plan, self.shells)


async def execute(bench: Bench, plan: Plan, step: Step, target: Target, shells: Shells, stop: StopRequest) -> Run:
    """Carry out a step and store it; raises OSError where nothing was begun, because it could not be stored."""
    started = time.monotonic()
    run = begin_run(bench.session.name, bench.session.next_run(), step)
    writer = bench.session.start_run(run, _raw_limits(step))
    stop.noted_by(writer.stop_asked)
    bench.publish(run)
    bench.recorder = recorder = Recorder(run.run, step, writer, bench.publish, stop)
    together, tested = Together(recorder.released), target.for_tool(TOOLS[step.tool])
    nodes = [NodeRun(NodeTask(bench, step, n, tested, shells[n.node], recorder, together)) for n in step.nodes]
    work = _StepRun(bench, plan, step, target, tested, shells, stop, recorder, nodes)
    before, companion_nodes = await _admit(work)
    run = run.model_copy(update={"environment": companion_nodes})
    async with monitored(work.shell, before, recorder, stop):
        dropped = await _prepare(work)
        environment = await _with_images(before, nodes[0])
        environment = environment and environment.model_copy(
            update={"osd_caches_dropped": dropped.number, "quiet": plan.quiet}
        )
        await _measure(work)
    await _explain(work.shell, before, nodes)
    slowest = await _slowest(work)
    environment = await with_space(environment, target, work.shell)
    changed = _changed_elsewhere(bench.session.directory, run.started_at)
    happened = recorder.findings([node.ending for node in nodes])
    findings = (*before.findings, *changed, *dropped.findings, *happened, *writer.findings())
    finished = _finished(run, work, findings, environment, time.monotonic() - started)
    finished = with_operations(finished.model_copy(update={"slowest": slowest}))
    # of a long session many files are read, and other nodes' heartbeats must not wait
    finished = await asyncio.to_thread(with_ceilings, bench.session.directory, finished)
    bench.recorder = None
    finished = _saved(finished, writer, recorder)
    _keep_records(bench, finished, step)
    bench.publish(finished)
    return finished


def _changed_elsewhere(directory: Path, since: datetime) -> list[Finding]:
    """Changes that checks of other sessions have made and not taken back, and what they have run since a time."""
    return [
        LEFT_CHANGED.found(session=session, command=one_line(command), is_in_place=is_in_place)
        for session, command, is_in_place in changes_elsewhere(directory, since)
    ]


async def _admit(work: _StepRun) -> tuple[Preflight, dict[str, NodeEnvironment]]:
    """Apply all guards, which end the nodes; gives the cluster before the run, and the nodes of companions only."""
    plan, step, nodes = work.plan, work.step, work.nodes
    if work.target.new_pool:  # it is not made for what is refused anyway
        await _inspect(work)
    unmade = None if nodes[0].outcome else await provide(work.bench, work.target, work.shell, work.stop)
    unmade = unmade or await _hold_back(work)
    before = Preflight(unmade) if unmade else await _preflight(work)
    busy = pool_guards.guard_busy_pool(
        plan.pool_use, writes=step.writes, nodes=len(step.nodes), agreed=plan.shared_pool
    )
    caches = pool_guards.guard_osd_caches(work.target.pool, drops=plan.drop_caches, agreed=plan.drop_agreed)
    quiet = pool_guards.guard_quiet(plan.quiet, agreed=plan.quiet_agreed)
    refusal = before.refusal or busy or caches or quiet
    lacking, companion_nodes = await inspect_others([step], work.shells)
    if why := refusal.text if refusal else lacking:
        for node in nodes:
            node.end("refused", why)
    if not work.target.new_pool:
        await _inspect(work)
    return before, companion_nodes


async def _hold_back(work: _StepRun) -> Refusal | None:
    """Hold back what the cluster of the step does by itself, where the user has agreed to that; why it can't be."""
    demand = work.tested.demand(work.step, 0)
    if not work.plan.quiet_agreed or not demand.has_cluster:
        return None
    return await hold_back(work.bench, work.shell, work.plan.quiet, work.stop)


async def _inspect(work: _StepRun) -> None:
    """Inspect all nodes, before anything is made on any of them."""
    await _on_all(work.nodes, lambda node: node.inspect(work.plan), _progress(work.bench, "inspected"))
    _refuse_all(work.nodes)


async def _prepare(work: _StepRun) -> DroppedOsds:
    """Create and prefill what is missing on every node, then drop caches where that is asked for."""
    turns = {shell.node.host: asyncio.Semaphore(_PREPARING_ON_A_HOST) for shell in work.shells.values()}

    async def prepare(node: NodeRun) -> None:
        async with turns[work.shells[node.name].node.host]:
            await node.prepare(work.stop)

    await _on_all(work.nodes, prepare, _progress(work.bench, "prepared"))
    if not work.plan.drop_caches or all(node.outcome is not None for node in work.nodes):
        return DroppedOsds()
    on_nodes = _on_all(work.nodes, lambda node: node.drop_page_cache())
    return await drop_caches(work.shell if work.target.pool else None, on_nodes, work.stop, work.bench.publish)


def _saved(run: Run, writer: RunWriter, recorder: Recorder) -> Run:
    """The run as it is stored; with a finding where it could not be."""
    recorder.close()
    stored = run
    if recorder.unsaved:
        stored = _with(run, PARTLY_SAVED.found(why=recorder.unsaved))
    try:
        writer.finish(stored)
    except OSError as error:
        log.exception("can't write %s", writer.directory)
        return _with(run, UNSAVED.found(why=unwritable(error)))
    return stored


def _keep_records(bench: Bench, run: Run, step: Step) -> None:
    """Keep what a run has measured of its cluster for runs of other sessions; the run has it in any case."""
    place = step.nodes[0].place
    try:
        keep_records(bench.session.directory.parent, run, place.fsid if isinstance(place, HostPlace) else "")
    except OSError:
        log.exception("can't keep what run %s has measured of its cluster", run.run)


def _with(run: Run, finding: Finding) -> Run:
    return run.model_copy(update={"findings": (*run.findings, finding)})


def ceph_shell(plan: Plan, shells: Shells) -> NodeShell:
    """The node that asks the cluster."""
    return shells.get(plan.ceph_node or "") or next(iter(shells.values()))


async def _preflight(work: _StepRun) -> Preflight:
    """The cluster before the step, after waiting for what passes: PGs that peer, space that is not free yet."""
    step = work.step.with_unfilled({part: prefilled.bytes for part, prefilled in work.bench.prefilled.items()})
    demand = replace(work.tested.demand(step, new_bytes([step])), quiet=work.plan.quiet)
    root = work.bench.session.directory.parent
    announced = set[str]()

    async def pause(waits_for: str) -> bool:
        if waits_for not in announced:
            work.bench.publish(Notice(0, f"{waits_for} ..."))
        announced.add(waits_for)
        return await work.stop.asked_within(own_use.CHECK_AGAIN_SECONDS)

    try:
        return await own_use.check_cluster(work.shell, demand, root, pause)
    except TransportError as error:
        return Preflight(Refusal(str(error)))


async def _on_all(
    nodes: list[NodeRun],
    work: Callable[[NodeRun], Coroutine[Any, Any, None]],
    report: Callable[[int, int], None] = lambda done, of: None,
) -> None:
    """Do ``work`` at once on every node whose part is not over; ``report`` is called every few seconds."""
    tasks = [asyncio.ensure_future(node.guarded(work(node))) for node in nodes if node.outcome is None]

    async def report_now_and_then() -> None:
        reported = -1
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            done = sum(task.done() for task in tasks)
            if done != reported:
                reported = done
                report(done, len(tasks))

    reporting = asyncio.create_task(report_now_and_then())
    try:
        await asyncio.gather(*tasks)
    finally:
        reporting.cancel()


def _progress(bench: Bench, state: str) -> Callable[[int, int], None]:
    """A reporter that publishes how many nodes are in this state on their way to the release."""

    def report(done: int, of: int) -> None:
        if of > 1:
            bench.publish(Notice(0, f"{done} of {of} nodes are {state} ..."))

    return report


def _refuse_all(nodes: list[NodeRun]) -> None:
    """Refuse all nodes where one can't take part: nothing has been written yet."""
    first = next((node for node in nodes if node.outcome is not None), None)
    for node in nodes:
        if first is not None:
            node.end("refused", f"{_NOT_STARTED}{first.ending.named}")


async def _measure(work: _StepRun) -> None:
    """Measure on all nodes, with the step's companions."""
    nodes, recorder, stop = work.nodes, work.recorder, work.stop
    if all(node.outcome is not None for node in nodes):
        await _release(nodes, recorder, stop)
        return
    async with running_companions(work.step, work.shells, recorder, stop) as companions:
        if failure := companion_failure(companions):
            for node in nodes:
                node.end(failure.outcome, failure.error)
        await _on_all(nodes, lambda node: node.hold(stop), _progress(work.bench, "ready to begin"))
        async with _ended_with(companions, nodes):
            await _release(nodes, recorder, stop)


async def _release(nodes: list[NodeRun], recorder: Recorder, stop: StopRequest) -> None:
    for node in nodes:
        if node.process is None:
            recorder.end(node.name, preparing=False)
    ready = [node for node in nodes if node.outcome is None and node.process]
    if stop.reason is not None:
        await asyncio.gather(*(node.call_off(stop) for node in ready))
        return
    for node in ready:
        node.release()
    if not any(node.prepares_itself for node in ready):
        recorder.released()
    await _on_all(ready, lambda node: node.measure(stop))


@contextlib.asynccontextmanager
async def _ended_with(companions: Sequence[RunningCompanion], nodes: list[NodeRun]) -> AsyncIterator[None]:
    """Context manager: inside, the failure of a companion ends all nodes, which have failed then, too."""

    async def end_nodes() -> None:
        if failure := await first_failure(companions):
            await asyncio.gather(*(node.fail(failure) for node in nodes))

    watching = asyncio.create_task(end_nodes())
    try:
        yield
        # its end may be the cause, and come to light later
        if any(node.outcome in ("failed", "lost") for node in nodes):
            await asyncio.wait([watching], timeout=_CAUSE_SECONDS)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _explain(shell: NodeShell, before: Preflight, nodes: list[NodeRun]) -> None:
    """Give nodes that failed the reason where the pool was deleted: a tool reports only that its I/O failed."""
    failed = [node for node in nodes if node.outcome == "failed"]
    if failed and before.refusal is None:
        with contextlib.suppress(TransportError):
            deleted = await deleted_pool(shell, before.pools)
            for node in failed:
                node.error = deleted or node.error


async def _slowest(work: _StepRun) -> tuple[SlowestOperation, ...]:
    """Of a run that was not stopped; what its OSDs have counted says which they are."""
    begun = min((node.process.released_at for node in work.nodes if node.process and node.ended_at), default=None)
    if begun is None or work.stop.reason is not None:
        return ()
    osds = work.recorder.course.counted.results()
    return await slowest_operations(work.shell, work.step, osds, time.time() - (time.monotonic() - begun))


async def _with_images(before: Preflight, node: NodeRun) -> ClusterEnvironment | None:
    if before.environment is not None and node.outcome is None:
        with contextlib.suppress(TransportError):
            return before.environment.model_copy(update=await node.image_facts())
    return before.environment


def _raw_limits(step: Step) -> RawLimits:
    entries = TOOLS[step.tool].bind(step.options).entries()
    seconds = step.prepare_seconds + step.ramp_seconds + (step.run_seconds or _UNKNOWN_SECONDS)
    return RawLimits(
        bytes_per_second=RawLimits().bytes_per_second * entries,
        spare_bytes=round(_SPARE_BYTES_PER_SAMPLE * (len(step.nodes) + 1) * seconds),
    )


def _finished(
    run: Run,
    work: _StepRun,
    findings: tuple[Finding, ...],
    environment: ClusterEnvironment | None,
    lasted_seconds: float,
) -> Run:
    nodes = work.nodes
    begun = [node.process.released_at for node in nodes if node.process and node.ended_at]
    released_at = min(begun, default=None)
    results = tuple(node.node_result(released_at) for node in nodes)
    node_findings = with_the_pool(once_each([finding for node in nodes for finding in node.findings]), environment)
    environments = {**{node.name: node.environment for node in nodes}, **run.environment}
    is_local = environment is None and isinstance(work.step.nodes[0].place, FilePlace)
    apart = () if is_local else mtus_apart(environments)
    finished = run.model_copy(
        update={
            "outcome": worst([result.outcome or "lost" for result in results]),
            "error": _error(nodes, work.stop),
            "duration_seconds": round(lasted_seconds, 3),
            "start_spread_seconds": round(max(begun) - min(begun), 4) if len(begun) > 1 else None,
            "findings": (*findings, *node_findings, *apart),
            "cluster": environment,
            "osds": work.recorder.course.counted.results(),
            "commits": work.recorder.course.counted.commits(),
            "stages": work.recorder.course.stages.results(),
            "environment": environments,
            "summary": stats.summarise((node.result.flows for node in nodes), histogram=True),
            "seconds": work.recorder.course.seconds.summary(),
            "nodes": results,
        }
    )
    cached = cached_reads(finished)
    return _with(finished, cached) if cached else finished


def _error(nodes: list[NodeRun], stop: StopRequest) -> str | None:
    """The first reason that is no consequence of another node's, with the node's name where it is one of several."""
    failed = [node for node in nodes if node.error]
    first = min(failed, key=lambda node: (node.error or "").startswith(_NOT_STARTED), default=None)
    if first is None or len(nodes) == 1 or first.error == stop.reason:
        return first.error if first else None
    return first.ending.named
