"""Repeats of a preset until their mean is known well enough: when it is, and when that is given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from cephtui.analysis.runs.batches import CONFIDENCE, measured
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.ratio import after_looks, mean_of
from cephtui.models import Model, Run
from cephtui.models.metrics import Metric

FEWEST = 5
"""Runs, at least: fewer that are alike by chance would be taken for a small spread."""
MOST_RUNS = 20


class StableGoal(Model):
    """When a mean is known well enough."""

    percent: float = Field(default=5.0, gt=0)
    """The most that the ends of its 95 % interval may be away from it, in percent of it."""
    most: int = Field(default=MOST_RUNS, ge=1, le=100)
    """Runs after which it is given up."""

    def is_reached(self, figures: Mapping[str, Sequence[float]]) -> bool:
        """Whether the mean of each direction is known well enough; never without any."""
        return bool(figures) and all(self._holds(values) for values in figures.values())

    def _holds(self, values: Sequence[float]) -> bool:
        half = half_width(values) if len(values) >= FEWEST else None
        return half is not None and 100 * half <= self.percent


def valid_runs(runs: Sequence[Run]) -> list[Run]:
    """The runs that the mean is of: those that a verdict may rest on."""
    return [run for run in runs if not why_invalid(run)]


def figures_of(runs: Sequence[Run], metric: Metric) -> dict[str, list[float]]:
    """A metric of each run, by the flows that the whole is made of."""
    names = metric.names_of_whole(dict.fromkeys(name for run in runs for name in run.summary.flows))
    return {name: values for name in names if (values := measured(runs, name, metric))}


def half_width(values: Sequence[float]) -> float | None:
    """How far the far end of the interval is from the geometric mean, as a fraction of it.

    None for fewer than two values, or where one is 0.
    """
    if len(values) < 2 or min(values) <= 0:
        return None
    mean = after_looks(mean_of(values))
    return mean.interval(CONFIDENCE)[1] / mean.value - 1  # on logarithms the upper end is the far one
