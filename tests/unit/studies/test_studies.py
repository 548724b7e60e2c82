"""Studies of all kinds: resumed anywhere nothing is twice and nothing missing; kept in a session, also many of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.verdicts.failures import Needs, given_up
from cephtui.cli.verbs import cli
from cephtui.models import Mark, Run, Step, Summary
from cephtui.models.study import CHECK, RUNS, Cell, CheckGoal, SavedStudy
from cephtui.ordering import plan_of
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import STUDIES_FILE, StoreError
from cephtui.sessions.studies import find_study, next_name, ordered_in, read_studies
from cephtui.sessions.writer import SessionWriter
from cephtui.studies import KINDS, kind_of
from cephtui.studies.base import Study
from cephtui.studies.saved import row_of, study_states
from tests.support import runs
from tests.support.conducting import BEGUN, Bed, conduct, run_of, study
from tests.support.plans import catalogue
from tests.support.runs import begun, total
from tests.support.sessions import write_session

GOALS: Mapping[str, Mapping[str, Any]] = {
    "runs": {},
    "stable": {"percent": 5.0, "most": 8},
    "sweep": {"confirm": True},
    "bounded": {"within": "p99=5ms"},
    "check": CheckGoal(before=("b0",), after=("a0",), before_runs=3, most=8, require_percent=-10, same_percent=10,
                       confidence=0.95).model_dump(),
}  # fmt: skip
"""Of each kind."""
DIALOG_TITLE_CELLS = 22


def new(kind: str) -> Study[Any]:
    return study("write-iops", kind=kind, goal=GOALS[kind], repeats=6 if kind == RUNS else 1, batches=("b0",))


def on_a_system(noise: Sequence[float]) -> Callable[[Step, int], Run]:
    """It gets no faster behind 16 in flight of each job; each run that ends well has its own noise."""
    made = Counter[tuple[str, int]]()

    def run(step: Step, number: int) -> Run:
        depth = int(step.options["iodepth"])
        made[step.batch, depth] += 1
        apart = noise[(made[step.batch, depth] + depth) % len(noise)]
        iops = 1000.0 * min(depth, 16) * (1 + 0.01 * apart)
        latency = depth / iops * (1 + 0.01 * apart)
        latencies = {"latency_mean_seconds": latency / 2, "latency_p99_seconds": latency}
        write = total(ios=60_000, iops=iops, bandwidth_bytes=60, **latencies)
        return run_of(step, number, iops, summary=Summary(write=write))

    return run


def made(runs: Sequence[Run]) -> list[tuple[str, int | None, object]]:
    return [(run.batch, run.step, run.options["iodepth"]) for run in runs if run.outcome == "ok"]


def test_every_kind_is_asked_here() -> None:
    assert GOALS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
@given(
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    failing=st.sets(st.integers(1, 30), max_size=4),
    noise=st.lists(st.floats(-1, 1), min_size=1, max_size=7),
)
def test_resumed_anywhere_nothing_is_twice_and_nothing_is_missing(
    kind: str, cuts: Sequence[int], failing: set[int], noise: Sequence[float]
) -> None:
    """Each time it is stopped in a run, which is lost, or a run has failed."""
    once, system = new(kind), on_a_system(noise)
    whole = Bed(on_a_system(noise))
    conduct(once, whole)

    def failed(step: Step, number: int) -> Run:
        return run_of(step, number, "no space") if number in failing else system(step, number)

    runs: list[Run] = []
    for cut in (*cuts, None):
        bed = Bed(failed, first=len(runs) + 1, ends_after=cut)
        conduct(once, bed, [run for run in runs if run.outcome == "ok"])
        runs += bed.runs
    last = Bed(system, first=len(runs) + 1)  # after a failure, what is missing is measured the next time
    assert conduct(once, last, [run for run in runs if run.outcome == "ok"]).code == 0
    runs += last.runs
    assert once.next([run for run in runs if run.outcome == "ok"]) is None
    assert max(Counter(made(runs)).values()) == 1
    if kind != CHECK:  # there a look at other runs may decide earlier
        assert {depth for _, _, depth in made(runs)} == {depth for _, _, depth in made(whole.runs)}
        assert len(made(runs)) == len(made(whole.runs))


@pytest.mark.parametrize("takes_turns", [False, True])
@given(
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    failing=st.sets(st.integers(1, 30), max_size=4),
)
def test_a_check_of_two_presets_has_as_many_runs_of_both(
    takes_turns: bool, cuts: Sequence[int], failing: set[int]
) -> None:
    """Also where it is cut, or a run fails, between a run of the one and the run of the other."""
    goal = {**GOALS[CHECK], "before": ["b0", "b1"], "after": ["a0", "a1"], "takes_turns": takes_turns,
            "before_runs": 4, "most": None, "fixed": 4}  # fmt: skip
    once = study("write-iops", "read-iops", kind=CHECK, goal=goal, batches=("b0", "b1"))
    system, runs = on_a_system((0.1, -0.4, 0.9)), list[Run]()

    def failed(step: Step, number: int) -> Run:
        return run_of(step, number, "no space") if number in failing else system(step, number)

    for cut in (*cuts, None, None):
        bed = Bed(system if cut is None else failed, first=len(runs) + 1, ends_after=cut)
        conduct(once, bed, [run for run in runs if run.outcome == "ok"])
        runs += bed.runs
    assert Counter(run.batch for run in runs if run.outcome == "ok") == dict.fromkeys(("b0", "b1", "a0", "a1"), 4)
    assert max(Counter(made(runs)).values()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_beforehand_holds(kind: str) -> None:
    once = new(kind)
    extent = once.extent([plan_of(draft) for draft in once.drafts()])
    bed = Bed(on_a_system((0.1, -0.4, 0.9)))
    conduct(once, bed)
    assert extent.least_runs <= len(bed.steps) <= extent.most_runs
    assert extent.runs_text.endswith("run" if extent.most_runs == 1 else "runs")


# ------------------------------------------------------------------ failures


def outcome(number: int, outcome: str = "ok", tool: str = "fio", target: str = "rbd:x", nodes: str = "a") -> Run:
    error = None if outcome == "ok" else f"{outcome} {number}"
    where = {"batch": f"{tool} {target}", "tool": tool, "target": target}
    return begun(number, outcome=outcome, error=error, nodes=runs.nodes(*nodes, outcome=outcome), **where)


FIO, RADOS = Needs("fio", "rbd:x", ("a",)), Needs("rados-bench", "rbd:x", ("a",))


@pytest.mark.parametrize(
    ("outcomes", "over"),
    [
        ([], False),
        (["failed"], False),
        (["failed", "failed"], True),
        (["ok", "failed", "lost"], True),
        (["failed", "ok", "failed"], False),
        (["failed", "failed", "ok"], False),
        (["failed", "stopped", "failed"], True),
        (["stopped", "stopped"], False),
    ],
)
def test_two_failures_in_a_row_are_enough(outcomes: list[str], over: bool) -> None:
    runs = [outcome(number, each) for number, each in enumerate(outcomes)]
    assert bool(given_up(FIO, runs)) == over


def test_a_failure_belongs_to_the_tool_on_its_target_from_its_nodes() -> None:
    runs = [outcome(1, "failed"), outcome(2, "failed")]
    assert given_up(FIO, runs).endswith("failed 2")
    assert not given_up(RADOS, runs)
    assert not given_up(Needs("fio", "rbd:y", ("a",)), runs)
    assert not given_up(Needs("fio", "rbd:x", ("b",)), runs)
    assert given_up(Needs("fio", "rbd:x", ("a", "b")), runs), "what fails from one of them fails from both"


def test_a_target_that_refuses_twice_or_fails_with_two_tools_is_given_up() -> None:
    assert given_up(RADOS, [outcome(1, "refused"), outcome(2, "refused")])
    assert not given_up(RADOS, [outcome(1, "refused"), outcome(2), outcome(3, "refused")])
    failed = [outcome(n, "failed", tool) for n, tool in enumerate(("fio", "fio", "rbd-bench", "rbd-bench"))]
    assert given_up(RADOS, failed)
    assert not given_up(RADOS, [*failed, outcome(9, tool="dd")])
    assert not given_up(RADOS, failed, optional={"fio rbd:x"}), "optional steps never end others"
    assert given_up(FIO, failed[:2], optional={"fio rbd:x"}), "they do end themselves"


def test_a_node_that_is_lost_twice_is_given_up_on_every_target() -> None:
    runs = [outcome(1, "lost", target="rbd:x"), outcome(2, "lost", target="rbd:y")]
    assert given_up(Needs("fio", "rbd:z", ("a", "b")), runs)
    assert not given_up(Needs("fio", "rbd:z", ("b",)), runs)


# ------------------------------------------------------------------ in a session


def saved(kind: str = RUNS, batch: str = "b1", **changes: Any) -> SavedStudy:
    cell = Cell(step="write-iops", preset="write-iops", target="file:/x", nodes=("local",), batch=batch, repeats=2)
    return SavedStudy(at=BEGUN, kind=kind, cells=(cell,), **changes)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SessionWriter]:
    writer = SessionWriter.open(tmp_path, "tuning")
    yield writer
    writer.close()


def test_a_session_keeps_all_its_studies_each_once(writer: SessionWriter) -> None:
    first = writer.keep_study(saved())
    second = writer.keep_study(saved(batch="b2"))
    assert (first.id, second.id) == ("s1", "s2")
    assert writer.keep_study(saved()) == first
    assert read_studies(writer.directory) == [first, second]
    assert find_study(read_studies(writer.directory), "s2") == second
    assert find_study(read_studies(writer.directory), "s3") is None
    assert [cell.batch for cell in ordered_in([first, second]).cells] == ["b1", "b2"]


def test_a_torn_or_foreign_line_is_in_no_ones_way(writer: SessionWriter) -> None:
    path = writer.directory / STUDIES_FILE
    writer.keep_study(saved())
    with path.open("a") as file:
        file.write(
            '{"id": "s7", "at": "2026-11-23T00:00:00Z", "kind": "runs", "cells": []}\n{"id": 3}\n[]\n{"id": "s9"'
        )
    assert writer.keep_study(saved(batch="b2")).id == "s8", "behind a torn line, and no name twice"
    assert [each.id for each in read_studies(writer.directory)] == ["s1", "s7", "s8"]


def test_a_large_study_is_read_again(writer: SessionWriter) -> None:
    cell = saved().cells[0]
    cells = tuple(cell.model_copy(update={"batch": f"b{n}", "step": "x" * 400}) for n in range(4000))
    kept = writer.keep_study(saved().model_copy(update={"cells": cells}))
    assert read_studies(writer.directory) == [kept]


def test_what_a_session_of_0_1_has_kept_is_read(tmp_path: Path) -> None:
    """Its last order and its last check."""
    order = saved(suite="s", title="A suite")
    (tmp_path / "suite.json").write_text(as_json(order))
    check = {
        "schema_version": 1, "at": "2026-11-22T00:00:00Z", "presets": ["write-iops"], "overrides": {"bs": "4k"},
        "target": "rbd:bench", "data_pool": None, "nodes": ["pve1"], "drop_caches": True, "before": ["b"],
        "after": ["a"], "takes_turns": True, "before_runs": 6, "most": 12, "fixed": None, "require_percent": -5.0,
        "same_percent": 10.0, "confidence": 0.95, "metrics": ["p99"], "directions": [],
    }  # fmt: skip
    (tmp_path / "sitting.json").write_text(json.dumps(check))
    first, second = read_studies(tmp_path)
    assert (first.id, first.kind, first.drop_caches) == ("s1", CHECK, True)
    assert first.cells[0].options == {"bs": "4k"}
    goal = CheckGoal.model_validate(first.goal)
    assert (goal.before, goal.after, goal.takes_turns, goal.metrics) == (("b",), ("a",), True, ("p99",))
    assert second == order.model_copy(update={"id": "s2"})
    assert next_name([first, second]) == "s3"
    (tmp_path / "suite.json").write_text("{")
    with pytest.raises(StoreError, match=r"suite\.json"):
        read_studies(tmp_path)


def test_the_state_of_each_study_is_known_without_any_node(writer: SessionWriter) -> None:
    for kind, goal in GOALS.items():
        writer.keep_study(
            saved(
                kind,
                batch=f"batch-{kind}",
                goal={**goal, "before": (f"batch-{kind}",)} if kind == CHECK else dict(goal),
            )
        )
    writer.keep_study(saved("newer", batch="n"))
    writer.keep_study(saved("bounded", batch="m", goal={"within": "nonsense"}))
    gone = saved(batch="g")
    writer.keep_study(gone.model_copy(update={"cells": (gone.cells[0].model_copy(update={"preset": "gone"}),)}))
    rows = [row_of("tuning", state) for state in study_states(writer.directory, catalogue())]
    assert [row.kind for row in rows] == [*GOALS, "newer", "bounded", "runs"]
    assert not any(row.finished for row in rows)
    assert [row.missing for row in rows] == [2 if row.kind == RUNS and not row.problem else None for row in rows]
    assert [bool(row.problem) for row in rows] == [False] * len(GOALS) + [True] * 3
    assert "newer cephtui" in rows[-3].problem
    assert "gone" in rows[-1].problem


def test_a_kind_has_a_module_and_words_and_no_two_options_are_the_same() -> None:
    names = [option.name for row in KINDS.values() for option in row.options]
    assert len(names) == len(set(names))
    for kind, row in KINDS.items():
        assert kind_of(kind).kind == kind == row.kind
        fields = {option.field for option in row.options if option.field}
        assert fields <= kind_of(kind).Goal.model_fields.keys()
        assert row.decides or not row.excludes
        assert all(len(option.title) <= DIALOG_TITLE_CELLS for option in row.fields), "the dialog would cut it"
        assert all(option.example for option in row.fields)


MARKED = (Mark(at=BEGUN, text="a new disk"),)
"""Of a session without runs, which is not kept else."""
HOSTILE: Sequence[Mapping[str, Any]] = (
    {"kind": "future"},
    {"cells": []},
    {"kind": "stable", "goal": {"most": -5}},
    {"kind": "stable", "goal": {"percent": "nan"}},
    {"kind": "sweep", "goal": {"confirm": "maybe"}},
    {"kind": "bounded", "goal": {"within": "p99=-1"}},
    {"kind": "bounded"},
    {"kind": CHECK},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "before": [], "after": []}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "after": ["a0", "a1"]}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "before": ["b0", "b1"], "after": ["a0", "a1"]}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "most": None}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "most": 3}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "confidence": 5}},
    {"kind": CHECK, "goal": {**GOALS[CHECK], "before_session": "removed"}},
)


@pytest.mark.parametrize("changes", HOSTILE)
def test_a_study_that_makes_no_sense_is_listed_with_its_problem_and_refused(
    changes: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = write_session(tmp_path / "sessions", marks=MARKED)
    kept = {**saved().model_dump(mode="json"), "id": "s1", **changes}
    (directory / STUDIES_FILE).write_text(json.dumps(kept) + "\n")
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    (state,) = study_states(directory, catalogue())
    assert state.study is None
    assert "validation error" not in state.problem
    for command in (["run", "--resume", "tuning"], ["run", "--resume", "tuning", "s1"]):
        result = CliRunner().invoke(cli, command)
        assert isinstance(result.exception, SystemExit), command
        assert result.exit_code == 2, command
        assert state.problem in result.output
    assert isinstance(CliRunner().invoke(cli, ["check", "tuning"]).exception, SystemExit)


@pytest.mark.parametrize(
    ("field", "value"), [("id", "--help"), ("id", "s1; true"), ("id", "s" + "9" * 5000), ("id", "")]
)
def test_a_study_of_an_odd_name_is_none(field: str, value: str, writer: SessionWriter) -> None:
    kept = {**saved().model_dump(mode="json"), "id": "s1", field: value}
    (writer.directory / STUDIES_FILE).write_text(json.dumps(kept) + "\n")
    assert read_studies(writer.directory) == []


def test_what_can_be_resumed_goes_before_what_can_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(tmp_path / "sessions", marks=MARKED, studies=[saved(), saved(kind="future", batch="b2")])
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    result = CliRunner().invoke(cli, ["run", "--resume", "tuning", "--dry-run"])
    assert result.exit_code == 0
    assert "file:/x" in result.output
