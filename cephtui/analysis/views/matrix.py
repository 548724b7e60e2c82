"""The runs of a session as a table: steps over targets and nodes.

A row is a step of what was ordered, or a preset, at one point of its sweep, and one of its flows where it has several;
a column is a target, a set of nodes, or both, as far as they differ within a row. What is ordered and has no run yet
has its cells too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

from cephtui.analysis.detectors.slowest import Slowest, slowest_node, slowest_osd, slowest_part
from cephtui.analysis.runs.batches import (
    Estimate,
    PointSummary,
    SweepPoint,
    flow_names,
    metric_of_flow,
    summarize,
)
from cephtui.analysis.runs.points import PlacedStep, PointKey, placed_steps, steps_at_points
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.findings import limiting
from cephtui.models.metrics import Metric

if TYPE_CHECKING:
    from cephtui.models.study import Ordered

CellState: TypeAlias = Literal["waiting", "running", "ok", "failed", "stopped", "lost", "refused"]
OsdLatencies: TypeAlias = Mapping[int, Mapping[str, float]]
"""The commit latency of each OSD in seconds, by the number of a run."""
_KINDS_OF_POOLS = ("pool", "rbd")


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A place that was measured: a column of the matrix."""

    targets: tuple[str, ...] = ()
    """Empty where targets are no axis; several where one step uses a pool as ``pool:a`` and another as ``rbd:a``."""
    nodes: tuple[str, ...] = ()
    """That load it together; empty where nodes are no axis."""


@dataclass(frozen=True, slots=True)
class CellSummary:
    """One flow of one step in one place: its runs, and what stands for them."""

    target: str
    nodes: tuple[str, ...]
    runs: tuple[Run, ...]
    """However they ended, in the order in which they were given."""
    runs_ordered: int
    """How many runs were ordered; 0 where that is not known."""
    state: CellState
    """``running`` while one runs, ``waiting`` where more are to come; of the last run that did not end well, where
    runs are still missing."""
    estimate: Estimate | None = None
    """The estimate of the row's metric, over the runs that count; None where none has it."""
    findings: tuple[str, ...] = ()
    """The codes of the findings that limit what the figure means."""
    slower: Slowest | None = None
    """The cell's own node, where it is the slowest of the row: columns of one node each on the same target."""
    within: tuple[Slowest, ...] = ()
    """The nodes and OSDs that stand out within its runs: the slowest of each."""

    @property
    def done(self) -> int:
        """How many runs ended well."""
        return sum(run.outcome == "ok" for run in self.runs)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A step at one point of its sweep."""

    step: str
    """Its title, or the preset."""
    point: PointKey
    turn: int
    """1; 2 and more where the same was run again in another batch: something may have been changed between them."""
    flow: str
    """``read``, ``write`` or another; empty before the first result."""
    metric: Metric | None
    """The preset's headline, as far as the flow has it (``metric_of_flow``); None before the first result."""
    target: str
    """Where targets are no axis and are not the same in all rows; empty else."""
    nodes: tuple[str, ...]
    """The nodes, where they are no axis and not the same in all rows; empty else."""
    cells: tuple[CellSummary | None, ...]
    """One for each column; None where nothing was ordered or run."""

    @property
    def shares(self) -> tuple[float | None, ...]:
        """How near each cell is to the best of the row, the best being 1; None without a figure, or without another."""
        values = [cell.estimate.value if cell and cell.estimate else 0.0 for cell in self.cells]
        known = [value for value in values if value > 0]
        if self.metric is None or len(known) < 2:
            return (None,) * len(values)
        best = max(known) if self.metric.better == "more" else min(known)
        return tuple(min(value / best, best / value) if value > 0 else None for value in values)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All runs of a session, by steps and places."""

    title: str
    """The title of the suite; empty without one."""
    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    done: int
    """How many runs ended well; of what was ordered, at most as many as were wanted."""
    runs_ordered: int
    """How many runs were ordered; 0 where that is not known."""
    missing: int
    """How many of those that were ordered have not ended well yet."""
    left_seconds: float | None
    """About how long the missing runs take, by those of the same step, else by all; None where that is not known."""

    @property
    def running(self) -> tuple[MatrixRow, MatrixColumn, CellSummary] | None:
        """The first cell with a run in progress."""
        return next((cell for cell in self._cells() if cell[2].state == "running"), None)

    @property
    def slowest(self) -> tuple[MatrixRow, Slowest] | None:
        """The node or OSD that stands out most in all rows, a node before an OSD; None where nothing does."""
        pairs = [(row, slowest) for row, _, cell in self._cells() for slowest in (cell.slower, *cell.within) if slowest]
        return max(pairs, key=lambda pair: (pair[1].kind == "node", pair[1].fraction), default=None)

    def _cells(self) -> Iterable[tuple[MatrixRow, MatrixColumn, CellSummary]]:
        pairs = ((row, column, cell) for row in self.rows for column, cell in zip(self.columns, row.cells, strict=True))
        return ((row, column, cell) for row, column, cell in pairs if cell)


def matrix_of(
    runs: Sequence[Run],
    headline: Callable[[Run], Metric],
    ordered: Ordered | None = None,
    osds: OsdLatencies | None = None,
) -> Matrix:
    """The matrix of the runs of one session, and of what was ``ordered`` in it.

    ``headline`` gives the figure that a run is about (``presets.headline_metric``), and ``osds`` what
    ``slowest.osd_latency`` gives of each run. Runs that were not ordered have rows of their own; those of different
    batches never share a cell.
    """
    parts = placed_steps(runs, ordered)
    steps = dict.fromkeys(part.step for part in parts)
    points = [point for step in steps for point in steps_at_points([part for part in parts if part.step == step])]
    places, columns = _columns([part for part, _ in points])
    rows: dict[tuple[str, PointKey, int], dict[int, PlacedStep]] = {}
    for part, key in points:
        column = places[part.place]
        turn = next(n for n in itertools.count(1) if column not in rows.get((part.step, key, n), {}))
        rows.setdefault((part.step, key, turn), {})[column] = part
    cells = [part for row in rows.values() for part in row.values()]
    drawn = [_row(key, row, columns, headline, osds or {}) for key, row in rows.items()]
    return Matrix(
        ordered.title if ordered else "",
        columns,
        tuple(row for flow_rows in drawn for row in _unlike(flow_rows, parts, columns)),
        done=sum(_done(part) for part in cells),
        runs_ordered=sum(part.runs_ordered for part in cells),
        missing=sum(map(_missing, cells)),
        left_seconds=_left_seconds(cells),
    )


# ---------------------------------------------------------------------------------------------- columns


def _columns(parts: Sequence[PlacedStep]) -> tuple[dict[tuple[str, tuple[str, ...]], int], tuple[MatrixColumn, ...]]:
    """The number of the column of each place, and the columns: those of most cells first, then as they come first."""
    targets, nodes = _short_targets(parts), _is_axis(parts, lambda part: part.nodes)
    is_axis = _is_axis(parts, lambda part: part.target)
    columns: dict[tuple[str, tuple[str, ...]], list[PlacedStep]] = {}
    keys = {}
    for part in parts:
        keys[part.place] = key = targets[part.target] if is_axis else "", part.nodes if nodes else ()
        columns.setdefault(key, []).append(part)
    ordered = sorted(columns, key=lambda key: -len(columns[key]))
    specs = {key: tuple(dict.fromkeys(part.target for part in columns[key])) for key in ordered}
    numbers = {key: number for number, key in enumerate(ordered)}
    drawn = tuple(MatrixColumn(names if is_axis else (), key[1]) for key, names in specs.items())
    return {place: numbers[key] for place, key in keys.items()}, drawn


def _is_axis(parts: Iterable[PlacedStep], of: Callable[[PlacedStep], object]) -> bool:
    """Whether any step has several values of what ``of`` gives."""
    variants: dict[str, set[object]] = {}
    for part in parts:
        variants.setdefault(part.step, set()).add(of(part))
    return any(len(values) > 1 for values in variants.values())


def _short_targets(parts: Sequence[PlacedStep]) -> dict[str, str]:
    """Each target by its pool, where no step uses one pool in two ways; else by itself."""
    short = {part.target: pool_of(part.target) or part.target for part in parts}
    target_uses = {(part.step, part.target) for part in parts}
    is_clear = len({(step, short[target]) for step, target in target_uses}) == len(target_uses)
    return short if is_clear else {target: target for target in short}


def pool_of(target: str) -> str:
    """The pool of ``pool:a``, ``rbd:a`` and ``rbd:a/image``; empty for other targets."""
    kind, _, rest = target.partition(":")
    return rest.partition("/")[0] if kind in _KINDS_OF_POOLS else ""


# ---------------------------------------------------------------------------------------------- rows and cells


def _row(
    key: tuple[str, PointKey, int],
    parts: Mapping[int, PlacedStep],
    columns: Sequence[MatrixColumn],
    headline: Callable[[Run], Metric],
    osds: OsdLatencies,
) -> list[MatrixRow]:
    """A row for each flow; target and nodes are those of its first cell."""
    summaries = {column: summarize(SweepPoint({}, part.runs)) for column, part in parts.items()}
    counted = [run for summary in summaries.values() for run in summary.counted]
    first = next(iter(parts.values()))
    rows = []
    for flow in flow_names(counted) or [""]:
        metric = metric_of_flow(headline(counted[0]), counted, flow) if counted else None
        cells = [
            _cell(parts[column], summaries[column], flow, metric, osds) if column in parts else None
            for column in range(len(columns))
        ]
        rows.append(MatrixRow(*key, flow, metric, first.target, first.nodes, _with_slowest(cells, columns, metric)))
    return rows


def _unlike(rows: Iterable[MatrixRow], parts: Sequence[PlacedStep], columns: Sequence[MatrixColumn]) -> list[MatrixRow]:
    """The rows, without target and nodes where these are in the columns, or the same in all rows."""
    has_target = len({part.target for part in parts}) > 1 and not columns[0].targets
    has_nodes = len({part.nodes for part in parts}) > 1 and not columns[0].nodes
    return [replace(r, target=r.target if has_target else "", nodes=r.nodes if has_nodes else ()) for r in rows]


def _cell(part: PlacedStep, summary: PointSummary, flow: str, metric: Metric | None, osds: OsdLatencies) -> CellSummary:
    within = [slowest_part(summary.counted, flow, metric)] if metric else []
    if flow != "read":  # the latency of a commit tells nothing of reads
        within.append(slowest_osd([osds[run.run] for run in summary.counted if run.run in osds]))
    return CellSummary(
        *part.place,
        part.runs,
        part.runs_ordered,
        _state(part),
        summary.estimates.get(flow, {}).get(metric.name) if metric else None,
        limiting(summary.findings, metric.name, flow) if metric else (),
        within=tuple(slowest for slowest in within if slowest),
    )


def _state(part: PlacedStep) -> CellState:
    outcomes = [run.outcome for run in part.runs]
    if None in outcomes:
        return "running"
    if part.runs_ordered and not _missing(part):
        return "ok"
    bad = [outcome for outcome in outcomes if outcome and outcome != "ok"]
    return bad[-1] if bad else "waiting" if part.runs_ordered else "ok"


def _done(part: PlacedStep) -> int:
    done = sum(run.outcome == "ok" for run in part.runs)
    return min(done, part.runs_ordered) if part.runs_ordered else done


def _missing(part: PlacedStep) -> int:
    return max(0, part.runs_ordered - _done(part))


def _with_slowest(
    cells: Sequence[CellSummary | None], columns: Sequence[MatrixColumn], metric: Metric | None
) -> tuple[CellSummary | None, ...]:
    """The cells with the slowest node named, of those that had a target for themselves."""
    by_target: dict[tuple[str, ...], dict[str, Estimate]] = {}
    for column, cell in zip(columns, cells, strict=True):
        if cell and cell.estimate and len(column.nodes) == 1:
            by_target.setdefault(column.targets, {})[column.nodes[0]] = cell.estimate
    slowest = {at: slowest_node(figures, metric.better) for at, figures in by_target.items() if metric}
    marked = []
    for column, cell in zip(columns, cells, strict=True):
        slower = slowest.get(column.targets)
        is_it = cell and slower and column.nodes == (slower.name,)
        marked.append(replace(cell, slower=slower) if cell and is_it else cell)
    return tuple(marked)


def _left_seconds(cells: Sequence[PlacedStep]) -> float | None:
    lasted: dict[str, list[float]] = {}
    for part in cells:
        lasted.setdefault(part.step, []).extend(run.duration_seconds for run in part.runs if run.outcome == "ok")
    all_seconds = [seconds for seconds_of_step in lasted.values() for seconds in seconds_of_step]
    missing = [(part.step, _missing(part)) for part in cells if part.runs_ordered]
    if not all_seconds or not missing:
        return None
    return sum(number * fmean(lasted[step] or all_seconds) for step, number in missing)
