"""``cephtui show``: a saved session, or a run of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cephtui.analysis.marks import in_order
from cephtui.cli.printing import ascii_only, print_lines, print_report
from cephtui.cli.saved import find_run, find_session
from cephtui.models import Mark, Run
from cephtui.reports.csv_text import runs_csv
from cephtui.reports.markdown import runs_markdown
from cephtui.reports.runs import draw_run, draw_session
from cephtui.sessions import store


def show_saved(name: str, form: str) -> None:
    """Print the runs and marks of a session, or one run in full."""
    try:
        if "/" in name:
            _show_run(*find_run(name), form)
        else:
            _show_session(find_session(name), form)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _show_session(directory: Path, form: str) -> None:
    """Raises StoreError for a broken run, with the others shown."""
    runs, broken = store.read_runs(directory)
    marks = store.read_marks(directory)
    if form == "json":
        print_lines(in_order(runs, marks))
    elif form == "table":
        print_report(draw_session(runs, marks, ascii_only=ascii_only()))
    else:
        _write(runs, marks, form)
    if broken:
        raise broken[0]


def _show_run(directory: Path, number: int, form: str) -> None:
    value = store.read_run(directory, number)
    marks = [mark for mark in store.read_marks(directory) if mark.run == number]
    if form == "json":
        print_lines(store.read_samples(directory, number))
        print_lines(store.read_cluster(directory, number))
        print_lines([*marks, value])
    elif form == "table":
        print_report(draw_run(value, store.read_history(directory, number), marks, ascii_only=ascii_only()))
    else:
        _write([value], marks, form)


def _write(runs: list[Run], marks: list[Mark], form: str) -> None:
    sys.stdout.write(runs_markdown(runs, marks) if form == "md" else runs_csv(runs, marks))
