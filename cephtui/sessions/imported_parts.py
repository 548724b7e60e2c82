"""What became of each part of a file that was to be imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from cephtui.models import Run
from cephtui.models.rows import ImportedPart
from cephtui.printable import one_line
from cephtui.sessions.log_files import LogFile
from cephtui.tools import TOOLS
from cephtui.tools.logs import FoundRun

_FORMS = (
    (re.compile(r"\{|\[\s*(?:\{|$)"), "JSON"),
    (re.compile(r"\d;[^;]*;"), "terse"),
    (re.compile(r"[^,]{0,200}(?:,(?! )[^,]{0,200}){4}"), "CSV"),
    (re.compile(r"\w+\{\w+=\"|# (?:HELP|TYPE) "), "metrics"),
)
"""Patterns for the first line of a run, and the format that each shows; the first that matches counts."""


def imported_parts(file: LogFile, runs: Sequence[Run]) -> list[ImportedPart]:
    """The parts of a file in its order: runs, where runs that follow each other and are alike are one part, and lines
    that are in no run. A file without either is one part.

    ``runs`` are those that were made of it, in its order.
    """
    lines = file.text.split("\n") if runs else []
    parts = [
        _part(file, lines, tool, logged, run) for (tool, logged), run in zip(file.runs, runs, strict=True)
    ] + [
        ImportedPart(
            path=str(file.path),
            line=unread.line,
            last_line=unread.last_line,
            heading=one_line(unread.heading) or None,
            what=unread.what,
            problem=one_line(unread.why),
            lost=unread.is_lost,
        )
        for unread in file.unread
    ]  # fmt: skip
    if not parts:
        return [ImportedPart(path=str(file.path), problem=file.problem, lost=not file.is_beside)]
    return list(_join_alike(sorted(parts, key=lambda part: part.line or 0)))


def _part(file: LogFile, lines: Sequence[str], tool: str, logged: FoundRun, run: Run) -> ImportedPart:
    nodes = f" of {len(file.by_node)} nodes" if len(file.by_node) > 1 else ""
    return ImportedPart(
        path=str(file.path),
        line=logged.line,
        last_line=logged.last_line,
        heading=run.heading,
        what=f"{TOOLS[tool].title} {_form(logged, lines[logged.line - 1])}{nodes}",
        runs=(run.run,),
        problem=_problem(run),
    )


def _form(logged: FoundRun, first_line: str) -> str:
    """The mode of the tool where it has several, else the format of the output."""
    mode = logged.options.get("mode")
    if mode is not None:
        return str(mode)
    text = first_line.lstrip(" \t>")
    return next((form for pattern, form in _FORMS if pattern.match(text)), "text")


def _problem(run: Run) -> str | None:
    if run.outcome == "failed":
        return run.error
    if run.outcome == "stopped":
        return next((finding.text for finding in run.findings if finding.code == "incomplete"), "ended early")
    return None


def _join_alike(parts: Sequence[ImportedPart]) -> Iterator[ImportedPart]:
    for (_, _, problem, has_runs), alike_parts in groupby(
        parts, lambda part: (part.what, part.heading, part.problem, bool(part.runs))
    ):
        group = list(alike_parts)
        if problem or not has_runs:
            yield from group
            continue
        runs = tuple(number for part in group for number in part.runs)
        yield group[0].model_copy(update={"last_line": group[-1].last_line, "runs": runs})
