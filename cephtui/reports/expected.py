"""All that was expected of runs and what became of it: for the terminal, for Markdown, and for documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType

from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.expectation import Expected
from cephtui.models.study import Ordered
from cephtui.reports.expectation import COLUMNS, SIDES, expected_lines, expected_row, step_names
from cephtui.reports.gfm import document, escaped, table
from cephtui.reports.provisioned import (
    Row,
    draw_provisioned,
    in_rows,
    volume_cells,
    volume_columns,
    volume_lines,
    volume_rows,
)
from cephtui.reports.tables import plain
from cephtui.reports.verdict import left_out_lines


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """Rows of text, and lines below them."""

    columns: tuple[str, ...]
    sides: str
    """``l`` for names, ``r`` for figures."""
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]


def draw_expected(found: Sequence[Expected], runs: Mapping[str, Run], ordered: Ordered | None) -> RenderableType:
    """Of volumes a table, of others a line each. ``runs`` are by their names."""
    rows, others = _apart(found, runs, ordered)
    volumes = [draw_provisioned(rows, runs)] * bool(rows)
    return Group(*volumes, *(plain(text, style) for text, style in expected_lines(others)))


def expected_tables(found: Sequence[Expected], runs: Mapping[str, Run], ordered: Ordered | None) -> list[ExpectedTable]:
    """The same for documents."""
    rows, others = _apart(found, runs, ordered)
    return [*[_of_volumes(rows, runs)] * bool(rows), *[_of_others(others)] * bool(others)]


def expected_markdown(found: Sequence[Expected], runs: Mapping[str, Run], ordered: Ordered | None) -> str:
    """The same as Markdown; empty without any."""
    parts = [
        part
        for each in expected_tables(found, runs, ordered)
        for part in (table(each.columns, each.sides, each.rows), [f"- {escaped(line)}" for line in each.lines])
    ]
    return f"\n{document(['**expected**'], *parts)}" if parts else ""


def _apart(
    found: Sequence[Expected], runs: Mapping[str, Run], ordered: Ordered | None
) -> tuple[list[Row], list[Expected]]:
    """The rows of volumes, and what is in none of them."""
    rows = volume_rows(found, runs, ordered) if _has_volumes(runs.values()) else []
    shown = {id(each) for each in in_rows(rows)}
    return rows, [each for each in found if id(each) not in shown]


def _has_volumes(runs: Iterable[Run]) -> bool:
    return any(run.promise and run.promise.volume for run in runs)


def _of_volumes(rows: Sequence[Row], runs: Mapping[str, Run]) -> ExpectedTable:
    columns = volume_columns(rows)
    cells = [tuple(cell.plain for cell in volume_cells(row, runs, has_class="class" in columns)) for row in rows]
    sides = "".join("r" if column in ("depth", "promised") else "l" for column in columns)
    return ExpectedTable(columns, sides, tuple(cells), tuple(volume_lines(rows)))


def _of_others(found: Sequence[Expected]) -> ExpectedTable:
    names = step_names(found)
    rows = tuple(expected_row(each, name) for each, name in zip(found, names, strict=True))
    lines = dict.fromkeys(line for each in found for line in left_out_lines((*each.left_out, *each.limited)))
    return ExpectedTable(COLUMNS, SIDES, rows, tuple(lines))
