"""Expectations of saved runs, and what became of them: judged in one way when runs are new and when they are read.

An expectation stands in the runs, or a check has asked for it later.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from cephtui.analysis.runs.batches import Batch, SweepPoint, group, name_of, varied
from cephtui.analysis.runs.completed import corrected_block
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.verdicts.expectation import (
    Expectation,
    is_about,
    judge_expectation,
    parse_expectation,
    seconds_reached,
)
from cephtui.models import Promise, Run
from cephtui.models.expectation import Expected
from cephtui.sessions import store
from cephtui.sessions.demo import is_packaged
from cephtui.sessions.studies import promises_in, read_studies
from cephtui.sessions.writer import append_lines


def promises_of(directory: Path, runs: Sequence[Run]) -> dict[str, Promise]:
    """The promises of runs of a session as they began, by batch.

    An earlier cephtui has left it in what was ordered, and not in the runs. An order that can't be read
    expects nothing.
    """
    ordered: Mapping[str, Promise] = {}
    with suppress(store.StoreError):
        ordered = promises_in(read_studies(directory))
    promises = {run.batch: ordered[run.batch] for run in runs if run.batch in ordered}
    return promises | {run.batch: run.promise for run in runs if run.promise}


def judge_promises(
    directory: Path, runs: Sequence[Run], promises: Mapping[str, Promise], at: datetime
) -> list[Expected]:
    """The promises of batches judged, as far as they were measured; raises StoreError.

    ``runs`` are of the session in this directory: all of each batch.
    """
    saved, names = store.read_expected(directory), varied(runs)
    judged = []
    for batch in group(runs):
        if promise := promises.get(batch.runs[0].batch):
            for expected in _parsed(promise.expect):
                for point in _about(expected, batch):
                    name = f"{promise.step} {names[point.repeats[0].run]}".strip()
                    judged.append(_judged(directory, expected, name, point, at, saved))
    return judged


def judge_expected(directory: Path, runs: Sequence[Run], at: datetime) -> list[Expected]:
    """All expectations of runs judged, those that only checks have asked for too; raises StoreError."""
    saved, names = store.read_expected(directory), varied(runs)
    promises = promises_of(directory, runs)
    judged = judge_promises(directory, runs, promises, at)
    at_begin = {(outcome.expectation, name) for outcome in judged for name in _names(outcome)}
    outcomes = [outcome for outcome in judged if outcome.of_volume or not _is_replaced(outcome, at_begin, saved)]
    for point in (point for batch in group(runs) for point in batch.points):
        first = point.repeats[0]
        step = promises[first.batch].step if first.batch in promises else first.preset
        for expected in _asked_later(point, saved):
            if (expected.text, name_of(first)) not in at_begin:
                name = f"{step} {names[first.run]}".strip()
                outcomes.append(_judged(directory, expected, name, point, at, saved))
    return outcomes


def keep_expected(judged: Iterable[Expected], directory: Path) -> None:
    """Add judged expectations to a session, unless the last one of the same figure and runs says the same.

    Nothing is added to a session that is read-only. Raises OSError.
    """
    saved = store.read_expected(directory)
    new = [expected for expected in judged if not _is_kept(expected, saved)]
    if new and not is_packaged(directory):
        append_lines(directory / store.VERDICTS_FILE, new)


def _about(expected: Expectation, batch: Batch) -> Sequence[SweepPoint]:
    """The points that do what is expected; all of them where none does."""
    return [point for point in batch.points if is_about(expected, point.repeats)] or batch.points


def _parsed(texts: Iterable[str]) -> Iterator[Expectation]:
    """The expectations in texts, without what a newer cephtui may have written."""
    for text in texts:
        with suppress(ValueError):
            yield parse_expectation(text)


def _asked_later(point: SweepPoint, saved: Iterable[Expected]) -> Iterator[Expectation]:
    """The expectations that checks had of the runs of a point: of each figure the last."""
    return _parsed(_last_asked({name_of(run) for run in point.repeats}, saved).values())


def _is_replaced(expected: Expected, at_begin: Container[tuple[str, str]], saved: Iterable[Expected]) -> bool:
    """Whether something else was asked of its figure later; ``at_begin`` has the expectations of new runs."""
    names = _names(expected)
    last = _last_asked(names, saved).get(_figure(expected))
    return last is not None and not any((last, name) in at_begin for name in names)


def _last_asked(names: Set[str], saved: Iterable[Expected]) -> dict[tuple[str | None, str], str]:
    """The last expectation of runs with these names, by direction and figure."""
    return {_figure(expected): expected.expectation for expected in saved if names & _names(expected)}


def _figure(expected: Expected) -> tuple[str | None, str]:
    return expected.direction, expected.figure


def _names(expected: Expected) -> set[str]:
    return {*expected.runs, *(left_out.run for left_out in expected.left_out)}


def _judged(
    directory: Path, expected: Expectation, step: str, point: SweepPoint, at: datetime, saved: Iterable[Expected]
) -> Expected:
    seconds = {name_of(run): _seconds(directory, run, expected) for run in point.repeats if not why_invalid(run)}
    outcome = judge_expectation(expected, step, point.repeats, seconds, at)
    before = next((earlier.word for earlier in reversed([*saved]) if _is_of_the_same(earlier, outcome)), outcome.word)
    return outcome.model_copy(update={"given": None if before == outcome.word else before})


def _seconds(directory: Path, run: Run, expected: Expectation) -> tuple[int, int]:
    """The seconds of a run that reached it, and all; 0 for a latency, and few imported runs have any."""
    if not expected.is_rate:
        return 0, 0
    return seconds_reached(store.read_samples(directory, run.run), expected, corrected_block(run))


def _is_of_the_same(left: Expected, right: Expected) -> bool:
    """Whether both are of one expectation and the same runs."""
    is_same = (left.expectation, left.tolerance_percent) == (right.expectation, right.tolerance_percent)
    return is_same and _names(left) == _names(right)


def _is_kept(expected: Expected, saved: Iterable[Expected]) -> bool:
    of_figure = [
        earlier for earlier in saved if _figure(earlier) == _figure(expected) and _names(earlier) & _names(expected)
    ]
    return bool(of_figure) and _is_of_the_same(of_figure[-1], expected) and of_figure[-1].word == expected.word
