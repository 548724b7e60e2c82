"""Where a check stands, from the runs and marks of its session: the same after a pause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.ratio import geometric_mean, spread
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.guided_check import counted_runs, looks_of, sides_of
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.metrics import Metric
from cephtui.models.study import SideName
from cephtui.sessions.changes import change_state
from cephtui.studies.base import metric_of, singly
from cephtui.studies.check import Check


@dataclass(frozen=True, slots=True)
class Standing:
    """What a check has measured, and what is next."""

    before: tuple[Run, ...]
    counted: tuple[int, int]
    """Runs of each preset that count, before and after."""
    side: SideName | None
    """What is measured next; None where it is over."""
    side_runs: int
    """How many runs of that side there are to be, before it is looked at or changed."""
    is_changed: bool
    """Whether the user has made the change."""
    judged: Judgement | None
    """What the last look says; None before the first."""
    failed: str
    """Why it was given up after its last runs; empty where it was not."""
    metric: Metric
    """The figure that is shown: of the preset that makes the verdict what it is, else of the first."""
    values: tuple[tuple[float, ...], tuple[float, ...]]
    """That figure of each run, before and after, reads and writes together."""

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The geometric mean of the runs before, and of those after."""
        return geometric_mean(self.values[0]), geometric_mean(self.values[1])

    @property
    def spread_before(self) -> float | None:
        """Coefficient of variation; None for fewer than two runs."""
        return spread(self.values[0])


def standing(
    study: Check, usual: Metric, runs: Sequence[Run], marks: Sequence[Mark], directory: Path | None
) -> Standing:
    """By all runs of its session; ``usual`` is the figure before there is any run. Raises StoreError."""
    own = study.own(runs)
    before, after = sides_of(study.goal, [*study.elsewhere, *own])
    numbers = counted_runs(study.goal, [*study.elsewhere, *own])
    judged = None
    if directory is not None and any(at <= numbers[1] for at in looks_of(study.goal).at):
        judged = study.conclude(runs, marks, directory, datetime.now(UTC)).judgement
    side = study.next_side([run for run in own if not why_invalid(run)])
    preset = judged.decisive.preset if judged and judged.decisive else study.saved.cells[0].preset
    shown = [[run for run in side if run.preset == preset and not why_invalid(run)] for side in (before, after)]
    (request,) = [single for single in singly(study.requests) if single.preset.name == preset][:1]
    metric = metric_of(request, shown[0][0]) if shown[0] else usual
    values = [[metric.combined(run.summary.flows) for run in side] for side in shown]
    known = [tuple(value for value in side if value is not None) for side in values]
    return Standing(
        tuple(before),
        numbers,
        side[0] if side else None,
        side[1] if side else 0,
        change_state(study.goal, own, marks, ()) == "made",
        judged,
        next(iter(study.given_up(own).values()), ""),
        metric,
        (known[0], known[1]),
    )
