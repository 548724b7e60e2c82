"""What the user did, among the runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import timedelta

from cephtui.analysis.runs.batches import PointSummary, group, summarize
from cephtui.analysis.runs.sides import Side
from cephtui.models import Mark, Run

CHANGED, UNDONE = "change: ", "undo: "
"""How marks begin that a check makes itself: behind them is the command."""


def made_during(run: Run, marks: Iterable[Mark]) -> list[Mark]:
    """The marks of its session that were made while it ran: such a run is neither before nor after the change."""
    return [mark for mark in marks if mark.run == run.run]


def marks_between(left: Side, right: Side) -> list[tuple[str, Mark]]:
    """The marks from the beginning of the first run to the end of the last, each with its session's name."""
    runs = [*left.runs, *right.runs]
    marks = {(side.run.session, mark): None for side in (left, right) for mark in marks_among(runs, side.marks)}
    return sorted(marks, key=lambda pair: pair[1].at)


def marks_among(runs: Sequence[Run], marks: Iterable[Mark]) -> list[Mark]:
    """The marks from the beginning of the first run to the end of the last, as far as these have a date."""
    dated = [run for run in runs if run.is_dated]
    if not dated:
        return []
    first = min(run.started_at for run in dated)
    last = max(run.started_at + timedelta(seconds=run.duration_seconds) for run in dated)
    return [mark for mark in marks if first <= mark.at <= last]


def runs_with_marks(runs: Sequence[Run], marks: Iterable[Mark]) -> list[Run | Mark]:
    """The runs of a session with its marks: behind the run that they were made in, or between two."""
    numbers, starts = [run.run for run in runs], [run.started_at for run in runs]

    def place(mark: Mark) -> int:
        return bisect_right(starts, mark.at) if mark.run is None else bisect_right(numbers, mark.run)

    behind: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.at):
        behind.setdefault(place(mark), []).append(mark)
    rows: list[Run | Mark] = [*behind.get(0, [])]
    for number, run in enumerate(runs, 1):
        rows += [run, *behind.get(number, [])]
    return rows


def with_results(rows: Sequence[Run | Mark]) -> list[Run | Mark | PointSummary]:
    """Runs and marks with the results of repeats, behind the last run of their batch and the marks made in it."""
    results = {
        max(run.run for run in batch.runs): [
            summary for point in batch.points if len(point.repeats) > 1 and (summary := summarize(point)).estimates
        ]
        for batch in group(row for row in rows if isinstance(row, Run))
    }
    placed: list[Run | Mark | PointSummary] = []
    due: list[PointSummary] = []
    number: int | None = None
    for row in rows:
        if isinstance(row, Run) or row.run != number:
            placed, due = [*placed, *due], []
        placed.append(row)
        if isinstance(row, Run):
            due, number = results.get(row.run, []), row.run
    return [*placed, *due]
