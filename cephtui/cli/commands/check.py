"""``cephtui check``: whether a change did what is required of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from cephtui.cli.judging import asked_of, finish, keep
from cephtui.cli.options import Question
from cephtui.cli.saved import find_run, find_session
from cephtui.cli.versus import are_sessions, find_versus, judged_versus, print_versus
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_between, change_of_session
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
        from cephtui.cli.commands.check_measured import Asked, measure_and_judge

        return measure_and_judge(Asked(question=question, as_json=as_json, **given))
    if mark is not None and len(names) != 1:
        raise click.UsageError("--mark belongs to the form: cephtui check SESSION")
    try:
        if len(names) == 2:
            if are_sessions(*names):
                return _check_sessions(names[0], names[1], question, as_json)
            return _judge(change_between(find_run(names[0]), find_run(names[1])), question, as_json)
        if len(names) > 2:
            raise click.UsageError("expected SESSION, or BEFORE and AFTER, both as SESSION/RUN or both as SESSION")
        return _judge(change_of_session(find_session(names[0] if names else "last"), mark), question, as_json)
    except NoChange as error:
        raise click.UsageError(str(error)) from None
    except StoreError as error:
        raise click.ClickException(str(error)) from None


def _judge(found: SavedChange, question: Question, as_json: bool) -> int:
    for note in found.notes:
        say(note)
    asked = asked_of(question, found.directory.name, found.looks)
    asked = replace(asked, others=found.others, beside=found.beside)
    return finish(found.changes, asked, found.marks, found.directory, as_json)


def _check_sessions(before: str, after: str, question: Question, as_json: bool) -> int:
    """All runs of one session against those of another; raises StoreError."""
    found = find_versus(before, after)
    directory = find_session(after)
    judged = with_earlier(judged_versus(found, asked_of(question, directory.name)), directory)
    print_versus(found, judged, "json" if as_json else "table", answer=True)
    keep(judged, directory)
    return judged.conclusion.exit_code
