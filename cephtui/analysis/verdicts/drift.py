"""What runs that were measured one side after the other did by themselves, and how much of it they would not show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

from cephtui.analysis.statistics.power import reach
from cephtui.analysis.statistics.t_distribution import quantile
from cephtui.analysis.verdicts.verdict import Criteria, Figures, RunFigure
from cephtui.frozen import dataclass
from cephtui.models.verdict import JUDGED_RUNS

_LOG_MOST = 10.0
"""The greatest drift, as a logarithm: that of figures of any size can be written."""
_IN_FOUR_OF_FIVE = NormalDist().inv_cdf(0.8)


@dataclass(frozen=True, slots=True)
class _Slope:
    """The common slope of the logarithms of both sides, each around its own mean, by least squares."""

    by_hour: float
    error: float
    df: float
    is_of_both: bool
    """Whether both sides have one of this sign."""
    between: float
    """Hours between the middles of the sides."""
    longest: float
    """Hours from the first run of a side to its last, of the longer one."""


def trend(figures: Figures, criteria: Criteria) -> float | None:
    """The fraction by which the figures of both sides drifted by themselves, from the first run of the longer one to
    its last; None where that is too little.

    Where the slope is significant, has the same sign on both sides, and would make more than half of what counts as the
    same between the middles of the sides.
    """
    slope = _slope(figures)
    if slope is None or not slope.is_of_both:
        return None
    is_much = abs(math.expm1(min(slope.by_hour * slope.between, _LOG_MOST))) > criteria.same_percent / 200
    is_sure = abs(slope.by_hour) > quantile(0.5 + criteria.confidence / 2, slope.df) * slope.error
    return math.expm1(min(slope.by_hour * slope.longest, _LOG_MOST)) if is_much and is_sure else None


def unnoticed_drift(figures: Figures, criteria: Criteria) -> float | None:
    """The greatest fall between the middles of the sides, as a fraction, that ``trend`` would not notice in one of five
    cases or more; None where it is not known.
    """
    slope = _slope(figures)
    if slope is None:
        return None
    sure = reach(criteria.confidence, slope.df, slope.df) * slope.error * slope.between
    much = -math.log1p(-criteria.same_percent / 200) + _IN_FOUR_OF_FIVE * slope.error * slope.between
    return -math.expm1(-max(sure, much))


def _slope(figures: Figures) -> _Slope | None:
    """None for too few runs, a figure of 0, or runs whose times are not known to be apart."""
    sides = figures.before, figures.after
    if any(len(side) < JUDGED_RUNS or any(figure.value <= 0 for figure in side) for side in sides):
        return None
    hours = [[figure.run.started_at.timestamp() / 3600 for figure in side] for side in sides]
    slopes = [_least_squares(times, side) for times, side in zip(hours, sides, strict=True)]
    if not all(square for _, square, _ in slopes):
        return None
    squares = sum(square for _, square, _ in slopes)
    df = len(figures.before) + len(figures.after) - 4.0
    return _Slope(
        by_hour=sum(slope * square for slope, square, _ in slopes) / squares,
        error=math.sqrt(sum(residual for *_, residual in slopes) / df / squares),
        df=df,
        is_of_both=slopes[0][0] * slopes[1][0] > 0,
        between=abs(fmean(hours[1]) - fmean(hours[0])),
        longest=max(max(times) - min(times) for times in hours),
    )


def _least_squares(hours: Sequence[float], side: Sequence[RunFigure]) -> tuple[float, float, float]:
    """The slope of the logarithms, the sum of the squares of the times, and that of the residuals."""
    logs = [math.log(figure.value) for figure in side]
    middle, mean = fmean(hours), fmean(logs)
    square = sum((hour - middle) ** 2 for hour in hours)
    slope = sum((hour - middle) * (log - mean) for hour, log in zip(hours, logs, strict=True)) / square if square else 0
    residual = sum((log - mean - slope * (hour - middle)) ** 2 for hour, log in zip(hours, logs, strict=True))
    return slope, square, residual
