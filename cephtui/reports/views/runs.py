"""Runs with their figures: a table of several, as it stands in sessions, batches and single runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TypeAlias

from cephtui.analysis.detectors.jobs import job_figures
from cephtui.analysis.runs.batches import PointSummary, node_names, varied
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.marks import runs_with_marks, with_results
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, Finding, Mark, Run, Total
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
from cephtui.reports.views.jobs import compared_jobs
from cephtui.reports.words.cutting import cut
from cephtui.reports.words.diagnosis import hint_lines
from cephtui.reports.words.facts import facts, head_line, ranges, tool_version
from cephtui.reports.words.quality import (
    finding_line,
    first_of_each,
    is_marked,
    more_like,
    outcome_style,
    outcome_word,
    same_but_figures,
)
from cephtui.reports.words.text import (
    IN_TABLE,
    condition_parts,
    conditions,
    conditions_but,
    counted,
    details_command,
    margin_of,
    moment,
    shared_conditions,
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
UNTIL_STABLE = (
    "95 % is the interval with which the repeats ended, widened for the looks after each run; occasional slow runs "
    "can't be excluded"
)
_COLUMNS = (
    *("event", "session", "run", "at", "batch", "repeat", "preset", "tool", "target", "nodes"),
    *("block_bytes", "pattern", "depth", "jobs", "runtime_seconds", "options", "direction"),
    *(metric.name for metric in METRICS),
    *("outcome", "text", "cephtui_version", "tool_version", "ceph_version", "health", "pool", "pool_size", "heading"),
)
"""Of CSV; ``text`` is that of a mark, or the error and the findings of a run."""


def session_view(
    runs: Sequence[Run], marks: Sequence[Mark] = (), *, is_saved: bool = True, until_stable: Collection[str] = ()
) -> View:
    """A session, or a batch: its conditions, the runs with marks between them, and where there is more.

    Where the runs could not be saved there is no more. ``until_stable`` are batches that were repeated until stable.
    """
    return View(
        document=partial(_document, runs, marks, is_saved=is_saved, until_stable=until_stable),
        lines=lambda: runs_with_marks(runs, marks),
        sheet=partial(runs_sheet, runs, marks),
    )


def _document(runs: Sequence[Run], marks: Sequence[Mark], *, is_saved: bool, until_stable: Collection[str]) -> Document:
    if not runs:
        return Document(_NO_RUNS, "", (Text(_NO_RUNS), *(runs_blocks(runs, marks) if marks else ())))
    more: list[Block] = [Code("", runs[0].command, is_aside=True)] if len(runs) == 1 else []
    more += [NextStep("details", details_command(runs))] if is_saved else []
    blocks = [*runs_blocks(runs, marks, until_stable)]
    if hints := hint_lines(runs):
        blocks.append(Items(tuple(words(line, style="strong") for line in hints)))
    return document(title_of_runs(runs), conditions_of_all(runs), *blocks, *_compared(runs), *more)


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


def runs_blocks(runs: Sequence[Run], marks: Sequence[Mark] = (), until_stable: Collection[str] = ()) -> Iterator[Block]:
    """A table of runs with their figures, a row for each direction, and the findings below.

    Marks stand between the runs, or after the run that they were made in; below repeats their mean, its interval and
    their spread. Conditions that all runs of a tool have stand above; others in a column, or on a terminal below their
    run where there is little room.
    """
    shown, more = cut(marks, "marks")
    shared = shared_conditions(runs)
    if shared:
        yield Items(tuple(words((f"{whose}: ", "dim"), text) for whose, text in _shared_lines(runs, shared)))
    yield _table(with_results(runs_with_marks(runs, shown)), varied(runs), until_stable, shared)
    if any(run.batch in until_stable for run in runs) and len(runs) > 1:
        yield Text(UNTIL_STABLE, "dim")
    if more:
        yield Text(more)
    if len(runs) == 1 and (start_spread := spread(runs[0])):
        yield Text(naming_runs(start_spread, "dim"))
    if findings := finding_items(runs):
        yield Items(findings)


def _shared_lines(runs: Sequence[Run], shared: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Whose conditions they are, and what is the same in them."""
    is_all = len({run.tool for run in runs}) == 1
    for tool, parts in shared.items():
        first = next(run for run in runs if run.tool == tool)
        others = [part for part in condition_parts(first) if part not in parts]
        yield "all runs" if is_all else f"all runs of {tool}", conditions_but(first, others)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How much a row of the table says."""

    metrics: Sequence[Metric] = IN_TABLE
    is_wide: bool = False
    """Whether conditions have a column: else they are notes of their runs."""
    is_tight: bool = False
    """Whether names of presets are cut, and only the first latency says which one it is."""
    until_stable: Collection[str] = ()
    """Batches whose intervals were looked at after each run."""
    shared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Conditions that stand above the table, by tool."""

    def conditions(self, run: Run) -> str:
        """The others."""
        return conditions_but(run, self.shared.get(run.tool, ()))


_LAYOUTS = (_Layout(is_wide=True), _Layout(), _Layout(is_tight=True), _Layout(_LEAST, is_tight=True))
"""The widest first: the conditions give way first, then what names say in full, then a figure."""
_Rows: TypeAlias = Sequence[Run | Mark | PointSummary]
_Line: TypeAlias = tuple[tuple[Cell, ...], Cell]
"""The cells of a row, and its note."""


def _table(
    rows: _Rows, differing: Mapping[int, str], until_stable: Collection[str], shared: Mapping[str, Sequence[str]]
) -> Table:
    """Runs, results and marks, with as many figures as there is room for."""
    layouts = [replace(layout, until_stable=until_stable, shared=shared) for layout in _LAYOUTS]
    if not any(layouts[0].conditions(row) for row in rows if isinstance(row, Run)):
        layouts = [layout for layout in layouts if not layout.is_wide]
    *wider, least = layouts
    table = _laid_out(rows, differing, least, ())
    for layout in reversed(wider):
        table = _laid_out(rows, differing, layout, (table,))
    return table


def _laid_out(
    rows: Sequence[Run | Mark | PointSummary],
    differing: Mapping[int, str],
    layout: _Layout,
    narrower: tuple[Block, ...],
) -> Table:
    runs = [row for row in rows if isinstance(row, Run)]
    names = ("preset", "conditions", "") if layout.is_wide else ("preset", "")
    heads = (
        Column("#", "r"),
        *(Column(name, is_whole=True) for name in names),
        *(Column(title, "r") for title in titles_of(layout.metrics, runs, short=layout.is_tight)),
        Column("outcome", is_whole=True),
    )
    lines: list[_Line] = []
    for row in rows:
        if isinstance(row, Mark):
            lines.append(((words("*", style="strong"), *[""] * (len(heads) - 1)), mark_words(row)))
        elif isinstance(row, PointSummary):
            lines += _result_lines(row, layout, differing[row.last.run])
        else:
            lines += _run_lines(row, layout, differing[row.run])
    indent = max((len(str(run.run)) for run in runs), default=1) + 1
    notes = tuple(note for _, note in lines)
    return Table(heads, tuple(cells for cells, _ in lines), notes=notes, note_indent=indent, narrower=narrower)


def _run_lines(run: Run, layout: _Layout, differing: str) -> Iterator[_Line]:
    """A row for each direction; the note has what sets the run apart, and why it did not end well."""
    preset = run.preset[: _PRESET_MOST[len(layout.metrics)]] if layout.is_tight else run.preset
    head = (str(run.run), preset, *([layout.conditions(run)] if layout.is_wide else []))
    totals: Mapping[str, Total | None] = run.summary.flows or {"": None}
    error = words((run.error or "", "limited"))
    note = joined_words(("" if layout.is_wide else layout.conditions(run), differing, error), "  ")
    noted = 0 if layout.is_wide else len(totals) - 1
    for number, (direction, total) in enumerate(totals.items()):
        figures = [metric.text_of(total) for metric in written(run.tool, layout.metrics)]
        named = (*head, direction) if number == 0 else (*[""] * len(head), direction)
        yield (*named, *figures, outcome_cell(run) if number == 0 else ""), note if number == noted else ""


def _result_lines(row: PointSummary, layout: _Layout, differing: str) -> Iterator[_Line]:
    """The mean of each direction of repeats, its interval and the spread; what sets them apart is the note."""
    numbers = ranges(run.run for run in row.point.repeats)
    lines = list(_results(row, layout.metrics, is_looked_at=row.last.batch in layout.until_stable))
    for number, (label, *texts) in enumerate(lines):
        is_first, is_last = number == 0, number == len(lines) - 1
        conditions = [differing if is_first else ""] if layout.is_wide else []
        texts = [numbers if is_first else "", label, *conditions, *texts]
        cells = [words(text, style="strong") for text in texts] if label == "mean" else texts
        yield (*cells, _counted(row) if is_first else ""), differing if is_last and not layout.is_wide else ""


def mark_words(mark: Mark) -> Words:
    """The text of a mark, and when it was made."""
    return words((f"{mark.text:.2000}", "strong"), " (", naming_runs(moment(mark)), ")")


def outcome_cell(run: Run) -> Words:
    """How it ended, and whether its figures can be believed."""
    return words(outcome_word(run), style=outcome_style(run))


def _results(row: PointSummary, metrics: Sequence[Metric], *, is_looked_at: bool) -> Iterator[list[str]]:
    """Rows of repeats: label, direction and figures of the mean, its interval and the spread, by direction."""
    for direction, estimates in row.estimates.items():
        shown_estimates = [estimates.get(metric.name) for metric in metrics]
        shown = zip(written(row.last.tool, metrics), shown_estimates, strict=True)
        yield ["mean", direction, *(metric.as_text(estimate.value if estimate else None) for metric, estimate in shown)]
        if len(row.counted) > 1:
            yield ["95 %", "", *(margin_of(estimate, is_looked_at=is_looked_at) for estimate in shown_estimates)]
            yield ["spread", "", *map(spread_of, shown_estimates)]


def _counted(row: PointSummary) -> Words:
    limited: Part = (" !", "limited") if any(map(is_marked, row.point.repeats)) else ("", "")
    return words(counted(row), limited, style="strong")


def finding_items(runs: Iterable[Run]) -> tuple[Cell, ...]:
    """Findings behind the numbers of the runs that have them; of those that differ in figures alone the first."""
    alike: dict[object, list[tuple[int, Finding]]] = {}
    more_lines: list[Cell] = []
    for run in runs:
        shown, more = cut(first_of_each(run.findings), f"findings of #{run.run}")
        for finding in shown:
            alike.setdefault(same_but_figures(finding), []).append((run.run, finding))
        more_lines += [naming_runs(more)] if more else []
    groups = sorted(alike.values(), key=lambda group: group[0][1].level == "note")
    return (*(_finding_item(group) for group in groups), *more_lines)


def _finding_item(group: Sequence[tuple[int, Finding]]) -> Cell:
    first = group[0][1]
    others = {finding.text for _, finding in group} - {first.text}
    numbers = ranges(sorted({number for number, _ in group}))
    line = finding_line(first.model_copy(update={"text": more_like(first.text, len(others))}))
    return words((f"#{numbers}", "runs"), f" {line}", style="dim" if first.level == "note" else "limited")


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
    """The conditions of a run by column, without its figures."""
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
