"""``cephtui run``: presets or a suite, by any kind of study, or what is left of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import click

from cephtui.cli.expecting import check_expected
from cephtui.cli.options import Measuring
from cephtui.cli.where import given_options
from cephtui.cli.work import NamedSteps, Work, measure, new_work, resumed
from cephtui.models.study import RUNS
from cephtui.ordering import plan_of
from cephtui.presets import PresetError
from cephtui.reports.studies.base import resume_command
from cephtui.running.runner import Runner
from cephtui.studies import KINDS, StudyKind
from cephtui.studies.base import Study
from cephtui.tools.base import OptionError

_STUDY = re.compile(r"s[0-9]+")
_OF_NEW = ("--target", "--data-pool", "--set", "--repeat", "--order", "--expect", "--session")
"""What says which runs there are: nothing of it goes with --resume."""


def run_presets(ordered: NamedSteps, chosen: Mapping[str, object], resume: str | None, options: Measuring) -> int:
    """Run presets, a suite, or what a session has left of them; or only show it. The exit code."""
    row = _chosen_kind(chosen)
    _check_resume(ordered, chosen, resume)

    def work(runner: Runner, stack: ExitStack) -> Work:
        if resume is None:
            return _new_study(ordered, row, chosen, options, stack)
        assert runner.directory
        left = resumed(runner.directory, ordered.names[0] if ordered.names else None, options, stack)
        if left.study.next(left.runs):
            _check_resumable(left.study, runner.directory.name)
        return left

    return measure(work, options, resume)


def _new_study(
    ordered: NamedSteps, row: StudyKind, chosen: Mapping[str, object], options: Measuring, stack: ExitStack
) -> Work:
    """What is asked for, with none of its runs; raises UsageError and OptionError."""
    check_expected(ordered.expect)
    values = {option.field: chosen[option.name] for option in row.options if option.field and option.name in chosen}
    try:
        study, notes = new_work(ordered, options, stack, row.kind, values)
        if ordered.order and max(request.repeats for request in study.requests) < 2:
            raise click.UsageError(f"--order {ordered.order} needs --repeat 2 or more")
        for draft in study.drafts():
            plan_of(draft)
    except (OptionError, PresetError):
        raise
    except ValueError as error:
        raise click.UsageError(f"{row.option}: {error}") from None
    return Work(study, notes=tuple(notes))


def _chosen_kind(chosen: Mapping[str, object]) -> StudyKind:
    """The kind whose option is given; raises UsageError for options that do not go together."""
    rows = [row for row in KINDS.values() if row.option in chosen]
    row = rows[-1] if rows else KINDS[RUNS]
    of_kind = {option.name for option in row.options}
    for name in chosen:
        if name not in of_kind and not any(name == other.option for other in rows):
            owner = next(other for other in KINDS.values() if name in {option.name for option in other.options})
            raise click.UsageError(f"{name} needs {owner.option}")
    typed_options = given_options()
    excluded = next(
        (name for name in (*row.excludes, *(other.option for other in rows[:-1])) if name in typed_options), None
    )
    if excluded:
        raise click.UsageError(f"{row.option} decides {row.decides}: leave out {excluded}")
    return row


def _check_resume(ordered: NamedSteps, chosen: Mapping[str, object], resume: str | None) -> None:
    """Raises UsageError for what does not go together."""
    if resume is None and not ordered.names:
        raise click.UsageError("PRESET is missing: cephtui presets lists presets and suites")
    if resume is None:
        return
    typed_options = given_options()
    if wrong := next((name for name in (*_OF_NEW, *chosen) if name in typed_options), None):
        raise click.UsageError(f"--resume keeps the options of the study: leave out {wrong}")
    if more := [name for name in ordered.names if not _STUDY.fullmatch(name)] or ordered.names[1:]:
        raise click.UsageError(f"--resume continues one study, such as s2: leave out {more[0]}")


def _check_resumable(study: Study[Any], session: str) -> None:
    """Raises UsageError for a check whose change a command makes: sessions name none."""
    if study.needs_commands:
        command = resume_command(study.kind, session, study.saved.id)
        raise click.UsageError(f"{study.saved.id} is a check that needs its change command: {command} --change ...")
