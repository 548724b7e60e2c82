"""How the latencies of a whole run are spread: its percentiles up to the tail, and its histogram over any stretch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from cephtui.frozen import dataclass
from cephtui.models.metrics import ios_beyond
from cephtui.stats import Buckets, bucket_bounds, percentile_seconds, supported_percentile

PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99)
_STEPS = (1, 2, 5)
_POWER_MOST = 9
"""The greatest power of ten, in seconds: some thirty years."""
_HARDLY_ANY_PERCENT = 1.0
"""The faster I/Os are drawn at the left edge: one that was answered at once must not squeeze all others."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One percentile."""

    percent: float
    seconds: float | None
    """None where too few I/Os lie beyond it."""
    beyond: int
    """I/Os that took longer."""

    @property
    def title(self) -> str:
        """``p99.9``."""
        return f"p{self.percent:g}"


def ladder(buckets: Buckets) -> tuple[Rung, ...]:
    """The percentiles of a histogram on the fixed grid; none of an empty one."""
    count = sum(buckets.values())
    if not count:
        return ()
    return tuple(
        Rung(percent, supported_percentile(buckets, percent), ios_beyond(count, percent)) for percent in PERCENTS
    )


def shares(buckets: Buckets, edges: Sequence[float]) -> list[float]:
    """The share of I/Os between each two edges in seconds, as if they were evenly spread within a bucket.

    What lies below the first edge or above the last is in the first or the last part, so that nothing is left out.
    """
    indexes = sorted(buckets)
    bounds = [bucket_bounds(index) for index in indexes]
    before = [0, *accumulate(buckets[index] for index in indexes)]
    lows, count = [low for low, _ in bounds], before[-1]

    def below(seconds: float) -> float:
        nanoseconds = seconds * 1e9
        at = bisect_right(lows, nanoseconds) - 1
        if at < 0:
            return 0.0
        low, high = bounds[at]
        within = min(1.0, (nanoseconds - low) / (high - low))
        return (before[at] + within * buckets[indexes[at]]) / count

    points = [0.0, *(below(edge) for edge in edges[1:-1]), 1.0]
    return [after - first for first, after in pairwise(points)]


@dataclass(frozen=True, slots=True)
class LogAxis:
    """Latencies on a logarithmic axis between two round values, in seconds."""

    first: float
    last: float

    def place(self, seconds: float) -> float:
        """The place of a latency, from 0 at the first value to 1 at the last; what lies outside is at the edge."""
        inside = min(max(seconds, self.first), self.last)
        return math.log(inside / self.first) / math.log(self.last / self.first)

    def edges(self, parts: int) -> list[float]:
        """The bounds of so many parts of equal width, one more than these."""
        ratio = self.last / self.first
        return [self.first * ratio ** (part / parts) for part in range(parts + 1)]

    def ticks(self) -> list[float]:
        """The round values of the axis (1, 2, 5, 10, ...), powers of ten first: these are to have room for a label."""
        values = [value for value in _round_values(self.first) if value <= self.last * 1.001]
        return sorted(values, key=lambda value: (not _is_power(value), value))


def axis_of(buckets: Buckets, greatest: float = 0.0) -> LogAxis:
    """The axis from the round value below the first percent of the I/Os to the one above the slowest.

    ``greatest`` is the latency of the slowest as it was measured, which a bucket has only to 1.6 %.
    """
    low = max(percentile_seconds(buckets, _HARDLY_ANY_PERCENT) or 1e-9, 1e-9)
    high = min(max(percentile_seconds(buckets, 100.0) or low, greatest), 10.0**_POWER_MOST)
    values = _round_values(10.0 ** math.floor(math.log10(low)))
    first = max(value for value in values if value <= low * 1.001)
    return LogAxis(first, min(value for value in values if value >= high * 0.999 and value > first))


def _round_values(least: float) -> list[float]:
    """1, 2 and 5 times powers of ten from this one on, over all that the grid can hold."""
    powers = range(math.floor(math.log10(least * 1.001)), _POWER_MOST + 1)
    values = [float(f"{step}e{power}") for power in powers for step in _STEPS]
    return [value for value in values if value >= least * 0.999]


def _is_power(value: float) -> bool:
    return f"{value:e}".startswith("1.000000")
