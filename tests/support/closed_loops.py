"""Systems whose throughput at every depth is known, and runs of them with the noise of real ones."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from cephtui.analysis.verdicts.knee import LoadPoint
from cephtui.analysis.verdicts.sweep import DepthRun

System: TypeAlias = Callable[[int], float]
"""IOPS with so many I/Os in flight."""
SECONDS = 0.001
"""Of the slowest station's service."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def hard(knee: int) -> System:
    """Nothing waits up to the knee, and nothing is faster behind it."""
    return lambda depth: min(depth, knee) / (SECONDS * knee)


@lru_cache
def _mva(demands: tuple[float, ...], delay: float, most: int) -> list[float]:
    """Throughput by the number in flight: exact mean value analysis (Reiser and Lavenberg 1980)."""
    queues, rates = [0.0] * len(demands), [0.0]
    for number in range(1, most + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        rates.append(number / (delay + sum(times)))
        queues = [rates[-1] * time for time in times]
    return rates


def queueing(demands: Sequence[float], delay: float) -> System:
    return lambda depth: _mva(tuple(demands), delay, 1024)[depth]


def one_queue(knee: int) -> System:
    """One station, and a delay in which nothing waits."""
    return queueing([SECONDS], SECONDS * (knee - 1))


def osds() -> System:
    """24 OSDs with as many PGs as chance gave them, and the network: its knee is at 32."""
    shares = [0.55 + 0.45 * number / 23 for number in range(24)]
    demands = [SECONDS * share for share in shares]
    return queueing(demands, 32 * SECONDS - sum(demands))


SYSTEMS: dict[str, tuple[System, float]] = {
    "hard 16": (hard(16), 16),
    "queue 16": (one_queue(16), 16),
    "queue 64": (one_queue(64), 64),
    "24 OSDs": (osds(), 32),
}
"""Each with its knee: the latency at depth 1 times the greatest throughput."""


def point(system: System, depth: int, source: random.Random, variation: float, repeats: int) -> LoadPoint:
    deviation = math.sqrt(math.log1p(variation**2))
    rates = tuple(system(depth) * source.lognormvariate(0, deviation) for _ in range(repeats))
    return LoadPoint(depth, rates, tuple(depth / rate for rate in rates), (), str(depth))


def swept(
    system: System, source: random.Random, variation: float, repeats: int, depths: Sequence[int] = DEPTHS
) -> list[LoadPoint]:
    return [point(system, depth, source, variation, repeats) for depth in depths]


def measured(system: System, depth: int, source: random.Random, variation: float) -> DepthRun:
    found = point(system, depth, source, variation, 1)
    return DepthRun(depth, found.rate, found.latency)
