"""Verdicts on saved runs: given with what is known from the session, and kept in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cephtui.analysis.change import Change
from cephtui.analysis.conclusion import Asked, Judgement, changed_between, conclude
from cephtui.analysis.sides import Side
from cephtui.models import Mark
from cephtui.models.verdict import Verdict
from cephtui.sessions.store import VERDICTS_FILE, read_verdicts
from cephtui.sessions.writer import append_lines


def judge_saved(
    changes: Sequence[Change],
    asked: Asked,
    marks: Sequence[Mark],
    directory: Path,
    at: datetime,
    *,
    retold: bool = False,
) -> Judgement:
    """With what has changed; and with a note where it was looked at before, unless further looks were planned.

    ``retold`` is for a document, as in ``with_earlier``.
    """
    changed = [
        text
        for change in changes
        if change.before and change.after
        for text in changed_between(Side(change.before, tuple(marks)), Side(change.after, tuple(marks)))
    ]
    judged = conclude(changes, asked, at, list(dict.fromkeys(changed)))
    return judged if asked.criteria.looks.at else with_earlier(judged, directory, retold=retold)


def with_earlier(judged: Judgement, directory: Path, *, retold: bool = False) -> Judgement:
    """With a note where a verdict on these runs was given before, and is kept in this session.

    ``retold`` is for a document: the same verdict, of the same runs and by the same criteria, is no further look.
    """
    kept = [each for each in read_verdicts(directory) if _is_again(each, judged.deciding)]
    earlier = len({each.at for each in kept if not (retold and _is_kept(each, judged.deciding))})
    if not earlier:
        return judged
    again = "second look" if earlier == 1 else f"look {earlier + 1} at these runs"
    note = f"{again}: each further look adds up to 2.5 % of false verdicts"
    conclusion = judged.conclusion.model_copy(update={"notes": (*judged.conclusion.notes, note)})
    return Judgement(judged.verdicts, conclusion)


def is_kept(judged: Judgement, directory: Path) -> bool:
    """Whether a session has these verdicts already: of the same runs, by the same criteria."""
    kept = read_verdicts(directory)
    return all(any(_is_kept(each, [verdict]) for each in kept) for verdict in judged.deciding)


def keep_verdicts(judged: Judgement, directory: Path) -> None:
    """Add them and their answer to a session; raises OSError."""
    append_lines(directory / VERDICTS_FILE, [*judged.verdicts, judged.conclusion])


def _is_again(earlier: Verdict, verdicts: Sequence[Verdict]) -> bool:
    return any(
        earlier.decides
        and (earlier.preset, earlier.direction, earlier.figure) == (now.preset, now.direction, now.figure)
        and {*earlier.before} & {*now.before}
        and {*earlier.after} & {*now.after}
        for now in verdicts
    )


def _is_kept(earlier: Verdict, verdicts: Sequence[Verdict]) -> bool:
    return any(_asked(earlier) == _asked(verdict) for verdict in verdicts)


def _asked(verdict: Verdict) -> object:
    """Of which runs and by which criteria it is: what follows from them is the same."""
    runs = verdict.preset, verdict.direction, verdict.figure, verdict.before, verdict.after
    return *runs, verdict.require_percent, verdict.same_percent, verdict.confidence, verdict.looks_most
