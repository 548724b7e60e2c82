"""Axes of a chart: round values and times, labels that never collide, and where a time is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from cephtui.reports.ticks import SECONDS, round_up, trimmed
from cephtui.tui.charts.ink import Glyphs

HUGE, TINY = 1e300, 1e-300
"""Outside of these, the arithmetic of the axes would overflow or divide by zero."""
_MOST_STEPS_Y, _MOST_STEPS_X = 5, 10


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


def _x_ticks(right: float, columns: int) -> list[tuple[int, str]]:
    """Column and label of each tick: as many round times as fit without crowding, at least the zero."""
    for step in SECONDS:
        count = math.floor(right / step + 1e-9)
        if not 1 <= count <= _MOST_STEPS_X:
            continue
        labels = _x_labels([step * index for index in range(count + 1)], right)
        if columns * step / right >= 1.5 * max(map(len, labels)) + 2:
            at = [min(columns - 1, int(step * index / right * columns)) for index in range(count + 1)]
            return list(zip(at, labels, strict=True))
    return [(0, "0")]


def _x_labels(seconds: Sequence[float], right: float) -> list[str]:
    """Plain seconds below two minutes (the last one with its unit), then m:ss, then hours."""
    if right < 120:
        labels = [f"{value:g}" for value in seconds]
        return [*labels[:-1], f"{labels[-1]} s"]
    whole = [round(value) for value in seconds]
    if right < 3600:
        return ["0", *(f"{value // 60}:{value % 60:02}" for value in whole[1:])]
    return ["0", *(f"{value // 3600}:{value // 60 % 60:02} h" for value in whole[1:])]


def time_labels(right: float, columns: int) -> str:
    """The times below a plot area of so many columns, which ends after ``right`` seconds."""
    labels = [" "] * columns
    for column, label in _x_ticks(right, columns):
        start = max(0, min(column - len(label) // 2, columns - len(label)))
        labels[start : start + len(label)] = label
    return "".join(labels)


def mark_columns(marks: Sequence[tuple[float, str]], right: float, columns: int) -> list[tuple[int, str]]:
    """The column of each mark in a plot area of so many, which ends after ``right`` seconds."""
    return [(min(columns - 1, int(at / right * columns)), text) for at, text in marks if 0 <= at <= right]


def x_axis(
    right: float, columns: int, gutter: int, zero: str, glyphs: Glyphs, heavy: Sequence[tuple[int, int]]
) -> tuple[str, str]:
    """The rule below the plot area with its ticks and ``heavy`` stretches, and the row of labels below that."""
    rule = [glyphs.rule] * columns
    for begun, over in heavy:
        rule[begun:over] = [glyphs.span] * (over - begun)
    for column, _ in _x_ticks(right, columns)[1:]:
        rule[column] = glyphs.tick_x
    return _label(zero, gutter) + glyphs.corner + "".join(rule), " " * gutter + time_labels(right, columns)


def gutter_of(label: str | None, gutter: int, glyphs: Glyphs) -> str:
    """What stands left of one row of the plot area."""
    return _label(label or "", gutter) + (glyphs.bar if label is None else glyphs.tick_y)


def _label(label: str, gutter: int) -> str:
    """`label` flush right in front of the axis, the last column of the gutter."""
    return " " * (gutter - 1 - cell_len(label)) + label
