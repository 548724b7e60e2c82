"""Which change of level a series has, and where."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cephtui.analysis.detectors.shifts import batch_means, floored_logs, shift_of
from tests.support.clean_seconds import clean_seconds
from tests.support.known import known

WOBBLE = (30, -20, 10, -40, 25, -15, 35, -30, 5, -10)
CASES: dict[str, tuple[Callable[[int], float], tuple[str, int, int] | None]] = {
    "constant": (lambda t: 1000.0, None),
    "cliff": (lambda t: 1000.0 if t < 40 else 600.0, ("step", 40, 40)),
    "half": (lambda t: 1000.0 if t < 40 else 450.0, ("collapse", 40, 40)),
    "rise": (lambda t: 400.0 if t < 20 else 1000.0, ("step", 20, 20)),
    "warm-up": (lambda t: 1000 * (1 - 0.5 * math.exp(-t / 3)), ("step", 4, 4)),
    "slope": (lambda t: 1000.0 - 5 * t, ("slope", 0, 60)),
    "small slope": (lambda t: 1000 - 5 / 3 * t, None),
    "dip": (lambda t: 500.0 if 30 <= t < 40 else 1000.0, ("dip", 30, 40)),
    "small dip": (lambda t: 800.0 if 30 <= t < 40 else 1000.0, None),
    "hump": (lambda t: 2000.0 if 30 <= t < 40 else 1000.0, None),
    "nothing": (lambda t: 0.0, None),
}


@pytest.mark.parametrize("name", CASES)
def test_reference_cases(name: str) -> None:
    level, expected = CASES[name]
    values = [max(0.0, level(t) + (WOBBLE[t % len(WOBBLE)] if level(t) else 0.0)) for t in range(60)]
    found = shift_of(values)
    assert (found and (found.kind, found.begun, found.over)) == expected


@pytest.mark.parametrize("seconds", [81, 160, 300, 599, 1000])
def test_the_place_in_a_long_run_is_exact_though_it_is_judged_in_batches(seconds: int) -> None:
    rng = np.random.default_rng(seconds)
    at = np.arange(seconds)
    for begun in (seconds // 3, seconds // 2 + 1):
        values = clean_seconds(rng, seconds, 0.03)
        assert known(shift_of((values * np.where(at < begun, 1, 0.3)).tolist())).begun == begun
        low = (at >= begun) & (at < begun + seconds // 5)
        dip = known(shift_of((values * np.where(low, 0.4, 1)).tolist()))
        assert (dip.kind, dip.begun, dip.over) == ("dip", begun, begun + seconds // 5)
        assert dip.low == (begun, begun + seconds // 5)


def test_what_is_lower_is_known_of_each() -> None:
    assert known(shift_of([1000.0] * 6 + [100.0] * 4)).low == (6, 10)
    assert known(shift_of([100.0] * 6 + [1000.0] * 4)).low == (0, 6)
    assert known(shift_of([1000.0 - 50 * t for t in range(10)])).low == (5, 10)
    assert known(shift_of([100.0 + 50 * t for t in range(10)])).low == (0, 5)


def test_batches_and_logarithms() -> None:
    assert batch_means([1.0, 3.0, 5.0, 7.0, 9.0], 2) == [2.0, 6.0]
    assert floored_logs([0.0, 2.0]) == [math.log(0.05), math.log(2.0)]
