"""The matrix on the screen: it fills while a session is measured, and its cells can be opened and copied."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.writer import take_lock
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Details
from cephtui.tui.screens.matrix import MatrixScreen, MatrixTable
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.scrolled import Scrolled
from tests.support import studies
from tests.support.known import known
from tests.support.replayed import console_screen, in_a_run, let_go, screen_text, text_of, until

MEASURED = 33
"""Runs, the last one in progress."""
BLANK_ROWS = 4
"""At most so many have no text, such as those that set paragraphs apart."""


@contextlib.asynccontextmanager
async def showing(
    directory: Path, *, size: tuple[int, int] = (120, 36), profile: Profile = FULL
) -> AsyncIterator[tuple[SavedApp, Pilot[None], MatrixTable]]:
    screen = MatrixScreen(directory)
    app = SavedApp(directory.parent, [screen], profile)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: bool(screen.query(MatrixTable)) and screen.query_one(MatrixTable).row_count > 0)
        yield app, pilot, screen.query_one(MatrixTable)


def rows_of(app: SavedApp) -> list[str]:
    """All that are on the screen."""
    return screen_text(app).splitlines()


def notified(app: SavedApp) -> str:
    """The notifications that are still to be seen."""
    return "\n".join(notice.message for notice in app._notifications)


def cells(table: MatrixTable, row: int) -> list[str]:
    """From the step on."""
    return [" ".join(str(cell).split()) for cell in table.get_row_at(row)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return studies.write(tmp_path, list(studies.runs(MEASURED)), studies.order())


async def test_it_fills_while_the_session_is_measured(study: Path) -> None:
    with contextlib.closing(known(take_lock(study))):
        async with showing(study) as (app, pilot, table):
            assert cells(table, 3)[1:] == ["2.90k 1.0 %", "2.84k 0.7 % running 3/3", "waiting", "waiting"]
            assert table.chosen == (3, 1)  # the cell that is measured
            assert "31 of 48 runs, about 18:25 min left, slowest: pve2" in screen_text(app)
            for run in [*studies.runs(MEASURED + 1)][-2:]:
                (study / f"{run.run:03}").mkdir(exist_ok=True)
                (study / f"{run.run:03}" / "run.json").write_text(as_json(run))
            await until(pilot, lambda: cells(table, 3)[2] == "2.85k 1.0 %")
            assert cells(table, 4)[2] == "running 1/3"
            assert table.chosen == (3, 1)
            assert "32 of 48 runs, " in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_it_is_read_at_every_size(study: Path, size: tuple[int, int]) -> None:
    async with showing(study, size=size) as (app, pilot, table):
        await pilot.press("home", "up", "up", "up", "left", "left", "right")  # the cursor goes to no step
        assert table.chosen == (0, 1)
        text = screen_text(app)
        assert "4k random writes  rbd:bench on pve2" in text
        assert "pve2, 40 %" in text_of(app, app.screen.query_one("#cell"))
        await pilot.press("right", "right")
        await until(pilot, lambda: "rbd:bench on pve1, pve2, pve3" in screen_text(app))
        shown = text_of(app, table)
        assert "all 3 nodes" in shown  # scrolled into sight
        assert "4k random writes " in shown  # and the step stays


@pytest.mark.parametrize("size", [(120, 36), (160, 45), (200, 50)])
async def test_charts_of_the_last_run_of_the_cell_fill_what_the_table_leaves(
    demo_session: Path, size: tuple[int, int]
) -> None:
    async with showing(demo_session, size=size) as (app, pilot, table):
        view = app.screen.query_one(RunView)
        await until(pilot, lambda: view.shown is not None)
        first = view.shown
        table.move_cursor(row=table.row_count - 1)
        await until(pilot, lambda: view.shown is not first)
        await until(pilot, lambda: len([row for row in rows_of(app) if not row.strip()]) <= BLANK_ROWS)


async def test_where_there_is_no_room_for_charts_the_remarks_are_scrolled(demo_session: Path) -> None:
    async with showing(demo_session, size=(80, 24)) as (app, pilot, _):
        assert not app.screen.query_one(RunView).display
        remarks = app.screen.query_one("#remarks", Scrolled)
        await pilot.press("tab", "end")
        await until(pilot, lambda: remarks.scroll_y > 0)


async def test_the_ground_of_a_figure_is_its_share_of_the_best_and_has_a_heading(study: Path) -> None:
    async with showing(study) as (app, _, table):
        assert all(word in text_of(app, table) for word in ("mean", "spread", "runs"))
        assert "shade: share of the row's best" in screen_text(app)
        grounds = [
            {str(span.style) for span in cell.spans if "on #" in str(span.style)} for cell in table.get_row_at(0)[-4:]
        ]
        assert [len(each) for each in grounds] == [1, 1, 1, 1]
        assert len({*map(frozenset, grounds)}) == 4, "each has another share"
        assert not any("on #" in str(span.style) for span in table.get_row_at(4)[-4].spans), "it has no like"
    for profile in (Profile("16"), Profile("none")):
        async with showing(study, profile=profile) as (_, _, table):
            assert "9.80k ▄" in cells(table, 0)[2]
            assert not any("on #" in str(span.style) for span in table.get_row_at(0)[-4].spans)


async def test_enter_opens_the_runs_of_a_cell(study: Path) -> None:
    async with showing(study) as (app, pilot, table):
        table.move_cursor(row=0, column=3)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Details) and "4k random writes, pve3" in screen_text(app))
        text = screen_text(app)
        assert "No space left on device" in text
        assert [line.split()[1] for line in text.splitlines() if "write-iops" in line] == ["7", "8", "9"]
        await pilot.press("escape")
        table.move_cursor(row=4, column=4)
        await pilot.press("enter")
        await until(pilot, lambda: "writes by depth iodepth=16, all 3 nodes: no run yet" in notified(app))


async def test_y_copies_it_as_markdown(study: Path) -> None:
    async with showing(study) as (app, pilot, _):
        await pilot.press("y")
        await until(pilot, lambda: "| step | figure | pve1 |" in app.clipboard)
        assert "copied the matrix as Markdown" in notified(app)


async def test_without_colours_and_unicode_words_and_signs_say_it(study: Path) -> None:
    async with showing(study, size=(160, 45), profile=Profile(colors="none", ascii_only=True)) as (app, _, table):
        assert "9.80k - 2.0 % v slowest" in cells(table, 0)
        assert "bar: share of the row's best" in screen_text(app)
        assert text_of(app, table).isascii()


async def test_names_are_masked_before_anything_has_run(tmp_path: Path) -> None:
    async with showing(studies.write(tmp_path, [], studies.order())) as (app, pilot, _):
        await pilot.press("P")
        await until(pilot, lambda: " n1 " in screen_text(app))
        assert "pve1" not in screen_text(app)
        assert "rbd:bench" not in screen_text(app)


async def test_m_opens_that_of_a_saved_session_and_closes_it(demo_session: Path) -> None:
    session = SessionScreen(demo_session)
    app = SavedApp(demo_session.parent, [session])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app))
        await pilot.press("M")
        await until(pilot, lambda: all(word in screen_text(app) for word in ("demo", "14 runs", "rados-write")))
        assert isinstance(app.screen, MatrixScreen)
        await pilot.press("M")
        await until(pilot, lambda: app.screen is session)


async def test_m_shows_the_run_that_the_console_measures(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=(120, 36)) as (app, pilot, hosts):
        await pilot.press("M")
        await until(pilot, lambda: isinstance(app.screen, MatrixScreen) and "running" in screen_text(app))
        assert "tuning" in screen_text(app)
        let_go(app, hosts)
        await until(pilot, lambda: "1 run" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is console_screen(app))


async def test_a_session_that_is_gone_is_an_error_in_words(tmp_path: Path) -> None:
    app = SavedApp(tmp_path, [MatrixScreen(tmp_path / "none")])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No such file or directory" in notified(app))
        await pilot.press("y", "enter", "j")
        assert isinstance(app.screen, MatrixScreen)
