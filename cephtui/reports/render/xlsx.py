"""A view as a workbook: numbers as numbers in base units, and native charts of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from itertools import zip_longest
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
from cephtui.reports.words.cutting import shorter

_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_ROWS_MOST = 1_048_576
"""Of a sheet, by the format."""
_WIDTH_LEAST, _WIDTH_MOST = 8, 60
"""Characters of a column."""
_NUMBERS: Mapping[str, str] = {
    "%": "+0.0%;-0.0%;0.0%",
    "IO/s": "#,##0",
    "B/s": "#,##0",
    "B": "#,##0",
    "s": "0.0#####",
    "fraction": "0.0%",
    "": "#,##0.0###",
}
"""Formats of numbers by the unit behind a heading, ``bandwidth [B/s]``."""
_UNIT = re.compile(r"\[([^]]*)\]$")
_CHART_ROWS = 30
"""Above so many rows a chart stands beside them, below which nobody would look for it."""
_KINDS: Mapping[str, Mapping[str, str]] = {
    "bar": {"type": "bar"},
    "dots": {"type": "scatter"},
    "lines": {"type": "scatter", "subtype": "straight"},
    "curve": {"type": "scatter", "subtype": "straight_with_markers"},
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
        self._wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        self._numbers = {unit: book.add_format({"num_format": form}) for unit, form in _NUMBERS.items()}

    def add(self, sheet: Sheet) -> None:
        """A sheet with its lead, its heading, a row for each of its own, and its charts below."""
        top = len(sheet.lead) + bool(sheet.lead)
        page = self._new(sheet.name, sheet.columns, top)
        for at, text in enumerate(sheet.lead):
            page.write_string(at, 0, printable(shorter(text)), self._bold if at < 2 else None)
        row, widths = top, [*map(_head_width, sheet.columns)]
        alike = [_Alike(chart) for chart in sheet.charts]
        for row, values in enumerate(sheet.rows, top + 1):
            if row == _ROWS_MOST - 1:
                page.write_string(row, 0, "more rows than a sheet has: export fewer runs, or csv")
                return
            for at, name in enumerate(sheet.columns):
                self._put(page, row, at, values.get(name), name)
                widths[at] = max(widths[at], _width(values.get(name)))
            for chart_rows in alike:
                chart_rows.see(row, values)
        _set_widths(page, widths)
        if sheet.is_filtered:
            page.autofilter(top, 0, row, len(sheet.columns) - 1)
        for chart_rows in alike:
            is_beside = row - top > _CHART_ROWS
            place = (top + 1, len(sheet.columns) + 1) if is_beside else (row + 2, 0)
            self._draw(page, sheet, chart_rows, place)

    def add_text(self, content: Document) -> None:
        """Add a sheet of what the document says besides its figures, section by section."""
        page = self._new("conditions" if content.sections else "text", ("section", *[""] * (_TEXT_COLUMNS - 1)))
        lead = [] if content.sections else [("", content.lead)]
        sections = [(section.title, section.blocks) for section in content.sections if not section.is_data]
        lines = ((title, *cells) for title, blocks in [*lead, *sections] for block in blocks for cells in _cells(block))
        widths = [_WIDTH_LEAST] * _TEXT_COLUMNS
        for row, line in enumerate(lines, 1):
            for at, cell in enumerate(line):
                self._put(page, row, at, cell)
            in_columns = line[:_TEXT_COLUMNS] if len(line) > 2 else line[:1]  # a text alone runs on over empty cells
            widths = [max(pair) for pair in zip_longest(widths, map(_width, in_columns), fillvalue=0)]
        _set_widths(page, widths)

    def _new(self, name: str, columns: Sequence[str], top: int = 0) -> Any:
        """A sheet whose heading stays where it is; ``top`` rows are above it."""
        page = self._book.add_worksheet(name)
        for at, column in enumerate(columns):
            page.write_string(top, at, printable(column), self._head)
        page.freeze_panes(top + 1, 0)
        return page

    def _put(self, page: Any, row: int, at: int, value: object, heading: str = "") -> None:
        """Numbers as numbers in the form of their unit, everything else as text and never as a formula."""
        if isinstance(value, bool):
            page.write_boolean(row, at, value)
        elif isinstance(value, int | float):
            unit = _unit(heading)
            is_count = isinstance(value, int) and not unit
            page.write_number(row, at, value, None if is_count else self._numbers.get(unit))
        elif isinstance(value, datetime):
            page.write_datetime(row, at, _naive(value), self._date)
        elif value is not None and value != "":
            text = printable(shorter(str(value)))
            page.write_string(row, at, text, self._wrapped if at and len(text) > _WIDTH_MOST else None)

    def _draw(self, page: Any, sheet: Sheet, alike: _Alike, place: tuple[int, int]) -> None:
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
        chart.set_title({"name": sheet_chart.title, "name_font": {"size": 12}})
        number_format = _NUMBERS.get(_unit(sheet_chart.y), "General")
        if sheet_chart.kind == "bar":
            chart.set_x_axis({"num_format": number_format, "name": sheet_chart.y})
            chart.set_y_axis({"reverse": True, "label_position": "low"})
        else:
            chart.set_x_axis({"name": sheet_chart.x[0]})
            chart.set_y_axis({"num_format": number_format, "name": sheet_chart.y})
        chart.set_legend({"none": True} if len(named) == 1 else {"position": "bottom"})
        page.insert_chart(*place, chart, {"x_scale": 1.6})


def _unit(heading: str) -> str:
    """``B/s`` of ``bandwidth [B/s]``; empty without one."""
    unit = _UNIT.search(heading)
    return unit[1] if unit else ""


def _head_width(heading: str) -> int:
    """A heading is wrapped between its words."""
    return max(map(len, heading.split()), default=0)


def _width(value: object) -> int:
    """Characters that a value takes."""
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, int | float):
        return min(14, len(f"{value:,.0f}") + 3)
    return len("2026-11-21 18:03:30") if isinstance(value, datetime) else len(str(value))


def _set_widths(page: Any, widths: Sequence[int]) -> None:
    for at, width in enumerate(widths):
        page.set_column(at, at, min(_WIDTH_MOST, max(_WIDTH_LEAST, width + 2)))


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
            return [(plain_text(block.caption), block.text)]
        case NextStep():
            return [(block.caption, block.command)]
    return []
