"""The console, driven by keys, on a replayed run; and on a real file where something must not be harmed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import DataTable

from cephtui import units
from cephtui.models import Node
from cephtui.paths import packaged_presets_dir
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.targets import parse_target
from cephtui.tui.charts.chart import Chart
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.form import FormScreen
from cephtui.tui.console.panels import Panels, PresetPanel
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.console.start import Start
from cephtui.tui.dialogs import Confirm, Details, TypeName
from cephtui.tui.keys import SIGNS, KeyBar
from cephtui.tui.pickers.commands import CommandPicker
from cephtui.tui.pickers.nodes import NodePicker
from cephtui.tui.pickers.presets import PresetPicker
from cephtui.tui.pickers.targets import TargetPicker
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.widgets.pick_list import PickList
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support.fakes import FakeNode
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import FILE, catalogue
from tests.support.replayed import (
    PRESETS,
    burst,
    columns,
    connector,
    connector_to,
    console,
    console_screen,
    finished,
    held,
    in_a_run,
    let_go,
    rows,
    running,
    said,
    saved,
    screen_text,
    shown,
    text_of,
    until,
)
from tests.support.runs import MIXED, SESSION, WRITE_IOPS

FAST = 60.0
SMALL, USUAL = (80, 24), (120, 36)
SIZES = (SMALL, (93, 25), USUAL, (200, 50))
BLOCKS = "▁▂▃▄▅▆▇█"


async def test_each_key_selects_its_preset_and_enter_runs_it(tmp_path: Path) -> None:
    recorded = known(store.read_run(SESSION, WRITE_IOPS).summary.write)
    number = 0
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        for key, preset in ((str(each), name) for each, name in enumerate(PRESETS, 1)):
            await pilot.press(key, "enter")
            number += 2 if key == "5" else 1
            await until(pilot, lambda number: rows(app)[:1] != [] and rows(app)[0][0].strip() == str(number), number)
            await finished(app, pilot)
            panel = app.screen.query_one(f"#panel-{key}", PresetPanel)
            assert panel.has_class("selected")
            await until(pilot, lambda panel: panel.result.text.split()[0] in text_of(app, panel), panel)
            seen = text_of(app, panel)
            assert key == "5" or sum(letter in BLOCKS for letter in seen.splitlines()[-1]) >= 3, "how it went"
            runs = [run for run in saved(tmp_path) if run.preset == preset]
            assert [run.outcome for run in runs] == ["ok"] * (2 if key == "5" else 1)
            measured = known(runs[-1].summary.write)
            assert (measured.bytes, measured.ios_reported) == (recorded.bytes, recorded.ios)
            assert measured.latency_p99_seconds == recorded.latency_p99_seconds
            titles = ("#", "preset", "differs", "", "IOPS", "bandwidth", "clat mean", "clat p99", "outcome")
            table = columns(console_screen(app).query_one(RunsTable), *titles)
            assert table[0] == [
                str(number),
                preset,
                "20s",
                "write",
                # what is replayed was measured with 4k: with 1M its IOPS and its bandwidth do not agree
                f"{units.iops(measured.iops)}{'!' * (key in '13')}",
                units.bandwidth(measured.bandwidth_bytes),
                units.latency(measured.latency_mean_seconds),
                units.latency(measured.latency_p99_seconds),
                "questionable" if key in "13" else "ok",
            ]
    assert len(saved(tmp_path)) == number == 7


async def test_the_command_is_shown_before_and_during_the_run(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=4.0, size=USUAL) as (app, pilot):
        await pilot.press("right")
        before = shown(app, "#command")
        assert "--name=write-iops" in before
        assert "--runtime=20" in before
        assert "prefills 1.00 GiB first" in before
        await pilot.press("enter")
        await until(pilot, lambda: " running " in shown(app, "#progress"))
        during = shown(app, "#command")
        await pilot.press("s")
        await finished(app, pilot)
    assert during == before.partition("  #")[0]
    assert saved(tmp_path)[0].command == during.removeprefix("$ ")


async def test_a_mixed_run_shows_reads_and_writes_apart(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=MIXED, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press("6", "enter")
        await finished(app, pilot)
        for direction in ("read", "write"):
            assert direction in text_of(app, app.screen.query_one(f"#{direction}-sparks"))
        title = str(app.screen.query_one("#chart", Chart).border_title)
        directions = [row[0] for row in columns(console_screen(app).query_one(RunsTable), "")]
    assert all(word in title for word in ("total", "read", "write"))
    golden.same(re.sub(r"\[[^]]*\]", "", title))
    assert directions == ["read", "write"]


async def test_stop_keeps_what_was_measured(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await pilot.press("s")
        await finished(app, pilot)
        assert "stopped" in shown(app, "#progress")
        assert "incomplete" in shown(app, "#progress")
    run = saved(tmp_path)[0]
    assert run.outcome == "stopped"
    assert run.summary.write
    assert {finding.code for finding in run.findings} >= {"incomplete"}


async def test_stop_right_after_the_run_key_meets_that_run(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=4.0, size=SMALL) as (app, pilot):
        await pilot.press("3", "enter", "s")
        await until(pilot, lambda: not app.busy)
    assert [run.outcome for run in saved(tmp_path)] in ([], ["stopped"])


async def test_quitting_during_a_run_asks_first(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        for no in ("n", "escape", "enter"):
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            await pilot.press(no)
            await until(pilot, lambda: not isinstance(app.screen, Confirm))
            assert app.busy, "the harmless answer has the focus"
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: not app.is_running)
    run = saved(tmp_path)[0]
    assert run.outcome == "stopped"
    assert run.summary.write


async def test_quitting_runs_nothing_of_what_waits(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("4", "enter", "6", "enter", "q")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: not app.is_running)
    assert [(run.preset, run.outcome) for run in saved(tmp_path)] == [("write-iops", "stopped")]
    assert hosts["local"].log.of("started read-iops") == []


async def test_quitting_when_idle_does_not_ask(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=SMALL) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert saved(tmp_path) == []


# ------------------------------------------------------------------ choosing


async def test_a_preset_without_a_key_is_chosen_and_run(tmp_path: Path) -> None:
    own = tmp_path / "no-presets-of-the-user"
    own.mkdir()
    text = (packaged_presets_dir() / "write-iops.toml").read_text()
    (own / "mine.toml").write_text(re.sub("(?m)^key = .*$", "", text).replace('"4k"', '"64k"'))
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=SMALL) as (app, pilot):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PresetPicker))
        await pilot.press(*"mine", "enter")
        await until(pilot, lambda: shown(app, "#form").split()[1:4] == ["mine:", "64k", "randwrite,"])
        assert "--name=mine " in shown(app, "#command")
        await pilot.press("enter")
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["mine"]


async def test_a_broken_preset_is_told_and_the_others_work(tmp_path: Path) -> None:
    own = tmp_path / "no-presets-of-the-user"
    own.mkdir()
    (own / "broken.toml").write_text('title = "[b]x"\nkey = 10\n[options]\nrw = "read"')
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=SMALL) as (app, pilot):
        (told,) = [text for text in said(app) if "broken.toml" in text]
        assert "key" in told
        await pilot.press("2", "enter")
        await finished(app, pilot)
    assert [run.outcome for run in saved(tmp_path)] == ["ok"]


async def test_a_target_is_chosen_and_run(tmp_path: Path) -> None:
    hosts = {"local": FakeNode(Node(name="local"))}
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TargetPicker))
        await pilot.press(*"file:/mnt/bench/other", "enter")
        await until(pilot, lambda: "on file:/mnt/bench/other" in shown(app, "#form"))
        assert "--filename=/mnt/bench/other" in shown(app, "#command")
        await pilot.press("2", "enter")
        await finished(app, pilot)
    assert [run.target for run in saved(tmp_path)] == ["file:/mnt/bench/other"]


async def test_an_answer_that_comes_while_the_console_is_left_harms_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, speed=1, size=SMALL) as (app, pilot):
        screen = app._console_screen
        await screen.remove_children()
        screen._show_choice()
        await pilot.pause()
        assert app.is_running


async def test_nodes_are_chosen_and_run_on(tmp_path: Path) -> None:
    hosts = {name: FakeNode(Node(name=name, host=name)) for name in ("a", "b")}
    async with console(tmp_path, nodes=("a",), connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, NodePicker))
        await pilot.press("b", "space", "enter")
        await until(pilot, lambda: not isinstance(app.screen, NodePicker))
        await until(pilot, lambda: re.search(r"\ba\b.*\bb\b.*ready", shown(app, "#bar")) is not None)
        await pilot.press("2", "enter")
        await finished(app, pilot)
    assert [[node.node for node in run.nodes] for run in saved(tmp_path)] == [["a", "b"]]


async def test_a_node_that_can_not_be_reached_is_told_with_the_reason(tmp_path: Path) -> None:
    hosts = {name: FakeNode(Node(name=name, host=name)) for name in ("a", "b")}
    hosts["b"].unreachable = "no route to host"
    async with console(tmp_path, nodes=("a", "b"), connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        assert "b: no route to host" in said(app)
        assert re.search(r"\bb\b", shown(app, "#bar"))
        assert "a b ready" not in shown(app, "#bar")
        await pilot.press("2", "enter")
        await until(pilot, lambda: not app.busy)
        assert "not run" in shown(app, "#progress")
        hosts["b"].unreachable = None
        await pilot.press("2", "enter")
        await finished(app, pilot)
    assert [run.outcome for run in saved(tmp_path)] == ["ok"]


async def test_a_run_opens_in_full(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await pilot.press("r", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen) and "p99.99" in screen_text(app))
        top = screen_text(app)
        await pilot.press("end")
        await until(pilot, lambda: "--filename=/mnt/bench/test" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, DetailsScreen))
    assert "tuning/1" in top
    assert "fio 3.33" in top


async def test_the_runs_are_gone_through_with_vi_keys(tmp_path: Path) -> None:
    async with console(tmp_path, run=MIXED, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press("6", "enter")
        await finished(app, pilot)
        table = app.screen.query_one(DataTable)
        await pilot.press("r", "j")
        assert table.cursor_row == 1
        await pilot.press("k")
        assert table.cursor_row == 0
        await pilot.press("escape", "right")
        assert not table.has_focus
        assert app.screen.query_one("#panel-1").has_class("selected"), "after the last comes the first"


# ------------------------------------------------------------------ as it looks


def assert_all_there(app: ConsoleApp, size: tuple[int, int]) -> None:
    """Bar, panels, settings, command, chart, sparklines, progress, runs and keys are on the screen."""
    screen = console_screen(app)
    assert shown(app, "#bar").split() == text_of(app, screen.query_one("#bar")).split(), "the bar is cut off"
    settings = text_of(app, screen.query_one("#form"))
    assert shown(app, "#form").split()[:6] == settings.split()[:6]
    assert len(screen.query(PresetPanel)) == 6
    for panel in screen.query(PresetPanel):
        file, seen = panel.preset.file, text_of(app, panel)
        assert seen.split()[0] == str(file.key)
        titles = (file.title, file.short or file.title)
        assert any(title in seen for title in titles) or (size[1] < 32 and panel.result.short in seen)
    command = text_of(app, screen.query_one("#command")).split()
    assert command[:4] == shown(app, "#command").split()[:4]
    chart = text_of(app, screen.query_one("#chart"))
    assert chart.count("┤") >= 2
    assert "20 s" in chart
    assert screen.query_one("#chart").size.height >= 6
    assert {"preset", "IOPS", "bandwidth", "clat", "p99", "outcome"} <= set(
        text_of(app, screen.query_one("#runs")).split()
    )
    keys = screen.query_one(KeyBar)
    assert str(keys.render()).split() == text_of(app, keys).split(), "the keys are cut off"
    assert {"select", "run", "edit", "target", "stop", "help", "quit"} <= set(str(keys.render()).split())
    assert max(map(len, screen_text(app).splitlines())) <= size[0]


async def resized(app: ConsoleApp, pilot: Pilot[None], size: tuple[int, int]) -> None:
    """The terminal has another size."""
    await pilot.resize_terminal(*size)
    await until(pilot, lambda: tuple(app.size) == size)
    await pilot.pause()


async def test_everything_is_on_the_screen_from_the_start(tmp_path: Path) -> None:
    words = ["1 Write", "6 Mixed", "1M write", FILE, "$ fio", "enter runs it", "? help", "q quit"]
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=SMALL) as (app, pilot):
        await pilot.pause()
        for size in SIZES:
            assert [word for word in words if word not in screen_text(app)] == [], app.size
            await resized(app, pilot, size)
        assert [word for word in words if word not in screen_text(app)] == []


@pytest.mark.parametrize(("run", "key"), [(WRITE_IOPS, "2"), (MIXED, "6")])
async def test_everything_is_on_the_screen_after_a_run(tmp_path: Path, run: int, key: str) -> None:
    async with console(tmp_path, run=run, speed=FAST, size=SMALL) as (app, pilot):
        await pilot.press(key, "enter")
        await finished(app, pilot)
        for size in SIZES:
            await resized(app, pilot, size)
            # the columns of the table take their widths when they are next drawn
            await until(pilot, lambda: all(cell in screen_text(app) for row in rows(app) for cell in row))
            assert_all_there(app, size)
            panel = app.screen.query_one(f"#panel-{key}", PresetPanel)
            assert panel.result.short in text_of(app, panel)
            assert size[1] < 32 or any(letter in BLOCKS for letter in text_of(app, panel))
            for direction in {WRITE_IOPS: ["write"], MIXED: ["read", "write"]}[run]:
                row = app.screen.query_one(f"#{direction}-sparks")

                def is_there(word: str, row: Widget) -> bool:
                    return any(word in text_of(app, each) for each in (row, app.screen.query_one("#over")))

                for word in (direction, "MiB/s"):
                    await until(pilot, is_there, word, row)
                sparks = text_of(app, row)
                assert size == SIZES[-1] or all(word in sparks for word in ("bw", "mean", "p99", "⣿"))


async def test_everything_is_on_the_screen_in_a_run_with_a_queue(tmp_path: Path) -> None:
    hosts = held("pve1", "pve2", "pve3")
    async with console(tmp_path, nodes=tuple(hosts), connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await running(app, pilot)
        await pilot.press("4", "enter", "6", "enter")
        for size in SIZES:
            await resized(app, pilot, size)
            await until(
                pilot, lambda: "queue: 2 runs waiting, about 46 s" in text_of(app, app.screen.query_one("#bar"))
            )
            await until(pilot, lambda: re.search(r"\d \w+ 22 s", shown(app, "#progress")) is not None)
            app.clear_notifications()
            await until(pilot, lambda: "running" in text_of(app, app.screen.query_one("#runs")))
            assert_all_there(app, size)
            nodes = text_of(app, app.screen.query_one("#nodes-panel"))
            assert all(name in nodes for name in hosts)


async def test_resizing_during_a_run_does_no_harm(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, hosts):
        for size in (SMALL, (250, 70), (60, 15), (93, 25), (1, 1), (20, 5), SMALL):
            await resized(app, pilot, size)
            assert app.too_small == (size[0] < 80)
            if not app.too_small:
                await until(pilot, lambda: "#1 write-iops running" in screen_text(app))
                await until(pilot, lambda: "┤" in text_of(app, app.screen.query_one("#chart")))
                assert_all_there(app, size)
            assert app.busy
        let_go(app, hosts)
        await finished(app, pilot)
    assert saved(tmp_path)[0].outcome == "ok"


async def test_slash_filters_the_runs_from_anywhere(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=SMALL) as (app, pilot):
        table = console_screen(app).query_one(RunsTable)
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await pilot.press("slash", *"read")
        await until(pilot, lambda: "0 of 1 runs" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: table.counts == (1, 1) and app.focused is table)
        await pilot.press("slash", *"write", "enter")
        await until(pilot, lambda: "1 of 1 runs" in screen_text(app) and app.focused is table)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.focused, Panels))
        assert table.content.filter == ""


async def test_the_screen_after_a_run(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=MIXED, speed=FAST, size=SMALL) as (app, pilot):
        await pilot.press("6", "enter")
        await finished(app, pilot)
        golden.same(screen_text(app))


# ------------------------------------------------------------------ every key is told


def keys_of(app: ConsoleApp) -> dict[str, str]:
    """What a user can press on the console, with its action: all that the screen and the app bind themselves."""
    found = {}
    for active in console_screen(app).active_bindings.values():
        if isinstance(active.node, ConsoleScreen | ConsoleApp) and active.binding.id:
            found[active.binding.key] = active.binding.action
    return found


async def test_the_help_tells_every_key(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=(120, 60)) as (app, pilot):
        keys = keys_of(app)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Details))
        await pilot.pause()
        text = screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Details))
    told = {word for line in text.splitlines() for word in line[:30].split()}
    signs = {**SIGNS, **{str(number): "1-6" for number in range(1, 7)}}
    working = {key for key in keys if key not in ("7", "8", "9")}
    assert {signs.get(key, key) for key in working} <= told
    assert {*"petnusxmvhbFflrcoq?a/"} <= told, "and these are all that are known of"
    assert {"left", "right", "ctrl+p", "enter"} <= told
    assert "preset 7" not in text


def found_first(app: ConsoleApp) -> str:
    """What enter would do in the palette."""
    row = app.screen.query_one(PickList).row
    return row.cells[0] if row else ""


async def test_the_palette_has_the_same_commands(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        told = {sign for title in titles for sign in title.rpartition("(")[2].rstrip(")").split()}
        for key, action in keys_of(app).items():
            if not re.fullmatch("[1-9]", key):
                assert SIGNS.get(key, key) in told, (key, action)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPicker))
        await pilot.press(*"no such")
        assert isinstance(app.screen, CommandPicker)
        golden.same(app.screen.note())
        assert app.screen.note() in screen_text(app)
        await pilot.press("ctrl+u", *"all six")
        assert found_first(app) == "all six (a)"
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, CommandPicker))
        await until(pilot, lambda: any(text.startswith("queued: ") for text in said(app)))
        await pilot.press("s")
        await until(pilot, lambda: not app.busy)


# ------------------------------------------------------------------ a file that is somebody's


async def test_a_question_and_a_title_are_shown_as_they_are(tmp_path: Path) -> None:
    """What a node, a cluster or a file says may have brackets in it."""
    own = tmp_path / "no-presets-of-the-user"
    own.mkdir()
    (own / "odd.toml").write_text('title = "a [/x] b"\nkey = 4\n[options]\nrw = "randread"\nsize = "4M"\n')
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await until(pilot, lambda: "4 a [/x] b" in screen_text(app))
        await pilot.press("right", "right", "right", "e")
        await until(pilot, lambda: "a [/x] b: fio options" in screen_text(app))
        await pilot.press("escape")
        app.push_screen(Confirm("image [bold]x[/] is [/y] in use", "run", "don't"))
        await until(pilot, lambda: "image [bold]x[/] is [/y] in use" in screen_text(app))


@pytest.fixture
def somebodys(tmp_path: Path) -> Path:
    path = tmp_path / "disk.img"
    path.write_bytes(b"somebody's data" * 1000)
    return path


@pytest.mark.parametrize(("size", "classes"), [((120, 36), {"-wide", "-tall"}), ((80, 24), {"-narrow", "-short"})])
async def test_the_first_frame_has_the_layout_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], classes: set[str]
) -> None:
    layouts: list[Set[str]] = []
    lay_out = Screen._refresh_layout

    def noted(screen: Screen[Any], *arguments: Any, **named: Any) -> None:
        layouts.append(screen.classes)
        lay_out(screen, *arguments, **named)

    monkeypatch.setattr(Screen, "_refresh_layout", noted)
    with Runner(tmp_path / "sessions", "tuning") as runner:
        start = Start((Node(name="local"),), parse_target(f"file:{tmp_path / 'new'}"))
        app = ConsoleApp(catalogue(), start, runner, tmp_path / "sessions")
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: bool(app.screen.query("#panels")))
    assert layouts[0] == classes


async def test_a_file_that_is_somebodys_is_given_up_only_by_its_name(tmp_path: Path, somebodys: Path) -> None:
    content = somebodys.read_bytes()
    with Runner(tmp_path / "sessions", "tuning") as runner:
        start = Start((Node(name="local"),), parse_target(f"file:{somebodys}"))
        app = ConsoleApp(catalogue(), start, runner, tmp_path / "sessions")
        async with app.run_test(size=SMALL) as pilot:
            await until(pilot, lambda: bool(app.screen.query("#panels")))
            # each run asks, whatever is pressed meanwhile, and no answer but the name is a yes
            for keys in (["4", "enter"], ["1", "enter"], ["enter"], ["6", "enter", "m"]):
                await pilot.press(*keys)
                await until(pilot, lambda: isinstance(app.screen, TypeName) and "disk.img" in screen_text(app))
                await pilot.press(*"wrong", "enter")
                assert isinstance(app.screen, TypeName)
                await pilot.press("escape")
                await until(pilot, lambda: not isinstance(app.screen, TypeName))
                if keys[-1] == "m":
                    await pilot.press("escape")
                await until(pilot, lambda: not app.busy)
            await asyncio.to_thread(runner.close)
    assert somebodys.read_bytes() == content
    assert saved(tmp_path) == []


async def test_no_key_of_the_console_harms_anything_without_asking(tmp_path: Path, somebodys: Path) -> None:
    """Every key there is, one after the other, on a target that is somebody's; what is asked gets no answer."""
    hosts = held("local")
    hosts["local"].facts = {"kind": "file", "size": 15000}
    content = somebodys.read_bytes()
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL, target=f"file:{somebodys}") as (
        app,
        pilot,
    ):
        for key in sorted(set(keys_of(app)) - {"q"}):
            await pilot.press(key)
            async with asyncio.timeout(30):
                while app.busy or app.screen is not console_screen(app):
                    await pilot.press("escape")
                    await pilot.pause(0.02)
        assert hosts["local"].started == []
        assert hosts["local"].log.of(f"removed file:{somebodys}") == []
    assert somebodys.read_bytes() == content
    assert saved(tmp_path) == []


# ------------------------------------------------------------------ nothing unasked


async def test_a_digit_selects_and_runs_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press(*"123456789")
        assert app.screen.query_one("#panel-6").has_class("selected")
        assert not app.busy
    assert saved(tmp_path) == []


async def test_a_digit_during_a_run_queues_nothing(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await pilot.press("4")
        assert not app._dispatcher.queue.entries
        await pilot.press("enter")
        assert [entry.name for entry in app._dispatcher.queue.entries] == ["read-iops"]


async def test_enter_after_a_digit_runs_also_from_the_list_of_runs(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press("2", "enter")
        await finished(app, pilot)
        await pilot.press("r", "4", "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 2)
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["write-iops", "read-iops"]


async def test_a_double_click_on_a_preset_runs_it(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.click("#panel-4")
        await until(pilot, lambda: app.screen.query_one("#panel-4").has_class("selected"))
        assert not app.busy
        await pilot.click("#panel-2", times=2)
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["write-iops"]


async def test_what_is_typed_for_the_form_runs_nothing(tmp_path: Path) -> None:
    """All at once, as on a loaded machine or over a slow link."""
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        burst(app, "2e8k", "tab")
        burst(app, "1512", "enter")
        await until(pilot, lambda: "8k randwrite, depth 1512" in shown(app, "#form"))
        burst(app, "t", "escape")
        burst(app, "m1", "enter")
        await until(pilot, lambda: [row[1].split()[-1] for row in rows(app)] == ["1"])
        assert not app.busy
    assert saved(tmp_path) == []


async def test_ctrl_c_quits_where_nothing_runs(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)
        assert said(app) == []


async def test_ctrl_c_asks_during_a_run_and_a_second_one_stops_nothing(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.busy
        assert isinstance(app.screen, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: not app.is_running)
    assert [run.outcome for run in saved(tmp_path)] == ["stopped"]


async def test_each_preset_is_a_command_by_its_name(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        assert {f"run {name}" for name in PRESETS} | {"run rados-write"} <= commands.keys()
        commands["run read-iops"]()
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["read-iops"]


async def test_the_palette_closes_and_what_is_typed_behind_it_is_for_the_console(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        burst(app, "", "ctrl+p")
        burst(app, "run read-iops", "enter")
        burst(app, "", "ctrl+p", "escape")
        burst(app, "q")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        assert [entry.name for entry in app._dispatcher.queue.entries] == ["read-iops"]


async def test_the_runtime_is_set_by_a_command(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        burst(app, "", "ctrl+p")
        burst(app, "set the runtime", "enter", "ctrl+u")
        burst(app, "1 week", "enter", "ctrl+u")
        burst(app, "5m", "enter")
        await until(pilot, lambda: ", 5:00 min," in shown(app, "#form"))


async def test_the_list_of_sessions_does_not_offer_itself(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=FAST, size=USUAL) as (app, pilot):
        assert "  o sessions" in screen_text(app)
        await pilot.press("o")
        await until(pilot, lambda: app.screen is not console_screen(app) and "esc back" in screen_text(app))
        assert "  o sessions" not in screen_text(app)


@pytest.mark.parametrize(
    ("target", "preset"),
    [(FILE, "write-throughput"), ("host:*", "network"), ("osd:*", "osd-write"), ("s3:http://a:7480", "s3-mixed")],
)
async def test_the_preset_that_is_selected_first_can_use_the_target(tmp_path: Path, target: str, preset: str) -> None:
    async with console(tmp_path, speed=1.0, size=SMALL, target=target) as (app, _):
        assert console_screen(app).choice.preset.name == preset


async def test_above_saved_runs_it_is_not_said_that_nothing_has_run(tmp_path: Path, golden: Golden) -> None:
    run = store.read_run(SESSION, WRITE_IOPS)
    start = Start((Node(name="local"),), parse_target("file:/mnt/x"), earlier=(run, run.model_copy(update={"run": 9})))
    with Runner(tmp_path / "sessions", "tuning", connect_node=connector(WRITE_IOPS, FAST)) as runner:
        app = ConsoleApp(catalogue(), start, runner, tmp_path / "sessions")
        async with app.run_test(size=USUAL) as pilot:
            await until(pilot, lambda: shown(app, "#empty") != "")
            golden.same(shown(app, "#empty").splitlines()[0].partition(".")[0])
            assert app._console_screen.view.empty.startswith("2 ")
