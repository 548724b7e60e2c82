"""Whether a run stays on one level: the findings of a run, and where they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.detectors import settling
from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.settling import PerSecond
from cephtui.analysis.detectors.shifts import Shift, shift_of
from cephtui.analysis.views.live import LiveRun
from cephtui.models import Finding, Interval, Mark, Run, Sample, Seconds
from cephtui.models.metrics import HeadlineName
from cephtui.sessions import store
from cephtui.tui.charts.chart import Period
from cephtui.tui.widgets.shown import shown_of_live
from tests.support import two_copies
from tests.support.clean_seconds import clean_seconds
from tests.support.drawings import draw_run, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import step
from tests.support.runs import SESSION, STARTED, WRITE_IOPS

Level = Callable[[int], float]
"""IOPS by the second, from 0."""
WOBBLE = (30, -20, 10, -40, 25, -15, 35, -30, 5, -10)


def wobbling(level: Level, seconds: int = 60) -> list[float]:
    """The same noise each time."""
    return [level(t) + WOBBLE[t % len(WOBBLE)] for t in range(seconds)]


def cliff(at: int, to: float = 600.0) -> Level:
    return lambda t: 1000.0 if t < at else to


def warm_up(tau: float) -> Level:
    return lambda t: 1000 * (1 - 0.5 * math.exp(-t / tau))


CONSTANT = wobbling(lambda t: 1000)


# ---------------------------------------------------------------------------------------------- the finding of a run


def sample(end: float, iops: float, interval: float = 1.0, node: str | None = None, **more: object) -> Sample:
    done = Interval(round(iops * interval), round(4096 * iops * interval), iops, 4096 * iops)
    return Sample(1, node, "write-iops", "run", end, interval, None, done, **more)  # type: ignore[arg-type]


def course(values: Sequence[float], headline: HeadlineName = "iops", ramp: int = 0) -> Course:
    """A run of one node."""
    found = Course(headline)
    for second, value in enumerate(values, 1):
        found.add(sample(ramp + second, value, node="a"))
        found.add(sample(ramp + second, value))
    return found


def not_settled(found: Course) -> Finding | None:
    return next((finding for finding in found.findings() if finding.code == "not-settled"), None)


def test_a_step_says_where_it_is_how_large_and_what_the_mean_hides(golden: Golden) -> None:
    found = known(not_settled(course(wobbling(cliff(40)))))
    golden.same(found.text)
    assert (found.label, found.from_seconds, found.to_seconds) == ("fell 40 %", 40.0, 40.0)


def test_a_slope_says_from_when_to_when(golden: Golden) -> None:
    found = known(not_settled(course(wobbling(lambda t: 1000 - 5 * t), ramp=5)))
    golden.same(found.text)
    assert (found.label, found.from_seconds, found.to_seconds) == ("fell 30 %", 5.0, 65.0)


def test_a_warm_up_is_below_what_follows(golden: Golden) -> None:
    found = known(not_settled(course(wobbling(warm_up(10)))))
    assert found.label == "rose 67 %"
    assert (found.from_seconds, found.to_seconds) == (4.0, 4.0)
    golden.same(found.text)


def codes(found: Course) -> list[str]:
    return [finding.code for finding in found.findings()]


def test_what_a_stall_tells_already_is_not_told_again() -> None:
    assert codes(course([0.0] * 20 + CONSTANT[:40])) == ["stalled"]
    assert codes(course(CONSTANT[:40] + [0.0] * 20)) == ["stalled"]
    assert codes(course([*CONSTANT[:20], *[0.0] * 5, *CONSTANT[25:40]])) == ["stalled"]
    assert codes(course([*CONSTANT[:20], *[100.0] * 5, *CONSTANT[25:40]])) == ["dip"]
    half_stalled = [*CONSTANT[:20], *[100.0] * 8, *[0.0] * 4, *CONSTANT[32:60]]
    assert codes(course(half_stalled)) == ["dip", "stalled"]


def test_a_collapse_says_when_and_from_what_to_what(golden: Golden) -> None:
    found = course([540.0, 530.0, *[22.0, 21.0, 23.0] * 6])
    (collapse,) = found.findings()
    assert (collapse.code, collapse.label) == ("collapse", "fell 96 %")
    assert (collapse.from_seconds, collapse.to_seconds) == (2.0, 2.0)
    golden.same(collapse.text)
    (of_six,) = course([540.0, 530.0, 22.0, 21.0, 23.0, 22.0]).findings()
    assert of_six.code == "collapse"
    assert course([540.0, 530.0, 22.0, 21.0, 23.0]).findings() == (), "five seconds"


@pytest.mark.parametrize("begun", [3, 20, 48, 54])
def test_a_dip_is_found_anywhere(begun: int, golden: Golden) -> None:
    (dip,) = course(wobbling(lambda t: 400 if begun <= t < begun + 4 else 1000)).findings()
    assert (dip.code, dip.from_seconds, dip.to_seconds) == ("dip", begun, begun + 4.0)
    golden.same(dip.text)


@pytest.mark.parametrize(("period", "low"), [(2, 1), (3, 1), (5, 2), (8, 4), (10, 5), (10, 2)])
def test_a_saw_says_how_often(period: int, low: int) -> None:
    (saw,) = course(wobbling(lambda t: 500 if t % period < low else 1000)).findings()
    assert saw.code == "saw"
    assert saw.values["period_seconds"] == pytest.approx(period, rel=0.05)
    assert saw.values["low"] == pytest.approx(500, rel=0.1)
    assert saw.values["high"] == pytest.approx(1000, rel=0.1)


def test_a_saw_is_told_in_words(golden: Golden) -> None:
    (saw,) = course(wobbling(lambda t: 500 if t % 10 < 2 else 1000)).findings()
    golden.same(saw.text)


def test_seconds_that_differ_without_a_pattern_are_told_once(golden: Golden) -> None:
    rng = np.random.default_rng(8)
    (deviation,) = course(clean_seconds(rng, 60, 0.9).tolist()).findings()
    assert deviation.code == "deviation"
    golden.same(deviation.text)


def test_few_operations_have_no_rhythm_of_their_own() -> None:
    """One each second, or none: a set rate of half an I/O a second does that."""
    assert codes(course([1.0, 0.0] * 30)) == []
    assert codes(course([100.0, 0.0] * 30)) == ["saw"]


def test_what_a_tool_does_by_itself_is_no_trouble() -> None:
    values = [500.0 if t % 10 < 5 else 1000.0 for t in range(60)]
    for course_of_tool in (Course("iops", "gosbench"), Course("iops", "fio", waits=True)):
        for second, value in enumerate(values, 1):
            flows = {"delete": Interval(round(value), 0, value, None)}
            course_of_tool.add(Sample(1, "a", "p", "run", second, 1.0, None, None, other=flows))
            course_of_tool.add(Sample(1, None, "p", "run", second, 1.0, None, None, other=flows))
        assert codes(course_of_tool) == []
    steps = [
        step(tool="fio", options={"rw": "randwrite", "bs": "4k", "ioengine": "libaio", "runtime": 60, **more})
        for more in ({}, {"thinktime": 500})
    ]
    assert [Course.of(one).waits for one in steps] == [False, True]


def test_what_slowed_a_run_is_told_beside_it(golden: Golden) -> None:
    found = course(wobbling(lambda t: 400 if 20 <= t < 32 else 1000))
    found.mark(Mark(at=STARTED, run=1, elapsed_seconds=19.5, text="backup begun"))
    (dip,) = found.findings()
    golden.same(dip.text)


def test_the_figure_is_the_presets(golden: Golden) -> None:
    found = course(wobbling(cliff(40)), "bandwidth")
    golden.same(known(not_settled(found)).text)
    assert known(found.seconds.summary()).metric == "bandwidth_bytes"
    assert known(course(CONSTANT, "latency").seconds.summary()).metric == "iops"


def test_without_counted_operations_it_is_the_bandwidth() -> None:
    found = PerSecond()
    for second in range(1, 61):
        found.add(Sample(1, None, "p", "run", second, 1.0, Interval(None, 4096, None, 4096.0), None))
    assert known(found.summary()).metric == "bandwidth_bytes"
    assert found.troubles() == ()


def test_ramp_and_prefill_are_not_judged() -> None:
    found = course([1000.0] * 40)
    for second in range(1, 41):
        found.add(Sample(1, None, "p", "ramp", second, 1.0, None, Interval(1, 1, 1.0, 1.0)))
    assert known(found.seconds.summary()).least == 1000.0


def test_a_day_takes_no_more_room_and_no_more_time_than_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    found, judged = PerSecond(), []
    for second in range(1, 86_401):
        found.add(sample(second, 1000.0 if second < 43_200 else 500.0))

    def counted(values: Sequence[float]) -> Shift | None:
        judged.append(len(values))
        return shift_of(values)

    monkeypatch.setattr(settling, "shift_of", counted)
    (collapse,) = found.troubles()
    assert collapse.kind.code == "collapse"
    assert collapse.span[0] == pytest.approx(43_200, abs=130), "to a joined second"
    assert found.troubles() == (collapse,)
    assert (len(judged), judged[0] <= 1000) == (1, True), "drawn often, judged once a second"


# ---------------------------------------------------------------------------------------------- the seconds


def test_how_the_seconds_are_spread() -> None:
    found = known(course([900.0, 1000.0, 1100.0, 1200.0]).seconds.summary())
    assert (found.count, found.least, found.mean, found.greatest) == (4, 900.0, 1050.0, 1200.0)
    assert found.stddev == pytest.approx(129.099445)
    assert course([900.0]).seconds.summary() is None


def test_a_part_of_a_second_is_left_out_and_a_late_tool_counts_for_all_of_its_time() -> None:
    found = course([1000.0] * 10)
    for node in ("a", None):
        found.add(sample(13.0, 100.0, interval=3.0, node=node))
        found.add(sample(13.4, 7.0, interval=0.4, node=node))
    seconds = known(found.seconds.summary())
    assert (seconds.count, seconds.least) == (13, 100.0)
    assert seconds.mean == pytest.approx(10_300 / 13)
    assert seconds.stddev == pytest.approx(stdev([1000.0] * 10 + [100.0] * 3))


def test_a_tool_that_claims_to_have_been_late_for_years_costs_no_time() -> None:
    found = PerSecond()
    found.add(sample(9e8, 1000.0, interval=9e8))
    assert found.troubles() == ()
    assert known(found.summary()).count == 900_000_000


@given(value=st.floats(1.0, 1e7), intervals=st.lists(st.floats(1.0, 60.0), min_size=1, max_size=20))
def test_seconds_that_are_all_the_same_are_not_spread(value: float, intervals: list[float]) -> None:
    """A slow tool may give the first ones, or all, in one."""
    found = PerSecond()
    for elapsed, interval in zip(accumulate(intervals), intervals, strict=True):
        found.add(sample(elapsed, value, interval=interval))
    summary = found.summary()
    assert summary is None or summary.stddev == pytest.approx(0.0, abs=value * 1e-9)


def test_seconds_in_which_a_node_did_not_take_part_are_none_of_all() -> None:
    """One ends long before the other: that is no change of level."""
    found = Course()
    for second in range(1, 61):
        nodes = ("a", "b") if second <= 40 else ("a",)
        for node in nodes:
            found.add(sample(second, 500.0, node=node))
        found.add(sample(second, 500.0 * len(nodes)))
    found.add(sample(61, 1.0, missing=("b",)))
    seconds = known(found.seconds.summary())
    assert (seconds.count, seconds.least) == (40, 1000.0)
    assert not_settled(found) is None


def test_reads_and_writes_are_together_and_a_second_without_any_is_zero() -> None:
    found = PerSecond()
    found.add(Sample(1, None, "p", "run", 1.0, 1.0, Interval(7, 70, 7.0, 70.0), Interval(3, 30, 3.0, 30.0)))
    found.add(Sample(1, None, "p", "run", 2.0, 1.0, None, None))
    assert (known(found.summary()).greatest, known(found.summary()).least) == (10.0, 0.0)


# ---------------------------------------------------------------------------------------------- where it is shown


def live(headline: HeadlineName) -> LiveRun:
    run = store.read_run(SESSION, WRITE_IOPS)
    fields = run.model_dump(include={"preset", "tool", "batch", "target", "options"})
    return LiveRun(run, step(**fields, headline=headline))


def test_it_is_on_the_time_line_while_the_run_proceeds() -> None:
    state = live("bandwidth")
    shown = []
    for second, value in enumerate(wobbling(cliff(20)), 1):
        state.add(sample(second, value, node="local"))
        state.add(sample(second, value))
        shown.append(shown_of_live(state).spans)
    assert not any(shown[:21])
    assert shown[-1] == (Period(20.0, 20.0, "fell 40 %"),)
    assert shown[39] == shown[-1], "long before the end"
    found = state.course.findings()[0]
    assert (found.code, found.label) == ("not-settled", "fell 40 %")
    assert "bandwidth" in found.text


def drawn(run: Run) -> str:
    return printed(draw_run(run))


def test_a_run_in_full_has_its_seconds() -> None:
    run = store.read_run(SESSION, WRITE_IOPS)
    assert "standard deviation" not in drawn(run)
    seconds = {"metric": "iops", "count": 60, "least": 8100.0, "mean": 10_320.0, "greatest": 12_300.0, "stddev": 640.0}
    text = drawn(run.model_copy(update={"seconds": Seconds.model_validate(seconds)}))
    assert "seconds     IOPS from 8.10k to 12.3k, standard deviation 640 (6.2 %)" in text


def test_a_run_without_them_is_as_it_was(demo_session: Path) -> None:
    run = store.read_run(demo_session, two_copies.STAR)
    assert run.seconds is None
    assert "seconds" not in run.model_dump(mode="json")


def test_runs_of_a_real_cluster_were_settled_as_far_as_they_are_long_enough(demo_session: Path) -> None:
    """One of 40 s is: 2,000 IOPS, a stall of 4 s, then 1,650, the stall apart a fall of less than 20 %."""
    for number, _ in store.run_directories(demo_session):
        course = Course()
        for sample in store.read_samples(demo_session, number):
            course.add(sample)
        assert not_settled(course) is None
        assert known(course.seconds.summary()).count in (3, 15, 40)


@pytest.mark.parametrize(("tool", "count"), [("rados-bench", 3), ("osd-bench", None), ("hsbench", None)])
def test_only_seconds_of_one_load_without_a_gap_are_spread(tool: str, count: int | None) -> None:
    """Of what an OSD writes at a time those that took long would count; hsbench does one operation after another."""
    found = Course("bandwidth", tool)
    for end in (1.0, 2.0, 3.0):
        found.add(sample(end, 100.0))
    summary = found.seconds.summary()
    assert (summary and summary.count) == count
