"""The listing of sessions."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from cephtui import paths
from cephtui.models.session_row import SessionRow
from cephtui.reading import load_json, read_bytes
from cephtui.sessions import demo
from cephtui.sessions.kept import holds_nothing
from cephtui.sessions.row_file import kept_figures, row_text, session_figures, stamps_of
from cephtui.sessions.store import NOTES_FILE, ROW_FILE, StoreError, by_last, is_locked, read_notes


def list_sessions(root: Path) -> list[SessionRow]:
    """All sessions, the one that was measured last at the end; a broken one is listed with what is wrong.

    Raises StoreError where the directory of the sessions itself can't be read.
    """
    if not root.is_dir():
        return []
    try:
        directories = [path for path in root.iterdir() if path.name[0] != "." and path.is_dir()]
    except OSError as error:
        raise StoreError(f"{root}: {error.strerror}") from None
    rows = [row for directory in directories if (row := session_row(directory))]
    return sorted(rows, key=lambda row: by_last(row.last_at, row.session))


def list_with_demo(root: Path) -> list[SessionRow]:
    """All sessions, and the demo after them unless a session of the user has its name.

    Beside the unpacked demo there are no others: a screen that was opened on it lists the user's.
    """
    rows = list_sessions(paths.sessions_dir() if demo.is_packaged(root / demo.SESSION) else root)
    return rows if any(row.session == demo.SESSION for row in rows) else [*rows, demo_row()]


def demo_row() -> SessionRow:
    """The demo's line of the listing, whether it is unpacked or not."""
    return SessionRow.model_validate({**load_json(read_bytes(demo.ROW)), "path": str(demo.directory())})


def run_numbers(directory: Path) -> list[int]:
    """The numbers of a session's runs, also of a demo that is not unpacked; raises OSError."""
    if demo.is_packaged(directory):
        return list(range(1, demo_row().runs + 1))
    return sorted(int(path.name) for path in directory.iterdir() if path.name.isdecimal())


def session_row(directory: Path) -> SessionRow | None:
    """A session's line of the listing; None where it holds nothing, as after a KILL, or has just been removed."""
    base = SessionRow(session=directory.name, path=str(directory))
    try:
        names = {path.name for path in directory.iterdir()}
    except FileNotFoundError:
        return None
    except OSError as error:
        return base.model_copy(update={"error": f"{directory}: {error.strerror}"})
    writing = is_locked(directory)
    has_row = not writing and ROW_FILE in names
    if names <= {"lock"} or (not writing and not has_row and holds_nothing(directory)):
        return None
    figures = (
        kept_figures(directory, names) or _renew_figures(directory, names) if has_row else session_figures(directory)
    )
    return base.model_copy(update=_with_notes(directory, names, {**figures, "writing": writing}))


def _renew_figures(directory: Path, names: set[str]) -> dict[str, Any]:
    """The figures where row.json is of other files or of an earlier cephtui; row.json is made again."""
    stamps = stamps_of(directory, names)
    figures = session_figures(directory)
    if text := row_text(figures, stamps):
        from cephtui.writing import write_whole

        with contextlib.suppress(OSError):
            write_whole(directory / ROW_FILE, text)
    return figures


def _with_notes(directory: Path, names: set[str], figures: dict[str, Any]) -> dict[str, Any]:
    """The figures of a row, and the columns that the user edits."""
    if NOTES_FILE not in names:
        return figures
    try:
        notes = read_notes(directory)
    except StoreError as error:
        return {**figures, "error": "; ".join(filter(None, [figures.get("error"), str(error)]))}
    return {**figures, "note": notes.note, "tags": notes.tags, "baseline": notes.baseline}
