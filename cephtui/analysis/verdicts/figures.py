"""The figures of two sides beside each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cephtui.analysis.runs.batches import flow_names, measured, name_of, tool_of
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.runs.turns import divided
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.analysis.verdicts.conditions import unlike
from cephtui.analysis.verdicts.verdict import Criteria, Figures
from cephtui.models.findings import limiting
from cephtui.models.metrics import DIRECTIONS, METRICS
from cephtui.models.verdict import JUDGED_RUNS, Verdict, shown_by

if TYPE_CHECKING:
    from cephtui.models.rows import Figure

_Shown: TypeAlias = Literal["more", "less"] | None


def compared_figures(left: Side, right: Side, verdicts: Sequence[Verdict] = ()) -> list[Figure]:
    """Every figure of what either side did: reads, writes, then of the others those that either side has.

    A figure on which there is a verdict is shown to differ where the verdict shows it, and not by itself alone.
    """
    shown_by_verdict = {(verdict.direction, verdict.figure): verdict.shown for verdict in verdicts}
    directions = flow_names((*left.runs, *right.runs))
    codes = tuple(left.findings()), tuple(right.findings())
    invalid = {name_of(run) for run in (*left.runs, *right.runs) if why_invalid(run)}
    (before, after), left_out = divided((left.runs, right.runs), invalid)
    same_load = not unlike(left, right)
    rows = []
    for direction, metric in itertools.product(directions, METRICS):
        figures = replace(Figures.of(direction, metric, before, after, left_out), is_same_load=same_load)
        key = direction, metric.name
        shown = shown_by_verdict[key] if key in shown_by_verdict else _shown(figures)
        rows.append(_figure(figures, left, right, codes, shown))
    return [row for row in rows if row.direction in DIRECTIONS or (row.left, row.right) != (None, None)]


def _figure(
    figures: Figures, left: Side, right: Side, codes: tuple[Sequence[str], Sequence[str]], shown: _Shown
) -> Figure:
    """The figure of all runs; what those that count show is ``shown``."""
    from cephtui.models.rows import Figure

    direction, metric = figures.direction, figures.metric
    before, after = measured(left.runs, direction, metric), measured(right.runs, direction, metric)
    mean_before, mean_after = geometric_mean(before), geometric_mean(after)
    return Figure(
        direction=direction,
        name=metric.name,
        tool=tool_of((*left.runs, *right.runs)),
        left=mean_before,
        right=mean_after,
        change_fraction=_change(mean_before, mean_after),
        same_load=figures.is_same_load,
        shown=shown,
        better=None,
        left_spread=_spread(before),
        right_spread=_spread(after),
        left_findings=limiting(codes[0], metric.name, direction) if before else (),
        right_findings=limiting(codes[1], metric.name, direction) if after else (),
    )


def _shown(figures: Figures) -> _Shown:
    ratio = figures.ratio if min(len(figures.before), len(figures.after)) >= JUDGED_RUNS else None
    return shown_by(ratio.interval(Criteria().confidence)) if ratio else None


def _spread(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if len(values) > 1 else None


def _change(before: float | None, after: float | None) -> float | None:
    """The change as a fraction; None also where ``before`` is so small that the ratio is no number."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    change = after / before - 1.0 if before else math.inf
    return change if math.isfinite(change) else None
