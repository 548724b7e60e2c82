"""Runs with their figures: a table of several, as it stands in sessions, batches and single runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from cephtui.analysis.detectors.jobs import job_figures
from cephtui.analysis.runs.batches import PointSummary, node_names, varied
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.marks import runs_with_marks, with_results
from cephtui.models import ClusterEnvironment, Mark, Run, Total
from cephtui.models.metrics import METRICS, Metric
from cephtui.presets import choice_text
from cephtui.reports.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Items,
    NextStep,
    Part,
    Table,
    Text,
    View,
    Words,
    document,
    joined_words,
    naming_runs,
    words,
)
from cephtui.reports.sheets import Sheet, iso_time
from cephtui.reports.styles import OUTCOMES
from cephtui.reports.views.jobs import compared_jobs
from cephtui.reports.words.facts import facts, head_line, ranges, tool_version
from cephtui.reports.words.quality import finding_line, first_of_each, is_marked, outcome_word
from cephtui.reports.words.text import (
    IN_TABLE,
    conditions,
    counted,
    cut,
    details_command,
    margin_of,
    moment,
    short_conditions,
    spread,
    spread_of,
    titles_of,
    written,
)

_LEAST = IN_TABLE[:-1]
"""Where there is no room for all figures: the last is in the full view of a run."""
_PRESET_MOST = {len(IN_TABLE): 14, len(_LEAST): 11}
"""Characters of its name where there is little room, by the number of figures."""
_NO_RUNS = "no runs"
_COLUMNS = (
    *("event", "session", "run", "at", "batch", "repeat", "preset", "tool", "target", "nodes"),
    *("block_bytes", "pattern", "depth", "jobs", "runtime_seconds", "options", "direction"),
    *(metric.name for metric in METRICS),
    *("outcome", "text", "cephtui_version", "tool_version", "ceph_version", "health", "pool", "pool_size", "heading"),
)
"""Of CSV; ``text`` is that of a mark, or the error and the findings of a run."""


def session_view(runs: Sequence[Run], marks: Sequence[Mark] = (), *, is_saved: bool = True) -> View:
    """A session, or a batch: its conditions, the runs with marks between them, and where there is more.

    Where the runs could not be saved there is no more.
    """
    return View(
        document=partial(_document, runs, marks, is_saved=is_saved),
        lines=lambda: runs_with_marks(runs, marks),
        sheet=partial(runs_sheet, runs, marks),
    )


def _document(runs: Sequence[Run], marks: Sequence[Mark], *, is_saved: bool) -> Document:
    if not runs:
        return Document(_NO_RUNS, "", (Text(_NO_RUNS), *(runs_blocks(runs, marks) if marks else ())))
    more: list[Block] = [Code("", runs[0].command, is_aside=True)] if len(runs) == 1 else []
    more += [NextStep("details", details_command(runs))] if is_saved else []
    return document(title_of_runs(runs), conditions_of_all(runs), *runs_blocks(runs, marks), *_compared(runs), *more)


def title_of_runs(runs: Sequence[Run]) -> str:
    """``write-iops: 4k randwrite, depth 64, jobs 8, 60 s (3 runs)`` of runs that are alike, else the presets."""
    loads = dict.fromkeys(f"{run.preset}: {conditions(run)}" for run in runs)
    presets = dict.fromkeys(run.preset for run in runs)
    number = f" ({len(runs)} runs)" if len(runs) > 1 else ""
    return f"{next(iter(loads)) if len(loads) == 1 else ', '.join(presets)}{number}"


def conditions_of_all(runs: Sequence[Run]) -> Facts:
    """When, where, with what and on what these runs were measured."""
    return Facts(tuple(facts(runs).items()), words(head_line(runs), style="strong"))


def _compared(runs: Sequence[Run]) -> Iterator[Block]:
    """The jobs of the runs whose jobs are compared, such as OSDs."""
    compared = [(run, figures) for run in runs if (figures := job_figures(run.nodes))]
    for run, figures in cut(compared, "runs")[0]:
        yield Text(words((f"#{run.run}", "runs"), f" {run.preset}", style="strong"))
        yield compared_jobs({"": figures})


def runs_blocks(runs: Sequence[Run], marks: Sequence[Mark] = ()) -> Iterator[Block]:
    """A table of runs with their figures, a row for each direction, and the findings below.

    Marks stand between the runs, or after the run that they were made in; below repeats their mean, its interval and
    their spread. Each run has its conditions: in a column, or on a terminal below it where there is little room.
    """
    shown, more = cut(marks, "marks")
    yield _Rows(with_results(runs_with_marks(runs, shown)), varied(runs)).table()
    if more:
        yield Text(more)
    if len(runs) == 1 and (start_spread := spread(runs[0])):
        yield Text(naming_runs(start_spread, "dim"))
    if findings := finding_items(runs):
        yield Items(findings)


class _Rows:
    """Runs, results and marks as the rows of a table."""

    def __init__(self, rows: Sequence[Run | Mark | PointSummary], differing: Mapping[int, str]) -> None:
        self._rows, self._differing = rows, differing
        self._runs = [row for row in rows if isinstance(row, Run)]
        self._indent = max((len(str(run.run)) for run in self._runs), default=1) + 1

    def table(self) -> Table:
        """With as many figures as there is room for: the conditions give way first, then what names say in full."""
        least = self._laid_out(_LEAST, is_tight=True)
        tight = self._laid_out(IN_TABLE, is_tight=True, narrower=least)
        narrow = self._laid_out(IN_TABLE, narrower=tight)
        return self._laid_out(IN_TABLE, is_wide=True, narrower=narrow)

    def _laid_out(
        self, metrics: Sequence[Metric], *, is_wide: bool = False, is_tight: bool = False, narrower: Table | None = None
    ) -> Table:
        """Only a wide one has a column for the conditions: else they are notes of their runs.

        A tight one cuts the names of presets, and says of which latency the figures are with the first of them.
        """
        names = ("preset", *["conditions"] * is_wide, "")
        figures = titles_of(metrics, self._runs, short=is_tight)
        heads = (
            Column("#", "r"),
            *(Column(name, is_whole=True) for name in names),
            *(Column(title, "r") for title in figures),
            Column("outcome", is_whole=True),
        )
        rows: list[tuple[Cell, ...]] = []
        notes: list[Cell] = []
        for row in self._rows:
            if isinstance(row, Mark):
                rows.append((words("*", style="strong"), *[""] * (len(heads) - 1)))
                notes.append(mark_words(row))
            elif isinstance(row, PointSummary):
                self._add_result(row, metrics, is_wide, rows, notes)
            else:
                self._add_run(row, metrics, is_wide, is_tight, rows, notes)
        return Table(heads, tuple(rows), frozenset(), tuple(notes), self._indent, (narrower,) if narrower else ())

    def _add_run(
        self, run: Run, metrics: Sequence[Metric], is_wide: bool, is_tight: bool, rows: list[tuple[Cell, ...]],
        notes: list[Cell],
    ) -> None:  # fmt: skip
        """A row for each direction; the note has what sets the run apart, and why it did not end well."""
        preset = run.preset[: _PRESET_MOST[len(metrics)]] if is_tight else run.preset
        head = (str(run.run), preset, *[short_conditions(run)] * is_wide)
        totals: Mapping[str, Total | None] = run.summary.flows or {"": None}
        for number, (direction, total) in enumerate(totals.items()):
            figures = [metric.text_of(total) for metric in written(run.tool, metrics)]
            outcome = outcome_cell(run) if number == 0 else ""
            rows.append((*(head if number == 0 else [""] * len(head)), direction, *figures, outcome))
        note = joined_words(
            ("" if is_wide else short_conditions(run), self._differing[run.run], words((run.error or "", "limited"))),
            "  ",
        )
        empty = [""] * (len(totals) - 1)
        notes += [note, *empty] if is_wide else [*empty, note]

    def _add_result(
        self, row: PointSummary, metrics: Sequence[Metric], is_wide: bool, rows: list[tuple[Cell, ...]],
        notes: list[Cell],
    ) -> None:  # fmt: skip
        """Of repeats the mean of each direction, its interval and the spread."""
        differing, lines = self._differing[row.last.run], list(_result_lines(row, metrics))
        numbers = ranges(run.run for run in row.point.repeats)
        for number, (label, *texts) in enumerate(lines):
            head = (numbers if number == 0 else "", label, *[differing if number == 0 else ""] * is_wide, *texts)
            cells = [words(cell, style="strong") for cell in head] if label == "mean" else head
            rows.append((*cells, _counted(row) if number == 0 else ""))
        notes += [*[""] * (len(lines) - 1), "" if is_wide else differing]


def mark_words(mark: Mark) -> Words:
    """What was done, and when."""
    return words((f"{mark.text:.2000}", "strong"), " (", naming_runs(moment(mark)), ")")


def outcome_cell(run: Run) -> Words:
    """How it ended, and whether its figures can be believed."""
    is_limited = run.outcome == "ok" and is_marked(run)
    return words(outcome_word(run), style="limited" if is_limited else OUTCOMES.get(run.outcome or "", ""))


def _result_lines(row: PointSummary, metrics: Sequence[Metric]) -> Iterator[list[str]]:
    """Of each direction the mean, its interval and the spread: label, direction, figures."""
    for direction, estimates in row.estimates.items():
        shown_estimates = [estimates.get(metric.name) for metric in metrics]
        shown = zip(written(row.last.tool, metrics), shown_estimates, strict=True)
        yield ["mean", direction, *(metric.as_text(estimate.value if estimate else None) for metric, estimate in shown)]
        if len(row.counted) > 1:
            yield ["95 %", "", *map(margin_of, shown_estimates)]
            yield ["spread", "", *map(spread_of, shown_estimates)]


def _counted(row: PointSummary) -> Words:
    limited: Part = (" !", "limited") if any(map(is_marked, row.point.repeats)) else ("", "")
    return words(counted(row), limited, style="strong")


def finding_items(runs: Iterable[Run]) -> tuple[Cell, ...]:
    """Each finding once, behind the numbers of the runs that have it."""
    numbers: dict[tuple[str, bool], list[int]] = {}
    rest: list[Cell] = []
    for run in runs:
        shown, more = cut(first_of_each(run.findings), f"findings of #{run.run}")
        for finding in shown:
            numbers.setdefault((finding_line(finding), finding.level == "note"), []).append(run.run)
        rest += [naming_runs(more)] if more else []
    return (
        *(
            words((f"#{ranges(sorted(runs_with_it))}", "runs"), f" {text}", style="dim" if is_note else "limited")
            for (text, is_note), runs_with_it in sorted(numbers.items(), key=lambda item: item[0][1])
        ),
        *rest,
    )


# ---------------------------------------------------------------------------------------------- as data


def runs_sheet(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> Sheet:
    """A row for each direction of each run, and one for each mark; a figure that is not known is empty."""
    return Sheet("runs", _COLUMNS, _data_rows(runs, marks))


def _data_rows(runs: Sequence[Run], marks: Iterable[Mark]) -> Iterator[Mapping[str, object]]:
    session = runs[0].session if runs else None
    for row in runs_with_marks(runs, marks):
        if isinstance(row, Mark):
            yield {"event": "mark", "session": session, "run": row.run, "at": iso_time(row.at), "text": row.text}
            continue
        totals: Mapping[str, Total | None] = row.summary.flows or {"": None}
        for direction, total in totals.items():
            figures = {metric.name: metric.of(total) for metric in METRICS}
            yield {**conditions_of(row), "direction": direction, **figures}


def conditions_of(run: Run) -> dict[str, object]:
    """By column what a run was, without its figures."""
    cluster = run.cluster or ClusterEnvironment()
    load = load_of(run)
    load_fields = {
        "block_bytes": load.block_bytes,
        "pattern": load.pattern,
        "depth": load.depth or None,
        "jobs": load.jobs,
        "runtime_seconds": load.seconds,
    } if load else {}  # fmt: skip
    return {
        "event": "run",
        "session": run.session,
        "run": run.run,
        "at": iso_time(run.started_at) if run.is_dated else None,
        "batch": run.batch,
        "repeat": run.repeat,
        "preset": run.preset,
        "tool": run.tool,
        "target": run.target,
        "nodes": " ".join(node_names(run)),
        **load_fields,
        "options": " ".join(f"{name}={choice_text(value)}" for name, value in run.options.items()),
        "outcome": run.outcome or "running",
        "text": "; ".join(filter(None, [run.error, *(finding.text for finding in run.findings)])),
        "cephtui_version": run.cephtui_version,
        "tool_version": tool_version(run),
        "ceph_version": cluster.ceph_version,
        "health": cluster.health,
        "pool": cluster.pool.get("name"),
        "pool_size": cluster.pool.get("size"),
        "heading": run.heading,
    }
