"""The studies of a session, the oldest first: what was ordered in it as a whole, finished or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import AwareDatetime

from cephtui.analysis.runs.marks import made_during
from cephtui.models import Line, Model, Name, OptionValue, Promise, Run
from cephtui.models.study import CHECK, RUNS, STABLE, Cell, CheckGoal, Ordered, SavedStudy
from cephtui.reading import DOCUMENT_MOST_BYTES
from cephtui.sessions.store import STUDIES_FILE, StoreError, load_model, read_marks, read_runs, readable_lines

_ORDER_FILE_0_1 = "suite.json"
_CHECK_FILES_0_1 = ("guided.json", "sitting.json")
"""A session of cephtui 0.1 has kept the last order, and the last check, in these."""


class _Check01(CheckGoal):
    """A check as cephtui 0.1 has kept it."""

    at: AwareDatetime
    presets: tuple[Name, ...]
    overrides: dict[Name, OptionValue | list[OptionValue]] = {}
    target: Name
    data_pool: Name | None = None
    nodes: tuple[Name, ...]
    drop_caches: bool = False


class _Order01(Model):
    """An order as cephtui 0.1 has kept it."""

    at: AwareDatetime
    suite: Name = ""
    title: Line = ""
    order: str | None = None
    drop_caches: bool = False
    cells: tuple[Cell, ...]


def read_studies(directory: Path) -> list[SavedStudy]:
    """All studies of a session in the order in which they began; lines that can't be read are left out.

    Raises StoreError where a file of cephtui 0.1 can't be read.
    """
    first = sorted(_of_0_1(directory), key=lambda study: study.at)
    numbered = [study.model_copy(update={"id": f"s{number}"}) for number, study in enumerate(first, 1)]
    later = readable_lines(directory / STUDIES_FILE, SavedStudy, line_most_bytes=DOCUMENT_MOST_BYTES)
    return [*numbered, *(study for study in later if study.id)]


def batches_until_stable(directory: Path) -> set[str]:
    """The batches of a session that were repeated until their mean was known; none where it can't be read."""
    with suppress(StoreError):
        return {cell.batch for study in read_studies(directory) if study.kind == STABLE for cell in study.cells}
    return set()


def find_study(studies: Sequence[SavedStudy], name: str) -> SavedStudy | None:
    """The study of this name; None where there is none."""
    return next((study for study in studies if study.id == name), None)


def study_in_session(directory: Path, study: SavedStudy) -> SavedStudy:
    """A study as its session has it, with its name; the same where it is not kept there yet. Raises StoreError."""
    batches = {cell.batch for cell in study.cells}
    saved = (other for other in read_studies(directory) if batches.intersection(cell.batch for cell in other.cells))
    return next(saved, study)


def next_name(studies: Iterable[SavedStudy]) -> str:
    """The name of a session's next study: ``s3`` after ``s1`` and ``s2``."""
    numbers = [int(study.id[1:]) for study in studies if study.id[:1] == "s" and study.id[1:].isdecimal()]
    return f"s{max(numbers, default=0) + 1}"


def newest_check(studies: Iterable[SavedStudy]) -> CheckGoal | None:
    """The goal of the last check of a session; None where there is none, or where it can't be read."""
    goals = [check_goal(study) for study in studies if study.kind == CHECK]
    return goals[-1] if goals else None


def check_goal(study: SavedStudy) -> CheckGoal | None:
    """The goal of a check; None where that can't be read."""
    try:
        return CheckGoal.model_validate(study.goal)
    except ValueError:
        return None


def runs_before(directory: Path, check: CheckGoal) -> list[Run]:
    """The runs before the change, where they are in another session; raises StoreError."""
    if not check.before_session:
        return []
    session = directory.parent / check.before_session
    marks = read_marks(session)
    return [run for run in read_runs(session)[0] if run.batch in check.before and not made_during(run, marks)]


def ordered_in(studies: Sequence[SavedStudy]) -> Ordered:
    """The cells of all studies whose runs are known beforehand, those of the first study first."""
    titles = [study.title or study.suite for study in studies if study.title or study.suite]
    cells = tuple(cell for study in studies if study.kind == RUNS for cell in study.cells)
    return Ordered(title=titles[-1] if titles else "", cells=cells)


def promises_in(studies: Iterable[SavedStudy]) -> dict[str, Promise]:
    """The promises of the batches of all studies."""
    return {batch: promise for study in studies for batch, promise in study.promises.items()}


def _of_0_1(directory: Path) -> list[SavedStudy]:
    studies = []
    if os.path.lexists(path := directory / _ORDER_FILE_0_1):
        order = load_model(path, _Order01)
        studies.append(SavedStudy.model_validate(order.model_dump()))
    for path in (directory / name for name in _CHECK_FILES_0_1):
        if os.path.lexists(path):
            studies.append(_study_of(load_model(path, _Check01)))
            break
    return studies


def _study_of(check: _Check01) -> SavedStudy:
    cells = tuple(
        Cell(
            step=preset,
            preset=preset,
            options=check.overrides,
            target=check.target,
            data_pool=check.data_pool,
            nodes=check.nodes,
            batch=batch,
        )
        for preset, batch in zip(check.presets, check.before, strict=False)
    )
    goal = check.model_dump(mode="json", include=set(CheckGoal.model_fields) - {"schema_version"})
    return SavedStudy(at=check.at, kind=CHECK, drop_caches=check.drop_caches, cells=cells, goal=goal)
