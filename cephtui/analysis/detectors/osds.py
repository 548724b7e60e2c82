"""What the OSDs of the pool counted in a run: of each as a whole and over time, and where they received no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from cephtui import units
from cephtui.analysis.detectors.explaining import LAG_SECONDS
from cephtui.analysis.detectors.osd_answers import Answers, far, late, slow_osd_finding
from cephtui.analysis.detectors.other_clients import OBJECT_BYTES
from cephtui.analysis.detectors.slowest import OsdLatencies, SlowGroup, by_number
from cephtui.analysis.runs.facts import in_flight
from cephtui.models import Commits, Finding, OsdInterval, OsdResult, OsdSample, Step
from cephtui.models.findings.cluster import BLUESTORE_THROTTLE, BUSY_OSD, MESSAGE_CAP, OSD_COUNTERS, SLOW_OSD
from cephtui.models.findings.kind import Value
from cephtui.models.plan import FilePlace, RbdPlace
from cephtui.printable import listed

_ROUND_SECONDS = 1.0
"""How long a round takes in which no OSD answers."""
USUAL_MESSAGE_CAP = 256
"""The default of osd_client_message_cap (16.2 to 20.2)."""
_SPANS_MOST = 500
_KINDS: Mapping[str, Callable[[OsdInterval], tuple[int, float]]] = {
    "reads": lambda osd: (osd.reads, osd.reads * osd.read_seconds),
    "writes": lambda osd: (osd.writes, osd.writes * osd.write_seconds),
    "subops": lambda osd: (osd.subops, osd.subops * osd.subop_seconds),
    "commits": lambda osd: (osd.commits, osd.commits * osd.commit_seconds),
}
"""Operations of an OSD, or the commits of all copies there, and the sum of their latencies in seconds."""
_READING = "reading"
"""Beside them the reads from a worker thread on."""
_COMMIT_SHARE = 0.2
"""Commits that take longer by a smaller share of a write's latency slow no client that could be seen."""
_MORE, _SLOWER = 1.1, 1.5
"""An OSD that does more than the others by this has more waiting: it is slow where its time without the waiting, which
is estimated, is longer than theirs by that."""
_TELLING, _READ_SHARE = 0.1, 0.3
"""What is a smaller part of a latency does not explain that it is long; nor is an OSD slow whose reads take longer by a
smaller part."""
_FEW_OBJECTS = 16
"""Fewer of an OSD may all lie on one PG, or on PGs of one shard (osd_op_num_shards): it works on them one after the
other."""
_LATE_SECONDS, _BEHIND_ALL = 0.1, 1.5
"""An answer that takes so long is late, if that is so many times as long as all I/Os in flight take: it may be behind
them."""
_REFUSED_SHARE, _REFUSED_LEAST, _HELD_SECONDS = 0.05, 100, 3.0
"""Fewer refusals do not hold a run back, nor do those of a shorter time: the tail of a prefill, or of another run."""
_THROTTLED_SHARE = 0.2
"""A transaction that waits for a smaller part of its time for BlueStore's throttle does so at peaks alone."""


@dataclass(slots=True)
class _Sums:
    """The sums of an OSD's intervals."""

    reads: int = 0
    read_seconds: float = 0.0
    writes: int = 0
    write_seconds: float = 0.0
    subops: int = 0
    subop_seconds: float = 0.0
    queue_seconds: float = 0.0
    commits: int = 0
    commit_seconds: float = 0.0
    received: int = 0
    refused: int = 0
    refused_by_size: int = 0
    answers: Answers = field(default_factory=Answers)

    def add(self, interval: OsdInterval) -> None:
        self.reads += interval.reads
        self.read_seconds += interval.reads * interval.read_seconds
        self.writes += interval.writes
        self.write_seconds += interval.writes * interval.write_seconds
        self.subops += interval.subops
        self.subop_seconds += interval.subops * interval.subop_seconds
        self.queue_seconds += (interval.reads + interval.writes) * interval.queue_seconds
        self.commits += interval.commits
        self.commit_seconds += interval.commits * interval.commit_seconds
        self.received += interval.received
        self.refused += interval.refused
        self.refused_by_size += interval.refused_by_size
        self.answers.add(interval.answer_seconds)

    @property
    def reading_seconds(self) -> float:
        """The mean of its reads from a worker thread on; 0 without any."""
        waited = self.queue_seconds / self.operations if self.operations else 0.0
        return max(0.0, self.read_seconds / self.reads - waited) if self.reads else 0.0

    @property
    def work(self) -> int:
        """Operations as a primary and as a replica."""
        return self.operations + self.subops

    @property
    def operations(self) -> int:
        """Reads and writes."""
        return self.reads + self.writes

    def result(self, operations: int) -> OsdResult:
        """The OSD as a whole, among so many operations of all OSDs."""
        return OsdResult(
            share=self.operations / operations if operations else 0.0,
            reads=self.reads,
            read_seconds=_mean(self.read_seconds, self.reads),
            writes=self.writes,
            write_seconds=_mean(self.write_seconds, self.writes),
            queue_seconds=_mean(self.queue_seconds, self.operations),
            subops=self.subops,
            subop_seconds=_mean(self.subop_seconds, self.subops),
            commits=self.commits,
            commit_seconds=_mean(self.commit_seconds, self.commits),
            received=self.received,
            refused=self.refused,
            refused_by_size=self.refused_by_size,
        )


class OsdsSoFar:
    """Takes in what the OSDs counted, from the release of the benchmark on."""

    def __init__(self, step: Step | None = None) -> None:
        """``step`` is what runs, for the I/Os that it has in flight; None where that is not known."""
        self._step = step
        self._by_osd: dict[str, _Sums] = {}
        """By the id of the OSD."""
        self._latencies = {name: OsdLatencies() for name in (*_KINDS, _READING)}
        self.is_denied = False
        """Whether the cephx caps deny to ask OSDs for their counters."""
        self._seconds = 0.0
        """The time in which they counted."""
        self._commits = dict.fromkeys(Commits.model_fields, 0.0)
        """Of all OSDs: how many, and the sums of their seconds."""
        self._cap: int | None = None
        self._size_cap_bytes: int | None = None
        self._held: list[tuple[float, float]] = []
        """When OSDs received no more because of one of their caps."""
        self._silent: dict[str, list[tuple[float, float]]] = {}
        """When which OSD did not answer."""

    def add(self, sample: OsdSample) -> None:
        """Take in a sample."""
        if sample.phase != "run":
            return
        for osd, interval in sample.osds.items():
            self._by_osd.setdefault(osd, _Sums()).add(interval)
        for name, of in {**_KINDS, _READING: _read_by_worker}.items():
            operations = {f"osd.{osd}": of(interval) for osd, interval in sample.osds.items()}
            self._latencies[name].add(operations, sample.elapsed_seconds)
        self._seconds += sample.interval_seconds
        self._commits["commits"] += sample.commits
        for name in self._commits.keys() - {"commits"}:
            self._commits[name] += sample.commits * (getattr(sample, name) or 0.0)
        self._cap = sample.message_cap or self._cap
        self._size_cap_bytes = sample.size_cap_bytes or self._size_cap_bytes
        begun = max(0.0, sample.elapsed_seconds - (sample.interval_seconds or _ROUND_SECONDS))
        for osd in sample.missing:
            _extend(self._silent.setdefault(osd, []), begun, sample.elapsed_seconds)
        received = sum(osd.received for osd in sample.osds.values())
        refused = sum(osd.refused + osd.refused_by_size for osd in sample.osds.values())
        if _share(refused, received) >= _REFUSED_SHARE:
            _extend(self._held, begun, sample.elapsed_seconds)

    def results(self) -> dict[str, OsdResult]:
        """Each OSD over the whole run, by its id, in the order of the ids."""
        operations = sum(osd.operations for osd in self._by_osd.values())
        ids = sorted(self._by_osd, key=by_number)
        return {osd: self._by_osd[osd].result(operations) for osd in ids}

    def commits(self) -> Commits | None:
        """What BlueStore's transactions took over the whole run; None where that is not known."""
        if not (count := round(self._commits["commits"])):
            return None
        means = {name: total / count for name, total in self._commits.items() if name != "commits"}
        return Commits(commits=count, **means)

    def findings(self, *, is_alone: bool = True) -> Iterator[Finding]:
        """What the counters show, and that they could not be read.

        Where the run is not alone, answers may be behind the I/Os of other clients: they say nothing of an OSD then.
        """
        if self.is_denied:
            yield OSD_COUNTERS.found()
        slow = self._slow()
        if slow:
            yield slow
        is_told = slow is not None and slow.code != BUSY_OSD.code
        if not is_told and (by_parts := self._slow_commits() or self._slow_reads()):
            is_told = True
            yield by_parts
        if is_alone and not is_told and (by_answers := self._by_answers()):
            yield by_answers
        yield from self._capped()
        yield from self._throttled()

    def _slow(self) -> Finding | None:
        """OSDs whose operations took longer than those of the others; a note where they had to wait for each other."""
        kind = self._most_telling()
        if not (group := self._latencies[kind].slow()):
            return None
        slow = {
            name: seconds
            for name, seconds in self._without_more_work(kind, group).items()
            if self._objects(name) >= _FEW_OBJECTS or self._unloaded(kind, name) > _SLOWER * group.others
        }
        reading = {} if slow else self._reading(kind, group)
        if reading:
            slow = {**group.figures}
        if slow:
            seconds = median(slow.values())
            part = reading or self._part(slow, seconds - group.others)
            return slow_osd_finding(slow, seconds=seconds, others=group.others, **part)
        work, usual = self._work(), self._usual_work(group)
        busiest = max(group.figures, key=lambda name: work[name])
        values: dict[str, Value] = {"osd": busiest, "seconds": group.figures[busiest], "others": group.others}
        if work[busiest] > _MORE * usual:
            return BUSY_OSD.found(**values, share=work[busiest] / sum(work.values()), more=work[busiest] / usual)
        return BUSY_OSD.found(**values, objects=math.ceil(self._objects(busiest)))

    def _slow_commits(self) -> Finding | None:
        """OSDs whose commits took longer than those of the others.

        Where each write has a copy on a slow OSD, or waits in front of all of them, its own operations hardly take
        longer than those of the others do.
        """
        group = self._latencies["commits"].slow()
        slow = self._without_more_work("commits", group) if group else {}
        if not group or not slow:
            return None
        seconds, writes = median(slow.values()), sum(sums.writes for sums in self._by_osd.values())
        write_seconds = sum(sums.write_seconds for sums in self._by_osd.values())
        if writes * (seconds - group.others) < _COMMIT_SHARE * write_seconds:
            return None
        return slow_osd_finding(slow, part="commit", commit_seconds=seconds, others=group.others)

    def _slow_reads(self) -> Finding | None:
        """OSDs on which reading took longer than on the others, whatever their operations waited for before.

        Where all of them wait long for a worker thread, operations as a whole hardly take longer on those OSDs.
        """
        if not (group := self._latencies[_READING].slow()) or not (part := self._reading("reads", group)):
            return None
        of_group = [self._by_osd[name.removeprefix("osd.")] for name in group.names]
        longer = sum(sums.reads * (sums.reading_seconds - group.others) for sums in of_group)
        if longer < _READ_SHARE * sum(sums.read_seconds for sums in of_group):
            return None
        return slow_osd_finding(group.names, part="read", read_seconds=part["part_seconds"], others=part["part_others"])

    def _work(self) -> dict[str, int]:
        """The operations of each OSD, ``osd.3``, as a primary and as a replica."""
        return {f"osd.{name}": sums.work for name, sums in self._by_osd.items()}

    def _usual_work(self, group: SlowGroup) -> float:
        """That of the OSDs beside a group."""
        return max(1.0, median(work for name, work in self._work().items() if name not in group.figures))

    def _without_more_work(self, kind: str, group: SlowGroup) -> dict[str, float]:
        """Of a group those that are not slow by having more to do than the others, with their latencies."""
        work, usual = self._work(), self._usual_work(group)
        unloaded = _SLOWER * median(self._unloaded(kind, name) for name in work if name not in group.figures)
        return {
            name: seconds
            for name, seconds in group.figures.items()
            if work[name] <= _MORE * usual or self._unloaded(kind, name) > unloaded
        }

    def _part(self, slow: Collection[str], longer_seconds: float) -> dict[str, Value]:
        """Where most of the time goes that operations of slow OSDs take longer, as values of the finding; or none."""
        results = self.results()
        for part in ("commit", "queue"):
            means = {f"osd.{osd}": getattr(result, f"{part}_seconds") for osd, result in results.items()}
            known = {osd: mean for osd, mean in means.items() if mean is not None}
            others = [mean for osd, mean in known.items() if osd not in slow]
            if not others or not known.keys() >= {*slow}:
                continue
            seconds, usual = median(known[osd] for osd in slow), median(others)
            if seconds - usual >= longer_seconds / 2:
                return {"part": part, "part_seconds": seconds, "part_others": usual}
        return {}

    def _objects(self, osd: str) -> float:
        """About how many objects of the run's images or files lie on an OSD; infinite where that is not known."""
        operations = sum(sums.operations for sums in self._by_osd.values())
        places = [node.place for node in self._step.nodes] if self._step else []
        if not (self._step and operations and all(isinstance(place, RbdPlace | FilePlace) for place in places)):
            return math.inf
        share = self._by_osd[osd.removeprefix("osd.")].work / operations
        return share * self._step.span_bytes * len(places) / OBJECT_BYTES

    def _unloaded(self, kind: str, osd: str) -> float:
        """About the mean latency of an OSD if nothing had to wait for the operation before it, in seconds."""
        sums = self._by_osd[osd.removeprefix("osd.")]
        count = getattr(sums, kind)
        seconds = getattr(sums, f"{kind.removesuffix('s')}_seconds")
        return _alone(seconds / count, count / self._seconds) if count and self._seconds else 0.0

    def _reading(self, kind: str, group: SlowGroup) -> dict[str, Value]:
        """What OSDs take longer to read, whatever waits before it, as values of the finding; or none.

        A disk that has more to do takes longer, too: that is taken out as above.
        """
        if kind != "reads" or not all(sums.queue_seconds for sums in self._by_osd.values() if sums.reads):
            return {}
        sums_by_name = {f"osd.{osd}": sums for osd, sums in self._by_osd.items() if sums.reads}
        reading = {name: sums.reading_seconds for name, sums in sums_by_name.items()}
        alone = {name: _alone(reading[name], sums.reads / self._seconds) for name, sums in sums_by_name.items()}
        usual, usual_alone = (median(of[name] for name in of if name not in group.figures) for of in (reading, alone))
        are_longer = (
            alone[name] > _SLOWER * usual_alone and reading[name] - usual >= _TELLING * (seconds - group.others)
            for name, seconds in group.figures.items()
        )
        if not all(are_longer):
            return {}
        return {"part": "read", "part_seconds": median(reading[name] for name in group.figures), "part_others": usual}

    def _by_answers(self) -> Finding | None:
        """OSDs that are slow by their answers; at the message cap each of them may be."""
        if self._held or not self._by_osd:
            return None
        answers = {osd: sums.answers for osd, sums in self._by_osd.items()}
        least_seconds = {osd: max(_LATE_SECONDS, _BEHIND_ALL * self._all_seconds(osd)) for osd in answers}
        usual = max(1.0, median(sums.received for sums in self._by_osd.values()))
        more = {osd for osd, sums in self._by_osd.items() if sums.received > usual}
        much_more = {osd for osd in more if self._by_osd[osd].received > _MORE * usual}
        behind_others = {osd for osd in more if answers[osd].seconds <= self._all_seconds(osd)}
        return late(answers, least_seconds, much_more) or far(answers, much_more | behind_others)

    def _all_seconds(self, osd: str) -> float:
        """How long an OSD takes for all I/Os that the run has in flight, if all are before it; 0 where not known."""
        at_most = in_flight(self._step) if self._step else None
        received = self._by_osd[osd].received
        at_once = min(at_most, self._cap or at_most) if at_most else 0
        return at_once * self._seconds / received if received else 0.0

    def _capped(self) -> Iterator[Finding]:
        osds = self._by_osd.values()
        by_size, received = sum(osd.refused_by_size for osd in osds), sum(osd.received for osd in osds)
        refused = by_size + sum(osd.refused for osd in osds)
        held_seconds = sum(over - begun for begun, over in self._held)
        is_held = refused >= _REFUSED_LEAST and held_seconds >= _HELD_SECONDS
        if is_held and _share(refused, received) >= _REFUSED_SHARE:
            caps = {"size_cap_bytes": self._size_cap_bytes} if 2 * by_size > refused else {"cap": self._cap}
            yield MESSAGE_CAP.found(
                (self._held[0][0], self._held[-1][1]),
                share=_share(refused, received),
                **caps,
                osds=len(osds),
                in_flight=in_flight(self._step) if self._step else None,
            )

    def _throttled(self) -> Iterator[Finding]:
        """BlueStore's throttle, where a good part of what a transaction takes is the wait for it."""
        if (commits := self.commits()) is None or not (waited := commits.throttle_seconds):
            return
        if waited >= _THROTTLED_SHARE * commits.commit_seconds:
            yield BLUESTORE_THROTTLE.found(seconds=waited, commit_seconds=commits.commit_seconds)

    def _most_telling(self) -> str:
        """What the OSDs are compared by: what they did most, and of writes with copies those as a replica.

        A write waits for the slowest of its copies: with one slow OSD all of them are slow as a primary.
        """
        done = {name: sum(getattr(sums, name) for sums in self._by_osd.values()) for name in _KINDS}
        if done["reads"] >= done["writes"]:
            return "reads"
        return "subops" if done["subops"] else "writes"

    def held_back(self, begun: float, over: float, lag: float = LAG_SECONDS) -> dict[str, Value]:
        """What of the OSDs held I/O back in a span, as values of a finding: its ``cause`` and ``cause_code``, or none.

        OSDs that did not answer, the message cap, both from ``lag`` seconds before or after the begin of the span on,
        or OSDs that were slower than at other times.
        """
        silent = [osd for osd, spans in self._silent.items() if _fill(spans, begun, over, lag)]
        if silent:
            names = listed([f"osd.{osd}" for osd in sorted(silent, key=by_number)])
            return {"cause": f"{names} did not answer", "cause_code": SLOW_OSD.code}
        if _fill(self._held, begun, over, lag):
            return {"cause": MESSAGE_CAP.title, "cause_code": MESSAGE_CAP.code}
        if slower := self._latencies[self._most_telling()].slower(begun, over):
            names, least = listed(sorted(slower, key=by_number)), min(slower.values())
            longer = f"{'at least ' if len(slower) > 1 else ''}{units.times(least)} as long as at other times"
            return {"cause": f"operations of {names} took {longer}", "cause_code": SLOW_OSD.code}
        return {}


def _read_by_worker(osd: OsdInterval) -> tuple[int, float]:
    """Its reads and how long they took, without the mean wait of all its operations for a worker thread."""
    return osd.reads, osd.reads * max(0.0, osd.read_seconds - osd.queue_seconds)


def _alone(seconds: float, rate: float) -> float:
    """A mean latency without what waits in front of one server, R / (1 + X R), at a rate of operations a second."""
    return seconds / (1 + rate * seconds)


def _fill(spans: Sequence[tuple[float, float]], begun: float, over: float, lag: float) -> bool:
    """Whether spans, in order, take most of a time, and began with it, but for short gaps between them."""
    before = [(-math.inf, -math.inf), *spans]
    starts = [start for (_, end), (start, _) in pairwise(before) if start - end > LAG_SECONDS]
    latest = max((start for start in starts if start <= begun + lag), default=-math.inf)
    return begun - lag <= latest and _overlap(spans, begun, over) > (over - begun) / 2


def _extend(spans: list[tuple[float, float]], begun: float, over: float) -> None:
    """Add a span to those before it; where it follows the last at once, that becomes longer."""
    if spans and begun - spans[-1][1] <= (over - begun) / 2:
        begun = spans.pop()[0]
    spans.append((begun, over))
    del spans[:-_SPANS_MOST]


def _overlap(spans: Iterable[tuple[float, float]], begun: float, over: float) -> float:
    return sum(max(0.0, min(over, end) - max(begun, start)) for start, end in spans)


def _mean(total: float, count: int) -> float | None:
    return total / count if count else None


def _share(refused: int, received: int) -> float:
    return refused / (refused + received) if refused else 0.0
