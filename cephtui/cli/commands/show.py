"""``cephtui show``: a saved session, or a run of it."""

from __future__ import annotations

from pathlib import Path

import click

from cephtui.analysis.marks import in_order
from cephtui.cli.printing import print_lines
from cephtui.cli.saved import find_run, find_session
from cephtui.reports.runs import draw_run, draw_runs
from cephtui.sessions import store
from cephtui.terminal import make_console


def show_saved(name: str, as_json: bool) -> None:
    """Print the runs and marks of a session, or one run in full."""
    try:
        if name.partition("/")[2]:
            _show_run(*find_run(name), as_json)
        else:
            _show_session(find_session(name), as_json)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _show_session(directory: Path, as_json: bool) -> None:
    """Raises StoreError for a broken run, with the others shown."""
    runs, broken = store.read_runs(directory)
    marks = store.read_marks(directory)
    if as_json:
        print_lines(in_order(runs, marks))
    else:
        make_console().print(draw_runs(runs, marks))
    if broken:
        raise broken[0]


def _show_run(directory: Path, number: int, as_json: bool) -> None:
    value = store.read_run(directory, number)
    marks = [mark for mark in store.read_marks(directory) if mark.run == number]
    if as_json:
        print_lines(store.read_samples(directory, number))
        print_lines(store.read_cluster(directory, number))
        print_lines([*marks, value])
    else:
        make_console().print(draw_run(value, store.read_history(directory, number), marks))
