"""The dialog that orders the queue, and resumes what is unfinished in the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from cephtui import units
from cephtui.reports.studies.listing import standing_text, what_text
from cephtui.reports.words.cutting import short_target
from cephtui.sessions.store import StoreError
from cephtui.studies.queue import Entry, Queue
from cephtui.studies.saved import StudyState, row_of
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.widgets.fitted import show_rows

_TITLES = [Text("#"), Text("preset"), Text("takes", justify="right"), Text("options"), Text("nodes"), Text("target")]


def _cells(number: int, entry: Entry) -> list[Text]:
    extent = entry.extent
    bound = "" if extent.bound == "about" else f"{extent.bound} "
    least = f"{units.duration(extent.least_seconds)} to " if extent.least_seconds < extent.most_seconds else ""
    takes = Text(f"{bound}{least}{units.duration(extent.most_seconds)}", justify="right")
    targets = ", ".join(map(short_target, entry.targets))
    return [Text(str(number)), Text(entry.name), takes, *map(Text, (entry.text, ", ".join(entry.nodes), targets))]


def _unfinished_cells(session: str, state: StudyState) -> list[Text]:
    row = row_of(session, state)
    texts = (row.study, what_text(row), "", standing_text(row), ", ".join(row.nodes))
    return [*map(Text, texts), Text(", ".join(map(short_target, row.targets)))]


class QueueScreen(Dialog[bool | StudyState]):
    """Reorders and removes entries; gives True where the queue is to be released, or a study that is to be resumed."""

    BINDINGS = [
        key("J,shift+down", "move(1)", "order", "move down or up in the queue", shown=True, display="J K"),
        key("K,shift+up", "move(-1)", "sooner", "move down or up in the queue", display="J K"),
        key(
            "i",
            "turns",
            "in turns",
            "alternate its runs with those of the next entry (A B B A), against drift",
            shown=True,
        ),
        key("x,delete", "remove", "remove", "remove it from the queue", shown=True),
        key("g", "go", "run", "run the queue, or resume the study under the cursor", shown=True),
        key("escape,u", "back", "back", "back to the console", shown=True),
        key("down,j", "cursor(1)", "down", "the next", priority=True),
        key("up,k", "cursor(-1)", "up", "the one before", priority=True),
    ]
    DEFAULT_CSS = """
    QueueScreen DataTable { height: auto; max-height: 16; }
    QueueScreen #queue-note { height: auto; color: $foreground 70%; }
    """

    def __init__(
        self,
        read: Callable[[], Queue],
        write: Callable[[Queue], None],
        session: Callable[[], Path | None] = lambda: None,
        unfinished: Callable[[], Sequence[StudyState]] = tuple,
    ) -> None:
        """The queue changes while this is open: an entry begins.

        ``unfinished`` are the studies of the session of which something is missing and none of it waits or is measured;
        it is called in a thread, and raises StoreError.
        """
        super().__init__()
        self._read, self._write, self._session, self._unfinished = read, write, session, unfinished
        self._shown: tuple[Entry, ...] | None = None
        self._states: Sequence[StudyState] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = " queue "
            table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=True)
            yield table
            yield Static(id="queue-note")

    def on_mount(self) -> None:
        self._refresh()
        self.set_interval(0.5, self._refresh)

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one(DataTable)

    def _refresh(self) -> None:
        queue = self._read()
        entries = queue.entries
        if entries != self._shown:
            row, before = self._row_in(entries), self._table.cursor_row
            self._shown = entries
            self._show(before if row is None else row)
            self._read_unfinished()

    def _show(self, cursor: int) -> None:
        queue, session = self._read(), self._session()
        rows = {str(number): _cells(number, entry) for number, entry in enumerate(self._shown or (), 1)}
        if session:
            rows |= {state.saved.id: _unfinished_cells(session.name, state) for state in self._states}
        show_rows(self._table, _TITLES, rows)
        self._table.move_cursor(row=cursor)
        empty = "The queue is empty. During a run, enter and a add to it."
        held = f"{queue.note}; {queue.held}: g resumes" if queue.is_held else ""
        names = ", ".join(state.saved.id for state in self._states)
        unfinished = f"\nunfinished in this session: {names}: enter resumes the one under the cursor" if names else ""
        self.query_one("#queue-note", Static).update(Text(f"{held or queue.summary or empty}{unfinished}"))

    @work(exclusive=True)
    async def _read_unfinished(self) -> None:
        try:
            self._states = await asyncio.to_thread(self._unfinished)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
        self._show(self._table.cursor_row)

    def _row_in(self, entries: tuple[Entry, ...]) -> int | None:
        """Where the entry under the cursor is now; None where it has begun or was removed meanwhile."""
        chosen = (self._shown or ())[self._table.cursor_row :][:1]
        return next((row for row, entry in enumerate(entries) if chosen and entry is chosen[0]), None)

    def action_cursor(self, by: int) -> None:
        self._table.move_cursor(row=self._table.cursor_row + by)

    def action_move(self, by: int) -> None:
        row = self._row_in(self._read().entries)
        if row is not None:
            self._write(self._read().moved(row, by))
        self._refresh()

    def action_turns(self) -> None:
        """With the next entry; both have begun no run that is left."""
        row, queue = self._row_in(self._read().entries), self._read()
        if row is not None and queue.in_turns(row) is not queue:
            self._write(queue.in_turns(row))
            self._refresh()
        else:
            self.notify("only two waiting entries can alternate, one of them with repeats (e)")

    def action_remove(self) -> None:
        """Remove the entry: it has not begun."""
        row = self._row_in(self._read().entries)
        if row is not None:
            self._write(self._read().without(row))
        self._refresh()

    @property
    def _chosen(self) -> StudyState | None:
        """The unfinished study under the cursor."""
        row = self._table.cursor_row - len(self._shown or ())
        return self._states[row] if 0 <= row < len(self._states) else None

    @on(DataTable.RowSelected)
    def _resume(self) -> None:
        if self._chosen:
            self.dismiss(self._chosen)

    def action_go(self) -> None:
        """On an unfinished study: resume it."""
        self.dismiss(self._chosen or True)

    def action_back(self) -> None:
        self.dismiss(False)
