"""Runs of two sides in turns: which are pairs, where some are left out."""

from __future__ import annotations

import math
import random
from datetime import timedelta

import pytest

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.turns import Sides, left_alone, pairs_in_turns
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude
from cephtui.models import Run
from tests.support.runs import IOPS, STARTED, run


def sides(order: str) -> tuple[Sides, Sides]:
    """Runs in this order of time, from 1: A and B count, a and b are left out."""
    turns = [(side, run(number)) for number, side in enumerate(order, 1)]
    counted, left_out = ([[r for side, r in turns if side == name] for name in names] for names in ("AB", "ab"))
    return (counted[0], counted[1]), (left_out[0], left_out[1])


def pairs(order: str) -> list[tuple[int, int]] | None:
    """The places of the runs of each pair."""
    found = pairs_in_turns(*sides(order))
    return None if found is None else [(first.run, second.run) for first, second in found]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ABBA", [(1, 2), (4, 3)]),
        ("AbBAaBBAAB", [(4, 3), (8, 7), (9, 10)]),
        ("AbBAABBAAB", [(4, 3), (5, 6), (8, 7), (9, 10)]),
        ("ABABabABAB", [(1, 2), (3, 4), (7, 8), (9, 10)]),
        ("AbBBAABBA", [(1, 3), (5, 4), (6, 7), (9, 8)]),  # it was measured again
        ("aABBAABBA", [(2, 3), (5, 4), (6, 7), (9, 8)]),
        ("ABbBAaABBA", [(1, 2), (5, 4), (7, 8), (10, 9)]),
    ],
)
def test_a_run_that_is_left_out_takes_its_pair_with_it(order: str, expected: list[tuple[int, int]]) -> None:
    assert pairs(order) == expected


@pytest.mark.parametrize("order", ["AbBAaBBA", "AAbBBa", "ABBBAA", "AbBA", "A", "ABbA"])
def test_without_pairs_enough_they_took_no_turns(order: str) -> None:
    """As in ``AbBAaBBA``, where two pairs are whole, and three runs a side count."""
    assert pairs(order) is None
    assert left_alone(*sides(order)) == []


def test_none_are_known_without_a_date() -> None:
    first, second = [run(1), run(4)], [run(2), run(3)]
    assert pairs_in_turns((first, second))
    assert pairs_in_turns(([run(1, is_dated=False), run(4)], second)) is None


# ---------------------------------------------------------------------------------------------- in a verdict


def judged(order: str, values: list[float], without: str = "") -> Judgement:
    """The judgement on runs in this order, but those at the places ``without``."""
    runs = [run(at, value, started_at=STARTED + timedelta(minutes=at)) for at, value in enumerate(values, 1)]
    before, after = (tuple(r for r, side in zip(runs, order, strict=True) if side == name) for name in "AB")
    terms = ConclusionTerms(lambda _: IOPS, without=[name_of(runs[int(place) - 1]) for place in without.split()])
    return conclude([Change(before, after, takes_turns=True)], terms, STARTED)


def drifting(chance: random.Random, count: int) -> list[float]:
    """Nothing is changed, runs are spread by 3 %, and all lose 5 % from one to the next."""
    return [1000 * math.exp(-0.05 * at + chance.gauss(0, 0.03)) for at in range(count)]


def test_a_verdict_is_on_whole_pairs_and_names_the_others() -> None:
    found = judged("ABBAABBAAB", drifting(random.Random(1), 10), "2 5")
    (verdict,) = [each for each in found.verdicts if each.decides]
    assert verdict.method == "paired"
    assert [name.partition("/")[2] for name in verdict.before] == ["4", "8", "9"]
    assert [(each.run.partition("/")[2], "pair" in each.why) for each in found.conclusion.left_out] == [
        ("5", False), ("2", False), ("1", True), ("6", True),
    ]  # fmt: skip


def test_under_a_drift_whole_pairs_show_no_change_that_is_not_there() -> None:
    chance, times = random.Random(27), 300
    found = [judged("ABBAABBAABBA", drifting(chance, 12), "2 5").verdicts[0] for _ in range(times)]
    assert {each.method for each in found} == {"paired"}
    assert sum(each.differs is not None for each in found) / times <= 0.085, "5 %, and three standard deviations"


def lacking(place: Run) -> Run:
    return place.model_copy(update={"summary": run(place.run).summary.model_copy(update={"write": None})})


def test_a_run_without_the_figure_takes_its_pair_with_it_too() -> None:
    runs = [run(at, 1000.0 + at, started_at=STARTED + timedelta(minutes=at)) for at in range(1, 11)]
    runs[1] = lacking(runs[1])
    before, after = (tuple(r for r, side in zip(runs, "ABBAABBAAB", strict=True) if side == name) for name in "AB")
    (verdict, *_) = conclude([Change(before, after)], ConclusionTerms(lambda _: IOPS), STARTED).verdicts
    assert verdict.method == "paired"
    assert [name.partition("/")[2] for name in verdict.before] == ["4", "5", "8", "9"]
