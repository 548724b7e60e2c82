"""The knee of simulated systems whose knee is known, and what is said where a curve has none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import fmean, median, stdev

import pytest

from cephtui.analysis.statistics import ratio
from cephtui.analysis.verdicts.knee import Knee, LoadPoint, hysteresis, knee_of
from tests.support.closed_loops import DEPTHS, SYSTEMS, System, hard, one_queue, osds, point, swept
from tests.support.known import known

SWEEPS, VARIATION, REPEATS = 200, 0.08, 3
Estimator = Callable[[Knee], float]


def by_the_greatest(knee: Knee) -> float:
    """What would be biased: the greatest of several points is the luckiest."""
    return knee.points[0].latency * max(point.rate for point in knee.points)


def found(system: System, estimator: Estimator, depths: tuple[int, ...] = DEPTHS) -> list[float]:
    source = random.Random(1)
    return [estimator(known(knee_of(swept(system, source, VARIATION, REPEATS, depths)))) for _ in range(SWEEPS)]


def bias(system: System, true: float, estimator: Estimator) -> float:
    return abs(median(found(system, estimator)) / true - 1)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_knee_of_a_noisy_sweep_is_that_of_the_system(name: str) -> None:
    system, true = SYSTEMS[name]
    estimates = found(system, lambda knee: knee.in_flight)
    assert abs(median(estimates) / true - 1) <= 0.03
    assert stdev(map(math.log2, estimates)) <= 0.12


@pytest.mark.parametrize("name", ["hard 16", "queue 16"])
def test_by_the_greatest_throughput_it_would_be_too_far(name: str) -> None:
    assert bias(*SYSTEMS[name], by_the_greatest) > 0.045


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_interval_holds_the_knee(name: str) -> None:
    system, true = SYSTEMS[name]

    def holds(knee: Knee) -> float:
        low, high = known(knee.interval)
        return low <= true <= high

    assert sum(found(system, holds)) / SWEEPS >= 0.92


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_curve_that_has_levelled_off_has_a_knee(name: str) -> None:
    assert sum(found(SYSTEMS[name][0], lambda knee: knee.is_known)) / SWEEPS >= 0.95


@pytest.mark.parametrize(
    ("system", "last"), [(hard(16), 8), (hard(16), 16), (one_queue(64), 64), (osds(), 32), (osds(), 64)]
)
def test_a_curve_that_ends_before_its_knee_is_said_to_rise(system: System, last: int) -> None:
    depths = tuple(depth for depth in DEPTHS if depth <= last)
    assert sum(found(system, lambda knee: knee.is_rising, depths)) / SWEEPS >= 0.97


def test_chance_makes_no_rise_of_a_plateau() -> None:
    assert sum(found(hard(16), lambda knee: knee.is_rising, (1, 2, 4, 8, 16, 32))) / SWEEPS <= 0.04


def test_the_power_finds_the_same_knee_of_a_simple_system() -> None:
    assert not sum(found(one_queue(16), lambda knee: knee.is_doubtful))


def test_the_latency_at_most_of_the_peak_is_on_the_rising_branch() -> None:
    true = 16 * 0.8 / hard(16)(16) / 0.8  # nothing waits there
    latencies = found(hard(16), lambda knee: knee.at_most_of_peak.latency)
    assert median(latencies) == pytest.approx(true, rel=0.03)
    assert stdev(map(math.log, latencies)) < 0.08


# ------------------------------------------------------------------ exactly


def exact(system: System, *depths: int) -> Knee:
    return known(knee_of(swept(system, random.Random(0), 0.0, 1, depths)))


def test_without_noise_it_is_exact() -> None:
    knee = exact(hard(16), 1, 4, 16, 64)
    assert knee.in_flight == pytest.approx(16)
    assert knee.peak == pytest.approx(1000)
    assert [knee.at_knee.rate, knee.at_knee.latency] == pytest.approx([1000, 0.016])
    assert knee.interval is None, "nothing was measured twice"
    assert knee.power.in_flight == 16
    assert not knee.unexplained


def test_between_two_points_is_interpolated_on_logarithms() -> None:
    points = [
        LoadPoint(1, (100.0,), (0.01,), (0.02,)),
        LoadPoint(10, (400.0,), (0.025,), (0.1,)),
        LoadPoint(100, (1600.0,), (0.0625,), (0.4,)),
        LoadPoint(1000, (1500.0,), (0.66,), (1.0,)),
    ]
    knee = known(knee_of(points))
    share = math.log(0.8 * knee.peak / 400) / math.log(4)
    assert knee.at_most_of_peak.rate == pytest.approx(0.8 * knee.peak)
    assert knee.at_most_of_peak.latency == pytest.approx(0.025 * 2.5**share)
    assert knee.at_most_of_peak.p99 == pytest.approx(0.1 * 4**share)
    assert knee.at_most_of_peak.in_flight == pytest.approx(10 * 10**share)


def test_a_curve_that_falls_again_has_its_peak_before() -> None:
    rates = {1: 100.0, 2: 200.0, 4: 390.0, 8: 400.0, 16: 300.0, 32: 200.0}
    knee = known(knee_of([LoadPoint(n, (x, x), (n / x,) * 2) for n, x in rates.items()]))
    assert [each.in_flight for each in knee.plateau] == [4, 8]
    assert knee.is_known
    assert knee.at_most_of_peak.in_flight < 4


def test_no_curve_has_no_knee() -> None:
    assert knee_of([]) is None
    assert knee_of([LoadPoint(4, (100.0,), (0.04,))]) is None
    assert knee_of([LoadPoint(4, (100.0,), (0.04,)), LoadPoint(4, (110.0,), (0.04,))]) is None


def test_a_curve_that_begins_behind_its_knee_is_flat() -> None:
    knee = exact(hard(16), 16, 64, 256)
    assert knee.is_flat
    assert not knee.is_known
    assert knee.at_most_of_peak.latency == pytest.approx(0.016), "nothing faster was measured"


def test_littles_law_is_checked() -> None:
    points = [LoadPoint(n, (x,), (r,)) for n, x, r in ((1, 100.0, 0.01), (8, 800.0, 0.005), (32, 820.0, 0.04))]
    knee = known(knee_of(points))
    assert [each.in_flight for each in knee.unexplained] == [8]
    assert knee.unexplained[0].unexplained == pytest.approx(1.0)


def test_the_two_ways_may_differ() -> None:
    rates = {1: 100.0, 2: 150.0, 4: 210.0, 8: 290.0, 16: 400.0, 32: 560.0, 64: 780.0, 128: 790.0}
    knee = known(knee_of([LoadPoint(n, (x,), (n / x,)) for n, x in rates.items()]))
    assert knee.in_flight == pytest.approx(7.85, rel=0.01)
    assert knee.is_doubtful


def test_hysteresis_is_the_ratio_of_the_same_depths() -> None:
    source = random.Random(3)
    up, down = swept(hard(16), source, 0.02, 1), swept(hard(16), source, 0.02, 1, DEPTHS[:5])
    slower = [point(lambda n: 0.8 * hard(16)(n), each.in_flight, source, 0.02, 1) for each in down]
    low, high = known(hysteresis(up, slower)).interval(0.95)
    assert low < 0.8 < high < 0.9
    assert known(hysteresis(up, down)).interval(0.95)[0] < 1
    assert hysteresis(up, down[:1]) is None


# ------------------------------------------------------------------ where there is none

CURVES, MOST_NAMED = 1000, 0.05
PLACES = DEPTHS[:8]


def of_rates(*rates: float, seconds: float = 3.0) -> Knee:
    """A single run at each of the depths 1, 2, 4, ..."""
    points = zip(DEPTHS, rates, strict=False)
    return known(knee_of([LoadPoint(n, (x,), (n / x,), (), str(n), seconds=seconds) for n, x in points]))


def shuffled(source: random.Random) -> System:
    """What a knee would be, in any order."""
    rates = dict(zip(PLACES, source.sample([hard(16)(depth) for depth in PLACES], len(PLACES)), strict=True))
    return lambda depth: rates[depth]


def anyhow(source: random.Random) -> System:
    rates = {depth: source.uniform(100, 1000) for depth in PLACES}
    return lambda depth: rates[depth]


WITHOUT: dict[str, Callable[[random.Random], System]] = {
    "flat": lambda _: lambda _: 1000.0,
    "up and down": lambda _: lambda depth: 1000.0 * (1.4 if int(math.log2(depth)) % 2 else 0.7),
    "shuffled": shuffled,
    "anyhow": anyhow,
}


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("variation", [0.05, 0.1, 0.2])
def test_a_curve_without_a_knee_has_none(
    monkeypatch: pytest.MonkeyPatch, name: str, repeats: int, variation: float
) -> None:
    monkeypatch.setattr(ratio, "mean", fmean)  # exact enough here, and many times as fast
    source = random.Random(7)
    curves = (swept(WITHOUT[name](source), source, variation, repeats, PLACES) for _ in range(CURVES))
    assert sum(known(knee_of(curve)).is_known for curve in curves) / CURVES <= MOST_NAMED


MOST_BY_CHANCE = 0.064
"""Of the 5 % promised, with two standard deviations of 1,000 curves."""


def with_outliers(depths: tuple[int, ...]) -> Callable[[random.Random], System]:
    """Flat, but for a run in five that something slowed."""

    def system(source: random.Random) -> System:
        rates = {depth: 1000.0 * (source.choice((0.3, 0.45, 0.5)) if source.random() < 0.2 else 1) for depth in depths}
        return rates.__getitem__

    return system


def of_knee(knee: int, depths: tuple[int, ...]) -> Callable[[random.Random], System]:
    """What a system with a knee there would have, in any order."""
    rates = [hard(knee)(depth) for depth in depths]
    return lambda source: dict(zip(depths, source.sample(rates, len(rates)), strict=True)).__getitem__


def named(
    monkeypatch: pytest.MonkeyPatch, system: Callable[[random.Random], System], depths: tuple[int, ...], curves: int
) -> float:
    """The share of curves of single runs, spread by 5 %, of which a knee is named."""
    monkeypatch.setattr(ratio, "mean", fmean)
    source = random.Random(7)
    found = (known(knee_of(swept(system(source), source, 0.05, 1, depths))) for _ in range(curves))
    return sum(knee.is_known for knee in found) / curves


@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("kind", ["anyhow", "knee at 4", "outliers"])
def test_few_single_runs_are_seldom_in_order_by_chance(monkeypatch: pytest.MonkeyPatch, count: int, kind: str) -> None:
    depths = DEPTHS[:count]
    systems = {"anyhow": anyhow, "knee at 4": of_knee(4, depths), "outliers": with_outliers(depths)}
    assert named(monkeypatch, systems[kind], depths, CURVES) <= MOST_BY_CHANCE


@pytest.mark.parametrize(("knee", "count"), [(4, 5), (8, 5), (8, 6), (8, 7), (16, 7)])
def test_single_runs_at_enough_depths_show_a_knee(monkeypatch: pytest.MonkeyPatch, knee: int, count: int) -> None:
    assert named(monkeypatch, lambda _: hard(knee), DEPTHS[:count], 300) >= 0.9


def test_few_points_in_order_are_no_evidence_without_repeats() -> None:
    rates = (450, 1000, 1010, 990)
    assert of_rates(*rates).problem == "few"
    repeated = [LoadPoint(n, (x, 1.02 * x), (n / x,) * 2) for n, x in zip(DEPTHS, rates, strict=False)]
    assert known(knee_of(repeated)).is_known


def test_single_runs_that_are_not_in_order_have_none() -> None:
    knee = of_rates(300, 520, 900, 700, 1100, 800, 1050, 900)
    assert knee.problem == "out of order"
    assert [knee.points[place].in_flight for place in known(knee.order.disorder)] == [32, 64]
    assert of_rates(300, 520, 900, 870, 1100, 1050, 1080, 1000).is_known, "near each other, and at the peak"


def test_points_are_out_of_order_by_more_than_their_spread() -> None:
    """Of the same means: with a small spread it is no chance."""

    def knee(spread: float) -> Knee:
        rates = (100, 200, 172, 400, 410, 400)
        around = [(rate * (1 - spread), rate, rate * (1 + spread)) for rate in rates]
        return known(knee_of([LoadPoint(n, each, (n / each[1],) * 3) for n, each in zip(DEPTHS, around, strict=False)]))

    assert knee(0.01).problem == "out of order"
    assert knee(0.1).is_known


def test_a_small_rise_of_single_runs_is_no_knee() -> None:
    assert of_rates(600, 1000, 1010, 990).problem == "not shown"
    assert of_rates(250, 450, 1000, 1010, 990).is_known


def test_a_small_rise_of_repeats_has_a_knee_where_it_is_shown() -> None:
    rates = (600, 1000, 1010, 990)
    for spread, problem in ((0.02, None), (0.35, "not shown")):
        around = [(rate * (1 - spread), rate, rate * (1 + spread)) for rate in rates]
        points = [LoadPoint(n, each, (n / each[1],) * 3) for n, each in zip(DEPTHS, around, strict=False)]
        assert known(knee_of(points)).problem == problem


def test_a_knee_is_at_a_whole_depth() -> None:
    knee = of_rates(260, 500, 900, 1000, 1010, 990)
    assert knee.in_flight == pytest.approx(3.85, abs=0.01)
    assert knee.located == 4
    assert knee.at_knee.rate == pytest.approx(900), "what was measured there"
    jobs = [
        LoadPoint(8 * n, (x,), (8 * n / x,), (), str(n)) for n, x in ((1, 100.0), (2, 200.0), (4, 330.0), (8, 333.0))
    ]
    assert (known(knee_of(jobs)).step, known(knee_of(jobs)).located) == (8, 24)


def test_a_knee_between_points_far_apart_is_not_located() -> None:
    assert [each.in_flight for each in known(exact(hard(12), 1, 4, 64, 256).gap)] == [4, 64]
    assert exact(hard(12), 1, 4, 16, 64).gap is None, "four times is near enough"
    assert exact(hard(16), 1, 16, 256).gap is None, "it was measured there"


def test_what_waits_in_the_client_is_part_of_the_way_to_the_knee() -> None:
    """A tool that measures from the submission on shows less latency than an I/O takes."""
    points = [LoadPoint(n, (min(n, 16) * 100.0,), (0.002,)) for n in (1, 4, 16, 64)]
    knee = known(knee_of(points))
    assert knee.in_flight == pytest.approx(16)
    assert [each.in_flight for each in knee.unexplained] == [4, 16, 64], "with one in flight there are no others"
