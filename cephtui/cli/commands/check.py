"""``cephtui check``: whether a change did what is required of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from cephtui.cli.emit import Output, emit
from cephtui.cli.expecting import check_saved
from cephtui.cli.judging import asked_of, finish, keep
from cephtui.cli.options import JUDGING, Measuring, Question, given_options, refuse_options, refuse_other_options
from cephtui.cli.saved import find_session, find_two_runs
from cephtui.cli.versus import are_sessions, find_versus, judged_versus
from cephtui.reports.views.versus import versus_view
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_of_runs, change_of_session
from cephtui.sessions.store import StoreError
from cephtui.sessions.verdicts import with_earlier
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
    question: Question,
    options: Measuring,
    **given: Any,
) -> int:
    """Judge saved runs, or measure first; the exit code."""
    _check_form(names, mark, expect)
    as_json = options.as_json
    if given["against"] or given["presets"] or given["resume"]:
        from cephtui.cli.commands.check_measured import Asked, measure_and_judge

        return measure_and_judge(Asked(question=question, study=names[0] if names else None, **given), options)
    try:
        if expect:
            return check_saved(names[0] if names else "last", expect, as_json)
        if len(names) == 2:
            if are_sessions(*names):
                return _check_sessions(names[0], names[1], question, as_json)
            return _judge(change_of_runs(*find_two_runs(*names)), question, as_json)
        if len(names) > 2:
            raise click.UsageError("expected SESSION, or BEFORE and AFTER, both as SESSION/RUN or both as SESSION")
        return _judge(change_of_session(find_session(names[0] if names else "last"), mark), question, as_json)
    except NoChange as error:
        raise click.UsageError(str(error)) from None
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def _check_form(names: tuple[str, ...], mark: int | None, expect: tuple[str, ...]) -> None:
    """Raises UsageError for options that do not go together: none is ignored."""
    options = given_options()
    form = next((option for option in _MEASURING if option in options), None)
    if form and len(names) > (form == "--continue"):  # which study of the session
        raise click.UsageError(f"saved runs are judged without {form}: cephtui check --help")
    if expect:
        refuse_other_options(
            ("--expect", "--json"), "is not for --expect, which asks whether saved runs reach a figure"
        )
        if len(names) > 1:
            raise click.UsageError("--expect is of SESSION or SESSION/RUN: name one")
    elif "--continue" in options:
        refuse_options(_OF_CONTINUED, "is for a new check: one that is continued has what it began with")
    elif "--against" in options:
        if "--preset" in options:
            raise click.UsageError("--against takes its presets from BEFORE: leave out --preset")
        refuse_options(("--set",), "is not for --against, which measures with the options of BEFORE")
    elif "--preset" not in options:
        saved = ("--mark", *JUDGING, "--json")
        refuse_other_options(saved, f"belongs to a check that measures, with {', '.join(_MEASURING)}")
    if mark is not None and len(names) != 1:
        raise click.UsageError("--mark belongs to the form: cephtui check SESSION")
    if {"--runs", "--most"} <= {*options}:
        raise click.UsageError("--runs measures that many and looks once: leave out --most")


def _judge(found: SavedChange, question: Question, as_json: bool) -> int:
    for note in found.notes:
        say(note)
    asked = asked_of(question, found.directory.name, found.looks)
    asked = replace(asked, session_runs=found.session_runs, not_chosen=found.not_chosen)
    return finish(found.changes, asked, found.marks, found.directory, as_json)


def _check_sessions(before: str, after: str, question: Question, as_json: bool) -> int:
    """All runs of one session against those of another; raises StoreError."""
    found = find_versus(before, after)
    directory = find_session(after)
    judged = with_earlier(judged_versus(found, asked_of(question, directory.name)), directory)
    emit(versus_view(found, judged, has_answer=True), Output("json" if as_json else "table"))
    keep(judged, directory)
    return judged.conclusion.exit_code
