"""Charts on a terminal: latencies with the ladder of their percentiles, the interval of a ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.runs.ladder import LogAxis, axis_of, ladder, shares
from cephtui.frozen import dataclass
from cephtui.reports.styles import STYLES, color_of_flow

if TYPE_CHECKING:
    from cephtui.reports.blocks import ConfidenceInterval, Histogram

ROWS = 5
"""Of a histogram, at least."""
_LABELS = 18
"""Columns left of the axis."""
_WIDEST, _NARROWEST = 100, 16
"""Columns of the axis."""
_BESIDE = range(150, 1000)
"""Columns in which two flows stand beside each other; a pipe has more, and what it is read in may have fewer."""
_BLOCKS = " ▁▂▃▄▅▆▇█"


def draw_histograms(
    histograms: Sequence[Histogram],
    *,
    color_of: Callable[[str], str] = color_of_flow,
    ascii_only: bool = False,
    rows: int = ROWS,
) -> RenderableType:
    """One for each flow, in its colour, so many rows high without its axis and its ladder."""
    return _Beside([LatencyChart(histogram, color_of(histogram.flow), ascii_only, rows) for histogram in histograms])


@dataclass(frozen=True, slots=True)
class LatencyChart:
    """One flow of a run, as wide as there is room."""

    histogram: Histogram
    style: str
    ascii_only: bool
    rows: int = ROWS

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_LABELS + _NARROWEST, _LABELS + _WIDEST)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = max(_NARROWEST, min(_WIDEST, options.max_width - _LABELS - 1))
        drawn = self.histogram
        axis = axis_of(drawn.buckets, drawn.greatest_seconds)
        count = sum(drawn.buckets.values())
        about = f", {drawn.about}" if drawn.about else ""
        yield Text.assemble((f"{drawn.flow} {drawn.word}", "bold"), f"{about}, {count:,} completions")
        yield from self._histogram(axis, columns)
        yield from _scale(axis, columns, self.ascii_only)
        yield from self._ladder(axis, columns)

    def _histogram(self, axis: LogAxis, columns: int) -> Iterator[Text]:
        """The share of I/Os in each column; one with any at all has the lowest mark."""
        column_shares = shares(self.histogram.buckets, axis.edges(columns))
        most = max(column_shares)
        heights = [max(share / most * self.rows, 1 / 8 if share > 1e-12 else 0.0) for share in column_shares]
        bar = "|" if self.ascii_only else "│"
        for row in reversed(range(self.rows)):
            label = units.percent(100 * most) if row == self.rows - 1 else ""
            cells = "".join(_cell(height - row, self.ascii_only) for height in heights)
            yield Text.assemble(f"{label:>{_LABELS - 1}}", (bar, "dim"), (cells.rstrip(), self.style))

    def _ladder(self, axis: LogAxis, columns: int) -> Iterator[Text]:
        """A bar up to each percentile, and up to the slowest."""
        for rung in ladder(self.histogram.buckets):
            if rung.seconds is None:
                yield Text.assemble(_label(rung.title, units.DASH), (f" {few(rung.beyond)}", "dim"))
            else:
                yield self._rung(rung.title, rung.seconds, axis, columns)
        yield self._rung("max", self.histogram.greatest_seconds, axis, columns)

    def _rung(self, title: str, seconds: float, axis: LogAxis, columns: int) -> Text:
        line, end = ("-", "o") if self.ascii_only else ("━", "●")
        bar = line * round(axis.place(seconds) * (columns - 1)) + end
        return Text.assemble(_label(title, units.latency(seconds)), " ", (bar, self.style))


def few(beyond: int) -> str:
    """Why there is no percentile."""
    return f"only {beyond:,} {'I/O' if beyond == 1 else 'I/Os'} took longer: too few" if beyond else "too few I/Os"


def _label(title: str, value: str) -> str:
    return f"{title:<8}{value:>{_LABELS - 9}}"


def _cell(height: float, ascii_only: bool) -> str:
    """A character of a column that reaches so many rows above the bottom of this one."""
    if ascii_only:
        return "#" if height >= 0.5 else "." if height > 0 else " "
    return _BLOCKS[max(0, min(8, round(8 * height)))]


def _scale(axis: LogAxis, columns: int, ascii_only: bool) -> Iterator[Text]:
    """The rule with its ticks, and below it as many labels as have room."""
    rule, labels = list(("-" if ascii_only else "─") * columns), [" "] * columns
    for seconds in axis.ticks():
        at, label = round(axis.place(seconds) * (columns - 1)), _tick(seconds)
        begin = max(0, min(at - len(label) // 2, columns - len(label)))
        if set(labels[max(0, begin - 1) : begin + len(label) + 1]) == {" "}:
            labels[begin : begin + len(label)] = label
            rule[at] = "+" if ascii_only else "┴"
    corner = "+" if ascii_only else "└"
    yield Text(f"{'':{_LABELS - 1}}{corner}{''.join(rule)}", "dim")
    yield Text(f"{'':{_LABELS}}{''.join(labels).rstrip()}", "dim")


def _tick(seconds: float) -> str:
    """``20 ms``: of a round value."""
    unit, scale = next((unit, scale) for unit, scale in _UNITS if seconds >= scale * 0.999)
    return f"{seconds / scale:.0f} {unit}"


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True, slots=True)
class _Beside:
    """Charts beside each other where there is room for it, else below each other."""

    charts: Sequence[LatencyChart]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if len(self.charts) < 2 or options.max_width not in _BESIDE:
            for chart in self.charts:
                yield chart
                yield Text()
            return
        grid = Table.grid(padding=(0, 2), expand=True)
        for _ in self.charts:
            grid.add_column(ratio=1)
        grid.add_row(*self.charts)
        yield grid
        yield Text()


def interval_bar(interval: ConfidenceInterval, width: int, *, ascii_only: bool = False) -> list[Text]:
    """The interval between what is required and no change, and below it the numbers.

    Two lines of ``width`` columns; the scale is logarithmic, as the interval is.
    """
    low, high, required, same = interval.low, interval.high, interval.required, interval.same
    least, most = min(low, required, 1 - same) * 0.97, max(high, required, 1 + same) * 1.03
    scale = (width - 1) / math.log(most / least)

    def column(ratio: float) -> int:
        return max(0, min(width - 1, round(math.log(ratio / least) * scale)))

    line, full, point, edge, middle = "-=o:|" if ascii_only else "─━●┊│"
    cells = list(line * width)
    for at in range(column(low), column(high) + 1):
        cells[at] = full
    cells[column(required)], cells[column(1.0)] = edge, middle
    cells[column(interval.ratio)] = point
    row = Text("".join(cells))
    row.stylize("dim")
    row.stylize(f"not dim {STYLES[interval.style]}", column(low), column(high) + 1)
    labels = {column(1.0): "0", column(required): interval.required_text}
    ticks = [" "] * (width + 8)
    for at, text in labels.items():
        start = max(0, min(width - len(text), at - len(text) // 2))
        if all(cell == " " for cell in ticks[max(0, start - 1) : start + len(text) + 1]):
            ticks[start : start + len(text)] = text
    return [row, Text("".join(ticks).rstrip(), style="dim")]
