"""A run over time, drawn: one main chart, a heat map, sparklines, the nodes. Live, saved and replayed runs alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.history import Curve, History
from cephtui.analysis.live import LiveRun
from cephtui.models import Finding, Interval, Mark, NodeResult, Run, Total
from cephtui.models.metrics import DIRECTIONS, HEADLINES, LIVE, Headline, Metric
from cephtui.reports.sparks import spark
from cephtui.stats import known_sum
from cephtui.tui.charts.chart import Chart, Line, Picture
from cephtui.tui.charts.heat_map import GUTTER, HeatMap
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.sparkline import Spark, Sparks

# from the Okabe-Ito palette, which the colour-blind can distinguish
COLORS = {"total": "#bbbbbb", "read": "#56b4e9", "write": "#e69f00", "read p99": "#0072b2", "write p99": "#d55e00"}
NODE_COLORS = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#bbbbbb")
_NODE_SPARK_COLUMNS, _NODE_FIGURES_COLUMNS = 12, 26
_NODES_MOST = 50
"""Where the room is not known yet."""


@dataclass(frozen=True, slots=True)
class NodeNow:
    """One node's newest figures."""

    name: str
    p99_seconds: float | None
    late: bool = False
    iops: float | None = None
    """Of the whole run; None is that of the last second."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is drawn of a run at a moment."""

    history: History
    current: Mapping[str, Interval | Total]
    """By direction: those of the last second, or (``whole``) those of the run."""
    nodes: tuple[NodeNow, ...]
    x_end: float
    marks: tuple[tuple[float, str], ...] = ()
    mean_iops: float | None = None
    whole: bool = False
    spans: tuple[tuple[float, float, str], ...] = ()
    """What happened from when to when."""


def of_live(state: LiveRun) -> Shown:
    """A run in progress."""
    late = state.latest.missing if state.latest else ()
    found = state.latest.flows if state.latest else {}
    measured = state.phase != "prepare" and state.latest is not None
    reached = state.latest.elapsed_seconds if measured and state.latest else 0.0
    names = [node.node for node in state.step.nodes]
    return Shown(
        state.history,
        found if measured else {},
        tuple(NodeNow(name, state.node_p99(name), name in late) for name in names) if len(names) > 1 else (),
        max(reached, state.expected_seconds or 0.0),
        tuple((mark.elapsed_seconds, mark.text) for mark in state.marks if mark.elapsed_seconds is not None),
        state.mean_iops(),
        spans=spans_of(state.course.findings()),
    )


def of_saved(run: Run, history: History, marks: Sequence[Mark]) -> Shown:
    """A run that is over."""
    own = [mark for mark in marks if mark.run == run.run and mark.elapsed_seconds is not None]
    return Shown(
        history,
        run.summary.flows,
        tuple(_node_in_all(node) for node in run.nodes) if len(run.nodes) > 1 else (),
        history.reached,
        tuple((mark.elapsed_seconds or 0.0, mark.text) for mark in own),
        whole=True,
        spans=spans_of(run.findings),
    )


def spans_of(findings: Sequence[Finding]) -> tuple[tuple[float, float, str], ...]:
    """Those that have a time, as they are drawn: stalls first, because room for texts is scarce."""
    timed = sorted((f for f in findings if f.from_seconds is not None), key=lambda finding: finding.code != "stalled")
    return tuple((f.from_seconds or 0.0, f.to_seconds or 0.0, f.label or f.code) for f in timed)


def _node_in_all(node: NodeResult) -> NodeNow:
    """A node's figures over the whole run, reads and writes together; the worse p99."""
    totals = [total for total in (node.summary.read, node.summary.write) if total]
    p99 = max((p for total in totals if (p := total.latency_p99_seconds) is not None), default=None)
    return NodeNow(node.node, p99, iops=known_sum(total.iops for total in totals) if totals else 0.0)


def _color(line: str) -> str:
    """Of a line of the main chart; what is neither read nor written has one of its own by its name."""
    return COLORS.get(line) or NODE_COLORS[sum(line.encode()) % len(NODE_COLORS)]


def _has_both(directions: Collection[str]) -> bool:
    return all(direction in directions for direction in DIRECTIONS)


def chart_lines(shown: Shown, figure: Headline, *, by_node: bool) -> list[Line]:
    """The lines of the main chart."""
    history = shown.history
    if by_node and len(history.nodes) > 1:
        return [
            Line(node, tuple(curves[figure.of_node.name].points()), NODE_COLORS[number % len(NODE_COLORS)])
            for number, (node, curves) in enumerate(history.nodes.items())
        ]
    lines = [
        Line(f"{d}{word}", tuple(curve.points()), _color(f"{d}{word}"))
        for d in history.directions
        for word, metric in figure.parts.items()
        if (curve := history.curves.get(f"{d}.{metric.name}"))
    ]
    if figure.sums and _has_both(history.directions):
        total = history.total(figure.metric.name)
        lines.insert(0, Line("total", tuple(total.points()), COLORS["total"]))
    return lines


def picture(shown: Shown, figure: Headline, *, by_node: bool = False, least_gutter: int = 0) -> Picture:
    """The main chart."""
    return Picture(
        tuple(chart_lines(shown, figure, by_node=by_node)),
        figure.metric.as_text,
        x_end=shown.x_end,
        shade_until=shown.history.ramp_until or None,
        marks=shown.marks,
        spans=shown.spans,
        binary=figure.metric.binary,
        least_gutter=least_gutter,
        named=by_node,
    )


def chart_title(shown: Shown, figure: Headline, *, by_node: bool) -> Text:
    """The current figures, in the colours of the lines: the chart's legend."""
    text = Text(f" {figure.title} ")
    if by_node and len(shown.history.nodes) > 1:
        return text.append("by node " if len(figure.metrics) == 1 else f"{figure.of_node.title} by node ")
    values: dict[str, float | None] = {
        f"{d}{word}": metric.of(now) for d, now in shown.current.items() for word, metric in figure.parts.items()
    }
    if figure.sums and _has_both(shown.current):
        values = {"total": known_sum(values[direction] for direction in DIRECTIONS), **values}
    for name, value in values.items():
        text.append(f" {name} {figure.metric.as_text(value)} ", _color(name))
    if shown.whole and values:
        text.append(" over the whole run ")
    elif figure.name == "iops" and shown.mean_iops is not None:
        text.append(f" mean {units.iops(shown.mean_iops)} ")
    return text


def nodes_table(shown: Shown, width: int, rows: int, *, ascii_only: bool) -> Table:
    """Each node's last second; where there is no room for all, the slowest ones."""
    table = Table.grid(padding=(0, 1), expand=True)
    for justify in ("left", "right", "left", "right"):
        table.add_column(no_wrap=True, justify=justify)
    columns = min(_NODE_SPARK_COLUMNS, max(0, width - _NODE_FIGURES_COLUMNS))
    none, rows = Curve(), rows if rows > 0 else _NODES_MOST
    iops = {node.name: shown.history.nodes.get(node.name, {}).get("iops") or none for node in shown.nodes}
    nodes = list(shown.nodes)
    if len(nodes) > rows:
        slowest = sorted(nodes, key=lambda node: (not node.late, iops[node.name].last() or 0.0))[: rows - 1]
        nodes = [node for node in nodes if node in slowest]
    for node in nodes:
        values = iops[node.name].values()[-columns:] if columns else []
        now = iops[node.name].last() if node.iops is None else node.iops
        table.add_row(
            Text(node.name, "bold"),
            Text("no data", "bold yellow") if node.late else Text(units.iops(now)),
            Text(spark(values, columns, ascii_only=ascii_only) if columns else "", "green"),
            units.latency(node.p99_seconds),
        )
    if len(nodes) < len(shown.nodes):
        table.add_row(Text(f"+{len(shown.nodes) - len(nodes)}", "dim"), Text("faster", "dim"), "", "")
    return table


class NodesNow(Static):
    """Each node's last second, where there are several; one that reports nothing is marked."""

    def on_mount(self) -> None:
        self.border_title = " nodes: IOPS, p99 "
        self._shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self.display = bool(shown.nodes)
        self.on_resize()

    def on_resize(self) -> None:
        """How many there is room for."""
        if self._shown and self._shown.nodes:
            width, rows = self.content_size
            self.update(nodes_table(self._shown, width, rows, ascii_only=profile_of(self).ascii_only), layout=False)


class RunView(Container):
    """Draws what it is shown; which figure and how is the user's choice, and kept from run to run."""

    figure = reactive(0, init=False)
    by_node = reactive(False, init=False)
    heat = reactive(False, init=False)

    def __init__(self) -> None:
        super().__init__()
        self.shown: Shown | None = None

    def compose(self) -> ComposeResult:
        """The chart with the heat map below it and the nodes beside it, and a row of sparklines for each direction."""
        with Horizontal(id="over"):
            with Vertical(id="charts"):
                yield Chart(id="chart")
                for direction in DIRECTIONS:
                    yield HeatMap(id=f"{direction}-heat")
            yield NodesNow(id="nodes")
        for direction in DIRECTIONS:
            yield Sparks(direction, id=f"{direction}-sparks")

    def on_mount(self) -> None:
        """Nothing to show yet."""
        for direction in DIRECTIONS:
            self.query_one(
                f"#{direction}-heat"
            ).border_title = f" {direction} latency: the brighter, the more completions "
        self.clear()

    def clear(self) -> None:
        """Show nothing; the rows for writes are there, empty, so that nothing jumps at the start."""
        self.shown = None
        self.query_one("#chart", Chart).border_title = f" {HEADLINES[self.figure].title} "
        self.query_one("#chart", Chart).clear()
        self.query_one(NodesNow).display = False
        for direction in DIRECTIONS:
            self.query_one(f"#{direction}-sparks").display = direction == "write"
            self.query_one(f"#{direction}-heat").display = False
        for each in self.query(Sparks):
            each.show([Spark(metric.short or metric.title, units.DASH) for metric in self._metrics_beside()])

    def show(self, shown: Shown) -> None:
        self.shown = shown
        self._draw_chart(shown)
        self.query_one(NodesNow).show(shown)
        directions = shown.history.directions
        for direction in DIRECTIONS:
            has = direction in directions
            self.query_one(f"#{direction}-sparks").display = has or (not directions and direction == "write")
            if has:
                self._draw_sparks(shown, direction)
            heat = shown.history.heat.get(direction)
            view = self.query_one(f"#{direction}-heat", HeatMap)
            view.display = self.heat and bool(heat)
            if self.heat and heat:
                view.show(heat.columns(), shown.x_end, shown.marks)
        maps = sum(bool(shown.history.heat.get(direction)) for direction in DIRECTIONS) if self.heat else 0
        self.query_one("#charts").set_class(maps > 0, "-heat").set_class(maps > 1, "-two")

    def _draw_chart(self, shown: Shown) -> None:
        figure, chart = HEADLINES[self.figure], self.query_one("#chart", Chart)
        chart.border_title = chart_title(shown, figure, by_node=self.by_node).markup
        chart.show(picture(shown, figure, by_node=self.by_node, least_gutter=GUTTER if self.heat else 0))

    def _draw_sparks(self, shown: Shown, direction: str) -> None:
        now = shown.current.get(direction)
        found = []
        for metric in self._metrics_beside():
            curve = shown.history.curves.get(f"{direction}.{metric.name}") or Curve()
            found.append(Spark(metric.short or metric.title, metric.text_of(now), tuple(curve.values())))
        self.query_one(f"#{direction}-sparks", Sparks).show(found)

    def _metrics_beside(self) -> list[Metric]:
        """The figures that the chart does not show."""
        return [metric for metric in LIVE if metric != HEADLINES[self.figure].metric]

    def _redraw(self) -> None:
        if self.shown:
            self.show(self.shown)
        else:
            self.clear()

    watch_figure = watch_by_node = watch_heat = _redraw
