"""The jobs of a run that were measured apart, and what their sum is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cephtui import units
from cephtui.analysis.detectors.jobs import JobFigure, slower, under
from cephtui.analysis.detectors.jobs import job_figures as job_figures_of
from cephtui.frozen import dataclass
from cephtui.models import Run, Total
from cephtui.models.metrics import BY_NAME, LIVE
from cephtui.reports.blocks import Bar, Block, Cell, Column, Table, Text, columns, cut_rows, words
from cephtui.reports.words.text import title_of

_IOPS = BY_NAME["iops"]
_BAR_COLUMNS = 24
_MARKS = {"most": "▲ most", "least": "▼ least", "": ""}


def figure_titles(run: Run) -> tuple[str, ...]:
    """The titles of a job's figures."""
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
    totals = [
        (node.node, job.job, job.image or "", direction, total)
        for node in run.nodes
        for job in node.jobs
        for direction, total in job.summary.flows.items()
    ]
    directions = dict.fromkeys(direction for *_, direction, _ in totals)
    return [row for direction in directions for row in _rows([total for total in totals if total[3] == direction])]


def _rows(jobs: Sequence[tuple[str, str, str, str, Total]]) -> list[JobRow]:
    """The jobs of one direction."""
    rates = [total.iops or 0.0 for *_, total in jobs]
    ios = sum(total.ios or 0 for *_, total in jobs)
    words = {rates.index(max(rates)): "most", rates.index(min(rates)): "least"} if min(rates) < max(rates) else {}
    return [
        JobRow(*job, share=(job[-1].ios or 0) / ios if ios else None, word=words.get(number, ""))
        for number, job in enumerate(jobs)
    ]


def _job_figures(total: Total, share: float | None) -> list[str]:
    """The figures of a job in the order of ``figure_titles``."""
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
        f"all: all I/Os divided by the longest run time. The jobs' own IOPS add up to more, {', '.join(more)}: "
        "a job that ended early counts as if it had run to the end."
    )


def job_blocks(run: Run) -> Iterator[Block]:
    """A row for each job, those with the most and the least IOPS marked, and the row of all; nothing without jobs.

    Jobs that are compared within groups, such as OSDs, have a bar each instead.
    """
    if figures := job_figures_of(run.nodes):
        yield compared_jobs({"": figures})
    elif rows := job_rows(run):
        yield _table(run, rows)
        if note := sum_note(run, rows):
            yield Text(note, "dim")


def _table(run: Run, rows: Sequence[JobRow]) -> Table:
    heads = (
        *columns(("node", "job"), "ll", is_whole=True),
        Column("image", is_whole=True, rank=1),
        Column("", is_whole=True),
        *(Column(title, "r") for title in figure_titles(run)),
        Column(" ", is_whole=True),
    )
    of_jobs = [
        (
            *(row.node if len(run.nodes) > 1 else "", row.job, row.image, row.direction),
            *_job_figures(row.total, row.share),
            _MARKS[row.word],
        )
        for row in rows
    ]
    of_all = [("", "all", "", name, *_job_figures(total, 1.0), "") for name, total in run.summary.flows.items()]
    table = Table(heads, (*of_jobs, *of_all)).filled
    cells = (*cut_rows(table.rows[: len(rows)], "jobs"), *table.rows[len(rows) :])
    return replace(table, rows=cells, strong=frozenset(range(len(cells) - len(of_all), len(cells))))


def compared_jobs(runs: Mapping[Cell, Sequence[JobFigure]]) -> Table:
    """Jobs that are compared with each other: a bar from zero for each, and how far the slow ones are under the others.

    Each run's jobs are compared among themselves; an empty name is that of the only one.
    """
    several = len({job.direction for figures in runs.values() for job in figures}) > 1
    rows: list[tuple[Cell | Bar, ...]] = []
    strong = set()
    for name, figures in runs.items():
        marked = slower(figures)
        most = max((job.bandwidth_bytes for job in figures), default=0.0) or 1.0
        for job in figures:
            slow = words(f"▼ {under(job, marked[job])}", style="limited") if job in marked else ""
            strong |= {len(rows)} if slow else set()
            where = (name, job.job, job.direction if several else "", job.group, job.place)
            bar = Bar(job.bandwidth_bytes / most, _BAR_COLUMNS)
            rows.append((*where, bar, units.bandwidth(job.bandwidth_bytes), units.iops(job.iops), slow))
    heads = columns(("run", "job", "direction", "group", "where", "", "bandwidth", "IOPS", " "), "llllllrrl")
    table = Table(heads, tuple(rows), frozenset(strong)).filled
    return replace(table, rows=cut_rows(table.rows, "jobs"))
