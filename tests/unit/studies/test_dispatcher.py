"""The dispatcher of a queue: plain asyncio, without a screen or a node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from cephtui.models import Node, Plan, Run
from cephtui.models.refusal import Refusal
from cephtui.models.study import SavedStudy
from cephtui.ordering import plans_of
from cephtui.planning import Request
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.changes import CHANGES_FILE, Ran
from cephtui.sessions.store import StoreError
from cephtui.studies.base import Measure, Study, StudyResult
from cephtui.studies.dispatcher import Dispatcher
from cephtui.studies.queue import Entry, Queue
from cephtui.targets import Target
from tests.support.conducting import BEGUN, Figure, figures, study
from tests.support.desks import check
from tests.support.golden import Golden
from tests.unit.running.test_launch import EXISTS, FULL, FakeRunner, Script, done


class StudyRunner(FakeRunner):
    """Gives runs of these figures, and keeps what ended its runs; there is no session."""

    def __init__(self, *values: Figure) -> None:
        super().__init__()
        self.directory: Path | None = None
        self.ended: list[str] = []
        self.batches: list[str] = []
        self.begins: Callable[[], object] = lambda: None
        """Called as a plan begins."""
        self._run = figures(*values)
        self._number = 0

    def stop(self) -> None:
        self.ended.append("stop")

    def skip(self) -> None:
        self.ended.append("skip")

    def check(self, plan: Plan, target: Target) -> Future[list[Refusal]]:
        return done(self.refusals)

    def submit(self, plan: Plan, target: Target, study: SavedStudy | None = None) -> Future[tuple[Run, ...]]:
        self.begins()
        runs = []
        for step in plan.steps:
            self._number += 1
            self.batches.append(step.batch)
            runs.append(self._run(step, self._number))
            if runs[-1].outcome == "stopped" and "stop" in self.ended:
                break
        return done(tuple(runs))


class Console:
    """A front end and its display in one: nodes connect when they may, and all that is shown is kept."""

    def __init__(self, *unusable: str) -> None:
        self.may_connect, self.unusable = asyncio.Event(), unusable
        self.shown: list[str] = []
        self.work: list[asyncio.Task[None]] = []
        self.script = Script()

    def plans(self, drafts: Sequence[Request]) -> list[Plan]:
        return plans_of(drafts)

    async def connect(self, request: Request) -> Request:
        await self.may_connect.wait()
        if unusable := [node.name for node in request.nodes if node.name in self.unusable]:
            raise NotRun("no route to host", unusable=unusable)
        return request

    async def is_made(self, question: str) -> bool | None:
        return None

    def ask(self, dispatcher: Dispatcher) -> Script:
        return self.script

    def start(self, work: Coroutine[None, None, None]) -> None:
        self.work.append(asyncio.create_task(work))

    def announce(self, text: str) -> None:
        self.shown.append(text)

    def announce_end(self, word: str) -> None:
        self.shown.append(word)

    def begins(self, study: Study[Any], step: Measure, plan: Plan, runs: Sequence[Run]) -> None:
        self.shown.append(f"begins after {len(runs)}")

    def brought(self, study: Study[Any], runs: Sequence[Run]) -> None:
        self.shown.append(f"brought {len(runs)}")

    def concluded(self, study: Study[Any], conclusion: StudyResult) -> None:
        raise AssertionError("there is no session")

    def want_change(self, study: Study[Any]) -> None:
        self.shown.append("make the change")

    def say(self, text: str) -> None:
        self.shown.append(text)

    def report_error(self, text: str, title: str = "") -> None:
        self.shown.append(f"error: {text}")

    def report_hold(self, queue: Queue) -> None:
        self.shown.append(f"held: {queue.note}")

    def catch_up(self) -> None:
        self.shown.append("caught up")


def dispatcher_of(console: Console, runner: StudyRunner) -> Dispatcher:
    return Dispatcher(cast(Runner, runner), console, console, lambda: None)


def entry(*presets: str, **more: Any) -> Entry:
    return Entry(study(*(presets or ("write-iops",)), **more)).planned(plans_of)


async def worked_off(console: Console) -> None:
    console.may_connect.set()
    await asyncio.gather(*console.work)


async def dispatched(console: Console, runner: StudyRunner, *entries: Entry) -> Dispatcher:
    """With its queue worked off."""
    dispatcher = dispatcher_of(console, runner)
    dispatcher.push(entries)
    await worked_off(console)
    assert not dispatcher.busy
    return dispatcher


async def test_entries_run_one_after_the_other() -> None:
    console, runner = Console(), StudyRunner(1.0, 2.0)
    dispatcher = dispatcher_of(console, runner)
    first, second = entry(), entry()
    dispatcher.push([first])
    assert dispatcher.busy, "what is pressed next is queued behind it"
    dispatcher.push([second])
    assert dispatcher.queue.entries == (first, second)
    await worked_off(console)
    assert {*runner.batches} == first.study.batches | second.study.batches
    assert len(console.work) == 1
    assert not dispatcher.busy
    assert dispatcher.queue.entries == ()


async def test_a_study_decides_what_is_measured_next() -> None:
    """Repeats until stable, which need as many runs as it takes."""
    console, runner = Console(), StudyRunner(*[100.0, 140.0, 90.0, 120.0, 110.0], *[110.0] * 5)
    await dispatched(console, runner, entry(kind="stable", goal={"percent": 5.0, "most": 7}))
    assert len(runner.batches) == 7
    assert console.shown.count("begins after 3") == console.shown.count("brought 7") == 1


async def test_a_stop_holds_what_waits_until_it_is_released() -> None:
    console, runner = Console(), StudyRunner(1.0, 2.0)
    dispatcher = dispatcher_of(console, runner)
    assert not dispatcher.stop()
    dispatcher.push([entry(), entry()])
    await asyncio.sleep(0)
    assert dispatcher.stop()
    await worked_off(console)
    assert (runner.ended, runner.batches) == (["stop"], [])
    assert console.shown[-3:] == ["stopping", "not run: stopped before it began", "held: stopped"]
    assert (len(dispatcher.queue.entries), dispatcher.queue.ready) == (2, 0), "nothing of the first was run"
    dispatcher.release()
    await worked_off(console)
    assert len(runner.batches) == 2


async def test_what_is_left_after_a_stop_is_held_without_the_run_that_was_stopped() -> None:
    console, runner = Console(), StudyRunner(1.0, None, 3.0, 4.0)
    dispatcher = dispatcher_of(console, runner)
    runner.begins = dispatcher.stop
    dispatcher.push([entry(repeats=4), entry("read-iops")])
    await worked_off(console)
    held, other = dispatcher.queue.entries
    assert (held.extent.most_runs, [run.step for run in held.runs]) == (2, [1, 2])
    assert (held.text, other.name) == ("4 times, 2 of 4 runs left", "read-iops")
    assert console.shown[-1] == "held: stopped"
    runner.begins, runner.ended = lambda: None, []
    dispatcher.release(held)
    await worked_off(console)
    assert runner.batches == [*held.study.batches] * 4
    assert dispatcher.queue.entries == (other,), "only what was released goes on"


async def test_a_skip_goes_to_the_next() -> None:
    console, runner = Console(), StudyRunner(1.0)
    dispatcher = dispatcher_of(console, runner)
    assert not dispatcher.skip()
    first, second = entry(), entry()
    dispatcher.push([first, second])
    await asyncio.sleep(0)
    assert dispatcher.skip()
    await worked_off(console)
    assert runner.ended == ["skip"]
    assert runner.batches == [*second.study.batches]


async def test_a_run_that_was_skipped_is_none_that_failed_and_the_study_goes_on() -> None:
    console, runner = Console(), StudyRunner(None, None, 3.0)
    dispatcher = await dispatched(console, runner, entry(repeats=3))
    assert len(runner.batches) == 3
    assert dispatcher.queue == Queue()


async def test_after_two_failures_only_what_needs_the_same_is_held(golden: Golden) -> None:
    """A file on which the tool has failed; another goes on."""
    console, runner = Console(), StudyRunner("engine not loadable", "engine not loadable", 3.0)
    failing = entry(repeats=2), entry("read-iops"), entry(paths=["/y"])
    dispatcher = await dispatched(console, runner, *failing)
    assert runner.batches[2:] == [*failing[2].study.batches]
    assert dispatcher.queue == Queue((failing[1],), 0, dispatcher.queue.note)
    golden.same(dispatcher.queue.note)
    runner._run = figures(1.0)
    dispatcher.release()
    await worked_off(console)
    assert runner.batches[3:] == [*failing[1].study.batches], "what failed before is no reason any more"


async def test_a_node_that_can_not_be_used_holds_what_is_run_from_it(golden: Golden) -> None:
    lost, good = Node(name="pve1", host="pve1"), Node(name="pve2", host="pve2")
    console, runner = Console("pve1"), StudyRunner(1.0)
    first, second, third, other = entry(node=lost), entry(node=lost), entry(node=lost), entry(node=good)
    dispatcher = await dispatched(console, runner, first, second, third, other)
    assert console.shown.count("error: no route to host") == 2
    assert (dispatcher.queue.entries, dispatcher.queue.is_held) == ((third,), True)
    assert runner.batches == [*other.study.batches]
    golden.same(dispatcher.queue.note)


async def test_guards_that_refuse_twice_hold_what_is_on_the_same_target() -> None:
    console, runner = Console(), StudyRunner()
    runner.refusals = [FULL]
    dispatcher = await dispatched(console, runner, entry(), entry("read-iops"), entry("mixed-75-25"))
    assert [waiting.name for waiting in dispatcher.queue.entries] == ["mixed-75-25"]


async def test_a_cell_that_can_not_be_measured_leaves_the_others_to_go_on() -> None:
    console, runner = Console(), StudyRunner(1.0)
    both = study("write-iops", paths=["/x", "/y"])
    requests = [replace(both.requests[0], nodes=(Node(name="pve1", host="pve1"),)), both.requests[1]]
    console.unusable = ("pve1",)
    dispatcher = await dispatched(console, runner, Entry(both.with_requests(requests)))
    assert runner.batches == [both.saved.cells[1].batch]
    assert dispatcher.queue == Queue()


async def test_a_no_is_no_failure() -> None:
    console, runner = Console(), StudyRunner()
    console.script, runner.refusals = Script(agrees=False), [EXISTS]
    dispatcher = await dispatched(console, runner, entry(), entry(), entry())
    assert console.script.asked == [EXISTS] * 3
    assert runner.batches == []
    assert dispatcher.queue == Queue()


async def test_a_session_that_can_not_be_written_holds_all() -> None:
    console, runner = Console(), StudyRunner()

    def begins() -> None:
        raise StoreError("no space left")

    runner.begins = begins
    dispatcher = await dispatched(console, runner, entry(), entry())
    assert "error: no space left" in console.shown
    assert (len(dispatcher.queue.entries), dispatcher.queue.ready) == (2, 0), "also the one that was to begin"
    assert dispatcher.queue.note == "no space left"


async def test_a_study_that_its_session_can_not_take_any_more_is_held_with_its_runs() -> None:
    console, runner = Console(), StudyRunner(1.0, 1.0)

    def begins() -> None:
        if runner.batches:
            raise StoreError("no space left")

    runner.begins = begins
    dispatcher = await dispatched(console, runner, entry(paths=["/a", "/b"]))
    (held,) = dispatcher.queue.entries
    assert (dispatcher.queue.note, len(held.runs)) == ("no space left", 1)


async def test_a_check_is_held_where_the_user_is_to_make_the_change() -> None:
    console, runner = Console(), StudyRunner(*[1.0] * 8)
    dispatcher = await dispatched(console, runner, Entry(check("write-iops")), entry("read-iops"))
    assert len(runner.batches) == 7, "what waits behind it goes on"
    (held,) = dispatcher.queue.entries
    assert len(held.runs) == 6
    assert console.shown.count("make the change") == 1
    assert not any(text.startswith("held") for text in console.shown)


async def test_a_check_is_not_begun_while_a_change_was_not_undone(tmp_path: Path, golden: Golden) -> None:
    """It would be lost sight of; what is no check is measured all the same."""
    console, runner = Console(), StudyRunner(1.0)
    runner.directory = tmp_path / "tuning"
    runner.directory.mkdir()
    made = Ran(at=BEGUN, kind="change", command="x", undo="y", status=0)
    (runner.directory / CHANGES_FILE).write_text(f"{made.model_dump_json()}\n")
    dispatcher = await dispatched(console, runner, Entry(check("write-iops")), entry("read-iops"))
    assert len(runner.batches) == 1
    assert [waiting.study.kind for waiting in dispatcher.queue.entries] == ["check"]
    golden.same(dispatcher.queue.note)


async def test_nothing_begins_after_the_end() -> None:
    console, runner = Console(), StudyRunner()
    dispatcher = dispatcher_of(console, runner)
    dispatcher.push([entry(), entry()])
    await asyncio.sleep(0)
    dispatcher.close()
    await worked_off(console)
    assert runner.batches == []
    assert not dispatcher.busy
