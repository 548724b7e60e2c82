"""How much there is to be measured, as runs and as time."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.frozen import dataclass
from cephtui.models.plan import Bound, bound_of_all


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


def together(extents: Sequence[Extent]) -> Extent:
    """Of all of them, one after the other."""
    return Extent(
        sum(extent.least_runs for extent in extents),
        sum(extent.most_runs for extent in extents),
        sum(extent.least_seconds for extent in extents),
        sum(extent.most_seconds for extent in extents),
        bound_of_all(extent.bound for extent in extents),
    )
