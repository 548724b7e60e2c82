"""``cephtui compare``: two saved runs, or two whole sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui.analysis.runs.batches import group
from cephtui.analysis.runs.sides import Side, side_of, without_shared_runs
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, judge_sides
from cephtui.analysis.verdicts.noted import with_noted
from cephtui.cli.emit import Output, emit
from cephtui.cli.judging import headline_of
from cephtui.cli.saved import find_session, find_two_runs
from cephtui.cli.versus import are_sessions, find_versus, judged_versus
from cephtui.reports.blocks import View
from cephtui.reports.views.comparison import comparison_view
from cephtui.reports.views.versus import versus_view
from cephtui.sessions import store


def compare_runs(left: str | None, right: str | None, metric: str | None, output: Output) -> None:
    """How two runs and their conditions differ; without names, the last two that are no repeats of each other."""
    if left is not None and right is None:
        raise click.UsageError("expected two runs or two sessions, or none for the last two runs of the last session")
    try:
        if left and right and are_sessions(left, right):
            versus = find_versus(left, right)
            view = versus_view(versus, judged_versus(versus, ConclusionTerms(headline_of(metric))))
        else:
            view = _view_of_runs(left, right, metric)
        emit(view, output)
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None


def _view_of_runs(left: str | None, right: str | None, metric: str | None) -> View:
    """Raises StoreError and UsageError."""
    places = find_two_runs(left, right) if left and right else _last_two(find_session("last"))
    sides = without_shared_runs(_side(*places[0]), _side(*places[1]))
    judgement = judge_sides(*sides, headline_of(metric), datetime.now(UTC))
    return comparison_view(*sides, judgement and with_noted(judgement, [sides]))


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
