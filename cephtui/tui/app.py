"""The Textual applications: the console, and the one that shows what is saved. Nothing is left behind by either.

Screens that nobody sees at the start are imported when they are wanted: all of them take 30 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rich.text import Text
from textual import on, work
from textual.app import SystemCommand
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.screen import Screen

from cephtui import paths
from cephtui.analysis.history import History
from cephtui.exit_codes import EXIT_INCOMPLETE
from cephtui.presets import Catalogue
from cephtui.printable import one_line
from cephtui.reading import TOML_MOST_BYTES, read_bytes
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.sessions.writer import write_whole
from cephtui.terminal import Ending, Interrupted, handling, say, set_waiting
from cephtui.tui.charts.chart import preload
from cephtui.tui.console.screen import ConsoleScreen, Start
from cephtui.tui.dialogs import Confirm, Help, Wait
from cephtui.tui.keys import COMMANDS, HELP, commands, help_table, key
from cephtui.tui.screens.run import CompareWanted
from cephtui.tui.terminal.apply import apply
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.terminal.themes import CSS
from cephtui.tui.terminal.too_small import RoomyApp
from cephtui.tui.textual_private import is_exiting, loop_of

if TYPE_CHECKING:
    from cephtui.analysis.sides import Side
    from cephtui.tui.charts.overlay import Curves
    from cephtui.tui.screens.sessions import SessionsScreen

_GRACE_SECONDS, _SOON_SECONDS = 10.0, 3.0
log = logging.getLogger(__name__)


class CephtuiApp(RoomyApp):
    """What can be reached from every screen: saved sessions, comparing, help, all commands."""

    CSS_PATH = "app.tcss"
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
        """What can wait until something is seen is done behind it."""
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
        """As Textual's, but what is said is never markup: names and errors of others are in it."""
        super().notify(one_line(message), title=one_line(title), severity=severity, timeout=timeout, markup=False)

    def action_sessions(self) -> None:
        """The saved sessions; from there the way goes back here."""
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
        """Choose the run to compare with, which stands on the left: what was before."""
        from cephtui.tui.screens.compare import CompareScreen, RunPicker

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
        """All keys that work where the user is, by topic."""
        self.push_screen(Help("keys", help_table(commands(self.screen))))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every key of the screen as a command too."""
        for found in commands(screen):
            yield SystemCommand(found.title, found.about, partial(self._run_command, found.action, found.node))
        yield from (command for command in super().get_system_commands(screen) if command.title == "Theme")

    def _run_command(self, action: str, node: DOMNode) -> None:
        """When the palette is gone."""
        self.call_later(self.run_action, action, node)

    def fail(self, error: BaseException | None) -> None:
        """A line on the terminal, and the traceback in the log."""
        if is_exiting(self):
            log.info("while ending: %r", error)  # of a screen that was still being made
            return
        log.error("the console failed", exc_info=error)
        self.panic(Text(one_line(f"cephtui: unexpected error: {error!r}; the traceback is in {paths.log_file()}")))


def _collect_again() -> None:
    """What was loaded at the start stays; the collector, where it was off for that, need not look at it ever again."""
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


class ConsoleApp(CephtuiApp):
    """The console; the runner is handed in, and outlives it."""

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner, root: Path, profile: Profile = FULL) -> None:
        super().__init__(root, profile)
        self._runner = runner
        self._is_ending = False
        self.left: list[str] | None = None
        """What stays where it is, where the end was not waited for."""
        self._console_screen = ConsoleScreen(catalogue, start, runner)

    def get_default_screen(self) -> Screen[None]:
        """The console at once, without an empty screen before it."""
        return self._console_screen

    def on_mount(self) -> None:
        """What was left behind is removed meanwhile."""
        self._runner.remove_left_behind()

    @property
    def busy(self) -> bool:
        """Whether something runs."""
        return self._console_screen.busy

    @property
    def is_ending(self) -> bool:
        """Whether the user has asked for the end."""
        return self._is_ending

    async def action_quit(self) -> None:
        """End; asks while something runs."""
        waiting = self._console_screen.waiting
        if self._is_ending:
            self.action_end_at_once()
        elif not self.busy and not waiting:
            self.end()
        elif not isinstance(self.screen, Confirm | Wait):
            question = "A run is in progress. Stop it, keep what was measured, and quit?"
            if not self.busy:
                question = f"The queue is not empty ({waiting}). Forget it and quit?"
            self.push_screen(Confirm(question, "stop and quit" if self.busy else "quit", "go on"), self._answered)

    def _answered(self, quit_now: bool | None) -> None:
        if quit_now:
            self.end()

    def end(self) -> None:
        """Stop what runs, clean up and exit; the screens still ask the runner until they are gone."""
        if self._is_ending:
            return
        self._is_ending = True
        self._console_screen.begin_nothing_more()
        tidied = self._runner.tidy_up()
        if not self.busy and not self._runner.left:
            self.exit()
            return
        self.push_screen(Wait(lambda: self._runner.removing or "stopping the run and cleaning up ..."))
        self.run_worker(self._end(tidied))

    async def _end(self, tidied: threading.Event) -> None:
        while not tidied.is_set():
            await asyncio.sleep(0.05)
        self.exit()

    def action_end_at_once(self) -> None:
        """Wait for nothing; what is left is told on the terminal as it was before."""
        self.left = self._runner.abandon()
        self.exit()


class SavedApp(CephtuiApp):
    """Shows what is saved: the first screen lies on those that it would have been reached by."""

    def __init__(self, root: Path, screens: Iterable[Screen[None]], profile: Profile = FULL) -> None:
        super().__init__(root, profile)
        self._screens = tuple(screens)

    def on_mount(self) -> None:
        """The last of the screens is seen; leaving the first ends."""
        for number, screen in enumerate(self._screens):
            self.push_screen(screen, None if number else lambda _: self.exit())


def _let_go_of_a_dead_terminal() -> None:
    """Textual would wait for ever to write to one that was closed: what is still drawn goes nowhere."""
    for descriptor in range(3):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)


def _ask(app: CephtuiApp, end: Callable[[], object]) -> None:
    """Textual handles none of the signals that ask for the end; the application's own thread answers them."""
    _let_go_of_a_dead_terminal()
    loop = loop_of(app)
    if loop is None and not is_exiting(app):
        raise Interrupted  # it has not begun yet
    with contextlib.suppress(RuntimeError):  # it has just ended
        if loop is not None:
            loop.call_soon_threadsafe(app.call_later, end)


def _leave(clean_up: Callable[[], object], left: Iterable[str] = ()) -> NoReturn:
    """The application does not come to its end, as on a terminal that takes no output."""
    clean_up()
    set_waiting(False)
    for text in left:
        say(text)
    os._exit(EXIT_INCOMPLETE)


def _run(app: CephtuiApp) -> None:
    """In the theme that was chosen last, where this terminal can show it; what is chosen now is kept."""
    file = paths.theme_file()
    with contextlib.suppress(OSError, ValueError):
        chosen = read_bytes(file, TOML_MOST_BYTES).decode("utf-8").strip()
        if chosen in app.available_themes:
            app.theme = chosen
    before = app.theme
    app.run()
    if app.theme != before:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, f"{app.theme}\n")


class _ConsoleEnding:
    """What the signals do to the console and its runner."""

    def __init__(self, app: ConsoleApp, runner: Runner, clean_up: Callable[[], object]) -> None:
        self._app, self._runner, self._clean_up = app, runner, clean_up
        self._is_incomplete = False
        self._done_at: float | None = None
        self._signals = Ending(self._first, self._second, self._tick)
        self.handlers = self._signals.handlers()

    @property
    def code(self) -> int:
        """The exit code of an end that was waited for."""
        return EXIT_INCOMPLETE if self._is_incomplete else 0

    def _first(self) -> None:
        self._is_incomplete = self._app.busy or self._app.is_ending
        self._runner.tidy_up()
        _ask(self._app, self._app.end)

    def _second(self) -> None:
        if not self._app.is_running:
            raise Interrupted(*self._runner.abandon())
        _ask(self._app, self._app.action_end_at_once)
        self._done_at = self._done_at or time.monotonic() - _GRACE_SECONDS + _SOON_SECONDS

    def _tick(self, seconds: float) -> None:
        """What is to be removed has its time; then the application has some to end."""
        asked_at = self._signals.asked_at
        if self._done_at is None and asked_at is not None and self._runner.is_overdue(asked_at):
            self._second()
        if self._done_at is None and self._runner.tidy_up().is_set():
            self._done_at = time.monotonic()
        if self._done_at is not None and time.monotonic() - self._done_at > _GRACE_SECONDS:
            _leave(self._clean_up, self._runner.abandon())


def run_console(
    catalogue: Catalogue, start: Start, session: str | None, clean_up: Callable[[], None], profile: Profile = FULL
) -> tuple[list[str], int]:
    """Open the console until the user quits; returns what could not be removed, and the exit code.

    ``clean_up`` is called where the process has to end without returning from here. Raises StoreError, and
    Interrupted where the end was not waited for.
    """
    root = paths.sessions_dir()
    with Runner(root, session) as runner:
        app = ConsoleApp(catalogue, start, runner, root, profile)
        ending = _ConsoleEnding(app, runner, clean_up)
        with handling(ending.handlers):
            _run(app)
            if app.left is not None:
                raise Interrupted(*app.left)
            return runner.close(), ending.code


def show_saved(
    root: Path, screens: Iterable[Screen[None]], profile: Profile = FULL, clean_up: Callable[[], object] = lambda: None
) -> None:
    """Show these screens of saved sessions until the user leaves the first of them; ``clean_up`` as above."""
    app = SavedApp(root, screens, profile)

    def end() -> None:
        _ask(app, app.exit)

    def tick(seconds: float) -> None:
        if seconds > _GRACE_SECONDS:
            _leave(clean_up)

    with handling(Ending(end, end, tick).handlers()):
        _run(app)
