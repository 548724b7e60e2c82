"""The matrix of a session as it is on disk, now and again while it fills."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cephtui.analysis.detectors.slowest import osd_latency
from cephtui.analysis.views.matrix import Matrix, matrix_of
from cephtui.models import ClusterSample, Run
from cephtui.models.metrics import Metric
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.sessions.studies import ordered_in, read_studies


class MatrixReader:
    """Reads a session; what has ended is read once."""

    def __init__(self, directory: Path, headline: Callable[[Run], Metric]) -> None:
        self._directory, self._headline = directory, headline
        self._ended: dict[int, Run] = {}
        self._osds: dict[int, dict[str, float]] = {}
        self.runs: Sequence[Run] = ()
        """All that could be read."""
        self.broken: Sequence[StoreError] = ()
        """The errors of the runs that can't be read."""

    def read(self) -> Matrix:
        """The matrix now; raises StoreError."""
        self.runs, self.broken = store.read_runs(self._directory, self._ended)
        for run in self.runs:
            if run.run not in self._ended and run.outcome not in (None, "lost"):
                self._ended[run.run] = run
                self._osds[run.run] = osd_latency(store.read_states(self._directory, run.run, ClusterSample), run)
        return matrix_of(
            self.runs,
            self._headline,
            ordered_in(read_studies(self._directory)),
            self._osds,
        )
