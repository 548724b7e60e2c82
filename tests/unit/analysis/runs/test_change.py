"""Which runs are before a change, and which after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.runs.change import Change, around, left_beside_mark, matched, why_none
from cephtui.analysis.runs.change import between as between_sides
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, conclude
from cephtui.models import Mark, Run
from cephtui.models.metrics import BY_NAME
from cephtui.sessions import store
from cephtui.sessions.saved_changes import change_of_session
from tests.support.golden import Golden
from tests.support.runs import STARTED, STEP_SECONDS, nodes, run


def between(number: int, text: str = "changed") -> Mark:
    """Made after this run had ended, and before the next."""
    return Mark(at=STARTED + timedelta(seconds=STEP_SECONDS * (number + 1) - 1), text=text)


def during(number: int, text: str = "changed") -> Mark:
    return Mark(at=STARTED + timedelta(seconds=STEP_SECONDS * number + 30), run=number, elapsed_seconds=30.0, text=text)


def numbered(*numbers: int, **changes: Any) -> list[Run]:
    return [run(number, **changes) for number in numbers]


def sides(changes: Sequence[Change]) -> list[tuple[list[int], list[int]]]:
    return [([each.run for each in found.before], [each.run for each in found.after]) for found in changes]


SIX = numbered(1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("marks", "number", "before", "after"),
    [
        ([between(3)], None, [1, 2, 3], [4, 5, 6]),
        ([between(1)], None, [1], [2, 3, 4, 5, 6]),
        ([during(3)], None, [1, 2], [4, 5, 6]),
        ([during(3), during(3)], None, [1, 2], [4, 5, 6]),
        ([between(3), between(3)], None, [1, 2, 3], [4, 5, 6]),
        ([between(3), during(4)], None, [1, 2, 3], [5, 6]),
        ([during(3), between(3)], None, [1, 2], [4, 5, 6]),
        ([during(3), during(4)], None, [1, 2], [5, 6]),
        ([between(2), between(4)], None, [3, 4], [5, 6]),
        ([between(4), between(2)], None, [3, 4], [5, 6]),
        ([between(2), between(4)], 1, [1, 2], [3, 4]),
        ([between(4), between(2)], 1, [1, 2], [3, 4]),
        ([between(2), between(4)], 2, [3, 4], [5, 6]),
        ([between(2), during(4)], 1, [1, 2], [3]),
        ([during(2), between(4)], None, [3, 4], [5, 6]),
        ([between(1), between(3), between(5)], 2, [2, 3], [4, 5]),
    ],
)
def test_the_runs_around_a_mark(marks: list[Mark], number: int | None, before: list[int], after: list[int]) -> None:
    assert sides(around(SIX, marks, number)) == [(before, after)]
    assert sides(around(SIX[::-1], marks, number)) == [(before, after)]


@pytest.mark.parametrize("mark", [between(0), between(6), during(1), during(6)])
def test_a_change_has_two_sides(mark: Mark) -> None:
    assert around(SIX, [mark]) == []


@pytest.mark.parametrize("number", [0, -1, 3, 99])
def test_a_mark_that_there_is_not(number: int) -> None:
    with pytest.raises(IndexError):
        around(SIX, [between(2), between(4)], number)


@pytest.mark.parametrize("number", [None, 1])
def test_without_marks_there_is_none(number: int | None) -> None:
    with pytest.raises(IndexError):
        around(SIX, [], number)


def test_presets_are_apart_and_one_that_is_on_one_side_only_is_left_out() -> None:
    writes, reads = numbered(1, 3, 5, 7), numbered(2, 6, preset="read-iops")
    other = numbered(4, 8, preset="write-mb") + numbered(9, preset="mixed")
    found = around([*writes, *reads, *other], [between(4)])
    assert sides(found) == [([1, 3], [5, 7]), ([2], [6]), ([4], [8])]
    assert [each.runs[0].preset for each in found] == ["write-iops", "read-iops", "write-mb"]
    assert sides(around([*writes, *reads], [between(6)])) == [([1, 3, 5], [7])]


@pytest.mark.parametrize(
    "changes",
    [
        {"options": {"rw": "randwrite", "iodepth": 1}},
        {"target": "rbd:other"},
        {"tool": "rados"},
        {"nodes": nodes("pve2")},
        {"nodes": nodes("pve1", "pve2")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_only_runs_that_are_set_up_alike_are_judged_together(changes: dict[str, Any]) -> None:
    assert sides(matched(numbered(1, 2), [*numbered(3), *numbered(4, **changes)])) == [([1, 2], [3])]
    assert matched(numbered(1), numbered(2, **changes)) == []


def test_runs_of_several_batches_and_however_they_ended_are_on_their_side() -> None:
    before, after = numbered(1, batch="x") + numbered(2, outcome="lost"), numbered(3, batch="y")
    assert sides(matched(before, after)) == [([1, 2], [3])]


@pytest.mark.parametrize(
    ("runs", "mark"),
    [
        (numbered(1, 2, 3), during(1)),
        (numbered(1, 2, 3), during(3)),
        ([*numbered(1, 2), run(3, preset="read-iops")], during(2)),
        (numbered(1, 2, 3), between(3)),
        (numbered(1), during(1)),
        ([*numbered(1), run(2, preset="read-iops")], between(1)),
    ],
)
def test_why_there_is_no_change_around_a_mark(runs: list[Run], mark: Mark, golden: Golden) -> None:
    assert around(runs, [mark]) == []
    golden.same(why_none(runs, [mark], 1))


@pytest.mark.parametrize("number", [1, 2])
def test_a_named_run_during_which_a_mark_was_made_is_neither_before_nor_after(number: int) -> None:
    first, second = (Side((each,), (during(number),)) for each in numbered(1, 2))
    found = conclude([between_sides(first, second)], ConclusionTerms(lambda _: BY_NAME["iops"]), STARTED)
    assert {verdict.in_order for verdict in found.verdicts} == {False}
    assert any(f"tuning/{number}" in note and "mark" in note for note in found.conclusion.notes)
    clear = between_sides(replace(first, marks=()), replace(second, marks=(during(3),)))
    assert (clear.is_in_order, clear.is_reversed) == (True, False)


def test_the_runs_that_are_on_neither_side_of_a_mark_are_named_with_the_reason(golden: Golden) -> None:
    runs = [*SIX, run(7), *numbered(8, preset="read-iops")]
    marks = [between(2), during(4), between(6)]
    changes = around(runs, marks, 1)
    assert sides(changes) == [([1, 2], [3])]
    golden.same(f"{each.run}: {each.why}" for each in left_beside_mark(runs, marks, 1, changes))
    assert sides(around(runs, marks)) == [([5, 6], [7])]
    left = {each.run: each.why for each in left_beside_mark(runs, marks, 3, around(runs, marks, 3))}
    golden.same(left["tuning/8"])
    assert {"tuning/5", "tuning/6", "tuning/7"}.isdisjoint(left)


def test_sides_in_order_of_time() -> None:
    earlier, later = tuple(numbered(1, 2)), tuple(numbered(3, 4))
    assert Change(earlier, later).is_in_order
    assert not Change(earlier, later).is_reversed
    assert Change(later, earlier).is_reversed
    mixed = Change((*earlier[:1], *later[1:]), (*earlier[1:], *later[:1]))
    assert (mixed.is_in_order, mixed.is_reversed) == (False, False)
    assert Change(earlier, ()).is_in_order


def test_a_mark_that_is_passed_over_says_why(demo_session: Path) -> None:
    """The demo's last marks stand in its last run."""
    runs, marks = store.read_runs(demo_session)[0], store.read_marks(demo_session)
    assert change_of_session(demo_session).notes == (f"{why_none(runs, marks, len(marks))}: mark 1 is judged",)
