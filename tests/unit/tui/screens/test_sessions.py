"""The sessions screen, driven by keys and the mouse, on sessions that were really written."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button, DataTable, Input, Label, Static

import cephtui.tui
from cephtui.models import ClusterEnvironment, Mark, SessionNotes, Summary
from cephtui.models.session_row import SessionRow
from cephtui.sessions import archive, store
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.undo import Undo
from cephtui.sessions.writer import SessionWriter
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.screens import sessions as screens_sessions
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.terminal.in_order import OrderedApp
from cephtui.tui.widgets.sessions_table import (
    SessionsTable,
    fitted_columns,
    matches,
    outcomes_text,
    session_cells,
    session_text,
)
from tests.support.golden import Golden
from tests.support.replayed import screen_text, text_of, until
from tests.support.runs import SESSION, nodes, total
from tests.support.sessions import write_session
from tests.unit.sessions.test_store import run_of, session_of_one_run

SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]
LONG = "osd_memory_target 4G, default scheduler, jumbo frames off on the storage network"


class Host(OrderedApp):
    """A screen below, the sessions screen above it, and what it said."""

    CSS_PATH = Path(cephtui.tui.__path__[0]) / "app.tcss"

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.sessions = SessionsScreen(root)
        self.opened: list[Path] = []

    def on_mount(self) -> None:
        self.push_screen(self.sessions)

    def on_sessions_screen_opened(self, message: SessionsScreen.Opened) -> None:
        self.opened.append(message.directory)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return screen_text(self)

    @property
    def table(self) -> SessionsTable:
        return self.sessions.query_one(SessionsTable)

    @property
    def names(self) -> list[str]:
        """The sessions in the table, from the top."""
        return [str(row.key.value) for row in self.table.ordered_rows]

    @property
    def selected(self) -> str | None:
        return self.table.selected.session if self.table.selected else None

    @property
    def field(self) -> Input:
        return self.sessions.query_one(Input)

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self._notifications]

    @property
    def bar(self) -> str:
        return str(self.sessions.query_one("#bar", Static).render())

    @property
    def idle(self) -> bool:
        """Whether nothing is asked, read or changed."""
        return self.screen is self.sessions and not list(self.workers)

    def is_above(self, dialog: type[Screen[Any]]) -> bool:
        """Whether a dialog is open and can be answered."""
        return isinstance(self.screen, dialog) and self.screen.focused is not None


@contextlib.asynccontextmanager
async def showing(root: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    """The screen, once it has read what there is."""
    app = Host(root)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is app.sessions and app.sessions._rows is not None)
        await until(pilot, lambda: not app.names or (app.sessions.focused is not None and "outcomes" in app.text))
        await until(pilot, lambda: "esc back" in app.text)
        yield app, pilot


def session_of(root: Path, name: str, days: int, outcomes: tuple[str, ...] = ("ok",), **fields: Any) -> Path:
    """A session that was made so many days ago."""
    runs = [run_of(name, number, outcome=outcome, **fields) for number, outcome in enumerate(outcomes, 1)]
    created_at = datetime.now(UTC) - timedelta(days=days)
    marks = () if "ok" in outcomes else [Mark(at=created_at, text="a new disk")]  # it is not kept else
    return write_session(root, runs, name=name, created_at=created_at, marks=marks)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three sessions, the newest last, and the recorded one, which is from another year."""
    root = tmp_path / "sessions"
    ceph = ClusterEnvironment(ceph_version="16.2.15")
    reads, writes = (120_000, 480 << 20), (16_700, 732 << 20)
    read, write = (total(iops=iops, bandwidth_bytes=bandwidth) for iops, bandwidth in (reads, writes))
    best = Summary(read=read, write=write)
    session_of(root, "before", 3, ("ok", "ok", "failed"), nodes=nodes("pve1", "pve2"), cluster=ceph, summary=best)
    session_of(root, "osd-memory-8g", 2, ("ok", "stopped"), preset="latency", cluster=ceph)
    session_of(root, "nvme", 1)
    shutil.copytree(SESSION, root / "replay")
    path = root / "replay" / "session.json"
    path.write_text(path.read_text().replace("2026-11-21", "2001-11-21"))
    archive.annotate(root / "before", note=LONG, tags=("lab", "slow"), baseline=2)
    archive.annotate(root / "osd-memory-8g", note="osd_memory_target 8G", tags=("lab",))
    return root


ALL = ["nvme", "osd-memory-8g", "before", "replay"]


def told(label: Static) -> str:
    return str(label.render())


async def typed(app: Host, pilot: Pilot[None], text: str) -> None:
    """In the place of what a dialog holds."""
    field = app.screen.query_one(Input)
    await until(pilot, lambda: field.has_focus)
    await pilot.press("end", *["backspace"] * len(field.value))
    await pilot.press(*("space" if char == " " else char for char in text))
    await until(pilot, lambda: field.value == text)


# ---------------------------------------------------------------------------------------------- what it shows


async def test_sessions_are_listed_the_newest_first_and_with_more_room_more_is_told(root: Path) -> None:
    row = next(row for row in list_sessions(root) if row.session == "before")
    assert row.created_at is not None
    headings = []
    async with showing(root, SIZES[0]) as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size: tuple(app.size) == size and "outcomes" in app.text, size)
            await pilot.pause()
            assert app.names == ALL
            assert app.bar.endswith("4 saved")
            lines = app.text.splitlines()
            (before,) = [line for line in lines if line.startswith(" before")]
            for word in ("r 120k  w 16.7k", "2 ok, 1 failed", "baseline #2; osd"):
                assert word in before
            headings.append(lines[2].split())
            assert [word for word in ("session", "IOPS", "outcomes", "note") if word not in headings[-1]] == []
            assert all(len(line) <= size[0] for line in lines)
            assert "esc back" in lines[-1]
    assert headings[0] == ["session", "best", "IOPS", "outcomes", "note"]
    assert [word for word in ("date", "target", "runs") if word not in headings[2]] == []
    best = ["best", "IOPS", "best", "bandwidth"]
    assert headings[3] == ["session", "date", "target", *best, "cluster", "nodes", "runs", "outcomes", "tags", "note"]
    date = f"{row.created_at.astimezone():%Y-%m-%d %H:%M}"
    words = (date, "file:/mnt/bench/test", "w 732 MiB/s", "ceph 16.2.15", "pve1, pve2", "lab, slow")
    assert [word for word in words if word not in before] == []


async def test_the_newest_runs_of_the_session_under_the_cursor_stand_below_where_there_is_room(root: Path) -> None:
    async with showing(root, (120, 36)) as (app, pilot):
        newest = app.screen.query_one("#newest")
        for name in ALL:
            await until(pilot, lambda name: app.selected == name, name)
            last = store.read_runs(root / name)[0][-1]
            await until(pilot, lambda words: words in text_of(app, newest), f"{last.run} {last.preset}")
            await pilot.press("j")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not newest.display)


async def test_the_list_does_not_offer_itself(root: Path) -> None:
    app = SavedApp(root, [SessionsScreen(root)])
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size: tuple(app.size) == size and "esc back" in screen_text(app), size)
            footer = screen_text(app).splitlines()[-1]
            assert "s sort" in footer
            assert "o sessions" not in footer


def test_a_name_that_is_its_time_needs_no_date(root: Path) -> None:
    directory = session_of(root, "renamed", 0)
    created_at = store.read_session(directory).created_at.astimezone()
    names = [f"{created_at:%Y-%m-%d-%H%M%S}", f"{created_at - timedelta(days=1):%Y-%m-%d-%H%M%S}", "0001-01-01-000000"]
    for name in names:
        shutil.copytree(directory, root / name)
    rows = {row.session: session_cells(row, time=True)["date"] for row in list_sessions(root)}
    date = f"{created_at:%Y-%m-%d %H:%M}"
    assert [rows[name] for name in ["renamed", *names]] == [date, "", date, date]


async def test_a_session_of_which_each_run_was_refused_is_dim(root: Path) -> None:
    session_of(root, "refused", 0, ("refused",))
    async with showing(root, (120, 36)) as (app, pilot):
        await until(pilot, lambda: len(app.names) == 5)
        styles = {name: {str(cell.style) for cell in app.table.get_row(name)} for name in app.names}
        assert styles.pop("refused") == {"dim"}
        assert [name for name, found in styles.items() if "dim" in found] == []


async def test_names_of_the_list_are_masked(root: Path) -> None:
    session_of(root, "cluster", 0, target="rbd:secret", nodes=nodes("host7"))
    async with showing(root) as (app, _):
        assert app.sessions.names_to_hide().items() >= {"secret": "pool", "host7": "node", "pve1": "node"}.items()


async def test_sessions_are_sorted(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        orders = {
            "by name": sorted(ALL),
            "by runs": sorted(ALL, key=lambda name: -len(list((root / name).glob("*/run.json")))),
            "by best IOPS": ["before", "replay", "nvme", "osd-memory-8g"],
            "newest first": ALL,
        }
        for order, names in orders.items():
            await pilot.press("s")
            await until(pilot, lambda order: order in app.bar, order)
            assert app.names == names
            assert app.selected == "osd-memory-8g"


async def test_what_the_table_has_no_room_for_is_below_it(root: Path) -> None:
    parts = ("before", "ceph 16.2.15", "on pve1, pve2", "3 runs; 2 ok, 1 failed", f"baseline #2; {LONG}", "tags lab")

    def below(app: Host) -> str:
        return " ".join(app.text[app.text.index("─") :].split())

    async with showing(root) as (app, pilot):
        await pilot.press("j", "j")
        await until(pilot, lambda: all(part in below(app) for part in parts))


async def test_without_sessions_it_tells_how_one_comes_to_be(tmp_path: Path, golden: Golden) -> None:
    async with showing(tmp_path / "none") as (app, pilot):
        empty = told(app.sessions.query_one("#empty", Static))
        await until(pilot, lambda: all(line in app.text for line in empty.splitlines()))
        golden.same(empty)
        assert "rename" not in app.text
        await pilot.press("slash", "R", "N", "T", "D", "enter")
        assert app.screen is app.sessions
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not app.sessions)


async def test_the_screen_is_there_before_the_sessions_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, may_go_on = list_sessions, threading.Event()

    def slow(root: Path) -> list[SessionRow]:
        assert may_go_on.wait(120)
        return real(root)

    monkeypatch.setattr(screens_sessions, "list_sessions", slow)
    app = Host(root)
    async with app.run_test(size=(80, 24)) as pilot:
        try:
            await until(pilot, lambda: "reading sessions ..." in app.text and "esc back" in app.text)
            await pilot.press("j", "D", "slash")
            assert app.screen is app.sessions
        finally:
            may_go_on.set()
        await until(pilot, lambda: app.names == ALL)
        assert "reading" not in app.text


async def test_sessions_that_can_not_be_read_are_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(root: Path) -> list[SessionRow]:
        raise store.StoreError(f"{root}: Permission denied")

    monkeypatch.setattr(screens_sessions, "list_sessions", refuse)
    async with showing(root) as (app, _):
        assert app.notices == [f"{root}: Permission denied"]


async def test_a_broken_session_and_one_that_is_written(root: Path) -> None:
    (root / "nvme" / "001" / "run.json").write_text("{")
    session = SessionWriter.open(root, "live")
    session.start_run(run_of("live"))
    async with showing(root, (120, 36)) as (app, _):
        table = app.text[: app.text.index("─")]
        lines = {line.split()[0]: line for line in table.splitlines() if line.strip()}
        assert "writing, 1 running" in lines["live"]
        assert "broken" in lines["nvme"]
        assert "001/run.json: not" in lines["nvme"]
    session.close()


async def test_what_the_user_wrote_is_shown_as_it_is(root: Path) -> None:
    archive.write_notes(root / "nvme", SessionNotes(note="[red]8G[/] [x"))
    (root / "odd \x1b[2J[b]").mkdir()
    (root / "odd \x1b[2J[b]" / "session.json").write_text("{}")
    async with showing(root, (120, 36)) as (app, pilot):
        await until(pilot, lambda: len(app.names) == 5)
        await pilot.press("home")
        await until(pilot, lambda: app.text.count("[red]8G[/] [x") == 2)
        assert "odd \\x1b[2J[b]" in app.text
        assert "\x1b" not in app.text


@pytest.mark.parametrize("width", [80, 93, 120, 200])
def test_columns_fill_the_width_and_no_more(width: int) -> None:
    rows = [
        SessionRow(
            session="x" * 64,
            path="/x",
            runs=10**count,
            outcomes=dict.fromkeys(["ok", "failed", "lost"], 10**count),
            cluster="ceph 16.2.15, 17.2.7" * (count % 2),
            nodes=("node",) * count,
            tags=("tag",) * count,
            note="note " * 20 * count,
        )
        for count in range(6)
    ]
    for some in (rows, rows[:1], []):
        widths = fitted_columns(some, width, time=False)
        assert sum(widths.values()) + 2 * len(widths) == width
        assert {"session", "outcomes", "note"} <= set(widths)
        assert widths["note"] >= (15 if any(row.note for row in some) else len("note"))


def test_a_column_is_whole_before_the_note_gets_what_is_left() -> None:
    outcomes = {"ok": 10, "failed": 10, "stopped": 10, "lost": 10, "refused": 10}
    row = SessionRow(session="x" * 40, path="/x", runs=50, outcomes=outcomes, note="note " * 20)
    widths = fitted_columns([row], 160, time=True)
    assert (widths["session"], widths["outcomes"]) == (40, len(outcomes_text(row)))
    assert widths["note"] >= 20


def test_a_date_is_whole_where_it_is_shown() -> None:
    row = SessionRow(session="s", path="/x", runs=1, created_at=datetime.now(UTC), outcomes={"ok": 1}, note="note " * 9)
    for time in (False, True):
        shown = session_cells(row, time=time)["date"]
        assert {fitted_columns([row], width, time=time).get("date", len(shown)) for width in range(70, 130)} == {
            len(shown)
        }


def test_one_run_is_not_many() -> None:
    assert "1 run; 1 ok" in session_text(SessionRow(session="s", path="p", runs=1, outcomes={"ok": 1})).plain
    assert "0 runs" in session_text(SessionRow(session="s", path="p")).plain


# ---------------------------------------------------------------------------------------------- finding


FOUND = {
    "NVME": ["nvme"],
    "lab": ["osd-memory-8g", "before"],
    "lab slow": ["before"],
    "jumbo": ["before"],
    "16.7k": ["before"],
    "file:/mnt/bench/test": ALL,
    "latency": ["osd-memory-8g"],
    "16.2.15": ["osd-memory-8g", "before"],
    "pve2": ["before"],
    "2001-11": ["replay"],
    "failed": ["before"],
    "baseline": ["before"],
}


def test_the_filter_looks_at_everything(root: Path) -> None:
    rows = list_sessions(root)
    for text, found in FOUND.items():
        names = {row.session for row in rows if matches(row, text.lower().split())}
        assert names == set(found), text


async def test_what_does_not_match_is_hidden_as_one_types(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("slash")
        for text in ("NVME", "lab slow", "2001-11"):
            await typed(app, pilot, text)
            found = FOUND[text]
            await until(pilot, lambda found: app.names == found and app.bar.endswith(f"{len(found)} of 4"), found)
            assert app.selected == found[0]


async def test_escape_clears_the_filter_and_then_goes_back(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("slash")
        await typed(app, pilot, "lab")
        await pilot.press("enter")
        await until(pilot, lambda: app.sessions.focused is app.table and len(app.names) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: app.names == ALL and app.bar.endswith("4 saved"))
        assert app.screen is app.sessions
        await pilot.press("slash")
        await until(pilot, lambda: app.sessions.focused is app.field)
        await pilot.press("escape")
        await until(pilot, lambda: app.sessions.focused is app.table)
        assert app.screen is app.sessions
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not app.sessions)


async def test_where_nothing_is_found_the_way_back_is_told(root: Path, golden: Golden) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("slash")
        await typed(app, pilot, "none such")
        empty = app.sessions.query_one("#empty", Static)
        await until(pilot, lambda: "'none such'" in told(empty) and told(empty) in app.text)
        golden.same(told(empty))
        assert app.selected is None
        await pilot.press("enter", "D", "N")
        assert app.screen is app.sessions
        await pilot.press("escape")
        await until(pilot, lambda: app.names == ALL and app.sessions.focused is app.table)


async def test_letters_in_the_filter_are_no_commands(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("slash")
        await typed(app, pilot, "DRqj")
        assert app.screen is app.sessions


async def test_the_cursor_stays_on_its_session(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j", "j")
        await until(pilot, lambda: app.selected == "before")
        await pilot.press("slash")
        await typed(app, pilot, "lab")
        await until(pilot, lambda: app.names == ["osd-memory-8g", "before"])
        assert app.selected == "before"
        await pilot.press("escape")
        await until(pilot, lambda: app.names == ALL)
        assert app.selected == "before"
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: "cluster" in app.text)
        assert app.selected == "before"


async def test_keys_of_the_list(root: Path) -> None:
    async with showing(root) as (app, pilot):
        moves = {"j": 1, "down": 2, "k": 1, "end": 3, "up": 2, "home": 0, "G": 3, "g": 0}
        for key, index in moves.items():
            await pilot.press(key)
            await until(pilot, lambda index: app.selected == ALL[index], index)


async def test_hundreds_of_sessions_are_all_there(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    first = session_of_one_run(root, "s000", seconds=1)
    for number in range(1, 230):
        shutil.copytree(first, root / f"s{number:03}")
    async with showing(root) as (app, pilot):
        await until(pilot, lambda: len(app.names) == 230)
        assert len(set(app.names)) == 230
        await pilot.press("end")
        await until(pilot, lambda: app.selected == app.names[-1])
        await pilot.press("slash")
        await typed(app, pilot, "s15")  # a time may have any two digits
        await until(pilot, lambda: app.bar.endswith("10 of 230") and len(app.names) == 10)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.names) == 230)
        assert len(set(app.names)) == 230


async def test_what_has_changed_meanwhile_is_there_when_the_screen_comes_back(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await app.push_screen(Screen())
        session_of_one_run(root, "newest")
        app.pop_screen()
        await until(pilot, lambda: app.names == ["newest", *ALL] and app.selected == "nvme")


# ---------------------------------------------------------------------------------------------- doing


async def test_enter_opens_a_session(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        await pilot.press("enter")
        await until(pilot, lambda: app.opened == [root / "osd-memory-8g"])


async def test_a_click_selects_and_a_double_click_opens(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.click(DataTable, offset=(3, 3))
        await until(pilot, lambda: app.selected == "before")
        await pilot.click(DataTable, offset=(30, 2))
        await pilot.click(DataTable, offset=(30, 0))
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        assert app.opened == []
        await pilot.click(DataTable, offset=(40, 3), times=2)
        await until(pilot, lambda: bool(app.opened))
        assert app.opened == [root / "before"]


async def test_a_session_is_renamed(root: Path, golden: Golden) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        await pilot.press("R")
        await until(pilot, lambda: app.is_above(EnterText))
        assert app.screen.query_one(Input).value == "osd-memory-8g"
        problem = app.screen.query_one("#wrong", Label)
        for name, is_wrong in (("nvme", True), ("a b", True), ("a-b", False)):
            await typed(app, pilot, name)
            await until(
                pilot, lambda said: said in told(problem) and bool(told(problem)) == bool(said), name * is_wrong
            )
            assert app.screen.query_one(Input).has_class("wrong") is is_wrong
            if is_wrong:
                golden.same(told(problem))
                await pilot.press("enter")
                assert app.is_above(EnterText)
        await pilot.press("enter")
        await until(pilot, lambda: app.names == ["nvme", "a-b", "before", "replay"] and app.selected == "a-b")
    assert not (root / "osd-memory-8g").exists()
    assert store.read_run(root / "a-b", 1).session == "a-b"


async def test_a_session_is_noted(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        await pilot.press("N")
        await until(pilot, lambda: app.is_above(EnterText))
        await typed(app, pilot, "jumbo frames on [x]")
        await pilot.press("enter")
        await until(pilot, lambda: app.text.count("jumbo frames on [x]") == 2)
        assert app.selected == "osd-memory-8g"
    assert archive.read_notes(root / "osd-memory-8g") == SessionNotes(note="jumbo frames on [x]", tags=("lab",))


async def test_a_session_is_tagged(root: Path) -> None:
    async with showing(root, (200, 50)) as (app, pilot):
        await pilot.press("end", "k")
        await until(pilot, lambda: app.selected == "before")
        await pilot.press("T")
        await until(pilot, lambda: app.is_above(EnterText))
        assert app.screen.query_one(Input).value == "lab slow"
        await typed(app, pilot, "lab, hdd")
        await pilot.press("enter")
        await until(pilot, lambda: app.text.count("lab, hdd") == 2)
    assert archive.read_notes(root / "before") == SessionNotes(note=LONG, tags=("lab", "hdd"), baseline=2)


@pytest.mark.parametrize("key", ["R", "N", "T"])
async def test_escape_changes_nothing(root: Path, key: str) -> None:
    before = list_sessions(root)
    async with showing(root) as (app, pilot):
        await pilot.press(key)
        await until(pilot, lambda: app.is_above(EnterText))
        await pilot.press("x", "escape")
        await until(pilot, lambda: app.idle)
        assert app.selected == "nvme"
    assert list_sessions(root) == before


async def test_deleting_asks_and_tells_what_would_go(root: Path) -> None:
    async with showing(root) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.selected == "osd-memory-8g")
        await pilot.press("D")
        await until(pilot, lambda: app.is_above(Confirm))
        asked = str(app.screen.query(Label).first().render())
        assert asked.startswith("Delete session osd-memory-8g (2 runs, ")
        assert asked.endswith("KiB)? This can't be undone.")
        assert isinstance(app.screen.focused, Button)
        assert app.screen.focused.id == "no"
        await pilot.press("enter")
        await until(pilot, lambda: app.idle)
        assert app.names == ALL
        await pilot.press("D")
        await until(pilot, lambda: app.is_above(Confirm))
        await pilot.press("y")
        await until(pilot, lambda: app.names == ["nvme", "before", "replay"] and app.selected == "before")
        assert app.notices == ["deleted session osd-memory-8g"]
    assert not (root / "osd-memory-8g").exists()


async def test_the_last_session_is_deleted(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    session_of_one_run(root, "only")
    async with showing(root) as (app, pilot):
        await pilot.press("D")
        await until(pilot, lambda: app.is_above(Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "no sessions yet" in app.text)
        await pilot.press("D", "enter", "j")
        assert app.screen is app.sessions
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not app.sessions)


@contextlib.contextmanager
def writing(root: Path) -> Iterator[None]:
    session = SessionWriter.open(root, "nvme")
    try:
        yield
    finally:
        session.close()


async def test_a_session_that_is_written_is_kept_and_can_be_noted(root: Path, golden: Golden) -> None:
    with writing(root):
        async with showing(root) as (app, pilot):
            await pilot.press("D")
            await until(pilot, lambda: bool(app.notices))
            golden.same(app.notices)
            assert app.screen is app.sessions
            await pilot.press("R")
            await until(pilot, lambda: app.is_above(EnterText))
            await pilot.press("2", "enter")
            await until(pilot, lambda: len(app.notices) == 2)
            assert app.names == ALL
            await pilot.press("N")
            await until(pilot, lambda: app.is_above(EnterText))
            await pilot.press("8", "G", "enter")
            await until(pilot, lambda: archive.read_notes(root / "nvme").note == "8G")
    assert (root / "nvme").exists()


async def test_what_a_session_left_behind_keeps_it(root: Path) -> None:
    session = SessionWriter.open(root, "nvme")
    session.undo(Undo(node="pve1", target="rbd:bench/x"))
    session.close()
    async with showing(root) as (app, pilot):
        await pilot.press("D")
        await until(pilot, lambda: bool(app.notices))
        assert "remove them first with cephtui cleanup" in app.notices[0]
        assert app.screen is app.sessions


async def test_torn_notes_are_told_and_kept(root: Path) -> None:
    path = root / "nvme" / "notes.json"
    path.write_text('{"note": "hal')
    async with showing(root) as (app, pilot):
        for count, key in enumerate(("N", "T"), 1):
            await pilot.press(key)
            await until(pilot, lambda count: len(app.notices) == count, count)
        assert app.screen is app.sessions
        assert str(path) in app.notices[0]
    assert path.read_text() == '{"note": "hal'


# ---------------------------------------------------------------------------------------------- the question


class Asking(OrderedApp):
    """Asks for a text at once."""

    def __init__(self, question: EnterText) -> None:
        super().__init__()
        self.question = question
        self.answers: list[str | None] = []

    def on_mount(self) -> None:
        self.push_screen(self.question, self.answers.append)


@pytest.mark.parametrize(("keys", "answer"), [(["x", "enter"], "abcx"), (["x", "escape"], None), (["enter"], "abc")])
async def test_a_text_is_asked_for(keys: list[str], answer: str | None) -> None:
    app = Asking(EnterText("[b]name[/]", "abc", hint="[x] words"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.focused is not None)
        labels = [str(label.render()) for label in app.screen.query(Label)]
        assert labels == ["[b]name[/]", "[x] words; enter keeps it, escape cancels", ""]
        await pilot.press(*keys)
        await until(pilot, lambda: app.answers == [answer])


async def test_what_is_wrong_with_a_text_is_said_as_it_is_typed() -> None:
    app = Asking(EnterText("name", "abc", lambda text: "[too] long" if len(text) > 3 else None))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.focused is not None)
        wrong = app.screen.query_one("#wrong", Label)
        await pilot.press("x")
        await until(pilot, lambda: str(wrong.render()) == "[too] long")
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == []
        await pilot.press("backspace")
        await until(pilot, lambda: str(wrong.render()) == "")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers == ["abc"])
