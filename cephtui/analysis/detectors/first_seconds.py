"""Whether the first seconds of a run that has no ramp are like the rest of it. Pure."""

from __future__ import annotations

import math

from cephtui.analysis.detectors.settling import WHOLE_SECOND, rate_of
from cephtui.models import Finding, Sample
from cephtui.models.findings.measurement import NO_RAMP
from cephtui.models.metrics import BY_NAME, HeadlineName

_SECONDS = 5
"""As many are the beginning, and one of the batches that it is compared with."""
_BATCHES_LEAST = 5
LEAST_SECONDS = _SECONDS * (1 + _BATCHES_LEAST)
"""A shorter run does not tell whether its first seconds differ from the rest."""
_ERRORS, _OF_FEW = 3.3, 6.0
"""So many standard errors, of few batches more: near the quantile of t for 1 of 1,000. Noise that depends on the second
before it is found in at most 1 of 150 runs (simulated)."""
_LARGE = 0.2
"""The share of the rest's mean from which on it is said."""


class FirstSeconds:
    """Takes in the seconds of a run, of all nodes merged, as they come, in bounded space."""

    def __init__(self, headline: HeadlineName = "iops") -> None:
        """``headline`` is that of the preset."""
        self._metric = BY_NAME["bandwidth_bytes" if headline == "bandwidth" else "iops"]
        self._has_ramp = False
        self._batch: list[float] = []
        self._first: float | None = None
        """The mean of the first seconds."""
        self._count, self._mean, self._squares = 0, 0.0, 0.0
        """Of the means of the batches behind: number, mean, and sum of the squared deviations (West 1979)."""

    def add(self, sample: Sample) -> None:
        """Take in a sample; a part of a second is left out."""
        self._has_ramp |= sample.phase == "ramp"
        if self._has_ramp or sample.interval_seconds < WHOLE_SECOND:
            return
        self._metric, rate = rate_of(sample, self._metric)
        self._batch.append(rate)
        if len(self._batch) < _SECONDS:
            return
        mean = sum(self._batch) / _SECONDS
        self._batch.clear()
        if self._first is None:
            self._first = mean
            return
        away = mean - self._mean
        self._count += 1
        self._mean += away / self._count
        self._squares += away * (mean - self._mean)

    def finding(self) -> Finding | None:
        """The note on a run whose first seconds differ from the rest; None where they do not, or too few are known."""
        if self._first is None or self._count < _BATCHES_LEAST:
            return None
        df = self._count - 1
        error = math.sqrt(self._squares / df * (1 + 1 / self._count))
        away = abs(self._first - self._mean)
        if away <= max(_LARGE * self._mean, _ERRORS * (1 + _OF_FEW / df) * error):
            return None
        seconds = float(_SECONDS)
        return NO_RAMP.found(
            (0.0, seconds), figure=self._metric.title, first_seconds=seconds, first=self._first, rest=self._mean
        )
