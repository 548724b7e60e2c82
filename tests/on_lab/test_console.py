"""The console on a real cluster: a run on three nodes as it is seen, marked, followed by others and played again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from cephtui import config, units
from cephtui.analysis.views.live import Live
from cephtui.models import NodeEnded, Run, Sample, Total
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.playback import Playback
from cephtui.targets import parse_target
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.heat_map import HeatMap
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.form import FormScreen
from cephtui.tui.console.start import Start
from cephtui.tui.console.status_bar import StatusBar
from cephtui.tui.dialogs import EnterText
from cephtui.tui.screens.replay import PlayedScreen, ReplayScreen, WatchScreen
from cephtui.tui.screens.run import RunScreen
from tests.on_lab.runs import Bench, assert_agrees_with_the_tool, images, left_on, noted, sets
from tests.support.known import known
from tests.support.replayed import screen_text, until

SIZE = (120, 36)
SESSION = "lab"
PATIENCE_SECONDS, AT_ONCE_SECONDS = 120.0, 5.0
SECONDS, WATCHED_SECONDS = 24, 10
SMALL = {"size": "16M", "numjobs": "1", "iodepth": "4", "ramp_time": "1", "rate_iops": "50"}
MARK = "osd 8G"


def text_in(screen: RunScreen, selector: str) -> str:
    """The words of a widget."""
    return str(screen.query_one(selector, Static).content)


def title(screen: RunScreen) -> str:
    """The figures over the chart."""
    found = screen.query_one("#chart", Chart)._border_title
    return found.plain if found else ""


def node_row(app: ConsoleApp | SavedApp, name: str) -> str:
    """A node's row in the panel beside the chart."""
    if not app.screen.query("#nodes-panel"):
        return ""
    region = app.screen.query_one("#nodes-panel").region
    rows = [strip.crop(region.x, region.right).text for strip in app.screen._compositor.render_strips()]
    return next((row for row in rows[region.y : region.bottom] if f" {name} " in row), "")


@contextlib.asynccontextmanager
async def console(bench: Bench, pool: str) -> AsyncIterator[tuple[ConsoleApp, Pilot[None], Path]]:
    """The console on the lab's three nodes, once all are reached; and the directory of its session."""
    root = bench.sandbox.data / "sessions"
    settings = config.load_config(bench.config, required=True)
    start = Start(settings.choose(bench.lab.nodes), parse_target(f"rbd:{pool}", owner_id="0a1b2c3d"), config=settings)
    catalogue = find_presets(packaged_presets_dir(), bench.sandbox.root / "none")
    with Runner(root, SESSION) as runner:
        app = ConsoleApp(catalogue, start, runner, root)
        screen = app._console_screen
        screen.choice.edits = Edits({"write-iops": SMALL})
        async with app.run_test(size=SIZE) as pilot:
            await until(
                pilot,
                lambda: screen.is_mounted and screen.choice.nodes.states.keys() >= set(bench.lab.nodes),
                seconds=60.0,
            )
            assert all(state.environment for state in screen.choice.nodes.states.values())
            yield app, pilot, root / SESSION
            await asyncio.to_thread(runner.close)
    assert runner.close() == []


async def finished(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """Wait until a run has ended and is in the table."""
    table = app._console_screen.query_one("#runs", DataTable)

    def ended() -> bool:
        cells = {str(cell).strip() for row in range(table.row_count) for cell in table.get_row_at(row)}
        return bool({"ok", "questionable", "not counted", "failed", "lost"} & cells)

    await until(pilot, lambda: not app.busy and ended(), seconds=PATIENCE_SECONDS)


async def runtime_typed(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """Select the preset and type the runtime into its form."""
    await pilot.press("right")
    await until(pilot, lambda: "--name=write-iops" in text_in(app._console_screen, "#command"))
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, FormScreen) and app.screen.focused is not None)
    field = app.screen.query_one("#runtime")
    app.screen.set_focus(field)
    await until(pilot, lambda: app.screen.focused is field)
    await pilot.press("end", *["backspace"] * 5, *str(SECONDS), "enter")
    await until(pilot, lambda: app.screen is app._console_screen)
    assert f"--runtime={SECONDS} " in text_in(app._console_screen, "#command")


# ---------------------------------------------------------------------------------------------- measured and seen


@pytest.mark.essential
async def test_a_run_on_three_nodes_is_seen_marked_and_played_again(bench: Bench, pool: str) -> None:
    async with console(bench, pool) as (app, pilot, directory):
        screen = app._console_screen
        await runtime_typed(app, pilot)
        await pilot.press("h", "enter")
        await until(pilot, lambda: " running " in text_in(screen, "#progress"), seconds=PATIENCE_SECONDS)
        assert len(await asyncio.to_thread(images, bench.lab, pool)) == 3
        await until(pilot, lambda: all(any(c.isdigit() for c in node_row(app, n)[8:]) for n in bench.lab.nodes))
        await until(pilot, lambda: any(heat.display and heat._columns for heat in screen.query(HeatMap)))
        await until(pilot, lambda: "3/3 osd" in text_in(screen, "#cluster"))
        assert "HEALTH_" in text_in(screen, "#cluster")
        seen = screen_text(app)
        assert "write latency" in seen
        assert "nodes: IOPS, clat p99" in seen
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EnterText) and app.screen.focused is not None)
        await pilot.press(*(name if name != " " else "space" for name in MARK), "enter")
        # typing it may take until the run is over, of which it is all the same
        await until(pilot, lambda: app.screen is screen and bool(store.read_marks(directory)))
        await finished(app, pilot)
        await until(pilot, lambda: "over the whole run" in title(screen))
        live = title(screen)
    run = store.read_run(directory, 1)
    assert (run.outcome, len(run.nodes), run.options["runtime"]) == ("ok", 3, SECONDS), run.error
    assert_agrees_with_the_tool(directory / "001")
    (mark,) = store.read_marks(directory)
    assert (mark.text, mark.run) == (MARK, 1)
    assert mark.elapsed_seconds is not None
    assert 0 < mark.elapsed_seconds < SECONDS + 3
    assert images(bench.lab, pool) == []
    assert noted(bench.sandbox) == set()
    assert left_on(bench.lab) == []
    assert_replayed(directory, run)
    await assert_looks_the_same(directory, live)


async def test_a_killed_fio_on_one_of_three_nodes_is_told_in_the_second_in_which_it_happens(
    bench: Bench, pool: str
) -> None:
    async with console(bench, pool) as (app, pilot, directory):
        screen = app._console_screen
        bar, progress = screen.query_one("#bar", StatusBar), partial(text_in, screen, "#progress")
        await runtime_typed(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: all(any(c.isdigit() for c in node_row(app, n)[8:]) for n in bench.lab.nodes))
        await until(pilot, lambda: " running " in progress(), seconds=PATIENCE_SECONDS)
        for pid in bench.running("lab2", program="fio"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await until(pilot, lambda: "lab2 ended 0:" in node_row(app, "lab2"), seconds=AT_ONCE_SECONDS)
        assert "running on 2 of 3 nodes" in progress()
        assert "lab2 ended at 0:" in progress()
        await until(pilot, lambda: "2 of 3 nodes" in bar.running)
        assert bar.nodes.plain.startswith("lab2 ended 0:")
        assert bar.nodes.plain.endswith("lab1 lab3 ready")
        await until(pilot, lambda: "without lab2" in screen_text(app))
        await finished(app, pilot)
        await until(pilot, lambda: bar.nodes.plain == "lab1 lab2 lab3 ready")
    run = store.read_run(directory, 1)
    assert {node.node: node.outcome for node in run.nodes} == {"lab1": "ok", "lab2": "failed", "lab3": "ok"}
    assert run.outcome == "failed"
    assert (run.error or "").startswith("lab2: fio ")
    assert "SIGKILL" in (run.error or "")
    (ended,) = [finding for finding in run.findings if finding.code == "node-ended"]
    assert ended.text.startswith("lab2 ended at 0:")
    assert run.seconds
    whole = known(run.summary.write)
    assert known(run.seconds.least) <= known(whole.iops) <= known(run.seconds.greatest)
    assert run.seconds.mean == pytest.approx(known(whole.iops), rel=0.15)
    played = [event for event in Playback(directory, 1).until(float("inf")) if isinstance(event, NodeEnded)]
    assert next((event.node, event.outcome) for event in played) == ("lab2", "failed")
    assert left_on(bench.lab) == []


def assert_replayed(directory: Path, run: Run) -> None:
    """A replay gives what was stored, and ends with the same totals."""
    events = Playback(directory, 1).until(float("inf"))
    assert events[-1] == run
    assert run.summary.write
    played = [event for event in events if isinstance(event, Sample)]
    stored = list(store.read_samples(directory, 1))
    for name in (None, *(node.node for node in run.nodes)):
        counts = [
            (sum(known(s.write.ios) for s in found if s.write), sum(s.write.bytes for s in found if s.write))
            for found in ([s for s in samples if s.node == name and s.phase == "run"] for samples in (played, stored))
        ]
        assert counts[0] == counts[1], name
        assert counts[0][0] > 0
    live = Live()
    for event in events[:-1]:
        live.take(event)
    assert live.current
    assert [mark.text for mark in live.current.marks] == [MARK]
    assert live.current.cluster


async def assert_looks_the_same(directory: Path, live: str) -> None:
    """At its end a replay shows what the console showed."""
    screen = ReplayScreen(directory, 1, 20.0)
    async with SavedApp(directory.parent, [screen]).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bool(screen.query("#chart")))
        await pilot.press("end")
        await until(pilot, lambda: "over the whole run" in title(screen))
        assert title(screen) == live
        assert MARK in screen_text(screen.app)


# ---------------------------------------------------------------------------------------------- followed


def shows(screen: PlayedScreen, total: Total) -> bool:
    """Whether these are the figures over the chart."""
    return f"write {units.iops(total.iops)}  over the whole run" in title(screen)


async def test_a_headless_run_is_watched_from_beside(bench: Bench, pool: str) -> None:
    words = ["--session", SESSION, "--repeat", "2", *sets(**SMALL)]
    process = bench.start("write-iops", on=bench.lab.nodes, target=f"rbd:{pool}", words=words, runtime=WATCHED_SECONDS)
    directory = bench.sandbox.data / "sessions" / SESSION
    await asyncio.to_thread(process.wait_for, (directory / "session.json").exists, 60, "the session")
    screen = WatchScreen(directory)
    app = SavedApp(directory.parent, [screen])
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: bool(screen.query("#chart")))
        for number in (1, 2):
            await until(
                pilot,
                lambda number: f"#{number} write-iops running " in text_in(screen, "#progress"),
                number,
                seconds=PATIENCE_SECONDS,
            )
            assert store.is_locked(directory)
            await until(pilot, lambda: all(any(c.isdigit() for c in node_row(app, n)[8:]) for n in bench.lab.nodes))
            await until(pilot, lambda: "3/3 osd" in text_in(screen, "#cluster"))
            assert "over the whole run" not in title(screen)
        await asyncio.to_thread(process.wait, PATIENCE_SECONDS)
        runs = store.read_runs(directory)[0]
        assert [run.outcome for run in runs] == ["ok", "ok"], process.describe()
        last = runs[-1].summary.write
        assert last
        await until(pilot, lambda: shows(screen, last))
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running)
    assert process.process.returncode == 0, process.describe()
    assert images(bench.lab, pool) == []
