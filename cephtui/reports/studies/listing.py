"""The studies of a session in a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui.models.rows import StudyRow
from cephtui.reports.render.tables import add_row, make_table
from cephtui.reports.studies.base import resume_command
from cephtui.reports.words.cutting import joined, short_target
from cephtui.studies import KINDS


def draw_studies(rows: Sequence[StudyRow], session: str) -> RenderableType:
    """Each study of a session, then how the last of those that are not finished is resumed."""
    if not rows:
        return Text(f"session {session} has no studies: its runs were started one by one, or imported")
    columns = ("study", "began", "what", "how often", "on", "nodes", "runs", "missing")
    table = make_table(*columns, whole=("study", "missing"))
    for row in rows:
        add_row(table, *_cells(row))
    unfinished = [row for row in rows if not row.finished and not row.problem]
    problems = [Text(f"{row.study} can't be resumed here: {row.problem}", "yellow") for row in rows if row.problem]
    return Group(table, *problems, *map(_resume_line, unfinished[-1:]))


def _resume_line(row: StudyRow) -> Text:
    return Text(f"to resume {row.study}: {resume_command(row.kind, row.session, row.study)}", "dim")


def _cells(row: StudyRow) -> list[str]:
    began = row.at.astimezone().strftime("%Y-%m-%d %H:%M")
    targets = ", ".join(map(short_target, row.targets))
    nodes = joined(row.nodes, "nodes")
    return [row.study, began, what_text(row), kind_text(row), targets, nodes, str(row.runs), missing_text(row)]


def what_text(row: StudyRow) -> str:
    """The suite, or the presets."""
    return row.suite or ", ".join(row.presets)


def kind_text(row: StudyRow) -> str:
    """``until stable``; of runs that are known beforehand nothing."""
    return KINDS[row.kind].title if row.kind in KINDS and row.kind != "runs" else ""


def missing_text(row: StudyRow) -> str:
    """``2 of 6``, ``some``, ``none``: how many runs are missing."""
    if row.finished:
        return "none"
    if row.missing is None:
        return "some" if not row.problem else "unknown"
    return f"{row.missing} of {row.runs + row.missing}"


def standing_text(row: StudyRow) -> str:
    """``4 of 6 runs, until stable``: how far a study is, and how it is measured; or why it can't be resumed here."""
    if row.problem:
        return f"can't be resumed here: {row.problem}"
    made = f"{row.runs} run{'s' if row.runs != 1 else ''}, more needed"
    if row.missing is not None:
        made = f"{row.runs} of {row.runs + row.missing} runs"
    return ", ".join(filter(None, (made, kind_text(row))))
