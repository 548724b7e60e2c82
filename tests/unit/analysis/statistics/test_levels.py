"""A stretch below the others and a slope, against least squares as numpy solves them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from cephtui.analysis.statistics.levels import (
    Stretch,
    around_line,
    around_stretch,
    correlation_in,
    error_of_mean,
    low_stretch,
    slope_of,
    sum_of_squares,
)
from tests.support.clean_seconds import correlated
from tests.support.known import known


def t_by_numpy(values: list[float], begun: int, over: int, correlation: float) -> float:
    """How many standard errors a stretch is below the others, of values whose covariance is ``r ** |i - j|``."""
    count = len(values)
    at = np.arange(count)
    whiten = np.linalg.cholesky(np.linalg.inv(correlation ** np.abs(at[:, None] - at))).T
    model = whiten @ np.column_stack([np.ones(count), (at >= begun) & (at < over)])
    white = whiten @ np.array(values)
    solved, squares, *_ = np.linalg.lstsq(model, white)
    variance = squares[0] / (count - 2) * np.linalg.inv(model.T @ model)[1, 1]
    return float(-solved[1] / math.sqrt(variance))


@pytest.mark.parametrize(
    ("count", "begun", "over"), [(6, 0, 2), (6, 4, 6), (8, 3, 5), (20, 8, 12), (20, 2, 20), (20, 0, 15), (60, 30, 42)]
)
def test_t_is_that_of_generalised_least_squares(count: int, begun: int, over: int) -> None:
    at = np.arange(count)
    values = (0.03 * correlated(np.random.default_rng(count), count, 0.3) - ((at >= begun) & (at < over))).tolist()
    found = known(low_stretch(values))
    assert (found.begun, found.over) == (begun, over)
    correlation = correlation_in(around_stretch(values, found))
    assert found.t == pytest.approx(t_by_numpy(values, begun, over, correlation), rel=1e-9)


def test_levels_without_any_noise() -> None:
    assert low_stretch([1.0] * 10) is None
    assert low_stretch([0.0] * 10) is None
    step, dip = known(low_stretch([1.0] * 4 + [0.5] * 6)), known(low_stretch([1.0] * 4 + [0.5] * 3 + [1.0] * 4))
    assert (step.begun, step.over, step.t) == (4, 10, math.inf)
    assert (dip.begun, dip.over, dip.t) == (4, 7, math.inf)


def test_a_stretch_above_the_others_is_none_but_at_an_end() -> None:
    assert low_stretch([1.0] * 8 + [2.0] * 4 + [1.0] * 8) is None
    assert known(low_stretch([1.0] * 8 + [2.0] * 12)).over == 8


def test_what_is_left_over() -> None:
    assert around_stretch([4.0, 6.0, 1.0, 3.0], Stretch(2, 4, 1.0)) == [-1.0, 1.0, -1.0, 1.0]
    assert around_line([1.0, 2.0, 3.0]) == pytest.approx([0.0, 0.0, 0.0])
    assert sum_of_squares([3.0, 4.0]) == 25.0


@pytest.mark.parametrize("rise", [0.02, -0.03])
def test_the_slope_of_a_line(rise: float) -> None:
    values = [1 + rise * at + noise for at, noise in enumerate(0.02 * correlated(np.random.default_rng(1), 40, 0.2))]
    found = known(slope_of(values))
    by_numpy = np.polyfit(range(40), values, 1)
    assert (found.first, found.last) == pytest.approx((np.polyval(by_numpy, 0), np.polyval(by_numpy, 39)))
    correlation = correlation_in(around_line(values))
    white = [value - correlation * before for before, value in pairwise(values)]
    (steepness, _), covariance = np.polyfit(range(39), white, 1, cov=True)
    assert found.t == pytest.approx(abs(steepness) / math.sqrt(covariance[0, 0]), rel=1e-9)


def test_a_line_without_noise_and_none() -> None:
    assert known(slope_of([1.0 + at for at in range(10)])).t > 1e6
    assert slope_of([1.0] * 10) is None


def test_few_values_may_be_correlated_and_many_are_as_far_as_they_are() -> None:
    rng = np.random.default_rng(4)
    assert correlation_in(rng.standard_normal(6).tolist()) == 0.75
    assert correlation_in(rng.standard_normal(10_000).tolist()) == pytest.approx(0.025, abs=0.03)
    assert correlation_in(correlated(rng, 10_000, 0.5).tolist()) == pytest.approx(0.525, abs=0.05)
    assert correlation_in([0.0] * 100) == 0.25


def test_the_error_of_a_mean_grows_with_the_correlation() -> None:
    rng = np.random.default_rng(5)
    means = [float(np.mean(correlated(rng, 400, 0.5))) for _ in range(400)]
    errors = [error_of_mean(correlated(rng, 400, 0.5).tolist()) for _ in range(20)]
    assert np.std(means) < np.mean(errors) < 1.4 * np.std(means)
