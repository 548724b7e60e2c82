"""Views of what is saved, read when it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cephtui.analysis.detectors.ceiling import ceilings
from cephtui.models import Model, Sample
from cephtui.reports.blocks import View
from cephtui.reports.views.run import RunDetails, run_view
from cephtui.sessions import store
from cephtui.sessions.cluster_links import kept_links
from cephtui.sessions.histograms import read_histograms


def saved_run_view(directory: Path, number: int) -> View:
    """One run in full, as it is saved now, with its ceilings; as JSON Lines with its samples. Raises StoreError."""
    run = store.read_run(directory, number)
    marks = [mark for mark in store.read_marks(directory) if mark.run == number]

    def details() -> RunDetails:
        return RunDetails(
            marks,
            ceilings(run, store.read_runs(directory)[0], kept_links(directory.parent, run)),
            store.read_history(directory, number),
            read_histograms(directory, run),
        )

    def samples() -> Iterator[Model | Sample]:
        yield from store.read_samples(directory, number)
        yield from store.read_cluster(directory, number)
        yield from marks

    return run_view(run, marks, details, samples)
