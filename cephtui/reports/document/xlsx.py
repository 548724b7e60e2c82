"""A document as a workbook: numbers as numbers in SI units, and native charts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_range_abs

from cephtui.analysis.batches import name_of
from cephtui.models import Total
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME, LIVE, METRICS, Metric
from cephtui.models.verdict import Verdict
from cephtui.printable import printable
from cephtui.reports.document.blocks import Document, Items, Table, Text
from cephtui.reports.document.content import document_of
from cephtui.reports.document.csv_figures import head_of
from cephtui.reports.document.material import Material
from cephtui.reports.expectation import SECONDS, runs_of
from cephtui.reports.text import shorter
from cephtui.reports.verdict import left_out_lines

_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_ROWS_MOST = 1_048_576
"""Of a sheet, by the format."""
_WIDTH_MOST = 60
_LINES_MOST = 12
"""Runs that have a line in the chart of the seconds."""
_PERCENT = "+0.0%;-0.0%;0.0%"
_RUN_END = ("outcome", "quality", "findings", "imported from", "heading", "options")
_RUN = {
    "preset": "preset",
    "target": "target",
    "nodes": "nodes",
    "block [B]": "block_bytes",
    "pattern": "pattern",
    "depth": "depth",
    "jobs": "jobs",
    "runtime [s]": "runtime_seconds",
}
"""By heading the fields of a run's conditions."""
_FIRST_FIGURE = 3 + len(_RUN) + 2
"""The column of the first figure of a run: behind its place, name, side, conditions, start and direction."""


def xlsx_of(material: Material, *, seconds: bool = False) -> bytes:
    """The file; with ``seconds`` a sheet of every second of its runs. Raises StoreError."""
    file = BytesIO()
    with xlsxwriter.Workbook(file, _OPTIONS) as book:
        content = document_of(material)
        book.set_properties({"title": printable(content.title), "created": _naive(material.made_at)})
        sheets = _Sheets(book)
        _verdict(sheets, material, content)
        _expected(sheets, material)
        _runs(sheets, material)
        if seconds:
            _seconds(sheets, material)
        _conditions(sheets, content)
    return file.getvalue()


class _Sheets:
    """A workbook with the formats of its cells."""

    def __init__(self, book: Any) -> None:
        self.book = book
        self.bold = book.add_format({"bold": True})
        self._head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self._date = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._percent = book.add_format({"num_format": _PERCENT})

    def add(self, name: str, columns: Sequence[str], top: int = 0) -> Any:
        """A sheet whose heading stays where it is; ``top`` rows are above it."""
        sheet = self.book.add_worksheet(name)
        for at, column in enumerate(columns):
            sheet.write_string(top, at, printable(column), self._head)
            sheet.set_column(at, at, min(_WIDTH_MOST, max(10, len(column) + 2)))
        sheet.freeze_panes(top + 1, 0)
        return sheet

    def put(self, sheet: Any, row: int, values: Iterable[object], percents: Iterable[int] = ()) -> None:
        """A row: numbers as numbers, everything else as text and never as a formula."""
        shares = set(percents)
        for at, value in enumerate(values):
            if isinstance(value, bool):
                sheet.write_boolean(row, at, value)
            elif isinstance(value, int | float):
                sheet.write_number(row, at, value, *[self._percent] * (at in shares))
            elif isinstance(value, datetime):
                sheet.write_datetime(row, at, _naive(value), self._date)
            elif value is not None and value != "":
                sheet.write_string(row, at, printable(shorter(str(value))))


def _naive(moment: datetime) -> datetime:
    """A workbook knows no time zones: all of it is UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _verdict(sheets: _Sheets, material: Material, content: Document) -> None:
    """The answer in words, and below it a row for each figure."""
    lead = [content.heading, *(block.text for block in content.lead if isinstance(block, Text))]
    verdicts = material.judged.verdicts if material.judged else ()
    rows = [_row_of(verdict, material.sides) for verdict in verdicts]
    top = len(lead) + 1
    sheet = sheets.add("verdict", list(rows[0]) if rows else (), top)
    for at, text in enumerate(lead):
        sheet.write_string(at, 0, printable(shorter(text)), *[sheets.bold] * (at < 2))
    for at, row in enumerate(rows, top + 1):
        sheets.put(sheet, at, row.values(), percents=[n for n, name in enumerate(row) if name.endswith("[%]")])
    if rows:
        _chart_of_changes(sheets, sheet, list(rows[0]), top + 1, top + len(rows))


def _row_of(verdict: Verdict, sides: tuple[str, str]) -> dict[str, object]:
    """By heading; the last two are how far the interval reaches, for the chart."""
    ratio, (low, high) = verdict.ratio, verdict.interval or (None, None)
    before, after = sides
    return {
        "preset": verdict.preset,
        "direction": verdict.direction,
        "figure": verdict.figure,
        "unit": BY_NAME[verdict.figure].unit,
        before: verdict.left,
        after: verdict.right,
        "change [%]": None if ratio is None else ratio - 1,
        "interval low [%]": None if low is None else low - 1,
        "interval high [%]": None if high is None else high - 1,
        "confidence": verdict.confidence,
        f"runs {before}": len(verdict.before),
        f"runs {after}": len(verdict.after),
        "required [%]": verdict.require_percent / 100,
        "verdict": verdict.word,
        "differs": verdict.differs,
        "met": verdict.met,
        "decides": verdict.decides,
        "reaches up [%]": None if ratio is None or high is None else high - ratio,
        "reaches down [%]": None if ratio is None or low is None else ratio - low,
    }


def _chart_of_changes(sheets: _Sheets, sheet: Any, columns: Sequence[str], first: int, last: int) -> None:
    """A bar for each figure, with its interval."""
    chart = sheets.book.add_chart({"type": "bar"})

    def column(name: str) -> list[object]:
        return ["verdict", first, columns.index(name), last, columns.index(name)]

    ends = {"plus_values": column("reaches up [%]"), "minus_values": column("reaches down [%]")}
    chart.add_series({
        "name": "change",
        "categories": ["verdict", first, 0, last, 2],
        "values": column("change [%]"),
        "y_error_bars": {"type": "custom", **{name: _reference(cells) for name, cells in ends.items()}},
    })  # fmt: skip
    chart.set_title({"name": "Change with its interval"})
    chart.set_x_axis({"num_format": "0%"})
    chart.set_y_axis({"reverse": True, "label_position": "low"})
    chart.set_legend({"none": True})
    sheet.insert_chart(last + 2, 0, chart, {"x_scale": 1.6})


def _reference(column: Sequence[Any]) -> str:
    name, *cells = column
    return f"={name}!{xl_range_abs(*cells)}"


def _expected(sheets: _Sheets, material: Material) -> None:
    """A row for each figure that was expected; no sheet without any."""
    rows = [_row_of_expected(each) for each in material.expected]
    if not rows:
        return
    sheet = sheets.add("expected", list(rows[0]))
    for at, row in enumerate(rows, 1):
        sheets.put(sheet, at, row.values())


def _row_of_expected(found: Expected) -> dict[str, object]:
    """By heading; figures are in the unit of their row."""
    low, high = found.interval or (None, None)
    reached = found.seconds_reached / found.seconds if found.seconds and found.seconds_reached is not None else None
    return {
        "step": found.step,
        "target": found.target,
        "runs": ", ".join(runs_of(found)),
        "direction": found.direction,
        "figure": found.figure,
        "unit": BY_NAME[found.figure].unit,
        "expected": found.promised,
        "measured": found.measured,
        "interval low": low,
        "interval high": high,
        f"share of {SECONDS}": reached,
        "word": found.word,
        "answer": found.answer,
        "given before": found.given,
        "left out": "; ".join(left_out_lines(found.left_out)),
        "limited by": "; ".join(left_out_lines(found.limited)),
    }


def _runs(sheets: _Sheets, material: Material) -> None:
    """A row for each direction of each run."""
    figures = [f"{metric.full_title} [{metric.unit}]" for metric in METRICS]
    in_time = "place in time" if all(run.is_dated for run in material.runs) else "place"
    columns = (in_time, "run", "side", *_RUN, "started [UTC]", "direction", *figures, *_RUN_END)
    sheet = sheets.add("runs", columns)
    row, rows = 1, dict[str, list[int]]()
    for place, run in enumerate(material.runs, 1):
        head = head_of(material, run)
        flows: Mapping[str, Total | None] = run.summary.flows or {"": None}
        for direction, total in flows.items():
            values = (direction, *(metric.of(total) for metric in METRICS))
            end = tuple(head[name] for name in ("outcome", "quality", "text", "imported_from", "heading", "options"))
            conditions = (*(head.get(field) for field in _RUN.values()), run.started_at if run.is_dated else None)
            sheets.put(sheet, row, (place, name_of(run), head["side"], *conditions, *values, *end))
            rows.setdefault(f"{run.preset} {direction} {head['side']}".strip(), []).append(row)
            row += 1
    sheet.autofilter(0, 0, row - 1, len(columns) - 1)
    _chart_of_runs(sheets, sheet, rows, in_time, material.headline(material.runs[0]), row + 1)


def _chart_of_runs(
    sheets: _Sheets, sheet: Any, rows: Mapping[str, Sequence[int]], place: str, metric: Metric, below: int
) -> None:
    """Each run a dot: of those that stand together, a colour for each side."""
    chart = sheets.book.add_chart({"type": "scatter"})
    at = _FIRST_FIGURE + METRICS.index(metric)
    together = {name: found for name, found in rows.items() if found[-1] - found[0] == len(found) - 1}
    for name, (first, *_, last) in ((name, (found[0], *found)) for name, found in together.items()):
        chart.add_series({
            "name": printable(shorter(name)),
            "categories": ["runs", first, 0, last, 0],
            "values": ["runs", first, at, last, at],
            "marker": {"type": "circle", "size": 7},
        })  # fmt: skip
    if together:
        chart.set_title({"name": f"{metric.full_title} [{metric.unit}] of each run"})
        chart.set_x_axis({"name": place})
        sheet.insert_chart(below, 0, chart, {"x_scale": 1.6})


def _seconds(sheets: _Sheets, material: Material) -> None:
    """A row for each direction of each second; as many as a sheet takes."""
    sheet = sheets.add("seconds", ("run", "side", "elapsed [s]", "phase", "direction",
                                   *(f"{metric.full_title} [{metric.unit}]" for metric in LIVE)))  # fmt: skip
    row, ranges = 1, dict[str, tuple[int, int]]()
    for run in material.runs:
        for sample in material.seconds(name_of(run)):
            for direction, interval in sample.flows.items() if sample.phase != "prepare" else ():
                if row == _ROWS_MOST - 1:
                    sheets.put(sheet, row, ("more seconds than a sheet has rows: export fewer runs, or csv",))
                    return
                figures = (metric.of(interval) for metric in LIVE)
                head = (name_of(run), material.side_of(run), sample.elapsed_seconds, sample.phase, direction)
                sheets.put(sheet, row, (*head, *figures))
                ranges[name_of(run)] = ranges.get(name_of(run), (row, row))[0], row
                row += 1
    _chart_of_seconds(sheets, sheet, ranges, LIVE.index(BY_NAME["iops"]) + 5)


def _chart_of_seconds(sheets: _Sheets, sheet: Any, ranges: Mapping[str, tuple[int, int]], at: int) -> None:
    chart = sheets.book.add_chart({"type": "scatter", "subtype": "straight"})
    for name, (first, last) in list(ranges.items())[:_LINES_MOST]:
        chart.add_series({
            "name": printable(name),
            "categories": ["seconds", first, 2, last, 2],
            "values": ["seconds", first, at, last, at],
        })  # fmt: skip
    if ranges:
        chart.set_title({"name": "IOPS in each second"})
        chart.set_x_axis({"name": "elapsed [s]"})
        sheet.insert_chart(1, 5 + len(LIVE) + 1, chart, {"x_scale": 1.6, "y_scale": 1.3})


def _conditions(sheets: _Sheets, content: Document) -> None:
    """What the document says besides its figures, section by section."""
    sheet = sheets.add("conditions", ("section", "", "", "", ""))
    row = 1
    for section in content.sections:
        for block in section.blocks:
            for cells in _cells(block) if section.title not in ("What was expected", "Figures", "Each run") else ():
                sheets.put(sheet, row, (section.title, *cells))
                row += 1


def _cells(block: object) -> list[Sequence[str]]:
    """A line of text in one cell, a row of a table in several."""
    if isinstance(block, Text):
        return [(block.text,)]
    if isinstance(block, Items):
        return [(item,) for item in block.items]
    if isinstance(block, Table):
        return [block.columns, *block.rows]
    return []
