"""What may be concluded from the figures of several runs: the one place for statistics, and for better and worse.

The unit is the run, not its seconds, which depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import Literal, TypeAlias

from cephtui.frozen import dataclass
from cephtui.models.metrics import Metric

Word: TypeAlias = Literal["better", "same", "worse"]
Kind: TypeAlias = Literal["better", "not worse", "same", "not better", "worse", "no verdict"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no verdict."""

    code: Literal["no-figures", "one-run-each", "no-test"]
    """A side without figures; nothing that shows how far runs are apart; several runs, which are not tested yet."""
    runs: tuple[int, int]
    """How many have figures, of the left side and of the right."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One figure of the runs of two sides. Changes are fractions of the left side: 0.1 is 10 % more."""

    metric: Metric
    left: float | None
    """What stands for the runs of the side; None where none has the figure."""
    right: float | None
    change: float | None
    """None where the left side is zero or one is not known."""
    kind: Kind = "no verdict"
    interval: tuple[float, float] | None = None
    """Where the true change lies, with ``confidence``."""
    confidence: float | None = None
    """0 to 1, two-sided."""
    margin: float = 0.0
    """Changes up to it count as none."""
    runs_needed: int | None = None
    """About how many a side would decide."""
    reasons: tuple[Reason, ...] = ()
    """Why there is no verdict; empty where there is one."""

    @property
    def word(self) -> Word | None:
        """What stands beside the change; None without a verdict, and where it only excludes a word."""
        match self.kind:
            case "better" | "same" | "worse":
                return self.kind
            case _:
                return None


def judge(metric: Metric, left: Sequence[float], right: Sequence[float]) -> Verdict:
    """Of one figure, given for each run that has it. At present there is never a verdict, always the reason."""
    before, after = estimate(metric, left), estimate(metric, right)
    return Verdict(metric, before, after, _change(before, after), reasons=(why_none(len(left), len(right)),))


def why_none(left_runs: int, right_runs: int) -> Reason:
    """Why nothing can be concluded from so many runs that have figures."""
    runs = (left_runs, right_runs)
    if not all(runs):
        return Reason("no-figures", runs)
    return Reason("one-run-each" if runs == (1, 1) else "no-test", runs)


def estimate(metric: Metric, values: Sequence[float]) -> float | None:
    """What stands for several runs: the mean, of percentiles and the greatest latency the median; None for no runs.

    The percentile of all completions together would need their histograms, and a mean of percentiles is moved far
    by one run with a slow tail.
    """
    if not values:
        return None
    return median(values) if metric.over_nodes == "completions" else fmean(values)


def _change(before: float | None, after: float | None) -> float | None:
    """None also where ``before`` is so small that the ratio is no number."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    change = after / before - 1.0 if before else math.inf
    return change if math.isfinite(change) else None
