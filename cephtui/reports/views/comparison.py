"""Two runs, with their repeats, beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from cephtui import units
from cephtui.analysis.runs.change import between
from cephtui.analysis.runs.marks import marks_between
from cephtui.analysis.runs.sides import Side, findings_with_runs
from cephtui.analysis.runs.stages import stage_changes
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.conditions import differences, unlike
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME
from cephtui.models.rows import Difference, Figure
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import (
    Block,
    Cell,
    Document,
    Facts,
    Items,
    NextStep,
    Part,
    Table,
    Text,
    View,
    columns,
    cut_items,
    cut_rows,
    document,
    naming_runs,
    words,
)
from cephtui.reports.styles import Style
from cephtui.reports.views.judgement import verdicts_blocks, verdicts_sheet
from cephtui.reports.views.runs import mark_words
from cephtui.reports.words.cutting import cut
from cephtui.reports.words.facts import facts, period, ranges
from cephtui.reports.words.quality import finding_line
from cephtui.reports.words.stages import moved_line
from cephtui.reports.words.text import conditions, imported, metric_of, short_version, title_of, value_range
from cephtui.reports.words.verdict import left_out_lines

NO_RESULTS = "neither run has results"
_OPTIONS_MOST = 4
"""That differ and stand in the line of each side too."""


def comparison_view(left: Side, right: Side, judgement: Judgement | None = None) -> View:
    """Two runs beside each other, with the verdict where they can be compared."""
    conclusion = [*judgement.verdicts, judgement.conclusion] if judgement else []
    return View(
        document=lambda: comparison_document(left, right, judgement),
        lines=lambda: [
            *conclusion,
            *differences(left, right),
            *(mark for _, mark in marks_between(left, right)),
            *compared_figures(left, right, judgement.verdicts if judgement else ()),
        ],
        sheet=lambda: verdicts_sheet(judgement.verdicts if judgement else ()),
    )


def comparison_document(
    left: Side, right: Side, judgement: Judgement | None = None, *, most_differences: int | None = None
) -> Document:
    """The verdict, differences in their conditions, the figures and their findings.

    Differences beyond ``most_differences`` stand at the end, so that the figures are visible without scrolling.
    """
    return document(_heading(left, right), *_blocks(left, right, judgement, most_differences))


def _heading(left: Side, right: Side) -> str:
    """``write-iops: runs 9-11 against runs 22-24``; with their sessions where these are two."""
    if not _in_one_session(left, right):
        return f"{_with_session(left)} against {_with_session(right)}"
    sides = " against ".join(f"run{'s' * (len(side.runs) > 1)} {_numbers(side)}" for side in (left, right))
    return f"{left.run.preset}: {sides}" if left.run.preset == right.run.preset else sides


def _in_one_session(left: Side, right: Side) -> bool:
    return left.run.session == right.run.session


def _numbers(side: Side) -> str:
    return ranges(sorted(run.run for run in side.runs))


def _with_session(side: Side) -> str:
    return f"{side.run.session}/{_numbers(side)}"


def _blocks(left: Side, right: Side, judgement: Judgement | None, most_shown: int | None) -> Iterator[Block]:
    differing = differences(left, right)
    runs = (*left.runs, *right.runs)
    marks = _marks(left, right)
    most_shown = len(differing) if most_shown is None else max(1, most_shown - len(marks))
    has_rest = len(differing) > most_shown + 1  # a line that counts one more takes a row too
    shown = differing[:most_shown] if has_rest else differing
    rest = differing[len(shown) :]
    yield Items(tuple(_sides(left, right, differing)))
    yield Facts(_facts(left, right), times_of(left, right))
    yield from verdicts_blocks(judgement)
    if notes := _notes(left, right, judgement):
        yield Items(notes)
    yield differences_block(shown, runs)
    if rest:
        yield Text(f"and {len(rest)} more differences, at the end", "strong")
    if marks:
        yield Items(marks)
    yield Text("")
    yield _changes(left, right, judgement.verdicts if judgement else ())
    if moved := tuple(map(moved_line, stage_changes(left.runs, right.runs))):
        yield Items(moved)
    if findings := tuple(_findings(left, right)):
        yield Items(findings)
    if rest:
        yield Text("")
        yield differences_block(rest, runs)
    yield NextStep("details", f"cephtui compare {left.name} {right.name}", is_aside=True)


def _notes(left: Side, right: Side, judgement: Judgement | None) -> tuple[Cell, ...]:
    """Runs that were left out, and what is to be known of the figures."""
    left_out = left_out_lines(judgement.conclusion.left_out) if judgement else ()
    notes = judgement.conclusion.notes if judgement else ()
    return (
        *(words(f"left out: {line}", style="limited") for line in left_out),
        *(words(line, style="strong") for line in (*notes, *about(left, right))),
    )


def _marks(left: Side, right: Side) -> tuple[Cell, ...]:
    """The marks in the runs and between them, with their session where there are two."""
    in_two_sessions = not _in_one_session(left, right)
    marks = (
        words("mark: ", *([f"{session}: "] if in_two_sessions else []), mark_words(mark))
        for session, mark in marks_between(left, right)
    )
    return cut_items(marks, "marks")


def times_of(left: Side, right: Side) -> str:
    """``A 2026-11-22 01:28 UTC, B 2026-11-22 01:34 to 01:36 UTC``: when both were measured."""
    return ", ".join(f"{name} {period(side.runs)}" for name, side in _named(left, right))


def _facts(left: Side, right: Side) -> tuple[tuple[str, Cell], ...]:
    """When, where, with what and on what both were measured: what is alike once."""
    before, after = facts(left.runs), facts(right.runs)
    sides = (("A", before, after), ("B", after, before))
    differing = [
        (f"{name} {fact}", text)
        for name, of_side, other in sides
        for fact, text in of_side.items()
        if other.get(fact) != text
    ]
    return (*differing, *((fact, text) for fact, text in before.items() if after.get(fact) == text))


def _named(left: Side, right: Side) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", left), ("B", right)


def _sides(left: Side, right: Side, differing: Iterable[Difference]) -> Iterator[Cell]:
    """Which runs these are, what they have in common once, and why one has no results.

    Many options that differ stand among the differences alone.
    """
    names = {difference.name for difference in differing if difference.topic == "option"}
    options = names if len(names) > _OPTIONS_MOST else ()
    loads = [f"{side.run.preset}: {conditions(side.run, options)}" for side in (left, right)]
    is_one, is_alike = _in_one_session(left, right), loads[0] == loads[1]
    common = [f"session {left.run.session}"] * is_one + [loads[0]] * is_alike
    if common:
        yield ", ".join(common)
    for (name, side), load in zip(_named(left, right), loads, strict=True):
        which: Part = (f"#{_numbers(side)}", "runs") if is_one else (_with_session(side), "")
        text = "" if is_alike else f" {load}"
        text += f", {imported(side.run)}" if side.run.imported_from else ""
        yield words((name, "strong"), " ", which, text)
        if side.problem:
            yield words(f"  {side.problem}", style="open")


def none_differed(runs: Iterable[Run]) -> str:
    """A sentence that says how far runs are known to be alike; a cluster that was not asked may have differed."""
    every = list(runs)
    if any(run.imported_from for run in every):
        return "no known difference between these runs; imported logs do not record everything"
    if all(run.cluster for run in every):
        return "no difference in parameters, nodes, versions and cluster"
    which = "some runs queried no cluster" if any(run.cluster for run in every) else "no cluster was queried"
    return f"no difference in parameters, nodes and versions; {which}"


def differences_block(
    differing: Sequence[Difference], runs: Iterable[Run], sides: tuple[str, str] = ("A", "B")
) -> Table | Text:
    """A row for each difference between these runs; where there is none, it is said."""
    if not differing:
        return Text(none_differed(runs), "strong")
    rows: list[tuple[Cell, ...]] = []
    for difference in differing:
        short = short_version(difference.left), short_version(difference.right)
        texts = short if short[0] != short[1] else (difference.left, difference.right)
        rows.append((difference.topic, difference.name, *texts))
    return Table(columns(("differs", "", *sides), "llll"), cut_rows(rows, "differences"))


def _changes(left: Side, right: Side, verdicts: Sequence[Verdict]) -> Table | Text:
    """The figures in rows; the range only where there are several runs.

    What can't be compared is grey, and has no change where other operations were measured.
    """
    compared = compared_figures(left, right, verdicts)
    if not compared:
        return Text(NO_RESULTS)
    other = unlike(left, right)
    is_grey = bool(other) or len(left.runs) == len(right.runs) == 1
    shown = {
        compared[0].direction: True,
        "A": True,
        "B": True,
        "change" if between(left, right).is_in_order else "B vs A": not other,
        "range of A": any(figure.left_spread for figure in compared),
        "range of B": any(figure.right_spread for figure in compared),
    }
    rows: list[tuple[Cell, ...]] = []
    for before, figure in zip((compared[0], *compared), compared, strict=False):
        if figure.direction != before.direction:
            rows.append((words(figure.direction, style="strong"), *[""] * (sum(shown.values()) - 1)))
        rows.append(tuple(compress(_cells(figure, is_grey), shown.values())))
    titles = [title for title, is_shown in shown.items() if is_shown]
    sides = "".join("r" if title in ("A", "B") else "l" for title in titles)
    return Table(columns(titles, sides, is_whole=True), tuple(rows))


def _cells(figure: Figure, is_grey: bool) -> tuple[Cell, ...]:
    """The title of a figure, both values, limited ones marked, the change, and both ranges."""
    metric = metric_of(figure.name, figure.tool)
    limits = (figure.left_findings, figure.right_findings)
    values = (
        words(metric.as_text(value) + ("!" if limit else ""), style="dim" if is_grey else "")
        for value, limit in zip((figure.left, figure.right), limits, strict=True)
    )
    return (
        title_of(BY_NAME[figure.name], [figure.tool], [figure.direction]),
        *values,
        words(change_text(figure), style="dim"),
        *(
            value_range(metric, *spread) if spread else units.DASH
            for spread in (figure.left_spread, figure.right_spread)
        ),
    )


def _findings(left: Side, right: Side) -> Iterator[Cell]:
    for name, side in _named(left, right):
        why, more = cut(findings_with_runs(side), f"findings of {name}")
        for finding, where in why:
            before, _, after = finding_line(finding, "\0").partition("\0")
            style: Style = "dim" if finding.level == "note" else "limited"
            yield words(f"{name}: {before}", naming_runs(where), after, style=style)
        if more:
            yield more


def change_text(figure: Figure) -> str:
    """The change in percent, with an arrow for the direction of the number where the runs show one.

    No word says what that means.
    """
    if figure.change_fraction is None or not figure.same_load:
        return units.DASH
    arrow = {"more": "▲ ", "less": "▼ ", None: ""}[figure.shown]
    return f"{arrow}{_signed(figure.change_fraction)}"


def _signed(fraction: float) -> str:
    """``+12.3 %``, and ``0.0 %`` without a sign."""
    text = units.percent(abs(100 * fraction))
    sign = "+" if fraction > 0 else "-"
    return text if text == units.percent(0.0) else f"{sign}{text}"


def about(left: Side, right: Side) -> list[str]:
    """Why the figures can't be compared, a line each; none where they can."""
    missing = [name for name, side in _named(left, right) if side.problem]
    other = ", ".join(
        f"{difference.name} {difference.left} and {difference.right}" for difference in unlike(left, right)
    )
    none = [f"no results of {' and '.join(missing)}"] if missing else []
    return [*none, f"not comparable: {other}"] if other else none
