"""What is expected of runs for the command line: as it is typed, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from cephtui.analysis.verdicts.expectation import answer_to, parse_expectation
from cephtui.cli.emit import Output, emit
from cephtui.cli.saved import find_run, find_session
from cephtui.exit_codes import ANSWER_CODES
from cephtui.models import Promise, Run
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


def check_saved(name: str, texts: Sequence[str], output: Output) -> int:
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
    earlier = promises_of(directory, runs)
    steps = {run.batch: earlier[run.batch].step if run.batch in earlier else run.preset for run in runs}
    promises = {batch: Promise(step=step, expect=expect) for batch, step in steps.items()}
    expected = judge_promises(directory, runs, promises, datetime.now(UTC))
    if not expected:
        return 0
    emit(expected_view(expected, runs, None), output)
    try:
        keep_expected(expected, directory)
    except OSError as error:
        say(f"the result was not saved in session {directory.name}: {error.strerror}")
    return ANSWER_CODES[answer_to(expected)]
