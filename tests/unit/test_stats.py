"""Histograms, percentiles and moments against their definitions."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.models import Interval
from cephtui.models.metrics import ios_beyond
from cephtui.models.samples import GRID_BUCKETS
from tests.support.known import known

LATENCIES = st.lists(st.integers(1, 10**11), min_size=1, max_size=60)
BUCKETS = st.dictionaries(st.integers(0, GRID_BUCKETS - 1), st.integers(1, 1000), max_size=20)


def histogram(latencies: list[int]) -> dict[int, int]:
    return stats.add_buckets({stats.bucket_of(ns): 1} for ns in latencies)


# ---------------------------------------------------------------------------------------------- the grid


@pytest.mark.parametrize(
    ("nanoseconds", "index", "stands_for"),
    [
        (0, 0, 0),
        (63, 63, 63),
        (127, 127, 127),
        (128, 128, 129),
        (129, 128, 129),
        (130, 129, 131),
        (255, 191, 255),
        (256, 192, 258),
        (395264, 864, 395264),
        (1019904, 956, 1019904),
        (10**30, 1855, 17112760320),
    ],
)
def test_known_buckets(nanoseconds: int, index: int, stands_for: int) -> None:
    assert stats.bucket_of(nanoseconds) == index
    assert stats.bucket_nanoseconds(index) == stands_for


def test_every_bucket_holds_what_stands_for_it() -> None:
    for index in range(GRID_BUCKETS):
        assert stats.bucket_of(stats.bucket_nanoseconds(index)) == index


@given(st.integers(0, 17_179_869_183))
def test_a_bucket_is_within_a_hundredth(nanoseconds: int) -> None:
    error = abs(stats.bucket_nanoseconds(stats.bucket_of(nanoseconds)) - nanoseconds)
    assert error <= nanoseconds / 128 + 0.5


@given(st.integers(0, 10**11), st.integers(0, 10**11))
def test_buckets_are_in_the_order_of_latencies(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert stats.bucket_of(low) <= stats.bucket_of(high)


# ---------------------------------------------------------------------------------------------- percentiles


@given(LATENCIES, st.sampled_from([1, 50, 90, 95, 99, 99.9, 100]))
def test_percentile_is_the_nearest_rank(latencies: list[int], percent: float) -> None:
    ordered = sorted(latencies)
    rank = next(i for i in range(1, len(ordered) + 1) if i >= percent / 100 * len(ordered))
    expected = stats.bucket_nanoseconds(stats.bucket_of(ordered[rank - 1])) / 1e9
    assert stats.percentile_seconds(histogram(latencies), percent) == expected


def test_no_completions_have_no_percentile() -> None:
    assert stats.percentile_seconds({}, 99.0) is None
    assert stats.percentile_seconds({5: 0}, 99.0) is None


@given(st.lists(BUCKETS, max_size=5))
def test_added_histograms_hold_every_completion(parts: list[dict[int, int]]) -> None:
    whole = stats.add_buckets(parts)
    assert all(number == sum(part.get(index, 0) for part in parts) for index, number in whole.items())
    assert sum(whole.values()) == sum(sum(part.values()) for part in parts)


@given(BUCKETS, BUCKETS)
def test_subtracting_undoes_adding(earlier: dict[int, int], second: dict[int, int]) -> None:
    assert stats.subtract_buckets(stats.add_buckets([earlier, second]), earlier) == second


def test_a_bucket_that_fell_counts_as_unchanged() -> None:
    assert stats.subtract_buckets({1: 5, 2: 3}, {1: 7, 2: 1, 3: 9}) == {2: 2}


# ---------------------------------------------------------------------------------------------- intervals


def test_an_interval_has_rates() -> None:
    made = stats.make_interval(500, 2_048_000, 0.5, 0.001, {100: 500})
    assert made == Interval(500, 2_048_000, 1000.0, 4_096_000.0, 0.001, 100e-9, {100: 500})


def test_an_interval_without_length_has_no_rates() -> None:
    made = stats.make_interval(3, 4096, 0.0, None, None)
    assert (made.iops, made.bandwidth_bytes, made.latency_p99_seconds, made.latency_buckets) == (0, 0, None, None)


@given(st.lists(LATENCIES, min_size=2, max_size=2), st.floats(0.1, 2), st.floats(0.1, 2))
def test_joined_intervals_are_as_if_measured_in_one(parts: list[list[int]], first: float, second: float) -> None:
    def measured(latencies: list[int], seconds: float) -> Interval:
        mean = statistics.fmean(latencies) / 1e9
        return stats.make_interval(len(latencies), 4096 * len(latencies), seconds, mean, histogram(latencies))

    joined = stats.join_intervals(measured(parts[0], first), measured(parts[1], second), first + second)
    whole = measured(parts[0] + parts[1], first + second)
    assert joined is not None
    assert joined.latency_mean_seconds == pytest.approx(whole.latency_mean_seconds)
    assert joined == Interval(
        whole.ios,
        whole.bytes,
        whole.iops,
        whole.bandwidth_bytes,
        joined.latency_mean_seconds,
        whole.latency_p99_seconds,
        whole.latency_buckets,
    )


def test_joining_with_nothing() -> None:
    only = stats.make_interval(10, 40960, 1.0, 0.002, {100: 10})
    joined = stats.join_intervals(None, only, 2.0)
    assert joined is not None
    assert (joined.ios, joined.iops, joined.latency_mean_seconds) == (10, 5.0, 0.002)
    assert stats.join_intervals(None, None, 2.0) is None


def test_a_second_without_completions_does_not_dilute_the_mean() -> None:
    idle = stats.make_interval(0, 0, 1.0, None, None)
    busy = stats.make_interval(10, 40960, 1.0, 0.002, {100: 10})
    joined = stats.join_intervals(idle, busy, 2.0)
    assert joined is not None
    assert joined.latency_mean_seconds == 0.002


# ---------------------------------------------------------------------------------------------- whole runs


def flow(latencies: list[int], seconds: float = 2.0) -> stats.Flow:
    number = len(latencies)
    moments = stats.Moments(number, statistics.fmean(latencies) / 1e9, statistics.pstdev(latencies) / 1e9)
    bounds = (min(latencies) / 1e9, max(latencies) / 1e9)
    rate = number / seconds
    buckets, times = histogram(latencies), stats.Times(moments, bounds)
    return stats.Flow(number, 4096 * number, seconds, rate, 4096 * rate, buckets, moments, bounds, times, times)


@given(st.lists(LATENCIES, min_size=1, max_size=5))
def test_flows_add_up_to_the_union(parts: list[list[int]]) -> None:
    together = stats.total(stats.add_flows([flow(part) for part in parts]))
    union = stats.total(flow([ns for part in parts for ns in part]))
    assert together is not None
    assert union is not None
    figures, expected = (numbers(found.model_dump()) for found in (together, union))
    assert figures == pytest.approx(expected, rel=1e-6, abs=1e-12)


def numbers(figures: dict[str, Any]) -> dict[str, float]:
    """Those that are known, by where they are."""
    inner = {f"{key} {name}": value for key in ("slat", "lat") for name, value in figures[key].items()}
    return {name: value for name, value in {**figures, **inner}.items() if isinstance(value, int | float)}


@given(st.lists(st.tuples(LATENCIES, st.floats(0.001, 1e6)), min_size=2, max_size=6))
def test_a_rate_of_several_is_all_ios_over_the_longest_time(parts: list[tuple[list[int], float]]) -> None:
    flows = [flow(latencies, seconds) for latencies, seconds in parts]
    added = known(stats.add_flows(flows))
    longest = max(seconds for _, seconds in parts)
    assert (added.ios, added.runtime_seconds) == (sum(len(latencies) for latencies, _ in parts), longest)
    assert added.iops == pytest.approx(known(added.ios) / longest)
    assert added.bandwidth_bytes == pytest.approx(added.bytes / longest)
    # never the sum of rates, which no second of the whole had once the first has ended
    assert known(added.iops) <= sum(known(each.iops) for each in flows) * (1 + 1e-9)


def test_one_that_ends_early_adds_nothing_while_the_other_runs() -> None:
    added = known(stats.add_flows([flow([5] * 300, 1.0), flow([7] * 300, 3.0)]))
    assert (added.runtime_seconds, added.iops) == (3.0, 200.0)


def test_where_one_has_no_submission_latency_the_whole_has_none() -> None:
    added = known(stats.add_flows([flow([5]), replace(flow([7]), slat=None)]))
    assert added.slat is None
    assert known(added.lat).moments.count == 2


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=400), st.sampled_from([50.0, 90.0, 99.0, 99.5, 99.95]))
def test_a_percentile_is_carried_by_ten_ios_beyond_it(latencies: list[int], percent: float) -> None:
    beyond = len(latencies) - math.ceil(Fraction(str(percent)) / 100 * len(latencies))
    assert ios_beyond(len(latencies), percent) == beyond
    found = stats.supported_percentile(histogram(latencies), percent)
    assert found == (stats.percentile_seconds(histogram(latencies), percent) if beyond >= 10 else None)


def test_only_the_whole_run_has_a_histogram() -> None:
    assert known(stats.summarise([{"read": flow([100, 100])}], histogram=True).read).latency_buckets == {100: 2}
    plain = known(stats.summarise([{"read": flow([100, 100])}]).read)
    assert "latency_buckets" not in plain.model_dump()


def test_nothing_adds_up_to_nothing() -> None:
    assert stats.add_flows([]) is None
    assert stats.total(None) is None
    assert stats.pool_moments([]) is None
    assert stats.pool_moments([stats.Moments(0, 0.0, 0.0)]) is None
    empty = stats.summarise([])
    assert (empty.read, empty.write) == (None, None)


def test_read_and_write_stay_apart() -> None:
    summary = stats.summarise([{"read": flow([100]), "write": flow([200])}, {"write": flow([300])}])
    assert summary.read is not None
    assert summary.write is not None
    assert (summary.read.ios, summary.write.ios) == (1, 2)


def test_without_latency_there_are_only_counts() -> None:
    unmeasured = stats.Flow(10, 40960, 1.0, 10.0, 40960.0, {}, None, None)
    total = stats.total(unmeasured)
    assert total is not None
    latencies = {k: v for k, v in total.model_dump().items() if k.startswith("latency_")}
    assert set(latencies.values()) == {None}
    assert len(latencies) == 12
