"""One definition of a key gives its binding, its place in the footer, its line in the help and its command."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

from textual.actions import parse as parse_action
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from cephtui import tui
from cephtui.analysis.runs.sides import Side
from cephtui.config import Config
from cephtui.models import Node
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Preset
from cephtui.sessions import demo, store
from cephtui.sessions.demo.story import Scene
from cephtui.studies.queue import Queue
from cephtui.targets import parse_target
from cephtui.targets.discovery import KnownNode
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.console.check import CheckScreen
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.form import FormScreen
from cephtui.tui.console.how_often import HowOftenScreen
from cephtui.tui.console.queue import QueueScreen
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.copying import CopyingScreen
from cephtui.tui.dialogs import Confirm, Details, Dialog, EnterText, Help, NodeQuestion, Selectable, TypeName, Wait
from cephtui.tui.exporting import ExportingScreen
from cephtui.tui.keys import KeyBar, active_commands
from cephtui.tui.pickers.commands import CommandPicker, ThemePicker
from cephtui.tui.pickers.nodes import NodeDetails, NodePicker
from cephtui.tui.pickers.picker import Picker
from cephtui.tui.pickers.presets import PresetPicker
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.pickers.targets import TargetPicker
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.compare_presenter import ComparePresenter, TwoSides
from cephtui.tui.screens.curve import CurveScreen
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.log import LogScreen
from cephtui.tui.screens.matrix import MatrixScreen
from cephtui.tui.screens.panels import PanelsDialog
from cephtui.tui.screens.presenter import Presenter, PresenterScreen
from cephtui.tui.screens.replay import PlayedScreen, ReplayScreen, WatchScreen
from cephtui.tui.screens.run import RunScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.screens.story import StoryScreen
from cephtui.tui.screens.timeline import TimelineScreen
from cephtui.tui.screens.why import WhyScreen
from tests.support import desks, plans, two_copies
from tests.support.replayed import console, console_screen, screen_text, until
from tests.support.runs import WRITE_IOPS

BASES = {Dialog, PresenterScreen, Picker, CopyingScreen, ExportingScreen, RunScreen, PlayedScreen, TimelineScreen}
"""Of which there is no screen."""
SIGNS = {"question_mark": "?", "escape": "esc", "slash": "/", "plus": "+", "minus": "-", "equals_sign": "="}


def replaying(root: Path) -> tuple[SavedApp, ReplayScreen]:
    screen = ReplayScreen(root / demo.SESSION, two_copies.STAR)
    return SavedApp(root, [SessionsScreen(root), screen]), screen


def bar(app: SavedApp) -> str:
    return str(app.screen.query_one(KeyBar).render())


async def test_the_bar_is_clicked(demo_session: Path) -> None:
    app, screen = replaying(demo_session.parent)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "pause" in bar(app) and screen.player.position > 0.5)
        words = bar(app)
        assert words.startswith("space pause")
        await pilot.click(KeyBar, offset=(words.index("pause") + 2, 0))
        await until(pilot, lambda: screen.player.paused)
        await pilot.click(KeyBar, offset=(words.index("speed") + 2, 0))
        await until(pilot, lambda: screen.player.speed == 2.0)
        before = screen.player.position
        await pilot.click(KeyBar, offset=(words.index("seek") + 2, 0))  # five seconds back
        await until(pilot, lambda: screen.player.position == max(0.0, before - 5.0))
        await pilot.click(KeyBar, offset=(words.index("help") + 2, 0))
        await until(pilot, lambda: isinstance(app.screen, Details))


async def test_a_narrow_bar_spares_some_and_is_not_cut(demo_session: Path) -> None:
    app, _ = replaying(demo_session.parent)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "q quit" in bar(app))
        assert "c compare" not in bar(app)
        assert len(bar(app)) <= 78
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: "c compare" in bar(app))


async def test_every_key_that_is_told_does_something(demo_session: Path) -> None:
    app, screen = replaying(demo_session.parent)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "pause" in bar(app))
        for command in active_commands(screen):
            name = command.action.partition("(")[0].rpartition(".")[2]
            assert any(hasattr(node, f"action_{name}") for node in (screen, app, *screen.query("*"))), name
        titles = {command.title for command in app.get_system_commands(screen)}
        assert {"pause (space)", "metric (v)"} <= titles


# ---------------------------------------------------------------------------------------------- every screen


def screens(root: Path, below: RunScreen) -> Iterator[Screen[Any]]:
    """Each once, over a saved session and a screen with a run."""
    directory = root / demo.SESSION
    run = store.read_run(directory, two_copies.STAR)
    catalogue = plans.catalogue()
    preset = catalogue["write-iops"]
    assert isinstance(preset, Preset)
    request = Request((preset,), (Node(name="local"),), parse_target("file:/x"), {})
    yield SessionsScreen(root)
    yield SessionScreen(directory)
    yield MatrixScreen(directory)
    yield PanelsDialog(set, lambda name: None)
    yield ReplayScreen(directory, two_copies.STAR)
    yield StoryScreen(directory, (Scene("all of it", two_copies.STAR, 10),))
    yield WatchScreen(directory)
    yield CompareScreen(Side((run,)), Side((run,)), {}, {})
    yield ComparePresenter(TwoSides(Side((run,)), Side((run,)), {}, {}), None, Mock())
    yield CurveScreen(run, lambda: ([run], []))
    yield LogScreen(directory, run)
    yield DetailsScreen(directory, run)
    yield WhyScreen(directory, lambda: None)
    yield Presenter(below)
    yield RunPicker(root, ("demo", two_copies.STAR))
    yield PresetPicker(catalogue, {})
    yield CommandPicker([])
    yield ThemePicker(["one"], "one")
    yield TargetPicker("file:/x", "file:/y", lambda of, put: Future(), "local")
    yield NodePicker(Config(), [KnownNode("pve1", "")], [], {}, Mock())
    yield NodeDetails("pve1", AsyncMock(return_value=""))
    yield FormScreen(preset, Edits(), lambda edits: make_plan(request, new_batch))
    yield HowOftenScreen("write-iops", "file:/x from local", {}, Mock(side_effect=ValueError("nothing")))
    yield QueueScreen(Queue, lambda queue: None)
    yield CheckScreen(desks.check("write-iops"), desks.desk_at(None))
    yield Confirm("Really?", "yes", "no")
    yield TypeName("what there is", "its name")
    yield NodeQuestion("pve1", "password?", secret=True)
    yield EnterText("What?")
    yield Details("title", "text")
    yield Help("title", "text")
    yield Wait(lambda: "waiting")
    yield Selectable("#1", "| a |", None)


def subclasses(kind: type[Any]) -> set[type[Any]]:
    """Of this package."""
    below = kind.__subclasses__()
    return {each for each in below if each.__module__.startswith("cephtui.")}.union(*map(subclasses, below))


def all_of(kind: type[Any]) -> set[type[Any]]:
    for module in pkgutil.walk_packages(tui.__path__, "cephtui.tui."):
        importlib.import_module(module.name)
    return subclasses(kind)


def defined(node: DOMNode) -> Iterator[Binding]:
    """What this package binds there, as ``BINDINGS`` has it; the most derived first."""
    for base in type(node).__mro__:
        if base.__module__.startswith("cephtui."):
            yield from base.__dict__.get("BINDINGS", ())


def promised(screen: Screen[Any]) -> Iterator[tuple[str, Binding]]:
    """The keys that do something where the focus is: those that nothing nearer takes."""
    nodes = [*(screen.focused or screen).ancestors_with_self]
    if screen.focused is None:
        nodes = [screen, screen.app]
    taken = set[str]()
    for node in nodes[: nodes.index(screen) + 1] if screen.is_modal else nodes:
        for binding in defined(node):
            _, name, parameters = parse_action(binding.action)
            for key in binding.key.split(","):
                typed = screen.focused and screen.focused.check_consume_key(key, key_to_character(key))
                if key not in taken and not typed and node.check_action(name, parameters):
                    taken.add(key)
                    yield key, binding


def lacking(app: CephtuiApp, screen: Screen[Any], told: str, footer: str) -> list[str]:
    """What the help, the palette and the footer do not have of the keys that work."""
    wrong, entries = [], list(app.get_system_commands(screen))
    for key, binding in promised(screen):
        sign = binding.key_display or SIGNS.get(key, key)
        lines = [line.split(binding.tooltip)[0].split() for line in told.splitlines() if binding.tooltip in line]
        if not binding.tooltip or not any(set(sign.split()) <= set(line) for line in lines):
            wrong.append(f"help: {key} ({binding.action})")
        titles = [entry.title for entry in entries if entry.help == binding.tooltip]
        if not any(set(sign.split()) <= set(title.rpartition("(")[2][:-1].split()) for title in titles):
            wrong.append(f"palette: {key} ({binding.action})")
        if binding.show and binding.description not in footer:
            wrong.append(f"footer: {key} ({binding.action})")
    return [f"{type(screen).__name__}, {type(screen.focused).__name__}: {text}" for text in wrong]


def footer_of(screen: Screen[Any]) -> str:
    bars = [str(bar.render()) for bar in screen.query(KeyBar)]
    return " ".join([*bars, *(str(box.border_subtitle) for box in screen.query(".dialog"))])


async def look_at(app: CephtuiApp, pilot: Pilot[None]) -> list[str]:
    """Open the help from everything on the screen that takes keys, and close it as it was opened."""
    screen, found = app.screen, []
    for widget in one_of_each(screen) or [None]:
        screen.set_focus(widget)
        await pilot.pause()
        footer = footer_of(screen)
        await (app.run_action("help") if isinstance(screen, Help) else pilot.press("f1"))
        await until(pilot, lambda: app.screen is not screen and "esc closes" in screen_text(app))
        found += lacking(app, screen, screen_text(app), footer)
        await pilot.press("question_mark")
        await until(pilot, lambda: app.screen is screen)
    return found


def one_of_each(screen: Screen[Any]) -> list[Widget | None]:
    return list({type(widget): widget for widget in screen.focus_chain}.values())


async def test_the_help_the_palette_and_the_footer_have_every_key_of_every_screen(
    tmp_path: Path, demo_session: Path
) -> None:
    wrong: list[str] = []
    shown: set[type[Screen[Any]]] = {ConsoleScreen}
    async with console(tmp_path / "sessions", run=WRITE_IOPS, speed=1.0, size=(160, 60)) as (app, pilot):
        await until(pilot, lambda: "p presets" in screen_text(app))
        wrong += await look_at(app, pilot)
        for screen in screens(demo_session.parent, console_screen(app)):
            app.push_screen(screen)
            await until(pilot, lambda screen: app.screen is screen and screen.is_mounted, screen)
            if isinstance(screen, WatchScreen):
                await until(pilot, lambda view: view.can_zoom, screen.view)  # else it may get a key in between
            await pilot.pause()
            wrong += await look_at(app, pilot)
            shown.add(type(screen))
            screen.dismiss()
            await until(pilot, lambda: isinstance(app.screen, ConsoleScreen))
    assert wrong == []
    assert all_of(Screen) - BASES == shown, "a screen has no place in screens() above"


def test_no_key_is_bound_but_by_its_definition() -> None:
    kinds = [*all_of(DOMNode)]
    found = [binding for kind in kinds for binding in kind.__dict__.get("BINDINGS", ())]
    assert [binding for binding in found if not (isinstance(binding, Binding) and binding.id and binding.tooltip)] == []
    assert len(found) > 100
