"""``run --within``: the greatest depth within a latency, what is run for it, what is said, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_INCOMPLETE, EXIT_NO_VERDICT, EXIT_NOT_MET
from cephtui.models import Run, Step, Summary
from cephtui.ordering import plan_of
from cephtui.reports.studies import view_of
from cephtui.studies.bounded import Bounded, bound_of
from tests.support.conducting import BEGUN, Bed, Figure, code_of, conduct, lines_of, run_of, study, text_of
from tests.support.golden import Golden
from tests.support.runs import total

pytestmark = pytest.mark.usefixtures("home")

Latency = Callable[[int, int], float]
"""In seconds, of the depth and the number of the run."""


def with_latency(step: Step, number: int, seconds: float, figure: Figure = 1000.0) -> Run:
    latencies = {"latency_mean_seconds": seconds / 2, "latency_p99_seconds": seconds}
    write = total(ios=60_000, iops=1000.0, bandwidth_bytes=60, **latencies)
    run = run_of(step, number, figure)
    return run.model_copy(update={"summary": Summary(write=write)}) if run.outcome == "ok" else run


def on(latency: Latency, **bed: int) -> Bed:
    return Bed(lambda step, number: with_latency(step, number, latency(int(step.options["iodepth"]), number)), **bed)


def search(within: str = "p99=5ms", *presets: str) -> Bounded:
    bounded = study(*(presets or ("write-iops",)), kind="bounded", goal={"within": within})
    assert isinstance(bounded, Bounded)
    return bounded


def depths(bed: Bed) -> list[int]:
    return [int(step.options["iodepth"]) for step in bed.steps]


@pytest.mark.parametrize(
    ("limit", "way"),
    [
        (1, [1, 2]),
        (2, [1, 2, 4, 3]),
        (11, [1, 2, 4, 8, 16, 12, 10, 11]),
        (23, [1, 2, 4, 8, 16, 32, 24, 20, 22, 23]),
        (64, [1, 2, 4, 8, 16, 32, 64, 128, 96, 80, 72, 68, 66, 65]),
        (256, [1, 2, 4, 8, 16, 32, 64, 128, 256]),
    ],
)
def test_it_doubles_then_bisects_then_confirms_with_three_runs(limit: int, way: list[int]) -> None:
    bed, bounded = on(lambda depth, number: 0.004 if depth <= limit else 0.006), search()
    assert code_of(bounded, bed) == 0
    assert depths(bed) == [*way, limit, limit, limit]
    assert len({step.batch for step in bed.steps}) == 1
    assert [step.number for step in bed.steps] == list(range(1, len(bed.steps) + 1))


def test_what_is_said_while_it_is_measured_and_at_the_end(golden: Golden) -> None:
    bed, bounded = on(lambda depth, number: 0.001 * depth + 0.000_01 * number), search()
    conduct(bounded, bed)
    conclusion = bounded.conclude(bed.runs, (), Path("/nonexistent"), BEGUN)
    view = view_of(bounded)
    golden.same([*bed.lines, text_of(view.concluded(bounded, conclusion))])
    golden.same(lines_of(view.concluded(bounded, conclusion)))
    assert "over the depth" in text_of(view.measured(bounded, bed.runs))


def test_a_depth_that_is_not_confirmed_is_left_for_the_next_lower_one() -> None:
    """Depth 4 was within the bound by chance: its next runs are not."""
    bed, bounded = (
        on(lambda depth, number: {1: 0.001, 2: 0.002, 4: 0.0049 + 0.001 * (number > 3)}.get(depth, 1)),
        search(),
    )
    assert code_of(bounded, bed) == 0
    assert depths(bed) == [1, 2, 4, 8, 6, 5, 4, 4, 4, 2, 2, 2]
    (found,) = bounded.conclude(bed.runs, (), Path("/nonexistent"), BEGUN).searches
    assert found.depth
    assert found.depth.depth == 2


def test_a_mean_within_the_bound_whose_interval_is_not_does_not_hold() -> None:
    bed, bounded = on(lambda depth, number: 0.004 + 0.002 * (number % 2) if depth == 1 else 1.0), search()
    assert code_of(bounded, bed) == EXIT_NO_VERDICT
    assert depths(bed) == [1, 1, 1, 1]


def test_even_depth_1_is_above(golden: Golden) -> None:
    bed, bounded = on(lambda depth, number: 0.009 + 0.000_01 * number), search()
    assert code_of(bounded, bed) == EXIT_NOT_MET
    assert depths(bed) == [1, 1, 1, 1]
    conclusion = bounded.conclude(bed.runs, (), Path("/nonexistent"), BEGUN)
    golden.same(text_of(view_of(bounded).concluded(bounded, conclusion)))


def test_of_reads_and_writes_the_greater_latency_counts() -> None:
    def run(step: Step, number: int) -> Run:
        whole = with_latency(step, number, 0.001)
        read = whole.summary.write
        assert read
        slow = read.model_copy(update={"latency_p99_seconds": 0.001 * int(step.options["iodepth"])})
        return whole.model_copy(update={"summary": Summary(read=read, write=slow)})

    bed = Bed(run)
    assert code_of(search("p99=5.5ms", "mixed-75-25"), bed) == 0
    assert depths(bed)[-1] == 5
    bed = Bed(run)
    assert code_of(search("read p99=5ms", "mixed-75-25"), bed) == 0
    assert depths(bed)[-1] == 256


def test_a_percentile_that_is_not_known_ends_it(golden: Golden) -> None:
    bed, bounded = Bed(lambda step, number: run_of(step, number, 1.0)), search()
    assert code_of(bounded, bed) == EXIT_NO_VERDICT
    assert depths(bed) == [1]
    golden.same(bed.lines)


def test_presets_follow_each_other_and_a_failure_is_its_own() -> None:
    def run(step: Step, number: int) -> Run:
        return with_latency(step, number, 0.009, "no space" if step.preset == "write-iops" else 1.0)

    bed = Bed(run)
    assert code_of(search("p99=5ms", "write-iops", "read-iops"), bed) == EXIT_INCOMPLETE, "beside that of the run"
    assert [step.preset for step in bed.steps] == ["write-iops"] * 2 + ["read-iops"] * 4


@given(st.integers(1, 300), st.integers(0, 40), st.randoms(use_true_random=False))
def test_resumed_anywhere_it_measures_the_same(limit: int, cut: int, chance: object) -> None:
    def latency(depth: int, number: int) -> float:
        return 0.005 * depth / limit * (1 + 0.01 * (number % 3))

    whole, bounded = on(latency), search()
    conduct(bounded, whole)
    first = on(latency, ends_after=cut + 1)
    assert conduct(bounded, first).code == (EXIT_INCOMPLETE if cut + 1 <= len(whole.steps) else 0)
    second = on(latency, first=len(first.steps) + 1)
    conduct(bounded, second, first.runs)
    assert depths(first) + depths(second) == depths(whole)
    assert len(whole.steps) <= bounded.runs_most(256)


def test_how_long_it_may_take_is_said(golden: Golden) -> None:
    bounded = search()
    golden.same(view_of(bounded).planned(bounded, [plan_of(draft) for draft in bounded.drafts()]))


@pytest.mark.parametrize(
    ("text", "said"),
    [("p99=5ms", "p99<=0.005s"), ("write p99.9<=20ms", "write p99.9<=0.02s"), ("latency=1ms", "latency<=0.001s")],
)
def test_a_bound_is_a_latency(text: str, said: str) -> None:
    assert bound_of(text).text == said


REFUSED = [
    "write-iops --within iops=5000",
    "write-iops --within 5ms",
    "write-iops --within p99=5ms --repeat 3",
    "write-iops --within p99=5ms --sweep-depth auto",
    "write-iops --within p99=5ms --set iodepth=4",
    "write-iops --within p99=5ms --set bs=4k,64k",
    "write-throughput --target osd:* --within p99=5ms",
    "quick --target rbd:x --target pool:x --within p99=5ms",
]


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_a_usage_error(words: str, golden: Golden) -> None:
    done = CliRunner().invoke(cli, ["run", "--dry-run", *words.split()])
    assert done.exit_code == 2, done.output
    golden.same(done.output.splitlines()[-1])
