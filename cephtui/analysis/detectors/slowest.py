"""The node or OSD that is clearly slower than the others beside it, by one rule.

Equal ones are spread too, and the worst of many is far off: what stands out is further off the others than the worst of
as many that are alike (Grubbs 1950). How far these are spread two or three others tell badly: there it is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, fmean, median, stdev
from typing import Literal

from cephtui.analysis.runs.batches import Estimate
from cephtui.analysis.runs.history import TimeSeries
from cephtui.analysis.statistics.levels import LEAST_VALUES, error_of_mean
from cephtui.analysis.statistics.ratio import Better
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample, Finding, NodeResult, Run
from cephtui.models.findings.client import SLOW_NODE
from cephtui.models.findings.cluster import SLOW_OSD
from cephtui.models.metrics import Metric

LEAST = 3
"""Fewer have no median that one of them could fall short of."""
NODE_FRACTION, OSD_FRACTION = 0.15, 0.5
"""How far off the median something stands out, however alike the others are."""
_NODE_SPREAD, _OSD_SPREAD = 0.1, 0.2
"""The standard deviation of the logarithms of one run's figures that equal nodes and equal OSDs have."""
_SPREAD_COUNTS = 10
"""That spread counts as much as the one that so many others, and one more, show."""
COMMIT_LEAST_SECONDS = 0.002
"""Ceph counts commit latency in whole milliseconds, each the mean of some seconds: less apart is as good as equal."""
_ERROR = 0.005
"""How often one of any number that are alike may stand out."""
_INTERVAL_RUNS = 3
"""With so many runs or more the interval of the slowest has to lie wholly on the slow side of the median."""
_TWICE, _THRICE = 2.0, 3.0
"""A node or OSD is slow where its rate or latency is worse than that of the others by this; of two nodes by that."""
_SURELY, _ERRORS = 1.5, 3.0
"""Over its seconds it is worse by at least this, less so many standard errors."""
_LEAST_SHARE = 1 / 20
"""Of what the others do: less than that counts as that in logarithms."""
_SLOWEST_SHARE = 0.2
"""The share of an OSD's intervals that is left out, the slowest: a single slow moment is no slow OSD."""
_STRETCHES = 60
"""At most twice as many are held of each node and OSD; what is longer is joined."""
_LEAST_OPS = 50
"""An OSD with fewer operations is not judged."""


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


def is_beyond(worst: float, others: Sequence[float], better: Better, spread: float) -> bool:
    """Whether one is further off the others than chance makes the worst of as many; all above 0, at least one other.

    ``spread`` is the standard deviation of the logarithms of equal ones, as far as few others do not show theirs; a
    greater one that they show counts as it is (a prior, as in the moderated t of Smyth 2004).
    """
    logs = [math.log(value) for value in others]
    off = (math.log(worst) - fmean(logs)) * (1 if better == "less" else -1)
    measured = stdev(logs) if len(logs) > 1 else 0.0
    weight = (len(logs) - 1) / (len(logs) - 1 + _SPREAD_COUNTS)
    deviation = max(measured, math.sqrt(weight * measured**2 + (1 - weight) * spread**2))
    return off > NormalDist().inv_cdf(1 - _ERROR / (len(logs) + 1)) * deviation * math.sqrt(1 + 1 / len(logs))


def slowest_of(
    figures: Mapping[str, Estimate], better: Better, least_fraction: float, spread: float
) -> tuple[str, float] | None:
    """The slowest and how far it is off the median of all, as a fraction of that; None where none stands out.

    There are at least ``LEAST`` of them, it is off by at least ``least_fraction``, with three runs or more the 95 %
    interval of its mean does not reach the median, and it is further out than chance makes the worst of so many, whose
    figures in one run have at least this ``spread``.
    """
    if len(figures) < LEAST:
        return None
    sign = 1 if better == "less" else -1
    middle = median(estimate.value for estimate in figures.values())
    name, worst = max(figures.items(), key=lambda pair: sign * pair[1].value)
    if middle <= 0 or not _is_clear(worst, middle, sign):
        return None
    other_values = [estimate.value for other, estimate in figures.items() if other != name]
    if min(worst.value, *other_values) > 0 and not is_beyond(
        worst.value, other_values, better, spread / math.sqrt(worst.runs)
    ):
        return None
    fraction = sign * (worst.value / middle - 1)
    return (name, fraction) if fraction >= least_fraction else None


def _is_clear(worst: Estimate, middle: float, sign: int) -> bool:
    if worst.interval is None or worst.runs < _INTERVAL_RUNS:
        return True
    return all(sign * (end - middle) > 0 for end in worst.interval)


def slowest_node(figures: Mapping[str, Estimate], better: Better) -> Slowest | None:
    """The slowest of nodes that did the same, each by itself or all at once."""
    slowest = slowest_of(figures, better, NODE_FRACTION, _NODE_SPREAD)
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
    slowest = slowest_of(figures, "less", OSD_FRACTION, _OSD_SPREAD)
    if slowest is None:
        return None
    name, fraction = slowest
    seconds = figures[name].value * fraction / (1 + fraction)
    return Slowest("osd", f"osd.{name}", fraction, "less") if seconds >= COMMIT_LEAST_SECONDS else None


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


# ---------------------------------------------------------------------------------------------- within one run


def slow_node(rates: Mapping[str, Sequence[float]]) -> tuple[str, float, float] | None:
    """The name and the rate of a node that did less than half of what the others did, and their median rate.

    ``rates`` are those of the same seconds or longer intervals, at least six. Of two nodes one is slow with less than a
    third of the other. It is slow over its seconds too.
    """
    return _slow(rates, {name: fmean(values) for name, values in rates.items()}, "more", _NODE_SPREAD)


def slow_osd(operations: Mapping[str, Sequence[tuple[int, float]]]) -> tuple[str, float, float] | None:
    """The name and the mean latency of an OSD that took twice as long as the others, and the median of their means.

    ``operations`` are, for each of the same intervals, at least six, the number of operations and the sum of their
    latencies in seconds. Those intervals in which the OSD was slowest are left out, a fifth of all.
    """
    counted = {name: parts for name, parts in operations.items() if sum(ops for ops, _ in parts) >= _LEAST_OPS}
    if len(counted) < LEAST:
        return None
    means = {name: [seconds / ops if ops else None for ops, seconds in parts] for name, parts in counted.items()}
    return _slow(means, {name: _settled_latency(parts) for name, parts in counted.items()}, "less", _OSD_SPREAD)


def _settled_latency(parts: Sequence[tuple[int, float]]) -> float:
    """The mean latency of an OSD without the slowest fifth of its intervals."""
    busy = sorted((seconds / ops, ops) for ops, seconds in parts if ops)
    kept = busy[: len(busy) - int(_SLOWEST_SHARE * len(busy))]
    return sum(mean * ops for mean, ops in kept) / sum(ops for _, ops in kept)


def _slow(
    seconds: Mapping[str, Sequence[float | None]], figures: Mapping[str, float], better: Better, spread: float
) -> tuple[str, float, float] | None:
    if len(figures) < 2 or min(map(len, seconds.values())) < LEAST_VALUES:
        return None
    worst = (min if better == "more" else max)(figures, key=lambda name: figures[name])
    others = [figure for name, figure in figures.items() if name != worst]
    middle, figure = median(others), max(figures[worst], _LEAST_SHARE * median(others))
    if min(others) <= 0:
        return None
    factor = middle / figure if better == "more" else figure / middle
    if factor < (_THRICE if len(others) == 1 else _TWICE) or not is_beyond(figure, others, better, spread):
        return None
    others_seconds = zip(*(seconds[name] for name in figures if name != worst), strict=False)
    pairs = [
        (value, median(known))
        for value, values in zip(seconds[worst], others_seconds, strict=False)
        if value is not None and (known := [other for other in values if other is not None])
    ]
    return (worst, figures[worst], middle) if _lasts(pairs, better) else None


def _lasts(pairs: Sequence[tuple[float, float]], better: Better) -> bool:
    """Whether the first of each pair is worse over the seconds, and not by a few of them."""
    if len(pairs) < LEAST_VALUES:
        return False
    sign = 1 if better == "less" else -1
    least = _LEAST_SHARE * fmean(beside for _, beside in pairs)
    ratios = [sign * math.log(max(value, least) / max(beside, least)) for value, beside in pairs]
    return fmean(ratios) - _ERRORS * error_of_mean(ratios) > math.log(_SURELY)


class NodeRates:
    """The rates of the nodes of a run over its seconds, as they come, in bounded space."""

    def __init__(self) -> None:
        self._curves: dict[str, TimeSeries] = {}

    def add(self, node: str, elapsed_seconds: float, rate: float, seconds: int) -> None:
        """Take in what a node did in so many seconds."""
        curve = self._curves.setdefault(node, TimeSeries(_STRETCHES))
        for _ in range(min(seconds, _STRETCHES)):
            curve.add(elapsed_seconds, rate)

    def finding(self, metric: Metric) -> Finding | None:
        """``slow-node``, or None; the rates are those of the metric."""
        rates = {node: [rate or 0.0 for rate in curve.values()] for node, curve in self._curves.items()}
        if len(rates) < 2 or not (slow := slow_node(rates)):
            return None
        node, rate, others = slow
        return SLOW_NODE.found(node=node, figure=metric.title, rate=rate, others=others, nodes=len(rates))


class OsdLatencies:
    """What the OSDs of the pool did in a run, by interval, as they come, in bounded space."""

    def __init__(self) -> None:
        self._operations: dict[str, list[tuple[int, float]]] = {}
        self._each, self._held = 1, 0
        """Intervals that are joined to one, and how many of them the newest has."""

    def add(self, operations: Mapping[str, tuple[int, float]]) -> None:
        """Take in the operations of an interval, and the sum of their latencies in seconds, by OSD: ``osd.3``."""
        count = max(map(len, self._operations.values()), default=0)
        is_new = self._held == self._each or not count
        self._held = 1 if is_new else self._held + 1
        for osd in {*self._operations, *operations}:
            parts = self._operations.setdefault(osd, [(0, 0.0)] * count)
            part = operations.get(osd, (0, 0.0))
            if is_new:
                parts.append(part)
            else:
                parts[-1] = _sum_of((parts[-1], part))
        if is_new and count + 1 >= 2 * _STRETCHES:
            self._operations = {
                osd: [_sum_of(parts[at : at + 2]) for at in range(0, len(parts), 2)]
                for osd, parts in self._operations.items()
            }
            self._each *= 2
            self._held = self._each

    def finding(self, least_seconds: float = 0.0) -> Finding | None:
        """``slow-osd``, or None, also where less than ``least_seconds`` apart is as good as equal."""
        slow = slow_osd(self._operations)
        if slow is None or slow[1] - slow[2] < least_seconds:
            return None
        osd, seconds, others = slow
        return SLOW_OSD.found(osd=osd, seconds=seconds, others=others)


def _sum_of(parts: Sequence[tuple[int, float]]) -> tuple[int, float]:
    return sum(ops for ops, _ in parts), sum(seconds for _, seconds in parts)
