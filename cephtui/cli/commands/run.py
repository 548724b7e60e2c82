"""``cephtui run``: presets or a suite, by any kind of study, or what is left of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack

import click

from cephtui import paths
from cephtui.cli.choice import check_session_name, known_secrets
from cephtui.cli.errors import Refused
from cephtui.cli.expecting import check_expected
from cephtui.cli.measuring import carry_out
from cephtui.cli.options import Measuring, given_options
from cephtui.cli.work import Asked, Resumed, check_all, new_work, resumed, show_plans, surveyed
from cephtui.models.study import RUNS
from cephtui.ordering import plan_of
from cephtui.presets import PresetError
from cephtui.reports.studies.base import resume_command
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.studies import KINDS, StudyKind
from cephtui.terminal import say
from cephtui.tools.base import OptionError

_STUDY = re.compile(r"s[0-9]+")
_OF_NEW = ("--target", "--data-pool", "--set", "--repeat", "--order", "--expect", "--session")
"""What says which runs there are: nothing of it goes with --resume."""


def run_presets(asked: Asked, chosen: Mapping[str, object], resume: str | None, options: Measuring) -> int:
    """Run presets, a suite, or what a session has left of them; or only show it. The exit code."""
    row = _chosen_kind(chosen)
    _check_resume(asked, chosen, resume)
    check_session_name(options.session)
    with ExitStack() as stack:
        try:
            if resume is None:
                work = _new_study(asked, row, chosen, options, stack)
            else:
                work = resumed(resume, asked.names[0] if asked.names else None, options, stack)
            return measure(work, options, stack)
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def measure(work: Resumed, options: Measuring, stack: ExitStack) -> int:
    """Carry out what is left of a study, or only show it; the exit code. Raises NotRun and StoreError."""
    if work.study.next(work.runs) is None:
        say(f"session {work.session}: nothing is left to run, all {len(work.runs)} runs are there")
        return 0
    _check_resumable(work)
    for note in work.notes:
        say(note)
    runner = stack.enter_context(
        Runner(
            paths.sessions_dir(),
            work.session or None,
            stall_seconds=options.stall_timeout,
            vault=known_secrets(options.where),
        )
    )
    study = surveyed(runner, work.study, work.runs, options)
    if options.dry_run:
        return show_plans(runner, study, work.runs, as_json=options.as_json)
    if len(study.requests) > 1:
        check_all(runner, study.pending(work.runs))
    return carry_out(runner, study, work.runs, as_json=options.as_json)


def _new_study(
    asked: Asked, row: StudyKind, chosen: Mapping[str, object], options: Measuring, stack: ExitStack
) -> Resumed:
    """What is asked for, with none of its runs; raises UsageError and OptionError."""
    check_expected(asked.expect)
    values = {option.field: chosen[option.name] for option in row.options if option.field and option.name in chosen}
    try:
        study, notes = new_work(asked, options, stack, row.kind, values)
        if asked.order and max(request.repeats for request in study.requests) < 2:
            raise click.UsageError(
                f"--order {asked.order}: give --repeat 2 or more: without repeats nothing takes turns"
            )
        for draft in study.drafts():
            plan_of(draft)
    except (OptionError, PresetError):
        raise
    except ValueError as error:
        raise click.UsageError(f"{row.option}: {error}") from None
    return Resumed(options.session or "", study, (), tuple(notes))


def _chosen_kind(chosen: Mapping[str, object]) -> StudyKind:
    """The kind whose option is given; raises UsageError for options that do not go together."""
    rows = [row for row in KINDS.values() if row.option in chosen]
    row = rows[-1] if rows else KINDS[RUNS]
    own = {option.name for option in row.options}
    for name in chosen:
        if name not in own and not any(name == other.option for other in rows):
            owner = next(other for other in KINDS.values() if name in {option.name for option in other.options})
            raise click.UsageError(f"{name} belongs to {owner.option}")
    given = given_options()
    excluded = next((name for name in (*row.excludes, *(other.option for other in rows[:-1])) if name in given), None)
    if excluded:
        raise click.UsageError(f"{row.option} decides {row.decides}: leave out {excluded}")
    return row


def _check_resume(asked: Asked, chosen: Mapping[str, object], resume: str | None) -> None:
    """Raises UsageError for what does not go together."""
    if resume is None and not asked.names:
        raise click.UsageError("Missing argument 'PRESET...'.")
    if resume is None:
        return
    given = given_options()
    if wrong := next((name for name in (*_OF_NEW, *chosen) if name in given), None):
        raise click.UsageError(f"--resume continues what was ordered: leave out {wrong}")
    if others := [name for name in asked.names if not _STUDY.fullmatch(name)] or asked.names[1:]:
        raise click.UsageError(f"--resume continues one study, such as s2: leave out {others[0]}")


def _check_resumable(work: Resumed) -> None:
    """Raises UsageError for a check whose change a command makes: sessions name none."""
    study = work.study
    if study.needs_commands:
        command = resume_command(study.kind, work.session, study.saved.id)
        raise click.UsageError(f"{study.saved.id} is a check whose change a command makes: {command} --change ...")
