"""Whether a run stays on one level: reference cases, error rates of simulated runs, and the finding of a run."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.detectors import settling
from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.settling import PerSecond, batch_means, clearest_split, shift_of, slope_of
from cephtui.analysis.views.live import LiveRun
from cephtui.models import Finding, Interval, Run, Sample, Seconds
from cephtui.models.metrics import HeadlineName
from cephtui.sessions import demo, store
from cephtui.tui.charts.chart import Period
from cephtui.tui.widgets.shown import shown_of_live
from tests.support.drawings import draw_run, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import step
from tests.support.runs import SESSION, WRITE_IOPS

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


# ---------------------------------------------------------------------------------------------- the rule

CONSTANT = wobbling(lambda t: 1000)
SAW_TOOTH = wobbling(lambda t: 500 if t % 10 < 2 else 1000)
STALL = [0.0 if 30 <= t <= 32 else value for t, value in enumerate(CONSTANT)]
CASES = {
    "constant": (CONSTANT, 0.620173673, -0.000889778668, 0.000924000924, 0.46291005, False),
    "cliff": (wobbling(cliff(40)), 298.142397, -0.462071621, 0.569769853, 4.54460946, True),
    "warm-up": (wobbling(warm_up(10)), 6.49267719, 0.322195886, 0.35174484, 4.64257476, True),
    "slope": (wobbling(lambda t: 1000 - 5 * t), 5.47442825, -0.176159718, 0.324043543, 138.371529, True),
    "small slope": (wobbling(lambda t: 1000 - 5 / 3 * t), 5.2915183, -0.0526408142, 0.0974799897, 46.4324497, False),
    "saw-tooth": (SAW_TOOTH, 0.620173673, 0.0484488938, 0.0503123128, 0.46291005, False),
    "stall": (STALL, 1.00391747, -0.106113844, 0.0254608357, 0.144249207, False),
}
"""Values, t and size of the step, size and t of the slope, whether it is found: by scipy's ttest_ind and linregress."""


@pytest.mark.parametrize("name", CASES)
def test_reference_cases(name: str) -> None:
    values, step_t, step, rise, slope_t, is_found = CASES[name]
    means = batch_means(values, 5)
    split, slope, whole = clearest_split(means), slope_of(means), sum(means) / len(means)
    assert len(means) == 12
    assert split.t == pytest.approx(step_t, rel=1e-6)
    assert (split.after - split.before) / whole == pytest.approx(step, rel=1e-6)
    assert abs(slope.last - slope.first) / whole == pytest.approx(rise, rel=1e-6)
    assert slope.t == pytest.approx(slope_t, rel=1e-6)
    assert (shift_of(values) is not None) == is_found


def test_the_place_of_a_step_and_of_a_slope() -> None:
    step, slope = known(shift_of(wobbling(cliff(40)))), known(shift_of(CASES["slope"][0]))
    assert (step.begun, step.over) == (40, 40)
    assert (slope.begun, slope.over) == (0, 60)


def test_levels_without_any_noise() -> None:
    assert clearest_split([1.0] * 6 + [2.0] * 6).t == math.inf
    assert shift_of([1000.0] * 60) is None
    assert shift_of([0.0] * 60) is None
    assert known(shift_of([0.0] * 30 + [1000.0] * 30)).begun == 30


def simulated(rng: random.Random, level: Level, correlation: float, spread: float, seconds: int = 60) -> list[float]:
    """Each second depends on the one before (AR(1)); ``spread`` is the standard deviation, as a fraction."""
    noise, found = rng.gauss(0, spread), []
    for t in range(seconds):
        found.append(max(0.0, level(t) * (1 + noise)))
        noise = correlation * noise + rng.gauss(0, spread * math.sqrt(1 - correlation**2))
    return found


def rate(level: Level, runs: int, correlation: float = 0.35, seconds: int = 60) -> float:
    """The part of simulated runs in which a change is found."""
    rng = random.Random(20261121)
    return sum(shift_of(simulated(rng, level, correlation, 0.1, seconds)) is not None for _ in range(runs)) / runs


@pytest.mark.parametrize(
    ("seconds", "correlation", "most"), [(60, 0.35, 0.006), (60, 0.5, 0.01), (30, 0.35, 0.006), (119, 0.35, 0.006)]
)
def test_noise_alone_is_hardly_ever_found(seconds: int, correlation: float, most: float) -> None:
    assert rate(lambda t: 1000, 1000, correlation, seconds) <= most


@pytest.mark.parametrize(
    ("level", "least"),
    [
        (warm_up(10), 0.88),
        (warm_up(30), 0.99),
        (lambda t: 1000 - 5 * t, 0.93),
        (cliff(40), 0.99),
        (cliff(15), 0.99),
    ],
)
def test_a_change_of_level_is_found(level: Level, least: float) -> None:
    assert rate(level, 400) >= least


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
    assert (found.label, found.from_seconds, found.to_seconds) == ("fell 28 %", 5.0, 65.0)


def test_a_warm_up_is_below_what_follows(golden: Golden) -> None:
    found = known(not_settled(course(wobbling(warm_up(10)))))
    assert found.label == "rose 44 %"
    assert (found.from_seconds, found.to_seconds) == (10.0, 10.0)
    golden.same(found.text)


def test_what_begins_or_ends_with_nothing(golden: Golden) -> None:
    rose = known(not_settled(course([0.0] * 20 + CONSTANT[:40])))
    assert rose.from_seconds == 20.0
    golden.same(rose.text)
    fell = known(not_settled(course(CONSTANT[:40] + [0.0] * 20)))
    assert (fell.label, fell.from_seconds) == ("fell 100 %", 40.0)
    golden.same(fell.text)


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
    assert found.finding() is None


def test_a_run_of_less_than_30_seconds_is_not_judged() -> None:
    levels = [1000.0] * 15 + [500.0] * 15
    assert not_settled(course(levels[:29])) is None
    assert not_settled(course(levels)) is not None


def test_ramp_and_prefill_are_not_judged() -> None:
    found = course([1000.0] * 40)
    for second in range(1, 41):
        found.add(Sample(1, None, "p", "ramp", second, 1.0, None, Interval(1, 1, 1.0, 1.0)))
    assert known(found.seconds.summary()).least == 1000.0


def test_a_day_takes_no_more_room_and_no_more_time_than_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    found, judged = PerSecond(), []
    for second in range(1, 86_401):
        found.add(sample(second, 1000.0 if second < 43_200 else 500.0))

    def counted(values: Sequence[float]) -> settling.Shift | None:
        judged.append(len(values))
        return shift_of(values)

    monkeypatch.setattr(settling, "shift_of", counted)
    shift = known(found.finding())
    assert shift.label == "fell 50 %"
    assert "11:56:48 h" in shift.text, "to about half a batch"
    assert found.finding() is not None
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
    assert found.finding() is None
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
    assert not any(shown[:29])
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
    assert "seconds     least 8.10k, greatest 12.3k, standard deviation 640 (6.2 %)" in text


def test_a_run_without_them_is_as_it_was(demo_session: Path) -> None:
    run = store.read_run(demo_session, demo.STAR)
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
