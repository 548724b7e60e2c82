"""``cephtui check``: whether a change did what is required of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.cli.emit import OUTPUT_OPTIONS, Output, emit
from cephtui.cli.expecting import check_saved
from cephtui.cli.judging import asked_of, keep
from cephtui.cli.options import JUDGING, CheckQuestion, Measuring
from cephtui.cli.saved import find_session, find_two_runs
from cephtui.cli.versus import are_sessions, find_versus, judged_versus
from cephtui.cli.where import given_options, refuse_options, refuse_other_options
from cephtui.reports.blocks import View
from cephtui.reports.views.judgement import judgement_view
from cephtui.reports.views.versus import versus_view
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_of_runs, change_of_session
from cephtui.sessions.store import StoreError
from cephtui.sessions.verdicts import judge_saved, with_earlier
from cephtui.terminal import say

_MEASURING = ("--preset", "--against", "--continue")
_OF_CONTINUED = (
    *(name for name in JUDGING if name != "--without"),
    "--preset",
    "--against",
    "--set",
    "--data-pool",
    "--runs",
    "--most",
    "--session",
)


def check_change(
    names: tuple[str, ...],
    mark: int | None,
    expect: tuple[str, ...],
    question: CheckQuestion,
    options: Measuring,
    **check_options: Any,
) -> int:
    """Judge saved runs, or measure first; the exit code."""
    _check_form(names, mark, expect)
    if check_options["against"] or check_options["presets"] or check_options["resume"]:
        from cephtui.cli.commands.check_measured import CheckOptions, measure_and_judge

        return measure_and_judge(
            CheckOptions(question=question, study=names[0] if names else None, **check_options), options
        )
    try:
        if expect:
            return check_saved(names[0] if names else "last", expect, options.output)
        if len(names) == 2:
            if are_sessions(*names):
                return _check_sessions(names[0], names[1], question, options.output)
            return _judge(change_of_runs(*find_two_runs(*names)), question, options.output)
        if len(names) > 2:
            raise click.UsageError("expected SESSION, or BEFORE and AFTER, both as SESSION/RUN or both as SESSION")
        return _judge(change_of_session(find_session(names[0] if names else "last"), mark), question, options.output)
    except NoChange as error:
        raise click.UsageError(str(error)) from None
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def _check_form(names: tuple[str, ...], mark: int | None, expect: tuple[str, ...]) -> None:
    """Raises UsageError for options that do not go together: none is ignored."""
    options = given_options()
    form = next((option for option in _MEASURING if option in options), None)
    if form and len(names) > (form == "--continue"):  # which study of the session
        raise click.UsageError(f"{form} is only for a check that measures, not for saved runs: cephtui check --help")
    if expect:
        refuse_other_options(("--expect", *OUTPUT_OPTIONS), "can't be used with --expect, which judges saved runs")
        if len(names) > 1:
            raise click.UsageError("--expect takes one SESSION or SESSION/RUN")
    elif "--continue" in options:
        refuse_options(_OF_CONTINUED, "is for a new check: a continued check keeps its options")
    elif "--against" in options:
        if "--preset" in options:
            raise click.UsageError("--against takes its presets from BEFORE: leave out --preset")
        refuse_options(("--set",), "can't be used with --against, which measures with the options of BEFORE")
    elif "--preset" not in options:
        saved = ("--mark", *JUDGING, *OUTPUT_OPTIONS)
        refuse_other_options(saved, f"is only for a check that measures: add {' or '.join(_MEASURING)}")
    if mark is not None and len(names) != 1:
        raise click.UsageError("--mark needs one session: cephtui check SESSION --mark N")
    if {"--runs", "--most"} <= {*options}:
        raise click.UsageError("--runs sets the number of runs: leave out --most")


def _judge(change: SavedChange, question: CheckQuestion, output: Output) -> int:
    for note in change.notes:
        say(note)
    named = asked_of(question, change.directory.name, change.looks)
    of_change = replace(named, session_runs=change.session_runs, not_chosen=change.not_chosen)
    judgement = judge_saved(change.changes, of_change, change.marks, change.directory, datetime.now(UTC))
    return _finish(judgement_view(judgement), judgement, change.directory, output)


def _check_sessions(before: str, after: str, question: CheckQuestion, output: Output) -> int:
    """Judge all runs of one session against those of another; raises StoreError."""
    versus = find_versus(before, after)
    directory = find_session(after)
    judgement = with_earlier(judged_versus(versus, asked_of(question, directory.name)), directory)
    return _finish(versus_view(versus, judgement, has_answer=True), judgement, directory, output)


def _finish(view: View, judgement: Judgement, directory: Path, output: Output) -> int:
    """Print a judgement, and keep it in the session; the exit code."""
    emit(view, output)
    keep(judgement, directory)
    return judgement.conclusion.exit_code
