"""Runs with their figures: a table of several, and one in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.history import History
from cephtui.analysis.marks import in_order
from cephtui.models import Mark, Run, Total
from cephtui.models.metrics import BY_NAME, LIVE, METRICS
from cephtui.reports.sparks import spark
from cephtui.reports.tables import LIVE_COLUMNS, add_more, add_row, make_table, plain
from cephtui.reports.text import OUTCOME_STYLES, conditions, cut, joined, moment, spread, varied

_IOPS, _MEAN = BY_NAME["iops"], BY_NAME["latency_mean_seconds"]
_IN_TABLE = (*LIVE, BY_NAME["latency_p999_seconds"])
_COLUMNS = tuple(metric.title for metric in _IN_TABLE)
_IN_FULL = tuple(metric for metric in METRICS if metric not in _IN_TABLE)
"""Only in the full view of a run, with the minimum latency and the standard deviation."""


def draw_runs(found: Sequence[Run], marks: Sequence[Mark] = (), *, errors: bool = True) -> RenderableType:
    """A table of runs with their figures, a line for each direction, and the findings below.

    Marks stand between the runs, or after the run that they were made in.
    """
    table = make_table("#", "preset", "", *_COLUMNS, "outcome", "", right=("#", *_COLUMNS))
    differing = varied(found)
    shown, more = cut(marks, "marks")
    for row in in_order(found, shown):
        if isinstance(row, Mark):
            remark = Text.assemble((f"{row.text:.2000}", "bold"), f" ({moment(row)})")
            add_row(table, Text("*", "bold"), *[""] * (len(_COLUMNS) + 3), remark)
        else:
            _add_run(table, row, differing[row.run])
    apart = [Text(text, style="dim") for run in found if (text := spread(run))]
    notes = [_note(run, errors) for run in found if run.findings or (run.error and errors)]
    return Group(table, *[Text(more)] * bool(more), *apart, *notes)


def _add_run(table: Table, run: Run, apart: str) -> None:
    outcome = Text(run.outcome or "running", style=OUTCOME_STYLES.get(run.outcome or "", ""))
    totals: Mapping[str, Total | None] = run.summary.flows or {"": None}
    for row, (direction, total) in enumerate(totals.items()):
        head, tail = (("", ""), ("", "")) if row else ((str(run.run), run.preset), (outcome, apart))
        add_row(table, *head, direction, *[metric.text_of(total) for metric in _IN_TABLE], *tail)


def _note(run: Run, errors: bool) -> Text:
    shown, more = cut(run.findings, f"findings of #{run.run}")
    lines = [f"#{run.run} {run.outcome}: {run.error}"] if run.error and errors else []
    lines += [f"#{run.run} ! {finding.text}" for finding in shown]
    return Text("\n").join(plain(line, "yellow") for line in [*lines, *[more] * bool(more)])


def _latencies(total: Total) -> str:
    figures = [
        f"min {units.latency(total.latency_min_seconds)}",
        *(f"{metric.title} {metric.text_of(total)}" for metric in _IN_FULL),
        f"stddev {units.latency(total.latency_stddev_seconds)}",
    ]
    return ", ".join(figures)


def draw_run(value: Run, history: History | None = None, marks: Sequence[Mark] = ()) -> RenderableType:
    """One run in full: figures, conditions, marks, environment and commands."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for direction, total in value.summary.flows.items():
        add_row(table, f"{direction} latency", _latencies(total))
    add_row(table, "target", Text(value.target))
    add_row(table, "options", conditions(value))
    if len(value.nodes) > 1:
        add_row(table, "nodes", _node_results(value))
    if value.cluster:
        add_row(table, "cluster", _cluster(value))
    for mark in (marks_in := cut((mark for mark in marks if mark.run == value.run), "marks"))[0]:
        add_row(table, "mark", f"{mark.text} ({moment(mark)})")
    add_more(table, marks_in[1])
    _add_environment(table, value)
    _add_commands(table, value)
    when = f"{value.started_at.astimezone():%Y-%m-%d %H:%M:%S}, {units.duration(value.duration_seconds)}"
    add_row(table, "started", when)
    if history and history.directions:
        add_row(table, _IOPS.title, Text(spark(history.total(_IOPS.name).values(), 60), style="green"))
    return Group(draw_runs([value]), "", table)


def _add_environment(table: Table, value: Run) -> None:
    """The hardware and software of each node."""
    environment, more = cut(value.environment.items(), "nodes")
    for node, found in environment:
        facts = (
            found.os,
            f"kernel {found.kernel}" if found.kernel else "",
            found.cpu,
            *(f"{name} {units.bit_rate(speed)}" for name, speed in found.nic_bits_per_second.items()),
            found.tools.get(value.tool),
            found.filesystem,
            found.device,
        )
        add_row(table, node, ", ".join(fact for fact in facts if fact))
    add_more(table, more)


def _add_commands(table: Table, value: Run) -> None:
    """Each node's command, CPU and disk use, and the figures of its jobs."""
    results, more = cut(value.nodes, "nodes")
    for result in results:
        add_row(table, "", plain(f"$ {result.command}", "cyan"))
        add_row(table, "cpu", f"user {units.percent(result.cpu_user_percent)}, "
                             f"system {units.percent(result.cpu_system_percent)}")  # fmt: skip
        disks = joined((f"{d.name} {units.percent(d.utilisation_percent)} busy" for d in result.disks), "disks")
        add_row(table, "disks", disks or units.DASH)
        jobs, more_jobs = cut(result.jobs, "jobs")
        for job in jobs:
            add_row(table, job.job, "; ".join(map(_job, job.summary.flows.values())))
        add_more(table, more_jobs)
    add_more(table, more)


def _job(total: Total) -> str:
    return f"{_IOPS.text_of(total)} {_IOPS.title}, {_MEAN.title} {_MEAN.text_of(total)}"


def _node_results(value: Run) -> Table:
    """Each node's figures, and when it started and ended."""
    columns = (*LIVE_COLUMNS, "began", "ended")
    table = make_table("node", "", *columns, "outcome", right=columns)
    results, more = cut(value.nodes, "nodes")
    for result in results:
        totals: Mapping[str, Total | None] = result.summary.flows or {"": None}
        times = [units.latency(result.started_seconds), units.latency(result.ended_seconds)]
        outcome = Text(result.outcome or "", style=OUTCOME_STYLES.get(result.outcome or "", ""))
        for direction, total in totals.items():
            add_row(table, result.node, direction, *[metric.text_of(total) for metric in LIVE], *times, outcome)
    if more:
        add_row(table, more)
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
        *(f"{command}: denied by the cephx caps" for command in cut(found.no_permission, "commands")[0]),
    ]
    return "; ".join(part for part in parts if part)
