"""Two runs beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.change import between
from cephtui.analysis.conclusion import Judgement
from cephtui.analysis.conditions import differences, unlike
from cephtui.analysis.figures import figures
from cephtui.analysis.marks import marks_between
from cephtui.analysis.sides import Side, findings_with_runs
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME
from cephtui.models.rows import Difference, Figure
from cephtui.reports.facts import period
from cephtui.reports.quality import finding_line
from cephtui.reports.tables import add_row, make_table, plain
from cephtui.reports.text import conditions, cut, imported, metric_of, moment, short_version, title_of, value_range
from cephtui.reports.verdict import draw_verdict, left_out_lines

NO_RESULTS = "neither run has results"
_OPTIONS_MOST = 4
"""That differ and stand in the line of each side too."""


def draw_comparison(
    left: Side,
    right: Side,
    judged: Judgement | None = None,
    *,
    ascii_only: bool = False,
    most_differences: int | None = None,
) -> RenderableType:
    """Two runs beside each other: the verdict, differences in their conditions, the figures and their findings.

    Differences beyond ``most_differences`` stand at the end, so that the figures are visible without scrolling.
    """
    every = differences(left, right)
    found, more = cut(every, "differences")
    marks = _marks(left, right)
    most = len(found) if most_differences is None else max(1, most_differences - len(marks))
    shown = found if len(found) <= most + 1 else found[:most]  # a line that counts one more takes a row too
    rest = found[len(shown) :]
    rows: list[RenderableType] = [_sides(left, right, every), Text(times_of(left, right))]
    for verdict in judged.deciding if judged else ():
        rows += draw_verdict(verdict, ascii_only=ascii_only)
    notes = judged.conclusion.notes if judged else ()
    left_out = left_out_lines(judged.conclusion.left_out) if judged else ()
    rows += [plain(f"left out: {line}", "yellow") for line in left_out]
    rows += [
        *(plain(line, "bold") for line in (*notes, *about(left, right))),
        draw_differences(shown, (*left.runs, *right.runs)),
    ]
    if rest:
        rows.append(Text(f"and {len(rest)} more differences, at the end", style="bold"))
    rows += [*marks, "", _changes(left, right, ascii_only)]
    for name, side in _named(left, right):
        why, others = cut(findings_with_runs(side), f"findings of {name}")
        rows += [
            plain(f"{name}: {finding_line(finding, where)}", "dim" if finding.level == "note" else "yellow")
            for finding, where in why
        ] + [Text(others)] * bool(others)
    return Group(*rows, *(["", draw_differences(rest, ())] if rest else []), *[Text(more)] * bool(more))


def _marks(left: Side, right: Side) -> list[Text]:
    """The marks in the runs and between them, with their session where there are two."""
    found, more = cut(marks_between(left, right), "marks")
    both = left.run.session != right.run.session
    lines = [Text.assemble("* ", (f"{mark.text:.2000}", "bold"), f" ({session + ', ' if both else ''}{moment(mark)})")
             for session, mark in found]  # fmt: skip
    return [*lines, *[Text(more)] * bool(more)]


def times_of(left: Side, right: Side) -> str:
    """``A 2026-11-22 01:28 UTC, B 2026-11-22 01:34 to 01:36 UTC``: when both were measured."""
    return ", ".join(f"{name} {period(side.runs)}" for name, side in _named(left, right))


def _named(left: Side, right: Side) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", left), ("B", right)


def _sides(left: Side, right: Side, told: Iterable[Difference]) -> RenderableType:
    """Which runs these are, and why one has no results; many options that differ stand among the differences alone."""
    table = Table.grid(padding=(0, 1))
    differing = {each.name for each in told if each.topic == "option"}
    options = differing if len(differing) > _OPTIONS_MOST else ()
    for name, side in _named(left, right):
        text = Text(f"{side.name} {side.run.preset}: {conditions(side.run, options)}")
        text.append(f", {len(side.runs)} runs" if len(side.runs) > 1 else "")
        text.append(f", {imported(side.run)}" if side.run.imported_from else "")
        table.add_row(Text(name, style="bold"), text)
        if side.problem:
            table.add_row("", Text(side.problem, style="bold yellow"))
    return table


def none_differed(runs: Iterable[Run]) -> str:
    """That runs were alike in all that is known of them; a cluster that was not asked may have differed."""
    every = list(runs)
    if any(run.imported_from for run in every):
        return "nothing differed in what is known of these runs: imported logs do not say all"
    if all(run.cluster for run in every):
        return "nothing differed in parameters, nodes, versions and cluster"
    which = "in some of the runs no cluster was asked" if any(run.cluster for run in every) else "no cluster was asked"
    return f"nothing differed in parameters, nodes and versions; {which}"


def draw_differences(found: Sequence[Difference], runs: Iterable[Run]) -> RenderableType:
    """A row for each difference between these runs; where there is none, it is said."""
    if not found:
        return Text(none_differed(runs), style="bold")
    table = make_table("differs", "", "A", "B")
    for each in found:
        short = short_version(each.left), short_version(each.right)
        add_row(table, each.topic, each.name, *(short if short[0] != short[1] else (each.left, each.right)))
    return table


def _changes(left: Side, right: Side, ascii_only: bool) -> RenderableType:
    """The figures in rows; the range only where there are several runs.

    What can't be compared is grey, and has no change where other operations were measured.
    """
    found = figures(left, right)
    if not found:
        return Text(NO_RESULTS)
    ranges = [name for name in ("left_spread", "right_spread") if any(getattr(figure, name) for figure in found)]
    names = {"left_spread": "range of A", "right_spread": "range of B"}
    other = unlike(left, right)
    change = [] if other else ["change" if between(left, right).is_in_order else "B vs A"]
    columns = (found[0].direction, "A", "B", *change, *(names[name] for name in ranges))
    table = make_table(*columns, right=("A", "B"), whole=columns)
    grey = "dim" if other or len(left.runs) == len(right.runs) == 1 else ""
    for before, figure in zip((found[0], *found), found, strict=False):
        if figure.direction != before.direction:
            add_row(table, Text(figure.direction, style="bold"))
        add_row(
            table,
            title_of(BY_NAME[figure.name], [figure.tool], [figure.direction]),
            Text(value_text(figure, figure.left) + ("!" if figure.left_findings else ""), style=grey),
            Text(value_text(figure, figure.right) + ("!" if figure.right_findings else ""), style=grey),
            *[Text(change_text(figure, ascii_only=ascii_only), style="dim")] * bool(change),
            *(range_text(figure, getattr(figure, name)) for name in ranges),
        )
    return table


def value_text(figure: Figure, value: float | None) -> str:
    """With its unit."""
    return metric_of(figure.name, figure.tool).as_text(value)


def range_text(figure: Figure, spread: tuple[float, float] | None) -> str:
    """``39.9..41.8 ms``: the unit once, where it is the same."""
    return units.DASH if spread is None else value_range(metric_of(figure.name, figure.tool), *spread)


def change_text(figure: Figure, *, ascii_only: bool = False) -> str:
    """By how much it differs, and an arrow for the direction of the number where the runs show that it does.

    No word says what that means.
    """
    if figure.change_fraction is None or not figure.same_load:
        return units.DASH
    up, down = ("^ ", "v ") if ascii_only else ("▲ ", "▼ ")
    arrow = {"more": up, "less": down, None: ""}[figure.shown]
    return f"{arrow}{_signed(figure.change_fraction)}"


def _signed(fraction: float) -> str:
    """``+12.3 %``, and ``0.0 %`` without a sign."""
    text = units.percent(abs(100 * fraction))
    sign = "+" if fraction > 0 else "-"
    return text if text == units.percent(0.0) else f"{sign}{text}"


def about(left: Side, right: Side) -> list[str]:
    """Why the figures can't be compared, a line each; none where they can."""
    missing = [name for name, side in _named(left, right) if side.problem]
    other = ", ".join(f"{each.name} {each.left} and {each.right}" for each in unlike(left, right))
    none = [f"no results of {' and '.join(missing)}"] if missing else []
    return [*none, *[f"not comparable: {other}"] * bool(other)]
