"""``cephtui compare``: two saved runs."""

from __future__ import annotations

import click

from cephtui.analysis.conditions import differences
from cephtui.analysis.figures import figures
from cephtui.analysis.marks import marks_between
from cephtui.analysis.sides import Side, side_of
from cephtui.cli.printing import print_lines
from cephtui.cli.saved import find_run
from cephtui.reports.comparison import draw_comparison
from cephtui.sessions import store
from cephtui.terminal import make_console


def compare_runs(left: str, right: str, as_json: bool) -> None:
    """Print how two runs and their conditions differ."""
    try:
        sides = _side(left), _side(right)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        marks = [mark for _, mark in marks_between(*sides)]
        print_lines([*differences(*sides), *marks, *figures(*sides)])
    else:
        make_console().print(draw_comparison(*sides))


def _side(name: str) -> Side:
    """A run with its repeats; raises UsageError, and StoreError for a run that can't be read."""
    directory, number = find_run(name)
    return side_of(store.read_run(directory, number), store.read_runs(directory)[0], store.read_marks(directory))
