"""Runs and comparisons as Markdown (GFM) that stands alone in a ticket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cephtui.analysis.conclusion import Judgement
from cephtui.analysis.conditions import differences
from cephtui.analysis.figures import figures
from cephtui.analysis.marks import marks_between
from cephtui.analysis.matrix import Matrix
from cephtui.analysis.sides import Side, findings_with_runs
from cephtui.analysis.versus import Versus
from cephtui.models import Mark, Run
from cephtui.models.metrics import BY_NAME
from cephtui.models.rows import Figure
from cephtui.models.verdict import Verdict
from cephtui.reports.comparison import NO_RESULTS, about, change_text, none_differed, range_text, value_text
from cephtui.reports.facts import facts
from cephtui.reports.gfm import document, escaped, table
from cephtui.reports.matrix import (
    LEGEND,
    cell_text,
    column_titles,
    figure_title,
    place_text,
    progress_text,
    remarks,
    row_titles,
)
from cephtui.reports.quality import finding_line
from cephtui.reports.text import (
    moment,
    title_of,
)
from cephtui.reports.verdict import basis, headline, left_out_lines, verdict_text
from cephtui.reports.versus import apart, columns, heads, legend, rows, runs_of
from cephtui.reports.views.runs import title_of_runs


def comparison_markdown(left: Side, right: Side, judged: Judgement | None = None) -> str:
    """What the two sides are, the verdict, in what they differ, marks between them, the figures and their findings."""
    sides = (("A", left), ("B", right))
    heads = [[[f"**{name}: {escaped(title_of_runs(side.runs))}**"], _facts(side.runs)] for name, side in sides]
    differ = [(each.topic, each.name, each.left, each.right) for each in differences(left, right)]
    findings = [
        f"- finding of {name}: {escaped(finding_line(finding, where))}"
        for name, side in sides
        for finding, where in findings_with_runs(side)
    ]
    return document(
        *heads[0],
        *heads[1],
        *[_verdict(verdict) for verdict in (judged.deciding if judged else ())],
        [escaped(line) for line in (*(judged.conclusion.notes if judged else ()), *about(left, right))],
        _differing(differ, (*left.runs, *right.runs)),
        [f"- mark: {escaped(f'{mark.text} ({_moment(mark)})')}" for _, mark in marks_between(left, right)],
        _changes(figures(left, right)),
        findings,
        [f"details: `cephtui compare {left.name} {right.name}`"],
    )


def versus_markdown(found: Versus, judged: Judgement) -> str:
    """Two whole sessions: which they are, the pairs with their verdicts, what they show together, what differs."""
    titles = [f"- {letter}: {escaped(text)}" for letter, text in heads(found).items()]
    cells = [cells for _, cells in rows(found, judged)]
    differ = [(each.topic, each.name, each.left, each.right) for each in apart(found)]
    conclusion = judged.conclusion
    limits = [f"! {line}" for line in left_out_lines(conclusion.limited)]
    left_out = [f"left out: {line}" for line in left_out_lines(conclusion.left_out)]
    return document(
        [f"**{escaped(f'{found.left.name} against {found.right.name}')}**"],
        titles,
        table(columns(judged), "llrrrrrl", cells),
        [escaped(line) for line in legend(judged)],
        [f"- {escaped(line)}" for line in (*conclusion.notes, *left_out, *limits)],
        _differing(differ, runs_of(found)),
        [f"details: `cephtui compare {found.left.name} {found.right.name}`"],
    )


def _differing(rows: Sequence[tuple[str, str, str, str]], runs: Iterable[Run]) -> list[str]:
    return table(("differs", "", "A", "B"), "llll", rows) if rows else [none_differed(runs)]


def matrix_markdown(matrix: Matrix, runs: Sequence[Run], *, live: bool = False) -> str:
    """A matrix: what is to be known of its runs, the table, and what the marks in its cells mean."""
    if not matrix.rows:
        return "no runs\n"
    titles = ("step", "figure", *column_titles(matrix))
    places = [place_text(row) for row in matrix.rows]
    names = [", ".join(filter(None, pair)) for pair in zip(row_titles(matrix), places, strict=True)]
    found = [
        (name, figure_title(row.metric), *(cell_text(row, cell).plain for cell in row.cells))
        for name, row in zip(names, matrix.rows, strict=True)
    ]
    about = [f"**{escaped(matrix.title or runs[0].session)}**"] if matrix.title or runs else []
    notes = [f"- {escaped(line.plain.replace('#', 'run '))}" for line in remarks(matrix)]
    in_columns = {"nodes"} if any(column.nodes for column in matrix.columns) else set()
    known = {name: text for name, text in facts(runs).items() if name not in in_columns}
    known |= {"progress": progress_text(matrix, live=live), "cells": LEGEND}
    facts_of = [f"- {name}: {escaped(text)}" for name, text in known.items()]
    return document(about, facts_of, table(titles, "l" * len(titles), found), notes)


def _verdict(verdict: Verdict) -> list[str]:
    """A paragraph: the figure with its interval, what that says, and what it rests on."""
    return [f"**{escaped(headline(verdict).plain)}: {escaped(verdict_text(verdict))}**", "", escaped(basis(verdict))]


def _facts(runs: Sequence[Run]) -> list[str]:
    return [f"- {name}: {escaped(text)}" for name, text in facts(runs).items()]


def _changes(found: Iterable[Figure]) -> list[str]:
    found = list(found)
    changed = all(figure.same_load for figure in found)
    columns = ("", "A", "B", *["change"] * changed, "range of A", "range of B")
    rows = [
        (
            f"{figure.direction} {title_of(BY_NAME[figure.name], [figure.tool], [figure.direction])}",
            *(value_text(figure, value) for value in (figure.left, figure.right)),
            *[change_text(figure)] * changed,
            *(range_text(figure, spread) for spread in (figure.left_spread, figure.right_spread)),
        )
        for figure in found
    ]
    return table(columns, f"lrrrr{'r' * changed}", rows) if rows else [NO_RESULTS]


def _moment(mark: Mark) -> str:
    """Where tickets are tracked, ``#3`` would be a link to one."""
    return moment(mark).replace("#", "run ")
