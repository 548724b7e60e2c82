"""The knee of a load curve: the depth from which on more I/Os in flight bring latency instead of throughput.

A closed loop keeps N I/Os in flight; it completes X a second, each after R seconds: N = X R (Little). X is bounded by
N / R0, where nothing waits, and by the peak: these two cross at N* = R0 times the peak (Denning and Buzen 1978).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import variance
from typing import Literal, TypeAlias

from cephtui.analysis.runs.batches import CONFIDENCE, node_names
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.statistics.order import ThroughputOrder, order_of
from cephtui.analysis.statistics.ratio import LogMean, geometric_mean, paired
from cephtui.analysis.views.curve import CurvePoint, CurveSeries
from cephtui.frozen import dataclass
from cephtui.models import Run, Total
from cephtui.models.metrics import BY_NAME, COMMIT, FLUSH, Metric

Problem: TypeAlias = Literal["out of order", "flat", "rising", "not shown", "few"]
"""Why a curve has no knee: what its throughput does over the depth."""
PLATEAU = 0.9
"""The share of the greatest throughput above which points are the peak."""
OF_PEAK = 0.8
"""The share of the peak that a system can be used at, below its knee."""
_WIDE = 4.0
"""A knee between points whose I/Os in flight differ by this factor, or more, is not located."""
_INSIDE, _BESIDE_REPEATS = 0.97, 0.015
"""The confidence of the interval by the delta method, and what the peak is off beside the deviation of repeats: its
points are chosen as the greatest, and rise a little still. The interval then holds N* in 95 % (simulated)."""
_LITTLE = 0.1
"""How far N may be from X times R before something else than the target holds the I/Os."""
_RATE, _MEAN, _P99 = (BY_NAME[name] for name in ("iops", "latency_mean_seconds", "latency_p99_seconds"))


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """The runs at one depth; all figures are above 0."""

    in_flight: int
    """I/Os at once, of all jobs and nodes."""
    rates: tuple[float, ...]
    """IOPS of each run, reads and writes together."""
    latencies: tuple[float, ...]
    """Mean of each run, in seconds."""
    p99s: tuple[float, ...] = ()
    """p99 of the runs that have it, in seconds."""
    label: str = ""
    """Its place on the axis: the depth of a job."""
    block_bytes: int = 0
    """Bytes of one I/O; 0 where they differ."""
    seconds: float = 0.0
    """How long the shortest of the runs measured; 0 where that is not known."""
    in_client: float = 0.0
    """Seconds by which an I/O takes longer than its latency: fio's clat begins when it is submitted."""
    is_closed: bool = True
    """Whether a client keeps several I/Os in flight, and begins the next one as soon as one has ended."""

    @property
    def rate(self) -> float:
        return geometric_mean(self.rates) or 0.0

    @property
    def latency(self) -> float:
        return geometric_mean(self.latencies) or 0.0

    @property
    def p99(self) -> float | None:
        return geometric_mean(self.p99s)

    @property
    def unexplained(self) -> float:
        """The fraction of I/Os in flight beyond those that throughput and latency account for."""
        return self.in_flight / (self.rate * (self.latency + self.in_client)) - 1


@dataclass(frozen=True, slots=True)
class Working:
    """A point of the curve that lies between those that were measured."""

    in_flight: float
    rate: float
    latency: float
    p99: float | None


@dataclass(frozen=True, slots=True)
class Knee:
    """The knee of a load curve, as far as the curve shows one."""

    points: tuple[LoadPoint, ...]
    """The points by the I/Os in flight, at least two."""
    plateau: tuple[LoadPoint, ...]
    """The points near the greatest throughput."""

    @property
    def problem(self) -> Problem | None:
        """Why no knee can be named; None where one can."""
        order = self.order
        if order.disorder:
            return "out of order"
        if self.is_flat:
            return "flat"
        if self.is_rising:
            return "rising"
        if not order.is_rise_shown:
            return "not shown"
        return None if order.is_order_shown else "few"

    @property
    def is_known(self) -> bool:
        """Whether its knee can be named."""
        return self.problem is None

    @property
    def is_bent(self) -> bool:
        """Whether it levels off between its ends, by chance or not: enough to choose where to measure next."""
        return not self.is_rising and not self.is_flat

    @property
    def is_repeated(self) -> bool:
        """Whether anything was measured more than once."""
        return any(len(point.rates) > 1 for point in self.points)

    @property
    def order(self) -> ThroughputOrder:
        """The order of its throughput, as far as it is beyond chance."""
        return order_of([point.rates for point in self.points], PLATEAU)

    @property
    def is_rising(self) -> bool:
        """Whether the curve ends before its knee.

        Only its last point is near the greatest throughput then, and by more than chance would make of repeats.
        """
        if self.plateau != self.points[-1:]:
            return False
        last, best = self.points[-1], max(self.points[:-1], key=lambda point: point.rate)
        growth = self._log_mean(last.rate / best.rate, 1 / len(last.rates) + 1 / len(best.rates))
        return growth is None or growth.interval(CONFIDENCE)[0] > 1

    @property
    def is_flat(self) -> bool:
        """Whether it begins behind its knee: its first point is as fast as any."""
        return self.points[0] in self.plateau

    @property
    def peak(self) -> float:
        """IOPS: the geometric mean of the plateau, since its greatest value would be the luckiest run's."""
        return geometric_mean([point.rate for point in self.plateau]) or 0.0

    @property
    def in_flight(self) -> float:
        """N*: by Little's law R0 is N / X of the first point, which holds the time in the client too."""
        return self.points[0].in_flight / self.points[0].rate * self.peak

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of N*; None where nothing was measured twice."""
        of_peak = sum(1 / len(point.rates) for point in self.plateau) / len(self.plateau) ** 2
        mean = self._log_mean(self.in_flight, 1 / len(self.points[0].rates) + of_peak)
        if mean is None:
            return None
        return replace(mean, standard_error=math.hypot(mean.standard_error, _BESIDE_REPEATS)).interval(_INSIDE)

    @property
    def step(self) -> float:
        """How many I/Os in flight are one more on the axis; 1 where that is not the same everywhere."""
        steps = {point.in_flight / float(point.label) if point.label.isdecimal() else 0.0 for point in self.points}
        return next(iter(steps)) or 1.0 if len(steps) == 1 else 1.0

    def whole(self, in_flight: float) -> int:
        """On the axis, the next place that can be measured: there are no parts of an I/O."""
        return max(1, round(in_flight / self.step))

    @property
    def located(self) -> float:
        """N* at a whole place of the axis, in I/Os in flight; none is beyond the last point."""
        return min(self.whole(self.in_flight) * self.step, float(self.points[-1].in_flight))

    @property
    def gap(self) -> tuple[LoadPoint, LoadPoint] | None:
        """The points around the knee, where they are so far apart that it lies somewhere between them."""
        below = [point for point in self.points if point.in_flight <= self.located]
        above = [point for point in self.points if point.in_flight >= self.located]
        if not below or not above or above[0].in_flight <= _WIDE * below[-1].in_flight:
            return None
        return below[-1], above[0]

    def _log_mean(self, value: float, runs: float) -> LogMean | None:
        """A value with the deviation of all repeats, over ``runs``, a sum of reciprocals; None without repeats."""
        logs = [[math.log(rate) for rate in point.rates] for point in self.points if len(point.rates) > 1]
        df = sum(len(logs_of_point) - 1 for logs_of_point in logs)
        if not df:
            return None
        pooled = sum(variance(logs_of_point) * (len(logs_of_point) - 1) for logs_of_point in logs) / df
        return LogMean(math.log(value), math.sqrt(pooled * runs), float(df))

    @property
    def power(self) -> LoadPoint:
        """The measured point with the most throughput for its latency (Kleinrock 1979)."""
        return max(self.points, key=lambda point: point.rate / point.latency)

    @property
    def is_doubtful(self) -> bool:
        """Whether the two ways to find the knee differ by more than a doubling."""
        return abs(math.log2(self.in_flight / self.power.in_flight)) > 1

    @property
    def unexplained(self) -> list[LoadPoint]:
        """The points at which Little's law does not hold; with one I/O in flight there are no others to look for."""
        closed = [point for point in self.points if point.is_closed and point.in_flight > 1]
        return [point for point in closed if abs(point.unexplained) > _LITTLE]

    @property
    def at_knee(self) -> Working:
        """The point of the curve at the knee."""
        return _between(self.points, [point.in_flight for point in self.points], self.located)

    @property
    def at_most_of_peak(self) -> Working:
        """The point of the curve at 80 % of the peak, on the rising branch."""
        rates = [point.rate for point in self.points]
        behind = next(number for number, rate in enumerate(rates) if rate >= OF_PEAK * self.peak)
        begin = max(0, behind - 1)
        return _between(self.points[begin : behind + 1], rates[begin : behind + 1], OF_PEAK * self.peak)


def knee_of(points: Iterable[LoadPoint]) -> Knee | None:
    """The knee of a curve; None for fewer than two depths."""
    ordered = tuple(sorted(points, key=lambda point: point.in_flight))
    if len({point.in_flight for point in ordered}) < 2:
        return None
    most = max(point.rate for point in ordered)
    return Knee(ordered, tuple(point for point in ordered if point.rate >= PLATEAU * most))


def load_points(series: CurveSeries) -> list[LoadPoint]:
    """The points of a curve over the depth or the jobs; one that lacks a figure is left out."""
    return [load_point for point in series.points if (load_point := _load_point(point))]


def _load_point(point: CurvePoint) -> LoadPoint | None:
    runs, load, in_flight = point.summary.counted, load_of(point.summary.last), in_flight_of(point.summary.last)
    rates, latencies = combined_figures(runs, _RATE), combined_figures(runs, _MEAN)
    if not load or not in_flight or not rates or len(rates) != len(latencies) or min(*rates, *latencies) <= 0:
        return None
    p99s = tuple(value for value in combined_figures(runs, _P99) if value > 0)
    lasted = (max((flow.runtime_seconds for flow in run.summary.flows.values()), default=0.0) for run in runs)
    return LoadPoint(
        in_flight, rates, latencies, p99s, point.place.label, load.block_bytes, min(lasted),
        (geometric_mean(list(map(_whole_latency, runs))) or 0.0) - (geometric_mean(latencies) or 0.0),
        all(map(_is_closed, runs)),
    )  # fmt: skip


def _whole_latency(run: Run) -> float:
    """The mean of an I/O from its begin, with fio's slat where it is known, reads and writes together; in seconds."""
    return _MEAN.combined({name: _with_submission(total) for name, total in run.summary.flows.items()}) or 0.0


def _with_submission(total: Total) -> Total:
    mean, slat = total.latency_mean_seconds, total.slat.mean_seconds if total.slat else 0.0
    whole = total.lat.mean_seconds if total.lat else mean and mean + slat
    return total.model_copy(update={"latency_mean_seconds": whole})


def _is_closed(run: Run) -> bool:
    """Whether the loop is closed: no rate that is set, no pause and no flush keeps the next I/O back."""
    load = load_of(run)
    if load is None or load.depth * load.jobs == 1 or load.pauses or load.rate.options:
        return False
    return COMMIT in run.summary.flows or not (load.flushes or FLUSH in run.summary.flows)


def in_flight_of(run: Run) -> int | None:
    """I/Os at once that were asked for, of all jobs and nodes; None where that is not known."""
    load = load_of(run)
    return load.depth * load.jobs * max(1, len(node_names(run))) if load and load.depth > 0 and load.jobs > 0 else None


def combined_figures(runs: Iterable[Run], metric: Metric) -> tuple[float, ...]:
    """A metric of each run that has it, reads and writes together."""
    values = (metric.combined(run.summary.flows) for run in runs)
    return tuple(value for value in values if value is not None and math.isfinite(value))


def _between(points: Sequence[LoadPoint], at: Sequence[float], target: float) -> Working:
    """Interpolated on logarithms between the points around a place; outside of them the nearest point."""
    above = next((number for number, place in enumerate(at) if place >= target), len(at) - 1)
    left, right = points[max(0, above - 1)], points[above]
    low, high = at[max(0, above - 1)], at[above]
    share = math.log(target / low) / math.log(high / low) if low < target < high else float(target >= high)

    def mixed(first: float, second: float) -> float:
        return math.exp((1 - share) * math.log(first) + share * math.log(second))

    return Working(
        mixed(left.in_flight, right.in_flight),
        mixed(left.rate, right.rate),
        mixed(left.latency, right.latency),
        mixed(left.p99, right.p99) if left.p99 and right.p99 else None,
    )


def hysteresis(up: Sequence[LoadPoint], down: Sequence[LoadPoint]) -> LogMean | None:
    """The ratio of the throughput on the way down to that on the way up, at the same depths; None for one depth."""
    again = {point.in_flight: point.rate for point in down}
    rates = [(point.rate, again[point.in_flight]) for point in up if point.in_flight in again]
    return paired(*zip(*rates, strict=True)) if len(rates) > 1 else None
