"""What the OSDs of the pool counted in a run: of each as a whole and over time, and where they received no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from cephtui.analysis.detectors.slowest import OsdLatencies
from cephtui.analysis.runs.facts import load_of
from cephtui.models import Finding, OsdInterval, OsdResult, OsdSample, Step
from cephtui.models.findings.cluster import MESSAGE_CAP, OSD_COUNTERS
from cephtui.printable import listed

_ROUND_SECONDS = 1.0
"""How long a round takes in which no OSD answers."""
_SPANS_MOST = 500
_KINDS: Mapping[str, Callable[[OsdInterval], tuple[int, float]]] = {
    "reads": lambda osd: (osd.reads, osd.reads * osd.read_seconds),
    "writes": lambda osd: (osd.writes, osd.writes * osd.write_seconds),
    "subops": lambda osd: (osd.subops, osd.subops * osd.subop_seconds),
}
"""Operations of an OSD, and the sum of their latencies in seconds."""
_REFUSED_SHARE, _REFUSED_LEAST, _HELD_SECONDS = 0.05, 100, 3.0
"""Fewer refusals do not hold a run back, nor do those of a shorter time: the tail of a prefill, or of another run."""


@dataclass(slots=True)
class _Sums:
    """The sums of an OSD's intervals."""

    reads: int = 0
    read_seconds: float = 0.0
    writes: int = 0
    write_seconds: float = 0.0
    subops: int = 0
    subop_seconds: float = 0.0
    received: int = 0
    refused: int = 0

    def add(self, interval: OsdInterval) -> None:
        self.reads += interval.reads
        self.read_seconds += interval.reads * interval.read_seconds
        self.writes += interval.writes
        self.write_seconds += interval.writes * interval.write_seconds
        self.subops += interval.subops
        self.subop_seconds += interval.subops * interval.subop_seconds
        self.received += interval.received
        self.refused += interval.refused

    @property
    def operations(self) -> int:
        """Reads and writes."""
        return self.reads + self.writes

    def result(self, operations: int) -> OsdResult:
        """The OSD as a whole, among so many operations of all OSDs."""
        return OsdResult(
            share=self.operations / operations if operations else 0.0,
            reads=self.reads,
            read_seconds=self.read_seconds / self.reads if self.reads else None,
            writes=self.writes,
            write_seconds=self.write_seconds / self.writes if self.writes else None,
            subops=self.subops,
            subop_seconds=self.subop_seconds / self.subops if self.subops else None,
            received=self.received,
            refused=self.refused,
        )


class OsdsSoFar:
    """Takes in what the OSDs counted, from the release of the benchmark on."""

    def __init__(self, step: Step | None = None) -> None:
        """``step`` is what runs, for the I/Os that it has in flight; None where that is not known."""
        self._step = step
        self._by_osd: dict[str, _Sums] = {}
        """By the id of the OSD."""
        self._latencies = {name: OsdLatencies() for name in _KINDS}
        self.is_denied = False
        """Whether the cephx caps deny to ask OSDs for their counters."""
        self._cap: int | None = None
        self._held: list[tuple[float, float]] = []
        """When OSDs received no more because of their message cap."""
        self._silent: dict[str, list[tuple[float, float]]] = {}
        """When which OSD did not answer."""

    def add(self, sample: OsdSample) -> None:
        """Take in a sample."""
        if sample.phase != "run":
            return
        for osd, interval in sample.osds.items():
            self._by_osd.setdefault(osd, _Sums()).add(interval)
        for name, of in _KINDS.items():
            self._latencies[name].add({f"osd.{osd}": of(interval) for osd, interval in sample.osds.items()})
        self._cap = sample.message_cap or self._cap
        begun = max(0.0, sample.elapsed_seconds - (sample.interval_seconds or _ROUND_SECONDS))
        for osd in sample.missing:
            _extend(self._silent.setdefault(osd, []), begun, sample.elapsed_seconds)
        received = sum(osd.received for osd in sample.osds.values())
        refused = sum(osd.refused for osd in sample.osds.values())
        if _share(refused, received) >= _REFUSED_SHARE:
            _extend(self._held, begun, sample.elapsed_seconds)

    def results(self) -> dict[str, OsdResult]:
        """Each OSD over the whole run, by its id, in the order of the ids."""
        operations = sum(osd.operations for osd in self._by_osd.values())
        ids = sorted(self._by_osd, key=_by_number)
        return {osd: self._by_osd[osd].result(operations) for osd in ids}

    def findings(self) -> Iterator[Finding]:
        """What the counters show, and that they could not be read."""
        if self.is_denied:
            yield OSD_COUNTERS.found()
        if slow := self._latencies[self._most_telling()].finding():
            yield slow
        results = self.results().values()
        refused, received = sum(osd.refused for osd in results), sum(osd.received for osd in results)
        held_seconds = sum(over - begun for begun, over in self._held)
        is_held = refused >= _REFUSED_LEAST and held_seconds >= _HELD_SECONDS
        if is_held and _share(refused, received) >= _REFUSED_SHARE:
            yield MESSAGE_CAP.found(
                (self._held[0][0], self._held[-1][1]),
                share=_share(refused, received),
                cap=self._cap,
                osds=len(results),
                in_flight=_in_flight(self._step) if self._step else None,
            )

    def _most_telling(self) -> str:
        """What the OSDs are compared by: what they did most, and of writes with copies those as a replica.

        A write waits for the slowest of its copies: with one slow OSD all of them are slow as a primary.
        """
        done = {name: sum(getattr(sums, name) for sums in self._by_osd.values()) for name in _KINDS}
        if done["reads"] >= done["writes"]:
            return "reads"
        return "subops" if done["subops"] else "writes"

    def held_back(self, begun: float, over: float) -> str:
        """What held I/O back for most of a span, in words: OSDs that did not answer, or the message cap; or empty."""
        silent = [osd for osd, spans in self._silent.items() if _overlap(spans, begun, over) > (over - begun) / 2]
        if silent:
            return f"{listed([f'osd.{osd}' for osd in sorted(silent, key=_by_number)])} did not answer"
        return MESSAGE_CAP.title if _overlap(self._held, begun, over) > (over - begun) / 2 else ""


def _extend(spans: list[tuple[float, float]], begun: float, over: float) -> None:
    """Add a span to those before it; where it follows the last at once, that becomes longer."""
    if spans and begun - spans[-1][1] <= (over - begun) / 2:
        begun = spans.pop()[0]
    spans.append((begun, over))
    del spans[:-_SPANS_MOST]


def _overlap(spans: Iterable[tuple[float, float]], begun: float, over: float) -> float:
    return sum(max(0.0, min(over, end) - max(begun, start)) for start, end in spans)


def _by_number(osd: str) -> tuple[int, str]:
    return len(osd), osd


def _share(refused: int, received: int) -> float:
    return refused / (refused + received) if refused else 0.0


def _in_flight(step: Step) -> int | None:
    """I/Os of all nodes that are in flight at once; None where that is not known."""
    load = load_of(step)
    return (load.depth * load.jobs * len(step.nodes) or None) if load else None
