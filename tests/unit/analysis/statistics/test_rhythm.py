"""A fall and rise that is repeated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cephtui.analysis.statistics.rhythm import rhythm_of
from tests.support.clean_seconds import correlated
from tests.support.known import known


def noisy(levels: list[float], seed: int = 1) -> list[float]:
    noise = 0.1 * correlated(np.random.default_rng(seed), len(levels), 0.2)
    return [level + float(part) for level, part in zip(levels, noise, strict=True)]


@pytest.mark.parametrize(
    ("period", "share"), [(2.0, 0.5), (3.0, 0.34), (4.5, 0.5), (7.3, 0.4), (10.0, 0.2), (12.0, 0.6), (20.0, 0.5)]
)
def test_the_period_and_what_is_low(period: float, share: float) -> None:
    low = [at / period % 1 < share for at in range(60)]
    found = known(rhythm_of(noisy([-0.7 if is_low else 0.0 for is_low in low])))
    assert found.period == pytest.approx(period, rel=0.05)
    assert sum(low[at] for at in found.low) >= 0.8 * len(found.low)
    assert found.strength > 20


def test_without_noise_the_strength_has_no_bound() -> None:
    assert known(rhythm_of([0.0, -1.0] * 6)).strength == math.inf
    assert rhythm_of([1.0] * 20) is None
    assert rhythm_of([]) is None
    assert rhythm_of([0.0, -1.0, 0.0, -1.0, 0.0]) is None, "five"


@pytest.mark.parametrize("begun", [0, 5, 12, 26])
@pytest.mark.parametrize("length", [1, 3, 6])
def test_what_falls_once_has_no_rhythm(begun: int, length: int) -> None:
    assert rhythm_of(noisy([-0.7 if begun <= at < begun + length else 0.0 for at in range(30)])) is None


@pytest.mark.parametrize("length", [3, 6, 12])
def test_what_falls_twice_has_none(length: int) -> None:
    assert rhythm_of(noisy([-0.7 if at % 30 >= 30 - length else 0.0 for at in range(60)])) is None


def test_a_step_and_a_slope_have_none() -> None:
    assert rhythm_of(noisy([-0.7 if at > 12 else 0.0 for at in range(40)])) is None
    assert rhythm_of(noisy([-at / 40 for at in range(40)])) is None


def test_a_rhythm_need_not_be_exact() -> None:
    rng = np.random.default_rng(6)
    levels: list[float] = []
    while len(levels) < 60:
        levels += [0.0] * int(rng.integers(3, 5)) + [-0.7] * int(rng.integers(2, 4))
    assert known(rhythm_of(noisy(levels[:60]))).period == pytest.approx(6.0, rel=0.2)


@pytest.mark.parametrize("seconds", [40, 60])
def test_falls_that_come_irregularly_have_a_mean_period(seconds: int) -> None:
    """Where they lead to another level, far below, and are no few outliers."""
    lengths = ((9, 2), (4, 3), (11, 1), (5, 3), (7, 2), (4, 1), (8, 3))
    low = [is_low for high_for, low_for in lengths for is_low in [False] * high_for + [True] * low_for][:seconds]
    levels = [-0.9 if is_low else 0.0 for is_low in low]
    found = known(rhythm_of(noisy(levels)))
    assert found.low == tuple(at for at, is_low in enumerate(low) if is_low)
    assert 7 < found.period < 11
    once = [-2.3 if 20 <= at < 25 else 0.04 * (at % 10 > 0) for at in range(seconds)]
    assert rhythm_of(once) is None, "the lowest of the others are no level"
    assert rhythm_of(noisy([-0.9 if at in (7, 19, 24, 38) else 0.0 for at in range(seconds)])) is None
