"""How often a verdict is wrong, and how often there is one: simulated runs with fixed seeds, judged as a check does."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from cephtui.analysis.runs.change import Change
from cephtui.analysis.statistics import looks
from cephtui.analysis.statistics.looks import ONE_LOOK
from cephtui.analysis.statistics.ratio import log_deviation, required_ratio
from cephtui.analysis.statistics.together import answer_of_all
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement
from cephtui.analysis.verdicts.drift import trend, unnoticed_drift
from cephtui.analysis.verdicts.guided_check import looks_of, seen_at_look
from cephtui.analysis.verdicts.verdict import Criteria, judge
from cephtui.analysis.verdicts.versus import Versus, WholeSession, conclude_versus
from cephtui.models import Run, Summary
from cephtui.models.metrics import Metric
from cephtui.models.study import CheckGoal
from cephtui.models.verdict import Verdict
from tests.support.by_floats import compute_by_floats
from tests.support.known import known
from tests.support.runs import IOPS, LATENCY, STARTED, run, total
from tests.support.simulated import (
    DOWN,
    PLACES,
    carried_out,
    figures_of,
    in_turns,
    new_guided_check,
    one_after_the_other,
)

CHECKS = 1000
MOST_WRONG = 0.04
"""Of the 2.5 % of each side, with three standard deviations of 1,000 checks."""
UP = 20.0


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    compute_by_floats(monkeypatch)


def checks(order: str, *, ratio: float = 1.0, cv: float = 0.05, seed: int, drift: float = 0.0) -> Iterator[list[float]]:
    """The figures of each run of many checks, in the order of time."""
    chance = np.random.default_rng(seed)
    truth = np.log([ratio if side == "B" else 1.0 for side in order]) + np.log1p(np.linspace(0, drift, len(order)))
    for noise in chance.normal(0, log_deviation(cv), (CHECKS, len(order))):
        yield [float(value) for value in 10_000 * np.exp(truth + noise)]


def verdicts(
    order: str, criteria: Criteria, metric: Metric = IOPS, *, ratio: float = 1.0, seed: int, drift: float = 0.0
) -> list[Verdict]:
    return [
        judge(figures_of(order, values, metric), "write-iops", criteria, STARTED)
        for values in checks(order, ratio=ratio, seed=seed, drift=drift)
    ]


def answers(found: Sequence[Verdict]) -> dict[str, float]:
    """How often each answer is given."""
    counts = Counter(answer_of_all([each]) for each in found)
    return {answer: counts[answer] / len(found) for answer in ("met", "not met", "undecided")}


def differing(found: Sequence[Verdict]) -> float:
    return sum(each.differs is not None for each in found) / len(found)


@pytest.mark.parametrize("runs", [3, 5, 12])
def test_without_a_change_none_is_found(runs: int) -> None:
    found = verdicts(one_after_the_other(runs), Criteria(require_percent=0.0), seed=runs)
    assert answers(found)["not met"] <= MOST_WRONG
    assert answers(found)["met"] <= MOST_WRONG
    assert 0.02 <= differing(found) <= 2 * MOST_WRONG


@pytest.mark.parametrize("metric", [IOPS, LATENCY], ids=lambda metric: metric.name)
@pytest.mark.parametrize("required", [DOWN, UP])
def test_at_the_threshold_both_answers_are_rare(metric: Metric, required: float) -> None:
    true = required_ratio(required, metric.better)
    found = answers(verdicts(one_after_the_other(5), Criteria(required), metric, ratio=true, seed=20))
    assert 0.005 <= found["met"] <= MOST_WRONG
    assert 0.005 <= found["not met"] <= MOST_WRONG


@pytest.mark.parametrize(("true", "answer"), [(1.0, "met"), (0.81, "not met")])
def test_what_is_there_is_found_by_five_runs_a_side(true: float, answer: str) -> None:
    found = answers(verdicts(one_after_the_other(5), Criteria(), ratio=true, seed=30))
    assert 0.77 <= found[answer] <= 0.85
    assert found["met" if answer == "not met" else "not met"] <= 0.001


# ---------------------------------------------------------------------------------------------- two sessions

PAIRS, PRESETS, REPEATS = 400, 8, 3
MOST_SHOWN = 0.072
"""Of the 5 % of each pair of sessions, with two standard deviations of 400 pairs."""
SIDES = [
    [[run(at + REPEATS * (preset + begun), session=name, preset=f"p{preset}") for at in range(1, REPEATS + 1)]
     for preset in range(PRESETS)]
    for name, begun in (("a", 0), ("b", PRESETS))
]  # fmt: skip
"""The runs of two sessions, one after the other, by their presets; each gets a figure for each pair."""


def measuring(place: Run, iops: float) -> Run:
    return place.model_copy(update={"summary": Summary(write=total(iops=iops))})


def compared(spread: float, seed: int) -> Iterator[Judgement]:
    """Pairs of sessions between which nothing has changed."""
    chance = np.random.default_rng(seed)
    for noise in chance.normal(0, log_deviation(spread), (PAIRS, 2, PRESETS, REPEATS)):
        sides = [
            [tuple(map(measuring, runs, values)) for runs, values in zip(side, of_side, strict=True)]
            for side, of_side in zip(SIDES, (1000 * np.exp(noise)).tolist(), strict=True)
        ]
        left, right = (WholeSession([each for runs in side for each in runs]) for side in sides)
        found = Versus(left, right, tuple(map(Change, *sides)), ())
        yield conclude_versus(found, ConclusionTerms(lambda _: IOPS), STARTED)


@pytest.mark.parametrize("spread", [0.1, *(pytest.param(spread, marks=pytest.mark.matrix) for spread in (0.05, 0.2))])
def test_between_two_sessions_alike_nothing_is_faster_or_slower(spread: float) -> None:
    found = list(compared(spread, seed=round(1000 * spread)))
    shown = [{each.differs for each in judged.deciding} - {None} for judged in found]
    words = [{each.word for each in judged.deciding} & {"better", "worse"} for judged in found]
    said = [any(" 0 faster, 0 slower, 8 not" in note for note in judged.conclusion.notes) for judged in found]
    assert {each.method for judged in found for each in judged.deciding} == {"welch"}
    assert 0.01 <= sum(map(bool, shown)) / PAIRS <= MOST_SHOWN
    assert sum(map(bool, words)) <= sum(map(bool, shown))
    assert [not each for each in said] == list(map(bool, shown))
    assert sum(judged.conclusion.answer == "not met" for judged in found) / PAIRS <= MOST_SHOWN / 2


# ---------------------------------------------------------------------------------------------- where it measures


def measured(guided: CheckGoal, true: float, *, seed: int, times: int = CHECKS) -> list[tuple[Verdict, list[int]]]:
    chance = np.random.default_rng(seed)
    return [
        carried_out(guided, noise, true)
        for noise in chance.normal(0, log_deviation(0.05), (times, len(PLACES))).tolist()
    ]


@pytest.mark.parametrize("takes_turns", [True, False], ids=["in turns", "before is fixed"])
def test_several_looks_are_wrong_no_more_often_than_one(takes_turns: bool) -> None:
    found = measured(new_guided_check(takes_turns=takes_turns), 0.9, seed=40)
    rates = answers([last for last, _ in found])
    assert 0.01 <= rates["met"] <= MOST_WRONG
    assert 0.01 <= rates["not met"] <= MOST_WRONG
    assert {at for _, each in found for at in each} == {4, 6, 8, 12}
    assert all(each == [4, 6, 8, 12][: len(each)] for _, each in found)
    assert {last.method for last, _ in found} == {"paired" if takes_turns else "welch"}


@pytest.mark.parametrize("takes_turns", [True, False], ids=["in turns", "before is fixed"])
@pytest.mark.parametrize("after", [4, 6, 8, 12])
def test_what_a_look_is_said_to_see_it_sees_in_four_of_five(takes_turns: bool, after: int) -> None:
    guided = new_guided_check(takes_turns=takes_turns)
    before = after if takes_turns else guided.before_runs
    least = seen_at_look(guided, 0.05, before, after)
    order = in_turns(after) if takes_turns else "A" * before + "B" * after
    found = verdicts(order, Criteria(looks=looks_of(guided)), ratio=1 - least, seed=45 + after)
    assert 0.75 <= differing(found) <= 0.87


def test_measuring_until_it_is_decided_would_be_seen_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "_AT", tuple(range(3, 21)))
    monkeypatch.setattr(looks, "_LEVELS", {20: {0.95: 0.05}})
    monkeypatch.setattr(looks, "_PAIRED", 1.0)
    found = measured(new_guided_check(takes_turns=True, most=20), 0.9, seed=50, times=250)
    rates = answers([last for last, _ in found])
    assert min(rates["met"], rates["not met"]) > 0.08


# ---------------------------------------------------------------------------------------------- time


def test_runs_that_take_turns_are_not_misled_by_a_drift() -> None:
    drift = -0.2
    turns = verdicts(in_turns(6), Criteria(), seed=60, drift=drift)
    assert {each.method for each in turns} == {"paired"}
    assert differing(turns) <= 0.065
    assert differing(verdicts(one_after_the_other(6), Criteria(), seed=61, drift=drift)) > 0.5


@pytest.mark.parametrize("runs", [3, 5, 12])
def test_of_noise_no_trend_is_named(runs: int) -> None:
    order = one_after_the_other(runs)
    found = [trend(figures_of(order, values), Criteria()) for values in checks(order, seed=70 + runs)]
    assert sum(each is not None for each in found) / len(found) <= 0.05


def test_a_drift_is_named() -> None:
    order = one_after_the_other(8)
    found = [trend(figures_of(order, values), Criteria()) for values in checks(order, seed=80, drift=-0.4)]
    assert sum(each is not None and each < 0 for each in found) / len(found) > 0.9


@pytest.mark.parametrize("cv", [0.02, 0.05])
@pytest.mark.parametrize("runs", [3, 5, 8])
def test_a_drift_as_great_as_is_said_is_noticed_in_four_of_five(runs: int, cv: float) -> None:
    """Of the middles of the sides, which are half of all runs apart; runs are spread as they were before."""
    order = one_after_the_other(runs)
    noticed = 0
    pairs = zip(checks(order, cv=cv, seed=90), checks(order, cv=cv, seed=91 + runs), strict=True)
    for first, second in itertools.islice(pairs, 500):
        drift = known(unnoticed_drift(figures_of(order, first), Criteria()))
        drifting = [value * (1 - drift) ** (place / runs) for place, value in enumerate(second)]
        noticed += trend(figures_of(order, drifting), Criteria()) is not None
    assert 0.74 <= noticed / 500 <= 0.88


def test_the_looks_of_a_single_one_are_as_many_as_there_are() -> None:
    assert (ONE_LOOK.at, ONE_LOOK.number(7), ONE_LOOK.nominal(0.95, paired=True)) == ((), 1, 0.95)
