"""The key y: the results of what is on the screen as Markdown, in the clipboard or shown."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static

from cephtui import paths
from cephtui.analysis.runs.sides import Side
from cephtui.sessions import store
from cephtui.tui.app import SavedApp
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.copying import run_snippet
from cephtui.tui.dialogs import Selectable
from cephtui.tui.screens.compare import CompareScreen, judged_now
from cephtui.tui.screens.replay import ReplayScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support.drawings import comparison_markdown, runs_markdown
from tests.support.golden import Golden
from tests.support.replayed import console, console_screen, until


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is shown is kept."""
    monkeypatch.setattr(paths, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def app_of(session: Path, *screens: Any, profile: Profile = FULL) -> SavedApp:
    return SavedApp(session.parent, screens, profile)


def messages(app: App[None]) -> list[str]:
    return [each.message for each in app._notifications]


async def at_run(app: App[None], pilot: Pilot[None], number: int) -> None:
    """Move the cursor of the table to a run."""
    await until(pilot, lambda: bool(app.screen.query(RunsTable)) and app.screen.query_one(RunsTable).row_count > 0)
    table = app.screen.query_one(RunsTable)
    table._change(chosen={row.point: True for row in table._rows if row.point})
    for row in range(table.row_count):
        table.move_cursor(row=row)
        if table.chosen and table.chosen.run == number:
            return


# ---------------------------------------------------------------------------------------------- what is copied


def test_a_run_of_a_batch_is_copied_with_the_others(demo_session: Path) -> None:
    runs = {run.run: run for run in store.read_runs(demo_session)[0]}
    handout = run_snippet(demo_session, runs[8])
    assert handout.name == "#7-9"
    assert handout.text == runs_markdown([runs[7], runs[8], runs[9]])
    assert run_snippet(demo_session, runs[13]).name == "#13"


def test_marks_are_copied_that_were_made_meanwhile(demo_session: Path) -> None:
    runs = {run.run: run for run in store.read_runs(demo_session)[0]}
    assert "osd.1 frozen" in run_snippet(demo_session, runs[14]).text
    assert "osd.1" not in run_snippet(demo_session, runs[8]).text


def test_a_run_whose_file_is_gone_is_copied_as_it_was(demo_session: Path, tmp_path: Path) -> None:
    run = store.read_run(demo_session, 13)
    shutil.copytree(demo_session / "001", tmp_path / "demo" / "001")
    assert run_snippet(tmp_path / "demo", run).name == "#13"


# ---------------------------------------------------------------------------------------------- on the screens


async def test_the_session_screen_copies_the_run_under_the_cursor(demo_session: Path, golden: Golden) -> None:
    app = app_of(demo_session, SessionScreen(demo_session))
    async with app.run_test(size=(120, 36)) as pilot:
        await at_run(app, pilot, 8)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard != "")
        assert app.clipboard == run_snippet(demo_session, store.read_run(demo_session, 8)).text
        golden.same(messages(app))


async def test_a_replay_copies_its_run(demo_session: Path) -> None:
    app = app_of(demo_session, ReplayScreen(demo_session, 13))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen.drawn is not None)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == run_snippet(demo_session, store.read_run(demo_session, 13)).text)


async def test_the_console_copies_a_run_of_the_session_that_it_continues(demo_session: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_session, tmp_path / "sessions" / "demo")
    async with console(tmp_path, speed=1.0, session="new", size=(120, 36)) as (app, pilot):
        await pilot.press("y")
        await until(pilot, lambda: ConsoleScreen.NOTHING in messages(app))
    async with console(tmp_path, speed=1.0, session="demo", size=(120, 36)) as (app, pilot):
        await until(pilot, lambda: bool(console_screen(app).query(RunsTable)))
        await at_run(app, pilot, 13)
        await pilot.press("y")
        await until(pilot, lambda: "| 13 | rados-write" in app.clipboard)


async def test_the_comparison_is_copied_as_it_is_drawn(demo_session: Path, golden: Golden) -> None:
    left, right = (Side((store.read_run(demo_session, number),)) for number in (9, 12))
    app = app_of(demo_session, CompareScreen(left, right, {}, {}))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("w", "y")
        await until(pilot, lambda: app.clipboard == comparison_markdown(right, left, judged_now(right, left)))
        golden.same(messages(app)[1:])


def shown(app: App[None]) -> str:
    return "\n".join(str(each.render()) for each in app.screen.query(Static))


async def test_pressed_again_it_is_shown_to_be_selected(demo_session: Path, cache: Path) -> None:
    app = app_of(demo_session, SessionScreen(demo_session))
    async with app.run_test(size=(120, 36)) as pilot:
        await at_run(app, pilot, 13)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard != "")
        assert not cache.exists()
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Selectable))
        assert (cache / "copied.md").read_text() == app.clipboard
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
        await at_run(app, pilot, 8)
        await pilot.press("y")
        await until(pilot, lambda: "| 8 |" in app.clipboard)
        assert isinstance(app.screen, SessionScreen), "another run is not in the clipboard yet"


async def test_a_terminal_without_a_clipboard_shows_it_at_once(demo_session: Path, cache: Path) -> None:
    app = app_of(demo_session, SessionScreen(demo_session), profile=Profile("8", ascii_only=True))
    async with app.run_test(size=(120, 36)) as pilot:
        await at_run(app, pilot, 13)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Selectable))
        assert app.clipboard == ""
        assert messages(app) == []
        assert (cache / "copied.md").is_file()


async def test_where_nothing_can_be_saved_it_is_shown_all_the_same(demo_session: Path, cache: Path) -> None:
    cache.write_text("a file in the place of the folder")
    app = app_of(demo_session, SessionScreen(demo_session), profile=Profile("8", ascii_only=True))
    async with app.run_test(size=(120, 36)) as pilot:
        await at_run(app, pilot, 13)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Selectable))
