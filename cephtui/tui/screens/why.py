"""Why a cluster is slow: what the runs of a session show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from cephtui.analysis.verdicts.diagnosis import Diagnosis
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.reports.blocks import Histograms
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.diagnosis import saved_diagnosis_view
from cephtui.reports.views.latency import latency_blocks
from cephtui.sessions import store
from cephtui.sessions.histograms import read_histograms
from cephtui.sessions.store import StoreError
from cephtui.tui.charts.colors import flow_color
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, snippet_of
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.stages import latency_bars
from cephtui.tui.widgets.title_bar import TitleBar

_BESIDE_FROM = 120
"""Columns of the screen."""


class WhyScreen(CopyingScreen):
    """The causes, most important first; from the console it is measured, too."""

    BINDINGS = [
        COPY,
        key("enter", "measure", "measure", "measure again: run the suite why", "run", shown=True),
        key("escape,q", "dismiss", "back", "back to the runs", "more", shown=True, display="esc"),
    ]

    DEFAULT_CSS = """
    WhyScreen #where {
        width: 2fr; height: 100%; padding: 0 1; border-left: solid $primary-darken-1; scrollbar-size-vertical: 1;
        display: none;
    }
    WhyScreen Scrolled { width: 3fr; min-width: 80; }
    WhyScreen.-beside #where { display: block; }
    WhyScreen #where > Static { height: auto; }
    """

    def __init__(self, directory: Path, measure: Callable[[], object] | None = None) -> None:
        """``directory`` is that of the session; ``measure`` is None where nothing can be measured."""
        super().__init__()
        self._directory, self._measure = directory, measure
        self._runs: list[Run] = []

    def compose(self) -> ComposeResult:
        yield TitleBar(f"session {self._directory.name}   why is it slow?")
        with Horizontal():
            yield Scrolled()
            yield VerticalScroll(Static(), id="where")
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.set_focus(self.query_one(Scrolled))
        self.query_one(Scrolled).update("reading the session ...")
        self._read()

    def on_resize(self, event: Resize) -> None:
        """The latencies have a place of their own where the causes keep that of the smallest terminal."""
        self.set_class(event.size.width >= _BESIDE_FROM, "-beside")

    @work
    async def _read(self) -> None:
        causes, where = await asyncio.to_thread(self._drawn, profile_of(self).ascii_only)
        self.query_one(Scrolled).update(causes)
        self.query_one("#where Static", Static).update(where)

    def _drawn(self, ascii_only: bool) -> tuple[RenderableType, RenderableType]:
        """The causes, and the latencies that they are of."""
        try:
            self._runs = list(store.read_runs(self._directory)[0])
            view, found, _ = saved_diagnosis_view(self._directory)
            causes = draw(view.document(), ascii_only=ascii_only)
            return causes, _Latencies(found.runs, self._histograms(found), ascii_only)
        except StoreError as error:
            return Text(str(error)), Text()

    def _histograms(self, found: Diagnosis) -> tuple[Histograms, ...]:
        """Of the run in which the first cause costs the most, else of the first run."""
        costs = [cause.cost.run for cause in found.causes if cause.cost]
        run = next(iter(costs or found.runs))
        blocks = latency_blocks(run, read_histograms(self._directory, run))
        return tuple(block for block in blocks if isinstance(block, Histograms))

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


@dataclass(frozen=True, slots=True)
class _Latencies:
    """The mean latency of each run as a bar as wide as there is room, then the histograms of one."""

    runs: Sequence[Run]
    histograms: Sequence[Histograms]
    ascii_only: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("mean latency, and where it goes", "bold")
        yield Text()
        yield from latency_bars(self.runs, options.max_width, ascii_only=self.ascii_only)
        yield draw(self.histograms, ascii_only=self.ascii_only, color_of=flow_color)
