"""Presets and suites: one line each, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cephtui import units
from cephtui.models.preset_rows import PresetRow, SuiteRow, SuiteStepRow
from cephtui.presets import choice_text, combinations
from cephtui.reports.blocks import Block, Cell, Column, Facts, Table, Text, View, columns, document, words
from cephtui.reports.sheets import sheet_of
from cephtui.tools import TOOLS

_SWEPT_MOST = 3
"""Values of a sweep that are listed."""
_ORDERS = {"abab": "The steps take turns: A B A B.", "abba": "The steps take turns: A B B A."}
_YOURS = {True: "yours", False: "packaged"}


def presets_view(presets: Sequence[PresetRow], suites: Sequence[SuiteRow], *, in_full: bool = False) -> View:
    """Presets and suites, packaged or the user's; one of them ``in_full``."""

    def blocks() -> Iterator[Block]:
        if in_full:
            yield from _preset(presets[0]) if presets else _suite(suites[0])
            return
        yield _presets(presets)
        if suites:
            yield Text("")
            yield _suites(suites)

    return View(
        document=lambda: document("", *blocks()),
        lines=lambda: [*presets, *suites],
        sheet=lambda: sheet_of(PresetRow, presets, "presets"),
        sheets=lambda: [sheet_of(PresetRow, presets, "presets"), sheet_of(SuiteRow, suites, "suites")],
    )


def _presets(presets: Sequence[PresetRow]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    groups = {""}
    for row in presets:
        if row.group not in groups and row.key is None:
            rows.append(("", words((row.group, "dim")), "", "", "", ""))
        groups.add(row.group)
        blocks, depths = ("", "") if row.error else _blocks_and_depths(row)
        key = "" if row.key is None or row.error else str(row.key)
        about = words((row.error, "bad")) if row.error else row.description
        rows.append((key, row.preset, blocks, depths, "yours" if row.user and not row.error else "", about))
    heads = (*columns(("key", "preset", "block", "depth", "yours"), "lllll", is_whole=True), Column("what it measures"))
    return Table(heads, tuple(rows)).filled


def _blocks_and_depths(row: PresetRow) -> tuple[str, str]:
    """The block sizes and depths of a preset; of a sweep all, or the first and the last: ``4k,64k``, ``1..128``."""
    tool = TOOLS.get(row.tool)
    loads = [tool.bind(options).load() for options in combinations(tool, row.options)] if tool else []
    blocks = [units.short_size(load.block_bytes) if load.block_bytes else units.DASH for load in loads]
    return _swept(blocks), _swept([str(load.depth or units.DASH) for load in loads])


def _swept(texts: Sequence[str]) -> str:
    values = list(dict.fromkeys(texts))
    return ",".join(values) if len(values) <= _SWEPT_MOST else f"{values[0]}..{values[-1]}"


def _preset(row: PresetRow) -> Iterator[Block]:
    yield Text(f"{row.preset}: {row.title}", "strong")
    yield Text(row.description)
    yield Text("")
    yield Facts(
        tuple(
            (option, ", then ".join(map(choice_text, value)) if isinstance(value, list) else choice_text(value))
            for option, value in row.options.items()
        )
    )
    yield Text("")
    yield Text(f"{_YOURS[row.user]}: {row.path}", "dim")


def _suites(suites: Sequence[SuiteRow]) -> Table:
    """Below what a suite measures stands how large it is."""
    rows: list[tuple[Cell, ...]] = []
    for row in suites:
        about = words((row.error, "bad")) if row.error else row.description or row.title
        rows.append((row.suite, "yours" if row.user else "", about))
        if not row.error:
            rows.append(("", "", words((size_of(row), "dim"))))
    heads = (*columns(("suite", "yours"), "ll", is_whole=True), Column("what it measures"))
    return Table(heads, tuple(rows)).filled


def _suite(row: SuiteRow) -> Iterator[Block]:
    yield Text(f"{row.suite}: {row.title}", "strong")
    yield Text(row.description)
    yield Text(f"{size_of(row)}, without prefill. {_ORDERS.get(row.order or '', 'One step after the other.')}")
    yield Text("")
    for number, step in enumerate(row.steps, 1):
        yield from _step(number, step)
    yield Text("")
    yield Text(f"{_YOURS[row.user]}: {row.path}", "dim")


def _step(number: int, step: SuiteStepRow) -> Iterator[Block]:
    """What is measured, and below it how often and where."""
    options = [f"{name} {choice_text(value)}" for name, value in step.options.items()]
    *firsts, last = step.targets
    targets = f"{', '.join(firsts)} or {last}" if firsts else last
    where = [
        f"{step.repeats} runs" if step.repeats > 1 else "1 run",
        "on each node in turn" if step.each else "on all nodes at once",
        f"{targets}{' (left out without one)' if step.optional else ''}",
        *(f"expected: {text}" for text in step.expect),
    ]
    preset = [step.preset] if step.preset != step.title else []
    yield Text(words((f"{number}. {step.title} ", "strong"), ", ".join([*preset, *options])))
    yield Text(", ".join(where), "dim", indent=3)


def size_of(row: SuiteRow) -> str:
    """``3 steps, 9 runs, about 5 min``."""
    on_node = " a node" if any(step.each for step in row.steps) else ""
    steps = f"{len(row.steps)} step{'s' * (len(row.steps) > 1)}"
    return f"{steps}, {row.runs} run{'s' * (row.runs > 1)}, about {units.duration(row.duration_seconds)}{on_node}"
