"""Before, the change, after: which side is measured next, when it is decided, and the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from cephtui.analysis.runs.batches import full_names
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude, metric_named
from cephtui.analysis.verdicts.guided_check import (
    BEFORE_RUNS,
    Turn,
    changes_of,
    counted_runs,
    criteria_of,
    is_look,
    lagging_preset,
    left_beside_check,
    looks_of,
    next_turn,
)
from cephtui.analysis.verdicts.verdict import Criteria
from cephtui.exit_codes import EXIT_INCOMPLETE
from cephtui.models import Mark, Plan, Run
from cephtui.models.metrics import Metric
from cephtui.models.study import CHECK, CheckGoal, SavedStudy, SideName
from cephtui.planning import Order, Request, new_batch
from cephtui.presets import Catalogue, check_one_value, headline_metric
from cephtui.sessions.verdicts import judge_saved, keep_verdicts
from cephtui.studies import REQUIRED_PERCENT
from cephtui.studies.base import Measure, Study, StudyResult
from cephtui.studies.extent import Extent, bound_of_plans
from cephtui.units import parse_percent

MOST = 12
"""Runs a side, where several looks are taken and nothing else is asked for."""


class Checked(StudyResult):
    """What a check has come to; ``judgement`` is None where a side has no runs."""

    def __init__(self, judgement: Judgement | None) -> None:
        self.judgement = judgement
        self.exit_code = judgement.conclusion.exit_code if judgement else EXIT_INCOMPLETE

    def keep(self, directory: Path) -> None:
        if self.judgement:
            keep_verdicts(self.judgement, directory)


class Check(Study[CheckGoal]):
    """Presets on one target, before and after a change."""

    kind = CHECK
    needs_its_end = True
    Goal = CheckGoal

    @classmethod
    def ordered(cls, saved: SavedStudy, values: Mapping[str, Any]) -> SavedStudy:
        if "undo" in values and "change" not in values:
            raise ValueError("--undo needs --change")
        fixed, required = values.get("fixed"), values.get("require_percent", Criteria().require_percent)
        usual = {
            "before": tuple(cell.batch for cell in saved.cells),
            "after": tuple(new_batch() for _ in saved.cells),
            "before_runs": fixed or BEFORE_RUNS,
            "most": None if fixed else MOST,
            "require_percent": required,
            "same_percent": _same(required),
            "confidence": Criteria().confidence,
        }
        commands = {"takes_turns": "undo" in values, "is_commanded": "change" in values}
        single_look = {"most": None} if fixed else {}
        goal = CheckGoal.model_validate({**usual, **commands, **values, **single_look})
        return super().ordered(saved, goal.model_dump(mode="json"))

    def __init__(self, saved: SavedStudy, requests: Iterable[Request], elsewhere: Iterable[Run] = ()) -> None:
        super().__init__(saved, requests, elsewhere)
        if len(self.goal.before) != len(saved.cells):
            raise ValueError("its goal does not fit its presets")

    @property
    def batches(self) -> frozenset[str]:
        return frozenset(self.goal.after if self.elsewhere else (*self.goal.before, *self.goal.after))

    @property
    def needs_commands(self) -> tuple[str, ...]:
        change = ("change",) if self.goal.is_commanded else ()
        return (*change, "undo") if self.goal.takes_turns else change

    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        every = [*self.elsewhere, *runs]
        counts = counted_runs(self.goal, every)
        turn = next_turn(self.goal, *counts)
        if turn is None or self.batches.intersection(without) or self.given_up(runs):
            return None
        if is_look(self.goal, *counts) and self.is_decided(every):
            return None
        is_changed = None if self.elsewhere else turn.side == "after"
        return Measure(self.request_of(turn, runs), is_changed=is_changed)

    def request_of(self, turn: Turn, runs: Sequence[Run]) -> Request:
        """The next runs of a side, after these: where a run of one of several presets is missing, that one alone."""
        (request,) = self.requests
        batches = self.goal.before if turn.side == "before" else self.goal.after
        presets = len(request.presets)
        place = lagging_preset(self.goal, turn.side, runs)
        if place is None:
            begun = max((run.step or 0 for run in runs if run.batch in batches), default=0)
            until = begun + turn.runs * presets
        else:
            last = max((run.step or 0 for run in runs if run.batch == batches[place]), default=place + 1 - presets)
            begun, until = last + presets - 1, last + presets
        order: Order | None = "abab" if presets > 1 else None
        return replace(request, repeats=-(-until // presets), begun=begun, until=until, order=order, batches=batches)

    def next_side(self, runs: Sequence[Run]) -> tuple[SideName, int] | None:
        """The side that is measured next, and how many runs of it there are to be; None where it is over."""
        counts = counted_runs(self.goal, [*self.elsewhere, *runs])
        turn = next_turn(self.goal, *counts) if self.next(runs) else None
        return (turn.side, counts[0 if turn.side == "before" else 1] + turn.runs) if turn else None

    def terms(self, runs: Sequence[Run]) -> ConclusionTerms:
        """What is to be concluded, with all runs of the session."""
        presets: Catalogue = {preset.name: preset for request in self.requests for preset in request.presets}

        def headline(run: Run) -> Metric:
            return headline_metric(presets, run)

        goal = self.goal
        return ConclusionTerms(
            headline,
            criteria_of(goal),
            tuple(metric_named(name) for name in goal.metrics),
            goal.directions,
            frozenset(full_names(goal.without, runs[-1].session) if runs else ()),
            not_chosen=left_beside_check(goal, runs),
        )

    def is_decided(self, runs: Sequence[Run]) -> bool:
        """Whether a look at these runs, with those of other sessions, says that it is met or not."""
        at = max(run.started_at for run in runs)
        return conclude(changes_of(self.goal, runs), self.terms(runs), at).conclusion.answer != "undecided"

    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> Checked:
        changes = changes_of(self.goal, [*self.elsewhere, *self.own(runs)])
        if not all(change.before and change.after for change in changes):
            return Checked(None)
        return Checked(judge_saved(changes, self.terms(runs), tuple(marks), directory, at))

    def looked_at(self, runs: Sequence[Run]) -> int:
        """After how many runs a side the last look was; 0 before the first."""
        counts = counted_runs(self.goal, [*self.elsewhere, *runs])
        return counts[1] if is_look(self.goal, *counts) else 0

    def drafts(self) -> list[Request]:
        if len(self.requests) > 1:
            raise ValueError("a check measures one target, from one set of nodes")
        for request in self.requests:
            for preset in request.presets:
                check_one_value(preset, request.overrides)
        return [self.request_of(Turn("after", looks_of(self.goal).at[-1]), ())]

    def extent(self, plans: Sequence[Plan]) -> Extent:
        looks = looks_of(self.goal).at
        one = plans[0].duration_seconds / looks[-1]
        before = None if self.goal.takes_turns else self.goal.before_runs
        least, most = (runs + (runs if before is None else before) for runs in (looks[0], looks[-1]))
        return Extent(least, most, least * one, most * one, bound_of_plans(plans))


def with_required(study: Check, percent: float) -> Check:
    """The same with what a change must at least bring."""
    return study.with_goal({"require_percent": percent, "same_percent": _same(percent)})


def _same(required_percent: float) -> float:
    """A margin for the worse is also what counts as the same."""
    return -required_percent if required_percent < 0 else Criteria().same_percent


def wrong_percent(text: str) -> str | None:
    """Why a text is not what a change can be required to bring; None where it is."""
    low, high = REQUIRED_PERCENT
    try:
        return None if low <= parse_percent(text) <= high else f"expected {low} to {high}"
    except ValueError:
        return "expected a percentage, such as -10 or 20"
