"""Looks at sides that grow: when it is looked, and with which confidence for all of them together.

Pocock 1977, with t instead of the normal distribution; two-sided levels by integration of the joint distribution,
checked by simulation at exactly the required ratio.
"""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.frozen import dataclass

_AT = (4, 6, 8, 12, 20)
_LEVELS: Mapping[int, Mapping[float, float]] = {
    8: {0.90: 0.0515, 0.95: 0.0245, 0.99: 0.0045},
    12: {0.90: 0.0410, 0.95: 0.018, 0.99: 0.0035},
    20: {0.90: 0.0333, 0.95: 0.0155, 0.99: 0.0028},
}
_PAIRED = 0.88
"""Of the level: runs that take turns have 3 degrees of freedom at the first look, and overshoot a little."""
MOST = tuple(_LEVELS)
"""Runs a side after which it may be given up."""
CONFIDENCES = tuple(_LEVELS[12])


@dataclass(frozen=True, slots=True)
class Looks:
    """At which numbers of runs a side it is looked; by default once, however many there are."""

    most: int | None = None
    """One of ``MOST``; None is a single look."""
    fixed: int | None = None
    """The number of that single look, where it is known beforehand."""

    @property
    def at(self) -> tuple[int, ...]:
        """Runs a side, ascending; empty where it is not known."""
        if self.most is None:
            return (self.fixed,) if self.fixed else ()
        return tuple(runs for runs in _AT if runs <= self.most)

    def number(self, runs: int) -> int:
        """Which look so many runs a side are, from 1."""
        return max(1, sum(at <= runs for at in self.at))

    def nominal(self, confidence: float, *, paired: bool) -> float:
        """The confidence of one look's interval, where all together have ``confidence``, one of ``CONFIDENCES``."""
        if self.most is None:
            return confidence
        return 1 - _LEVELS[self.most][confidence] * (_PAIRED if paired else 1.0)


ONE_LOOK = Looks()
