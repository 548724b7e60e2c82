"""A change or its undo that has not come to a good end, and a check that goes on afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

import pytest

from cephtui.exit_codes import EXIT_INCOMPLETE
from cephtui.models import Mark, Run
from cephtui.models.study import CHECK, CheckGoal
from cephtui.running.runner import Runner
from cephtui.sessions.changes import CHANGES_FILE, Ran, State, change_state
from cephtui.sessions.writer import append_lines
from cephtui.studies.conductor import Commands, Conductor
from tests.support.conducting import BEGUN, Bed, NoRunner, run_of, study

GOAL = CheckGoal(before=("b0",), after=("a0",), before_runs=0, fixed=2, require_percent=-10, same_percent=10,
                 confidence=0.95, takes_turns=True, is_commanded=True)  # fmt: skip


def ran(kind: str, status: int | None, undo: str | None = "true") -> Ran:
    return Ran.model_validate({"at": BEGUN, "kind": kind, "command": "true", "undo": undo, "status": status})


@pytest.mark.parametrize(
    ("last", "state"),
    [
        (ran("change", None), "unknown"),
        (ran("change", 0), "made"),
        (ran("change", 1, undo=None), "not made"),
        (ran("change", 127, undo=None), "not made"),
        (ran("change", 124, undo=None), "unknown"),
        (ran("change", 143, undo=None), "unknown"),
        (ran("change", 1), "made"),
        (ran("undo", None), "made"),
        (ran("undo", 1), "made"),
        (ran("undo", 0), "not made"),
    ],
)
def test_what_a_command_has_left(last: Ran, state: State) -> None:
    """A change that was cut short may be in place; so is one that has failed, until its undo has ended well."""
    assert change_state(GOAL, (), (), [last]) == state


class _Begun:
    def keep(self, text: str) -> Future[Mark]:
        kept = Future[Mark]()
        kept.set_result(Mark(at=BEGUN, text=text))
        return kept


class _OnASession(NoRunner):
    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory: Any = directory

    def begin_mark(self) -> _Begun:
        return _Begun()


def commands_on(directory: Path, noted: Sequence[Ran], runs: Sequence[Run], check: Any) -> list[str]:
    """What is run of a check that goes on."""
    append_lines(directory / CHANGES_FILE, noted)
    bed = Bed(lambda step, number: run_of(step, number, 1000.0), first=len(runs) + 1)
    runner = _OnASession(directory)
    asyncio.run(Conductor(check, cast("Runner", runner), bed, Commands("true", "true"), runs).conduct())
    assert runner.put_back_times == 1  # what was held back for the study
    return [text.partition(":")[0] for text in bed.lines if text.startswith(("change:", "undo:"))]


@pytest.mark.parametrize("last", [ran("undo", None), ran("undo", 1), ran("change", 1)])
def test_what_has_not_come_to_a_good_end_is_taken_back_before_the_change_is_made_again(
    last: Ran, tmp_path: Path
) -> None:
    check = study("write-iops", kind=CHECK, goal=GOAL.model_dump(mode="json"), batches=("b0",))
    runs: list[Run] = []
    for _ in range(2):  # before, and the first of two after the change
        step = check.next(runs)
        assert step
        runs.append(run_of(check.plan(step).steps[0], len(runs) + 1, 1000.0))
    after = check.next(runs)
    assert after
    assert after.is_changed
    assert commands_on(tmp_path, [ran("change", 0), last], runs, check)[:2] == ["undo", "change"]


def test_a_change_is_taken_back_also_where_its_session_was_removed(tmp_path: Path) -> None:
    check = study("write-iops", kind=CHECK, goal=GOAL.model_dump(mode="json"), batches=("b0",))
    step = check.next([])
    assert step
    before = run_of(check.plan(step).steps[0], 1, 1000.0)
    first = check.next([before])
    assert first
    runs = [before, run_of(check.plan(first).steps[0], 2, 1000.0)]
    undone, runner = tmp_path / "undone", _OnASession(tmp_path)

    def last(step: Any, number: int) -> Run:
        runner.directory = None
        return run_of(step, number, 1000.0)

    bed = Bed(last, first=3, ends_after=1)
    commands = Commands("true", f"touch {undone}")
    ended = asyncio.run(Conductor(check, cast("Runner", runner), bed, commands, runs).conduct())
    assert ended.code == EXIT_INCOMPLETE
    assert undone.exists()
