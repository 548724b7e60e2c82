"""How the I/Os of a run are spread over their latencies, or its seconds over a figure: a bar in each row of an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise

from rich.text import Text

from cephtui import units
from cephtui.analysis.runs.ladder import axis_of, shares
from cephtui.frozen import dataclass
from cephtui.models.metrics import Metric
from cephtui.reports.ticks import trimmed
from cephtui.stats import Buckets, add_buckets, supported_percentile
from cephtui.tui.charts.axes import gutter_of
from cephtui.tui.charts.colors import HEAT_LINE_COLORS, flow_color
from cephtui.tui.charts.ink import Ink
from cephtui.tui.charts.scales import Scale, logarithmic

_PERCENTS = dict(zip((50.0, 99.0, 99.9), (*HEAT_LINE_COLORS, HEAT_LINE_COLORS[-1]), strict=True))
"""Percentiles that are named at their rows, in the colours that they have in the heat map."""
_LEAST_PERCENT = 0.995
"""Of a smaller share the number of I/Os says more."""
_LEAST_ROWS, _LEAST_COLUMNS = 2, 12
"""Of a drawing, and of the longest text behind the shortest bar."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of one part: its share of all, what stands behind its bar, and which percentiles are in it."""

    share: float
    text: str
    percents: tuple[float, ...] = ()


def draw_latencies(flows: Mapping[str, Buckets], width: int, rows: int, ink: Ink) -> Text:
    """The share of each flow's I/Os by latency, slow ones at the top, in at most so many rows and columns.

    Several flows stand beside each other below their names, on one axis.
    """
    flows = {name: buckets for name, buckets in flows.items() if buckets}
    heading = len(flows) > 1
    rows -= heading
    if not flows or rows < _LEAST_ROWS:
        return Text()
    axis = axis_of(add_buckets(flows.values()))
    scale = logarithmic((axis.first, axis.last), units.latency, rows)
    edges = [10 ** (scale.low + (scale.high - scale.low) * part / rows) for part in range(rows + 1)]
    parts = {name: _latency_rows(buckets, edges, named=not heading) for name, buckets in flows.items()}
    return _drawn(scale, parts, width, rows, ink, heading=heading)


def draw_seconds(values: Sequence[float], flow: str, metric: Metric, width: int, rows: int, ink: Ink) -> Text:
    """The share of a run's seconds by their figure, the greatest at the top, in at most so many rows and columns."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low == high or rows < _LEAST_ROWS:
        return Text()
    ticks = {value: trimmed(metric.as_text(value)) for value in (low, (low + high) / 2, high)}
    counts = [0] * rows
    for value in values:
        counts[min(rows - 1, int((value - low) / (high - low) * rows))] += 1
    parts = {flow: [_Row(number / len(values), f"{100 * number / len(values):.0f} %") for number in counts]}
    return _drawn(Scale(low, high, tuple(ticks.items())), parts, width, rows, ink, heading=False)


def _latency_rows(buckets: Buckets, edges: Sequence[float], *, named: bool) -> list[_Row]:
    """A row between each two edges, the fastest first; with the names of percentiles where ``named``."""
    count, parts = sum(buckets.values()), shares(buckets, edges)
    until = [0, *(round(count * part) for part in accumulate(parts))]
    known = {percent: supported_percentile(buckets, percent) for percent in _PERCENTS if named}
    at = {percent: _between(edges, seconds) for percent, seconds in known.items() if seconds}
    rows = []
    for number, (share, ios) in enumerate(zip(parts, (last - first for first, last in pairwise(until)), strict=True)):
        text = f"{100 * share:.0f} %" if 100 * share >= _LEAST_PERCENT else _ios(ios)
        rows.append(_Row(share if ios else 0.0, text, tuple(percent for percent, row in at.items() if row == number)))
    return rows


def _ios(number: int) -> str:
    return "1 I/O" if number == 1 else f"{units.iops(number)} I/Os"


def _between(edges: Sequence[float], seconds: float) -> int:
    """The number of the row that a latency is in."""
    return max(0, min(len(edges) - 2, sum(edge <= seconds for edge in edges) - 1))


def _drawn(
    scale: Scale, parts: Mapping[str, Sequence[_Row]], width: int, rows: int, ink: Ink, *, heading: bool
) -> Text:
    """The axis, and right of it the bars of each part."""
    labels = _labels(scale, rows)
    gutter = max(map(len, labels.values()), default=0) + 1
    columns = (width - gutter) // len(parts)
    if columns < _LEAST_COLUMNS:
        return Text()
    lines = [Text(" " * gutter).append_text(_names(parts, columns))] if heading else []
    bars = [_bars(flow, column, columns, ink) for flow, column in parts.items()]
    for row in range(rows):
        axis = Text(gutter_of(labels.get(row), gutter, ink.glyphs), ink.axis)
        lines.append(Text.assemble(axis, *(bar(rows - 1 - row) for bar in bars)))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _names(parts: Mapping[str, object], columns: int) -> Text:
    return Text.assemble(*((f"{name:{columns}}", flow_color(name)) for name in parts))


def _labels(scale: Scale, rows: int) -> dict[int, str]:
    """The label of each row in which a round value is; that of the upper end stands in the top row, if that is free."""
    rows_of = {label: math.ceil(round((1 - scale.fraction(value)) * rows, 6)) - 1 for value, label in scale.ticks}
    in_order = sorted(rows_of.items(), key=lambda labelled: labelled[1])
    return {max(0, row): label for label, row in in_order}


def _bars(flow: str, rows: Sequence[_Row], columns: int, ink: Ink) -> Callable[[int], Text]:
    """What draws the bar of a row with the text behind it: the longest that leave room for every text."""
    texts = [_text(row, columns - 1) for row in rows]
    most = max(row.share for row in rows)
    rooms = ((columns - len(text) - 1) * most / row.share for row, text in zip(rows, texts, strict=True) if row.share)
    room, style = max(0.0, min(rooms)), ink.area(flow_color(flow))[-1]

    def bar(number: int) -> Text:
        row, text = rows[number], texts[number]
        if not row.share:
            return Text(" " * columns)
        drawn = Text.assemble((_bar(room * row.share / most, ink), style), text)
        return drawn.append(" " * (columns - len(drawn)))

    return bar


def _text(row: _Row, columns: int) -> Text:
    """What stands behind a bar, with the names of percentiles in their colours if there is room."""
    names = [(f" p{percent:g}", f"bold {_PERCENTS[percent]}") for percent in row.percents]
    whole = Text.assemble(f" {row.text}", *names)
    return whole if len(whole) < columns else Text(f" {row.text}")


def _bar(length: float, ink: Ink) -> str:
    """Whole and half columns; what is less than a half is seen too."""
    whole, part = divmod(max(0.5, round(2 * length) / 2), 1.0)
    if ink.ascii_only:
        return "#" * max(1, int(whole))
    return "█" * int(whole) + "▌" * (part >= 0.5)
