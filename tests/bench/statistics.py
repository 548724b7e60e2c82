"""What the texts promise of runs beside what simulated runs measure: by the product's own functions, with fixed seeds.

A row is a share of simulated cases in percent; its goal is what is promised. ``PROMISES`` has them: another one is a
row there, with a function that counts cases.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from cephtui.analysis.detectors.slowest import slow_osds
from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.statistics.power import reach, runs_needed, spread_between
from cephtui.analysis.statistics.ratio import LogMean, log_deviation, paired, prediction, required_ratio, welch
from cephtui.analysis.statistics.together import answer_of_all
from cephtui.analysis.verdicts.drift import trend, unnoticed_drift
from cephtui.analysis.verdicts.expectation import judge_expectation, parse_expectation
from cephtui.analysis.verdicts.guided_check import looks_of, seen_at_look
from cephtui.analysis.verdicts.knee import knee_of
from cephtui.analysis.verdicts.stable import StableGoal, half_width
from cephtui.analysis.verdicts.verdict import Criteria, judge
from cephtui.models import Run
from cephtui.models.verdict import Answer
from tests.bench.table import Goal, Row, at_least, at_most, row
from tests.support.by_floats import compute_by_floats
from tests.support.clean_seconds import (
    Distribution,
    Trouble,
    clean_osds,
    clean_seconds,
    collapse,
    course_of,
    dip,
    findings_of,
    half,
    late_dip,
    saw,
)
from tests.support.closed_loops import SYSTEMS, swept
from tests.support.runs import STARTED, run, total
from tests.support.simulated import (
    DOWN,
    NOISES,
    PLACES,
    Noise,
    carried_out,
    figures_of,
    in_turns,
    log_normal,
    new_guided_check,
    one_after_the_other,
    with_outliers,
)

Say: TypeAlias = Callable[[str], None]
Cases: TypeAlias = Iterator[bool]
"""Of each simulated case whether it is one of those that are counted."""
_IN_TURNS = "in turns"
_ORDERS = {"one side after the other": one_after_the_other, _IN_TURNS: in_turns}
_CV = 0.05
_ABOUT = at_least(75)
"""Of what is said to hold in about four of five cases."""
_LENGTHS = (6, 10, 20, 30, 60, 120, 300)
"""Seconds of runs."""
_DISTRIBUTIONS: Sequence[Distribution] = ("log-normal", "gamma", "seasonal", "outliers")
_TROUBLES: dict[str, Trouble] = {"collapse": collapse, "half": half, "dip": dip, "late dip": late_dip, "saw": saw(6)}
_CLEAN = at_most(2)
_THRESHOLD = math.log(required_ratio(DOWN, "more"))


@dataclass(frozen=True, slots=True)
class Promise:
    """What a text promises, and cases that are counted to see whether it is kept."""

    text: str
    goal: Goal
    cases: Callable[[np.random.Generator], Cases]
    times: int = 2000


def rows(_: Path, say: Say) -> Iterator[Row]:
    """A row for each promise, as it has been counted."""
    with pytest.MonkeyPatch.context() as patch:
        compute_by_floats(patch)
        for number, promise in enumerate(PROMISES, 1):
            say(f"{number} of {len(PROMISES)}: {promise.text}")
            yield row_of(promise, seed=number)


def row_of(promise: Promise, seed: int) -> Row:
    """The share of cases with two standard deviations; a promise is broken that lies outside of these."""
    cases = promise.cases(np.random.default_rng(seed))
    counted = [1.0 * holds for holds, _ in zip(cases, range(promise.times), strict=False)]
    share = sum(counted) / len(counted)
    off = 2 * math.sqrt(max(share * (1 - share), 1 / len(counted)) / len(counted))
    spread = 100 * max(0.0, share - off), 100 * min(1.0, share + off)
    told = not any(map(promise.goal.holds, spread))
    how = f"two standard deviations of {len(counted)} simulated cases"
    return row(promise.text, 100 * share, "%", promise.goal, told=told, spread=spread, how=how)


# ---------------------------------------------------------------------------------------------- a check


def _answers(order: str, noise: Noise, change: float, answer: Answer, chance: np.random.Generator) -> Cases:
    """Checks with one look: which have this answer."""
    while True:
        logs = noise(chance, (len(order),), _CV) + [change * (side == "B") for side in order]
        figures = figures_of(order, (1e4 * np.exp(logs)).tolist())
        yield answer_of_all([judge(figures, "p", Criteria(), STARTED)]) == answer


def _answers_of_looks(noise: Noise, answer: Answer, chance: np.random.Generator, *, takes_turns: bool) -> Cases:
    """Checks with looks at 4, 6, 8 and 12 runs a side at just what is required: which have this answer."""
    guided = new_guided_check(takes_turns=takes_turns)
    while True:
        logs = noise(chance, (len(PLACES),), _CV).tolist()
        yield answer_of_all([carried_out(guided, logs, math.exp(_THRESHOLD))[0]]) == answer


def _covered(runs: int, noise: Noise, chance: np.random.Generator, *, takes_turns: bool) -> Cases:
    """Intervals of ratios: which hold the true one."""
    while True:
        low, high = _ratio(runs, noise, chance, 0.0, takes_turns=takes_turns).interval(0.95)
        yield low <= 1 <= high


def _ratio(runs: int, noise: Noise, chance: np.random.Generator, change: float, *, takes_turns: bool) -> LogMean:
    before, after = np.exp(noise(chance, (2, runs), _CV) + np.array([[0.0], [change]])).tolist()
    return (paired if takes_turns else welch)(before, after)


def _is_shown(ratio: LogMean, confidence: float = 0.95) -> bool:
    low, high = ratio.interval(confidence)
    return not low <= 1 <= high


def _seen(runs: int, chance: np.random.Generator, *, takes_turns: bool) -> Cases:
    """Changes as great as runs say would be seen: which further runs show."""
    while True:
        fall = _ratio(runs, log_normal, chance, 0.0, takes_turns=takes_turns).detectable(0.95)
        yield _is_shown(_ratio(runs, log_normal, chance, math.log(1 - fall), takes_turns=takes_turns))


def _seen_by_three(chance: np.random.Generator, *, takes_turns: bool) -> Cases:
    """The range of what three runs a side would show: whether it holds the least change that they do."""
    df = 2.0 if takes_turns else 3.0
    true = 1 - math.exp(-reach(0.95, df) * log_deviation(_CV) * math.sqrt(2 / 3))
    while True:
        low, high = _ratio(3, log_normal, chance, 0.0, takes_turns=takes_turns).detectable_between(0.95)
        yield low <= true <= high


def _seen_at_look(runs: int, chance: np.random.Generator, *, takes_turns: bool) -> Cases:
    """What the plan of a check says that a look would show."""
    guided = new_guided_check(takes_turns=takes_turns)
    fall = seen_at_look(guided, _CV, runs, runs)
    nominal = looks_of(guided).nominal(0.95, paired=takes_turns)
    while True:
        yield _is_shown(_ratio(runs, log_normal, chance, math.log(1 - fall), takes_turns=takes_turns), nominal)


def _decided(runs: int, change: float, chance: np.random.Generator) -> Cases:
    """Checks with as many runs as were said to decide, the true change being the one that it was said of."""
    away = math.log1p(change) - _THRESHOLD
    while True:
        spread = _ratio(runs, log_normal, chance, 0.0, takes_turns=False).standard_error * math.sqrt(runs / 2)
        number = runs_needed(spread, away, 0.95, spread_df=2.0 * runs - 2) or 0
        yield _is_shown(_ratio(number, log_normal, chance, away, takes_turns=False))


def _decided_by_three(change: float, chance: np.random.Generator) -> Cases:
    """The range of the number of runs that would decide, said by three: whether it holds the true number."""
    away = math.log1p(change) - _THRESHOLD
    true = runs_needed(log_deviation(_CV), away, 0.95) or 0
    while True:
        spread = _ratio(3, log_normal, chance, 0.0, takes_turns=False).standard_error * math.sqrt(3 / 2)
        low, high = (runs_needed(spread * end, away, 0.95) or 0 for end in spread_between(4.0))
        yield low <= true <= high


def _further_run(runs: int, chance: np.random.Generator) -> Cases:
    """A further run before: whether it lies outside of what is said of it."""
    while True:
        *before, after = np.exp(log_normal(chance, (runs + 1,), _CV)).tolist()
        low, high = prediction(before, 0.95)
        yield not low <= after <= high


# ---------------------------------------------------------------------------------------------- time


def _drifted(runs: int, drift: float | None, chance: np.random.Generator) -> Cases:
    """Runs one side after the other that drift, by None as far as they say would be noticed: where it is noticed."""
    order = one_after_the_other(runs)
    while True:
        first, second = np.exp(log_normal(chance, (2, len(order)), _CV)).tolist()
        fall = (unnoticed_drift(figures_of(order, first), Criteria()) or 0.0) if drift is None else drift
        drifting = [value * (1 - fall) ** (place / runs) for place, value in enumerate(second)]
        yield trend(figures_of(order, drifting), Criteria()) is not None


# ---------------------------------------------------------------------------------------------- one side


def _stable(noise: Noise, cv: float, chance: np.random.Generator) -> Cases:
    """Runs repeated until stable: whether the interval at the end holds the true mean."""
    goal = StableGoal()
    while True:
        logs = noise(chance, (goal.most,), cv).tolist()
        values = [math.exp(log) for log in logs]
        number = next((n for n in range(2, goal.most) if goal.is_reached({"write": values[:n]})), goal.most)
        half = half_width(values[:number]) or 0.0
        yield abs(sum(logs[:number]) / number) <= math.log1p(half)


def _expected(runs: int, answer: Answer, noise: Noise, chance: np.random.Generator) -> Cases:
    """``--expect`` of runs that are just at what is required: which have this answer."""
    expected = parse_expectation("write iops>=10000")
    while True:
        every = [
            _wrote(place, expected.required * math.exp(log)) for place, log in enumerate(noise(chance, (runs,), _CV))
        ]
        seconds = {name_of(each): (0, 0) for each in every}
        yield judge_expectation(expected, "p", every, seconds, STARTED).answer == answer


def _wrote(number: int, iops: float) -> Run:
    return run(number + 1, write=total(iops=iops, ios=round(iops * 60), runtime_seconds=60.0))


def _knee(name: str, repeats: int, chance: np.random.Generator) -> Cases:
    """The interval of a knee: whether it holds that of the system."""
    system, true = SYSTEMS[name]
    source = random.Random(int(chance.integers(1 << 30)))
    while True:
        knee = knee_of(swept(system, source, _CV, repeats))
        assert knee
        low, high = knee.interval or (0.0, 0.0)
        yield low <= true <= high


# ---------------------------------------------------------------------------------------------- the list


_WRONG = at_most(2.5)
_ANSWERS: tuple[Answer, ...] = ("met", "not met")


def _clean_run(nodes_most: int, distribution: Distribution, chance: np.random.Generator) -> Cases:
    """Of runs of any length, spread and correlation whether something is found in their seconds."""
    while True:
        seconds, lag = int(chance.choice(_LENGTHS)), float(chance.uniform(0, 0.7))
        spread = float(chance.uniform(0.05, 0.2 if distribution == "outliers" else 0.35))
        nodes = int(chance.integers(min(2, nodes_most), nodes_most + 1))
        levels = np.exp(chance.normal(0, 0.05, nodes))
        rates = {
            f"pve{number}": (level * clean_seconds(chance, seconds, spread, lag, distribution)).tolist()
            for number, level in enumerate(levels)
        }
        yield bool(course_of(rates).findings())


def _clean_osds(chance: np.random.Generator) -> Cases:
    while True:
        osds, seconds = int(chance.integers(3, 49)), int(chance.choice(_LENGTHS))
        yield slow_osds(clean_osds(chance, osds, seconds, float(chance.uniform(0.05, 0.2)))) is not None


def _troubled_run(trouble: Trouble, chance: np.random.Generator) -> Cases:
    factors = trouble(60)
    while True:
        yield bool(findings_of((factors * clean_seconds(chance, 60, 0.1, 0.2)).tolist()))


def _of_checks() -> Iterator[Promise]:
    for (name, noise), order, answer in product(NOISES.items(), _ORDERS, _ANSWERS):
        cases = partial(_answers, _ORDERS[order](5), noise, _THRESHOLD, answer)
        yield Promise(f"check, wrongly {answer}: {name}, 5 runs, {order}", _WRONG, cases)
    for (name, noise), order, answer in product(NOISES.items(), _ORDERS, _ANSWERS):
        cases = partial(_answers_of_looks, noise, answer, takes_turns=order == _IN_TURNS)
        yield Promise(f"check with 4 looks, wrongly {answer}: {name}, {order}", _WRONG, cases, 1000)
    for (name, noise), runs in product(NOISES.items(), (3, 5)):
        cases = partial(_covered, runs, noise, takes_turns=False)
        yield Promise(f"interval of a ratio: {name}, {runs} runs a side", at_least(95), cases)
    yield Promise("a further run outside of its interval: 5 runs", at_most(5), partial(_further_run, 5))


def _of_power() -> Iterator[Promise]:
    for order in _ORDERS:
        takes_turns = order == _IN_TURNS
        three = partial(_seen_by_three, takes_turns=takes_turns)
        yield Promise(f"would be seen, the range of 3 runs: {order}", _ABOUT, three)
        for runs in (4, 8):
            seen = partial(_seen, runs, takes_turns=takes_turns)
            yield Promise(f"would be seen, {runs} runs: {order}", _ABOUT, seen)
            planned = partial(_seen_at_look, runs, takes_turns=takes_turns)
            yield Promise(f"a look would see, {runs} runs: {order}", _ABOUT, planned)
    for change in (0.0, -0.05):
        text = f"if the true change is {100 * change:+.0f} %"
        yield Promise(f"would decide, the range of 3 runs: {text}", _ABOUT, partial(_decided_by_three, change))
        for runs in (4, 8):
            yield Promise(f"would decide, of {runs} runs: {text}", _ABOUT, partial(_decided, runs, change))


def _of_time() -> Iterator[Promise]:
    for runs in (3, 5, 8):
        yield Promise(f"drift said of runs without one: {runs} runs", at_most(5), partial(_drifted, runs, 0.0))
        yield Promise(f"drift noticed that is said to be: {runs} runs", _ABOUT, partial(_drifted, runs, None))


def _of_one_side() -> Iterator[Promise]:
    for cv, (name, noise) in product((0.03, 0.05, 0.12), NOISES.items()):
        goal = at_least(94 if noise is with_outliers else 95)
        text = f"--until-stable, the interval: {name}, spread {100 * cv:.0f} %"
        yield Promise(text, goal, partial(_stable, noise, cv), 1000)
    for runs, answer in product((3, 5), _ANSWERS):
        text = f"--expect at what is required, wrongly {answer}: {runs} runs"
        yield Promise(text, _WRONG, partial(_expected, runs, answer, log_normal), 1000)
    for name in SYSTEMS:
        yield Promise(f"knee, the interval: {name}, 3 runs a point", at_least(95), partial(_knee, name, 3), 400)


def _of_seconds() -> Iterator[Promise]:
    for distribution in _DISTRIBUTIONS:
        text = f"seconds of clean runs, {distribution}: something is found"
        yield Promise(text, _CLEAN, partial(_clean_run, 1, distribution), 1000)
    yield Promise("clean runs of 2 to 16 nodes: something is found", _CLEAN, partial(_clean_run, 16, "log-normal"), 400)
    yield Promise("3 to 48 OSDs that are alike: one is found slow", _CLEAN, _clean_osds, 400)
    for name, trouble in _TROUBLES.items():
        yield Promise(f"{name} in 60 s, spread 10 %: it is found", at_least(90), partial(_troubled_run, trouble), 200)


PROMISES: Sequence[Promise] = (*_of_checks(), *_of_power(), *_of_time(), *_of_one_side(), *_of_seconds())
"""All that is counted, in the order of the rows."""
