"""The queue: what waits, in which order, and when it goes on; by pure functions and by keys."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from cephtui.models import Node, Plan, Run
from cephtui.models.bounds import Bound
from cephtui.nodes.transport import Connection, Question, TransportError
from cephtui.ordering import plans_of
from cephtui.planning import Order, Request
from cephtui.presets import Choice
from cephtui.running.launch import Launcher
from cephtui.running.runner import Runner
from cephtui.sessions.playback import step_of
from cephtui.sessions.undo import Undo
from cephtui.studies.base import Measure, Study, StudyResult
from cephtui.studies.dispatcher import Dispatcher
from cephtui.studies.queue import Entry, Queue
from cephtui.targets import parse_target
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.panels import PresetPanel
from cephtui.tui.console.queue import QueueScreen
from cephtui.tui.dialogs import TypeName
from tests.support.conducting import run_of, study
from tests.support.fakes import FakeNode, Log, Script
from tests.support.golden import Golden
from tests.support.plans import FILE
from tests.support.replayed import (
    PRESETS,
    connector_to,
    console,
    console_screen,
    finished,
    held,
    in_a_run,
    let_go,
    let_go_of,
    rows,
    running,
    said,
    saved,
    screen_text,
    shown,
    text_of,
    toasts,
    until,
)
from tests.support.runs import WRITE_IOPS
from tests.unit.running.test_launch import Script as Answers

SMALL, USUAL = (80, 24), (120, 36)


def entry(
    path: str,
    overrides: Mapping[str, Choice] | None = None,
    repeats: int = 1,
    *,
    name: str = "write-iops",
    order: Order | None = None,
) -> Entry:
    return Entry(study(name, paths=[path], options=overrides, repeats=repeats, order=order)).planned(plans_of)


def measured(entry: Entry, *steps: int) -> Entry:
    """The same after the runs of these steps of its plan."""
    planned = {step.number: step for plan in plans_of(entry.study.drafts()) for step in plan.steps}
    return replace(entry, runs=tuple(run_of(planned[number], number, 1.0) for number in steps)).planned(plans_of)


def taking(entry: Entry, seconds: float) -> Entry:
    return replace(entry, extent=replace(entry.extent, least_seconds=seconds, most_seconds=seconds))


def bounded(entry: Entry, bound: Bound) -> Entry:
    """The same with another word before its time."""
    return replace(entry, extent=replace(entry.extent, bound=bound))


def entries(*seconds: float) -> tuple[Entry, ...]:
    return tuple(taking(entry(f"/{number}"), each) for number, each in enumerate(seconds))


def waiting(app: ConsoleApp) -> list[str]:
    """What waits, by its name."""
    return [entry.name for entry in console_screen(app).dispatcher.queue.entries]


def listed(app: ConsoleApp) -> list[str]:
    """The presets in the queue's screen, in their order there."""
    table = app.screen.query_one(DataTable)
    return [str(table.get_row_at(row)[1]) for row in range(table.row_count)]


def in_one_line(app: ConsoleApp) -> str:
    return " ".join(screen_text(app).replace("│", " ").split())


def note(app: ConsoleApp) -> str:
    return str(app.screen.query_one("#queue-note", Static).render())


async def opened(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """Open the queue."""
    await pilot.press("u")
    await until(pilot, lambda: isinstance(app.screen, QueueScreen) and bool(note(app)))


async def closed(app: ConsoleApp, pilot: Pilot[None], key: str = "escape") -> None:
    """Leave it."""
    await pilot.press(key)
    await until(pilot, lambda: not isinstance(app.screen, QueueScreen))


# ------------------------------------------------------------------ plain data


@given(st.integers(0, 6), st.integers(-2, 8), st.sampled_from([-1, 1]))
def test_moving_changes_places_with_one_neighbour_and_loses_nothing(number: int, index: int, by: int) -> None:
    before = entries(*range(number))
    expected = list(before)
    if 0 <= index < number and 0 <= index + by < number:
        expected[index], expected[index + by] = expected[index + by], expected[index]
    assert Queue(before).moved(index, by).entries == tuple(expected)


def test_taking_out_takes_one() -> None:
    before = entries(1, 2, 3)
    assert [entry.extent.most_seconds for entry in Queue(before).without(1).entries] == [1, 3]
    assert Queue().without(0) == Queue()
    assert Queue(before, ready=2).without(0).ready == 1, "what is held stays so"
    assert Queue(before, ready=1).without(2).ready == 1


def test_the_summary_says_how_many_and_how_long() -> None:
    assert Queue().summary == ""
    assert Queue(entries(23, 24)).summary == "2 runs waiting, about 47 s"
    assert Queue(entries(60, 65)).summary == "2 runs waiting, about 2:05 min"
    first, second = entries(60, 65)
    assert Queue((first, bounded(second, "at most"))).summary == "2 runs waiting, at most 2:05 min"
    assert Queue((first, bounded(second, "more than"))).held.endswith("(more than 2:05 min)")


def test_what_waits_and_what_is_held_are_counted_in_runs() -> None:
    """Not in entries, of which a sweep is one."""
    sweep = entry("/x", {"iodepth": [1, 2, 4]}, repeats=2)
    begun = measured(sweep, 1, 2)
    for some, runs in (((sweep,), 6), ((begun,), 4), ((begun, *entries(60)), 5), (entries(60), 1)):
        queue = Queue(some).hold("stopped")
        assert queue.summary.split()[0] == queue.held.split()[0] == str(runs)


def test_an_entry_says_what_differs_from_its_preset() -> None:
    differing: dict[str, Choice] = {"bs": "8k", "iodepth": [1, 4]}
    assert entry("/x", differing, repeats=3).text == "bs 8k, iodepth 1,4, 3 times"
    assert entry("/x", differing, repeats=3, order="abba").text == "bs 8k, iodepth 1,4, 3 times, order abba"
    begun = measured(entry("/x", repeats=3), 1)
    assert begun.text == "3 times, 2 of 3 runs left"


def test_of_a_study_that_decides_itself_it_says_how_many_runs_there_may_be() -> None:
    stable = measured(Entry(study("write-iops", kind="stable")), 1, 2)
    assert Queue((stable,)).summary.startswith("3 to 18 runs waiting, ")
    assert stable.text == "until stable, 2 runs made"
    assert stable.extent.least_seconds < stable.extent.most_seconds


# ------------------------------------------------------------------ keys during a run


async def test_a_key_during_a_run_queues_its_preset(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("4", "enter")
        assert "queued: read-iops (1 run waiting, about 23 s)" in toasts(app)
        assert "queue: 1 run waiting, about 23 s" in text_of(app, console_screen(app).query_one("#bar"))
        await pilot.press("6", "enter")
        assert waiting(app) == ["read-iops", "mixed-75-25"]
        assert "queue: 2 runs waiting, about 46 s" in text_of(app, console_screen(app).query_one("#bar"))
        assert [run.preset for run in saved(tmp_path)] == ["write-iops"]
        let_go(app, hosts)
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
        assert "queue" not in shown(app, "#bar")
    assert [(run.preset, run.outcome) for run in saved(tmp_path)] == [
        ("write-iops", "ok"),
        ("read-iops", "ok"),
        ("mixed-75-25", "ok"),
    ]


async def test_enter_during_a_run_queues_what_is_selected(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await pilot.press("right", "right", "enter")
        assert waiting(app) == ["read-iops"]
        assert [run.preset for run in saved(tmp_path)] == ["write-iops"]


async def test_several_keys_at_once_run_one_after_the_other(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press("6", "enter", "4", "enter", "2", "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
    runs = saved(tmp_path)
    assert [run.preset for run in runs] == ["mixed-75-25", "read-iops", "write-iops"]
    ends = [run.started_at.timestamp() + run.duration_seconds for run in runs]
    assert all(end <= run.started_at.timestamp() + 0.01 for end, run in zip(ends, runs[1:], strict=False))


async def test_one_key_runs_all_six(tmp_path: Path) -> None:
    """And no other that has a key."""
    own = tmp_path / "no-presets-of-the-user" / "mine.toml"
    own.parent.mkdir()
    own.write_text('title = "Mine"\nkey = 7\n[options]\nrw = "randwrite"\n')
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=USUAL) as (app, pilot):
        await pilot.press("a")
        assert f"queued: {', '.join(PRESETS)} (7 runs waiting, about 3:13 min)" in said(app)
        await until(pilot, lambda: len(saved(tmp_path)) == 7)
        await finished(app, pilot)
        results = [panel.result.text for panel in console_screen(app).query(PresetPanel)]
        assert list(map(bool, results)) == [True] * 6 + [False]
    names = [run.preset for run in saved(tmp_path)]
    assert names == [*PRESETS[:4], "latency", "latency", "mixed-75-25"]
    assert {run.outcome for run in saved(tmp_path)} == {"ok"}


# ------------------------------------------------------------------ stop and skip


async def test_stop_holds_what_waits_until_it_is_asked_for(tmp_path: Path, golden: Golden) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("4", "enter", "6", "enter", "s")
        await until(pilot, lambda: not app.busy)
        assert waiting(app) == ["read-iops", "mixed-75-25"]
        assert "queue: 2 runs waiting, about 46 s, held" in text_of(app, console_screen(app).query_one("#bar"))
        await opened(app, pilot)
        golden.same(note(app))
        let_go(app, hosts)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
    runs = saved(tmp_path)
    assert [(run.preset, run.outcome) for run in runs] == [
        ("write-iops", "stopped"),
        ("read-iops", "ok"),
        ("mixed-75-25", "ok"),
    ]


async def test_stop_in_a_sweep_holds_the_rest_of_it_too(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        console_screen(app).choice.edits = Edits({"latency": {"iodepth": "1,2"}}, "20")
        await pilot.press("5", "enter")
        await until(pilot, lambda: "#1 latency running" in shown(app, "#progress"))  # so its file is known to be filled
        await pilot.press("4", "enter")
        await until(pilot, lambda: waiting(app) == ["read-iops"])
        await pilot.press("x")
        await until(pilot, lambda: "#2 latency running" in shown(app, "#progress"))
        await pilot.press("s", "6", "enter")
        await until(pilot, lambda: "#3 mixed-75-25 running" in shown(app, "#progress"))
        assert waiting(app) == ["latency", "read-iops"], "what is asked for after a stop goes before what is held"
        let_go(app, hosts)
        await until(pilot, lambda: not app.busy)
        golden.same(text for text in said(app) if text.startswith("stopped; 3 "))
        bar = console_screen(app).query_one("#bar")
        await until(pilot, lambda: "queue: 3 runs waiting, about 69 s, held" in text_of(app, bar))
        await opened(app, pilot)
        golden.same(entry.text for entry in console_screen(app).dispatcher.queue.entries)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 6)
        await finished(app, pilot)
        assert waiting(app) == []
    runs = saved(tmp_path)
    assert [run.outcome for run in runs] == ["stopped", "stopped", "ok", "ok", "ok", "ok"]
    sweep = [run for run in runs if run.preset == "latency"]
    assert [(run.options["rw"], run.options["iodepth"]) for run in sweep] == list(
        itertools.product(("randread", "randwrite"), (1, 2))
    )
    assert len({run.batch for run in sweep}) == 1, "they are compared as points of one sweep"
    directory = tmp_path / "sessions" / "tuning"
    assert [(step_of(directory, run).number, run.step) for run in runs] == [(n, n) for n in (1, 2, 1, 3, 4, 1)]


class ReachedLate:
    """The way to this machine: there is none at first, and then only once the gate is open."""

    def __init__(self) -> None:
        self.gate, self.tried = asyncio.Event(), 0
        self._host = FakeNode(Node(name="local"), Log())

    async def connect(self, node: Node, answers: Mapping[str, str]) -> Connection | Question:
        self.tried += 1
        if self.tried == 1:
            raise TransportError("local: no route to host")
        await self.gate.wait()
        return await self._host.ask(answers)


async def test_stop_in_repeats_before_anything_has_begun_holds_all_of_them(tmp_path: Path, golden: Golden) -> None:
    way = ReachedLate()
    async with console(tmp_path, connect=way.connect, speed=1, size=SMALL) as (app, pilot):
        console_screen(app).choice.edits = Edits({}, "20", repeats=3)
        await pilot.press("2", "enter")
        await until(pilot, lambda: way.tried == 2)
        await pilot.press("s")
        app._runner._thread.call_soon(way.gate.set)
        await until(pilot, lambda: not app.busy)
        golden.same([entry.text for entry in console_screen(app).dispatcher.queue.entries])
        golden.same(said(app)[-1])
        await opened(app, pilot)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
    assert [(run.repeat, run.outcome) for run in saved(tmp_path)] == [(1, "ok"), (2, "ok"), (3, "ok")]


async def test_skip_before_the_run_has_begun_takes_it_out(tmp_path: Path) -> None:
    """While its node is being reached again, say."""
    way = ReachedLate()
    async with console(tmp_path, connect=way.connect, speed=1, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter", "4", "enter")
        await until(pilot, lambda: way.tried == 2)
        await pilot.press("x")
        app._runner._thread.call_soon(way.gate.set)
        await until(pilot, lambda: len(saved(tmp_path)) == 1)
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["read-iops"]


@pytest.mark.parametrize("key", ["s", "x"])
async def test_stop_and_skip_while_a_run_waits_for_its_turn_meet_that_run(tmp_path: Path, key: str) -> None:
    """What an earlier console left behind is removed first, and that may take its time."""
    old = tmp_path / "sessions" / "old"
    old.mkdir(parents=True)
    (old / "undo.jsonl").write_text(Undo(node="local", target="file:/mnt/bench/left").model_dump_json() + "\n")
    gate = asyncio.Event()
    hosts = held("local", "pve1")

    async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
        if node.name == "local":
            await gate.wait()
        return await hosts[node.name].ask(answers)

    async with console(tmp_path, nodes=("pve1",), connect=connect, speed=1, size=SMALL) as (app, pilot):
        await pilot.press("2", "enter")
        await until(pilot, lambda: app._runner._jobs.empty() and len(inspections(hosts["pve1"])) == 1)
        await pilot.press(key)
        app._runner._thread.call_soon(gate.set)
        await until(pilot, lambda: not app.busy)
        assert shown(app, "#progress") in ("not run", "not run: stopped before it began")
    assert saved(tmp_path) == []


def inspections(host: FakeNode) -> list[tuple[str, ...]]:
    """The questions of the guards."""
    return [argv for argv in host.commands if "cephtui-inspect" in argv]


@pytest.mark.parametrize("key", ["s", "x"])
async def test_stop_and_skip_say_when_nothing_runs(tmp_path: Path, key: str, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.press(key)
        golden.same(toasts(app)[-1], "tui/console/queue: nothing to stop or to skip")


# ------------------------------------------------------------------ the screen


async def test_the_queue_is_reordered_and_thinned_by_keys(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("1", "enter", "3", "enter", "4", "enter", "6", "enter")
        await opened(app, pilot)
        assert listed(app) == ["write-throughput", "read-throughput", "read-iops", "mixed-75-25"]
        await pilot.press("J")
        assert listed(app) == ["read-throughput", "write-throughput", "read-iops", "mixed-75-25"]
        await pilot.press("J")
        assert listed(app) == ["read-throughput", "read-iops", "write-throughput", "mixed-75-25"]
        await pilot.press("j", "K", "K", "K", "K")
        assert listed(app) == ["mixed-75-25", "read-throughput", "read-iops", "write-throughput"]
        await pilot.press("down", "x")
        assert listed(app) == waiting(app) == ["mixed-75-25", "read-iops", "write-throughput"]
        await pilot.press("k", "k", "shift+down")
        assert listed(app) == waiting(app) == ["read-iops", "mixed-75-25", "write-throughput"]
        await closed(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: not app.busy)
        let_go(app, hosts)
        await opened(app, pilot)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 4)
        await finished(app, pilot)
    assert [run.preset for run in saved(tmp_path)] == ["write-iops", "read-iops", "mixed-75-25", "write-throughput"]


async def test_nothing_is_cut_off_in_the_queue(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        console_screen(app).choice.edits = Edits({}, "20", repeats=3)
        await pilot.press("4", "enter", "6", "enter")
        await opened(app, pilot)
        table = app.screen.query_one(DataTable)
        words = ["read-iops", "69 s", "runtime 20, 3 times", "local", "file:/mnt/bench/test"]
        await until(pilot, lambda: [word for word in words if word not in text_of(app, table)] == [])
        assert "6 runs waiting, about 2:18 min" in screen_text(app)
        assert "J K order  i in turns  x remove  g run  esc back" in screen_text(app)


async def test_what_waits_is_told_beside_a_session_with_a_long_name(tmp_path: Path) -> None:
    hosts = held("pve1", "pve2", "pve3")
    async with console(
        tmp_path, nodes=tuple(hosts), connect=connector_to(hosts), speed=1, size=SMALL, session=None
    ) as (app, pilot):
        await pilot.press("2", "enter")
        await running(app, pilot)
        await pilot.press("4", "enter", "6", "enter", "s")
        await until(pilot, lambda: not app.busy)
        bar = console_screen(app).query_one("#bar")
        await until(pilot, lambda: "queue: 2 runs waiting, about 46 s, held" in text_of(app, bar))
        assert re.search(r"session \d{4}-\d\d-\d\d-\d{6} ", text_of(app, bar))


async def test_an_empty_queue_says_how_it_is_filled(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await opened(app, pilot)
        empty = note(app)
        golden.same(empty)
        await pilot.press("x", "J", "K", "j", "k")
        assert listed(app) == []
        await closed(app, pilot, "g")
        assert not app.busy
        await pilot.press("2", "enter")
        await running(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: not app.busy)
        await opened(app, pilot)
        assert note(app) == empty, "there is nothing left that g could run"


async def test_the_screen_follows_what_begins_and_the_cursor_stays_with_its_entry(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, hosts):
        await pilot.press("1", "enter", "3", "enter", "4", "enter")
        await opened(app, pilot)
        await pilot.press("j")
        let_go(app, hosts, "write-iops")
        await until(pilot, lambda: listed(app) == ["read-throughput", "read-iops"])
        await pilot.press("x")
        assert waiting(app) == ["read-iops"]


async def test_what_is_taken_out_is_what_the_cursor_was_on(tmp_path: Path) -> None:
    """An entry may begin between what is shown and the key."""
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        await pilot.press("1", "enter", "3", "enter", "4", "enter")
        await opened(app, pilot)
        await pilot.press("j")
        dispatcher, screen = console_screen(app).dispatcher, app.screen
        assert isinstance(screen, QueueScreen)
        dispatcher.reorder(dispatcher.queue.without(0))
        screen.action_remove()
        assert waiting(app) == ["read-iops"]
        dispatcher.reorder(Queue())
        screen.action_remove()
        screen.action_move(1)
        assert waiting(app) == []


async def test_a_click_reaches_the_queue_of_the_keys(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=USUAL) as (app, pilot, _):
        await pilot.click("#panel-4", times=2)
        await until(pilot, lambda: waiting(app) == ["read-iops"])


# ------------------------------------------------------------------ failures


def failing(*presets: str) -> dict[str, FakeNode]:
    """A node on which these presets fail at once; the first run of random writes stands still before it goes on."""
    hosts = held("local")
    for host in hosts.values():
        host.scripts = {name: Script(status=1, stderr="fio: engine not loadable") for name in presets}
        host.scripts.setdefault("write-iops", Script(waits_after=10.0))
    return hosts


@contextlib.asynccontextmanager
async def queued(
    root: Path, hosts: dict[str, FakeNode], *keys: str, target: str = FILE
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None]]]:
    """The console in a run of random writes, with what these keys queue behind it."""
    async with console(root, connect=connector_to(hosts), speed=1, size=SMALL, target=target) as (app, pilot):
        await pilot.press("2", "enter")
        await running(app, pilot)
        await pilot.press(*keys)
        yield app, pilot


def reason(app: ConsoleApp) -> str:
    """Why the queue is held, as it is told; empty where it is not."""
    queue = console_screen(app).dispatcher.queue
    found = [text for text in toasts(app) if queue.is_held and queue.note in text]
    assert len(found) <= 1
    return found[0] if found else ""


async def test_two_failures_in_a_row_hold_what_is_left_and_say_why(tmp_path: Path, golden: Golden) -> None:
    hosts = failing("write-throughput", "read-throughput")
    async with queued(tmp_path, hosts, "1", "enter", "3", "enter", "4", "enter", "6", "enter") as (app, pilot):
        let_go(app, hosts, "write-iops")
        await until(pilot, lambda: not app.busy)
        await until(pilot, lambda: "#3 read-throughput " in shown(app, "#progress"))
        await until(pilot, lambda: bool(reason(app)))
        assert waiting(app) == ["read-iops", "mixed-75-25"]
        golden.same(reason(app))
        assert "held" in text_of(app, console_screen(app).query_one("#bar"))
        await opened(app, pilot)
        golden.same(note(app))
        assert "engine not loadable" in screen_text(app)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 5)
        await finished(app, pilot)
    assert [run.outcome for run in saved(tmp_path)] == ["ok", "failed", "failed", "ok", "ok"]


async def test_guards_that_refuse_twice_hold_the_rest(tmp_path: Path, golden: Golden) -> None:
    hosts = failing()
    async with queued(tmp_path, hosts) as (app, pilot):
        console_screen(app).choice.target = parse_target("file:/mnt/bench/other")
        await pilot.press("4", "enter", "6", "enter", "3", "enter")
        hosts["local"].facts = {"free": 1 << 20}
        let_go(app, hosts, "write-iops")
        await until(pilot, lambda: not app.busy)
        assert waiting(app) == ["read-throughput"]
        await until(pilot, lambda: bool(reason(app)))
        assert "/mnt/bench" in reason(app)
        golden.same(shown(app, "#progress"))
    assert [run.outcome for run in saved(tmp_path)] == ["ok"]


async def test_a_node_that_is_gone_holds_the_rest(tmp_path: Path) -> None:
    hosts = failing()
    async with queued(tmp_path, hosts, "4", "enter", "6", "enter", "3", "enter") as (app, pilot):
        hosts["local"].unreachable = "no route to host"
        hosts["local"].lose()
        await until(pilot, lambda: not app.busy)
        assert waiting(app) == ["mixed-75-25", "read-throughput"]
        await until(pilot, lambda: "local: no route to host" in reason(app))
        hosts["local"].unreachable = None
        await opened(app, pilot)
        await closed(app, pilot, "g")
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
    assert [run.outcome for run in saved(tmp_path)] == ["lost", "ok", "ok"]


async def test_what_was_not_agreed_to_is_no_failure(tmp_path: Path) -> None:
    """A no is an answer, and one for all that waits on that target: nothing is held, and nothing is written."""
    hosts = failing()
    async with queued(tmp_path, hosts) as (app, pilot):
        console_screen(app).choice.target = parse_target("file:/mnt/bench/other")
        await pilot.press("4", "enter", "6", "enter", "1", "enter")
        hosts["local"].facts = {"kind": "file", "size": 15000}
        started = len(hosts["local"].started)
        let_go(app, hosts, "write-iops")
        await until(pilot, lambda: "2 more" in in_one_line(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.busy)
        assert waiting(app) == []
        assert [text for text in said(app) if "in a row" in text] == []
        assert len(hosts["local"].started) == started
        await pilot.press("1", "enter")
        await until(pilot, lambda: isinstance(app.screen, TypeName))
        await pilot.press("escape")
        await until(pilot, lambda: not app.busy)
    assert len(saved(tmp_path)) == 1


async def test_what_is_given_up_is_asked_for_once_and_for_that_target_only(tmp_path: Path) -> None:
    hosts = failing()
    async with queued(tmp_path, hosts) as (app, pilot):
        console_screen(app).choice.target = parse_target("file:/mnt/bench/other")
        await pilot.press("4", "enter", "6", "enter")
        console_screen(app).choice.target = parse_target("file:/mnt/bench/third")
        await pilot.press("1", "enter")
        hosts["local"].facts = {"kind": "file", "size": 15000}
        let_go(app, hosts, "write-iops")
        await until(pilot, lambda: "1 more in the queue" in in_one_line(app))
        await pilot.press(*"other", "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 3 and "type its name (third)" in in_one_line(app))
        assert "more in the queue" not in in_one_line(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.busy)
    assert [(run.preset, run.outcome) for run in saved(tmp_path)] == [
        ("write-iops", "ok"),
        ("read-iops", "ok"),
        ("mixed-75-25", "ok"),
    ]


# ------------------------------------------------------------------ without a screen


class Screenless:
    """A front end and its display around a real runner; the reasons why the queue was held are kept."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.holds, self.said = runner, list[str](), list[str]()
        self.dispatcher = Dispatcher(runner, self, self, lambda: None)
        self._work = set[asyncio.Task[None]]()

    def push(self, name: str, overrides: Mapping[str, Choice] | None = None) -> None:
        """Queue a preset with the recorded runtime."""
        path, options = FILE.partition(":")[2], {"runtime": 20, **(overrides or {})}
        self.dispatcher.push([entry(path, options, name=name)])

    @property
    def waiting(self) -> list[str]:
        """The presets that wait."""
        return [entry.name for entry in self.dispatcher.queue.entries]

    def plans(self, drafts: Sequence[Request]) -> list[Plan]:
        return plans_of(drafts, self.runner.prefilled())

    async def connect(self, request: Request) -> Request:
        states = [state async for state in Launcher(self.runner, Answers()).connect(request.nodes)]
        assert [state.problem for state in states] == [None]
        return replace(request, nodes=tuple(state.node for state in states))

    async def is_made(self, question: str) -> bool | None:
        raise AssertionError(question)

    def ask(self, dispatcher: Dispatcher) -> Answers:
        return Answers()

    def start(self, work: Coroutine[None, None, None]) -> None:
        self._work.add(asyncio.create_task(work))

    def announce(self, text: str) -> None:
        pass

    def announce_end(self, word: str) -> None:
        pass

    def begins(self, study: Study[Any], step: Measure, plan: Plan, runs: Sequence[Run]) -> None:
        pass

    def brought(self, study: Study[Any], runs: Sequence[Run]) -> None:
        pass

    def concluded(self, study: Study[Any], conclusion: StudyResult) -> None:
        pass

    def want_change(self, study: Study[Any]) -> None:
        raise AssertionError

    def say(self, text: str) -> None:
        self.said.append(text)

    def report_error(self, text: str, title: str = "") -> None:
        raise AssertionError(text)

    def report_hold(self, queue: Queue) -> None:
        self.holds.append(queue.note)

    def catch_up(self) -> None:
        pass


async def comes_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def screenless(root: Path, hosts: dict[str, FakeNode], *, first: str = "write-iops") -> AsyncIterator[Screenless]:
    """In the run of a preset, which stands still."""
    with Runner(root / "sessions", "tuning", connect_node=connector_to(hosts)) as runner:
        front = Screenless(runner)
        front.push(first)
        await comes_true(lambda: bool(hosts["local"].log.of(f"waits in {first}")))
        try:
            yield front
        finally:
            front.dispatcher.stop()
            await comes_true(lambda: not front.dispatcher.busy)


async def test_what_is_queued_after_a_stop_runs_and_holds_the_others(tmp_path: Path) -> None:
    hosts = held("local")
    async with screenless(tmp_path, hosts) as front:
        front.push("read-iops")
        assert front.dispatcher.stop()
        await comes_true(lambda: not front.dispatcher.busy)
        let_go_of(front.runner, hosts)
        front.push("mixed-75-25")
        await comes_true(lambda: not front.dispatcher.busy)
        assert front.waiting == ["read-iops"]
    assert [(run.preset, run.outcome) for run in saved(tmp_path)] == [("write-iops", "stopped"), ("mixed-75-25", "ok")]


async def test_skip_ends_this_run_and_goes_on_with_the_next(tmp_path: Path) -> None:
    hosts = held("local")
    async with screenless(tmp_path, hosts) as front:
        front.push("read-iops")
        front.push("mixed-75-25")
        assert front.dispatcher.skip()
        await comes_true(lambda: bool(hosts["local"].log.of("waits in read-iops")))
        assert front.waiting == ["mixed-75-25"]
        let_go_of(front.runner, hosts)
        await comes_true(lambda: not front.dispatcher.busy)
    assert [run.outcome for run in saved(tmp_path)] == ["stopped", "ok", "ok"]
    assert saved(tmp_path)[0].summary.write, "what was measured is kept"


async def test_skip_of_one_step_of_a_sweep_goes_on_with_the_next_step(tmp_path: Path) -> None:
    hosts = held("local")
    async with screenless(tmp_path, hosts, first="latency") as front:
        front.dispatcher.skip()
        await comes_true(lambda: len(hosts["local"].log.of("waits in latency")) == 2)
        let_go_of(front.runner, hosts)
        await comes_true(lambda: not front.dispatcher.busy)
    assert [(run.options["rw"], run.outcome) for run in saved(tmp_path)] == [
        ("randread", "stopped"),
        ("randwrite", "ok"),
    ]


async def test_failures_that_do_not_follow_each_other_hold_nothing(tmp_path: Path) -> None:
    hosts = failing("write-throughput", "read-throughput")
    async with screenless(tmp_path, hosts) as front:
        for name in ("write-throughput", "read-iops", "read-throughput", "mixed-75-25"):
            front.push(name)
        let_go_of(front.runner, hosts, "write-iops")
        await comes_true(lambda: not front.dispatcher.busy)
        assert front.holds == []
    assert [run.outcome for run in saved(tmp_path)] == ["ok", "failed", "ok", "failed", "ok"]


async def test_a_sweep_that_fails_twice_holds_the_rest(tmp_path: Path, golden: Golden) -> None:
    hosts = failing("latency")
    async with screenless(tmp_path, hosts) as front:
        front.push("latency", {"iodepth": ["1", "2"]})
        front.push("mixed-75-25")
        front.push("read-iops")
        let_go_of(front.runner, hosts, "write-iops")
        await comes_true(lambda: not front.dispatcher.busy)
        assert front.waiting == ["mixed-75-25", "read-iops"]
        (why,) = front.holds
        golden.same(why)
    assert [run.outcome for run in saved(tmp_path)] == ["ok", "failed", "failed"]


async def test_what_was_filled_meanwhile_is_not_filled_again(tmp_path: Path) -> None:
    """The plan is made when the turn comes: the first run has filled what the second reads."""
    hosts = failing()
    async with screenless(tmp_path, hosts) as front:
        front.push("read-iops")
        let_go_of(front.runner, hosts, "write-iops")
        await comes_true(lambda: not front.dispatcher.busy)
    assert len(saved(tmp_path)) == 2
    log = hosts["local"].log
    assert log.of("started fill") == ["local"]
    assert log.of("started read-iops") == ["local"]


# ------------------------------------------------------------------ when its turn comes


async def test_an_entry_keeps_what_was_chosen_when_it_was_queued(tmp_path: Path) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        screen = console_screen(app)
        await pilot.press("2", "enter")
        await running(app, pilot)
        await pilot.press("4", "enter")
        screen.choice.target = parse_target("file:/mnt/bench/other")
        screen.choice.edits = Edits({"read-iops": {"bs": "64k"}}, "20")
        await pilot.press("4", "enter")
        let_go(app, hosts)
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
        assert len(rows(app)) == 3
    assert [(run.target, run.options["bs"]) for run in saved(tmp_path)] == [
        ("file:/mnt/bench/test", "4k"),
        ("file:/mnt/bench/test", "4k"),
        ("file:/mnt/bench/other", "64k"),
    ]


async def test_what_can_not_be_run_is_not_queued(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        console_screen(app).choice.edits = Edits({"write-iops": {"size": "1k"}}, "20")
        await pilot.press("2", "enter")
        assert [text for text in said(app) if text.startswith("size: ")]
        assert not app.busy
        assert waiting(app) == []


# ------------------------------------------------------------------ in turns


def steps(queue: Queue) -> list[tuple[str, int]]:
    """The presets and repeats of all that waits, in the order in which they are measured."""
    plans = [plan for entry in queue.entries for plan in plans_of(entry.study.drafts())]
    return [(step.preset, step.repeat) for plan in plans for step in plan.steps]


@pytest.mark.parametrize("path", ["/x", "/y"])
def test_two_that_wait_are_one_study_in_the_order_abba(path: str, golden: Golden) -> None:
    first, second = entry("/x", repeats=3, name="read-iops"), entry(path, repeats=4)
    other = entry("/x", name="latency")
    queue = Queue((other, first, second), ready=3).in_turns(1)
    a, b = "read-iops", "write-iops"
    assert steps(queue)[2:] == [(a, 1), (b, 1), (b, 2), (a, 2), (a, 3), (b, 3), (b, 4)]
    assert queue.ready == 2
    both = queue.entries[1]
    assert both.study.batches == first.study.batches | second.study.batches
    seconds = first.extent.most_seconds + second.extent.most_seconds
    assert (both.extent.most_runs, both.extent.most_seconds) == (7, seconds)
    golden.same([both.name, both.text])


def test_those_of_one_target_and_as_many_repeats_are_one_plan() -> None:
    queue = Queue((entry("/x", {"bs": "8k"}, repeats=2), entry("/x", repeats=2))).in_turns(0)
    (plan,) = plans_of(queue.entries[0].study.drafts())
    assert [(step.repeat, step.options["bs"]) for step in plan.steps] == [(1, "8k"), (1, "4k"), (2, "4k"), (2, "8k")]


def test_what_can_not_take_turns_stays_as_it_is() -> None:
    one, two, more = entry("/x"), entry("/y"), entry("/z", repeats=3)
    stable = Entry(study("write-iops", kind="stable"))
    for queue, index in (
        (Queue((one, two), ready=2), 0),
        (Queue((more,), ready=1), 0),
        (Queue((more, one), ready=1), 0),
        (Queue((one, more), ready=2), 1),
        (Queue((more, stable), ready=2), 0),
        (Queue((measured(more, 1), one), ready=2), 0),
    ):
        assert queue.in_turns(index) is queue


async def test_two_presets_take_turns_and_each_is_a_batch(tmp_path: Path) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=60, size=USUAL) as (app, pilot):
        console_screen(app).choice.edits = Edits({}, "20", repeats=2)
        await pilot.press("3", "enter")
        await running(app, pilot)
        await pilot.press("4", "enter", "2", "enter")
        await opened(app, pilot)
        await pilot.press("i")
        await until(pilot, lambda: listed(app) == ["read-iops, write-iops"])
        await pilot.press("i")
        await until(pilot, lambda: any("can alternate" in text for text in said(app)))
        await closed(app, pilot)
        let_go(app, hosts)
        await until(pilot, lambda: not app.busy)
    runs = saved(tmp_path)[2:]
    assert [(run.preset, run.repeat) for run in runs] == [
        ("read-iops", 1),
        ("write-iops", 1),
        ("write-iops", 2),
        ("read-iops", 2),
    ]
    assert runs[0].batch == runs[3].batch != runs[1].batch == runs[2].batch


# ------------------------------------------------------------------ what is unfinished


async def stopped_in_repeats(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """In the second of three runs, and none of them waits any more."""
    console_screen(app).choice.edits = Edits({}, "20", repeats=3)
    await pilot.press("2", "enter")
    await running(app, pilot)
    await pilot.press("x")
    await until(pilot, lambda: "#2 write-iops running" in shown(app, "#progress"))
    await pilot.press("s")
    await until(pilot, lambda: not app.busy)
    await opened(app, pilot)
    assert listed(app) == ["write-iops"]
    await pilot.press("x")


async def test_what_is_unfinished_is_listed_and_resumed(tmp_path: Path, golden: Golden) -> None:
    """Also where another console has left it: what was stopped is missing then."""
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await stopped_in_repeats(app, pilot)
        await until(pilot, lambda: "s1" in screen_text(app))
        assert waiting(app) == []
        await closed(app, pilot)
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=SMALL) as (app, pilot):
        assert not app.busy, "it is never begun unasked"
        await opened(app, pilot)
        await until(pilot, lambda: "s1" in screen_text(app))
        golden.same(str(cell) for cell in app.screen.query_one(DataTable).get_row_at(0))
        golden.same(note(app))
        await closed(app, pilot, "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 5)
        await finished(app, pilot)
        await opened(app, pilot)
        await until(pilot, lambda: listed(app) == [])
    runs = saved(tmp_path)
    assert [(run.step, run.outcome) for run in runs] == [
        *[(number, "stopped") for number in (1, 2)],
        *[(number, "ok") for number in (1, 2, 3)],
    ]
    assert len({run.batch for run in runs}) == 1


async def test_a_study_that_can_not_be_resumed_says_why(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=SMALL) as (app, pilot):
        await stopped_in_repeats(app, pilot)
        await until(pilot, lambda: "s1" in screen_text(app))
        app._catalogue.pop("write-iops")
        await closed(app, pilot, "enter")
        await until(pilot, lambda: any(text.startswith("s1: ") for text in said(app)))
        golden.same(text for text in said(app) if text.startswith("s1: "))
        assert waiting(app) == []
