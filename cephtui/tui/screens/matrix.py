"""A session as one table that fills while it is measured: steps over targets and nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import DataTable, Static

from cephtui import paths
from cephtui.analysis.runs.links import links_of
from cephtui.analysis.views.matrix import Matrix
from cephtui.models import Run
from cephtui.models.metrics import Metric
from cephtui.presets import find_presets, headline_metric
from cephtui.reports.blocks import Block, Items, together
from cephtui.reports.blocks import Text as TextBlock
from cephtui.reports.drawn.sparks import share_bar
from cephtui.reports.masking.mask import Names, names_in, names_of_hosts, names_of_target
from cephtui.reports.render.rich import draw, styled
from cephtui.reports.render.tables import plain
from cephtui.reports.styles import STYLES
from cephtui.reports.views.links import links_blocks, links_view
from cephtui.reports.views.matrix import (
    NO_RUNS,
    ROOMS,
    CellTexts,
    Room,
    cell_lines,
    column_titles,
    figure_title,
    legend,
    matrix_view,
    place_text,
    progress_text,
    remarks,
    row_texts,
    row_titles,
    runs_heading,
)
from cephtui.sessions import store
from cephtui.sessions.matrix import MatrixReader
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.ink import Ink, ink_of
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, snippet_of
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.fitted import show_rows_in
from cephtui.tui.widgets.saved_run import SavedRun
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.title_bar import TitleBar

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
        key("enter", "select_cursor", "runs", "the runs of the cell, with their figures", shown=True),
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
        super().__init__(id="matrix", cursor_type="cell", header_height=2, cursor_background_priority="css")
        self._matrix: Matrix | None = None
        self._fixed = 1
        """Columns before the cells."""

    def show(self, matrix: Matrix) -> None:
        """Draw a matrix; the cursor stays on its cell, and goes to the one that is measured at first."""
        here = self.chosen if self.row_count else None
        before, self._matrix = self.scroll_offset, matrix
        titles, rows = self._laid_out(matrix)
        widths = [max(map(_width, column)) for column in zip(titles, *rows, strict=True)]
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
        """The cell that is measured, else the first that is not empty."""
        if running := matrix.running:
            return matrix.rows.index(running[0]), matrix.columns.index(running[1])
        return 0, next((column for column, cell in enumerate(matrix.rows[0].cells) if cell), 0)

    def _room(self) -> int:
        return self.size.width or self.app.size.width

    def _laid_out(self, matrix: Matrix) -> tuple[list[Text], list[list[Text]]]:
        """The titles and the rows: as much of them as has room, else the least, which are scrolled."""
        for room in ROOMS:
            titles, rows = self._texts(matrix, room)
            widths = [max(map(_width, column)) + _PADDING for column in zip(titles, *rows, strict=True)]
            self._fixed = len(titles) - len(matrix.columns)
            if sum(widths) + self.styles.scrollbar_size_vertical <= self._room():
                break
        return titles, rows

    def _texts(self, matrix: Matrix, room: Room) -> tuple[list[Text], list[list[Text]]]:
        columns: dict[str, Sequence[str]] = {"step": row_titles(matrix)}
        if room == "wide" and any(places := [place_text(row) for row in matrix.rows]):
            columns["where"] = places
        if room == "wide":
            columns["figure"] = [figure_title(row.metric) for row in matrix.rows]
        titles = [plain(title) for title in columns]
        drawn = [list(map(plain, texts)) for texts in columns.values()]
        places_of_rows = zip(*(row_texts(row, room) for row in matrix.rows), strict=True)
        for title, texts in zip(column_titles(matrix), places_of_rows, strict=True):
            headings, cells = _aligned(texts, self._ink(), ascii_only=profile_of(self).ascii_only)
            titles.append(plain(title).append("\n").append(headings, "dim"))
            drawn.append(cells)
        return titles, [list(row) for row in zip(*drawn, strict=True)]

    def _ink(self) -> Ink:
        return ink_of(self)

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


def _aligned(texts: Sequence[CellTexts], ink: Ink, *, ascii_only: bool) -> tuple[str, list[Text]]:
    """The headings of a place, and its cells with their parts below each other.

    The ground of a figure, or a bar behind it where colours can't be mixed, is its share of the best of its row.
    """
    shares = [cell.figure.share for cell in texts]
    has_grounds = ink.colors and ink.shades
    grounds = [ink.share_ground(share) if has_grounds and share is not None else "" for share in shares]
    bars = ["" if has_grounds or share is None else share_bar(share, ascii_only=ascii_only) for share in shares]
    parts = (
        ("mean", True, [plain(cell.figure.plain) for cell in texts]),
        ("", False, [Text(bar, STYLES["code"]) for bar in bars]),
        ("", False, [styled(cell.mark) for cell in texts]),
        ("spread", True, [styled(cell.spread) for cell in texts]),
        (runs_heading(texts), False, [styled(cell.runs, ascii_only=ascii_only) for cell in texts]),
    )
    headings, cells = list[str](), [Text() for _ in texts]
    for heading, is_right, column in parts:
        if not (most := max(text.cell_len for text in column)):
            continue
        width = max(most, len(heading))
        headings.append(heading.rjust(width) if is_right else heading.ljust(width))
        for cell, text, ground in zip(cells, column, grounds, strict=True):
            blanks = " " * (width - text.cell_len)
            cell.append(" " if cell else "")
            cell.append_text(Text.assemble(blanks, text) if is_right else Text.assemble(text, blanks))
            if heading == "mean" and ground:
                cell.stylize(ground)
    for cell in cells:
        cell.rstrip()
    return " ".join(headings), cells


def _width(text: Text) -> int:
    """Of its longest line."""
    return max(line.cell_len for line in text.split("\n"))


_READ_SECONDS = 1.0
_FIXED = "TitleBar, #matrix-progress, MatrixTable, #legend, #cell, KeyBar"
"""What is as high as its text."""
_NOT_ENDED = "no run of this cell is over"


class MatrixScreen(CopyingScreen):
    """The table, and below it the cell under the cursor in full, with the charts of its last run."""

    BINDINGS = [
        COPY,
        key("escape,M", "dismiss", "back", "leave the table", "more", shown=True, display="esc"),
        key("q", "app.quit", "quit", "quit", "more"),
    ]
    DEFAULT_CSS = """
    MatrixScreen #matrix-progress { height: auto; max-height: 2; padding: 0 1; }
    MatrixScreen #legend { height: auto; max-height: 2; padding: 0 1; color: $foreground 60%; }
    MatrixScreen #cell { height: auto; max-height: 7; padding: 0 1; border-top: solid $primary-darken-1; }
    MatrixScreen #remarks { border-top: solid $primary-darken-1; }
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self._reader: MatrixReader | None = None
        self._shown: tuple[Matrix, bool] | None = None
        """The matrix, and whether its session is being written."""
        self._problem = ""
        self._headline: Callable[[Run], Metric] = partial(headline_metric, {})

    def compose(self) -> ComposeResult:
        yield TitleBar(f"matrix of {self._directory.name}")
        yield Static("reading the session ...", id="matrix-progress")
        yield MatrixTable()
        yield Static(id="legend", markup=False)
        yield Static(id="cell")
        yield SavedRun(_NOT_ENDED)
        yield Scrolled(id="remarks")
        yield KeyBar("copy")

    def on_mount(self) -> None:
        self.set_focus(self.query_one(MatrixTable))
        self._follow()

    @work
    async def _follow(self) -> None:
        """Read the session again and again: its runs end, and more are ordered."""
        catalogue = await asyncio.to_thread(find_presets, paths.packaged_presets_dir(), paths.user_presets_dir())
        self._headline = partial(headline_metric, catalogue)
        self._reader = MatrixReader(self._directory, self._headline)
        while True:
            try:
                matrix = await asyncio.to_thread(self._reader.read)
                live = await asyncio.to_thread(store.is_locked, self._directory)
                self._show(matrix, live)
            except StoreError as error:
                self._report(str(error))
            await asyncio.sleep(_READ_SECONDS)

    def _show(self, matrix: Matrix, live: bool) -> None:
        for problem in self._reader.broken if self._reader else ():
            self._report(str(problem))
        if self._shown == (matrix, live):
            return
        self._shown = matrix, live
        self.query_one(TitleBar).show(f"matrix of {self._directory.name}", matrix.title)
        text = progress_text(matrix, live=live) if matrix.rows else NO_RUNS
        self.query_one("#matrix-progress", Static).update(Text(text))
        table = self.query_one(MatrixTable)
        if matrix.rows:
            share = "shade" if profile_of(self).has_shades else "bar"
            self.query_one("#legend", Static).update(Text(legend(matrix, share)))
            table.show(matrix)
            self._show_cell(*table.chosen)
            network = list(links_blocks(links_of(self._reader.runs if self._reader else ())))[1:]
            network += [TextBlock("")] if network else []
            self.query_one("#remarks", Scrolled).update(self._drawn(*network, Items(tuple(remarks(matrix)))))

    def _report(self, problem: str) -> None:
        """Notify once: what can't be read fails again each time."""
        if problem != self._problem:
            self._problem = problem
            self.notify(problem, severity="error", timeout=15, markup=False)

    @on(MatrixTable.Reached)
    def _reached(self, message: MatrixTable.Reached) -> None:
        self._show_cell(message.row, message.column)

    def _show_cell(self, row: int, column: int) -> None:
        if self._shown:
            matrix = self._shown[0]
            lines = cell_lines(matrix, row, column)
            self.query_one("#cell", Static).update(self._drawn(Items(tuple(lines))))
            cell = matrix.rows[row].cells[column]
            last = next((run for run in reversed(cell.runs if cell else ()) if run.outcome), None)
            self.query_one(SavedRun).draw_run(self._directory, last, self._headline(last) if last else None)
            self._fit()

    @on(events.Resize)
    def _fit(self) -> None:
        self.call_after_refresh(self._share_room)

    def _share_room(self) -> None:
        """The charts have what the remarks leave, at least a half; where that is too little, the remarks have all."""
        view, notes = self.query_one_optional(SavedRun), self.query_one_optional("#remarks", Scrolled)
        if view is None or notes is None:
            return  # the screen is being left
        room = self.size.height - sum(widget.outer_size.height for widget in self.query(_FIXED))
        noted = min(notes.query_one(Static).outer_size.height + 1, room // 2)
        notes.styles.height = noted if view.fit(room - noted) else "1fr"

    def _drawn(self, *blocks: Block) -> RenderableType:
        return draw(blocks, ascii_only=profile_of(self).ascii_only)

    @on(MatrixTable.Opened)
    def _open(self, message: MatrixTable.Opened) -> None:
        """Show the runs of a cell."""
        if self._shown is None:
            return
        from cephtui.reports.views.runs import runs_blocks
        from cephtui.tui.dialogs import Details

        matrix, row, column = self._shown[0], message.row, message.column
        title = f"{row_titles(matrix)[row]}, {column_titles(matrix)[column]}"
        if (cell := matrix.rows[row].cells[column]) and cell.runs:
            self.app.push_screen(Details(title, self._drawn(*runs_blocks(cell.runs))))
        else:
            self.notify(f"{title}: no run yet")

    def handout(self) -> Callable[[], MarkdownSnippet] | None:
        if self._shown is None or self._reader is None:
            return None
        (matrix, live), runs, session = self._shown, self._reader.runs, self._directory.name
        view = together(matrix_view(matrix, runs, session, live=live), links_view(links_of(runs), session))
        return partial(snippet_of, "the matrix", view)

    def names_to_hide(self) -> Names:
        """Names of all runs, and of the targets and nodes that are ordered."""
        runs = self._reader.runs if self._reader else ()
        names = names_in(runs)
        cells = [cell for row in self._shown[0].rows for cell in row.cells if cell] if self._shown else []
        for cell in cells:
            names |= {**names_of_target(cell.target), **names_of_hosts(cell.nodes)}
        return names
