"""The runs before and after a change: those of a session around a mark, or two that were named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime

from cephtui.analysis.runs.batches import name_of, names_of, set_up
from cephtui.analysis.runs.marks import made_during
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.runs.turns import Sides
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.verdict import LeftOut

MARKED = "a mark was set during the run"


@dataclass(frozen=True, slots=True)
class Change:
    """Runs that were set up alike, before something was changed and after it, however they ended.

    Sides that the user has named may be in any order in time: see ``is_in_order``.
    """

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    takes_turns: bool = field(default=False, kw_only=True)
    """Whether the change was made and taken back in turns."""
    marked: tuple[Run, ...] = field(default=(), kw_only=True)
    """Runs of these sides during which a mark was made: they are neither before nor after."""
    left_out: Sides = field(default=((), ()), kw_only=True)
    """Runs that were measured with those before and after, and take no part."""

    @property
    def runs(self) -> tuple[Run, ...]:
        return (*self.before, *self.after)

    @property
    def is_in_order(self) -> bool:
        """Whether the first side was measured before the change, and the second after it; else they are A and B."""
        if self.takes_turns or not (self.before and self.after):
            return True
        if any(run in self.marked for run in self.runs) or not all(run.is_dated for run in self.runs):
            return False
        return max(map(_place, self.before)) < min(map(_place, self.after))

    @property
    def is_reversed(self) -> bool:
        """Whether all of the first side was measured later."""
        return not self.is_in_order and replace(self, before=self.after, after=self.before).is_in_order


def _place(run: Run) -> tuple[datetime, int]:
    """The place of a run in time; runs that were imported from one document may all have its time."""
    return run.started_at, run.run


def between(left: Side, right: Side) -> Change:
    """The change between two sides that were named."""
    marked = tuple(run for side in (left, right) for run in side.runs if made_during(run, side.marks))
    return Change(left.runs, right.runs, marked=marked)


def around(runs: Sequence[Run], marks: Sequence[Mark], number: int | None = None) -> list[Change]:
    """The runs between a mark (from 1, by default the last) and its neighbours, apart by how they were set up.

    Marks without a run between them are one change. A run in which the mark was made is on neither side. Raises
    IndexError for a mark that there is not.
    """
    return matched(*_stretches(runs, marks, number))


def why_none(runs: Sequence[Run], marks: Sequence[Mark], number: int) -> str:
    """Why there is no change around a mark (from 1)."""
    sides = _stretches(runs, marks, number)
    near = {set_up(run) for side in sides for run in side}
    if marked := [run for run in runs if made_during(run, marks) and set_up(run) in near]:
        return marked_text(marked)
    if missing := [word for word, side in zip(("before", "after"), sides, strict=True) if not side]:
        return f"no run is {' or '.join(missing)} mark {number}"
    return f"no runs before and after mark {number} have the same preset, options, target and nodes"


def marked_text(runs: Iterable[Run]) -> str:
    """Why runs during which a mark was made are on no side."""
    return f"a mark was set during {names_of(runs)}, so these runs are neither before nor after the change"


def left_beside_mark(
    runs: Sequence[Run], marks: Sequence[Mark], number: int, changes: Iterable[Change]
) -> list[LeftOut]:
    """The runs of a session that are in none of the changes around a mark (from 1), each with the reason."""
    numbers = {run.run for change in changes for run in change.runs}
    near = {run.run for side in _stretches(runs, marks, number) for run in side}
    left_out = []
    for run in runs:
        if run.run in numbers:
            continue
        if made_during(run, marks):
            why = MARKED
        elif run.run not in near:
            why = f"another mark is between the run and mark {number}"
        else:
            why = f"no comparable run on the other side of mark {number}"
        left_out.append(LeftOut(run=name_of(run), why=why))
    return left_out


def _stretches(runs: Sequence[Run], marks: Sequence[Mark], number: int | None) -> tuple[list[Run], list[Run]]:
    """The runs up to the neighbours of a mark, on each side; raises IndexError."""
    ordered = sorted(marks, key=lambda mark: mark.at)
    chosen = ordered[-1 if number is None else number - 1]
    if number is not None and number < 1:
        raise IndexError(number)
    before = _stretch([run for run in runs if _is_before(run, chosen)], ordered, last=True)
    after = _stretch([run for run in runs if _is_after(run, chosen)], ordered, last=False)
    return before, after


def matched(before: Iterable[Run], after: Iterable[Run]) -> list[Change]:
    """Runs that are set up alike on both sides, in the order of the first ones; the others are left out."""
    sides: dict[object, tuple[list[Run], list[Run]]] = {}
    for index, side in enumerate((before, after)):
        for run in side:
            sides.setdefault(set_up(run), ([], []))[index].append(run)
    return [Change(tuple(left), tuple(right)) for left, right in sides.values() if left and right]


def _is_before(run: Run, mark: Mark) -> bool:
    """Whether a run was before a mark: also one without a date, whose file was written before the mark was made."""
    return run.run < mark.run if mark.run is not None else run.started_at <= mark.at


def _is_after(run: Run, mark: Mark) -> bool:
    return run.run > mark.run if mark.run is not None else run.is_dated and run.started_at > mark.at


def _stretch(runs: Sequence[Run], marks: Sequence[Mark], *, last: bool) -> list[Run]:
    """The last of these runs, or the first, between which there is no mark, and in which none was made."""
    stretch: list[Run] = []
    for run in sorted(runs, key=lambda run: run.run, reverse=last):
        if stretch:
            first, second = (run, stretch[-1]) if last else (stretch[-1], run)
            if any(_lies_between(mark, first, second) for mark in marks):
                break
        if not made_during(run, marks):
            stretch.append(run)
    return sorted(stretch, key=lambda run: run.run)


def _lies_between(mark: Mark, first: Run, second: Run) -> bool:
    return _is_before(first, mark) and _is_after(second, mark)
