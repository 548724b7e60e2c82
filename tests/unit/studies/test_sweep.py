"""``run --sweep-depth auto``: what is run, what is said of it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.analysis.verdicts.sweep import DepthRun, runs_most
from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_INCOMPLETE, EXIT_NO_VERDICT
from cephtui.models import Run, Step, Summary
from cephtui.ordering import plan_of
from cephtui.reports.studies import view_of
from cephtui.reports.words.curve import again_line, confirmed_line, point_line
from cephtui.studies.depth import depth_most
from tests.support.closed_loops import SECONDS, System, hard
from tests.support.conducting import BEGUN, Bed, code_of, conduct, lines_of, run_of, study, text_of
from tests.support.golden import Golden
from tests.support.runs import total, under_load

pytestmark = pytest.mark.usefixtures("home")

WAY = [1, 2, 4, 8, 16, 32, 64, 11, 23]


def on(system: System, *failing: int, stopping: int = 0) -> Bed:
    """Runs on a system; those of these numbers fail, and the user stops at another."""

    def run(step: Step, number: int) -> Run:
        in_flight = int(step.options["iodepth"]) * int(step.options["numjobs"])
        rate = system(in_flight)
        latency = in_flight / rate if rate else 0.0
        if offered := step.options.get("rate_iops"):
            rate = float(offered) * int(step.options["numjobs"])
            latency = SECONDS
        if number in failing or number == stopping:
            return run_of(step, number, "no space" if number in failing else None)
        latencies = {"latency_mean_seconds": latency, "latency_p99_seconds": 2 * latency}
        write = total(ios=60, iops=rate, bandwidth_bytes=rate, **latencies)
        return run_of(step, number, rate, summary=Summary(write=write))

    return Bed(run)


def depths(bed: Bed) -> list[int]:
    return [int(step.options["iodepth"]) for step in bed.steps]


def swept(bed: Bed, *presets: str, confirm: bool = False) -> int:
    return code_of(study(*presets, kind="sweep", goal={"confirm": confirm}), bed)


def test_it_goes_up_and_back_as_one_batch(golden: Golden) -> None:
    bed, sweep = on(hard(8 * 16)), study("write-iops", kind="sweep")
    assert code_of(sweep, bed) == 0
    assert depths(bed) == [*WAY, *reversed(WAY)]
    assert len({step.batch for step in bed.steps}) == 1
    assert [step.number for step in bed.steps] == list(range(1, 19))
    assert [step.repeat for step in bed.steps] == [1] * 9 + [2] * 9
    assert bed.lines[0] == "depth 1: 62.5 IOPS, 128 ms"
    assert bed.lines[3] == "depth 8: 500 IOPS, 128 ms, +100 %"
    golden.same(bed.lines[-1])
    (row,) = lines_of(view_of(sweep).concluded(sweep, sweep.conclude(bed.runs, (), Path("/nonexistent"), BEGUN)))
    assert "knee at depth 16 (95 %: 15 .. 17), 128 in flight: 1.00k IOPS" in row


def test_a_run_that_does_not_count_is_made_again_at_its_depth() -> None:
    bed = on(hard(8 * 16), 3)
    assert swept(bed, "write-iops") == 0
    assert depths(bed)[:5] == [1, 2, 4, 4, 8]
    assert [step.number for step in bed.steps] == list(range(1, 20))


@pytest.mark.parametrize(
    ("bed", "code", "runs"),
    [
        (on(hard(128), 2, 3), EXIT_INCOMPLETE, 3),
        (on(hard(128), stopping=4), EXIT_INCOMPLETE, 4),
        (on(lambda depth: 0.0), EXIT_NO_VERDICT, 1),
    ],
)
def test_it_ends_with_two_failures_a_stop_or_nothing(bed: Bed, code: int, runs: int) -> None:
    assert (swept(bed, "write-iops"), len(bed.steps)) == (code, runs)


def test_presets_follow_each_other() -> None:
    bed = on(hard(8))
    assert swept(bed, "write-iops", "read-iops") == 0
    assert len({step.batch for step in bed.steps}) == 2
    assert bed.lines[-1].startswith("read-iops: depth 1 again: ")


def test_it_is_confirmed_at_most_of_the_peak(golden: Golden) -> None:
    bed = on(hard(8 * 16))
    assert swept(bed, "write-iops", confirm=True) == 0
    *others, last = bed.steps
    assert last.batch not in {step.batch for step in others}
    assert {name: last.options[name] for name in ("iodepth", "numjobs", "rate_iops", "rate_process")} == {
        "iodepth": 32,
        "numjobs": 8,
        "rate_iops": 100,
        "rate_process": "poisson",
    }
    golden.same(bed.lines[-1])


def test_without_a_knee_there_is_nothing_to_confirm(golden: Golden) -> None:
    bed = on(hard(100_000))
    assert swept(bed, "write-iops", confirm=True) == EXIT_NO_VERDICT
    assert max(depths(bed)) == 256
    golden.same(bed.lines[-1])


def test_the_table_at_the_end_is_a_curve() -> None:
    bed, sweep = on(hard(8 * 4)), study("write-iops", kind="sweep")
    conduct(sweep, bed)
    printed = text_of(view_of(sweep).measured(sweep, bed.runs))
    assert "write-iops over the depth: #1-" in printed
    assert "knee at depth 4 (95 %: " in printed


# ------------------------------------------------------------------ in words


def points(*found: tuple[int, float]) -> list[DepthRun]:
    return [DepthRun(depth, rate, depth / rate) for depth, rate in found]


def test_a_point_is_compared_with_the_depth_below_it() -> None:
    assert point_line(points((4, 4400.0), (16, 9000.0), (8, 6072.0))) == "depth 8: 6.07k IOPS, 1.32 ms, +38 %"


@pytest.mark.parametrize(
    ("factor", "said_of_it"),
    [
        (0.8, "-20 % IOPS"),
        (1.3, "+30 % IOPS"),
        (0.95, ""),
    ],
)
def test_what_is_not_the_same_on_the_way_back_is_said(factor: float, said_of_it: str, golden: Golden) -> None:
    up = [(depth, 100.0 * depth) for depth in (1, 2, 4)]
    line = again_line(points(*up, *((depth, factor * rate) for depth, rate in reversed(up))))
    assert line.startswith(said_of_it)
    assert bool(line) == bool(said_of_it)
    golden.same(line)


def test_chance_is_not_taken_for_a_drift() -> None:
    assert again_line(points((1, 100.0), (2, 200.0), (2, 300.0), (1, 90.0))) == ""
    assert again_line(points((1, 100.0), (2, 200.0))) == again_line([]) == ""


def test_what_was_offered_and_not_reached_is_said(golden: Golden) -> None:
    run = under_load(1, 700.0, 0.01, iodepth=4, rate_iops=1000)
    golden.same(confirmed_line(run))


# ------------------------------------------------------------------ before it begins


def test_how_long_it_may_take_is_said(golden: Golden) -> None:
    sweep = study("write-iops", kind="sweep", goal={"confirm": True})
    (line,) = view_of(sweep).planned(sweep, [plan_of(draft) for draft in sweep.drafts()])
    assert f"{runs_most() + 1} runs" in line
    golden.same(line)


def test_the_depth_goes_no_further_than_the_tool_allows() -> None:
    (request,) = study("write-iops").requests
    assert depth_most(request) == 256


REFUSED = [
    "write-iops --confirm",
    "write-iops --sweep-depth auto --repeat 3",
    "write-iops --sweep-depth auto --until-stable",
    "write-iops --sweep-depth auto --expect iops>=5",
    "write-iops --sweep-depth auto --set iodepth=4",
    "write-iops --sweep-depth auto --set bs=4k,64k",
    "mixed-75-25 --sweep-depth auto --confirm",
    "rados-write --target pool:x --sweep-depth auto --confirm",
    "quick --target rbd:x --target pool:x --sweep-depth auto",
    "write-iops --resume last --sweep-depth auto",
]


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_a_usage_error(words: str, golden: Golden) -> None:
    found = CliRunner().invoke(cli, ["run", "--dry-run", *words.split()])
    assert found.exit_code == 2, found.output
    golden.same(found.output.splitlines()[-1])
