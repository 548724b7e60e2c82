"""Why it is slow, on the screen: what the runs of a session show, and what is measured to know more."""

from __future__ import annotations

from pathlib import Path

import pytest

from cephtui.models import Stages
from cephtui.tui.app import SavedApp
from cephtui.tui.console.how_often import HowOftenScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.why import WhyScreen
from cephtui.tui.widgets.saved_run import SavedRun
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.stages import latency_bars
from tests.support.replayed import console, finished, screen_text, text_of, until
from tests.support.runs import WRITE_IOPS, run, total

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
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "Not covered" in screen_text(app))
        assert "enter measure" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, HowOftenScreen))


@pytest.mark.parametrize(("size", "has_bars"), [((80, 24), False), ((120, 36), True), ((200, 50), True)])
async def test_beside_the_causes_are_the_latencies_that_they_are_of(
    demo_copy: Path, size: tuple[int, int], has_bars: bool
) -> None:
    app = SavedApp(demo_copy.parent, [WhyScreen(demo_copy)])
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "HEALTH_WARN" in screen_text(app))
        where = app.screen.query_one("#where")
        assert where.display is has_bars
        if has_bars:
            text = text_of(app, where)
            assert "mean latency, and where it goes" in text
            assert "#13 4M write with 48 in flight" in text
            longest = max(text.splitlines(), key=lambda line: line.count("█"))
            assert longest.count("█") > size[0] // 5
            assert longest.rstrip().endswith("345 ms")
        has_histogram = "p99 " in text_of(app, where) if has_bars else False
        assert has_histogram is (size == (200, 50)), "with room the histogram of one run stands below"


async def test_below_the_causes_is_the_run_that_they_cost_the_most(demo_copy: Path) -> None:
    """And the histogram is as high as there is room: no row is empty but those between paragraphs."""
    app = SavedApp(demo_copy.parent, [WhyScreen(demo_copy)])
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: "over time " in screen_text(app) and "over the whole run" in screen_text(app))
        run = app.screen.query_one(SavedRun)
        assert run.region.bottom == 49, "above the keys"
        assert app.screen.query_one(Scrolled).max_scroll_y == 0
        assert text_of(app, app.screen.query_one("#where")).rstrip().count("\n") > 40
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not run.display and app.screen.query_one(Scrolled).max_scroll_y > 0)


def test_a_bar_has_the_stages_of_its_latency() -> None:
    split = Stages(
        ios=9, operations=9, outside_seconds=0.0003, queue_seconds=0.0001, prepare_seconds=0.0001, store_seconds=0.0035
    )
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1}
    known = run(1, write=total(latency_mean_seconds=0.004), options=options, stages={"write": split})
    unknown = run(2, write=total(latency_mean_seconds=0.008), options=options)
    _, plain, _, title, bar, legend, _ = latency_bars([known, unknown], 49, ascii_only=True)
    assert title.plain == "#1 4k write, one at a time"
    assert bar.plain.index(" 4.00 ms") == 20, "half as long as the other"
    assert bar.plain.count("#") == round(20 * 3.5 / 4.0)
    assert "# slowest copy 88 %" in legend.plain
    assert plain.plain == "=" * 40 + " 8.00 ms"


async def test_of_a_saved_session_nothing_is_measured(demo_copy: Path) -> None:
    screen = SessionScreen(demo_copy)
    app = SavedApp(demo_copy.parent, [screen])
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "write-iops" in screen_text(app))
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "Not covered" in screen_text(app))
        assert "enter measure" not in screen_text(app)
        await pilot.press("enter")
        assert isinstance(app.screen, WhyScreen)
