"""``cephtui show``: a saved session, or a run of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Group
from rich.text import Text

from cephtui.analysis.links import links_of
from cephtui.cli.emit import Output, emit
from cephtui.cli.expecting import print_saved
from cephtui.cli.judging import headline_of
from cephtui.cli.links import print_links
from cephtui.cli.printing import ascii_only, print_lines, print_report
from cephtui.cli.saved import find_run, find_session
from cephtui.models import Run
from cephtui.models.metrics import Metric
from cephtui.reports.curve import curve_markdown, curve_of_run, curves_of, draw_curve, runs_of
from cephtui.reports.curve_rows import curves_csv, rows_of_curve
from cephtui.reports.links import links_markdown
from cephtui.reports.markdown import matrix_markdown
from cephtui.reports.matrix import draw_matrix
from cephtui.reports.matrix_cells import matrix_cells, matrix_csv
from cephtui.reports.views.runs import session_view
from cephtui.reports.views.saved import saved_run_view
from cephtui.sessions import store
from cephtui.sessions.matrix import MatrixReader
from cephtui.sessions.saved_changes import repeats_of


def show_saved(name: str, form: str, table: bool, curve: bool, metric: str | None = None) -> None:
    """Print the runs and marks of a session, or one run in full; as a ``table``, the matrix of a session.

    With ``curve`` it is what was varied between the runs.
    """
    if table and (curve or "/" in name):
        raise click.UsageError("--table is of a whole session: leave out " + ("--curve" if curve else "the run"))
    if metric and not (table or curve):
        raise click.UsageError("--metric belongs to --table and --curve: all figures are shown")
    if metric and curve and form in ("csv", "json"):
        raise click.UsageError(f"--metric: the points of a curve have every figure in {form}: leave it out")
    try:
        if table:
            _show_matrix(find_session(name), form, headline_of(metric))
        elif curve:
            _show_curves(name, form, headline_of(metric))
        elif "/" in name:
            _show_run(*find_run(name), form)
        else:
            _show_session(find_session(name), form)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _show_session(directory: Path, form: str) -> None:
    """Raises StoreError for a broken run, with the others shown."""
    runs, broken = store.read_runs(directory)
    marks = store.read_marks(directory)
    emit(session_view(runs, marks), Output(form))
    if form == "md":
        sys.stdout.write(links_markdown(links_of(runs)))
    if form in ("json", "table"):
        print_links(runs, directory.name, as_json=form == "json")
    print_saved(directory, runs, form)
    if broken:
        raise broken[0]


def _show_matrix(directory: Path, form: str, headline: Callable[[Run], Metric]) -> None:
    """Raises StoreError for a broken run, with the others shown."""
    reader = MatrixReader(directory, headline)
    matrix, live = reader.read(), store.is_locked(directory)
    if form == "json":
        print_lines(matrix_cells(matrix, directory.name))
    elif form == "csv":
        sys.stdout.write(matrix_csv(matrix, directory.name))
    elif form == "md":
        sys.stdout.write(matrix_markdown(matrix, reader.runs, live=live))
    else:
        print_report(draw_matrix(matrix, reader.runs, live=live, ascii_only=ascii_only()))
    print_saved(directory, reader.runs, form)
    if reader.broken:
        raise reader.broken[0]


def _show_run(directory: Path, number: int, form: str) -> None:
    emit(saved_run_view(directory, number), Output(form))
    print_saved(directory, repeats_of(directory, number), form, whole=False)


def _show_curves(name: str, form: str, metric: Callable[[Run], Metric]) -> None:
    """All that a session has, or the one that a run is on."""
    directory, number = find_run(name) if "/" in name else (find_session(name), None)
    runs, marks = store.read_runs(directory)[0], store.read_marks(directory)
    chosen = store.read_run(directory, number) if number is not None else None
    found = [curve_of_run(chosen, runs, marks)] if chosen else curves_of(runs, marks)
    curves = [curve for curve in found if curve]
    if not curves:
        alike = "its runs have the same options, target and nodes"
        is_imported = any(run.imported_from for run in runs)
        why = "no option and no heading by itself sets its imported runs apart" if is_imported else alike
        raise click.UsageError(f"no curve in {name}: {why}")
    if form == "json":
        print_lines(row for curve in curves for row in rows_of_curve(curve))
    elif form == "table":
        drawn = [draw_curve(curve, metric(runs_of(curve)[0]), ascii_only=ascii_only()) for curve in curves]
        print_report(Group(*[part for each in drawn for part in (Text(), each)][1:]))
    elif form == "md":
        sys.stdout.write("\n".join(curve_markdown(curve, metric(runs_of(curve)[0])) for curve in curves))
    else:
        sys.stdout.write(curves_csv(curves))
