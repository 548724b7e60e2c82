"""Suites in a table, and one of them with its steps."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.models.rows import SuiteRow, SuiteStepRow
from cephtui.presets import choice_text
from cephtui.reports.render.tables import add_row, make_table

_ORDERS = {"abab": "The steps take turns: A B A B.", "abba": "The steps take turns: A B B A."}


def draw_suites(rows: Sequence[SuiteRow]) -> RenderableType:
    """The suites, packaged or the user's; nothing without any."""
    if not rows:
        return Group()
    yours = any(row.user for row in rows)
    table = make_table("suite", *["yours"] * yours, "what it measures", whole=("suite", "yours"))
    for row in rows:
        own = ["yours" if row.user else ""] * yours
        about = Text.assemble(row.description or row.title, "\n", (size_of(row), "dim"))
        add_row(table, row.suite, *own, Text(row.error, style="red") if row.error else about)
    return Group(Text(), table)


def size_of(row: SuiteRow) -> str:
    """``3 steps, 9 runs, about 5 min``."""
    on_node = " a node" if any(step.each for step in row.steps) else ""
    steps = f"{len(row.steps)} step{'s' * (len(row.steps) > 1)}"
    return f"{steps}, {row.runs} run{'s' * (row.runs > 1)}, about {units.duration(row.duration_seconds)}{on_node}"


def draw_suite(row: SuiteRow) -> RenderableType:
    """One suite in full."""
    steps = [line for number, step in enumerate(row.steps, 1) for line in _step(number, step)]
    return Group(
        Text(f"{row.suite}: {row.title}", style="bold"),
        Text(row.description),
        Text(f"{size_of(row)}, without prefill. {_ORDERS.get(row.order or '', 'Each step to its end.')}"),
        "",
        *steps,
        "",
        Text(f"{'yours' if row.user else 'packaged'}: {row.path}", style="dim"),
    )


def _step(number: int, step: SuiteStepRow) -> list[Text]:
    """What is measured, and below it how often and where."""
    options = [f"{name} {choice_text(value)}" for name, value in step.options.items()]
    *others, last = step.targets
    targets = f"{', '.join(others)} or {last}" if others else last
    where = [
        f"{step.repeats} runs" if step.repeats > 1 else "1 run",
        "on each node in turn" if step.each else "on all nodes at once",
        f"{targets}{' (left out without one)' if step.optional else ''}",
        *(f"expected: {text}" for text in step.expect),
    ]
    preset = [step.preset] if step.preset != step.title else []
    heading = Text.assemble((f"{number}. {step.title} ", "bold"), ", ".join([*preset, *options]))
    return [heading, Text(f"   {', '.join(where)}", style="dim")]
