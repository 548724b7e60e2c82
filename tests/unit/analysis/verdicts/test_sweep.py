"""The depths that a sweep chooses, on systems whose knee is known."""

from __future__ import annotations

import math
import random
from statistics import median, stdev

import pytest

from cephtui.analysis.verdicts.knee import knee_of
from cephtui.analysis.verdicts.sweep import DEPTH_MOST, DepthRun, next_depth, passes, points_by_depth, runs_most
from tests.support.closed_loops import SYSTEMS, System, hard, measured, one_queue
from tests.support.known import known


def whole(system: System, source: random.Random, variation: float = 0.0, most: int = DEPTH_MOST) -> list[DepthRun]:
    """A sweep to its end."""
    found: list[DepthRun] = []
    while (depth := next_depth(found, most)) is not None:
        found.append(measured(system, depth, source, variation))
        assert len(found) <= runs_most(most)
    return found


def depths(system: System, most: int = DEPTH_MOST) -> list[int]:
    return [each.depth for each in whole(system, random.Random(0), most=most)]


def test_it_climbs_adds_two_around_the_knee_and_goes_back() -> None:
    way = [1, 2, 4, 8, 16, 32, 64, 11, 23]
    assert depths(hard(16)) == [*way, *reversed(way)]


def test_it_ends_at_once_where_nothing_gets_faster() -> None:
    assert depths(hard(1)) == [1, 2, 4, 4, 2, 1]


def test_it_ends_where_it_may_go_no_further() -> None:
    climb = [1, 2, 4, 8, 16, 32, 64]
    assert depths(hard(1000), most=64) == [*climb, *reversed(climb)]
    assert depths(hard(1000), most=100) == [*climb, *reversed(climb)]
    assert depths(hard(1000), most=1) == [1, 1]
    assert max(depths(hard(1000))) == DEPTH_MOST


def test_it_ends_where_nobody_would_wait() -> None:
    assert max(depths(lambda depth: 1000 * depth**0.1)) == 32


def test_a_knee_that_is_known_badly_is_measured_a_third_time() -> None:
    source = random.Random(5)
    lengths = {len(passes(whole(hard(16), source, 0.2))) for _ in range(50)}
    assert lengths == {2, 3}
    assert {len(passes(whole(hard(16), source, 0.02))) for _ in range(50)} == {2}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_knee_of_such_a_sweep_is_that_of_the_system(name: str) -> None:
    (system, true), source = SYSTEMS[name], random.Random(2)
    knees = [known(knee_of(points_by_depth(whole(system, source, 0.08)))) for _ in range(200)]
    found = [knee.in_flight for knee in knees if knee.is_known]
    assert len(found) >= 190
    assert median(found) == pytest.approx(true, rel=0.05)
    assert stdev(map(math.log2, found)) <= 0.12


@pytest.mark.parametrize("variation", [0.0, 0.1, 0.5, 2.0])
def test_it_never_takes_more_runs_than_it_says(variation: float) -> None:
    source = random.Random(6)
    for most in (1, 3, 64, DEPTH_MOST):
        for system in (hard(16), hard(1000), one_queue(64)):
            found = whole(system, source, variation, most)
            assert len(found) <= runs_most(most)
            assert max(each.depth for each in found) <= most


def test_the_passes_are_told_apart() -> None:
    found = whole(hard(16), random.Random(0))
    assert [[each.depth for each in one] for one in passes(found[:11])] == [[1, 2, 4, 8, 16, 32, 64, 11, 23], [23, 11]]
    assert [len(one) for one in passes(found[:3])] == [3]
    assert passes([]) == []
