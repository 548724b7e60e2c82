"""Whether throughput over a load rises, levels off and perhaps falls, or has no order but that of chance.

The spread of repeats decides. Single runs have none: of these more is asked. Where nothing rises and runs are spread by
20 % a point is twice as far up as another only by a rare chance, and few points are easily in order by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import variance

from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.analysis.statistics.t_distribution import quantile
from cephtui.frozen import dataclass

_ERROR = 0.05
"""The error of all comparisons on a curve together (Bonferroni)."""
_REPEATS_LEAST = 3
"""Degrees of freedom from which on the spread of repeats is known well enough to show a rise."""
_TWICE = 2.0
"""A rise that single runs show, too."""
_NEAR = 0.8
"""Single runs with this share of the greatest throughput, or more, may be in any order."""
_OUT_MOST = 1.2
"""Points that are further out of order have none, however far their runs are spread."""
_OF_RISE = 0.25
"""Points that are further out of order than this share of the whole rise, on logarithms, have none either."""


@dataclass(frozen=True, slots=True)
class ThroughputOrder:
    """The throughput at each load of a curve, in the order of the load."""

    logs: tuple[float, ...]
    """The means of logarithms, at least two."""
    runs: tuple[int, ...]
    """The number of runs at each load."""
    deviation: float
    """The standard deviation of the logarithms of repeats, of all loads together; 0 without repeats."""
    same_share: float
    """The least share of the greatest throughput that is the same as it."""

    @property
    def is_order_shown(self) -> bool:
        """Whether chance alone brings the points into such an order but rarely.

        Counted are, of all orders of these points, those that are like theirs. Where the spread of repeats is known it
        is that which decides, not the order.
        """
        if self._df >= _REPEATS_LEAST:
            return True
        lower = [log for log in self.logs if not self._is_near(log)]
        falls = not all(map(self._is_near, self.logs[self._top :]))
        sides = 2 ** len(lower) - 1 if falls else 1  # each may then be before the greatest or behind it, one before it
        return self._alike * sides <= _ERROR * math.factorial(len(self.logs))

    @property
    def _alike(self) -> int:
        """In how many orders they rise to those near the greatest, at most."""
        ordered, least = sorted(self.logs), -math.log(self.same_share)
        free = (
            sum(log - other <= least or self._is_near(other) for other in ordered[:place])
            for place, log in enumerate(ordered)
        )
        return math.prod(1 + number for number in free)

    def _is_near(self, log: float) -> bool:
        return log >= max(self.logs) + math.log(_NEAR)

    @property
    def is_rise_shown(self) -> bool:
        """Whether the greatest throughput is above the first by more than chance."""
        if self._df < _REPEATS_LEAST:
            return self._rise >= math.log(_TWICE)
        comparisons = len(self.logs) - 1
        return max(self.logs) - self.logs[0] > self._reach(0, self._top, _ERROR / 2 / comparisons)

    @property
    def disorder(self) -> tuple[int, int] | None:
        """The two points, by their places, that are furthest out of order; None where none are by more than chance.

        Up to the greatest each should be above those before it, from there on below them.
        """
        return max(self._out_of_order(), default=(0.0, None))[1]

    def _out_of_order(self) -> Iterator[tuple[float, tuple[int, int]]]:
        logs, top = self.logs, self._top
        pairs = len(logs) * (len(logs) - 1) // 2
        least = -math.log(self.same_share)
        most = max(least, min(math.log(_OUT_MOST), _OF_RISE * self._rise))
        for left, right in combinations(range(len(logs)), 2):
            off = logs[left] - logs[right] if right <= top else logs[right] - logs[left]
            if (self._is_same(left) and self._is_same(right)) or left < top < right or off <= least:
                continue
            if off > most or not self._df or off > self._reach(left, right, _ERROR / pairs):
                yield off, (left, right)

    def _is_same(self, place: int) -> bool:
        """Whether it is near the greatest."""
        return self.logs[place] >= max(self.logs) + math.log(self.same_share)

    @property
    def _top(self) -> int:
        return self.logs.index(max(self.logs))

    @property
    def _rise(self) -> float:
        """The rise from the first point to the mean of those near the greatest, on logarithms."""
        near = [log for place, log in enumerate(self.logs) if self._is_same(place)]
        return sum(near) / len(near) - self.logs[0]

    @property
    def _df(self) -> int:
        """Degrees of freedom of the deviation; 0 without repeats."""
        return sum(self.runs) - len(self.runs)

    def _reach(self, left: int, right: int, error: float) -> float:
        """How far two points are apart by chance, but for an error of this probability."""
        parts = 1 / self.runs[left] + 1 / self.runs[right]
        return quantile(1 - error, float(self._df)) * self.deviation * math.sqrt(parts)


def order_of(rates: Sequence[Sequence[float]], same_share: float) -> ThroughputOrder:
    """The order of the throughput of the runs at each load, all above 0; ``same_share`` as in ``ThroughputOrder``."""
    repeated = [[math.log(rate) for rate in rates_of_load] for rates_of_load in rates if len(rates_of_load) > 1]
    df = sum(len(logs) - 1 for logs in repeated)
    squares = sum(variance(logs) * (len(logs) - 1) for logs in repeated)
    return ThroughputOrder(
        tuple(math.log(geometric_mean(rates_of_load) or 1.0) for rates_of_load in rates),
        tuple(map(len, rates)),
        math.sqrt(squares / df) if df else 0.0,
        same_share,
    )
