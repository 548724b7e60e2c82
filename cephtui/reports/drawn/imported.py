"""What was found in files that were to be imported, and what was not, in one table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.models.rows import ImportedPart
from cephtui.reports.render.tables import Fitting, Noted, add_row, make_table, plain
from cephtui.reports.words.facts import ranges

_FILE_MOST, _PATH_MOST = 30, 1000
"""Characters of a file's name where there is little room: its end says most."""


def draw_parts(parts: Sequence[ImportedPart], left_out: Sequence[str]) -> RenderableType:
    """A row for each part; what it stands under, or why there are no runs, is behind it or below it.

    ``left_out`` is what was not looked at, as texts.
    """
    tables = [_table(parts, file_most=most) for most in (_PATH_MOST, _FILE_MOST)]
    last = [plain(f"without a row: {', '.join(left_out)}", "dim")] * bool(left_out)
    return Group(*[Fitting(*tables)] * bool(parts), *last, "")


def _table(parts: Sequence[ImportedPart], *, file_most: int) -> Noted:
    columns = ("file", "lines", "content", "runs")
    table = make_table(*columns, right=("lines",), whole=columns)
    before = ""
    for part in parts:
        name = "" if part.path == before else _end_of(part.path, file_most)
        before = part.path
        runs = f"#{ranges(part.runs)}" if part.runs else "none"
        add_row(table, name, _lines(part), part.what or units.DASH, plain(runs, "" if part.runs else "yellow"))
    return Noted(table, [_note(part) for part in parts], indent=2)


def _end_of(path: str, most: int) -> str:
    return path if len(path) <= most else f"..{path[2 - most :]}"


def _lines(part: ImportedPart) -> str:
    if part.line is None:
        return units.DASH
    return f"{part.line}" if part.last_line in (None, part.line) else f"{part.line}-{part.last_line}"


def _note(part: ImportedPart) -> Text:
    heading, problem = plain(part.heading or "", "dim"), plain(part.problem or "", "yellow")
    return Text("  ").join(text for text in (heading, problem) if text)
