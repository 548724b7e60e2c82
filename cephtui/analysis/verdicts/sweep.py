"""A sweep that chooses its depths itself: which is measured next, and when it has come to its end."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cephtui.analysis.statistics.ratio import LogMean
from cephtui.analysis.verdicts.knee import LoadPoint, combined_figures, hysteresis, knee_of
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME

DEPTH_MOST = 256
"""The greatest depth of a job."""
PASSES_MOST = 3
_GROWTH = 1.05
"""A doubling that brings less throughput than this is at the end of the rise; so is a second one."""
_LATENCY_MOST = 20.0
"""Times that of depth 1: a latency at which no system is used."""
_WIDE = 2.0
"""The interval of a knee whose ends are further apart is measured a third time."""


@dataclass(frozen=True, slots=True)
class DepthRun:
    """One run of a sweep."""

    depth: int
    """The depth of a job."""
    rate: float
    """IOPS, reads and writes together; above 0."""
    latency: float
    """Mean, in seconds; above 0."""


def next_depth(measured: Sequence[DepthRun], most: int = DEPTH_MOST) -> int | None:
    """The depth of the next run, given those up to now in their order; None where the sweep is over.

    It climbs by doublings, adds a depth on each side of the knee, and goes the same way back, so that a drift is in
    both halves alike. Where the knee is still known badly then, it climbs a third time.
    """
    climbed = _climbed(measured, most)
    if climbed is None:
        return 1 if not measured else measured[-1].depth * 2
    way = [*(run.depth for run in climbed), *_around_knee(climbed, most)]
    order = [*way, *reversed(way)]
    if len(measured) >= len(order) and _is_wide(measured[: len(order)]):
        order += way
    return order[len(measured)] if len(measured) < len(order) else None


def runs_most(most: int = DEPTH_MOST) -> int:
    """How many runs a sweep takes at most."""
    return PASSES_MOST * (most.bit_length() + 2)


def depth_run_of(run: Run, depth: int) -> DepthRun | None:
    """A run with its depth; None for one that has completed nothing."""
    rates, latencies = (combined_figures([run], BY_NAME[name]) for name in ("iops", "latency_mean_seconds"))
    return DepthRun(depth, rates[0], latencies[0]) if rates and latencies and min(*rates, *latencies) > 0 else None


def points_by_depth(measured: Sequence[DepthRun]) -> list[LoadPoint]:
    """The points by depth, as one job of one node has them: the knee of these is a depth."""
    runs_by_depth: dict[int, list[DepthRun]] = {}
    for run in measured:
        runs_by_depth.setdefault(run.depth, []).append(run)
    return [
        LoadPoint(depth, tuple(run.rate for run in runs), tuple(run.latency for run in runs))
        for depth, runs in sorted(runs_by_depth.items())
    ]


def change_again(measured: Sequence[DepthRun]) -> LogMean | None:
    """The ratio of the throughput of the second pass to that of the first, at the same depths; None for one pass."""
    first, *later_passes = passes(measured) or [[]]
    return hysteresis(points_by_depth(first), points_by_depth(later_passes[0])) if later_passes else None


def passes(measured: Sequence[DepthRun]) -> list[list[DepthRun]]:
    """The runs on the way up, on the way back, and on the third; what is not measured yet is left out."""
    depths = [run.depth for run in measured]
    length = next((number for number, depth in enumerate(depths) if depth in depths[:number]), len(depths))
    return [list(measured[begin : begin + length]) for begin in range(0, len(measured), max(1, length))]


def _climbed(measured: Sequence[DepthRun], most: int) -> Sequence[DepthRun] | None:
    """The runs of the first doublings; None where they are not over."""
    for number in range(1, len(measured) + 1):
        if _is_over(measured[:number], most):
            return measured[:number]
    return None


def _is_over(climb: Sequence[DepthRun], most: int) -> bool:
    if climb[-1].depth * 2 > most or climb[-1].latency > _LATENCY_MOST * climb[0].latency:
        return True
    rates = [run.rate for run in climb[-3:]]
    return len(rates) == 3 and rates[1] < _GROWTH * rates[0] and rates[2] < _GROWTH * rates[1]


def _around_knee(climb: Sequence[DepthRun], most: int) -> list[int]:
    """A depth below the knee and one above, as far as they were not measured."""
    knee = knee_of(points_by_depth(climb))
    if knee is None or not knee.is_bent:
        return []
    sides = (round(knee.in_flight / math.sqrt(2)), round(knee.in_flight * math.sqrt(2)))
    depths = {run.depth for run in climb}
    return [depth for depth in dict.fromkeys(sides) if 1 <= depth <= most and depth not in depths]


def _is_wide(measured: Sequence[DepthRun]) -> bool:
    knee = knee_of(points_by_depth(measured))
    interval = knee.interval if knee and knee.is_bent else None
    return interval is not None and interval[1] > _WIDE * interval[0]
