"""What a check concludes from runs before and after a change: words, answers, exit codes, and what is said of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import variance
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.looks import LookSchedule
from cephtui.analysis.statistics.power import df_of_welch, reach, runs_needed
from cephtui.analysis.statistics.ratio import Better, log_deviation
from cephtui.analysis.statistics.together import held_together
from cephtui.analysis.verdicts.conclusion import METRIC_NAMES, ConclusionTerms, Judgement, conclude, metric_named
from cephtui.analysis.verdicts.verdict import Criteria, seen_with
from cephtui.models import Finding, Run, Stages, Summary
from cephtui.models.findings import KINDS
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.verdict import Answer, Conclusion, Verdict, Word
from cephtui.reports.render.charts import interval_bar
from cephtui.reports.views.judgement import interval_of_verdict
from cephtui.reports.words.verdict import (
    answer_text,
    brief_word,
    figures_text,
    for_information,
    required_text,
    seen_text,
    statistics_text,
    verdict_text,
    word_text,
)
from cephtui.sessions.jsonlines import line, schema
from tests.support.documents import differing
from tests.support.drawings import draw_judgement, printed
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import IOPS, LATENCY, P99, RUN_SECONDS, STARTED, run, runs, total
from tests.unit.analysis.statistics.test_ratio import ALTERNATING, CASES, A, Case

EXITS: dict[Answer, int] = {"met": 0, "not met": 5, "undecided": 6}


def asked(*metrics: Metric, **criteria: Any) -> ConclusionTerms:
    return ConclusionTerms(lambda _: metrics[0] if metrics else IOPS, Criteria(**criteria), metrics)


def side(values: Sequence[float], first: int, metric: Metric = IOPS) -> tuple[Run, ...]:
    return runs(map(float, values), first, metric.name)


def change(before: Sequence[float], after: Sequence[float], metric: Metric = IOPS) -> Change:
    """One side after the other."""
    return Change(side(before, 1, metric), side(after, 1 + len(before), metric))


def concluded(before: Sequence[float], after: Sequence[float], metric: Metric = IOPS, **criteria: Any) -> Judgement:
    return conclude([change(before, after, metric)], asked(metric, **criteria), STARTED)


def only(judged: Judgement) -> Verdict:
    (verdict,) = judged.deciding
    return verdict


def in_order(order: str, values: Sequence[float]) -> Change:
    """``ABBA``: the sides of runs one after the other."""
    found = runs(map(float, values))
    return Change(*(tuple(r for r, at in zip(found, order, strict=True) if at == name) for name in "AB"))


def said(judged: Judgement, **options: Any) -> str:
    return printed(draw_judgement(judged, **options))


# ---------------------------------------------------------------------------------------------- reference cases


def metric_of(case: Case) -> Metric:
    return LATENCY if case.better == "less" else IOPS


@pytest.mark.parametrize("name", CASES)
def test_a_reference_case_from_end_to_end(name: str) -> None:
    case = CASES[name]
    judged = concluded(case.before, case.after, metric_of(case), require_percent=case.required)
    verdict = only(judged)
    assert (verdict.word, judged.conclusion.answer) == (case.word, case.answer)
    assert judged.conclusion.exit_code == EXITS[case.answer]
    assert verdict.met == {"met": True, "not met": False, "undecided": None}[case.answer]
    assert verdict.ratio == pytest.approx(case.ratio, abs=6e-7)
    assert verdict.interval == pytest.approx(case.interval, abs=6e-7)
    assert verdict.degrees_of_freedom == pytest.approx(case.df, abs=6e-6)
    assert verdict.p_met == pytest.approx(case.p_met, rel=2e-3)
    assert (verdict.method, verdict.looks, verdict.looks_most) == ("welch", 1, 1)
    assert (verdict.confidence, verdict.nominal_confidence) == (0.95, 0.95)
    assert verdict.left == pytest.approx(math.exp(math.fsum(map(math.log, case.before)) / len(case.before)))
    assert verdict.right == pytest.approx(known(verdict.left) * known(verdict.ratio))
    outside = not case.interval[0] <= 1 <= case.interval[1]
    better = (case.ratio > 1) == (case.better == "more")
    assert verdict.differs == (("faster" if better else "slower") if outside else None)


@pytest.mark.parametrize(
    ("name", "needed", "if_same"), [("R7", 10, None), ("R3", 160, 5), ("R6", None, 55), ("R1", None, None)]
)
def test_how_many_runs_would_decide(name: str, needed: int | None, if_same: int | None) -> None:
    verdict = only(concluded(CASES[name].before, CASES[name].after))
    assert (verdict.runs_needed, verdict.runs_needed_if_same) == (needed, if_same)


def test_the_reference_case_of_runs_that_took_turns() -> None:
    values = [ALTERNATING["AB".index(side)][at // 2] for at, side in enumerate("ABBAABBAABBA")]
    judged = conclude([in_order("ABBAABBAABBA", values)], asked(), STARTED)
    verdict = only(judged)
    assert (verdict.method, verdict.word, verdict.differs, judged.conclusion.exit_code) == (
        "paired",
        "same",
        "slower",
        0,
    )
    assert verdict.ratio == pytest.approx(0.934055, abs=6e-7)
    assert verdict.interval == pytest.approx((0.926621, 0.941549), abs=6e-7)
    assert verdict.p_met == pytest.approx(3.62e-5, rel=2e-3)


@pytest.mark.parametrize("metric", [IOPS, LATENCY])
@pytest.mark.parametrize("after", [1150.0, 870.0, 1000.0])
def test_how_surely_it_is_more_than_what_counts_as_the_same(metric: Metric, after: float) -> None:
    is_better = (after > 1000) == (metric is IOPS)
    values = [990.0, 1000.0, 1010.0], [0.995 * after, after, 1.005 * after]
    verdict = only(concluded(*values, metric, require_percent=10.0 if is_better else -10.0))
    p_met = known(verdict.p_met)
    expected = None if verdict.word == "same" else p_met if is_better else 1 - p_met
    assert (verdict.word == "same", verdict.p_beyond) == (after == 1000, expected)


def test_a_wider_confidence() -> None:
    verdict = only(concluded(*CASES["R8"][:2], require_percent=20.0, confidence=0.99))
    assert verdict.interval == pytest.approx((1.213119, 1.330575), abs=6e-7)
    assert verdict.met is True


def test_more_looks_have_wider_intervals() -> None:
    verdict = only(concluded(*CASES["R7"][:2], looks=LookSchedule(12)))
    assert [verdict.looks, verdict.looks_most, verdict.nominal_confidence] == pytest.approx([1, 4, 0.982])
    assert verdict.interval
    assert verdict.interval[0] < 0.892981 < 0.961255 < verdict.interval[1]
    paired = only(conclude([in_order("ABBA" * 3, range(1000, 1012))], asked(looks=LookSchedule(12)), STARTED))
    assert [paired.looks, paired.nominal_confidence] == pytest.approx([2, 1 - 0.018 * 0.88])
    assert "95 % over up to 4 looks" in figures_text(verdict)


@pytest.mark.parametrize(
    ("metric", "after", "word", "differs", "code"),
    [
        (IOPS, 0.7, "worse", "slower", 5),
        (IOPS, 1.5, "better", "faster", 0),
        (LATENCY, 0.7, "better", "faster", 0),
        (P99, 1.5, "worse", "slower", 5),
        (BY_NAME["bandwidth_bytes"], 0.7, "worse", "slower", 5),
    ],
)
def test_less_latency_is_better(metric: Metric, after: float, word: Word, differs: str, code: int) -> None:
    judged = concluded([100, 101, 99], [100 * after, 101 * after, 98 * after], metric)
    assert (only(judged).word, only(judged).differs, judged.conclusion.exit_code) == (word, differs, code)


# ---------------------------------------------------------------------------------------------- sentences


def test_of_a_judged_figure_everything_is_said_once(golden: Golden) -> None:
    verdict = only(concluded(*CASES["R1"][:2]))
    assert verdict_text(verdict) == "WORSE: 18 % fewer write IOPS (between 15 % and 21 % fewer), 5 runs each"
    assert figures_text(verdict).startswith("write IOPS 10.1k -> 8.25k, -18.0 % (95 %: -21.0 .. -14.9); spread ")
    golden.same(figures_text(verdict))
    golden.same(statistics_text(verdict))


@pytest.mark.parametrize(
    ("metric", "times", "sentence"),
    [
        (IOPS, 5.2, "BETTER: 5.2 times as many write IOPS (between 5.1 and 5.3 times as many), 3 runs each"),
        (IOPS, 40.0, "BETTER: 40.0 times as many write IOPS (between 39.5 and 40.5 times as many), 3 runs each"),
        (IOPS, 2.9, "BETTER: 190 % more write IOPS (between 187 % and 193 % more), 3 runs each"),
        (P99, 5.2, "WORSE: 5.2 times the write clat p99 (between 5.1 and 5.3 times), 3 runs each"),
    ],
)
def test_a_change_of_many_times_is_said_in_times(metric: Metric, times: float, sentence: str) -> None:
    judged = concluded([100, 100.5, 99.5], [times * value for value in (100, 100.5, 99.5)], metric)
    assert verdict_text(only(judged)).partition(";")[0] == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1000], [900]),
        ([1000, 1010], [900]),
        ([1000], [900, 910, 920, 930]),
        ([1000, 1010], [900, 905]),
        ([1000, 1010, 1020, 1030], [500, 505]),
        ([1000, 1010, 1020], []),
        ([], [900]),
        ([], []),
        ([1000, 1010, 1020], [900, 0, 910]),
        ([0], [900]),
        (A, [9500]),
        (A, [9300]),
        (A[:3], [9300]),
    ],
)
def test_why_there_is_no_verdict(before: Sequence[float], after: Sequence[float], golden: Golden) -> None:
    given = change(before, after)
    missing = run(0, None), run(40, None)
    judged = conclude([Change(given.before or missing[:1], given.after or missing[1:])], asked(), STARTED)
    verdict = only(judged)
    golden.same(verdict_text(verdict))
    assert (verdict.word, verdict.met, judged.conclusion.exit_code) == ("no verdict", None, 6)
    assert verdict_text(verdict) in said(judged)


@pytest.mark.parametrize(
    ("case", "criteria"),
    [
        ("R2", {}),
        ("R4", {}),
        ("R5", {}),
        ("R10", {"same_percent": 12.0, "require_percent": -12.0}),
        ("R3", {}),
        ("R6", {}),
        ("R7", {}),
        ("R8", {"require_percent": 20.0}),
        ("R2", {"require_percent": 20.0}),
        ("R6", {"require_percent": 50.0}),
        ("R5", {"require_percent": -20.0}),
        ("R11", {"require_percent": 20.0}),
        ("R2", {"require_percent": 0.0}),
        ("R2", {"require_percent": -2.5, "same_percent": 2.5}),
    ],
)
def test_what_a_verdict_says(case: str, criteria: dict[str, Any], golden: Golden) -> None:
    golden.same(verdict_text(only(concluded(*CASES[case][:2], metric_of(CASES[case]), **criteria))))


@pytest.mark.parametrize(("required", "met"), [(20.0, False), (-50.0, True)])
def test_a_wide_interval_far_from_what_is_required_has_an_answer_without_a_word(
    required: float, met: bool, golden: Golden
) -> None:
    wide = (10_000, 12_000, 11_000, 9_500, 10_700), (10_100, 12_100, 10_500, 9_400, 11_200)
    verdict = only(concluded(*wide, require_percent=required))
    assert (verdict.word, verdict.met) == ("no verdict", met)
    golden.same(word_text(verdict))
    golden.same(verdict_text(verdict))


def test_what_is_nearer_than_any_number_of_runs_can_tell(golden: Golden) -> None:
    nearly = [100.0, 101.0, 100.0 * 100.0 / 101.0]
    verdict = only(concluded(nearly, [0.9000001 * value for value in nearly]))
    assert (verdict.runs_needed, verdict.met) == (None, None)
    golden.same(verdict_text(verdict))


def test_more_runs_are_those_that_are_missing() -> None:
    verdict = only(concluded([1000, 1010, 1005, 1002, 1004, 1000, 1003, 1006], [905, 925, 948]))
    assert verdict.runs_needed == 6
    assert verdict.runs_needed_between == (4, 9)
    text = verdict_text(verdict)
    assert "-7.8 %" in figures_text(verdict)
    assert "if the true change is -7.8 %, 4 to 9 runs per side would decide (1 to 7 more: " in text, "8 are there"


def test_more_looks_and_pairs_need_more_runs() -> None:
    one, several = (only(concluded(*CASES["R7"][:2], looks=looks)) for looks in (LookSchedule(), LookSchedule(12)))
    assert (one.runs_needed, several.runs_needed) == (10, 13)
    assert (runs_needed(0.05, 0.1, 0.95), runs_needed(0.05, 0.1, 0.95, in_turns=True)) == (6, 7)


def test_of_runs_in_turns_a_drift_asks_for_no_more_of_them() -> None:
    uneven = [1, 1.03, 0.98, 1, 1.02, 0.97, 1, 1]
    change = {"A": 1.0, "B": 0.94}
    values = [1000 * 0.93**at * change[side] * uneven[at] for at, side in enumerate("ABBAABBA")]
    in_turns = only(conclude([in_order("ABBAABBA", values)], asked(), STARTED))
    apart = only(concluded([values[at] for at in (0, 3, 4, 7)], [values[at] for at in (1, 2, 5, 6)]))
    assert in_turns.ratio == pytest.approx(apart.ratio)
    assert (in_turns.runs_needed_if_same, apart.runs_needed_if_same) == (13, 76)


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (-10.0, "at most 10 % worse"),
        (20.0, "at least 20 % better"),
        (0.0, "at most 0 % worse"),
        (-2.5, "at most 2.5 % worse"),
    ],
)
def test_what_is_required(percent: float, text: str) -> None:
    judged = concluded(*CASES["R1"][:2], require_percent=percent)
    assert required_text(only(judged)) == text
    assert answer_text(judged, code=True).endswith(f" {text}")


def test_the_answer_names_the_exit_code(golden: Golden) -> None:
    judged = concluded(*CASES["R1"][:2])
    golden.same(answer_text(judged, code=True))
    golden.same(answer_text(judged, code=False))
    golden.same(answer_text(conclude([], asked(), STARTED), code=True))


def test_other_figures_are_listed_and_decide_nothing(golden: Golden) -> None:
    before = tuple(run(n, write=total(iops=1000.0 + n, latency_p99_seconds=0.01 + n / 1e5)) for n in range(1, 4))
    after = tuple(run(n, write=total(iops=1000.0 + n, latency_p99_seconds=0.02 + n / 1e5)) for n in range(4, 7))
    judged = conclude([Change(before, after)], asked(), STARTED)
    assert judged.conclusion.exit_code == 0
    assert [verdict.figure for verdict in judged.deciding] == ["iops"]
    (text,) = for_information(judged.verdicts)
    assert "write clat p99 +100.1 % (" in text
    golden.same(text)
    assert text in said(judged)
    assert conclude([Change(before, after)], asked(P99), STARTED).conclusion.exit_code == 5


def test_what_differed_and_who_takes_no_part_is_printed() -> None:
    invalid = run(4, findings=(Finding(code="thin", text="thin data: reads nothing from disks"),))
    suspect = run(1, findings=(Finding(code="recovery", text="recovery ran"),))
    judged = conclude([Change((suspect, invalid), (run(5),))], asked(), STARTED)
    text = said(differing(judged, "tcp_nodelay 0 -> 1"))
    assert "differs: tcp_nodelay 0 -> 1\n" in text
    assert "left out: tuning/4: thin data: reads nothing from disks\n" in text
    assert "! tuning/1: recovery ran\n" in text


# ---------------------------------------------------------------------------------------------- several figures


def of_presets(ratios: Sequence[float], noise: float = 0.0, count: int = 5) -> list[Change]:
    """A change of each preset, alike but for its ratio."""
    values = [1000 * (1 + noise * (at - (count - 1) / 2)) for at in range(count)]
    return [
        Change(
            runs(values, 100 * at, preset=f"preset-{at}"),
            runs([value * ratio for value in values], 100 * at + count, preset=f"preset-{at}"),
        )
        for at, ratio in enumerate(ratios)
    ]


def test_every_figure_must_be_met() -> None:
    all_met = conclude(of_presets([1.0, 1.02, 0.99], 0.005), asked(), STARTED)
    one_open = conclude(of_presets([1.0, 1.02, 0.9], 0.005), asked(), STARTED)
    assert (all_met.conclusion.answer, all_met.conclusion.exit_code) == ("met", 0)
    assert [verdict.met for verdict in one_open.deciding] == [True, True, None]
    assert (one_open.conclusion.answer, one_open.conclusion.exit_code) == ("undecided", 6)


def test_one_figure_that_is_surely_not_met_is_enough() -> None:
    judged = conclude(of_presets([1.0, 1.0, 0.7, 1.3], 0.005), asked(), STARTED)
    assert judged.conclusion.exit_code == 5


def test_one_of_many_that_is_barely_not_met_is_not_enough(golden: Golden) -> None:
    barely = of_presets([0.88], 0.0072)
    alone = conclude(barely, asked(), STARTED)
    assert only(alone).p_met is not None
    assert 0.025 / 4 < 1 - (only(alone).p_met or 0) < 0.025
    assert alone.conclusion.exit_code == 5
    judged = conclude(of_presets([0.88, 1.0, 1.0, 1.0], 0.0072), asked(), STARTED)
    assert judged.conclusion.exit_code == 6
    golden.same(judged.conclusion.notes)
    two = conclude(of_presets([0.88, 0.88, 1.0, 1.0], 0.0072), asked(), STARTED)
    golden.same(two.conclusion.notes)


def test_of_many_presets_no_word_holds_that_is_not_shown_by_all_together() -> None:
    (alone,) = conclude(of_presets([0.88], 0.0072), asked(), STARTED).deciding
    judged = conclude(of_presets([0.88, 1.0, 1.0, 1.0], 0.0072), asked(), STARTED)
    assert (alone.word, alone.met) == ("worse", False)
    assert (judged.deciding[0].word, judged.deciding[0].met) == ("not better", None)
    assert "too near" not in verdict_text(judged.deciding[0])
    (beside,) = held_together([alone.model_copy(update={"decides": False})])
    assert (beside.word, beside.met, beside.differs) == ("no verdict", None, None)


@pytest.mark.parametrize("required", [-10.0, 20.0, -50.0])
@pytest.mark.parametrize("case", ["R1", "R2", "R3", "R4", "R6", "R7", "R10"])
def test_all_outputs_have_the_word_of_the_data(case: str, required: float) -> None:
    verdict = only(concluded(*CASES[case][:2], metric_of(CASES[case]), require_percent=required))
    brief, word = brief_word(verdict), word_text(verdict)
    assert verdict.word == "no verdict" or brief.startswith(verdict.word)
    assert verdict_text(verdict).startswith(f"{word.upper()}: ")
    for text in (brief, word, verdict_text(verdict).lower()):
        assert text.startswith("inconclusive") == (verdict.word == "no verdict" and verdict.met is None)
        assert ("slower" in text) >= (verdict.word == "not better" and verdict.differs == "slower")


@pytest.mark.parametrize("count", [1, 5])
def test_of_another_load_there_is_no_verdict(count: int) -> None:
    before, after = runs([1000.0, 1001, 1002, 1003, 1004][:count]), runs([500.0, 501, 502, 503, 504][:count], 6)
    other = tuple(each.model_copy(update={"options": {**each.options, "bs": "8k"}}) for each in after)
    assert only(conclude([Change(before, after)], asked(), STARTED)).same_load
    judged = conclude([Change(before, other)], asked(), STARTED)
    verdict = only(judged)
    assert (judged.conclusion.answer, judged.conclusion.exit_code) == ("undecided", 6)
    assert (verdict.same_load, verdict.is_judged, verdict.word, verdict.met) == (False, False, "no verdict", None)
    assert (verdict.interval, verdict.lacks) == (None, "the same load")
    assert any("4k and 8k" in note for note in judged.conclusion.notes)
    assert verdict_text(verdict) in said(judged)


def test_met_needs_no_correction() -> None:
    barely = of_presets([0.922] * 6, 0.0072)
    judged = conclude(barely, asked(), STARTED)
    assert all(0.025 / 6 < (verdict.p_met or 0) < 0.025 for verdict in judged.deciding)
    assert judged.conclusion.exit_code == 0


def test_a_preset_without_any_run_that_counts_can_not_be_met(golden: Golden) -> None:
    good, bad = of_presets([1.0, 1.0], 0.001)
    spoiled = Change(
        *(tuple(r.model_copy(update={"outcome": "lost"}) for r in runs_) for runs_ in (bad.before, bad.after))
    )
    judged = conclude([good, spoiled], asked(), STARTED)
    assert (judged.conclusion.answer, judged.conclusion.exit_code) == ("undecided", 6)
    golden.same([note for note in judged.conclusion.notes if "preset-1" in note])
    assert conclude([good], asked(), STARTED).conclusion.exit_code == 0


def test_a_failure_stays_one_beside_a_preset_without_runs() -> None:
    bad, gone = of_presets([0.5, 1.0], 0.001)
    spoiled = Change(
        *(tuple(r.model_copy(update={"outcome": "lost"}) for r in side) for side in (gone.before, gone.after))
    )
    assert conclude([bad, spoiled], asked(), STARTED).conclusion.exit_code == 5


def test_only_the_directions_that_are_asked_for_decide() -> None:
    before = tuple(run(n, read=total(iops=1000 + n), write=total(iops=1000 + n)) for n in range(3))
    after = tuple(run(n, read=total(iops=500 + n), write=total(iops=1000 + n)) for n in range(3, 6))
    mixed = Change(before, after)
    assert conclude([mixed], asked(), STARTED).conclusion.exit_code == 5
    writes = conclude([mixed], ConclusionTerms(lambda _: IOPS, directions=("write",)), STARTED)
    assert writes.conclusion.exit_code == 0
    assert [(v.direction, v.decides) for v in writes.verdicts] == [("write", True), ("read", False)]


def test_a_direction_that_there_is_not_is_never_met(golden: Golden) -> None:
    judged = conclude(
        [change([1000, 1001, 1002], [1000, 1001, 1002])], ConclusionTerms(lambda _: IOPS, directions=("read",)), STARTED
    )
    assert judged.conclusion.exit_code == 6
    assert ", ".join(f"tuning/{number}" for number in range(1, 7)) in judged.conclusion.notes[0]
    golden.same(judged.conclusion.notes)


@pytest.mark.parametrize(("sides", "which"), [("AB", ""), ("B", "of one side ")])
def test_where_findings_leave_nothing_it_is_said_of_which_runs(sides: str, which: str, golden: Golden) -> None:
    """They have the figure: that is not what is missing."""
    both = change([1000, 1001, 1002], [1000, 1001, 1002])
    thin = Finding(code="thin", text="the image is thin")

    def found(name: str, of: Sequence[Run]) -> tuple[Run, ...]:
        return tuple(each.model_copy(update={"findings": (thin,) * (name in sides)}) for each in of)

    judged = conclude([Change(found("A", both.before), found("B", both.after))], asked(), STARTED)
    gone = range(1, 7) if sides == "AB" else range(4, 7)
    assert ", ".join(f"tuning/{number}" for number in gone) in judged.conclusion.notes[0]
    golden.same(judged.conclusion.notes)
    assert judged.conclusion.exit_code == 6
    assert "results" not in said(judged)


def test_a_run_without_the_figure_is_named() -> None:
    both = change([1000, 1001, 1002], [1000, 1001, 1002])
    lacking = both.after[1].model_copy(update={"summary": Summary(write=total())})
    judged = conclude([Change(both.before, (both.after[0], lacking, both.after[2]))], asked(), STARTED)
    assert "write-iops: tuning/5 has no write IOPS" in judged.conclusion.notes


def test_a_figure_that_the_tool_does_not_have_is_never_met() -> None:
    judged = concluded([1000, 1001, 1002], [1000, 1001, 1002])
    also = conclude([change([1000, 1001, 1002], [1000, 1001, 1002])], asked(IOPS, P99), STARTED)
    assert (judged.conclusion.exit_code, also.conclusion.exit_code) == (0, 6)


def test_nothing_is_undecided() -> None:
    judged = conclude([], asked(), STARTED)
    assert (judged.verdicts, judged.conclusion.answer, judged.conclusion.exit_code) == ((), "undecided", 6)


@pytest.mark.parametrize(("typed", "name"), METRIC_NAMES.items())
def test_figures_as_they_are_typed(typed: str, name: str) -> None:
    assert metric_named(typed).name == name


# ---------------------------------------------------------------------------------------------- who takes part


GOOD = [1000.0, 1010.0, 1005.0]


def with_one_more(**changes: Any) -> Judgement:
    """Three good runs a side, and one after that halves the figure."""
    odd = run(7, 100.0, **changes)
    return conclude([Change(runs(GOOD), (*runs(GOOD, 4), odd))], asked(), STARTED)


@pytest.mark.parametrize("code", [kind.code for kind in KINDS.values() if kind.level == "invalidates"])
def test_invalid_runs_take_no_part_and_are_named(code: str) -> None:
    judged = with_one_more(findings=(Finding(code="recovery", text="first"), Finding(code=code, text="the reason")))
    assert judged.conclusion.exit_code == 0
    assert [(each.run, each.why) for each in judged.conclusion.left_out] == [("tuning/7", "the reason")]
    assert judged.conclusion.limited == ()
    assert only(judged).after == ("tuning/4", "tuning/5", "tuning/6")


@pytest.mark.parametrize(
    ("outcome", "error", "why"),
    [
        ("failed", "fio: exit 1", "failed: fio: exit 1"),
        ("stopped", None, "stopped"),
        ("lost", None, "lost"),
        ("refused", "in use", "refused: in use"),
        (None, None, "running"),
    ],
)
def test_runs_that_did_not_end_well_take_no_part(outcome: str | None, error: str | None, why: str) -> None:
    judged = with_one_more(outcome=outcome, error=error)
    assert [(each.run, each.why) for each in judged.conclusion.left_out] == [("tuning/7", why)]
    assert judged.conclusion.exit_code == 0


def test_suspect_runs_take_part_and_are_named() -> None:
    judged = with_one_more(findings=(Finding(code="recovery", text="recovery ran"), Finding(code="space", text="full")))
    assert judged.conclusion.left_out == ()
    assert [(each.run, each.why) for each in judged.conclusion.limited] == [("tuning/7", "recovery ran")]
    assert len(only(judged).after) == 4
    assert judged.conclusion.exit_code == 6


def test_runs_are_left_out_by_name_and_never_by_their_value(golden: Golden) -> None:
    given = Change(runs(GOOD), (*runs(GOOD, 4), run(7, 100.0)))
    assert conclude([given], asked(), STARTED).conclusion.exit_code == 6
    judged = conclude([given], ConclusionTerms(lambda _: IOPS, without={"tuning/7"}), STARTED)
    assert judged.conclusion.exit_code == 0
    (left_out,) = judged.conclusion.left_out
    assert left_out.run == "tuning/7"
    golden.same(left_out.why)


def test_a_name_that_is_not_among_the_runs_is_said(golden: Golden) -> None:
    judged = conclude([change(GOOD, GOOD)], ConclusionTerms(lambda _: IOPS, without={"tuning/9", "tuning/1"}), STARTED)
    assert any("tuning/9" in note for note in judged.conclusion.notes)
    golden.same(judged.conclusion.notes)


def test_fewer_than_three_that_count_are_no_verdict(golden: Golden) -> None:
    judged = conclude([change(GOOD, [500, 505, 495])], ConclusionTerms(lambda _: IOPS, without={"tuning/5"}), STARTED)
    assert judged.conclusion.exit_code == 6
    golden.same(verdict_text(only(judged)))


def test_a_run_that_counts_has_no_reason() -> None:
    assert why_invalid(run(1, findings=(Finding(code="not-settled", text="rose"),))) == ""


# ---------------------------------------------------------------------------------------------- time


@pytest.mark.parametrize(
    ("order", "method"),
    [
        ("ABBA", "paired"),
        ("ABAB", "paired"),
        ("BABA", "paired"),
        ("ABBAABBA", "paired"),
        ("AABB", "welch"),
        ("AAABBB", "welch"),
        ("ABBBAA", "welch"),
        ("ABABA", "welch"),
        ("AB", "welch"),
        ("ABBAAABB", "welch"),
    ],
)
def test_runs_in_turns_are_known_by_their_start(order: str, method: str) -> None:
    given = in_order(order, [1000 + 7 * (at % 3) for at in range(len(order))])
    shuffled = Change(given.before[::-1], given.after[::-1])
    for each in (given, shuffled):
        verdict = only(conclude([each], asked(), STARTED))
        assert verdict.method == method
    assert ("were interleaved" in statistics_text(verdict)) == (method == "paired")


def test_pairs_are_neighbours_in_time_whatever_the_order_they_are_given_in() -> None:
    given = in_order("ABBAABBA", [1000, 900, 720, 800, 600, 540, 450, 500])
    for each in (given, Change(given.before[::-1], given.after[1:] + given.after[:1])):
        verdict = only(conclude([each], asked(), STARTED))
        assert verdict.interval == pytest.approx((0.9, 0.9))


@pytest.mark.parametrize(("hours", "is_said"), [(0.1, False), (5.0, False), (7.0, True), (30.0, True), (-30.0, True)])
def test_another_day_is_said(hours: float, is_said: bool, golden: Golden) -> None:
    later = tuple(r.model_copy(update={"started_at": r.started_at + timedelta(hours=hours)}) for r in runs(GOOD, 4))
    notes = conclude([Change(runs(GOOD), later)], asked(), STARTED).conclusion.notes
    assert any("day-to-day" in note for note in notes) == is_said
    golden.same(notes)


def test_a_trend_on_both_sides_is_said(golden: Golden) -> None:
    per_run = 0.98
    values = [1000 * per_run**at * (1.001 if at % 2 else 1.0) for at in range(8)]
    judged = concluded(values[:4], values[4:])
    assert f"by {100 * (1 - per_run**3):.0f} % in the longer" in judged.conclusion.notes[0]
    golden.same([note.split(":")[0] for note in judged.conclusion.notes])
    rising = concluded(values[:3:-1], values[3::-1])
    assert [note[:13] for note in rising.conclusion.notes] == ["figures rose "]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1000, 990, 980, 970], [900, 910, 920, 930]),  # it turns back
        ([1000, 1000, 1000, 1000], [900, 890, 880, 870]),  # one side only
        ([1000, 900, 1000, 900], [900, 1000, 900, 800]),  # too uneven
        ([1000, 999, 998, 997], [996, 995, 994, 993]),  # too little
        ([1000, 900], [800, 700]),  # too few
        ([1000, 900, 800], [700, 0, 500]),
    ],
)
def test_no_trend_is_said_where_there_is_none(before: Sequence[float], after: Sequence[float]) -> None:
    assert concluded(before, after).conclusion.notes == ()


def test_a_drift_of_seconds_is_not_drawn_out() -> None:
    """It is as far as it was measured, however steep, and however long it was until the other side was."""
    rising = [1000 * 1.05**at for at in range(5)]
    first, second = (
        tuple(
            run(at + 1, rising[at], started_at=STARTED + timedelta(seconds=begun + 2 * at), duration_seconds=1)
            for at in range(5)
        )
        for begun in (0, 3600)
    )
    (note,) = conclude([Change(first, second)], asked(), STARTED).conclusion.notes
    assert "by 22 % in the longer" in note


def test_in_turns_a_drift_is_on_both_sides_and_needs_no_word() -> None:
    values = [1000 * 0.98**at for at in range(8)]
    assert conclude([in_order("ABBAABBA", values)], asked(), STARTED).conclusion.notes == ()


def test_seconds_are_not_the_unit() -> None:
    """However many samples a run has: its figure is one."""
    before = run(1, write=total(iops=1000.0, ios=600_000, runtime_seconds=600.0), duration_seconds=600.0)
    after = run(2, write=total(iops=500.0, ios=300_000, runtime_seconds=600.0), duration_seconds=600.0)
    judged = conclude([Change((before,), (after,))], asked(), STARTED)
    assert (only(judged).interval, only(judged).p_met, judged.conclusion.exit_code) == (None, None, 6)
    assert only(judged).ratio == pytest.approx(0.5)


def test_what_runs_would_see() -> None:
    assert 100 * seen_with(0.05, 5, 5, 0.95) == pytest.approx(10.1, abs=0.1)
    assert seen_with(0.05, 6, 12, 0.95) < seen_with(0.05, 6, 4, 0.95) < seen_with(0.1, 6, 4, 0.95)


@pytest.mark.parametrize(
    ("falls", "betters"),
    [
        ([0.2], {"more"}),
        ([0.2], {"less"}),
        ([0.1, 0.2, 0.5], {"less"}),
        ([0.1, 0.2], {"more", "less"}),
        ([0.1, 0.999], {"more"}),
        ([0.995, 1.0], {"less"}),
    ],
)
def test_the_least_change_has_a_direction(falls: Sequence[float], betters: set[Better], golden: Golden) -> None:
    golden.same(seen_text(falls, betters))


SIDES = [(3, 4), (4, 4), (5, 5), (6, 4), (6, 6), (6, 8), (6, 12), (12, 12), (3, 12), (12, 4)]


@pytest.mark.parametrize(
    ("before", "after", "confidence"), [(3, 3, 0.95), *((*sides, level) for sides in SIDES for level in (0.95, 0.982))]
)
def test_what_would_be_seen_is_seen_in_four_of_five_checks(before: int, after: int, confidence: float) -> None:
    fall = math.log(1 - seen_with(0.05, before, after, confidence))
    chance = np.random.default_rng(9)
    logs = [chance.normal(mean, log_deviation(0.05), (20_000, runs)) for mean, runs in ((0, before), (fall, after))]
    seen = np.mean(stats.ttest_ind(*logs, axis=1, equal_var=False).pvalue < 1 - confidence)
    assert seen == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("before", "after"), [((3, 0.1), (9, 0.04)), ((4, 0.03), (8, 0.1)), ((5, 0.1), (5, 0.02))])
def test_the_same_of_sides_that_are_not_spread_alike(before: tuple[int, float], after: tuple[int, float]) -> None:
    sides = (before, after)
    squared = [deviation**2 / runs for runs, deviation in sides]
    df = df_of_welch(squared, [runs for runs, _ in sides])
    fall = -reach(0.95, df) * math.sqrt(sum(squared))
    chance = np.random.default_rng(9)
    logs = [chance.normal(at, each, (20_000, runs)) for at, (runs, each) in zip((0, fall), sides, strict=True)]
    seen = np.mean(stats.ttest_ind(*logs, axis=1, equal_var=False).pvalue < 0.05)
    assert seen == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("away", "in_turns"), [(2.3, False), (1.2, False), (2.3, True)])
def test_so_many_runs_as_are_needed_decide_in_four_of_five_checks(away: float, in_turns: bool) -> None:
    runs = known(runs_needed(0.05, 0.05 * away, 0.95, in_turns=in_turns))
    chance = np.random.default_rng(9)
    logs = [chance.normal(mean, 0.05, (20_000, runs)) for mean in (0, 0.05 * away)]
    test = stats.ttest_rel(*logs, axis=1) if in_turns else stats.ttest_ind(*logs, axis=1, equal_var=False)
    assert 0.77 < np.mean(test.pvalue < 0.05) < 0.9


def test_what_would_be_seen_is_a_fall_or_of_a_latency_a_rise(golden: Golden) -> None:
    after = [1.02, 1.1, 0.93, 1.0]
    rate = only(concluded([1000, 1100, 950, 1040], [1000 * each for each in after]))
    late = only(concluded([0.001, 0.0011, 0.00095, 0.00104], [0.001 * each for each in after], LATENCY))
    fall = known(rate.detectable_fraction)
    assert known(late.detectable_fraction) == pytest.approx(fall)
    assert f"a fall of about {100 * fall:.0f} %" in verdict_text(rate)
    assert f"a rise of about {100 * fall / (1 - fall):.0f} %" in verdict_text(late)
    assert "no change is likely" in verdict_text(rate.model_copy(update={"detectable_fraction": 1.0}))
    golden.same(verdict_text(late))


def test_two_runs_on_a_side_are_not_said_to_show_anything() -> None:
    for before, after in (([1000, 1100], [1000, 1050]), ([1000, 1100], [1000, 1050, 1020, 990])):
        assert "likely" not in statistics_text(only(concluded(before, after)))


def test_of_one_run_each_it_is_said_what_a_few_would_show(golden: Golden) -> None:
    repeated = (*runs([10000, 10400, 9800], 10, batch="c"), *runs([9000, 9200], 20, batch="d"))
    other = runs([1, 1000, 30], 30, batch="e", preset="read-iops")
    judged = conclude([change([10000], [9000])], replace(asked(), session_runs=(*repeated, *other)), STARTED)
    first, second = ([math.log(value) for value in values] for values in ((10000, 10400, 9800), (9000, 9200)))
    pooled = math.sqrt((2 * math.expm1(variance(first)) + math.expm1(variance(second))) / 3)
    assert only(judged).detectable_fraction == pytest.approx(seen_with(pooled, 4, 4, 0.95, spread_df=3))
    (line,) = (line for line in said(judged).splitlines() if "about 8" in line)
    golden.same(line.strip())
    assert (
        conclude([change([10000], [9000])], replace(asked(), session_runs=other[:1]), STARTED).deciding[0].word
        == "no verdict"
    )


# ---------------------------------------------------------------------------------------------- any figures


figures = st.floats(1e-300, 1e300)
alike = st.floats(0.5, 2.0)


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    kind = draw(st.sampled_from(["any", "alike", "equal"]))
    if kind == "equal":
        first, second = draw(figures), draw(st.sampled_from([1.0, 0.9, 1.1, 0.5]))
        return [first] * draw(st.integers(2, 100)), [first * second] * draw(st.integers(2, 100))
    value = figures if kind == "any" else alike
    most = draw(st.sampled_from([5, 100]))
    return draw(st.lists(value, min_size=2, max_size=most)), draw(st.lists(value, min_size=2, max_size=most))


@given(
    sides(),
    st.sampled_from([IOPS, LATENCY]),
    st.sampled_from([-99.0, -10.0, 0.0, 20.0, 99.0, 100.0, 10_000.0]),
    st.sampled_from([0.1, 10.0, 99.0]),
    st.booleans(),
)
@example(([1000.0] * 3, [900.0] * 3), IOPS, -10.0, 10.0, False)
@example(([1e-300] * 2, [1e300] * 3), LATENCY, -10.0, 10.0, False)
@example(([1e-300, 1e300] * 2, [1e300, 1e-300] * 2), IOPS, -10.0, 10.0, True)
@example(([1.0, 1.0, 1.0 + 3e-16], [0.9, 0.9, 0.9]), IOPS, -10.0, 10.0, False)
def test_any_figures_have_an_answer(
    given_sides: tuple[list[float], list[float]], metric: Metric, required: float, same: float, turns: bool
) -> None:
    before, after = given_sides
    if turns:
        count = min(len(before), len(after))
        values = [(before, after)["AB".index(side)][at // 2] for at, side in enumerate("AB" * count)]
        found = runs(values, 1, metric.name)
        given_change = Change(found[::2], found[1::2])
    else:
        given_change = change(before, after, metric)
    judged = conclude([given_change], asked(metric, require_percent=required, same_percent=same), STARTED)
    verdict, conclusion = only(judged), judged.conclusion
    assert verdict.interval
    assert verdict.ratio
    low, high = verdict.interval
    assert 0 < low <= verdict.ratio <= high < math.inf
    assert conclusion.exit_code == EXITS[conclusion.answer]
    assert verdict.met == {"met": True, "not met": False, "undecided": None}[conclusion.answer]
    if min(len(given_change.before), len(given_change.after)) < 3:
        assert (verdict.word, verdict.met, verdict.differs) == ("no verdict", None, None)
    if verdict.p_met is not None and verdict.met is not None:
        assert verdict.p_met < 0.0250001 if verdict.met else verdict.p_met > 0.9749999
    assert (verdict.p_beyond is not None) >= (verdict.word in ("better", "worse"))
    assert (verdict.p_beyond or 0.0) < 0.0250001
    assert Verdict.model_validate_json(line(verdict)) == verdict
    assert verdict_text(verdict)
    assert not verdict_text(verdict).startswith((";", ","))
    assert verdict_text(verdict).startswith(f"{word_text(verdict).upper()}: ")
    assert said(judged)


@given(st.floats(1e-6, 1e6), st.integers(3, 100), st.integers(3, 100))
@example(29.0 * 1.1, 8, 11)
def test_equal_figures_are_the_same_however_many(value: float, before: int, after: int) -> None:
    verdict = only(concluded([value] * before, [value] * after))
    assert (verdict.ratio, verdict.interval, verdict.differs, verdict.word) == (1.0, (1.0, 1.0), None, "same")
    assert (verdict.met, verdict.detectable_fraction) == (True, 0.0)
    assert "not interleaved" in statistics_text(verdict).lower()


@given(sides())
def test_more_is_better_is_less_is_worse(given_sides: tuple[list[float], list[float]]) -> None:
    """A figure and its inverse are the same change, told from the other side."""
    before, after = given_sides
    rate = only(concluded(before, after, require_percent=0.0))
    time = only(concluded([1 / each for each in before], [1 / each for each in after], LATENCY, require_percent=0.0))
    assert rate.p_met == pytest.approx(time.p_met, abs=1e-6)
    if abs((rate.ratio or 1) - 1) > 1e-9:
        assert (rate.differs, rate.met) == (time.differs, time.met)


# ---------------------------------------------------------------------------------------------- the bar


@given(
    st.lists(st.floats(100, 10_000), min_size=3, max_size=6),
    st.lists(st.floats(100, 10_000), min_size=3, max_size=6),
    st.sampled_from([IOPS, LATENCY]),
    st.sampled_from([-50.0, -10.0, 0.0, 20.0, 300.0]),
    st.integers(20, 200),
    st.booleans(),
)
def test_the_bar_has_its_width_and_its_marks_in_order(
    before: list[float], after: list[float], metric: Metric, required: float, width: int, ascii_only: bool
) -> None:
    verdict = only(concluded(before, after, metric, require_percent=required))
    bar, below = interval_bar(interval_of_verdict(verdict), width, ascii_only=ascii_only)
    assert bar.cell_len == width
    assert below.cell_len <= width
    assert "0" in below.plain
    line_, full, point, edge, middle = "-=o:|" if ascii_only else "─━●┊│"
    assert set(bar.plain) <= {line_, full, point, edge, middle}
    if ascii_only:
        assert bar.plain.isascii()
        assert below.plain.isascii()
    (at,) = [column for column, cell in enumerate(bar.plain) if cell == point]
    covered = [column for column, cell in enumerate(bar.plain) if cell == full]
    assert verdict.interval
    assert verdict.ratio
    marks = {middle: 1.0, edge: 1 + required / 100 if metric is IOPS else 1 - required / 100}
    for mark, value in marks.items():
        for column in [column for column, cell in enumerate(bar.plain) if cell == mark]:
            assert (column < at) == (value < verdict.ratio)
            assert not covered or value >= verdict.interval[0] or column <= covered[0]
            assert not covered or value <= verdict.interval[1] or column >= covered[-1]
    assert covered == [] or covered[0] <= at + 1
    assert covered == [] or covered[-1] >= at - 1


@pytest.mark.parametrize(
    ("case", "bar", "numbers"),
    [
        (
            "R1",
            "-----=====o======-------:---------------|-------------------",
            "                     -10.0 %            0",
        ),
        (
            "R10",
            "-------:=======o=========------|----------------------------",
            "    -10.0 %                    0",
        ),
    ],
)
def test_the_bar_as_it_looks(case: str, bar: str, numbers: str) -> None:
    verdict = only(concluded(*CASES[case][:2]))
    assert [row.plain for row in interval_bar(interval_of_verdict(verdict), 60, ascii_only=True)] == [bar, numbers]


def test_in_ascii_mode_all_of_it_is_ascii() -> None:
    text = said(concluded(*CASES["R7"][:2]), ascii_only=True)
    assert text.isascii()
    assert "●" in said(concluded(*CASES["R7"][:2]))


# ---------------------------------------------------------------------------------------------- as data


def test_verdicts_and_conclusions_are_lines_and_in_the_schema() -> None:
    split = Stages(
        ios=9, operations=9, outside_seconds=0.001, queue_seconds=0.0, prepare_seconds=0.0, store_seconds=0.002
    )
    before, after = (runs(GOOD, first, stages={"write": split}) for first in (1, 4))
    sides = Change(before, (*after, run(7, outcome="lost")))
    judged = differing(conclude([sides], asked(looks=LookSchedule(12)), STARTED), "x 1 -> 2")
    verdict, conclusion = only(judged), judged.conclusion
    assert Verdict.model_validate_json(line(verdict)) == verdict
    assert Conclusion.model_validate_json(line(conclusion)) == conclusion
    known = schema()["$defs"]
    for event in (verdict, conclusion):
        properties = known[type(event).__name__]["properties"]
        assert set(json.loads(line(event))) == set(properties)
        assert properties["event"]["const"] == event.event


def test_a_verdict_of_nothing_is_a_line_too() -> None:
    verdict = only(concluded([], [1000.0]))
    assert Verdict.model_validate_json(line(verdict)) == verdict
    assert (verdict.left, verdict.interval, verdict.ratio) == (None, None, None)


def test_how_long_a_run_takes_is_of_both_sides() -> None:
    before = run(1, duration_seconds=100.0)
    verdict = only(conclude([Change((before,), (run(2),))], asked(), STARTED))
    assert verdict.run_seconds == pytest.approx((100 + RUN_SECONDS) / 2)


# ---------------------------------------------------------------------------------------------- order in time


def reversed_in_time() -> Judgement:
    """The user names the later batch first: the change, which cost 20 %, lies behind the second."""
    made = change(GOOD, [0.8 * value for value in GOOD])
    return conclude([Change(made.after, made.before)], asked(), STARTED)


def test_words_of_before_and_after_are_only_used_where_it_is_so_in_time(golden: Golden) -> None:
    judged = reversed_in_time()
    verdict = only(judged)
    assert not verdict.in_order
    assert figures_text(verdict).startswith("write IOPS A ")
    golden.same(verdict_text(verdict))
    assert " % A, " in figures_text(verdict)
    text = " ".join([figures_text(verdict), verdict_text(verdict), statistics_text(verdict), *judged.conclusion.notes])
    assert not re.search(r"\bbefore\b|\bafter\b|->", text)
    (note,) = judged.conclusion.notes
    golden.same(note)


def test_sides_that_lie_among_each_other_are_neither_before_nor_after() -> None:
    values = [1000.0 + at for at in range(6)]
    judged = conclude([in_order("ABBBAA", values)], asked(), STARTED)
    assert "their runs overlap in time" in judged.conclusion.notes[0]
    assert " % A, " in figures_text(only(judged))


def test_a_check_that_takes_turns_has_a_before_and_an_after() -> None:
    given = replace(in_order("ABBA", [1000.0, 1001.0, 1002.0, 1003.0]), takes_turns=True)
    assert " % before, " in figures_text(only(conclude([given], asked(), STARTED)))
