"""The run in progress, or the last one: chart, sparklines and how far it is."""

from __future__ import annotations

import time

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Label, Static

from cephtui import units
from cephtui.live import DIRECTIONS, Live, LiveRun, Series
from cephtui.models import ClusterSample, Event, Notice, Run
from cephtui.report import cluster_line
from cephtui.runner import Inbox
from cephtui.sparks import spark
from cephtui.tui.chart import Chart, Line
from cephtui.tui.sparkline import Spark

# from the Okabe-Ito palette, which the colour-blind can tell apart
COLORS = {"total": "#bbbbbb", "read": "#56b4e9", "write": "#e69f00"}
DRAWS_PER_SECOND = 4
_CHART_POINTS = 2000
_FORMATS = {
    "bandwidth_bytes": ("bw", units.bandwidth),
    "latency_mean_seconds": ("mean", units.latency),
    "latency_p99_seconds": ("p99", units.latency),
}
_PHASES = {"prepare": "filling", "ramp": "ramp-up", "run": "running"}
_BAR_COLUMNS = 24
_NODE_SPARK_COLUMNS, _NODE_FIGURES_COLUMNS = 12, 26
_STALE_SECONDS = 5.0


def _shown(series: Series) -> tuple[tuple[float, float | None], ...]:
    """The series with no more points than a chart can be drawn from quickly; stalls and peaks stay."""
    step = -(-len(series) // _CHART_POINTS)
    if step <= 1:
        return tuple(series)
    kept: list[tuple[float, float | None]] = []
    for start in range(0, len(series), 2 * step):
        part = [p for p in series[start : start + 2 * step] if p[1] is not None]
        kept += sorted({min(part, key=lambda p: p[1] or 0.0), max(part, key=lambda p: p[1] or 0.0)}) if part else []
    return tuple(kept)


def chart_lines(state: LiveRun) -> list[Line]:
    """IOPS over time: the total, and in a mixed run reads and writes apart."""
    directions = state.directions
    lines = [Line(d, _shown(state.series[f"{d}.iops"]), COLORS[d]) for d in directions]
    if len(directions) > 1:
        lines.insert(0, Line("total", _shown(state.total_iops()), COLORS["total"]))
    return lines


def chart_title(state: LiveRun) -> str:
    """The current figures, in the colours of the lines: the chart's legend."""
    if state.latest is None or not state.directions:
        return " IOPS "
    found = {d: i for d in state.directions if (i := getattr(state.latest, d))}
    parts = [f"[{COLORS[d]}]{d} {units.iops(i.iops)}[/]" for d, i in found.items()]
    if len(found) > 1:
        parts.insert(0, f"[{COLORS['total']}]total {units.iops(sum(i.iops for i in found.values()))}[/]")
    mean = state.mean_iops()
    return f" IOPS  {'  '.join(parts)}" + (f"  mean {units.iops(mean)} " if mean is not None else " ")


class Progress(Static):
    """One row: phase, how far, how long still; or what became of the run."""

    def show(self, state: LiveRun | None, since_sample_seconds: float) -> None:
        """Draw a run in progress."""
        if state is None:
            self.update(Text("press 1 to 6, or enter, to run", style="dim"))
            return
        progress = state.progress(since_sample_seconds)
        text = Text.assemble((f"#{state.run.run} {state.run.preset} ", "bold"), f"{_PHASES[progress.phase]} ")
        if progress.fraction is not None or progress.phase == "prepare":
            done = round((progress.fraction or 0.0) * _BAR_COLUMNS)
            text.append("━" * done, "bold green").append("─" * (_BAR_COLUMNS - done), "dim")
        text.append(f" {self._how_far(state, progress.elapsed_seconds)}")
        if progress.eta_seconds:
            text.append(f", {units.duration(progress.eta_seconds)} left")
        if state.notice:
            text.append(f"  {state.notice}", "bold yellow")
        self.update(text)

    @staticmethod
    def _how_far(state: LiveRun, elapsed: float) -> str:
        if state.phase == "prepare":
            written = f"{units.size(state.prepared_bytes)} of {units.size(state.wanted_bytes)}"
            return f"{written}, flushing" if state.prepared_bytes >= state.wanted_bytes else written
        expected = state.expected_seconds
        return f"{elapsed:.0f} s" if expected is None else f"{min(elapsed, expected):.0f} of {expected:.0f} s"

    def show_end(self, run: Run) -> None:
        """Draw what became of a run, and what limits its figures."""
        style = "bold green" if run.outcome == "ok" else "bold red"
        text = Text.assemble((f"#{run.run} {run.preset} ", "bold"), (str(run.outcome), style))
        notes = ([run.error] if run.error else []) + [finding.text for finding in run.findings]
        for note in notes:
            text.append(f"  ! {note}", "yellow")
        self.update(text)


class NodesNow(Static):
    """Each node's last second, where there are several; one that says nothing is marked."""

    def show(self, state: LiveRun) -> None:
        """Draw the nodes of a run in progress."""
        table = Table.grid(padding=(0, 1), expand=True)
        columns = min(_NODE_SPARK_COLUMNS, max(0, self.size.width - _NODE_FIGURES_COLUMNS))
        for justify in ("left", "right", "left", "right"):
            table.add_column(no_wrap=True, justify=justify)
        for node in state.step.nodes:
            history = [value for _, value in state.node_iops.get(node.node, [])]
            late = state.latest is not None and node.node in state.latest.missing
            table.add_row(
                Text(node.node, "bold"),
                Text("no word" if late else units.iops(history[-1] if history else None), "yellow" if late else ""),
                Text(spark(history[-columns:], columns) if columns else "", "green"),
                units.latency(state.node_p99(node.node)),
            )
        self.border_title = " nodes: IOPS, p99 "
        self.update(table)


class ClusterNow(Static):
    """What the cluster says of itself, in one row, with its age where that is more than usual."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: ClusterSample | None = None
        self._since = 0.0

    def clear(self) -> None:
        """Forget the last run's."""
        self._shown = None
        self.display = False

    def show(self, state: LiveRun, now: float) -> None:
        """Draw the latest answer."""
        if state.cluster is None:
            return
        if state.cluster is not self._shown:
            self._shown, self._since = state.cluster, now
        age = now - self._since
        text = Text(cluster_line(state.cluster))
        text.append(f"  {units.duration(age)} ago", "bold yellow" if age > _STALE_SECONDS else "dim")
        self.display = True
        self.update(text)


class LiveView(Container):
    """Listens to the runner, and draws the run in progress or the last one."""

    class Began(Message):
        """A run has begun."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    class Ended(Message):
        """A run has ended."""

        def __init__(self, run: Run) -> None:
            super().__init__()
            self.run = run

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self._inbox = inbox
        self._live = Live()
        self._received = time.monotonic()

    def compose(self) -> ComposeResult:
        """The chart, a row of sparklines for each direction, the progress."""
        with Horizontal(id="over"):
            yield Chart(id="chart")
            yield NodesNow(id="nodes")
        for direction in DIRECTIONS:
            with Horizontal(id=f"{direction}-sparks", classes="sparks"):
                yield Label(direction)
                for figure, (label, _) in _FORMATS.items():
                    yield Spark(label, id=f"{direction}-{figure}")
        yield ClusterNow(id="cluster")
        yield Progress(id="progress")

    def on_mount(self) -> None:
        """Nothing has run yet."""
        self._chart.border_title = " IOPS "
        self._show_directions([])
        self.query_one(NodesNow).display = False
        self.query_one(ClusterNow).clear()
        self.query_one(Progress).show(None, 0.0)
        self.set_interval(1 / DRAWS_PER_SECOND, self.catch_up)

    @property
    def _chart(self) -> Chart:
        return self.query_one("#chart", Chart)

    def catch_up(self) -> None:
        """Take in what has happened since the last call, and draw it."""
        events = self._inbox.drain()
        for event in events:
            self._take(event)
        if state := self._live.current:
            self.query_one(ClusterNow).show(state, time.monotonic())
            if events:
                self._received = time.monotonic()
                self._draw(state)
            self.query_one(Progress).show(state, time.monotonic() - self._received)

    def _take(self, event: Event) -> None:
        if isinstance(event, Notice) and self._live.current is None:
            self.notify(event.text, markup=False)
        elif isinstance(event, Run) and event.outcome is None:
            for spark in self.query(Spark):
                spark.show((), units.DASH)
            self.query_one(NodesNow).display = len(event.nodes) > 1
            self.query_one(ClusterNow).clear()
            self.post_message(self.Began(event))
        elif isinstance(event, Run):
            if self._live.current:
                self._draw(self._live.current)
                self._draw_end(self._live.current, event)
            self.query_one(Progress).show_end(event)
            self.post_message(self.Ended(event))
        self._live.take(event)

    def announce(self, text: str) -> None:
        """Say what is being done before a run begins."""
        self.query_one(Progress).update(Text(text, style="dim"))

    def say(self, text: str) -> None:
        """Put a word beside the progress of the run, until its next sample."""
        if self._live.current:
            self._live.current.notice = text

    def _draw(self, state: LiveRun) -> None:
        self._show_directions(state.directions)
        self.query_one(NodesNow).show(state)
        self._chart.border_title = chart_title(state)
        self._chart.show(
            chart_lines(state),
            y_format=units.iops,
            x_end=self._x_end(state),
            shade_until=state.ramp_until or None,
        )
        for direction in state.directions:
            interval = getattr(state.latest, direction) if state.latest else None
            for figure, (_, as_text) in _FORMATS.items():
                values = [value for _, value in _shown(state.series[f"{direction}.{figure}"])]
                current = as_text(getattr(interval, figure)) if interval else units.DASH
                self.query_one(f"#{direction}-{figure}", Spark).show(values, current)

    def _draw_end(self, state: LiveRun, run: Run) -> None:
        """The figures of the whole run instead of those of its last second."""
        totals = {d: t for d in DIRECTIONS if (t := getattr(run.summary, d))}
        parts = [f"[{COLORS[d]}]{d} {units.iops(total.iops)}[/]" for d, total in totals.items()]
        if len(parts) > 1:
            parts.insert(0, f"[{COLORS['total']}]total {units.iops(sum(t.iops for t in totals.values()))}[/]")
        if parts:
            self._chart.border_title = f" IOPS  {'  '.join(parts)}  over the whole run "
        for direction, total in totals.items():
            for figure, (_, as_text) in _FORMATS.items():
                values = [value for _, value in _shown(state.series.get(f"{direction}.{figure}", []))]
                self.query_one(f"#{direction}-{figure}", Spark).show(values, as_text(getattr(total, figure)))

    @staticmethod
    def _x_end(state: LiveRun) -> float:
        reached = state.latest.elapsed_seconds if state.latest and state.phase != "prepare" else 0.0
        return max(reached, state.expected_seconds or 0.0)

    def _show_directions(self, directions: list[str]) -> None:
        """Where nothing has run the rows for writes are there, empty, so that nothing jumps at the start."""
        for direction in DIRECTIONS:
            shown = direction in (directions or ["write"])
            self.query_one(f"#{direction}-sparks").display = shown
