"""The charts of a run that is saved, where other things on the screen leave room for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import work

from cephtui.analysis.runs.history import History
from cephtui.models import Mark, Run
from cephtui.models.metrics import Metric
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import shown_of_run

_LEAST_ROWS = 10
"""The charts of a run need at least so many, with a frame's row."""


class SavedRun(RunView):
    """One run of a session over its seconds, or why there is none."""

    DEFAULT_CSS = "SavedRun { border-top: solid $primary-darken-1; border-title-color: $foreground; }"

    def __init__(self, empty: str = "") -> None:
        super().__init__(empty)
        self._charted: Run | None = None

    def fit(self, rows: int) -> bool:
        """Be displayed if so many rows are enough; whether they are."""
        self.display = rows >= _LEAST_ROWS
        return self.display

    @work(exclusive=True)
    async def draw_run(self, directory: Path, run: Run | None, metric: Metric | None) -> None:
        """Draw a run of a session, at first with a metric; the same again costs nothing."""
        if run is None or metric is None:
            self.clear()
        elif run != self._charted:
            history, marks = await asyncio.to_thread(_history, directory, run.run)
            self.follow(run.preset, metric)
            self.border_title = f" #{run.run} over time "
            self.show(shown_of_run(run, history, marks))
        self._charted = run


def _history(directory: Path, number: int) -> tuple[History, list[Mark]]:
    """A run over its seconds, of which there are none where they can't be read, and the marks of its session."""
    marks = store.read_marks(directory)
    try:
        return store.read_history(directory, number), marks
    except StoreError:
        return History(), marks
