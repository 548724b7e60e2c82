"""The studies of a session as far as they are measured: what is missing, without connecting to any node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cephtui.frozen import dataclass
from cephtui.models import Node, Run
from cephtui.models.rows import StudyRow
from cephtui.models.study import Cell, SavedStudy
from cephtui.presets import Catalogue, PresetError
from cephtui.sessions import store
from cephtui.sessions.store import StoreError, first_problem
from cephtui.sessions.studies import read_studies
from cephtui.studies.base import Study, good
from cephtui.studies.making import study_of
from cephtui.targets import Target, TargetError, parse_target
from cephtui.tools.base import OptionError


@dataclass(frozen=True, slots=True)
class StudyState:
    """A study of a session, and where it stands."""

    saved: SavedStudy
    study: Study[Any] | None
    """None where it can't be resumed here, as without its presets."""
    problem: str
    """Why; else empty."""
    runs: tuple[Run, ...]
    """All of it."""

    @property
    def batches(self) -> frozenset[str]:
        """Of its runs."""
        return self.study.batches if self.study else frozenset(self.saved.titles)

    @property
    def good(self) -> tuple[Run, ...]:
        """Those that need not be made again."""
        return good(self.runs)

    @property
    def is_finished(self) -> bool:
        """Whether nothing of it is missing."""
        return self.study is not None and self.study.next(self.good) is None


def unfinished_in(directory: Path, catalogue: Catalogue) -> list[StudyState]:
    """The studies of a session of which something is missing that can be resumed; raises StoreError."""
    states = study_states(directory, catalogue)
    return [state for state in states if not state.is_finished and not (state.study and state.study.is_one_run)]


def study_states(directory: Path, catalogue: Catalogue) -> list[StudyState]:
    """The studies of a session in their order; raises StoreError."""
    runs, _ = store.read_runs(directory)
    return [_state(directory, saved, catalogue, runs) for saved in read_studies(directory)]


def _state(directory: Path, saved: SavedStudy, catalogue: Catalogue, runs: Sequence[Run]) -> StudyState:
    try:
        if not saved.cells:
            raise ValueError("it has no steps")
        nodes = {name: Node(name=name) for name in saved.nodes}
        study = study_of(directory, saved, catalogue, nodes, _target_of)
        study.next(())
    except (PresetError, OptionError, TargetError, StoreError, ValueError, LookupError) as error:
        own = [run for run in runs if run.batch in {cell.batch for cell in saved.cells}]
        problem = f"its goal: {first_problem(error)}" if isinstance(error, ValidationError) else str(error)
        return StudyState(saved, None, problem, tuple(own))
    return StudyState(saved, study, "", tuple(study.own(runs)))


def _target_of(cell: Cell) -> Target:
    return parse_target(cell.target, owner_id="", data_pool=cell.data_pool)


def row_of(session: str, state: StudyState) -> StudyRow:
    """A study as a line of a listing."""
    saved, is_finished = state.saved, state.is_finished
    missing = 0 if is_finished else state.study.missing(state.good) if state.study else None
    return StudyRow(
        session=session,
        study=saved.id,
        at=saved.at,
        kind=saved.kind,
        suite=saved.suite,
        presets=saved.presets,
        targets=saved.targets,
        nodes=saved.nodes,
        runs=len(state.good),
        missing=missing,
        finished=is_finished,
        problem=state.problem,
    )
