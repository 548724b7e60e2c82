"""How often something is found in clean runs, and how often what is there is found: simulated runs with fixed seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest

from cephtui.analysis.detectors.settling import PerSecond
from tests.support.clean_seconds import (
    Distribution,
    Trouble,
    clean_seconds,
    collapse,
    course_of,
    dip,
    half,
    late_dip,
    sample,
    saw,
    slope,
    step,
)

LENGTHS = (6, 9, 14, 20, 33, 60, 150, 300)
A_FEW = (6, 14, 30, 60, 200)
SPREADS = (0.05, 0.1, 0.2, 0.35)
LAGS = (0.0, 0.35, 0.7)
MOST = 0.02
"""The share of clean runs in which something may be found, by all rules together."""


def codes(values: Sequence[float]) -> frozenset[str]:
    """What is found in the seconds of a run."""
    seconds = PerSecond()
    for second, value in enumerate(values, 1):
        seconds.add(sample(second, value))
    return frozenset(trouble.kind.code for trouble in seconds.troubles())


def clean_runs(
    runs: int, distribution: Distribution, lengths: Sequence[int], spreads: Sequence[float], lags: Sequence[float]
) -> Iterator[tuple[tuple[int, float, float], list[frozenset[str]]]]:
    """By length, spread and correlation, what is found in so many runs."""
    for place in product(lengths, spreads, lags):
        rng = np.random.default_rng([7, *(round(100 * value) for value in place)])
        yield place, [codes(clean_seconds(rng, *place, distribution).tolist()) for _ in range(runs)]


def share(found: Sequence[frozenset[str]]) -> float:
    return sum(map(bool, found)) / len(found)


@pytest.mark.parametrize("distribution", ["log-normal", "gamma", "seasonal", "outliers"])
def test_in_clean_runs_hardly_anything_is_found(distribution: Distribution) -> None:
    """A spread with which the outliers alone make more than 50 % of it is left out."""
    spreads = SPREADS if distribution != "outliers" else SPREADS[:2]
    places = clean_runs(8, distribution, A_FEW, spreads, (0.0, 0.7))
    found = [codes for _, codes_of_runs in places for codes in codes_of_runs]
    assert share(found) <= MOST / 2, Counter(code for codes in found for code in codes)


def test_no_more_is_found_where_noise_is_strongest() -> None:
    places = clean_runs(60, "log-normal", A_FEW[:4], SPREADS[-1:], LAGS[-1:])
    found = [codes for _, codes_of_runs in places for codes in codes_of_runs]
    assert share(found) <= MOST, Counter(code for codes in found for code in codes)


@pytest.mark.matrix
@pytest.mark.parametrize("distribution", ["log-normal", "gamma", "seasonal"])
def test_in_clean_runs_of_every_kind_hardly_anything_is_found(distribution: Distribution) -> None:
    """Three standard deviations of 400 runs above what is promised: 4.1 % in each place, and in all together less."""
    places = dict(clean_runs(400, distribution, LENGTHS, SPREADS, LAGS))
    assert max(map(share, places.values())) <= MOST + 3 * (MOST * (1 - MOST) / 400) ** 0.5
    assert share([codes for found in places.values() for codes in found]) <= MOST / 2


# ---------------------------------------------------------------------------------------------- what is there is found

FOUND: dict[str, tuple[Trouble, dict[tuple[int, float], float]]] = {
    "collapse": (collapse, {(20, 0.1): 0.98, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.95, (60, 0.2): 0.98}),
    "half": (half, {(20, 0.1): 0.9, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.05, (60, 0.2): 0.85}),
    "dip": (dip, {(20, 0.1): 0.9, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.1, (60, 0.2): 0.8}),
    "late dip": (late_dip, {(20, 0.1): 0.9, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.1, (60, 0.2): 0.8}),
    "saw 3": (saw(3), {(20, 0.1): 0.95, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.6, (60, 0.2): 0.98}),
    "saw 6": (saw(6), {(20, 0.1): 0.9, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.3, (60, 0.2): 0.95}),
    "saw 10": (saw(10), {(20, 0.1): 0.0, (60, 0.1): 0.98, (300, 0.1): 0.98, (20, 0.2): 0.0, (60, 0.2): 0.95}),
    "saw 10, low for 2": (saw(10, 0.2), {(60, 0.1): 0.85, (300, 0.1): 0.95, (60, 0.2): 0.6}),
    "saw 20": (saw(20), {(60, 0.1): 0.95, (120, 0.1): 0.98, (120, 0.2): 0.95, (300, 0.1): 0.95}),
    "saw 30": (saw(30), {(120, 0.1): 0.98, (300, 0.1): 0.95, (120, 0.2): 0.95}),
    "saw 30, low for 6": (saw(30, 0.2), {(300, 0.1): 0.9}),
    "saw 60": (saw(60), {(300, 0.1): 0.95}),
    "step": (step, {(20, 0.1): 0.15, (60, 0.1): 0.9, (300, 0.1): 0.98, (20, 0.2): 0.0, (60, 0.2): 0.2}),
    "slope": (slope, {(20, 0.1): 0.2, (60, 0.1): 0.9, (300, 0.1): 0.98, (20, 0.2): 0.0, (60, 0.2): 0.4}),
}
"""A trouble, and the least share of the runs of a length and a spread in which it is found, with a correlation of 0.2.
Of 20 s with a spread of 20 % a fifth at half the level may as well be noise."""


def found_share(trouble: Trouble, seconds: int, spread: float, runs: int) -> float:
    rng = np.random.default_rng([11, seconds, round(100 * spread)])
    factors = trouble(seconds)
    return share([codes((factors * clean_seconds(rng, seconds, spread, 0.2)).tolist()) for _ in range(runs)])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.matrix if name.startswith("saw") else ()) for name in FOUND]
)
def test_what_is_there_is_found(name: str) -> None:
    trouble, least = FOUND[name]
    shares = {place: found_share(trouble, *place, runs=40 if place[0] < 300 else 10) for place in least}
    assert {place: share for place, share in shares.items() if share < least[place]} == {}


# ---------------------------------------------------------------------------------------------- nodes, and OSDs


def test_runs_of_many_nodes_alike_are_as_clean() -> None:
    """By the run's own findings: the seconds of all nodes together, and each node beside the others."""
    rng = np.random.default_rng(13)
    found = []
    for nodes, seconds in product((2, 3, 8, 16), (6, 20, 60)):
        for _ in range(8):
            levels = np.exp(0.1 / 3**0.5 * rng.standard_t(3, nodes))
            rates = {
                f"pve{at}": (level * clean_seconds(rng, seconds, 0.35, 0.7)).tolist() for at, level in enumerate(levels)
            }
            found.append(frozenset(finding.code for finding in course_of(rates).findings()))
    assert share(found) <= MOST, Counter(code for codes in found for code in codes)
