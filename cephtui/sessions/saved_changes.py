"""What a check judges of saved sessions: the runs before a change and those after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cephtui.analysis.runs.batches import group
from cephtui.analysis.runs.change import Change, around, between, left_beside_mark, why_none
from cephtui.analysis.runs.marks import made_during
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.statistics.looks import ONE_LOOK, LookSchedule
from cephtui.analysis.verdicts import guided_check
from cephtui.analysis.verdicts.guided_check import changes_of, looks_of
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.study import CheckGoal
from cephtui.models.verdict import LeftOut
from cephtui.sessions import store
from cephtui.sessions.studies import newest_check, read_studies, runs_before


class NoChange(Exception):
    """A session has no runs before and after a change that can be compared; the text gives the next step."""


@dataclass(frozen=True, slots=True)
class SavedChange:
    """Both sides of a change, with their sessions."""

    changes: tuple[Change, ...]
    marks: tuple[Mark, ...]
    """The marks of the sessions of both sides."""
    directory: Path
    """The session of the runs after the change, where its verdicts are kept."""
    looks: LookSchedule = ONE_LOOK
    guided: CheckGoal | None = None
    """The goal of a guided check."""
    session_runs: tuple[Run, ...] = ()
    """All runs of the sessions of two named runs: how far repeats are spread."""
    not_chosen: tuple[LeftOut, ...] = ()
    """All other runs of a session, and why they are in neither side."""
    notes: tuple[str, ...] = ()
    """Notes to be read before the verdict."""


def change_of_session(directory: Path, mark: int | None = None) -> SavedChange:
    """The runs before a mark (from 1) and those after it; of a guided check, without a number, its own sides.

    Raises StoreError, and NoChange.
    """
    runs, _ = store.read_runs(directory)
    marks = tuple(store.read_marks(directory))
    guided = newest_check(read_studies(directory)) if mark is None else None
    if guided is not None:
        left_out = tuple(guided_check.left_beside_check(guided, runs))
        check_runs = [run for run in runs if not guided.before_session or run.batch in guided.after]
        changes = changes_of(guided, [*runs_before(directory, guided), *check_runs])
        saved = SavedChange(tuple(changes), marks, directory, looks_of(guided), guided, not_chosen=left_out)
    else:
        saved = _around(directory, runs, marks, mark)
    if not all(change.before and change.after for change in saved.changes):
        raise NoChange(f"session {directory.name} has runs on one side only: cephtui show {directory.name}")
    return saved


def _around(directory: Path, runs: Sequence[Run], marks: tuple[Mark, ...], number: int | None) -> SavedChange:
    """The change around a mark, by default the last one that has runs on both sides which are alike."""
    name = directory.name
    clear = [run.run for run in runs if not made_during(run, marks)][:2]
    words = " ".join(f"{name}/{run_number}" for run_number in clear)
    more = f"measure more: cephtui run PRESET --session {name}"
    two = f"name two runs: cephtui check {words}" if len(clear) > 1 else more
    if not marks:
        raise NoChange(f"session {name} has no mark: {two}, or mark the next change in the console with m")
    if number is not None and number > len(marks):
        raise NoChange(f"--mark {number}: session {name} has {len(marks)} marks")
    for mark in (number,) if number else range(len(marks), 0, -1):
        if changes := around(runs, marks, mark):
            is_last = mark == (number or len(marks))
            note = f"{why_none(runs, marks, len(marks))}: mark {mark} is judged"
            left_out = tuple(left_beside_mark(runs, marks, mark, changes))
            return SavedChange(tuple(changes), marks, directory, not_chosen=left_out, notes=() if is_last else (note,))
    raise NoChange(f"session {name}: {why_none(runs, marks, number or len(marks))}: {two}")


def change_of_runs(before: tuple[Path, int], after: tuple[Path, int]) -> SavedChange:
    """The change between two named runs (a session's directory and the number) and their repeats; raises StoreError."""
    left, right = run_with_repeats(*before), run_with_repeats(*after)
    if right[0] in left:  # repeats of each other: both sides would be the same runs
        left, right = left[:1], right[:1]
    directories = dict.fromkeys((before[0], after[0]))
    marks = {path: tuple(store.read_marks(path)) for path in directories}
    return SavedChange(
        (between(Side(left, marks[before[0]]), Side(right, marks[after[0]])),),
        tuple(mark for path in directories for mark in marks[path]),
        after[0],
        session_runs=tuple(run for path in directories for run in store.read_runs(path)[0]),
    )


def run_with_repeats(directory: Path, number: int) -> tuple[Run, ...]:
    """A run and its repeats, however they ended, that one first; raises StoreError."""
    chosen = store.read_run(directory, number)
    batch = [run for run in store.read_runs(directory)[0] if run.run != number and run.batch == chosen.batch]
    return group([chosen, *batch])[0].points[0].repeats
