"""One step carried out on its nodes: guard, prepare, measure, and what became of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cephtui import __version__, stats, targets, units
from cephtui.environment import PROBE_ARGV, parse_environment
from cephtui.models import (
    Event,
    Finding,
    NodeEnvironment,
    NodeResult,
    NodeStep,
    Notice,
    Outcome,
    Phase,
    Run,
    Sample,
    Step,
)
from cephtui.outcomes import decide, run_findings, worst
from cephtui.presets import TOOLS
from cephtui.session_writer import RunWriter, SessionWriter
from cephtui.store import Undo
from cephtui.targets import FileFacts, FileTarget, Refusal
from cephtui.tools import Parser, Reading, ToolResult
from cephtui.tools.fio_output import SHORTEST_INTERVAL
from cephtui.transport import Chunk, Connection, Process, TransportError

SILENCE_SECONDS = 10.0
"""A tool that prints nothing for so long is reported as stalled."""
_LIMIT_SLACK_SECONDS = 600.0
_SLOWEST_FILL_BYTES_PER_SECOND = 2e6
log = logging.getLogger(__name__)


class StopRequest:
    """Asks a run to end; the first reason counts. An empty reason is the user's wish."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._event = asyncio.Event()

    def request(self, reason: str = "") -> None:
        """Ask for the end."""
        if self.reason is None:
            self.reason = reason
        self._event.set()

    async def asked_within(self, seconds: float) -> bool:
        """Wait for the wish, but not for longer."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        return self._event.is_set()


@dataclass(frozen=True, slots=True)
class Filled:
    """What is known to be written in full: ``bytes`` of the file with this device and inode."""

    inode: str
    bytes: int


@dataclass(slots=True)
class Bench:
    """What the runs of one sitting share."""

    session: SessionWriter
    publish: Callable[[Event], None]
    stall_seconds: float
    destroy: tuple[str, ...] = ()
    filled: dict[tuple[str, str], Filled] = field(default_factory=dict)
    created: dict[tuple[str, str], FileTarget] = field(default_factory=dict)


class _Ended(Exception):
    """The run ends here, with this outcome."""

    def __init__(self, outcome: Outcome, error: str | None) -> None:
        super().__init__(error)
        self.outcome: Outcome = outcome
        self.error = error


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a node is like, and why the step may not run there."""

    environment: NodeEnvironment
    facts: FileFacts | None = None
    refusal: Refusal | None = None


async def look_at(connection: Connection) -> NodeEnvironment:
    """What a node is like; raises TransportError."""
    return parse_environment((await connection.run(PROBE_ARGV)).stdout)


async def inspect(connection: Connection, step: Step, destroy: tuple[str, ...]) -> Inspection:
    """Look at a node and the target on it, and apply the guards; writes nothing. Raises TransportError."""
    environment = await look_at(connection)
    problem = TOOLS[step.tool].check_version(environment.tools.get(step.tool))
    if problem:
        return Inspection(environment, refusal=Refusal(f"{connection.node}: {problem}"))
    target = targets.parse_target(step.target)
    answer = await connection.run(target.inspect_argv())
    try:
        facts = targets.parse_facts(answer.stdout)
    except ValueError as error:
        raise TransportError(f"{connection.node}: can't inspect {target.path}: {error} {answer.stderr}") from None
    environment = environment.model_copy(update={"filesystem": facts.filesystem, "device": facts.device})
    span = max(step.span_bytes, step.fill_bytes)
    return Inspection(environment, facts, targets.guard(target, facts, span, destroy))


class _NodeRun:
    """One step on one node."""

    def __init__(
        self,
        bench: Bench,
        step: Step,
        node_step: NodeStep,
        connection: Connection,
        writer: RunWriter,
        run: int,
    ) -> None:
        self.findings: list[Finding] = []
        self.environment = NodeEnvironment()
        self._bench, self._step, self._node_step = bench, step, node_step
        self._connection, self._writer, self._run = connection, writer, run
        self._tool = TOOLS[step.tool]
        self._target = targets.parse_target(step.target)
        self._last_output = self._last_reading = 0.0
        self._result = ToolResult()

    async def carry_out(self, stop: StopRequest) -> NodeResult:
        """Everything, to whatever end; raises nothing that a node can cause."""
        outcome: Outcome = "ok"
        error: str | None = None
        try:
            inspection = await self._inspect()
            await self._prepare(inspection, stop)
            await self._measure(stop)
        except _Ended as ended:
            outcome, error = ended.outcome, ended.error
        except TransportError as failure:
            outcome, error = "lost", str(failure)
        except Exception as failure:  # one node's trouble must neither hide nor leave behind the others
            log.exception("run %s on %s", self._run, self._node_step.node)
            outcome, error = "failed", f"unexpected error: {failure!r}"
        result = self._result
        self.findings += [*result.findings, *run_findings(self._step, outcome, result)]
        return NodeResult(
            node=self._node_step.node,
            outcome=outcome,
            error=error,
            command=self._node_step.command,
            summary=stats.summarise([result.read] if result.read else [], [result.write] if result.write else []),
            cpu_user_percent=result.cpu_user_percent,
            cpu_system_percent=result.cpu_system_percent,
            disks=result.disks,
            jobs=result.jobs,
        )

    @property
    def result(self) -> ToolResult:
        """The figures, for adding nodes up."""
        return self._result

    async def _inspect(self) -> Inspection:
        inspection = await inspect(self._connection, self._step, self._bench.destroy)
        self.environment = inspection.environment
        if inspection.refusal:
            raise _Ended("refused", inspection.refusal.text)
        assert inspection.facts is not None
        self.findings += targets.findings(inspection.facts, self._step.options)
        return inspection

    async def _prepare(self, inspection: Inspection, stop: StopRequest) -> None:
        """Nothing is read or measured before it was written: fill the target, unless this sitting has."""
        facts = inspection.facts
        assert facts is not None
        key = (self._node_step.node, self._target.spec)
        known = self._bench.filled.get(key)
        if known and known.inode == facts.inode and known.bytes >= self._step.span_bytes:
            return
        span = max(self._step.fill_bytes, self._step.span_bytes)
        inode = await self._create(key, facts, span)
        planned = self._node_step.prepare_argv
        argv = planned or self._tool.fill_argv(self._step.options, span, self._target.options)
        limit = span / _SLOWEST_FILL_BYTES_PER_SECOND
        status, result = await self._drive(argv, self._tool.parser(ramp=False), stop, limit, "prepare")
        outcome, error = decide(status, stop.reason, result)
        if outcome == "ok" and (result.write is None or result.write.bytes != span):
            outcome, error = "failed", "not all of it was written"
        if outcome != "ok":
            raise _Ended(outcome, f"filling {self._target.spec}: {error}" if error else None)
        self._bench.filled[key] = Filled(inode, span)

    async def _create(self, key: tuple[str, str], facts: FileFacts, span: int) -> str:
        """Make the file, or fit one of cephtui's own; an existing one that was given up is only overwritten."""
        if facts.kind == "file" and not facts.marked:
            return facts.inode or ""
        if key not in self._bench.created:
            self._note_undo(Undo(node=key[0], target=key[1]))
            self._bench.created[key] = self._target
        made = await self._connection.run(self._target.create_argv(span))
        if made.status != 0:
            reason = made.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise _Ended("refused", f"can't create {self._target.path}: {reason[0]}")
        return made.stdout.strip()

    def _note_undo(self, undo: Undo) -> None:
        try:
            self._bench.session.undo(undo)
        except OSError as error:
            raise _Ended("refused", f"can't write the session: {error.strerror}") from None

    async def _measure(self, stop: StopRequest) -> None:
        ramp = self._step.ramp_seconds
        limit = ramp + (self._step.run_seconds or 7 * 86400)
        parser = self._tool.parser(ramp=ramp > 0)
        status, self._result = await self._drive(self._node_step.argv, parser, stop, limit, "run")
        outcome, error = decide(status, stop.reason, self._result)
        if outcome != "ok":
            raise _Ended(outcome, error)

    async def _drive(
        self, argv: tuple[str, ...], parser: Parser, stop: StopRequest, limit_seconds: float, phase: Phase
    ) -> tuple[int | None, ToolResult]:
        """Run a command to its end, storing and publishing what it says."""
        if stop.reason is not None:
            raise _Ended("stopped", stop.reason or None)
        process = await self._connection.start(
            argv,
            token=secrets.token_hex(16),
            limit_seconds=limit_seconds + _LIMIT_SLACK_SECONDS,
            lock=self._target.path,
        )
        self._last_output = time.monotonic()
        supervisor = asyncio.create_task(self._supervise(process, parser, stop))
        try:
            async for chunk in process.chunks():
                self._take(chunk, process, parser, phase, stop)
            self._emit(parser.finish(), phase, stop)
        finally:
            supervisor.cancel()
            await process.stop()
            status = await process.wait()
        return status, parser.result()

    def _take(self, chunk: Chunk, process: Process, parser: Parser, phase: Phase, stop: StopRequest) -> None:
        self._last_output = chunk.time
        elapsed = max(0.0, chunk.time - process.released_at)
        name = self._node_step.node if phase != "prepare" else f"{self._node_step.node}.prepare"
        try:
            self._writer.raw(name, chunk.stream, chunk.data, round(elapsed, 4))
        except OSError as error:
            self._stop_unstored(stop, error)
        self._emit(parser.feed(chunk.stream, chunk.data, elapsed), phase, stop)

    def _emit(self, readings: list[Reading], phase: Phase, stop: StopRequest) -> None:
        """Store, then publish, each reading: as this node's and, there being no other, as that of all nodes."""
        for reading in readings:
            self._last_reading = time.monotonic()
            sample = Sample(
                run=self._run,
                node=self._node_step.node,
                preset=self._step.preset,
                phase="prepare" if phase == "prepare" else reading.phase,
                elapsed_seconds=reading.elapsed_seconds,
                interval_seconds=reading.interval_seconds,
                read=reading.read,
                write=reading.write,
            )
            try:
                for each in (sample, replace(sample, node=None)):
                    self._writer.sample(each)
                    self._bench.publish(each)
            except OSError as error:
                self._stop_unstored(stop, error)

    def _stop_unstored(self, stop: StopRequest, error: OSError) -> None:
        """What can't be kept is not worth the load on the cluster."""
        if stop.reason is None:
            log.error("can't write %s", self._writer.directory, exc_info=error)
            stop.request(f"the session can't be written any more: {error.strerror} ({self._writer.directory})")

    async def _supervise(self, process: Process, parser: Parser, stop: StopRequest) -> None:
        """End the command when it is asked for, or when it has been silent for too long."""
        reported = False
        while not await stop.asked_within(1.0):
            silent = time.monotonic() - self._last_output
            if silent < SILENCE_SECONDS:
                reported = False
            elif not reported:
                reported = True
                self._report_silence(silent)
            if silent >= self._bench.stall_seconds:
                stop.request(f"stalled: no output for {units.duration(silent)}")
        parser.expect_end()
        # an interval that would be too short to stand alone has nothing left that it could join
        await asyncio.sleep(max(0.0, self._last_reading + 1.1 * SHORTEST_INTERVAL - time.monotonic()))
        await process.stop()

    def _report_silence(self, silent: float) -> None:
        who = f"{self._step.tool} on {self._node_step.node}"
        self._bench.publish(Notice(self._run, f"stalled: no output from {who} for {units.duration(silent)}"))
        text = f"stalled: no output from {who} for {units.duration(SILENCE_SECONDS)} or longer"
        self.findings.append(Finding(code="stalled", text=text))


async def execute(bench: Bench, step: Step, connections: Mapping[str, Connection], stop: StopRequest) -> Run:
    """Carry out a step and store it; raises OSError where the session can't be written at all."""
    started = time.monotonic()
    run = _begin(bench.session, step)
    writer = bench.session.start_run(run)
    bench.publish(run)
    nodes = [_NodeRun(bench, step, n, connections[n.node], writer, run.run) for n in step.nodes]
    results = await asyncio.gather(*(node.carry_out(stop) for node in nodes))
    summary = stats.summarise(
        [n.result.read for n in nodes if n.result.read], [n.result.write for n in nodes if n.result.write]
    )
    run = run.model_copy(
        update={
            "outcome": worst([result.outcome or "lost" for result in results]),
            "error": next((result.error for result in results if result.error), None),
            "duration_seconds": round(time.monotonic() - started, 3),
            "findings": tuple(dict.fromkeys(finding for node in nodes for finding in node.findings)),
            "environment": {n.node: node.environment for n, node in zip(step.nodes, nodes, strict=True)},
            "summary": summary,
            "nodes": tuple(results),
        }
    )
    writer.finish(run)
    bench.publish(run)
    return run


def _begin(session: SessionWriter, step: Step) -> Run:
    return Run(
        session=session.name,
        run=session.next_run(),
        batch=step.batch,
        repeat=step.repeat,
        preset=step.preset,
        tool=step.tool,
        target=step.target,
        options=step.options,
        command=step.nodes[0].command,
        cephtui_version=__version__,
        started_at=datetime.now(UTC),
        nodes=tuple(NodeResult(node=n.node, command=n.command) for n in step.nodes),
    )
