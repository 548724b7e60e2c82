"""The runs of all saved sessions, the best candidates for a comparison first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.rows import SessionRow
from cephtui.sessions import store
from cephtui.sessions.demo import SESSION
from cephtui.sessions.listing import list_sessions, list_with_demo
from cephtui.sessions.store import StoreError


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run, and the directory that it is in."""

    directory: Path
    """The directory of its session."""
    run: Run
    baseline: bool
    """Whether the other runs of its session are compared with this one."""

    @property
    def name(self) -> str:
        """Session and number: ``tuning/3``."""
        return f"{self.directory.name}/{self.run.run}"


def candidates(root: Path, exclude: tuple[str, int], *, other_sessions: bool = True) -> Iterator[SavedRun]:
    """All runs but the excluded one (session, number): the newest session and run first, baselines before the rest.

    The baseline of the excluded run's own session is the first of all; without ``other_sessions``, only that session is
    listed. Runs of the demo are listed only where one of them is excluded. Sessions are read as they are needed; what
    can't be read is left out. Raises StoreError where the directory of the sessions can't be read.
    """
    rows = (list_with_demo if exclude[0] == SESSION else list_sessions)(root)[::-1]
    session_rows = [row for row in rows if row.session == exclude[0]]
    baselines = [run for row in session_rows for run in _runs_of(row, exclude) if run.baseline]
    yield from baselines
    names = {run.name for run in baselines}
    for row in rows if other_sessions else session_rows:
        yield from (run for run in _runs_of(row, exclude) if run.name not in names)


def _runs_of(row: SessionRow, exclude: tuple[str, int]) -> list[SavedRun]:
    try:
        runs, _ = store.read_runs(Path(row.path))
    except StoreError:
        return []
    saved_runs = [
        SavedRun(Path(row.path), run, run.run == row.baseline) for run in runs if (row.session, run.run) != exclude
    ]
    return sorted(saved_runs, key=lambda saved: (not saved.baseline, -saved.run.run))
