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
"""The state of a change: ``unknown`` where its command was begun and no end is noted, or was cut short."""
_TIMED_OUT, _BY_SIGNAL = 124, 128
"""Exit statuses of a command that was cut short: of timeout(1), and from 128 on that of a signal."""


class Ran(Model):
    """A command of the user, written down before it runs and again when it has ended.

    It is shown, and never run from here unless the user asks for that by the session's name.
    """

    at: AwareDatetime
    kind: Literal["change", "undo"]
    command: str
    undo: str | None = None
    """The command that takes the change back; null where none was given."""
    study: Name = Field(default="", exclude_if=lambda study: not study)
    """The check that it is of; empty, and left out, in a session of cephtui 0.1."""
    status: int | None = None
    """The exit status; null before its end."""
    output: Name = ""
    """The output of both streams, cut to its end where it is long."""


def remedy_of(session: str) -> str:
    """The command that takes back what a check has changed in a session."""
    return f"cephtui cleanup --undo {session}"


def left_text(session: str, undo: str) -> str:
    """The sentence about a session whose change was not undone, with the command that undoes it."""
    return f"session {session}: its change was not undone: {remedy_of(session)} runs: {undo}"


def not_undone(directory: Path) -> str | None:
    """The command that would take back what a session has changed; None where nothing is left of it, or none known."""
    return _undo_of(newest_command(directory))


def why_refused(directory: Path, undo: str | None) -> str:
    """Why no check begins in a session: its change would be lost sight of; empty where ``undo`` takes that back."""
    undo_left = not_undone(directory)
    return "" if undo_left is None or undo_left == undo else left_text(directory.name, undo_left)


def newest_command(directory: Path) -> Ran | None:
    """The last change, whether it has ended or not, or the last undo that has ended well, whichever was later."""
    return _newest(_commands(directory))


def check_commands(directory: Path, study: SavedStudy) -> list[Ran]:
    """The commands of a check, each as it was noted before it ran, and again at its end."""
    study_commands = [ran for ran in _commands(directory) if ran.study in ("", study.id)]
    return [*dropwhile(lambda ran: ran.study != study.id and ran.at < study.at, study_commands)]


def change_state(check: CheckGoal, runs: Sequence[Run], marks: Sequence[Mark], commands: Sequence[Ran]) -> State:
    """Whether the change of a check is in place, by its runs and commands and the marks of its session.

    Without commands the user makes it: then it is, once something was measured after it, or was marked after what was
    measured before it.
    """
    if commands:
        return _left_by(commands[-1])
    if any(run.batch in check.after for run in runs):
        return "made"
    begun = [run.started_at for run in runs if run.batch in check.before]
    return "made" if begun and any(mark.at > max(begun) for mark in marks) and not check.is_commanded else "not made"


def _left_by(last: Ran) -> State:
    """The change that the newest command of a check has left; it counts as made until an undo has taken it back."""
    if last.kind == "undo":
        return "not made" if last.status == 0 else "made"
    if last.status is None or last.status == _TIMED_OUT or last.status > _BY_SIGNAL:
        return "unknown"
    return "made" if last.status == 0 or last.undo else "not made"


def left_changed(root: Path) -> list[tuple[Path, str]]:
    """Sessions whose change was not undone and that no process writes any more, with the command that undoes it."""
    directories = _sessions_with_changes(root)
    return [(path, undo) for path in directories if (undo := not_undone(path)) and not is_locked(path)]


def changes_elsewhere(directory: Path, since: datetime) -> list[tuple[str, str, bool]]:
    """The changes of other sessions, as (session, command, whether its change is in place), those in place first.

    Of the others it is what they have run since a time: changes and what takes them back. While this session has a
    change in place, since that began to be made: theirs may have taken it back.
    """
    own_commands = _commands(directory)
    last = _newest(own_commands)
    begun_at = [ran.at for ran in own_commands if ran.kind == "change" and ran.status is None]
    since = min([since, *begun_at[-1:]]) if last and last.kind == "change" else since
    changes = list[tuple[str, str, bool]]()
    for other in _sessions_with_changes(directory.parent):
        if other != directory:
            ran_there = _commands(other)
            last = _newest(ran_there)
            in_place = [last.command] if last and _undo_of(last) else []
            commands = in_place or dict.fromkeys(ran.command for ran in ran_there if ran.at >= since)
            changes += [(other.name, command, bool(in_place)) for command in commands]
    return sorted(changes, key=lambda change: not change[2])


def _sessions_with_changes(root: Path) -> list[Path]:
    """The sessions in which anything was ever changed."""
    return sorted(path.parent for path in root.glob(f"*/{CHANGES_FILE}"))


def _commands(directory: Path) -> list[Ran]:
    return list(readable_lines(directory / CHANGES_FILE, Ran))


def _undo_of(last: Ran | None) -> str | None:
    """The command that takes back a change, given the newest command of a session; None where that is none."""
    return last.undo if last and last.kind == "change" else None


def _newest(commands: Sequence[Ran]) -> Ran | None:
    return next((ran for ran in reversed(commands) if ran.kind == "change" or ran.status == 0), None)
