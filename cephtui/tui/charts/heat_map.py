"""The heat map of a run: time to the right, completion latency upwards, and the more I/Os the stronger the colour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter

from rich.style import Style
from rich.text import Span, Text

from cephtui import units
from cephtui.analysis.runs.history import HeatColumn, row_percentile_seconds, row_seconds
from cephtui.frozen import dataclass
from cephtui.reports.ticks import trimmed
from cephtui.tui.charts.axes import TimeSpan, gutter_of, mark_columns, time_labels
from cephtui.tui.charts.colors import HEAT_COLORS, HEAT_LINE_COLORS
from cephtui.tui.charts.ink import Ink, ink_of
from cephtui.tui.charts.steps import interval_start
from cephtui.tui.charts.titled import Titled
from cephtui.tui.terminal.filters import PICTURE
from cephtui.tui.terminal.profile import profile_of

_SHADES, _ASCII = "░▒▓█", ".:+*#%@"
_TICK, _ASCII_TICK = "┈", "-   "
_PERCENTS = (50, 99)
_LINES, _ASCII_LINES = "─━", "~="
"""Symbols of the percentiles where there are no colours."""
_LEAST_SECONDS = 1e-9
GUTTER = 9
"""Columns left of the map."""
_LEAST_ROWS, _ROWS_WITH_TIMES, _ROWS_WITH_LEGEND = 2, 6, 10

_Levels = list[list[float]]
"""How strong each cell is, from 0 (nothing) to below 1, by line, the fastest first, and column."""
_Track = list[int | None]
"""The line of a percentile in each column."""
_CellStyle = tuple[str, str | None] | str
"""The colours of a cell and of what is behind it, or a style of a text."""
_Cell = tuple[str, _CellStyle]


@dataclass(frozen=True, slots=True)
class _Scale:
    """Latencies by line: powers of ten."""

    low: float
    high: float
    lines: int

    def at(self, seconds: float) -> float:
        """The place of a latency, in lines from the lower edge."""
        return (math.log10(max(seconds, _LEAST_SECONDS)) - self.low) / (self.high - self.low) * self.lines

    def line(self, seconds: float) -> int:
        """The line that a latency is in."""
        return max(0, min(self.lines - 1, int(self.at(seconds))))

    def of_row(self, row: int) -> range:
        """The lines whose middle is in a row of the histogram, or the one that the row's middle is in."""
        begin, end = row_seconds(row), row_seconds(row + 1)
        lines = range(*(max(0, min(self.lines, math.ceil(self.at(edge) - 0.5))) for edge in (begin, end)))
        middle = self.line((begin + end) / 2)
        return lines or range(middle, middle + 1)

    def ticks(self) -> list[float]:
        """Round latencies, powers of ten where there are several."""
        powers, latencies = range(math.floor(self.low), math.ceil(self.high) + 1), list[float]()
        for factors in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
            every = (factor * 10.0**power for power in powers for factor in factors)
            latencies = [seconds for seconds in every if 0.0 <= round(self.at(seconds), 6) < self.lines]
            if len(latencies) > 1:
                break
        return latencies


@dataclass(frozen=True, slots=True)
class _Map:
    """What is drawn, by line and column."""

    levels: _Levels
    tracks: dict[str, _Track]
    """The lines of the percentiles by their names, the lower one first."""
    marked: frozenset[int]
    """Columns."""
    ink: Ink

    def colors(self, line: int) -> list[str | None]:
        """The colours of a line's cells; None where nothing completed."""
        palette = _palette(self.ink)
        cells = [palette[int(level * len(palette))] if level else None for level in self.levels[line]]
        for color, track in zip(HEAT_LINE_COLORS, self.tracks.values(), strict=False):
            cells = [color if at == line else cell for cell, at in zip(cells, track, strict=True)]
        return cells

    def symbols(self, line: int) -> list[str]:
        """The cells of a line without colours."""
        shades = _ASCII if self.ink.ascii_only else _SHADES
        cells = [shades[int(level * len(shades))] if level else " " for level in self.levels[line]]
        for symbol, track in zip(_ASCII_LINES if self.ink.ascii_only else _LINES, self.tracks.values(), strict=False):
            cells = [symbol if at == line else cell for cell, at in zip(cells, track, strict=True)]
        return cells

    def behind(self, has_tick: bool) -> list[str]:
        """What is seen where nothing was completed."""
        tick = (_ASCII_TICK if self.ink.ascii_only else _TICK) if has_tick else " "
        places = range(len(self.levels[0]))
        return [self.ink.glyphs.mark if column in self.marked else tick[column % len(tick)] for column in places]


def draw_heat_map(
    columns: Sequence[HeatColumn],
    width: int,
    height: int,
    span: TimeSpan,
    ink: Ink,
    marks: Sequence[tuple[float, str]] = (),
) -> Text:
    """A map of exactly ``height`` rows and ``width`` columns, over these seconds.

    How strong a cell is goes with the logarithm of its completions: a few slow ones in a million are seen. ``marks``,
    (seconds, text), are lines where no completion is; their texts stand in the chart. Lines over the map are the
    median and the p99 of each column.
    """
    x_end, wide = span.seconds, width - GUTTER
    columns, marks = _columns_within(columns, span), [(at - span.begin, text) for at, text in marks]
    filled_rows = [row for _, rows in columns for row in rows]
    if not filled_rows or wide < 1 or height < _LEAST_ROWS or x_end <= 0:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    has_times, has_legend = height >= _ROWS_WITH_TIMES, height >= _ROWS_WITH_LEGEND
    rows = height - has_times - has_legend
    scale = _fitted(min(filled_rows), max(filled_rows), rows * _lines_a_row(ink))
    tracks = _tracks(columns, scale, wide, x_end) if has_times else {}
    drawn = _Map(_levels(columns, scale, wide, x_end), tracks, _marked(marks, columns, wide, x_end), ink)
    legend = [_legend(width, ink)] if has_legend else []
    times: list[list[_Cell]] = [[(" " * GUTTER + time_labels(span, wide), "dim")]] if has_times else []
    return _text([*legend, *_rows(drawn, scale, rows), *times])


def _columns_within(columns: Sequence[HeatColumn], span: TimeSpan) -> Sequence[HeatColumn]:
    """The columns of these seconds, counted from their beginning."""
    if not span.begin:
        return columns
    begins = [0.0, *(end for end, _ in columns)]
    return [
        (end - span.begin, rows)
        for begin, (end, rows) in zip(begins, columns, strict=False)
        if begin < span.end and end > span.begin
    ]


def _lines_a_row(ink: Ink) -> int:
    """With colours, two lines share a row of the screen."""
    return 2 if ink.colors and not ink.ascii_only else 1


def _fitted(least: int, greatest: int, lines: int) -> _Scale:
    """Half powers of ten around these rows of the histogram, a whole one at least."""
    edges = (row_seconds(least), row_seconds(greatest + 1))
    low, high = (2 * math.log10(max(edge, _LEAST_SECONDS)) for edge in edges)
    return _Scale(math.floor(low) / 2, max(math.ceil(high), math.floor(low) + 2) / 2, lines)


def _stretches(columns: Sequence[HeatColumn], width: int, x_end: float) -> Iterator[tuple[int, int, dict[int, int]]]:
    """The first and the last column on the screen of each column of the histogram."""
    begin = 0.0
    for end, rows in columns:
        first = min(width - 1, round(begin / x_end * width))
        yield first, min(width - 1, max(first, round(end / x_end * width) - 1)), rows
        begin = end


def _levels(columns: Sequence[HeatColumn], scale: _Scale, width: int, x_end: float) -> _Levels:
    """Completions laid on the screen's cells; a stretch of time wider than a cell fills several."""
    grid = [[0] * width for _ in range(scale.lines)]
    lines_of = lru_cache(None)(scale.of_row)
    for first, last, rows in _stretches(columns, width, x_end):
        for row, number in rows.items():
            for line in lines_of(row):
                for column in range(first, last + 1):
                    grid[line][column] += number
    most = math.log1p(max(map(max, grid))) + 1e-9
    return [[math.log1p(number) / most if number else 0.0 for number in line] for line in grid]


def _tracks(columns: Sequence[HeatColumn], scale: _Scale, width: int, x_end: float) -> dict[str, _Track]:
    tracks: dict[str, _Track] = {f"p{percent}": [None] * width for percent in _PERCENTS}
    for first, last, rows in _stretches(columns, width, x_end):
        for percent in _PERCENTS if rows else ():
            seconds = row_percentile_seconds(rows, percent) or 0.0
            tracks[f"p{percent}"][first : last + 1] = [scale.line(seconds)] * (last + 1 - first)
    return tracks


def _marked(
    marks: Sequence[tuple[float, str]], columns: Sequence[HeatColumn], width: int, x_end: float
) -> frozenset[int]:
    ends = [0.0, *(end for end, _ in columns)]
    snapped = [(interval_start(list(pairwise(ends)), at), text) for at, text in marks]
    return frozenset(column for column, _ in mark_columns(snapped, x_end, width))


def _rows(drawn: _Map, scale: _Scale, rows: int) -> Iterator[list[_Cell]]:
    """Each row with its part of the axis, from the top."""
    lines_per_row = scale.lines // rows
    ticks = {scale.line(seconds) // lines_per_row: trimmed(units.latency(seconds)) for seconds in scale.ticks()}
    labels = _labels(drawn.tracks, lines_per_row, rows)
    for row in reversed(range(rows)):
        behind = drawn.behind(row in ticks)
        if lines_per_row == 2:
            cells = _halves(drawn.colors(2 * row + 1), drawn.colors(2 * row), behind)
        else:
            symbols = zip(drawn.symbols(row), behind, strict=True)
            cells = [(symbol, "") if symbol != " " else (blank, "dim") for symbol, blank in symbols]
        for column, label, color in labels.get(row, ()):
            cells[column : column + len(label)] = [(letter, color if drawn.ink.colors else "bold") for letter in label]
        yield [(gutter_of(ticks.get(row), GUTTER, drawn.ink.glyphs), "dim"), *cells]


def _labels(tracks: dict[str, _Track], lines_per_row: int, rows: int) -> dict[int, list[tuple[int, str, str]]]:
    """Column, name and colour of each percentile by row: behind its end or over it, in a row of its own."""
    labels: dict[int, list[tuple[int, str, str]]] = {}
    for (name, track), color in zip(tracks.items(), HEAT_LINE_COLORS, strict=False):
        at = max((column for column, line in enumerate(track) if line is not None), default=None)
        label = f" {name} "
        if at is None or len(label) > len(track):
            continue
        row = (track[at] or 0) // lines_per_row
        row = next((free for free in (row, row + 1, row - 1) if free not in labels and 0 <= free < rows), row)
        labels.setdefault(row, []).append((min(at + 1, len(track) - len(label)), label, f"bold {color}"))
    return labels


def _halves(upper: Sequence[str | None], lower: Sequence[str | None], behind: Sequence[str]) -> list[_Cell]:
    """Two lines in one row of the screen."""
    return [
        ("▀", (above, below)) if above else ("▄", (below, None)) if below else (blank, "dim")
        for above, below, blank in zip(upper, lower, behind, strict=True)
    ]


def _legend(width: int, ink: Ink) -> list[_Cell]:
    """The colours or symbols from few to many, flush right."""
    if _lines_a_row(ink) == 2:
        scale: list[_Cell] = [("█", (color, None)) for color in _palette(ink)]
    else:
        scale = [(symbol, "") for symbol in (_ASCII if ink.ascii_only else _SHADES)]
    few, many = [(letter, "dim") for letter in "few "], [(letter, "dim") for letter in " many"]
    cells = [*few, *scale, *many]
    return [*[(" ", "")] * (width - len(cells)), *cells][:width]


def _text(rows: Sequence[Sequence[_Cell]]) -> Text:
    """The rows, cells of one style beside each other in one piece."""
    pieces, spans, at = [], [], 0
    for row in rows:
        for key, group in groupby(row, itemgetter(1)):
            piece = "".join([symbol for symbol, _ in group])
            if key:
                spans.append(Span(at, at + len(piece), key if isinstance(key, str) else _cell(*key)))
            pieces.append(piece)
            at += len(piece)
        pieces.append("\n")
        at += 1
    return Text("".join(pieces[:-1]), no_wrap=True, end="", spans=spans)


def _palette(ink: Ink) -> Sequence[str]:
    """Colours from few to many: bright for many on a dark ground, dark for many on a light one."""
    return HEAT_COLORS[::-1] if ink.is_light else HEAT_COLORS


@lru_cache(1024)
def _cell(color: str, below: str | None = None) -> Style:
    return Style(color=color, bgcolor=below) + PICTURE


class HeatMap(Titled):
    """A heat map that fills its box; its title says how to read it in the theme and on the terminal."""

    DEFAULT_CSS = "HeatMap { height: 1fr; }"

    def __init__(self, flow: str = "", *, id: str) -> None:
        """``flow`` is what is shown: ``read``, ``write``."""
        super().__init__(id=id)
        self._flow = flow
        self._columns: Sequence[HeatColumn] = ()
        self._span = TimeSpan(0.0, 0.0)
        self._marks: Sequence[tuple[float, str]] = ()
        self._drawn: tuple[object, ...] = ()

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._name_colors)

    def _name_colors(self) -> None:
        is_shaded = _lines_a_row(self._ink()) == 1
        word = "denser" if is_shaded else "brighter" if self.app.current_theme.dark else "darker"
        short = f" {self._flow} latency "
        self.show_title(lambda: Text(f"{short.rstrip()}: {word} = more I/Os "), lambda: Text(short))

    def _ink(self) -> Ink:
        return ink_of(self, colors=profile_of(self).has_shades)

    def show(self, columns: Sequence[HeatColumn], span: TimeSpan, marks: Sequence[tuple[float, str]] = ()) -> None:
        """Show these columns; the same ones again cost no redraw."""
        drawn = (len(columns), columns[-1][0] if columns else 0.0, span, marks)
        if drawn != self._drawn or columns is not self._columns:
            self._columns, self._span, self._marks, self._drawn = columns, span, marks, drawn
            self.refresh()

    def render(self) -> Text:
        return draw_heat_map(self._columns, *self.content_size, self._span, self._ink(), self._marks)
