"""Falls and rises of a run that are repeated, by its seconds as they come, in bounded space."""

from __future__ import annotations

from statistics import fmean, pstdev

from cephtui.analysis.detectors.shifts import floored_logs
from cephtui.analysis.statistics.rhythm import rhythm_of
from cephtui.frozen import dataclass

JOINED_SECONDS = 4
"""Of a slow rhythm so many seconds are joined: their noise is less, and a window is longer."""
_WINDOW = 60
"""Values that are judged together: a rhythm need not be exact for longer than that."""
_LEAST_REST = 20
"""Fewer values behind the last window are not judged."""
_FALL = 0.75
"""It falls to at most so much: the compactions of a store at work are less."""
_LEAST_SPREAD = 0.1
"""The standard deviation of logarithms that such a fall makes, if it takes a seventh of the time or more."""
_OF_WINDOWS = 0.5
"""More than this share of the windows has it."""


@dataclass(frozen=True, slots=True)
class Saw:
    """A repeated fall and rise."""

    begun: float
    over: float
    """The time of the windows that have it, in elapsed seconds."""
    period_seconds: float
    high: float
    low: float


class Rhythms:
    """The seconds of a run, by themselves or so many joined to their mean."""

    def __init__(self, joined_seconds: int = 1) -> None:
        self._joined_seconds = joined_seconds
        self._seconds: list[float] = []
        """Those of the value that is not full."""
        self._ends: list[float] = []
        self._values: list[float] = []
        """Of the window that is not full."""
        self._windows, self._having = 0, 0
        """Windows that were full, and how many of them had a rhythm."""
        self._saw: Saw | None = None
        """That of full windows."""

    def add(self, end: float, value: float) -> None:
        """Take in a second, by its end in elapsed seconds."""
        self._seconds.append(value)
        if len(self._seconds) < self._joined_seconds:
            return
        self._ends.append(end)
        self._values.append(fmean(self._seconds))
        self._seconds = []
        if len(self._values) == _WINDOW:
            self._windows += 1
            if saw := self._newest():
                self._having += 1
                self._saw = _joined(self._saw, saw, self._having)
            self._ends, self._values = [], []

    def saw(self) -> Saw | None:
        """The rhythm that most of the windows have."""
        is_judged = len(self._values) >= _LEAST_REST or not self._windows
        newest = self._newest() if is_judged else None
        having = self._having + (newest is not None)
        if having <= _OF_WINDOWS * (self._windows + is_judged):
            return None
        return _joined(self._saw, newest, having) if newest else self._saw

    def _newest(self) -> Saw | None:
        logs = floored_logs(self._values) if any(self._values) else [0.0]
        rhythm = rhythm_of(logs) if pstdev(logs) >= _LEAST_SPREAD else None
        if rhythm is None:
            return None
        low = [self._values[at] for at in rhythm.low]
        high = [value for at, value in enumerate(self._values) if at not in rhythm.low]
        begun, period = self._ends[0] - self._joined_seconds, rhythm.period * self._joined_seconds
        saw = Saw(begun, self._ends[-1], period, fmean(high), fmean(low))
        return saw if saw.low <= _FALL * saw.high else None


def _joined(saw: Saw | None, newer: Saw, number: int) -> Saw:
    """Both as one, ``newer`` as the last of so many: the mean of all."""
    if saw is None:
        return newer
    period, high, low = (
        old + (new - old) / number
        for old, new in (
            (saw.period_seconds, newer.period_seconds),
            (saw.high, newer.high),
            (saw.low, newer.low),
        )
    )
    return Saw(saw.begun, newer.over, period, high, low)
