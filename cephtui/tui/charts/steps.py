"""A line in the dots of a plot area: each value holds for the whole of its interval, so lines are steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile, groupby

from cephtui.frozen import dataclass
from cephtui.tui.charts.axes import HUGE

Points = Sequence[tuple[float, float | None]]
PlotPoint = tuple[float, float]
LineStep = tuple[float, float, float, float]
"""Beginning and end of an interval, and the least and greatest value in it; less than zero where there is none."""
_NONE = -1.0
_OWN_SECOND, _LONG = 1.0, 2.0
_ROUNDING = 1e-6
"""A step that ends less than this part of a dot behind a dot's edge ends at it."""


def steps(points: Points, right: float) -> list[LineStep]:
    """The intervals of these points, each from the end of the one before; nothing is outside of 0 to ``right``.

    Several points of one time are the values of one interval. A value that is no number, or too large to reckon
    with, is none, and a negative one is zero: nothing else may get to plotext, where a NaN aborts the process.
    """
    intervals: list[LineStep] = []
    end = -1.0
    for x, y in points:
        if not 0.0 <= x <= right:
            continue
        value = _NONE if y is None or not -HUGE < y < HUGE else y if y > 0.0 else 0.0
        if x != end:
            intervals.append((end if 0.0 <= end < x else x, x, value, value))
            end = x
        elif value >= 0.0:
            begin, _, low, high = intervals[-1]
            intervals[-1] = (begin, x, min(low, value) if low >= 0.0 else value, max(high, value))
    if intervals:
        _, end, low, high = intervals[0]
        length = intervals[1][1] - end if len(intervals) > 1 else _OWN_SECOND  # no point tells where the first begins
        intervals[0] = (max(0.0, end - length), end, low, high)
    return intervals


def interval_start(intervals: Sequence[tuple[float, ...]], at: float) -> float:
    """When the second began that holds a moment: what it changed is drawn from there on.

    Each interval has its beginning and its end first.
    """
    return next((begin for begin, end, *_ in intervals if begin <= at <= end <= begin + _LONG), at)


@dataclass(frozen=True, slots=True)
class Raster:
    """The size of a plot area in dots, and what it stands for."""

    columns: int
    rows: int
    right: float
    """Seconds."""
    top: float
    """Value at the upper edge."""

    def stretch(self, begin: float, end: float) -> tuple[int, int]:
        """The columns that an interval touches, at least one: the first, and the one behind the last."""
        scale = self.columns / self.right
        first, over = int(begin * scale + _ROUNDING), int(end * scale + 1.0 - _ROUNDING)
        first = first if first < self.columns else self.columns - 1
        return first, first + 1 if over <= first else over if over < self.columns else self.columns

    def row(self, value: float) -> int:
        """The dot of a value, from the bottom."""
        return min(self.rows - 1, int(value / self.top * self.rows))


class Trace:
    """A line in dots: the lowest and the highest that it covers of each column, -1 where it has no value."""

    def __init__(self, intervals: Sequence[LineStep], raster: Raster) -> None:
        self._raster = raster
        self.low, self.high, self._last = ([-1] * raster.columns for _ in range(3))
        self._begun = set[int]()
        """Columns that no line leads to."""
        before = -1
        for begin, end, low, high in intervals:
            if low < 0.0:
                before = -1
            else:
                row = raster.row(low)
                self._add(raster.stretch(begin, end), row, row if high == low else raster.row(high), before)
                before = row

    def _add(self, stretch: tuple[int, int], low: int, high: int, before: int) -> None:
        """Draw a step, with the edge that leads to it from the dot of the one before."""
        first, end = stretch
        shared_low, shared_high = self.low[first], self.high[first]
        for column in range(first, end):
            self.low[column], self.high[column], self._last[column] = low, high, low
        if before >= 0:
            low, high = before if before < low else low, before if before > high else high
        if shared_low >= 0:
            low, high = shared_low if shared_low < low else low, shared_high if shared_high > high else high
        elif before < 0:
            self._begun.add(first)
        self.low[first], self.high[first] = low, high

    def runs(self) -> list[list[PlotPoint]]:
        """The corners of the line as fractions of the axes, from the middle of one dot to that of another."""
        wide, high = self._raster.columns, self._raster.rows
        return [[((x + 0.5) / wide, (y + 0.5) / high) for x, y in self._corners(*run)] for run in self._connected()]

    def _connected(self) -> Iterator[tuple[int, int]]:
        """First column, and the one behind the last, of each part without a gap."""
        start: int | None = None
        for column, low in enumerate([*self.low, -1]):
            if start is not None and (low < 0 or column in self._begun):
                yield start, column
                start = None
            if start is None and low >= 0:
                start = column

    def _corners(self, start: int, end: int) -> list[tuple[int, int]]:
        """The points that the line has to pass: in each column all that it covers there, but for level stretches."""
        corners, before = [(start, self._last[start])], self._last[start]
        for column in range(start, end):
            low, high, last = self.low[column], self.high[column], self._last[column]
            if low != high:
                passed = (before, low, high) if last == high else (before, high, low, last)
                corners += [(column, row) for row, _ in groupby(passed)]
            before = last
        return [*corners, (end - 1, before)]

    def between(self, other: Trace) -> tuple[list[int], list[int]]:
        """The first row between this line and another, and the one behind the last, column by column."""
        pairs = list(zip(self.low, self.high, other.low, other.high, strict=True))
        bottom = [
            min(high, other_high) if min(low, other_low) >= 0 else 0 for low, high, other_low, other_high in pairs
        ]
        top = [max(low, other_low) if min(low, other_low) >= 0 else 0 for low, _, other_low, _ in pairs]
        return bottom, top


def gaps(series: Sequence[Sequence[LineStep]], traces: Sequence[Trace], raster: Raster) -> list[bool]:
    """The columns behind the first value in which a value is missing, and no line has one."""
    missing = [False] * raster.columns
    for line_steps in series:
        for begin, end, low, _ in dropwhile(lambda step: step[2] < 0.0, line_steps):
            if low < 0.0:
                first, over = raster.stretch(begin, end)
                missing[first:over] = [True] * (over - first)
    return [
        is_gap and all(low < 0 for low in lows)
        for is_gap, *lows in zip(missing, *(trace.low for trace in traces), strict=True)
    ]
