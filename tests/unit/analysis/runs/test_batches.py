"""Batches, and an order in progress."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cephtui.analysis.runs.batches import Estimate, group, is_run_of, summarize
from cephtui.analysis.views.live import BatchProgress, Live
from cephtui.models import Event, Finding, Interval, Phase, Plan, Sample, Summary
from cephtui.presets import Choice
from cephtui.reports.words.text import time_left
from tests.support import plans
from tests.support.golden import Golden
from tests.support.runs import nodes, recorded

# ---------------------------------------------------------------------------------------------- batches


def test_a_sweep_is_a_batch_with_a_point_for_each_value_and_its_repeats() -> None:
    runs = [
        recorded(number, batch="sweep", repeat=1 + number // 3, options={"rw": "randread", "iodepth": depth})
        for number, depth in ((1, 1), (2, 64), (3, 1), (4, 64))
    ]
    alone = recorded(5, batch="other", options={"rw": "randread", "iodepth": 8})
    sweep, single = group([*runs[:2], alone, *runs[2:]])
    assert (sweep.axes, single.axes) == (("iodepth",), ())
    assert [(point.options["iodepth"], [run.run for run in point.repeats]) for point in sweep.points] == [
        (1, [1, 3]),
        (64, [2, 4]),
    ]
    assert single.runs == [alone]


def test_an_option_that_only_some_points_have_is_an_axis() -> None:
    (batch,) = group([recorded(1, options={"bs": "4k"}), recorded(2, options={"bs": "4k", "iodepth": 1})])
    assert batch.axes == ("iodepth",)


def test_the_same_batch_of_another_session_is_another() -> None:
    assert len(group([recorded(1), recorded(2, session="other")])) == 2


def test_runs_on_other_nodes_are_no_repeats() -> None:
    elsewhere = recorded(2, nodes=nodes("elsewhere"))
    (batch,) = group([recorded(1), elsewhere])
    assert [len(point.repeats) for point in batch.points] == [1, 1]
    assert not batch.axes


def test_repeats_are_their_geometric_mean() -> None:
    runs = [recorded(1, iops=100.0, p99=0.1), recorded(2, iops=200.0, p99=0.2), recorded(3, iops=400.0, p99=1.6)]
    (batch,) = group(runs)
    assert batch.is_repeated
    result = summarize(batch.points[0])
    iops, p99 = (result.estimates["write"][name] for name in ("iops", "latency_p99_seconds"))
    assert [iops.value, p99.value] == pytest.approx([200.0, 0.032 ** (1 / 3)])
    assert [(each.least, each.greatest, each.runs) for each in (iops, p99)] == [(100.0, 400.0, 3), (0.1, 1.6, 3)]
    assert (len(result.counted), result.ended, result.findings) == (3, 3, ())


def test_an_estimate_has_the_interval_of_its_mean() -> None:
    estimate = Estimate.of([10000, 10400, 9800, 10200, 9900])
    assert estimate.value == pytest.approx(10057.7, abs=0.05)
    assert estimate.spread == pytest.approx(0.023847, abs=1e-6)
    # by scipy.stats.t.interval of the logarithms
    assert estimate.interval == pytest.approx((9764.308, 10359.921), abs=1e-3)


def test_one_run_has_no_spread_and_neither_has_one_that_completed_nothing() -> None:
    alone = Estimate.of([100.0])
    assert (alone.least, alone.greatest, alone.runs, alone.spread, alone.interval) == (100.0, 100.0, 1, None, None)
    assert alone.value == pytest.approx(100.0)
    assert Estimate.of([100.0, 0.0, 300.0]) == Estimate(0.0, 0.0, 300.0, 3)
    assert Estimate.of([100.0, 0.0, 300.0]).interval is None
    assert Estimate.of([7.7] * 4).interval == pytest.approx((7.7, 7.7))


def test_only_runs_that_ended_well_are_in_the_result_of_a_point() -> None:
    short = Finding(code="short", text="only 2.0 s measured")
    runs = [
        recorded(1, iops=100.0, p99=0.1),
        recorded(2, iops=900.0, p99=0.2, outcome="stopped"),
        recorded(3, iops=300.0, p99=0.3, findings=(short,)),
        recorded(4, outcome=None, summary=Summary()),
    ]
    (batch,) = group(runs)
    result = summarize(batch.points[0])
    assert [run.run for run in result.counted] == [1, 3]
    assert result.ended == 3, "the last one runs"
    assert result.estimates["write"]["iops"] == Estimate.of([100.0, 300.0])
    assert result.findings == ("short",)


def test_a_point_without_a_run_that_ended_well_has_no_estimates() -> None:
    (batch,) = group([recorded(1, outcome="refused", summary=Summary()), recorded(2, outcome="failed")])
    result = summarize(batch.points[0])
    assert (result.counted, result.ended, result.estimates) == ((), 2, {})


def test_a_metric_that_no_run_has_is_left_out() -> None:
    (batch,) = group([recorded(1)])
    run = batch.runs[0]
    assert run.summary.write
    total = run.summary.write.model_copy(update={"latency_p99_seconds": None, "iops": float("nan")})
    (batch,) = group([run.model_copy(update={"summary": Summary(write=total)})])
    estimates = summarize(batch.points[0]).estimates["write"]
    assert "latency_p99_seconds" not in estimates
    assert "iops" not in estimates
    assert "bandwidth_bytes" in estimates


def test_a_batch_knows_the_values_of_a_sweep() -> None:
    runs = [recorded(n, options={"bs": bs, "iodepth": n % 2}) for n, bs in ((1, "4k"), (2, "4k"), (3, "64k"))]
    (batch,) = group(runs)
    assert (batch.values("bs"), batch.values("iodepth"), batch.values("rw")) == (["4k", "64k"], [1, 0], [])


# ---------------------------------------------------------------------------------------------- an order in progress


def order(*presets: str, repeats: int = 1, begun: int = 0, **overrides: Choice) -> Plan:
    """A plan of packaged presets on one file, without a prefill."""
    order = replace(plans.request(*presets, repeats=repeats, begun=begun), overrides=overrides)
    return plans.plan_of(order, {("local", plans.FILE): 1 << 60})


def in_step(plan: Plan, index: int, *samples: Sample) -> Live:
    """While one of its steps runs."""
    live, step = Live(), plan.steps[index]
    run = recorded(1, outcome=None, batch=step.batch, step=step.number, preset=step.preset, options=step.options)
    events: tuple[Event, ...] = (plan, run, *samples)
    for event in events:
        live.take(event)
    return live


def place(progress: BatchProgress | None) -> tuple[int, int | None, float]:
    """Which run, of how many, and the seconds left to a tenth."""
    assert progress
    assert progress.seconds_left is not None
    return progress.run, progress.of, round(progress.seconds_left, 1)


def second(elapsed: float, phase: Phase = "run") -> Sample:
    return Sample(1, None, "write-iops", phase, elapsed, 1.0, None, Interval(1, 4096, 1.0, 4096.0))


def test_without_a_run_there_is_no_place_in_a_batch() -> None:
    assert Live().batch_progress() is None


def test_a_run_of_a_sweep_knows_its_place_and_the_time_of_all(golden: Golden) -> None:
    plan = order("write-iops", iodepth=[1, 4, 16], runtime=30)
    later = plan.steps[2].likely_seconds
    progress = in_step(plan, 1, second(12.0)).batch_progress(0.5)
    assert place(progress) == (2, 3, round(2 + 30 - 12.5 + later, 1))
    golden.same(time_left(BatchProgress(2, 4, 100.0)))


def test_repeats_are_in_the_order_of_their_preset_only() -> None:
    plan = order("write-iops", "read-iops", repeats=2, runtime=30)
    places = [place(in_step(plan, index).batch_progress()) for index in range(4)]
    assert [each[:2] for each in places] == [(1, 2), (2, 2), (1, 2), (2, 2)]
    assert places[3] == (2, 2, 32.0)


def test_the_rest_of_a_stopped_order_counts_on() -> None:
    plan = order("write-iops", repeats=4, begun=2, runtime=30)
    assert len(plan.steps) == 2
    assert place(in_step(plan, 0).batch_progress())[:2] == (3, 4)


def test_a_run_that_is_planned_alone_behind_others_does_not_say_of_how_many() -> None:
    live = in_step(order("write-iops", repeats=4, begun=3, runtime=30), 0)
    progress = live.batch_progress()
    assert progress
    assert progress.of is None
    assert time_left(progress) == "run 4, 32 s left"
    assert live.place == "4"


def test_a_prefill_is_part_of_the_time() -> None:
    plan = order("write-iops", runtime=30)
    step = plan.steps[0].model_copy(update={"fill_bytes": 1 << 30, "prepare_seconds": 10.0})
    progress = in_step(plan.model_copy(update={"steps": (step,)}), 0).batch_progress(4.0)
    assert place(progress) == (1, 1, 38.0)
    assert progress
    assert time_left(progress) == "38 s left"


def test_a_run_that_only_its_data_ends_has_no_time() -> None:
    plan = order("write-iops", time_based=False, runtime=0)
    progress = in_step(plan, 0, second(3.0)).batch_progress()
    assert progress == BatchProgress(1, 1, None, "more than")
    assert time_left(progress) == ""


def test_a_run_that_its_data_may_end_has_at_most_its_runtime_left(golden: Golden) -> None:
    plan = order("write-iops", "read-iops", repeats=2, time_based=False, runtime=30)
    progress = in_step(plan, 0, second(3.0)).batch_progress()
    assert progress
    assert progress.bound == "at most"
    golden.same(time_left(progress))


def test_a_run_belongs_to_its_step_alone() -> None:
    run = recorded(step=2, repeat=3)
    fields = run.model_dump(include={"preset", "tool", "batch", "target", "options"})
    step = plans.step(**fields, repeat=3, number=2)
    assert is_run_of(run, step)
    changes: list[dict[str, object]] = [{"batch": "x"}, {"repeat": 9}, {"number": 9}, {"preset": "x"}, {"options": {}}]
    for change in changes:
        assert not is_run_of(run, step.model_copy(update=change))
