"""The Textual application: starts the console screen, and leaves nothing behind when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from textual.app import App

from cephtui import places, store
from cephtui.models import Run
from cephtui.presets import Catalogue
from cephtui.runner import Runner
from cephtui.targets import FileTarget
from cephtui.tui import chart
from cephtui.tui.console import ConsoleScreen
from cephtui.tui.dialogs import Confirm, Wait

EXIT_INCOMPLETE = 4
_GRACE_SECONDS = 15


class ConsoleApp(App[None]):
    """One screen for now; the runner is handed in, and outlives it."""

    CSS_PATH = "app.tcss"
    TITLE = "cephtui"

    def __init__(self, catalogue: Catalogue, target: FileTarget, runner: Runner, earlier: list[Run]) -> None:
        super().__init__()
        self._runner = runner
        self._console_screen = ConsoleScreen(catalogue, target, runner, earlier)

    def on_mount(self) -> None:
        """Show the console; what can wait until it is seen is done behind it."""
        self.push_screen(self._console_screen)
        self._runner.remove_left_behind()
        self.run_worker(chart.preload, thread=True)

    async def action_quit(self) -> None:
        """End; asks while something runs."""
        if not self._console_screen.busy:
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


@contextlib.contextmanager
def _ending_on_signals(app: ConsoleApp, runner: Runner) -> Iterator[None]:
    """Textual handles neither SIGTERM nor SIGHUP. A terminal that takes no output must not keep us either."""

    def stop(number: int, frame: FrameType | None) -> None:
        runner.stop()
        signal.alarm(_GRACE_SECONDS)
        loop = app._loop
        if loop is not None:
            loop.call_soon_threadsafe(app.end)

    def leave(number: int, frame: FrameType | None) -> None:
        runner.close()
        os._exit(EXIT_INCOMPLETE)

    handlers = {signal.SIGTERM: stop, signal.SIGHUP: stop, signal.SIGALRM: leave}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _earlier_runs(root: Path, session: str | None) -> list[Run]:
    """The runs that a session to be continued holds already."""
    directory = root / session if session else None
    return store.read_runs(directory) if directory and directory.is_dir() else []


def run_console(catalogue: Catalogue, target: FileTarget, session: str | None) -> list[str]:
    """Open the console until the user quits; returns what could not be cleaned up. Raises StoreError."""
    root = places.sessions_dir()
    earlier = _earlier_runs(root, session)
    with Runner(root, session) as runner:
        app = ConsoleApp(catalogue, target, runner, earlier)
        with _ending_on_signals(app, runner):
            app.run()
        return runner.close()
