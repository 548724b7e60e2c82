"""The interval of a ratio against reference cases that were computed elsewhere, and against scipy."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

import pytest
from scipy import stats

from cephtui.analysis.statistics.ratio import (
    Better,
    LogMean,
    answer_of,
    holm,
    paired,
    prediction,
    required_ratio,
    welch,
    word_of,
)
from cephtui.analysis.statistics.t_distribution import cdf, quantile
from cephtui.models.verdict import Answer, Word

A = (10000, 10400, 9800, 10200, 9900)
LATENCY = (0.00640, 0.00655, 0.00630, 0.00648, 0.00642)
ALTERNATING = (10000, 9800, 9700, 9500, 9400, 9200), (9300, 9200, 9000, 8950, 8700, 8650)


class Case(NamedTuple):
    """What scipy says of two sides."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    ratio: float
    interval: tuple[float, float]
    standard_error: float
    df: float
    t: float | None
    """Against no change."""
    p_met: float
    word: Word
    answer: Answer
    required: float = -10
    better: Better = "more"


CASES = {
    "R1": Case(
        A, (8200, 8500, 8000, 8450, 8100), 0.820038, (0.790455, 0.850728), 0.0159046, 7.91918, -12.47467, 0.999801,
        "worse", "not met",
    ),
    "R2": Case(
        A, (10100, 9900, 10300, 10000, 10250), 1.005089, (0.974813, 1.036305), 0.0129827, 7.13067, 0.39100, 2.76326e-5,
        "same", "met",
    ),
    "R3": Case(
        A, (9100, 9700, 8600, 9500, 9000), 0.911920, (0.860417, 0.966505), 0.0236730, 5.91234, -3.89487, 0.299371,
        "not better", "undecided",
    ),
    "R4": Case(
        A, (12600, 13100, 12500, 12900, 12800), 1.270490, (1.231041, 1.311203), 0.0135412, 7.56372, 17.67960, 6.60e-9,
        "better", "met",
    ),
    "R5": Case(
        LATENCY, (0.00790, 0.00812, 0.00770, 0.00801, 0.00785), 1.231008, (1.199319, 1.263534), 0.0111120, 7.26945,
        18.70346, 0.999992, "worse", "not met", better="less",
    ),
    "R6": Case(
        (10000, 12000, 9000), (9000, 8000, 11000), 0.901780, (0.635907, 1.278813), 0.1253123, 3.95988, -0.82502,
        0.494092, "no verdict", "undecided",
    ),
    "R7": Case(
        (*A, 10050, 10150, 9950), (9300, 9500, 9150), 0.926489, (0.892981, 0.961255), 0.0127393, 3.63015, -5.99349,
        0.0459224, "not better", "undecided",
    ),
    "R8": Case(
        A, (12600, 13100, 12500, 12900, 12800), 1.270490, (1.231041, 1.311203), 0.0135412, 7.56372, 17.67960,
        0.00166377, "better", "met", required=20,
    ),
    "R9": Case(
        A, (12100, 12300, 11900, 12250, 12050), 1.204961, (1.169866, 1.241110), 0.0122004, 6.25737, None, 0.373141,
        "better", "undecided", required=20,
    ),
    "R10": Case(
        *ALTERNATING, 0.934055, (0.899123, 0.970344), 0.0171029, 9.98417, -3.98880, 0.0275318, "not better",
        "undecided",
    ),
    "R11": Case(
        LATENCY, (0.00480, 0.00492, 0.00470, 0.00488, 0.00483), 0.750516, (0.733015, 0.768434), 0.0101709, 7.73588,
        None, 0.000137104, "better", "met", required=20, better="less",
    ),
}  # fmt: skip


def judged(found: LogMean, case: Case) -> tuple[Word, Answer]:
    interval = found.interval(0.95)
    required = required_ratio(case.required, case.better)
    return word_of(interval, 0.1, case.better), answer_of(interval, required, case.better)


@pytest.mark.parametrize("name", CASES)
def test_two_sides_one_after_the_other(name: str) -> None:
    case = CASES[name]
    found = welch(case.before, case.after)
    assert found.value == pytest.approx(case.ratio, abs=6e-7)
    assert found.interval(0.95) == pytest.approx(case.interval, abs=6e-7)
    assert found.standard_error == pytest.approx(case.standard_error, abs=6e-8)
    assert found.df == pytest.approx(case.df, abs=6e-6)
    if case.t is not None:
        assert found.t() == pytest.approx(case.t, rel=4e-6)
        assert found.p_same() == pytest.approx(2 * stats.t.sf(abs(case.t), case.df), rel=1e-4)
    assert found.p_met(required_ratio(case.required, case.better), case.better) == pytest.approx(case.p_met, rel=2e-3)
    assert judged(found, case) == (case.word, case.answer)


def test_runs_that_took_turns() -> None:
    found = paired(*ALTERNATING)
    assert found.value == pytest.approx(0.934055, abs=6e-7)
    assert found.interval(0.95) == pytest.approx((0.926621, 0.941549), abs=6e-7)
    assert [found.standard_error, found.df] == pytest.approx([0.0031086, 5], rel=2e-5)
    assert found.t() == pytest.approx(-21.94577, rel=3e-7)
    assert found.p_met(0.9, "more") == pytest.approx(3.62e-5, rel=2e-3)
    assert word_of(found.interval(0.95), 0.1, "more") == "same"
    assert answer_of(found.interval(0.95), 0.9, "more") == "met"


def test_another_confidence() -> None:
    found = welch(*CASES["R4"][:2])
    assert found.interval(0.99) == pytest.approx((1.213119, 1.330575), abs=6e-7)
    assert found.t(1.2) == pytest.approx(4.215385, rel=3e-7)
    assert welch(*CASES["R9"][:2]).t(1.2) == pytest.approx(0.338188, rel=3e-6)


def test_published_cases() -> None:
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    # the sleep data of R, whose test is not on logarithms
    sleep = [math.exp(value) for value in second], [math.exp(value) for value in first]
    found = welch(*sleep)
    assert [found.t(), found.df] == pytest.approx([-1.8608, 17.776], rel=4e-5)
    assert 2 * cdf(found.t(), found.df) == pytest.approx(0.07939, rel=2e-4)
    assert [math.log(end) for end in found.interval(0.95)] == pytest.approx([-3.3655, 0.2055], rel=3e-4)
    together = paired(*sleep)
    assert [together.t(), together.df] == pytest.approx([-4.0621, 9], rel=1e-5)
    assert [math.log(end) for end in together.interval(0.95)] == pytest.approx([-2.4599, -0.7001], rel=1e-4)


@pytest.mark.parametrize(
    ("probability", "df", "expected"),
    [
        (0.975, df, value)
        for df, value in zip((1, 2, 4, 8, 18), (12.706205, 4.302653, 2.776445, 2.306004, 2.100922), strict=True)
    ]
    + [(0.995, 18, 2.878440)],
)
def test_quantiles(probability: float, df: float, expected: float) -> None:
    assert quantile(probability, df) == pytest.approx(expected, abs=6e-7)
    assert quantile(1 - probability, df) == -quantile(probability, df)
    assert cdf(quantile(probability, df), df) == pytest.approx(probability, rel=1e-12)


def test_holm() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04, 0.005]) == pytest.approx([0.04, 0.06, 0.06, 0.06, 0.025])
    assert holm([]) == []
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_a_further_run() -> None:
    assert prediction(A, 0.95) == pytest.approx((9354.2, 10814.2), abs=0.06)


def test_equal_figures_have_no_spread() -> None:
    found = welch((100, 100), (120, 120))
    assert found.interval(0.95) == pytest.approx((1.2, 1.2))
    assert found.p_met(1.1, "more") == 0.0
    assert found.p_met(1.3, "more") == 1.0
    assert welch((100, 100), (100, 100)).t() == 0.0


@pytest.mark.parametrize("name", CASES)
def test_scipy_finds_the_same(name: str) -> None:
    case = CASES[name]
    found = welch(case.before, case.after)
    other = stats.ttest_ind(
        *([math.log(value) for value in side] for side in (case.after, case.before)), equal_var=False
    )
    assert [found.t(), found.df] == pytest.approx([other.statistic, other.df], rel=1e-9)
    for confidence in (0.9, 0.95, 0.99):
        ends = other.confidence_interval(confidence)
        assert found.interval(confidence) == pytest.approx([math.exp(ends.low), math.exp(ends.high)], rel=1e-9)
    alternative = "greater" if case.better == "less" else "less"
    required = math.log(required_ratio(case.required, case.better))
    shifted = [math.log(value) for value in case.after], [math.log(value) + required for value in case.before]
    p = 1 - stats.ttest_ind(*shifted, equal_var=False, alternative=alternative).pvalue
    assert found.p_met(math.exp(required), case.better) == pytest.approx(p, abs=1e-12)


def test_the_distribution_against_scipy() -> None:
    chance = random.Random(8)
    for _ in range(1000):
        df = chance.uniform(0.5, chance.choice([3, 30, 200]))
        value, probability = chance.uniform(-30, 30), chance.choice([chance.uniform(1e-4, 0.9999), 0.975, 0.991, 0.8])
        assert cdf(value, df) == pytest.approx(stats.t.cdf(value, df), rel=1e-10)
        assert quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-10, abs=1e-12)
