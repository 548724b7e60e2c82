"""Draws the screenshots of the documentation from the recorded session of a lab: ``make screenshots``."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import resvg_py
from textual.pilot import Pilot

from cephtui.models import Event, Node, Run
from cephtui.nodes.state import NodeState
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets
from cephtui.running.node_requests import NodeRequests
from cephtui.running.runner import Runner
from cephtui.running.survey import Survey
from cephtui.sessions import archive, demo, store
from cephtui.targets import parse_target
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.start import Start
from cephtui.tui.screens.replay import Player
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.runs_table import RunsTable
from tests.replayed import console_screen, until

FOLDER = Path(__file__).parent.parent / "screenshots"
SIZE, SMALL = (120, 36), (80, 24)
AT_SECONDS = 31.0
"""Of the run that is played: some time after an OSD stood still."""
SAFE = Profile(colors="8", ascii_only=True)
BEFORE, AFTER = 7, 10
"""The first small writes with one copy, and with two."""
_Pilot = Pilot[Any]


class Recorded(Runner):
    """A runner whose nodes are ready, and which plays a recorded run up to a moment."""

    def __init__(self, directory: Path, seconds: float) -> None:
        super().__init__(directory.parent, directory.name)
        self._player = Player(directory, demo.STAR, 1.0)
        self._player.paused = True
        self._seconds = seconds
        self.nodes = _AsRecorded(self._player.run)

    def subscribe(self) -> Any:
        """What the console listens to."""
        return self

    def drain(self, timeout_seconds: float = 0.0) -> list[Event]:
        """What happened up to the moment; then nothing more."""
        self._player.seek(max(self._seconds, self._player.position))
        return self._player.drain()


class _AsRecorded(NodeRequests):
    """Answers about the nodes as they were in the recorded run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def reach(self, node: Node, *_: object, **__: object) -> Future[NodeState]:
        return _done(NodeState(node, self._run.environment[node.name]))

    def survey(self, *_: object, **__: object) -> Future[Survey]:
        return _done(Survey(room_bytes=1 << 30))

    def remove_left_behind(self) -> Future[None]:
        return _done(None)


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def console(session: Path, profile: Profile) -> ConsoleApp:
    """The console in the middle of the recorded run, with the runs before it."""
    runs = [run for run in store.read_runs(session)[0] if run.run < demo.STAR]
    star = store.read_run(session, demo.STAR)
    marks = tuple(mark for mark in store.read_marks(session) if mark.run is None)
    nodes = tuple(Node(name=node.node, host=node.node) for node in star.nodes)
    start = Start(nodes, parse_target(star.target, owner_id="0a1b2c3d"), earlier=tuple(runs), marks=marks)
    catalogue = find_presets(packaged_presets_dir(), session / "none")
    return ConsoleApp(catalogue, start, Recorded(session, AT_SECONDS), session.parent, profile)


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


async def settled(pilot: _Pilot, words: str) -> None:
    """Until something is on the screen, and nothing changes any more."""
    app: Any = pilot.app
    await until(pilot, lambda: words in text(app))
    app.clear_notifications()
    before = ""
    while before != (before := text(app)):
        await pilot.pause(0.4)


async def draw_console(
    session: Path, name: str, theme: str, keys: tuple[str, ...], profile: Profile, size: Any
) -> None:
    """The console in mid-run."""
    app, star = console(session, profile), store.read_run(session, demo.STAR)
    async with shown(app, size, theme) as pilot:
        await until(pilot, lambda: "running" in text(app))
        options = {name: str(star.options[name]) for name in ("numjobs", "iodepth", "size")}
        console_screen(app).choice.edits = Edits({star.preset: options}, str(star.options["runtime"]))
        await pilot.press("right", *keys)
        await settled(pilot, "running")
        save(app, name)


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
        await until(pilot, lambda: "write-iops" in text(app))
        await settled(pilot, "write-iops")
        table = app.screen.query_one("#runs", RunsTable)
        while table.chosen is None or table.chosen.run != AFTER:
            await pilot.press("j")
            await pilot.pause()
        await pilot.press("c")
        await until(pilot, lambda: f"demo/{BEFORE}" in text(app))
        await pilot.press(*f"demo/{BEFORE}")
        await settled(pilot, f"demo/{BEFORE}")
        await pilot.press("enter")
        await settled(pilot, "differs")
        save(app, name)


def save(app: CephtuiApp, name: str) -> None:
    """The screen as SVG, without the web fonts that it would fetch, and as a picture."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", app.export_screenshot(title=""), flags=re.DOTALL)
    path = FOLDER / f"{name}.svg"
    path.write_text(svg)
    picture = resvg_py.svg_to_bytes(svg_path=str(path), monospace_family="DejaVu Sans Mono")
    path.with_suffix(".png").write_bytes(bytes(picture))
    print(path.name)


def others(folder: Path, session: Path) -> None:
    """Some sessions beside the recorded one: its own runs in parts, as a list has them after some days."""
    import shutil

    archive.annotate(session, note="replicas 1 and 2, and an OSD that stands still", tags=("lab", "before-after"))
    archive.annotate(session, baseline=BEFORE)
    for name, numbers, note in (
        ("lab-before", range(1, 7), "all six, one copy"),
        ("lab-after-size-2", range(BEFORE, demo.STAR), "write-iops again, two copies"),
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
    draws: dict[str, Callable[[Path], Any]] = {}
    for theme in ("dark", "light"):
        name = f"cephtui-{theme}"
        of_console = partial(draw_console, theme=name, profile=FULL, size=SIZE)
        draws[f"console-{theme}"] = partial(of_console, name=f"console-{theme}", keys=())
        draws[f"heat-map-{theme}"] = partial(of_console, name=f"heat-map-{theme}", keys=("h",))
        draws[f"compare-{theme}"] = partial(draw_compare, name=f"compare-{theme}", theme=name)
        draws[f"sessions-{theme}"] = partial(draw_sessions, name=f"sessions-{theme}", theme=name)
    draws["ascii"] = lambda s: draw_console(s, "ascii", "", (), SAFE, SIZE)
    draws["console-80x24"] = lambda s: draw_console(s, "console-80x24", "cephtui-dark", (), FULL, SMALL)
    with tempfile.TemporaryDirectory() as name:
        session = demo.unpack(Path(name))
        others(Path(name), session)
        for drawn, draw in draws.items():
            if not wanted or drawn in wanted:
                await draw(session)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
