"""What varies between runs, and their figures over it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from cephtui.analysis.verdicts.knee import knee_of, load_points
from cephtui.analysis.views.curve import Axis, AxisPlace, Curve, axes_or_depth, curve_of, family, varying_axes
from cephtui.models import Latency, Mark, OptionValue, Run, Summary
from cephtui.models.metrics import BY_NAME
from tests.support.known import known
from tests.support.runs import nodes, recorded, under_load

IOPS = BY_NAME["iops"]
DEPTH, JOBS = Axis("option", "iodepth", "depth"), Axis("option", "numjobs", "jobs")


def run(number: int, iops: float = 1000.0, batch: str = "b", target: str = "rbd:ssd", **options: OptionValue) -> Run:
    """A run that differs from the recorded one by these options."""
    like = recorded()
    started_at = like.started_at + timedelta(minutes=number)
    changed = {**like.options, **options}
    return recorded(number, iops=iops, p99=0.01, batch=batch, target=target, options=changed, started_at=started_at)


def mark(after: Run, text: str) -> Mark:
    return Mark(at=after.started_at + timedelta(seconds=after.duration_seconds + 1), text=text)


def shape(curve: Curve) -> dict[str, list[tuple[str, int]]]:
    """The number of runs at each place of each series."""
    return {
        series.name: [(point.place.label, len(point.summary.point.repeats)) for point in series.points]
        for series in curve.series
    }


def test_a_sweep_of_one_option_is_one_series_in_the_order_of_its_numbers() -> None:
    runs = [run(1, iodepth=16), run(2, iodepth=1), run(3, iodepth=4), run(4, 1200.0, iodepth=4)]
    assert varying_axes(runs) == [DEPTH]
    curve = curve_of(runs, DEPTH)
    assert shape(curve) == {"": [("1", 1), ("4", 2), ("16", 1)]}
    estimate = known(curve.series[0].points[1].estimate("write", IOPS))
    assert estimate.value == pytest.approx((1000 * 1200) ** 0.5)
    assert known(estimate.interval)[0] < 1000


def test_sizes_are_ordered_by_their_bytes() -> None:
    runs = [run(n, bs=size) for n, size in enumerate(("1M", "4k", "64k", "512"), 1)]
    curve = curve_of(runs, Axis("option", "bs"))
    assert [place.label for place in curve.places] == ["512", "4k", "64k", "1M"]
    assert curve.is_numeric


def test_texts_keep_their_order() -> None:
    runs = [run(1, sync="none"), run(2, sync="dsync"), run(3)]
    curve = curve_of(runs, Axis("option", "sync"))
    assert [place.label for place in curve.places] == ["none", "dsync", "default"]
    assert not curve.is_numeric


def test_every_other_axis_makes_series() -> None:
    runs = [run(n, iodepth=d, bs=b) for n, (d, b) in enumerate([(1, "4k"), (4, "4k"), (1, "64k"), (4, "64k")], 1)]
    assert varying_axes(runs) == [DEPTH, Axis("option", "bs")]
    assert shape(curve_of(runs, DEPTH)) == {"bs 4k": [("1", 1), ("4", 1)], "bs 64k": [("1", 1), ("4", 1)]}
    assert list(shape(curve_of(runs, Axis("option", "bs")))) == ["depth 1", "depth 4"]


def test_depth_and_jobs_come_first() -> None:
    runs = [run(1, bs="4k", numjobs=1, iodepth=1), run(2, bs="64k", numjobs=2, iodepth=2)]
    assert varying_axes(runs)[:2] == [DEPTH, JOBS]


def test_targets_and_nodes_are_axes() -> None:
    first = run(1, batch="a").model_copy(update={"nodes": nodes("pve1")})
    second = run(2, batch="b", target="rbd:hdd").model_copy(update={"nodes": nodes("pve1", "pve2")})
    assert varying_axes([first, second]) == [Axis("nodes"), Axis("target")]
    assert shape(curve_of([first, second], Axis("target"))) == {"pve1": [("rbd:ssd", 1)], "pve1 pve2": [("rbd:hdd", 1)]}


def test_marks_are_an_axis_where_the_same_was_measured_before_and_after() -> None:
    runs = [run(1), run(2), run(3), run(4)]
    marks = [mark(runs[1], "osd_op_num_shards 8"), mark(runs[2], "osd_op_num_shards 8")]
    assert varying_axes(runs, marks) == [Axis("marks")]
    curve = curve_of(runs, Axis("marks"), marks)
    assert shape(curve) == {"": [("before", 2), ("osd_op_num_shards 8", 1), ("osd_op_num_shards 8 (2)", 1)]}


def test_a_mark_in_the_midst_of_a_sweep_does_not_tear_it_apart() -> None:
    runs = [run(n, iodepth=2**n) for n in range(1, 5)]
    assert varying_axes(runs, [mark(runs[1], "lunch")]) == [DEPTH]


def test_a_run_during_which_a_mark_was_made_is_neither_before_nor_after_it() -> None:
    runs = [run(1), run(2), run(3)]
    first, second = (Mark(at=runs[n].started_at + timedelta(seconds=1), run=n + 1, text="tuned") for n in (0, 1))
    assert shape(curve_of(runs, Axis("marks"), [first])) == {"": [("during tuned", 1), ("tuned", 2)]}
    assert shape(curve_of(runs, Axis("marks"), [second])) == {"": [("before", 1), ("during tuned", 1), ("tuned", 1)]}


def test_a_mark_before_the_first_run_is_no_axis() -> None:
    runs = [run(1), run(2)]
    early = Mark(at=runs[0].started_at - timedelta(seconds=5), text="new kernel")
    assert varying_axes(runs, [early]) == []


def test_a_sweep_before_and_after_a_mark_is_two_series() -> None:
    runs = [run(n, batch=b, iodepth=d) for n, (b, d) in enumerate([("a", 1), ("a", 4), ("b", 1), ("b", 4)], 1)]
    curve = curve_of(runs, DEPTH, [mark(runs[1], "tuned")])
    assert shape(curve) == {"before": [("1", 1), ("4", 1)], "tuned": [("1", 1), ("4", 1)]}


def test_a_family_is_what_varies_the_same() -> None:
    sweep = [run(n, batch="a", iodepth=d) for n, d in enumerate((1, 4), 1)]
    again = [run(n, batch="c", iodepth=d) for n, d in enumerate((1, 4), 5)]
    single, other = run(3, batch="d"), run(4, batch="e", bs="64k")
    stranger = run(9, batch="f").model_copy(update={"preset": "read-iops"})
    runs = [*sweep, single, other, *again, stranger]
    assert [each.run for each in family(sweep[0], runs)] == [1, 2, 5, 6]
    assert [each.run for each in family(single, runs)] == [3, 4]
    assert [each.run for each in family(run(8, batch="g"), [])] == [8]


# ------------------------------------------------------------------ what is missing, odd or hostile


def test_a_single_run_has_no_axis_and_is_drawn_over_the_depth() -> None:
    only = run(1)
    assert varying_axes([only]) == []
    assert axes_or_depth([only]) == [DEPTH]
    assert shape(curve_of([only], DEPTH)) == {"": [(str(only.options["iodepth"]), 1)]}
    assert axes_or_depth([only.model_copy(update={"tool": "unknown"})]) == []


def test_runs_without_figures_have_their_place_and_no_estimate() -> None:
    failed = run(2, iodepth=4, numjobs=8).model_copy(update={"outcome": "failed", "summary": Summary()})
    curve = curve_of([run(1, iodepth=1, numjobs=8), failed, run(3, 0.0, iodepth=8, numjobs=8)], DEPTH)
    points = curve.series[0].points
    assert points[1].estimate("write", IOPS) is None
    assert known(points[2].estimate("write", IOPS)).value == 0
    assert [each.in_flight for each in load_points(curve.series[0])] == [8], "a run of no I/O has no logarithm"


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ((1, 2.5), [1.0, 2.5]),
        ((True, False), [None, None]),
        (("1e400", "nan"), [None, None]),
        (("[red]x[/]", "\x1b[2J"), [None, None]),
        ((10**59, 1), [1.0, 1e59]),
    ],
)
def test_values_of_any_kind(values: Sequence[OptionValue], numbers: list[float | None]) -> None:
    curve = curve_of([run(n, odd=value) for n, value in enumerate(values, 1)], Axis("option", "odd"))
    assert [place.number for place in curve.places] == numbers


def test_an_unknown_tool_has_a_curve_but_no_load() -> None:
    runs = [each.model_copy(update={"tool": "x"}) for each in (run(1, iodepth=1), run(2, iodepth=2))]
    assert varying_axes(runs) == [Axis("option", "iodepth")]
    assert load_points(curve_of(runs, varying_axes(runs)[0]).series[0]) == []
    assert AxisPlace("1", 1.0) in curve_of(runs, varying_axes(runs)[0]).places


# ------------------------------------------------------------------ as a load


def test_all_jobs_and_nodes_count_as_in_flight() -> None:
    on_two = run(1, iodepth=4, numjobs=8).model_copy(update={"nodes": nodes("pve1", "pve2")})
    point = load_points(curve_of([on_two], DEPTH).series[0])[0]
    assert (point.in_flight, point.label) == (64, "4")


def test_reads_and_writes_are_one_load() -> None:
    write = known(recorded().summary.write)
    read = write.model_copy(update={"iops": 3000.0, "ios": 3000, "latency_mean_seconds": 0.001})
    write = write.model_copy(update={"iops": 1000.0, "ios": 1000, "latency_mean_seconds": 0.005})
    both = run(1, iodepth=4).model_copy(update={"summary": Summary(read=read, write=write)})
    curve = curve_of([both], DEPTH)
    point = load_points(curve.series[0])[0]
    assert [point.rate, point.latency] == pytest.approx([4000, 0.002])
    assert [curve.name_of(curve.series[0], flow) for flow in curve.series[0].flows] == ["read", "write"]


@pytest.mark.parametrize(
    ("whole", "options", "unexplained"),
    [
        (0.004, {}, []),
        (None, {}, [4, 16]),
        (None, {"rate_iops": 100}, []),
        (None, {"thinktime": 100}, []),
        (None, {"fsync": 8}, []),
    ],
    ids=str,
)
def test_littles_law_is_of_the_whole_of_an_io_in_a_client_that_waits_for_nothing_else(
    whole: float | None, options: dict[str, OptionValue], unexplained: list[int]
) -> None:
    """Of the same I/Os clat alone is 3 of 4 ms."""
    runs = [under_load(n, depth / 0.004, 0.003, iodepth=depth, numjobs=1) for n, depth in enumerate((1, 4, 16))]
    lat = Latency(mean_seconds=whole) if whole else None
    changed = [
        each.model_copy(
            update={
                "options": each.options | options,
                "summary": Summary(write=known(each.summary.write).model_copy(update={"lat": lat})),
            }
        )
        for each in runs
    ]
    found = known(knee_of(load_points(curve_of(changed, DEPTH).series[0])))
    assert [each.in_flight for each in found.unexplained] == unexplained


def test_nodes_with_one_io_in_flight_each_are_not_judged_by_littles_law() -> None:
    runs = [under_load(number, 400.0, 0.003, iodepth=depth) for number, depth in ((1, 1), (2, 4))]
    on_three = [run.model_copy(update={"nodes": nodes("pve1", "pve2", "pve3")}) for run in runs]
    knee = known(knee_of(load_points(curve_of(on_three, DEPTH).series[0])))
    assert [point.in_flight for point in knee.points] == [3, 12]
    assert [point.in_flight for point in knee.unexplained] == [12]


def test_whether_it_reads_or_writes_is_no_axis_but_sets_series_apart() -> None:
    runs = [run(n, iodepth=d, rw=rw) for n, (d, rw) in enumerate([(1, "randread"), (4, "randread"), (1, "read")], 1)]
    assert varying_axes(runs) == [DEPTH]
    assert shape(curve_of(runs, DEPTH)) == {"randread": [("1", 1), ("4", 1)], "read": [("1", 1)]}


def test_how_long_it_was_measured_is_an_axis_only_where_nothing_else_is() -> None:
    runs = [run(1, iodepth=1, runtime=30), run(2, iodepth=4, runtime=60)]
    assert varying_axes(runs) == [DEPTH]
    assert list(shape(curve_of(runs, DEPTH))) == [""]
    assert varying_axes([run(1, runtime=30), run(2, runtime=60)]) == [Axis("option", "runtime")]
