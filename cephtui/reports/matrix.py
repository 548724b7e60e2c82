"""A matrix in words, and as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cephtui import units
from cephtui.analysis.batches import node_names
from cephtui.analysis.matrix import CellSummary, Column, Matrix, Row, pool_of
from cephtui.analysis.slowest import Slowest
from cephtui.models import Run
from cephtui.models.metrics import HEADLINES, Metric
from cephtui.presets import choice_text
from cephtui.reports.facts import by_run, period, ranges, tool_version
from cephtui.reports.runs import finding_lines
from cephtui.reports.tables import Fitting, add_row, make_table, plain
from cephtui.reports.text import OUTCOME_STYLES, cut, spread_of, written
from cephtui.targets import target_kind
from cephtui.tools import TOOLS

Room: TypeAlias = Literal["wide", "medium", "narrow"]
"""How much a cell says: all, without what is as it should be, or only the figure with its marks and its state."""
ROOMS: Sequence[Room] = ("wide", "medium", "narrow")
_STYLES = {**OUTCOME_STYLES, "ok": "", "waiting": "dim", "running": "bold"}
_SLOWEST_STYLE = "bold yellow"
_SLOWEST, _SLOWEST_ASCII = "▼", "v"
_KIND_WORDS = {"node": "node", "osd": "OSD"}
LEGEND = "geometric mean of the runs, their spread (coefficient of variation), how many runs"
_STEP_NARROW = 20
"""Columns of the terminal for a step where there is little room: it may take several lines."""
NO_RUNS = "no runs in this session"


# ---------------------------------------------------------------------------------------------- names


def column_titles(matrix: Matrix) -> list[str]:
    """Of each column its target, its nodes, or both; ``result`` where it is the only one."""
    every = {name for column in matrix.columns for name in column.nodes}
    return [_column_title(column, _nodes_title(column.nodes, every)) or "result" for column in matrix.columns]


def _column_title(column: Column, nodes: str) -> str:
    if len(column.targets) == 1 and (kind := target_kind(column.targets[0])):
        return kind.measured_by(column.targets[0].partition(":")[2], nodes)
    return f"{_target_title(column)} {nodes}".strip()


def _target_title(column: Column) -> str:
    """The target, or the pool that several are in."""
    return column.targets[0] if len(column.targets) == 1 else "".join({*map(pool_of, column.targets)})


def _nodes_title(nodes: Sequence[str], every: set[str]) -> str:
    return f"all {len(nodes)} nodes" if len(nodes) > 1 and every == {*nodes} else "+".join(nodes)


def row_titles(matrix: Matrix) -> list[str]:
    """``4k writes iodepth=16``; with ``read`` or ``write`` where a step has both, ``(2)`` where it was run again."""
    flows: dict[str, set[str]] = {}
    for row in matrix.rows:
        flows.setdefault(row.step, set()).add(row.flow)
    return [_row_title(row, has_flows=len(flows[row.step]) > 1) for row in matrix.rows]


def _row_title(row: Row, *, has_flows: bool) -> str:
    tools = {run.tool for cell in row.cells if cell for run in cell.runs if run.tool in TOOLS}
    shown_anyway = {TOOLS[tool].direction_option for tool in tools if row.flow}
    point = [f"{name}={choice_text(value)}" for name, value in row.point if name not in shown_anyway]
    turn = [f"({row.turn})"] if row.turn > 1 else []
    return " ".join([row.step, *point, *[row.flow] * (has_flows and bool(row.flow)), *turn])


def place_text(row: Row) -> str:
    """The target and the nodes of a row, where they are not its columns and other rows have others."""
    return " ".join(filter(None, (row.target, "+".join(row.nodes))))


def figure_title(metric: Metric | None) -> str:
    """``IOPS``, ``bandwidth``, ``latency``: what the preset is about; or another that is asked for, ``latency p99``."""
    title = metric.full_title if metric else ""
    return next((headline.title for headline in HEADLINES if headline.metric == metric), title)


# ---------------------------------------------------------------------------------------------- cells


def cell_text(row: Row, cell: CellSummary | None, room: Room = "wide", *, ascii_only: bool = False) -> Text:
    """``16.7k 3.1 % 3 of 3``, ``9.8k ! running 2 of 3``, ``waiting``; empty where nothing was ordered."""
    if cell is None:
        return Text()
    style = _STYLES.get(cell.state, "")
    metric = _metric(row, cell)
    parts = [Text(metric.as_text(cell.estimate.value), style)] if metric and cell.estimate else []
    if cell.findings:
        parts.append(Text("!", "yellow"))
    if room != "narrow" and (text := spread_of(cell.estimate)):
        parts.append(Text(text, "dim"))
    if state := state_text(cell, room):
        parts.append(Text(state, style or "dim"))
    parts += _slowest_marks(cell, room, ascii_only=ascii_only)
    return Text(" ").join(parts)


def state_text(cell: CellSummary, room: Room = "wide") -> str:
    """How far it is and what is wrong: ``2 of 3``, ``running 2 of 3``, ``failed``; empty where nothing is to say."""
    done, wanted, of = cell.done, cell.wanted, " of " if room == "wide" else "/"
    if cell.state == "running":
        return f"running {min(done + 1, wanted)}{of}{wanted}" if wanted else "running"
    if cell.state == "waiting":
        return f"{done}{of}{wanted}" if done else "waiting"
    if cell.state != "ok":
        return f"{cell.state} {done}{of}{wanted}" if done and wanted else cell.state
    if room != "wide":
        return ""
    return f"{done}{of}{wanted}" if wanted > 1 else f"n={done}" if done > 1 else ""


def _slowest_marks(cell: CellSummary, room: Room, *, ascii_only: bool) -> list[Text]:
    """Of nodes only: an OSD is the slowest whatever loads it, and is named below."""
    sign = _SLOWEST_ASCII if ascii_only else _SLOWEST
    names = ["slowest"] * bool(cell.slower) + [each.name for each in cell.within if each.kind == "node"]
    words = [name if room == "medium" or name == "slowest" else f"slowest {name}" for name in names]
    return [plain(f"{sign} {word}" if room != "narrow" else sign, _SLOWEST_STYLE) for word in words]


def slowest_text(found: Slowest) -> str:
    """``pve2, 38 % below the median``, ``osd.3, commit latency 62 % above the median``."""
    what = "commit latency " if found.kind == "osd" else ""
    side = "below" if found.better == "more" else "above"
    return f"{found.name}, {what}{100 * found.fraction:.0f} % {side} the median"


# ---------------------------------------------------------------------------------------------- lines


def progress_text(matrix: Matrix, *, live: bool) -> str:
    """``12 of 27 runs, about 8:10 min left, slowest: pve2, 38 % below the median (4k writes)``.

    What is left takes time only where the session is ``live``: being written.
    """
    missing = matrix.missing
    most = matrix.done + missing
    runs = f"{matrix.done} of {most}" if missing or matrix.done == matrix.wanted > 0 else str(matrix.done)
    parts = [f"{runs} run{'s' * (most != 1)}"]
    if missing > 0 and not live:
        parts.append(f"{missing} missing")
    elif missing > 0 and matrix.left_seconds:
        parts.append(f"about {units.duration(matrix.left_seconds)} left")
    if matrix.slowest:
        row, found = matrix.slowest
        parts.append(f"slowest: {slowest_text(found)} ({row.step})")
    return ", ".join(parts)


def remarks(matrix: Matrix, *, ascii_only: bool = False) -> list[Text]:
    """What the marks in the cells mean: what is slowest by how much, why runs failed, and findings."""
    lines: list[tuple[str, str]] = []
    runs: dict[int, Run] = {}
    slowest: dict[str, list[tuple[Slowest, str]]] = {}
    for name, cell in _named_cells(matrix):
        for found in filter(None, (cell.slower, *cell.within)):
            slowest.setdefault(found.name, []).append((found, name))
        lines += [(f"{name}: {text}", _STYLES[cell.state]) for text in _failed(cell)]
        runs |= {run.run: run for run in cell.runs}
    sign = _SLOWEST_ASCII if ascii_only else _SLOWEST
    marked = [plain(f"{sign} {_standing_out(found)}", _SLOWEST_STYLE) for found in _nodes_first(slowest)]
    shown, more = cut(dict.fromkeys(lines), "failed runs")
    failed = [*(plain(line, style) for line, style in shown), *[Text(more)] * bool(more)]
    return [*marked, *failed, *finding_lines([runs[number] for number in sorted(runs)])]


def _nodes_first(found: Mapping[str, Sequence[tuple[Slowest, str]]]) -> list[Sequence[tuple[Slowest, str]]]:
    return sorted(found.values(), key=lambda same: same[0][0].kind != "node")


def _standing_out(found: Sequence[tuple[Slowest, str]]) -> str:
    """Of one node or OSD: where it is slowest, and in how many cells beside that."""
    worst, where = max(found, key=lambda each: each[0].fraction)
    more = f", and in {len(found) - 1} more" if len(found) > 1 else ""
    return f"slowest {_KIND_WORDS[worst.kind]}: {slowest_text(worst)} ({where}{more})"


def _named_cells(matrix: Matrix) -> Iterator[tuple[str, CellSummary]]:
    """Each cell as ``4k writes, pve1``; without its column where there is one only."""
    titles = column_titles(matrix)
    for name, row in zip(row_titles(matrix), matrix.rows, strict=True):
        for title, cell in zip(titles, row.cells, strict=True):
            if cell:
                yield f"{name}, {title}" if len(titles) > 1 else name, cell


def _failed(cell: CellSummary) -> list[str]:
    """Why its runs are missing."""
    if cell.state in ("ok", "waiting", "running"):
        return []
    last = next(run for run in reversed(cell.runs) if run.outcome == cell.state)
    return [f"#{last.run} {cell.state}{f': {last.error}' if last.error else ''}"]


def cell_lines(matrix: Matrix, row: int, column: int) -> list[Text]:
    """One cell in full: what and where, the figure with its interval and its runs, then what its marks mean."""
    titles, found = column_titles(matrix), matrix.rows[row]
    cell = found.cells[column]
    if cell is None:
        return [Text(f"{row_titles(matrix)[row]}: not ordered here ({titles[column]})", "dim")]
    names = node_names(cell.runs[-1]) if cell.runs else cell.nodes
    where = f"{cell.target} on {', '.join(names)}"
    lines = [Text.assemble((row_titles(matrix)[row], "bold"), f"  {where}"), _figure_line(found, cell)]
    lines += [plain(f"slowest: {slowest_text(s)}", _SLOWEST_STYLE) for s in (cell.slower, *cell.within) if s]
    return [*lines, *(plain(text, _STYLES[cell.state]) for text in _failed(cell)), *finding_lines(cell.runs)]


def _metric(row: Row, cell: CellSummary) -> Metric | None:
    """In the units in which its tool's figures are written."""
    return next(iter(written(cell.runs[0].tool, [row.metric])), None) if row.metric and cell.runs else row.metric


def _figure_line(row: Row, cell: CellSummary) -> Text:
    numbers = f"#{ranges(sorted(run.run for run in cell.runs))}" if cell.runs else ""
    parts = [state_text(cell) or cell.state, numbers]
    metric = _metric(row, cell)
    if metric and (estimate := cell.estimate):
        low, high = map(metric.as_text, estimate.interval or (None, None))
        more = [f"95 % {low} to {high}", f"spread {spread_of(estimate)}"] if estimate.interval else []
        parts = [f"{figure_title(row.metric)} {metric.as_text(estimate.value)}", *more, *parts]
    return Text(", ".join(filter(None, parts)), _STYLES.get(cell.state, ""))


# ---------------------------------------------------------------------------------------------- drawn


def draw_matrix(matrix: Matrix, runs: Sequence[Run], *, live: bool = False, ascii_only: bool = False) -> RenderableType:
    """The whole matrix: as wide as there is room, else with shorter cells, else a line for each cell."""
    if not matrix.rows:
        return Text(NO_RUNS)
    parts = [matrix.title, period(runs), by_run(runs, tool_version), by_run(runs, lambda run: run.target)]
    head = plain((" | " if ascii_only else " · ").join(filter(None, parts)), "bold")
    body: RenderableType = _list(matrix, ascii_only=ascii_only)
    for room in reversed(ROOMS):
        body = Fitting(_table(matrix, room, ascii_only=ascii_only), body)
    legend = [Text(f"cells: {LEGEND}", "dim")]
    progress = plain(progress_text(matrix, live=live))
    return Group(head, progress, body, *legend, *remarks(matrix, ascii_only=ascii_only))


def _table(matrix: Matrix, room: Room, *, ascii_only: bool) -> Table:
    places = [place_text(row) for row in matrix.rows] if room == "wide" else []
    fixed = ("step", *["where"] * any(places), *["figure"] * (room == "wide"))
    columns = (*fixed, *column_titles(matrix))
    table = make_table(*[""] * len(columns), whole=[""])
    if room == "narrow":
        table.columns[0].no_wrap, table.columns[0].max_width = False, _STEP_NARROW
    for column, title in zip(table.columns, columns, strict=True):
        column.header = plain(title)
    for number, (title, row) in enumerate(zip(row_titles(matrix), matrix.rows, strict=True)):
        where = [places[number]] if any(places) else []
        figure = [figure_title(row.metric)] if room == "wide" else []
        cells = [cell_text(row, cell, room, ascii_only=ascii_only) for cell in row.cells]
        add_row(table, title, *where, *figure, *cells)
    return table


def _list(matrix: Matrix, *, ascii_only: bool) -> Group:
    """The matrix turned: below each step a line for each of its columns."""
    titles = column_titles(matrix)
    parts: list[RenderableType] = []
    for name, row in zip(row_titles(matrix), matrix.rows, strict=True):
        parts.append(Text.assemble(plain(name, "bold"), " ", figure_title(row.metric)))
        table = make_table("", "", whole=[""])
        table.show_header, table.columns[0].min_width = False, max(len(title) for title in titles) + 2
        for title, cell in zip(titles, row.cells, strict=True):
            if cell:
                add_row(table, f"  {title}", cell_text(row, cell, ascii_only=ascii_only))
        parts.append(table)
    return Group(*parts)
