"""Runs that are known beforehand: presets and suites, each as often as it is said, also in turns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from cephtui.analysis.runs.links import Link, links_of
from cephtui.analysis.verdicts.diagnosis import Diagnosis, diagnosis
from cephtui.analysis.verdicts.expectation import answer_to
from cephtui.analysis.verdicts.failures import failure_of, given_up
from cephtui.exit_codes import ANSWER_CODES
from cephtui.models import Mark, Plan, Run, Step
from cephtui.models.expectation import Expected
from cephtui.models.study import RUNS, SavedStudy
from cephtui.ordering import batches_of_steps, in_slices, plans_of, requests_of, without_steps
from cephtui.planning import Request
from cephtui.sessions.diagnoses import earlier_diagnosis
from cephtui.sessions.expected import judge_promises, keep_expected
from cephtui.studies.base import Measure, NoGoal, Study, StudyResult, needs, singly
from cephtui.studies.extent import Extent, bound_of_plans


class RunsMeasured(StudyResult):
    """What became of what was expected, and the links that were measured."""

    def __init__(
        self,
        runs: Sequence[Run],
        expected: Sequence[Expected],
        diagnosis: Diagnosis | None = None,
        earlier: Diagnosis | None = None,
    ) -> None:
        """``earlier`` is the diagnosis of the same target before this one."""
        self.runs, self.expected = tuple(runs), tuple(expected)
        self.diagnosis, self.earlier = diagnosis, earlier
        self.exit_code = ANSWER_CODES[answer_to(expected)] if expected else 0

    @property
    def links(self) -> Sequence[Link]:
        """The network between nodes as its runs have measured it; empty where none did."""
        return links_of(self.runs)

    def keep(self, directory: Path) -> None:
        keep_expected(self.expected, directory)


class Runs(Study[NoGoal]):
    """Each cell of the study as often as it is ordered."""

    kind = RUNS

    @classmethod
    def ordered(cls, saved: SavedStudy, values: Mapping[str, Any]) -> SavedStudy:
        cells = tuple(cell.model_copy(update={name: values[name] for name in ("repeats", "expect") if name in values})
                      for cell in saved.cells)  # fmt: skip
        return saved.model_copy(update={"cells": cells, "order": values.get("order", saved.order)})

    @cached_property
    def _slices(self) -> list[Request]:
        return in_slices(self.requests, self.saved.order)

    @cached_property
    def _steps(self) -> dict[tuple[str, ...], list[str]]:
        """The batch of each step of a request, by the batches of the request."""
        return {request.batches: batches_of_steps(request) for request in self.requests}

    @property
    def is_one_run(self) -> bool:
        return sum(map(len, self._steps.values())) == 1

    def left(self, runs: Sequence[Run], without: Collection[str] = ()) -> list[Request]:
        """What is not measured yet, in its order."""
        left_out = {*without, *self.given_up(runs)}
        over = {
            batches: {number for number, batch in enumerate(steps, 1) if batch in left_out}
            for batches, steps in self._steps.items()
        }
        whole = {batch: batches for batches in over for batch in batches}
        for run in runs:
            if run.step and run.batch in whole:
                over[whole[run.batch]].add(run.step)
        slices = []
        for part in self._slices:
            slices += without_steps(part, over[part.batches], len(self._steps[part.batches]))
        return slices

    def given_up(self, runs: Sequence[Run]) -> dict[str, str]:
        """The batches that are left out after failures of these runs, with the reason."""
        if not any(map(failure_of, runs)):
            return {}
        optional = {cell.batch for cell in self.saved.cells if cell.optional}
        by_batch = {request.batches[0]: needs(request) for request in singly(self.requests)}
        reasons = {need: given_up(need, runs, optional=optional) for need in dict.fromkeys(by_batch.values())}
        return {batch: reasons[need] for batch, need in by_batch.items() if reasons[need]}

    @cached_property
    def plans(self) -> list[Plan]:
        """Of all its turns, as they follow each other."""
        return plans_of(self._slices)

    def turn(self, step: Measure) -> int:
        """The number of the turn that a step is of, from 1."""
        request = step.request
        return next(
            number
            for number, turn in enumerate(self._slices, 1)
            if turn.batches == request.batches and turn.begun <= request.begun < (turn.until or request.begun + 1)
        )

    def steps_left(self, runs: Sequence[Run]) -> list[Step]:
        """The steps that are not measured yet, of which each is as long as its plan says."""
        over = {(run.batch, run.step) for run in runs}
        left_out = self.given_up(runs)
        steps = (step for plan in self.plans for step in plan.steps)
        return [step for step in steps if (step.batch, step.number) not in over and step.batch not in left_out]

    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        left = self.left(runs, without)
        return Measure(left[0]) if left else None

    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> RunsMeasured:
        own = self.own(runs)
        expected = judge_promises(directory, runs, self.saved.promises, at)
        if not self.saved.diagnosis:
            return RunsMeasured(own, expected)
        return RunsMeasured(own, expected, diagnosis(own), earlier_diagnosis(directory, own))

    def missing(self, runs: Sequence[Run]) -> int:
        return sum(len(range(part.begun, part.until or len(self._steps[part.batches]))) for part in self.left(runs))

    def drafts(self) -> list[Request]:
        return self._slices

    def drafts_left(self, runs: Sequence[Run]) -> list[Request]:
        return self.left(runs)

    def pending(self, runs: Sequence[Run]) -> list[Request]:
        batches = {part.batches for part in self.left(runs)}
        return [request for request in self.requests if request.batches in batches]

    def extent_left(self, plans: Sequence[Plan], runs: Sequence[Run]) -> Extent:
        return self.extent(plans)

    def extent(self, plans: Sequence[Plan]) -> Extent:
        runs, seconds = sum(len(plan.steps) for plan in plans), sum(plan.duration_seconds for plan in plans)
        return Extent(runs, runs, seconds, seconds, bound_of_plans(plans))


def in_turns(first: Study[Any], second: Study[Any]) -> Runs | None:
    """Both as one study in the order A B B A; None where there is nothing to take turns with."""
    cells = (*first.saved.cells, *second.saved.cells)
    manner = first.saved.manner
    if second.saved.manner != manner or max(cell.repeats for cell in cells) < 2:
        return None
    saved = first.saved.model_copy(update={"order": "abba", "cells": cells})
    requests = (*first.requests, *second.requests)
    presets = {preset.name: preset for request in requests for preset in request.presets}
    targets = {request.target.spec: request.target for request in requests}
    nodes = {node.name: node for request in requests for node in request.nodes}
    ceph_node = first.requests[0].ceph_node
    requests_of_both = requests_of(saved, presets, targets, nodes)
    return Runs(saved, [replace(request, ceph_node=ceph_node, manner=manner) for request in requests_of_both])
