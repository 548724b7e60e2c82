"""A command of a run on one node, followed to its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from cephtui import stats, units
from cephtui.frozen import dataclass
from cephtui.models import FilePlace, Finding, NodeStep, Notice, Outcome, Step
from cephtui.models.findings.client import UNKILLABLE
from cephtui.nodes.machine import Machine
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import UNLOCKED, Chunk, Command, Lock, Process, Record
from cephtui.running.bench import Bench
from cephtui.running.outcomes import PartEnded, decide
from cephtui.running.recorder import Recorder, StopRequest
from cephtui.running.together import Together
from cephtui.sessions.undo import Undo
from cephtui.targets.access import AccessKind
from cephtui.targets.base import Target
from cephtui.tools.base import Parser, Reading, ToolResult

SILENCE_SECONDS = 10.0
"""A tool that prints nothing, or completes nothing, for so long is reported as stalled."""
CONNECTION_LOST = "the connection was lost"
_LIMIT_SLACK_SECONDS = 600.0
_LAST_WORDS_SECONDS = 0.55
"""Wait this long after the last reading before stopping the tool: its final interval is long enough to be reported."""
_CANT_END = "can't be ended"
_STDERR_BYTES = 64 << 10
"""Bytes of the end of a command's stderr that are looked at: the watchdog writes last."""


@dataclass(frozen=True, slots=True)
class NodeTask:
    """A step's part on one node, with all that its execution needs."""

    bench: Bench
    step: Step
    node_step: NodeStep
    target: Target
    shell: NodeShell
    recorder: Recorder
    together: Together

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node_step.node

    def lock(self) -> Lock:
        """The lock of a file or device; a file that this console has created must still carry its owner."""
        place = self.node_step.place
        if not isinstance(place, FilePlace):
            return UNLOCKED
        is_created = any((self.name, part.spec) in self.bench.created for part in self.node_step.parts)
        return Lock(place.path, self.bench.session.owner if is_created and self.target.marks_paths else "")


@dataclass(frozen=True, slots=True)
class ToolStall:
    """How long a tool has been without output, or with output but without a completed I/O."""

    missing: Literal["no output", "no completion"]
    seconds: float
    is_new: bool
    """Whether it has to be reported: it lasts for SILENCE_SECONDS, and has not been reported yet."""


class StallDetector:
    """Detects stalls. All times are of one clock, which is the caller's."""

    def __init__(self, now: float) -> None:
        self._output_at = self._completed_at = now
        self._is_reported = False

    def output(self, at: float) -> None:
        """Output has arrived."""
        self._output_at = at

    def completed(self, at: float) -> None:
        """I/Os have been completed."""
        self._completed_at = at

    def check(self, now: float) -> ToolStall:
        """The stall until now, however short; a long one is new once."""
        is_silent = now - self._output_at >= SILENCE_SECONDS
        seconds = now - (self._output_at if is_silent else self._completed_at)
        before, self._is_reported = self._is_reported, seconds >= SILENCE_SECONDS
        return ToolStall("no output" if is_silent else "no completion", seconds, self._is_reported and not before)


class Follow:
    """Starts commands of a task and follows them: stores and publishes their output, ends those that stall."""

    def __init__(self, task: NodeTask, findings: list[Finding]) -> None:
        self.doing = ""
        """What the task is doing, in words: ``while measuring``."""
        self.identity = ""
        """The identity of what is measured, as in a ``Lock``."""
        self._task, self._findings = task, findings
        self._read_at = 0.0
        self._was_ended = False
        """Whether a stop was sent to the command before its output ended."""
        self._stderr = b""
        """The end of what the command wrote there."""
        self._machine = Machine()
        self._access: Undo | None = None
        """The access that was fetched for the command that runs."""

    def identify(self, parts: Mapping[str, str]) -> None:
        """Take note of the identities of parts, by their specs."""
        identity = parts.get(self._task.node_step.parts[0].spec, "") if self._task.node_step.parts else ""
        at_path = identity.partition(" ")[0] if self._task.target.identified_at_path else ""
        self.identity = at_path or self.identity

    @property
    def lost(self) -> str:
        """The error where the connection was lost, with the phase in which that happened."""
        return f"{self._task.name}: {CONNECTION_LOST} {self.doing}".rstrip()

    async def start(
        self,
        argv: Sequence[str],
        limit_seconds: float,
        stop: StopRequest,
        secrets: Sequence[str] = (),
        *,
        goes_on: bool = False,
        reports_machine: bool = False,
    ) -> Process:
        """Bring a command up to its release; raises TransportError, and PartEnded after a stop."""
        if stop.reason is not None:
            raise PartEnded("stopped", stop.reason or None)
        command = Command(
            argv,
            prefix=self._task.node_step.prefix,
            limit_seconds=limit_seconds + _LIMIT_SLACK_SECONDS,
            lock=replace(self._task.lock(), identity=self.identity),
            access=self._task.node_step.access,
            secrets=tuple(secrets),
            goes_on=goes_on,
            reports_machine=reports_machine,
        )
        if command.access:
            self._note_access(command.token)
        return await stop.unless_asked(self._task.shell.connection.start(command))

    def _note_access(self, token: str) -> None:
        """Store that the fetched keyring has to be removed, before it is there; raises PartEnded."""
        bench, spec = self._task.bench, AccessKind().spec(token)
        undo = Undo(node=self._task.name, target=spec, at=self._task.shell.node, owner=bench.session.owner)
        bench.note_undo(undo)
        self._access = undo

    def _access_is_removed(self) -> None:
        """The watchdog has ended by itself, and with it what it had fetched."""
        undo, self._access = self._access, None
        if undo and self._task.bench.created.pop((undo.node, undo.target), None):
            with contextlib.suppress(OSError):  # cephtui cleanup will then find it removed
                self._task.bench.session.undo(undo.model_copy(update={"done": True}))

    async def to_end(
        self, process: Process, parser: Parser, stop: StopRequest, *, preparing: bool
    ) -> tuple[Outcome, str | None, ToolResult]:
        """Follow a command to its end: its outcome, the error, and the figures.

        ``preparing`` is a command of the preparation; one that is measured may prepare itself first.
        """
        detector, self._stderr, self._was_ended = StallDetector(time.monotonic()), b"", False
        supervisor = asyncio.create_task(self._supervise(process, parser, detector, stop))
        try:
            async for chunk in process.chunks():
                self._take(chunk, process, parser, detector, preparing=preparing)
            self._emit(parser.finish(), detector, preparing or parser.is_preparing())
        finally:
            supervisor.cancel()
            await process.stop()
            status = await process.wait()
            if not preparing:
                self._has_ended()
        if status is not None:
            self._access_is_removed()
        self._find_unkillable(self._stderr)
        result, pause, program = parser.result(), process.longest_pause_seconds, self._task.step.tool
        outcome, error = decide(status, stop.reason, result, pause, was_ended=self._was_ended, program=program)
        if outcome == "lost" and (process.connection_lost or self._task.shell.connection.closed):
            error = self.lost
        return outcome, error, result

    def _take(
        self, chunk: Chunk | Record, process: Process, parser: Parser, detector: StallDetector, *, preparing: bool
    ) -> None:
        """Store and publish a piece of the output."""
        before = preparing or parser.is_preparing()
        if isinstance(chunk, Record):
            self._machine_record(chunk, process, preparing=before)
            return
        detector.output(chunk.time)
        if chunk.stream == "stderr":
            self._stderr = (self._stderr + chunk.data)[-_STDERR_BYTES:]
        readings = self._parsed(chunk, process, parser, before)
        self._emit(readings, detector, preparing or parser.is_preparing())
        if parser.is_prepared():
            self._task.recorder.end(self._task.name, preparing=True)
            self._task.together.prepared(self._task.name, process)

    def _has_ended(self) -> None:
        """The command that is measured, and with it what it prepared."""
        for part in (True, False):
            self._task.recorder.end(self._task.name, preparing=part)
        self._task.together.ended(self._task.name)

    def _elapsed(self, chunk: Chunk, process: Process) -> float:
        half_trip = self._task.shell.connection.round_trip_seconds / 2
        return max(0.0, chunk.time - half_trip - process.released_at)

    def _parsed(self, chunk: Chunk, process: Process, parser: Parser, preparing: bool) -> list[Reading]:
        name, elapsed = self._task.name, self._elapsed(chunk, process)
        self._task.recorder.raw(f"{name}.prepare" if preparing else name, chunk, elapsed)
        return parser.feed(chunk.stream, chunk.data, elapsed)

    def _machine_record(self, chunk: Record, process: Process, *, preparing: bool) -> None:
        """Take in a record of what the machine does; what it did before the release counts for nothing."""
        left_at = time.time() - (time.monotonic() - chunk.time) - self._task.shell.connection.round_trip_seconds / 2
        if (taken := self._machine.take(chunk.data, left_at)) and not preparing:
            self._task.recorder.machine(self._task.name, self._elapsed(chunk, process), *taken)

    def _emit(self, readings: list[Reading], detector: StallDetector, preparing: bool) -> None:
        if not readings:
            return
        self._read_at = time.monotonic()
        if any(stats.completed(reading.flows.values()) for reading in readings):
            detector.completed(self._read_at)
        if not preparing and readings[-1].phase == "run":
            self.doing = "while measuring"
        self._task.recorder.readings(self._task.name, readings, preparing=preparing)

    def _find_unkillable(self, stderr: bytes) -> None:
        """Processes that even KILL does not end, as the watchdog reports them."""
        for line in stderr.decode("utf-8", "replace").splitlines():
            if line.startswith("cephtui: process ") and _CANT_END in line:
                process = f"{self._task.name}: {line.removeprefix('cephtui: ')}"
                self._findings.append(UNKILLABLE.found(process=process))

    async def _supervise(self, process: Process, parser: Parser, detector: StallDetector, stop: StopRequest) -> None:
        """End the command after a stop request, or after a stall of ``stall_seconds``."""
        bench, name = self._task.bench, self._task.name
        while not await stop.asked_within(1.0):
            self._task.recorder.tick()
            if parser.is_prepared():
                detector.completed(time.monotonic())
            stall = detector.check(time.monotonic())
            lasted = units.duration(stall.seconds)
            if stall.is_new:
                with contextlib.suppress(OSError):
                    text = f"stalled: {stall.missing} from {self._task.step.tool} on {name} for {lasted}"
                    bench.publish(Notice(0, text))
            if stall.seconds >= bench.stall_seconds:
                stop.request(f"stalled: {stall.missing} from {name} for {lasted}")
        parser.expect_end()
        await asyncio.sleep(max(0.0, self._read_at + _LAST_WORDS_SECONDS - time.monotonic()))
        self._was_ended = True
        await process.stop()
