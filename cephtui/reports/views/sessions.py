"""The saved sessions: one line each, and what the user has noted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cephtui.models.session_row import SessionRow
from cephtui.reports.blocks import Block, Column, Document, Items, Table, Text, View, words
from cephtui.reports.sheets import sheet_of
from cephtui.reports.words.cutting import joined
from cephtui.reports.words.session_words import best, date_beside_name, is_empty, outcome_counts, target, whose
from cephtui.sessions.names import NO_SESSIONS

_SPARED = ("target", "created", "runs", "presets", "best bandwidth", "cluster")
"""Columns that are left out where there is no room, the last one first."""
_PRESETS_ENOUGH = 30
"""What many presets need, which are wrapped."""
_TARGET_MOST = 28


def sessions_view(listed: Callable[[], Sequence[SessionRow]], saved: Callable[[], Sequence[SessionRow]]) -> View:
    """Sessions, the oldest first: those ``listed`` for people, the user's ``saved`` ones for programs."""
    return View(
        document=lambda: Document("sessions", "", tuple(sessions_blocks(listed()))),
        lines=saved,
        sheet=lambda: sheet_of(SessionRow, saved(), "sessions"),
    )


def sessions_blocks(rows: Sequence[SessionRow]) -> Iterator[Block]:
    """A table, what was noted, and what to do where none is the user's."""
    if all(whose(row) for row in rows):
        yield Text(NO_SESSIONS)
    if not rows:
        return
    yield _table(rows)
    remarks = [words(f"{row.session}: {text}", style="dim") for row in rows if (text := _remarks(row))]
    errors = [words(f"{row.session}: {row.error}", style="bad") for row in rows if row.error]
    if remarks or errors:
        yield Items((*remarks, *errors))


def _table(rows: Sequence[SessionRow]) -> Table:
    """A row for each session, in grey where nothing was measured."""
    cells = (tuple(words(text, style="dim" if is_empty(row) else "") for text in _cells(row).values()) for row in rows)
    return Table(tuple(map(_column, _cells(rows[0]))), tuple(cells)).filled


def _column(name: str) -> Column:
    rank = _SPARED.index(name) + 1 if name in _SPARED else 0
    is_wrapped = name == "presets"
    return Column(
        name,
        "r" if name == "runs" else "l",
        is_whole=not is_wrapped,
        rank=rank,
        enough=_PRESETS_ENOUGH if is_wrapped else 0,
    )


def _cells(row: SessionRow) -> dict[str, str]:
    where, outcomes = target(row), joined(outcome_counts(row), "outcomes")
    return {
        "session": row.session,
        "created": date_beside_name(row) if row.created_at else "broken",
        "target": where if len(where) <= _TARGET_MOST else f"{where[: _TARGET_MOST - 1]}…",
        **best(row),
        "cluster": row.cluster or "",
        "runs": str(row.runs),
        "presets": joined(row.presets, "presets"),
        "outcomes": outcomes + (" (being written)" if row.writing else " (imported)" if row.imported else ""),
    }


def _remarks(row: SessionRow) -> str:
    """Whose it is, tags, baseline and note."""
    baseline = "" if row.baseline is None else f"baseline #{row.baseline}"
    tags = f"tags {joined(row.tags, 'tags')}" if row.tags else ""
    return "; ".join(part for part in (whose(row), tags, baseline, row.note) if part)
