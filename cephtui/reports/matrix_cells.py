"""A matrix as data: a line, or a row of CSV, for each cell."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.analysis.matrix import CellSummary, Matrix, Row
from cephtui.models import OptionValue
from cephtui.models.rows import MatrixCell
from cephtui.presets import choice_text
from cephtui.reports.blocks import Sheet
from cephtui.reports.render.csv import csv_of


def matrix_cells(matrix: Matrix, session: str) -> list[MatrixCell]:
    """Row by row; what was neither ordered nor run has none."""
    return [_cell(row, cell, session) for row in matrix.rows for cell in row.cells if cell]


def _cell(row: Row, cell: CellSummary, session: str) -> MatrixCell:
    estimate = cell.estimate
    return MatrixCell(
        session=session,
        step=row.step,
        options=dict(row.point),
        turn=row.turn,
        target=cell.target,
        nodes=cell.nodes,
        direction=row.flow,
        name=row.metric.name if row.metric else "",
        value=estimate.value if estimate else None,
        least=estimate.least if estimate else None,
        greatest=estimate.greatest if estimate else None,
        spread_fraction=estimate.spread if estimate else None,
        done=cell.done,
        wanted=cell.wanted or None,
        state=cell.state,
        runs=tuple(run.run for run in cell.runs),
        findings=cell.findings,
        slower_fraction=cell.slower.fraction if cell.slower else None,
        slowest_within={each.name: each.fraction for each in cell.within},
    )


def matrix_csv(matrix: Matrix, session: str) -> str:
    """A header and a row for each cell, in base units (RFC 4180); a figure that is not known is empty."""
    columns = [name for name in MatrixCell.model_fields if name not in ("event", "schema_version")]
    return csv_of(Sheet("x", tuple(columns), map(_row, matrix_cells(matrix, session))))


def _row(cell: MatrixCell) -> dict[str, object]:
    lists = {"nodes": cell.nodes, "runs": map(str, cell.runs), "findings": cell.findings}
    pairs: dict[str, Mapping[str, OptionValue]] = {"options": cell.options, "slowest_within": cell.slowest_within}
    texts = {name: " ".join(values) for name, values in lists.items()}
    texts |= {name: " ".join(f"{key}={choice_text(v)}" for key, v in found.items()) for name, found in pairs.items()}
    return {**cell.model_dump(), **texts}
