"""A run at a moment, as it is drawn: live, saved and replayed runs alike. Plain data, and pictures of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Literal

from rich.text import Text

from cephtui import units
from cephtui.analysis.detectors.ended import ended_word, ends_of, left_early
from cephtui.analysis.detectors.jobs import JobFigure, job_figures
from cephtui.analysis.runs.history import OF_NODES, History, TimeSeries
from cephtui.analysis.runs.stages import is_capped
from cephtui.analysis.verdicts.conditions import has_gap
from cephtui.analysis.views.live import LiveRun
from cephtui.frozen import dataclass
from cephtui.models import (
    ClusterSample,
    Finding,
    Interval,
    MachineUse,
    Mark,
    NodeResult,
    OsdSample,
    Run,
    Seconds,
    Stages,
    Total,
)
from cephtui.models.findings.measurement import STALLED
from cephtui.models.metrics import BY_NAME, DIRECTIONS, Headline, Metric
from cephtui.reports.words.stages import named_stages
from cephtui.reports.words.text import written
from cephtui.stats import Buckets, known_sum
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import ChartLine, Period, Picture
from cephtui.tui.charts.colors import FLOW_COLORS, OTHER_CLIENTS_COLOR, flow_color, node_color

_P99 = BY_NAME["latency_p99_seconds"]
_AHEAD = 1.1
_ZOOMS_SECONDS = (60.0, 15.0)
_WINDOWS_SECONDS = tuple(minutes * 60.0 for minutes in (1, 2, 4, 8, 15, 30, 60, 120, 240, 480, 960, 1440))


@dataclass(frozen=True, slots=True)
class NodeNow:
    """One node's newest figures."""

    name: str
    p99_seconds: float | None
    late: bool = False
    iops: float | None = None
    """IOPS over the whole run; None where that of the last second counts."""
    ended: str = ""
    """How its part ended: ``done``; of a node that broke off, with the moment: ``ended 0:12``."""
    left_early: bool = False
    machine: MachineUse | None = None
    """What the whole node did in the last second, or over the whole run; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Prefill:
    """How far the data is that is written before the benchmark."""

    bandwidth_bytes: float | None
    """Rate of the last second, all nodes together; None before the first."""
    written_bytes: int
    prefill_bytes: int
    """0 where it is not known."""
    left_seconds: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What is drawn of a run at a moment."""

    history: History
    current: Mapping[str, Interval | Total]
    """Figures by direction, of the last second or (``whole``) of the run."""
    nodes: tuple[NodeNow, ...]
    """Those of a run on several."""
    x_end: float
    """Where its axis of time ends, in seconds."""
    marks: tuple[tuple[float, str], ...] = ()
    whole: bool = False
    spans: tuple[Period, ...] = ()
    """What happened from when to when."""
    machine: MachineUse | None = None
    """What the node of a run on one did in the last second, or over the whole run."""
    cluster: ClusterSample | None = None
    """The cluster's newest answer."""
    osds: OsdSample | None = None
    """What the OSDs of the pool have counted last."""
    other_clients: TimeSeries = field(default_factory=TimeSeries)
    """Operations of other clients a second, with gaps where there were none."""
    other_clients_iops: float | None = None
    """Those of now; None without any."""
    stages: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Where the latency goes, by flow: the seconds of each stage by its name."""
    buckets: Mapping[str, Buckets] = field(default_factory=dict)
    """The I/Os of each flow by latency, of the whole run or since the ramp; in the ramp, those of the last second."""
    prefill: Prefill | None = None
    """The prefill, while that is in progress."""
    tool: str = ""
    """The tool in whose units the figures are written."""
    measured: frozenset[str] = frozenset()
    """The names of the metrics of which it has figures; as long as there are none, it may have all."""
    jobs: tuple[JobFigure, ...] = ()
    """Jobs that are compared with each other: what they did so far, or in the whole run."""

    seconds: Seconds | None = None
    """How the seconds of the whole run are spread."""
    run: Run | None = None
    """The run, where it is over."""
    has_gap: bool = False
    """Whether nothing completed in one of them: a tool may report a gap as one long time, with what came at its end."""

    @property
    def zooms(self) -> tuple[float | None, ...]:
        """What can be seen of its time: all (None), and so many seconds, of what is longer than that."""
        return (None, *(seconds for seconds in _ZOOMS_SECONDS if seconds < self.history.reached))

    def part(self, seconds: float | None, around: float | None = None) -> TimeSpan | None:
        """So many seconds of its time: the newest ones, or of a run that is over those ``around`` a moment.

        None where all of it is seen: of a run that is shorter, too.
        """
        if seconds is None or seconds not in self.zooms:
            return None
        reached = self.history.reached
        end = reached if around is None or not self.whole else min(reached, max(around + seconds / 2, seconds))
        return TimeSpan(end - seconds, end, reached)

    def written(self, headline: Headline) -> Headline:
        """A headline in the units in which the run's figures are written."""
        return replace(headline, metrics=tuple(written(self.tool, headline.metrics)))

    def has(self, *metrics: Metric) -> bool:
        """Whether it has figures of any of these."""
        return not self.measured or any(metric.name in self.measured for metric in metrics)


def window_seconds(reached: float, expected: float) -> float:
    """How much time the axis of a run in progress has: all that is expected of a short one, of a longer one what has
    been measured and some more, in steps.
    """
    step = next((step for step in _WINDOWS_SECONDS if step >= _AHEAD * reached), reached)
    return max(reached, min(expected, step))


def shown_of_live(state: LiveRun) -> Shown:
    """A run in progress."""
    late = state.latest.missing if state.latest else ()
    flows = state.latest.flows if state.latest else {}
    measured = state.phase != "prepare" and state.latest is not None
    reached = state.latest.elapsed_seconds if measured and state.latest else 0.0
    names = [node.node for node in state.step.nodes]
    left_early_names = {node_end.node for node_end in state.left_early}
    findings = state.findings()
    nodes = [
        NodeNow(
            name,
            None if ended else state.node_p99(name),
            late=name in late,
            ended=ended_word(ended) if ended else "",
            left_early=name in left_early_names,
            machine=state.machines.get(name),
        )
        for name, ended in ((name, state.ended.get(name)) for name in names)
    ]
    return Shown(
        state.history,
        flows if measured else {},
        tuple(nodes) if len(names) > 1 else (),
        window_seconds(reached, state.expected_seconds or 0.0),
        tuple((mark.elapsed_seconds, mark.text) for mark in state.marks if mark.elapsed_seconds is not None),
        spans=spans_of(findings),
        machine=nodes[0].machine if len(nodes) == 1 else None,
        cluster=state.cluster,
        osds=state.osds,
        other_clients=state.course.other_operations.curve,
        other_clients_iops=load.iops if (load := state.course.other_operations.now) else None,
        stages=_stages(state.course.stages.now.items(), findings),
        buckets=_buckets_of(state.history, flows),
        prefill=_prefill_of(state) if state.phase == "prepare" else None,
        tool=state.run.tool,
        measured=_measured(state.history),
        jobs=tuple(state.jobs.figures()),
    )


def _measured(history: History) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name, curve in history.curves.items() if curve.since(0.0))


def _buckets_of(history: History, flows: Mapping[str, Interval]) -> dict[str, Buckets]:
    """Of each flow that has a histogram."""
    of_flows: dict[str, Buckets] = {name: done.buckets for name, done in history.done.items()}
    if not of_flows:
        of_flows = {name: interval.latency_buckets or {} for name, interval in flows.items()}
    return {name: buckets for name, buckets in of_flows.items() if buckets}


def _prefill_of(state: LiveRun) -> Prefill:
    write = state.latest.write if state.latest else None
    eta_seconds = state.progress().eta_seconds
    return Prefill(write.bandwidth_bytes if write else None, state.prepared_bytes, state.prefill_bytes, eta_seconds)


def shown_of_run(run: Run, history: History, marks: Sequence[Mark], other_clients: TimeSeries | None = None) -> Shown:
    """A run that is over; ``other_clients`` is what these did beside it, where that was seen."""
    names = [node.node for node in run.nodes]
    ended_words = {node_end.node: ended_word(node_end) for node_end in left_early(ends_of(run), names)}
    run_marks = [mark for mark in marks if mark.run == run.run and mark.elapsed_seconds is not None]
    return Shown(
        history,
        run.summary.flows,
        tuple(_node_in_all(node, ended_words.get(node.node, "")) for node in run.nodes) if len(names) > 1 else (),
        history.reached,
        tuple((mark.elapsed_seconds or 0.0, mark.text) for mark in run_marks),
        whole=True,
        other_clients=other_clients or TimeSeries(),
        spans=spans_of(run.findings),
        stages=_stages(run.stages.items(), run.findings),
        machine=run.nodes[0].machine if len(names) == 1 else None,
        buckets={name: total.latency_buckets for name, total in run.summary.flows.items() if total.latency_buckets},
        tool=run.tool,
        measured=_measured(history),
        jobs=tuple(job_figures(run.nodes)),
        seconds=run.seconds,
        run=run,
        has_gap=has_gap(run),
    )


def _stages(by_flow: Iterable[tuple[str, Stages]], findings: Sequence[Finding]) -> dict[str, Mapping[str, float]]:
    return {flow: named_stages(stages, flow, is_capped=is_capped(findings)) for flow, stages in by_flow}


def spans_of(findings: Sequence[Finding]) -> tuple[Period, ...]:
    """The findings that have a time, as they are drawn: stalls first, because room for texts is scarce."""
    timed = sorted(
        (f for f in findings if f.from_seconds is not None), key=lambda finding: finding.code != STALLED.code
    )
    return tuple(
        Period(f.from_seconds or 0.0, f.to_seconds or 0.0, f.label or f.code, f.code == STALLED.code) for f in timed
    )


def first_event(shown: Shown) -> float | None:
    """When the first stall began, else another finding, else when the first mark was set; None without any."""
    moments = [span.begin_seconds for span in shown.spans] + sorted(at for at, _ in shown.marks)
    return next(iter(moments), None)


def _node_in_all(node: NodeResult, ended: str) -> NodeNow:
    """A node's figures over the whole run, reads and writes together; the worse p99. ``ended`` as in NodeNow."""
    totals = [total for total in (node.summary.read, node.summary.write) if total]
    flows = {name: total for name, total in node.summary.flows.items() if name in OF_NODES}
    p99 = _P99.combined(flows)
    iops = known_sum(total.iops for total in totals) if totals else 0.0
    return NodeNow(node.node, p99, iops=iops, ended=ended, left_early=bool(ended), machine=node.machine)


@dataclass(frozen=True, slots=True)
class RangeSinceRamp:
    """A figure since the ramp, reads and writes together: what every widget says of its mean and range."""

    least: float
    mean: float
    greatest: float


def range_since_ramp(shown: Shown, headline: Headline) -> RangeSinceRamp | None:
    """The figure of a headline since the ramp; None before there is any, or where reads and writes do not add up."""
    name, history = headline.metric.name, shown.history
    whole = shown.seconds
    if whole and whole.metric == name:
        return RangeSinceRamp(0.0 if shown.has_gap else whole.least, whole.mean, whole.greatest)
    flows = DIRECTIONS if headline.sums else headline.metric.names_of_whole(history.directions)
    curves = [history.total(name)] if headline.sums else [history.curves.get(f"{flow}.{name}") for flow in flows]
    measured = [curve for curve in curves if curve]
    extent = (measured[0] if len(measured) == 1 else TimeSeries()).since(history.ramp_until)
    if extent is None:
        return None
    least, mean, greatest = extent
    exact = history.mean(name, flows)
    return RangeSinceRamp(0.0 if shown.has_gap and headline.sums else least, mean if exact is None else exact, greatest)


def _has_both(directions: Collection[str]) -> bool:
    return all(direction in directions for direction in DIRECTIONS)


def chart_lines(shown: Shown, figure: Headline, *, by_node: bool) -> list[ChartLine]:
    """The lines of the main chart."""
    history = shown.history
    if by_node and len(history.nodes) > 1:
        return [
            ChartLine(node, tuple(curves[figure.of_node.name].points()), node_color(number))
            for number, (node, curves) in enumerate(history.nodes.items())
        ]
    lines = [
        ChartLine(f"{d}{word}", tuple(curve.points()), flow_color(d), _fill(figure, metric))
        for d, word, metric in _drawn(history.directions, figure)
        if (curve := history.curves.get(f"{d}.{metric.name}"))
    ]
    if figure.sums and _has_both(history.directions):
        total = history.total(figure.metric.name)
        lines.append(ChartLine("total", tuple(total.points()), FLOW_COLORS["total"]))
    if figure.name == "iops" and any(shown.other_clients.values()):
        lines.append(ChartLine("other clients", tuple(shown.other_clients.points()), OTHER_CLIENTS_COLOR))
    return lines


def _drawn(flows: Collection[str], figure: Headline) -> list[tuple[str, str, Metric]]:
    """Each flow with the word and the metric that is drawn of it."""
    return [
        (name, word, metric)
        for name in flows
        for word, metric in figure.parts.items()
        if name in metric.names_of_whole(flows)
    ]


def _fill(figure: Headline, metric: Metric) -> Literal["none", "zero", "band"]:
    """A sum of reads and writes is an area, and what else is drawn of a flow the edge of a band."""
    return "band" if metric != figure.metric else "zero" if figure.sums else "none"


def picture(
    shown: Shown, figure: Headline, part: TimeSpan | None = None, *, by_node: bool = False, least_gutter: int = 0
) -> Picture:
    """The main chart; of a ``part`` of the time, or of all."""
    figure = shown.written(figure)
    return Picture(
        tuple(chart_lines(shown, figure, by_node=by_node)),
        figure.metric.as_text,
        x_end=shown.x_end,
        part=part,
        shade_until=shown.history.ramp_until or None,
        marks=shown.marks,
        spans=shown.spans,
        binary=figure.metric.binary,
        is_log=figure.metric.is_log,
        least_gutter=least_gutter,
        named=by_node and len(shown.history.nodes) > 1,
    )


def chart_titles(shown: Shown, figure: Headline, *, by_node: bool) -> list[Callable[[], Text]]:
    """The titles of a chart, the longest first: of the same flow the second figure does without its name, then both.

    Each is made when it is called: that of a long run takes milliseconds.
    """
    if by_node and len(shown.history.nodes) > 1:
        return [partial(_title_by_node, shown, figure)]
    longer = (partial(chart_title, shown, figure, left_out) for left_out in range(5))
    return [*longer, partial(_shortest_title, shown, figure)]


def chart_title(shown: Shown, figure: Headline, left_out: int = 0) -> Text:
    """The current figures, in the colours of the lines: the chart's legend.

    Of 1 on it leaves out that they are of the whole run, of 2 on a flow that was named before, of 3 on the only one;
    of 4 on, its name is short.
    """
    figure = shown.written(figure)
    text = Text(f" {figure.title if left_out < 4 else figure.short} ")
    values: dict[str, float | None] = {
        f"{d}{word}": metric.of(shown.current[d]) for d, word, metric in _drawn(shown.current, figure)
    }
    if figure.sums and _has_both(shown.current):
        values = {"total": known_sum(values[direction] for direction in DIRECTIONS), **values}
    flows = {name.split()[0] for name in values}
    for number, (name, value) in enumerate(values.items()):
        flow, _, part = name.partition(" ")
        is_known = len(flows) == 1 and left_out >= (2 if number else 3)
        words = (part if is_known else name, figure.metric.as_text(value))
        text.append(f" {' '.join(filter(None, words))} ", flow_color(flow))
    if figure.name == "iops" and shown.other_clients_iops is not None:
        text.append(f" other clients {units.iops(shown.other_clients_iops)}/s ", OTHER_CLIENTS_COLOR)
    if shown.whole and values and not left_out:
        text.append(" over the whole run ")
    elif figure.name == "iops" and (since_ramp := range_since_ramp(shown, figure)):
        text.append(f" mean {figure.metric.as_text(since_ramp.mean)} ")
    return text


def _shortest_title(shown: Shown, figure: Headline) -> Text:
    """The sum of reads and writes, or the last figure of each flow, of which the first letter stands for the name."""
    figure = shown.written(figure)
    if figure.sums:
        total = known_sum(figure.metric.of(shown.current[name]) for name in DIRECTIONS if name in shown.current)
        return Text(f" {figure.short}  {figure.metric.as_text(total)} ")
    metric = figure.metrics[-1]
    text = Text(f" {metric.title} ")
    for name in metric.names_of_whole(shown.current):
        text.append(f" {name[0]} {metric.text_of(shown.current[name])} ", flow_color(name))
    return text


def _title_by_node(shown: Shown, figure: Headline) -> Text:
    figure = shown.written(figure)
    return Text(f" {figure.title} {'' if len(figure.metrics) == 1 else f'{figure.of_node.title} '}by node ")
