"""One run in full: figures, latencies, jobs, ceilings, conditions, marks and commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from cephtui import units
from cephtui.analysis.runs.history import History
from cephtui.analysis.verdicts.conditions import image_limits_text, spread_of_seconds
from cephtui.frozen import dataclass
from cephtui.models import Ceiling, Mark, Model, NodeEnvironment, Run, Sample, Seconds, Total
from cephtui.models.metrics import BY_NAME, LIVE, METRICS
from cephtui.reports.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Table,
    Text,
    View,
    cut_rows,
    document,
    naming_runs,
    words,
)
from cephtui.reports.drawn.sparks import spark
from cephtui.reports.styles import OUTCOMES
from cephtui.reports.views.jobs import job_blocks
from cephtui.reports.views.latency import latency_blocks
from cephtui.reports.views.osds import osd_blocks
from cephtui.reports.views.runs import mark_words, runs_blocks, runs_sheet, title_of_runs
from cephtui.reports.views.stages import stage_blocks
from cephtui.reports.words.cutting import cut, joined
from cephtui.reports.words.facts import before_the_run, facts, head_line, osds, pool_facts, space_used, start_of
from cephtui.reports.words.machine import busy_text
from cephtui.reports.words.run import ceiling_lines, client_facts, reported_text
from cephtui.reports.words.slowest import slowest_lines
from cephtui.reports.words.text import (
    IN_TABLE,
    began,
    conditions,
    imported,
    latency_word,
    link_figures,
    live_columns,
    written,
)
from cephtui.sessions import store
from cephtui.sessions.ceilings import ceilings_of
from cephtui.sessions.histograms import read_histograms
from cephtui.stats import Buckets
from cephtui.tools import TOOLS

_IOPS, _BANDWIDTH = BY_NAME["iops"], BY_NAME["bandwidth_bytes"]
_IN_JSON = "listed with --json"
_IN_FULL = tuple(metric for metric in METRICS if metric not in IN_TABLE)
"""Only in the full view of a run, with the minimum latency and the standard deviation."""
_TABLED = {metric.percent for metric in IN_TABLE}
_SPARK_COLUMNS = 60
_SAID_BELOW = ("date", "target", "cluster", "pool", "imported")
"""Facts that the conditions of the run have in full."""
Named = Iterator[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class RunDetails:
    """Data of a run that is not in its own file."""

    marks: Sequence[Mark] = ()
    ceilings: Sequence[Ceiling] | None = None
    """None where they were not looked for."""
    history: History | None = None
    histograms: Mapping[str, Buckets] | None = None
    """Those of the whole run by flow."""


def run_view(
    run: Run, marks: Sequence[Mark], details: Callable[[], RunDetails], lines: Callable[[], Iterable[Model | Sample]]
) -> View:
    """A run with its ``details``, which are read when they are shown; ``lines`` are those of JSON before it."""
    return View(
        document=lambda: run_document(run, details()),
        lines=lambda: chain(lines(), [run]),
        sheet=lambda: runs_sheet([run], marks),
    )


def run_document(run: Run, details: RunDetails) -> Document:
    """One run in full, for people."""
    return document(title_of_runs([run]), *_blocks(run, details))


def _blocks(run: Run, details: RunDetails) -> Iterator[Block]:
    above = {name: text for name, text in facts([run]).items() if name not in _SAID_BELOW}
    yield Facts(tuple(above.items()), words(head_line([run]), style="strong"))
    yield from runs_blocks([run])
    yield Text("")
    for part in (latency_blocks(run, details.histograms or {}), job_blocks(run)):
        if blocks := list(part):
            yield from [*blocks, Text("")]
    if len(run.nodes) > 1:
        yield _nodes(run)
    yield from stage_blocks({"": run})
    yield from osd_blocks({"": run})
    yield Facts((*_figures(run, details), *_conditions(run, details.marks), *_environment(run)))
    yield from _commands(run)
    yield Facts(tuple(_course(run, details.history)))


def _figures(run: Run, details: RunDetails) -> Named:
    """Latencies of what has no histogram, how the seconds are spread, and the ceilings."""
    for direction, total in run.summary.flows.items():
        if of_link := link_figures(total):
            yield f"{direction} link", of_link
        elif direction not in (details.histograms or {}) and _has_more(total):
            yield f"{direction} {latency_word([run.tool], [direction])}", _latencies(total)
        if by_tool := reported_text(total):
            yield f"{direction} by {run.tool}", words(by_tool, style="dim")
    if seconds := spread_of_seconds(run):
        yield "seconds", _spread_of(seconds, run.tool)
    for number, line in enumerate(slowest_lines(run.slowest)):
        yield "" if number else "slowest", line
    ceilings = details.ceilings
    times = [metric for metric in METRICS if metric.unit == "s"]
    is_timed = any(metric.of(total) is not None for total in run.summary.flows.values() for metric in times)
    if run.summary.flows and ceilings is not None and not TOOLS[run.tool].measures_network and (ceilings or is_timed):
        for number, line in enumerate(ceiling_lines(ceilings, run)):
            yield "" if number else "ceilings", naming_runs(line)


def _conditions(run: Run, marks: Sequence[Mark]) -> Named:
    """Target, options, the cluster, and the marks made meanwhile."""
    yield "target", run.target
    yield "options", conditions(run)
    if run.cluster:
        yield "cluster", _cluster(run)
    shown, more = cut((mark for mark in marks if mark.run == run.run), "marks")
    yield from (("mark", mark_words(mark)) for mark in shown)
    if more:
        yield "", more


def _environment(run: Run) -> Named:
    """The hardware and software of each node."""
    environments, more = cut(run.environment.items(), "nodes")
    for node, environment in environments:
        parts = (
            environment.os,
            f"kernel {environment.kernel}" if environment.kernel else "",
            environment.cpu,
            *_nics(environment),
            environment.tools.get(run.tool),
            environment.filesystem,
            environment.device,
            f"kernel settings: {len(environment.settings)} ({_IN_JSON})" if environment.settings else "",
        )
        yield node, ", ".join(fact for fact in parts if fact)
    if more:
        yield "", more


def _has_more(total: Total) -> bool:
    """Whether it has a latency that is not in the table."""
    latencies = (total.latency_min_seconds, total.latency_stddev_seconds, *(metric.of(total) for metric in _IN_FULL))
    return any(seconds is not None for seconds in latencies)


def _latencies(total: Total) -> str:
    named = {f"p{percent:g}": seconds for percent, seconds in total.percentiles().items() if percent not in _TABLED}
    whole = {**{metric.title: metric.of(total) for metric in _IN_FULL if metric.percent}, **named}
    figures = {
        "min": total.latency_min_seconds,
        **dict(sorted(whole.items(), key=lambda figure: float(figure[0][1:]))),
        "max": total.latency_max_seconds,
        "stddev": total.latency_stddev_seconds,
    }
    return ", ".join(f"{title} {units.latency(seconds)}" for title, seconds in figures.items())


def _spread_of(seconds: Seconds, tool: str) -> str:
    (metric,) = written(tool, [BY_NAME[seconds.metric]])
    least, greatest, stddev = map(metric.as_text, (seconds.least, seconds.greatest, seconds.stddev))
    share = f" ({units.percent(100 * seconds.stddev / seconds.mean)})" if seconds.mean else ""
    return f"{metric.title} from {least} to {greatest}, standard deviation {stddev}{share}"


def _nics(environment: NodeEnvironment) -> list[str]:
    """``eth0 10.0 Gbit/s MTU 9000``; ``eth0 limited by tc: tbf rate 80Mbit``."""
    speeds = {name: f" {units.bit_rate(speed)}" for name, speed in environment.nic_bits_per_second.items()}
    mtus = {name: f" MTU {size}" for name, size in environment.nic_mtu.items()}
    nics = [f"{name}{speeds.get(name, '')}{mtus.get(name, '')}" for name in speeds | mtus]
    limits = [f"{nic} limited by tc: {shaping}" for nic, shaping in environment.nic_shaping.items()]
    shown, more = cut([*limits, *nics], "NICs")
    return [*shown, more]


def _commands(run: Run) -> Iterator[Block]:
    """Each node's command, and how busy the node was with it."""
    results, more = cut(run.nodes, "nodes")
    for result in results:
        yield Code(result.node if len(run.nodes) > 1 else "", result.command, is_command=True)
        if busy := tuple(client_facts(run, result).items()):
            yield Facts(busy)
    if more:
        yield Text(more)
    elif not run.nodes and run.command:
        yield Code("", run.command, is_command=True)


def _nodes(run: Run) -> Table:
    """Each node's figures, and where there is room when it started and ended."""
    figures, is_watched = live_columns(run.tool), any(result.machine for result in run.nodes)
    heads = (
        Column("node", is_whole=True),
        Column(""),
        *(Column(title, "r") for title in figures),
        *([Column("cpu", "r", rank=1)] if is_watched else []),
        Column("began", "r", rank=1),
        Column("ended", "r", rank=1),
        Column("outcome"),
    )
    rows: list[tuple[Cell, ...]] = []
    for result in run.nodes:
        totals: Mapping[str, Total | None] = result.summary.flows or {"": None}
        busy = [busy_text(result.machine)] if is_watched else []
        moments = began(result.started_seconds), units.latency(result.ended_seconds)
        outcome = words(result.outcome or "", style=OUTCOMES.get(result.outcome or "", ""))
        for direction, total in totals.items():
            texts = [metric.text_of(total) for metric in written(run.tool, LIVE)]
            rows.append((result.node, direction, *texts, *busy, *moments, outcome))
    return Table(heads, cut_rows(rows, "nodes"))


def _course(run: Run, history: History | None) -> Named:
    """When it was measured, and how it went over time."""
    lasted = run.duration_seconds or (history.reached if history else 0.0)  # of a run whose console ended first
    yield "started", f"{start_of(run)}, {units.duration(lasted)}"
    if run.imported_from:
        yield "imported", imported(run).removeprefix("imported ")
    for metric in (_IOPS, _BANDWIDTH) if history and history.directions else ():
        assert history
        values = history.total(metric.name).values()
        if any(value is not None for value in values):
            yield metric.title, words(spark(values, _SPARK_COLUMNS), style="ok")
            return


def _cluster(run: Run) -> str:
    cluster = run.cluster
    assert cluster is not None
    options = len(cluster.config or ()) + cluster.config_more
    in_json = [f"options in ceph config: {options:,}"] if options else []
    in_json += [f"pool settings: {len(cluster.pool_settings)}"] if cluster.pool_settings else []
    states = joined((f"{number} {state}" for state, number in cluster.pg_states.items()), "states")
    parts = [
        f"ceph {cluster.ceph_version}" if cluster.ceph_version else "",
        before_the_run([cluster.health or "", osds(cluster), f"PGs: {states}" if states else ""]),
        joined((f"{number} {name}" for name, number in cluster.osds_by_class.items()), "classes"),
        f"pool: {pool_facts(cluster)}" if cluster.pool else "",
        space_used(cluster),
        f"OSD queue {cluster.osd_op_queue}" if cluster.osd_op_queue else "",
        f"mclock profile {cluster.osd_mclock_profile}" if "mclock" in (cluster.osd_op_queue or "") else "",
        f"image features: {joined(cluster.image_features, 'features')}" if cluster.image_features else "",
        f"image limits: {image_limits_text(cluster)}" if cluster.image_limits else "",
        f"{', '.join(in_json)} ({_IN_JSON})" if in_json else "",
        *map(_denied, cut(cluster.no_permission, "commands")[0]),
    ]
    return "; ".join(part for part in parts if part)


def _denied(command: str) -> str:
    needs = ", needs mon 'allow r'" if command.startswith("ceph config ") else ""
    return f"{command}: denied by the cephx caps{needs}"


def saved_run_view(directory: Path, number: int) -> View:
    """One run in full, as it is saved now, with its ceilings; as JSON Lines with its samples. Raises StoreError."""
    run = store.read_run(directory, number)
    marks = [mark for mark in store.read_marks(directory) if mark.run == number]

    def details() -> RunDetails:
        return RunDetails(
            marks,
            ceilings_of(directory, run),
            store.read_history(directory, number),
            read_histograms(directory, run),
        )

    def samples() -> Iterator[Model | Sample]:
        yield from store.read_samples(directory, number)
        for model in store.state_files():
            yield from store.read_states(directory, number, model)
        yield from marks

    return run_view(run, marks, details, samples)
