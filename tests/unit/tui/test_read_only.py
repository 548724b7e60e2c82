"""A read-only application: no key of any of its screens changes a file, or shows another session."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.actions import parse as parse_action
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button, DataTable, Input, OptionList

from cephtui import paths
from cephtui.analysis.runs.sides import Side
from cephtui.sessions import demo, store
from cephtui.sessions.saved_runs import candidates
from cephtui.tui import main as tui_main
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Details, Help
from cephtui.tui.pickers.commands import CommandPicker, ThemePicker
from cephtui.tui.pickers.picker import Picker
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.read_only import LOOKING, VARIABLE
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.curve import CurveScreen
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.log import LogScreen
from cephtui.tui.screens.panels import PanelsDialog
from cephtui.tui.screens.presenter import Presenter
from cephtui.tui.screens.replay import ReplayScreen, WatchScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.screens.why import WhyScreen
from cephtui.tui.terminal.profile import COLORS_VARIABLE, FULL, detect
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support import two_copies
from tests.support.replayed import screen_text, until
from tests.unit.tui.test_keys import all_of

ACTING = {"baseline", "change", "mark", "queue", "run_key", "run_selected", "sessions", "skip", "stop"}
"""Some of the actions that are off: so that this test does not pass because it sees none."""
KEYS_OF_LISTS = {"select_cursor", "select", "press", "submit"}
"""Of widgets: the row under the cursor, a button, the text that was typed."""
OTHER = "secret"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's sessions, which no test changes: the recorded one, and one that is not for the audience."""
    directory = two_copies.unpack(tmp_path_factory.mktemp("saved") / "sessions")
    shutil.copytree(directory, directory.parent / OTHER)
    return directory.parent


Make = Callable[[Path], Screen[Any]]
SCREENS: dict[str, Make] = {
    "session": lambda root: SessionScreen(root / demo.SESSION),
    "replay": lambda root: ReplayScreen(root / demo.SESSION, two_copies.STAR),
    "watch": lambda root: WatchScreen(root / demo.SESSION),
    "compare": lambda root: CompareScreen(side(root), side(root), {}, {}),
    "curve": lambda root: CurveScreen(side(root).run, lambda: ([side(root).run], [])),
    "log": lambda root: LogScreen(root / demo.SESSION, store.read_run(root / demo.SESSION, two_copies.STAR)),
    "presenter": lambda root: Presenter(ReplayScreen(root / demo.SESSION, two_copies.STAR)),
    "run picker": lambda root: RunPicker(root, (demo.SESSION, two_copies.STAR), other_sessions=False),
    "panels": lambda root: PanelsDialog(set, lambda name: None),
    "why": lambda root: WhyScreen(root / demo.SESSION),
    "run": lambda root: DetailsScreen(root / demo.SESSION, store.read_run(root / demo.SESSION, two_copies.STAR)),
    "details": lambda root: Details("title", "text"),
    "help": lambda root: Help("title", "text"),
    "commands": lambda root: CommandPicker([]),
    "themes": lambda root: ThemePicker(["a"], "a"),
    "sessions": lambda root: SessionsScreen(root),
}
"""All that demo, watch and replay lead to."""


def side(root: Path) -> Side:
    return Side((store.read_run(root / demo.SESSION, two_copies.STAR),))


@contextlib.asynccontextmanager
async def showing(root: Path, kind: str, *, read_only: bool = True) -> AsyncIterator[tuple[SavedApp, Pilot[None]]]:
    """An application with this screen, on top of the one that it is opened from."""
    screen = SCREENS[kind](root)
    below = screen.run_screen if isinstance(screen, Presenter) else SessionScreen(root / demo.SESSION)
    assert isinstance(below, Screen)
    app = SavedApp(root, [below], read_only=read_only)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.screen is below and below.is_mounted)
        app.push_screen(screen)
        await until(pilot, lambda: app.screen is screen and screen.is_mounted)
        await pilot.pause()
        yield app, pilot


def actions(app: SavedApp) -> Iterator[tuple[str, DOMNode, str]]:
    """Key, node and name of each action that a key has, whatever has the focus."""
    screen = app.screen
    for widget in [None, *screen.focus_chain]:
        screen.set_focus(widget)
        for key, (node, binding, enabled, _) in screen.active_bindings.items():
            if enabled:
                namespace, name, _ = parse_action(binding.action)
                yield key, {"app": app, "screen": screen}.get(namespace, node), name


def bound() -> Iterator[tuple[str, str]]:
    """Each key that has an action anywhere in cephtui, and the action's name."""
    for kind in all_of(DOMNode):
        for binding in kind.__dict__.get("BINDINGS", ()):
            yield from ((key, parse_action(binding.action)[1]) for key in binding.key.split(","))


def about(action: str) -> str:
    """What the help has of a key of a session's screen."""
    found = [each for each in SessionScreen.BINDINGS if isinstance(each, Binding) and each.action == action]
    return found[0].tooltip


def files(root: Path) -> dict[str, bytes]:
    """All that is saved."""
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", SCREENS)
async def test_every_key_of_every_screen_only_looks(root: Path, kind: str) -> None:
    async with showing(root, kind) as (app, _):
        found = [*actions(app)]
        of_screens = {name for _, node, name in found if isinstance(node, SavedApp | Screen)}
        assert of_screens <= LOOKING
        assert of_screens & {"quit", "dismiss", "back", "pop_screen", "escape"}
        for _, node, name in found:
            if not isinstance(node, SavedApp | Screen) and not name.startswith(("cursor", "scroll", "page", "delete")):
                assert isinstance(node, Input | DataTable | OptionList | Button), (node, name)


@pytest.mark.parametrize("kind", SCREENS)
async def test_no_key_changes_a_file_or_opens_another_session(root: Path, kind: str) -> None:
    looking = {key for key, action in bound() if action in LOOKING | KEYS_OF_LISTS}
    off = sorted({key for key, _ in bound()} - looking)
    assert {"R", "D", "B", "o", "m", "s", "a", "e", "y"} <= set(off)
    before = files(root)
    async with showing(root, kind) as (app, pilot):
        screen, takes_text = app.screen, isinstance(app.screen, Picker)
        for key in off:
            if not (takes_text and len(key) == 1) and " " not in key:
                await pilot.press(key)
                assert app.screen is screen, key
        assert OTHER not in screen_text(app) or kind == "sessions"
    assert files(root) == before


async def test_without_it_the_keys_act(root: Path) -> None:
    found: set[str] = set()
    for kind in ("session", "sessions"):
        async with showing(root, kind, read_only=False) as (app, pilot):
            await until(pilot, lambda: any(table.row_count for table in app.screen.query(DataTable)))
            found |= {name for _, _, name in actions(app)}
    assert {"baseline", "change", "sessions"} <= found
    assert not ACTING & LOOKING


async def test_an_action_that_is_off_is_neither_taken_nor_listed(root: Path) -> None:
    async with showing(root, "session") as (app, pilot):
        assert not await app.run_action("baseline", app.screen)
        assert not await app.run_action("app.sessions", app.screen)
        assert not await app.run_action("sessions")
        await pilot.press("question_mark")
        await until(pilot, lambda: about("play") in screen_text(app))
        assert about("baseline") not in screen_text(app)
        assert "rename" not in screen_text(app)
        assert not [one for one in app.get_system_commands(app.screen_stack[-2]) if "baseline" in one.title]


async def test_the_runs_are_filtered_and_reached(root: Path) -> None:
    async with showing(root, "session") as (app, pilot):
        table = app.screen.query_one(RunsTable)
        await until(pilot, lambda: table.counts[1] > 0)
        await pilot.press("slash", *"latency", "enter")
        await until(pilot, lambda: 0 < table.counts[0] < table.counts[1] and app.focused is table)


async def test_a_run_is_compared_with_those_of_its_session_alone(root: Path) -> None:
    assert {each.directory.name for each in candidates(root, (demo.SESSION, 1))} == {demo.SESSION, OTHER}
    async with showing(root, "replay") as (app, pilot):
        await until(pilot, lambda: app.screen.run is not None)  # type: ignore[attr-defined]
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, RunPicker) and "#1 " in screen_text(app))
        assert OTHER not in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))


@pytest.mark.parametrize("read_only", [True, False])
def test_the_environment_decides_and_the_theme_is_kept_by_none(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    file, apps = tmp_path / "state" / "theme", []

    def run(app: SavedApp) -> None:
        apps.append(app)
        app.theme = "cephtui-light"

    monkeypatch.setenv(VARIABLE, "1" if read_only else "")
    monkeypatch.setattr(paths, "theme_file", lambda: file)
    monkeypatch.setattr(SavedApp, "run", run)
    tui_main.show_screens(root, [SessionScreen(root / demo.SESSION)])
    assert [app.read_only for app in apps] == [read_only]
    assert file.exists() != read_only


def test_a_browser_shows_everything_whatever_the_server_was_started_on() -> None:
    served = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}
    for environ in ({"TERM": "linux", "LANG": "C"}, {"NO_COLOR": "1"}, {COLORS_VARIABLE: "8"}):
        assert detect({**environ, **served}) == FULL
        assert detect(environ) != FULL
    assert detect(served, safe=True) == FULL
