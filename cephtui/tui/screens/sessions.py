"""The saved sessions: found, opened, renamed, noted, tagged and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize, ScreenResume
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Input, Static

from cephtui import units
from cephtui.models import Mark, Run
from cephtui.models.session_row import SessionRow
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.words.session_words import whose
from cephtui.sessions import archive, store
from cephtui.sessions.listing import list_sessions, list_with_demo
from cephtui.sessions.names import check_writable, ensure_unpacked
from cephtui.sessions.store import StoreError
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.exporting import EXPORT, ExportingScreen
from cephtui.tui.keys import SESSIONS, KeyBar, key
from cephtui.tui.terminal.in_order import opening
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.sessions_table import ORDERS, SessionsTable, matches, run_count, session_text
from cephtui.tui.widgets.title_bar import TitleBar

_Show = Callable[[ModalScreen[Any]], Awaitable[Any]]
"""Puts a dialog on the screen and gives its result."""
_Change = Callable[[SessionRow, _Show], Awaitable[str | None]]
"""Gives the session's name after the change, None where it was deleted; raises StoreError."""


async def _rename(row: SessionRow, show: _Show) -> str | None:
    """Ask for a new name."""
    root = Path(row.path).parent

    def problem(text: str) -> str | None:
        return archive.name_problem(root, row.session, text)

    name: str | None = await show(EnterText(f"new name of session {row.session}", row.session, problem))
    if name is None:
        return row.session
    await asyncio.to_thread(archive.rename, root, row.session, name)
    return name


async def _annotate(row: SessionRow, show: _Show) -> str | None:
    """Ask for the note."""
    old = archive.read_notes(Path(row.path)).note
    text = await show(EnterText(f"note about session {row.session}", old))
    if text is not None:
        await asyncio.to_thread(archive.annotate, Path(row.path), note=text)
    return row.session


async def _tag(row: SessionRow, show: _Show) -> str | None:
    """Ask for the tags."""
    old = " ".join(archive.read_notes(Path(row.path)).tags)
    text = await show(EnterText(f"tags of session {row.session}", old, hint="words between spaces"))
    if text is not None:
        await asyncio.to_thread(archive.annotate, Path(row.path), tags=archive.parse_tags(text))
    return row.session


async def _delete(row: SessionRow, show: _Show) -> str | None:
    """Ask whether it is to be deleted for good."""
    directory = Path(row.path)
    await asyncio.to_thread(archive.check_deletable, directory)
    size = units.size(await asyncio.to_thread(archive.size_bytes, directory))
    question = f"Delete session {row.session} ({run_count(row)}, {size})? This can't be undone."
    if not await show(Confirm(question, "delete", "keep")):
        return row.session
    await asyncio.to_thread(archive.delete, directory)
    return None


_CHANGES: dict[str, _Change] = {"rename": _rename, "note": _annotate, "tags": _tag, "delete": _delete}
"""Changes by the word of their action."""


_FILTER_BY = "filter by words: name, target, preset, tag, note, cluster, node, date, outcome, best figures"
_NEWEST, _ROOMY_ROWS = 20, 32
"""Runs of a session that are shown below the list, and from how many rows on there is room for them."""
_QUIET_SECONDS = 1.0
"""What takes longer is announced."""
_EMPTY = (
    "no sessions yet\n\n"
    "Every run is saved automatically:\n"
    "esc goes back, enter runs the selected preset, and the session appears here.\n"
    "The demo comes with cephtui: a recorded session to look at."
)


def _newest_of(directory: Path) -> tuple[Sequence[Run], Sequence[Mark]]:
    """The newest runs of a session, those of a batch together, with the marks since; none where they can't be read."""
    try:
        runs = store.read_runs(directory)[0]
    except StoreError:
        return (), ()
    batches = {run.batch for run in runs[-_NEWEST:]}
    newest = [run for run in runs if run.batch in batches]
    begun = min((run.started_at for run in newest), default=None)
    return newest, [mark for mark in store.read_marks(directory) if begun and mark.at >= begun]


class SessionsScreen(ExportingScreen):
    """Every saved session; read again whenever the screen comes to the front."""

    @dataclass
    class Opened(Message):
        """A session is to be shown."""

        directory: Path

    AUTO_FOCUS = ""
    BINDINGS = [
        key("slash", "filter", "filter", _FILTER_BY, shown=True),
        key("s", "sort", "sort", "sort: newest first, by name, by runs, by best IOPS", shown=True),
        key("R", "change('rename')", "rename", "rename the session", shown=True),
        key("N", "change('note')", "note", "write a note about it", shown=True),
        key("T", "change('tags')", "tag", "tag it", shown=True),
        EXPORT,
        key("D", "change('delete')", "delete", "delete it, after a confirmation", shown=True),
        key("escape", "back", "back", "clear the filter, then back", shown=True),
        key("q", "app.quit", "quit", "quit", "more"),
    ]
    DEFAULT_CSS = """
    SessionsScreen #bar { height: 1; background: $primary-darken-2; color: $text; padding: 0 1; }
    SessionsScreen #filter { height: 1; border: none; padding: 0 1; background: $surface; }
    SessionsScreen #filter:focus { background: $primary-darken-2; }
    SessionsScreen #empty { height: 1fr; padding: 1 2; color: $foreground 80%; }
    SessionsScreen #empty.-above { height: auto; }
    SessionsScreen #about { height: auto; min-height: 4; max-height: 9; padding: 0 1; }
    SessionsScreen #about { border-top: solid $primary-darken-1; }
    SessionsScreen #newest { display: none; height: 1fr; padding: 0 1; border-top: solid $primary-darken-1; }
    SessionsScreen.-roomy #newest { display: block; }
    SessionsScreen.-roomy SessionsTable { height: auto; max-height: 50%; }
    """

    def __init__(self, root: Path, *, with_demo: bool = False) -> None:
        super().__init__(classes=SESSIONS)
        self._list = partial(list_with_demo if with_demo else list_sessions, root)
        self._order = next(iter(ORDERS))
        self._rows: list[SessionRow] | None = None
        """All, the newest first; None until they have been read."""
        self._newest: Sequence[Run] = ()

    def compose(self) -> ComposeResult:
        yield TitleBar()
        yield Input(
            placeholder="/ filters: name, target, preset, tag, note, cluster, node, date", id="filter", compact=True
        )
        yield Static(id="empty", markup=False)
        yield SessionsTable()
        yield Static(id="about", markup=False)
        yield Static(id="newest")
        yield KeyBar("change('tags')", "export", "sort")

    def names_to_hide(self) -> Names:
        """Names of the nodes and targets in the list, and in the runs below it."""
        return names_in(self._rows or []) | names_in(self._newest)

    # ------------------------------------------------------------------ the list

    @on(ScreenResume)
    def _come_back(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self, select: str | None = None) -> None:
        """Read the sessions; ``select`` is the session to put the cursor on."""
        if self._rows is None:
            self._show()
        try:
            rows = await asyncio.to_thread(self._list)
        except StoreError as error:
            self.complain(error)
            rows = []
        self._rows = rows[::-1]
        self._fit(select)

    def _fit(self, select: str | None = None) -> None:
        table = self.query_one(SessionsTable)
        select = select or (table.selected.session if table.selected else None)
        self.set_class(self.size.height >= _ROOMY_ROWS, "-roomy")
        table.fit(self._rows or [], self.size.width)
        self._show(select)

    def on_resize(self, event: Resize) -> None:
        if self._rows is not None:
            self._fit()

    def _show(self, select: str | None = None) -> None:
        """The sessions that match the filter."""
        table, filter_text = self.query_one(SessionsTable), self.query_one("#filter", Input).value
        select = select or (table.selected.session if table.selected else None)
        words, rows = filter_text.lower().split(), self._rows or []
        mine, order = [row for row in rows if not whose(row)], ORDERS[self._order]
        shown = sorted((row for row in rows if matches(row, words)), key=lambda row: (bool(whose(row)), order(row)))
        table.put(shown, select)
        self.query_one("#filter", Input).disabled = not rows  # else it would take the keys where there is no table
        table.display = bool(shown)
        empty = self.query_one("#empty", Static)
        empty.display = not shown or not (mine or words)
        empty.set_class(bool(shown), "-above")
        empty.update(self._why_empty("" if shown else filter_text.strip()))
        count = f"{len(shown)} of {len(rows)}" if words else f"{len(mine)} saved"
        self.query_one(TitleBar).show(f"sessions, {self._order}   {count if self._rows is not None else ''}")
        self._describe()
        if self.focused is None:
            self._to_table()
        self.refresh_bindings()

    def _why_empty(self, filter_text: str) -> str:
        if self._rows is None:
            return "reading sessions ..."
        return f"no session has {filter_text!r}: esc clears the filter" if filter_text else _EMPTY

    @on(DataTable.RowHighlighted)
    def _describe(self) -> None:
        row = self.query_one(SessionsTable).selected
        self.query_one("#about", Static).update(session_text(row) if row else "")
        if self.size.height >= _ROOMY_ROWS:
            self._show_newest(row)

    @work(exclusive=True, group="newest")
    async def _show_newest(self, row: SessionRow | None) -> None:
        """Show the newest runs of the session under the cursor, where there is room."""
        from cephtui.reports.render.rich import draw
        from cephtui.reports.views.runs import runs_blocks

        marks: Sequence[Mark] = ()
        self._newest, marks = await asyncio.to_thread(_newest_of, Path(row.path)) if row else ((), ())
        shown = draw([*runs_blocks(self._newest, marks)], ascii_only=profile_of(self).ascii_only)
        self.query_one("#newest", Static).update(shown if self._newest else "")

    # ------------------------------------------------------------------ finding

    def action_filter(self) -> None:
        self.set_focus(self.query_one("#filter", Input))

    @on(Input.Changed, "#filter")
    def _narrow(self) -> None:
        self._show()

    @on(Input.Submitted, "#filter")
    def _to_table(self) -> None:
        """A table that is not shown takes no keys."""
        table = self.query_one(SessionsTable)
        self.set_focus(table if table.display else None)

    def action_back(self) -> None:
        """Clear the filter, else close the screen."""
        filter_input = self.query_one("#filter", Input)
        if not filter_input.value and not filter_input.has_focus:
            self.dismiss()
            return
        filter_input.value = ""
        self._to_table()

    def action_sort(self) -> None:
        orders = list(ORDERS)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._show()

    # ------------------------------------------------------------------ doing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that need a session are active where there is one."""
        return bool(self._rows) or action not in ("filter", "sort", "change", "export")

    @property
    def to_export(self) -> Path | None:
        row = self.query_one(SessionsTable).selected
        return Path(row.path) if row else None

    @on(DataTable.RowSelected)
    @work(exclusive=True, group="open")
    async def _open(self) -> None:
        """The demo is unpacked first."""
        row = self.query_one(SessionsTable).selected
        if row is None:
            return
        slow = self.set_timer(_QUIET_SECONDS, lambda: self.notify("unpacking the demo ..."))
        try:
            with opening(self.app):
                directory = await asyncio.to_thread(ensure_unpacked, Path(row.path))
        except StoreError as error:
            self.complain(error)
        else:
            self.post_message(self.Opened(directory))
        finally:
            slow.stop()

    @work(exclusive=True, group="change")
    async def action_change(self, change: str) -> None:
        """Ask, change the session, and show it; the cursor stays on it."""
        table = self.query_one(SessionsTable)
        row, neighbour = table.selected, table.neighbour
        if row is None:
            return
        try:
            check_writable(Path(row.path))
            with opening(self.app):
                name = await _CHANGES[change](row, self.app.push_screen_wait)
        except StoreError as error:
            self.complain(error)
            return
        if name is None:
            self.notify(f"deleted session {row.session}", markup=False)
        self._read(name or (neighbour.session if neighbour else None))
