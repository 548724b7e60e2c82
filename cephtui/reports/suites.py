"""Suites in a table, and one of them with its steps."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.models.rows import SuiteRow, SuiteStepRow
from cephtui.presets import choice_text
from cephtui.reports.tables import add_row, make_table


def draw_suites(rows: Sequence[SuiteRow]) -> RenderableType:
    """The suites, packaged or the user's; nothing without any."""
    if not rows:
        return Group()
    yours = any(row.user for row in rows)
    names = ("suite", "steps")
    table = make_table(*names, *["yours"] * yours, "what it measures", whole=(*names, "yours"))
    for row in rows:
        own = ["yours" if row.user else ""] * yours
        if row.error:
            add_row(table, row.suite, "", *[""] * yours, Text(row.error, style="red"))
        else:
            add_row(table, row.suite, size_of(row), *own, row.description)
    return Group(Text(), table)


def size_of(row: SuiteRow) -> str:
    """``3 steps, 9 runs, about 5 min``."""
    on_node = " a node" if any(step.each for step in row.steps) else ""
    steps = f"{len(row.steps)} step{'s' * (len(row.steps) > 1)}"
    return f"{steps}, {row.runs} run{'s' * (row.runs > 1)}, about {units.duration(row.duration_seconds)}{on_node}"


def draw_suite(row: SuiteRow) -> RenderableType:
    """One suite in full."""
    table = make_table("step", "preset", "options", "runs", "nodes", "targets", whole=("step", "preset", "runs"))
    for step in row.steps:
        add_row(table, *_step(step))
    order = {"abab": "The steps take turns: A B A B.", "abba": "The steps take turns: A B B A."}
    return Group(
        Text(f"{row.suite}: {row.title}", style="bold"),
        Text(row.description),
        Text(f"{size_of(row)}, without prefill. {order.get(row.order or '', 'Each step to its end.')}"),
        "",
        table,
        "",
        Text(f"{'yours' if row.user else 'packaged'}: {row.path}", style="dim"),
    )


def _step(step: SuiteStepRow) -> tuple[str, ...]:
    options = ", ".join(f"{name} {choice_text(value)}" for name, value in step.options.items())
    expected = f" (expected: {', '.join(step.expect)})" if step.expect else ""
    nodes = "each in turn" if step.each else "all at once"
    optional = " (left out without one)" if step.optional else ""
    return (
        step.title,
        step.preset,
        f"{options}{expected}",
        str(step.repeats),
        nodes,
        f"{', '.join(step.targets)}{optional}",
    )
