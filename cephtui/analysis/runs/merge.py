"""Readings of several nodes become one sample for each second of all of them.

A second closes when every live node has reported, or two seconds after the first has: what is missing then is
named, never counted as zero, and what comes late is part of a later second, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import Phase, Sample
from cephtui.tools.base import Reading
from cephtui.tools.lines import join_readings

LATE_SECONDS = 2.0
_ORDER: tuple[Phase, ...] = ("prepare", "ramp", "run")


@dataclass(frozen=True, slots=True)
class Merged:
    """One interval of all nodes."""

    reading: Reading
    missing: tuple[str, ...] = ()
    """Live nodes that are not in it."""


class Merger:
    """Pure: takes readings with the time of their arrival, gives merged ones; one object per run and phase."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._live = list(nodes)
        self._pending: dict[str, list[Reading]] = {}
        self._since: float | None = None
        self._missed: set[str] = set()
        """Nodes that were waited for in vain: not again, until they have spoken."""

    def add(self, node: str, readings: list[Reading], now: float) -> list[Merged]:
        """Seconds that are complete with a node's new samples; ``now`` is any monotonic clock."""
        for reading in readings:
            self._missed.discard(node)
            self._pending.setdefault(node, []).append(reading)
            self._since = now if self._since is None else self._since
        return self._close(now)

    def end(self, node: str, now: float) -> list[Merged]:
        """A node will have no more samples: seconds that are complete without it."""
        if node in self._live:
            self._live.remove(node)
        return self._close(now)

    def tick(self, now: float) -> list[Merged]:
        """Seconds that close because the time for them is over."""
        return self._close(now)

    def _close(self, now: float) -> list[Merged]:
        closed = []
        while self._pending and (self._complete() or self._late(now)):
            closed.append(self._take())
            self._since = now if self._pending else None
        return closed

    def _complete(self) -> bool:
        return all(node in self._pending for node in self._live if node not in self._missed)

    def _late(self, now: float) -> bool:
        return self._since is not None and now - self._since >= LATE_SECONDS

    def _take(self) -> Merged:
        """The earliest second that waits; a node that is ahead, or through the ramp, waits for the others."""
        phase = min((r.phase for rs in self._pending.values() for r in rs), key=_ORDER.index)
        firsts = [next((r for r in rs if r.phase == phase), None) for rs in self._pending.values()]
        until = max(first.elapsed_seconds for first in firsts if first)
        closing, waiting = dict[str, list[Reading]](), dict[str, list[Reading]]()
        for node, readings in self._pending.items():
            for reading in readings:
                is_of_it = reading.phase == phase and reading.elapsed_seconds - reading.interval_seconds / 2 <= until
                (closing if is_of_it else waiting).setdefault(node, []).append(reading)
        missing = tuple(node for node in self._live if not closing.get(node))
        self._missed |= {node for node in self._live if node not in self._pending}
        self._pending = waiting
        parts = [reduce(join_readings, readings) for readings in closing.values()]
        return Merged(_sum(phase, parts), missing)


def _sum(phase: Phase, parts: list[Reading]) -> Reading:
    if len(parts) == 1:
        return parts[0]
    return Reading(
        phase,
        max(p.elapsed_seconds for p in parts),
        max(p.interval_seconds for p in parts),
        stats.add_intervals([p.read for p in parts if p.read]),
        stats.add_intervals([p.write for p in parts if p.write]),
        {
            name: added
            for name, flows in stats.group_by_name(p.other for p in parts).items()
            if (added := stats.add_intervals(flows))
        },
    )


def as_sample(
    run: int, preset: str, node: str | None, reading: Reading, missing: tuple[str, ...] = (), *, preparing: bool
) -> Sample:
    """A reading of a node, or (None) of all, as a sample of its run."""
    return Sample(
        run=run,
        node=node,
        preset=preset,
        phase="prepare" if preparing else reading.phase,
        elapsed_seconds=reading.elapsed_seconds,
        interval_seconds=reading.interval_seconds,
        read=reading.read,
        write=reading.write,
        missing=missing,
        other=reading.other,
        jobs=reading.jobs if node is not None else (),
    )
