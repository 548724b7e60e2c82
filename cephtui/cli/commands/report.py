"""``cephtui report``: a document of a saved session, or of two runs, for a ticket."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui.cli.emit import TO_STDOUT, Output, check_output, emit, form_for, hand_out
from cephtui.cli.errors import Refused
from cephtui.cli.judging import asked_of, keep
from cephtui.cli.options import JUDGING, CheckQuestion
from cephtui.cli.saved import find_run, find_session, find_two_runs
from cephtui.cli.versus import are_sessions, find_versus
from cephtui.cli.where import refuse_options
from cephtui.reports.render import FORMATS
from cephtui.reports.render.gfm import markdown_of
from cephtui.reports.render.svg import svgs_of
from cephtui.reports.views.report.content import document_of, report_view
from cephtui.reports.views.report.material import Material, as_asked, of_change, of_study, of_versus, with_stand_ins
from cephtui.reports.writing import ExportError, check_free, default_name, write
from cephtui.sessions import store
from cephtui.sessions.saved_changes import NoChange, SavedChange, change_of_runs, change_of_session, run_with_repeats
from cephtui.sessions.verdicts import is_kept
from cephtui.terminal import say


def make_report(
    names: tuple[str, ...],
    form: str | None,
    file: Path | None,
    force: bool,
    anonymous: bool,
    title: str,
    seconds: bool,
    assets: Path | None,
    mark: int | None,
    question: CheckQuestion,
) -> None:
    """Write it, or print it."""
    form = form_for(form, file, "md")
    _check_options(form, file, force, seconds, assets)
    try:
        material = _material(names, mark, question, title)
        if anonymous:
            material = with_stand_ins(material)
        if file is None and not FORMATS[form].is_printed:
            file = Path(default_name(material.sessions[-1], form))
        output = Output(form, None if file == TO_STDOUT else file, force)
        if assets:
            _emit_with_charts(material, output, assets)
        else:
            emit(report_view(material, seconds=seconds), output)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    except ExportError as error:
        raise Refused(str(error)) from None


def _check_options(form: str, file: Path | None, force: bool, seconds: bool, assets: Path | None) -> None:
    """Raises UsageError for options that do not go together: none is ignored."""
    if assets and form != "md":
        raise click.UsageError("--assets needs --format md: other formats have the charts in the file")
    if seconds and form not in ("csv", "xlsx"):
        raise click.UsageError("--seconds needs --format csv or xlsx")
    if form == "csv":
        refuse_options(
            ("--title", *JUDGING),
            "is not for csv, which has all figures of the runs, and neither a title nor a verdict",
        )
    if force and not assets and file in (None, TO_STDOUT) and FORMATS[form].is_printed:
        raise click.UsageError("--force needs -o FILE: no file is written")
    if file == TO_STDOUT:
        check_output(Output(form))


def _material(names: tuple[str, ...], mark: int | None, question: CheckQuestion, title: str) -> Material:
    """The material of a report, judged where it can be; raises StoreError."""
    now = datetime.now(UTC)
    if mark is not None and (len(names) > 1 or "/" in "".join(names)):
        raise click.UsageError("--mark needs one session: cephtui report SESSION --mark N")
    if len(names) > 2:
        raise click.UsageError("expected SESSION, SESSION/RUN, or BEFORE and AFTER, both as SESSION/RUN or as SESSION")
    if len(names) == 2 and are_sessions(*names):
        versus, directory = find_versus(*names), find_session(names[1])
        return _kept(of_versus(versus, directory, asked_of(question, directory.name), now, title), directory)
    if len(names) == 2:
        return _judged(change_of_runs(*find_two_runs(*names)), question, now, title)
    name = names[0] if names else "last"
    if "/" in name:
        directory, number = find_run(name)
        _check_study(question, "a run alone is not before or after a change")
        runs = run_with_repeats(directory, number)
        return of_study(directory, runs, asked_of(question, directory.name), now, title, is_whole=False)
    directory = find_session(name)
    try:
        return _judged(change_of_session(directory, mark), question, now, title)
    except NoChange as error:
        if mark is not None:
            raise click.UsageError(str(error)) from None
        _check_study(question, str(error))
        say(f"this report has no verdict, there is no before and after to compare: {error}")
        return _study(directory, question, now, title)


def _check_study(question: CheckQuestion, why: str) -> None:
    """Raises UsageError for what only a verdict takes account of."""
    refuse_options({*JUDGING}.difference({"--metric"}), f"needs a verdict: {why}")
    if len(question.metrics) > 1:
        raise click.UsageError(f"--metric: give one metric for a report without a verdict: {why}")


def _study(directory: Path, question: CheckQuestion, now: datetime, title: str) -> Material:
    """The runs of a session, without a verdict; raises StoreError."""
    runs, broken = store.read_runs(directory)
    for problem in broken:
        say(str(problem))
    return of_study(directory, runs, asked_of(question, directory.name), now, title)


def _judged(saved: SavedChange, question: CheckQuestion, now: datetime, title: str) -> Material:
    """A change with its verdict, which is kept in the session where it is a new one; raises StoreError."""
    named = asked_of(question, saved.directory.name, saved.looks)
    of_saved = replace(named, session_runs=saved.session_runs, not_chosen=saved.not_chosen)
    asked_before = as_asked(named, saved) if question == CheckQuestion() else of_saved
    return _kept(of_change(saved, asked_before, now, title), saved.directory)


def _kept(material: Material, directory: Path) -> Material:
    if material.judgement and not is_kept(material.judgement, directory):
        keep(material.judgement, directory)
    return material


def _emit_with_charts(material: Material, output: Output, folder: Path) -> None:
    """Markdown with its charts beside it; raises ExportError, before anything is written where a file exists."""
    check_output(output)
    content = document_of(material)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"can't make {folder}: {error.strerror}") from None
    charts = svgs_of(content)
    for name in charts:
        check_free(folder / name, force=output.force)
    for name, svg in charts.items():
        write(folder / name, svg, force=output.force)
    assets = os.path.relpath(folder, output.file.parent if output.file else ".")
    hand_out(markdown_of(content, assets), output)
