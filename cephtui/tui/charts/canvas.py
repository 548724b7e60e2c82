"""The plot area of a chart: lines rasterised by plotext, areas behind them, and texts put where no line is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import product

from rich.cells import cell_len
from rich.style import StyleType
from rich.text import Span, Text

from cephtui.frozen import dataclass
from cephtui.tui.charts.areas import RUNS, Area, area_of, at_height, closed, painted, sign
from cephtui.tui.charts.ink import Glyphs
from cephtui.tui.charts.rasterised import rasterised
from cephtui.tui.charts.steps import PlotPoint

ColumnSpan = tuple[int, int]
"""The first column, and the one behind the last."""
_HELD = "\0"
"""A blank of a text, which nothing is written on."""
_TEXT_GAP = 3
"""Cells between two texts of a row, of which a mark may take the one in the middle."""
_SHORT_COLUMNS = 16
"""A mark's text is cut to half of the width, or to so many columns where that is less."""
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


@dataclass(slots=True)
class _Row:
    """One row: its characters, who drew which of them, and what was written."""

    plain: str
    owned: list[tuple[int, int, int]]
    """Start, end, number of the line."""
    noted: list[tuple[int, int, StyleType]] = field(default_factory=list)
    texts: list[ColumnSpan] = field(default_factory=list)

    def put(self, column: int, text: str, style: StyleType) -> bool:
        """Write `text` at `column` if nothing is drawn there; say whether it was."""
        end = column + len(text)
        if column < 0 or end > len(self.plain) or self.plain[column:end].strip():
            return False
        self.plain = self.plain[:column] + text + self.plain[end:]
        self.noted.append((column, end, style))
        return True

    def put_over(self, column: int, symbol: str, style: StyleType) -> None:
        """Write one character, whatever is drawn there."""
        self.plain = self.plain[:column] + symbol + self.plain[column + 1 :]
        self.noted.append((column, column + 1, style))

    def put_upright(self, column: int, glyph: str, style: StyleType) -> None:
        """Draw a part of an upright line, which does not touch a text."""
        if not any(begun - 1 <= column <= over for begun, over in self.texts):
            self.put(column, glyph, style)

    def write(self, column: int, text: str, style: StyleType) -> bool:
        """Write `text` as `put` does, if other texts are far enough away."""
        end = column + len(text)
        if any(column < over + _TEXT_GAP and begun < end + _TEXT_GAP for begun, over in self.texts):
            return False
        written = self.put(column, text.replace(" ", _HELD), style)
        if written:
            self.texts.append((column, end))
        return written


class Canvas:
    """The plot area, on which nothing hides a line."""

    def __init__(
        self, series: Sequence[Sequence[Sequence[PlotPoint]]], markers: Sequence[str], columns: int, rows: int
    ) -> None:
        """Draw the runs of each line, given as fractions of the axes; they are not connected to each other."""
        self._columns, self._rows = columns, [_row(row) for row in rasterised(series, markers, columns, rows)]
        self._areas: Sequence[Area] = ()
        self._behind = self._under = [" " * columns] * rows

    def fill(self, areas: Sequence[Area], glyphs: Glyphs) -> None:
        """Draw areas behind the lines, the lowest in front."""
        size = self._columns, len(self._rows)
        self._areas, self._behind = areas, painted(areas, *size, glyphs)
        self._under = painted([area for area in areas if not area.name], *size, glyphs, whole=True)
        if glyphs.dots:
            by_line = {line: area for area in areas for line in area.lines}
            for number, row in enumerate(reversed(self._rows)):
                row.plain = closed(row.plain, row.owned, number * glyphs.high, by_line, glyphs)

    def put_names(
        self, names: Sequence[str], series: Sequence[Sequence[Sequence[PlotPoint]]], styles: Sequence[StyleType]
    ) -> None:
        """Write each name onto its line and in its colour, at places spread over the width."""
        rows, columns = len(self._rows), self._columns
        for index, (name, runs, style) in enumerate(zip(names, series, styles, strict=True)):
            points = [point for run in runs for point in run]
            label = name[:columns]
            if points and label.isprintable() and cell_len(label) == len(label):
                x, y = points[(2 * index + 1) * len(points) // (2 * len(names))]
                row, column = self._rows[min(rows - 1, int((1 - y) * rows))], int(x * columns) - len(label) // 2
                column = max(0, min(column, columns - len(label)))
                row.plain = row.plain[:column] + label.replace(" ", _HELD) + row.plain[column + len(label) :]
                row.noted.append((column, column + len(label), style))
                row.texts.append((column, column + len(label)))

    def put_marks(self, marks: Sequence[tuple[int, str]], style: StyleType) -> None:
        """Write each mark's text beside its column, in the first row that has room."""
        for at, text in marks:
            label = _printable(text)[: max(self._columns // 2, _SHORT_COLUMNS)]
            before = at - len(label) - 1
            for row in self._rows:
                if row.write(at + 2, label, style) or (before >= 0 and row.write(before, label, style)):
                    break

    def put_upright(self, columns: Sequence[int], glyph: str, style: StyleType) -> None:
        """Draw a line over the whole height at each column; written texts keep their place."""
        for row in self._rows:
            for at in columns:
                row.put_upright(at, glyph, style)

    def put_points(self, points: Sequence[tuple[PlotPoint, str, str, StyleType]]) -> None:
        """Draw a symbol at each fraction of the axes, in front of all lines; its text where there is room."""
        rows, columns = len(self._rows), self._columns
        places = [(max(0, rows - 1 - int(y * rows)), min(columns - 1, int(x * columns))) for (x, y), *_ in points]
        for (at, column), (_, symbol, _, style) in zip(places, points, strict=True):
            self._rows[at].put_over(column, symbol, style)
        for (at, column), (_, _, text, style) in zip(places, points, strict=True):
            label = _printable(text)
            beside = [(at, column + 2), (at, column - len(label) - 1)]
            around = [(row, column - len(label) // 2 + shift) for row in (at - 1, at + 1) for shift in (0, 1, -1)]
            any(self._rows[row].put(begin, label, style) for row, begin in (*around, *beside) if 0 <= row < rows)

    def put_ramp(self, end: int, labels: Sequence[str], style: StyleType) -> None:
        """Write the first name of the ramp that has room before its end."""
        for label, row in product(labels, self._rows):
            if row.write(begin := end - len(label) - 2, f" {label} ", style):
                row.texts[-1] = begin, end - 1  # the line at the end of the ramp may be beside it
                break

    def put_spans(self, spans: Sequence[tuple[ColumnSpan, str, StyleType]]) -> None:
        """Write each stretch's text in the lowest row that has room; the same text once."""
        written = set[str]()
        for (first, _), text, style in spans:
            label = f" {_printable(text)[: self._columns // 2]} "
            at = max(0, min(first, self._columns - len(label)))
            if text not in written and any(row.write(at, label, style) for row in reversed(self._rows)):
                written.add(text)

    def put_area_names(self, style: StyleType) -> None:
        """Write the names of areas in the middle of the height."""
        middle = len(self._rows) // 2
        for number, area in enumerate(self._areas):
            for part in re.finditer(f"{sign(number)}+", self._behind[middle] if area.name else ""):
                label = f" {area.name} "
                at = (part.start() + part.end() - len(label)) // 2
                if len(label) <= part.end() - part.start():
                    any(row.write(at, label, style) for row in self._rows[middle:])

    def framed(self, gutters: Sequence[str], axes: Sequence[str], styles: ChartStyles) -> Text:
        """The plot as text: each row behind its gutter, then the rows of the x axis."""
        drawn = [_merged(row.plain, behind) for row, behind in zip(self._rows, self._behind, strict=True)]
        symbols = {ord(sign(number)): area.symbol for number, area in enumerate(self._areas)} | {0: " "}
        hatched = symbols | {ord(sign(at)): styles.hatch for at, area in enumerate(self._areas) if not area.name}
        ramp = styles.ramp
        plain = [
            gutter + row[:ramp].translate(hatched) + row[ramp:].translate(symbols)
            for gutter, row in zip(gutters, drawn, strict=True)
        ]
        text = Text("\n".join([*plain, *axes]), no_wrap=True, end="")
        if not styles.colors:
            return text
        at = 0
        for number, (gutter, row, cells, under) in enumerate(zip(gutters, self._rows, drawn, self._under, strict=True)):
            start, height = at + len(gutter), 1 - (number + 0.5) / len(self._rows)
            text.spans.append(Span(at, start, styles.axis))
            text.spans.append(Span(start, start + ramp, styles.shade))
            text.spans.extend(Span(start + a, start + b, style) for (a, b), style in styles.periods)
            text.spans.extend(self._area_spans(start, height, row, cells, under, ramp))
            text.spans.extend(Span(start + a, start + b, styles.lines[i]) for a, b, i in row.owned)
            text.spans.extend(Span(start + a, start + b, style) for a, b, style in row.noted)
            at = start + len(row.plain) + 1
        if axes:
            text.spans.append(Span(at, len(text), styles.axis))
            begin = at + len(gutters[0])
            text.spans.extend(Span(begin + a, begin + b, style) for (a, b), style in styles.periods)
        return text

    def _area_spans(self, start: int, height: float, row: _Row, cells: str, under: str, ramp: int) -> Iterator[Span]:
        """The styles of the areas in a row that starts there, behind the ramp also under its lines and texts."""
        for run in RUNS.finditer(cells):
            yield Span(start + run.start(), start + run.end(), at_height(area_of(run, self._areas).styles, height))
        for first, end, _ in (*row.owned, *row.noted):
            for run in RUNS.finditer(under, max(first, ramp), end):
                ground = at_height(area_of(run, self._areas).grounds, height)
                yield Span(start + run.start(), start + run.end(), ground)


@dataclass(frozen=True, slots=True)
class ChartStyles:
    """The styles of all that is drawn."""

    colors: bool
    """Whether there are styles at all."""
    axis: StyleType
    lines: Sequence[StyleType]
    shade: StyleType
    """The style behind the ramp."""
    ramp: int
    """The width of the ramp in columns."""
    hatch: str
    """What areas are filled with in it."""
    periods: Sequence[tuple[ColumnSpan, StyleType]]
    """Columns with the style behind them and of their part of the x axis."""


def _merged(plain: str, behind: str) -> str:
    """Lines and texts in front of the areas."""
    return "".join([back if front == " " else front for front, back in zip(plain, behind, strict=True)])


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() and cell_len(letter) == 1 else "?" for letter in text)


def _row(drawn: str) -> _Row:
    """Read one row of plotext's output, where the number of a colour is the number of the line."""
    plain, owned, owner = "", [], -1
    for index, piece in enumerate(_ESCAPE.split(drawn)):
        if index % 2:
            owner = int(piece.rpartition(";")[2]) if piece.startswith("38;5;") else -1
        elif piece:
            if owner >= 0:
                owned.append((len(plain), len(plain) + len(piece), owner))
            plain += piece
    return _Row(plain, owned)
