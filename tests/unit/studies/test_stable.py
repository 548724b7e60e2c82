"""Repeats until stable: how often the interval that ends them holds the true mean, and when they end."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats

from cephtui.analysis.statistics.t_distribution import quantile
from cephtui.analysis.verdicts.stable import FEWEST, MOST_RUNS, StableGoal, half_width
from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_INCOMPLETE, EXIT_NO_VERDICT
from cephtui.models.metrics import BY_NAME
from cephtui.planning import Order
from cephtui.reports.drawn.plan import order_line
from cephtui.reports.studies import view_of
from cephtui.reports.studies.base import missing_text
from cephtui.reports.studies.stable import stable_line, unstable_line
from tests.support.conducting import Bed, code_of, conduct, figures, run_of, study, text_of
from tests.support.golden import Golden

pytestmark = pytest.mark.usefixtures("home")

SERIES = 1000
VALUES = (10000.0, 10400.0, 9800.0, 10200.0, 9900.0)
Rule = Callable[[Sequence[float]], tuple[bool, float]]
"""Whether the series ends here, and the half-width that is said of its mean."""


def until_stable(values: Sequence[float]) -> tuple[bool, float]:
    return StableGoal().is_reached({"write": values}), half_width(values) or 0.0


def by_deviation(values: Sequence[float]) -> tuple[bool, float]:
    """What other programs do: it is over once the standard deviation looks small."""
    half = quantile(0.975, len(values) - 1.0) * stdev(values) / math.sqrt(len(values)) / fmean(values)
    return len(values) >= 3 and stdev(values) <= 0.05 * fmean(values), half


def simulated(rule: Rule, deviation: float, number: int = SERIES, *, slow: float = 0.0) -> tuple[float, list[int]]:
    """How often the interval at the end holds the true mean, and how many runs each series took.

    One run of 20 has a logarithm that is ``slow`` away from the others.
    """
    source, held, lengths = random.Random(4), 0, []

    def value() -> float:
        return source.lognormvariate(slow * (source.random() < 0.05), deviation)

    true = math.exp(0.05 * slow)
    for _ in range(number):
        values, is_over, half = [value()], False, 0.0
        while not is_over and len(values) < MOST_RUNS:
            values.append(value())
            is_over, half = rule(values)
        mean = math.exp(fmean(map(math.log, values)))
        held += mean / (1 + half) <= true <= mean * (1 + half)
        lengths.append(len(values))
    return held / number, lengths


def in_all(deviation: float) -> Any:
    """A case of ``make test-all``."""
    return pytest.param(deviation, marks=pytest.mark.matrix)


@pytest.mark.parametrize("deviation", [0.05, *map(in_all, (0.02, 0.08, 0.1))])
def test_the_interval_holds_the_mean_although_it_is_looked_at_after_each_run(deviation: float) -> None:
    coverage, lengths = simulated(until_stable, deviation)
    assert coverage >= 0.94
    assert FEWEST <= min(lengths) <= max(lengths) <= MOST_RUNS


@pytest.mark.parametrize("deviation", [0.03, *map(in_all, (0.05, 0.12))])
def test_one_run_of_twenty_may_be_slower_by_a_third(deviation: float) -> None:
    assert simulated(until_stable, deviation, slow=math.log(0.7))[0] >= 0.92, "94 %, and two standard deviations"


def test_stopping_at_a_small_deviation_would_not() -> None:
    assert simulated(by_deviation, 0.1)[0] < 0.94


def test_a_noisy_one_is_given_up_and_a_quiet_one_takes_the_fewest() -> None:
    assert set(simulated(until_stable, 0.5, 100)[1]) == {MOST_RUNS}
    assert fmean(simulated(until_stable, 0.01, 100)[1]) < FEWEST + 0.1


def test_the_half_width_is_that_of_scipy() -> None:
    """With the greatest spread that three of four such runs have."""
    logs = [math.log(value) for value in VALUES]
    df = len(logs) - 1
    scale = stats.sem(logs) * math.sqrt(df / stats.chi2.ppf(0.25, df))
    _, high = stats.t.interval(0.95, df, fmean(logs), scale)
    assert half_width(VALUES) == pytest.approx(math.exp(high - fmean(logs)) - 1, rel=0.01)


@pytest.mark.parametrize("values", [(), (1000.0,), (1000.0, 0.0, 1000.0, 1000.0, 1000.0)])
def test_there_is_none_of_one_run_or_of_one_that_completed_nothing(values: Sequence[float]) -> None:
    assert half_width(values) is None
    assert not StableGoal(percent=100).is_reached({"write": values})


def test_both_directions_have_to_be_stable() -> None:
    assert StableGoal().is_reached({"read": VALUES, "write": VALUES})
    assert not StableGoal().is_reached({"read": VALUES, "write": (10000, 12000, 9000, 11000, 14000)})
    assert not StableGoal().is_reached({})
    assert not StableGoal().is_reached({"write": VALUES[:4]}), "alike by chance"


# ------------------------------------------------------------------ in words


def test_a_line_after_each_run_says_how_well_the_mean_is_known(golden: Golden) -> None:
    iops, latency = BY_NAME["iops"], BY_NAME["latency_mean_seconds"]
    assert stable_line(5, iops, {"write": VALUES}, StableGoal()) == "run 5: write IOPS 10.1k +-4.3 % (goal 5 %), stable"
    golden.same(stable_line(3, iops, {"write": VALUES[:3]}, StableGoal(percent=2.5)))
    line = stable_line(5, iops, {"write": VALUES}, StableGoal(percent=1, most=6))
    assert line.endswith("(goal 1 %), at most 1 more run")
    assert stable_line(5, iops, {"write": VALUES}, StableGoal(percent=1, most=5)).endswith("(goal 1 %)")
    two = stable_line(2, latency, {"read": (0.001, 0.001), "write": (0.002, 0.0)}, StableGoal())
    assert two.startswith("run 2: read latency mean 1.00 ms +-0.0 %, write latency mean 0 ns +-- (goal")


def test_the_end_says_what_is_known_less_well(golden: Golden) -> None:
    golden.same(unstable_line(20, {"read": (10, 10.1), "write": (10, 10)}))
    golden.same(unstable_line(20, {"read": (10, 0)}))


# ------------------------------------------------------------------ the runs


def stable(bed: Bed, *presets: str, most: int = 20) -> int:
    return code_of(study(*presets, kind="stable", goal={"most": most}), bed)


def test_the_table_has_the_interval_with_which_the_repeats_ended() -> None:
    bed, repeats = Bed(figures(*VALUES)), study("write-iops", kind="stable")
    conduct(repeats, bed)
    text = text_of(view_of(repeats).measured(repeats, bed.runs))
    assert bed.lines[-1].startswith("run 5: write IOPS 10.1k +-4.3 %")
    assert "±4.3 %" in text
    assert "occasional slow runs can't be excluded" in " ".join(text.split())
    one, once = Bed(figures(10000.0)), study("write-iops", kind="stable", goal={"most": 1})
    conduct(once, one)
    assert "excluded" not in text_of(view_of(once).measured(once, one.runs))


def test_it_repeats_until_the_mean_is_known() -> None:
    bed = Bed(figures(10000.0, 11000.0, 9800.0, 10200.0, 9900.0, 10100.0, 10050.0))
    assert stable(bed, "write-iops") == 0
    assert [(step.number, step.repeat) for step in bed.steps] == [(n, n) for n in range(1, 8)]
    assert len({step.batch for step in bed.steps}) == 1
    assert [line.split(":")[0] for line in bed.lines] == [f"run {n}" for n in range(2, 8)]
    assert bed.lines[-1].endswith("(goal 5 %), stable")


def test_it_is_given_up_after_the_most(golden: Golden) -> None:
    bed = Bed(figures(*[10000.0, 15000.0] * 3))
    assert stable(bed, "write-iops", most=6) == EXIT_NO_VERDICT
    golden.same(bed.lines[-1])


def test_presets_follow_each_other() -> None:
    bed = Bed(figures(*[10000.0, 15000.0, 11000.0] * 2, *VALUES))
    assert stable(bed, "write-iops", "read-iops", most=6) == EXIT_NO_VERDICT, "of the first of them"
    assert [step.preset for step in bed.steps] == ["write-iops"] * 6 + ["read-iops"] * 5
    assert len({step.batch for step in bed.steps}) == 2
    assert bed.lines[-1].startswith("read-iops: run 5: write IOPS 10.1k")


def test_a_run_that_does_not_count_is_measured_again(golden: Golden) -> None:
    bed = Bed(figures(*VALUES[:2], "no space", *VALUES[2:]))
    assert stable(bed, "write-iops") == 0
    assert [step.number for step in bed.steps] == [1, 2, 3, 4, 5, 6]
    golden.same(line for line in bed.lines if "no space" in line)


def test_two_in_a_row_that_do_not_count_end_that_preset(golden: Golden) -> None:
    bed = Bed(figures(VALUES[0], "no space", "still no space", *VALUES))
    assert stable(bed, "write-iops", "read-iops") == EXIT_INCOMPLETE, "beside the code of the runs"
    assert [step.preset for step in bed.steps] == ["write-iops"] * 3 + ["read-iops"] * 5, "a failure is its own"
    golden.same(line for line in bed.lines if "in a row" in line)


def test_a_stop_ends_it() -> None:
    assert stable(Bed(figures(VALUES[0], None)), "write-iops", "read-iops") == EXIT_INCOMPLETE


# ------------------------------------------------------------------ targets that take turns


@pytest.mark.parametrize(("order", "expected"), [("abab", "xy xy xy"), ("abba", "xy yx xy"), (None, "xxx yyy")])
def test_targets_take_turns(order: Order | None, expected: str) -> None:
    bed = Bed(figures(*[1.0] * 6))
    assert code_of(study("write-iops", paths=("/x", "/y"), repeats=3, order=order), bed) == 0
    assert "".join(step.target[-1] for step in bed.steps) == expected.replace(" ", "")
    for path in "xy":
        here = [step for step in bed.steps if step.target[-1] == path]
        assert [step.repeat for step in here] == [1, 2, 3]
        assert len({step.batch for step in here}) == 1
    assert len({step.batch for step in bed.steps}) == 2


def test_all_presets_of_a_target_have_its_turn() -> None:
    bed = Bed(figures(*[1.0] * 8))
    turns = study("write-iops", "read-iops", paths=("/x", "/y"), repeats=2, order="abba")
    assert code_of(turns, bed) == 0
    assert [step.preset[0] + step.target[-1] for step in bed.steps] == ["wx", "rx", "wy", "ry", "ry", "wy", "rx", "wx"]
    assert len({step.batch for step in bed.steps}) == 4
    assert order_line(bed.steps, turns.saved.titles).startswith(
        "order: write-iops on file:/x, read-iops on file:/x, write-iops on file:/y"
    )


def test_turns_go_on_without_a_target_that_fails_twice(golden: Golden) -> None:
    bed = Bed(lambda step, number: run_of(step, number, "no" if step.target == "file:/y" else 1.0))
    turns = study("write-iops", paths=("/x", "/y"), repeats=4, order="abab")
    assert conduct(turns, bed).code == EXIT_INCOMPLETE
    assert "".join(step.target[-1] for step in bed.steps) == "xyxyxx"
    golden.same([*bed.lines, missing_text(turns, bed.runs)])


def test_turns_end_with_a_stop() -> None:
    bed = Bed(figures(1.0, None))
    turns = study("write-iops", paths=("/x", "/y"), repeats=4, order="abab")
    assert conduct(turns, bed).code == EXIT_INCOMPLETE
    assert missing_text(turns, bed.runs) == "7 runs are missing"


# ------------------------------------------------------------------ the command line


WRONG = (
    "--until-stable --repeat 3",
    "--until-stable --order abba",
    "--until-stable --set iodepth=1,4",
    "--until-stable 0",
    "--until-stable latency",
    "--until-stable --most 4",
    "--most 8",
    "--order abba",
    "--order abba --repeat 4",
    "--target file:/x --target file:/x",
)


@pytest.mark.parametrize("words", WRONG)
def test_what_does_not_go_together_is_a_usage_error(words: str, golden: Golden) -> None:
    found = CliRunner().invoke(cli, ["run", "write-iops", "--dry-run", *words.split()])
    assert found.exit_code == 2
    golden.same(found.output.splitlines()[-1])


SMALL = ("--set", "size=4M", "--set", "numjobs=1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("write-iops --until-stable", "until stable: "),
        ("write-iops read-iops --repeat 2 --order abba", "write-iops, read-iops, read-iops, write-iops\n"),
        ("write-iops --set iodepth=1,4 --repeat 2 --order abba", "iodepth=1, iodepth=4, iodepth=4, iodepth=1\n"),
        ("write-iops --target file:{0}/x --target file:{0}/y", "file:{0}/x, file:{0}/y\n"),
    ],
)
def test_a_dry_run_says_in_which_order_and_how_often(words: str, expected: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(cli, ["run", "--dry-run", *SMALL, *words.format(tmp_path).split()])
    assert found.exit_code == 0, found.output
    assert expected.format(tmp_path) in found.stdout
