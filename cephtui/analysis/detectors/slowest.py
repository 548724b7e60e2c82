"""The node or OSD that is clearly slower than the others beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal

from cephtui.analysis.runs.batches import Estimate
from cephtui.analysis.statistics.ratio import Better, prediction
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample, NodeResult, Run
from cephtui.models.metrics import Metric

LEAST = 3
"""Fewer have no median that one of them could fall short of."""
NODE_FRACTION, OSD_FRACTION = 0.15, 0.5
"""How far off the median something stands out: a node's figure, an OSD's commit latency, which varies more."""
_OSD_LEAST_SECONDS = 0.002
"""Ceph counts commit latency in whole milliseconds, each the mean of some seconds: less apart is as good as equal."""
_ERROR = 0.05
"""How often one of any number that are alike may stand out."""
_INTERVAL_RUNS = 3
"""With so many runs or more the interval of the slowest has to lie wholly on the slow side of the median."""


@dataclass(frozen=True, slots=True)
class Slowest:
    """The node or OSD that stands out."""

    kind: Literal["node", "osd"]
    name: str
    """``pve2``, ``osd.3``."""
    fraction: float
    """How far it is off the median of all, the bad way: 0.38 is 38 %."""
    better: Better
    """The better way of the figure: ``more`` puts the slowest below the median, ``less`` above."""


def slowest_of(figures: Mapping[str, Estimate], better: Better, least_fraction: float) -> tuple[str, float] | None:
    """The slowest and how far it is off the median of all, as a fraction of that; None where none stands out.

    There are at least ``LEAST`` of them, it is off by at least ``least_fraction``, with three runs or more the 95 %
    interval of its mean does not reach the median, and it is further out than chance makes the worst of so many.
    """
    if len(figures) < LEAST:
        return None
    sign = 1 if better == "less" else -1
    middle = median(estimate.value for estimate in figures.values())
    name, worst = max(figures.items(), key=lambda pair: sign * pair[1].value)
    if middle <= 0 or not _is_clear(worst, middle, sign):
        return None
    other_values = [estimate.value for other, estimate in figures.items() if other != name]
    if len(other_values) >= LEAST and not _is_beyond(worst.value, other_values, sign):
        return None
    fraction = sign * (worst.value / middle - 1)
    return (name, fraction) if fraction >= least_fraction else None


def _is_clear(worst: Estimate, middle: float, sign: int) -> bool:
    if worst.interval is None or worst.runs < _INTERVAL_RUNS:
        return True
    return all(sign * (end - middle) > 0 for end in worst.interval)


def _is_beyond(worst: float, other_values: Sequence[float], sign: int) -> bool:
    """Whether one is further out than the others are spread, corrected for their number (Grubbs 1950)."""
    if min(worst, *other_values) <= 0:
        return True
    low, high = prediction(other_values, 1 - 2 * _ERROR / (len(other_values) + 1))
    return worst > high if sign > 0 else worst < low


def slowest_node(figures: Mapping[str, Estimate], better: Better) -> Slowest | None:
    """The slowest of nodes that did the same, each by itself or all at once."""
    slowest = slowest_of(figures, better, NODE_FRACTION)
    return Slowest("node", *slowest, better) if slowest else None


def slowest_part(runs: Sequence[Run], flow: str, metric: Metric) -> Slowest | None:
    """The slowest of the nodes of runs that each ran on several, by the nodes' own figures."""
    parts = [{node.node: value for node in run.nodes if (value := _figure(node, flow, metric))} for run in runs]
    return slowest_node(_estimates(parts), metric.better)


def _figure(node: NodeResult, flow: str, metric: Metric) -> float | None:
    return metric.of(node.summary.flows.get(flow))


def slowest_osd(latencies: Sequence[Mapping[str, float]]) -> Slowest | None:
    """The slowest OSD, by the commit latency in each run, which is of writes."""
    figures = _estimates(latencies)
    slowest = slowest_of(figures, "less", OSD_FRACTION)
    if slowest is None:
        return None
    name, fraction = slowest
    seconds = figures[name].value * fraction / (1 + fraction)
    return Slowest("osd", f"osd.{name}", fraction, "less") if seconds >= _OSD_LEAST_SECONDS else None


def _estimates(runs: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """The estimates of the names that have a figure in every run."""
    names = [name for name in runs[0] if all(run.get(name) for run in runs)] if runs else []
    return {name: Estimate.of([run[name] for run in runs]) for name in names}


def osd_latency(samples: Iterable[ClusterSample], run: Run | None = None) -> dict[str, float]:
    """The commit latency of each OSD in a run, in seconds by the id: the median over the run, the ramp left out.

    Of a ``run`` whose pool is known only OSDs with PGs of that pool count: others, perhaps of another class, do not
    take part in it.

    A single slow moment is no slow OSD, and the first answers are still of what was before the run.
    """
    seconds_by_osd: dict[str, list[float]] = {}
    of_pool = run.cluster.pgs_by_osd if run and run.cluster else {}
    for sample in samples:
        if sample.phase == "run":
            for osd, seconds in sample.osd_latency_seconds.items():
                if osd in of_pool or not of_pool:
                    seconds_by_osd.setdefault(osd, []).append(seconds)
    return {osd: median(seconds) for osd, seconds in seconds_by_osd.items()}
