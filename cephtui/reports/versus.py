"""Two whole sessions beside each other: a row for each figure of each pair, then what all of them show together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.analysis.batches import name_of, node_names
from cephtui.analysis.change import Change
from cephtui.analysis.conclusion import Judgement
from cephtui.analysis.versus import Versus, conditions_apart
from cephtui.models import Run
from cephtui.models.rows import Difference
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import Sheet
from cephtui.reports.comparison import draw_differences
from cephtui.reports.differing import what_differs
from cephtui.reports.facts import head_line
from cephtui.reports.render.csv import csv_of
from cephtui.reports.tables import Fitting, add_row, make_table, plain
from cephtui.reports.text import cut, metric_of
from cephtui.reports.verdict import STYLES, answer_text, interval_of, left_out_lines, ratio_of, short_text
from cephtui.tools import TOOLS

_CSV = ("preset", "direction", "figure", "left", "right", "ratio", "ratio_low", "ratio_high", "confidence", "runs_left",
        "runs_right", "verdict", "differs", "p_same", "p_same_together")  # fmt: skip


def draw_versus(found: Versus, judged: Judgement, *, ascii_only: bool = False, answer: bool = False) -> RenderableType:
    """Which sessions these are, the pairs, what they show together, and in what the sessions differ.

    ``answer`` adds that of a check, with its exit code.
    """
    shown, more = cut(apart(found), "differences")
    conclusion = judged.conclusion
    return Group(
        *(plain(f"{name}  {text}", "bold") for name, text in heads(found, ascii_only=ascii_only).items()),
        "",
        *[_table(found, judged)] * bool(judged.deciding),
        *(plain(line, "dim") for line in legend(judged)),
        "",
        *(plain(line, "bold") for line in conclusion.notes),
        draw_differences(shown, runs_of(found)),
        *[Text(more)] * bool(more),
        *(plain(f"left out: {line}", "yellow") for line in left_out_lines(conclusion.left_out)),
        *(plain(f"! {line}", "yellow") for line in left_out_lines(conclusion.limited)),
        *[plain(answer_text(judged, code=True), "bold")] * answer,
    )


def runs_of(found: Versus) -> list[Run]:
    """Of all pairs."""
    return [run for pair in found.pairs for run in pair.runs]


def heads(found: Versus, *, ascii_only: bool = False) -> dict[str, str]:
    """By the letter of each session its name, and when, where and on what it was measured."""
    return {
        letter: f"{session.name}  {head_line(session.runs, ascii_only=ascii_only)}"
        for letter, session in (("A", found.left), ("B", found.right))
    }


def _table(found: Versus, judged: Judgement) -> RenderableType:
    """Where there is little room, preset and figure are one column, and the numbers of runs are left out."""
    names, cells = columns(judged), rows(found, judged)
    wide, narrow = make_table(*names, whole=names, right=names[2:7]), make_table(*_narrow(names), right=names[2:6])
    for verdict, (*each, word) in cells:
        shown = Text(word, style=STYLES[verdict.met] if verdict.is_judged else "dim")
        add_row(wide, *each, shown)
        add_row(narrow, *_narrow(each), shown)
    return Fitting(wide, narrow)


def _narrow(cells: Sequence[str]) -> tuple[str, ...]:
    preset, figure, left, right, change, interval, _, *word = cells
    return f"{preset} {figure}", left, right, change, interval, *word


def columns(judged: Judgement) -> tuple[str, ...]:
    """The headings of the cells of a row."""
    confidence = next((verdict.confidence for verdict in judged.deciding), 0.95)
    return ("preset", "figure", "A", "B", "B vs A", f"{100 * confidence:g} %", "runs", "verdict")


def rows(found: Versus, judged: Judgement) -> list[tuple[Verdict, tuple[str, ...]]]:
    """Each figure that decides, with its cells: the name of the pair first, the verdict's word last."""
    named = names_of_pairs(found)
    return [
        (verdict, (_named(verdict, named), *_figures(verdict), short_text(verdict, brief=True)))
        for verdict in judged.deciding
    ]


def _named(verdict: Verdict, names: dict[str, str]) -> str:
    return next((names[run] for run in (*verdict.before, *verdict.after) if run in names), verdict.preset)


def _figures(verdict: Verdict) -> tuple[str, ...]:
    metric = metric_of(verdict.figure, verdict.tool, verdict.direction)
    return (
        f"{verdict.direction} {metric.full_title}",
        metric.as_text(verdict.left),
        metric.as_text(verdict.right),
        ratio_of(verdict) or units.DASH,
        interval_of(verdict),
        f"{len(verdict.before)}, {len(verdict.after)}",
    )


def legend(judged: Judgement) -> list[str]:
    """What the words of the verdicts mean, in a line; none without a verdict.

    Where several are judged a word may say less than the interval beside it, which holds by itself.
    """
    found = [verdict for verdict in judged.deciding if verdict.is_judged]
    if not found:
        return []
    percent = f"{found[0].same_percent:g} %"
    apart = "; intervals are of each by itself, better, worse, faster and slower hold for all together"
    return [f"better, worse: by more than {percent}; same: within {percent}{apart * (len(found) > 1)}"]


def apart(found: Versus) -> list[Difference]:
    """In what the sessions were not alike; what differs in some of the pairs only says in how many."""
    pairs = len(found.pairs)
    return [
        each if number == pairs else each.model_copy(update={"name": f"{each.name} ({number} of {pairs} pairs)"})
        for each, number in conditions_apart(found)
    ]


def names_of_pairs(found: Versus) -> dict[str, str]:
    """By the name of each run what its pair is called: the preset, and what sets it apart from its other pairs."""
    return names_of_changes(found.pairs)


def names_of_changes(pairs: Sequence[Change]) -> dict[str, str]:
    """The same of any changes, each with runs on both sides."""
    names: dict[str, str] = {}
    for pair in pairs:
        others = [each for each in pairs if each.before[0].preset == pair.before[0].preset]
        names |= dict.fromkeys(map(name_of, pair.runs), _name_of_pair(pair, others))
    return names


def _name_of_pair(pair: Change, alike: Sequence[Change]) -> str:
    """Options first; names of targets and nodes only where pairs have the same options."""
    run = pair.before[0]
    direction = TOOLS[run.tool].direction_option if run.tool in TOOLS else None
    varied = [name for name in run.options if name != direction and _vary(alike, partial(_option, name))]
    same = [each for each in alike if each.before[0].options == run.options]
    places = [_both(pair, of) for of in (_target, _nodes) if _vary(same, of)]
    return " ".join(filter(None, (run.preset, what_differs(run, None, varied), *places)))


def _vary(pairs: Sequence[Change], of: Callable[[Run], object]) -> bool:
    return len({of(pair.before[0]) for pair in pairs}) > 1


def _both(pair: Change, of: Callable[[Run], str]) -> str:
    first, second = of(pair.before[0]), of(pair.after[0])
    return first if first == second else f"{first} / {second}"


def _option(name: str, run: Run) -> object:
    return run.options.get(name)


def _target(run: Run) -> str:
    return run.target


def _nodes(run: Run) -> str:
    return ",".join(node_names(run))


def verdicts_csv(verdicts: Sequence[Verdict], names: dict[str, str]) -> str:
    """A header and a row for each figure, in base units; ``names`` are those of the pairs by their runs."""
    return csv_of(Sheet("x", tuple(_CSV), (_csv_row(verdict, names) for verdict in verdicts)))


def _csv_row(verdict: Verdict, names: dict[str, str]) -> dict[str, object]:
    low, high = verdict.interval or (None, None)
    return dict(zip(_CSV, (
        _named(verdict, names), verdict.direction, verdict.figure, verdict.left, verdict.right, verdict.ratio, low,
        high, verdict.confidence, len(verdict.before), len(verdict.after), verdict.word, verdict.differs,
        verdict.p_same, verdict.p_same_together,
    ), strict=True))  # fmt: skip
