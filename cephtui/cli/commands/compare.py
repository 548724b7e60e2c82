"""``cephtui compare``: two saved runs, or two whole sessions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui.analysis.batches import group
from cephtui.analysis.conclusion import Asked, judge_sides
from cephtui.analysis.conditions import differences
from cephtui.analysis.figures import figures
from cephtui.analysis.marks import marks_between
from cephtui.analysis.noted import with_noted
from cephtui.analysis.sides import Side, apart, side_of
from cephtui.cli.judging import headline_of
from cephtui.cli.printing import ascii_only, print_lines, print_report
from cephtui.cli.saved import find_session, find_two_runs
from cephtui.cli.versus import are_sessions, find_versus, judged_versus, print_versus
from cephtui.reports.comparison import draw_comparison
from cephtui.reports.markdown import comparison_markdown
from cephtui.reports.versus import verdicts_csv
from cephtui.sessions import store


def compare_runs(left: str | None, right: str | None, form: str, metric: str | None) -> None:
    """Print how two runs and their conditions differ; without names, the last two that are no repeats of each other."""
    if left is not None and right is None:
        raise click.UsageError("expected two runs or two sessions, or none for the last two runs of the last session")
    if left and right and are_sessions(left, right):
        _compare_sessions(left, right, form, metric)
        return
    try:
        places = find_two_runs(left, right) if left and right else _last_two(find_session("last"))
        sides = apart(_side(*places[0]), _side(*places[1]))
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    judged = judge_sides(*sides, headline_of(metric), datetime.now(UTC))
    judged = judged and with_noted(judged, [sides])
    if form == "json":
        marks = [mark for _, mark in marks_between(*sides)]
        verdicts = [*judged.verdicts, judged.conclusion] if judged else []
        print_lines([*verdicts, *differences(*sides), *marks, *figures(*sides)])
    elif form == "csv":
        sys.stdout.write(verdicts_csv(judged.verdicts if judged else (), {}))
    elif form == "md":
        sys.stdout.write(comparison_markdown(*sides, judged))
    else:
        print_report(draw_comparison(*sides, judged, ascii_only=ascii_only()))


def _compare_sessions(left: str, right: str, form: str, metric: str | None) -> None:
    """Print how the runs of two sessions differ."""
    try:
        found = find_versus(left, right)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    print_versus(found, judged_versus(found, Asked(headline_of(metric))), form)


def _side(directory: Path, number: int) -> Side:
    """A run with its repeats; raises StoreError for a run that can't be read."""
    return side_of(store.read_run(directory, number), store.read_runs(directory)[0], store.read_marks(directory))


def _last_two(directory: Path) -> Sequence[tuple[Path, int]]:
    """The newest run of each of the last two points that were measured; raises UsageError."""
    measured = [run for run in store.read_runs(directory)[0] if run.summary.flows]
    newest = sorted(point.repeats[-1].run for batch in group(measured) for point in batch.points)
    if len(newest) < 2:
        raise click.UsageError(f"session {directory.name} has nothing to compare: name two runs as SESSION/RUN")
    return [(directory, number) for number in newest[-2:]]
