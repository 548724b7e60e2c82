"""The dispatcher of a queue: plain asyncio, without a screen or a node."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import cast

from cephtui.models import Plan
from cephtui.planning import Request, make_plan
from cephtui.running.dispatcher import Dispatcher
from cephtui.running.launch import NotRun
from cephtui.running.queue import Entry, Queue
from cephtui.running.runner import Runner
from tests.golden import Golden
from tests.test_launch import EXISTS, REQUEST, FakeRunner, Script


class StoppableRunner(FakeRunner):
    """Keeps what ended its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[str] = []

    def stop(self) -> None:
        self.ended.append("stop")

    def skip(self) -> None:
        self.ended.append("skip")


class Console:
    """A front end and its display in one: entries connect when they may, and all that is shown is kept."""

    def __init__(self, *, unusable: bool = False) -> None:
        self.may_connect, self.unusable = asyncio.Event(), unusable
        self.shown: list[str] = []
        self.work: list[asyncio.Task[None]] = []
        self.script = Script()

    def plan(self, request: Request) -> Plan:
        return make_plan(request, lambda: "0a1b2c3d", {})

    async def connect(self, entry: Entry) -> Entry:
        await self.may_connect.wait()
        if self.unusable:
            raise NotRun("no route to host")
        return entry

    def ask(self, dispatcher: Dispatcher) -> Script:
        return self.script

    def start(self, work: Coroutine[None, None, None]) -> None:
        self.work.append(asyncio.create_task(work))

    def announce(self, text: str) -> None:
        self.shown.append(text)

    def announce_end(self, word: str) -> None:
        self.shown.append(word)

    def report_error(self, text: str, title: str = "") -> None:
        self.shown.append(f"error: {text}")

    def report_hold(self, queue: Queue) -> None:
        self.shown.append(f"held: {queue.note}")

    def catch_up(self) -> None:
        self.shown.append("caught up")


def dispatcher_of(console: Console, runner: StoppableRunner) -> Dispatcher:
    return Dispatcher(cast(Runner, runner), console, console, lambda: None)


def entries(console: Console, number: int) -> list[Entry]:
    return [Entry.of(REQUEST, console.plan) for _ in range(number)]


async def worked_off(console: Console) -> None:
    console.may_connect.set()
    await asyncio.gather(*console.work)


async def test_entries_run_one_after_the_other() -> None:
    console, runner = Console(), StoppableRunner()
    dispatcher = dispatcher_of(console, runner)
    first, second = entries(console, 2)
    dispatcher.push([first])
    assert dispatcher.busy, "what is pressed next is queued behind it"
    dispatcher.push([second])
    assert dispatcher.queue.entries == (first, second)
    await worked_off(console)
    assert [plan.steps[0].batch for plan in runner.plans] == [first.batch, second.batch]
    assert len(console.work) == 1
    assert not dispatcher.busy
    assert dispatcher.queue.entries == ()


async def test_a_stop_holds_what_waits_until_it_is_released() -> None:
    console, runner = Console(), StoppableRunner()
    dispatcher = dispatcher_of(console, runner)
    assert not dispatcher.stop()
    dispatcher.push(entries(console, 2))
    await asyncio.sleep(0)
    assert dispatcher.stop()
    await worked_off(console)
    assert (runner.ended, runner.plans) == (["stop"], [])
    assert console.shown[-3:] == ["stopping", "not run", "held: stopped"]
    assert (len(dispatcher.queue.entries), dispatcher.queue.ready, dispatcher.busy) == (1, 0, False)
    dispatcher.release()
    await worked_off(console)
    assert len(runner.plans) == 1


async def test_a_skip_goes_to_the_next() -> None:
    console, runner = Console(), StoppableRunner()
    dispatcher = dispatcher_of(console, runner)
    assert not dispatcher.skip()
    first, second = entries(console, 2)
    dispatcher.push([first, second])
    await asyncio.sleep(0)
    assert dispatcher.skip()
    await worked_off(console)
    assert runner.ended == ["skip"]
    assert [plan.steps[0].batch for plan in runner.plans] == [second.batch]


async def test_two_failures_hold_the_rest(golden: Golden) -> None:
    console, runner = Console(unusable=True), StoppableRunner()
    dispatcher = dispatcher_of(console, runner)
    dispatcher.push(entries(console, 3))
    await worked_off(console)
    assert console.shown.count("error: no route to host") == 2
    assert console.shown[-1] == f"held: {dispatcher.queue.note}"
    golden.same(dispatcher.queue.note)
    assert (len(dispatcher.queue.entries), dispatcher.queue.is_held) == (1, True)


async def test_a_no_is_no_failure() -> None:
    console, runner = Console(), StoppableRunner()
    console.script, runner.refusals = Script(agrees=False), [EXISTS]
    dispatcher = dispatcher_of(console, runner)
    dispatcher.push(entries(console, 3))
    await worked_off(console)
    assert console.script.asked == [EXISTS] * 3
    assert runner.plans == []
    assert dispatcher.queue == Queue()


async def test_nothing_begins_after_the_end() -> None:
    console, runner = Console(), StoppableRunner()
    dispatcher = dispatcher_of(console, runner)
    dispatcher.push(entries(console, 2))
    await asyncio.sleep(0)
    dispatcher.close()
    await worked_off(console)
    assert runner.plans == []
    assert not dispatcher.busy
