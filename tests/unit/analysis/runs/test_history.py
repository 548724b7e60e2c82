"""A run over time: bounded, with its peaks, stalls and gaps kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import stats
from cephtui.analysis.runs import history
from cephtui.analysis.runs.history import Heat, History, Overview, TimeSeries, node_figures, row_seconds
from cephtui.models import Interval, Sample

VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1e9)), max_size=300)


def interval(ios: int = 100, mean: float | None = 0.001, p99: float | None = 0.002) -> Interval:
    buckets = {stats.bucket_of(1_000_000): ios} if mean is not None else None
    return Interval(ios, ios * 4096, float(ios), ios * 4096.0, mean, p99, buckets)


def sample(second: float, node: str | None = None, **changes: Any) -> Sample:
    return replace(Sample(1, node, "p", "run", float(second), 1.0, None, interval()), **changes)


def test_the_mean_is_what_was_done_in_all_the_time() -> None:
    """Three nodes end one after the other: what the last of them do is no second of its own."""
    history = History()
    for second in (1, 2, 3, 4):
        history.add(sample(second, write=interval(300)))
    history.add(sample(4.01, write=interval(100)))
    history.add(sample(4.02, write=interval(100)))
    assert history.mean("iops") == pytest.approx(1400 / 4.02)
    assert history.mean("bandwidth_bytes") == pytest.approx(1400 * 4096 / 4.02)
    assert history.mean("latency_mean_seconds") == pytest.approx(0.001)
    least, _, greatest = history.total("iops").since(history.ramp_until) or (0, 0, 0)
    assert (least, greatest) == (300.0, 300.0)


def test_the_ramp_is_in_no_mean() -> None:
    history = History()
    history.add(sample(1, phase="ramp", write=interval(9_000)))
    assert history.mean("iops") is None
    history.add(sample(2, write=interval(100)))
    history.add(sample(3, write=interval(200)))
    assert history.mean("iops") == 150.0


def filled(values: list[float | None], stretches: int) -> TimeSeries:
    curve = TimeSeries(stretches)
    for second, value in enumerate(values, 1):
        curve.add(float(second), value)
    return curve


# ---------------------------------------------------------------------------------------------- curves


@given(VALUES)
def test_a_short_curve_is_kept_as_it_is(values: list[float | None]) -> None:
    curve = filled(values, 300)
    assert curve.values() == values
    assert curve.points() == [(float(second), value) for second, value in enumerate(values, 1)]


@given(VALUES, st.integers(1, 20))
def test_a_long_curve_is_bounded_and_keeps_its_extremes(values: list[float | None], stretches: int) -> None:
    curve = filled(values, stretches)
    known = [value for value in values if value is not None]
    drawn = [value for _, value in curve.points() if value is not None]
    assert len(curve) <= 2 * stretches
    assert (min(drawn, default=None), max(drawn, default=None)) == (min(known, default=None), max(known, default=None))
    ends = [end for end, _ in curve.points()]
    assert ends == sorted(ends)
    if values:
        assert ends[-1] == len(values)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=64))
def test_the_means_of_stretches_stay_the_mean(values: list[float]) -> None:
    whole = (values * 64)[:64]
    curve = filled(list(whole), 4)
    means = [mean for mean in curve.values() if mean is not None]
    assert sum(means) / len(means) == pytest.approx(sum(whole) / 64)


def test_a_gap_of_some_length_is_still_one_when_it_is_long_ago() -> None:
    curve = filled([*[1.0] * 40, *[None] * 20, *[1.0] * 40], 20)
    values = curve.values()
    assert None in values
    assert values[0] == values[-1] == 1.0


@given(VALUES, st.integers(1, 20))
def test_a_saved_curve_is_the_same(values: list[float | None], stretches: int) -> None:
    curve = filled(values, stretches)
    again = TimeSeries.of(curve.stretches())
    assert again.points() == curve.points()
    assert again.values() == curve.values()


def test_an_empty_curve() -> None:
    assert not TimeSeries()
    assert TimeSeries().points() == []
    assert TimeSeries().last() is None


# ---------------------------------------------------------------------------------------------- heat


@given(st.lists(st.dictionaries(st.integers(0, 1855), st.integers(1, 1000), max_size=5), max_size=60))
def test_no_completion_is_lost_however_long_it_takes(histograms: list[dict[int, int]]) -> None:
    heat = Heat(5)
    for second, buckets in enumerate(histograms, 1):
        heat.add(float(second), buckets)
    assert len(heat.columns()) <= 10
    assert sum(sum(rows.values()) for _, rows in heat.columns()) == sum(sum(each.values()) for each in histograms)


def test_rows_are_a_quarter_of_an_octave() -> None:
    for nanoseconds in (1_000, 50_000, 1_000_000, 3_000_000_000):
        row = stats.bucket_of(nanoseconds) // 16
        assert row_seconds(row) <= nanoseconds / 1e9 * 1.01
        assert row_seconds(row + 1) / row_seconds(row) < math.sqrt(2)
        assert row_seconds(row + 4) / row_seconds(row) == pytest.approx(2.0, rel=0.05)


# ---------------------------------------------------------------------------------------------- a run


def test_the_ramp_ends_with_the_first_sample_of_the_run() -> None:
    found = History(ramp_until=2.0)
    found.add(sample(1, phase="ramp"))
    assert found.ramp_until == 2.0
    found.add(sample(3.5, phase="run", interval_seconds=1.0))
    assert found.ramp_until == 2.5
    found.add(sample(4.5))
    assert found.ramp_until == 2.5


def test_the_filling_is_left_out() -> None:
    found = History()
    found.add(sample(1, phase="prepare"))
    assert not found.directions


def test_a_second_without_all_nodes_is_a_gap() -> None:
    found = History()
    found.add(sample(1))
    found.add(sample(2, missing=("b",)))
    assert found.curves["write.iops"].values() == [100.0, None]


def test_what_a_late_tool_says_holds_for_the_whole_stretch() -> None:
    found = History()
    found.add(sample(1))
    found.add(sample(6, interval_seconds=5.0, write=interval(10)))
    assert found.curves["write.iops"].points() == [(1.0, 100.0), (2.0, 10.0), (6.0, 10.0)]


def test_reads_and_writes_add_up() -> None:
    found = History()
    found.add(sample(1, read=interval(300)))
    found.add(sample(2, read=interval(300), missing=("b",)))
    assert found.total("iops").values() == [400.0, None]
    assert found.total("bandwidth_bytes").values() == [400.0 * 4096, None]


def test_nodes_have_curves_of_their_own() -> None:
    found = History()
    found.add(sample(1, "a", read=interval(300, 0.003, 0.004)))
    assert {name: curve.last() for name, curve in found.nodes["a"].items()} == {
        "iops": 400.0,
        "bandwidth_bytes": 400.0 * 4096,
        "latency_mean_seconds": pytest.approx(0.0025),
        "latency_p99_seconds": 0.004,
    }
    assert not found.curves


def test_figures_without_latency() -> None:
    found = node_figures({"write": interval(5, None, None)})
    assert (found["iops"], found["latency_mean_seconds"], found["latency_p99_seconds"]) == (5.0, None, None)


def test_a_saved_history_is_the_same() -> None:
    found = History()
    for second in range(1, 30):
        found.add(sample(second, phase="ramp" if second < 3 else "run", read=interval(second)))
        found.add(sample(second, "a"))
    again = History.of(Overview.model_validate_json(found.overview().model_dump_json()))
    assert again.overview() == found.overview()
    assert (again.directions, again.ramp_until, again.reached) == (["read", "write"], 2.0, 29.0)
    assert again.heat["read"].columns() == found.heat["read"].columns()


def test_a_day_takes_little_memory() -> None:
    import tracemalloc

    found = History()
    tracemalloc.start()
    for second in range(1, 86_401, 16):
        found.add(sample(second))
        found.add(sample(second, "a"))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4 << 20
    assert len(found.curves["write.iops"]) <= 2 * history.CURVE_STRETCHES
