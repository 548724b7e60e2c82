"""The plot area of a chart: lines rasterised by plotext, and texts put where no line is."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.style import Style
from rich.text import Span, Text

from cephtui.tui.charts.ink import Ink
from cephtui.tui.charts.plotext_private import add_signal

Point = tuple[float, float]
Stretch = tuple[int, int]
"""The first column, and the one behind the last."""
_HELD = "\0"
"""A blank of a text, which nothing is written on."""
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")
# plotext has one figure per process, and a call into its kernel releases the interpreter lock.
_PLOTEXT = threading.Lock()


@dataclass(slots=True)
class _Row:
    """One row: its characters and who drew which of them."""

    plain: str
    owned: list[tuple[int, int, int]]
    """Start, end, number of the line."""
    noted: list[Stretch]
    """Annotations, styled like the axes."""

    def put(self, column: int, text: str) -> bool:
        """Write `text` at `column` if nothing is drawn there; say whether it was."""
        end = column + len(text)
        if column < 0 or end > len(self.plain) or self.plain[column:end].strip():
            return False
        self.plain = self.plain[:column] + text + self.plain[end:]
        self.noted.append((column, end))
        return True


class Canvas:
    """The plot area, on which nothing hides a line."""

    def __init__(self, series: Sequence[Sequence[Sequence[Point]]], columns: int, rows: int, marker: str) -> None:
        """Draw the runs of each line, given as fractions of the axes; they are not connected to each other."""
        self._columns, self._rows = columns, _raster(series, columns, rows, marker)

    def put_names(self, names: Sequence[str], series: Sequence[Sequence[Sequence[Point]]]) -> None:
        """Write each name onto its line, at places spread over the width."""
        rows, columns = len(self._rows), self._columns
        for index, (name, runs) in enumerate(zip(names, series, strict=True)):
            points = [point for run in runs for point in run]
            label = name[:columns]
            if points and label.isprintable() and cell_len(label) == len(label):
                x, y = points[(2 * index + 1) * len(points) // (2 * len(names))]
                row, column = self._rows[min(rows - 1, int((1 - y) * rows))], int(x * columns) - len(label) // 2
                column = max(0, min(column, columns - len(label)))
                row.plain = row.plain[:column] + label + row.plain[column + len(label) :]

    def put_marks(self, marks: Sequence[tuple[int, str]], glyph: str) -> None:
        """A line at each mark's column, and its text beside it in the first row that has room."""
        for at, text in marks:  # before the lines, which leave their place to the texts
            label = _printable(text)[: self._columns // 2].replace(" ", _HELD)
            before = at - len(label) - 1
            any(row.put(at + 2, label) or (before >= 0 and row.put(before, label)) for row in self._rows)
        for row in self._rows:
            for at, _ in marks:
                row.put(at, glyph)

    def put_ramp(self, end: int, label: str, glyph: str) -> None:
        """A line at the column where the ramp ends, and its name before it."""
        if end < self._columns:
            for row in self._rows:
                row.put(end, glyph)
        any(row.put(end - len(label) - 1, label) for row in self._rows)

    def put_spans(self, spans: Sequence[tuple[Stretch, str]]) -> None:
        """The text of each stretch in the lowest row that has room; the same text once."""
        written = set[str]()
        for (first, _), text in spans:
            label = f" {_printable(text)[: self._columns // 2]} ".replace(" ", _HELD)
            at = max(0, min(first, self._columns - len(label)))
            if text not in written and any(row.put(at, label) for row in reversed(self._rows)):
                written.add(text)

    def framed(
        self,
        gutters: Sequence[str],
        axes: Sequence[str],
        ramp: int,
        spans: Sequence[Stretch],
        ink: Ink,
        lines: Sequence[Style],
    ) -> Text:
        """The rows, each behind its gutter, on top of those of the x axis.

        ``ramp`` is the width of the ramp in columns, ``spans`` are heavy stretches of the x axis, and ``lines`` are
        the styles of the lines.
        """
        plain = [gutter + row.plain.replace(_HELD, " ") for gutter, row in zip(gutters, self._rows, strict=True)]
        text = Text("\n".join([*plain, *axes]), no_wrap=True, end="")
        if not ink.colors:
            return text
        at = 0
        for gutter, row in zip(gutters, self._rows, strict=True):
            start = at + len(gutter)
            text.spans.append(Span(at, start, ink.axis))
            text.spans.append(Span(start, start + ramp, ink.shade))
            text.spans.extend(Span(start + a, start + b, ink.axis) for a, b in row.noted)
            text.spans.extend(Span(start + a, start + b, lines[i]) for a, b, i in row.owned)
            at = start + len(row.plain) + 1
        if axes:
            text.spans.append(Span(at, len(text), ink.axis))
            begin = at + len(gutters[0])
            text.spans.extend(Span(begin + first, begin + end, ink.span) for first, end in spans)
        return text


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() and cell_len(letter) == 1 else "?" for letter in text)


def _raster(series: Sequence[Sequence[Sequence[Point]]], columns: int, rows: int, marker: str) -> list[_Row]:
    """Have plotext draw them."""
    import plotext

    with _PLOTEXT:
        plotext.terminal.limit(False, False)
        figure: Any = plotext.figure.clear()
        figure.canvas("default").axes(False).legend(False).plot_size(columns, rows)
        for axis in ("x", "y"):
            figure.ruler(axis).frequency(0).lim(0.0, 1.0).alignment(lim="edge")
        for index, runs in enumerate(series):
            _add(figure, runs, plotext.marker(marker, pixel=index % 256))
        drawn: str = figure.build().string()
    return [_row(row) for row in drawn.split("\n")[:rows]]


def _add(figure: Any, runs: Sequence[Sequence[Point]], marker: Any) -> None:
    """Add one line to the figure, its runs not connected to each other."""
    points = [point for run in runs for point in run]
    if not points:
        return
    signal = figure.signal([x for x, _ in points], [y for _, y in points], marker=marker).lines()
    start = 0
    for run in runs:
        signal.line(start, False)
        start += len(run)
    add_signal(figure, signal)


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
    return _Row(plain, owned, [])
