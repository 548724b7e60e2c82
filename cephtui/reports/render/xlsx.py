"""A view as a workbook: numbers as numbers in base units, and native charts of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_range_abs

from cephtui.printable import printable
from cephtui.reports.blocks import (
    Block,
    Code,
    Document,
    Facts,
    Histograms,
    Items,
    NextStep,
    Table,
    Text,
    View,
    plain_text,
    sheets_of,
)
from cephtui.reports.sheets import Sheet, SheetChart
from cephtui.reports.words.text import shorter

_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_ROWS_MOST = 1_048_576
"""Of a sheet, by the format."""
_WIDTH_MOST = 60
_PERCENT = "+0.0%;-0.0%;0.0%"
_KINDS: Mapping[str, Mapping[str, str]] = {
    "bar": {"type": "bar"},
    "dots": {"type": "scatter"},
    "lines": {"type": "scatter", "subtype": "straight"},
}
_TEXT_COLUMNS = 5


def xlsx_of(view: View) -> bytes:
    """The file: a sheet for each of the view's, and one with what else it says. Raises StoreError."""
    file = BytesIO()
    content = view.document()
    with xlsxwriter.Workbook(file, _OPTIONS) as book:
        properties: dict[str, object] = {"title": printable(content.title)}
        if content.made_at:
            properties["created"] = _naive(content.made_at)
        book.set_properties(properties)
        writing = _Writing(book)
        for sheet in sheets_of(view):
            writing.add(sheet)
        writing.add_text(content)
    return file.getvalue()


def _naive(moment: datetime) -> datetime:
    """A workbook knows no time zones: all of it is UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None)


class _Writing:
    """A workbook with the formats of its cells."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._bold = book.add_format({"bold": True})
        self._head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self._date = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._percent = book.add_format({"num_format": _PERCENT})

    def add(self, sheet: Sheet) -> None:
        """A sheet with its lead, its heading, a row for each of its own, and its charts below."""
        top = len(sheet.lead) + bool(sheet.lead)
        page = self._new(sheet.name, sheet.columns, top)
        for at, text in enumerate(sheet.lead):
            page.write_string(at, 0, printable(shorter(text)), self._bold if at < 2 else None)
        row = top
        alike = [_Alike(chart) for chart in sheet.charts]
        for row, values in enumerate(sheet.rows, top + 1):
            if row == _ROWS_MOST - 1:
                page.write_string(row, 0, "more rows than a sheet has: export fewer runs, or csv")
                return
            for at, name in enumerate(sheet.columns):
                self._put(page, row, at, values.get(name), is_percent=name.endswith("[%]"))
            for chart_rows in alike:
                chart_rows.see(row, values)
        if sheet.is_filtered:
            page.autofilter(top, 0, row, len(sheet.columns) - 1)
        for chart_rows in alike:
            self._draw(page, sheet, chart_rows, row + 2)

    def add_text(self, content: Document) -> None:
        """Add a sheet of what the document says besides its figures, section by section."""
        page = self._new("conditions" if content.sections else "text", ("section", *[""] * (_TEXT_COLUMNS - 1)))
        lead = [] if content.sections else [("", content.lead)]
        sections = [(section.title, section.blocks) for section in content.sections if not section.is_data]
        lines = ((title, *cells) for title, blocks in [*lead, *sections] for block in blocks for cells in _cells(block))
        for row, line in enumerate(lines, 1):
            for at, cell in enumerate(line):
                self._put(page, row, at, cell)

    def _new(self, name: str, columns: Sequence[str], top: int = 0) -> Any:
        """A sheet whose heading stays where it is; ``top`` rows are above it."""
        page = self._book.add_worksheet(name)
        for at, column in enumerate(columns):
            page.write_string(top, at, printable(column), self._head)
            page.set_column(at, at, min(_WIDTH_MOST, max(10, len(column) + 2)))
        page.freeze_panes(top + 1, 0)
        return page

    def _put(self, page: Any, row: int, at: int, value: object, *, is_percent: bool = False) -> None:
        """Numbers as numbers, everything else as text and never as a formula."""
        if isinstance(value, bool):
            page.write_boolean(row, at, value)
        elif isinstance(value, int | float):
            page.write_number(row, at, value, self._percent if is_percent else None)
        elif isinstance(value, datetime):
            page.write_datetime(row, at, _naive(value), self._date)
        elif value is not None and value != "":
            page.write_string(row, at, printable(shorter(str(value))))

    def _draw(self, page: Any, sheet: Sheet, alike: _Alike, below: int) -> None:
        """A native chart of the rows that are alike; none without such."""
        sheet_chart = alike.chart
        named = list(alike.together())[: sheet_chart.series_most]
        if not named:
            return
        chart = self._book.add_chart(_KINDS[sheet_chart.kind])

        def column(name: str, rows: tuple[int, int], last: str = "") -> list[object]:
            at = sheet.columns.index
            return [sheet.name, rows[0], at(name), rows[1], at(last or name)]

        for name, rows in named:
            series: dict[str, object] = {
                "name": printable(shorter(name or sheet_chart.title)),
                "categories": column(sheet_chart.x[0], rows, sheet_chart.x[-1]),
                "values": column(sheet_chart.y, rows),
            }
            if sheet_chart.kind == "dots":
                series["marker"] = {"type": "circle", "size": 7}
            if sheet_chart.ends:
                ends = dict(zip(("plus_values", "minus_values"), sheet_chart.ends, strict=True))
                reached = {side: _reference(column(name, rows)) for side, name in ends.items()}
                series["y_error_bars"] = {"type": "custom", **reached}
            chart.add_series(series)
        chart.set_title({"name": sheet_chart.title})
        if sheet_chart.kind == "bar":
            chart.set_x_axis({"num_format": "0%"})
            chart.set_y_axis({"reverse": True, "label_position": "low"})
            chart.set_legend({"none": True})
        else:
            chart.set_x_axis({"name": sheet_chart.x[0]})
        beside = sheet_chart.kind == "lines"
        page.insert_chart(1 if beside else below, len(sheet.columns) + 1 if beside else 0, chart, {"x_scale": 1.6})


class _Alike:
    """The rows of a chart's series, as they are written."""

    def __init__(self, chart: SheetChart) -> None:
        self.chart = chart
        self.rows: dict[str, list[int]] = {}

    def see(self, row: int, values: Mapping[str, object]) -> None:
        name = " ".join(str(values[column]) for column in self.chart.by if values.get(column))
        self.rows.setdefault(name, []).append(row)

    def together(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The first and the last row of those that stand below each other."""
        for name, rows in self.rows.items():
            if rows[-1] - rows[0] == len(rows) - 1:
                yield name, (rows[0], rows[-1])


def _reference(column: Sequence[Any]) -> str:
    name, *cells = column
    return f"={name}!{xl_range_abs(*cells)}"


def _cells(block: Block) -> list[Sequence[str]]:
    """A line of text in one cell, a row of a table in several."""
    match block:
        case Text():
            return [(plain_text(block.text),)]
        case Items():
            return [(plain_text(item),) for item in block.items]
        case Facts():
            return [(name, plain_text(fact)) for name, fact in block.facts]
        case Table():
            table = block.with_notes_in_cells()
            return [table.titles, *table.texts]
        case Histograms():
            return _cells(block.table)
        case Code():
            return [(block.caption, block.text)]
        case NextStep():
            return [(block.caption, block.command)]
    return []
