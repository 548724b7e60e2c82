"""Commands of the user that change something between two measurements, and whether they were undone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime

from cephtui.models import Model, Name
from cephtui.sessions.store import is_locked, readable_lines

CHANGES_FILE = "changes.jsonl"


class Ran(Model):
    """A command of the user, written down before it runs and again when it has ended.

    It is shown, and never run from here unless the user asks for that by the session's name.
    """

    at: AwareDatetime
    kind: Literal["change", "undo"]
    command: str
    undo: str | None = None
    """What takes the change back; null where nothing was given."""
    status: int | None = None
    """The exit status; null before its end."""
    output: Name = ""
    """Both streams, the end of what is long."""


def not_undone(directory: Path) -> str | None:
    """The command that would take back what a session has changed; None where nothing is left of it, or none known."""
    newest: Ran | None = None
    for ran in readable_lines(directory / CHANGES_FILE, Ran):
        if ran.kind == "change" or ran.status == 0:
            newest = ran
    return newest.undo if newest is not None and newest.kind == "change" else None


def is_made(directory: Path) -> bool:
    """Whether the newest command of a session that has ended well made a change."""
    ended = [ran for ran in readable_lines(directory / CHANGES_FILE, Ran) if ran.status == 0]
    return bool(ended) and ended[-1].kind == "change"


def left_changed(root: Path) -> list[tuple[Path, str]]:
    """Sessions that no process writes any more whose change was not undone, and the command that does it."""
    found = []
    for path in sorted(root.glob(f"*/{CHANGES_FILE}")):
        if not is_locked(path.parent) and (undo := not_undone(path.parent)):
            found.append((path.parent, undo))
    return found
