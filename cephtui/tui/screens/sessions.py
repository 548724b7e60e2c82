"""The saved sessions: found, opened, renamed, noted, tagged and deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize, ScreenResume
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable, Input, Static

from cephtui import units
from cephtui.models import SessionRow
from cephtui.sessions import archive, store
from cephtui.sessions.store import StoreError
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.widgets.sessions_table import SessionsTable, about, matches, run_count

_FILTER_BY = "filter by words: name, preset, tag, note, cluster, node, date, outcome"
_EMPTY = (
    "no sessions yet\n\n"
    "Whatever you run is saved by itself, nothing has to be done for it:\n"
    "esc goes back, 1 to 6 run a preset, and the session appears here."
)


class SessionsScreen(Screen[None]):
    """Every saved session, the newest first; read again whenever the screen comes to the front."""

    class Opened(Message):
        """A session is to be shown."""

        def __init__(self, directory: Path) -> None:
            super().__init__()
            self.directory = directory

    AUTO_FOCUS = ""
    BINDINGS = [
        key("slash", "filter", "filter", _FILTER_BY, shown=True),
        key("R", "rename", "rename", "rename the session", shown=True),
        key("N", "note", "note", "note something about it", shown=True),
        key("T", "tags", "tag", "tag it", shown=True),
        key("D", "delete", "delete", "delete it; asks first", shown=True),
        key("escape", "back", "back", "clear the filter, then back", shown=True),
        key("q", "app.quit", "quit", "quit", "more"),
    ]
    DEFAULT_CSS = """
    SessionsScreen #bar { height: 1; background: $primary-darken-2; color: $text; padding: 0 1; }
    SessionsScreen #filter { height: 1; border: none; padding: 0 1; background: $surface; }
    SessionsScreen #filter:focus { background: $primary-darken-2; }
    SessionsScreen #said { height: 1fr; padding: 1 2; color: $foreground 80%; }
    SessionsScreen #about { height: auto; min-height: 4; max-height: 9; padding: 0 1; }
    SessionsScreen #about { border-top: solid $primary-darken-1; }
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._rows: list[SessionRow] | None = None
        """All, the newest first; None until they have been read."""

    def compose(self) -> ComposeResult:
        """From the top: how many, the filter, the sessions, all of the selected one, the keys."""
        yield Static(id="bar")
        yield Input(placeholder="/ filters: name, preset, tag, note, cluster, node, date", id="filter", compact=True)
        yield Static(id="said", markup=False)
        yield SessionsTable()
        yield Static(id="about", markup=False)
        yield KeyBar("sessions", "tags")

    # ------------------------------------------------------------------ what there is

    @on(ScreenResume)
    def _come_back(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self, select: str | None = None) -> None:
        """Take in what is on disk; ``select`` is the session to point at."""
        if self._rows is None:
            self._show()
        try:
            found = await asyncio.to_thread(store.list_sessions, self._root)
        except StoreError as error:
            self._say_error(error)
            found = []
        self._rows = found[::-1]
        self._fit(select)

    def _fit(self, select: str | None = None) -> None:
        table = self.query_one(SessionsTable)
        select = select or (table.selected.session if table.selected else None)
        table.fit(self._rows or [], self.size.width)
        self._show(select)

    def on_resize(self, event: Resize) -> None:
        """Other columns may have room."""
        if self._rows is not None:
            self._fit()

    def _show(self, select: str | None = None) -> None:
        """What the filter lets through."""
        table, typed = self.query_one(SessionsTable), self.query_one("#filter", Input).value
        select = select or (table.selected.session if table.selected else None)
        words, rows = typed.lower().split(), self._rows or []
        shown = [row for row in rows if matches(row, words)]
        table.put(shown, select)
        self.query_one("#filter", Input).disabled = not rows  # else it would take the keys where there is no table
        table.display = bool(shown)
        said = self.query_one("#said", Static)
        said.display = not shown
        said.update(self._said(typed.strip()))
        count = f"{len(shown)} of {len(rows)}" if words else f"{len(rows)} saved"
        self.query_one("#bar", Static).update(_bar(count if self._rows is not None else ""))
        self._tell()
        if self.focused is None:
            self._to_table()
        self.refresh_bindings()

    def _said(self, typed: str) -> str:
        if self._rows is None:
            return "reading sessions ..."
        return f"no session has {typed!r}: esc clears the filter" if self._rows else _EMPTY

    @on(DataTable.RowHighlighted)
    def _tell(self) -> None:
        row = self.query_one(SessionsTable).selected
        self.query_one("#about", Static).update(about(row) if row else "")

    def _say_error(self, error: StoreError) -> None:
        self.notify(str(error), severity="error", timeout=15, markup=False)

    # ------------------------------------------------------------------ finding

    def action_filter(self) -> None:
        """Type what to look for."""
        self.set_focus(self.query_one("#filter", Input))

    @on(Input.Changed, "#filter")
    def _narrow(self) -> None:
        self._show()

    @on(Input.Submitted, "#filter")
    def _to_table(self) -> None:
        """One that is not shown takes no keys."""
        table = self.query_one(SessionsTable)
        self.set_focus(table if table.display else None)

    def action_back(self) -> None:
        """One step: out of the filter and of what it leaves out, then to where the user came from."""
        typed = self.query_one("#filter", Input)
        if not typed.value and not typed.has_focus:
            self.dismiss()
            return
        typed.value = ""
        self._to_table()

    # ------------------------------------------------------------------ doing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that need a session are there where there is one."""
        return bool(self._rows) or action not in ("filter", "rename", "note", "tags", "delete")

    @on(DataTable.RowSelected)
    def _open(self) -> None:
        row = self.query_one(SessionsTable).selected
        if row:
            self.post_message(self.Opened(Path(row.path)))

    def action_rename(self) -> None:
        """Ask for a new name."""
        self._change("rename")

    def action_note(self) -> None:
        """Ask for the note."""
        self._change("note")

    def action_tags(self) -> None:
        """Ask for the tags."""
        self._change("tags")

    def action_delete(self) -> None:
        """Ask whether it may go for good."""
        self._change("delete")

    @work(exclusive=True, group="change")
    async def _change(self, what: str) -> None:
        """Ask, do it, and show what has become of it; the cursor stays where the session is."""
        row = self.query_one(SessionsTable).selected
        if row is None or isinstance(self.focused, Input):
            return  # typed right behind the key that opened the filter, before it took the keys
        asked = {"rename": self._rename, "note": self._note, "tags": self._tags, "delete": self._delete}[what]
        try:
            self._read(await asked(row))
        except StoreError as error:
            self._say_error(error)

    async def _rename(self, row: SessionRow) -> str:
        def problem(text: str) -> str | None:
            return archive.name_problem(self._root, row.session, text)

        dialog = EnterText(f"new name of session {row.session}", row.session, problem)
        name = await self.app.push_screen_wait(dialog)
        if name is None:
            return row.session
        await asyncio.to_thread(archive.rename, self._root, row.session, name)
        return name

    async def _note(self, row: SessionRow) -> str:
        old = archive.read_notes(Path(row.path)).note
        text = await self.app.push_screen_wait(EnterText(f"note about session {row.session}", old))
        if text is not None:
            await asyncio.to_thread(archive.annotate, Path(row.path), note=text)
        return row.session

    async def _tags(self, row: SessionRow) -> str:
        old = " ".join(archive.read_notes(Path(row.path)).tags)
        dialog = EnterText(f"tags of session {row.session}", old, hint="words between spaces")
        text = await self.app.push_screen_wait(dialog)
        if text is not None:
            await asyncio.to_thread(archive.annotate, Path(row.path), tags=archive.parse_tags(text))
        return row.session

    async def _delete(self, row: SessionRow) -> str | None:
        directory, after = Path(row.path), self.query_one(SessionsTable).neighbour
        await asyncio.to_thread(archive.check_deletable, directory)
        size = units.size(await asyncio.to_thread(archive.size_bytes, directory))
        question = f"Delete session {row.session} ({run_count(row)}, {size})? It can't be brought back."
        if not await self.app.push_screen_wait(Confirm(question, "delete", "keep")):
            return row.session
        await asyncio.to_thread(archive.delete, directory)
        self.notify(f"deleted session {row.session}", markup=False)
        return after.session if after else None


def _bar(count: str) -> Text:
    return Text.assemble(("cephtui", "bold"), f"   sessions   {count}")
