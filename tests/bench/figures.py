"""Statistics of the measures; pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

# Student's t for a two-sided 95 % interval, by degrees of freedom from 1 on.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A middle, and the 95 % interval of the mean."""

    median: float
    low: float
    high: float


def t95(degrees: int) -> float:
    """The quantile; beyond the table that of its last row, which is a little too wide."""
    if degrees < 1:
        raise ValueError("an interval needs two values")
    return _T95[min(degrees, len(_T95)) - 1]


def of_differences(values: Sequence[float]) -> Estimate:
    """Of paired differences, or of anything else that adds up."""
    half = t95(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return Estimate(statistics.median(values), mean - half, mean + half)


def of_ratios(ratios: Sequence[float]) -> Estimate:
    """Of paired ratios, by their logarithms: a half and a double are equally far from 1."""
    logs = of_differences([math.log(ratio) for ratio in ratios])
    return Estimate(statistics.median(ratios), math.exp(logs.low), math.exp(logs.high))


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed (the nearest rank)."""
    if not values:
        raise ValueError("a percentile needs a value")
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def largest_gap(times: Iterable[float], begin: float, end: float) -> float:
    """The longest time between ``begin`` and ``end`` in which nothing happened."""
    inside = [begin, *sorted(time for time in times if begin < time < end), end]
    return max(later - earlier for earlier, later in pairwise(inside))
