"""Changes of a saved session, each asked for with a dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.screen import ModalScreen

from cephtui import units
from cephtui.models.rows import SessionRow
from cephtui.sessions import archive
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.widgets.sessions_table import run_count

Show = Callable[[ModalScreen[Any]], Awaitable[Any]]
"""Puts a dialog on the screen and gives its result."""
Change = Callable[[SessionRow, Show], Awaitable[str | None]]
"""Gives the session's name after the change, None where it was deleted; raises StoreError."""


async def rename(row: SessionRow, show: Show) -> str | None:
    """Ask for a new name."""
    root = Path(row.path).parent

    def problem(text: str) -> str | None:
        return archive.name_problem(root, row.session, text)

    name: str | None = await show(EnterText(f"new name of session {row.session}", row.session, problem))
    if name is None:
        return row.session
    await asyncio.to_thread(archive.rename, root, row.session, name)
    return name


async def annotate(row: SessionRow, show: Show) -> str | None:
    """Ask for the note."""
    old = archive.read_notes(Path(row.path)).note
    text = await show(EnterText(f"note about session {row.session}", old))
    if text is not None:
        await asyncio.to_thread(archive.annotate, Path(row.path), note=text)
    return row.session


async def tag(row: SessionRow, show: Show) -> str | None:
    """Ask for the tags."""
    old = " ".join(archive.read_notes(Path(row.path)).tags)
    text = await show(EnterText(f"tags of session {row.session}", old, hint="words between spaces"))
    if text is not None:
        await asyncio.to_thread(archive.annotate, Path(row.path), tags=archive.parse_tags(text))
    return row.session


async def delete(row: SessionRow, show: Show) -> str | None:
    """Ask whether it is to be deleted for good."""
    directory = Path(row.path)
    await asyncio.to_thread(archive.check_deletable, directory)
    size = units.size(await asyncio.to_thread(archive.size_bytes, directory))
    question = f"Delete session {row.session} ({run_count(row)}, {size})? It can't be brought back."
    if not await show(Confirm(question, "delete", "keep")):
        return row.session
    await asyncio.to_thread(archive.delete, directory)
    return None


CHANGES: dict[str, Change] = {"rename": rename, "note": annotate, "tags": tag, "delete": delete}
"""By the word of their action."""
