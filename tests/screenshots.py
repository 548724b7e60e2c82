"""Draws the screenshots of the documentation from the recorded session of a lab: ``make screenshots``."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import resvg_py
from textual.pilot import Pilot

from cephtui.cli.verbs import cli
from cephtui.models import Event, Node, Run
from cephtui.models.study import CHECK
from cephtui.nodes.state import NodeState
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets
from cephtui.running.node_requests import NodeRequests
from cephtui.running.runner import Runner
from cephtui.running.survey import Survey
from cephtui.sessions import archive, demo, store
from cephtui.studies.check import Check
from cephtui.targets import Target, parse_target
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.check import CheckScreen
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.start import Start
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.matrix import MatrixScreen
from cephtui.tui.screens.player import Player
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.screens.why import WhyScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.live_view import LiveView
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support.pictures import Picture, moving, picture, still
from tests.support.played_check import PlayedCheck
from tests.support.replayed import console_screen, until

FOLDER = Path(__file__).parent.parent / "screenshots"
TOOLS, NODES = (Path(__file__).parent / "recordings" / f"{name}.tar.xz" for name in ("tools", "nodes"))
SIZE, SMALL, LARGE = (120, 36), (80, 24), (200, 50)
SECOND = "write-iops"
"""The preset on the right of the one that is selected first."""
OSDS = 7
"""Of the other recorded session, in which one OSD compresses what it writes."""
AT_SECONDS = 40.0
"""Of the run that is played: some time after an OSD stood still."""
FIRST_SECOND = 2
"""Of the run, in the animation: prefilling has begun."""
FRAME_SECONDS, LAST_SECONDS, STEP_SECONDS = 0.25, 3.0, 2
"""A frame of an animation is two seconds of a run; the last one is its result."""
SPEED = f"{STEP_SECONDS / FRAME_SECONDS:g}x"
READ_SECONDS, WORD_SECONDS = 2.0, 0.2
"""How long something to be read is seen in an animation, and a word that is typed."""
PAGE = {"width": 1000, "height": 1080, "deviceScaleFactor": 1, "mobile": False}
"""The upper part of a report, in pixels."""
SAFE = Profile(colors="8", ascii_only=True)
BEFORE, AFTER = 9, 24
"""Small writes on a slow disk, and on a fast one, three runs each: the second are one row that stands for the last."""
_Pilot = Pilot[Any]


class Recorded(Runner):
    """A runner whose nodes are ready, and which plays a recorded run up to a moment."""

    def __init__(self, directory: Path, seconds: float, number: int = demo.STAR) -> None:
        super().__init__(directory.parent, directory.name)
        self.recording = directory
        self._player = Player(directory, number, 1.0)
        self._player.paused = True
        self.run, self.lasted_seconds = self._player.run, self._player.seconds
        self.seconds = seconds
        """How much of the run has happened; may only grow."""
        self.nodes = _AsRecorded(self.run)

    def subscribe(self) -> Any:
        """What the console listens to."""
        return self

    def drain(self, timeout_seconds: float = 0.0) -> list[Event]:
        """What happened up to the moment; then nothing more."""
        self._player.seek(max(self.seconds, self._player.position))
        return self._player.drain()

    def clock(self) -> float:
        """The time of what has happened: it stands where that does."""
        return self._player.position


class _AsRecorded(NodeRequests):
    """Answers about the nodes as they were in the recorded run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def reach(self, node: Node, *_: object, **__: object) -> Future[NodeState]:
        return _done(NodeState(node, self._run.environment[node.name]))

    def resolve_access(self, target: Target, *_: object) -> Future[Target]:
        return _done(target)

    def survey(self, *_: object, **__: object) -> Future[Survey]:
        return _done(Survey(room_bytes=1 << 30))

    def remove_left_behind(self) -> Future[None]:
        return _done(None)


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def console(session: Path, profile: Profile, runner: Recorded | None = None) -> ConsoleApp:
    """The console in the middle of the recorded run, with the runs before it."""
    runner = runner or Recorded(session, AT_SECONDS)
    star = runner.run
    runs = [run for run in store.read_runs(session)[0] if run.run < star.run]
    marks = tuple(mark for mark in store.read_marks(session) if mark.run is None and mark.at < star.started_at)
    nodes = tuple(Node(name=node.node, host=node.node) for node in star.nodes)
    start = Start(nodes, parse_target(star.target, owner_id="0a1b2c3d"), earlier=tuple(runs), marks=marks)
    catalogue = find_presets(packaged_presets_dir(), session / "none")
    return ConsoleApp(catalogue, start, runner, session.parent, profile)


@asynccontextmanager
async def shown(app: CephtuiApp, size: tuple[int, int], theme: str) -> AsyncIterator[_Pilot]:
    """An application that runs, with a theme."""
    async with app.run_test(size=size) as pilot:
        if theme in app.available_themes:
            app.theme = theme
        await pilot.pause()
        yield pilot


def text(app: CephtuiApp) -> str:
    """What is on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def settled(pilot: _Pilot, words: str = "") -> None:
    """Until something is on the screen, and nothing changes any more."""
    app: Any = pilot.app
    await until(pilot, lambda: words in text(app))
    app.clear_notifications()
    before = ""
    while before != (before := text(app)):
        await pilot.pause(0.4)


@asynccontextmanager
async def playing(
    runner: Recorded, profile: Profile, size: tuple[int, int], theme: str
) -> AsyncIterator[tuple[ConsoleApp, _Pilot]]:
    """The console in the recorded run, with that run's clock, its preset selected, and edited as it was."""
    run, app = runner.run, console(runner.recording, profile, runner)
    async with shown(app, size, theme) as pilot:
        await until(pilot, lambda: "running" in text(app) or "prefilling" in text(app))
        screen = console_screen(app)
        view = screen.query_one(LiveView)
        view._clock, view._received = runner.clock, runner.clock()
        screen.choice.edits = edits_of(run)
        if run.preset == SECOND:
            await pilot.press("right")
        yield app, pilot


def edits_of(run: Run) -> Edits:
    """What was edited for a recorded run."""
    options: dict[str, str] = {
        name: str(run.options[name]) for name in ("numjobs", "iodepth", "size") if name in run.options
    }
    return Edits({run.preset: options}, str(run.options["runtime"]))


async def draw_console(
    session: Path,
    name: str,
    theme: str,
    keys: tuple[str, ...] = (),
    profile: Profile = FULL,
    size: tuple[int, int] = SIZE,
) -> None:
    """The console in mid-run."""
    async with playing(Recorded(session, AT_SECONDS), profile, size, theme) as (app, pilot):
        await pilot.press(*keys)
        await settled(pilot)
        save(app, name)


async def draw_osds(session: Path, name: str, theme: str) -> None:
    """OSDs that write to their own stores, one of them slowly."""
    session = other_session(session, TOOLS)
    async with playing(Recorded(session, AT_SECONDS, OSDS), FULL, SIZE, theme) as (app, pilot):
        await settled(pilot, "▼")
        save(app, name)


async def draw_links(session: Path, name: str, theme: str) -> None:
    """The links between three hosts, one of which sends slowly."""
    await draw_matrix(other_session(session, TOOLS), name, theme)


async def draw_nodes(session: Path, name: str, theme: str) -> None:
    """A suite on each node alone and on all at once."""
    await draw_matrix(other_session(session, NODES), name, theme)


async def draw_matrix(session: Path, name: str, theme: str) -> None:
    app = SavedApp(session.parent, [SessionScreen(session), MatrixScreen(session)])
    async with shown(app, SIZE, theme) as pilot:
        await settled(pilot, "slowest")
        save(app, name)


def other_session(session: Path, packed: Path) -> Path:
    """The one in an archive, beside that of the demo but not in the list of sessions."""
    name = packed.name.partition(".")[0]
    demo.extract(packed, session.parent.parent / name)
    return session.parent.parent / name / name


async def draw_finished(session: Path, name: str, theme: str) -> None:
    """The console when the recorded run is over."""
    runner = Recorded(session, FIRST_SECOND)
    async with playing(runner, FULL, SIZE, theme) as (app, pilot):
        runner.seconds = math.ceil(runner.lasted_seconds)
        console_screen(app).query_one(LiveView).catch_up()
        await settled(pilot, "whole run")
        save(app, name)


class Film:
    """The frames of an animation."""

    def __init__(self, pilot: _Pilot) -> None:
        self._pilot, self._frames = pilot, list[tuple[float, Picture]]()

    async def take(self, seconds: float = FRAME_SECONDS, words: str = "") -> None:
        """What is on the screen when it has settled is seen so long."""
        await settled(self._pilot, words)
        self._frames.append((seconds, picture(self._pilot.app)))

    def save(self, name: str, caption: str, poster: int = -1) -> None:
        """Write it; ``poster`` is the number of the frame that is seen where nothing may move."""
        (FOLDER / f"{name}.svg").write_text(moving(self._frames, poster % len(self._frames), caption))
        print(f"{name}.svg, {sum(seconds for seconds, _ in self._frames):g} s")


def moments(seconds: float) -> Iterator[int]:
    """The seconds of a run of so many that are frames of an animation, the last one behind its end."""
    yield from range(FIRST_SECOND, STEP_SECONDS + math.ceil(seconds), STEP_SECONDS)


async def draw_run(session: Path, name: str, theme: str) -> None:
    """The console through the whole run, two seconds of it in each frame."""
    runner = Recorded(session, FIRST_SECOND)
    async with playing(runner, FULL, SIZE, theme) as (app, pilot):
        film = Film(pilot)
        *seconds, last = moments(runner.lasted_seconds)
        for runner.seconds in (*seconds, last):
            console_screen(app).query_one(LiveView).catch_up()
            await film.take(LAST_SECONDS if runner.seconds == last else FRAME_SECONDS)
    poster = (round(AT_SECONDS) - FIRST_SECOND) // STEP_SECONDS
    film.save(name, f"a run on a real cluster, played at {SPEED}", poster)


@asynccontextmanager
async def checking(session: Path, theme: str) -> AsyncIterator[tuple[ConsoleApp, _Pilot, PlayedCheck]]:
    """A guided check: the runs with a slow disk before the change, those with a fast one after it."""
    before, after = (store.read_run(session, number) for number in (BEFORE, AFTER))
    async with playing(Recorded(session, AT_SECONDS), FULL, SIZE, theme) as (app, pilot):
        choice = console_screen(app).choice
        choice.edits = edits_of(before)
        study = choice.study([choice.preset], CHECK, {"fixed": 3})
        assert isinstance(study, Check)
        study = study.with_goal({"before": [before.batch], "after": [after.batch]})
        played = PlayedCheck(app, session, study)
        app.push_screen(CheckScreen(study, played.context))
        yield app, pilot, played


async def draw_whole_check(session: Path, name: str, theme: str) -> None:
    """A check from its beginning to its verdict; the change is typed as it was noted then."""
    async with checking(session, theme) as (_, pilot, played):
        film = Film(pilot)
        await film.take(READ_SECONDS, "enter begins")
        await pilot.press("enter")
        await play_side(film, played, played.before)
        await film.take(READ_SECONDS, "then press enter")
        await pilot.press("enter")
        await settled(pilot, "What have you changed?")
        for number, word in enumerate(played.change.text.split()):
            await pilot.press(*["space"] * bool(number), *word)
            await film.take(WORD_SECONDS)
        await film.take(READ_SECONDS / 2)
        await pilot.press("enter")
        await film.take(READ_SECONDS, "measure as it is")
        await pilot.press("y")
        await play_side(film, played, played.after)
        await film.take(LAST_SECONDS, "enter closes")
    film.save(name, f"runs on a real cluster, played at {SPEED}; the time between them is cut")


async def play_side(film: Film, played: PlayedCheck, runs: Sequence[Run]) -> None:
    """All runs of a side of a check."""
    for run in runs:
        for second in moments(played.begin(run)):
            played.play_to(second)
            await film.take()
    played.end_side()


async def draw_sessions(session: Path, name: str, theme: str) -> None:
    """The list of sessions."""
    app = SavedApp(session.parent, [SessionsScreen(session.parent)])
    async with shown(app, SIZE, theme) as pilot:
        await settled(pilot, "demo")
        save(app, name)


async def draw_compare(session: Path, name: str, theme: str) -> None:
    """Before and after a change."""
    app = SavedApp(session.parent, [SessionsScreen(session.parent), SessionScreen(session)])
    async with shown(app, SIZE, theme) as pilot:
        await until(pilot, lambda: "depth-sweep" in text(app))
        await settled(pilot, "depth-sweep")
        table = app.screen.query_one("#runs", RunsTable)
        while table.chosen is None or table.chosen.run != AFTER:
            await pilot.press("j")
            await pilot.pause()
        await pilot.press("c")
        await until(pilot, lambda: "before" in text(app))
        await pilot.press(*f"demo/{BEFORE}")
        await settled(pilot, f"#{BEFORE}")
        await pilot.press("enter")
        await settled(pilot, "differs")
        save(app, name)


async def draw_check(session: Path, name: str, theme: str) -> None:
    """The end of a guided check."""
    async with checking(session, theme) as (app, pilot, played):
        played.skip_to_end()
        await settled(pilot, "enter closes")
        save(app, name)


async def draw_details(session: Path, name: str, theme: str) -> None:
    """All of the run in which an OSD stood still."""
    run = store.read_run(session, demo.STAR)
    app = SavedApp(session.parent, [SessionScreen(session), DetailsScreen(session, run)])
    async with shown(app, LARGE, theme) as pilot:
        await settled(pilot, "p99.9")
        save(app, name)


async def draw_why(session: Path, name: str, theme: str) -> None:
    """Why the writes of an OSD with a slow disk take long."""
    app = SavedApp(session.parent, [SessionScreen(session), WhyScreen(session)])
    async with shown(app, SIZE, theme) as pilot:
        await settled(pilot, "what to do")
        save(app, name)


async def draw_report(session: Path, name: str) -> None:
    """The first page of the report of the change in the session."""
    from tests.support.chromium import chromium

    file = session.parent.parent / "report.html"
    sides = [f"{session.name}/{number}" for number in (BEFORE, AFTER)]
    with patch.dict(os.environ, {"CEPHTUI_DATA_DIR": str(session.parent.parent)}):
        cli(["report", *sides, "-o", str(file)], standalone_mode=False)
    async with chromium() as browser:
        tab = await browser.tab()
        await tab.ask("Emulation.setDeviceMetricsOverride", **PAGE)
        await tab.open(file.as_uri())
        (FOLDER / f"{name}.png").write_bytes(await tab.picture())
    print(f"{name}.png")


async def draw_browser(session: Path, name: str) -> None:
    """The demo as cephtui serve shows it, some time after an OSD stood still."""
    from tests.on_browser.serving import serving
    from tests.support.chromium import chromium

    (folder := session.parent.parent / "serving").mkdir()
    async with chromium() as browser:
        with serving(folder, ("replay", f"{demo.SESSION}/{demo.STAR}")) as served:
            tab = await browser.tab()
            await tab.open(served.url)
            await tab.reads("playing 1x")
            await tab.press("+", "+", "+")
            await tab.reads("osd.1 resumed")
            await tab.press(" ", "ArrowRight", "ArrowRight")
            await tab.reads("paused")
            (FOLDER / f"{name}.png").write_bytes(await tab.picture())
    print(f"{name}.png")


def save(app: CephtuiApp, name: str) -> None:
    """The screen as a picture."""
    path = FOLDER / f"{name}.png"
    path.write_bytes(bytes(resvg_py.svg_to_bytes(svg_string=still(picture(app)), monospace_family="DejaVu Sans Mono")))
    print(path.name)


def others(folder: Path, session: Path) -> None:
    """Some sessions beside the recorded one: its own runs in parts, as a list has them after some days."""
    import shutil

    archive.annotate(session, note="an OSD that stands still, a slow disk, a sweep", tags=("lab", "before-after"))
    archive.annotate(session, baseline=BEFORE)
    for name, numbers, note in (
        ("lab-before", range(1, 7), "all six, two copies"),
        ("lab-new-disk", range(22, AFTER + 1), "write-iops again, the disk of osd.1 is new"),
    ):
        (folder / name).mkdir()
        shutil.copy(session / "plans.jsonl", folder / name)
        meta = store.read_session(session).model_copy(update={"session": name})
        (folder / name / "session.json").write_text(meta.model_dump_json())
        for number in numbers:
            shutil.copytree(session / f"{number:03}", folder / name / f"{number:03}")
        archive.annotate(folder / name, note=note, tags=("lab",))


async def main(wanted: list[str]) -> None:
    """All of them, or those of these names."""
    FOLDER.mkdir(exist_ok=True)
    dark, light = "cephtui-dark", "cephtui-light"
    draws: dict[str, Callable[..., Any]] = {
        "demo": partial(draw_run, theme=dark),
        "check": partial(draw_whole_check, theme=dark),
        "large-dark": partial(draw_console, theme=dark, size=LARGE),
        "compare-dark": partial(draw_compare, theme=dark),
        "check-dark": partial(draw_check, theme=dark),
        "console-light": partial(draw_console, theme=light),
        "presenter-dark": partial(draw_console, theme=dark, keys=("f",)),
        "heat-map-dark": partial(draw_console, theme=dark, keys=("h",)),
        "heat-map-light": partial(draw_console, theme=light, keys=("h",)),
        "sessions-light": partial(draw_sessions, theme=light),
        "console-80x24": partial(draw_console, theme=dark, size=SMALL),
        "ascii": partial(draw_console, theme="", profile=SAFE),
        "details-dark": partial(draw_details, theme=dark),
        "finished-dark": partial(draw_finished, theme=dark),
        "why-dark": partial(draw_why, theme=dark),
        "osds-dark": partial(draw_osds, theme=dark),
        "links-dark": partial(draw_links, theme=dark),
        "matrix-dark": partial(draw_nodes, theme=dark),
        "report": draw_report,
        "browser": draw_browser,
    }
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "sessions"
        session = demo.unpack(root)
        others(root, session)
        for drawn, draw in draws.items():
            if not wanted or drawn in wanted:
                await draw(session, drawn)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
