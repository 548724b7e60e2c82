"""The saved sessions: found, opened, named, noted, tagged and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.coordinate import Coordinate
from textual.events import Click, Resize, ScreenResume
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static

from cephtui import archive, store, units
from cephtui.models import SessionRow
from cephtui.report import OUTCOME_STYLES
from cephtui.store import StoreError
from cephtui.tui.dialogs import Confirm, EnterText

_PADDING = 2
"""Blank columns that the table puts around a cell."""
_WIDE = 100
"""From this width on there is room for the time of day."""
_NOTE_WIDTH = 24
"""What a note needs before columns that can be missed get room."""
_MOST = {"session": 32, "outcomes": 26, "cluster": 16, "tags": 20, "nodes": 24}
"""Widest that a column gets; all of it is told below the table."""
_MISSED = ("cluster", "tags", "nodes")
"""Columns that are left out where there is no room, the last first."""
_ORDER = ("session", "date", "cluster", "nodes", "runs", "outcomes", "tags", "note")
_EMPTY = (
    "no sessions yet\n\n"
    "whatever you run is saved by itself: go back (esc), press 1 to 6 to run a preset,\n"
    "and its session appears here"
)


# ---------------------------------------------------------------------------------------------- words


def date(row: SessionRow, *, time: bool = True) -> str:
    """When a session began, by the clock here."""
    if row.created_at is None:
        return units.DASH
    return f"{row.created_at.astimezone():{'%Y-%m-%d %H:%M' if time else '%Y-%m-%d'}}"


def state(row: SessionRow) -> str:
    """How the runs ended, and whether there is more to come."""
    words = ["writing"] if row.writing else []
    words += ["broken"] if row.error else []
    return ", ".join([*words, *(f"{number} {outcome}" for outcome, number in row.outcomes.items())])


def remark(row: SessionRow) -> str:
    """What is wrong with a session, its baseline, and what the user has noted."""
    baseline = f"baseline #{row.baseline}" if row.baseline is not None else ""
    return "; ".join(filter(None, [row.error, baseline, row.note]))


def _style(row: SessionRow) -> str:
    worst = next((word for word in ("failed", "lost", "refused", "stopped") if word in row.outcomes), "ok")
    return OUTCOME_STYLES["failed" if row.error else worst]


def matches(row: SessionRow, words: Sequence[str]) -> bool:
    """Whether each word occurs in something that is told of a session; capitals don't count."""
    told = [row.session, date(row), state(row), remark(row), row.cluster, *row.presets, *row.tags, *row.nodes]
    text = "\n".join(filter(None, told)).lower()
    return all(word in text for word in words)


def texts(row: SessionRow, *, time: bool) -> dict[str, str]:
    """A session's cells by the name of the column."""
    return {
        "session": row.session,
        "date": date(row, time=time),
        "cluster": row.cluster or "",
        "nodes": ", ".join(row.nodes),
        "runs": str(row.runs),
        "outcomes": state(row),
        "tags": ", ".join(row.tags),
        "note": remark(row),
    }


def fitted(cells: Iterable[Mapping[str, str]], width: int) -> dict[str, int]:
    """The columns for which there is room, and how wide they are; the last takes what is left."""
    natural = {name: cell_len(name) for name in _ORDER}
    filled = {"session", "date", "runs", "outcomes", "note"}
    for row in cells:
        for name, text in row.items():
            natural[name] = max(natural[name], cell_len(text))
            filled |= {name} if text else set()
    widths = {name: min(natural[name], _most(name, width)) for name in _ORDER if name in filled}
    for name in reversed(_MISSED):
        if _left(widths, width) < min(_NOTE_WIDTH, natural["note"]):
            widths.pop(name, None)
    widths["note"] = max(_left(widths, width), cell_len("note"))
    return widths


def _most(name: str, width: int) -> int:
    most = _MOST.get(name, width)
    return most if width >= _WIDE else min(most, width // 4)


def _left(widths: Mapping[str, int], width: int) -> int:
    others = sum(size + _PADDING for name, size in widths.items() if name != "note")
    return width - others - _PADDING


def about(row: SessionRow) -> Text:
    """All that is known of a session, for where the table has no room."""
    where = [date(row), row.cluster, f"nodes {', '.join(row.nodes)}" if row.nodes else None]
    text = Text.assemble((row.session, "bold"), "  ", ", ".join(filter(None, where)))
    text.append(f"\n{row.runs} {'run' if row.runs == 1 else 'runs'}: {', '.join(row.presets)}" if row.runs else "\nno runs")
    text.append(f" ({state(row)})" if state(row) else "")
    text.append(f"\ntags {', '.join(row.tags)}" if row.tags else "")
    text.append(f"\nbaseline #{row.baseline}" if row.baseline is not None else "")
    text.append(f"\n{row.note}" if row.note else "")
    text.append(f"\n{row.error}" if row.error else "", OUTCOME_STYLES["failed"])
    return text
