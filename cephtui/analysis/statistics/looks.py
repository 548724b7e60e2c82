"""Looks at sides that grow: at how many runs, and with which confidence for all looks together.

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
"""The share of the level for runs that take turns: with 3 degrees of freedom the first look overshoots a little."""
LOOK_LIMITS = tuple(_LEVELS)
"""Runs a side after which it may be given up."""
CONFIDENCES = tuple(_LEVELS[12])


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """The numbers of runs a side at which a check looks; by default once, however many there are."""

    most: int | None = None
    """One of ``LOOK_LIMITS``; None is a single look."""
    fixed: int | None = None
    """The number of that single look, where it is known beforehand."""

    @property
    def at(self) -> tuple[int, ...]:
        """Runs a side, ascending; empty where it is not known."""
        if self.most is None:
            return (self.fixed,) if self.fixed else ()
        return tuple(runs for runs in _AT if runs <= self.most)

    def number(self, runs: int) -> int:
        """The number of the look, from 1, at so many runs a side."""
        return max(1, sum(at <= runs for at in self.at))

    def nominal(self, confidence: float, *, paired: bool) -> float:
        """The confidence of one look's interval, where all together have ``confidence``, one of ``CONFIDENCES``."""
        if self.most is None:
            return confidence
        return 1 - _LEVELS[self.most][confidence] * (_PAIRED if paired else 1.0)


ONE_LOOK = LookSchedule()
