"""A whole session against another: which runs are pairs, what the pairs show together, and what is printed of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cephtui.analysis.statistics.ratio import holm, welch
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement
from cephtui.analysis.verdicts.verdict import why_not_judged
from cephtui.analysis.verdicts.versus import Versus, WholeSession, conclude_versus, differing_conditions, versus
from cephtui.cli.verbs import cli
from cephtui.models import ClusterEnvironment, Finding, Mark, Run
from cephtui.models.metrics import BY_NAME
from cephtui.reports.views.versus import legend, names_of_pairs, rows, titles
from cephtui.reports.words.verdict import verdict_text
from tests.support.drawings import draw_versus, printed, versus_markdown
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import IOPS, STARTED, nodes, run
from tests.support.sessions import write_session
from tests.unit.analysis.statistics.test_ratio import CASES

OPTIONS = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "runtime": 60.0, "direct": True}
SAME, SLOWER = CASES["R2"], CASES["R1"]


def session(name: str, *points: Sequence[Run]) -> WholeSession:
    """The runs of all points, numbered one after the other."""
    runs = [each for point in points for each in point]
    return WholeSession(
        [each.model_copy(update={"session": name, "run": number}) for number, each in enumerate(runs, 1)]
    )


def point(*values: float, at: int = 0, **changes: Any) -> list[Run]:
    """Runs that repeat each other; ``at`` is when, in steps."""
    return [run(at + number, float(value), **changes) for number, value in enumerate(values)]


def numbers(found: Versus) -> list[tuple[list[int], list[int]]]:
    return [([each.run for each in pair.before], [each.run for each in pair.after]) for pair in found.pairs]


def alone(found: Versus) -> list[str]:
    return [f"{each.session}/{each.run}" for point in found.alone for each in point]


def differing(judged: Judgement) -> list[str | None]:
    return [verdict.differs for verdict in judged.deciding]


def concluded(left: WholeSession, right: WholeSession) -> Judgement:
    return conclude_versus(versus(left, right), ConclusionTerms(lambda _: IOPS), STARTED)


# ---------------------------------------------------------------------------------------------- pairs


def test_runs_are_paired_by_preset_and_options_whatever_their_pools_and_nodes_are_called() -> None:
    left = session("a", point(1, 2), point(3, options=OPTIONS | {"iodepth": 1}), point(4, preset="read-iops"))
    other: dict[str, Any] = {"target": "rbd:fast", "nodes": nodes("n7")}
    right = session(
        "b",
        point(5, preset="read-iops", **other),
        point(6, options=OPTIONS | {"iodepth": 1}, **other),
        point(7, **other),
    )
    found = versus(left, right)
    assert numbers(found) == [([1, 2], [3]), ([3], [2]), ([4], [1])]
    assert alone(found) == []


@pytest.mark.parametrize(
    "change",
    [
        {"preset": "latency"},
        {"options": OPTIONS | {"iodepth": 1}},
        {"options": OPTIONS | {"fsync": 1}},
        {"nodes": nodes("pve1", "pve2")},
        {"tool": "rados-bench"},
    ],
    ids=str,
)
def test_what_was_not_measured_alike_has_no_partner_and_is_named(change: dict[str, Any]) -> None:
    left, right = (
        session("a", point(1000), point(1000, preset="x")),
        session("b", point(1000, **change), point(9, preset="x")),
    )
    found = versus(left, right)
    assert numbers(found) == [([2], [2])]
    assert alone(found) == ["a/1", "b/1"]
    told = {each.run: each.why for each in concluded(left, right).conclusion.left_out}
    assert told == {"a/1": "no matching run in b", "b/1": "no matching run in a"}


def test_options_that_follow_from_the_target_do_not_part_a_pair() -> None:
    left = session("a", point(1000, options=OPTIONS | {"size": "10G", "ioengine": "libaio"}))
    right = session("b", point(1000, options=OPTIONS | {"size": "4G", "ioengine": "rbd"}, target="rbd:x"))
    found = versus(left, right)
    assert numbers(found) == [([1], [1])]
    assert {f"{each.topic} {each.name}" for each, _ in differing_conditions(found)} >= {
        "option size",
        "option ioengine",
    }


def test_of_several_targets_equal_names_are_pairs_then_as_many_in_their_order() -> None:
    left = session("a", *(point(1, target=f"rbd:{name}") for name in ("slow", "ssd", "hdd")))
    right = session("b", *(point(1, target=f"rbd:{name}") for name in ("hdd", "fast", "nvme")))
    assert numbers(versus(left, right)) == [([1], [2]), ([2], [3]), ([3], [1])]


def test_of_several_targets_that_are_not_as_many_none_is_guessed() -> None:
    left = session("a", *(point(1, target=f"rbd:{name}") for name in ("ssd", "hdd")))
    right = session("b", point(1, target="rbd:x"), point(1, target="rbd:hdd"), point(1, target="rbd:y"))
    found = versus(left, right)
    assert numbers(found) == [([2], [2])]
    assert alone(found) == ["a/1", "b/1", "b/3"]


def test_each_node_in_turn_has_the_one_of_the_other_cluster_in_its_place() -> None:
    left = session("a", *(point(1, nodes=nodes(name)) for name in ("pve1", "pve2")))
    right = session("b", *(point(1, nodes=nodes(name)) for name in ("n1", "n2")))
    found = versus(left, right)
    assert numbers(found) == [([1], [1]), ([2], [2])]
    assert list(dict.fromkeys(names_of_pairs(found).values())) == ["write-iops pve1 / n1", "write-iops pve2 / n2"]


@pytest.mark.parametrize(("imported", "pairs"), [("old.log", 1), (None, 0)])
def test_an_imported_run_is_paired_by_its_load(imported: str | None, pairs: int) -> None:
    left = session("a", point(1000, options=OPTIONS | {"numjobs": 1}))
    right = session("b", point(900, preset="old", options=OPTIONS | {"fsync": 1}, nodes=(), imported_from=imported))
    assert len(versus(left, right).pairs) == pairs


def test_an_imported_run_of_another_load_is_no_partner() -> None:
    right = session("b", point(900, preset="old", options=OPTIONS | {"bs": "8k"}, imported_from="old.log"))
    assert versus(session("a", point(1000)), right).pairs == ()


# ---------------------------------------------------------------------------------------------- conditions


def with_cluster(version: str, size: int) -> dict[str, Any]:
    return {"cluster": ClusterEnvironment(ceph_version=version, pool={"size": size})}


def test_a_condition_of_all_pairs_is_said_once_and_one_of_some_says_of_how_many(golden: Golden) -> None:
    left = session("a", point(1, **with_cluster("16", 3)), point(1, preset="x", **with_cluster("16", 3)))
    later = point(1, at=9, **with_cluster("19", 3)), point(1, at=9, preset="x", **with_cluster("19", 2))
    right = session("b", *later)
    found = versus(left, right)
    assert [(each.name, each.left, each.right, pairs) for each, pairs in differing_conditions(found)] == [
        ("ceph", "16", "19", 2),
        ("pool size", "3", "2", 1),
    ]
    text = said(found)
    assert text.count("ceph") == 1
    (line,) = (line for line in text.splitlines() if "pool size" in line)
    golden.same(line.strip())
    assert concluded(left, right).conclusion.changed == ("cluster ceph 16 -> 19", "cluster pool size 3 -> 2")
    swapped = concluded(right, left).conclusion.changed
    assert swapped == ("cluster ceph A 19, B 16", "cluster pool size A 2, B 3"), "nothing changed from A to B"


def test_findings_and_outcomes_are_no_conditions() -> None:
    finding = Finding(code="in-flight", text="more in flight")
    found = versus(session("a", point(1)), session("b", point(1, findings=(finding,), outcome="failed")))
    assert differing_conditions(found) == []


# ---------------------------------------------------------------------------------------------- together


def of_presets(cases: Iterable[tuple[Sequence[float], Sequence[float]]]) -> tuple[WholeSession, WholeSession]:
    """A preset for each case, one session after the other."""
    found = list(enumerate(cases))
    left = session("a", *(point(*before, at=100 * n, preset=f"p{n}") for n, (before, _) in found))
    right = session("b", *(point(*after, at=100 * n + 5000, preset=f"p{n}") for n, (_, after) in found))
    return left, right


def test_all_pairs_are_taken_together(golden: Golden) -> None:
    barely = (CASES["R7"].before, [value * 1.035 for value in CASES["R7"].after])
    p = welch(*barely).p_same()
    assert 0.01 < p < 0.05
    only = concluded(*of_presets([barely]))
    assert differing(only) == ["slower"]
    golden.same(only.conclusion.notes[0])
    many = concluded(*of_presets([barely, *[(SAME.before, SAME.after)] * 5]))
    assert known(many.deciding[0].p_same) < 0.05, "by itself"
    assert known(many.deciding[0].p_same_together) == pytest.approx(6 * p)
    assert holm([p, *[1.0] * 5])[0] > 0.05
    assert differing(many) == [None] * 6
    golden.same(many.conclusion.notes[0])


def test_who_is_faster_and_who_is_slower(golden: Golden) -> None:
    faster = (SLOWER.after, SLOWER.before)
    judged = concluded(*of_presets([(SLOWER.before, SLOWER.after), faster, faster, (SAME.before, SAME.after)]))
    assert differing(judged) == ["slower", "faster", "faster", None]
    golden.same(judged.conclusion.notes[0])


def test_too_few_runs_are_no_comparison(golden: Golden) -> None:
    judged = concluded(*of_presets([((1000, 1010), (500, 510)), (SLOWER.before, SLOWER.after)]))
    assert differing(judged) == [None, "slower"]
    golden.same(judged.conclusion.notes[:2])


@pytest.mark.parametrize("after", [(1,), (1, 1, 1)])
def test_one_reason_for_no_verdict_is_said_everywhere(after: Sequence[float]) -> None:
    judged = concluded(*of_presets([((1, 1, 0), after)]))
    (verdict,) = judged.deciding
    assert (verdict.lacks, verdict.is_judged) == ("completions", False)
    reason = why_not_judged(verdict, "of A", "of B")
    assert verdict_text(verdict).endswith(reason)
    assert judged.conclusion.notes[0].endswith(reason)


def test_what_is_wide_open_is_a_comparison_too(golden: Golden) -> None:
    """Of wide intervals neither a word nor an answer follows: they were judged all the same."""
    barely = (CASES["R7"].before, [value * 1.035 for value in CASES["R7"].after])
    wide = (900, 700, 1500, 1100, 600, 1300, 800), (1000, 1400, 650, 800, 1250, 700, 1350)
    judged = concluded(*of_presets([barely, *[wide] * 4]))
    assert [(verdict.word, verdict.met) for verdict in judged.deciding[1:]] == [("no verdict", None)] * 4
    assert 0.01 < known(judged.deciding[0].p_same) < 0.05
    golden.same(judged.conclusion.notes)
    cells = [row for _, row in rows(versus(*of_presets([barely, *[wide] * 4])), judged)]
    assert [row[-1] for row in cells] == ["same", *["inconclusive"] * 4]


def test_why_a_comparison_was_not_judged(golden: Golden) -> None:
    left, right = of_presets([((1000, 1010), (500, 510)), ((0, 0, 0), (1, 2, 3)), (SAME.before, SAME.after)])
    stopped = [
        each.model_copy(update={"outcome": "failed"}) if each.preset == "p2" and each.session == "b" else each
        for each in right.runs
    ]
    judged = concluded(left, WholeSession(stopped))
    golden.same(judged.conclusion.notes[:4])
    assert "b/6, " in judged.conclusion.notes[3]


def test_of_a_figure_that_a_side_does_not_have_it_is_said_which_side_that_is(golden: Golden) -> None:
    """The runs count: they have no percentile that enough I/Os carry."""
    found = versus(*of_presets([(SAME.before, SAME.after)]))
    asked = ConclusionTerms(lambda _: IOPS, metrics=(BY_NAME["latency_p999_seconds"],), directions=("write",))
    judged = conclude_versus(found, asked, STARTED)
    (verdict,) = judged.deciding
    assert (verdict.before, verdict.after, verdict.is_judged) == ((), (), False)
    assert why_not_judged(verdict, "of A", "of B") in judged.conclusion.notes[0]
    texts = [verdict, verdict.model_copy(update={"before": ("a/1",)}), verdict.model_copy(update={"after": ("b/1",)})]
    golden.same(why_not_judged(each, "of A", "of B") for each in texts)


def test_nothing_is_better_or_worse_that_is_not_shown_to_differ() -> None:
    barely = [1000, 1060, 1120], [700, 790, 830]
    (alone_,) = concluded(*of_presets([barely])).deciding
    assert (alone_.word, alone_.differs, alone_.met) == ("worse", "slower", False)
    one, *_ = concluded(*of_presets([barely, *[(SAME.before, SAME.after)] * 7])).deciding
    assert (one.word, one.differs, one.met) == ("not better", None, None)


@pytest.mark.parametrize("way", [1, -1])
def test_of_many_none_is_better_or_worse_by_more_than_the_same_that_barely_is_so_by_itself(way: int) -> None:
    """That there is a difference is shown of each: not that it is so large."""
    waves = 0.992, 1.004, 1.0, 0.998, 1.006
    barely = [1000 * wave for wave in waves], [1000 * (0.892 if way < 0 else 1.111) * wave for wave in waves]
    words = ("worse", "not better") if way < 0 else ("better", "not worse")
    (alone_,) = concluded(*of_presets([barely])).deciding
    assert (alone_.word, alone_.differs) == (words[0], "slower" if way < 0 else "faster")
    many = concluded(*of_presets([barely] * 8))
    assert {(each.word, each.differs) for each in many.deciding} == {(words[1], alone_.differs)}
    assert many.conclusion.answer == ("undecided" if way < 0 else "met")
    far = [1000.0 * wave for wave in waves], [500.0 * wave for wave in waves]
    assert [each.word for each in concluded(*of_presets([far, barely])).deciding] == ["worse", words[0]]


def test_time_between_two_clusters_is_no_change() -> None:
    falling = [[1000 * 0.99**step * wave for step, wave in enumerate((1.0, 1.001, 0.999, 1.0, 1.0))] for _ in "ab"]
    notes = concluded(*of_presets([(falling[0], falling[1])])).conclusion.notes
    assert not any("by themselves" in note or "another day" in note for note in notes)


def test_marks_between_runs_that_count_together_are_said(golden: Golden) -> None:
    left, right = of_presets([(SAME.before, SAME.after)])
    mark = Mark(at=left.runs[2].started_at, text="size 2")
    found = versus(WholeSession(left.runs, [mark]), WholeSession(right.runs, [mark]))
    notes = conclude_versus(found, ConclusionTerms(lambda _: IOPS), STARTED).conclusion.notes
    (note,) = (note for note in notes if "marks" in note)
    assert note.startswith("a ")
    golden.same(note)


# ---------------------------------------------------------------------------------------------- printed


def said(compared: Versus, width: int = 200, **options: Any) -> str:
    judged = conclude_versus(compared, ConclusionTerms(lambda _: IOPS), STARTED)
    return printed(draw_versus(compared, judged, **options), width)


def test_a_row_has_the_figures_the_interval_and_the_word() -> None:
    left, right = of_presets([(SLOWER.before, SLOWER.after), ((1000,), (1100,))])
    found = versus(left, right)
    cells = [cells for _, cells in rows(found, concluded(left, right))]
    assert cells == [
        ("p0", "write IOPS", "10.1k", "8.25k", "-18.0 %", "-21.0 .. -14.9 %", "5 / 5", "worse"),
        ("p1", "write IOPS", "1.00k", "1.10k", "+10.0 %", "-", "1 / 1", "inconclusive"),
    ]
    assert titles(concluded(left, right))[4] == "B vs A", "above what B has more or less than A"
    lines = said(found).splitlines()
    assert "p0 write IOPS 10.1k 8.25k -18.0 % -21.0 .. -14.9 % 5 / 5 worse" in [
        " ".join(line.split()) for line in lines
    ]


def test_of_several_it_is_said_that_intervals_are_of_each_by_itself() -> None:
    one, two = (concluded(*of_presets([(SAME.before, SAME.after)] * number)) for number in (1, 2))
    assert "for one comparison" in legend(two)[0]
    assert "for one comparison" not in legend(one)[0]
    assert legend(concluded(*of_presets([((1000,), (1100,))]))) == []


def test_a_sweep_names_what_sets_its_pairs_apart() -> None:
    points = [point(1, options=OPTIONS | {"iodepth": depth}) for depth in (1, 16)]
    points += [point(1, preset="latency", options=OPTIONS | {"rw": rw}) for rw in ("randread", "randwrite")]
    found = versus(session("a", *points), session("b", *points))
    assert list(names_of_pairs(found).values())[::2] == ["write-iops qd1", "write-iops qd16", "latency", "latency"]


def test_in_a_small_difference_who_is_slower_is_said_too() -> None:
    slightly = (CASES["R7"].before, [value * 1.06 for value in CASES["R7"].before[:1]] * 3)
    left, right = of_presets([(slightly[0], [value * 0.97 for value in (10000, 10010, 9990, 10000, 10005)])])
    words = [cells[-1] for _, cells in rows(versus(left, right), concluded(left, right))]
    assert words == ["same, slower"]


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_the_terminal(width: int, golden: Golden) -> None:
    left, right = of_presets([(SLOWER.before, SLOWER.after), (SAME.before, SAME.after)])
    lines = said(versus(left, right), width, ascii_only=True, answer=True).splitlines()
    assert max(map(len, lines)) <= width
    golden.same(" ".join(lines[-1].split()))
    assert all(line.isascii() for line in lines)


def test_in_markdown_hostile_names_stay_text() -> None:
    left = session("a", point(*SAME.before, preset="x|y", target="rbd:<b>"))
    right = session("b", point(*SAME.after, preset="x|y", target="rbd:`c`"))
    text = versus_markdown(versus(left, right), concluded(left, right))
    assert "x\\|y" in text
    assert "rbd:\\<b\\>" in text
    assert "<b>" not in text
    assert text.endswith("details: `cephtui compare a b`\n")


# ---------------------------------------------------------------------------------------------- commands


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "sessions"


def save(home: Path, *sessions: WholeSession) -> None:
    for day, session in enumerate(sessions, 1):
        write_session(home, session.runs, name=session.name, created_at=STARTED + timedelta(days=day))


def cephtui(*args: str) -> Result:
    return CliRunner().invoke(cli, args, standalone_mode=False)


@pytest.mark.parametrize(
    ("cases", "code"),
    [(["R2", "R4"], 0), (["R2", "R1"], 5), (["R2", "R3"], 6)],
    ids=["all met", "one slower", "one undecided"],
)
def test_check_of_two_sessions_has_one_exit_code(home: Path, cases: list[str], code: int) -> None:
    save(home, *of_presets([(CASES[name].before, CASES[name].after) for name in cases]))
    done = cephtui("check", "a", "b")
    assert done.return_value == code
    assert f" (exit {code}): " in done.stdout.splitlines()[-1]
    kept = [json.loads(line) for line in (home / "b" / "verdicts.jsonl").read_text().splitlines()]
    assert kept[-1]["exit_code"] == code
    assert "look" not in cephtui("check", "a", "b").stdout, "the same runs read again"


def test_check_of_two_sessions_takes_what_is_required(home: Path) -> None:
    save(home, *of_presets([(SLOWER.before, SLOWER.after)]))
    assert cephtui("check", "a", "b", "--require", "-30").return_value == 0
    assert cephtui("check", "a", "b", "--without", "1,2,3").return_value == 6


def test_compare_of_two_sessions_in_each_format(home: Path, golden: Golden) -> None:
    save(home, *of_presets([(SLOWER.before, SLOWER.after), (SAME.before, SAME.after)]))
    table = cephtui("compare", "a", "b").stdout
    (line,) = (line for line in table.splitlines() if "Holm" in line)
    assert "0 faster, 1 slower, 1 " in line
    golden.same(line.strip())
    assert "exit" not in table
    lines = [json.loads(line) for line in cephtui("compare", "a", "b", "--json").stdout.splitlines()]
    assert [line["event"] for line in lines if line["event"] != "difference"][-1] == "conclusion"
    assert [line["word"] for line in lines if line.get("decides")] == ["worse", "same"]
    assert "| p0 | write IOPS | 10.1k | 8.25k | -18.0 % |" in cephtui("compare", "a", "b", "--format", "md").stdout
    first = next(csv.DictReader(StringIO(cephtui("compare", "a", "b", "--format", "csv").stdout)))
    assert float(first["ratio"]) == pytest.approx(SLOWER.ratio, abs=6e-7)
    assert (first["preset"], first["verdict"], first["differs"]) == ("p0", "worse", "slower")


def test_a_run_and_a_session_are_two_runs_as_ever(home: Path) -> None:
    save(home, *of_presets([((1000,), (1100,)), ((2000,), (2200,))]))
    assert cephtui("compare", "a", "b/2").stdout == cephtui("compare", "a/2", "b/2").stdout
    named = next(csv.DictReader(StringIO(cephtui("compare", "a/2", "b/2", "--format", "csv").stdout)))
    assert (named["left"], named["right"]) == ("2000.0", "2200.0")


@pytest.mark.parametrize("verb", ["compare", "check"])
def test_two_sessions_that_can_not_be_compared_have_a_next_step(home: Path, verb: str, golden: Golden) -> None:
    left, _ = of_presets([((1000,), (1100,))])
    save(home, left, session("b", point(1000, preset="other")))
    assert "cephtui compare a/1 a/2" in str(cephtui(verb, "a", "a").exception)
    golden.same(str(cephtui(verb, "a", other).exception) for other in "abc")
