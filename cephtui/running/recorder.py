"""Output and samples of a run: stored first, then published, of each node and of all merged."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from cephtui.analysis.detectors.ended import broke_off, finding_of, left_early
from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.other_clients import operations_per_io
from cephtui.analysis.runs.merge import Merged, Merger, as_sample
from cephtui.models import (
    ClusterSample,
    Event,
    Finding,
    MachineUse,
    Mark,
    NodeEnded,
    NodeSample,
    OsdSample,
    Phase,
    Sample,
    StateSample,
    Step,
)
from cephtui.nodes.transport import Chunk
from cephtui.running.outcomes import NodeEnd, PartEnded
from cephtui.sessions.writer import RunWriter
from cephtui.tools.base import Reading

CUT_SHORT = "the session can no longer be written"
_LATE_SECONDS = 5.0
"""A longer time since the last tick means that the console stood still."""
_BEGINNING_SECONDS = 5.0
"""How long what has begun to start may still take where the end is asked for; it is ended in order then."""
T = TypeVar("T")
W = TypeVar("W", bound=StateSample)
log = logging.getLogger(__name__)


class StopRequest:
    """Asks a run to end; the first reason counts. An empty reason is the user's own request."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._event = asyncio.Event()
        self._note: Callable[[str], None] = lambda reason: None

    def noted_by(self, note: Callable[[str], None]) -> None:
        """Have the reason noted as soon as there is one: the process may end before the run does."""
        self._note = note
        if self.reason is not None:
            note(self.reason)

    def request(self, reason: str = "") -> None:
        """Ask for the end."""
        if self.reason is None:
            self.reason = reason
            self._note(reason)
        self._event.set()

    async def asked_within(self, seconds: float) -> bool:
        """Wait for the request, but not for longer."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        return self._event.is_set()

    async def unless_asked(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work that is cancelled some seconds after the request; raises PartEnded then."""
        stopping, doing = asyncio.ensure_future(self._event.wait()), asyncio.ensure_future(work)
        try:
            await asyncio.wait([stopping, doing], return_when=asyncio.FIRST_COMPLETED)
            if not (await asyncio.wait([doing], timeout=_BEGINNING_SECONDS if stopping.done() else None))[0]:
                raise PartEnded("stopped", self.reason or None)
            return doing.result()
        finally:
            stopping.cancel()
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)


class Recorder:
    """Stores and publishes one run; where it can't be stored it ends, since it is not worth the load on the cluster."""

    def __init__(
        self,
        run: int,
        step: Step,
        writer: RunWriter,
        publish: Callable[[Event], None],
        stop: StopRequest,
    ) -> None:
        self._run, self._preset, self._nodes = run, step.preset, step.names
        self._ramp_seconds = step.ramp_seconds
        self._writer, self._publish, self._stop = writer, publish, stop
        self._mergers: dict[bool, Merger] = {}
        self.course = Course.of(step)
        self.operations_per_io = operations_per_io(step)
        """Of OSDs, as far as the step alone tells."""
        self._begun = self._ticked = time.monotonic()
        self._released: float | None = None
        self._ended_at: dict[str, float] = {}
        """Elapsed seconds at the end of each node's benchmark."""
        self._ended: dict[str, NodeEnded] = {}
        self.unsaved = ""
        """Why not all of it is in the session; empty where it is."""

    def raw(self, process: str, chunk: Chunk, elapsed_seconds: float) -> None:
        """Take in a piece of output of ``NODE`` or ``NODE.prepare``."""
        with self._guarded():
            self._writer.raw(process, chunk.stream, chunk.data, round(elapsed_seconds, 4))

    def readings(self, node: str, readings: list[Reading], *, preparing: bool) -> None:
        """Take in readings of a node."""
        for reading in readings:
            self._keep(as_sample(self._run, self._preset, node, reading, preparing=preparing))
        self._merged(self._merger(preparing).add(node, readings, time.monotonic()), preparing)

    def end(self, node: str, *, preparing: bool) -> None:
        """Take in that a node has ended this phase, or never began it."""
        if self._released is not None and not preparing:
            self._ended_at[node] = round(time.monotonic() - self._released, 3)
            self.course.end(node, self._ended_at[node])
        self._merged(self._merger(preparing).end(node, time.monotonic()), preparing)

    def node_ended(self, end: NodeEnd) -> None:
        """Take in that one of several nodes has ended its part; only the first end of each counts."""
        if len(self._nodes) == 1 or end.node in self._ended:
            return
        ended = self._ended[end.node] = self._with_moment(end)
        if ended.elapsed_seconds is not None and broke_off(ended):
            self.course.end(ended.node, ended.elapsed_seconds, broke_off=True)
        with self._guarded():
            self._writer.node_ended(ended)
            self._publish(ended)

    def _with_moment(self, end: NodeEnd) -> NodeEnded:
        at = self._ended_at.get(end.node)
        return NodeEnded(run=self._run, node=end.node, elapsed_seconds=at, outcome=end.outcome, error=end.error)

    def findings(self, ends: Sequence[NodeEnd]) -> tuple[Finding, ...]:
        """The findings of a run that is over, by the end of each node."""
        ended = {end.node: self._with_moment(end) for end in ends}
        lost = {end.node: end.named for end in ends if end.outcome == "lost"}
        over = max(self._ended_at.values(), default=0.0)
        early = left_early(ended, self._nodes) if self._ended else ()
        return (*(finding_of(end, over) for end in early), *self.course.findings(lost))

    def tick(self) -> None:
        """Close the intervals that a late node would hold open; called about once a second."""
        now, self._ticked, before = time.monotonic(), time.monotonic(), self._ticked
        if self._released is not None and now - max(before, self._released) > _LATE_SECONDS:
            self.course.console_stalled(max(before, self._released) - self._released, now - self._released)
        for preparing, merger in self._mergers.items():
            self._merged(merger.tick(time.monotonic()), preparing)

    def released(self) -> None:
        """The benchmark begins now."""
        self._released = time.monotonic()

    def begin_mark(self) -> Mark:
        """A mark of this moment of the run, as yet without words. For any thread."""
        elapsed = None if self._released is None else round(time.monotonic() - self._released, 3)
        return Mark(at=datetime.now(UTC), run=self._run, elapsed_seconds=elapsed, text="")

    def keep_mark(self, mark: Mark) -> bool:
        """Take in a mark with its words; whether it is of this run, not of an earlier one."""
        if is_own := mark.run == self._run:
            self.course.mark(mark)
        return is_own

    def cluster(self, reported: ClusterSample) -> None:
        """Take in the present state of the cluster; the first is the state before the run."""
        sample = self._timed(reported)
        self.course.cluster(sample)
        self._keep_state(sample)

    def machine(self, node: str, elapsed_seconds: float, interval_seconds: float, use: MachineUse) -> None:
        """Take in what a node did beside the benchmark, until so many seconds after the release."""
        sample = NodeSample(
            run=self._run,
            phase="run" if elapsed_seconds - interval_seconds >= self._ramp_seconds else "ramp",
            elapsed_seconds=round(elapsed_seconds, 3),
            node=node,
            interval_seconds=round(interval_seconds, 3),
            machine=use,
        )
        self.course.machine(sample)
        self._keep_state(sample)

    def osds(self, counted: OsdSample) -> None:
        """Take in what the OSDs of the pool have counted until now."""
        sample = self._timed(counted.model_copy(update={"operations_per_io": self.operations_per_io}))
        self.course.osds(sample)
        self._keep_state(sample)

    def _timed(self, sample: W) -> W:
        """A sample of this run, at this moment of it."""
        phase: Phase = "run" if self._released else "prepare"
        elapsed = round(time.monotonic() - (self._released or self._begun), 3)
        return sample.model_copy(update={"run": self._run, "phase": phase, "elapsed_seconds": elapsed})

    def _keep_state(self, sample: StateSample) -> None:
        with self._guarded():
            self._writer.state(sample)
            self._publish(sample)

    def _merger(self, preparing: bool) -> Merger:
        return self._mergers.setdefault(preparing, Merger(self._nodes))

    def _merged(self, merged: list[Merged], preparing: bool) -> None:
        for second in merged:
            self._keep(as_sample(self._run, self._preset, None, second.reading, second.missing, preparing=preparing))

    def _keep(self, sample: Sample) -> None:
        self.course.add(sample)
        with self._guarded():
            self._writer.sample(sample)
            self._publish(sample)

    def close(self) -> None:
        """Close the files."""
        with self._guarded():
            self._writer.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self.unsaved:
                where = self._writer.directory
                log.error("can't write %s", where, exc_info=error)
                self.unsaved = f"{error.strerror or error} ({where})"
                self._stop.request(f"{CUT_SHORT}: {self.unsaved}")
