"""Nodes or OSDs that are clearly slower than the others beside them, by one rule.

Equal ones are spread too, and the worst of many is far off: what stands out is further off the others than the worst of
as many that are alike (Grubbs 1950). How far these are spread two or three others tell badly: there it is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, pairwise
from statistics import NormalDist, fmean, median, stdev
from typing import Literal

from cephtui.analysis.runs.batches import Estimate
from cephtui.analysis.runs.history import TimeSeries
from cephtui.analysis.statistics.levels import LEAST_VALUES, error_of_mean
from cephtui.analysis.statistics.ratio import Better
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample, Finding, NodeResult, Run
from cephtui.models.findings.client import SLOW_NODE
from cephtui.models.findings.kind import Value, named
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
"""Nodes or OSDs are slow where the rate or latency of each is worse than that of the others by this; half of all, which
may as well be those that are right, by that."""
_SURELY, _ERRORS = 1.5, 3.0
"""Over its seconds it is worse by at least this, less so many standard errors."""
_LEAST_SHARE = 1 / 20
"""Of what the others do: less than that counts as that in logarithms."""
_SLOWEST_SHARE = 0.2
"""The share of an OSD's intervals that is left out, the slowest: a single slow moment is no slow OSD."""
_STRETCHES = 60
"""At most twice as many are held of each node and OSD; what is longer is joined."""
_SOON_SECONDS = 10.0
"""What is slower from a moment on is slower in this time after it."""
_LEAST_OPS, _LEAST_OPS_OF_SPAN = 50, 100
"""An OSD with fewer operations is not judged, in a run and in a part of one."""


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


def is_beyond(worst: float, others: Sequence[float], better: Better, spread: float, questions: int = 1) -> bool:
    """Whether one is further off the others than chance makes the worst of as many; all above 0, at least one other.

    ``spread`` is the standard deviation of the logarithms of equal ones, as far as few others do not show theirs; a
    greater one that they show counts as it is (a prior, as in the moderated t of Smyth 2004). ``questions`` are those
    that share the error.
    """
    logs = [math.log(value) for value in others]
    off = (math.log(worst) - fmean(logs)) * (1 if better == "less" else -1)
    measured = stdev(logs) if len(logs) > 1 else 0.0
    weight = (len(logs) - 1) / (len(logs) - 1 + _SPREAD_COUNTS)
    deviation = max(measured, math.sqrt(weight * measured**2 + (1 - weight) * spread**2))
    return off > NormalDist().inv_cdf(1 - _ERROR / questions / (len(logs) + 1)) * deviation * math.sqrt(
        1 + 1 / len(logs)
    )


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


@dataclass(frozen=True, slots=True)
class SlowGroup:
    """The nodes or OSDs that are slow, one or several, at most half of all."""

    figures: Mapping[str, float]
    """The rate or the mean latency of each, by its name."""
    others: float
    """The median of the others."""

    @property
    def names(self) -> tuple[str, ...]:
        """``("osd.1", "osd.10")``."""
        return tuple(self.figures)

    @property
    def figure(self) -> float:
        """The median of the slow ones."""
        return median(self.figures.values())


def slow_nodes(rates: Mapping[str, Sequence[float]]) -> SlowGroup | None:
    """The nodes that did less than half of what the others did each, if there are any.

    ``rates`` are those of the same seconds or longer intervals, at least six. Half of the nodes, as one of two, are
    slow with less than a third of the others. Each is slow over its seconds too.
    """
    means = {name: fmean(values) for name, values in rates.items() if values}
    return _slow(rates, means, "more", _NODE_SPREAD) if len(means) == len(rates) else None


def slow_osds(operations: Mapping[str, Sequence[tuple[int, float]]]) -> SlowGroup | None:
    """The OSDs that took twice as long as the others each, half of them three times as long, if there are any.

    ``operations`` are, for each of the same intervals, at least six, the number of operations and the sum of their
    latencies in seconds. Those intervals in which an OSD was slowest are left out, a fifth of all.
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
) -> SlowGroup | None:
    """The largest group of which each one is far off the others, by what all did and over their seconds."""
    count = len(figures)
    if count < 2 or min(map(len, seconds.values())) < LEAST_VALUES:
        return None
    least = _LEAST_SHARE * median(figures.values())
    ordered = sorted(figures, key=lambda name: figures[name], reverse=better == "more")
    for cut in range((count + 1) // 2, count) if least > 0 else ():
        beside, group = ordered[:cut], sorted(ordered[cut:], key=by_number)
        others = [max(figures[name], least) for name in beside]
        first, middle = max(figures[ordered[cut]], least), median(others)
        factor = middle / first if better == "more" else first / middle
        if factor < (_THRICE if 2 * cut == count else _TWICE) or not is_beyond(
            first, others, better, spread, count // 2
        ):
            continue
        medians = _medians([seconds[name] for name in beside])
        if slow := {name: figures[name] for name in group if _lasts(seconds[name], medians, better)}:
            return SlowGroup(slow, middle)
    return None


def _medians(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The median of each second, None where no value of it is known."""
    columns = ([value for value in column if value is not None] for column in zip(*rows, strict=False))
    return [median(column) if column else None for column in columns]


def _lasts(values: Sequence[float | None], beside: Sequence[float | None], better: Better) -> bool:
    """Whether values are worse than those beside them over the seconds, and not by a few of them."""
    together = zip(values, beside, strict=False)
    pairs = [(value, other) for value, other in together if value is not None and other is not None]
    if len(pairs) < LEAST_VALUES:
        return False
    sign = 1 if better == "less" else -1
    least = _LEAST_SHARE * fmean(other for _, other in pairs)
    ratios = [sign * math.log(max(value, least) / max(other, least)) for value, other in pairs]
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
        if not (slow := slow_nodes(rates)):
            return None
        values: dict[str, Value | None] = {"figure": metric.title, "rate": slow.figure, "others": slow.others}
        return SLOW_NODE.found(**named(slow.names, "node", "slow_nodes"), **values, nodes=len(rates))


def by_number(name: str) -> tuple[int, str]:
    """The order of names that end with a number, ``osd.9`` before ``osd.10``, and of ids."""
    return len(name), name


class OsdLatencies:
    """What the OSDs of the pool did in a run, by interval, as they come, in bounded space."""

    def __init__(self) -> None:
        self._operations: dict[str, list[tuple[int, float]]] = {}
        self._ends: list[float] = []
        """The end of each interval, in elapsed seconds."""
        self._each, self._held = 1, 0
        """Intervals that are joined to one, and how many of them the newest has."""

    def add(self, operations: Mapping[str, tuple[int, float]], end: float) -> None:
        """Take in the operations of an interval that ends then, and the sum of their latencies in seconds, by OSD:
        ``osd.3``.
        """
        count = len(self._ends)
        is_new = self._held == self._each or not count
        self._held = 1 if is_new else self._held + 1
        self._ends[len(self._ends) - (not is_new) :] = [end]
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
            self._ends = self._ends[1::2]
            self._each *= 2
            self._held = self._each

    def slow(self) -> SlowGroup | None:
        """As of ``slow_osds``."""
        return slow_osds(self._operations)

    def slower(self, begun: float, over: float) -> dict[str, float]:
        """OSDs that were clearly slower from the begin of a span on than before and after it, while the median OSD was
        not: by OSD how many times as long its operations took. Intervals at the edges of the span are left out.
        """
        until = min(over, max(begun + _SOON_SECONDS, (begun + over) / 2))
        spans = [*pairwise([0.0, *self._ends])]
        inside = [begun <= start and end <= until for start, end in spans]
        outside = [end <= begun or over <= start for start, end in spans]
        factors = {}
        for osd, parts in self._operations.items():
            slow, usual = _sum_of(compress(parts, inside)), _sum_of(compress(parts, outside))
            if min(slow[0], usual[0]) >= _LEAST_OPS_OF_SPAN and usual[1] > 0:
                factors[osd] = slow[1] / slow[0] / (usual[1] / usual[0])
        alike = [factor for factor in factors.values() if 0 < factor < _TWICE]
        if len(alike) < max(LEAST - 1, len(factors) / 2):
            return {}
        return {
            osd: factor
            for osd, factor in factors.items()
            if factor >= _TWICE and is_beyond(factor, alike, "less", _OSD_SPREAD)
        }


def _sum_of(parts: Iterable[tuple[int, float]]) -> tuple[int, float]:
    operations, seconds = 0, 0.0
    for ops, took in parts:
        operations, seconds = operations + ops, seconds + took
    return operations, seconds
