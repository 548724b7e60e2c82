"""The Textual applications: the console, and the one that shows what is saved. Nothing is left behind by either.

Screens are imported when they are opened: importing all of them takes 30 ms.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rich.console import Group
from rich.text import Text
from textual import on, work
from textual.app import App, SystemCommand
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.screen import Screen

from cephtui import paths
from cephtui.printable import one_line
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.keys import COMMANDS, HELP, MASK, SESSIONS, active_commands, help_table, key
from cephtui.tui.read_only import LOOKING
from cephtui.tui.screens.run import CompareWanted
from cephtui.tui.terminal.apply import apply
from cephtui.tui.terminal.in_order import opening
from cephtui.tui.terminal.masking import Masking
from cephtui.tui.terminal.profile import FULL, GRAPHS, Graph, Profile
from cephtui.tui.terminal.themes import CSS
from cephtui.tui.terminal.too_small import MinimumSizeApp
from cephtui.tui.textual_private import is_exiting

if TYPE_CHECKING:
    from cephtui.reports.masking.mask import Names
    from cephtui.tui.screens.sessions import SessionsScreen

log = logging.getLogger(__name__)

_GRAPHS: dict[Graph, str] = {
    "braille": "draw charts with dots, eight to a character",
    "block": "draw charts with quarter blocks, for fonts without good dots",
    "ascii": "draw charts with ASCII characters",
}


@runtime_checkable
class HasNames(Protocol):
    """A screen that knows names of hosts, pools or files."""

    def names_to_hide(self) -> Names:
        """Names that a mask replaces."""
        ...


@runtime_checkable
class HasMoreToSay(Protocol):
    """A screen whose help says more than its keys."""

    def more_to_say(self) -> str:
        """What stands above the keys; may be empty."""
        ...


class CephtuiApp(MinimumSizeApp):
    """What every screen offers: saved sessions, comparing, help, all commands."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    CSS = CSS
    TITLE = "cephtui"
    ENABLE_COMMAND_PALETTE = False  # of Textual
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (45, "-huge")]
    BINDINGS = [
        key("o", "sessions", "sessions", "open saved sessions: compare, rename, annotate", "view", shown=True),
        MASK,
        HELP,
        COMMANDS,
        key("ctrl+l", "redraw", "redraw", "redraw the screen after another program has written on it", "more"),
        key("q", "quit", "quit", "quit; asks while something runs", "more", shown=True),
        key(
            "ctrl+c",
            "copy_or_quit",
            "copy or quit",
            "copy the text selected with the mouse, otherwise quit",
            "more",
            priority=True,
        ),
    ]

    def __init__(self, root: Path, profile: Profile = FULL, *, read_only: bool = False) -> None:
        super().__init__()
        self.profile = profile
        """What the terminal can show."""
        self.read_only = read_only
        """Whether its user may only look at the session that is open."""
        self.root = root
        """The directory of the sessions."""
        self.masking = Masking(self, self.names_to_hide)
        apply(self, profile)

    def on_mount(self) -> None:
        """What can wait until the first frame is done after it."""
        self.call_after_refresh(self._prepare)
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())

    def _prepare(self) -> None:
        _collect_again()
        self.run_worker(_preload, thread=True)

    def allows(self, node: DOMNode, action: str) -> bool:
        """All but what a read-only application and its screens may not do; widgets scroll, move and take text."""
        return not self.read_only or not isinstance(node, App | Screen) or action in LOOKING

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Notify as Textual does, but never with markup: messages contain names and errors of other programs."""
        super().notify(one_line(message), title=one_line(title), severity=severity, timeout=timeout, markup=False)

    async def action_copy_or_quit(self) -> None:
        """Quit as ``q`` does, unless text was selected with the mouse."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
        else:
            await self.action_quit()

    def action_sessions(self) -> None:
        from cephtui.tui.screens.sessions import SessionsScreen

        self.push_screen(SessionsScreen(self.root, with_demo=True))

    def on_sessions_screen_opened(self, message: SessionsScreen.Opened) -> None:
        from cephtui.tui.screens.session import SessionScreen

        self.push_screen(SessionScreen(message.directory))

    @on(CompareWanted)
    @work
    async def _compare(self, message: CompareWanted) -> None:
        """Choose the run to compare with; the older of both stands on the left, unless one is a baseline."""
        from cephtui.tui.pickers.runs import RunPicker
        from cephtui.tui.screens.compare import compared

        with opening(self):
            excluded = (message.directory.name, message.number)
            chosen = await self.push_screen_wait(RunPicker(self.root, excluded, other_sessions=not self.read_only))
            if chosen is None:
                return
            try:
                places = await asyncio.to_thread(_older_first, chosen, (message.directory, message.number))
                screen = await asyncio.to_thread(compared, *places)
            except StoreError as error:
                self.notify(str(error), severity="error", markup=False)
                return
            self.push_screen(screen)

    def names_to_hide(self) -> Names:
        """Names that the screens know."""
        sources = [screen for screen in self.screen_stack if isinstance(screen, HasNames)]
        return {name: kind for screen in sources for name, kind in screen.names_to_hide().items()}

    def action_mask_names(self) -> None:
        """Hide names of hosts, pools and paths on every screen, or show them again."""
        self.masking.toggle()
        self.sub_title = "masked" if self.masking.is_on else ""
        self.screen.refresh_bindings()
        self.notify("names are masked (P shows them)" if self.masking.is_on else "names are shown")

    def action_help(self) -> None:
        from cephtui.tui.dialogs import Help

        keys = help_table(active_commands(self.screen))
        text = self.screen.more_to_say() if isinstance(self.screen, HasMoreToSay) else ""
        self.push_screen(Help("keys", Group(Text(text), "", keys) if text else keys))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key of the screen as a command too."""
        for command in active_commands(screen):
            yield SystemCommand(command.title, command.about, partial(self._run_command, command.action, command.node))
        yield SystemCommand("theme", "choose the colors", self._choose_theme)
        for graph in () if self.profile.ascii_only else GRAPHS:
            yield SystemCommand(f"graph symbols: {graph}", _GRAPHS[graph], partial(self.choose_graph, graph))

    def choose_graph(self, graph: Graph) -> None:
        """Draw all charts with these symbols from now on."""
        self.profile = replace(self.profile, graph=graph)
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()

    def action_command_palette(self) -> None:
        from cephtui.tui.pickers.commands import CommandPicker

        if not isinstance(self.screen, CommandPicker):
            palette = list(self.get_system_commands(self.screen))
            self.push_screen(CommandPicker(palette), lambda command: command.callback() if command else None)

    def _choose_theme(self) -> None:
        from cephtui.tui.pickers.commands import ThemePicker

        def use(name: str | None) -> None:
            self.theme = name or self.theme

        self.push_screen(ThemePicker(self.available_themes, self.theme), use)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The list of sessions is not offered on itself."""
        if action != "sessions":
            return True
        below = next((screen for screen in reversed(self.screen_stack) if not screen.is_modal), None)
        return below is None or not below.has_class(SESSIONS)

    def _run_command(self, action: str, node: DOMNode) -> None:
        """Run a command of the palette, after that has closed."""
        self.call_later(self.run_action, action, node)

    def fail(self, error: BaseException | None) -> None:
        """Print a line on the terminal, and put the traceback into the log."""
        if is_exiting(self):
            log.info("while ending: %r", error)  # of a screen that was still being made
            return
        log.error("the console failed", exc_info=error)
        self.panic(Text(one_line(f"cephtui: unexpected error: {error!r}; the traceback is in {paths.log_file()}")))


def _preload() -> None:
    """Import what the first run is drawn with and the first dialog, lest a key waits for it."""
    from cephtui.analysis.views import live  # noqa: F401
    from cephtui.tui import dialogs  # noqa: F401
    from cephtui.tui.charts import chart, heat_map, rasterised  # noqa: F401
    from cephtui.tui.widgets import now, shown, side_panels  # noqa: F401

    rasterised.preload()


def _collect_again() -> None:
    """Turn on the garbage collector, if it was off for the start, and exempt what was loaded: it stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _older_first(first: tuple[Path, int], second: tuple[Path, int]) -> list[tuple[Path, int]]:
    """Two runs in the order in which they are compared; a baseline comes first. Raises StoreError."""

    def rank(run: tuple[Path, int]) -> tuple[bool, datetime]:
        directory, number = run
        return store.read_notes(directory).baseline != number, store.read_run(directory, number).started_at

    return sorted((first, second), key=rank)


class SavedApp(CephtuiApp):
    """Shows saved sessions: the last of its screens, over those that lead to it."""

    def __init__(
        self, root: Path, screens: Iterable[Screen[None]], profile: Profile = FULL, *, read_only: bool = False
    ) -> None:
        super().__init__(root, profile, read_only=read_only)
        self._screens = tuple(screens)

    def on_mount(self) -> None:
        """Leaving the first screen ends."""
        for number, screen in enumerate(self._screens):
            self.push_screen(screen, None if number else lambda _: self.exit())
