"""One run in full: how its latencies are spread, its jobs, its conditions and its commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult

from cephtui.models import Run
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.run import saved_run_view
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.colors import flow_color
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, details_snippet
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.title_bar import TitleBar


class DetailsScreen(CopyingScreen):
    """One run in full; of a run in progress, what it has done until now."""

    BINDINGS = [
        COPY,
        key("l", "log", "log", "exact commands and raw output", "view", shown=True),
        key("escape,enter,q", "dismiss", "back", "back to the runs", "more", shown=True, display="esc"),
    ]

    def __init__(self, directory: Path, run: Run) -> None:
        """``directory`` is that of its session."""
        super().__init__()
        self._directory, self._run = directory, run

    def compose(self) -> ComposeResult:
        run = self._run
        state = "" if run.outcome else "   in progress: figures so far"
        yield TitleBar(f"run {run.session}/{run.run}   {run.preset}{state}")
        yield Scrolled()
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.set_focus(self.query_one(Scrolled))
        self.query_one(Scrolled).update("reading the run ...")
        self._read()

    @work
    async def _read(self) -> None:
        try:
            drawn = await asyncio.to_thread(_drawn, self._directory, self._run.run, profile_of(self).ascii_only)
        except StoreError as error:
            drawn = Text(str(error))
        self.query_one(Scrolled).update(drawn)

    def names_to_hide(self) -> Names:
        """Names of the run."""
        return names_in([self._run])

    def handout(self) -> Callable[[], MarkdownSnippet]:
        return partial(details_snippet, self._directory, self._run)

    def action_log(self) -> None:
        from cephtui.tui.screens.log import LogScreen

        self.app.push_screen(LogScreen(self._directory, self._run))


def _drawn(directory: Path, number: int, ascii_only: bool) -> RenderableType:
    """The run as it is saved now; raises StoreError."""
    return draw(saved_run_view(directory, number).document(), ascii_only=ascii_only, color_of=flow_color)
