"""What is expected of runs for the command line: as it is typed, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui.analysis.verdicts.expectation import answer_to, parse_expectation
from cephtui.cli.emit import Output, emit
from cephtui.cli.saved import find_run, find_session
from cephtui.exit_codes import ANSWER_CODES
from cephtui.models import Promise, Run
from cephtui.models.expectation import Expected
from cephtui.models.study import Ordered
from cephtui.reports.views.expected import expected_view
from cephtui.sessions import store
from cephtui.sessions.expected import judge_promises, keep_expected, promises_of
from cephtui.sessions.saved_changes import run_with_repeats
from cephtui.terminal import say


def check_expected(texts: Sequence[str]) -> tuple[str, ...]:
    """What --expect names; raises UsageError for what is none."""
    try:
        for text in texts:
            parse_expectation(text)
    except ValueError as error:
        raise click.UsageError(f"--expect: {error}") from None
    return tuple(texts)


def check_saved(name: str, texts: Sequence[str], as_json: bool) -> int:
    """Print and keep whether the runs of a session, or a run with its repeats, reach these figures; the exit code.

    Raises StoreError, and UsageError.
    """
    expect = check_expected(texts)
    if "/" in name:
        directory, number = find_run(name)
        runs: Sequence[Run] = run_with_repeats(directory, number)
    else:
        directory = find_session(name)
        runs = store.read_runs(directory)[0]
    if not runs:
        raise click.UsageError(f"session {directory.name} has no runs")
    known = promises_of(directory, runs)
    steps = {run.batch: known[run.batch].step if run.batch in known else run.preset for run in runs}
    promises = {batch: Promise(step=step, expect=expect) for batch, step in steps.items()}
    return _conclude(directory, runs, promises, None, as_json)


def _conclude(
    directory: Path, runs: Sequence[Run], promises: Mapping[str, Promise], ordered: Ordered | None, as_json: bool
) -> int:
    found = judge_promises(directory, runs, promises, datetime.now(UTC))
    if not found:
        return 0
    print_expected(found, runs, ordered, as_json=as_json)
    try:
        keep_expected(found, directory)
    except OSError as error:
        say(f"what became of it was not kept in session {directory.name}: {error.strerror}")
    return ANSWER_CODES[answer_to(found)]


def print_expected(found: Sequence[Expected], runs: Sequence[Run], ordered: Ordered | None, *, as_json: bool) -> None:
    """A line for each, of volumes a table; ``ordered`` has those that were not measured."""
    emit(expected_view(found, runs, ordered), Output("json" if as_json else "table"))
