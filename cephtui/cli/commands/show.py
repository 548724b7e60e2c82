"""``cephtui show``: a saved session, or a run of it. What each of the two needs is imported with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cephtui.cli.emit import Output, emit
from cephtui.cli.kept_pages import emit_kept, files_in
from cephtui.cli.saved import find_run, find_session
from cephtui.reports.blocks import View, together
from cephtui.sessions import store

if TYPE_CHECKING:
    from cephtui.models import Run


def show_saved(name: str, table: bool, curve: bool, metric: str | None, output: Output) -> None:
    """The runs and marks of a session, or one run in full; as a ``table``, the matrix of a session.

    With ``curve`` it is what was varied between the runs. A broken run is named, after the others are shown.
    """
    if table and (curve or "/" in name):
        raise click.UsageError("--table is of a whole session: leave out " + ("--curve" if curve else "the run"))
    if metric and not (table or curve):
        raise click.UsageError("--metric needs --table or --curve: without them all figures are shown")
    if metric and curve and output.form in ("csv", "json"):
        raise click.UsageError(f"--metric: the points of a curve have every figure in {output.form}: leave it out")
    try:
        if table:
            _emit(*_matrix(find_session(name), metric), output)
        elif curve:
            emit(_curves(name, metric), output)
        elif "/" in name:
            emit(_run(*find_run(name)), output)
        else:
            _show_session(find_session(name), output)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _emit(view: View, broken: Sequence[store.StoreError], output: Output) -> None:
    """Emit a view of all runs that can be read; raises ClickException for one that can't."""
    emit(view, output)
    if broken:
        raise click.ClickException(str(broken[0]))


def _show_session(directory: Path, output: Output) -> None:
    def whole() -> View:
        view, broken = _session(directory)
        if broken:
            _emit(view, broken, output)
        return view

    if store.is_locked(directory):
        _emit(*_session(directory), output)
    else:
        emit_kept("show", output, files_in(directory), whole)


def _session(directory: Path) -> tuple[View, Sequence[store.StoreError]]:
    from cephtui.analysis.runs.links import links_of
    from cephtui.reports.views.links import links_view
    from cephtui.reports.views.runs import session_view
    from cephtui.sessions.studies import batches_until_stable

    runs, broken = store.read_runs(directory)
    links = links_of(runs)
    network = [links_view(links, directory.name)] if links else []
    view = session_view(runs, store.read_marks(directory), until_stable=batches_until_stable(directory))
    return together(view, *network, *_expected(directory, runs, is_whole=True)), broken


def _matrix(directory: Path, metric: str | None) -> tuple[View, Sequence[store.StoreError]]:
    from cephtui.cli.judging import headline_of
    from cephtui.reports.views.matrix import matrix_view
    from cephtui.sessions.matrix import MatrixReader

    reader = MatrixReader(directory, headline_of(metric))
    matrix, live = reader.read(), store.is_locked(directory)
    view = matrix_view(matrix, reader.runs, directory.name, live=live)
    return together(view, *_expected(directory, reader.runs, is_whole=True)), reader.broken


def _run(directory: Path, number: int) -> View:
    from cephtui.reports.views.run import saved_run_view
    from cephtui.sessions.saved_changes import run_with_repeats

    view = saved_run_view(directory, number)
    return together(view, *_expected(directory, run_with_repeats(directory, number), is_whole=False))


def _expected(directory: Path, runs: Sequence[Run], *, is_whole: bool) -> list[View]:
    """Expected figures of saved runs with what became of them; none where nothing was expected.

    Only of a whole session volumes have a table: of a run it would lack the others.
    """
    from cephtui.reports.views.expected import expected_view
    from cephtui.sessions.expected import judge_expected
    from cephtui.sessions.studies import ordered_in, read_studies

    expected = judge_expected(directory, runs, datetime.now(UTC))
    if not expected:
        return []
    return [expected_view(expected, *((runs, ordered_in(read_studies(directory))) if is_whole else ((), None)))]


def _curves(name: str, metric: str | None) -> View:
    """The curves of a session, or the one that a run is on; raises UsageError where there is none."""
    from cephtui.cli.judging import headline_of
    from cephtui.reports.views.curve import curve_of_run, curves_of, curves_view

    directory, number = find_run(name) if "/" in name else (find_session(name), None)
    runs, marks = store.read_runs(directory)[0], store.read_marks(directory)
    chosen = store.read_run(directory, number) if number is not None else None
    candidates = [curve_of_run(chosen, runs, marks)] if chosen else curves_of(runs, marks)
    curves = [curve for curve in candidates if curve]
    if not curves:
        alike = "its runs have the same options, target and nodes"
        is_imported = any(run.imported_from for run in runs)
        why = "its imported runs don't differ in exactly one option or heading" if is_imported else alike
        raise click.UsageError(f"no curve in {name}: {why}")
    return curves_view(curves, headline_of(metric))
