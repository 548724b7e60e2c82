"""Figures that are expected of runs: as they are typed, against what was measured, and in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.verdicts.expectation import (
    Expectation,
    answer_to,
    figure_of,
    judge_expectation,
    parse_expectation,
    seconds_reached,
)
from cephtui.cli.verbs import cli
from cephtui.models import Finding, Interval, MeasuredVolume, Promise, Run, Sample, Summary, Total, VolumePart
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME
from cephtui.models.verdict import Answer
from cephtui.reports.views.expected import Row
from cephtui.reports.words.expectation import expected_lines, word_text
from cephtui.sessions.jsonlines import line, schema
from tests.support.drawings import draw_provisioned, printed
from tests.support.golden import Golden
from tests.support.runs import STARTED, run, total

TYPED = {
    "iops>=5000": (None, "iops", 5000, "iops>=5000"),
    "write iops >= 5k": ("write", "iops", 5000, "write iops>=5000"),
    " read iops>=1,250 ": ("read", "iops", 1250, "read iops>=1250"),
    "iops>=1.5M": (None, "iops", 1.5e6, "iops>=1500000"),
    "bandwidth>=200MiB/s": (None, "bandwidth_bytes", 200 << 20, "bandwidth>=209715200B/s"),
    "write bandwidth>=200MB/s": ("write", "bandwidth_bytes", 2e8, "write bandwidth>=200000000B/s"),
    "p99<=5ms": (None, "latency_p99_seconds", 0.005, "p99<=0.005s"),
    "latency<=500us": (None, "latency_mean_seconds", 0.0005, "latency<=0.0005s"),
    "p99.9<=1s": (None, "latency_p999_seconds", 1.0, "p99.9<=1s"),
    "p50<=1us": (None, "latency_p50_seconds", 1e-6, "p50<=0.000001s"),
    "bandwidth>=2000GB/s": (None, "bandwidth_bytes", 2e12, "bandwidth>=2000000000000B/s"),
}
WRONG = [
    "iops",
    "speed>=5",
    "iops>5000",
    "iops<=5000",
    "p99>=5ms",
    "bandwidth>=200",
    "bandwidth>=200M",
    "p99<=5",
    "iops>=5000MiB/s",
    "iops>=0",
    "iops>=-5",
    "iops>=1e400",
]


@pytest.mark.parametrize("typed", TYPED)
def test_what_is_typed_is_an_expectation(typed: str) -> None:
    direction, figure, value, text = TYPED[typed]
    found = parse_expectation(typed)
    assert (found.direction, found.metric.name, found.text) == (direction, figure, text)
    assert found.value == pytest.approx(value)
    assert parse_expectation(found.text).text == text, "it is read again as it was written"


@pytest.mark.parametrize("typed", WRONG)
def test_what_is_none_says_what_is_expected(typed: str, golden: Golden) -> None:
    with golden.raises(ValueError):
        parse_expectation(typed)


@given(st.text(max_size=40))
def test_any_text_is_an_expectation_or_a_line_that_says_why_not(text: str) -> None:
    try:
        value = parse_expectation(text).value
    except ValueError as error:
        value = len(str(error))
    assert value > 0


# ---------------------------------------------------------------------------------------------- measured


def flow(ios: int | None, seconds: float, **changes: Any) -> Total:
    return total(**{"ios": ios, "bytes": (ios or 0) * 4096, "runtime_seconds": seconds, "iops": 1.0, **changes})


def wrote(number: int, iops: float, **changes: Any) -> Run:
    return run(number, write=flow(round(iops * 60), 60.0), **changes)


def test_a_rate_is_all_ios_over_the_longest_job() -> None:
    both = run(read=flow(360_000, 60.0), write=flow(118_000, 59.0))
    assert figure_of(both, parse_expectation("iops>=1")) == pytest.approx(478_000 / 60)
    assert figure_of(both, parse_expectation("write iops>=1")) == pytest.approx(2000)
    assert figure_of(both, parse_expectation("bandwidth>=1B/s")) == pytest.approx(478_000 * 4096 / 60)


def test_a_latency_is_that_of_the_run() -> None:
    both = run(read=flow(3_000, 1.0, latency_p99_seconds=0.004), write=flow(1_000, 1.0, latency_p99_seconds=0.009))
    assert figure_of(both, parse_expectation("p99<=1s")) == 0.009
    assert figure_of(both, parse_expectation("read p99<=1s")) == 0.004


def test_without_a_count_of_ios_the_rate_is_that_of_the_tool() -> None:
    assert figure_of(run(write=flow(None, 10.0, iops=512.0)), parse_expectation("iops>=1")) == 512.0


@pytest.mark.parametrize("summary", [Summary(), Summary(read=flow(10, 1.0))], ids=["nothing", "reads"])
def test_what_was_not_done_is_no_figure(summary: Summary) -> None:
    assert figure_of(run(1, summary=summary), parse_expectation("write iops>=1")) is None


# ---------------------------------------------------------------------------------------------- seconds


def second(number: int, *, write: float = 0.0, read: float | None = None, **changes: Any) -> Sample:
    flows = {"write": write, "read": read}
    intervals = {
        name: None if iops is None else Interval(ios=int(iops), bytes=0, iops=iops, bandwidth_bytes=0.0)
        for name, iops in flows.items()
    }
    fields: dict[str, Any] = {"run": 1, "node": None, "preset": "p", "phase": "run", "elapsed_seconds": float(number)}
    return Sample(**fields | {"interval_seconds": 1.0} | intervals | changes)


@pytest.mark.parametrize(
    ("samples", "reached"),
    [
        ([second(1, write=900), second(2, write=899), second(3, write=5000)], (2, 3)),
        ([second(1, write=500, read=400), second(2, write=899)], (1, 2)),
        ([second(1, phase="ramp"), second(2, node="pve1"), second(3, interval_seconds=0.4)], (0, 0)),
        ([second(1, missing=("pve2",)), second(2, write=1000)], (1, 1)),
        ([second(4, write=10, interval_seconds=4.0), second(5, write=1000)], (1, 5)),
        ([second(1, write=0, read=None)], (0, 1)),
    ],
    ids=["reached or not", "read and write", "no seconds of it", "without a node", "late", "a stall"],
)
def test_seconds_reach_nine_tenths_of_what_is_promised(samples: list[Sample], reached: tuple[int, int]) -> None:
    assert seconds_reached(samples, parse_expectation("iops>=1000")) == reached


def test_seconds_without_a_count_of_ios_are_not_known() -> None:
    interval = Interval(ios=None, bytes=5, iops=None, bandwidth_bytes=5.0)
    sample = Sample(1, None, "p", "run", 1.0, 1.0, None, interval)
    assert seconds_reached([sample], parse_expectation("iops>=1")) == (0, 0)
    assert seconds_reached([sample], parse_expectation("bandwidth>=5B/s")) == (1, 1)


# ---------------------------------------------------------------------------------------------- judged


def judged(text: str, runs: Sequence[Run], seconds: tuple[int, int] = (60, 60)) -> Expected:
    return judge_expectation(
        parse_expectation(text), "write-iops", runs, dict.fromkeys(map(name_of, runs), seconds), STARTED
    )


CASES: dict[str, tuple[Sequence[float], tuple[int, int], str, Answer]] = {
    "reached": ([8006], (60, 60), "PASS", "met"),
    "within the tolerance": ([7930], (60, 60), "PASS", "met"),
    "below the tolerance": ([7900], (60, 60), "FAIL", "not met"),
    "just as much as a limit lets through": ([8800], (60, 60), "PASS", "met"),
    "more than enough": ([8900], (60, 60), "PASS", "met"),
    "far more than enough": ([242_000], (60, 60), "PASS", "met"),
    "slow seconds": ([8006], (300, 600), "PASS", "met"),
    "far above, and slow for a while": ([20000], (50, 60), "PASS", "met"),
    "below it, and never slow": ([7900], (60, 60), "FAIL", "not met"),
    "seconds that are not known": ([8006], (0, 0), "PASS", "met"),
    "three that reach it": ([8006, 8010, 8003], (60, 60), "PASS", "met"),
    "three that do not": ([7000, 7010, 7005], (60, 60), "FAIL", "not met"),
    "three around it": ([7400, 8000, 8600], (60, 60), "NO VERDICT", "undecided"),
    "three around it with slow seconds": ([7400, 8000, 8600], (50, 60), "NO VERDICT", "undecided"),
    "two are judged by their mean": ([7900, 8100], (60, 60), "PASS", "met"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_an_expectation(case: str) -> None:
    values, seconds, word, answer = CASES[case]
    found = judged("write iops>=8000", [wrote(n, value) for n, value in enumerate(values, 1)], seconds)
    assert (found.word, found.answer) == (word, answer)


OF_VOLUME = Promise(step="v", expect=("write iops>=8000",), volume=MeasuredVolume(name="v", part="write"))


@pytest.mark.parametrize(
    ("value", "seconds", "word"),
    [
        (8006, (591, 600), "FAIL"),
        (8006, (99, 100), "PASS"),
        (20000, (50, 60), "FAIL"),
        (20000, (60, 60), "NOT CAPPED"),
        (8006, (0, 0), "PASS"),
        (7900, (60, 60), "FAIL"),
    ],
)
def test_what_is_promised_of_a_volume_must_hold_over_time(value: float, seconds: tuple[int, int], word: str) -> None:
    runs = [wrote(1, value, promise=OF_VOLUME)]
    assert judged("write iops>=8000", runs, seconds).word == word
    assert judged("write iops>=8,000.5", runs, (0, 600)).word == ("FAIL" if value < 7920 else "PASS"), "by --expect"


@pytest.mark.parametrize(
    ("values", "said"), [([8006], "(one run: no interval)"), ([8006, 7000], "(2 runs: no interval)")]
)
def test_where_the_mean_of_too_few_runs_decides_the_line_says_so(values: list[float], said: str) -> None:
    runs = [wrote(n, value) for n, value in enumerate(values, 1)]
    ((text, _),) = expected_lines([judged("write iops>=8000", runs)])
    assert f"IOPS {said}, expected " in text
    ((text, _),) = expected_lines([judged("write iops>=8000", [*runs, wrote(3, 8100), wrote(4, 8200)])])
    assert "no interval" not in text
    assert "95 %: " in text


@pytest.mark.parametrize(
    ("promise", "word"), [(OF_VOLUME, "NOT CAPPED"), (OF_VOLUME.model_copy(update={"volume": None}), "PASS")]
)
def test_only_what_is_promised_of_a_volume_is_a_limit_too(promise: Promise, word: str, golden: Golden) -> None:
    found = judged("write iops>=8000", [wrote(1, 8900, promise=promise)])
    assert (found.word, found.answer) == (word, "met")
    ((text, _),) = expected_lines([found])
    golden.same(text)
    assert judged("write iops>=8000", [wrote(1, 8800, promise=promise)]).word == "PASS", "at the limit"
    assert judged("write iops>=4000", [wrote(1, 8800, promise=promise)]).word == "PASS", "asked by --expect"


@pytest.mark.parametrize(("seconds", "word"), [(0.005, "PASS"), (0.00504, "PASS"), (0.0052, "FAIL"), (0.001, "PASS")])
def test_of_a_latency_less_is_enough_and_no_second_counts(seconds: float, word: str) -> None:
    runs = [run(write=flow(1_000, 1.0, latency_p99_seconds=seconds))]
    found = judged("p99<=5ms", runs, (0, 60))
    assert (found.word, found.seconds) == (word, None)


def test_runs_that_do_not_count_make_it_invalid_and_are_named() -> None:
    thin = Finding(code="thin", text="the image is thin")
    found = judged("iops>=1", [wrote(1, 10, findings=(thin,)), wrote(2, 10, outcome="stopped")], (0, 0))
    assert (found.word, found.answer, found.measured) == ("INVALID", "undecided", None)
    assert [each.why for each in found.left_out] == ["the image is thin", "stopped"]
    ((text, _),) = expected_lines([found])
    assert text.startswith("NOT COUNTED write-iops: expected 1 IOPS; tuning/1: the image is thin")


def test_a_run_without_the_figure_is_named(golden: Golden) -> None:
    found = judged("read iops>=1", [wrote(1, 10)], (0, 60))
    assert (found.word, found.answer) == ("INVALID", "undecided")
    found = judged("read p99<=1ms", [wrote(1, 10)], (0, 0))
    golden.same([each.why for each in found.left_out])


# ---------------------------------------------------------------------------------------------- limited by findings

IN_FLIGHT = Finding(code="in-flight", text="IOPS and bandwidth disagree by 25.7 %: 300 I/Os were in flight")
SHORT = Finding(code="short", text="only 3.0 s measured: too short for caches to settle")
SLOW = Finding(code="slow-ops", text="2 slow ops")
DOUBTFUL = Finding(code="unverified", text="holes")


def in_flight(number: int = 1, findings: Sequence[Finding] = (SHORT, IN_FLIGHT), **changes: Any) -> Run:
    """388 IOPS by its count of I/Os, 488 by its bytes."""
    write = flow(1164, 3.0, bytes=1464 * 4096, iops=388.0, bandwidth_bytes=488.0 * 4096)
    return run(number, write=write, findings=tuple(findings), **changes)


def test_the_bandwidth_of_what_was_in_flight_is_as_it_is() -> None:
    assert judged(f"bandwidth>={480 * 4096}B/s", [in_flight()]).word == "PASS"


@pytest.mark.parametrize(("text", "by_bytes"), [("iops>=480", True), (f"bandwidth>={480 * 4096}B/s", False)])
def test_ios_that_the_tool_has_counted_otherwise_are_said_to_be_by_bytes(text: str, by_bytes: bool) -> None:
    write = flow(1464, 3.0, bytes=1464 * 4096, iops=488.0, bandwidth_bytes=488.0 * 4096, ios_reported=1164)
    found = judged(text, [run(1, write=write)])
    assert (found.word, found.by_bytes) == ("PASS", by_bytes)


def test_seconds_are_counted_by_bytes_too() -> None:
    interval = Interval(ios=100, bytes=500 * 4096, iops=100.0, bandwidth_bytes=500.0 * 4096)
    expected = parse_expectation("iops>=500")
    assert seconds_reached([Sample(1, None, "p", "run", 1.0, 1.0, None, interval)], expected) == (0, 1)
    assert seconds_reached([Sample(1, None, "p", "run", 1.0, 1.0, None, interval)], expected, 4096) == (1, 1)


@pytest.mark.parametrize("value", [100, 8000, 20000])
@pytest.mark.parametrize("seconds", [(60, 60), (0, 60)])
def test_what_a_finding_limits_shows_neither(value: float, seconds: tuple[int, int]) -> None:
    found = judged("write iops>=8000", [wrote(1, value, findings=(SHORT, SLOW, DOUBTFUL))], seconds)
    assert (found.word, found.answer) == ("NO VERDICT", "undecided")
    assert [(each.run, each.why) for each in found.limited] == [("tuning/1", "2 slow ops"), ("tuning/1", "holes")]
    ((text, _),) = expected_lines([found])
    assert text.startswith("INCONCLUSIVE write-iops: write ")
    assert text.endswith("; tuning/1: 2 slow ops; tuning/1: holes")


@pytest.mark.parametrize(("value", "word"), [(100, "NO VERDICT"), (8000, "PASS"), (20000, "PASS")])
def test_what_is_reached_in_spite_of_what_slows_is_reached(value: float, word: str) -> None:
    found = judged("write iops>=8000", [wrote(1, value, findings=(SHORT, SLOW))])
    assert found.word == word
    assert [each.why for each in found.limited] == ["2 slow ops"]


@pytest.mark.parametrize(
    ("values", "limited", "word"),
    [
        ([1000, 1050, 9000], [3], "FAIL"),
        ([8006, 8010, 100], [3], "PASS"),
        ([100, 8006, 100], [1, 3], "PASS"),
        ([7400, 8000, 8600, 20000], [4], "NO VERDICT"),
    ],
)
def test_runs_without_such_a_finding_decide(values: list[float], limited: list[int], word: str, golden: Golden) -> None:
    runs = [wrote(number, value, findings=(SLOW,) * (number in limited)) for number, value in enumerate(values, 1)]
    seconds = {name_of(each): (0 if each.findings else 60, 60) for each in runs}
    found = judge_expectation(parse_expectation("write iops>=8000"), "write-iops", runs, seconds, STARTED)
    assert (found.word, found.limited) == (word, ())
    assert found.seconds_reached == found.seconds == 60 * len(found.runs)
    assert [each.run for each in found.left_out] == [f"tuning/{number}" for number in limited]
    assert len(found.runs) == len(values) - len(limited)
    ((text, _),) = expected_lines([found])
    golden.same(text)


def test_what_was_in_flight_of_unknown_size_limits_the_iops() -> None:
    found = judged("iops>=500", [in_flight()])
    assert (found.word, found.answer) == ("NO VERDICT", "undecided")
    assert [each.why for each in found.limited] == [IN_FLIGHT.text]


def test_a_finding_of_other_figures_limits_nothing() -> None:
    space = Finding(code="space", text="smaller than the image")
    assert judged("iops>=8000", [wrote(1, 8006, findings=(space, SHORT))]).word == "PASS"
    latency = run(write=flow(10_000, 1.0, latency_p99_seconds=0.004), findings=(IN_FLIGHT,))
    assert judged("p99<=5ms", [latency]).word == "PASS"


def test_a_table_of_volumes_has_what_was_counted_and_why_there_is_no_verdict(golden: Golden) -> None:
    runs = [in_flight(1), wrote(2, 300, findings=(SLOW,))]
    parts: dict[VolumePart, Expected] = {
        "read": judged("write iops>=500", runs[:1]),
        "write": judged("write iops>=500", runs[1:]),
    }
    text = printed(draw_provisioned([Row("vol", "", "64", parts)], {name_of(run): run for run in runs}))
    assert "INCONCLUSIVE 388" in text
    assert "INCONCLUSIVE 300" in text
    golden.same(line.strip() for line in text.splitlines() if line.startswith(("vol read: ", "vol write: ")))


@pytest.mark.parametrize(
    ("answers", "all_"),
    [(["met", "met"], "met"), (["met", "undecided"], "undecided"), (["undecided", "not met", "met"], "not met")],
)
def test_all_must_be_met(answers: list[Answer], all_: Answer) -> None:
    one = judged("iops>=1", [wrote(1, 10)])
    assert answer_to([one.model_copy(update={"answer": answer}) for answer in answers]) == all_


def test_nothing_is_undecided() -> None:
    assert answer_to([]) == "undecided"


LINES: list[tuple[str, list[float], tuple[int, int], str]] = [
    ("iops>=8000", [8006], (60, 60), "PASS"),
    ("write iops>=8k", [7500], (59, 60), "FAIL"),
    ("iops>=8000", [8000], (99_999, 100_000), "PASS"),
    ("iops>=8000", [20000], (60, 60), "PASS"),
    ("bandwidth>=31MiB/s", [8006], (0, 0), "PASS"),
    ("iops>=8000", [7400, 8000, 8600], (60, 60), "NO VERDICT"),
]


@pytest.mark.parametrize(("typed", "values", "seconds", "word"), LINES)
def test_the_line(typed: str, values: list[float], seconds: tuple[int, int], word: str, golden: Golden) -> None:
    found = judged(typed, [wrote(n, value) for n, value in enumerate(values, 1)], seconds)
    ((line, _),) = expected_lines([found])
    assert line.startswith(f"{word_text(found.word)} write-iops: ")
    assert found.word == word
    golden.same(line)


def test_of_several_targets_each_line_names_its_own() -> None:
    found = [judged("iops>=8000", [wrote(1, 8006, target=target)]) for target in ("rbd:a", "rbd:b")]
    assert [line.partition(": ")[0] for line, _ in expected_lines(found)] == [
        "PASS write-iops on rbd:a",
        "PASS write-iops on rbd:b",
    ]


def test_it_is_a_line_of_json_and_in_the_schema() -> None:
    found = judged("iops>=8000", [wrote(1, 8006), wrote(2, 1, outcome="lost")])
    assert Expected.model_validate_json(line(found)) == found
    assert set(json.loads(line(found))) == set(schema()["$defs"]["Expected"]["properties"])


def test_the_tolerance_can_be_another() -> None:
    exact = Expectation(BY_NAME["iops"], 8000.0, tolerance_percent=0.0)
    assert [exact.is_met_by(value) for value in (7999.0, 8000.0)] == [False, True]


@pytest.mark.parametrize(
    "words",
    [
        ("write-iops", "--expect", "fast"),
        ("quick", "--expect", "iops>=1"),
        ("--resume", "last", "--expect", "iops>=1"),
    ],
)
def test_an_option_that_can_not_be_is_a_usage_error(words: tuple[str, ...], golden: Golden) -> None:
    done = CliRunner().invoke(cli, ["run", *words])
    assert done.exit_code == 2
    golden.same(" ".join(done.output.split()))


def test_a_percentile_that_too_few_ios_carry_shows_nothing(golden: Golden) -> None:
    few = run(write=flow(400, 1.0, latency_p99_seconds=0.004, latency_p95_seconds=0.003))
    found = judged("p99<=5ms", [few])
    assert found.word == "INVALID"
    golden.same([each.why for each in found.left_out])
    assert judged("p95<=5ms", [few]).word == "PASS"
