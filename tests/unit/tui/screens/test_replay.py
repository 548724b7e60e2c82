"""A saved run played again, and a session that is being written followed, on the screen, by keys."""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.views.live import Live, LiveRun
from cephtui.reports.words.quality import outcome_word
from cephtui.reports.words.text import cluster_line, tool_command
from cephtui.sessions import store
from cephtui.sessions.playback import Playback, lasted_seconds
from cephtui.sessions.writer import take_lock
from cephtui.tui.app import SavedApp
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.heat_map import HeatMap
from cephtui.tui.screens.log import LogScreen
from cephtui.tui.screens.presenter import Presenter
from cephtui.tui.screens.replay import PlayedScreen, ReplayScreen, WatchScreen
from cephtui.tui.widgets.big import Big
from tests.support import two_copies
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.replayed import screen_text, until
from tests.unit.sessions.test_playback import begun, only

END = float("inf")
SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]
THROUGHPUT = 1
"""A run that is about bandwidth."""
INTO_THE_RUN = 12.0
"""Seconds of the benchmark itself after which most tests look."""


# ---------------------------------------------------------------------------------------------- what is seen


def keep_what_is_said(app: App[Any]) -> list[str]:
    """All notifications of an application, also those that have gone."""
    notify, messages = app.notify, list[str]()

    def keep(message: str, **more: Any) -> None:
        messages.append(message)
        notify(message, **more)

    app.notify = keep  # type: ignore[method-assign]
    return messages


def text_in(screen: Screen[Any], selector: str) -> str:
    """The words of a widget."""
    shown = screen.query_one(selector, Static).content
    if not isinstance(shown, Table):
        return str(shown)
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return capture.get().rstrip("\n")


def title(screen: PlayedScreen) -> str:
    """The figures over the chart."""
    return border_title(screen.view.query_one("#chart", Chart))


def border_title(widget: Widget) -> str:
    """Its words, without their colours."""
    found = widget._border_title
    return found.plain if found else ""


class Clock:
    """Stands still until a test moves it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Watching:
    """A session that is followed on the screen."""

    def __init__(self, app: SavedApp, pilot: Pilot[None], screen: WatchScreen, said: list[str]) -> None:
        self.app, self.pilot, self.screen, self.said = app, pilot, screen, said

    async def press(self, *keys: str) -> None:
        """Keys, and what they do is done."""
        await self.pilot.press(*keys)
        await self.pilot.pause()


class Playing:
    """A replay on the screen, by a clock of its own."""

    def __init__(self, app: SavedApp, pilot: Pilot[None], screen: ReplayScreen, clock: Clock, said: list[str]) -> None:
        self.app, self.pilot, self.screen, self.clock, self.said = app, pilot, screen, clock, said

    @property
    def position(self) -> float:
        """Seconds since the beginning of the recording."""
        return self.screen.player.position

    @property
    def transport(self) -> str:
        """The bottom line: what it does, how fast, and where it is."""
        return text_in(self.screen, "#transport")

    async def wait(self, seconds: float) -> None:
        """So many seconds pass, and the screen has seen them."""
        self.clock.now += seconds
        await until(self.pilot, lambda: self.screen.player._drained_at == self.clock.now)
        await self.drawn()

    async def drawn(self) -> None:
        """The bottom line tells of the present position."""
        where = f" {units.duration(self.position)} "
        await until(self.pilot, lambda: where in self.transport)

    async def seek(self, seconds: float) -> None:
        """As the keys do, but to any position."""
        self.screen.action_seek(seconds - self.position)
        await self.drawn()

    async def press(self, *keys: str) -> None:
        """Keys, and what they do is done."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def looks(self) -> list[str]:
        """All words and figures on the screen."""
        parts = [title(self.screen), *(text_in(self.screen, each) for each in ("#progress", "#nodes-panel"))]
        words = [" ".join(word for word in part.split() if word.isascii()) for part in parts]
        return [*words, text_in(self.screen, "#cluster").partition("slowest ")[2]]


@contextlib.asynccontextmanager
async def playing(
    session: Path, number: int = two_copies.STAR, speed: float = 1.0, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Playing]:
    """A replay that has begun."""
    screen, clock = ReplayScreen(session, number, speed), Clock()
    screen.player._clock, screen.player._drained_at = clock, clock.now
    app = SavedApp(session.parent, [screen])
    said = keep_what_is_said(app)
    async with app.run_test(size=size) as pilot:
        shown = Playing(app, pilot, screen, clock, said)
        await until(pilot, lambda: app.screen is screen and bool(screen.query("#transport")))
        await until(pilot, lambda: f" {speed:g}x " in shown.transport)
        yield shown


def moment(session: Path, number: int = two_copies.STAR, seconds: float = INTO_THE_RUN) -> float:
    """So many seconds into the benchmark: the filling is before it."""
    return filled_seconds(session, number) + seconds


@functools.cache
def filled_seconds(session: Path, number: int) -> float:
    """Found once for a session: it takes as long as a whole application."""
    playback = Playback(session, number)
    playback.until(END)
    return playback.prepared_seconds


def at(session: Path, number: int, seconds: float) -> LiveRun:
    """A run as it stood at a moment."""
    live = Live()
    for event in Playback(session, number).until(seconds):
        live.take(event)
    assert live.current
    return live.current


def figures(state: LiveRun) -> list[str]:
    """The IOPS of the last second, as the chart's title tells them."""
    assert state.latest
    intervals = {d: i for d in state.directions if (i := getattr(state.latest, d))}
    assert intervals
    return [f"{direction} {units.iops(interval.iops)} " for direction, interval in intervals.items()]


def node_figures(state: LiveRun) -> dict[str, str]:
    """The IOPS of the last second of each node."""
    intervals = {node: sample.write or sample.read for node, sample in state.nodes.items()}
    return {node: units.iops(interval.iops) for node, interval in intervals.items() if interval}


def node_rows(nodes: str) -> dict[str, str]:
    """The same, as the nodes' panel tells it."""
    rows = [row.split() for row in nodes.splitlines()]
    return {row[0]: row[1] for row in rows if len(row) > 1}


# ---------------------------------------------------------------------------------------------- playing


async def test_a_replay_looks_as_the_run_did(demo_session: Path) -> None:
    state = at(demo_session, two_copies.STAR, moment(demo_session))
    run = store.read_run(demo_session, two_copies.STAR)
    async with playing(demo_session, size=SIZES[0]) as shown:
        await shown.wait(moment(demo_session))
        screen = shown.screen
        for size in SIZES:
            await shown.pilot.resize_terminal(*size)
            await until(shown.pilot, lambda size: tuple(shown.app.size) == size, size)
            await shown.pilot.pause()
            nodes = text_in(screen, "#nodes-panel")
            progress = text_in(screen, "#progress")
            whole = screen_text(shown.app)
            chart = screen.query_one("#chart", Chart).size
            assert [words for words in figures(state) if words not in title(screen)] == []
            assert f"mean {units.iops(state.history.mean('iops'))}" in title(screen)
            assert progress == f"#{two_copies.STAR} {run.preset} running"
            assert node_rows(nodes) == node_figures(state)
            assert len(state.nodes) == 3
            assert state.cluster
            assert set(cluster_line(state.cluster, narrow=True).split()) <= set(text_in(screen, "#cluster").split())
            assert text_in(screen, "#command") == f"$ {tool_command(run.command, run.tool)}"
            lasts = units.duration(lasted_seconds(demo_session, run, state.step))
            assert shown.transport.startswith("playing 1x ")
            assert f" {units.duration(moment(demo_session))} " in shown.transport
            assert shown.transport.endswith(f" {lasts}")
            for words in (
                f"replay of demo/{two_copies.STAR}",
                run.preset,
                *state.nodes,
                lasts,
                "space pause",
                "esc back",
            ):
                assert words in whole
            assert chart.height >= 5
            assert max(map(len, whole.splitlines())) <= size[0]


def longest_prefill(session: Path) -> int:
    """The number of the run whose prefill took the longest."""
    indexes = session.glob("*/raw/*.prepare.index.jsonl")
    took = {index: json.loads(index.read_text().splitlines()[-1])["elapsed_seconds"] for index in indexes}
    return int(max(took, key=took.__getitem__).parts[-3])


async def test_the_filling_is_played_too(demo_session: Path) -> None:
    number = longest_prefill(demo_session)
    seconds = 0.0
    while not (state := at(demo_session, number, seconds)).prepared_bytes:
        seconds += 0.25
    async with playing(demo_session, number) as shown:
        await shown.wait(seconds)
        progress = text_in(shown.screen, "#progress")
        chart = text_in(shown.screen, "#empty")
    assert progress.endswith(" prefilling")
    assert f"{units.size_of(state.prepared_bytes, state.prefill_bytes)} written" in chart
    assert 0 < state.prepared_bytes < state.prefill_bytes


async def test_marks_are_on_the_time_line(demo_session: Path) -> None:
    marks = [mark for mark in store.read_marks(demo_session) if mark.run == two_copies.STAR]
    assert marks
    async with playing(demo_session) as shown:
        await shown.seek(moment(demo_session, seconds=(marks[0].elapsed_seconds or 0) - 1))
        before = screen_text(shown.app)
        await shown.seek(moment(demo_session, seconds=(marks[0].elapsed_seconds or 0) + 3))
        await until(shown.pilot, lambda: marks[0].text in screen_text(shown.app))
    assert marks[0].text not in before


async def test_space_pauses_and_goes_on(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        await shown.press("space")
        paused, looks, line = shown.position, shown.looks(), shown.transport
        assert line.startswith("paused ")
        await shown.wait(30)
        assert (shown.position, shown.looks(), shown.transport) == (paused, looks, line)
        await shown.press("space")
        await shown.wait(2)
        assert shown.position == pytest.approx(paused + 2)
        assert shown.transport.startswith("playing ")
        assert shown.looks() != looks


async def test_it_goes_to_any_moment_and_back_again(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.press("space")
        await shown.seek(moment(demo_session, seconds=5))
        looks = {round(shown.position): shown.looks()}
        for key, seconds in (("right", 5), ("right", 5), ("left", -5), ("left", -5), ("right", 5), ("left", -5)):
            before = shown.position
            await shown.press(key)
            assert shown.position == pytest.approx(before + seconds)
            assert looks.setdefault(round(shown.position), shown.looks()) == shown.looks(), shown.position
            state = at(demo_session, two_copies.STAR, shown.position)
            assert [words for words in figures(state) if words not in title(shown.screen)] == []
        assert len(looks) == 3
        assert len(set(map(tuple, looks.values()))) == 3


async def test_longer_steps_and_both_ends(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.press("space", "shift+right")
        assert shown.position == pytest.approx(30)
        await shown.press("shift+left")
        assert shown.position == 0
        await shown.press("left")
        assert shown.position == 0
        await shown.press("end")
        assert shown.position == shown.screen.player.seconds
        assert shown.transport.startswith("finished ")
        await shown.press("right")
        assert shown.transport.startswith("finished ")
        await shown.press("home")
        assert shown.position == 0
        assert shown.transport.startswith("paused ")
        assert " whole " not in title(shown.screen)


async def test_going_back_from_the_end_shows_that_moment_again(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.press("space")
        await shown.seek(moment(demo_session))
        looks, position = shown.looks(), shown.position
        await shown.press("end")
        assert shown.looks() != looks
        await shown.seek(position)
        assert shown.looks() == looks


async def test_plus_and_minus_stay_between_1x_and_20x(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        seen = []
        for key in ["plus"] * 7 + ["minus"] * 7:
            await shown.press(key)
            seen.append(shown.transport.split()[1])
    up = ["2x", "4x", "8x", "12x", "20x", "20x", "20x"]
    assert seen == [*up, "12x", "8x", "4x", "2x", "1x", "1x", "1x"]


@pytest.mark.parametrize("speed", [1.0, 3.0, 20.0])
async def test_the_speed_is_kept(demo_session: Path, speed: float) -> None:
    async with playing(demo_session, speed=speed) as shown:
        await shown.wait(1)
        assert shown.position == pytest.approx(speed)
        assert shown.transport.startswith(f"playing {speed:g}x ")
        await shown.press("equals_sign")  # plus without shift
        faster = shown.screen.player.speed
        assert faster > speed or faster == 20
        await shown.wait(1)
        assert shown.position == pytest.approx(speed + faster)


async def test_at_its_end_it_shows_the_whole_run_and_plays_again(demo_session: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    total = run.summary.write
    assert total
    async with playing(demo_session) as shown:
        await shown.wait(1e6)
        await until(shown.pilot, lambda: shown.transport.startswith("finished "))
        assert f"write {units.iops(total.iops)}  over " in title(shown.screen)
        assert text_in(shown.screen, "#progress").startswith(f"#{two_copies.STAR} {run.preset} {outcome_word(run)}")
        rows = text_in(shown.screen, "#nodes-panel").splitlines()
        for node, row in zip(run.nodes, rows, strict=True):
            assert node.summary.write
            assert row.split()[0] == node.node
            assert row.rstrip().endswith(units.latency(node.summary.write.latency_p99_seconds))
        await shown.press("space")
        assert shown.transport.startswith("playing ")
        assert shown.position == 0
        await shown.wait(moment(demo_session))
        assert [
            words
            for words in figures(at(demo_session, two_copies.STAR, shown.position))
            if words not in title(shown.screen)
        ] == []


@pytest.mark.parametrize("outcome", ["refused", "failed"])
async def test_a_run_that_never_began_is_over_at_once(demo_copy: Path, outcome: str) -> None:
    number = begun_no_more(demo_copy, outcome)
    async with playing(demo_copy, number) as shown:
        await until(shown.pilot, lambda: shown.transport.startswith("finished "))
        assert f" {outcome}  ! the pool is gone" in text_in(shown.screen, "#progress")
        await shown.press("space", "left", "right", "v", "h", "b", "f", "escape", "l", "escape")
        assert shown.app.screen is shown.screen
    assert not any("printed" in text for text in shown.said)


def begun_no_more(session: Path, outcome: str) -> int:
    """A run that came to nothing: it has a plan and no output. Gives its number."""
    run = store.read_run(session, two_copies.STAR)
    folder = session / f"{two_copies.STAR:03}"
    shutil.rmtree(folder)
    (folder / "raw").mkdir(parents=True)
    nodes = tuple(n.model_copy(update={"summary": type(n.summary)(), "outcome": outcome}) for n in run.nodes)
    changes = {"outcome": outcome, "error": "the pool is gone", "summary": type(run.summary)(), "nodes": nodes}
    (folder / "run.json").write_text(run.model_copy(update=changes).model_dump_json())
    return run.run


# ---------------------------------------------------------------------------------------------- looking


async def test_v_goes_through_the_figures(demo_session: Path) -> None:
    state = at(demo_session, two_copies.STAR, moment(demo_session))
    assert state.latest
    write = state.latest.write
    assert write
    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        seen = []
        for _ in range(4):
            seen.append(title(shown.screen))
            await shown.press("v")
    assert seen[0].startswith(f" IOPS  write {units.iops(write.iops)} ")
    assert seen[1].startswith(f" bandwidth  write {units.bandwidth(write.bandwidth_bytes)} ")
    assert seen[2].startswith(f" latency  write {units.latency(write.latency_mean_seconds)} ")
    assert f"write p99 {units.latency(write.latency_p99_seconds)}" in seen[2]
    assert seen[3] == seen[0]


async def test_the_first_figure_is_what_the_preset_is_about_and_the_chosen_one_stays(demo_copy: Path) -> None:
    first, *plans = (demo_copy / "plans.jsonl").read_text().splitlines()  # recorded before plans had it
    plan = json.loads(first)
    plan["steps"][0]["headline"] = "bandwidth"
    (demo_copy / "plans.jsonl").write_text("\n".join([json.dumps(plan), *plans, ""]))
    async with playing(demo_copy, THROUGHPUT) as shown:
        await shown.wait(moment(demo_copy, THROUGHPUT))
        assert title(shown.screen).startswith(" bandwidth ")
        await shown.press("v")
        await shown.press("home")
        await shown.wait(moment(demo_copy, THROUGHPUT))
        assert title(shown.screen).startswith(" latency ")


async def test_b_draws_a_line_for_each_node(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        chart = shown.screen.query_one("#chart", Chart)
        together = [line.label for line in known(chart._shown).lines]
        await shown.press("b")
        apart = [line.label for line in known(chart._shown).lines]
        assert title(shown.screen) == " IOPS by node "
        await shown.press("b")
        assert [line.label for line in known(chart._shown).lines] == together == ["write"]
    assert apart == [node.node for node in store.read_run(demo_session, two_copies.STAR).nodes]


async def test_h_shows_the_heat_map(demo_session: Path) -> None:
    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        assert not shown.screen.query("#write-heat")
        await shown.press("h")
        await until(shown.pilot, lambda: len(shown.screen.query("#write-heat")) > 0)
        heat = shown.screen.query_one("#write-heat", HeatMap)
        await until(shown.pilot, lambda: heat.display and heat.size.height > 2)
        assert "write latency" in screen_text(shown.app)
        assert any(strip.text.strip() for strip in heat.render_lines(heat.size.region))
        await shown.press("h")
        assert not heat.display
    assert shown.said == []


async def test_a_tool_without_a_histogram_has_no_heat_map(demo_session: Path, golden: Golden) -> None:
    number = next(run.run for run in store.read_runs(demo_session)[0] if run.tool == "rados-bench")
    async with playing(demo_session, number) as shown:
        await shown.press("end", "h")
        golden.same(shown.said)


async def test_escape_leaves_the_full_screen_before_it_leaves_the_replay(demo_session: Path) -> None:
    async with playing(demo_session, size=(80, 24)) as shown:
        await shown.wait(moment(demo_session))
        chart = shown.screen.query_one("#chart", Chart)
        before = chart.size.height
        await shown.press("F")
        await until(shown.pilot, lambda: chart.size.height > before)
        assert "$ fio" not in screen_text(shown.app)
        await shown.wait(2)
        assert shown.position == pytest.approx(moment(demo_session) + 2), "it plays on behind it"
        await shown.press("escape")
        await until(shown.pilot, lambda: chart.size.height == before)
        assert shown.app.screen is shown.screen
        await shown.press("escape")
        await until(shown.pilot, lambda: not shown.app.is_running)


async def test_the_presenter_shows_the_figure_while_it_plays_on(demo_session: Path) -> None:
    def digits() -> str:
        return " ".join(shown.app.screen.query(f".{part}").first(Big)._texts[0] for part in ("value", "word"))

    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        await shown.press("f")
        await until(shown.pilot, lambda: isinstance(shown.app.screen, Presenter))
        write = known(at(demo_session, two_copies.STAR, shown.position).latest).write
        assert write
        assert digits() == f"{units.iops(write.iops)} IOPS write"
        await shown.wait(2)
        write = known(at(demo_session, two_copies.STAR, shown.position).latest).write
        assert write
        await until(shown.pilot, lambda: digits() == f"{units.iops(write.iops)} IOPS write")
        assert text_in(shown.app.screen, "#presented").startswith(store.read_run(demo_session, two_copies.STAR).preset)
        await shown.press("v")
        await until(shown.pilot, lambda: digits().endswith(" MiB/s write"))
        assert title(shown.screen).startswith(" bandwidth")
        await shown.press("escape")
        await until(shown.pilot, lambda: shown.app.screen is shown.screen)


async def test_the_log_has_the_commands_and_the_output_of_each_node(demo_session: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    async with playing(demo_session) as shown:
        await shown.wait(moment(demo_session))
        await shown.press("l")
        await until(shown.pilot, lambda: isinstance(shown.app.screen, LogScreen))
        seen = []
        for node in run.nodes:
            raw = (demo_session / f"{two_copies.STAR:03}" / "raw" / f"{node.node}.stdout").read_text()
            assert text_in(shown.app.screen, "#log-command").replace("\n", "") == f"$ {node.command}".replace("\n", "")
            assert raw.rstrip().endswith(text_in(shown.app.screen, "#log-output").rstrip().splitlines()[-1])
            seen.append(border_title(shown.app.screen.query_one("#log")))
            await shown.press("right")
        assert [node.node in name for node, name in zip(run.nodes, seen, strict=True)] == [True] * 3
        assert border_title(shown.app.screen.query_one("#log")) == seen[0]
        await shown.press("left")
        assert border_title(shown.app.screen.query_one("#log")) == seen[-1]
        await shown.press("escape")
        assert shown.app.screen is shown.screen


# ---------------------------------------------------------------------------------------------- broken recordings


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def break_line(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{broken\n", *lines[2:]]))


RAW = f"{two_copies.STAR:03}/raw"
BROKEN: dict[str, tuple[str, Callable[[Path], object]]] = {
    "output cut off": ("stdout", truncate),
    "output gone": ("stdout", Path.unlink),
    "index gone": ("index.jsonl", Path.unlink),
    "index broken": ("index.jsonl", break_line),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_broken_recording_is_told_in_one_line(demo_copy: Path, what: str) -> None:
    ending, damage = BROKEN[what]
    node = store.read_run(demo_copy, two_copies.STAR).nodes[0].node
    path = demo_copy / RAW / f"{node}.{ending}"
    damage(path)
    async with playing(demo_copy) as shown:
        await shown.wait(1e6)
        await until(shown.pilot, lambda: bool(shown.said))
        (said,) = shown.said
        assert path.name.partition(".")[0] in said
        assert str(path.parent) in said
        assert "\n" not in said
        for _ in range(5):
            await shown.pilot.pause(0.1)
            assert shown.transport.startswith("paused "), "it goes no further by itself"
        for key in ("home", "end", "space", "left", "v", "escape"):
            await shown.press(key)
        assert len(shown.said) < 8, "told once for each try at most"
        await until(shown.pilot, lambda: not shown.app.is_running)


async def test_what_can_not_be_read_is_told_while_it_stands_still_too(demo_copy: Path) -> None:
    node = store.read_run(demo_copy, two_copies.STAR).nodes[0].node
    (demo_copy / RAW / f"{node}.stdout").unlink()
    async with playing(demo_copy) as shown:
        await shown.press("space", "end")
        await until(shown.pilot, lambda: bool(shown.said))
        assert f"{node}.stdout" in shown.said[0]


@pytest.mark.parametrize("name", [f"{two_copies.STAR:03}/cluster.jsonl", "marks.jsonl"])
async def test_what_was_said_beside_the_run_may_be_broken(demo_copy: Path, name: str) -> None:
    break_line(demo_copy / name)
    async with playing(demo_copy) as shown:
        await shown.wait(1e6)
        await until(shown.pilot, lambda: shown.transport.startswith("finished "))
        assert shown.said == []


@pytest.mark.parametrize("name", ["plans.jsonl", f"{two_copies.STAR:03}/run.json"])
def test_nothing_is_played_without_these(demo_copy: Path, name: str) -> None:
    (demo_copy / name).unlink()
    with pytest.raises(store.StoreError) as caught:
        ReplayScreen(demo_copy, two_copies.STAR)
    assert str(demo_copy / name) in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_recording_that_goes_away_is_told(demo_session: Path, demo_copy: Path) -> None:
    async with playing(demo_copy) as shown:
        await shown.wait(moment(demo_session))
        shutil.rmtree(demo_copy)
        await shown.press("left")
        await until(shown.pilot, lambda: bool(shown.said))
        assert all(str(demo_copy) in text and "\n" not in text for text in shown.said)
        await shown.press("end", "l", "escape", "escape")
        await until(shown.pilot, lambda: not shown.app.is_running)


# ---------------------------------------------------------------------------------------------- watching


@contextlib.asynccontextmanager
async def watching(directory: Path, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Watching]:
    """A session followed."""
    screen = WatchScreen(directory)
    app = SavedApp(directory.parent, [screen])
    said = keep_what_is_said(app)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is screen and bool(screen.query("#progress")))
        yield Watching(app, pilot, screen, said)


def files(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, with its size and when it was changed."""
    found = [directory, *directory.rglob("*")]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


class Written:
    """A session in which a run is in progress."""

    def __init__(self, source: Path, directory: Path, number: int) -> None:
        self.directory, self.number = directory, number
        self._source, self._ended = source, begun(source, number)
        shutil.copytree(source, directory)
        self.write(0.0)

    def write(self, seconds: float) -> None:
        """All that had arrived so many seconds after the benchmark began, and half a line."""
        for index in self._source.glob("*/raw/*.index.jsonl"):
            if ".prepare." not in index.name:
                lines = index.read_bytes().splitlines(keepends=True)
                there = [line for line in lines if json.loads(line)["elapsed_seconds"] <= seconds]
                torn = lines[len(there)][:20] if len(there) < len(lines) else b""
                (self.directory / index.relative_to(self._source)).write_bytes(b"".join(there) + torn)

    def end(self) -> None:
        """The run comes to its end."""
        self.write(END)
        (self.directory / f"{self.number:03}" / "run.json").write_text(self._ended)


@contextlib.contextmanager
def being_written(session: Path, tmp_path: Path, number: int) -> Iterator[Written]:
    """A run of the recorded session as if its console were still there."""
    written = Written(only(session, tmp_path, number), tmp_path / "written", number)
    lock = take_lock(written.directory)
    assert lock
    with lock:
        yield written


async def test_a_run_is_followed_while_it_is_written(demo_session: Path, tmp_path: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    assert run.summary.write
    with being_written(demo_session, tmp_path, two_copies.STAR) as written:
        async with watching(written.directory) as shown:
            screen = shown.screen
            await until(
                shown.pilot, lambda: text_in(screen, "#progress").startswith(f"#{two_copies.STAR} {run.preset} ")
            )
            await until(shown.pilot, lambda: text_in(screen, "#command") == f"$ {tool_command(run.command, run.tool)}")
            seen = []
            for seconds in (5.5, 9.5, 15.5):
                written.write(seconds)
                state = at(written.directory, two_copies.STAR, END)
                wanted = [*figures(state), f"mean {units.iops(state.history.mean('iops'))}"]
                await until(shown.pilot, lambda wanted: all(words in title(screen) for words in wanted), wanted)
                assert node_rows(text_in(screen, "#nodes-panel")) == node_figures(state)
                seen.append(text_in(screen, "#progress"))
                assert " running " in seen[-1] or " ramp-up " in seen[-1]
            assert len(set(seen)) == 3
            assert "watching session written   (read-only)" in screen_text(shown.app)
            assert text_in(screen, "#cluster")
            written.end()
            await until(shown.pilot, lambda: " whole " in title(screen))
            assert f"write {units.iops(run.summary.write.iops)} " in title(screen)
            assert f" {outcome_word(run)}" in text_in(screen, "#progress")
        assert shown.said == []


async def test_the_next_run_is_shown_when_it_begins(demo_session: Path, tmp_path: Path) -> None:
    written = only(demo_session, tmp_path, 1)
    with contextlib.closing(known(take_lock(written))):
        async with watching(written) as shown:
            await until(shown.pilot, lambda: " whole " in title(shown.screen))
            first = text_in(shown.screen, "#progress")
            shutil.copytree(demo_session / "002", tmp_path / "next" / "002")
            begun(tmp_path / "next", 2)
            (tmp_path / "next" / "002").rename(written / "002")
            await until(shown.pilot, lambda: text_in(shown.screen, "#progress").startswith("#2 "))
            await until(shown.pilot, lambda: known(shown.screen.run).run == 2)
            second = store.read_run(demo_session, 2)
            assert " whole " not in title(shown.screen)
            assert text_in(shown.screen, "#command") == f"$ {tool_command(second.command, second.tool)}"
    assert first.startswith("#1 ")


async def test_watching_writes_nothing(demo_session: Path, tmp_path: Path) -> None:
    with being_written(demo_session, tmp_path, two_copies.STAR) as written:
        written.write(10.0)
        before = files(tmp_path)
        async with watching(written.directory) as shown:
            state = at(written.directory, two_copies.STAR, END)
            await until(shown.pilot, lambda: all(words in title(shown.screen) for words in figures(state)))
            await shown.press("v", "h", "b", "F", "escape", "f", "escape", "l", "escape", "c")
            await until(shown.pilot, lambda: shown.app.screen is not shown.screen)
            await shown.press("escape")
            await until(shown.pilot, lambda: shown.app.screen is shown.screen)
            await shown.press("escape")
            await until(shown.pilot, lambda: not shown.app.is_running)
        assert files(tmp_path) == before


async def test_a_session_without_a_run_is_waited_for(demo_session: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copy(demo_session / "session.json", tmp_path / "empty")
    async with watching(tmp_path / "empty") as shown:
        await until(shown.pilot, lambda: "waiting for a run ..." in screen_text(shown.app))
        await shown.press("c", "l", "f", "escape")
        assert shown.app.screen is shown.screen
        assert set(shown.said) == {"no run has begun yet"}
        shutil.copy(demo_session / "plans.jsonl", tmp_path / "empty")
        shutil.copytree(demo_session / "001", tmp_path / "empty" / "001")
        await until(shown.pilot, lambda: text_in(shown.screen, "#progress").startswith("#1 "))
    assert set(shown.said) == {"no run has begun yet"}


async def test_the_end_of_the_console_that_writes_makes_the_run_lost(demo_session: Path, tmp_path: Path) -> None:
    with being_written(demo_session, tmp_path, two_copies.STAR) as written:
        written.write(10.0)
        async with watching(written.directory) as shown:
            await until(shown.pilot, lambda: " running " in text_in(shown.screen, "#progress"))
            lock_gone(written.directory)
            await until(shown.pilot, lambda: " lost" in text_in(shown.screen, "#progress"))
            assert "cephtui ended" in text_in(shown.screen, "#progress")


def lock_gone(directory: Path) -> None:
    """As if its console had ended: nobody holds this file."""
    (directory / "lock").unlink()
    (directory / "lock").touch()


@pytest.mark.parametrize("name", ["plans.jsonl", f"{two_copies.STAR:03}/run.json", f"{RAW}/lab1.index.jsonl"])
async def test_what_can_not_be_followed_is_told_once(demo_session: Path, tmp_path: Path, name: str) -> None:
    with being_written(demo_session, tmp_path, two_copies.STAR) as written:
        written.write(5.0)
        (written.directory / name).write_bytes(b"broken\n")
        async with watching(written.directory) as shown:
            await until(shown.pilot, lambda: bool(shown.said))
            looked = count_calls(shown.screen, "drain")
            await until(shown.pilot, lambda: looked[0] > 3)
            (said,) = shown.said
            assert Path(name).name in said
            await shown.press("escape")
            await until(shown.pilot, lambda: not shown.app.is_running)


async def test_a_session_that_goes_away_is_told_once(demo_session: Path, tmp_path: Path) -> None:
    written = only(demo_session, tmp_path, 1)
    async with watching(written) as shown:
        await until(shown.pilot, lambda: " whole " in title(shown.screen))
        shutil.rmtree(written)
        await until(shown.pilot, lambda: bool(shown.said))
        looked = count_calls(shown.screen, "drain")
        await until(shown.pilot, lambda: looked[0] > 3)
        (said,) = shown.said
        assert str(written) in said
        assert shown.app.screen is shown.screen


def count_calls(screen: PlayedScreen, name: str) -> list[int]:
    """How often a method is called from now on."""
    called, method = [0], getattr(screen, name)

    def counted() -> Any:
        called[0] += 1
        return method()

    setattr(screen, name, counted)
    return called
