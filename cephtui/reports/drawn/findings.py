"""What findings mean: all kinds in a listing, or one in full."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui.models.findings import TOPICS
from cephtui.models.rows import FindingKindRow
from cephtui.reports.render.tables import add_row, make_table, plain
from cephtui.reports.words.quality import LEVELS, limited_figures


def draw_kinds(rows: Sequence[FindingKindRow]) -> RenderableType:
    """By topic: the code, what it does to the figures, and what helps."""
    table = make_table("finding", "the run is", "figures", "what helps", whole=("finding", "the run is"))
    for topic, kinds in groupby(rows, key=lambda row: row.topic):
        add_row(table, plain(TOPICS.get(topic, topic), "dim"), "", "", "")
        for row in kinds:
            add_row(table, row.code, LEVELS[row.level], limited_figures(row.level, row.figures), row.cure)
    return Group(table, Text(), Text("cephtui explain CODE has one of them in full", style="dim"))


def draw_kind(row: FindingKindRow) -> RenderableType:
    """One kind in full: what was observed, what it means, why it matters, what helps, and where that is written."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for number, text in enumerate(row.observed):
        add_row(table, "" if number else "observed", text)
    figures = limited_figures(row.level, row.figures)
    add_row(table, "the run is", f"{LEVELS[row.level]}{f' ({figures})' if figures else ''}")
    add_row(table, "why it matters", row.why)
    add_row(table, "what helps", row.cure)
    if row.source:
        add_row(table, "see", row.source)
    return Group(Text(f"{row.code}: {row.title}", style="bold"), table)
