"""The dialog that orders the queue."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from cephtui import units
from cephtui.reports.words.text import short_target
from cephtui.studies.queue import Entry, Queue
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.widgets.fitted import show_rows

_TITLES = [Text("#"), Text("preset"), Text("takes", justify="right"), Text("options"), Text("nodes"), Text("target")]


def _cells(number: int, entry: Entry) -> list[Text]:
    bound = "" if entry.bound == "about" else f"{entry.bound} "
    least = f"{units.duration(entry.least_seconds)} to " if entry.least_seconds < entry.most_seconds else ""
    takes = Text(f"{bound}{least}{units.duration(entry.most_seconds)}", justify="right")
    targets = ", ".join(map(short_target, entry.targets))
    return [Text(str(number)), Text(entry.name), takes, *map(Text, (entry.text, ", ".join(entry.nodes), targets))]


class QueueScreen(Dialog[bool]):
    """Reorders and removes entries; gives True where the queue is to be released."""

    BINDINGS = [
        key("J,shift+down", "move(1)", "order", "run it later, run it sooner", shown=True, display="J K"),
        key("K,shift+up", "move(-1)", "sooner", "run it later, run it sooner", display="J K"),
        key("i", "turns", "in turns", "its runs and those of the next in the order A B B A, against drift", shown=True),
        key("x,delete", "remove", "remove", "remove it from the queue", shown=True),
        key("g", "go", "run", "run the queue", shown=True),
        key("escape,u", "back", "back", "back to the console", shown=True),
        key("down,j", "cursor(1)", "down", "the next", priority=True),
        key("up,k", "cursor(-1)", "up", "the one before", priority=True),
    ]
    DEFAULT_CSS = """
    QueueScreen DataTable { height: auto; max-height: 16; }
    QueueScreen #queue-note { height: auto; color: $foreground 70%; }
    """

    def __init__(self, read: Callable[[], Queue], write: Callable[[Queue], None]) -> None:
        """The queue changes while this is open: an entry begins."""
        super().__init__()
        self._read, self._write = read, write
        self._shown: tuple[Entry, ...] | None = None

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
        if entries == self._shown:
            return
        row, before = self._row_in(entries), self._table.cursor_row
        self._shown = entries
        show_rows(self._table, _TITLES, {str(number): _cells(number, entry) for number, entry in enumerate(entries, 1)})
        self._table.move_cursor(row=before if row is None else row)
        empty = "Queue is empty. During a run, enter or a add to it."
        held = f"{queue.note}; {queue.held}: g resumes" if queue.is_held else ""
        self.query_one("#queue-note", Static).update(Text(held or queue.summary or empty))

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
            self.notify("two that wait, one of them with repeats (e), can take turns")

    def action_remove(self) -> None:
        """Remove the entry: it has not begun."""
        row = self._row_in(self._read().entries)
        if row is not None:
            self._write(self._read().without(row))
        self._refresh()

    def action_go(self) -> None:
        self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)
