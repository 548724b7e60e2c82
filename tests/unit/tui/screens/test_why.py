"""Why it is slow, on the screen: what the runs of a session show, and what is measured to know more."""

from __future__ import annotations

from pathlib import Path

from cephtui.tui.app import SavedApp
from cephtui.tui.console.how_often import HowOftenScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.why import WhyScreen
from tests.support.replayed import console, finished, screen_text, until
from tests.support.runs import WRITE_IOPS

FAST = 60.0


async def test_before_anything_has_run_it_is_shown_what_is_measured(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 36)) as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, HowOftenScreen) and "4 runs, about" in screen_text(app))
        assert "write and flush, read, writes, reads" in screen_text(app)


async def test_after_runs_it_is_shown_what_they_say_and_enter_measures(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 36)) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "Not seen" in screen_text(app))
        assert "enter measure" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, HowOftenScreen))


async def test_of_a_saved_session_nothing_is_measured(demo_copy: Path) -> None:
    screen = SessionScreen(demo_copy)
    app = SavedApp(demo_copy.parent, [screen])
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app))
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "Not seen" in screen_text(app))
        assert "enter measure" not in screen_text(app)
        await pilot.press("enter")
        assert isinstance(app.screen, WhyScreen)
