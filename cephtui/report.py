"""Plans, runs and listings as Rich renderables, for the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.compare import Side, differences, figures, reasons, verdict
from cephtui.history import History
from cephtui.live import Live, LiveRun
from cephtui.models import (
    ClusterSample,
    Difference,
    Figure,
    Info,
    Node,
    NodeEnvironment,
    NodeRow,
    Plan,
    PoolUse,
    PresetRow,
    Run,
    SessionRow,
    Step,
    Total,
)
from cephtui.presets import TOOLS
from cephtui.runner import NodeState
from cephtui.sparks import spark
from cephtui.store import Undo

OUTCOME_STYLES = {
    "ok": "green",
    "failed": "bold red",
    "refused": "bold red",
    "stopped": "yellow",
    "lost": "yellow",
}
_SPARK_WIDTH = 24
_ENVIRONMENT = re.compile(r"^(.*? )?env (?:CEPH_\S+=\S+ |'CEPH_[^']*' )+")
_IMAGE_SECTION = re.compile(r" --name=\S+ --rbdname=\S+(?: --size=\S+)?")


def _table(*columns: str, right: Iterable[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        figure = column in right
        table.add_column(column, justify="right" if figure else "left", overflow="fold", no_wrap=figure)
    return table


def _add(table: Table, *cells: RenderableType) -> None:
    """A row; text of the user's must not be taken for markup."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def conditions(step: Step | Run) -> str:
    """What was asked for, in one line: ``4k randwrite, depth 64, jobs 8, 60 s``."""
    return TOOLS[step.tool].describe(step.options)


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
            commands = [short_command(c) for c in (node.prepare_command, node.command) if c]
            rows += [Text(f"   {node.node}$ {command}", style="cyan") for command in commands]
    fill = sum(step.prepare_seconds for step in value.steps)
    note = f", of which about {units.duration(fill)} to fill the target (at 200 MB/s)" if fill else ""
    rows.append(Text(f"takes about {units.duration(value.duration_seconds)}{note}"))
    rows.append(Text(f"the session grows by about {units.size(value.session_bytes)}"))
    return Group(*rows)


def short_command(command: str) -> str:
    """A command for eyes: of the sections for many images the first, and how many more there are."""
    sections = _IMAGE_SECTION.findall(command)
    if len(sections) < 3:
        return command
    others = sections[1:]
    for section in others:
        command = command.replace(section, "", 1)
    return f"{command}  (and {len(others)} more images)"


def tool_command(command: str) -> str:
    """The same without what stands before the tool for its environment: the way to Ceph fills a screen."""
    return _ENVIRONMENT.sub("", short_command(command), count=1)


def pool_use(value: PoolUse | None) -> list[str]:
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
    place = f"({value.begun}/{len(value.steps)}) {conditions(state.step)} on {state.step.target}"
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
    table = _table("", "IOPS", "bandwidth", "mean", "p99", "", right=("IOPS", "bandwidth", "mean", "p99"))
    for direction in state.directions:
        interval = getattr(state.latest, direction)
        if interval is None:
            continue
        history = state.history.curves[f"{direction}.iops"].values()
        _add(
            table,
            direction,
            units.iops(interval.iops),
            units.bandwidth(interval.bandwidth_bytes),
            units.latency(interval.latency_mean_seconds),
            units.latency(interval.latency_p99_seconds),
            Text(spark(history[-_SPARK_WIDTH:], _SPARK_WIDTH), style="green"),
        )
    return [table]


def _nodes_now(state: LiveRun) -> list[RenderableType]:
    """Each node's last second, where there are several; one that is late says so."""
    if len(state.step.nodes) < 2 or state.latest is None or state.phase == "prepare":
        return []
    table = _table("node", "IOPS", "bandwidth", "mean", "p99", "", right=("IOPS", "bandwidth", "mean", "p99"))
    for node in state.step.nodes:
        sample = state.nodes.get(node.node)
        late = "" if node.node not in state.latest.missing else "no word"
        parts = [i for i in (sample.read, sample.write) if i] if sample else []
        if not parts:
            _add(table, node.node, *[units.DASH] * 4, late)
        for interval in parts:
            _add(
                table,
                node.node,
                units.iops(interval.iops),
                units.bandwidth(interval.bandwidth_bytes),
                units.latency(interval.latency_mean_seconds),
                units.latency(interval.latency_p99_seconds),
                Text(late, style="yellow"),
            )
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
_FIGURE_COLUMNS = ("IOPS", "bandwidth", "mean", "p99", "p99.9")


def _figures(total: Total) -> list[str]:
    return [
        units.iops(total.iops),
        units.bandwidth(total.bandwidth_bytes),
        units.latency(total.latency_mean_seconds),
        units.latency(total.latency_p99_seconds),
        units.latency(total.latency_p999_seconds),
    ]


def varied(found: Sequence[Run]) -> dict[int, str]:
    """By the number of a run, the options that set it apart from the others of its batch."""
    texts = {}
    for run in found:
        others = [other.options for other in found if other.batch == run.batch]
        names = [n for n in run.options if n != "rw" and any(o.get(n) != run.options[n] for o in others)]
        texts[run.run] = " ".join(f"{name}={run.options[name]}" for name in names)
    return texts


def runs(found: Sequence[Run], *, errors: bool = True) -> RenderableType:
    """A table of runs with their figures, a line for each direction, and below it what limits them."""
    table = _table("#", "preset", "", *_FIGURE_COLUMNS, "outcome", "", right=("#", *_FIGURE_COLUMNS))
    differing = varied(found)
    for run in found:
        _add_run(table, run, differing[run.run])
    apart = [Text(text, style="dim") for run in found if (text := spread(run))]
    notes = [_note(run, errors) for run in found if run.findings or (run.error and errors)]
    return Group(table, *apart, *notes)


def spread(run: Run) -> str:
    """How far apart the nodes of a run began and ended; empty for a single node."""
    if run.start_spread_seconds is None:
        return ""
    ended = [node.ended_seconds for node in run.nodes if node.ended_seconds is not None]
    done = f", the first done after {min(ended):.1f} s, the last after {max(ended):.1f} s" if ended else ""
    return f"#{run.run} {len(run.nodes)} nodes began within {units.latency(run.start_spread_seconds)}{done}"


def _add_run(table: Table, run: Run, apart: str) -> None:
    outcome = Text(run.outcome or "running", style=OUTCOME_STYLES.get(run.outcome or "", ""))
    totals = [(d, t) for d, t in (("read", run.summary.read), ("write", run.summary.write)) if t]
    if not totals:
        _add(table, str(run.run), run.preset, "", *[units.DASH] * len(_FIGURE_COLUMNS), outcome, apart)
    for row, (direction, total) in enumerate(totals):
        head, tail = (("", ""), ("", "")) if row else ((str(run.run), run.preset), (outcome, apart))
        _add(table, *head, direction, *_figures(total), *tail)


def _note(run: Run, errors: bool) -> Text:
    lines = [f"#{run.run} {run.outcome}: {run.error}"] if run.error and errors else []
    lines += [f"#{run.run} ! {finding.text}" for finding in run.findings]
    return Text("\n".join(lines), style="yellow")


def _latencies(total: Total) -> str:
    figures = {
        "min": total.latency_min_seconds,
        "p50": total.latency_p50_seconds,
        "p95": total.latency_p95_seconds,
        "max": total.latency_max_seconds,
        "stddev": total.latency_stddev_seconds,
    }
    return ", ".join(f"{name} {units.latency(value)}" for name, value in figures.items())


def run(value: Run, history: History | None = None) -> RenderableType:
    """One run in full: figures, conditions, command."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for direction, total in (("read", value.summary.read), ("write", value.summary.write)):
        if total:
            _add(table, f"{direction} latency", _latencies(total))
    _add(table, "target", Text(value.target))
    _add(table, "options", conditions(value))
    if len(value.nodes) > 1:
        _add(table, "nodes", _node_results(value))
    if value.cluster:
        _add(table, "cluster", Text(_cluster(value)))
    for node, found in value.environment.items():
        facts = (
            found.os,
            f"kernel {found.kernel}",
            found.cpu,
            *(f"{name} {units.bit_rate(speed)}" for name, speed in found.nic_bits_per_second.items()),
            found.tools.get(value.tool),
            found.filesystem,
            found.device,
        )
        _add(table, node, Text(", ".join(fact for fact in facts if fact)))
    for result in value.nodes:
        _add(table, "", Text(f"$ {result.command}", style="cyan"))
        _add(table, "cpu", f"user {units.percent(result.cpu_user_percent)}, "
                             f"system {units.percent(result.cpu_system_percent)}")  # fmt: skip
        disks = ", ".join(f"{d.name} {units.percent(d.utilisation_percent)} busy" for d in result.disks)
        _add(table, "disks", disks or units.DASH)
        for job in result.jobs:
            totals = [t for t in (job.summary.read, job.summary.write) if t]
            _add(table, job.job, "; ".join(f"{units.iops(t.iops)} IOPS, mean "
                                             f"{units.latency(t.latency_mean_seconds)}" for t in totals))  # fmt: skip
    when = f"{value.started_at.astimezone():%Y-%m-%d %H:%M:%S}, {units.duration(value.duration_seconds)}"
    _add(table, "started", when)
    if history and history.directions:
        _add(table, "IOPS", Text(spark(history.total("iops").values(), 60), style="green"))
    return Group(runs([value]), "", table)


def _node_results(value: Run) -> Table:
    """Each node's figures, and when it began and ended."""
    columns = ("IOPS", "bandwidth", "mean", "p99", "began", "ended")
    table = _table("node", "", *columns, "outcome", right=columns)
    for result in value.nodes:
        totals = [(d, t) for d, t in (("read", result.summary.read), ("write", result.summary.write)) if t]
        times = [units.latency(result.started_seconds), units.latency(result.ended_seconds)]
        outcome = Text(result.outcome or "", style=OUTCOME_STYLES.get(result.outcome or "", ""))
        if not totals:
            _add(table, result.node, "", *[units.DASH] * 4, *times, outcome)
        for direction, total in totals:
            _add(table, result.node, direction, *_figures(total)[:4], *times, outcome)
    return table


def _cluster(value: Run) -> str:
    found = value.cluster
    assert found is not None
    pool = ", ".join(f"{name} {fact}" for name, fact in found.pool.items() if fact is not None)
    states = ", ".join(f"{number} {state}" for state, number in found.pg_states.items())
    parts = [
        f"ceph {found.ceph_version}" if found.ceph_version else "",
        found.health or "",
        f"{found.osds_up}/{found.osds} OSDs up, {found.osds_in} in" if found.osds is not None else "",
        f"PGs: {states}" if states else "",
        f"pool: {pool}" if pool else "",
        f"OSD queue {found.osd_op_queue}" if found.osd_op_queue else "",
        f"mclock profile {found.osd_mclock_profile}" if "mclock" in (found.osd_op_queue or "") else "",
        f"image features: {', '.join(found.image_features)}" if found.image_features else "",
        *(f"{command}: no permission" for command in found.no_permission),
    ]
    return "; ".join(part for part in parts if part)


# ---------------------------------------------------------------------------------------------- listings


def nodes(rows: Sequence[NodeRow]) -> RenderableType:
    """What each node is like, and what is missing there with the next step."""
    table = _table("node", "state", "round trip", "system", "fio", "ceph", "cluster", right=("round trip",))
    for row in rows:
        found = row.environment
        tools = found.tools if found else {}
        ready = Text("ready", style="green") if row.ready else Text("unreachable", style="bold red")
        _add(
            table,
            row.node,
            ready,
            units.latency(row.round_trip_seconds),
            (found.os if found else None) or units.DASH,
            tools.get("fio", units.DASH),
            short_version(tools.get("ceph")),
            row.cluster or "",
        )
    problems = [
        Text(f"{row.node}: {_without(row.node, text)}", style="yellow") for row in rows for text in row.problems
    ]
    return Group(table, *problems)


def _without(node: str, text: str) -> str:
    return text.removeprefix(f"{node}: ")


def short_version(text: str | None) -> str:
    """``16.2.15`` of what ceph says of its version."""
    words = (text or "").split()
    return words[2] if len(words) > 2 and words[:2] == ["ceph", "version"] else text or units.DASH


_NODES_NAMED = 4


def node_states(nodes: Sequence[Node], states: Mapping[str, NodeState]) -> Text:
    """The nodes in one line: those that can't be used are named first."""
    text = Text()
    without = [n.name for n in nodes if (e := _environment_of(n, states)) and not e.tools.get("fio")]
    failed = [n.name for n in nodes if (state := states.get(n.name)) and state.environment is None]
    waiting = [node.name for node in nodes if node.name not in states]
    ready = [node.name for node in nodes if node.name not in (*failed, *waiting, *without)]
    for names, word, style in (
        (failed, "unreachable", "bold red"),
        (without, "without fio", "bold red"),
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


def left_behind(rows: Sequence[tuple[Path, Undo]]) -> RenderableType:
    """What would be removed, and which session left it."""
    table = _table("node", "left behind", "by session")
    for directory, undo in rows:
        _add(table, undo.node, undo.target, directory.name)
    return table


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
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in row.outcomes.items())
        state = outcomes + (" (being written)" if row.writing else "")
        created = f"{row.created_at.astimezone():%Y-%m-%d %H:%M}" if row.created_at else "broken"
        cluster = [row.cluster or ""] * clusters
        _add(table, row.session, created, *cluster, str(row.runs), ", ".join(row.presets), state)
    remarks = [Text(f"{row.session}: {text}", style="dim") for row in rows if (text := _remarks(row))]
    errors = [Text(f"{row.session}: {row.error}", style="red") for row in rows if row.error]
    return Group(table, *remarks, *errors)


def _remarks(row: SessionRow) -> str:
    """What the user has noted."""
    baseline = "" if row.baseline is None else f"baseline #{row.baseline}"
    tags = f"tags {', '.join(row.tags)}" if row.tags else ""
    return "; ".join(part for part in (tags, baseline, row.note) if part)


def info(value: Info) -> RenderableType:
    """Versions and places."""
    table = Table.grid(padding=(0, 2))
    _add(table, "cephtui", value.cephtui_version)
    _add(table, "python", value.python_version)
    _add(table, "fio", value.tools.get("fio", "not installed: apt-get install fio"))
    for path in value.presets:
        _add(table, "presets", path)
    for name in ("sessions", "config", "cache", "log"):
        _add(table, name, str(getattr(value, name)))
    return table


# ---------------------------------------------------------------------------------------------- two runs


_FIGURE_NAMES = {
    "iops": "IOPS",
    "bandwidth_bytes": "bandwidth",
    "latency_mean_seconds": "mean",
    "latency_p50_seconds": "p50",
    "latency_p95_seconds": "p95",
    "latency_p99_seconds": "p99",
    "latency_p999_seconds": "p99.9",
    "latency_max_seconds": "max",
}
_CHANGE_STYLES = {"better": "green", "worse": "bold red"}


def compare(left: Side, right: Side, *, ascii: bool = False, most_differences: int | None = None) -> RenderableType:
    """Two runs beside each other: the verdict, what differed in their conditions, the figures, what limits these.

    Of more than ``most_differences`` the rest stands at the end, so that the figures are seen at once.
    """
    found = differences(left, right)
    most = len(found) if most_differences is None else max(1, most_differences)
    shown = found if len(found) <= most + 1 else found[:most]  # to say that there is one more takes a row too
    rest = found[len(shown) :]
    rows: list[RenderableType] = [_sides(left, right), *_verdict(left, right), _differences(shown)]
    if rest:
        rows.append(Text(f"and {len(rest)} more differences, at the end", style="bold"))
    rows += ["", _changes(figures(left, right), ascii)]
    rows += [Text(f"! {name}: {why}", style="yellow") for name, side in _named(left, right) for why in reasons(side)]
    return Group(*rows, *(["", _differences(rest)] if rest else []))


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
            _FIGURE_NAMES[figure.name],
            _figure_text(figure, figure.left) + ("!" if figure.left_findings else ""),
            _figure_text(figure, figure.right) + ("!" if figure.right_findings else ""),
            _change(figure, ascii),
            *(_range(figure, getattr(figure, name)) for name in spread),
        )
    return table


def _figure_text(figure: Figure, value: float | None) -> str:
    if figure.name == "iops":
        return units.iops(value)
    return units.bandwidth(value) if figure.name == "bandwidth_bytes" else units.latency(value)


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


def _verdict(left: Side, right: Side) -> list[Text]:
    lines = [Text(verdict(left, right), style="bold")]
    if len(left.runs) > 1 or len(right.runs) > 1:
        text = "of several runs: mean (percentiles, max: median); spread: least..greatest"
        lines.append(Text(text, style="dim"))
    return lines
