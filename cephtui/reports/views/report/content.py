"""A document's content: the verdict first, then what it rests on, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TypeAlias

from cephtui import __version__
from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.links import links_of
from cephtui.analysis.runs.marks import marks_among, marks_between
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.diagnosis import Diagnosis, diagnosis
from cephtui.analysis.verdicts.expectation import answer_to
from cephtui.analysis.verdicts.noted import UNSEEN
from cephtui.analysis.views.curve import Curve
from cephtui.analysis.views.matrix import matrix_of
from cephtui.models import Mark, Run
from cephtui.models.verdict import Verdict
from cephtui.printable import listed
from cephtui.reports.blocks import (
    Block,
    Cell,
    Code,
    Color,
    Document,
    Items,
    LineChart,
    Section,
    Table,
    Text,
    View,
    Words,
    columns,
    cut_items,
    cut_rows,
    joined_words,
    naming_runs,
    words,
)
from cephtui.reports.styles import Style
from cephtui.reports.views.charts import Line, colors_of, dots_chart, interval_chart, time_chart
from cephtui.reports.views.curve import Knees, curve_chart, curves_of, knee_items, knees_of, peak_words, runs_of
from cephtui.reports.views.diagnosis import causes_blocks
from cephtui.reports.views.expected import expected_blocks
from cephtui.reports.views.judgement import name_of_verdict, style_of
from cephtui.reports.views.links import links_blocks
from cephtui.reports.views.matrix import slowest_remarks
from cephtui.reports.views.osds import osd_blocks
from cephtui.reports.views.report.material import Material
from cephtui.reports.views.report.sheets import figures_sheet, sheets_of_report
from cephtui.reports.views.report.tables import (
    conditions_of,
    figures_table,
    findings_of,
    is_repeated,
    jobs_table,
    loads_of,
    matrix_blocks,
    nodes_beside,
    points_of,
    points_table,
    result_lines,
    runs_table,
)
from cephtui.reports.views.runs import UNTIL_STABLE
from cephtui.reports.views.stages import stage_blocks
from cephtui.reports.views.versus import names_of_changes
from cephtui.reports.words.cutting import cut, joined
from cephtui.reports.words.diagnosis import conclusion_text
from cephtui.reports.words.expectation import expected_sentence
from cephtui.reports.words.facts import period
from cephtui.reports.words.folded import folded
from cephtui.reports.words.run import ceiling_lines
from cephtui.reports.words.text import moment
from cephtui.reports.words.verdict import (
    ANSWERS,
    answer_text,
    figures_text,
    statistics_text,
    verdict_text,
)

_TONES: dict[str, Style] = {"met": "good", "not met": "bad", "undecided": "open"}
_TESTS = {"paired": "paired t, runs interleaved", "welch": "Welch's t, runs not interleaved"}
_OF_ONE = (
    "It is met if the whole interval is on the good side of what is required, not met if all of it is on the other "
    "side, otherwise inconclusive."
)
_OF_SEVERAL = (
    "It is met if the whole interval of each of the {0} figures is on the good side of what is required, not met if "
    "one is on the other side by more than chance explains for the worst of {0} (Holm), otherwise inconclusive."
)
_CHARTS_MOST = 4
"""Of one kind."""
_SENTENCES_MOST = 6
"""Figures with a sentence of their own above all: the table has all of them."""
_CHANGES_MOST = 3
"""In the title, where the user has noted none."""
_PRESETS_MOST = 3
"""In the title of a study that was no suite."""
_ANY_NODE = "\0"
"""In the place of a node's name."""
_EQUAL_LINES_MOST = 8
"""In one chart, where each has a colour of its own."""
_IN_SHEETS = ("What was expected", "Figures", "Each run")
"""Sections that a workbook has as sheets."""


def report_view(material: Material, *, seconds: bool = False) -> View:
    """A report, with ``seconds`` in its data those of every run."""
    content = cache(partial(document_of, material))
    return View(
        document=content,
        lines=lambda: (),
        sheet=lambda: figures_sheet(material, seconds=seconds),
        sheets=lambda: sheets_of_report(material, content(), seconds=seconds),
    )


def document_of(material: Material) -> Document:
    """The whole document of a report."""
    is_change = bool(material.changes) and not material.is_versus
    curves, why = _curves_of(material), diagnosis(material.runs) if material.is_diagnosis else None
    sections = (
        ("What was changed" if is_change else "What was measured", _changed(material)),
        ("Causes", tuple(causes_blocks(why)) if why else ()),
        ("What was expected", tuple(expected_blocks(material.expected, material.runs, material.ordered))),
        ("Figures", _figures(material, curves)),
        ("Ceilings", _ceilings(material)),
        ("Conditions", conditions_of(material)),
        ("Findings", findings_of(material)),
        ("Each run", _runs(material)),
        ("Commands", tuple(_commands(material))),
        ("Method", _method(material)),
        ("Origin", _origin(material)),
    )
    heading = material.title or _heading(material)
    return Document(
        title=": ".join(filter(None, [heading, "" if material.title else _answer(material)])),
        heading=heading,
        lead=tuple(_lead(material, curves, why)),
        sections=tuple(Section(title, blocks, title in _IN_SHEETS) for title, blocks in sections if blocks),
        footer=f"cephtui {__version__}, {material.made_at.astimezone():%Y-%m-%d %H:%M %Z}",
        made_at=material.made_at,
    )


def _answer(material: Material) -> str:
    """The answer on a change; on a study that on what was expected of it, empty where nothing was."""
    if material.judgement:
        return ANSWERS[material.judgement.conclusion.answer]
    return ANSWERS[answer_to(material.expected)] if material.expected else ""


def _heading(material: Material) -> str:
    """Session and change."""
    sessions = " and ".join(material.sessions)
    if material.is_versus:
        return " against ".join(material.sides)
    if not material.changes:
        presets = listed(list(dict.fromkeys(run.preset for run in material.runs)), _PRESETS_MOST)
        return f"{sessions}: {(material.ordered.title if material.ordered else '') or presets}"
    marks = _marks(material)
    conclusion = material.judgement.conclusion if material.judgement else None
    unseen = f"{' (noted, not seen)' * (UNSEEN in conclusion.notes)}" if conclusion else ""
    changed = [f"{mark.text}{unseen}" for mark in marks[:1]] or list(conclusion.changed if conclusion else ())
    more = len(changed) - _CHANGES_MOST
    shown = f"{', '.join(changed[:_CHANGES_MOST])}{f' and {more} more' * (more > 0)}"
    return f"{sessions}: {shown or ' and '.join(material.sides)}"


def _marks(material: Material) -> list[Mark]:
    """Marks from the first run of each change to its last; of a study, from its first run to its last."""
    if not material.changes:
        return marks_among(material.runs, material.marks) if material.runs else []
    sides = [(Side(change.before, material.marks), Side(change.after, material.marks)) for change in material.changes]
    marks = {mark: None for left, right in sides for _, mark in marks_between(left, right)}
    return sorted(marks, key=lambda mark: mark.at)


def _lead(material: Material, curves: Sequence[_CurveWithKnees], why: Diagnosis | None) -> Iterator[Block]:
    """The answer on each figure in a sentence, then what they are together, with the exit code."""
    if material.judgement is None:
        yield from _survey(material, curves, why)
        return
    conclusion, deciding = material.judgement.conclusion, material.judgement.deciding
    names = names_of_changes(material.changes)
    for verdict in deciding[:_SENTENCES_MOST] if not material.is_versus else ():
        yield Text(f"{name_of_verdict(verdict, names)}: {verdict_text(verdict)}", style=style_of(verdict))
        yield Text(". ".join(filter(None, [figures_text(verdict), statistics_text(verdict)])), style="dim")
    answer = answer_text(material.judgement, code=True)
    yield Text(f"{answer[0].upper()}{answer[1:]}", style=_TONES[conclusion.answer])
    if notes := (*material.notes, *conclusion.notes):
        yield Items(notes)


_CurveWithKnees: TypeAlias = tuple[Curve, Knees]


def _curves_of(material: Material) -> list[_CurveWithKnees]:
    """The first curves of a study, which has no verdict, with their knees."""
    if material.judgement and material.judgement.verdicts:
        return []
    return [(curve, knees_of(curve)) for curve in curves_of(material.runs, material.marks)[:_CHARTS_MOST]]


def _survey(material: Material, curves: Sequence[_CurveWithKnees], why: Diagnosis | None) -> Iterator[Block]:
    """What a study shows at a glance: what became of what was expected, causes, what is slowest, peaks, the matrix."""
    matrix = matrix_of(material.runs, material.headline, material.ordered, material.osds)
    missing = f", {matrix.missing} missing" if matrix.missing else ""
    runs = f"{len(material.runs)} run{'s' * (len(material.runs) != 1)}{missing}"
    if material.expected:
        tone = _TONES[answer_to(material.expected)]
        yield Text(f"{runs}: {expected_sentence(material.expected)}", style=tone)
    if why:
        yield Text(naming_runs(conclusion_text(why)), "strong")
    yield from (Text(remark, "strong") for remark in slowest_remarks(matrix))
    blocks = matrix_blocks(matrix)
    lines = [*_peaks(material, curves)]
    if not (lines or blocks or why):
        lines = [*result_lines(material)]
    yield from (Text(line, "strong") for line in lines[:_SENTENCES_MOST])
    if not material.expected:
        yield Text(f"{runs} (a survey: no before and after to compare)")
    if material.notes:
        yield Items(material.notes)
    yield from blocks


def _peaks(material: Material, curves: Sequence[_CurveWithKnees]) -> Iterator[str]:
    """``Peak 33.7k write IOPS at depth 64``; behind preset and series where there are several."""
    for curve, knees in curves:
        run = runs_of(curve)[0]
        preset = run.preset if len(curves) > 1 else ""
        for series, line in peak_words(curve.axis, knees, material.headline(run)):
            name = ", ".join(filter(None, [preset, series]))
            yield f"{name}: {line}" if name else f"{line[0].upper()}{line[1:]}"


def _changed(material: Material) -> tuple[Block, ...]:
    noted = "mark: " if material.changes else ""
    marks = (words(f"{noted}{mark.text} (", naming_runs(moment(mark)), ")") for mark in _marks(material))
    items = cut_items(marks, "marks")
    if material.is_versus:
        items = (f"{' against '.join(material.sides)}: runs of the same presets with the same options, in pairs",)
    elif material.changes:
        items = (*(items or ("mark: none",)), *_seen(material))
    loads = () if material.changes else cut_items(loads_of(material), "loads")
    return (Items((*items, f"measured: {period(material.runs)}{_by(material)}", *loads)),)


def _by(material: Material) -> str:
    """Who has measured it, where that is known of all but imported runs."""
    users = dict.fromkeys(run.user for run in material.runs if run.imported_from is None)
    names = [name for name in users if name]
    if not names or len(names) < len(users):
        return ""
    imported = any(run.imported_from is not None for run in material.runs)
    return f", by {listed(names)}{' (except imported runs)' if imported else ''}"


def _seen(material: Material) -> tuple[Cell, ...]:
    """Differences between the sides that were seen, whatever was noted."""
    differences = material.judgement.conclusion.changed if material.judgement else ()
    lines = cut_items((f"difference: {text}" for text in differences), "differences")
    return lines or ("difference: none recorded in options, nodes, versions and cluster",)


def _figures(material: Material, curves: Sequence[_CurveWithKnees]) -> tuple[Block, ...]:
    judgement = material.judgement
    if judgement is None or not judgement.verdicts:
        return (*links_blocks(links_of(material.runs)), points_table(material), *_charts(material, curves))
    runs = {name_of(run): run for run in material.runs}
    names = names_of_changes(material.changes)
    labelled = [(verdict, name_of_verdict(verdict, names)) for verdict in judgement.deciding]
    charts: list[LineChart | None] = [interval_chart(labelled)]
    for number, (verdict, label) in enumerate(labelled[:_CHARTS_MOST], 1):
        charts.append(dots_chart(verdict, label, runs, material.sides, number))
    return (*figures_table(material, judgement), *filter(None, charts))


def _charts(material: Material, curves: Sequence[_CurveWithKnees]) -> Iterator[Block]:
    """A chart for each of the first presets of which something was varied, over the first of its axes; the knee."""
    for number, (curve, knees) in enumerate(curves, 1):
        metric = material.headline(runs_of(curve)[0])
        if chart := curve_chart(curve, knees, metric, f"curve-{number}"):
            yield chart
            if knees:
                yield Items(knee_items(curve.axis, knees, metric))


def _ceilings(material: Material) -> tuple[Block, ...]:
    """What is known of ceilings, then for each run what limits it, or what would show that."""
    rows: list[tuple[Cell, ...]] = [
        (
            material.ids([name]),
            ceiling.limit,
            f"{100 * ceiling.share:,.0f} %",
            f"{ceiling.direction} {ceiling.figure.title}",
            ceiling.figure.as_text(ceiling.measured),
            f"{'about' if ceiling.is_estimate else 'at most'} {ceiling.figure.as_text(ceiling.at_most)}",
            naming_runs(ceiling.basis),
        )
        for name, ceilings in material.ceilings.items()
        for ceiling in ceilings
        if ceiling.is_known
    ]
    heads = columns(("run", "limit", "reached", "", "measured", "can be", "from"), "llrlrrl")
    table = (Table(heads, cut_rows(rows, "ceilings")),) if rows else ()
    runs, names_by_line = {name_of(run): run for run in material.runs}, dict[str, list[str]]()
    for name, ceilings in material.ceilings.items():
        unknown = [ceiling for ceiling in ceilings if ceiling.at_most is None]
        for line in [*ceiling_lines(unknown)[:-1], ceiling_lines(ceilings, runs[name])[-1]]:
            names_by_line.setdefault(line, []).append(name)
    is_of_all = len(names_by_line) == 1
    said = (
        naming_runs(line) if is_of_all else words(material.ids(names), ": ", naming_runs(line))
        for line, names in names_by_line.items()
    )
    lines = cut_items(said, "lines")
    return (*table, Items(lines)) if lines else ()


def _runs(material: Material) -> tuple[Block, ...]:
    """A row for each, what its nodes and OSDs did, and how it went over time."""
    runs: dict[Cell, Run] = {material.ids([name_of(run)]): run for run in material.runs}
    charts = _over_time(material)[:_CHARTS_MOST]
    beside = (*nodes_beside(runs), *stage_blocks(runs), *osd_blocks(runs))
    is_told = not material.changes and not is_repeated(points_of(material))
    return (*([] if is_told else [runs_table(material)]), *jobs_table(runs), *beside, *charts)


def _over_time(material: Material) -> list[LineChart]:
    """One chart for each preset: the sides of a change in two colours, runs of a study in one each."""
    charts = []
    for number, preset in enumerate(dict.fromkeys(run.preset for run in material.runs), 1):
        runs = [run for run in material.runs if run.preset == preset and name_of(run) in material.lines]
        lines = {name_of(run): material.lines[name_of(run)] for run in runs}
        if chart := time_chart(preset, f"time-{number}", list(_colored(material, runs, lines))):
            charts.append(chart)
    return charts


def _colored(material: Material, runs: list[Run], lines: dict[str, Line]) -> Iterator[tuple[str, Color, Line]]:
    if material.changes:
        colors: dict[str, Color] = dict(zip(material.sides, ("before", "after"), strict=True))
        for run in runs:
            yield material.side_of(run), colors[material.side_of(run)], lines[name_of(run)]
        return
    names = [name_of(run) for run in runs[:_EQUAL_LINES_MOST]]
    yield from ((material.ids([name]).plain, color, lines[name]) for name, color in colors_of(names).items())


def _commands(material: Material) -> Iterator[Block]:
    """Commands with their runs and nodes: those once that differ in the node's name, or in the value of an option."""
    names_by_command: dict[str, dict[str, list[str]]] = {}
    for run in material.runs:
        for node, command in [(node_run.node, node_run.command) for node_run in run.nodes] or [("", run.command)]:
            of_any_node = command.replace(node, _ANY_NODE) if node else command
            names_by_command.setdefault(of_any_node, {}).setdefault(node, []).append(name_of(run))
    shown, more = cut(names_by_command.items(), "commands")
    by_nodes: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for command, names in shown:
        by_nodes.setdefault(tuple(names), {})[command] = [name for on_node in names.values() for name in on_node]
    for nodes, commands in by_nodes.items():
        every = [*commands]
        for pieces, places in folded([tuple(command.split(" ")) for command in every]):
            runs = material.ids(name for at in places for name in commands[every[at]])
            yield _command(" ".join(pieces), nodes, runs)
    if more:
        yield Text(more)


def _command(of_any_node: str, nodes: Sequence[str], runs: Words) -> Code:
    first, *others = nodes
    same = f" (and on {joined(others, 'nodes')}, each with its own name)" if others else ""
    return Code(words(f"on {first}{same}: " if first else "", runs), of_any_node.replace(_ANY_NODE, first))


def _method(material: Material) -> tuple[Block, ...]:
    """The method in two sentences; then the runs that were left out."""
    judgement = material.judgement
    deciding = judgement.deciding if judgement else []
    names_by_why: dict[str, list[str]] = {}
    for run in judgement.conclusion.left_out if judgement else ():
        names_by_why.setdefault(run.why, []).append(run.run)
    left_out = joined_words((words(material.ids(names), f": {why}") for why, names in names_by_why.items()), "; ")
    texts = _of_verdicts(deciding, material.sides) if deciding else _of_study(material)
    return (*map(Text, texts), *([Text(words("Left out: ", left_out, "."))] if names_by_why else []))


def _of_study(material: Material) -> tuple[str, ...]:
    return (
        "Each run counts as one figure, without its ramp. Repeats are shown as their geometric mean with its 95 % "
        "interval; runs that did not end well, or read from a cache or a thin image, are not counted.",
        *([f"Of repeats until stable, {UNTIL_STABLE}."] if material.until_stable else []),
    )


def _of_verdicts(deciding: Sequence[Verdict], sides: tuple[str, str]) -> tuple[str, ...]:
    """How the figures that decide were judged, and what they say together."""
    first, several = deciding[0], len(deciding) > 1
    looks = f"look {first.looks} of at most {first.looks_most}" if first.looks_most > 1 else "one look"
    tests = " or ".join(dict.fromkeys(_TESTS[verdict.method] for verdict in deciding))
    runs = dict.fromkeys(
        f"{len(verdict.after)} runs {sides[1]} and {len(verdict.before)} {sides[0]}" for verdict in deciding
    )
    of = next(iter(runs)) if len(runs) == 1 else f"the runs {sides[1]} and {sides[0]}, counted in the table"
    return (
        "Each run counts as one figure, not each second. The change is the ratio of the geometric means of "
        f"{of}, and its interval{' by itself' * several} holds with {100 * first.confidence:g} % confidence "
        f"({tests}, on logarithms; {looks}).",
        _OF_SEVERAL.format(len(deciding)) if several else _OF_ONE,
    )


def _origin(material: Material) -> tuple[Block, ...]:
    left_out = material.ids(material.other_runs)
    imported = dict.fromkeys(f"{name_of(run)} from {run.imported_from}" for run in material.runs if run.imported_from)
    items: list[Cell] = [
        f"session{'s' * (len(material.sessions) > 1)}: {', '.join(material.sessions)}",
        words("in this report: ", material.ids(map(name_of, material.runs))),
        *([words("not in this report: ", left_out)] if material.other_runs else []),
        *(f"imported, not measured by cephtui: {text}" for text in imported),
    ]
    digests = "\n".join(f"{digest}  {path}" for path, digest in material.files)
    code = [Code("SHA-256 of the files behind this report: run sha256sum -c in the directory of the sessions", digests)]
    return (Items(tuple(items)), *(code if digests else []))
