"""The jobs of a run that were measured apart, and what their sum is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.jobs import job_figures as job_figures_of
from cephtui.analysis.jobs import slower, under
from cephtui.frozen import dataclass
from cephtui.models import Run, Total
from cephtui.models.metrics import BY_NAME, LIVE
from cephtui.reports.bars import bars
from cephtui.reports.tables import Fitting, add_row, make_table, plain
from cephtui.reports.text import cut, title_of

_IOPS = BY_NAME["iops"]


def figure_titles(run: Run) -> tuple[str, ...]:
    """The columns of ``job_figures``."""
    return (*(title_of(metric, [run.tool], run.summary.flows) for metric in LIVE), "run time", "share")


_APART = 0.001
"""The sum of the jobs' rates is shown where it is so much more than the rate of all."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in one direction."""

    node: str
    job: str
    image: str
    direction: str
    total: Total
    share: float | None
    """Of all I/Os in this direction."""
    word: str = ""
    """``least`` or ``most`` IOPS of all jobs; empty for the others, and where all are alike."""


def job_rows(run: Run) -> list[JobRow]:
    """Reads and writes apart, by node and job; none where jobs were not measured apart."""
    found = [
        (node.node, job.job, job.image or "", direction, total)
        for node in run.nodes
        for job in node.jobs
        for direction, total in job.summary.flows.items()
    ]
    directions = dict.fromkeys(direction for *_, direction, _ in found)
    return [row for direction in directions for row in _rows([each for each in found if each[3] == direction])]


def _rows(found: Sequence[tuple[str, str, str, str, Total]]) -> list[JobRow]:
    """Of one direction."""
    rates = [total.iops or 0.0 for *_, total in found]
    ios = sum(total.ios or 0 for *_, total in found)
    words = {rates.index(max(rates)): "most", rates.index(min(rates)): "least"} if min(rates) < max(rates) else {}
    return [
        JobRow(*each, share=(each[-1].ios or 0) / ios if ios else None, word=words.get(number, ""))
        for number, each in enumerate(found)
    ]


COMPARED = ("job", "group", "where", "", "bandwidth", "IOPS", " ")
COMPARED_SIDES = "llllrrl"
"""Columns of ``compared_rows``, and where their texts stand."""


def compared_rows(run: Run) -> list[tuple[str, ...]]:
    """The jobs that are compared with each other, with how far the slow ones are under the others; often none."""
    figures = job_figures_of(run.nodes)
    marked = slower(figures)
    return [
        (
            each.job,
            each.group,
            each.place,
            each.direction,
            units.bandwidth(each.bandwidth_bytes),
            units.iops(each.iops),
            under(each, marked[each]) if each in marked else "",
        )
        for each in figures
    ]


def job_figures(total: Total, share: float | None) -> list[str]:
    """In the order of ``figure_titles``."""
    lasted = f"{total.runtime_seconds:.1f} s"
    return [*(metric.text_of(total) for metric in LIVE), lasted, units.percent(share and 100 * share)]


def sum_note(run: Run, rows: Sequence[JobRow]) -> str:
    """Why the rate of all is not the sum of the jobs' own; empty where it is."""
    more = []
    flows = run.summary.flows
    for direction in _IOPS.names_of_whole(flows):
        total = flows[direction]
        added = sum(row.total.iops or 0.0 for row in rows if row.direction == direction)
        if total.iops and added > total.iops * (1 + _APART):
            more.append(f"{direction} {units.iops(added)} (+{units.percent(100 * (added / total.iops - 1))})")
    if not more:
        return ""
    return (
        f"all: the I/Os of all jobs over the longest run time. The jobs' own IOPS add up to more, {', '.join(more)}: "
        "a job that ended earlier counts there as if it had run to the end."
    )


def draw_jobs(run: Run, *, ascii_only: bool = False) -> RenderableType | None:
    """A line for each job, those with the most and the least IOPS marked, and the line of all; None without jobs.

    Jobs that are compared within groups, such as OSDs, have a bar each instead.
    """
    if not (rows := job_rows(run)):
        return None
    if figures := job_figures_of(run.nodes):
        return bars(figures, ascii_only=ascii_only)
    tables = [_table(run, rows, images=images, ascii_only=ascii_only) for images in (True, False)]
    note = sum_note(run, rows)
    return Group(Fitting(*tables), *[Text(note, "dim")] * bool(note))


def _table(run: Run, rows: Sequence[JobRow], *, images: bool, ascii_only: bool) -> Table:
    of_nodes, on_images = len(run.nodes) > 1, images and any(row.image for row in rows)
    names = (*["node"] * of_nodes, "job", *["image"] * on_images, "")
    titles = figure_titles(run)
    table = make_table(*names, *titles, " ", right=titles, whole=[*names, " "])
    signs = {"most": "^", "least": "v"} if ascii_only else {"most": "▲", "least": "▼"}
    shown, more = cut(rows, "jobs")
    for row in shown:
        where = (*[row.node] * of_nodes, row.job, *[row.image] * on_images, row.direction)
        mark = f"{signs[row.word]} {row.word}" if row.word else ""
        add_row(table, *where, *job_figures(row.total, row.share), mark)
    if more:
        add_row(table, more)
    for direction, total in run.summary.flows.items():
        cells = ("all", *[""] * (of_nodes + on_images), direction, *job_figures(total, 1.0))
        add_row(table, *(plain(cell, "bold") for cell in cells))
    return table
