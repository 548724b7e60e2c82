"""Plans, runs and listings as Rich renderables, for the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.batches import Batch, group
from cephtui.analysis.conditions import differences
from cephtui.analysis.figures import figures, why_no_verdict
from cephtui.analysis.history import History
from cephtui.analysis.live import Live, LiveRun
from cephtui.analysis.marks import in_order, marks_between
from cephtui.analysis.sides import Side, finding_texts
from cephtui.analysis.verdict import Reason
from cephtui.models import (
    ClusterSample,
    Difference,
    Figure,
    Info,
    Mark,
    Node,
    NodeEnvironment,
    NodeRow,
    Plan,
    PoolActivity,
    PresetRow,
    Run,
    SessionRow,
    Step,
    Total,
)
from cephtui.models.metrics import BY_NAME, LIVE
from cephtui.nodes.state import NodeState
from cephtui.printable import one_line, printable
from cephtui.reports.sparks import spark
from cephtui.sessions.store import Undo
from cephtui.targets.leftovers import describe, way_of
from cephtui.tools import TOOLS

_LEFT_MOST = 200
"""Rows of what was left behind; nobody reads more."""
T = TypeVar("T")
OUTCOME_STYLES = {
    "ok": "green",
    "failed": "bold red",
    "refused": "bold red",
    "stopped": "yellow",
    "lost": "yellow",
}
_SPARK_WIDTH = 24
_LIVE_COLUMNS = tuple(metric.title for metric in LIVE)
_LISTED_MOST = 100
"""Lines of one kind, nodes or findings, that are shown: how many more there are is said."""
_CELL_MOST = 2000
"""Characters of a text in a table."""
_ENVIRONMENT = re.compile(r"^(.*? )?env (?:CEPH_\S+=\S+ |'CEPH_[^']*' )+")


def _table(*columns: str, right: Iterable[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        figure = column in right
        table.add_column(column, justify="right" if figure else "left", overflow="fold", no_wrap=figure)
    return table


def _add(table: Table, *cells: RenderableType) -> None:
    """A row; text of others must not be taken for markup, and is measured as it is shown."""
    table.add_row(*(_text(cell) if isinstance(cell, str) else cell for cell in cells))


def notes(run: Run) -> list[str]:
    """What went wrong in a run, and what limits its figures."""
    shown, more = cut((finding.text for finding in run.findings), "findings")
    return [shorter(text) for text in (*([run.error] if run.error else []), *shown, *([more] if more else []))]


def shorter(text: str) -> str:
    """Cut off where it is longer than anybody reads."""
    return text if len(text) <= _CELL_MOST else f"{text[:_CELL_MOST]} ..."


def _text(text: str, style: str = "") -> Text:
    return Text(printable(shorter(text)), style=style)


def cut(items: Iterable[T], what: str) -> tuple[list[T], str]:
    """As many as are shown, and in words how many more there are; empty where these are all."""
    found = list(items)
    rest = len(found) - _LISTED_MOST
    return (found[:_LISTED_MOST], f"... and {rest:,} more {what}") if rest > 0 else (found, "")


def joined(texts: Iterable[str], what: str) -> str:
    """On one line, between commas."""
    shown, more = cut(texts, what)
    return ", ".join(shown) + (f" {more}" if more else "")


def conditions(step: Step | Run) -> str:
    """What was asked for, in one line: ``4k randwrite, depth 64, jobs 8, 60 s``."""
    try:
        return TOOLS[step.tool].bind(step.options).describe()
    except (LookupError, ValueError, OverflowError):  # of a tool that this version does not know, or changed by hand
        return joined((f"{name}={value}" for name, value in step.options.items()), "options")


# ---------------------------------------------------------------------------------------------- plans


def plan(value: Plan) -> RenderableType:
    """All that will happen, in order."""
    rows: list[RenderableType] = [Text(text) for text in pool_use(value.pool_use)]
    for number, step in enumerate(value.steps, 1):
        repeat = f", repeat {step.repeat}" if step.repeat > 1 else ""
        what = f"{conditions(step)}, {step.target}{repeat}"
        rows.append(Text.assemble((f"{number}. {step.preset} ", "bold"), what))
        for node in step.nodes:
            rows += [Text(f"   {node.node}: writes: {w.what}{_bytes(w.bytes)}") for w in node.writes]
            commands = [short_command(c, step.tool) for c in (node.prepare_command, node.command) if c]
            rows += [Text(f"   {node.node}$ {command}", style="cyan") for command in commands]
    fill = sum(step.prepare_seconds for step in value.steps)
    note = f", of which about {units.duration(fill)} to fill the target (at 200 MB/s)" if fill else ""
    rows.append(Text(f"takes about {units.duration(value.duration_seconds)}{note}"))
    rows.append(Text(f"the session grows by about {units.size(value.session_bytes)}"))
    return Group(*rows)


def short_command(command: str, tool: str) -> str:
    """A tool's command for eyes."""
    return TOOLS[tool].short_command(command) if tool in TOOLS else command


def tool_command(command: str, tool: str) -> str:
    """The same without the environment variables for the Ceph access, which fill a screen."""
    return _ENVIRONMENT.sub("", short_command(command, tool), count=1)


def pool_use(value: PoolActivity | None) -> list[str]:
    """Who else uses the pool."""
    if value is None:
        return []
    return [f"pool {value.pool}: {value.text}"]


def _bytes(number: int | None) -> str:
    return f", {units.size(number)}" if number is not None else ""


# ---------------------------------------------------------------------------------------------- live


def live(value: Live, since_sample_seconds: float) -> RenderableType:
    """What is running: which step, how far, and the current figures."""
    state = value.current
    if state is None:
        return Text()
    progress = state.progress(since_sample_seconds)
    place = f"({value.place}) {conditions(state.step)} on {state.step.target}"
    heading = Text.assemble((f"{state.run.preset} ", "bold"), place)
    bar = Table.grid(padding=(0, 1))
    _add(
        bar,
        Text(progress.phase.ljust(7), style="cyan"),
        ProgressBar(total=1.0, completed=progress.fraction or 0.0, width=30, pulse=progress.fraction is None),
        Text(_progress_text(state, progress.elapsed_seconds, progress.eta_seconds)),
    )
    rows: list[RenderableType] = [heading, bar, *_current(state), *_nodes_now(state)]
    if state.cluster:
        rows.append(Text(cluster_line(state.cluster), style="cyan"))
    rows += [Text(f"! {finding.text}", style="yellow") for finding in state.course.findings()[-_LIVE_FINDINGS:]]
    if state.notice:
        rows.append(Text(state.notice, style="yellow"))
    return Group(*rows)


def _progress_text(state: LiveRun, elapsed: float, eta: float | None) -> str:
    if state.phase == "prepare" and state.wanted_bytes:
        done = f"{units.size(state.prepared_bytes)} of {units.size(state.wanted_bytes)} written"
    else:
        done = units.duration(elapsed)
    return done + (f", {units.duration(eta)} left" if eta is not None else "")


def _current(state: LiveRun) -> list[RenderableType]:
    if state.latest is None or state.phase == "prepare":
        return []
    table = _table("", *_LIVE_COLUMNS, "", right=_LIVE_COLUMNS)
    for direction, interval in state.latest.flows.items():
        history = state.history.curves[f"{direction}.iops"].values()
        figures = [metric.text_of(interval) for metric in LIVE]
        _add(table, direction, *figures, Text(spark(history[-_SPARK_WIDTH:], _SPARK_WIDTH), style="green"))
    return [table]


def _nodes_now(state: LiveRun) -> list[RenderableType]:
    """Each node's last second, where there are several; one that is late says so."""
    if len(state.step.nodes) < 2 or state.latest is None or state.phase == "prepare":
        return []
    table = _table("node", *_LIVE_COLUMNS, "", right=_LIVE_COLUMNS)
    for node in state.step.nodes:
        sample = state.nodes.get(node.node)
        late = "" if node.node not in state.latest.missing else "no word"
        parts = list(sample.flows.values()) if sample else []
        if not parts:
            _add(table, node.node, *[units.DASH] * len(LIVE), late)
        for interval in parts:
            _add(table, node.node, *[metric.text_of(interval) for metric in LIVE], Text(late, style="yellow"))
    return [table]


def cluster_line(value: ClusterSample, *, narrow: bool = False) -> str:
    """What the cluster says of itself, in one line; a ``narrow`` one leaves out the clients' IOPS."""
    iops = "" if narrow else f"{units.iops(value.client_iops)} IOPS "
    slowest = max(value.osd_latency_seconds.items(), key=lambda item: item[1], default=None)
    parts = [
        value.health or "health unknown",
        f"{value.osds_up}/{value.osds} osd" if value.osds else "",
        f"client {iops}{units.bandwidth(value.client_bandwidth_bytes)}",
        f"recovery {units.bandwidth(value.recovery_bandwidth_bytes)}",
        f"slowest osd.{slowest[0]} {units.latency(slowest[1])}" if slowest else "",
    ]
    unclean = {state: number for state, number in value.pg_states.items() if state != "active+clean"}
    parts += [f"{number} pgs {state}" for state, number in unclean.items()]
    return "  ".join(part for part in parts if part)


# ---------------------------------------------------------------------------------------------- results


_LIVE_FINDINGS = 3
_RUN_METRICS = (*LIVE, BY_NAME["latency_p999_seconds"])
_RUN_COLUMNS = tuple(metric.title for metric in _RUN_METRICS)


def varied(found: Sequence[Run]) -> dict[int, str]:
    """By the number of a run, the options that set it apart from the others of its batch."""
    texts: dict[int, str] = {}
    for batch in group(found):
        names = set(batch.axes) - _directions(batch)
        for run in batch.runs:
            texts[run.run] = " ".join(f"{name}={value}" for name, value in run.options.items() if name in names)
    return texts


def _directions(batch: Batch) -> set[str]:
    """The options that say whether it reads or writes, which stands beside the figures."""
    return {option for run in batch.runs if run.tool in TOOLS and (option := TOOLS[run.tool].direction_option)}


def runs(found: Sequence[Run], marks: Sequence[Mark] = (), *, errors: bool = True) -> RenderableType:
    """A table of runs with their figures, a line for each direction, and below it what limits them.

    The marks stand between the runs, or behind the one that they were made in.
    """
    table = _table("#", "preset", "", *_RUN_COLUMNS, "outcome", "", right=("#", *_RUN_COLUMNS))
    differing = varied(found)
    said, more = cut(marks, "marks")
    for row in in_order(found, said):
        if isinstance(row, Mark):
            _add(table, Text("*", "bold"), *[""] * 8, Text.assemble((f"{row.text:.2000}", "bold"), f" ({moment(row)})"))
        else:
            _add_run(table, row, differing[row.run])
    apart = [Text(text, style="dim") for run in found if (text := spread(run))]
    notes = [_note(run, errors) for run in found if run.findings or (run.error and errors)]
    return Group(table, *[Text(more)] * bool(more), *apart, *notes)


def moment(mark: Mark) -> str:
    """When a mark was made: ``14:02:11``, ``14:02:11, 12 s into #3``."""
    when = f"{mark.at.astimezone():%Y-%m-%d %H:%M:%S}"
    if mark.run is None:
        return when
    if mark.elapsed_seconds is None:
        return f"{when}, before #{mark.run} measured"
    return f"{when}, {units.duration(mark.elapsed_seconds)} into #{mark.run}"


def spread(run: Run) -> str:
    """How far apart the nodes of a run began and ended; empty for a single node."""
    if run.start_spread_seconds is None:
        return ""
    ended = [node.ended_seconds for node in run.nodes if node.ended_seconds is not None]
    done = f", the first done after {min(ended):.1f} s, the last after {max(ended):.1f} s" if ended else ""
    return f"#{run.run} {len(run.nodes)} nodes began within {units.latency(run.start_spread_seconds)}{done}"


def _add_run(table: Table, run: Run, apart: str) -> None:
    outcome = Text(run.outcome or "running", style=OUTCOME_STYLES.get(run.outcome or "", ""))
    totals: Mapping[str, Total | None] = run.summary.flows or {"": None}
    for row, (direction, total) in enumerate(totals.items()):
        head, tail = (("", ""), ("", "")) if row else ((str(run.run), run.preset), (outcome, apart))
        _add(table, *head, direction, *[metric.text_of(total) for metric in _RUN_METRICS], *tail)


def _note(run: Run, errors: bool) -> Text:
    shown, more = cut(run.findings, f"findings of #{run.run}")
    lines = [f"#{run.run} {run.outcome}: {run.error}"] if run.error and errors else []
    lines += [f"#{run.run} ! {finding.text}" for finding in shown]
    return Text("\n").join(_text(line, "yellow") for line in [*lines, *[more] * bool(more)])


def _latencies(total: Total) -> str:
    figures = {
        "min": total.latency_min_seconds,
        "p50": total.latency_p50_seconds,
        "p95": total.latency_p95_seconds,
        "max": total.latency_max_seconds,
        "stddev": total.latency_stddev_seconds,
    }
    return ", ".join(f"{name} {units.latency(value)}" for name, value in figures.items())


def run(value: Run, history: History | None = None, marks: Sequence[Mark] = ()) -> RenderableType:
    """One run in full: figures, conditions, what the user did in it, command."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for direction, total in value.summary.flows.items():
        _add(table, f"{direction} latency", _latencies(total))
    _add(table, "target", Text(value.target))
    _add(table, "options", conditions(value))
    if len(value.nodes) > 1:
        _add(table, "nodes", _node_results(value))
    if value.cluster:
        _add(table, "cluster", _cluster(value))
    for mark in (marks_in := cut((mark for mark in marks if mark.run == value.run), "marks"))[0]:
        _add(table, "mark", f"{mark.text} ({moment(mark)})")
    _add_more(table, marks_in[1])
    environment, more = cut(value.environment.items(), "nodes")
    for node, found in environment:
        facts = (
            found.os,
            f"kernel {found.kernel}",
            found.cpu,
            *(f"{name} {units.bit_rate(speed)}" for name, speed in found.nic_bits_per_second.items()),
            found.tools.get(value.tool),
            found.filesystem,
            found.device,
        )
        _add(table, node, ", ".join(fact for fact in facts if fact))
    _add_more(table, more)
    results, more = cut(value.nodes, "nodes")
    for result in results:
        _add(table, "", _text(f"$ {result.command}", "cyan"))
        _add(table, "cpu", f"user {units.percent(result.cpu_user_percent)}, "
                             f"system {units.percent(result.cpu_system_percent)}")  # fmt: skip
        disks = joined((f"{d.name} {units.percent(d.utilisation_percent)} busy" for d in result.disks), "disks")
        _add(table, "disks", disks or units.DASH)
        jobs, more_jobs = cut(result.jobs, "jobs")
        for job in jobs:
            totals = job.summary.flows.values()
            _add(table, job.job, "; ".join(f"{units.iops(t.iops)} IOPS, mean "
                                             f"{units.latency(t.latency_mean_seconds)}" for t in totals))  # fmt: skip
        _add_more(table, more_jobs)
    _add_more(table, more)
    when = f"{value.started_at.astimezone():%Y-%m-%d %H:%M:%S}, {units.duration(value.duration_seconds)}"
    _add(table, "started", when)
    if history and history.directions:
        _add(table, "IOPS", Text(spark(history.total("iops").values(), 60), style="green"))
    return Group(runs([value]), "", table)


def _add_more(table: Table, more: str) -> None:
    if more:
        _add(table, "", more)


def _node_results(value: Run) -> Table:
    """Each node's figures, and when it began and ended."""
    columns = (*_LIVE_COLUMNS, "began", "ended")
    table = _table("node", "", *columns, "outcome", right=columns)
    results, more = cut(value.nodes, "nodes")
    for result in results:
        totals: Mapping[str, Total | None] = result.summary.flows or {"": None}
        times = [units.latency(result.started_seconds), units.latency(result.ended_seconds)]
        outcome = Text(result.outcome or "", style=OUTCOME_STYLES.get(result.outcome or "", ""))
        for direction, total in totals.items():
            _add(table, result.node, direction, *[metric.text_of(total) for metric in LIVE], *times, outcome)
    if more:
        _add(table, more)
    return table


def _cluster(value: Run) -> str:
    found = value.cluster
    assert found is not None
    pool = joined((f"{name} {fact}" for name, fact in found.pool.items() if fact is not None), "facts")
    states = joined((f"{number} {state}" for state, number in found.pg_states.items()), "states")
    parts = [
        f"ceph {found.ceph_version}" if found.ceph_version else "",
        found.health or "",
        f"{found.osds_up}/{found.osds} OSDs up, {found.osds_in} in" if found.osds is not None else "",
        f"PGs: {states}" if states else "",
        f"pool: {pool}" if pool else "",
        f"OSD queue {found.osd_op_queue}" if found.osd_op_queue else "",
        f"mclock profile {found.osd_mclock_profile}" if "mclock" in (found.osd_op_queue or "") else "",
        f"image features: {joined(found.image_features, 'features')}" if found.image_features else "",
        *(f"{command}: no permission" for command in found.no_permission[:_LISTED_MOST]),
    ]
    return "; ".join(part for part in parts if part)


# ---------------------------------------------------------------------------------------------- listings


def nodes(rows: Sequence[NodeRow]) -> RenderableType:
    """What each node is like, and what is missing there with the next step."""
    own = [name for name, tool in TOOLS.items() if not tool.of_ceph]
    table = _table("node", "state", "round trip", "system", "tools", "ceph", "cluster", right=("round trip",))
    for row in rows:
        found = row.environment
        tools = found.tools if found else {}
        word = "not ready" if found else "unreachable"
        ready = Text("ready", style="green") if row.ready else Text(word, style="bold red")
        _add(
            table,
            row.node,
            ready,
            units.latency(row.round_trip_seconds),
            (found.os if found else None) or units.DASH,
            Text("\n").join(_text(tools[name]) for name in own if name in tools) or units.DASH,
            short_version(tools.get("ceph")),
            row.cluster or "",
        )
    problems = [
        Text(f"{row.node}: {_without(row.node, text)}", style="yellow") for row in rows for text in row.problems
    ]
    lacking = [Text(f"{row.node}: where it is needed: {text}", style="dim") for row in rows for text in row.lacking]
    return Group(table, *problems, *lacking)


def _without(node: str, text: str) -> str:
    return text.removeprefix(f"{node}: ")


def short_version(text: str | None) -> str:
    """``16.2.15`` of what ceph says of its version."""
    words = (text or "").split()
    return words[2] if len(words) > 2 and words[:2] == ["ceph", "version"] else text or units.DASH


_NODES_NAMED = 4


def node_states(nodes: Sequence[Node], states: Mapping[str, NodeState], tool: str) -> Text:
    """The nodes in one line: those that can't be used, or not with this tool, are named first."""
    text = Text()
    without = [n.name for n in nodes if (e := _environment_of(n, states)) and not e.tools.get(tool)]
    failed = [n.name for n in nodes if (state := states.get(n.name)) and state.environment is None]
    waiting = [node.name for node in nodes if node.name not in states]
    ready = [node.name for node in nodes if node.name not in (*failed, *waiting, *without)]
    for names, word, style in (
        (failed, "unreachable", "bold red"),
        (without, f"without {tool}", "bold red"),
        (waiting, "connecting", "dim"),
        (ready, "ready", ""),
    ):
        if names:
            text.append("  " if text else "")
            text.append(" ".join(names) if len(names) <= _NODES_NAMED else f"{len(names)} nodes", "bold")
            text.append(f" {word}", style)
    return text


def _environment_of(node: Node, states: Mapping[str, NodeState]) -> NodeEnvironment | None:
    state = states.get(node.name)
    return state.environment if state else None


def left_behind(rows: Sequence[tuple[Path, Undo]], own: Mapping[str, Node]) -> RenderableType:
    """What would be removed, which session left it, and how its node would be reached."""
    table = _table("node", "left behind", "by session")
    for directory, undo in rows[:_LEFT_MOST]:
        _add(table, one_line(undo.node), one_line(undo.target), directory.name)
    more = [Text(f"and {len(rows) - _LEFT_MOST} more")] if len(rows) > _LEFT_MOST else []
    ways = dict.fromkeys(way_of(undo, own) for _, undo in rows)
    reached = _table("node", "reached", "")
    for way in list(ways)[:_LEFT_MOST]:
        name, is_own = one_line(way.listed.name), way.is_own and way.own
        _add(
            reached,
            name,
            describe(way.own or way.listed) if is_own else way.unusable or describe(way.listed),
            "" if is_own else "only its list says so: asked for",
        )
    return Group(table, *more, Text(), reached)


def presets(rows: Sequence[PresetRow]) -> RenderableType:
    """The presets and whose they are."""
    table = _table("preset", "title", "", "what it measures")
    for row in rows:
        if row.error:
            _add(table, row.preset, Text(row.error, style="red"))
        else:
            _add(table, row.preset, row.title, "yours" if row.user else "", row.description)
    return table


def preset(row: PresetRow) -> RenderableType:
    """One preset in full."""
    table = Table.grid(padding=(0, 2))
    for option, value in row.options.items():
        shown = ", then ".join(map(str, value)) if isinstance(value, list) else str(value)
        _add(table, option, shown)
    whose = "yours" if row.user else "packaged"
    heading = Text(f"{row.preset}: {row.title}", style="bold")
    return Group(heading, Text(row.description), "", table, "", Text(f"{whose}: {row.path}", style="dim"))


def sessions(rows: Sequence[SessionRow]) -> RenderableType:
    """The saved sessions, the oldest first."""
    if not rows:
        return Text("no sessions yet: cephtui run write-iops makes one")
    clusters = any(row.cluster for row in rows)
    table = _table("session", "created", *["cluster"] * clusters, "runs", "presets", "outcomes", right=("runs",))
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    for row in rows:
        outcomes = joined((f"{number} {outcome}" for outcome, number in row.outcomes.items()), "outcomes")
        state = outcomes + (" (being written)" if row.writing else "")
        created = f"{row.created_at.astimezone():%Y-%m-%d %H:%M}" if row.created_at else "broken"
        cluster = [row.cluster or ""] * clusters
        _add(table, row.session, created, *cluster, str(row.runs), joined(row.presets, "presets"), state)
    remarks = [_text(f"{row.session}: {text}", "dim") for row in rows if (text := _remarks(row))]
    errors = [_text(f"{row.session}: {row.error}", "red") for row in rows if row.error]
    return Group(table, *remarks, *errors)


def _remarks(row: SessionRow) -> str:
    """What the user has noted."""
    baseline = "" if row.baseline is None else f"baseline #{row.baseline}"
    tags = f"tags {joined(row.tags, 'tags')}" if row.tags else ""
    return "; ".join(part for part in (tags, baseline, row.note) if part)


def info(value: Info) -> RenderableType:
    """Versions and places."""
    table = Table.grid(padding=(0, 2))
    _add(table, "cephtui", value.cephtui_version)
    _add(table, "python", value.python_version)
    for name, tool in TOOLS.items():
        _add(table, name, value.tools.get(name, f"not installed: apt-get install {tool.package}"))
    for path in value.presets:
        _add(table, "presets", path)
    for name in ("sessions", "config", "cache", "log"):
        _add(table, name, str(getattr(value, name)))
    return table


# ---------------------------------------------------------------------------------------------- two runs


_CHANGE_STYLES = {"better": "green", "worse": "bold red"}


def compare(left: Side, right: Side, *, ascii: bool = False, most_differences: int | None = None) -> RenderableType:
    """Two runs beside each other: the verdict, what differed in their conditions, the figures, what limits these.

    Of more than ``most_differences`` the rest stands at the end, so that the figures are seen at once.
    """
    found, more = cut(differences(left, right), "differences")
    marks = _marks(left, right)
    most = len(found) if most_differences is None else max(1, most_differences - len(marks))
    shown = found if len(found) <= most + 1 else found[:most]  # to say that there is one more takes a row too
    rest = found[len(shown) :]
    rows: list[RenderableType] = [_sides(left, right), *_verdict(left, right), _differences(shown)]
    if rest:
        rows.append(Text(f"and {len(rest)} more differences, at the end", style="bold"))
    rows += [*marks, "", _changes(figures(left, right), ascii)]
    for name, side in _named(left, right):
        why, unsaid = cut(finding_texts(side), f"findings of {name}")
        rows += [_text(f"! {name}: {text}", "yellow") for text in why] + [Text(unsaid)] * bool(unsaid)
    return Group(*rows, *(["", _differences(rest)] if rest else []), *[Text(more)] * bool(more))


def _marks(left: Side, right: Side) -> list[Text]:
    """What the user did in the runs and between them; the sessions are named where there are two."""
    found, more = cut(marks_between(left, right), "marks")
    both = left.run.session != right.run.session
    lines = [Text.assemble("* ", (f"{mark.text:.2000}", "bold"), f" ({session + ', ' if both else ''}{moment(mark)})")
             for session, mark in found]  # fmt: skip
    return [*lines, *[Text(more)] * bool(more)]


def _named(left: Side, right: Side) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", left), ("B", right)


def _sides(left: Side, right: Side) -> RenderableType:
    """Which runs these are, and why one has no figures."""
    table = Table.grid(padding=(0, 1))
    for name, side in _named(left, right):
        text = Text(f"{side.name} {side.run.preset}: {conditions(side.run)}")
        text.append(f", {len(side.runs)} runs" if len(side.runs) > 1 else "")
        table.add_row(Text(name, style="bold"), text)
        if side.problem:
            table.add_row("", Text(side.problem, style="bold yellow"))
    return table


def _differences(found: Sequence[Difference]) -> RenderableType:
    if not found:
        return Text("nothing differed in parameters, nodes, versions and cluster", style="bold")
    table = _table("differs", "", "A", "B")
    for each in found:
        short = short_version(each.left), short_version(each.right)
        _add(table, each.topic, each.name, *(short if short[0] != short[1] else (each.left, each.right)))
    return table


def _changes(found: Sequence[Figure], ascii: bool) -> RenderableType:
    """The figures in rows; the spread only where there are several runs."""
    if not found:
        return Text("neither run has figures")
    spread = [name for name in ("left_spread", "right_spread") if any(getattr(figure, name) for figure in found)]
    names = {"left_spread": "spread of A", "right_spread": "spread of B"}
    table = _table(found[0].direction, "A", "B", "change", *(names[name] for name in spread), right=("A", "B"))
    table.columns[3].no_wrap = True
    for before, figure in zip((found[0], *found), found, strict=False):
        if figure.direction != before.direction:
            _add(table, Text(figure.direction, style="bold"))
        _add(
            table,
            BY_NAME[figure.name].title,
            _figure_text(figure, figure.left) + ("!" if figure.left_findings else ""),
            _figure_text(figure, figure.right) + ("!" if figure.right_findings else ""),
            _change(figure, ascii),
            *(_range(figure, getattr(figure, name)) for name in spread),
        )
    return table


def _figure_text(figure: Figure, value: float | None) -> str:
    return BY_NAME[figure.name].as_text(value)


def _range(figure: Figure, spread: tuple[float, float] | None) -> str:
    """``39.9..41.8 ms``: the unit once, where it is the same."""
    if spread is None:
        return units.DASH
    low, high = (_figure_text(figure, value) for value in spread)
    number, _, unit = low.partition(" ")
    return high if low == high else f"{number if unit and high.endswith(f' {unit}') else low}..{high}"


def _change(figure: Figure, ascii: bool) -> Text:
    """The arrow says where the number went, the word what that means; the colour says nothing more."""
    if figure.better is None or figure.left is None or figure.right is None:
        return Text(units.DASH)
    up, down = ("^", "v") if ascii else ("▲", "▼")
    arrow = "=" if figure.better == "same" else up if figure.right > figure.left else down
    parts = [arrow, *([] if figure.change_fraction is None else [_signed(figure.change_fraction)]), figure.better]
    return Text(" ".join(parts), style=_CHANGE_STYLES.get(figure.better, ""))


def _signed(fraction: float) -> str:
    """``+12.3 %``, and ``0.0 %`` without a sign."""
    text = units.percent(abs(100 * fraction))
    sign = "+" if fraction > 0 else "-"
    return text if text == units.percent(0.0) else f"{sign}{text}"


def verdict(why: Reason) -> str:
    """That there is no verdict, and why, in one line."""
    if why.code == "no-figures":
        missing = [name for name, runs in zip("AB", why.runs, strict=True) if not runs]
        return f"no figures of {' and '.join(missing)}: no verdict"
    if why.code == "one-run-each":
        return "one run each: no verdict"
    return f"{why.runs[0]} and {why.runs[1]} runs: the spread is shown, no verdict yet"


def _verdict(left: Side, right: Side) -> list[Text]:
    lines = [Text(verdict(why_no_verdict(left, right)), style="bold")]
    if len(left.runs) > 1 or len(right.runs) > 1:
        text = "of several runs: mean (percentiles, max: median); spread: least..greatest"
        lines.append(Text(text, style="dim"))
    return lines
