"""Runs at depths that follow from those before, up to the knee and back; and at most of the peak what that gives."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cephtui.analysis.runs.facts import load_of, why_invalid
from cephtui.analysis.verdicts.knee import OF_PEAK, Knee, knee_of
from cephtui.analysis.verdicts.sweep import DepthRun, depth_run_of, next_depth, points_by_depth, runs_most
from cephtui.exit_codes import EXIT_NO_VERDICT
from cephtui.frozen import dataclass
from cephtui.models import Mark, Model, Run
from cephtui.ordering import plan_of
from cephtui.planning import Request
from cephtui.studies.base import Measure, StudyResult, one_more, singly
from cephtui.studies.depth import DepthStudy, at_depth, depth_of

_MIXED = ("rw", "readwrite", "randrw")


class SweepGoal(Model):
    """What follows the sweep."""

    confirm: bool = False
    """Whether it is also measured at most of the peak, where I/Os come at their own times and not as others end."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The sweep of a preset on a target as far as it is measured."""

    request: Request
    runs: tuple[Run, ...]
    """All of the sweep, also those that do not count."""
    measured: tuple[DepthRun, ...]
    """Those that count, up to one that has completed nothing."""
    empty: Run | None
    """A run that has completed nothing: the sweep ends there."""
    confirming: tuple[Run, ...]
    """The runs that confirm the knee."""

    @property
    def knee(self) -> Knee | None:
        """Where the curve bends; None where that is not known."""
        knee = knee_of(points_by_depth(self.measured))
        return knee if knee and knee.is_known else None

    @property
    def confirmed(self) -> Run | None:
        """The run that confirms the knee."""
        return next((run for run in self.confirming if not why_invalid(run)), None)


class SweepMeasured(StudyResult):
    """The sweeps of all presets on all targets."""

    def __init__(self, sweeps: Sequence[Swept], *, confirm: bool) -> None:
        self.sweeps = tuple(sweeps)
        lacking = any(sweep.empty or (confirm and sweep.knee is None) for sweep in sweeps)
        self.exit_code = EXIT_NO_VERDICT if lacking else 0


class Sweep(DepthStudy[SweepGoal]):
    """Sweeps, one after the other."""

    kind = "sweep"
    Goal = SweepGoal

    @property
    def batches(self) -> frozenset[str]:
        own = super().batches
        return own | {_confirming(batch) for batch in own}

    def swept(self, request: Request, runs: Sequence[Run]) -> Swept:
        """Of a request of one preset, after these runs of the study."""
        batch = request.batches[0]
        own = tuple(run for run in runs if run.batch == batch)
        measured: list[DepthRun] = []
        empty = None
        for run in own:
            if not why_invalid(run):
                point = depth_run_of(run, depth_of(request, run))
                if point is None:
                    empty = run
                    break
                measured.append(point)
        confirming = tuple(run for run in runs if run.batch == _confirming(batch))
        return Swept(request, own, tuple(measured), empty, confirming)

    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        for request in singly(self.requests):
            sweep = self.swept(request, runs)
            batch = request.batches[0]
            is_over = not {batch, _confirming(batch)}.isdisjoint(without) or self.why_given_up(request, runs)
            step = None if is_over else self.next_of(sweep)
            if step:
                return step
        return None

    def next_of(self, sweep: Swept) -> Measure | None:
        """The next run of one sweep; None where it has come to its end."""
        request = sweep.request
        depth = None if sweep.empty else next_depth(sweep.measured, self.most[request.batches[0]])
        if depth is not None:
            repeat = 1 + sum(point.depth == depth for point in sweep.measured)
            return Measure(one_more(at_depth(request, depth), sweep.runs), repeat)
        if self.goal.confirm and sweep.knee and not sweep.confirmed:
            return Measure(one_more(_paced(request, sweep.knee, sweep.runs[-1]), sweep.confirming))
        return None

    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> SweepMeasured:
        sweeps = [self.swept(request, runs) for request in singly(self.requests)]
        return SweepMeasured(sweeps, confirm=self.goal.confirm)

    def drafts(self) -> list[Request]:
        drafts = super().drafts()
        if self.goal.confirm:
            for request in singly(self.requests):
                _check_confirmed(request)
        return drafts

    def runs_most(self, depth: int) -> int:
        return runs_most(depth) + self.goal.confirm


def _confirming(batch: str) -> str:
    """The batch of the run that confirms a sweep: its own, since it is no point of the curve."""
    return f"{batch}c"


def _check_confirmed(request: Request) -> None:
    """Raises ValueError where no fixed rate can be offered."""
    tool, (step,) = request.preset.tool, plan_of(at_depth(request, 1)).steps
    wrong = "the knee can't be confirmed"
    if "rate_process" not in {field.name for field in tool.fields()}:
        why = f"{tool.title} has no fixed rate: it starts an operation as soon as another ends"
        raise ValueError(f"{wrong}: {why}: leave out --confirm")
    if step.options.get(tool.direction_option) in _MIXED:
        raise ValueError(
            f"{wrong}: {tool.title} limits reads and writes separately: choose a preset that does only one"
        )


def _paced(request: Request, knee: Knee, run: Run) -> Request:
    """With the rate that each job on each node has of most of the peak, and room for twice the knee in flight."""
    load = load_of(run)
    jobs = (load.jobs if load else 1) * len(request.nodes)
    rate = max(1, round(OF_PEAK * knee.peak / jobs))
    paced = at_depth(request, math.ceil(2 * knee.located))
    overrides = {**paced.overrides, "rate_iops": rate, "rate_process": "poisson"}
    return replace(paced, overrides=overrides, batches=(_confirming(request.batches[0]),))
