"""A run over time in bounded space: what every chart is drawn from, of a live run, a saved one and a replayed one.

Samples of a day and of many nodes become a few thousand stretches of time; a short run is kept as it is.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cephtui.models import Elapsed, Model, Name
from cephtui.models.metrics import BY_NAME, COMMIT, DIRECTIONS, FLUSH, LIVE
from cephtui.models.samples import GRID_BUCKETS
from cephtui.stats import bucket_nanoseconds, completions, known_sum, percentile_seconds

if TYPE_CHECKING:
    from cephtui.models import Interval, Sample

OF_NODES = (*DIRECTIONS, FLUSH, COMMIT)
"""Flows of which a node has curves."""
LONG_INTERVAL_SECONDS = 2.0
CURVE_STRETCHES, NODE_STRETCHES, HEAT_STRETCHES = 2000, 500, 500
"""Stretches of a saved curve; at most twice as many are held while a run grows."""
_BUCKETS_A_ROW = 16
"""Buckets of the latency grid, which has 64 to an octave, in a row of the heat map."""

LinePoints = list[tuple[float, float | None]]
"""(elapsed seconds, value); None where nothing was measured."""
Stretch = tuple[Elapsed, float | None, float | None, float | None]
"""Elapsed seconds at its end, and the least, mean and greatest value in it; None for a gap."""


class TimeSeries:
    """One figure over time; when it has too many stretches, each two neighbours become one."""

    def __init__(self, stretches: int = CURVE_STRETCHES) -> None:
        self._most = 2 * stretches
        self._end, self._low, self._mean, self._high = (array("d") for _ in range(4))
        self._each, self._held = 1, 0
        """Values in a full stretch, and in the last one."""

    def __len__(self) -> int:
        return len(self._end)

    def __bool__(self) -> bool:
        return bool(self._end)

    def add(self, elapsed_seconds: float, value: float | None) -> None:
        """Append a value; None is a gap."""
        number = math.nan if value is None else value
        if self._held == self._each or not self._end:
            if len(self._end) >= self._most:
                self._halve()
            self._append((elapsed_seconds, number, number, number))
            self._held = 1
        else:
            last = (self._end.pop(), self._low.pop(), self._mean.pop(), self._high.pop())
            self._append(_joined(last, self._held, (elapsed_seconds, number, number, number), 1))
            self._held += 1

    def _append(self, stretch: tuple[float, float, float, float]) -> None:
        for column, number in zip((self._end, self._low, self._mean, self._high), stretch, strict=True):
            column.append(number)

    def _halve(self) -> None:
        old = list(zip(self._end, self._low, self._mean, self._high, strict=True))
        self._end, self._low, self._mean, self._high = (array("d") for _ in range(4))
        for first, second in zip(old[::2], old[1::2], strict=False):
            self._append(_joined(first, 1, second, 1))
        self._each *= 2

    def points(self) -> LinePoints:
        """The points of a line: of a stretch with several values the least and the greatest."""
        points: LinePoints = []
        for end, low, high in zip(self._end, self._low, self._high, strict=True):
            points.append((end, None if math.isnan(low) else low))
            if high > low:
                points.append((end, high))
        return points

    def values(self) -> list[float | None]:
        """The mean of each stretch."""
        return [None if math.isnan(mean) else mean for mean in self._mean]

    @property
    def end(self) -> float:
        """Elapsed seconds of the newest value."""
        return self._end[-1] if self._end else 0.0

    def last(self) -> float | None:
        """The newest value."""
        return None if not self._mean or math.isnan(self._mean[-1]) else self._mean[-1]

    def since(self, seconds: float) -> tuple[float, float, float] | None:
        """Least value, mean over time and greatest value after so many seconds; None before there is one."""
        held, weight, low, high, before = 0.0, 0.0, math.inf, -math.inf, seconds
        for end, least, mean, most in self.stretches():
            if end > seconds:
                if least is not None and mean is not None and most is not None:
                    held, weight = held + mean * (end - before), weight + end - before
                    low, high = min(low, least), max(high, most)
                before = end
        return (low, held / weight, high) if weight else None

    def stretches(self) -> list[Stretch]:
        """The stretches as they are saved."""
        rows = zip(self._end, self._low, self._mean, self._high, strict=True)
        return [(e, None, None, None) if math.isnan(low) else (e, low, mean, high) for e, low, mean, high in rows]

    @classmethod
    def of(cls, saved: list[Stretch]) -> TimeSeries:
        """A saved curve; nothing is added to it any more."""
        curve = cls()
        for end, low, mean, high in saved:
            if low is None or mean is None or high is None:
                curve._append((end, math.nan, math.nan, math.nan))
            else:
                curve._append((end, low, mean, high))
        return curve


def _joined(
    first: tuple[float, float, float, float], weight: int, second: tuple[float, float, float, float], other: int
) -> tuple[float, float, float, float]:
    """One stretch of two that follow each other; a gap beside a value is the value."""
    if math.isnan(first[1]) or math.isnan(second[1]):
        value = second if math.isnan(first[1]) else first
        return (second[0], *value[1:])
    mean = (weight * first[2] + other * second[2]) / (weight + other)
    return second[0], min(first[1], second[1]), mean, max(first[3], second[3])


def _added(first: Stretch, second: Stretch) -> Stretch:
    """The sum of two directions in the same stretch; a gap in one is a gap."""
    low, mean, high = (None if a is None or b is None else a + b for a, b in zip(first[1:], second[1:], strict=True))
    return second[0], low, mean, high


HeatColumn = tuple[Elapsed, dict[Annotated[int, Field(ge=0, lt=GRID_BUCKETS // _BUCKETS_A_ROW)], int]]
"""Elapsed seconds at its end, and completions by row."""


class Heat:
    """How the latencies of each second are spread: completions by time and row, four rows to an octave."""

    def __init__(self, stretches: int = HEAT_STRETCHES) -> None:
        self._most = 2 * stretches
        self._columns: list[HeatColumn] = []
        self._each, self._held = 1, 0

    def __bool__(self) -> bool:
        return any(rows for _, rows in self._columns)

    def add(self, elapsed_seconds: float, buckets: Mapping[int, int] | None) -> None:
        """Append the histogram of an interval, on the fixed grid."""
        rows: dict[int, int] = {}
        for bucket, number in (buckets or {}).items():
            rows[bucket // _BUCKETS_A_ROW] = rows.get(bucket // _BUCKETS_A_ROW, 0) + number
        if self._held == self._each or not self._columns:
            if len(self._columns) >= self._most:
                pairs = zip(self._columns[::2], self._columns[1::2], strict=False)
                self._columns = [_summed(first, second) for first, second in pairs]
                self._each *= 2
            self._columns.append((elapsed_seconds, rows))
            self._held = 1
        else:
            self._columns[-1] = _summed(self._columns[-1], (elapsed_seconds, rows))
            self._held += 1

    def columns(self) -> list[HeatColumn]:
        """All columns, in the order of time."""
        return self._columns

    @classmethod
    def of(cls, saved: list[HeatColumn]) -> Heat:
        """Saved heat; nothing is added to it any more."""
        heat = cls()
        heat._columns = saved
        return heat


def row_seconds(row: int) -> float:
    """The latency at the lower edge of a row."""
    return bucket_nanoseconds(row * _BUCKETS_A_ROW) / 1e9


def row_percentile_seconds(rows: Mapping[int, int], percent: float) -> float | None:
    """The latency below which ``percent`` of the completions lie, to the middle of a row; None without completions."""
    middle = _BUCKETS_A_ROW // 2
    return percentile_seconds({row * _BUCKETS_A_ROW + middle: number for row, number in rows.items()}, percent)


def _summed(first: HeatColumn, second: HeatColumn) -> HeatColumn:
    rows = dict(first[1])
    for row, number in second[1].items():
        rows[row] = rows.get(row, 0) + number
    return second[0], rows


class Overview(Model):
    """A history as it is saved: all that listing and opening a run reads of its samples."""

    schema_version: int = 1
    series: dict[Name, list[Stretch]]
    """``read.iops`` and the like, of all nodes."""
    nodes: dict[Name, dict[Name, list[Stretch]]] = {}
    """The curves of each node by figure, reads and writes together."""
    heat: dict[Name, list[HeatColumn]] = {}
    """The columns of the heat map by direction."""
    ramp_until: Elapsed = 0.0


@dataclass(slots=True)
class Done:
    """The totals of a flow since the ramp, of all nodes."""

    ios: int | None = 0
    """None where they are not counted."""
    bytes: int = 0
    waited_seconds: float = 0.0
    """The latencies of its completions, added up."""
    completed: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    """The same by latency, on the fixed grid; empty where a tool has no histograms."""

    def add(self, interval: Interval) -> None:
        """Take in what it did in an interval."""
        self.ios = known_sum([self.ios, interval.ios])
        self.bytes += interval.bytes
        if interval.latency_mean_seconds is not None:
            self.waited_seconds += interval.latency_mean_seconds * completions(interval)
            self.completed += completions(interval)
        for bucket, number in (interval.latency_buckets or {}).items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + number


@dataclass(slots=True)
class History:
    """All curves of one run, the ramp included, the prefill left out."""

    curves: dict[str, TimeSeries] = field(default_factory=dict)
    """``read.iops`` and the like, of all nodes."""
    nodes: dict[str, dict[str, TimeSeries]] = field(default_factory=dict)
    """The curves of each node by figure, reads and writes together."""
    heat: dict[str, Heat] = field(default_factory=dict)
    """The heat map by direction."""
    ramp_until: float = 0.0
    """Elapsed seconds when the ramp ended; until then, when it is expected to end."""
    reached: float = 0.0
    """Elapsed seconds of the newest sample."""
    done: dict[str, Done] = field(default_factory=dict)
    """Totals by direction; none of a saved history."""
    _running: bool = False

    @property
    def directions(self) -> list[str]:
        """``read`` and ``write`` as far as the run has them, and what else it does."""
        names = dict.fromkeys(name.rpartition(".")[0] for name in self.curves)
        return [*(name for name in DIRECTIONS if name in names), *(name for name in names if name not in DIRECTIONS)]

    def add(self, sample: Sample) -> None:
        """Take in a sample of one node, or of all merged."""
        if sample.phase == "prepare":
            return
        if sample.node is not None:
            self._add_node(sample.node, sample)
            return
        if sample.phase == "run" and not self._running:
            self._running = True
            self.ramp_until = max(0.0, sample.elapsed_seconds - sample.interval_seconds)
        is_part = bool(sample.missing) or is_straggler(sample, self.reached)
        for direction, interval in sample.flows.items():
            self._add_direction(direction, interval, sample, is_part=is_part)
            if sample.phase == "run":
                self.done.setdefault(direction, Done()).add(interval)
        self.reached = max(self.reached, sample.elapsed_seconds)

    def _add_direction(self, direction: str, interval: Interval, sample: Sample, *, is_part: bool) -> None:
        for metric in LIVE:
            curve = self.curves.setdefault(f"{direction}.{metric.name}", TimeSeries())
            # what some nodes did is no figure of all: a gap, not a dip
            value = None if is_part else metric.of(interval)
            for elapsed in _moments(sample, curve.end):
                curve.add(elapsed, value)
        heat = self.heat.setdefault(direction, Heat())
        heat.add(sample.elapsed_seconds, interval.latency_buckets)

    def _add_node(self, node: str, sample: Sample) -> None:
        curves = self.nodes.setdefault(node, {})
        flows = {name: interval for name, interval in sample.flows.items() if name in OF_NODES}
        for figure, value in node_figures(flows).items():
            curve = curves.setdefault(figure, TimeSeries(NODE_STRETCHES))
            for elapsed in _moments(sample, curve.end):
                curve.add(elapsed, value)

    def total(self, figure: str) -> TimeSeries:
        """Reads and writes together over time, of ``iops`` or ``bandwidth_bytes``."""
        parts = [curve for direction in DIRECTIONS if (curve := self.curves.get(f"{direction}.{figure}"))]
        if len(parts) <= 1:
            return parts[0] if parts else TimeSeries()
        sums = {stretch[0]: stretch for stretch in parts[0].stretches()}
        for stretch in parts[1].stretches():
            sums[stretch[0]] = _added(sums.get(stretch[0], stretch[:1] + (0.0,) * 3), stretch)
        return TimeSeries.of([sums[end] for end in sorted(sums)])

    def mean(self, figure: str, flows: Collection[str] = DIRECTIONS) -> float | None:
        """The mean since the ramp, of these flows together: over all that time, or over all completions.

        None before anything was measured, or where that is not counted.
        """
        parts = [part for name in flows if (part := self.done.get(name))]
        if figure == "latency_mean_seconds":
            completed = sum(part.completed for part in parts)
            return sum(part.waited_seconds for part in parts) / completed if completed else None
        done = known_sum(part.ios if figure == "iops" else part.bytes for part in parts)
        seconds = self.reached - self.ramp_until
        return done / seconds if done is not None and seconds > 0 else None

    def overview(self) -> Overview:
        """The history as it is saved."""
        return Overview(
            series={name: curve.stretches() for name, curve in self.curves.items()},
            nodes={
                node: {figure: curve.stretches() for figure, curve in curves.items()}
                for node, curves in self.nodes.items()
            },
            heat={direction: heat.columns() for direction, heat in self.heat.items()},
            ramp_until=self.ramp_until,
        )

    @classmethod
    def of(cls, saved: Overview) -> History:
        """A saved history."""
        curves = {name: TimeSeries.of(stretches) for name, stretches in saved.series.items()}
        nodes = {node: {f: TimeSeries.of(s) for f, s in figures.items()} for node, figures in saved.nodes.items()}
        heat = {direction: Heat.of(columns) for direction, columns in saved.heat.items()}
        reached = max((stretches[-1][0] for stretches in saved.series.values() if stretches), default=0.0)
        return cls(curves, nodes, heat, saved.ramp_until, reached)


def is_straggler(sample: Sample, reached: float) -> bool:
    """Whether a sample of all nodes lies in the time of the one before it, which ended at ``reached``.

    A run whose nodes do not end in the same moment ends so: the rest of one node is no second of all.
    """
    return sample.elapsed_seconds - reached < sample.interval_seconds / 2


def _moments(sample: Sample, after: float) -> Iterator[float]:
    """The elapsed seconds at which a sample is drawn: late figures hold for all of the gap before them."""
    first = max(sample.elapsed_seconds - sample.interval_seconds + 1.0, after + 0.5)
    if sample.interval_seconds > LONG_INTERVAL_SECONDS and first < sample.elapsed_seconds:
        yield first
    yield sample.elapsed_seconds


def node_figures(flows: Mapping[str, Interval]) -> dict[str, float | None]:
    """All flows as one figure each: sums, the mean of all completions, and the worse p99."""
    means = BY_NAME["latency_mean_seconds"].of_whole(flows)
    weights = {name: completions(flows[name]) for name in means}
    weight = sum(weights.values())
    rates = BY_NAME["iops"].names_of_whole(flows)
    return {
        "iops": known_sum(flows[name].iops for name in rates) if rates else 0.0,
        "bandwidth_bytes": sum(flows[name].bandwidth_bytes or 0.0 for name in rates),
        "latency_mean_seconds": sum(means[name] * weights[name] for name in means) / weight if weight else None,
        "latency_p99_seconds": max(BY_NAME["latency_p99_seconds"].of_whole(flows).values(), default=None),
    }
