"""What parsers of lines have in common: the lines come cut anywhere, and a short rest joins the interval before it."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

from cephtui.stats import join_intervals
from cephtui.tools.base import Parser, Reading, Stream
from cephtui.tools.stderr import Errors

SHORTEST_INTERVAL = 0.5
"""Seconds; the rate of a shorter interval is mostly noise, so that it joins the one before it."""
HELD_SECONDS = 1.5
"""An interval so near to its end may be the last one that is no rest."""


class LineParser(Parser):
    """Reads one stream by lines; what comes on the other is kept as ``errors``."""

    stream: ClassVar[Stream] = "stdout"
    """The one with the figures."""
    line_end: ClassVar[re.Pattern[bytes]] = re.compile(rb"\n")
    line_most: ClassVar[int] = 4096
    """Bytes; of a line without an end the last ones are kept."""

    def __init__(self) -> None:
        self._rest = b""
        self.errors = Errors()

    @abstractmethod
    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        """Readings completed by a line, which comes without its end."""

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream != self.stream:
            self.errors.add(data)
            return []
        *lines, rest = self.line_end.split(self._rest + data)
        self._rest = rest[-self.line_most :]
        return [reading for line in lines for reading in self.take(line.decode("utf-8", "replace"), elapsed_seconds)]

    def take_rest(self, elapsed_seconds: float) -> list[Reading]:
        """The readings of a last line that has no end."""
        rest, self._rest = self._rest, b""
        return self.take(rest.decode("utf-8", "replace"), elapsed_seconds) if rest else []


def join_readings(first: Reading, second: Reading) -> Reading:
    """One reading of two that follow each other."""
    seconds = first.interval_seconds + second.interval_seconds
    return replace(
        second,
        interval_seconds=seconds,
        read=join_intervals(first.read, second.read, seconds),
        write=join_intervals(first.write, second.write, seconds),
        other={
            name: joined
            for name in {**first.other, **second.other}
            if (joined := join_intervals(first.other.get(name), second.other.get(name), seconds))
        },
        jobs=(*first.jobs, *second.jobs),
    )


class Intervals:
    """Hands readings on in their order, and holds one back that may be followed by a short rest."""

    def __init__(self) -> None:
        self.held: Reading | None = None

    def add(self, reading: Reading, *, hold: bool) -> list[Reading]:
        """The readings that can be handed on; a short reading joins the one that was held."""
        if self.held and reading.interval_seconds < SHORTEST_INTERVAL:
            ready, reading = [], join_readings(self.held, reading)
        else:
            ready = self.release()
        self.held = reading if hold else None
        return ready if hold else [*ready, reading]

    def release(self) -> list[Reading]:
        """The reading that was held."""
        held, self.held = self.held, None
        return [held] if held else []
