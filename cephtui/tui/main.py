"""Runs the applications on a terminal: their theme, the signals that end them, and what they leave."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from textual.screen import Screen

from cephtui import paths
from cephtui.exit_codes import EXIT_INCOMPLETE
from cephtui.keys import vault
from cephtui.presets import Catalogue
from cephtui.reading import TOML_MOST_BYTES, read_bytes
from cephtui.reports.words.text import saved_line
from cephtui.running.runner import Runner
from cephtui.sessions.store import count_runs
from cephtui.terminal import Ending, Interrupted, hangup_at_close, say, set_blocking, signal_handlers
from cephtui.tui.app import CephtuiApp, SavedApp
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.start import Start
from cephtui.tui.read_only import is_read_only
from cephtui.tui.terminal.profile import FULL, GRAPHS, Profile
from cephtui.tui.textual_private import is_exiting, loop_of

_GRACE_SECONDS, _SOON_SECONDS = 10.0, 3.0


def _let_go_of_a_dead_terminal() -> None:
    """Send further output to /dev/null: Textual would wait for ever to write to a closed terminal."""
    for descriptor in range(3):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)


def _ask(app: CephtuiApp, end: Callable[[], object]) -> None:
    """Call ``end`` on the application's own thread: Textual handles no signals."""
    _let_go_of_a_dead_terminal()
    loop = loop_of(app)
    if loop is None and not is_exiting(app):
        raise Interrupted  # it has not begun yet
    with contextlib.suppress(RuntimeError):  # it has just ended
        if loop is not None:
            loop.call_soon_threadsafe(app.call_later, end)


def _leave(clean_up: Callable[[], object] = lambda: None, messages: Iterable[str] = ()) -> NoReturn:
    """End the process where the application does not end, as on a terminal that takes no output."""
    clean_up()
    set_blocking(False)
    for text in messages:
        say(text)
    os._exit(EXIT_INCOMPLETE)


def _run(app: CephtuiApp) -> None:
    """Run in the theme and the symbols that were chosen last, if this terminal can show them; keep those chosen now."""
    theme, graph = _chosen(paths.theme_file()), _chosen(paths.graph_file())
    if theme in app.available_themes:
        app.theme = theme
    app.profile = (
        app.profile
        if app.profile.graph
        else replace(app.profile, graph=next((symbols for symbols in GRAPHS if symbols == graph), None))
    )
    before, graph_before = app.theme, app.profile.graph
    app.stylesheet.set_variables(app.get_css_variables())  # else all is parsed for another theme first
    with hangup_at_close(0):
        app.run()
    if app.read_only:
        return
    if app.theme != before:
        _keep(paths.theme_file(), app.theme)
    if app.profile.graph and app.profile.graph != graph_before:
        _keep(paths.graph_file(), app.profile.graph)


def _chosen(file: Path) -> str:
    """The name in a file; empty where there is none."""
    try:
        return read_bytes(file, TOML_MOST_BYTES).decode("utf-8").strip()
    except (OSError, ValueError):
        return ""


def _keep(file: Path, name: str) -> None:
    from cephtui.writing import write_whole

    with contextlib.suppress(OSError):
        paths.make_private(file.parent)
        write_whole(file, f"{name}\n")


class _ConsoleEnding:
    """The effects of signals on the console and its runner."""

    def __init__(self, app: ConsoleApp, runner: Runner, clean_up: Callable[[], object]) -> None:
        self._app, self._runner, self._clean_up = app, runner, clean_up
        self._is_incomplete = False
        self._done_at: float | None = None
        self._signals = Ending(self._first, self._second, self._tick)
        self.handlers = self._signals.handlers()

    @property
    def code(self) -> int:
        """The exit code where the application ended by itself."""
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
        """Removals have their time, then the application has some to end."""
        requested_at = self._signals.requested_at
        if self._done_at is None and requested_at is not None and self._runner.cleanup.is_overdue(requested_at):
            self._second()
        if self._done_at is None and self._runner.tidy_up().is_set():
            self._done_at = time.monotonic()
        if self._done_at is not None and time.monotonic() - self._done_at > _GRACE_SECONDS:
            _leave(self._clean_up, [*self._runner.abandon(), *_saved(self._runner)])


def run_console(
    catalogue: Catalogue, start: Start, session: str | None, clean_up: Callable[[], None], profile: Profile = FULL
) -> tuple[list[str], int]:
    """Open the console until the user quits; returns lines to print (what is left, where the results are) and a code.

    ``clean_up`` is called where the process has to end without returning from here. Raises StoreError, and
    Interrupted where the end was not waited for.
    """
    root = paths.sessions_dir()
    with Runner(root, session, vault=vault(start.config.s3)) as runner:
        app = ConsoleApp(catalogue, start, runner, root, profile)
        ending = _ConsoleEnding(app, runner, clean_up)
        with signal_handlers(ending.handlers):
            _run(app)
            if app.left is not None:
                raise Interrupted(*app.left, *_saved(runner))
            return [*runner.close(), *_saved(runner)], ending.code


def _saved(runner: Runner) -> list[str]:
    """A line that says where the results are; none without a run."""
    directory = runner.directory
    runs = count_runs(directory) if directory else 0
    return [saved_line(directory.name, runs)] if directory and runs else []


def show_screens(root: Path, screens: Iterable[Screen[None]], profile: Profile = FULL) -> None:
    """Show these screens of saved sessions until the user leaves the first of them."""
    app = SavedApp(root, screens, profile, read_only=is_read_only())

    def end() -> None:
        _ask(app, app.exit)

    def tick(seconds: float) -> None:
        if seconds > _GRACE_SECONDS:
            _leave()

    with signal_handlers(Ending(end, end, tick).handlers()):
        _run(app)
