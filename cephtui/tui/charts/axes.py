"""Axes of a chart: round values and times, labels that never collide, and where a time is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from cephtui import units
from cephtui.reports.ticks import SECONDS, round_up, trimmed
from cephtui.tui.charts.ink import Glyphs

HUGE, TINY = 1e300, 1e-300
"""Outside of these, the arithmetic of the axes would overflow or divide by zero."""
_MOST_STEPS_Y, _MOST_STEPS_X = 5, 10


class TimeSpan(NamedTuple):
    """The seconds of a run that an axis shows."""

    begin: float
    end: float
    of: float | None = None
    """The length of the whole, where this is a part of it that was zoomed into."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.begin


def y_axis(peak: float, rows: int, y_format: Callable[[float], str], binary: bool) -> tuple[float, dict[int, str]]:
    """The value at the top edge, and the labels by row (row `rows` is the one below the plot area: zero)."""
    rows = max(1, rows)
    if peak < TINY:
        return 1.0, {rows: "0"}
    step = _y_step(peak, max(1, min(_MOST_STEPS_Y, rows // 2)), binary)
    steps = max(1, math.ceil(peak / step - 1e-9))
    labels = {
        (steps - index) * rows // steps: trimmed(y_format(step * index)) if index else "0" for index in range(steps + 1)
    }
    if len(set(labels.values())) <= steps:  # the format is too coarse to distinguish the steps
        labels = {rows: "0", 0: labels[0]}
    return step * steps, labels


def _y_step(peak: float, most: int, binary: bool) -> float:
    """The smallest round step that reaches `peak` in at most `most` steps."""
    least = peak / most
    return float(2.0 ** math.ceil(math.log2(least))) if binary else round_up(least)


def _x_ticks(span: TimeSpan, columns: int) -> list[tuple[int, str]]:
    """Column and label of each tick: as many round times as fit without crowding, at least the first."""
    for step in SECONDS:
        first, last = math.ceil(span.begin / step - 1e-9), math.floor(span.end / step + 1e-9)
        if not 1 <= last - first <= _MOST_STEPS_X:
            continue
        times = [step * index for index in range(first, last + 1)]
        labels = _x_labels(times, span.end)
        if columns * step / span.seconds >= 1.5 * max(map(len, labels)) + 2:
            at = [min(columns - 1, int((time - span.begin) / span.seconds * columns)) for time in times]
            return list(zip(at, labels, strict=True))
    return [(0, units.clock(span.begin) if span.begin else "0")]


def _x_labels(seconds: Sequence[float], right: float) -> list[str]:
    """Plain seconds below two minutes (the last one with its unit), then m:ss, then hours."""
    if right < 120:
        labels = [f"{value:g}" for value in seconds]
        return [*labels[:-1], f"{labels[-1]} s"]
    whole = [round(value) for value in seconds]
    if right < 3600 or any(value % 60 for value in whole):
        return [units.clock(value) if value else "0" for value in whole]
    return [f"{value // 3600}:{value // 60 % 60:02} h" if value else "0" for value in whole]


def time_labels(span: TimeSpan, columns: int) -> str:
    """The times below a plot area of so many columns; of a part of a run, behind them how long the whole is."""
    whole = "" if span.of is None else f"  of {units.duration(span.of)}"
    room = columns - len(whole)
    labels = [" "] * columns
    for column, label in _x_ticks(span, columns):
        start = max(0, min(column - len(label) // 2, columns - len(label)))
        if not whole or start + len(label) <= room:
            labels[start : start + len(label)] = label
    return "".join(labels)[:room] + whole if room > 0 else "".join(labels)


def mark_columns(marks: Sequence[tuple[float, str]], right: float, columns: int) -> list[tuple[int, str]]:
    """The column of each mark in a plot area of so many, which ends after ``right`` seconds."""
    return [(min(columns - 1, int(at / right * columns)), text) for at, text in marks if 0 <= at <= right]


def x_axis(
    span: TimeSpan, columns: int, gutter: int, zero: str, glyphs: Glyphs, heavy: Sequence[tuple[int, int]]
) -> tuple[str, str]:
    """The rule below the plot area with its ticks and ``heavy`` stretches, and the row of labels below that."""
    rule = [glyphs.rule] * columns
    for begun, over in heavy:
        rule[begun:over] = [glyphs.span] * (over - begun)
    for column, _ in _x_ticks(span, columns):
        rule[column] = glyphs.tick_x if column else rule[column]
    return _label(zero, gutter) + glyphs.corner + "".join(rule), " " * gutter + time_labels(span, columns)


def gutter_of(label: str | None, gutter: int, glyphs: Glyphs) -> str:
    """What stands left of one row of the plot area."""
    return _label(label or "", gutter) + (glyphs.bar if label is None else glyphs.tick_y)


def _label(label: str, gutter: int) -> str:
    """`label` flush right in front of the axis, the last column of the gutter."""
    return " " * (gutter - 1 - cell_len(label)) + label
