"""Which side is measured next, when it is looked, and that it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.looks import LookSchedule
from cephtui.analysis.verdicts.guided_check import (
    Turn,
    changes_of,
    counted_runs,
    is_look,
    looks_of,
    next_turn,
    sides_of,
)
from cephtui.analysis.verdicts.verdict import Figures
from cephtui.cli.verbs import cli
from cephtui.models import Finding, Run
from cephtui.models.study import CheckGoal, SideName
from cephtui.running.command import TIME_LIMIT_SECONDS
from cephtui.studies.base import Measure, Study
from cephtui.studies.check import Check
from tests.support.conducting import Bed, conduct, run_of, study
from tests.support.golden import Golden
from tests.support.runs import IOPS, run

THIN = Finding(code="thin", text="thin data")
SIDES: tuple[SideName, SideName] = "before", "after"


def goal(**changes: Any) -> CheckGoal:
    fields = {
        "before": ("b0",),
        "after": ("a0",),
        "before_runs": 6,
        "most": 12,
        "require_percent": -10.0,
        "same_percent": 10.0,
        "confidence": 0.95,
    }
    return CheckGoal.model_validate({**fields, **changes})


def of_presets(number: int, **changes: Any) -> CheckGoal:
    names = {f"{side}": tuple(f"{side[0]}{at}" for at in range(number)) for side in SIDES}
    return goal(**names, **changes)


class Undecided(Check):
    """A check of which no look decides."""

    def is_decided(self, runs: Sequence[Run]) -> bool:
        return False


class Measuring(Bed):
    """Carries out a check of which no look decides; its plans are cut, and it is resumed."""

    def __init__(self, asked: CheckGoal, ends_well: Iterator[bool], cuts: Iterator[bool] | None = None) -> None:
        super().__init__(lambda step, number: run_of(step, number, 10_000.0 if next(ends_well) else "lost"))
        self.looked: list[list[tuple[Run, ...]]] = []
        """The runs that count of each side at each look, those of the first preset."""
        self._asked, self._cuts = asked, cuts or repeat(False)
        presets = ("write-iops", "read-iops", "latency")[: len(asked.before)]
        options = {"rw": "randwrite"}
        plain = study(*presets, kind="check", goal=asked.model_dump(), batches=asked.before, options=options)
        self.check = Undecided(plain.saved, plain.requests)
        conduct(self.check, self)
        self.why = next((line for line in self.lines if "in a row" in line), "")

    async def measure(self, study: Study[Any], step: Measure, runs: Sequence[Run]) -> Sequence[Run]:
        assert len(self.runs) < 400, "it does not end"
        request = step.request
        if next(self._cuts):
            step = replace(step, request=replace(request, until=request.begun + len(request.presets)))
        return await super().measure(study, step, runs)

    def show(self, study: Study[Any], runs: Sequence[Run]) -> None:
        if is_look(self._asked, *counted_runs(self._asked, runs)):
            sides = sides_of(self._asked, [run for run in runs if not why_invalid(run)])
            self.looked.append([tuple(run for run in side if run.batch in ("b0", "a0")) for side in sides])

    async def make_change(self, is_unseen: Callable[[], Awaitable[bool]]) -> bool:
        return True

    @property
    def order(self) -> str:
        """``ABBA``, a run that does not count in small letters."""
        names = ["B" if run.batch.startswith("a") else "A" for run in self.runs]
        return "".join(n.lower() if why_invalid(r) else n for n, r in zip(names, self.runs, strict=True))

    @property
    def looked_at(self) -> list[tuple[int, int]]:
        return [(len(before), len(after)) for before, after in self.looked]


def pattern(text: str) -> Iterator[bool]:
    """``.x.``: whether a run ends well; all others do."""
    return chain((char == "." for char in text), repeat(True))


# ---------------------------------------------------------------------------------------------- what is next


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        (0, 0, Turn("before", 6)),
        (4, 0, Turn("before", 2)),
        (6, 0, Turn("after", 4)),
        (6, 3, Turn("after", 1)),
        (6, 4, Turn("after", 2)),
        (6, 5, Turn("after", 1)),
        (6, 6, Turn("after", 2)),
        (6, 8, Turn("after", 4)),
        (6, 11, Turn("after", 1)),
        (6, 12, None),
        (7, 4, Turn("after", 2)),
    ],
)
def test_all_of_before_comes_first(before: int, after: int, turn: Turn | None) -> None:
    assert next_turn(goal(), before, after) == turn


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        (0, 0, Turn("before", 1)),
        (1, 0, Turn("after", 2)),
        (1, 1, Turn("after", 1)),
        (1, 2, Turn("before", 2)),
        (2, 2, Turn("before", 1)),
        (3, 2, Turn("after", 2)),
        (3, 4, Turn("before", 1)),
        (4, 4, Turn("before", 1)),
        (5, 4, Turn("after", 2)),
        (5, 6, Turn("before", 1)),
        (11, 11, Turn("after", 1)),
        (11, 12, Turn("before", 1)),
        (12, 12, None),
    ],
)
def test_sides_take_turns(before: int, after: int, turn: Turn | None) -> None:
    assert next_turn(goal(takes_turns=True), before, after) == turn


@pytest.mark.parametrize(
    ("changes", "order", "looked"),
    [
        ({}, "A" * 6 + "B" * 12, [(6, 4), (6, 6), (6, 8), (6, 12)]),
        ({"most": 8}, "A" * 6 + "B" * 8, [(6, 4), (6, 6), (6, 8)]),
        ({"most": 20}, "A" * 6 + "B" * 20, [(6, 4), (6, 6), (6, 8), (6, 12), (6, 20)]),
        ({"before_runs": 0}, "B" * 12, [(0, 4), (0, 6), (0, 8), (0, 12)]),
        ({"most": None, "fixed": 5, "before_runs": 5}, "A" * 5 + "B" * 5, [(5, 5)]),
        ({"takes_turns": True}, "ABBA" * 6, [(4, 4), (6, 6), (8, 8), (12, 12)]),
        ({"takes_turns": True, "most": 8}, "ABBA" * 4, [(4, 4), (6, 6), (8, 8)]),
        ({"takes_turns": True, "most": None, "fixed": 3}, "ABBAAB", [(3, 3)]),
        ({"takes_turns": True, "most": None, "fixed": 1}, "AB", [(1, 1)]),
    ],
)
def test_a_guided_check_in_which_all_runs_count(
    changes: dict[str, Any], order: str, looked: list[tuple[int, int]]
) -> None:
    found = Measuring(goal(**changes), repeat(True))
    assert (found.order, found.looked_at) == (order, looked)


@pytest.mark.parametrize(
    ("ends", "order"),
    [
        ("x", "aABBAABBA"),
        (".x", "AbBBAABBA"),
        ("..x", "ABbBAABBA"),
        ("...x", "ABBaAABBA"),
        (".x.x", "AbBbBAABBA"),
        (".......x", "ABBAABBaA"),
    ],
)
def test_a_run_that_does_not_count_is_made_again_in_its_place(ends: str, order: str) -> None:
    found = Measuring(goal(takes_turns=True), pattern(ends))
    assert found.order.startswith(order)
    assert "".join(char for char in found.order if char.isupper()) == "ABBA" * 6


@pytest.mark.parametrize(
    ("takes_turns", "ends", "order"),
    [
        (True, "xx", "aa"),
        (True, ".xx", "Abb"),
        (True, "..xx", "ABbb"),
        (True, "...xx", "ABBaa"),
        (True, "x.xx", "aAbb"),
        (True, ".......xx", "ABBAABBaa"),
        (False, "....xx", "AAAAaa"),
        (False, "........xx", "AAAAAABBbb"),
        (False, "..........xx", "AAAAAABBBBbb"),
        (False, ".........xx", "AAAAAABBBbb"),
    ],
)
def test_two_in_a_row_that_do_not_count_end_it(takes_turns: bool, ends: str, order: str, golden: Golden) -> None:
    found = Measuring(goal(takes_turns=takes_turns), pattern(ends))
    assert found.order == order
    golden.same(found.why, "analysis/verdicts/guided check: two in a row that do not count")


def test_one_preset_that_never_counts_ends_it_too() -> None:
    found = Measuring(of_presets(2, takes_turns=True), chain.from_iterable(repeat((False, True))))
    assert found.why
    assert len(found.runs) == 3


# ---------------------------------------------------------------------------------------------- whatever comes


outcomes = st.lists(st.sampled_from([True, True, True, False]), max_size=60)
cut = st.lists(st.booleans(), max_size=60)


@given(outcomes, cut, st.sampled_from([8, 12, 20, None]), st.integers(1, 7))
@example([False], [], 12, 1)
@example([True, False, True, False], [True] * 9, 12, 1)
def test_in_turns_the_sides_are_equal_at_each_look_and_runs_are_pairs(
    ends: list[bool], cuts: list[bool], most: int | None, fixed: int
) -> None:
    """Interrupted and continued anywhere."""
    asked = goal(takes_turns=True, most=most, fixed=None if most else fixed)
    found = Measuring(asked, chain(ends, repeat(True)), chain(cuts, repeat(False)))
    at = looks_of(asked).at
    for before, after in found.looked:
        assert len(before) == len(after)
        assert len(after) in at
        assert Figures.of("write", IOPS, before, after).take_turns
    assert found.looked_at == sorted(found.looked_at)
    assert ("ABBA" * 10).startswith("".join(char for char in found.order if char.isupper()))
    reached = counted_runs(asked, found.runs)
    assert max(reached) <= at[-1]
    if not found.why:
        assert reached == (at[-1], at[-1])
        assert list(dict.fromkeys(found.looked_at)) == [(runs, runs) for runs in at]


@given(outcomes, cut, st.sampled_from([8, 12, 20, None]), st.integers(1, 7), st.integers(0, 8))
def test_one_side_after_the_other_before_is_never_added_to(
    ends: list[bool], cuts: list[bool], most: int | None, fixed: int, before_runs: int
) -> None:
    asked = goal(most=most, fixed=None if most else fixed, before_runs=before_runs)
    found = Measuring(asked, chain(ends, repeat(True)), chain(cuts, repeat(False)))
    at = looks_of(asked).at
    assert found.order.upper() == "".join(sorted(found.order.upper()))
    assert {after for _, after in found.looked_at} <= set(at)
    assert all(before == before_runs for before, _ in found.looked_at)
    if not found.why:
        assert counted_runs(asked, found.runs) == (before_runs, at[-1])


@given(outcomes, st.integers(1, 3), st.booleans())
def test_a_guided_check_of_several_presets_ends(ends: list[bool], presets: int, takes_turns: bool) -> None:
    asked = of_presets(presets, takes_turns=takes_turns)
    found = Measuring(asked, chain(ends, repeat(True)))
    reached = counted_runs(asked, found.runs)
    assert found.why or reached == ((12, 12) if takes_turns else (6, 12))
    assert max(reached) <= 12


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 3), st.booleans())
def test_it_ends_also_where_it_never_gets_better(ends: list[bool], presets: int, takes_turns: bool) -> None:
    def for_ever() -> Iterator[bool]:
        while True:
            yield from ends

    found = Measuring(of_presets(presets, takes_turns=takes_turns), for_ever())
    assert found.why or all(ends) or found.looked


# ---------------------------------------------------------------------------------------------- its runs


def of_batch(number: int, batch: str, **changes: Any) -> Run:
    return run(number, batch=batch, **changes)


def test_runs_of_a_guided_check_are_those_of_its_batches_that_have_ended() -> None:
    asked = of_presets(2)
    found: Sequence[Run] = [
        of_batch(1, "b0"),
        of_batch(2, "b1"),
        of_batch(3, "b0", outcome="lost"),
        of_batch(4, "other"),
        of_batch(5, "a0"),
        of_batch(6, "a1", findings=(THIN,)),
        of_batch(7, "a0", outcome=None),
    ]
    assert [[each.run for each in side] for side in sides_of(asked, found)] == [[1, 2, 3], [5, 6]]
    assert [[each.run for each in change.runs] for change in changes_of(asked, found)] == [[1, 3, 5], [2, 6]]
    assert counted_runs(asked, found) == (1, 0), "of the preset that has fewest"


def test_looks() -> None:
    assert LookSchedule(12).at == (4, 6, 8, 12)
    assert [LookSchedule(12).number(runs) for runs in (1, 4, 5, 6, 8, 11, 12, 13)] == [1, 1, 1, 2, 3, 3, 4, 4]
    assert LookSchedule(fixed=5).at == (5,)
    assert LookSchedule(8).nominal(0.95, paired=False) == pytest.approx(0.9755)
    assert LookSchedule(20).nominal(0.99, paired=True) == pytest.approx(1 - 0.0028 * 0.88)
    assert LookSchedule(fixed=5).nominal(0.77, paired=True) == 0.77


@pytest.mark.parametrize(
    ("words", "fall", "rise"),
    [
        (("--preset", "write-iops"), True, False),
        (("--preset", "latency", "--set", "rw=randread"), False, True),
        (("--preset", "write-iops", "--metric", "iops", "--metric", "p99"), True, True),
    ],
)
def test_what_would_be_seen_has_the_direction_of_its_figures(words: tuple[str, ...], fall: bool, rise: bool) -> None:
    done = CliRunner().invoke(cli, ["check", *words, "--dry-run"], prog_name="cephtui")
    looks = [line for line in done.output.splitlines() if line.startswith("  look")]
    assert len(looks) == 4, done.output
    assert {("a fall of" in look, "a rise of" in look) for look in looks} == {(fall, rise)}


def test_the_help_says_the_time_limit_of_a_change_and_of_its_undo() -> None:
    text = " ".join(CliRunner().invoke(cli, ["check", "--help"], prog_name="cephtui").output.split())
    assert text.count(f"in {TIME_LIMIT_SECONDS / 60:g} minutes at most") == 2
