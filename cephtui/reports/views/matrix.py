"""A matrix: steps over targets and nodes, its cells in words, and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from cephtui import units
from cephtui.analysis.detectors.slowest import Slowest
from cephtui.analysis.runs.batches import node_names
from cephtui.analysis.runs.stages import is_capped, mean_stages
from cephtui.analysis.views.matrix import CellSummary, Matrix, MatrixRow, pool_of
from cephtui.analysis.views.matrix import MatrixColumn as MatrixColumn
from cephtui.frozen import dataclass
from cephtui.models import Run, Stages
from cephtui.models.metrics import HEADLINES, Metric
from cephtui.models.rows import MatrixCell
from cephtui.presets import choice_text
from cephtui.reports.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Side,
    Table,
    Text,
    View,
    Words,
    columns,
    cut_items,
    document,
    joined_words,
    plain_text,
    words,
)
from cephtui.reports.sheets import sheet_of
from cephtui.reports.styles import OUTCOMES, Style
from cephtui.reports.views.runs import finding_items
from cephtui.reports.words.facts import by_run, facts, period, ranges, tool_version
from cephtui.reports.words.stages import shares_text
from cephtui.reports.words.text import spread_of, written
from cephtui.targets import target_kind
from cephtui.tools import TOOLS

Room: TypeAlias = Literal["wide", "medium", "narrow"]
"""How much a cell says: all, without what is as it should be, or only the figure with its marks and its state."""
ROOMS: Sequence[Room] = ("wide", "medium", "narrow")
_STYLES: Mapping[str, Style] = {**OUTCOMES, "ok": "", "waiting": "dim", "running": "strong"}
_SLOWEST = "▼"
_KIND_WORDS = {"node": "node", "osd": "OSD"}
_STEP_NARROW = 20
"""Columns of the terminal for a step where there is little room: it may take several lines."""
NO_RUNS = "no runs in this session"


# ---------------------------------------------------------------------------------------------- names


def column_titles(matrix: Matrix) -> list[str]:
    """The title of each column: its target, its nodes, or both; ``result`` where there is no other column."""
    all_nodes = {name for column in matrix.columns for name in column.nodes}
    return [_column_title(column, all_nodes) or "result" for column in matrix.columns]


def _column_title(column: MatrixColumn, all_nodes: set[str]) -> str:
    """The target, or the pool that several are in, and the nodes."""
    has_all = len(column.nodes) > 1 and all_nodes == {*column.nodes}
    nodes = f"all {len(column.nodes)} nodes" if has_all else "+".join(column.nodes)
    if len(column.targets) == 1 and (kind := target_kind(column.targets[0])):
        return kind.measured_by(column.targets[0].partition(":")[2], nodes)
    where = column.targets[0] if len(column.targets) == 1 else "".join({*map(pool_of, column.targets)})
    return f"{where} {nodes}".strip()


def row_titles(matrix: Matrix) -> list[str]:
    """``4k writes iodepth=16``; with ``read`` or ``write`` where a step has both, ``(2)`` where it was run again."""
    flows: dict[str, set[str]] = {}
    for row in matrix.rows:
        flows.setdefault(row.step, set()).add(row.flow)
    return [_row_title(row, has_flows=len(flows[row.step]) > 1) for row in matrix.rows]


def _row_title(row: MatrixRow, *, has_flows: bool) -> str:
    tools = {run.tool for cell in row.cells if cell for run in cell.runs if run.tool in TOOLS}
    shown_anyway = {TOOLS[tool].direction_option for tool in tools if row.flow}
    point = [f"{name}={choice_text(value)}" for name, value in row.point if name not in shown_anyway]
    turn = [f"({row.turn})"] if row.turn > 1 else []
    return " ".join(filter(None, [row.step, *point, row.flow if has_flows else "", *turn]))


def place_text(row: MatrixRow) -> str:
    """The target and the nodes of a row, where they are not its columns and other rows have others."""
    return " ".join(filter(None, (row.target, "+".join(row.nodes))))


def figure_title(metric: Metric | None) -> str:
    """``IOPS``, ``bandwidth``, ``latency``: what the preset is about; or another that is asked for, ``latency p99``."""
    title = metric.full_title if metric else ""
    return next((headline.title for headline in HEADLINES if headline.metric == metric), title)


# ---------------------------------------------------------------------------------------------- cells


def legend(matrix: Matrix, share: str = "bar or shade, where there is room") -> str:
    """What the parts of a cell are; ``share`` names what shows how near it is to the best of its row."""
    has_marks = any(cell and cell.findings for row in matrix.rows for cell in row.cells)
    marks = "; !: a finding limits the figure" if has_marks else ""
    return f"geometric mean, coefficient of variation, runs; {share}: share of the row's best{marks}"


@dataclass(frozen=True, slots=True)
class CellTexts:
    """A cell in its parts, each of which has a heading of its own; empty where nothing was ordered."""

    figure: Words = Words(())
    mark: Words = Words(())
    """That a finding limits the figure."""
    spread: Words = Words(())
    runs: Words = Words(())
    """How many there are, what is wrong with them, and what is slowest."""

    @property
    def marked_figure(self) -> Words:
        """The figure with its mark, for a column of its own."""
        return replace(joined_words((self.figure, self.mark), " "), share=self.figure.share)


def runs_heading(texts: Sequence[CellTexts]) -> str:
    """The heading of the runs of these cells; empty where they have only marks of what is slowest."""
    return "runs" if any(text.runs.parts and not text.runs.plain.startswith(_SLOWEST) for text in texts) else ""


def row_texts(row: MatrixRow, room: Room = "wide") -> list[CellTexts]:
    """``16.7k`` ``!`` ``3.1 %`` ``3 of 3``; ``9.8k`` ``running 2 of 3``; ``waiting``: a row, cell by cell."""
    return [
        _cell_texts(row, cell, share, room) if cell else CellTexts()
        for cell, share in zip(row.cells, row.shares, strict=True)
    ]


def _cell_texts(row: MatrixRow, cell: CellSummary, share: float | None, room: Room) -> CellTexts:
    style = _STYLES.get(cell.state, "")
    metric = _metric(row, cell)
    value = metric.as_text(cell.estimate.value) if metric and cell.estimate else ""
    spread, state = spread_of(cell.estimate) if room != "narrow" else "", state_text(cell, room)
    runs = [words((state, style or "dim"))] if state else []
    return CellTexts(
        replace(words((value, style)), share=share) if value else words(),
        words(("!", "limited")) if cell.findings else words(),
        words((spread, "dim")) if spread else words(),
        joined_words([*runs, *_slowest_marks(cell, room)], " "),
    )


def state_text(cell: CellSummary, room: Room = "wide") -> str:
    """How far it is and what is wrong: ``2 of 3``, ``running 2 of 3``, ``failed``; empty where nothing is to say."""
    done, ordered, of_all = cell.done, cell.runs_ordered, " of " if room == "wide" else "/"
    if cell.state == "running":
        return f"running {min(done + 1, ordered)}{of_all}{ordered}" if ordered else "running"
    if cell.state == "waiting":
        return f"{done}{of_all}{ordered}" if done else "waiting"
    if cell.state != "ok":
        return f"{cell.state} {done}{of_all}{ordered}" if done and ordered else cell.state
    if room != "wide":
        return ""
    return f"{done}{of_all}{ordered}" if ordered > 1 else str(done) if done > 1 else ""


def _slowest_marks(cell: CellSummary, room: Room) -> list[Words]:
    """Marks of the slowest nodes: an OSD is slow whatever loads it, and is named below the table."""
    nodes = [slowest.name for slowest in cell.within if slowest.kind == "node"]
    names = ["slowest", *nodes] if cell.slower else nodes
    texts = [name if room == "medium" or name == "slowest" else f"slowest {name}" for name in names]
    return [words((f"{_SLOWEST} {text}" if room != "narrow" else _SLOWEST, "open")) for text in texts]


def slowest_text(slowest: Slowest) -> str:
    """``pve2, 38 % below the median``, ``osd.3, commit latency 62 % above the median``, ``... 38 times the median``."""
    what = "commit latency " if slowest.kind == "osd" else ""
    if slowest.better == "less" and slowest.fraction > 1:
        return f"{slowest.name}, {what}{units.times(1 + slowest.fraction)} the median"
    side = "below" if slowest.better == "more" else "above"
    return f"{slowest.name}, {what}{100 * slowest.fraction:.0f} % {side} the median"


# ---------------------------------------------------------------------------------------------- lines


def progress_text(matrix: Matrix, *, live: bool) -> str:
    """``12 of 27 runs, about 8:10 min left, slowest: pve2, 38 % below the median (4k writes)``.

    What is left takes time only where the session is ``live``: being written.
    """
    missing = matrix.missing
    most = matrix.done + missing
    runs = f"{matrix.done} of {most}" if missing or matrix.done == matrix.runs_ordered > 0 else str(matrix.done)
    parts = [f"{runs} run{'s' * (most != 1)}"]
    if missing > 0 and not live:
        parts.append(f"{missing} missing")
    elif missing > 0 and matrix.left_seconds:
        parts.append(f"about {units.duration(matrix.left_seconds)} left")
    if matrix.slowest:
        row, slowest = matrix.slowest
        parts.append(f"slowest: {slowest_text(slowest)} ({row.step})")
    return ", ".join(parts)


def remarks(matrix: Matrix) -> list[Cell]:
    """Explanations of the marks in the cells: what is slowest by how much, why runs failed, and findings."""
    failed: list[Cell] = []
    runs: dict[int, Run] = {}
    for name, cell in _named_cells(matrix):
        failed += [words(f"{name}: ", why) for why in _failed(cell)]
        runs |= {run.run: run for run in cell.runs}
    shown = cut_items(dict.fromkeys(failed), "failed runs")
    return [*slowest_remarks(matrix), *shown, *finding_items([runs[number] for number in sorted(runs)])]


def slowest_remarks(matrix: Matrix) -> list[Cell]:
    """Explanations of what is slowest, and by how much: nodes, then OSDs."""
    slowest: dict[str, list[tuple[Slowest, str]]] = {}
    for name, cell in _named_cells(matrix):
        for slow in filter(None, (cell.slower, *cell.within)):
            slowest.setdefault(slow.name, []).append((slow, name))
    nodes_first = sorted(slowest.values(), key=lambda same: same[0][0].kind != "node")
    return [words((f"{_SLOWEST} {_standing_out(same)}", "open")) for same in nodes_first]


def _standing_out(same: Sequence[tuple[Slowest, str]]) -> str:
    """A sentence on one node or OSD: where it is slowest, and in how many cells beside that."""
    worst, where = max(same, key=lambda named: named[0].fraction)
    more = f", and in {len(same) - 1} more" if len(same) > 1 else ""
    return f"slowest {_KIND_WORDS[worst.kind]}: {slowest_text(worst)} ({where}{more})"


def _named_cells(matrix: Matrix) -> Iterator[tuple[str, CellSummary]]:
    """Cells with their names, such as ``4k writes, pve1``; a matrix with one column names rows only."""
    titles = column_titles(matrix)
    for name, row in zip(row_titles(matrix), matrix.rows, strict=True):
        for title, cell in zip(titles, row.cells, strict=True):
            if cell:
                yield f"{name}, {title}" if len(titles) > 1 else name, cell


def _failed(cell: CellSummary) -> list[Words]:
    """Why its runs are missing."""
    if cell.state in ("ok", "waiting", "running"):
        return []
    last = next(run for run in reversed(cell.runs) if run.outcome == cell.state)
    why = f": {last.error}" if last.error else ""
    return [words((f"#{last.run}", "runs"), f" {cell.state}{why}", style=_STYLES[cell.state])]


def cell_lines(matrix: Matrix, row: int, column: int) -> list[Cell]:
    """One cell in full: what and where, the figure with its interval and its runs, then what its marks mean."""
    titles, matrix_row = column_titles(matrix), matrix.rows[row]
    cell = matrix_row.cells[column]
    if cell is None:
        return [words((f"{row_titles(matrix)[row]}, {titles[column]}: no runs", "dim"))]
    names = node_names(cell.runs[-1]) if cell.runs else cell.nodes
    where = f"  {cell.target} on {', '.join(names)}"
    slowest = (words((f"slowest: {slowest_text(slow)}", "open")) for slow in (cell.slower, *cell.within) if slow)
    title = words((row_titles(matrix)[row], "strong"), where)
    lines = [title, _figure_line(matrix_row, cell), *_stages_line(matrix_row, cell)]
    return [*lines, *slowest, *_failed(cell), *finding_items(cell.runs)]


def _stages_of(row: MatrixRow, cell: CellSummary) -> Stages | None:
    """The mean of its runs that ended well; None where it is not known."""
    good = [run for run in cell.runs if run.outcome == "ok"]
    return next((stages for flow, stages in mean_stages(good).items() if flow == row.flow), None)


def _stages_line(row: MatrixRow, cell: CellSummary) -> list[Words]:
    """``latency 21.8 ms: 67 % slowest copy, 29 % queue, 4 % rest``; none where that is not known."""
    if (stages := _stages_of(row, cell)) is None:
        return []
    capped = is_capped(finding for run in cell.runs for finding in run.findings)
    return [words(f"latency {units.latency(stages.seconds)}: {shares_text(stages, row.flow, is_capped=capped)}")]


def _metric(row: MatrixRow, cell: CellSummary) -> Metric | None:
    """The figure of a row, in the units in which its tool's figures are written."""
    return next(iter(written(cell.runs[0].tool, [row.metric])), None) if row.metric and cell.runs else row.metric


def _figure_line(row: MatrixRow, cell: CellSummary) -> Words:
    numbers = f"#{ranges(sorted(run.run for run in cell.runs))}" if cell.runs else ""
    runs = state_text(cell)
    parts = [f"{runs} runs" if runs and cell.state == "ok" else runs or cell.state, numbers]
    metric = _metric(row, cell)
    if metric and (estimate := cell.estimate):
        low, high = map(metric.as_text, estimate.interval or (None, None))
        more = [f"95 % {low} to {high}", f"spread {spread_of(estimate)}"] if estimate.interval else []
        parts = [f"{figure_title(row.metric)} {metric.as_text(estimate.value)}", *more, *parts]
    return words(", ".join(filter(None, parts)), style=_STYLES.get(cell.state, ""))


# ---------------------------------------------------------------------------------------------- the whole


def matrix_view(matrix: Matrix, runs: Sequence[Run], session: str, *, live: bool = False) -> View:
    """Steps over targets and nodes, with what is missing and what is slowest; the ``runs`` are those in it."""
    return View(
        document=lambda: _document(matrix, runs, session, live=live),
        lines=lambda: matrix_cells(matrix, session),
        sheet=lambda: sheet_of(MatrixCell, matrix_cells(matrix, session), "matrix"),
    )


def _document(matrix: Matrix, runs: Sequence[Run], session: str, *, live: bool) -> Document:
    heading = matrix.title or session
    if not matrix.rows:
        return document(heading, Text(NO_RUNS))
    in_columns = {"nodes"} if any(column.nodes for column in matrix.columns) else set()
    alike = tuple((name, text) for name, text in facts(runs).items() if name not in in_columns)
    parts = [matrix.title, period(runs), by_run(runs, tool_version), by_run(runs, lambda run: run.target)]
    remarked = remarks(matrix)
    return document(
        heading,
        Facts(alike, words(" · ".join(filter(None, parts)), style="strong")),
        Text(progress_text(matrix, live=live)),
        matrix_table(matrix),
        Text(f"cells: {legend(matrix)}", "dim"),
        *([Items(tuple(remarked))] if remarked else []),
    )


def matrix_table(matrix: Matrix) -> Table:
    """The matrix as wide as there is room, else with shorter cells, else on a terminal a line for each cell."""
    narrower: tuple[Block, ...] = tuple(_list(matrix))
    for room in reversed(ROOMS):
        table = _table(matrix, room, narrower)
        narrower = (table,)
    return table


def _table(matrix: Matrix, room: Room, narrower: tuple[Block, ...]) -> Table:
    """A place has its column of figures, whether there are any yet; other columns stand where they say something."""
    step = Column("step", is_whole=room != "narrow", enough=_STEP_NARROW if room == "narrow" else 0)
    columns: list[tuple[Column, Sequence[Cell]]] = [(step, row_titles(matrix))]
    if room == "wide":
        columns += _said("where", [place_text(row) for row in matrix.rows])
        columns += _said("figure", [figure_title(row.metric) for row in matrix.rows])
    places = zip(*(row_texts(row, room) for row in matrix.rows), strict=True)
    for title, texts in zip(column_titles(matrix), places, strict=True):
        if room == "narrow":
            joined = [joined_words((cell.marked_figure, cell.runs), " ") for cell in texts]
            columns.append((Column(title, is_whole=True), joined))
            continue
        shares = [cell.figure.share if room == "wide" else None for cell in texts]
        figures = [replace(cell.marked_figure, share=share) for cell, share in zip(texts, shares, strict=True)]
        columns.append((Column(title, "r", is_whole=True), figures))
        columns += _said("spread", [cell.spread for cell in texts], "r")
        columns += _said(runs_heading(texts), [cell.runs for cell in texts])
    rows = zip(*(cells for _, cells in columns), strict=True)
    return Table(tuple(column for column, _ in columns), tuple(rows), narrower=narrower)


def _said(title: str, cells: Sequence[Cell], side: Side = "l") -> list[tuple[Column, Sequence[Cell]]]:
    """A column, unless all of it is empty."""
    return [(Column(title, side, is_whole=True), cells)] if any(map(plain_text, cells)) else []


def _list(matrix: Matrix) -> Iterator[Block]:
    """The matrix turned: below each step a line for each of its columns."""
    titles = column_titles(matrix)
    width = max(map(len, titles), default=0)
    for name, row in zip(row_titles(matrix), matrix.rows, strict=True):
        yield Text(words((name, "strong"), " ", figure_title(row.metric)))
        rows = tuple(
            (f"  {title.ljust(width)}", texts.marked_figure, texts.spread, texts.runs)
            for title, cell, texts in zip(titles, row.cells, row_texts(row), strict=True)
            if cell
        )
        yield Table(columns(("", "", "", ""), "lrrl", is_whole=True), rows)


# ---------------------------------------------------------------------------------------------- as data


def matrix_cells(matrix: Matrix, session: str) -> list[MatrixCell]:
    """Row by row; what was neither ordered nor run has none."""
    return [_cell(row, cell, session) for row in matrix.rows for cell in row.cells if cell]


def _cell(row: MatrixRow, cell: CellSummary, session: str) -> MatrixCell:
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
        wanted=cell.runs_ordered or None,
        state=cell.state,
        runs=tuple(run.run for run in cell.runs),
        findings=cell.findings,
        stages=_stages_of(row, cell),
        slower_fraction=cell.slower.fraction if cell.slower else None,
        slowest_within={slow.name: slow.fraction for slow in cell.within},
    )
