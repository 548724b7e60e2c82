"""Whether a run stays on one level: a step or a slope in its seconds, and how far these are spread. Pure.

The means of some 12 batches are judged, not the seconds: each of these depends on the one before it, so that noise
looks like a change (batch means: Conway 1963, Schmeiser 1982). A change counts where it is large, and far above noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cephtui.analysis.runs.history import TimeSeries, is_straggler
from cephtui.frozen import dataclass
from cephtui.models import Finding, Sample, Seconds
from cephtui.models.findings.measurement import NOT_SETTLED, SHORT
from cephtui.models.metrics import BY_NAME, HeadlineName, Metric
from cephtui.stats import known_sum

LEAST_SECONDS = 30
"""A shorter run is not judged."""
SHORT_SECONDS = 10.0
_STRETCHES = 500
"""At most twice as many are held; the seconds of a longer run are joined."""
_BATCHES, _BATCH_LEAST = 12, 5
_STEP_T, _SLOPE_T = 4.4, 3.5
"""With these, noise alone is found in at most 3 of 1,000 runs of a minute (simulated with a correlation of 0.5 from
one second to the next). That of a step is higher because it is the greatest of many."""
_LARGE = 0.2
"""The share of the mean from which on a change counts: a smaller one is left to the order of the runs."""
WHOLE_SECOND = 0.9
"""Less is a part of one."""


@dataclass(frozen=True, slots=True)
class Split:
    """The place at which the batches differ most between before and after."""

    t: float
    """How many standard errors apart; infinite where each side is constant."""
    at: int
    """Batches before it."""
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Slope:
    """The straight line through the batches."""

    t: float
    """How many standard errors its rise is away from 0, without a sign."""
    first: float
    last: float
    """Its values at the first and at the last batch."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level that a run's mean hides."""

    before: float
    after: float
    begun: int
    """Its place: how many values are before it."""
    over: int
    """How many values are before its end; for a step the same."""


def batch_means(values: Sequence[float], size: int) -> list[float]:
    """The means of so many values each; what is left over at the end is in none."""
    return [_mean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]


def clearest_split(means: Sequence[float]) -> Split:
    """The split with the greatest t of two samples with pooled variance, at least two of four or more on each side.

    Student 1908; the greatest over all splits as the test for one change of level: Hawkins 1977.
    """
    return max((_split_at(means, at) for at in range(2, len(means) - 1)), key=lambda split: split.t)


def _split_at(means: Sequence[float], at: int) -> Split:
    before, after = _mean(means[:at]), _mean(means[at:])
    squares = sum((mean - before) ** 2 for mean in means[:at]) + sum((mean - after) ** 2 for mean in means[at:])
    error = math.sqrt(squares / (len(means) - 2) * (1 / at + 1 / (len(means) - at)))
    return Split(_ratio(abs(after - before), error), at, before, after)


def slope_of(means: Sequence[float]) -> Slope:
    """Least squares against the number of the batch, three or more, with the standard error of the coefficient.

    Draper and Smith, Applied Regression Analysis, chapter 1.
    """
    count, whole = len(means), _mean(means)
    middle = (count - 1) / 2
    spread = sum((at - middle) ** 2 for at in range(count))
    rise = sum((at - middle) * (mean - whole) for at, mean in enumerate(means)) / spread
    squares = sum((mean - whole - rise * (at - middle)) ** 2 for at, mean in enumerate(means))
    error = math.sqrt(squares / (count - 2) / spread)
    return Slope(_ratio(abs(rise), error), whole - rise * middle, whole + rise * middle)


def shift_of(values: Sequence[float]) -> Shift | None:
    """The step or the slope of 20 or more values of equal length, none below 0; where both are there, the clearer."""
    size = max(_BATCH_LEAST, len(values) // _BATCHES)
    means = batch_means(values, size)
    split, slope, large = clearest_split(means), slope_of(means), _LARGE * _mean(means)
    is_step = split.t > _STEP_T and abs(split.after - split.before) > large
    is_slope = slope.t > _SLOPE_T and abs(slope.last - slope.first) > large
    if is_step and not (is_slope and slope.t > split.t):
        return Shift(split.before, split.after, size * split.at, size * split.at)
    return Shift(max(0.0, slope.first), max(0.0, slope.last), 0, len(values)) if is_slope else None


def too_short(seconds: float, *, by_its_data: bool = False, least: float = SHORT_SECONDS) -> Finding | None:
    """The finding of a run that measured so long, less than ``least``, or None."""
    if seconds >= least:
        return None
    return SHORT.found(measured_seconds=seconds, by_its_data=by_its_data or None)


class PerSecond:
    """The seconds of a run, of all nodes merged, as they come, in bounded space."""

    def __init__(self, headline: HeadlineName = "iops") -> None:
        """``headline`` is that of the preset."""
        self._metric = BY_NAME["bandwidth_bytes" if headline == "bandwidth" else "iops"]
        self._curve = TimeSeries(_STRETCHES)
        self._count, self._mean, self._squares = 0, 0.0, 0.0
        """Number, mean, and sum of the squared deviations from the mean (West 1979)."""
        self._least, self._greatest = math.inf, 0.0
        self._begun = self._reached = 0.0
        self._newest: tuple[int, Finding | None] = 0, None
        """The newest answer, and of how many seconds."""

    def add(self, sample: Sample) -> None:
        """Take in a sample of all nodes; a part of a second is left out, a longer time counts as so many seconds."""
        is_part = sample.interval_seconds < WHOLE_SECOND or is_straggler(sample, self._reached)
        self._reached = max(self._reached, sample.elapsed_seconds)
        if is_part:
            return
        value = self._value(sample)
        if not self._count:
            self._begun = max(0.0, sample.elapsed_seconds - sample.interval_seconds)
        seconds = round(sample.interval_seconds)
        for seconds_before_end in reversed(range(min(seconds, _STRETCHES))):  # a tool may claim any time
            self._curve.add(sample.elapsed_seconds - seconds_before_end, value)
        away, before = value - self._mean, self._count
        self._count += seconds
        self._mean += away * seconds / self._count
        self._squares += away * away * seconds * before / self._count  # which no rounding makes negative
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def _value(self, sample: Sample) -> float:
        flows = [sample.flows[name] for name in self._metric.names_of_whole(sample.flows)]
        value = known_sum(self._metric.of(flow) for flow in flows) if flows else 0.0
        if value is None:  # the tool counts no I/Os
            self._metric = BY_NAME["bandwidth_bytes"]
            value = sum(flow.bandwidth_bytes or 0.0 for flow in flows)
        return value

    def summary(self) -> Seconds | None:
        """How the seconds are spread; None before there are two."""
        if self._count < 2:
            return None
        return Seconds(
            metric=self._metric.name,
            count=self._count,
            least=self._least,
            mean=self._mean,
            greatest=self._greatest,
            stddev=math.sqrt(self._squares / (self._count - 1)),
        )

    def finding(self) -> Finding | None:
        """``not-settled``, or None; worked out once for each second."""
        if self._newest[0] != self._count:
            self._newest = self._count, self._judged() if self._count >= LEAST_SECONDS else None
        return self._newest[1]

    def _judged(self) -> Finding | None:
        stretches = [(end, mean) for end, _, mean, _ in self._curve.stretches() if mean is not None]
        values = [mean for _, mean in stretches]
        shift = shift_of(values)
        if shift is None:
            return None
        ends = [self._begun, *(end for end, _ in stretches)]
        settled = _mean(values[2 * len(values) // 3 :])
        return _finding(shift, self._metric, (ends[shift.begun], ends[shift.over]), (self._mean, settled))


def _finding(shift: Shift, metric: Metric, times: tuple[float, float], means: tuple[float, float]) -> Finding:
    """``means`` are those of the whole run and of its last third."""
    whole, settled = means
    return NOT_SETTLED.found(
        times, figure=metric.title, before=shift.before, after=shift.after, whole=whole, settled=settled
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _ratio(value: float, error: float) -> float:
    return value / error if error else math.inf if value else 0.0
