"""Runs with their figures: a table of several, and one in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.batches import PointSummary, varied
from cephtui.analysis.ceiling import Ceiling
from cephtui.analysis.conditions import image_limits, seconds_of
from cephtui.analysis.history import History
from cephtui.analysis.jobs import job_figures
from cephtui.analysis.marks import in_order, with_results
from cephtui.models import Mark, NodeEnvironment, Run, Seconds, Total
from cephtui.models.metrics import BY_NAME, LIVE, METRICS, Metric
from cephtui.reports.bars import bars
from cephtui.reports.ceiling import ceiling_lines
from cephtui.reports.client import client_facts
from cephtui.reports.facts import before_the_run, head_line, osds, pool_facts, ranges, space_used, start_of
from cephtui.reports.jobs import draw_jobs
from cephtui.reports.latency import FLOW_COLORS, draw_latency
from cephtui.reports.quality import finding_line, first_of_each, is_marked, outcome_word
from cephtui.reports.sparks import spark
from cephtui.reports.tables import Fitting, Noted, add_more, add_row, live_columns, make_table, plain
from cephtui.reports.text import (
    IN_TABLE,
    OUTCOME_STYLES,
    began,
    conditions,
    counted,
    cut,
    details_command,
    imported,
    joined,
    latency_word,
    link_figures,
    margin_of,
    moment,
    short_conditions,
    spread,
    spread_of,
    titles_of,
    written,
)
from cephtui.stats import Buckets
from cephtui.tools import TOOLS

_IOPS, _BANDWIDTH = BY_NAME["iops"], BY_NAME["bandwidth_bytes"]
_MEAN = "latency_mean_seconds"
_IN_JSON = "listed with --json"
_LEAST = IN_TABLE[:-1]
"""Where there is no room for all figures: the last is in the full view of a run."""
_PRESET_MOST = {len(IN_TABLE): 14, len(_LEAST): 11}
"""Characters of its name where there is little room, by the number of figures."""
_IN_FULL = tuple(metric for metric in METRICS if metric not in IN_TABLE)
"""Only in the full view of a run, with the minimum latency and the standard deviation."""
_TABLED = {metric.percent for metric in IN_TABLE}


def draw_session(
    found: Sequence[Run], marks: Sequence[Mark] = (), *, ascii_only: bool = False, saved: bool = True
) -> RenderableType:
    """Runs as they stand alone in a text: their conditions in a line, the table, and where there is more.

    Where they could not be ``saved`` there is no more.
    """
    heading = [Text(head_line(found, ascii_only=ascii_only), style="bold")] * bool(found)
    more = [Text(f"details: {details_command(found)}", style="dim")] * (saved and bool(found))
    return Group(*heading, draw_runs(found, marks, ascii_only=ascii_only), *_bars(found, ascii_only=ascii_only), *more)


def _bars(found: Sequence[Run], *, ascii_only: bool) -> list[RenderableType]:
    """Of the runs whose jobs are compared, such as OSDs."""
    parts = [(run, figures) for run in found if (figures := job_figures(run.nodes))]
    shown, _ = cut(parts, "runs")
    drawn = [(Text(f"#{run.run} {run.preset}", "bold"), bars(each, ascii_only=ascii_only)) for run, each in shown]
    return [part for pair in drawn for part in pair]


def draw_runs(found: Sequence[Run], marks: Sequence[Mark] = (), *, ascii_only: bool = False) -> RenderableType:
    """A table of runs with their figures, a line for each direction, and the findings below.

    Marks stand between the runs, or after the run that they were made in; below repeats their mean, its interval and
    their spread. Each run has its conditions: in a column, or below it where there is little room.
    """
    shown, more = cut(marks, "marks")
    rows, apart_in = with_results(in_order(found, shown)), varied(found)
    roomy, narrow, tight, least = (
        _table(rows, apart_in, wide=wide, tight=tight, metrics=metrics, ascii_only=ascii_only)
        for wide, tight, metrics in (
            (True, False, IN_TABLE),
            (False, False, IN_TABLE),
            (False, True, IN_TABLE),
            (False, True, _LEAST),
        )
    )
    apart = [Text(text, style="dim") for run in found[:1] if len(found) == 1 and (text := spread(run))]
    notes = finding_lines(found)
    return Group(Fitting(roomy, Fitting(narrow, Fitting(tight, least))), *[Text(more)] * bool(more), *apart, *notes)


def _table(
    rows: Sequence[Run | Mark | PointSummary],
    differing: Mapping[int, str],
    *,
    wide: bool,
    tight: bool,
    metrics: Sequence[Metric],
    ascii_only: bool,
) -> Noted:
    """The runs, results and marks in rows; without a column for the conditions they are notes of their runs.

    A ``tight`` one cuts the names of presets, and says of which latency the figures are with the first of them.
    """
    figures = titles_of(metrics, [row for row in rows if isinstance(row, Run)], short=tight)
    columns = ("#", "preset", *["conditions"] * wide, "", *figures, "outcome")
    table = make_table(*columns, right=("#", *figures), whole=columns)
    notes: list[Text] = []
    for row in rows:
        if isinstance(row, Mark):
            add_row(table, Text("*", "bold"), *[""] * (len(columns) - 1))
            notes.append(Text.assemble((f"{row.text:.2000}", "bold"), f" ({moment(row)})"))
            continue
        if isinstance(row, PointSummary):
            apart, lines = differing[row.last.run], _result_lines(row, metrics, ascii_only)
            numbers, outcome = ranges(run.run for run in row.point.repeats), _counted(row)
            for label, *texts in lines:
                style = "bold" if label == "mean" else ""
                cells = (numbers, label, *[apart if numbers else ""] * wide, *texts)
                add_row(table, *(plain(cell, style) for cell in cells), outcome)
                numbers, outcome = "", Text()
            notes += [*[Text()] * (len(lines) - 1), plain("" if wide else apart)]
            continue
        totals: Mapping[str, Total | None] = row.summary.flows or {"": None}
        note, others = _note(row, differing[row.run], wide), [Text()] * (len(totals) - 1)
        notes += [note, *others] if wide else [*others, note]
        preset = row.preset[: _PRESET_MOST[len(metrics)]] if tight else row.preset
        head = [str(row.run), preset, *[short_conditions(row)] * wide]
        for number, (direction, total) in enumerate(totals.items()):
            figures = [metric.text_of(total) for metric in written(row.tool, metrics)]
            first = number == 0
            add_row(table, *(head if first else [""] * len(head)), direction, *figures, _outcome(row) if first else "")
    return Noted(table, notes, indent=max((len(str(row.run)) for row in rows if isinstance(row, Run)), default=1) + 1)


def _outcome(run: Run) -> Text:
    style = "yellow" if run.outcome == "ok" and is_marked(run) else OUTCOME_STYLES.get(run.outcome or "", "")
    return Text(outcome_word(run), style)


def _result_lines(row: PointSummary, metrics: Sequence[Metric], ascii_only: bool) -> list[list[str]]:
    """Of each direction the mean, its interval and the spread: label, direction, figures."""
    lines = []
    for direction, found in row.estimates.items():
        estimates = [found.get(metric.name) for metric in metrics]
        shown = zip(written(row.last.tool, metrics), estimates, strict=True)
        means = [metric.as_text(e.value if e else None) for metric, e in shown]
        lines.append(["mean", direction, *means])
        if len(row.counted) > 1:
            lines.append(["95 %", "", *(margin_of(each, ascii_only=ascii_only) for each in estimates)])
            lines.append(["spread", "", *map(spread_of, estimates)])
    return lines


def _counted(row: PointSummary) -> Text:
    text = Text(counted(row), "bold")
    return text.append(" !", "yellow") if any(map(is_marked, row.point.repeats)) else text


def _note(run: Run, apart: str, wide: bool) -> Text:
    """The reason where a run did not end well, and what sets it apart from the others of its batch."""
    parts = plain("" if wide else short_conditions(run)), plain(apart), plain(run.error or "", "yellow")
    return Text("  ").join(part for part in parts if part)


def finding_lines(found: Sequence[Run]) -> list[Text]:
    """Each finding once, behind the numbers of the runs that have it."""
    numbers: dict[tuple[str, bool], list[int]] = {}
    rest = []
    for run in found:
        shown, more = cut(first_of_each(run.findings), f"findings of #{run.run}")
        for finding in shown:
            numbers.setdefault((finding_line(finding), finding.level == "note"), []).append(run.run)
        rest += [plain(more)] * bool(more)
    lines = [
        plain(f"#{ranges(sorted(runs))} {text}", "dim" if is_note else "yellow")
        for (text, is_note), runs in sorted(numbers.items(), key=lambda item: item[0][1])
    ]
    return [*lines, *rest]


def _is_timed(total: Total) -> bool:
    """Whether it has any latency."""
    return any(metric.of(total) is not None for metric in METRICS if metric.unit == "s")


def _has_more(total: Total) -> bool:
    """Whether it has a latency that is not in the table."""
    found = (total.latency_min_seconds, total.latency_stddev_seconds, *(metric.of(total) for metric in _IN_FULL))
    return any(seconds is not None for seconds in found)


def _latencies(total: Total) -> str:
    named = {f"p{percent:g}": seconds for percent, seconds in total.percentiles().items() if percent not in _TABLED}
    whole = {**{metric.title: metric.of(total) for metric in _IN_FULL if metric.percent}, **named}
    figures = {
        "min": total.latency_min_seconds,
        **dict(sorted(whole.items(), key=lambda each: float(each[0][1:]))),
        "max": total.latency_max_seconds,
        "stddev": total.latency_stddev_seconds,
    }
    return ", ".join(f"{title} {units.latency(seconds)}" for title, seconds in figures.items())


def _spread_of(seconds: Seconds, tool: str) -> str:
    (metric,) = written(tool, [BY_NAME[seconds.metric]])
    least, greatest, stddev = map(metric.as_text, (seconds.least, seconds.greatest, seconds.stddev))
    share = f" ({units.percent(100 * seconds.stddev / seconds.mean)})" if seconds.mean else ""
    return f"least {least}, greatest {greatest}, standard deviation {stddev}{share}"


def draw_run(
    value: Run,
    history: History | None = None,
    marks: Sequence[Mark] = (),
    found: Sequence[Ceiling] | None = None,
    *,
    histograms: Mapping[str, Buckets] | None = None,
    colors: Mapping[str, str] = FLOW_COLORS,
    ascii_only: bool = False,
) -> RenderableType:
    """One run in full: figures, latencies, jobs, ceilings if they were looked for, conditions, marks and commands.

    ``histograms`` are those of the whole run by flow, and ``colors`` what they are drawn in.
    """
    heading = Text(head_line([value], ascii_only=ascii_only), style="bold")
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    _add_figures(table, value, found, histograms or {})
    _add_conditions(table, value, marks)
    _add_environment(table, value)
    _add_commands(table, value)
    when = f"{start_of(value)}, {units.duration(value.duration_seconds)}"
    add_row(table, "started", when)
    for metric in (_IOPS, _BANDWIDTH) if history and history.directions else ():
        assert history
        values = history.total(metric.name).values()
        if any(each is not None for each in values):
            add_row(table, metric.title, Text(spark(values, 60, ascii_only=ascii_only), style="green"))
            break
    if value.imported_from:
        add_row(table, "imported", imported(value).removeprefix("imported "))
    in_parts = any(total.slat or total.lat for total in value.summary.flows.values())
    is_drawn = histograms or in_parts
    latency = draw_latency(value, histograms or {}, colors=colors, ascii_only=ascii_only) if is_drawn else None
    parts = [[part, ""] for part in (latency, draw_jobs(value, ascii_only=ascii_only)) if part]
    return Group(heading, draw_runs([value]), "", *(each for part in parts for each in part), table)


def _add_figures(table: Table, value: Run, found: Sequence[Ceiling] | None, histograms: Mapping[str, Buckets]) -> None:
    """Latencies of what has no histogram, how the seconds are spread, and the ceilings."""
    for direction, total in value.summary.flows.items():
        if of_link := link_figures(total):
            add_row(table, f"{direction} link", of_link)
        elif direction not in histograms and _has_more(total):
            add_row(table, f"{direction} {latency_word([value.tool], [direction])}", _latencies(total))
    if seconds := seconds_of(value):
        add_row(table, "seconds", _spread_of(seconds, value.tool))
    timed = any(map(_is_timed, value.summary.flows.values()))
    has_ceilings = (
        value.summary.flows and found is not None and not TOOLS[value.tool].measures_network and (found or timed)
    )
    for number, text in enumerate(ceiling_lines(found or (), [value]) if has_ceilings else ()):
        add_row(table, "" if number else "ceilings", text)


def _add_conditions(table: Table, value: Run, marks: Sequence[Mark]) -> None:
    """What was asked of which target and nodes, the cluster, and the marks made meanwhile."""
    add_row(table, "target", Text(value.target))
    add_row(table, "options", conditions(value))
    if len(value.nodes) > 1:
        add_row(table, "nodes", Fitting(_node_results(value, times=True), _node_results(value, times=False)))
    if value.cluster:
        add_row(table, "cluster", _cluster(value))
    for mark in (marks_in := cut((mark for mark in marks if mark.run == value.run), "marks"))[0]:
        add_row(table, "mark", f"{mark.text} ({moment(mark)})")
    add_more(table, marks_in[1])


def _add_environment(table: Table, value: Run) -> None:
    """The hardware and software of each node."""
    environment, more = cut(value.environment.items(), "nodes")
    for node, found in environment:
        facts = (
            found.os,
            f"kernel {found.kernel}" if found.kernel else "",
            found.cpu,
            *_nics(found),
            found.tools.get(value.tool),
            found.filesystem,
            found.device,
            f"kernel settings: {len(found.settings)} ({_IN_JSON})" if found.settings else "",
        )
        add_row(table, node, ", ".join(fact for fact in facts if fact))
    add_more(table, more)


def _nics(found: NodeEnvironment) -> list[str]:
    """``eth0 10.0 Gbit/s MTU 9000``."""
    speeds = {name: f" {units.bit_rate(speed)}" for name, speed in found.nic_bits_per_second.items()}
    mtus = {name: f" MTU {size}" for name, size in found.nic_mtu.items()}
    names, more = cut(speeds | mtus, "NICs")
    return [*(f"{name}{speeds.get(name, '')}{mtus.get(name, '')}" for name in names), more]


def _add_commands(table: Table, value: Run) -> None:
    """Each node's command, and how busy the node was with it."""
    results, more = cut(value.nodes, "nodes")
    for result in results:
        add_row(table, result.node if len(value.nodes) > 1 else "", plain(f"$ {result.command}", "cyan"))
        for name, text in client_facts(value, result).items():
            add_row(table, name, text)
    add_more(table, more)


def _node_results(value: Run, *, times: bool) -> Table:
    """Each node's figures, and with ``times`` when it started and ended."""
    columns = (*live_columns(value.tool), *["began", "ended"] * times)
    table = make_table("node", "", *columns, "outcome", right=columns)
    results, more = cut(value.nodes, "nodes")
    for result in results:
        totals: Mapping[str, Total | None] = result.summary.flows or {"": None}
        moments = [began(result.started_seconds), units.latency(result.ended_seconds)] * times
        outcome = Text(result.outcome or "", style=OUTCOME_STYLES.get(result.outcome or "", ""))
        for direction, total in totals.items():
            figures = [metric.text_of(total) for metric in written(value.tool, LIVE)]
            add_row(table, result.node, direction, *figures, *moments, outcome)
    if more:
        add_row(table, more)
    return table


def _cluster(value: Run) -> str:
    found = value.cluster
    assert found is not None
    options = len(found.config or ()) + found.config_more
    kept = [f"options in ceph config: {options:,}"] * bool(options)
    kept += [f"pool settings: {len(found.pool_settings)}"] * bool(found.pool_settings)
    states = joined((f"{number} {state}" for state, number in found.pg_states.items()), "states")
    parts = [
        f"ceph {found.ceph_version}" if found.ceph_version else "",
        before_the_run([found.health or "", osds(found), f"PGs: {states}" if states else ""]),
        joined((f"{number} {name}" for name, number in found.osds_by_class.items()), "classes"),
        f"pool: {pool_facts(found)}" if found.pool else "",
        space_used(found),
        f"OSD queue {found.osd_op_queue}" if found.osd_op_queue else "",
        f"mclock profile {found.osd_mclock_profile}" if "mclock" in (found.osd_op_queue or "") else "",
        f"image features: {joined(found.image_features, 'features')}" if found.image_features else "",
        f"image limits: {image_limits(found)}" if found.image_limits else "",
        f"{', '.join(kept)} ({_IN_JSON})" if kept else "",
        *map(_denied, cut(found.no_permission, "commands")[0]),
    ]
    return "; ".join(part for part in parts if part)


def _denied(command: str) -> str:
    needs = ", needs mon 'allow r'" if command.startswith("ceph config ") else ""
    return f"{command}: denied by the cephx caps{needs}"
