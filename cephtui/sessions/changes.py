"""Commands of the user that change something between two measurements, and whether they were undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import dropwhile
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from cephtui.models import Mark, Model, Name, Run
from cephtui.models.study import CheckGoal, SavedStudy
from cephtui.sessions.store import is_locked, readable_lines

CHANGES_FILE = "changes.jsonl"
State: TypeAlias = Literal["made", "not made", "unknown"]
"""Of a change: ``unknown`` is one whose command was begun, and of whose end nothing is noted."""


class Ran(Model):
    """A command of the user, written down before it runs and again when it has ended.

    It is shown, and never run from here unless the user asks for that by the session's name.
    """

    at: AwareDatetime
    kind: Literal["change", "undo"]
    command: str
    undo: str | None = None
    """What takes the change back; null where nothing was given."""
    study: Name = Field(default="", exclude_if=lambda study: not study)
    """The check that it is of; empty, and left out, in a session of cephtui 0.1."""
    status: int | None = None
    """The exit status; null before its end."""
    output: Name = ""
    """Both streams, the end of what is long."""


def remedy_of(session: str) -> str:
    """The command that takes back what a check has changed in this session."""
    return f"cephtui cleanup --undo {session}"


def left_text(session: str, undo: str) -> str:
    """What is said of a session whose change was not undone, with the command that undoes it."""
    return f"session {session}: its change was not undone: {remedy_of(session)} runs: {undo}"


def not_undone(directory: Path) -> str | None:
    """The command that would take back what a session has changed; None where nothing is left of it, or none known."""
    return _undo_of(newest(directory))


def newest(directory: Path) -> Ran | None:
    """The last change, whether it has ended or not, or the last undo that has ended well, whichever was later."""
    return _newest(_commands(directory))


def commands_of(directory: Path, study: SavedStudy) -> list[Ran]:
    """The commands of a check, each as it was noted before it ran, and again at its end."""
    own = [ran for ran in _commands(directory) if ran.study in ("", study.id)]
    return [*dropwhile(lambda ran: ran.study != study.id and ran.at < study.at, own)]


def state_of(check: CheckGoal, runs: Sequence[Run], marks: Sequence[Mark], commands: Sequence[Ran]) -> State:
    """Whether the change of a check is in place, by its runs and commands and the marks of its session.

    Without commands the user makes it: then it is, once something was measured after it, or was marked after what was
    measured before it.
    """
    if commands:
        last = commands[-1]
        if last.status is None:
            return "unknown" if last.kind == "change" else "made"
        return "made" if (last.kind == "change") == (last.status == 0) else "not made"
    if any(run.batch in check.after for run in runs):
        return "made"
    begun = [run.started_at for run in runs if run.batch in check.before]
    return "made" if begun and any(mark.at > max(begun) for mark in marks) and not check.is_commanded else "not made"


def left_changed(root: Path) -> list[tuple[Path, str]]:
    """Sessions that no process writes any more whose change was not undone, and the command that does it."""
    return [(each, undo) for each in _changing(root) if (undo := not_undone(each)) and not is_locked(each)]


def elsewhere(directory: Path, since: datetime) -> list[tuple[str, str, bool]]:
    """What other sessions have changed, as (session, command, whether its change is in place), those in place first.

    Of the others it is what they have run since a time: changes and what takes them back. While this session has a
    change in place, since that began to be made: theirs may have taken it back.
    """
    own = _commands(directory)
    last, begun = _newest(own), [ran.at for ran in own if ran.kind == "change" and ran.status is None]
    since = min([since, *begun[-1:]]) if last and last.kind == "change" else since
    found = list[tuple[str, str, bool]]()
    for other in _changing(directory.parent):
        if other != directory:
            ran = _commands(other)
            last = _newest(ran)
            in_place = [last.command] if last and _undo_of(last) else []
            commands = in_place or dict.fromkeys(each.command for each in ran if each.at >= since)
            found += [(other.name, command, bool(in_place)) for command in commands]
    return sorted(found, key=lambda each: not each[2])


def _changing(root: Path) -> list[Path]:
    """Sessions in which anything was ever changed."""
    return sorted(path.parent for path in root.glob(f"*/{CHANGES_FILE}"))


def _commands(directory: Path) -> list[Ran]:
    return list(readable_lines(directory / CHANGES_FILE, Ran))


def _undo_of(last: Ran | None) -> str | None:
    """Of the newest command of a session."""
    return last.undo if last and last.kind == "change" else None


def _newest(ran: Sequence[Ran]) -> Ran | None:
    return next((each for each in reversed(ran) if each.kind == "change" or each.status == 0), None)
