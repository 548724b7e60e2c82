"""Two whole sessions beside each other: a row for each figure of each pair, then what all of them show together."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.analysis.runs.batches import name_of, node_names
from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.versus import Versus, differing_conditions
from cephtui.models import Run
from cephtui.models.rows import Difference
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import Cell, Column, Document, Items, NextStep, Table, Text, View, columns, document, words
from cephtui.reports.views.comparison import differences_block
from cephtui.reports.views.judgement import (
    figure_cells,
    intervals_chart,
    limits_of,
    name_of_verdict,
    style_of,
    verdicts_sheet,
)
from cephtui.reports.words.differing import what_differs
from cephtui.reports.words.facts import head_line
from cephtui.reports.words.verdict import answer_text, brief_word
from cephtui.tools import TOOLS


def versus_view(versus: Versus, judgement: Judgement, *, has_answer: bool = False) -> View:
    """Two whole sessions: which they are, the pairs, what they show together, and in what the sessions differ.

    ``has_answer`` adds that of a check, with its exit code.
    """
    return View(
        document=lambda: _document(versus, judgement, has_answer=has_answer),
        lines=lambda: [
            *judgement.verdicts,
            judgement.conclusion,
            *(difference for difference, _ in differing_conditions(versus)),
        ],
        sheet=lambda: verdicts_sheet(judgement.verdicts, names_of_pairs(versus)),
    )


def _document(versus: Versus, judgement: Judgement, *, has_answer: bool) -> Document:
    names = versus.left.name, versus.right.name
    limits = limits_of(judgement.conclusion, dict(zip(names, "AB", strict=True)))
    chart = intervals_chart(judgement.deciding, names_of_pairs(versus))
    return document(
        " against ".join(names),
        Items(tuple(words(f"{letter}  {text}", style="strong") for letter, text in heads(versus).items())),
        Text(""),
        *([_table(versus, judgement)] if judgement.deciding else []),
        *([chart] if chart else []),
        *(Text(line, "dim") for line in legend(judgement)),
        Text(""),
        *(Text(line, "strong") for line in judgement.conclusion.notes),
        differences_block(differing(versus), runs_of(versus)),
        *([Items(tuple(limits))] if limits else []),
        *([Text(answer_text(judgement, code=True), "strong")] if has_answer else []),
        NextStep("details", f"cephtui compare {' '.join(names)}", is_aside=True),
    )


def runs_of(versus: Versus) -> list[Run]:
    """The runs of all pairs."""
    return [run for pair in versus.pairs for run in pair.runs]


def heads(versus: Versus) -> dict[str, str]:
    """A line for each session by its letter: its name, and when, where and on what it was measured."""
    sessions = (("A", versus.left), ("B", versus.right))
    return {letter: f"{session.name}  {head_line(session.runs)}" for letter, session in sessions}


def _table(versus: Versus, judgement: Judgement) -> Table:
    """The figures of all pairs. Where there is little room, preset and figure share a column, and runs are left out."""
    wide: list[tuple[Cell, ...]] = []
    narrow: list[tuple[Cell, ...]] = []
    for verdict, (preset, figure, left, right, change, interval, runs, word) in rows(versus, judgement):
        cells = (left, right, change, interval)
        shown = words(word, style=style_of(verdict))
        wide.append((preset, figure, *cells, runs, shown))
        narrow.append((f"{preset} {figure}", *cells, shown))
    heads_of = columns(titles(judgement), "llrrrrrl", is_whole=True)
    heads_of_narrow = (Column(" ".join(titles(judgement)[:2])), *heads_of[2:6], Column("verdict"))
    return Table(heads_of, tuple(wide), narrower=(Table(heads_of_narrow, tuple(narrow)),))


def titles(judgement: Judgement) -> tuple[str, ...]:
    """The headings of the cells of a row."""
    confidence = next((verdict.confidence for verdict in judgement.deciding), 0.95)
    return ("preset", "figure", "A", "B", "B vs A", f"{100 * confidence:g} %", "runs", "verdict")


def rows(versus: Versus, judgement: Judgement) -> list[tuple[Verdict, tuple[str, ...]]]:
    """Verdicts that decide, with their cells: the name of the pair first, the word of the verdict last."""
    named = names_of_pairs(versus)
    return [
        (verdict, (name_of_verdict(verdict, named), *figure_cells(verdict), brief_word(verdict)))
        for verdict in judgement.deciding
    ]


def legend(judgement: Judgement) -> list[str]:
    """A line on what the words of the verdicts mean; none without a verdict.

    Where several are judged a word may say less than the interval beside it, which holds by itself.
    """
    verdicts = [verdict for verdict in judgement.deciding if verdict.is_judged]
    if not verdicts:
        return []
    percent = f"{verdicts[0].same_percent:g} %"
    together = "; each interval is for one comparison, better, worse, faster and slower hold for all together"
    return [f"better, worse: by more than {percent}; same: within {percent}{together * (len(verdicts) > 1)}"]


def differing(versus: Versus) -> list[Difference]:
    """Differences between the sessions; those of some pairs only say of how many."""
    pairs = len(versus.pairs)
    return [
        difference
        if in_pairs == pairs
        else difference.model_copy(update={"name": f"{difference.name} ({in_pairs} of {pairs} pairs)"})
        for difference, in_pairs in differing_conditions(versus)
    ]


def names_of_pairs(versus: Versus) -> dict[str, str]:
    """Names of pairs by their runs: the preset, and what sets a pair apart from others of it."""
    return names_of_changes(versus.pairs)


def names_of_changes(pairs: Sequence[Change]) -> dict[str, str]:
    """Names of changes by their runs: the preset, and what sets a change apart from others of it."""
    names: dict[str, str] = {}
    for pair in pairs:
        alike = [other for other in pairs if other.before[0].preset == pair.before[0].preset]
        names |= dict.fromkeys(map(name_of, pair.runs), _name_of_pair(pair, alike))
    return names


def _name_of_pair(pair: Change, alike: Sequence[Change]) -> str:
    """Options first; names of targets and nodes only where pairs have the same options."""
    run = pair.before[0]
    direction = TOOLS[run.tool].direction_option if run.tool in TOOLS else None
    varied = [
        name
        for name in run.options
        if name != direction and len({other.before[0].options.get(name) for other in alike}) > 1
    ]
    same = [other.before[0] for other in alike if other.before[0].options == run.options]
    places = []
    for place_of in (lambda run: run.target), (lambda run: ",".join(node_names(run))):
        if len({place_of(other) for other in same}) > 1:
            places.append(" / ".join(dict.fromkeys((place_of(run), place_of(pair.after[0])))))
    return " ".join(filter(None, (run.preset, what_differs(run, None, varied), *places)))
