"""A run over time, drawn in panels: charts, heat maps, large digits, nodes, the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from cephtui import units
from cephtui.models.metrics import DIRECTIONS, FLUSH, HEADLINE_BY_NAME, HEADLINES, LIVE, Headline, Metric
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.layout import PanelLayout, lay_out

if TYPE_CHECKING:
    from cephtui.analysis.runs.history import History
    from cephtui.tui.charts.axes import TimeSpan
    from cephtui.tui.charts.chart import Chart
    from cephtui.tui.widgets.now import Now
    from cephtui.tui.widgets.shown import Shown
    from cephtui.tui.widgets.side_panels import Side, SidePanel
    from cephtui.tui.widgets.sparkline import Spark

_Panel = TypeVar("_Panel", bound=Widget)


class RunView(Container):
    """Draws what it is shown; which metric and which panels is the user's choice, and kept from run to run.

    What draws is imported and mounted after the first frame, and the other panels when they are first needed.
    """

    figure = reactive(0, init=False)
    """The metric of the main chart, by its place in HEADLINES."""
    by_node = reactive(False, init=False)
    empty = reactive("", init=False)
    """Shown where there is no run."""
    chosen: reactive[Mapping[str, bool]] = reactive(dict, init=False)
    """The panels that the user has switched on or off."""
    zoom: reactive[float | None] = reactive(None, init=False)
    """So many seconds are drawn; None for all. All are drawn of a run that is shorter."""

    def __init__(self, empty: str = "") -> None:
        super().__init__()
        self.shown: Shown | None = None
        self.around: float | None = None
        """The second around which a part of a run that is over is drawn; None for its end."""
        self.laid_out = PanelLayout(HEADLINES[0].name)
        self._preset = ""
        self._with_stages: History | None = None
        """Of the run whose stages are known or were."""
        self.set_reactive(RunView.empty, empty)

    def compose(self) -> ComposeResult:
        with Horizontal(id="over"), Vertical(id="charts"):
            yield Static(id="empty", markup=False)
        yield Static(id="stages")

    def on_mount(self) -> None:
        self.clear()
        self.call_after_refresh(self._mount_panels)

    def _mount_panels(self) -> None:
        """The chart, what stands beside it, and a row of sparklines for each direction."""
        from cephtui.tui.charts.chart import Chart
        from cephtui.tui.charts.colors import FLOW_COLORS
        from cephtui.tui.widgets.side_panels import Side
        from cephtui.tui.widgets.sparkline import Sparks

        if self.is_attached:
            self.query_one("#charts").mount(Chart(id="chart"))
            self.query_one("#over").mount(Side())
            self.mount_all(Sparks(name, FLOW_COLORS[name], id=f"{name}-sparks") for name in DIRECTIONS)
            self._redraw()

    def on_resize(self) -> None:
        self._redraw()

    @property
    def headline(self) -> Headline:
        """The metric of the main chart: the chosen one, if the run has figures of it."""
        chosen, shown = HEADLINES[self.figure], self.shown
        if shown is None or shown.has(*chosen.metrics):
            return chosen
        return next((headline for headline in HEADLINES if shown.has(*headline.metrics)), chosen)

    def follow(self, preset: str, metric: Metric) -> None:
        """Choose the metric that a preset is about; what the user chose since stays for further runs of it."""
        if preset != self._preset:
            self._preset = preset
            self.figure = [headline.metric for headline in HEADLINES].index(metric)

    def toggle(self, name: str) -> bool:
        """Switch a panel on or off; whether it is on then."""
        self.chosen = {**self.chosen, name: name not in self.laid_out.names}
        return self.chosen[name]

    @property
    def part(self) -> TimeSpan | None:
        """The part of the time that is drawn; None where all is, or nothing."""
        return self.shown.part(self.zoom, self.around) if self.shown else None

    @property
    def can_zoom(self) -> bool:
        """Whether there is a part of its time to be drawn."""
        return self.shown is not None and len(self.shown.zooms) > 1

    def next_zoom(self) -> None:
        """Draw less of the time; after the least, all."""
        zooms = self.shown.zooms if self.shown else (None,)
        now = zooms.index(self.zoom) if self.zoom in zooms else 0
        self.zoom = zooms[(now + 1) % len(zooms)]

    def move(self, seconds: float) -> None:
        """Draw a part so many seconds later, within the run."""
        if self.shown and (part := self.part):
            half = part.seconds / 2
            self.around = max(half, min(self.shown.history.reached - half, part.begin + half + seconds))
            self._redraw()

    def clear(self) -> None:
        """Show nothing but how to begin."""
        self.shown, self.around = None, None
        if self._chart:
            self._chart.clear()
            self._chart.border_title = f" {self.headline.title} "
        self._say(self.empty)
        for widget in self.query("#side, #below, #stages, Sparks"):
            widget.display = False

    def show(self, shown: Shown) -> None:
        self.shown = shown
        if self._chart is None or not self.query_one("#charts").display:
            return  # it is drawn as soon as there is one, and no more once its screen is being left
        self.laid_out = lay_out(*self.size, self.headline.name, self.chosen, _available(shown))
        self._say(_prefill_text(shown) if shown.prefill else "")
        self._show_charts(shown, self._chart)
        self._show_side(shown)
        self._show_stages(shown)
        self._show_sparks(shown)

    def _say(self, text: str | Text) -> None:
        """Show a text in the place of the chart; an empty one shows the chart."""
        empty = self.query_one("#empty", Static)
        empty.display = bool(text)
        if self._chart:
            self._chart.display = not text
        if text:
            empty.update(text)

    # ------------------------------------------------------------------ charts

    @property
    def _chart(self) -> Chart | None:
        """The chart of the chosen metric; None before the first frame."""
        return cast("Chart | None", self.query_one_optional("#chart"))

    def _show_charts(self, shown: Shown, chart: Chart) -> None:
        from cephtui.tui.charts.axes import TimeSpan
        from cephtui.tui.charts.chart import Chart
        from cephtui.tui.charts.heat_map import GUTTER, HeatMap

        main, below = self.laid_out.main, self.laid_out.below
        chart.display = main != "heat" and not shown.prefill
        if chart.display:
            gutter = GUTTER if below == ("heat",) else 0
            self._draw(chart, shown, HEADLINE_BY_NAME[main], gutter)
        lower = (*below, "heat") if main == "heat" else below
        for headline in HEADLINES:
            if lower_chart := self._panel("below", Chart, f"{headline.name}-chart", visible=headline.name in lower):
                self._draw(lower_chart, shown, headline)
        for direction in (*DIRECTIONS, FLUSH):
            heat = shown.history.heat.get(direction)
            make = partial(HeatMap, direction)
            view = self._panel("below", make, f"{direction}-heat", visible="heat" in lower and bool(heat))
            if view and heat:
                view.show(heat.columns(), self.part or TimeSpan(0.0, shown.x_end), shown.marks)
        if row := self.query_one_optional("#below"):
            row.display = bool(lower) and not shown.prefill
            row.set_class(main == "heat", "-alone").set_class(lower == ("heat",), "-one-axis")

    def _draw(self, chart: Chart, shown: Shown, headline: Headline, gutter: int = 0) -> None:
        from cephtui.tui.charts.chart import RAMP
        from cephtui.tui.charts.ink import ink_of
        from cephtui.tui.widgets.shown import chart_titles, picture

        chart.show_title(*chart_titles(shown, headline, by_node=self.by_node))
        chart.border_subtitle = f" {ink_of(chart).glyphs.hatch} {RAMP} " if shown.history.ramp_until else ""
        chart.show(picture(shown, headline, self.part, by_node=self.by_node, least_gutter=gutter))

    def _panel(self, parent: str, make: Callable[..., _Panel], name: str, *, visible: bool) -> _Panel | None:
        """The widget of a name if it is to be visible, made and mounted where this is the first time."""
        widget = cast("_Panel | None", self.query_one_optional(f"#{name}"))
        if widget is None and visible:
            widget = make(id=name)
            self._holder(parent).mount(widget)
        if widget is not None:
            widget.display = visible
        return widget if visible else None

    def _holder(self, name: str) -> Widget:
        """What holds some panels."""
        holder = self.query_one_optional(f"#{name}")
        if holder is None:
            holder = Horizontal(id=name)
            self.query_one("#charts").mount(holder)
        return holder

    # ------------------------------------------------------------------ beside and below them

    def _show_side(self, shown: Shown) -> None:
        from cephtui.tui.widgets.now import Now
        from cephtui.tui.widgets.side_panels import KINDS

        panels: dict[str, Now | SidePanel] = {}
        if now := self._panel("side", Now, "now", visible="now" in self.laid_out.side):
            now.show(shown, self.headline)
            panels["now"] = now
        for name, make in KINDS.items():
            if panel := self._panel("side", make, f"{name}-panel", visible=name in self.laid_out.side):
                panel.show(shown)
                panels[name] = panel
        cast("Side", self.query_one("#side")).share(panels, self.laid_out.side_columns)

    def _show_stages(self, shown: Shown) -> None:
        """Once they were known in a run, their row stays: the charts keep their size."""
        row, goes_on = self.query_one("#stages", Static), shown.history is self._with_stages
        row.display = bool(shown.stages) or (goes_on and not shown.whole)
        self._with_stages = shown.history if row.display else None
        if row.display:
            from cephtui.tui.widgets.stages import stages_text

            row.update(stages_text(shown.stages, *self.size, ascii_only=profile_of(self).ascii_only))

    def _show_sparks(self, shown: Shown) -> None:
        """The metrics of which no chart is visible."""
        from cephtui.tui.widgets.sparkline import Sparks

        charts = {
            metric
            for name in self.laid_out.names
            if name in HEADLINE_BY_NAME
            for metric in HEADLINE_BY_NAME[name].metrics
        }
        beside = [metric for metric in LIVE if metric not in charts and shown.has(metric)]
        for direction in DIRECTIONS:
            sparks = self.query_one(f"#{direction}-sparks", Sparks)
            sparks.display = direction in shown.history.directions and bool(beside)
            sparks.show([_spark(shown, direction, metric) for metric in beside])

    def show_nodes(self, shown: Shown) -> None:
        """Draw the nodes alone."""
        if panel := self.query_one_optional("#nodes-panel"):
            cast("SidePanel", panel).show(shown)

    def show_silence(self, seconds: float) -> None:
        """The newest sample is overdue, and so many seconds old; 0 where it is not."""
        if panel := self.query_one_optional("#now"):
            cast("Now", panel).show_silence(seconds)

    def _redraw(self) -> None:
        if self.shown:
            self.show(self.shown)
        else:
            self.clear()

    watch_figure = watch_by_node = watch_chosen = watch_empty = watch_zoom = _redraw


def _available(shown: Shown) -> set[str]:
    """The names of the panels for which a run has data."""
    from cephtui.tui.widgets.side_panels import has_spread

    has = {"now", *(headline.name for headline in HEADLINES if shown.has(*headline.metrics))}
    has |= {"heat"} if any(shown.history.heat.values()) else set()
    has |= {"nodes"} if shown.nodes else set()
    has |= {"jobs"} if shown.jobs else set()
    has |= {"spread"} if has_spread(shown) else set()
    over = shown.run
    return has | ({"cluster"} if shown.cluster or (over and (over.cluster or over.findings)) else set())


def _spark(shown: Shown, direction: str, metric: Metric) -> Spark:
    from cephtui.analysis.runs.history import TimeSeries
    from cephtui.reports.drawn.sparks import extent
    from cephtui.reports.words.text import written
    from cephtui.tui.widgets.sparkline import Spark

    (metric,) = written(shown.tool, [metric])
    curve = shown.history.curves.get(f"{direction}.{metric.name}") or TimeSeries()
    values, now = tuple(curve.values()), metric.text_of(shown.current.get(direction))
    return Spark(metric.short or metric.title, now, values, extent(values, metric.as_text))


def _prefill_text(shown: Shown) -> Text:
    """How fast the data is written that the benchmark needs, and how long that takes."""
    fill = shown.prefill
    assert fill
    text = Text.assemble("Prefilling: ", (units.bandwidth(fill.bandwidth_bytes), "bold"))
    text.append(f"\n{units.size_of(fill.written_bytes, fill.prefill_bytes)} written")
    return text.append(f", {units.duration(fill.left_seconds)} left") if fill.left_seconds else text
