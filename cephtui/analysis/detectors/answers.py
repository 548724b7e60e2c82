"""What the cluster's answers during a run show besides its state: that it was silent, and that PGs were split."""

from __future__ import annotations

from collections.abc import Iterator

from cephtui.models import ClusterSample, Finding
from cephtui.models.findings.client import CONSOLE
from cephtui.models.findings.cluster import CLUSTER_SILENT, PGS_SPLIT

_SILENT_SECONDS, _FIRST_ANSWER_SECONDS = 7.0, 20.0
"""The cluster is asked every two seconds, once the command that asks it is up."""
_MOST_STOOD = 3
"""More are left out."""
_Span = tuple[float, float]


class Answers:
    """When the cluster answered, and when it did not."""

    def __init__(self) -> None:
        self.last: float | None = None
        """When it answered last, after the release."""
        self.no_longer_asked = ""
        """Why it is not asked any more."""
        self._before = 0
        """How often it answered before the release."""
        self._silences: list[_Span] = []
        self._stood: list[_Span] = []

    def before(self) -> None:
        """Take in an answer from before the release."""
        self._before += 1

    def at(self, seconds: float) -> None:
        """Take in an answer."""
        if silence := self._open(seconds):
            self._silences.append(silence)
        self.last = seconds

    def console_stood(self, begun: float, over: float) -> None:
        """Take in that samples and answers of that time came late."""
        self._stood.append((begun, over))

    def silent(self, end: float) -> Iterator[Finding]:
        """When it did not answer, though the console could have heard it."""
        is_asked = self._before or self.last is not None
        still_open = self._open(end) if is_asked else None
        for begun, over in [*self._silences, *([still_open] if still_open else [])]:
            if not any(stood[0] < over and begun < stood[1] for stood in self._stood):
                why = self.no_longer_asked if over >= end else ""
                yield CLUSTER_SILENT.found((begun, over), to_the_end=over >= end or None, why=why or None)

    def stood(self) -> list[Finding]:
        """When the console could hear nothing."""
        return [CONSOLE.found(span) for span in self._stood[:_MOST_STOOD]]

    def _open(self, now: float) -> _Span | None:
        """The silence since the last answer."""
        most = _SILENT_SECONDS if self.last is not None or self._before > 1 else _FIRST_ANSWER_SECONDS
        begun = self.last or 0.0
        return (begun, now) if now - begun > most else None


class PgCount:
    """How many PGs there were."""

    def __init__(self) -> None:
        self._changes: list[tuple[float, int, int | None]] = []
        """When their number changed, that number, and the number of pools."""

    def add(self, sample: ClusterSample, before: ClusterSample | None) -> None:
        """Take in a state of the cluster, and that before the run."""
        if not (number := sum(sample.pg_states.values())):
            return
        if not self._changes and before and (number_before := sum(before.pg_states.values())):
            self._changes = [(0.0, number_before, before.pools)]
        if not self._changes or self._changes[-1][2] != sample.pools:
            # PGs of a new or removed pool are no split
            self._changes = [(sample.elapsed_seconds, number, sample.pools)]
        elif self._changes[-1][1] != number:
            self._changes.append((sample.elapsed_seconds, number, sample.pools))

    def split(self) -> list[Finding]:
        """That their number changed."""
        if len(self._changes) < 2:
            return []
        begun, over = self._changes[1][0], self._changes[-1][0]
        before, after = self._changes[0][1], self._changes[-1][1]
        return [PGS_SPLIT.found((begun, over), before=before, after=after)]
