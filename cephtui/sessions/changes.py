"""Commands of the user that change something between two measurements, and whether they were undone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime

from cephtui.frozen import dataclass
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


@dataclass(frozen=True, slots=True)
class Changed:
    """A change that is in place: by a check that runs, or left there by one that was killed."""

    directory: Path
    """The session of the check."""
    command: str
    undo: str
    """What takes it back."""
    is_left: bool
    """Whether no process of the check is there that will take it back."""

    @property
    def remedy(self) -> str:
        """The command that takes it back."""
        return f"cephtui cleanup --undo {self.directory.name}"


def not_undone(directory: Path) -> str | None:
    """The command that would take back what a session has changed; None where nothing is left of it, or none known."""
    ran = newest(directory)
    return ran.undo if ran and ran.kind == "change" else None


def newest(directory: Path) -> Ran | None:
    """The last change, whether it has ended or not, or the last undo that has ended well, whichever was later."""
    ran = [ran for ran in readable_lines(directory / CHANGES_FILE, Ran) if ran.kind == "change" or ran.status == 0]
    return ran[-1] if ran else None


def is_made(directory: Path) -> bool:
    """Whether the newest command of a session that has ended well made a change."""
    ended = [ran for ran in readable_lines(directory / CHANGES_FILE, Ran) if ran.status == 0]
    return bool(ended) and ended[-1].kind == "change"


def in_place(root: Path) -> Iterator[Changed]:
    """The changes of all sessions that can be taken back and were not yet."""
    for path in sorted(root.glob(f"*/{CHANGES_FILE}")):
        ran = newest(path.parent)
        if ran and ran.kind == "change" and ran.undo:
            yield Changed(path.parent, ran.command, ran.undo, not is_locked(path.parent))


def meanwhile(directory: Path, since: datetime) -> Iterator[tuple[str, str]]:
    """What other sessions have run since a time, as (session, command): changes and what takes them back.

    While this session has a change in place, since that began to be made: theirs may have taken it back.
    """
    own, last = readable_lines(directory / CHANGES_FILE, Ran), newest(directory)
    begun = [ran.at for ran in own if ran.kind == "change" and ran.status is None]
    since = min([since, *begun[-1:]]) if last and last.kind == "change" else since
    for path in sorted(directory.parent.glob(f"*/{CHANGES_FILE}")):
        if path.parent != directory:
            ran = [each.command for each in readable_lines(path, Ran) if each.at >= since]
            yield from ((path.parent.name, command) for command in dict.fromkeys(ran))


def left_changed(root: Path) -> list[Changed]:
    """Those of sessions that no process writes any more."""
    return [changed for changed in in_place(root) if changed.is_left]
