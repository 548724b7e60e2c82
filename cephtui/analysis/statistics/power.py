"""What runs would show: the least change that they would, and how many runs would show one, in four of five checks.

By the noncentral t distribution as Johnson and Welch 1940 approximate it. Where the spread of the runs is an estimate
itself, that is in it: few runs are by chance as likely to be spread too little as too much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from cephtui.analysis.statistics.t_distribution import quantile

_POWER = 0.8
_Z = NormalDist().inv_cdf(_POWER)
_ENDS = NormalDist().inv_cdf(0.9)
"""For both ends of what holds in four of five checks."""
_QUARTILE = NormalDist().inv_cdf(0.75)
_RUNS_MOST = 10_000
_BY_T_MOST = 60
"""The t distribution needs at most so many more runs than the normal distribution."""


def reach(confidence: float, df: float, spread_df: float | None = None) -> float:
    """How many standard errors a change must have for an interval to show it with 80 % power.

    ``df`` are the degrees of freedom of the interval. With ``spread_df`` the standard error is an estimate with so
    many, and the power is that over all such estimates.
    """
    end = quantile(0.5 + confidence / 2, df)
    return _reach(end * _shrunk(df), math.sqrt(1 + end**2 / (2 * df)), spread_df)


def _reach(middle: float, deviation: float, spread_df: float | None) -> float:
    """Beyond an end of an interval with this mean and deviation, in standard errors."""
    if spread_df is None:
        return middle + _Z * deviation
    off, shrunk = middle / deviation, _shrunk(spread_df)
    root = _Z * math.sqrt(shrunk**2 + (off**2 - _Z**2) / (2 * spread_df))
    return deviation * (shrunk * off + root) / (shrunk**2 - _Z**2 / (2 * spread_df))


def _shrunk(df: float) -> float:
    return 1 - 1 / (4 * df)


def spread_between(df: float) -> tuple[float, float]:
    """Between which multiples of a spread, estimated with so many degrees of freedom, the true one is in 80 %."""
    return _true_spread(df, -_ENDS), _true_spread(df, _ENDS)


def spread_at_most(df: float) -> float:
    """Below which multiple of a spread, estimated with so many degrees of freedom, the true one is in 75 %."""
    return _true_spread(df, _QUARTILE)


def _true_spread(df: float, end: float) -> float:
    """By the quantiles of chi-square of Wilson and Hilferty 1931; ``end`` is one of the normal distribution."""
    return float((1 - 2 / (9 * df) - end * math.sqrt(2 / (9 * df))) ** -1.5)


def df_of_welch(squared: Sequence[float], runs: Sequence[int]) -> float:
    """The degrees of freedom by which the power of Welch's test is known, of so many runs, at least two, on each side.

    ``squared`` are the true squares of the standard errors of both sides. The test estimates them, so that its degrees
    of freedom vary between those of the smaller side and what Satterthwaite's formula makes of the true ones: halfway
    the power is right within 5 percentage points, by simulation.
    """
    return (satterthwaite(squared, runs) + min(runs) - 1) / 2


def satterthwaite(squared: Sequence[float], runs: Sequence[int]) -> float:
    """The degrees of freedom of Welch's test; ``squared`` are the squares of the standard errors of both sides."""
    return sum(squared) ** 2 / sum(square**2 / (number - 1) for square, number in zip(squared, runs, strict=True))


def runs_needed(
    spread: float, away: float, confidence: float, *, spread_df: float | None = None, in_turns: bool = False
) -> int | None:
    """How many runs a side decide with 80 % power; None for more than can be made.

    ``spread`` is the standard deviation of the logarithms of a side, with ``spread_df`` estimated, ``away`` how far the
    logarithm of the true ratio is from that of the required one, ``confidence`` that of the look which is to decide. Of
    runs ``in_turns`` it is the pairs that count.
    """
    if not away:
        return None
    least = _reach(NormalDist().inv_cdf(0.5 + confidence / 2), 1.0, spread_df)
    fewest = max(2, math.floor(2 * (least * spread / away) ** 2))  # t reaches further than the normal distribution
    for runs in range(fewest, min(_RUNS_MOST, fewest + _BY_T_MOST)):
        df = runs - 1.0 if in_turns else df_of_welch((1.0, 1.0), (runs, runs))
        if reach(confidence, df, spread_df) * spread * math.sqrt(2 / runs) <= abs(away):
            return runs
    return None
