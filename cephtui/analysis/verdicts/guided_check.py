"""Before, change, after: which side is measured next, and when it is decided."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.looks import LookSchedule
from cephtui.analysis.verdicts.verdict import Criteria, seen_with
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.study import CheckGoal, SideName
from cephtui.models.verdict import LeftOut

BEFORE_RUNS = 6
"""Where the sides do not take turns: nothing can be added to before once the change is made."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Runs of one side, of each preset, before anything is looked at or changed."""

    side: SideName
    runs: int


def looks_of(guided: CheckGoal) -> LookSchedule:
    """The looks of a check."""
    return LookSchedule(guided.most, guided.fixed)


def criteria_of(guided: CheckGoal) -> Criteria:
    """The criteria of a check."""
    return Criteria(guided.require_percent, guided.same_percent, guided.confidence, looks_of(guided))


def seen_at_look(guided: CheckGoal, variation: float, before: int, after: int) -> float:
    """The least fall, as a fraction, that a look at so many runs would show in four of five checks.

    Each of several looks has a wider interval than a single one.
    """
    nominal = looks_of(guided).nominal(guided.confidence, paired=guided.takes_turns)
    return seen_with(variation, before, after, nominal, in_turns=guided.takes_turns)


def next_turn(guided: CheckGoal, before: int, after: int) -> Turn | None:
    """The next runs of a check whose sides have so many runs that count; None at its end.

    In turns the order is A B B A: a drift is on both sides then. Else all of before comes first: after the change
    nothing can be added to it.
    """
    at = looks_of(guided).at
    if not guided.takes_turns:
        if before < guided.before_runs:
            return Turn("before", guided.before_runs - before)
        next_look = next((runs for runs in at if runs > after), None)
        return None if next_look is None else Turn("after", next_look - after)
    pairs = min(before, after)
    if pairs >= at[-1]:
        return None
    first, second = ("before", "after") if pairs % 2 == 0 else ("after", "before")
    counts: dict[str, int] = {"before": before, "after": after}
    if counts[first] == pairs:
        return Turn(_side(first), 1)
    # the second of this pair, and the first of the next, which is of the same side, unless it is looked in between
    return Turn(_side(second), 1 if pairs + 1 in at else 2)


def _side(name: str) -> SideName:
    return "before" if name == "before" else "after"


def is_look(guided: CheckGoal, before: int, after: int) -> bool:
    """Whether so many runs are looked at."""
    return after in looks_of(guided).at and (before == after or not guided.takes_turns)


def sides_of(guided: CheckGoal, runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """The runs of a session that belong to a check, before and after."""
    ended = [run for run in runs if run.outcome is not None]
    return [run for run in ended if run.batch in guided.before], [run for run in ended if run.batch in guided.after]


def changes_of(guided: CheckGoal, runs: Sequence[Run]) -> list[Change]:
    """The change of each preset, with both sides."""
    before, after = sides_of(guided, runs)
    return [
        Change(
            tuple(run for run in before if run.batch == first),
            tuple(run for run in after if run.batch == second),
            takes_turns=guided.takes_turns,
        )
        for first, second in zip(guided.before, guided.after, strict=True)
    ]


def left_beside_check(guided: CheckGoal, runs: Sequence[Run]) -> list[LeftOut]:
    """The runs of a session that do not belong to the check."""
    batches = (*guided.before, *guided.after)
    return [LeftOut(run=name_of(run), why="measured outside of the check") for run in runs if run.batch not in batches]


def counted_runs(guided: CheckGoal, runs: Sequence[Run]) -> tuple[int, int]:
    """How many runs of each side count: of several presets those of the one that has fewest."""
    return min(_counts(guided.before, runs)), min(_counts(guided.after, runs))


def lagging_preset(guided: CheckGoal, side: SideName, runs: Sequence[Run]) -> int | None:
    """The place of the preset of which fewer runs of a side count than of others; None where all have the same."""
    counts = _counts(guided.before if side == "before" else guided.after, runs)
    return counts.index(min(counts)) if len(set(counts)) > 1 else None


def _counts(batches: Sequence[str], runs: Sequence[Run]) -> list[int]:
    return [
        sum(run.batch == batch and run.outcome is not None and not why_invalid(run) for run in runs)
        for batch in batches
    ]
