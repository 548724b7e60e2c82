"""A curve of runs: a figure over what was varied, of a load the latency over the throughput."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cephtui.analysis.views.curve import Curve, axes_or_depth, curve_of, family
from cephtui.models import Mark, Run
from cephtui.models.metrics import LIVE, Metric
from cephtui.paths import packaged_presets_dir, user_presets_dir
from cephtui.presets import find_presets, headline_metric
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.curve import curve_view, knee_words, knees_of, points_blocks, title_of_curve
from cephtui.tui.charts.curves import hockey_stick, over_axis
from cephtui.tui.charts.plot import Plot, PlotChart
from cephtui.tui.copying import COPY, CopyingScreen, MarkdownSnippet, snippet_of
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.title_bar import TitleBar

Source: TypeAlias = Callable[[], tuple[Sequence[Run], Sequence[Mark]]]
"""The runs and marks of a session, as they are now."""
_LOOKED_AT_SECONDS = 1.0


class CurveScreen(CopyingScreen):
    """The curve above, what it shows in words below, and its points where there is room."""

    BINDINGS = [
        key("v", "next_metric", "metric", "switch the metric; a load sweep begins with latency over throughput", "view",
            shown=True),
        key("x,tab", "next_axis", "axis", "switch the axis, where several options were varied", "view", shown=True,
            display="x"),
        COPY,
        key("escape", "dismiss", "back", "leave the curve", "more", shown=True),
        key("q", "app.quit", "quit", "quit", "more"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    CurveScreen { layout: vertical; }
    CurveScreen #words { height: auto; max-height: 40%; padding: 0 1; border-top: solid $primary-darken-1; }
    CurveScreen #points { display: none; height: auto; max-height: 40%; padding: 0 1; scrollbar-size-vertical: 1; }
    CurveScreen.-tall #points, CurveScreen.-huge #points { display: block; }
    """

    def __init__(self, run: Run, source: Source) -> None:
        super().__init__()
        self._run, self._source = run, source
        self._material: tuple[Sequence[Run], Sequence[Mark]] = (), ()
        self._axis = self._figure = 0
        catalogue = find_presets(packaged_presets_dir(), user_presets_dir())
        self._headline: Callable[[Run], Metric] = partial(headline_metric, catalogue)

    def compose(self) -> ComposeResult:
        yield TitleBar()
        yield PlotChart()
        yield Static(id="words")
        with VerticalScroll(id="points"):
            yield Static()
        yield KeyBar("copy")

    def on_mount(self) -> None:
        self._look()
        self.set_interval(_LOOKED_AT_SECONDS, self._look)

    def names_to_hide(self) -> Names:
        """Names of its runs."""
        return names_in(self._material[0])

    def handout(self) -> Callable[[], MarkdownSnippet]:
        curve, metric = self._curve(), self._throughput()

        return partial(snippet_of, "the curve", curve_view(curve, metric))

    def _look(self) -> None:
        """Draw again where a run has begun or ended, or a mark was set."""
        runs, marks = self._source()
        material = family(self._run, runs), tuple(marks)
        if material != self._material:
            self._material = material
            self._draw()

    def _curve(self) -> Curve:
        axes = axes_or_depth(*self._material)
        return curve_of(self._material[0], axes[self._axis % len(axes)], self._material[1])

    def _throughput(self) -> Metric:
        """The metric that the preset is about; IOPS where that is the latency."""
        headline = self._headline(self._run)
        return headline if headline.unit != "s" else LIVE[0]

    def _draw(self) -> None:
        curve = self._curve()
        title, plot, metric = self._chosen(curve)
        chart = self.query_one(PlotChart)
        chart.border_title = _legend(title, plot)
        chart.show(plot, "no finished run has this figure yet")
        self.query_one(TitleBar).show(f"session {self._run.session}   {title_of_curve(curve)}")
        self.query_one("#words", Static).update(_said(curve, self._throughput()))
        drawn = draw([*points_blocks(curve, metric)], ascii_only=profile_of(self).ascii_only)
        self.query_one("#points Static", Static).update(drawn)

    def _chosen(self, curve: Curve) -> tuple[str, Plot | None, Metric]:
        """What is drawn: its title, its plot, and the metric in the table."""
        rate = self._throughput()
        number = self._figure % (len(LIVE) + curve.axis.load)
        if curve.axis.load and number == 0:
            return f"latency (log) over {rate.title}", hockey_stick(curve, rate), rate
        headline = self._headline(self._run)
        figures = [headline, *(metric for metric in LIVE if metric != headline)]
        metric = figures[(number - curve.axis.load) % len(figures)]
        return f"{metric.full_title} over {curve.axis.title}", over_axis(curve, metric), metric

    def action_next_metric(self) -> None:
        self._figure += 1
        self._draw()

    def action_next_axis(self) -> None:
        if len(axes_or_depth(*self._material)) < 2:
            self.notify(f"only the {self._curve().axis.title} was varied")
            return
        self._axis += 1
        self._figure = 0
        self._draw()


def _said(curve: Curve, metric: Metric) -> Text:
    """What a load curve shows; of several series a line each."""
    words_by_series = knee_words(curve.axis, knees_of(curve), metric)
    if len(words_by_series) == 1:
        first, *notes = words_by_series[0][1]
        return Text("\n").join([Text(first, "bold"), *map(Text, notes)])
    return Text("\n").join(Text.assemble((name, "bold"), f": {lines[0]}") for name, lines in words_by_series)


def _legend(title: str, plot: Plot | None) -> Text:
    """The title, and each line in its colour."""
    text = Text(f" {title} ")
    for line in plot.lines if plot else ():
        text.append(f"  {line.label}", line.color)
    return text.append(" ")
