"""Repeats of each preset until its mean is known well enough, or given up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cephtui.analysis.verdicts.stable import FEWEST, StableGoal, figures_of, valid_runs
from cephtui.exit_codes import EXIT_NO_VERDICT
from cephtui.frozen import dataclass
from cephtui.models import Mark, Plan, Run
from cephtui.models.metrics import Metric
from cephtui.models.study import STABLE
from cephtui.ordering import steps_per_repeat
from cephtui.planning import Request
from cephtui.studies.base import Measure, Study, StudyResult, metric_of, one_more, singly
from cephtui.studies.extent import Extent, bound_of_plans


@dataclass(frozen=True, slots=True)
class Mean:
    """How well the mean of a preset is known."""

    request: Request
    """Of that preset."""
    runs: tuple[Run, ...]
    """All of it."""
    counted: int
    """How many of them the mean is of."""
    metric: Metric | None
    """None before the first run that counts."""
    figures: Mapping[str, Sequence[float]]
    """Of each run that counts, by direction."""
    is_stable: bool


class StableMeasured(StudyResult):
    """How well the means of all presets are known."""

    def __init__(self, means: Sequence[Mean]) -> None:
        self.means = tuple(means)
        self.exit_code = 0 if all(mean.is_stable for mean in means) else EXIT_NO_VERDICT


class Stable(Study[StableGoal]):
    """Each preset on each target, one after the other."""

    kind = STABLE
    Goal = StableGoal

    def mean(self, request: Request, runs: Sequence[Run]) -> Mean:
        """Of a request of one preset, after these runs of the study."""
        own = tuple(run for run in runs if run.batch == request.batches[0])
        good = valid_runs(own)
        metric = metric_of(request, good[-1]) if good else None
        figures = figures_of(good, metric) if metric else {}
        return Mean(request, own, len(good), metric, figures, self.goal.is_reached(figures))

    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        for request in singly(self.requests):
            mean = self.mean(request, runs)
            is_over = mean.is_stable or mean.counted >= self.goal.most or request.batches[0] in without
            if not is_over and not self.why_given_up(request, runs):
                return Measure(one_more(request, mean.runs))
        return None

    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> StableMeasured:
        return StableMeasured([self.mean(request, runs) for request in singly(self.requests)])

    def drafts(self) -> list[Request]:
        if any(steps_per_repeat(request) > len(request.presets) for request in self.requests):
            raise ValueError("repeats single values, not a sweep")
        return [replace(request, repeats=FEWEST) for request in self.requests]

    def extent(self, plans: Sequence[Plan]) -> Extent:
        steps = [step for plan in plans for step in plan.steps]
        one_more_each = sum(step.likely_seconds for step in steps if step.repeat == FEWEST)
        least = sum(plan.duration_seconds for plan in plans)
        more = self.goal.most - FEWEST
        presets = len(steps) // FEWEST
        most = least + more * one_more_each
        return Extent(len(steps), len(steps) + more * presets, least, most, bound_of_plans(plans))
