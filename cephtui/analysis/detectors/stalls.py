"""When no I/O completed on a node, found in its samples as they come, in bounded space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cephtui.frozen import dataclass
from cephtui.models import Sample
from cephtui.stats import completed

STALL_SECONDS = 2.0
"""A gap of this length without a completion is a stall, if the node's mean rate would have given several."""
ROUNDING_SECONDS = 0.1
EDGE_SECONDS = 5.0
"""The gap that is a stall before a tool's first figures and after its last, where it also starts and ends."""
_SEVERAL_IOS = 8
_LONG_SECONDS = 2.5
"""An interval of this length holds a stall, or its tool was only late: its completions decide."""
_ALIKE_SECONDS = 3.0
"""Stalls of several nodes that begin and end within this time are one."""
_MOSTLY = 0.5
"""The part of a time that a stall takes where it is told by it."""


@dataclass(frozen=True, slots=True)
class Stall:
    """When no I/O completed on some nodes, in elapsed seconds."""

    begun: float
    over: float
    nodes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        return self.over - self.begun


@dataclass(frozen=True, slots=True)
class _Gap:
    """A time without completions between two samples of a node, each with its begin, end and completions."""

    before: tuple[float, float, int]
    after: tuple[float, float, int]
    least_seconds: float = STALL_SECONDS


class Completions:
    """The completions of one node."""

    def __init__(self) -> None:
        self.reached = 0.0
        """End of the newest sample."""
        self.ended: float | None = None
        """End of the benchmark, once it has ended."""
        self._ios, self._seconds = 0, 0.0
        """I/Os and seconds of the samples with completions, without those that hold a stall."""
        self._last = (0.0, 0.0, 0)
        """The newest sample with completions."""
        self._gaps: list[_Gap] = []

    def add(self, sample: Sample) -> None:
        end, ios = sample.elapsed_seconds, completed(sample.flows.values())
        begun = max(0.0, end - sample.interval_seconds)
        self.reached = end
        if not ios:
            return
        span, is_long = (begun, end, ios), sample.interval_seconds >= _LONG_SECONDS
        if is_long or begun - self._last[1] >= 1.0 - ROUNDING_SECONDS:
            self._gaps.append(_Gap(self._last, span, STALL_SECONDS if self._last[2] else EDGE_SECONDS))
        if not is_long:
            self._ios, self._seconds = self._ios + ios, self._seconds + sample.interval_seconds
        self._last = span

    def stalls(self, until: float) -> Iterator[tuple[float, float]]:
        """Begin and end of each span in which nothing completed, in elapsed seconds."""
        rate = self._ios / self._seconds if self._seconds else 0.0
        for gap in [*self._gaps, *self._open(until)]:
            (first, latest, before), (earliest, last, after) = gap.before, gap.after
            begun = min(latest, first + before / rate) if rate else latest
            over = max(earliest, last - after / rate) if rate else earliest
            few = rate and (over - begun) * rate < _SEVERAL_IOS
            if over - begun >= gap.least_seconds - ROUNDING_SECONDS and not few:
                yield begun, over

    def _open(self, until: float) -> list[_Gap]:
        """The gap that has not ended: the newest samples have no completions, or there are no samples."""
        end = until if until - self.reached >= EDGE_SECONDS else self.reached
        least = STALL_SECONDS if self._last[2] and self.reached > self._last[1] else EDGE_SECONDS
        return [_Gap(self._last, (end, end, 0), least)] if end > self._last[1] else []


def joined_stalls(stalls: Iterable[Stall]) -> list[Stall]:
    """The stalls, those that several nodes share joined to one."""
    distinct: list[Stall] = []
    for stall in sorted(stalls, key=lambda stall: stall.begun):
        shared = next((other for other in distinct[-16:] if _is_alike(other, stall)), None)
        if shared is None:
            distinct.append(stall)
            continue
        joined = Stall(shared.begun, max(shared.over, stall.over), (*shared.nodes, *stall.nodes))
        distinct[distinct.index(shared)] = joined
    return distinct


def is_told_by(stalls: Iterable[Stall], low: tuple[float, float] | None) -> bool:
    """Whether what is low in this time, or in some seconds that are not known, is told by stalls already."""
    if low is None:
        return any(True for _ in stalls)
    begun, over = low
    return any(min(stall.over, over) - max(stall.begun, begun) >= _MOSTLY * (over - begun) for stall in stalls)


def _is_alike(first: Stall, other: Stall) -> bool:
    close = abs(first.begun - other.begun) <= _ALIKE_SECONDS and abs(first.over - other.over) <= _ALIKE_SECONDS
    return close and not set(first.nodes) & set(other.nodes)
