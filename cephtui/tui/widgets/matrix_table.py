"""The table of a matrix: its cells with the cursor on one of them, the steps always in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import DataTable

from cephtui.analysis.views.matrix import Matrix
from cephtui.reports.render.rich import styled
from cephtui.reports.render.tables import plain
from cephtui.reports.views.matrix import (
    ROOMS,
    Room,
    cell_words,
    column_titles,
    figure_title,
    place_text,
    row_titles,
)
from cephtui.tui.keys import key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.fitted import show_rows_in

_PADDING = 2
"""Blank columns that the table puts around a cell."""
_STEP_LEAST = 20


class MatrixTable(DataTable[Text]):
    """A row for each step, a column for each place; the cursor goes to cells only."""

    BINDINGS = [
        key("down,j", "cursor_down", "down", "the step below"),
        key("up,k", "cursor_up", "up", "the step above"),
        key("left", "cursor_left", "left", "the place to the left"),
        key("right", "cursor_right", "right", "the place to the right"),
        key("enter", "select_cursor", "runs", "the runs of the cell, each with its figures", shown=True),
    ]
    DEFAULT_CSS = """
    MatrixTable { height: auto; max-height: 60%; scrollbar-size: 1 1; }
    MatrixTable > .datatable--fixed { background: $panel; color: $foreground; }
    """

    @dataclass
    class Reached(Message):
        """The cursor is on a cell."""

        row: int
        column: int

    class Opened(Reached):
        """The runs of a cell are to be shown."""

    def __init__(self) -> None:
        super().__init__(id="matrix", cursor_type="cell", zebra_stripes=True)
        self._matrix: Matrix | None = None
        self._fixed = 1
        """Columns before the cells."""

    def show(self, matrix: Matrix) -> None:
        """Draw a matrix; the cursor stays on its cell, and goes to the one that is measured at first."""
        here = self.chosen if self.row_count else None
        before, self._matrix = self.scroll_offset, matrix
        titles, rows = self._laid_out(matrix)
        widths = [max(text.cell_len for text in column) for column in zip(titles, *rows, strict=True)]
        widths[0] = min(widths[0], max(_STEP_LEAST, self._room() // 3))
        for cells in rows:
            cells[0].truncate(widths[0], overflow="ellipsis")
        show_rows_in(self, widths, titles, {str(number): cells for number, cells in enumerate(rows)})
        self.fixed_columns = self._fixed
        row, column = here if here else self._first(matrix)
        self.move_cursor(row=row, column=column + self._fixed, scroll=here is None)
        if here:
            self.scroll_to(*before, animate=False)

    @property
    def chosen(self) -> tuple[int, int]:
        """The row and the column of the cell under the cursor."""
        row, column = self.cursor_coordinate
        return row, max(0, column - self._fixed)

    def _first(self, matrix: Matrix) -> tuple[int, int]:
        running = matrix.running
        return (matrix.rows.index(running[0]), matrix.columns.index(running[1])) if running else (0, 0)

    def _room(self) -> int:
        return self.size.width or self.app.size.width

    def _laid_out(self, matrix: Matrix) -> tuple[list[Text], list[list[Text]]]:
        """The titles and the rows: as much of them as has room, else the least, which are scrolled."""
        for room in ROOMS:
            titles, rows = self._texts(matrix, room)
            widths = [max(text.cell_len for text in column) + _PADDING for column in zip(titles, *rows, strict=True)]
            self._fixed = len(titles) - len(matrix.columns)
            if sum(widths) + self.styles.scrollbar_size_vertical <= self._room():
                break
        return titles, rows

    def _texts(self, matrix: Matrix, room: Room) -> tuple[list[Text], list[list[Text]]]:
        plain_only = profile_of(self).ascii_only
        columns: dict[str, Sequence[str]] = {"step": row_titles(matrix)}
        if room == "wide" and any(places := [place_text(row) for row in matrix.rows]):
            columns["where"] = places
        if room == "wide":
            columns["figure"] = [figure_title(row.metric) for row in matrix.rows]
        titles = [plain(title) for title in (*columns, *column_titles(matrix))]
        heads = zip(*columns.values(), strict=True)
        return titles, [
            [*map(plain, head), *(styled(cell_words(row, cell, room), ascii_only=plain_only) for cell in row.cells)]
            for head, row in zip(heads, matrix.rows, strict=True)
        ]

    def on_resize(self) -> None:
        if self._matrix:
            self.show(self._matrix)

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        """Keep the cursor on cells, off the steps."""
        row, column = super().validate_cursor_coordinate(value)
        return Coordinate(row, max(column, min(self._fixed, len(self.ordered_columns) - 1)))

    def on_data_table_cell_highlighted(self, event: DataTable.CellHighlighted) -> None:
        event.stop()
        self.post_message(self.Reached(*self.chosen))

    def on_data_table_cell_selected(self, event: DataTable.CellSelected) -> None:
        event.stop()
        self.post_message(self.Opened(*self.chosen))
