"""Judging for the command line: what is asked, the answer printed and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from cephtui.analysis.runs.batches import full_names
from cephtui.analysis.statistics.looks import CONFIDENCES, ONE_LOOK, LookSchedule
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, metric_named
from cephtui.analysis.verdicts.verdict import Criteria
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.options import CheckQuestion
from cephtui.models import Run
from cephtui.models.metrics import Metric
from cephtui.presets import headline_metric
from cephtui.sessions.verdicts import keep_verdicts
from cephtui.terminal import say


def headline_of(metric: str | None) -> Callable[[Run], Metric]:
    """The figure that is shown of a run: the one that is named, else what its preset is about."""
    if metric is None:
        return partial(headline_metric, find_catalogue())
    chosen = metric_named(metric)
    return lambda run: chosen


def asked_of(question: CheckQuestion, session: str, looks: LookSchedule = ONE_LOOK) -> ConclusionTerms:
    """The question for runs of a session, which may be left out by their numbers alone; raises UsageError."""
    if looks.most is not None and question.confidence / 100 not in CONFIDENCES:
        confidences = ", ".join(f"{100 * confidence:.0f}" for confidence in CONFIDENCES)
        raise click.UsageError(f"--confidence {question.confidence:g}: with several looks expected {confidences}")
    return ConclusionTerms(
        headline_of(None),
        Criteria(question.require_percent, question.same_percent, question.confidence / 100, looks),
        tuple(metric_named(name) for name in question.metrics),
        question.directions,
        frozenset(full_names(left_out_names(question.without), session)),
    )


def left_out_names(texts: Sequence[str]) -> tuple[str, ...]:
    """The runs that --without names, perhaps by their numbers alone."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def keep(judgement: Judgement, directory: Path) -> None:
    """Keep a judgement in the session of the runs after the change; where it can't be written, say so."""
    try:
        keep_verdicts(judgement, directory)
    except OSError as error:
        say(f"the verdict was not saved in session {directory.name}: {error.strerror}")
