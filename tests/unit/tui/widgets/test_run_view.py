"""How a run is drawn, by keys: the figure, the heat map, by node, on the whole screen, presented; and its log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.runs.history import History, TimeSeries
from cephtui.analysis.views.live import Live
from cephtui.models import ClusterSample, Event, Finding, Interval, Mark, Node, Sample, Summary, Total
from cephtui.models.metrics import HEADLINE_BY_NAME, HEADLINES
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import load_preset
from cephtui.sessions import store
from cephtui.sessions.jsonlines import parse_sample
from cephtui.targets import parse_target
from cephtui.tui import app as app_module
from cephtui.tui.app import CephtuiApp
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import Chart, Period
from cephtui.tui.charts.heat_map import HeatMap
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.screens.log import LogScreen, tail
from cephtui.tui.screens.presenter import Presenter
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.live_view import DRAWS_PER_SECOND, LiveView
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import (
    NodeNow,
    Shown,
    chart_titles,
    first_event,
    picture,
    shown_of_live,
    shown_of_run,
    window_seconds,
)
from tests.support.fakes import FakeNode
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.replayed import (
    connector_to,
    console,
    console_screen,
    finished,
    held,
    in_a_run,
    let_go,
    said,
    saved,
    screen_text,
    shown,
    text_of,
    until,
)
from tests.support.runs import MIXED, SESSION, WRITE_IOPS, recorded

SMALL, USUAL = (80, 24), (120, 36)
THREE = ("a", "b", "c")
HALF_SECONDS = 10.0
"""Of the recorded run."""


@contextlib.asynccontextmanager
async def half_drawn(
    root: Path, *names: str, size: tuple[int, int] = USUAL
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None], dict[str, FakeNode]]]:
    """The console in mid-run: half of the recording has been taken in and drawn."""
    async with in_a_run(root, *names, size=size) as (app, pilot, hosts):
        await until(pilot, lambda: reached(app) > 9.0)
        yield app, pilot, hosts


def reached(app: ConsoleApp) -> float:
    """Seconds of the run that are drawn."""
    view = console_screen(app).view
    return view.shown.history.reached if view.shown else 0.0


def chart(app: ConsoleApp) -> Chart:
    return console_screen(app).query_one("#chart", Chart)


def title(app: ConsoleApp) -> str:
    return str(chart(app).border_title)


def lines(view: Chart) -> list[str]:
    """What is drawn, by the labels of the lines."""
    assert view._shown is not None
    return [line.label for line in view._shown.lines]


def heat(app: ConsoleApp, direction: str = "write") -> HeatMap:
    return console_screen(app).query_one(f"#{direction}-heat", HeatMap)


def has_heat(app: ConsoleApp, direction: str = "write") -> bool:
    """Whether the heat map is on the screen."""
    return any(each.display and each.region.height > 0 for each in console_screen(app).query(f"#{direction}-heat"))


@pytest.mark.parametrize(
    ("reached", "expected", "window"),
    [(0.0, 42.0, 42.0), (41.0, 42.0, 42.0), (45.0, 42.0, 45.0), (10.0, 1800.0, 60.0), (54.0, 1800.0, 60.0),
     (55.0, 1800.0, 120.0), (900.0, 1800.0, 1800.0), (1700.0, 1800.0, 1800.0), (90_000.0, 100_000.0, 90_000.0),
     (5.0, 0.0, 5.0)],
)  # fmt: skip
def test_the_axis_of_a_long_run_grows_with_it(reached: float, expected: float, window: float) -> None:
    assert window_seconds(reached, expected) == window


def lasting(seconds: float, *, whole: bool = False) -> Shown:
    """A run of which so many seconds are measured."""
    history = History()
    history.reached = seconds
    return Shown(history, {}, (), seconds, whole=whole)


def test_only_what_is_shorter_than_the_run_is_a_part_of_it() -> None:
    assert [lasting(seconds).zooms for seconds in (15.0, 40.0, 60.5)] == [(None,), (None, 15.0), (None, 60.0, 15.0)]
    assert lasting(40.0).part(60.0) is None, "all of it is seen"
    assert lasting(40.0).part(None) is None


@pytest.mark.parametrize(
    ("whole", "around", "begin"),
    [(False, None, 240.0), (False, 100.0, 240.0), (True, None, 240.0), (True, 100.0, 70.0), (True, 5.0, 0.0),
     (True, 290.0, 240.0)],
)  # fmt: skip
def test_a_part_is_the_newest_or_around_a_moment_of_a_run_that_is_over(
    whole: bool, around: float | None, begin: float
) -> None:
    assert lasting(300.0, whole=whole).part(60.0, around) == TimeSpan(begin, begin + 60, 300.0)


def test_a_saved_run_is_seen_around_its_first_stall_else_its_first_mark() -> None:
    run = lasting(100.0, whole=True)
    marks, stall = ((70.0, "later"), (40.0, "frozen")), Period(50.0, 55.0, "no I/O", True)
    assert first_event(run) is None
    assert first_event(replace(run, marks=marks)) == 40.0
    assert first_event(replace(run, marks=marks, spans=(stall,))) == 50.0


# ------------------------------------------------------------------ without a console around it


class Bare(CephtuiApp):
    """A screen with a run on it, and nothing that runs."""

    CSS_PATH = Path(app_module.__file__).with_name("app.tcss")

    def __init__(self, *parts: RunView | LiveView) -> None:
        super().__init__(Path("/nonexistent"))
        self.parts = parts

    def on_mount(self) -> None:
        self.push_screen(BareScreen(self.parts))


class BareScreen(RunScreen):
    """Its parts are handed in."""

    def __init__(self, parts: Sequence[RunView | LiveView]) -> None:
        super().__init__()
        self.parts = parts

    def compose(self) -> ComposeResult:
        yield from self.parts


@contextlib.asynccontextmanager
async def bare(
    *parts: RunView | LiveView, size: tuple[int, int] = USUAL
) -> AsyncIterator[tuple[App[None], Pilot[None]]]:
    app = Bare(*parts)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BareScreen) and bool(app.screen.query("#chart")))
        yield app, pilot


def samples() -> list[Sample]:
    return list(store.read_samples(SESSION, WRITE_IOPS))


def beginning(*names: str) -> list[Event]:
    """Of the recorded run, on these nodes."""
    run = store.read_run(SESSION, WRITE_IOPS)
    preset = load_preset(packaged_presets_dir() / f"{run.preset}.toml", user=False)
    nodes = tuple(Node(name=name) for name in names or ("local",))
    request = Request((preset,), nodes, parse_target(run.target, owner_id="0a1b2c3d"), {"runtime": "20"})
    return [make_plan(request, new_batch), run.model_copy(update={"outcome": None})]


def half_way(*names: str) -> Shown:
    """The first half of the recorded run, as if each of these nodes had run it."""
    live = Live()
    for event in beginning(*names):
        live.take(event)
    for sample in samples():
        if sample.elapsed_seconds <= HALF_SECONDS:
            for name in (names or ("local",)) if sample.node else (None,):
                live.take(replace(sample, node=name))
    assert live.current
    return shown_of_live(live.current)


@contextlib.asynccontextmanager
async def half_shown(
    *names: str, size: tuple[int, int] = USUAL
) -> AsyncIterator[tuple[App[None], Pilot[None], RunView]]:
    """The same, drawn with no console around it."""
    view = RunView()
    async with bare(view, size=size) as (app, pilot):
        view.show(half_way(*names))
        assert view.shown is not None
        assert view.shown.history.reached > 9.0
        yield app, pilot, view


def chart_in(view: RunView) -> Chart:
    return view.query_one("#chart", Chart)


def title_in(view: RunView) -> str:
    return str(chart_in(view).border_title)


# ------------------------------------------------------------------ which figure


async def test_a_key_goes_round_the_figures() -> None:
    async with half_shown() as (app, pilot, view):
        assert title_in(view).split()[0] == "IOPS"
        seen = {}
        for _ in HEADLINES:
            await pilot.press("v")
            await pilot.pause()
            seen[title_in(view).split()[0]] = text_of(app, chart_in(view))
        assert title_in(view).split()[0] == "IOPS", "after the last comes the first"
    assert list(seen) == ["bandwidth", "latency", "IOPS"]
    assert "MiB/s┤" in seen["bandwidth"]
    assert " ms┤" in seen["latency"]
    assert "write p99" in seen["latency"]
    assert re.search(r"\d+k┤", seen["IOPS"])


async def test_where_there_is_little_room_a_title_has_figures_before_the_name_of_the_only_flow() -> None:
    async with half_shown() as (_, _, view):
        titles = chart_titles(known(view.shown), HEADLINE_BY_NAME["latency"], by_node=False)
    words = [re.sub(r"[\d.]+ [mu]?s", "", title().plain).split() for title in titles]
    assert words == [
        *[["latency", "write", "write", "p99"]] * 2,
        ["latency", "write", "p99"],
        ["latency", "p99"],
        ["lat", "p99"],
        ["p99", "w"],
    ]


async def test_other_clients_are_a_line_with_its_legend_in_the_chart_of_iops() -> None:
    async with half_shown() as (_, _, view):
        assert "other clients" not in title_in(view)
        curve = TimeSeries()
        for second, iops in ((5.0, None), (6.0, 900.0), (7.0, 1200.0)):
            curve.add(second, iops)
        view.show(replace(half_way(), other_clients=curve, other_clients_iops=1200.0))
        assert "other clients 1.20k/s" in title_in(view)
        (line,) = [
            one for one in picture(known(view.shown), HEADLINE_BY_NAME["iops"]).lines if one.label == "other clients"
        ]
        assert line.points[1:] == ((6.0, 900.0), (7.0, 1200.0))
        view.show(replace(half_way(), other_clients=curve))
        assert "other clients" not in title_in(view), "not now"


async def test_what_the_chart_shows_is_not_shown_again_below_it() -> None:
    async with half_shown() as (app, pilot, view):
        below = []
        for _ in HEADLINES:
            await pilot.pause()
            below.append(set(text_of(app, view.query_one("#write-sparks")).split()))
            await pilot.press("v")
    labels = {"IOPS", "bw", "mean", "p99"}
    assert [labels - row for row in below] == [{"IOPS"}, {"bw"}, {"mean", "p99"}]


async def test_the_figure_of_a_run_is_that_of_its_preset(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        for key, figure in (("1", "bandwidth"), ("2", "IOPS"), ("5", "latency")):
            before = len(saved(tmp_path))
            await pilot.press(key, "enter")
            await until(pilot, lambda before: len(saved(tmp_path)) > before, before)
            await finished(app, pilot)
            assert title(app).split()[0] == figure


async def test_the_whole_run_is_told_at_its_end(tmp_path: Path) -> None:
    async with half_drawn(tmp_path) as (app, pilot, hosts):
        assert "mean" in title(app)
        assert "whole run" not in title(app)
        let_go(app, hosts)
        await finished(app, pilot)
        total = saved(tmp_path)[0].summary.write
        assert total is not None
        assert f"write {units.iops(total.iops)}" in re.sub(r"\[[^]]*\]", "", title(app))
        assert "whole run" in title(app)


# ------------------------------------------------------------------ the heat map


async def test_a_key_shows_the_heat_map_and_hides_it(tmp_path: Path) -> None:
    async with half_drawn(tmp_path) as (app, pilot, hosts):
        assert not has_heat(app)
        await pilot.press("h")
        for size in (USUAL, SMALL):
            await pilot.resize_terminal(*size)
            has_room = size == USUAL  # where there is none for both, the map takes the chart's
            await until(pilot, lambda has_room: chart(app).display == has_room, has_room)
            await until(pilot, lambda: has_heat(app) and "▀" in text_of(app, heat(app)))
            drawn = text_of(app, heat(app))
            assert "write latency" in drawn
            assert re.search(r"\d ms┤", drawn)
            assert heat(app).size.height >= 5
            assert not has_heat(app, "read"), "nothing is read"
        let_go(app, hosts)
        await finished(app, pilot)
        await pilot.pause()
        assert text_of(app, heat(app)) != drawn, "it follows the run"
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: has_heat(app))
            await pilot.press("h")
            await until(pilot, lambda: not has_heat(app) and chart(app).size.height >= 5)
            await pilot.press("h")


async def test_chart_and_heat_map_have_one_time_axis() -> None:
    view = RunView()
    async with bare(view, size=(120, 50)) as (app, pilot):
        history = History()  # as it stands at the end of a run: the stored overview has no latencies by second
        for sample in store.read_samples(SESSION, MIXED):
            history.add(sample)
        view.show(shown_of_run(store.read_run(SESSION, MIXED), history, ()))
        await pilot.press("h")
        maps = {each: view.query_one(f"#{each}-heat", HeatMap) for each in ("read", "write")}
        await until(pilot, lambda: maps["read"].display and "▀" in text_of(app, maps["read"]))
        drawn = {each: text_of(app, shown).splitlines()[1:-1] for each, shown in maps.items()}
        axis = text_of(app, chart_in(view)).splitlines()
    ramp = max(row.index("┊") for row in axis if "┊" in row)  # fio tells no latencies before it ends
    for rows in drawn.values():
        columns = [column for row in rows for column, letter in enumerate(row) if letter in "▀▄█"]
        assert abs(min(columns) - ramp) <= 1
        assert max(columns) >= len(axis[0]) - 4
        assert rows[-1] == axis[-2], "the times below"


async def test_the_heat_map_at_80x24(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await pilot.press("h")
        await until(pilot, lambda: has_heat(app) and "▀" in text_of(app, heat(app)))
        golden.same(text_of(app, heat(app)))


# ------------------------------------------------------------------ by node


async def test_a_key_draws_a_line_for_each_node() -> None:
    async with half_shown(*THREE) as (_, pilot, view):
        assert lines(chart_in(view)) == ["write"]
        await pilot.press("b")
        await until(pilot, lambda: lines(chart_in(view)) == list(THREE))
        assert "by node" in title_in(view)
        await pilot.press("v", "v")
        await pilot.pause()
        assert "p99 by node" in title_in(view)
        assert lines(chart_in(view)) == list(THREE)
        await pilot.press("b")
        await until(pilot, lambda: lines(chart_in(view)) == ["write", "write p99"])


async def test_each_node_is_told_beside_the_chart(tmp_path: Path) -> None:
    async with half_drawn(tmp_path, *THREE, size=SMALL) as (app, pilot, _):
        box = console_screen(app).query_one("#nodes-panel")
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: len(re.findall(r"\b[abc] +[\d.]+k", text_of(app, box))) == 3)
            assert len(re.findall(r"\d ms", text_of(app, box))) == 3
            assert "nodes: IOPS, clat p99" in text_of(app, box)
            assert chart(app).size.width > box.size.width


async def test_where_there_are_many_nodes_the_slowest_are_told() -> None:
    names = tuple(f"node{number:02}" for number in range(30))
    async with half_shown(*names, size=SMALL) as (app, pilot, view):
        box = view.query_one("#nodes-panel")
        await until(pilot, lambda: "faster" in text_of(app, box))
        told = re.findall(r"node\d\d", text_of(app, box))
        hidden = re.search(r"\+(\d+)", text_of(app, box))
    assert hidden is not None
    assert len(told) + int(hidden[1]) == 30


# ------------------------------------------------------------------ the whole screen


async def test_escape_leaves_the_whole_screen_and_not_the_run(tmp_path: Path) -> None:
    hidden = ("#panels", "#form", "#command", "#runs")
    async with half_drawn(tmp_path, size=SMALL) as (app, pilot, hosts):
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            before = chart(app).size.height
            await pilot.press("F")
            await until(pilot, lambda before: chart(app).size.height > before, before)
            assert not any(console_screen(app).query_one(each).display for each in hidden)
            text = screen_text(app)
            assert "#1 write-iops running" in text
            assert "IOPS" in text
            await pilot.press("v", "h")
            await until(pilot, lambda: heat(app).display)
            assert reached(app) > 9.0, "the run continues"
            await pilot.press("h", "escape")
            await until(pilot, lambda before: chart(app).size.height == before, before)
            assert all(console_screen(app).query_one(each).display for each in hidden)
            assert app.busy
            await pilot.press("F")
            await until(pilot, lambda before: chart(app).size.height > before, before)
            await pilot.press("F")
            await until(pilot, lambda before: chart(app).size.height == before, before)
            await pilot.press("v", "v")  # the figure of before
        let_go(app, hosts)
        await finished(app, pilot)
    assert saved(tmp_path)[0].outcome == "ok"


# ------------------------------------------------------------------ presented


def figures(app: ConsoleApp, part: str = ".word") -> list[str]:
    """What both figures are, or say, in the presenter."""
    return [each._texts[-1] for each in app.screen.query(part).results(Big) if each._texts]


async def test_the_presenter_follows_the_run_and_escape_does_not_end_it(tmp_path: Path) -> None:
    async with half_drawn(tmp_path, size=SMALL) as (app, pilot, hosts):
        shown_now = console_screen(app).view.shown
        assert shown_now is not None
        now = shown_now.current["write"]
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, Presenter))
        p99 = units.latency(now.latency_p99_seconds).partition(" ")[0]
        await until(pilot, lambda: figures(app, ".value") == [units.iops(now.iops), p99])
        assert figures(app) == ["IOPS write", "clat p99 ms"]
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: "┤" in text_of(app, app.screen.query_one(Chart)))
            assert "██" in text_of(app, app.screen.query_one("#figures"))
            assert app.screen.query(".value").first(Big).size.height >= 5
            assert text_of(app, app.screen.query_one("#presented")).split()[:8] == [
                *["write-iops", "4k", "randwrite,", "depth", "64,", "jobs", "8,", "20"]
            ]
        await pilot.press("v")
        await until(pilot, lambda: figures(app)[0] == "MiB/s write")
        await pilot.press("v")
        await until(pilot, lambda: figures(app)[0] == "clat mean ms")
        await pilot.press("v")
        let_go(app, hosts)

        def total() -> Total | None:
            return saved(tmp_path)[0].summary.write

        await until(pilot, lambda: total() is not None)
        await until(pilot, lambda: figures(app, ".value")[0] == units.iops(known(total()).iops))
        assert "whole run" in text_of(app, app.screen.query_one("#presented"))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Presenter))
    assert saved(tmp_path)[0].outcome == "ok"


async def test_leaving_the_presenter_in_mid_run_leaves_the_run_alone(tmp_path: Path) -> None:
    async with half_drawn(tmp_path, size=SMALL) as (app, pilot, _):
        for key in ("escape", "f", "q"):
            await pilot.press("f")
            await until(pilot, lambda: isinstance(app.screen, Presenter))
            await pilot.press(key)
            await until(pilot, lambda: app.screen is console_screen(app))
            assert app.busy


async def test_the_presenter_before_any_run_says_how_to_begin_one(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, Presenter))
        await until(pilot, lambda: ConsoleScreen.PRESENTS_NOTHING in screen_text(app))
        assert "#" not in screen_text(app)
        assert "█" not in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Presenter))


# ------------------------------------------------------------------ the log


def log(app: ConsoleApp, part: str) -> str:
    return str(app.screen.query_one(f"#log-{part}", Static).render())


async def test_the_log_has_the_command_and_the_raw_output(tmp_path: Path) -> None:
    async with half_drawn(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and bool(app.screen.query("#log-output")))
        raw = tmp_path / "sessions" / "tuning" / "001" / "raw" / "local.stdout"
        during = raw.read_text()
        assert log(app, "command") == f"$ {saved(tmp_path)[0].command}"
        await until(pilot, lambda: log(app, "output").rstrip() == during[-len(log(app, "output")) :].rstrip())
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: during.splitlines()[-1] in text_of(app, app.screen.query_one("#log")))
            assert "$ fio --name=write-iops" in screen_text(app)
            assert "write-iops on local" in screen_text(app)
        let_go(app, hosts)
        await until(pilot, lambda: log(app, "output") == tail(raw) != during)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, LogScreen))
    assert saved(tmp_path)[0].outcome == "ok"


def is_log(app: ConsoleApp, node: str, number: int) -> bool:
    """Whether that of a node, one of three, is on the screen."""
    return re.search(rf" {node} \({number} \w+ 3,", screen_text(app)) is not None


async def test_the_log_goes_from_node_to_node(tmp_path: Path) -> None:
    async with half_drawn(tmp_path, *THREE, size=SMALL) as (app, pilot, _):
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and is_log(app, "a", 1))
        commands = []
        for key in ("right", "right", "right", "left"):
            commands.append(log(app, "command"))
            await pilot.press(key)
            await pilot.pause()
        assert is_log(app, "c", 3)
        assert app.busy
    assert [f"test.{name} " in command for name, command in zip(THREE, commands, strict=False)] == [True] * 3
    assert commands[3:] == commands[2:3] or f"test.{THREE[0]} " in commands[3]


async def test_the_log_of_a_run_that_has_printed_nothing_is_that_of_the_filling(tmp_path: Path) -> None:
    hosts = held("local", at=0.0)
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(hosts["local"].log.of("waits in write-iops")))
        await until(pilot, lambda: "prefilling" in shown(app, "#progress"))
        await pilot.press("l")
        raw = tmp_path / "sessions" / "tuning" / "001" / "raw" / "local.prepare.stdout"
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and log(app, "output") == tail(raw) != "")


async def test_the_log_before_any_run_says_so(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("l")
        await until(pilot, lambda: said(app)[-1] == ConsoleScreen.NOTHING)


def test_the_tail_of_a_file_begins_with_a_line(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "out"
    assert tail(path) == ""
    path.write_bytes(b"x" * 20_000 + b"\nlast [b]line\xff\n")
    assert tail(path) == "last [b]line�\n"
    path.with_name(f"{path.name}.tail").write_text("cephtui: 5 bytes are left out here\nthe end\n")
    golden.same(tail(path))
    path.with_name(f"{path.name}.tail").unlink()
    path.write_text("x" * 50_000)
    assert tail(path) == "x" * 12_000  # a line without an end
    path.write_bytes(b"short")
    assert tail(path) == "short"


# ------------------------------------------------------------------ what is drawn of plain data


def without_histograms() -> History:
    """As of a tool that tells means only."""
    history = History()
    for line in (SESSION / f"{WRITE_IOPS:03}" / "samples.jsonl").read_text().splitlines():
        told = json.loads(line)
        for direction in ("read", "write"):
            for figure in ("latency_buckets", "latency_p99_seconds"):
                if told.get(direction):
                    told[direction][figure] = None
        if told["node"] is None:
            history.add(parse_sample(json.dumps(told)))
    return history


async def test_a_tool_without_a_histogram_has_no_heat_map_and_that_is_said(golden: Golden) -> None:
    view = RunView()
    async with bare(view) as (app, pilot):
        view.show(shown_of_run(store.read_run(SESSION, WRITE_IOPS), without_histograms(), ()))
        await pilot.press("h")
        await until(pilot, lambda: bool(app._notifications))
        (told,) = [notice.message for notice in app._notifications]
        golden.same(told)
        assert not view.query("#write-heat")
        assert view.query_one("#chart").size.height > 10, "the chart keeps its room"
        await pilot.press("v", "v")
        await pilot.pause()
        assert "write" in lines(view.query_one("#chart", Chart))


def of_link() -> Shown:
    """A run that has bandwidth alone, as of a network link."""
    history = History()
    for second in range(1, 11):
        history.add(Sample(1, None, "p", "run", second, 1.0, None, Interval(None, 125_000_000, None, 125e6)))
    total = Total(ios=None, bytes=1_250_000_000, runtime_seconds=10, iops=None, bandwidth_bytes=125e6)
    return shown_of_run(recorded(tool="iperf3", summary=Summary(write=total)), history, ())


@pytest.mark.parametrize("size", [SMALL, (200, 50)])
async def test_the_chart_is_of_what_the_tool_tells_in_its_own_units(size: tuple[int, int]) -> None:
    view = RunView()
    async with bare(view, size=size) as (app, pilot):
        view.show(of_link())
        await pilot.pause()
        assert " bandwidth " in title_in(view)
        assert "1.00 Gbit/s" in title_in(view)
        shown = screen_text(app)
        assert not re.search(r"IOPS|latency|MiB/s| - ", shown), shown
        await pilot.press("v")
        await pilot.pause()
        assert " bandwidth " in title_in(view), "there is no other"


async def test_a_screen_that_is_being_left_draws_no_more() -> None:
    first, view = RunView(), RunView()
    async with bare(first, size=(200, 50)) as (app, pilot):
        await app.push_screen(BareScreen((view,)))
        await until(pilot, lambda: bool(view.query("#chart")))
        left, shown = app.pop_screen(), half_way(*THREE)
        while view.display:
            await asyncio.sleep(0)
        view.show(shown)
        await left
        assert not view.query("#below")


async def test_by_node_without_nodes_is_as_before() -> None:
    view = RunView()
    async with bare(view) as (_, pilot):
        await pilot.press("b", "h", "v")
        assert not view.query("#write-heat")
        view.show(shown_of_run(store.read_run(SESSION, WRITE_IOPS), without_histograms(), ()))
        await pilot.pause()
        assert lines(view.query_one("#chart", Chart)) == ["write"]


async def test_a_node_that_says_nothing_is_marked() -> None:
    view = RunView()
    async with bare(view) as (app, pilot):
        history = without_histograms()
        view.show(Shown(history, {}, (NodeNow("local", 0.001), NodeNow("gone", None, late=True)), 22.0))
        await pilot.pause()
        view.show(Shown(history, {}, (NodeNow("local", 0.001), NodeNow("gone", None, late=True)), 22.0))
        await until(pilot, lambda: "gone" in text_of(app, view.query_one("#nodes-panel")))
        assert re.search(r"gone +no data", text_of(app, view.query_one("#nodes-panel")))


async def test_marks_of_other_runs_are_not_drawn() -> None:
    run = store.read_run(SESSION, WRITE_IOPS)
    others = [
        Mark(at=run.started_at, run=run.run + 1, elapsed_seconds=3.0, text="another"),
        Mark(at=run.started_at, text="between"),
        Mark(at=run.started_at, run=run.run, text="while it was filled"),
    ]
    own = Mark(at=run.started_at, run=run.run, elapsed_seconds=5.0, text="its own")
    assert shown_of_run(run, without_histograms(), [*others, own]).marks == ((5.0, "its own"),)


async def test_what_happened_is_drawn_of_a_saved_run() -> None:
    """Where it was, with a text; findings without a time are none of the time line."""
    run = store.read_run(SESSION, WRITE_IOPS)
    down = Finding(code="osd-down", text="osd.2 was down", label="osd.2 down", from_seconds=5.0, to_seconds=12.0)
    stall = Finding(code="stalled", text="no completion", label="no completion", from_seconds=6.0, to_seconds=9.0)
    told = run.model_copy(update={"findings": (Finding(code="short", text="short"), down, stall)})
    shown = shown_of_run(told, without_histograms(), ())
    assert shown.spans == (Period(6.0, 9.0, "no completion", stalled=True), Period(5.0, 12.0, "osd.2 down"))
    view = RunView()
    async with bare(view) as (app, pilot):
        view.show(shown)
        await pilot.pause()
        drawn = text_of(app, view.query_one("#chart"))
        view.show(shown_of_run(run, without_histograms(), ()))
        await pilot.pause()
        without = text_of(app, view.query_one("#chart"))
    assert "osd.2 down" in drawn
    assert "no completion" in drawn
    assert "━" in drawn
    assert "━" not in without


async def test_what_happens_is_drawn_while_it_does() -> None:
    """From what a live run's cluster says, before the run has ended and any finding is kept."""
    plan, began = beginning()
    live = Live()
    for event in (plan, began):
        live.take(event)
    assert live.current
    for second in range(1, 11):
        done = Interval(1000, 4096000, 1000.0, 4096e3)
        for node in ("local", None):
            live.take(Sample(1, node, "write-iops", "run", second, 1.0, None, done))
        count = {"osds": 3, "osds_up": 2 if second > 5 else 3, "osds_down": ("osd.1",) if second > 5 else ()}
        live.take(ClusterSample.model_validate({"run": 1, "elapsed_seconds": second, **count}))
    assert shown_of_live(live.current).spans == (Period(6.0, 10.0, "osd.1 down"),)


async def test_a_mark_is_read_wherever_it_is() -> None:
    """Also beside the line where the ramp ends."""
    run = store.read_run(SESSION, WRITE_IOPS)
    view = RunView()
    async with bare(view) as (app, pilot):
        for number, seconds in enumerate((0.0, 0.3, 1.0, 1.9, 2.0, 2.3, 5.0, 12.0, 21.9)):
            text = f"osd_memory_target {number}G"
            mark = Mark(at=run.started_at, run=run.run, elapsed_seconds=seconds, text=text)
            view.show(shown_of_run(run, without_histograms(), [mark]))
            await pilot.pause()
            assert text in text_of(app, view.query_one("#chart")), seconds


# ------------------------------------------------------------------ a terminal that stands still


class Recorded:
    """A source that tells what a test puts into it."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def drain(self) -> list[Event]:
        events, self.events = self.events, []
        return events


class Writer:
    """Textual's thread that writes to the terminal, so many frames behind."""

    def __init__(self) -> None:
        self.behind = 0
        self._queue = self

    def qsize(self) -> int:
        return self.behind


async def test_a_stalled_terminal_is_not_drawn_to_and_nothing_is_lost() -> None:
    source, writer = Recorded(), Writer()
    live = LiveView(source)
    async with bare(live) as (app, pilot):
        app._driver._writer_thread = writer  # type: ignore[union-attr]
        view = live.query_one(RunView)
        begun, told = beginning(), samples()
        source.events += [*begun, *told[:10]]
        live.catch_up()
        drawn = view.shown
        assert drawn is not None
        now = drawn.history.reached
        writer.behind = 30
        draws: list[Shown] = []

        def keep(shown: Shown) -> None:
            draws.append(shown)

        view.show, show = keep, view.show  # type: ignore[method-assign]
        for sample in told[10:]:
            source.events.append(sample)
            live.catch_up()
        assert draws == []
        assert live.current is not None
        assert live.current.history.reached > now, "what comes in is kept"
        writer.behind = 0
        source.events.append(told[-1])
        live.catch_up()
        assert len(draws) == 1
        assert draws[0].history.reached == told[-1].elapsed_seconds
        view.show = show  # type: ignore[method-assign]
        app._driver._writer_thread = None  # type: ignore[union-attr]
        await pilot.pause()


async def test_nothing_is_taken_in_before_it_is_to_listen() -> None:
    source = Recorded()
    source.events += beginning()
    live = LiveView(source, listens=False)
    async with bare(live) as (_, pilot):
        await pilot.pause(3 / DRAWS_PER_SECOND)
        assert source.events, "who shows the run elsewhere is not there yet"
        live.listen()
        await until(pilot, lambda: live.current is not None)


async def test_a_run_on_a_stalled_terminal_goes_to_its_end(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        writer = Writer()
        writer.behind = 30
        app._driver._writer_thread = writer  # type: ignore[union-attr]
        await pilot.press("2", "enter")
        await until(pilot, lambda: [run.outcome for run in saved(tmp_path)] == ["ok"])
        writer.behind = 0
        await finished(app, pilot)
        assert "whole run" in title(app)
        app._driver._writer_thread = None  # type: ignore[union-attr]
