"""One definition of a key gives its binding, its place in the bar, its line in the help and its command."""

from __future__ import annotations

from pathlib import Path

from cephtui import demo
from cephtui.tui.app import SavedApp
from cephtui.tui.dialogs import Details
from cephtui.tui.keys import KeyBar, own
from cephtui.tui.replay import ReplayScreen
from cephtui.tui.sessions import SessionsScreen
from tests.replayed import until


def replaying(tmp_path: Path) -> tuple[SavedApp, ReplayScreen]:
    directory = demo.unpack(tmp_path)
    screen = ReplayScreen(directory, demo.STAR)
    return SavedApp(tmp_path, [SessionsScreen(tmp_path), screen]), screen


def bar(app: SavedApp) -> str:
    return str(app.screen.query_one(KeyBar).render())


async def test_the_bar_is_clicked(tmp_path: Path) -> None:
    app, screen = replaying(tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "pause" in bar(app) and screen.player.position > 0.5)
        words = bar(app)
        assert words.startswith("c compare")
        await pilot.click(KeyBar, offset=(words.index("pause") + 2, 0))
        await until(pilot, lambda: screen.player.paused)
        await pilot.click(KeyBar, offset=(words.index("speed") + 2, 0))
        await until(pilot, lambda: screen.player.speed == 2.0)
        await pilot.click(KeyBar, offset=(words.index("seek") + 2, 0))  # five seconds back
        await until(pilot, lambda: screen.player.position == 0.0)
        await pilot.click(KeyBar, offset=(words.index("help") + 2, 0))
        await until(pilot, lambda: isinstance(app.screen, Details))


async def test_a_narrow_bar_spares_some_and_is_not_cut(tmp_path: Path) -> None:
    app, _ = replaying(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "q quit" in bar(app))
        assert "c compare" not in bar(app)
        assert len(bar(app)) <= 78
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: "c compare" in bar(app))


async def test_every_key_that_is_told_does_something(tmp_path: Path) -> None:
    app, screen = replaying(tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "pause" in bar(app))
        for active in own(screen.active_bindings.values()):
            name = active.binding.action.partition("(")[0].rpartition(".")[2]
            assert any(hasattr(node, f"action_{name}") for node in (screen, app, *screen.query("*"))), name
        commands = {command.title for command in app.get_system_commands(screen)}
        assert {"pause (space)", "figure (v)"} <= commands
