"""Seconds of simulated runs, and OSDs alike: clean ones of several distributions, and what troubles may do to them.

``tests/unit/analysis/detectors`` counts what the rules say of them, and so may a bench.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cephtui.analysis.detectors.incidents import Course
from cephtui.models import Finding, Interval, Sample

Floats: TypeAlias = NDArray[np.float64]
Distribution: TypeAlias = Literal["log-normal", "gamma", "outliers", "seasonal"]
"""``outliers`` are log-normal with 5 % of the seconds at a third or at twice as much, ``seasonal`` has a saw of
10 % each 10 s on top, as the compactions of a store at work make it."""
LEVEL = 1000.0


def correlated(rng: np.random.Generator, seconds: int, lag: float) -> Floats:
    """Normal values of variance 1, each with the correlation ``lag`` to the one before it (AR(1))."""
    values = rng.standard_normal(seconds)
    values[1:] *= math.sqrt(1 - lag**2)
    for at in range(1, seconds):
        values[at] += lag * values[at - 1]
    return values


def clean_seconds(
    rng: np.random.Generator, seconds: int, spread: float, lag: float = 0.0, distribution: Distribution = "log-normal"
) -> Floats:
    """The IOPS of each second of a run on one level, of mean 1,000.

    ``spread`` is the standard deviation of the noise as a fraction of the mean, ``lag`` the correlation from one second
    to the next.
    """
    normal = correlated(rng, seconds, lag)
    if distribution == "gamma":
        from scipy import special

        shape = 1 / spread**2
        return np.asarray(LEVEL / shape * special.gammaincinv(shape, special.ndtr(normal)))
    deviation = math.sqrt(math.log1p(spread**2))
    values = LEVEL * np.exp(deviation * normal - deviation**2 / 2)
    if distribution == "outliers":
        values *= np.where(rng.random(seconds) < 0.05, rng.choice([1 / 3, 2.0], seconds), 1.0)
    if distribution == "seasonal":
        values *= np.where((np.arange(seconds) + rng.integers(10)) % 10 < 5, 0.95, 1.05)
    return values


def clean_osds(
    rng: np.random.Generator,
    osds: int,
    seconds: int,
    spread: float,
    lag: float = 0.3,
    *,
    slow: float = 1.0,
    slow_osds: int = 1,
) -> dict[str, list[tuple[int, float]]]:
    """Operations and the sum of their latencies in each second, of OSDs alike but for the first, ``slow`` times slower.

    ``spread`` is that of the OSDs and, once more, that of their seconds; the mean latency is 10 ms.
    """
    found = {}
    for osd in range(osds):
        level = 0.01 * math.exp(rng.normal(0, spread)) * (slow if osd < slow_osds else 1.0)
        latencies = level / LEVEL * clean_seconds(rng, seconds, spread, lag)
        counts = rng.poisson(200, seconds)
        found[f"osd.{osd}"] = [(int(ops), float(ops * each)) for ops, each in zip(counts, latencies, strict=True)]
    return found


Trouble: TypeAlias = Callable[[int], Floats]
"""The factor of each of so many seconds."""


def collapse(seconds: int) -> Floats:
    """From 540 to 22 IOPS as a tenth is over."""
    return np.where(np.arange(seconds) < max(2, seconds // 10), 1.0, 22 / 540)


def half(seconds: int) -> Floats:
    """Half as much after a third."""
    return np.where(np.arange(seconds) < seconds // 3, 1.0, 0.5)


def dip(seconds: int) -> Floats:
    """A fifth of the run at half as much, in its middle."""
    return _dip(seconds, seconds // 2)


def late_dip(seconds: int) -> Floats:
    """The same in the last quarter."""
    return _dip(seconds, seconds - seconds // 5 - max(2, seconds // 20))


def _dip(seconds: int, begun: int) -> Floats:
    at = np.arange(seconds)
    return np.where((at >= begun) & (at < begun + seconds // 5), 0.5, 1.0)


def saw(period: float, share: float = 0.5) -> Trouble:
    """A share of each period, in seconds, at half as much."""
    return lambda seconds: np.where(np.arange(seconds) / period % 1 < share, 0.5, 1.0)


def step(seconds: int) -> Floats:
    """30 % less from the middle on."""
    return np.where(np.arange(seconds) < seconds // 2, 1.0, 0.7)


def slope(seconds: int) -> Floats:
    """Down to half as much, evenly."""
    return np.linspace(1.0, 0.5, seconds)


def course_of(nodes: Mapping[str, Sequence[float]]) -> Course:
    """A run with these IOPS in each second of each node."""
    course = Course("iops", "fio")
    for second, values in enumerate(zip(*nodes.values(), strict=True), 1):
        for name, value in zip(nodes, values, strict=True):
            course.add(sample(second, value, name))
        course.add(sample(second, sum(values)))
    return course


def sample(second: float, iops: float, node: str | None = None) -> Sample:
    """A second of a node, or of all."""
    done = Interval(round(iops), round(4096 * iops), iops, 4096 * iops)
    return Sample(1, node, "write-iops", "run", float(second), 1.0, None, done)


def findings_of(values: Sequence[float]) -> tuple[Finding, ...]:
    """The findings of a run of one node with these IOPS in each second."""
    return course_of({"pve1": values}).findings()
