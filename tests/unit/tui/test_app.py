"""Saved sessions as an application, and the commands that open it: replay, watch, demo, compare."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import DataTable

from cephtui import paths
from cephtui.cli import saved_verbs, verbs
from cephtui.sessions import demo, store
from cephtui.sessions.demo.story import STORY
from cephtui.tui import main as tui_main
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Details
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.read_only import VARIABLE
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.replay import PlayedScreen, ReplayScreen, WatchScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.screens.story import StoryScreen
from tests.support import two_copies
from tests.support.golden import Golden
from tests.support.replayed import screen_text, until
from tests.unit.tui.screens.test_replay import keep_what_is_said, text_in

VERBS = ("replay", "watch", "demo")


@contextlib.asynccontextmanager
async def showing(root: Path, *screens: Screen[None]) -> AsyncIterator[tuple[SavedApp, Pilot[None], list[str]]]:
    """The application, with the last of the screens to be seen."""
    app = SavedApp(root, screens)
    said = keep_what_is_said(app)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.screen is screens[-1] and bool(app.screen.query("#bar")))
        await until(pilot, lambda: "? help" in screen_text(app))
        yield app, pilot, said


def demo_screens(session: Path) -> tuple[Screen[None], ...]:
    """As ``cephtui demo`` lays them."""
    return SessionsScreen(session.parent), SessionScreen(session), ReplayScreen(session, two_copies.STAR)


# ---------------------------------------------------------------------------------------------- the way back


@pytest.mark.parametrize("key", ["escape", "q"])
@pytest.mark.parametrize("kind", ["sessions", "session", "replay", "watch"])
async def test_leaving_the_first_screen_ends(demo_session: Path, kind: str, key: str) -> None:
    made: dict[str, Callable[[], Screen[None]]] = {
        "sessions": lambda: SessionsScreen(demo_session.parent),
        "session": lambda: SessionScreen(demo_session),
        "replay": lambda: ReplayScreen(demo_session, two_copies.STAR),
        "watch": lambda: WatchScreen(demo_session),
    }
    async with showing(demo_session.parent, made[kind]()) as (app, pilot, said):
        await pilot.press(key)
        await until(pilot, lambda: not app.is_running)
        assert app.return_code == 0
    assert said == []


async def test_escape_goes_the_way_that_the_demo_would_have_come(demo_session: Path) -> None:
    sessions, opened, replay = demo_screens(demo_session)
    async with showing(demo_session.parent, sessions, opened, replay) as (app, pilot, said):
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is opened)
        await until(pilot, lambda: "p play" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is sessions)
        await until(pilot, lambda: "demo" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is sessions)
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running)
    assert said == []


async def test_o_from_the_demos_replay_comes_back_to_it(demo_session: Path) -> None:
    screens = demo_screens(demo_session)
    async with showing(demo_session.parent, *screens) as (app, pilot, _):
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen is not screens[0])
        await pilot.press("o")  # they are there already
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screens[-1])


async def test_o_from_a_replay_alone_shows_the_sessions_above_it(demo_session: Path) -> None:
    replay = ReplayScreen(demo_session, two_copies.STAR)
    async with showing(demo_session.parent, replay) as (app, pilot, _):
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        await until(pilot, lambda: app.screen.query_one(DataTable).row_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
        await until(pilot, lambda: app.screen.query_one(DataTable).row_count > 1)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen is not replay)
        again = app.screen
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is again)
        for kind in (SessionScreen, SessionsScreen, ReplayScreen):
            await pilot.press("escape")
            await until(pilot, lambda kind: isinstance(app.screen, kind), kind)
        assert app.screen is replay
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running)


async def test_a_replayed_run_is_compared(demo_session: Path) -> None:
    replay = ReplayScreen(demo_session, two_copies.STAR)
    async with showing(demo_session.parent, replay) as (app, pilot, _):
        await until(pilot, lambda: replay.run is not None)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, RunPicker) and "#1 " in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await until(pilot, lambda: f"B #{two_copies.STAR} " in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is replay)


async def test_help_names_the_keys_of_a_replay(demo_session: Path) -> None:
    async with showing(demo_session.parent, ReplayScreen(demo_session, two_copies.STAR)) as (app, pilot, _):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Details) and "esc closes" in screen_text(app))
        text = " ".join(screen_text(app).split())
        for words in ("space pause", "left right back/forward 5 s", "+ - faster/slower: 1x to 20x"):
            assert words in text
        for words in ("home to", "v switch", "h latency heat map", "o open saved sessions", "ctrl+p"):
            assert words in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))


async def test_every_key_of_a_replay_is_a_command_too(demo_session: Path) -> None:
    replay = ReplayScreen(demo_session, two_copies.STAR)
    async with showing(demo_session.parent, replay) as (app, pilot, _):
        commands = {command.title: command for command in app.get_system_commands(replay)}
        assert {"pause (space)", "seek (left right)", "speed (+ -)", "full screen (F)", "quit (q)"} <= set(commands)
        commands["pause (space)"].callback()
        await until(pilot, lambda: text_in(replay, "#transport").startswith("paused"))


async def test_a_terminal_that_is_too_small_shows_a_message_and_the_replay_goes_on(demo_session: Path) -> None:
    replay = ReplayScreen(demo_session, two_copies.STAR, 20)
    async with showing(demo_session.parent, replay) as (app, pilot, _):
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: app.too_small)
        await pilot.press("escape")
        assert app.is_running
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: text_in(replay, "#transport").startswith("finished"))
        assert app.screen is replay


# ---------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def at_home(demo_session: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded session is among the user's own."""
    monkeypatch.setattr(paths, "sessions_dir", lambda: demo_session.parent)
    return demo_session


@pytest.fixture
def opened(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, tuple[Screen[None], ...]]]:
    """On a terminal: where and with what the application would be opened."""
    calls: list[tuple[Path, tuple[Screen[None], ...]]] = []

    def show(root: Path, screens: Sequence[Screen[None]], profile: object) -> None:
        assert root.is_dir()
        for screen in screens[1:]:
            assert isinstance(screen, SessionScreen | PlayedScreen)
            assert screen._directory.is_dir()
        calls.append((root, tuple(screens)))

    monkeypatch.setattr(saved_verbs, "begin_screen", lambda verb: None)
    monkeypatch.setattr(tui_main, "show_screens", show)
    return calls


def run(*words: str) -> Result:
    """The command line, in this process."""
    return CliRunner().invoke(verbs.cli, words, prog_name="cephtui")


def refusal(result: Result) -> str:
    """What is wrong, in its one line."""
    assert result.exit_code == 2, result.output
    return result.output.splitlines()[-1].removeprefix("Error: ")


@pytest.mark.parametrize("words", [["replay", "demo/1"], ["watch", "demo"], ["demo"]])
def test_without_a_terminal_they_refuse(at_home: Path, words: list[str], golden: Golden) -> None:
    golden.same(refusal(run(*words)))


@pytest.mark.parametrize("words", [["replay", "demo/1"], ["watch", "demo"], ["demo"]])
def test_the_refusal_is_one_line_of_the_real_process(demo_session: Path, words: list[str], golden: Golden) -> None:
    program = Path(sys.executable).with_name("cephtui")
    environ = {**os.environ, "CEPHTUI_DATA_DIR": str(demo_session.parent)}
    done = subprocess.run([program, *words], env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    golden.same(done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "nothing/1"],
        ["replay", "../demo/1"],
        ["replay", "demo/x"],
        ["replay", "demo/999"],
        ["replay", "demo/1", "--speed", "0"],
        ["replay", "demo/1", "--speed", "30"],
        ["demo", "--speed", "0"],
        ["demo", "--speed", "fast"],
        ["watch", "nothing"],
        ["watch", ".."],
    ],
)
def test_what_is_not_there_is_named(opened: list[Any], words: list[str], golden: Golden) -> None:
    golden.same(refusal(run(*words)))
    assert opened == []


def test_a_recording_that_can_not_be_played_is_one_line(
    opened: list[Any], tmp_path: Path, demo_session: Path, golden: Golden
) -> None:
    shutil.copytree(demo_session, tmp_path / "torn")
    (tmp_path / "torn" / "plans.jsonl").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "sessions_dir", lambda: tmp_path)
        result = run("replay", "torn/1")
    assert result.exit_code == 1
    (line,) = result.output.splitlines()
    golden.same(line)
    assert opened == []


def test_replay_opens_the_run_at_its_speed(opened: list[Any], demo_session: Path) -> None:
    for words, speed in ((["replay", "demo/2"], 1.0), (["replay", "demo/2", "--speed", "8"], 8.0)):
        assert run(*words).exit_code == 0
        root, (*_, screen) = opened.pop()
        assert root == demo_session.parent
        assert isinstance(screen, ReplayScreen)
        assert (screen.player.run.run, screen.player.speed) == (2, speed)


@pytest.mark.parametrize("words", [["replay"], ["replay", "-"], ["replay", "last"], ["replay", "de"]])
def test_replay_without_a_number_opens_the_newest_run(opened: list[Any], demo_session: Path, words: list[str]) -> None:
    assert run(*words).exit_code == 0
    root, (*_, screen) = opened.pop()
    assert isinstance(screen, ReplayScreen)
    assert (root, screen.player.run.run) == (demo_session.parent, two_copies.STAR)


@pytest.mark.parametrize("words", [["watch", "demo"], ["watch"], ["watch", "last"], ["watch", "d"]])
def test_watch_opens_what_follows_the_session(opened: list[Any], demo_session: Path, words: list[str]) -> None:
    assert run(*words).exit_code == 0
    root, (screen,) = opened.pop()
    assert root == demo_session.parent
    assert isinstance(screen, WatchScreen)


@pytest.mark.parametrize("words", [["demo"], ["demo", "--speed", "2"]])
def test_demo_tells_its_story(
    opened: list[Any], demo_session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(paths, "cache_dir", lambda: tmp_path)
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.output in ("", "cephtui: unpacking the demo ...\n"), "which a busy machine says"
    root, screens = opened.pop()
    assert root != demo_session.parent, "it is not among the user's own"
    assert root == demo.directory().parent
    assert [type(screen) for screen in screens] == [SessionsScreen, SessionScreen, StoryScreen]
    assert screens[-1].player.run.run == STORY[0].run
    assert screens[-1].player.speed == (2.0 if "2" in words else 1.0)


@pytest.mark.parametrize(("read_only", "below"), [("", [SessionsScreen, SessionScreen]), ("1", [SessionScreen])])
@pytest.mark.parametrize("words", [["demo"], ["replay", f"demo/{two_copies.STAR}"]])
def test_escape_leads_to_the_same_place(
    opened: list[Any], words: list[str], read_only: str, below: list[type], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, read_only)
    monkeypatch.setattr(demo, "directory", lambda: paths.sessions_dir() / "demo")
    assert run(*words).exit_code == 0
    _, screens = opened.pop()
    assert [type(screen) for screen in screens] == [*below, StoryScreen if words == ["demo"] else ReplayScreen]
    assert {screen._directory for screen in screens[-2:]} == {paths.sessions_dir() / "demo"}


def test_demo_without_room_says_where(opened: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(folder: Path) -> Path:
        raise OSError(28, "No space left on device", str(folder / "demo"))

    monkeypatch.setattr(paths, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(demo, "unpack", no_room)
    result = run("demo")
    assert result.exit_code == 3
    (line,) = result.output.splitlines()
    assert "No space left on device" in line
    assert "XDG_CACHE_HOME" in line
    assert opened == []
    assert [*tmp_path.iterdir()] == []


def test_the_demo_is_what_it_says(demo_session: Path) -> None:
    runs, broken = store.read_runs(demo_session)
    assert broken == []
    assert len(runs) > 3
    assert all(len(run.nodes) == 3 for run in runs)
    assert any(mark.run == two_copies.STAR for mark in store.read_marks(demo_session))
    assert next(run for run in runs if run.run == two_copies.STAR).outcome == "ok"
    assert sum(path.stat().st_size for path in demo_session.rglob("*") if path.is_file()) < 100 << 20


@pytest.mark.parametrize("verb", [*VERBS, "compare", "serve"])
def test_help_has_examples(verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    examples = result.output.partition("Examples:")[2]
    assert f"  cephtui {verb}" in examples
    assert f"\n  {verb} " in run("--help").output
    assert max(map(len, result.output.splitlines())) <= 80


def test_the_help_of_replay_names_its_keys() -> None:
    text = " ".join(run("replay", "--help").output.split())
    assert {"space", "left", "right", "+", "-"} <= {*text.replace(",", "").split()}
