"""The processes beside those of a step, such as the server of a network test: started first, ended last."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from cephtui.models import CompanionStep, NodeEnvironment, Outcome, Step
from cephtui.nodes.probe import probe
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import Command, Process, TransportError
from cephtui.nodes.watched import READY_SECONDS
from cephtui.printable import one_line
from cephtui.running.follow import CONNECTION_LOST
from cephtui.running.outcomes import PartEnded, decide, ended_with
from cephtui.running.recorder import Recorder, StopRequest
from cephtui.tools import TOOLS
from cephtui.tools.base import ToolResult
from cephtui.tools.stderr import Errors, spoken

_SLACK_SECONDS = 600.0
"""Time for what comes between its start and that of the step's own processes, and after their end."""
_LOOKED_BACK = 4096
"""Characters of output in which the words that say it is ready are looked for."""


class RunningCompanion:
    """One of them, on its node."""

    def __init__(self, step: CompanionStep, shell: NodeShell, recorder: Recorder, limit_seconds: float) -> None:
        self.failure: PartEnded | None = None
        """Why it could not begin, or has ended early; None where it did not."""
        self._step, self._shell, self._recorder = step, shell, recorder
        self._limit_seconds = limit_seconds
        self._process: Process | None = None
        self._ready, self._ended = asyncio.Event(), asyncio.Event()
        self._ending = False
        self._following: asyncio.Task[None] | None = None

    @property
    def _name(self) -> str:
        """``server on b``."""
        return f"{self._step.name} on {self._step.node}"

    async def start(self, stop: StopRequest) -> None:
        """Start it, and wait until the step's own processes may begin, it has failed, or the run is to end."""
        command = Command(self._step.argv, prefix=self._step.prefix, limit_seconds=self._limit_seconds)
        try:
            self._process = await self._shell.connection.start(command)
        except TransportError as error:
            self._fail("failed", str(error).removeprefix(f"{self._step.node}: "))
            self._ended.set()
            return
        self._following = asyncio.create_task(self._follow(self._process))
        self._process.release()
        if not self._step.ready:
            self._ready.set()
        waits = (self._ready.wait(), self._ended.wait(), stop.asked_within(READY_SECONDS))
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        if not (self._ready.is_set() or self._ended.is_set()) and stop.reason is None:
            self._fail("failed", f"not ready within {READY_SECONDS:.0f} s")

    def _fail(self, outcome: Outcome, why: str) -> None:
        self.failure = self.failure or PartEnded(outcome, one_line(f"{self._name}: {why}"))

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._ended.wait()

    async def end(self) -> None:
        """End it, if it has not ended by itself."""
        self._ending = True
        if self._process is not None and self._following is not None:
            await self._process.stop()
            await self._following

    async def _follow(self, process: Process) -> None:
        """Store its output until its end, which is a failure unless it was asked for."""
        output, errors = "", Errors()
        async for chunk in process.chunks():
            elapsed = max(0.0, chunk.time - process.released_at)
            self._recorder.raw(f"{self._step.node}.{self._step.name}", chunk, elapsed)
            output = (output + chunk.data.decode("utf-8", "replace"))[-_LOOKED_BACK:]
            if self._step.ready in output:
                self._ready.set()
            if chunk.stream == "stderr":
                errors.add(chunk.data)
        status = await process.wait()
        is_early = not self._ending and (status != 0 or not self._ready.is_set())
        if is_early:
            self._fail(*self._why(process, status, errors.text))
        self._ended.set()

    def _why(self, process: Process, status: int | None, stderr: str) -> tuple[Outcome, str]:
        """The outcome, and why it has ended: its own last words where it has failed and they name an error."""
        outcome, reason = decide(status, None, ToolResult(), process.longest_pause_seconds)
        if outcome == "lost":
            away = process.connection_lost or self._shell.connection.closed
            return outcome, CONNECTION_LOST if away else reason or ""
        lines = spoken(stderr)
        error = next((line for line in reversed(lines) if "error" in line.lower()), "")
        return "failed", error or "; ".join([ended_with(status), *lines[-1:]])


@contextlib.asynccontextmanager
async def running_companions(
    step: Step, shells: Mapping[str, NodeShell], recorder: Recorder, stop: StopRequest
) -> AsyncIterator[Sequence[RunningCompanion]]:
    """Context manager: a step's companions run inside, unless one of them has failed; each is ended on exit.

    After a request to stop none is started.
    """
    limit = step.ramp_seconds + (step.run_seconds or step.most_seconds or 7 * 86400) + _SLACK_SECONDS
    steps = step.companions if stop.reason is None else ()
    companions = [RunningCompanion(companion, shells[companion.node], recorder, limit) for companion in steps]
    try:
        await asyncio.gather(*(companion.start(stop) for companion in companions))
        yield companions
    finally:
        await asyncio.gather(*(companion.end() for companion in companions))


async def first_failure(companions: Sequence[RunningCompanion]) -> PartEnded | None:
    """Wait until all have ended, or one has failed; why, or None."""
    for ended in asyncio.as_completed([companion.wait() for companion in companions]):
        await ended
        if failure := companion_failure(companions):
            return failure
    return None


def companion_failure(companions: Sequence[RunningCompanion]) -> PartEnded | None:
    """Why the first of them has failed; None where none has."""
    return next((companion.failure for companion in companions if companion.failure), None)


async def inspect_others(
    steps: Iterable[Step], shells: Mapping[str, NodeShell]
) -> tuple[str, dict[str, NodeEnvironment]]:
    """Why a node on which only companions run can't run the tool of a step, or empty; and these nodes' environments."""
    tools = {
        (companion.node, step.tool)
        for step in steps
        for companion in step.companions
        if companion.node not in step.names
    }
    environments: dict[str, NodeEnvironment] = {}
    for name, tool in sorted(tools):
        try:
            environments[name] = environment = await probe(shells[name])
        except TransportError as error:
            return str(error), environments
        if problem := TOOLS[tool].check_version(environment.tools.get(tool), shells[name].node.programs):
            return f"{name}: {problem}", environments
    return "", environments
