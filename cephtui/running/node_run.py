"""One step on one node: looked at, prepared, held until all are ready, measured."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Coroutine
from typing import Any

from cephtui import stats, units
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import (
    FilePlace,
    Finding,
    NodeEnvironment,
    NodeResult,
    NodeStep,
    Notice,
    Outcome,
    Part,
    RbdPlace,
    Step,
)
from cephtui.nodes.shell import NodeShell, with_ceph
from cephtui.nodes.transport import UNLOCKED, Chunk, Lock, Process, TransportError, shortened
from cephtui.planning import fill_command
from cephtui.running.bench import Bench, Filled
from cephtui.running.inspection import inspect
from cephtui.running.outcomes import decide, run_findings
from cephtui.running.recorder import Recorder, StopRequest
from cephtui.sessions.store import Undo
from cephtui.sessions.writer import unwritable
from cephtui.targets.base import Found, Target, TargetFault
from cephtui.targets.rbd import image_info
from cephtui.tools import TOOLS
from cephtui.tools.base import Parser, Reading, Sizing, ToolResult

SILENCE_SECONDS = 10.0
"""A tool that prints nothing, or completes nothing, for so long is reported as stalled."""
_LIMIT_SLACK_SECONDS = 600.0
_SLOWEST_FILL_BYTES_PER_SECOND = 2e6
_PROBE_LIMIT_SECONDS, _PROBE_LEAST_SECONDS, _GROWTH = 30.0, 1.0, 8
_MORE_THAN_NEEDED = 2.0
"""Of what a run would read at the speed of the first objects."""
_LAST_WORDS_SECONDS = 0.55
"""After a reading: an interval that would be too short to stand alone has nothing left that it could join."""
_CANT_END = "can't be ended"
_CONNECTION_LOST = "the connection was lost"
_SAID_BYTES = 64 << 10
"""Of the end of what a command says on stderr: the watchdog speaks last."""
log = logging.getLogger(__name__)


class Ended(Exception):
    """A node's part of the run ends here, with this outcome."""

    def __init__(self, outcome: Outcome, error: str | None) -> None:
        super().__init__(error)
        self.outcome: Outcome = outcome
        self.error = error


class NodeRun:
    """One step on one node; what goes wrong ends this node's part and no other's."""

    def __init__(
        self, bench: Bench, step: Step, node_step: NodeStep, target: Target, shell: NodeShell, recorder: Recorder
    ) -> None:
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.findings: list[Finding] = []
        self.environment = NodeEnvironment()
        self.result = ToolResult()
        self.process: Process | None = None
        self.ended_at: float | None = None
        self._bench, self._step, self._node_step, self._target = bench, step, node_step, target
        self._shell, self._recorder = shell, recorder
        self._workload = TOOLS[step.tool].bind(step.options)
        self._found = Found()
        self._last_output = self._last_completion = self._last_reading = 0.0
        self._doing = ""
        """When, in words: ``while measuring``."""

    @property
    def name(self) -> str:
        """The node's name."""
        return self._node_step.node

    def end(self, outcome: Outcome, error: str | None) -> None:
        """This node's part is over; the first reason counts."""
        if self.outcome is None:
            self.outcome, self.error = outcome, error and shortened(error)

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do a part of the work; raises nothing that a node can cause."""
        try:
            await work
        except Ended as ended:
            self.end(ended.outcome, ended.error)
        except TransportError as failure:
            self.end("lost", self._lost() if str(failure).endswith(_CONNECTION_LOST) else str(failure))
        except TargetFault as failure:
            self.end("refused", str(failure))
        except Exception as failure:  # one node's trouble must neither hide nor leave behind the others
            log.exception("%s on %s", self._step.preset, self.name)
            self.end("failed", f"unexpected error: {failure!r}")

    # ------------------------------------------------------------------ before

    async def inspect(self, destroy: tuple[str, ...]) -> None:
        """Look at the node and the target, and apply the guards."""
        filled = frozenset(spec for node, spec in self._bench.filled if node == self.name)
        inspection = await inspect(self._shell, self._step, self._node_step, self._target, destroy, filled)
        self.environment, self._found = inspection.environment, inspection.found
        if inspection.problem:
            raise Ended("refused", inspection.problem)
        if self._found.refusal:
            raise Ended("refused", self._found.refusal.text)
        self.findings += self._found.findings

    async def prepare(self, stop: StopRequest) -> None:
        """Make what is missing; nothing is read or measured before it was written, unless that is the user's wish."""
        self._doing = f"while {self._target.spec} was being prepared"
        try:
            await self._prepare(stop)
        finally:
            self._recorder.end(self.name, preparing=True)

    async def _prepare(self, stop: StopRequest) -> None:
        if stop.reason is not None:
            raise Ended("stopped", stop.reason or None)
        missing = [part for part in self._node_step.parts if not self._is_filled(part)]
        wanted = [part for part in self._found.to_create if part in missing]
        if wanted:
            await self._note(wanted)
        made = dict(zip((p.spec for p in wanted), await asyncio.gather(*map(self._create, wanted)), strict=True))
        if not self._step.filled or not missing:
            return
        parts = self._to_fill(missing)
        await self._fill(parts, stop)
        for part in parts:
            identity = made.get(part.spec) or self._found.identities.get(part.spec, "")
            self._bench.filled[self.name, part.spec] = Filled(identity, part.bytes)

    async def image_features(self) -> tuple[str, ...]:
        """Of the first image that is used, which is like the others; raises TransportError."""
        place = self._node_step.place
        if self._found.features or not isinstance(place, RbdPlace):
            return self._found.features
        info = await image_info(self._shell, place.pool, place.images[0])
        return info.features if info else ()

    def _is_filled(self, part: Part) -> bool:
        known = self._bench.filled.get((self.name, part.spec))
        is_same = known and known.identity == self._found.identities.get(part.spec)
        return bool(known and is_same and known.bytes >= part.bytes)

    def _to_fill(self, missing: list[Part]) -> tuple[Part, ...]:
        """As planned, where later steps may need more of it; as found, where it is not what was filled before."""
        planned = {part.spec: part for part in self._node_step.fill}
        return tuple(planned.get(part.spec, part) for part in missing)

    async def _note(self, parts: list[Part]) -> None:
        """What is about to be made has to be removed."""
        bench = self._bench
        new = [part.spec for part in parts if (self.name, part.spec) not in bench.created]
        cluster, pool_id = await self._whereabouts() if new else (None, None)
        for spec in new:
            undo = Undo(
                node=self.name,
                target=spec,
                at=self._shell.node,
                owner=bench.session.owner,
                cluster=cluster,
                pool_id=pool_id,
            )
            try:
                bench.session.undo(undo)
            except OSError as error:
                raise Ended("refused", unwritable(error)) from None
            bench.created[self.name, spec] = undo

    async def _whereabouts(self) -> tuple[str | None, int | None]:
        """The cluster and the pool, by what stays theirs alone; None where there is none, or it can't be asked."""
        if self._target.pool is None:
            return None, None
        try:
            found = await ClusterReader(self._shell).ask(reader.OSD_MAP)
        except ClusterError as error:
            log.warning("%s: %s", self.name, error)
            return None, None
        pool = found.pools.get(self._target.pool)
        return found.fsid or None, pool.id if pool else None

    async def _create(self, part: Part) -> str:
        whole = next((fill for fill in self._node_step.fill if fill.spec == part.spec), part)
        return await self._target.create(self._shell, whole, self._bench.session.owner)

    async def _fill(self, parts: tuple[Part, ...], stop: StopRequest) -> None:
        wanted = sum(part.bytes for part in parts)
        sizing = self._workload.sizing(self._node_step.place, wanted)
        if sizing:
            await self._fill_as_needed(sizing, parts[0], stop)
        else:
            await self._write(self._fill_argv(parts), wanted, stop)

    def _fill_argv(self, parts: tuple[Part, ...]) -> tuple[str, ...]:
        planned = self._node_step
        if planned.prepare_argv and parts == planned.fill:
            return planned.prepare_argv
        return fill_command(self._workload, self._shell.node, planned.place, parts)

    async def _fill_as_needed(self, sizing: Sizing, part: Part, stop: StopRequest) -> None:
        """Fill more and more until what is there lasts long enough to tell the speed, and then as much as it takes."""
        node, filled = self._shell.node, sizing.first_bytes
        await self._write(self._fill_argv((part.model_copy(update={"bytes": filled}),)), filled, stop)
        while filled < sizing.most_bytes:
            probe = with_ceph(node, sizing.probe_argv)
            read = (await self._drive_argv(probe, _PROBE_LIMIT_SECONDS, stop)).read
            lasted, rate = (read.runtime_seconds, read.bandwidth_bytes) if read else (0.0, 0.0)
            is_known = lasted >= _PROBE_LEAST_SECONDS
            wanted = int(rate * sizing.run_seconds * _MORE_THAN_NEEDED) if is_known else _GROWTH * filled
            wanted = min(sizing.most_bytes, wanted - wanted % sizing.unit_bytes)
            if wanted > filled:
                await self._write(with_ceph(node, sizing.refill_argv(wanted)), wanted, stop)
            if is_known:
                return
            filled = wanted

    async def _write(self, argv: tuple[str, ...], wanted_bytes: int, stop: StopRequest) -> None:
        self._doing = f"while {self._target.spec} was being filled"
        limit = wanted_bytes / _SLOWEST_FILL_BYTES_PER_SECOND
        result = await self._drive_argv(argv, limit, stop)
        if result.write is None or result.write.bytes != wanted_bytes:
            raise Ended("failed", f"filling {self._target.spec}: not all of it was written")

    async def _drive_argv(self, argv: tuple[str, ...], limit_seconds: float, stop: StopRequest) -> ToolResult:
        """Run a command of the preparation to its good end; raises Ended for any other."""
        process = await self._start(argv, limit_seconds, stop)
        process.release()
        parser = self._workload.fill_parser()
        status, result = await self._drive(process, parser, stop, preparing=True)
        outcome, error = self._decided(process, status, stop, result)
        if outcome != "ok":
            filling = f"filling {self._target.spec}: {error}"
            raise Ended(outcome, error and (error if error.startswith(f"{self.name}: ") else filling))
        return result

    # ------------------------------------------------------------------ the benchmark

    async def hold(self, stop: StopRequest) -> None:
        """Have the benchmark ready, so that all nodes can be released at once."""
        self._doing = "before the benchmark began"
        limit = self._step.ramp_seconds + (self._step.run_seconds or self._step.most_seconds or 7 * 86400)
        self.process = await self._start(self._node_step.argv, limit, stop)

    async def call_off(self, stop: StopRequest) -> None:
        """Let go of what has not been released."""
        assert self.process is not None
        process, self.process = self.process, None
        await process.stop()
        await process.wait()
        self._recorder.end(self.name, preparing=False)
        self.end("stopped", stop.reason or None)

    async def measure(self, stop: StopRequest) -> None:
        """From the release to the end."""
        assert self.process is not None
        step = self._step
        self._doing = "in the ramp" if step.ramp_seconds else "while measuring"
        parser = self._workload.parser(ramp=step.ramp_seconds > 0, seconds=step.run_seconds)
        status, self.result = await self._drive(self.process, parser, stop, preparing=False)
        self.ended_at = time.monotonic()
        self.end(*self._decided(self.process, status, stop, self.result))

    def _decided(
        self, process: Process, status: int | None, stop: StopRequest, result: ToolResult
    ) -> tuple[Outcome, str | None]:
        """What became of a command; where the connection was lost, that is the reason."""
        outcome, error = decide(status, stop.reason, result, process.longest_pause_seconds)
        if outcome == "lost" and (process.way_lost or self._shell.connection.closed):
            error = self._lost()
        return outcome, error

    def _lost(self) -> str:
        """That the connection was lost, and what was being done."""
        return f"{self.name}: {_CONNECTION_LOST} {self._doing}".rstrip()

    async def _start(self, argv: tuple[str, ...], limit_seconds: float, stop: StopRequest) -> Process:
        if stop.reason is not None:
            raise Ended("stopped", stop.reason or None)
        return await self._shell.connection.start(
            argv,
            prefix=self._node_step.prefix,
            token=secrets.token_hex(16),
            limit_seconds=limit_seconds + _LIMIT_SLACK_SECONDS,
            lock=self._lock(),
        )

    def _lock(self) -> Lock:
        """Of a file or device; a file that this console has made has to carry its owner still."""
        place = self._node_step.place
        if not isinstance(place, FilePlace):
            return UNLOCKED
        is_made = any((self.name, part.spec) in self._bench.created for part in self._node_step.parts)
        return Lock(place.path, self._bench.session.owner if is_made else "")

    async def _drive(
        self, process: Process, parser: Parser, stop: StopRequest, *, preparing: bool
    ) -> tuple[int | None, ToolResult]:
        """Follow a command to its end, storing and publishing what it says."""
        self._last_output = self._last_completion = time.monotonic()
        said = b""
        supervisor = asyncio.create_task(self._supervise(process, parser, stop))
        try:
            async for chunk in process.chunks():
                if chunk.stream == "stderr":
                    said = (said + chunk.data)[-_SAID_BYTES:]
                self._take(chunk, process, parser, preparing)
            self._emit(parser.finish(), preparing)
        finally:
            supervisor.cancel()
            await process.stop()
            status = await process.wait()
            if not preparing:
                self._recorder.end(self.name, preparing=False)
        self._find_unkillable(said)
        return status, parser.result()

    def _take(self, chunk: Chunk, process: Process, parser: Parser, preparing: bool) -> None:
        self._last_output = chunk.time
        elapsed = max(0.0, chunk.time - self._shell.connection.round_trip_seconds / 2 - process.released_at)
        self._recorder.raw(f"{self.name}.prepare" if preparing else self.name, chunk, elapsed)
        self._emit(parser.feed(chunk.stream, chunk.data, elapsed), preparing)

    def _emit(self, readings: list[Reading], preparing: bool) -> None:
        if readings:
            self._last_reading = time.monotonic()
            if any(stats.done(reading.flows.values()) for reading in readings):
                self._last_completion = self._last_reading
            if not preparing and readings[-1].phase == "run":
                self._doing = "while measuring"
            self._recorder.readings(self.name, readings, preparing=preparing)

    def _find_unkillable(self, stderr: bytes) -> None:
        """What the watchdog says of processes that even KILL does not end."""
        for line in stderr.decode("utf-8", "replace").splitlines():
            if line.startswith("cephtui: process ") and _CANT_END in line:
                text = f"{self.name}: {line.removeprefix('cephtui: ')}"
                self.findings.append(Finding(code="unkillable", text=text))

    # ------------------------------------------------------------------ supervision

    async def _supervise(self, process: Process, parser: Parser, stop: StopRequest) -> None:
        """End the command when it is asked for, or when it has got nowhere for too long."""
        reported = False
        while not await stop.asked_within(1.0):
            self._recorder.tick()
            still, what = self._stillness()
            if still < SILENCE_SECONDS:
                reported = False
            elif not reported:
                reported = True
                self._report_stillness(still, what)
            if still >= self._bench.stall_seconds:
                stop.request(f"stalled: {what} from {self.name} for {units.duration(still)}")
        parser.expect_end()
        await asyncio.sleep(max(0.0, self._last_reading + _LAST_WORDS_SECONDS - time.monotonic()))
        await process.stop()

    def _stillness(self) -> tuple[float, str]:
        now = time.monotonic()
        if now - self._last_output >= SILENCE_SECONDS:
            return now - self._last_output, "no output"
        return now - self._last_completion, "no completion"

    def _report_stillness(self, still: float, what: str) -> None:
        who = f"{self._step.tool} on {self.name}"
        with contextlib.suppress(OSError):
            self._bench.publish(Notice(0, f"stalled: {what} from {who} for {units.duration(still)}"))

    # ------------------------------------------------------------------ after

    def node_result(self, released_at: float | None) -> NodeResult:
        """This node's part, with times from the release of the first."""
        result = self.result
        self.findings += [*result.findings, *run_findings(self._step, self.outcome or "lost", result)]
        return NodeResult(
            node=self.name,
            outcome=self.outcome or "lost",
            error=self.error,
            command=self._node_step.command,
            started_seconds=self._since(released_at, self.process.released_at if self.process else None),
            ended_seconds=self._since(released_at, self.ended_at),
            summary=stats.summarise([result.flows]),
            cpu_user_percent=result.cpu_user_percent,
            cpu_system_percent=result.cpu_system_percent,
            disks=result.disks,
            jobs=result.jobs,
        )

    @staticmethod
    def _since(released_at: float | None, moment: float | None) -> float | None:
        return None if released_at is None or moment is None else round(moment - released_at, 4)
