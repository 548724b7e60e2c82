"""A run in progress as a front end sees it: events in, series and progress out. Pure, no drawing."""

from __future__ import annotations

from dataclasses import dataclass, field

from cephtui.models import ClusterSample, Event, Interval, Notice, Phase, Plan, Run, Sample, Step

LONG_INTERVAL_SECONDS = 2.0
DIRECTIONS = ("read", "write")
FIGURES = ("iops", "bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds")

Series = list[tuple[float, float | None]]
"""(elapsed seconds, value); None where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is; ``fraction`` and ``eta_seconds`` are None where its end is not known."""

    phase: Phase
    elapsed_seconds: float
    fraction: float | None
    eta_seconds: float | None


@dataclass(slots=True)
class LiveRun:
    """Follows one run through its samples of all nodes merged."""

    run: Run
    step: Step
    phase: Phase = "prepare"
    prepared_bytes: int = 0
    ramp_until: float = 0.0
    """Elapsed seconds when the ramp ended; until then, when it is expected to end."""
    latest: Sample | None = None
    nodes: dict[str, Sample] = field(default_factory=dict)
    """The latest of each node."""
    node_iops: dict[str, Series] = field(default_factory=dict)
    """Of each node, reads and writes together."""
    cluster: ClusterSample | None = None
    series: dict[str, Series] = field(default_factory=dict)
    """By ``read.iops`` and the like, ramp included."""
    notice: str | None = None
    _ios: dict[str, int] = field(default_factory=dict)
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        self.ramp_until = self.step.ramp_seconds
        if not self.step.fill_bytes:
            self.phase = "ramp" if self.step.ramp_seconds else "run"

    @property
    def directions(self) -> list[str]:
        """``read`` and ``write`` as far as the run has them."""
        return [d for d in DIRECTIONS if f"{d}.iops" in self.series]

    @property
    def wanted_bytes(self) -> int:
        """How much is written on all nodes before the benchmark."""
        return sum(part.bytes for node in self.step.nodes for part in node.fill)

    @property
    def expected_seconds(self) -> float | None:
        """Length of ramp and run; None where the run ends with its data."""
        return None if self.step.run_seconds is None else self.step.ramp_seconds + self.step.run_seconds

    def add(self, sample: Sample) -> None:
        """Take in a sample; only those of all nodes become series."""
        if sample.node is not None:
            self._add_node(sample.node, sample)
            return
        self.latest = sample
        self.notice = None
        if sample.phase == "prepare":
            self.prepared_bytes += sample.write.bytes if sample.write else 0
            return
        if self.phase != "run" and sample.phase == "run":
            self.ramp_until = max(0.0, sample.elapsed_seconds - sample.interval_seconds)
        self.phase = sample.phase
        for direction in DIRECTIONS:
            interval: Interval | None = getattr(sample, direction)
            if interval is not None:
                self._append(direction, interval, sample)
        if sample.phase == "run":
            self._seconds += sample.interval_seconds

    def _add_node(self, node: str, sample: Sample) -> None:
        self.nodes[node] = sample
        if sample.phase != "prepare":
            iops = sum(interval.iops for interval in (sample.read, sample.write) if interval)
            self.node_iops.setdefault(node, []).append((sample.elapsed_seconds, iops))

    def node_p99(self, node: str) -> float | None:
        """The worst of a node's last reads and writes."""
        sample = self.nodes.get(node)
        known = [i.latency_p99_seconds for i in (sample.read, sample.write) if i] if sample else []
        return max((value for value in known if value is not None), default=None)

    def _append(self, direction: str, interval: Interval, sample: Sample) -> None:
        for figure in FIGURES:
            series = self.series.setdefault(f"{direction}.{figure}", [])
            # what some nodes did is no figure of all: a gap, not a dip
            value = None if sample.missing else getattr(interval, figure)
            if sample.interval_seconds > LONG_INTERVAL_SECONDS:
                # the tool was late: what it says holds for the whole stretch, not only for its end
                series.append((sample.elapsed_seconds - sample.interval_seconds + 1.0, value))
            series.append((sample.elapsed_seconds, value))
        if sample.phase == "run":
            self._ios[direction] = self._ios.get(direction, 0) + interval.ios

    def mean_iops(self) -> float | None:
        """I/O operations a second since the end of the ramp, reads and writes together."""
        return sum(self._ios.values()) / self._seconds if self._seconds else None

    def total_iops(self) -> Series:
        """Reads and writes together over time."""
        parts = [self.series[f"{direction}.iops"] for direction in self.directions]
        if len(parts) == 1:
            return parts[0]
        sums: dict[float, float] = {}
        for elapsed, value in (point for part in parts for point in part):
            sums[elapsed] = sums.get(elapsed, 0.0) + (value or 0.0)
        return sorted(sums.items())

    def progress(self, since_sample_seconds: float = 0.0) -> Progress:
        """How far the current phase is, ``since_sample_seconds`` after the latest sample."""
        elapsed = (self.latest.elapsed_seconds if self.latest else 0.0) + since_sample_seconds
        if self.phase == "prepare":
            return self._prepare_progress(elapsed)
        expected = self.expected_seconds
        if expected is None:
            return Progress(self.phase, elapsed, None, None)
        return Progress(self.phase, elapsed, min(1.0, elapsed / expected), max(0.0, expected - elapsed))

    def _prepare_progress(self, elapsed: float) -> Progress:
        wanted = self.wanted_bytes
        if not wanted or not self.prepared_bytes:
            return Progress("prepare", elapsed, None, None)
        fraction = min(1.0, self.prepared_bytes / wanted)
        return Progress("prepare", elapsed, fraction, max(0.0, elapsed / fraction - elapsed))


@dataclass(slots=True)
class Live:
    """Follows all that a runner publishes: which step of which plan is running, and how it goes."""

    steps: tuple[Step, ...] = ()
    begun: int = 0
    """How many of the plan's steps have begun."""
    current: LiveRun | None = None

    def take(self, event: Event) -> None:
        """Take in what has happened."""
        if isinstance(event, Plan):
            self.steps, self.begun = event.steps, 0
        elif isinstance(event, Run) and event.outcome is None:
            self.current = LiveRun(event, self.steps[self.begun])
            self.begun += 1
        elif isinstance(event, Run):
            self.current = None
        elif isinstance(event, Sample) and self.current:
            self.current.add(event)
        elif isinstance(event, ClusterSample) and self.current:
            self.current.cluster = event
        elif isinstance(event, Notice) and self.current:
            self.current.notice = event.text
