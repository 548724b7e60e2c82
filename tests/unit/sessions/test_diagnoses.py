"""The diagnosis before another one: of the same target and cluster, in whichever session it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from cephtui.models import Run
from cephtui.models.study import Cell, SavedStudy
from cephtui.sessions import store
from cephtui.sessions.diagnoses import earlier_diagnosis, runs_diagnosed
from tests.support.runs import STARTED, cluster, run
from tests.support.sessions import write_session


def measured(root: Path, day: int, *, target: str = "rbd:bench", fsid: str = "f", is_diagnosis: bool = True) -> Path:
    """A session of that day with one study of one run; the directory."""
    batch, at = f"b{day}", STARTED + timedelta(days=day)
    cell = Cell(step="writes", preset="write-iops", target=target, nodes=("pve1",), batch=batch)
    study = SavedStudy(at=at, cells=(cell,), diagnosis=is_diagnosis)
    its_run = run(
        batch=batch, target=target, cluster=cluster(fsid=fsid), started_at=at + timedelta(seconds=5), span_bytes=0
    )
    return write_session(root, [its_run], name=f"day-{day}", studies=[study], created_at=at)


def runs_of(directory: Path) -> Sequence[Run]:
    return store.read_runs(directory)[0]


def earlier(directory: Path) -> list[str]:
    """The sessions of the runs of the diagnosis before that of a session."""
    found = earlier_diagnosis(directory, runs_of(directory))
    return [other.session for other in found.runs] if found else []


def test_the_last_one_before_it_is_taken(tmp_path: Path) -> None:
    for day in (1, 2, 4):
        measured(tmp_path, day)
    now = measured(tmp_path, 3)
    assert earlier(now) == ["day-2"]
    assert earlier(tmp_path / "day-1") == []


def test_other_targets_other_clusters_and_other_studies_are_passed_over(tmp_path: Path) -> None:
    measured(tmp_path, 1)
    measured(tmp_path, 2, target="rbd:other")
    measured(tmp_path, 3, fsid="another")
    measured(tmp_path, 4, is_diagnosis=False)
    assert earlier(measured(tmp_path, 5)) == ["day-1"]


def test_sessions_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    measured(tmp_path, 1)
    (tmp_path / "day-2").mkdir()
    (tmp_path / "day-2" / "studies.jsonl").write_text("{garbage\n")
    (measured(tmp_path, 3) / "001" / "run.json").write_text("{}")
    assert earlier(measured(tmp_path, 4)) == ["day-1"]
    assert earlier_diagnosis(tmp_path / "day-1", []) is None


def test_a_session_with_other_runs_is_diagnosed_by_those_of_its_last_diagnosis(tmp_path: Path) -> None:
    def study(batch: str, *, is_diagnosis: bool) -> SavedStudy:
        cell = Cell(step="writes", preset="write-iops", target="rbd:bench", nodes=("pve1",), batch=batch)
        return SavedStudy(at=STARTED, cells=(cell,), diagnosis=is_diagnosis)

    studies = [study(batch, is_diagnosis=batch != "sweep") for batch in ("first", "last", "sweep", "refused")]
    runs = [run(number, batch=batch) for number, batch in enumerate(("tour", "first", "last", "sweep"), 1)]
    directory = write_session(tmp_path, runs, name="tuning", studies=studies)
    assert [found.run for found in runs_diagnosed(directory, runs)] == [3]
    assert runs_diagnosed(directory, runs[:1]) == runs[:1]
