"""``cephtui check``: whether a change did what is required of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cephtui.analysis.change import Change, around
from cephtui.analysis.conditions import unlike
from cephtui.analysis.looks import ONE_LOOK
from cephtui.analysis.sides import Side
from cephtui.analysis.sitting import changes_of, looks_of
from cephtui.cli.judging import asked_of, finish, keep, repeats_of
from cephtui.cli.options import Question
from cephtui.cli.saved import find_run, find_session
from cephtui.cli.versus import are_sessions, find_versus, judged_versus, print_versus
from cephtui.models import Mark, Run
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.sessions.verdicts import with_earlier
from cephtui.terminal import say


def check_change(names: tuple[str, ...], mark: int | None, as_json: bool, question: Question, **given: Any) -> int:
    """Judge saved runs, or measure first; the exit code."""
    against, presets = given["against"], given["presets"]
    if names and (against or presets):
        raise click.UsageError("saved runs are judged without --against and --preset: cephtui check --help")
    if against and presets:
        raise click.UsageError("--against takes its presets from BEFORE: leave out --preset")
    if against or presets or given["resume"]:
        from cephtui.cli.commands.check_measured import measure_and_judge

        return measure_and_judge(question=question, as_json=as_json, **given)
    if mark is not None and len(names) != 1:
        raise click.UsageError("--mark belongs to the form: cephtui check SESSION")
    try:
        if len(names) == 2:
            if are_sessions(*names):
                return _check_sessions(names[0], names[1], question, as_json)
            return _check_two(names[0], names[1], question, as_json)
        if len(names) > 2:
            raise click.UsageError("expected SESSION, or BEFORE and AFTER, both as SESSION/RUN or both as SESSION")
        return _check_session(find_session(names[0] if names else "last"), mark, question, as_json)
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def _check_session(directory: Path, mark: int | None, question: Question, as_json: bool) -> int:
    """The runs before a mark against those after it; of a guided check its own sides. Raises StoreError."""
    runs, _ = store.read_runs(directory)
    marks = store.read_marks(directory)
    sitting = store.read_sitting(directory)
    looks = ONE_LOOK
    if sitting is not None and mark is None:
        changes, looks = changes_of(sitting, runs), looks_of(sitting)
    else:
        changes = _around(directory, runs, marks, mark)
    if not all(change.before and change.after for change in changes):
        raise click.UsageError(f"session {directory.name} has runs on one side only: cephtui show {directory.name}")
    return finish(changes, asked_of(question, directory.name, looks), marks, directory, as_json)


def _around(directory: Path, runs: Sequence[Run], marks: Sequence[Mark], number: int | None) -> list[Change]:
    """By default around the last mark that has runs on both sides which are alike; raises UsageError."""
    name = directory.name
    two = f"name two runs: cephtui check {name}/1 {name}/2"
    if not marks:
        raise click.UsageError(f"session {name} has no mark: {two}, or mark the next change in the console with m")
    if number is not None and number > len(marks):
        raise click.UsageError(f"--mark {number}: session {name} has {len(marks)} marks")
    for each in (number,) if number else range(len(marks), 0, -1):
        if changes := around(runs, marks, each):
            if each != (number or len(marks)):
                say(f"no runs on both sides of the last mark are alike: judged is mark {each}")
            return changes
    raise click.UsageError(
        f"no runs of session {name} before and after {'that' if number else 'a'} mark are alike in preset, options, "
        f"target and nodes: {two}"
    )


def _check_sessions(before: str, after: str, question: Question, as_json: bool) -> int:
    """All runs of one session against those of another; raises StoreError."""
    found = find_versus(before, after)
    directory = find_session(after)
    judged = with_earlier(judged_versus(found, asked_of(question, directory.name)), directory)
    print_versus(found, judged, "json" if as_json else "table", answer=True)
    keep(judged, directory)
    return judged.conclusion.exit_code


def _check_two(before: str, after: str, question: Question, as_json: bool) -> int:
    """Two named runs, each with its repeats; raises StoreError."""
    left, right = (repeats_of(*find_run(name)) for name in (before, after))
    if right[0] in left:  # repeats of each other: both sides would be the same runs
        left, right = left[:1], right[:1]
    for each in unlike(Side(left), Side(right)):
        say(f"not the same load: {each.name} {each.left} before, {each.right} after")
    directory = find_run(after)[0]
    marks = [mark for path in {find_run(before)[0], directory} for mark in store.read_marks(path)]
    others = tuple(run for path in {find_run(before)[0], directory} for run in store.read_runs(path)[0])
    asked = replace(asked_of(question, directory.name), others=others)
    return finish([Change(left, right)], asked, marks, directory, as_json)
