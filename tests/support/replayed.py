"""The recorded session, and the console fed from it: shared by the console's tests and the screenshots."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVarTuple
from unittest.mock import patch

from textual.app import App
from textual.events import Key
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import DataTable, Static

from cephtui.models import Node, Run
from cephtui.nodes.replay import ReplayConnection
from cephtui.nodes.transport import Connection, Question
from cephtui.paths import packaged_presets_dir
from cephtui.presets import Catalogue, find_presets
from cephtui.reports.words.quality import outcome_word
from cephtui.running.connections import Connect
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.targets import parse_target
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.console.start import Start
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets import live_view
from tests.support import fakes
from tests.support.fakes import FakeNode, Log, Script
from tests.support.plans import FILE
from tests.support.runs import SESSION, WRITE_IOPS
from tests.support.settled import settled
from tests.support.waiting import FairClock

RECORDED_SECONDS = "20"
PRESETS = ("write-throughput", "write-iops", "read-throughput", "read-iops", "latency", "mixed-75-25")
"""By their keys, from 1."""
_Given = TypeVarTuple("_Given")


def connector(run: int, speed: float) -> Callable[[Node, Mapping[str, str]], Awaitable[Connection | Question]]:
    """Nodes that play one of the recorded runs, whatever they are called and asked to run."""
    environment = store.read_run(SESSION, run).environment["local"]

    async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
        recorded = node.model_copy(update={"name": "local"})
        return ReplayConnection(SESSION / f"{run:03}" / "raw", environment, speed=speed, node=recorded)

    return connect


class NotedConsole(ConsoleApp):
    """The console, which keeps all its notifications."""

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner, root: Path, profile: Profile) -> None:
        super().__init__(catalogue, start, runner, root, profile)
        self.said: list[str] = []

    def notify(self, message: str, **more: Any) -> None:
        self.said.append(message)
        super().notify(message, **more)


@contextlib.asynccontextmanager
async def console(
    root: Path,
    *,
    run: int = WRITE_IOPS,
    speed: float,
    size: tuple[int, int],
    nodes: tuple[str, ...] = ("local",),
    target: str = FILE,
    session: str | None = "tuning",
    connect: Connect | None = None,
    profile: Profile = FULL,
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None]]]:
    """The console on replayed nodes (or on those that ``connect`` gives), with the recorded runtime typed in."""
    catalogue = find_presets(packaged_presets_dir(), root / "no-presets-of-the-user")
    hosts = tuple(Node(name=name, host=None if name == "local" else name) for name in nodes)
    with Runner(root / "sessions", session, connect_node=connect or connector(run, speed)) as runner:
        earlier = saved(root, session) if session else []
        marks = store.read_marks(runner.directory) if runner.directory else []
        start = Start(hosts, parse_target(target), earlier=tuple(earlier), marks=tuple(marks))
        app = NotedConsole(catalogue, start, runner, root / "sessions", profile)
        screen = app._console_screen
        screen.choice.edits = Edits(runtime=RECORDED_SECONDS)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: screen.is_mounted and screen.choice.nodes.states.keys() >= set(nodes))
            try:
                yield app, pilot
            finally:
                if app.is_running and app.busy:
                    app.action_stop()
                    await until(pilot, lambda: not app.busy)


def held(*names: str, at: float = 10.0) -> dict[str, FakeNode]:
    """Nodes on which every run stands still after so many seconds of the recording, until it is let go or stopped."""
    log = Log()
    hosts = {name: FakeNode(Node(name=name, host=None if name == "local" else name), log) for name in names}
    for host in hosts.values():
        host.scripts = {preset: Script(waits_after=at) for preset in PRESETS}
    return hosts


def let_go(app: ConsoleApp, hosts: Mapping[str, FakeNode], *presets: str) -> None:
    """Have these (by default all) presets run to their ends."""
    let_go_of(app._runner, hosts, *presets)


def let_go_of(runner: Runner, hosts: Mapping[str, FakeNode], *presets: str) -> None:
    """The same, where there is no console."""
    for host in hosts.values():
        for preset in presets or PRESETS:
            runner._thread.call_soon(host.scripts[preset].go_on.set)


connector_to = fakes.connector


async def until(
    pilot: Pilot[None],
    condition: Callable[[*_Given], bool],
    *given: *_Given,
    seconds: float = 120.0,
    settles: bool = True,
) -> None:
    """Wait for what another thread or a timer brings about, and until all that follows from it is on the screen too.

    ``given`` are the condition's arguments, ``seconds`` those of a fair clock. ``settles`` says whether something is
    not held back on purpose. Raises TimeoutError, and what the application has failed with.
    """
    pause, clock = 0.01, FairClock()
    while not condition(*given):
        if pilot.app._exception:
            raise pilot.app._exception
        if clock.seconds() > seconds:
            raise TimeoutError
        await asyncio.sleep(pause)
        pause = min(1.3 * pause, 0.25)
    if settles:
        await settled(pilot.app)


# ------------------------------------------------------------------ what is seen, and what is kept


def console_screen(app: ConsoleApp) -> ConsoleScreen:
    """The console, also where a dialog lies on it."""
    return app._console_screen


def screen_text(app: App[Any]) -> str:
    """What is on the screen, row by row."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def text_of(app: App[Any], widget: Widget) -> str:
    """What is on the screen where a widget is, row by row."""
    region = widget.region
    lines = [strip.crop(region.x, region.right).text for strip in app.screen._compositor.render_strips()]
    return "\n".join(lines[region.y : region.bottom])


def burst(app: App[Any], text: str, *keys: str) -> None:
    """Keys that come all at once, as over a slow link."""
    for sign in text:
        app.post_message(Key(sign, sign))
    for name in keys:
        app.post_message(Key(name, None))


def shown(app: ConsoleApp, selector: str) -> str:
    """The text of a widget of the console."""
    return str(console_screen(app).query_one(selector, Static).render())


def said(app: ConsoleApp) -> list[str]:
    """All notifications, also those that have gone."""
    assert isinstance(app, NotedConsole)
    return list(app.said)


def toasts(app: ConsoleApp) -> list[str]:
    """The notifications that are still to be seen."""
    return [notice.message for notice in app._notifications]


def cells_of(table: DataTable[Any]) -> list[list[str]]:
    """The texts in its rows; of a mark and of the heading of a sweep, which have all columns, sign and text."""
    found = []
    for row in range(table.row_count):
        first, *others = map(str, table.get_row_at(row))
        parted = first.strip().isdigit() or others[-1].strip().startswith("n=")
        found.append([first.strip(), *([each.strip() for each in others] if parted else ["".join(others).strip()])])
    return found


def rows(app: ConsoleApp) -> list[list[str]]:
    """The cells of the table of runs."""
    return cells_of(console_screen(app).query_one("#runs", DataTable))


def columns(table: DataTable[Any], *names: str) -> list[list[str]]:
    """What the rows of runs and of their results have in the columns of these titles."""
    titles = [str(column.label).strip() for column in table.ordered_columns]
    places = [titles.index(name) for name in names]
    return [[cells[place] for place in places] for cells in cells_of(table) if len(cells) == len(titles)]


def saved(root: Path, session: str = "tuning") -> list[Run]:
    """The runs in the session that the console writes."""
    directory = root / "sessions" / session
    return store.read_runs(directory)[0] if directory.is_dir() else []


@contextlib.asynccontextmanager
async def in_a_run(
    root: Path, *names: str, size: tuple[int, int], key: str = "2", silent: bool = False
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None], dict[str, FakeNode]]]:
    """The console in the middle of the run of a key, which stands still; and its nodes.

    That it has no new sample is said only where it is to be ``silent``: any test may take longer than that takes.
    """
    hosts = held(*(names or ("local",)))
    after = live_view._SILENT_SECONDS if silent else math.inf
    with patch.object(live_view, "_SILENT_SECONDS", after):
        async with console(root, nodes=tuple(hosts), connect=connector_to(hosts), speed=1, size=size) as (app, pilot):
            await pilot.press(key, "enter")
            await running(app, pilot)
            yield app, pilot, hosts


async def running(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """Wait until the benchmark itself runs, and the whole console shows it: the table of runs is the last to do so."""
    await until(pilot, lambda: " running " in shown(app, "#progress") and "running" in str(rows(app)))


async def finished(app: ConsoleApp, pilot: Pilot[None]) -> None:
    """Wait until the last run has ended and nothing waits, and its end is in the progress line and in the table.

    Repeats are closed then.
    """

    def told() -> bool:
        table = console_screen(app).table
        if app.busy or table is None or table.content.measuring or not table.content.runs:
            return False
        last = max(table.content.runs.values(), key=lambda run: run.run)
        return f"#{last.run} {last.preset} {outcome_word(last)}" in shown(app, "#progress")

    await until(pilot, told)
