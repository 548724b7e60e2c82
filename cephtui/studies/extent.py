"""How much there is to be measured, as runs and as time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.models.bounds import Bound, bound_of_all

if TYPE_CHECKING:
    from cephtui.models import Plan


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to be measured of a study, or of several."""

    least_runs: int
    most_runs: int
    least_seconds: float
    """Estimate."""
    most_seconds: float
    bound: Bound = "about"
    """What the seconds are to the time."""

    @property
    def text(self) -> str:
        """``5 to 20 runs, 5:35 to 22:20 min``."""
        return f"{self.runs_text}, {self.time_text}"

    @property
    def runs_text(self) -> str:
        """``3 runs``, ``5 to 20 runs``."""
        return f"{self.number} run{'s' if self.most_runs != 1 else ''}"

    @property
    def number(self) -> str:
        """Of runs: ``3``, ``5 to 20``."""
        return f"{self.most_runs}" if self.least_runs == self.most_runs else f"{self.least_runs} to {self.most_runs}"

    @property
    def time_text(self) -> str:
        """``about 47 s``, ``5:35 to 22:20 min``."""
        if self.least_seconds < self.most_seconds:
            return f"{units.duration(self.least_seconds)} to {units.duration(self.most_seconds)}"
        return f"{self.bound} {units.duration(self.most_seconds)}"


def bound_of_plans(plans: Sequence[Plan]) -> Bound:
    """The bound of their time, one after the other."""
    return bound_of_all(plan.bound for plan in plans)


def together(extents: Sequence[Extent]) -> Extent:
    """Of all of them, one after the other."""
    return Extent(
        sum(extent.least_runs for extent in extents),
        sum(extent.most_runs for extent in extents),
        sum(extent.least_seconds for extent in extents),
        sum(extent.most_seconds for extent in extents),
        bound_of_all(extent.bound for extent in extents),
    )
