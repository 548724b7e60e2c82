"""What the words of each kind of study are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from cephtui.analysis.runs.facts import why_invalid
from cephtui.models import Model, Plan, Run
from cephtui.models.rows import ConcludedRow
from cephtui.models.study import CHECK
from cephtui.reports.blocks import Text, View, document, plain_text
from cephtui.reports.sheets import sheet_of
from cephtui.studies import KINDS
from cephtui.studies.base import Measure, Study, StudyResult

S = TypeVar("S", bound=Study[Any])
C = TypeVar("C", bound=StudyResult)


class StudyView(Generic[S, C]):
    """The words of a kind of study; what a kind does not say is empty."""

    names_session = True
    """Whether it is said where the runs are saved."""
    plans_are_sketch = True
    """Whether the plans of its drafts show what is run, and ``planned`` how often and how long."""

    concludes_by_run = False
    """Whether the newest run has brought what is concluded: a terminal does not have it again."""

    def planned(self, study: S, plans: Sequence[Plan]) -> list[str]:
        """Beside the plans of its drafts: how many runs there may be, and how long they take."""
        return [f"{KINDS[study.kind].title}: {study.extent(plans).text}; {self.detail(study)}"]

    def detail(self, study: S) -> str:
        """What is asked for, and how it is looked for."""
        return ""

    def begins(self, study: S, step: Measure, plan: Plan, runs: Sequence[Run]) -> str:
        """As a plan begins, with the runs before it."""
        return ""

    def brought(self, study: S, runs: Sequence[Run]) -> list[str]:
        """What is known after the newest of these runs."""
        return []

    def measured(self, study: S, runs: Sequence[Run]) -> list[View]:
        """The runs that were made now, for people."""
        return []

    def concluded(self, study: S, conclusion: C) -> list[View]:
        """What all runs of it show."""
        return []

    def sentences(self, study: S, conclusion: C) -> list[str]:
        """The same in words, a line each, without its tables."""
        if self.concludes_by_run:
            return []
        blocks = [block for view in self.concluded(study, conclusion) for block in view.document().lead]
        return [plain_text(block.text) for block in blocks if isinstance(block, Text)]


def concluded_view(rows: Sequence[ConcludedRow], names: Sequence[str]) -> View:
    """What is concluded of each preset, in a sentence behind its name."""
    texts = [f"{name}{row.text}" for name, row in zip(names, rows, strict=True)]
    return View(
        document=lambda: document("result", *(Text(text, "strong") for text in texts)),
        lines=lambda: rows,
        sheet=lambda: sheet_of(ConcludedRow, rows, "result"),
    )


def rows_view(model: type[Model], rows: Sequence[Model]) -> View:
    """What people have been told already, for programs."""
    return View(lambda: document(""), lambda: rows, lambda: sheet_of(model, rows, "result"))


def name_of(study: Study[Any], batch: str) -> str:
    """``write-iops on rbd:ssd: ``: what is said before a line about a batch of a study; empty for its only one."""
    cells = study.saved.cells
    cell = next((cell for cell in cells if batch.startswith(cell.batch)), None)
    if cell is None:
        return ""
    parts = [cell.preset] if len({cell.preset for cell in cells}) > 1 else []
    if len({cell.target for cell in cells}) > 1:
        parts.append(cell.target)
    return f"{' on '.join(parts)}: " if parts else ""


def uncounted_line(study: Study[Any], run: Run) -> str:
    """Why a run of a study whose runs have to count does not; empty where it does."""
    why = why_invalid(run)
    return f"{name_of(study, run.batch)}#{run.run} is not counted and will be measured again: {why}" if why else ""


def missing_text(study: Study[Any], runs: Sequence[Run]) -> str:
    """``8 runs are missing``: what is to be measured of a study after all its runs; empty where nothing is."""
    good = study.good(runs)
    if study.is_one_run or study.next(good) is None:
        return ""
    number = study.missing(good)
    if number is None:
        return "more runs are needed"
    return f"{number} run{'s are' if number > 1 else ' is'} missing"


def resume_command(kind: str, session: str, study: str) -> str:
    """What measures the rest of a study of this kind."""
    verb = "check --continue" if kind == CHECK else "run --resume"
    return f"cephtui {verb} {session} {study}"
