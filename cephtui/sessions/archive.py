"""What a user does with saved sessions: note, tag, rename, delete.

Nothing here follows a link out of the directory of the sessions, and nothing is taken from a console that writes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from cephtui.models import SessionNotes
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.kept import DELETED, take_out
from cephtui.sessions.names import check_session_name, check_writable
from cephtui.sessions.store import NOTES_FILE, UNDO_FILE, StoreError, check_name, read_notes
from cephtui.sessions.undo import check_undone
from cephtui.sessions.writer import take_lock
from cephtui.writing import write_whole

__all__ = [
    "annotate",
    "check_deletable",
    "delete",
    "name_problem",
    "parse_tags",
    "read_notes",
    "rename",
    "size_bytes",
    "write_notes",
]

_OWN = ("session.json", "lock", "plans.jsonl", UNDO_FILE)
"""File names of which every session has one, however broken it is, and no other directory does."""


def parse_tags(text: str) -> tuple[str, ...]:
    """The tags in a text, between commas or spaces."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


# ---------------------------------------------------------------------------------------------- notes


def write_notes(directory: Path, notes: SessionNotes) -> None:
    """Replace a session's notes; allowed while a console writes the session. Raises StoreError."""
    _check_own(directory)
    path = directory / NOTES_FILE
    try:
        write_whole(path, as_json(notes, indent=1))
    except OSError as error:
        raise StoreError(f"can't write {path}: {error.strerror}: the notes were not changed") from None


def annotate(directory: Path, **changes: object) -> SessionNotes:
    """Change some of a session's notes (``note``, ``tags``, ``baseline``) and keep the others; raises StoreError."""
    try:
        notes = SessionNotes.model_validate({**read_notes(directory).model_dump(), **changes})
    except ValidationError as error:
        raise StoreError(f"notes of session {directory.name}: {error.errors()[0]['msg']}") from None
    write_notes(directory, notes)
    return notes


# ---------------------------------------------------------------------------------------------- names


def name_problem(root: Path, old: str, new: str) -> str | None:
    """Why a session can't get a new name; None where it can."""
    try:
        check_session_name(root, new)
    except StoreError as error:
        return str(error)
    if new != old and os.path.lexists(root / new):
        return f"session {new} exists already: choose another name"
    return None


def rename(root: Path, old: str, new: str) -> Path:
    """Give a session a new name, and return its directory; raises StoreError."""
    check_name(old)
    directory, target = root / old, root / new
    _check_own(directory)
    problem = name_problem(root, old, new)
    if problem:
        raise StoreError(problem)
    if new != old:
        with _locked(directory), _told(f"can't rename {directory} to {new}"):
            directory.rename(target)
    return target


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    """An OSError in the block is a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{what}: {error.strerror}") from None


# ---------------------------------------------------------------------------------------------- the end


def size_bytes(directory: Path) -> int:
    """The bytes in the files of a session; links are not followed."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


def check_deletable(directory: Path) -> None:
    """Raises StoreError where a session must be kept: a console writes it, or something that it made still exists."""
    _check_own(directory)
    with _locked(directory):
        check_undone(directory)


def delete(directory: Path) -> None:
    """Remove a session for good; raises StoreError.

    It leaves the listing first and in one step, so that no crash can leave half a session listed.
    """
    _check_own(directory)
    with _locked(directory), _told(f"can't delete {directory}"):
        check_undone(directory)
        deleted = take_out(directory)
    _remove(deleted, directory.name)
    for deleted_earlier in directory.parent.glob(f"{DELETED}*"):  # of a console that was killed here
        shutil.rmtree(deleted_earlier, ignore_errors=True)


def _remove(deleted: Path, name: str) -> None:
    shutil.rmtree(deleted, ignore_errors=True)
    if not deleted.exists():
        return
    try:
        shutil.rmtree(deleted)
    except OSError as error:
        reason = f"{error.strerror}: remove {deleted} by hand"
        raise StoreError(f"session {name} is deleted, but not all of its files could be removed: {reason}") from None


# ---------------------------------------------------------------------------------------------- whose it is


def _check_own(directory: Path) -> None:
    """Raises StoreError for a directory that is no session, lies elsewhere, or is read-only."""
    check_writable(directory)
    check_name(directory.name)
    if directory.is_symlink():
        raise StoreError(f"{directory} is a link: change the session where it is")
    if not directory.is_dir():
        raise StoreError(f"no session {directory.name!r}: cephtui sessions lists them")
    if not any(os.path.lexists(directory / name) for name in _OWN):
        raise StoreError(f"{directory} is not a cephtui session: change or remove it by hand")


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """A session that no other process writes in the block; raises StoreError."""
    try:
        lock = take_lock(directory)
    except OSError as error:
        raise StoreError(f"{directory}: {error.strerror}") from None
    if lock is None:
        raise StoreError(f"session {directory.name} is being written by a console: quit that console first")
    with lock:
        yield
