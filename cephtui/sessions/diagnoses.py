"""Diagnoses that sessions have: each is what the runs of a study show."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cephtui.analysis.runs.links import measures_links
from cephtui.analysis.verdicts.diagnosis import Diagnosis, diagnosis
from cephtui.models import Run
from cephtui.models.study import SavedStudy
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.sessions.studies import read_studies


def runs_diagnosed(directory: Path, runs: Sequence[Run]) -> Sequence[Run]:
    """Of the runs of a session those that were measured for its last diagnosis; all where none was."""
    batches = [_batches(study) for study in _studies(directory)]
    measured = ([run for run in runs if run.batch in of_study] for of_study in reversed(batches))
    return next(filter(None, measured), runs)


def earlier_diagnosis(directory: Path, runs: Sequence[Run]) -> Diagnosis | None:
    """The last one of the same target before these runs of a session, in any session beside it; None without any.

    The target is that of the first run that is of no link.
    """
    measured = [run for run in runs if not measures_links(run)]
    if not measured:
        return None
    first, own = measured[0], {run.batch for run in runs}
    studies = [
        (study, session)
        for session in (directory.parent / name for name in store.session_names(directory.parent))
        for study in _studies(session)
        if study.at < first.started_at and first.target in study.targets and not own.intersection(_batches(study))
    ]
    for study, session in sorted(studies, key=lambda pair: pair[0].at, reverse=True):
        with suppress(StoreError):
            batches = _batches(study)
            earlier = [run for run in store.read_runs(session)[0] if run.batch in batches]
            if _fsid(earlier) == _fsid(runs) and (found := diagnosis(earlier)).runs:
                return found
    return None


def _studies(session: Path) -> list[SavedStudy]:
    """Those of a session that end with a diagnosis; none where it can't be read."""
    with suppress(StoreError):
        return [study for study in read_studies(session) if study.diagnosis]
    return []


def _batches(study: SavedStudy) -> set[str]:
    return {cell.batch for cell in study.cells}


def _fsid(runs: Sequence[Run]) -> str | None:
    return next((run.cluster.fsid for run in runs if run.cluster and run.cluster.fsid), None)
