"""What is known of the ceilings of a cluster: links, OSDs, one I/O in flight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cephtui import units
from cephtui.models.metrics import BIT_RATE, BY_NAME
from cephtui.models.rows import KnownCeiling
from cephtui.reports.blocks import Block, Cell, Column, Table, Text, View, cut_rows, document, words
from cephtui.reports.sheets import sheet_of

_NONE = "no ceilings of this cluster are known"


def ceilings_view(rows: Sequence[KnownCeiling], at: datetime) -> View:
    """Each ceiling that was measured, with its age and whether a run that begins now counts it."""

    def block() -> Block:
        if not rows:
            return Text(_NONE)
        heads = (
            Column("limit", is_whole=True),
            Column("what"),
            Column("measured", "r", is_whole=True),
            Column("ago", "r", is_whole=True),
            Column("run", rank=1),
            Column("valid"),
        )
        return Table(heads, cut_rows([_row(row, at) for row in rows], "ceilings"))

    return View(
        document=lambda: document("", block()),
        lines=lambda: rows,
        sheet=lambda: sheet_of(KnownCeiling, rows, "ceilings"),
    )


def _row(row: KnownCeiling, at: datetime) -> tuple[Cell, ...]:
    metric = BIT_RATE if row.limit == "network" else BY_NAME[row.figure]
    value = f"{metric.as_text(row.value)}{' IOPS' * (row.figure == 'iops')}"
    counts: Cell = words(f"no: {row.why_unused}", style="dim") if row.why_unused else "yes"
    age = units.duration(max(0.0, (at - row.measured_at).total_seconds()))
    return row.limit, row.what, value, age, f"{row.session}/{row.run}", counts
