"""What runs would show, and how many would: against scipy, and by simulation in four of five checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from scipy import stats

from cephtui.analysis.statistics.power import reach, runs_needed, spread_between
from cephtui.analysis.statistics.ratio import LogMean, paired, welch

TIMES = 400
"""So many checks that 80 % are known to 4 percentage points (two standard deviations)."""
CONFIDENCES = (0.95, 0.982)


@pytest.mark.parametrize("df", [2, 3, 4, 8, 18, 38])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_scipy_has_the_same_power(df: int, confidence: float) -> None:
    end = stats.t.ppf(0.5 + confidence / 2, df)
    assert stats.nct.sf(end, df, reach(confidence, df)) == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize("df", [2, 3, 4, 8, 18, 38])
def test_scipy_has_the_same_ends_of_a_spread(df: int) -> None:
    low, high = (math.sqrt(df / stats.chi2.ppf(end, df)) for end in (0.9, 0.1))
    assert spread_between(df) == pytest.approx((low, high), rel=0.04)


def test_a_spread_that_is_an_estimate_asks_for_more() -> None:
    known = reach(0.95, 4)
    assert [round(reach(0.95, 4, df) / known, 2) for df in (2, 4, 8, 1000)] == [1.66, 1.25, 1.11, 1.0]


def test_how_many_runs_would_decide() -> None:
    assert runs_needed(0.05, 0.05 * 2.3, 0.95) == 5
    assert runs_needed(0.05, 0.05 * 2.0, 0.95) == 6
    assert runs_needed(0.05, 0.05 * 2.0, 0.95, spread_df=4) == 8
    assert runs_needed(0.05, 0.05 / 10, 0.95) == 1572
    assert runs_needed(0.05, 0.0, 0.95) is None
    assert runs_needed(0.05, 1e-6, 0.95) is None
    assert runs_needed(0.05, 1e-6, 0.95, spread_df=4) is None


# ---------------------------------------------------------------------------------------------- by simulation


def pilots(runs: int, *, in_turns: bool, seed: int) -> Iterator[LogMean]:
    """The ratio of sides between which nothing is changed, with runs that are spread by 5 %."""
    chance = np.random.default_rng(seed)
    for before, after in np.exp(chance.normal(0, 0.05, (TIMES, 2, runs))).tolist():
        yield (paired if in_turns else welch)(before, after)


def is_shown(change: float, runs: int, confidence: float, *, in_turns: bool, seed: int) -> bool:
    """Whether new runs show a change of the logarithm."""
    chance = np.random.default_rng(seed)
    before, after = chance.normal(0, 0.05, runs), chance.normal(change, 0.05, runs)
    test = stats.ttest_rel(before, after) if in_turns else stats.ttest_ind(before, after, equal_var=False)
    return bool(test.pvalue < 1 - confidence)


@pytest.mark.parametrize("in_turns", [False, True], ids=["one side after the other", "in turns"])
@pytest.mark.parametrize(
    ("runs", "confidence"),
    [
        pytest.param(runs, confidence, marks=() if (runs == 3) == (confidence == 0.95) else pytest.mark.matrix)
        for runs, confidence in product((3, 4, 8), CONFIDENCES)
    ],
)
def test_what_runs_say_that_would_be_seen_is_seen(runs: int, confidence: float, *, in_turns: bool) -> None:
    falls = [ratio.detectable(confidence) for ratio in pilots(runs, in_turns=in_turns, seed=runs)]
    shown = [
        is_shown(math.log(1 - fall), runs, confidence, in_turns=in_turns, seed=seed) for seed, fall in enumerate(falls)
    ]
    assert 0.74 <= sum(shown) / TIMES <= 0.89


@pytest.mark.parametrize("in_turns", [False, True], ids=["one side after the other", "in turns"])
def test_of_three_runs_the_true_one_is_between_both_in_four_of_five(*, in_turns: bool) -> None:
    df = 2.0 if in_turns else 3.0
    true = 1 - math.exp(-reach(0.95, df) * 0.05 * math.sqrt(2 / 3))
    ends = [ratio.detectable_between(0.95) for ratio in pilots(3, in_turns=in_turns, seed=33)]
    assert 0.74 <= sum(low <= true <= high for low, high in ends) / TIMES <= 0.89


@pytest.mark.parametrize(("runs", "away"), [(3, 0.12), (3, 0.08), (5, 0.08), (8, 0.05)])
def test_so_many_runs_as_are_said_to_decide_do_so(runs: int, away: float) -> None:
    """Where the true change is as far from what is required as it is taken to be."""
    decided, true = [], runs_needed(0.05, away, 0.95)
    within = []
    for seed, ratio in enumerate(pilots(runs, in_turns=False, seed=runs)):
        spread = ratio.standard_error * math.sqrt(runs / 2)
        number = runs_needed(spread, away, 0.95, spread_df=2.0 * runs - 2)
        assert number
        decided.append(is_shown(away, number, 0.95, in_turns=False, seed=seed))
        low, high = (runs_needed(spread * end, away, 0.95) or 0 for end in spread_between(2.0 * runs - 2))
        within.append(low <= (true or 0) <= high)
    assert 0.76 <= sum(decided) / TIMES <= 0.92, "of few runs the next whole number is much more"
    assert sum(within) / TIMES >= 0.76
