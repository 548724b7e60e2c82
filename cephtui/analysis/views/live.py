"""A run in progress as a front end sees it: events in, series and progress out. Pure, no drawing."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from cephtui.analysis.detectors.jobs import JobsSoFar
from cephtui.analysis.runs.history import History
from cephtui.frozen import dataclass
from cephtui.models import (
    ClusterSample,
    Event,
    Finding,
    MachineUse,
    Mark,
    NodeEnded,
    NodeSample,
    Notice,
    OsdSample,
    Phase,
    Plan,
    Run,
    Sample,
    StateSample,
    Step,
)
from cephtui.models.bounds import Bound, bound_of_all
from cephtui.models.metrics import BY_NAME

if TYPE_CHECKING:
    from cephtui.analysis.detectors.incidents import Course


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is; ``fraction`` and ``eta_seconds`` are None where its end is not known."""

    phase: Phase
    elapsed_seconds: float
    fraction: float | None
    eta_seconds: float | None


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A run among those of its order: the points of a sweep, each as often as it is repeated."""

    run: int
    """The number of the run, from 1; a run that was skipped counts too."""
    of: int | None
    """1 of a run that is played alone; None where what it shows decides how many there are."""
    seconds_left: float | None
    """Seconds until the last of them ends, as estimated; None where the end of the current one is not known."""
    bound: Bound = "about"
    """Whether the time is ``about`` the estimate, or bound by it."""


@dataclass(slots=True)
class LiveRun:
    """Follows one run through its samples of all nodes merged."""

    run: Run
    step: Step
    phase: Phase = "prepare"
    prepared_bytes: int = 0
    history: History = field(default_factory=History)
    latest: Sample | None = None
    nodes: dict[str, Sample] = field(default_factory=dict)
    """The latest sample of each node."""
    machines: dict[str, MachineUse] = field(default_factory=dict)
    """What each node did in its last second beside the benchmark."""
    ended: dict[str, NodeEnded] = field(default_factory=dict)
    """The end of each node whose part is over."""
    jobs: JobsSoFar = field(default_factory=JobsSoFar)
    cluster: ClusterSample | None = None
    osds: OsdSample | None = None
    """What the OSDs counted last."""
    course: Course = field(init=False)
    """The incidents so far."""
    marks: tuple[Mark, ...] = ()
    notice: str | None = None

    def __post_init__(self) -> None:
        # with the first run: it knows what a cluster reports
        from cephtui.analysis.detectors.incidents import Course

        self.course = Course.of(self.step)
        self.history.ramp_until = self.step.ramp_seconds
        if not self.step.prepare_seconds:
            self.phase = "ramp" if self.step.ramp_seconds else "run"

    @property
    def directions(self) -> list[str]:
        """``read`` and ``write`` as far as the run has them."""
        return self.history.directions

    @property
    def prefill_bytes(self) -> int:
        """Bytes that are written on all nodes before the benchmark; 0 where the tool decides that itself."""
        return sum(part.bytes for node in self.step.nodes for part in node.fill)

    @property
    def expected_seconds(self) -> float | None:
        """Length of ramp and run; None where the run ends with its data."""
        return None if self.step.run_seconds is None else self.step.ramp_seconds + self.step.run_seconds

    def take(self, event: Event) -> None:
        """Take in what has happened in the run."""
        if isinstance(event, Sample):
            self.add(event)
        elif isinstance(event, StateSample):
            self._watched(event)
        elif isinstance(event, NodeEnded):
            self.end_node(event)
        elif isinstance(event, Mark) and event.run == self.run.run:
            self.marks += (event,)
            self.course.mark(event)
        elif isinstance(event, Notice):
            self.notice = event.text

    def _watched(self, sample: StateSample) -> None:
        if isinstance(sample, ClusterSample):
            self.cluster = sample
            self.course.cluster(sample)
        elif isinstance(sample, NodeSample):
            self.machines[sample.node] = sample.machine
            self.course.machine(sample)
        elif isinstance(sample, OsdSample):
            self.osds = sample
            self.course.osds(sample)

    def add(self, sample: Sample) -> None:
        """Take in a sample of one node, or of all merged."""
        self.history.add(sample)
        self.course.add(sample)
        if sample.node is not None:
            self.nodes[sample.node] = sample
            self.jobs.add(sample.node, sample.jobs)
            return
        self.latest = sample
        self.notice = None
        self.phase = sample.phase  # a prefill, too, that an earlier run was to make and did not
        if sample.phase == "prepare":
            self.prepared_bytes += sample.write.bytes if sample.write else 0

    def end_node(self, ended: NodeEnded) -> None:
        """Take in that a node's part is over."""
        from cephtui.analysis.detectors.ended import broke_off

        self.ended[ended.node] = ended
        if ended.elapsed_seconds is not None:
            self.course.end(ended.node, ended.elapsed_seconds, broke_off=broke_off(ended))

    @property
    def left_early(self) -> tuple[NodeEnded, ...]:
        """The nodes that have broken off while others go on."""
        from cephtui.analysis.detectors.ended import left_early

        return left_early(self.ended, self.step.names) if self.ended else ()

    def findings(self) -> tuple[Finding, ...]:
        """The findings so far, nodes that are missing first."""
        from cephtui.analysis.detectors.ended import finding_of

        ends = self.left_early
        reasons = {end.node: end.error or "" for end in ends if end.outcome == "lost"}
        return (*(finding_of(end, self.history.reached) for end in ends), *self.course.findings(reasons))

    def node_p99(self, node: str) -> float | None:
        """The worst p99 of a node's last reads and writes, in seconds; of the flush where each write is flushed."""
        sample = self.nodes.get(node)
        if sample is not None and sample.phase == "prepare":
            return None
        return BY_NAME["latency_p99_seconds"].combined(sample.flows) if sample else None

    def progress(self, since_sample_seconds: float = 0.0) -> Progress:
        """How far the current phase is, ``since_sample_seconds`` after the latest sample."""
        elapsed = (self.latest.elapsed_seconds if self.latest else 0.0) + since_sample_seconds
        if self.phase == "prepare":
            return self._prepare_progress(elapsed)
        expected = self.expected_seconds
        if expected is None:
            return Progress(self.phase, elapsed, None, None)
        return Progress(self.phase, elapsed, min(1.0, elapsed / expected), max(0.0, expected - elapsed))

    def seconds_left(self, since_sample_seconds: float = 0.0) -> float | None:
        """Seconds left of prefill, ramp and run, as estimated; None where only the data of a run decides its end."""
        step, progress = self.step, self.progress(since_sample_seconds)
        run = step.run_seconds or step.most_seconds
        if run is None:
            return None
        if self.phase != "prepare":
            return max(0.0, step.ramp_seconds + run - progress.elapsed_seconds)
        fill = progress.eta_seconds
        if fill is None:
            fill = max(0.0, step.prepare_seconds - progress.elapsed_seconds)
        return fill + step.ramp_seconds + run

    def _prepare_progress(self, elapsed: float) -> Progress:
        fill_bytes = self.prefill_bytes
        if not fill_bytes or not self.prepared_bytes:
            return Progress("prepare", elapsed, None, None)
        fraction = min(1.0, self.prepared_bytes / fill_bytes)
        return Progress("prepare", elapsed, fraction, max(0.0, elapsed / fraction - elapsed))


@dataclass(slots=True)
class Live:
    """Follows all that a runner publishes: which step of which plan is running, and how it goes."""

    steps: tuple[Step, ...] = ()
    current: LiveRun | None = None

    @property
    def place(self) -> str:
        """The number of the running step, of how many: ``2/5``, ``2``; one that was skipped counts too."""
        assert self.current
        number = self.current.step.number
        return f"{number}" if self._counts_on else f"{number}/{self.steps[-1].number}"

    @property
    def _counts_on(self) -> bool:
        """Whether the plan has one step, behind others: of repeats until stable each run is planned alone."""
        return len(self.steps) == 1 and (self.steps[0].number or 1) > 1

    def batch_progress(self, since_sample_seconds: float = 0.0) -> BatchProgress | None:
        """The place of the current run in its batch; None where none is in progress."""
        if self.current is None:
            return None
        step = self.current.step
        batch = [other for other in self.steps if other.batch == step.batch]
        index = next(index for index, other in enumerate(batch) if other is step)
        # the rest of an order that was stopped is a plan that counts on
        earlier = (batch[0].number or 1) - 1 if batch[0] is self.steps[0] else 0
        seconds_left = self.current.seconds_left(since_sample_seconds)
        if seconds_left is not None:
            seconds_left += sum(later.likely_seconds for later in batch[index + 1 :])
        bound = bound_of_all(other.bound for other in batch[index:])
        of = None if self._counts_on else earlier + len(batch)
        return BatchProgress(earlier + index + 1, of, seconds_left, bound)

    def take(self, event: Event) -> None:
        """Take in what has happened."""
        if isinstance(event, Plan):
            self.steps = event.steps
        elif isinstance(event, Run) and event.outcome is None:
            step = next((step for step in self.steps if step.number == event.step), self.steps[0])
            self.current = LiveRun(event, step)
        elif isinstance(event, Run):
            self.current = None
        elif self.current:
            self.current.take(event)
