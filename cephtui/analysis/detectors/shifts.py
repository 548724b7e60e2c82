"""A change of level in a series that its mean hides: a collapse, a dip, a step or a slope. Pure: values only.

Logarithms are judged, since what slows a cluster does it by a factor. Of a long series some 80 batch means are taken
(Conway 1963, Schmeiser 1982). A change counts where it is large, and far above the noise of the series itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from cephtui.analysis.statistics.levels import (
    Slope,
    Stretch,
    around_line,
    around_stretch,
    low_stretch,
    slope_of,
    sum_of_squares,
)
from cephtui.frozen import dataclass

_BATCHES = 80
_LARGE = 0.2
"""The share of the mean from which on a change counts: a smaller one is left to the order of the runs."""
_HALF, _LOW = 0.51, 0.7
"""What collapses falls to at most half of its level; what dips, to at most so much of what is around it."""
_OVERLAP, _OVERLAP_OF_STEP = 0.2, 0.4
"""The share of the values that may be on the wrong side of the middle of a collapse or dip: outliers alone make none;
and of another step."""
_LEAST_SHARE = 1 / 20
"""Of the mean: less than that counts as that in logarithms."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level."""

    kind: Literal["collapse", "dip", "step", "slope"]
    before: float
    """The level before it; of a dip, that around it."""
    after: float
    begun: int
    """Its place: how many values are before it."""
    over: int
    """How many values are before its end; of a collapse and a step the same."""
    low: tuple[int, int]
    """The values that are lower: from the first number on, and before the second."""


def floored_logs(values: Sequence[float]) -> list[float]:
    """The logarithms of values, none of which is below 0, but not all 0; of what is near 0 that of 1/20 of the mean."""
    least = _LEAST_SHARE * _mean(values)
    return [math.log(max(value, least)) for value in values]


def batch_means(values: Sequence[float], size: int) -> list[float]:
    """The means of so many values each; what is left over at the end is in none."""
    return [_mean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]


def shift_of(values: Sequence[float]) -> Shift | None:
    """The clearest change of level of six or more values of equal length, none below 0."""
    size = math.ceil(len(values) / _BATCHES)
    means = batch_means(values, size)
    if not any(means):
        return None
    logs = floored_logs(means)
    stretch, slope = low_stretch(logs), slope_of(means)
    change = _of_stretch(means, stretch) if stretch else None
    if slope and abs(slope.last - slope.first) > _LARGE * _mean(means) and _is_straighter(logs, stretch):
        change = _of_slope(slope, len(means))
    return _in_values(change, values, size) if change else None


def _is_straighter(logs: Sequence[float], stretch: Stretch | None) -> bool:
    return not stretch or sum_of_squares(around_line(logs)) < sum_of_squares(around_stretch(logs, stretch))


def _of_slope(slope: Slope, count: int) -> Shift:
    before, after = max(0.0, slope.first), max(0.0, slope.last)
    low = (0, count // 2) if after > before else (count // 2, count)
    return Shift("slope", before, after, 0, count, low)


def _of_stretch(means: Sequence[float], stretch: Stretch) -> Shift | None:
    begun, over = stretch.begun, stretch.over
    inside, outside = means[begun:over], [*means[:begun], *means[over:]]
    low, high = _mean(inside), _mean(outside)
    overlap = _overlap(inside, outside)
    if begun and over < len(means):
        return (
            Shift("dip", high, low, begun, over, (begun, over)) if low <= _LOW * high and overlap <= _OVERLAP else None
        )
    if high - low <= _LARGE * _mean(means) or overlap > _OVERLAP_OF_STEP:
        return None
    if not begun:
        return Shift("step", low, high, over, over, (begun, over))
    kind: Literal["collapse", "step"] = "collapse" if low <= _HALF * high and overlap <= _OVERLAP else "step"
    return Shift(kind, high, low, begun, begun, (begun, over))


def _overlap(inside: Sequence[float], outside: Sequence[float]) -> float:
    """The share of values on the wrong side of the middle between both levels, of the side that has more of them."""
    middle = math.sqrt(max(_mean(inside), _LEAST_SHARE * _mean(outside)) * _mean(outside))
    above, below = sum(value > middle for value in inside), sum(value < middle for value in outside)
    return max(above / len(inside), below / len(outside))


def _in_values(shift: Shift, values: Sequence[float], size: int) -> Shift:
    """A shift of batches as one of the values that they are of, its edges where these change most."""
    count = len(values) // size

    def place(at: int) -> int:
        is_edge = 0 < at < count and shift.kind != "slope" and size > 1
        return _edge(values, size * at, size) if is_edge else size * at if at < count else len(values)

    low = place(shift.low[0]), place(shift.low[1])
    return replace(shift, begun=place(shift.begun), over=place(shift.over), low=low)


def _edge(values: Sequence[float], near: int, size: int) -> int:
    """The place next to another at which the values before and behind differ most."""

    def difference(at: int) -> float:
        return abs(_mean(values[max(0, at - size) : at]) - _mean(values[at : at + size]))

    return max(range(max(1, near - size + 1), min(len(values), near + size)), key=difference)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
