"""Verdicts on saved runs: given with what is known from the session, and kept in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import permutations, takewhile
from pathlib import Path
from typing import TypeAlias

from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude
from cephtui.analysis.verdicts.noted import with_noted
from cephtui.models import Mark
from cephtui.models.verdict import Verdict
from cephtui.sessions.demo import is_packaged
from cephtui.sessions.store import VERDICTS_FILE, read_verdicts
from cephtui.sessions.writer import append_lines

_Runs: TypeAlias = frozenset[frozenset[str]]
"""The runs of both sides of a verdict."""


def judge_saved(
    changes: Sequence[Change],
    terms: ConclusionTerms,
    marks: Sequence[Mark],
    directory: Path,
    at: datetime,
) -> Judgement:
    """The judgement with the noted and the seen changes; and with the number of the look, unless looks were planned."""
    sides = [
        (Side(change.before, tuple(marks)), Side(change.after)) for change in changes if change.before and change.after
    ]
    judgement = with_noted(conclude(changes, terms, at), sides)
    return judgement if terms.criteria.looks.at else with_earlier(judgement, directory)


def with_earlier(judgement: Judgement, directory: Path) -> Judgement:
    """The judgement, with a note where a verdict on some of these runs, with fewer or others, was kept before.

    The same runs read again are the same look, whatever is asked of them: the interval is the same, and holds for all
    that is read off it at once. Only other data give chance another try.
    """
    verdicts = read_verdicts(directory)
    earlier = max((len(_earlier_looks(verdicts, verdict)) for verdict in judgement.deciding), default=0)
    if not earlier:
        return judgement
    again = "second look" if earlier == 1 else f"look {earlier + 1} at these runs"
    note = f"{again}: each further look adds up to 2.5 % false verdicts"
    conclusion = judgement.conclusion.model_copy(update={"notes": (*judgement.conclusion.notes, note)})
    return Judgement(judgement.verdicts, conclusion)


def _earlier_looks(verdicts: Sequence[Verdict], now: Verdict) -> set[_Runs]:
    """The sets of runs that share runs with these and were judged by the same figure, before these first were."""
    figure, sides = (now.preset, now.direction, now.figure), _runs_of(now)
    looks = [
        _runs_of(verdict)
        for verdict in verdicts
        if (verdict.preset, verdict.direction, verdict.figure) == figure and verdict.decides
    ]
    return {runs for runs in takewhile(lambda runs: runs != sides, looks) if _overlap(sides, runs)}


def _runs_of(verdict: Verdict) -> _Runs:
    """The names of the runs of both sides, in no order: which side is called before does not matter."""
    return frozenset((frozenset(verdict.before), frozenset(verdict.after)))


def _overlap(sides: _Runs, earlier: _Runs) -> bool:
    """Whether the sides of two verdicts can be paired so that both pairs share runs."""
    return any(all(now & then for now, then in zip(sides, order, strict=False)) for order in permutations(earlier))


def is_kept(judgement: Judgement, directory: Path) -> bool:
    """Whether a session has these verdicts already: of the same runs, by the same criteria."""
    return {_basis(verdict) for verdict in judgement.deciding} <= {
        _basis(verdict) for verdict in read_verdicts(directory)
    }


def keep_verdicts(judgement: Judgement, directory: Path) -> None:
    """Add verdicts and their conclusion to a session, unless it is read-only; raises OSError."""
    if not is_packaged(directory):
        append_lines(directory / VERDICTS_FILE, [*judgement.verdicts, judgement.conclusion])


def _basis(verdict: Verdict) -> object:
    """The basis of a verdict: its runs and its criteria."""
    runs = verdict.preset, verdict.direction, verdict.figure, verdict.before, verdict.after
    return *runs, verdict.require_percent, verdict.same_percent, verdict.confidence, verdict.looks_most
