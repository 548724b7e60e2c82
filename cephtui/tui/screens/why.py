"""Why a cluster is slow: what the runs of a session show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from cephtui.analysis.verdicts.diagnosis import Diagnosis
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME
from cephtui.reports.blocks import Histogram, Histograms
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.charts import ROWS, draw_histograms
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
from cephtui.tui.widgets.saved_run import SavedRun
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.stages import latency_bars
from cephtui.tui.widgets.title_bar import TitleBar

_BESIDE_FROM = 120
"""Columns of the screen."""
_HIGHEST = 16
"""Rows of a histogram where there is much room."""


class WhyScreen(CopyingScreen):
    """The causes, most important first, and below them, where there is room, the run in which the first one is largest;
    from the console it is measured, too."""

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
    WhyScreen #causes { width: 3fr; min-width: 80; }
    WhyScreen.-beside #where { display: block; }
    WhyScreen #where > Static { height: auto; }
    """

    def __init__(self, directory: Path, measure: Callable[[], object] | None = None) -> None:
        """``directory`` is that of the session; ``measure`` is None where nothing can be measured."""
        super().__init__()
        self._directory, self._measure = directory, measure
        self._runs: Sequence[Run] = ()
        self._latencies: _Latencies | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(f"session {self._directory.name}   why is it slow?")
        with Horizontal():
            yield Vertical(Scrolled(), SavedRun(), id="causes")
            yield VerticalScroll(Static(), id="where")
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.set_focus(self.query_one(Scrolled))
        self.query_one(SavedRun).fit(0)
        self.query_one(Scrolled).update("reading the session ...")
        self._read()

    @on(events.Resize)
    def _fit(self) -> None:
        """The latencies have a place of their own where the causes keep that of the smallest terminal."""
        self.set_class(self.size.width >= _BESIDE_FROM, "-beside")
        self.call_after_refresh(self._share_room)

    @work
    async def _read(self) -> None:
        ascii_only = profile_of(self).ascii_only
        try:
            causes, run, self._latencies = await asyncio.to_thread(self._found, ascii_only)
        except StoreError as error:
            self.query_one(Scrolled).update(Text(str(error)))
            return
        self.query_one(Scrolled).update(causes)
        self.query_one(SavedRun).draw_run(self._directory, run, BY_NAME["latency_mean_seconds"])
        self._fit()

    def _found(self, ascii_only: bool) -> tuple[RenderableType, Run, _Latencies]:
        """The causes; the run to be shown; the latencies that they are of."""
        self._runs = store.read_runs(self._directory)[0]
        view, found, _ = saved_diagnosis_view(self._directory)
        run = _worst(found)
        charts = [chart for block in latency_blocks(run, read_histograms(self._directory, run))
                  if isinstance(block, Histograms) for chart in block.charts]  # fmt: skip
        return draw(view.document(), ascii_only=ascii_only), run, _Latencies(found.runs, charts, 0, ascii_only)

    def _share_room(self) -> None:
        """The causes come first; what they leave is for the run."""
        causes, latencies = self.query_one_optional(Scrolled), self._latencies
        if causes is None or latencies is None:
            return  # the screen is being left, or is not read yet
        where, column = self.query_one("#where"), self.query_one("#causes")
        has_room = self.query_one(SavedRun).fit(column.size.height - causes.query_one(Static).outer_size.height)
        causes.styles.height = "auto" if has_room else "1fr"
        where.query_one(Static).update(replace(latencies, rows=where.size.height))

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


def _worst(found: Diagnosis) -> Run:
    """The run in which the first cause costs the most, else the first that shows a cause, else the first."""
    costs = [cause.cost.run for cause in found.causes if cause.cost]
    shown = [evidence.run for cause in found.causes for evidence in cause.evidence if evidence.run in found.runs]
    return next(iter([*costs, *shown, *found.runs]))


@dataclass(frozen=True, slots=True)
class _Latencies:
    """The mean latency of each run as a bar as wide as there is room, then the histograms of one, in so many rows."""

    runs: Sequence[Run]
    histograms: Sequence[Histogram]
    rows: int
    ascii_only: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        free = self.rows - len(console.render_lines(Group(*self._parts(options.max_width, ROWS)), options))
        more = free // max(1, len(self.histograms))
        yield from self._parts(options.max_width, max(ROWS, min(_HIGHEST, ROWS + more)))

    def _parts(self, columns: int, rows: int) -> Iterable[RenderableType]:
        yield Text("mean latency, and where it goes", "bold")
        yield Text()
        yield from latency_bars(self.runs, columns, ascii_only=self.ascii_only)
        yield draw_histograms(self.histograms, color_of=flow_color, ascii_only=self.ascii_only, rows=rows)
