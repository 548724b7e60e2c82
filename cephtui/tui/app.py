"""The Textual application: starts the console screen, and leaves nothing behind when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from rich.text import Text
from textual.app import App

from cephtui import places, store
from cephtui.models import Run
from cephtui.presets import Catalogue
from cephtui.runner import Runner
from cephtui.terminal import handling
from cephtui.tui import chart
from cephtui.tui.console import ConsoleScreen, Start
from cephtui.tui.dialogs import Confirm, Wait

EXIT_INCOMPLETE = 4
_GRACE_SECONDS = 10
log = logging.getLogger(__name__)


class ConsoleApp(App[None]):
    """One screen for now; the runner is handed in, and outlives it."""

    CSS_PATH = "app.tcss"
    TITLE = "cephtui"

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner, earlier: list[Run]) -> None:
        super().__init__()
        self._runner = runner
        self._console_screen = ConsoleScreen(catalogue, start, runner, earlier)

    def on_mount(self) -> None:
        """Show the console; what can wait until it is seen is done behind it."""
        self.push_screen(self._console_screen)
        self._runner.remove_left_behind()
        self.run_worker(chart.preload, thread=True)

    @property
    def busy(self) -> bool:
        """Whether something runs."""
        return self._console_screen.busy

    async def action_quit(self) -> None:
        """End; asks while something runs."""
        if not self.busy:
            self.exit()
        elif not isinstance(self.screen, Confirm | Wait):
            question = "A run is in progress. Stop it, keep what was measured, and quit?"
            self.push_screen(Confirm(question, "stop and quit", "go on"), self._answered)

    def _answered(self, quit_now: bool | None) -> None:
        if quit_now:
            self.end()

    def end(self) -> None:
        """Stop what runs, clean up and exit."""
        self.push_screen(Wait("stopping the run and cleaning up ..."))
        self.run_worker(self._end())

    async def _end(self) -> None:
        await asyncio.to_thread(self._runner.close)
        self.exit()

    def _fatal_error(self) -> None:
        """Textual's own prints the traceback with all local variables onto the terminal."""
        error = sys.exc_info()[1]
        log.error("the console failed", exc_info=error)
        self.panic(Text(f"cephtui: unexpected error: {error!r}; the traceback is in {places.log_file()}"))


def _ending_on_signals(
    app: ConsoleApp, runner: Runner, clean_up: Callable[[], None]
) -> contextlib.AbstractContextManager[None]:
    """Textual handles neither SIGTERM nor SIGHUP; and a terminal that takes no output would keep us for ever."""

    def stop(number: int, frame: FrameType | None) -> None:
        runner.stop()
        signal.alarm(_GRACE_SECONDS)
        if app._loop is not None:
            app._loop.call_soon_threadsafe(app.call_later, app.end)

    def leave(number: int, frame: FrameType | None) -> None:
        runner.close()
        clean_up()
        os._exit(EXIT_INCOMPLETE)

    return handling({signal.SIGTERM: stop, signal.SIGHUP: stop, signal.SIGALRM: leave})


def _earlier_runs(root: Path, session: str | None) -> list[Run]:
    """The runs that a session to be continued holds already."""
    directory = root / session if session else None
    return store.read_runs(directory)[0] if directory and directory.is_dir() else []


def run_console(catalogue: Catalogue, start: Start, session: str | None, clean_up: Callable[[], None]) -> list[str]:
    """Open the console until the user quits; returns what could not be removed. Raises StoreError.

    ``clean_up`` is called where the process has to end without returning from here.
    """
    root = places.sessions_dir()
    earlier = _earlier_runs(root, session)
    with Runner(root, session) as runner:
        app = ConsoleApp(catalogue, start, runner, earlier)
        with _ending_on_signals(app, runner, clean_up):
            app.run()
        return runner.close()
