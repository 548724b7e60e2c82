"""RunOutput of a run without the console: JSON Lines, or a live display and a table."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from rich.live import Live as LiveDisplay
from rich.text import Text

from cephtui import paths
from cephtui.analysis.views.live import Live
from cephtui.cli.printing import print_report
from cephtui.models import Event, Notice, Run
from cephtui.reports.drawn.live import draw_live
from cephtui.reports.words.text import saved_line
from cephtui.running.outcomes import unsaved
from cephtui.sessions.jsonlines import line
from cephtui.sessions.store import count_runs
from cephtui.terminal import blocking, make_console, say


class RunOutput(Protocol):
    """Prints the events of a runner."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...

    def show(self, event: Event) -> None:
        """Take in, and perhaps print, an event."""
        ...

    def refresh(self) -> None:
        """Called a few times a second."""
        ...


class JsonOutput(RunOutput):
    """The public events on stdout, a line each, and nothing else."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pass

    def show(self, event: Event) -> None:
        if isinstance(event, Notice):
            say(event.text)
        elif not isinstance(event, Run) or event.outcome is not None:
            sys.stdout.write(line(event) + "\n")
            sys.stdout.flush()

    def refresh(self) -> None:
        pass


class TerminalOutput(RunOutput):
    """A live display on a terminal, notices elsewhere."""

    def __init__(self) -> None:
        self._live = Live()
        self._changed = time.monotonic()
        self._console = make_console()
        self._display = LiveDisplay(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> None:
        if self._console.is_terminal:
            self._display.start()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with contextlib.suppress(OSError), blocking(sys.stdout, kind is None):
            self._display.stop()  # where the terminal is closed, the first error is the one to report

    def show(self, event: Event) -> None:
        self._live.take(event)
        self._changed = time.monotonic()
        if isinstance(event, Run) and event.outcome is None:
            self._announce(f"{event.preset} ({self._live.place})")
        elif isinstance(event, Notice):
            self._announce(event.text)

    def refresh(self) -> None:
        if self._live.current and self._display.is_started:
            self._display.update(draw_live(self._live, time.monotonic() - self._changed), refresh=True)

    def _announce(self, text: str) -> None:
        if not self._console.is_terminal:
            say(text)


def print_saved(finished: Sequence[Run]) -> None:
    """Print where these runs are saved; nothing where they are not."""
    if not all(map(unsaved, finished)):
        session = finished[0].session
        print_report(Text(saved_line(session, count_runs(paths.sessions_dir() / session)), style="dim"))
