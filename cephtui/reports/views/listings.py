"""What cephtui has: kinds of findings, paths; and what it has found in logs, or left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from cephtui import units
from cephtui.models.findings import TOPICS
from cephtui.models.rows import FindingKindRow, ImportedPart, Info
from cephtui.printable import one_line
from cephtui.reports.blocks import Block, Cell, Column, Facts, Table, Text, View, columns, document, joined_words, words
from cephtui.reports.sheets import sheet_of
from cephtui.reports.words.facts import ranges
from cephtui.reports.words.quality import LEVELS, limited_figures
from cephtui.targets.leftovers import connection_settings, describe
from cephtui.tools import TOOLS

if TYPE_CHECKING:
    from cephtui.models import Node
    from cephtui.sessions.undo import Undo

_LEFT_MOST = 200
"""Leftovers that are listed; a line counts the others."""
_FILE_MOST, _PATH_MOST = 30, 1000
"""Characters of a file's name where there is little room: its end says most."""

# ---------------------------------------------------------------------------------------------- findings and paths


def kinds_view(rows: Sequence[FindingKindRow], *, in_full: bool = False) -> View:
    """Kinds of findings by topic: the code, what it does to the figures, and what helps; or one of them ``in_full``."""
    return View(
        document=lambda: document("", *(_kind(rows[0]) if in_full else _kinds(rows))),
        lines=lambda: rows,
        sheet=lambda: sheet_of(FindingKindRow, rows, "findings"),
    )


def _kinds(rows: Sequence[FindingKindRow]) -> Iterator[Block]:
    cells: list[tuple[Cell, ...]] = []
    for topic, kinds in groupby(rows, key=lambda row: row.topic):
        cells.append((words((TOPICS.get(topic, topic), "dim")), "", "", ""))
        cells += [(row.code, LEVELS[row.level], limited_figures(row.level, row.figures), row.cure) for row in kinds]
    heads = (*columns(("finding", "the run is"), "ll", is_whole=True), *columns(("figures", "what helps"), "ll"))
    yield Table(heads, tuple(cells))
    yield Text("")
    yield Text("cephtui explain CODE shows one in full", "dim")


def _kind(row: FindingKindRow) -> Iterator[Block]:
    """What was observed, what it means, why it matters, what helps, and where that is written."""
    figures = limited_figures(row.level, row.figures)
    yield Text(f"{row.code}: {row.title}", "strong")
    yield Facts(
        (
            *(("" if number else "observed", text) for number, text in enumerate(row.observed)),
            ("the run is", f"{LEVELS[row.level]}{f' ({figures})' if figures else ''}"),
            ("why it matters", row.why),
            ("what helps", row.cure),
            *([("see", row.source)] if row.source else []),
        )
    )


def info_view(info: Info) -> View:
    """Versions and paths."""
    facts = (
        ("cephtui", info.cephtui_version),
        ("python", info.python_version),
        *((name, info.tools.get(name, f"not installed: {tool.how_to_install}")) for name, tool in TOOLS.items()),
        *(("presets", path) for path in info.presets),
        *((name, str(getattr(info, name))) for name in ("sessions", "config", "cache", "log")),
    )
    return View(
        document=lambda: document("", Facts(facts)),
        lines=lambda: [info],
        sheet=lambda: sheet_of(Info, [info], "cephtui"),
    )


# ---------------------------------------------------------------------------------------------- leftovers


def leftovers_blocks(leftovers: Sequence[tuple[Path, Undo]], nodes: Mapping[str, Node]) -> Iterator[Block]:
    """Leftovers, the sessions that left them, and how their nodes would be reached."""
    rows = [(one_line(undo.node), one_line(undo.target), path.name) for path, undo in leftovers[:_LEFT_MOST]]
    yield Table(columns(("node", "left behind", "by session"), "lll"), tuple(rows))
    if len(leftovers) > _LEFT_MOST:
        yield Text(f"and {len(leftovers) - _LEFT_MOST} more")
    yield Text("")
    reached: list[tuple[Cell, ...]] = []
    for way in list(dict.fromkeys(connection_settings(undo, nodes) for _, undo in leftovers))[:_LEFT_MOST]:
        if way.is_own and way.configured:
            reached.append((one_line(way.listed.name), describe(way.configured), ""))
        else:
            how = way.unusable or describe(way.listed)
            reached.append((one_line(way.listed.name), how, "only in its undo list: needs consent"))
    yield Table(columns(("node", "reached", ""), "lll"), tuple(dict.fromkeys(reached)))


# ---------------------------------------------------------------------------------------------- what was imported


def parts_blocks(parts: Sequence[ImportedPart], left_out: Sequence[str]) -> Iterator[Block]:
    """A row for each part; what it stands under, or why there are no runs, is behind it or below it.

    ``left_out`` is what was not looked at, as texts.
    """
    if parts:
        yield _parts(parts, _PATH_MOST, (_parts(parts, _FILE_MOST),))
    if left_out:
        yield Text(f"not listed: {', '.join(left_out)}", "dim")
    yield Text("")


def _parts(parts: Sequence[ImportedPart], file_most: int, narrower: tuple[Block, ...] = ()) -> Table:
    rows: list[tuple[Cell, ...]] = []
    notes: list[Cell] = []
    before = ""
    for part in parts:
        name = part.path if len(part.path) <= file_most else f"..{part.path[2 - file_most :]}"
        name = "" if part.path == before else name
        before = part.path
        runs = f"#{ranges(part.runs)}" if part.runs else words(("none", "limited"))
        rows.append((name, _lines(part), part.what or units.DASH, runs))
        notes.append(joined_words((words((part.heading or "", "dim")), words((part.problem or "", "limited"))), "  "))
    heads = (
        Column("file", is_whole=True),
        Column("lines", "r"),
        *(Column(t, is_whole=True) for t in ("content", "runs")),
    )
    return Table(heads, tuple(rows), notes=tuple(notes), note_indent=2, narrower=narrower)


def _lines(part: ImportedPart) -> str:
    if part.line is None:
        return units.DASH
    return f"{part.line}" if part.last_line in (None, part.line) else f"{part.line}-{part.last_line}"
