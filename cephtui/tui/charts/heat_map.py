"""The heat map of a run: time to the right, completion latency upwards, the more completions the brighter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui import units
from cephtui.analysis.history import HeatColumn, row_seconds
from cephtui.tui.charts.axes import mark_columns, time_labels
from cephtui.tui.charts.ink import Ink
from cephtui.tui.terminal.filters import PICTURE
from cephtui.tui.terminal.profile import profile_of

# cividis (Nuñez, Anderton, Renslow 2018), which the colour-blind see as others do, without its darkest end
COLORS = ("#2a3f6d", "#48526b", "#5f666e", "#777776", "#908a78", "#aa9f72", "#c6b567", "#e3cd53", "#fee838")
_SHADES, _ASCII = "░▒▓█", ".:-=+*#%@"
GUTTER = 9
"""Columns left of the map."""
_LABEL_EVERY_ROWS = 3
_LEAST_ROWS, _LEAST_ROWS_WITH_TIMES = 2, 6

Grid = list[list[int]]
"""Completions by row, the fastest first, and column."""


def draw(
    columns: Sequence[HeatColumn],
    width: int,
    height: int,
    x_end: float,
    ink: Ink,
    marks: Sequence[tuple[float, str]] = (),
) -> Text:
    """A map of exactly ``height`` rows and ``width`` columns, over the time from 0 to ``x_end`` seconds.

    How bright a cell is goes with the logarithm of its completions: a few slow ones in a million are seen. ``marks``,
    (seconds, text), are lines where no completion is; their texts stand in the chart.
    """
    known = [row for _, rows in columns for row in rows]
    wide = width - GUTTER
    if not known or wide < 1 or height < _LEAST_ROWS or x_end <= 0:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    with_times = height >= _LEAST_ROWS_WITH_TIMES
    height -= with_times
    lines = height * (2 if ink.colors and not ink.ascii_only else 1)
    low, each = _scale(min(known), max(known), lines)
    grid = _grid(columns, low, each, wide, lines, x_end)
    most = max(max(row) for row in grid)
    levels = [[_level(number, most) for number in row] for row in grid]
    ground = [" "] * wide
    for at, _ in mark_columns(marks, x_end, wide):
        ground[at] = ink.glyphs.mark
    text = Text(no_wrap=True, end="")
    for row in reversed(range(height)):
        label = _label(row, height, low, each, lines // height)
        text.append(" " * (GUTTER - 1 - cell_len(label)) + label + " ", "dim")
        if lines > height:
            _append_halves(text, levels[2 * row + 1], levels[2 * row], ground)
        else:
            _append_shades(text, levels[row], ink, ground)
        if row:
            text.append("\n")
    if with_times:
        text.append(f"\n{' ' * GUTTER}{time_labels(x_end, wide)}", "dim")
    return text


def _scale(least: int, greatest: int, lines: int) -> tuple[int, int]:
    """The row of the histogram at the lower edge, and how many of them make one line."""
    span = greatest - least + 1
    each = max(1, math.ceil(span / lines))
    return max(0, least - (lines * each - span) // 2), each


def _grid(columns: Sequence[HeatColumn], low: int, each: int, width: int, lines: int, x_end: float) -> Grid:
    """Completions laid on the screen's cells; a stretch of time wider than a cell fills several."""
    grid = [[0] * width for _ in range(lines)]
    begin = 0.0
    for end, rows in columns:
        first = min(width - 1, round(begin / x_end * width))
        last = min(width - 1, max(first, round(end / x_end * width) - 1))
        for row, number in rows.items():
            line = grid[min(lines - 1, (row - low) // each)]
            for column in range(first, last + 1):
                line[column] += number
        begin = end
    return grid


def _level(number: int, most: int) -> float:
    """Brightness from 0 (nothing) to 1."""
    return 0.0 if not number else max(0.01, math.log1p(number) / math.log1p(most))


def _label(row: int, height: int, low: int, each: int, lines: int) -> str:
    if row % _LABEL_EVERY_ROWS and row != height - 1:
        return ""
    if row == height - 1 and row % _LABEL_EVERY_ROWS == 1:
        return ""
    return units.latency(row_seconds(low + row * lines * each))


def _color(level: float) -> str:
    return COLORS[min(len(COLORS) - 1, int(level * len(COLORS)))]


@lru_cache(1024)
def _cell(color: str, below: str | None = None) -> Style:
    return Style(color=color, bgcolor=below) + PICTURE


def _append_halves(text: Text, upper: Sequence[float], lower: Sequence[float], ground: Sequence[str]) -> None:
    """Two lines of the grid in one row of the screen."""
    for above, below, blank in zip(upper, lower, ground, strict=True):
        if above and below:
            text.append("▀", _cell(_color(above), _color(below)))
        elif above or below:
            text.append("▀" if above else "▄", _cell(_color(above or below)))
        else:
            text.append(blank, "dim")


def _append_shades(text: Text, levels: Sequence[float], ink: Ink, ground: Sequence[str]) -> None:
    glyphs = _ASCII if ink.ascii_only else _SHADES
    cells = zip(levels, ground, strict=True)
    text.append("".join(glyphs[min(len(glyphs) - 1, int(v * len(glyphs)))] if v else blank for v, blank in cells))


class HeatMap(Widget):
    """A heat map that fills its box."""

    DEFAULT_CSS = "HeatMap { height: 1fr; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._columns: Sequence[HeatColumn] = ()
        self._x_end = 0.0
        self._marks: Sequence[tuple[float, str]] = ()
        self._drawn: tuple[object, ...] = ()

    def show(self, columns: Sequence[HeatColumn], x_end: float, marks: Sequence[tuple[float, str]] = ()) -> None:
        """Show these columns; the same ones again cost no redraw."""
        drawn = (len(columns), columns[-1][0] if columns else 0.0, x_end, marks)
        if drawn != self._drawn or columns is not self._columns:
            self._columns, self._x_end, self._marks, self._drawn = columns, x_end, marks, drawn
            self.refresh()

    def render(self) -> Text:
        """Draw at the present size."""
        profile = profile_of(self)
        rich_colors = profile.colors in ("truecolor", "256")
        ink = Ink(colors=rich_colors and not self.app.no_color, ascii_only=profile.ascii_only)
        return draw(self._columns, *self.content_size, self._x_end, ink, self._marks)
