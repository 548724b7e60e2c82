"""The runs of all saved sessions, the best candidates for a comparison first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from cephtui.analysis.runs.batches import group
from cephtui.analysis.runs.sides import counted_repeats
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.session_row import SessionRow
from cephtui.sessions import store
from cephtui.sessions.demo import SESSION
from cephtui.sessions.listing import list_sessions, list_with_demo
from cephtui.sessions.store import StoreError


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run, or repeats of each other, and the directory that they are in."""

    directory: Path
    """The directory of its session."""
    run: Run
    """The baseline, if it is among the repeats, else the last of them."""
    repeats: tuple[Run, ...]
    """All of them, by their numbers; the run alone where nothing repeats it."""
    baseline: bool
    """Whether the other runs of its session are compared with this one."""
    is_own: bool
    """Whether it is of the session of the run that it may be compared with."""
    marks: tuple[Mark, ...] = ()
    """Of the own session: the marks that were made after it and before what is listed above it, the newest first."""

    @property
    def name(self) -> str:
        """Session and number: ``tuning/3``."""
        return f"{self.directory.name}/{self.run.run}"


def candidates(root: Path, exclude: tuple[str, int], *, other_sessions: bool = True) -> Iterator[SavedRun]:
    """All runs but the excluded one (session, number): those of its own session first, then of the newest one.

    In each the baseline is first, then the newest run. Repeats of each other are one, but those of the excluded run.
    Without ``other_sessions``, only the own session is listed. Runs of the demo are listed only where one of them is
    excluded. Sessions are read as they are needed; what can't be read is left out. Raises StoreError where the
    directory of the sessions can't be read.
    """
    rows = (list_with_demo if exclude[0] == SESSION else list_sessions)(root)[::-1]
    for row in sorted(rows, key=lambda row: row.session != exclude[0]):
        if row.session == exclude[0]:
            yield from _with_marks(_candidates_of(row, exclude), store.read_marks(Path(row.path)))
        elif other_sessions:
            yield from _candidates_of(row, exclude)


def _candidates_of(row: SessionRow, exclude: tuple[str, int]) -> list[SavedRun]:
    """What a session has, the baseline first, then the newest."""
    directory, is_own = Path(row.path), row.session == exclude[0]
    try:
        runs, _ = store.read_runs(directory)
    except StoreError:
        return []
    found = []
    for repeats in _alike(runs, exclude[1] if is_own else None):
        baseline = next((run for run in repeats if run.run == row.baseline), None)
        found.append(SavedRun(directory, baseline or repeats[-1], repeats, baseline is not None, is_own))
    return sorted(found, key=lambda saved: (not saved.baseline, -saved.repeats[-1].run))


def _alike(runs: Iterable[Run], excluded: int | None) -> Iterator[tuple[Run, ...]]:
    """Repeats together, any other run by itself; of the repeats of the ``excluded`` run each by itself."""
    for point in (point for batch in group(runs) for point in batch.points):
        repeats = counted_repeats(point)
        if any(run.run == excluded for run in point.repeats):
            repeats = ()
        yield from [repeats] if repeats else []
        yield from ((run,) for run in point.repeats if run not in repeats and run.run != excluded)


def _with_marks(found: Iterable[SavedRun], marks: Iterable[Mark]) -> Iterator[SavedRun]:
    """The runs of a session, the newest first, with the marks above each; the baseline stands apart."""
    left = sorted(marks, key=lambda mark: mark.at, reverse=True)
    for saved in found:
        last = saved.repeats[-1]
        above = [] if saved.baseline else [mark for mark in left if mark.at >= last.started_at and mark.run != last.run]
        left = left[len(above) :]
        yield replace(saved, marks=tuple(above))
