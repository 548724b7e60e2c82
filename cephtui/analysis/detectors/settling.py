"""Whether a run stays on one level, at any length: what its seconds do, and how far they are spread. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, TypeAlias

from cephtui.analysis.detectors.rhythms import JOINED_SECONDS, Rhythms
from cephtui.analysis.detectors.shifts import Shift, shift_of
from cephtui.analysis.runs.history import TimeSeries, is_straggler
from cephtui.analysis.statistics.levels import LEAST_VALUES
from cephtui.frozen import dataclass
from cephtui.models import Finding, Sample, Seconds
from cephtui.models.findings.kind import FindingKind, Values
from cephtui.models.findings.measurement import COLLAPSE, DEVIATION, DIP, NOT_SETTLED, SAW, SHORT
from cephtui.models.metrics import BY_NAME, HeadlineName, Metric
from cephtui.stats import known_sum

SHORT_SECONDS = 10.0
_AS_LONG = 0.95
"""A run that measures up to its last I/O is as long as it was to be from this share of that time on."""
_STRETCHES = 500
"""At most twice as many are held; the seconds of a longer run are joined."""
_WIDE, _WIDER_OF_FEW = 0.5, 3
"""The standard deviation that is told, as a share of the mean: of n seconds ``1 + 3 / n`` times as much."""
_FEW_IOS = 20
"""I/Os a second: fewer have a rhythm and a spread of their own, since they end together, or as a set rate lets them."""
WHOLE_SECOND = 0.9
"""Less is a part of one."""
Change: TypeAlias = Literal["fall", "rise", "slope"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the seconds of a run show, before it is explained."""

    kind: FindingKind
    span: tuple[float, float]
    """When it began and was over, in elapsed seconds."""
    values: Values
    low: tuple[float, float] | None = None
    """When the run was on the lower of two levels."""
    change: Change | None = None
    """How it came there; None where it has no two levels."""
    exact_seconds: float = 1.0
    """How exactly it is known when; of a long run some seconds are one value."""


def too_short(seconds: float, *, by_its_data: bool = False, least: float = SHORT_SECONDS) -> Finding | None:
    """The finding of a run that measured so long, clearly less than ``least``, or None."""
    if seconds >= _AS_LONG * least:
        return None
    return SHORT.found(measured_seconds=seconds, by_its_data=by_its_data or None)


def rate_of(sample: Sample, metric: Metric) -> tuple[Metric, float]:
    """The rate of a run or node in a sample, of all that counts for the metric; the bandwidth where I/Os are none."""
    flows = [sample.flows[name] for name in metric.names_of_whole(sample.flows)]
    rate = known_sum(metric.of(flow) for flow in flows) if flows else 0.0
    if rate is None:  # the tool counts no I/Os
        return BY_NAME["bandwidth_bytes"], sum(flow.bandwidth_bytes or 0.0 for flow in flows)
    return metric, rate


class PerSecond:
    """The seconds of a run, of all nodes merged, as they come, in bounded space."""

    def __init__(self, headline: HeadlineName = "iops") -> None:
        """``headline`` is that of the preset."""
        self.metric = BY_NAME["bandwidth_bytes" if headline == "bandwidth" else "iops"]
        """What is judged: the bandwidth also where the tool counts no I/Os."""
        self._curve = TimeSeries(_STRETCHES)
        self._count, self._mean, self._squares = 0, 0.0, 0.0
        """Number, mean, and sum of the squared deviations from the mean (West 1979)."""
        self._least, self._greatest = math.inf, 0.0
        self._begun = self._reached = 0.0
        self._ios: int | None = 0
        """None where the tool counts no I/Os."""
        self._rhythms, self._slow_rhythms = Rhythms(), Rhythms(JOINED_SECONDS)
        self._newest: tuple[int, tuple[Trouble, ...]] = 0, ()
        """The newest answer, and of how many seconds."""

    def add(self, sample: Sample) -> None:
        """Take in a sample of all nodes; a part of a second is left out, a longer time counts as so many seconds."""
        is_part = sample.interval_seconds < WHOLE_SECOND or is_straggler(sample, self._reached)
        self._reached = max(self._reached, sample.elapsed_seconds)
        if is_part:
            return
        self.metric, value = rate_of(sample, self.metric)
        if not self._count:
            self._begun = max(0.0, sample.elapsed_seconds - sample.interval_seconds)
        seconds = round(sample.interval_seconds)
        for seconds_before_end in reversed(range(min(seconds, _STRETCHES))):  # a tool may claim any time
            self._curve.add(sample.elapsed_seconds - seconds_before_end, value)
            for rhythms in (self._rhythms, self._slow_rhythms):
                rhythms.add(sample.elapsed_seconds - seconds_before_end, value)
        self._ios = known_sum([self._ios, *(flow.ios for flow in sample.flows.values())])
        away, before = value - self._mean, self._count
        self._count += seconds
        self._mean += away * seconds / self._count
        self._squares += away * away * seconds * before / self._count  # which no rounding makes negative
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def summary(self) -> Seconds | None:
        """How the seconds are spread; None before there are two."""
        if self._count < 2:
            return None
        return Seconds(
            metric=self.metric.name,
            count=self._count,
            least=self._least,
            mean=self._mean,
            greatest=self._greatest,
            stddev=math.sqrt(self._squares / (self._count - 1)),
        )

    def troubles(self) -> tuple[Trouble, ...]:
        """What the seconds show, one of each cause; worked out once for each second."""
        if self._newest[0] != self._count:
            self._newest = self._count, tuple(self._judged()) if self._count >= LEAST_VALUES else ()
        return self._newest[1]

    def _judged(self) -> Iterator[Trouble]:
        stretches = [(end, mean) for end, _, mean, _ in self._curve.stretches() if mean is not None]
        values = [mean for _, mean in stretches]
        shift = shift_of(values) if len(values) >= LEAST_VALUES else None
        saw = None if self._has_few_ios else self._rhythms.saw() or self._slow_rhythms.saw()
        if saw:
            yield Trouble(
                SAW,
                (max(self._begun, saw.begun), saw.over),
                {"figure": self.metric.title, "period_seconds": saw.period_seconds, "high": saw.high, "low": saw.low},
            )
        if shift and not (saw and shift.kind == "dip"):
            settled = values[2 * len(values) // 3 :]
            yield self._shifted(shift, [self._begun, *(end for end, _ in stretches)], sum(settled) / len(settled))
        deviation = math.sqrt(self._squares / (self._count - 1)) if self._count > 1 else 0.0
        is_wide = deviation > _WIDE * (1 + _WIDER_OF_FEW / self._count) * self._mean
        if is_wide and not (shift or saw or self._has_few_ios):
            share = 100 * deviation / self._mean
            yield Trouble(
                DEVIATION, (self._begun, self._reached), {"figure": self.metric.title, "share_percent": share}
            )

    @property
    def _has_few_ios(self) -> bool:
        return self._ios is not None and self._ios < _FEW_IOS * self._count

    def _shifted(self, shift: Shift, ends: list[float], settled: float) -> Trouble:
        """``ends`` are the begin of the first value and the end of each, ``settled`` the mean of the last third."""
        values = {"figure": self.metric.title, "before": shift.before, "after": shift.after}
        low = ends[shift.low[0]], ends[shift.low[1]]
        span, exact = (ends[shift.begun], ends[shift.over]), ends[1] - ends[0]
        if shift.kind in ("collapse", "dip"):
            return Trouble(COLLAPSE if shift.kind == "collapse" else DIP, span, values, low, "fall", exact)
        change: Change = "slope" if shift.kind == "slope" else "rise" if shift.after > shift.before else "fall"
        return Trouble(NOT_SETTLED, span, {**values, "whole": self._mean, "settled": settled}, low, change, exact)
