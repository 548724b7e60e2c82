"""Two sides that are compared on the screen."""

from __future__ import annotations

from cephtui.analysis.runs.sides import Side
from cephtui.frozen import dataclass
from cephtui.tui.charts.overlay import Curves
from cephtui.tui.keys import key

SWAP = key("w", "swap", "swap", "swap A and B; at first A is the baseline, else the older one", "view", shown=True)


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Two sides, and the points of every figure of each chosen run."""

    left: Side
    right: Side
    left_curves: Curves
    right_curves: Curves

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    @property
    def curves(self) -> tuple[Curves, Curves]:
        return self.left_curves, self.right_curves

    def swapped(self) -> TwoSides:
        """The same with B as A."""
        return TwoSides(self.right, self.left, self.right_curves, self.left_curves)
