"""Batches, and the verdict as data."""

from __future__ import annotations

import pytest

from cephtui.analysis.batches import group, is_run_of
from cephtui.analysis.verdict import Kind, Reason, Verdict, Word, judge
from cephtui.models import NodeResult, Run, Step
from cephtui.models.metrics import BY_NAME
from cephtui.sessions import store
from tests.replayed import SESSION, WRITE_IOPS

IOPS, P99 = BY_NAME["iops"], BY_NAME["latency_p99_seconds"]


def recorded(number: int = WRITE_IOPS, **changes: object) -> Run:
    return store.read_run(SESSION, WRITE_IOPS).model_copy(update={"run": number, **changes})


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
    elsewhere = recorded(2, nodes=(NodeResult(node="elsewhere", command="fio"),))
    (batch,) = group([recorded(1), elsewhere])
    assert [len(point.repeats) for point in batch.points] == [1, 1]
    assert not batch.axes


def test_a_run_belongs_to_its_step_alone() -> None:
    run = recorded(step=2, repeat=3)
    step = Step(
        preset=run.preset,
        tool=run.tool,
        batch=run.batch,
        repeat=3,
        number=2,
        target=run.target,
        span_bytes=0,
        options=run.options,
        nodes=(),
        prepare_seconds=0.0,
        ramp_seconds=0.0,
        run_seconds=60.0,
    )
    assert is_run_of(run, step)
    changes: list[dict[str, object]] = [{"batch": "x"}, {"repeat": 9}, {"number": 9}, {"preset": "x"}, {"options": {}}]
    for change in changes:
        assert not is_run_of(run, step.model_copy(update=change))


# ---------------------------------------------------------------------------------------------- verdict


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ([], [1.0], Reason("no-figures", (0, 1))),
        ([1.0], [], Reason("no-figures", (1, 0))),
        ([1.0], [2.0], Reason("one-run-each", (1, 1))),
        ([1.0, 1.1], [2.0], Reason("no-test", (2, 1))),
        ([1.0] * 5, [2.0] * 5, Reason("no-test", (5, 5))),
    ],
)
def test_there_is_no_verdict_and_it_says_why(left: list[float], right: list[float], reason: Reason) -> None:
    verdict = judge(IOPS, left, right)
    assert (verdict.kind, verdict.reasons) == ("no verdict", (reason,))
    assert (verdict.interval, verdict.confidence, verdict.runs_needed) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "word"),
    [("better", "better"), ("worse", "worse"), ("same", "same"), ("not better", None), ("not worse", None)],
)
@pytest.mark.parametrize("right", [500.0, 1000.0, 2000.0])
def test_no_word_contradicts_a_verdict(kind: Kind, word: Word | None, right: float) -> None:
    assert Verdict(IOPS, 1000.0, right, right / 1000.0 - 1.0, kind).word == word


def test_without_a_verdict_the_word_is_where_the_figure_went() -> None:
    assert [judge(IOPS, [1000.0], [right]).word for right in (900.0, 1004.0, 1100.0)] == ["worse", "same", "better"]
    assert [judge(P99, [0.1], [right]).word for right in (0.09, 0.1001, 0.11)] == ["better", "same", "worse"]
    assert judge(IOPS, [], [1.0]).word is None
