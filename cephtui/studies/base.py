"""What a study is: saved data, what is measured next of it, and what its runs show. Both are pure.

``cephtui.studies`` has the table of all kinds, a module each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.verdicts.failures import Needs, given_up
from cephtui.frozen import dataclass
from cephtui.models import Mark, Model, Plan, Run
from cephtui.models.metrics import Metric
from cephtui.models.study import SavedStudy
from cephtui.planning import Prefilled, Request, make_plan
from cephtui.presets import headline_metric
from cephtui.studies.extent import Extent

G = TypeVar("G", bound=Model)


@dataclass(frozen=True, slots=True)
class Measure:
    """Runs that are to be measured next, as one plan."""

    request: Request
    repeat: int | None = None
    """The number of the run among those alike; None where the request says it."""
    is_changed: bool | None = None
    """Whether the change has to be in place, or must not be; None where there is none."""


class StudyResult:
    """What the runs of a study show."""

    exit_code: int = 0
    """0 where what was asked for is reached, else one of ``exit_codes``."""

    def keep(self, directory: Path) -> None:
        """Add what is said to the session, where it is not there yet; raises OSError."""


class NoGoal(Model):
    """Of a study that is all in its cells."""


class Study(ABC, Generic[G]):
    """What is measured as a whole, with its presets, targets and nodes."""

    kind: ClassVar[str]
    Goal: ClassVar[type[Model]] = NoGoal
    """What is asked for beyond the cells, as it is saved."""

    def __init__(self, saved: SavedStudy, requests: Iterable[Request], elsewhere: Iterable[Run] = ()) -> None:
        """``elsewhere`` are runs of other sessions that belong to it. Raises ValueError for a goal that is none."""
        self.saved, self.requests, self.elsewhere = saved, tuple(requests), tuple(elsewhere)
        self.goal: G = self.Goal.model_validate(saved.goal)  # type: ignore[assignment]

    @classmethod
    def ordered(cls, saved: SavedStudy, values: Mapping[str, Any]) -> SavedStudy:
        """A new study of this kind, of the cells of one of runs; ``values`` are those of its options, by their fields.

        Raises ValueError.
        """
        cells = tuple(cell.model_copy(update={"repeats": 1}) for cell in saved.cells)
        return saved.model_copy(update={"kind": cls.kind, "order": None, "cells": cells, "goal": dict(values)})

    def with_requests(self, requests: Iterable[Request]) -> Self:
        """The same with other nodes, targets or conditions."""
        return type(self)(self.saved, requests, self.elsewhere)

    def with_goal(self, changes: Mapping[str, Any]) -> Self:
        """The same with some fields of its goal as they are saved; raises ValueError."""
        saved = self.saved.model_copy(update={"goal": {**self.saved.goal, **changes}})
        return type(self)(saved, self.requests, self.elsewhere)

    @property
    def batches(self) -> frozenset[str]:
        """Of all its runs."""
        return frozenset(cell.batch for cell in self.saved.cells)

    @abstractmethod
    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        """What is measured after these runs of it, in the order of their begin; None where it has come to its end.

        Runs of an earlier time that failed are not among them: they are measured again. ``without`` are batches that
        can't be measured.
        """

    @abstractmethod
    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> StudyResult:
        """What all runs of its session show, which is in this directory; raises StoreError."""

    @abstractmethod
    def drafts(self) -> list[Request]:
        """Requests whose plans show what will be run, with every command; raises OptionError."""

    def drafts_left(self, runs: Sequence[Run]) -> list[Request]:
        """The same of what is left after these runs."""
        return self.drafts()

    @abstractmethod
    def extent(self, plans: Sequence[Plan]) -> Extent:
        """How much that is; ``plans`` are those of ``drafts``."""

    def extent_left(self, plans: Sequence[Plan], runs: Sequence[Run]) -> Extent:
        """How much is left after these runs; ``plans`` are those of ``drafts_left``."""
        whole = self.extent(plans)
        good = len(self.good(runs))
        least, most = max(1, whole.least_runs - good), max(1, whole.most_runs - good)
        least_seconds = whole.least_seconds * least / whole.least_runs
        most_seconds = whole.most_seconds * most / whole.most_runs
        return Extent(least, most, least_seconds, most_seconds, whole.bound)

    def pending(self, runs: Sequence[Run]) -> list[Request]:
        """The requests of which something may be measured after these runs."""
        return list(self.requests)

    needs_its_end: ClassVar[bool] = False
    """Whether its runs say nothing where the user has stopped it."""

    @property
    def needs_commands(self) -> tuple[str, ...]:
        """The fields of the commands that have to be given again where it is resumed: sessions don't have them."""
        return ()

    @property
    def is_one_run(self) -> bool:
        """Whether there is nothing to resume: what is run again is all of it."""
        return False

    def missing(self, runs: Sequence[Run]) -> int | None:
        """How many runs are to be measured after these; None where that depends on what they show."""
        return None

    def given_up(self, runs: Sequence[Run]) -> dict[str, str]:
        """The batches of which no more is measured after failures of these runs, with the reason."""
        reasons = {request.batches[0]: self.why_given_up(request, runs) for request in singly(self.requests)}
        return {batch: reason for batch, reason in reasons.items() if reason}

    def why_given_up(self, request: Request, runs: Sequence[Run]) -> str:
        """Why a request of one preset is given up, of whose runs each has to count; empty where it is not."""
        own = [run for run in runs if run.preset == request.preset.name and run.target == request.target.spec]
        return given_up(needs(request), own, failure=why_invalid)

    def own(self, runs: Iterable[Run]) -> list[Run]:
        """Those of a session that belong to it."""
        return [run for run in runs if run.batch in self.batches]

    def good(self, runs: Iterable[Run]) -> tuple[Run, ...]:
        """Those of them that need not be made again."""
        return good(self.own(runs))

    def plan(self, step: Measure, prefilled: Prefilled | None = None) -> Plan:
        """The plan of what is measured next; raises OptionError."""
        plan = make_plan(step.request, iter(step.request.batches).__next__, prefilled)
        if step.repeat is None:
            return plan
        return plan.model_copy(
            update={"steps": tuple(s.model_copy(update={"repeat": step.repeat}) for s in plan.steps)}
        )


def good(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Those of a study that need not be made again."""
    return tuple(run for run in runs if run.outcome == "ok")


def singly(requests: Sequence[Request]) -> list[Request]:
    """A request for each preset of some requests."""
    return [
        replace(request, presets=(preset,), batches=(batch,))
        for request in requests
        for preset, batch in zip(request.presets, request.batches, strict=True)
    ]


def one_more(request: Request, runs: Sequence[Run]) -> Request:
    """The next run of a request of one preset, behind its ``runs``."""
    number = 1 + max((run.step or 0 for run in runs), default=0)
    return replace(request, repeats=number, begun=number - 1, until=number)


def needs(request: Request) -> Needs:
    """What the runs of a request of one preset need."""
    return Needs(request.preset.tool.name, request.target.spec, tuple(node.name for node in request.nodes))


def metric_of(request: Request, run: Run) -> Metric:
    """The figure that a run of a request of one preset is about."""
    return headline_metric({request.preset.name: request.preset}, run)
