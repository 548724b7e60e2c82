"""Simulated runs of both sides of a change, judged and looked at as a check does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from cephtui.analysis.statistics.ratio import log_deviation
from cephtui.analysis.statistics.together import answer_of_all
from cephtui.analysis.verdicts.guided_check import is_look, looks_of, next_turn
from cephtui.analysis.verdicts.verdict import Criteria, Figures, RunFigure, judge
from cephtui.models.metrics import Metric
from cephtui.models.study import CheckGoal
from cephtui.models.verdict import Verdict
from tests.support.runs import IOPS, STARTED, run

PLACES = [run(number) for number in range(1, 41)]
"""Runs one after the other; each gets the figure of its turn."""
DOWN = -10.0
"""What is required of simulated checks, in percent."""


Noise: TypeAlias = Callable[[np.random.Generator, tuple[int, ...], float], Any]
"""The logarithms of runs of this shape that are spread by this coefficient of variation, their true mean being 0."""


def log_normal(chance: np.random.Generator, shape: tuple[int, ...], cv: float) -> Any:
    return chance.normal(0, log_deviation(cv), shape)


def gamma(chance: np.random.Generator, shape: tuple[int, ...], cv: float) -> Any:
    shape_parameter = 1 / cv**2
    return np.log(chance.gamma(shape_parameter, 1, shape)) - special.digamma(shape_parameter)


def bimodal(chance: np.random.Generator, shape: tuple[int, ...], cv: float) -> Any:
    """Either of two levels by chance."""
    level = log_deviation(cv) * math.sqrt(0.9)
    return np.where(chance.random(shape) < 0.5, level, -level) + chance.normal(0, level / 3, shape)


def with_outliers(chance: np.random.Generator, shape: tuple[int, ...], cv: float) -> Any:
    """One run of 20 is slower by 30 %."""
    slow = math.log(0.7)
    return log_normal(chance, shape, cv) + slow * (chance.random(shape) < 0.05) - 0.05 * slow


NOISES: dict[str, Noise] = {
    "log-normal": log_normal, "gamma": gamma, "bimodal": bimodal, "one of 20 runs -30 %": with_outliers
}  # fmt: skip


def one_after_the_other(runs: int) -> str:
    return "A" * runs + "B" * runs


def in_turns(runs: int) -> str:
    return ("ABBA" * runs)[: 2 * runs]


def figures_of(order: str, values: Sequence[float], metric: Metric = IOPS) -> Figures:
    sides: dict[str, list[RunFigure]] = {"A": [], "B": []}
    for side, place, value in zip(order, PLACES, values, strict=False):
        sides[side].append(RunFigure(place, value))
    return Figures("write", metric, sides["A"], sides["B"])


def new_guided_check(*, takes_turns: bool, most: int = 12) -> CheckGoal:
    return CheckGoal(
        before=("b",),
        after=("a",),
        takes_turns=takes_turns,
        before_runs=6,
        most=most,
        require_percent=DOWN,
        same_percent=10.0,
        confidence=0.95,
    )


def carried_out(guided: CheckGoal, noise: Sequence[float], true: float) -> tuple[Verdict, list[int]]:
    """The last verdict of a check, and the numbers of runs a side at which it was looked."""
    criteria = Criteria(DOWN, looks=looks_of(guided))
    found: dict[str, list[RunFigure]] = {"before": [], "after": []}
    looked: list[int] = []
    last = None
    place = 0
    while turn := next_turn(guided, len(found["before"]), len(found["after"])):
        for _ in range(turn.runs):
            value = math.exp(noise[place]) * (true if turn.side == "after" else 1.0)
            found[turn.side].append(RunFigure(PLACES[place], value))
            place += 1
        if is_look(guided, len(found["before"]), len(found["after"])):
            looked.append(len(found["after"]))
            figures = Figures("write", IOPS, found["before"], found["after"])
            last = judge(figures, "write-iops", criteria, STARTED)
            if answer_of_all([last]) != "undecided":
                break
    assert last
    return last, looked
