"""A guided check in the console, without its drawing: what is measured next, and what the runs say so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cephtui.analysis.conclusion import Asked, Judgement, why_invalid
from cephtui.analysis.guided_check import (
    BEFORE_RUNS,
    begun,
    changes_of,
    counted,
    criteria_of,
    failed_in_a_row,
    is_look,
    looks_of,
    next_turn,
    sides_of,
)
from cephtui.analysis.ratio import geometric_mean, spread
from cephtui.analysis.verdict import Criteria
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.guided_check import GuidedCheck, SideName
from cephtui.models.metrics import Metric
from cephtui.planning import Request, new_batch
from cephtui.presets import Preset, SeveralValuesError, check_one_value, headline_metric
from cephtui.sessions import store
from cephtui.sessions.verdicts import judge_saved
from cephtui.targets.scratch import is_scratch

MOST = 12


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a check stands."""

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    counted: tuple[int, int]
    side: SideName | None
    """What is measured next; None where it is over."""
    wanted: int
    """How many runs of that side there are to be, before it is looked at or changed."""
    is_changed: bool
    """Whether the user has made the change."""
    judged: Judgement | None
    """What the last look says; None before the first."""
    failed: str
    """Why it is not continued by itself; empty where it is."""
    means: tuple[float | None, float | None]
    """Of the figure that the preset is about, before and after, reads and writes together."""
    spread_before: float | None
    """Coefficient of variation; None for fewer than two runs."""


def new_guided_check(request: Request, require_percent: float) -> GuidedCheck:
    """Of the preset, options, target and nodes of a request."""
    return GuidedCheck(
        at=datetime.now(UTC),
        presets=(request.preset.name,),
        overrides=dict(request.overrides),
        target=request.target.spec,
        nodes=tuple(node.name for node in request.nodes),
        drop_caches=request.drop_caches,
        before=(new_batch(),),
        after=(new_batch(),),
        before_runs=BEFORE_RUNS,
        most=MOST,
        require_percent=require_percent,
        same_percent=Criteria().same_percent,
        confidence=Criteria().confidence,
    )


def with_required(guided: GuidedCheck, percent: float) -> GuidedCheck:
    """What a change must at least bring; a margin for the worse is also what counts as the same."""
    same = -percent if percent < 0 else Criteria().same_percent
    return guided.model_copy(update={"require_percent": percent, "same_percent": same})


def wrong_percent(text: str) -> str | None:
    """Why a text is not what a change can be required to bring; None where it is."""
    try:
        return None if -99 <= float(text) <= 10_000 else "expected -99 to 10000"
    except ValueError:
        return "expected a number, such as -10 or 20"


def request_of_next(guided: GuidedCheck, request: Request, side: SideName, runs: Sequence[Run]) -> tuple[Request, str]:
    """The request of one more run of a side, and its batch."""
    number = begun(guided, side, runs)
    batch = (guided.before if side == "before" else guided.after)[0]
    return replace(request, repeats=number + 1, begun=number, until=number + 1), batch


def standing(
    guided: GuidedCheck, preset: Preset, runs: Sequence[Run], marks: Sequence[Mark], directory: Path | None
) -> Standing:
    """From what is saved, so that it is the same after a pause."""
    before, after = sides_of(guided, runs)
    numbers = counted(guided, runs)
    judged = None
    looked = max((at for at in looks_of(guided).at if at <= numbers[1]), default=0)
    if directory is not None and looked:
        asked = Asked(partial(metric_of, preset), criteria_of(guided))
        judged = judge_saved(changes_of(guided, runs), asked, marks, directory, datetime.now(UTC))
    is_decided = judged is not None and is_look(guided, *numbers) and judged.conclusion.answer != "undecided"
    turn = None if is_decided else next_turn(guided, *numbers)
    ended = max((run.started_at for run in before), default=None)
    values = [_values(side, preset) for side in (before, after)]
    return Standing(
        tuple(before),
        tuple(after),
        numbers,
        turn.side if turn else None,
        numbers[0 if turn.side == "before" else 1] + turn.runs if turn else 0,
        bool(after) or (ended is not None and any(mark.at > ended for mark in marks)),
        judged,
        failed_in_a_row([*before, *after]),
        (geometric_mean(values[0]), geometric_mean(values[1])),
        spread(values[0]),
    )


def _values(runs: Sequence[Run], preset: Preset) -> list[float]:
    """Of the runs that count."""
    found = [metric_of(preset, run).combined(run.summary.flows) for run in runs if not why_invalid(run)]
    return [value for value in found if value is not None]


def metric_of(preset: Preset, run: Run) -> Metric:
    """The figure that a run of this preset is about."""
    return headline_metric({preset.name: preset}, run)


def saved(directory: Path | None, known: Sequence[Run] = ()) -> tuple[list[Run], list[Mark]]:
    """Runs and marks of the session so far, of which the ``known`` runs are not read again; raises StoreError."""
    if directory is None:
        return [], []
    found = {run.run: run for run in known if run.outcome is not None}
    for number, path in store.run_directories(directory):
        if number not in found and (path / "run.json").exists():
            with suppress(store.StoreError):  # a broken run is named where the session is listed
                found[number] = store.read_run(directory, number)
    return [found[number] for number in sorted(found)], store.read_marks(directory)


def unfinished(directory: Path | None, preset_of: Callable[[str], Preset | None]) -> GuidedCheck | None:
    """A check of the session that was left before its end, and can be continued here."""
    try:
        guided = store.read_guided_check(directory) if directory else None
        if guided is None or guided.takes_turns or len(guided.presets) > 1:
            return None
        preset = preset_of(guided.presets[0])
        if preset is None:
            return None
        check_one_value(preset, guided.overrides)
        return guided if standing(guided, preset, *saved(directory), directory).side else None
    except (store.StoreError, SeveralValuesError):
        return None


def is_of(guided: GuidedCheck, request: Request) -> bool:
    """Whether target, nodes and caches of a request are those of a check; one scratch file is like another."""
    target = request.target.spec
    same = target == guided.target or (is_scratch(target) and is_scratch(guided.target))
    same = same and guided.drop_caches == request.drop_caches
    return same and tuple(node.name for node in request.nodes) == guided.nodes
