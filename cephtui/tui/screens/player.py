"""A recording that is played: its position, its speed, and what stands on its time line."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cephtui.models import Event, Run
from cephtui.models.findings.measurement import STALLED
from cephtui.sessions import store
from cephtui.sessions.playback import Playback, lasted_seconds, prefilled_seconds
from cephtui.sessions.store import StoreError
from cephtui.tui.widgets.time_bar import TimeLine

SPEEDS = (1.0, 2.0, 4.0, 8.0, 12.0, 20.0)


class Player:
    """A recording, or a part of one, with a position; ``drain`` gives the events before it. Raises StoreError."""

    def __init__(
        self,
        directory: Path,
        number: int,
        speed: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        *,
        begin_seconds: float = 0.0,
        end_seconds: float | None = None,
    ) -> None:
        """Play a run from ``begin_seconds`` of its recording, the prefill included, to ``end_seconds`` or its end."""
        self._directory, self._number, self._clock = directory, number, clock
        self._playback: Playback | None = Playback(directory, number)
        self.run: Run = self._playback.run
        """The run that is played."""
        self._lasts = lasted_seconds(directory, self.run, self._playback.step)
        self.begin, self.seconds = begin_seconds, min(self._lasts, end_seconds or self._lasts)
        """Where it begins and ends, in seconds of the recording."""
        self.speed, self.paused = speed, False
        self._unreadable = False
        """Whether it stands where something could not be read, until it is resumed or moved."""
        self.position = begin_seconds
        self._drained_at = clock()
        self._stalls, self._marks = self._ticks(prefilled_seconds(directory, self.run))

    def _ticks(self, begun: float) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
        """The stalls and the marks of the run, which began so many seconds after the recording."""
        stalls = [
            (begun + finding.from_seconds, begun + (finding.to_seconds or finding.from_seconds))
            for finding in self.run.findings
            if finding.code == STALLED.code and finding.from_seconds is not None
        ]
        marks = [
            begun + mark.elapsed_seconds
            for mark in store.read_marks(self._directory)
            if mark.run == self._number and mark.elapsed_seconds is not None
        ]
        return tuple(stalls), tuple(marks)

    @property
    def over(self) -> bool:
        """Whether its end was reached."""
        if self.seconds < self._lasts:
            return self.position >= self.seconds
        return self._playback is not None and self._playback.over

    @property
    def state(self) -> Literal["playing", "paused", "finished"]:
        """What it does."""
        return "finished" if self.over else "paused" if self.paused else "playing"

    @property
    def line(self) -> TimeLine:
        """Where it is."""
        return TimeLine(
            f"{self.state} {self.speed:g}x", self.begin, self.position, self.seconds, self._stalls, self._marks
        )

    def drain(self) -> list[Event]:
        """What has happened since the last call, from the first event on where it was moved back; pauses where
        something can't be read.
        """
        now = self._clock()
        if not self.paused and not self.over:
            self.position = min(self.seconds, self.position + (now - self._drained_at) * self.speed)
        self._drained_at = now
        if self._unreadable:
            return []
        try:
            self._playback = self._playback or Playback(self._directory, self._number)
            return self._playback.until(self.position if self.position < self._lasts else float("inf"))
        except StoreError:
            self.paused = self._unreadable = True
            raise

    def pause(self) -> None:
        """Pause, or resume; at the end, begin again."""
        if self.over:
            self.seek(self.begin)
            self.paused = False
        else:
            self.paused, self._unreadable = not self.paused, False

    def seek(self, seconds: float) -> None:
        """Go to a position, within what is played."""
        seconds = max(self.begin, min(self.seconds, seconds))
        if seconds < self.position:
            self._playback = None
        self.position, self._unreadable = seconds, False

    def change_speed(self, by: int) -> None:
        """Play faster, or slower (-1), where there is such a speed."""
        speeds = [speed for speed in SPEEDS if (speed > self.speed if by > 0 else speed < self.speed)]
        if speeds:
            self.speed = min(speeds) if by > 0 else max(speeds)
