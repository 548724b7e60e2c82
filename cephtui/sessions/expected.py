"""What is expected of saved runs, and what became of it: by one function, when they are new and whenever they are read.

What is expected stands in the runs, or was asked of them later by a check.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from cephtui.analysis.runs.batches import Batch, SweepPoint, group, name_of, varied
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.verdicts.expectation import (
    Expectation,
    counting_block,
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
    """What was expected of runs of a session when they began, by their batches.

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
    """What became of what is expected of batches, as far as they were measured; raises StoreError.

    ``runs`` are of the session in this directory: all of each batch.
    """
    given, names = store.read_given(directory), varied(runs)
    found = []
    for batch in group(runs):
        if promise := promises.get(batch.runs[0].batch):
            for expected in _parsed(promise.expect):
                for point in _about(expected, batch):
                    name = f"{promise.step} {names[point.repeats[0].run]}".strip()
                    found.append(_judged(directory, expected, name, point, at, given))
    return found


def judge_expected(directory: Path, runs: Sequence[Run], at: datetime) -> list[Expected]:
    """What became of all that was expected of runs, also of what only checks have asked; raises StoreError."""
    given, names = store.read_given(directory), varied(runs)
    promises = promises_of(directory, runs)
    judged = judge_promises(directory, runs, promises, at)
    own = {(each.expectation, name) for each in judged for name in _names(each)}
    found = [each for each in judged if each.of_volume or not _is_replaced(each, own, given)]
    for point in (point for batch in group(runs) for point in batch.points):
        first = point.repeats[0]
        step = promises[first.batch].step if first.batch in promises else first.preset
        for expected in _asked_later(point, given):
            if (expected.text, name_of(first)) not in own:
                name = f"{step} {names[first.run]}".strip()
                found.append(_judged(directory, expected, name, point, at, given))
    return found


def keep_given(found: Iterable[Expected], directory: Path) -> None:
    """Add to a session what was said, unless the same was said of the same runs last, as the last of that figure.

    Nothing is added to a session that is read-only. Raises OSError.
    """
    kept = store.read_given(directory)
    new = [each for each in found if not _is_kept(each, kept)]
    if new and not is_packaged(directory):
        append_lines(directory / store.VERDICTS_FILE, new)


def _about(expected: Expectation, batch: Batch) -> Sequence[SweepPoint]:
    """The points that do what is expected; all of them where none does."""
    return [point for point in batch.points if is_about(expected, point.repeats)] or batch.points


def _parsed(texts: Iterable[str]) -> Iterator[Expectation]:
    """Without what a newer cephtui may have written."""
    for text in texts:
        with suppress(ValueError):
            yield parse_expectation(text)


def _asked_later(point: SweepPoint, given: Iterable[Expected]) -> Iterator[Expectation]:
    """What was asked of the runs of a point: of each figure the last."""
    return _parsed(_last_asked({name_of(run) for run in point.repeats}, given).values())


def _is_replaced(found: Expected, own: Container[tuple[str, str]], given: Iterable[Expected]) -> bool:
    """Whether something else was asked of its figure later; ``own`` is what was expected of each run as it began."""
    names = _names(found)
    last = _last_asked(names, given).get(_figure(found))
    return last is not None and not any((last, name) in own for name in names)


def _last_asked(names: Set[str], given: Iterable[Expected]) -> dict[tuple[str | None, str], str]:
    """By direction and figure, of runs with these names."""
    return {_figure(each): each.expectation for each in given if names & _names(each)}


def _figure(found: Expected) -> tuple[str | None, str]:
    return found.direction, found.figure


def _names(found: Expected) -> set[str]:
    return {*found.runs, *(each.run for each in found.left_out)}


def _judged(
    directory: Path, expected: Expectation, step: str, point: SweepPoint, at: datetime, given: Iterable[Expected]
) -> Expected:
    seconds = {name_of(run): _seconds(directory, run, expected) for run in point.repeats if not why_invalid(run)}
    found = judge_expectation(expected, step, point.repeats, seconds, at)
    before = next((each.word for each in reversed([*given]) if _is_of_the_same(each, found)), found.word)
    return found.model_copy(update={"given": None if before == found.word else before})


def _seconds(directory: Path, run: Run, expected: Expectation) -> tuple[int, int]:
    """None count for a latency, and few imported runs have any."""
    if not expected.is_rate:
        return 0, 0
    return seconds_reached(store.read_samples(directory, run.run), expected, counting_block(run))


def _is_of_the_same(left: Expected, right: Expected) -> bool:
    """Whether both are of one expectation and the same runs."""
    alike = (left.expectation, left.tolerance_percent) == (right.expectation, right.tolerance_percent)
    return alike and _names(left) == _names(right)


def _is_kept(found: Expected, kept: Iterable[Expected]) -> bool:
    of_figure = [each for each in kept if _figure(each) == _figure(found) and _names(each) & _names(found)]
    return bool(of_figure) and _is_of_the_same(of_figure[-1], found) and of_figure[-1].word == found.word
