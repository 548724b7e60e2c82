"""Repeats until stable: how often the interval that ends them holds the true mean, and when they end."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from scipy import stats

from cephtui.analysis.stable import Goal, half_width

SERIES = 1500
Rule = Callable[[Sequence[float]], tuple[bool, float]]
"""Whether the series ends here, and the half-width that is said of its mean."""


def until_stable(values: Sequence[float]) -> tuple[bool, float]:
    return Goal().is_reached({"write": values}), half_width(values) or 0.0


def by_deviation(values: Sequence[float]) -> tuple[bool, float]:
    """What other programs do: it is over once the standard deviation looks small."""
    half = float(stats.t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values)) / fmean(values)
    return len(values) >= 3 and stdev(values) <= 0.05 * fmean(values), half


def simulated(rule: Rule, deviation: float, most: int = 20) -> tuple[float, list[int]]:
    """How often the interval at the end holds the true mean, and how many runs each series took."""
    source, held, lengths = random.Random(4), 0, []
    for _ in range(SERIES):
        values, is_over, half = [source.lognormvariate(0, deviation)], False, 0.0
        while not is_over and len(values) < most:
            values.append(source.lognormvariate(0, deviation))
            is_over, half = rule(values)
        mean = math.exp(fmean(map(math.log, values)))
        held += mean / (1 + half) <= 1 <= mean * (1 + half)
        lengths.append(len(values))
    return held / SERIES, lengths
