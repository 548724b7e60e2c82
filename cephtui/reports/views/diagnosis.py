"""Why a cluster is slow: the causes in order, each with its evidence, what to do, and what would prove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.verdicts.causes import Sureness
from cephtui.analysis.verdicts.diagnosis import Cause, Diagnosis, diagnosis
from cephtui.models import Run
from cephtui.models.rows import CauseRow, DiagnosisRow
from cephtui.reports.blocks import (
    Bar,
    Block,
    Cell,
    Document,
    Facts,
    Items,
    Table,
    Text,
    View,
    columns,
    naming_runs,
    words,
)
from cephtui.reports.sheets import sheet_of
from cephtui.reports.styles import Style
from cephtui.reports.views.stages import stage_blocks
from cephtui.reports.words.diagnosis import (
    SURE,
    conclusion_text,
    cost_in_short,
    cost_text,
    disk_lines,
    evidence_lines,
    latency_sentences,
    network_line,
    not_seen_lines,
    osds_line,
    proof_command,
    since_lines,
)
from cephtui.reports.words.slowest import slowest_line
from cephtui.sessions import store
from cephtui.sessions.diagnoses import earlier_diagnosis, runs_diagnosed
from cephtui.sessions.saved_changes import run_with_repeats
from cephtui.sessions.store import StoreError
from cephtui.sessions.studies import ordered_in, read_studies

_STYLES: Mapping[Sureness, Style] = {"measured": "bad", "seen": "open", "set-up": "strong"}
_COST_COLUMNS = 24
"""Of the bar of a whole latency."""


def diagnosis_view(found: Diagnosis, titles: Mapping[str, str], earlier: Diagnosis | None = None) -> View:
    """The causes, most important first, and what has changed since an ``earlier`` diagnosis.

    ``titles`` are those of the runs' steps, by batch.
    """
    since = since_lines(earlier, found) if earlier else []
    rows = [_row(number, cause) for number, cause in enumerate(found.causes, 1)]
    return View(
        document=lambda: _document(found, titles, since),
        lines=lambda: [_summary(found, since), *rows],
        sheet=lambda: sheet_of(CauseRow, rows, "causes"),
    )


def saved_diagnosis_view(directory: Path, number: int | None = None) -> tuple[View, Diagnosis, Sequence[StoreError]]:
    """What the last diagnosis of a session shows, or all its runs where there is none, or a run of it with its repeats;
    the same as data; and what is wrong with runs that can't be read.

    Raises StoreError, also where no run measured I/O and ended well.
    """
    broken: Sequence[StoreError] = ()
    runs: Sequence[Run]
    if number is None:
        every, broken = store.read_runs(directory)
        runs = runs_diagnosed(directory, every)
    else:
        runs = run_with_repeats(directory, number)
    found = diagnosis(runs)
    if not found.runs:
        raise StoreError(f"session {directory.name} has no run that ended well and measured I/O: cephtui why --target")
    titles = {cell.batch: cell.step for cell in ordered_in(read_studies(directory)).cells}
    earlier = None if number else earlier_diagnosis(directory, runs)
    return diagnosis_view(found, titles, earlier), found, broken


def _document(found: Diagnosis, titles: Mapping[str, str], since: Sequence[str]) -> Document:
    title = f"Why is it slow: {found.runs[0].target}" if found.runs else "Why is it slow"
    return Document(title, title, (*_lead(found, since), *_details(found, titles)))


def _lead(found: Diagnosis, since: Sequence[str]) -> Iterator[Block]:
    yield Text(naming_runs(conclusion_text(found)), "strong")
    if lines := (*since, *_figures(found)):
        yield Items(lines)
    if any(cause.cost for cause in found.causes):
        yield Text("")
        yield Table(
            columns(("", "cause", "costs", "of the latency"), "rlll", is_whole=True), tuple(_costs(found.causes))
        )
    yield from causes_blocks(found)


def causes_blocks(found: Diagnosis) -> Iterator[Block]:
    """Each cause with what it costs, its evidence, what to do, and what would prove it."""
    for number, cause in enumerate(found.causes, 1):
        yield Text("")
        yield Text(
            words((f"{number}. {cause.kind.title}", _STYLES[cause.sureness]), (f" ({SURE[cause.sureness]})", "dim"))
        )
        yield Facts(tuple(_facts(cause)))


def _costs(causes: Sequence[Cause]) -> Iterator[tuple[Cell | Bar, ...]]:
    """A row for each cause, with the part of the latency that it costs as a bar."""
    for number, cause in enumerate(causes, 1):
        cost = cause.cost
        style: Style = "bad" if cost and cost.is_measured else "limited"
        bar = Bar(min(1.0, cost.share), _COST_COLUMNS, style) if cost else ""
        yield f"{number}.", cause.kind.title, words((cost_in_short(cost), style if cost else "dim")), bar


def _figures(found: Diagnosis) -> tuple[str, ...]:
    """What was measured, beside the stages of latency."""
    runs = [run for run in found.runs if not run.stages]
    sentences = [f"#{run.run} {sentence}" for run in runs for sentence in latency_sentences(run)]
    return tuple(filter(None, (network_line(found.links), *map(osds_line, found.runs), *sentences)))


def _facts(cause: Cause) -> Iterator[tuple[str, Cell]]:
    if cause.cost:
        yield "costs", cost_text(cause.cost)
    for number, line in enumerate(evidence_lines(cause.evidence)):
        yield "" if number else "evidence", naming_runs(line)
    for number, line in enumerate(disk_lines(cause)):
        yield "" if number else "disks", line
    for number, cure in enumerate(cause.cures):
        yield "" if number else "what to do", cure
    yield "proof", proof_command(cause)


def _details(found: Diagnosis, titles: Mapping[str, str]) -> Iterator[Block]:
    named: dict[Cell, Run] = {
        f"{titles.get(run.batch, run.preset)} #{run.run}": run for run in found.runs if run.stages
    }
    parts: tuple[tuple[str, Iterable[str]], ...] = (
        ("Minor causes", [line for cause in found.slight for line in evidence_lines(cause.evidence)]),
        ("Slowest operations", [f"{slowest_line(run.slowest[0])} (#{run.run})" for run in found.runs if run.slowest]),
        ("Slow, cause unknown", evidence_lines(found.unexplained)),
        ("Figures that may be faster than the disks", evidence_lines(found.caveats)),
        ("Not covered", not_seen_lines(found)),
    )
    if stages := stage_blocks(named):
        yield Text("")
        yield from stages
    for title, lines in parts:
        if lines:
            yield Text("")
            yield Text(title, "strong")
            yield Items(tuple(map(naming_runs, lines)))


def _row(number: int, cause: Cause) -> CauseRow:
    cost = cause.cost
    change, undo = cause.change
    return CauseRow(
        number=number,
        code=cause.kind.code,
        title=cause.kind.title,
        sureness=cause.sureness,
        run=name_of(cost.run if cost else cause.evidence[0].run),
        flow=cost.flow if cost else None,
        cost_seconds=cost.seconds if cost else None,
        of_seconds=cost.of_seconds if cost else None,
        evidence=tuple(evidence_lines(cause.evidence)),
        cure="; ".join(cause.cures),
        change=change or None,
        undo=undo or None,
    )


def _summary(found: Diagnosis, since: Sequence[str]) -> DiagnosisRow:
    return DiagnosisRow(
        runs=tuple(map(name_of, found.runs)),
        text=conclusion_text(found),
        latencies=tuple(sentence for run in found.runs for sentence in latency_sentences(run)),
        since=tuple(since),
        causes=tuple(cause.kind.code for cause in found.causes),
        slight=tuple(cause.kind.code for cause in found.slight),
        unexplained=tuple(evidence_lines(found.unexplained)),
        caveats=tuple(evidence_lines(found.caveats)),
        not_seen=tuple(not_seen_lines(found)),
    )
