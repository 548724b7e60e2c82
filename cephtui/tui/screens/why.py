"""Why a cluster is slow: what the runs of a session show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult

from cephtui.models import Run
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.diagnosis import saved_diagnosis_view
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, snippet_of
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.title_bar import TitleBar


class WhyScreen(CopyingScreen):
    """The causes, most important first; from the console it is measured, too."""

    BINDINGS = [
        COPY,
        key("enter", "measure", "measure", "measure why it is slow: the suite why", "run", shown=True),
        key("escape,q", "dismiss", "back", "back to the runs", "more", shown=True, display="esc"),
    ]

    def __init__(self, directory: Path, measure: Callable[[], object] | None = None) -> None:
        """``directory`` is that of the session; ``measure`` is None where nothing can be measured."""
        super().__init__()
        self._directory, self._measure = directory, measure
        self._runs: list[Run] = []

    def compose(self) -> ComposeResult:
        yield TitleBar(f"session {self._directory.name}   why is it slow?")
        yield Scrolled()
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.set_focus(self.query_one(Scrolled))
        self.query_one(Scrolled).update("reading the session ...")
        self._read()

    @work
    async def _read(self) -> None:
        self.query_one(Scrolled).update(await asyncio.to_thread(self._drawn, profile_of(self).ascii_only))

    def _drawn(self, ascii_only: bool) -> RenderableType:
        try:
            self._runs = list(store.read_runs(self._directory)[0])
            return draw(saved_diagnosis_view(self._directory)[0].document(), ascii_only=ascii_only)
        except StoreError as error:
            return Text(str(error))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is measured from saved sessions."""
        return action != "measure" or self._measure is not None

    def action_measure(self) -> None:
        self.dismiss()
        if self._measure:
            self._measure()

    def names_to_hide(self) -> Names:
        """Names of the runs."""
        return names_in(self._runs)

    def handout(self) -> Callable[[], MarkdownSnippet]:
        return lambda: snippet_of("why it is slow", saved_diagnosis_view(self._directory)[0])
