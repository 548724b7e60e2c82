"""The Textual applications: the console, and the one that shows what is saved. Nothing is left behind by either.

Screens are imported when they are opened: importing all of them takes 30 ms.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import on, work
from textual.app import SystemCommand
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.screen import Screen

from cephtui import paths
from cephtui.analysis.history import History
from cephtui.printable import one_line
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.chart import preload
from cephtui.tui.dialogs import Help
from cephtui.tui.keys import COMMANDS, HELP, commands, help_table, key
from cephtui.tui.screens.run import CompareWanted
from cephtui.tui.terminal.apply import apply
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.terminal.themes import CSS
from cephtui.tui.terminal.too_small import RoomyApp
from cephtui.tui.textual_private import is_exiting

if TYPE_CHECKING:
    from cephtui.analysis.sides import Side
    from cephtui.tui.charts.overlay import Curves
    from cephtui.tui.screens.sessions import SessionsScreen

log = logging.getLogger(__name__)


class CephtuiApp(RoomyApp):
    """What every screen offers: saved sessions, comparing, help, all commands."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    CSS = CSS
    TITLE = "cephtui"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall"), (45, "-huge")]
    BINDINGS = [
        key("o", "sessions", "sessions", "saved sessions: open, compare, rename, annotate", "view", shown=True),
        HELP,
        COMMANDS,
        key("q", "quit", "quit", "quit; asks while something runs", "more", shown=True),
    ]

    def __init__(self, root: Path, profile: Profile = FULL) -> None:
        super().__init__()
        self.profile = profile
        """What the terminal can show."""
        self.root = root
        """Where the sessions are."""
        apply(self, profile)

    def on_mount(self) -> None:
        """What can wait until the first frame is done after it."""
        self.run_worker(preload, thread=True)
        self.call_after_refresh(_collect_again)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """As Textual's, but never with markup: messages contain names and errors of other programs."""
        super().notify(one_line(message), title=one_line(title), severity=severity, timeout=timeout, markup=False)

    def action_sessions(self) -> None:
        """Show the saved sessions."""
        from cephtui.tui.screens.sessions import SessionsScreen

        if not isinstance(self.screen, SessionsScreen):
            self.push_screen(SessionsScreen(self.root))

    def on_sessions_screen_opened(self, message: SessionsScreen.Opened) -> None:
        """A session was chosen."""
        from cephtui.tui.screens.session import SessionScreen

        self.push_screen(SessionScreen(message.directory))

    @on(CompareWanted)
    @work
    async def _compare(self, message: CompareWanted) -> None:
        """Choose the run to compare with; it stands on the left, as the one before."""
        from cephtui.tui.pickers.runs import RunPicker
        from cephtui.tui.screens.compare import CompareScreen

        session = message.directory.name
        chosen = await self.push_screen_wait(RunPicker(self.root, (session, message.number)))
        if chosen is None:
            return
        try:
            left, left_curves = await asyncio.to_thread(_side, *chosen)
            right, right_curves = await asyncio.to_thread(_side, message.directory, message.number)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.push_screen(CompareScreen(left, right, left_curves, right_curves))

    def action_help(self) -> None:
        """All keys that work on this screen, by topic."""
        self.push_screen(Help("keys", help_table(commands(self.screen))))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key of the screen as a command too."""
        for found in commands(screen):
            yield SystemCommand(found.title, found.about, partial(self._run_command, found.action, found.node))
        yield from (command for command in super().get_system_commands(screen) if command.title == "Theme")

    def _run_command(self, action: str, node: DOMNode) -> None:
        """After the palette has closed."""
        self.call_later(self.run_action, action, node)

    def fail(self, error: BaseException | None) -> None:
        """Print a line on the terminal, and put the traceback into the log."""
        if is_exiting(self):
            log.info("while ending: %r", error)  # of a screen that was still being made
            return
        log.error("the console failed", exc_info=error)
        self.panic(Text(one_line(f"cephtui: unexpected error: {error!r}; the traceback is in {paths.log_file()}")))


def _collect_again() -> None:
    """Turn on the garbage collector, if it was off for the start, and exempt what was loaded: it stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _side(directory: Path, number: int) -> tuple[Side, Curves]:
    """A run with its repeats, and its curves; raises StoreError."""
    from cephtui.analysis.sides import side_of

    run = store.read_run(directory, number)
    side = side_of(run, store.read_runs(directory)[0], store.read_marks(directory))
    return side, curves_of(store.read_history(directory, number))


def curves_of(history: History) -> Curves:
    """The points of every figure of all nodes."""
    return {name: curve.points() for name, curve in history.curves.items()}


class SavedApp(CephtuiApp):
    """Shows saved sessions: the last of its screens, over those that lead to it."""

    def __init__(self, root: Path, screens: Iterable[Screen[None]], profile: Profile = FULL) -> None:
        super().__init__(root, profile)
        self._screens = tuple(screens)

    def on_mount(self) -> None:
        """Leaving the first screen ends."""
        for number, screen in enumerate(self._screens):
            self.push_screen(screen, None if number else lambda _: self.exit())
