"""What OSDs count of their clients' operations: ``perf dump`` of each, as differences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cephtui.ceph import answers
from cephtui.frozen import dataclass
from cephtui.models import OsdInterval, OsdSample

OSDS_MOST = 256
"""The OSDs of larger pools are not asked: the answers of one round would be too far apart."""
_OSD, _STORE = "osd", "bluestore"
_CAP, _SIZE_CAP = "throttle-osd_client_messages", "throttle-osd_client_bytes"
_NAMES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "reads": ((_OSD, "op_r"),),
    "writes": ((_OSD, "op_w"),),
    "modifies": ((_OSD, "op_rw"),),
    "read_bytes": ((_OSD, "op_r_out_bytes"),),
    "write_bytes": ((_OSD, "op_w_in_bytes"),),
    "modify_bytes": ((_OSD, "op_rw_in_bytes"),),
    "read_seconds": ((_OSD, "op_r_latency"),),
    "read_process_seconds": ((_OSD, "op_r_process_latency"),),
    "read_prepare_seconds": ((_OSD, "op_r_prepare_latency"),),
    "write_seconds": ((_OSD, "op_w_latency"),),
    "write_process_seconds": ((_OSD, "op_w_process_latency"),),
    "write_prepare_seconds": ((_OSD, "op_w_prepare_latency"),),
    "subop_seconds": ((_OSD, "subop_w_latency"),),
    "commit_seconds": ((_STORE, "txc_commit_lat"), (_STORE, "commit_lat")),
    "kv_queue_seconds": ((_STORE, "state_kv_queued_lat"),),
    "kv_commit_seconds": ((_STORE, "state_kv_commiting_lat"),),
    "throttle_seconds": ((_STORE, "txc_throttle_lat"), (_STORE, "throttle_lat")),
    "received": ((_CAP, "get"),),
    "refused": ((_CAP, "get_or_fail_fail"),),
    "message_cap": ((_CAP, "max"),),
    "refused_by_size": ((_SIZE_CAP, "get_or_fail_fail"),),
    "size_cap_bytes": ((_SIZE_CAP, "max"),),
}
"""Ceph's names of what is asked, by logger and counter. Where releases have called it otherwise, they are one after the
other, and the first that an OSD has is taken: those of BlueStore's transactions begin with txc_ since 18.2."""
_COUNTERS = tuple(counter for names in _NAMES.values() for counter in names)
_MEANS = tuple(name for name in _NAMES if name.endswith("_seconds"))
_OF_ALL_MEANS = tuple(name for name in _MEANS if name != "subop_seconds")
_CAPS = ("message_cap", "size_cap_bytes")
_JITTER = 0.25
"""An OSD whose answers are apart by that much more or less than those of the others has an interval of its own."""
_AT_ONCE_SECONDS = 0.01
"""An answer that took less says nothing of the OSD, and is not kept."""
_GONE_SECONDS = 30.0
"""An OSD that has not answered for longer is down."""
REQUEST = json.dumps(_COUNTERS)
"""What ``watch_on_node.py`` asks of each OSD."""
Mean: TypeAlias = tuple[int, float]
"""A count, and the sum of seconds."""


@dataclass(frozen=True, slots=True)
class OsdCounts:
    """What one OSD has counted since its start."""

    at: float
    """When it answered, by a clock of the node that asks."""
    answer_seconds: float
    """How long the longest of its answers took, one for each logger: a round trip."""
    counts: Mapping[str, int]
    """By a name of this module."""
    means: Mapping[str, Mean]

    def is_before(self, later: OsdCounts) -> bool:
        """Whether the OSD has not been started again in between: no counter has fallen."""
        counts = {name: count for name, count in self.counts.items() if name not in _CAPS}
        have_not_fallen = (
            *(later.counts.get(name, -1) >= count for name, count in counts.items()),
            *(later.means.get(name, (-1, 0.0))[0] >= count for name, (count, _) in self.means.items()),
        )
        return later.at > self.at and all(have_not_fallen)

    def count_until(self, later: OsdCounts, name: str) -> int:
        """How much a counter has grown; 0 where the OSD has none of that name."""
        return later.counts.get(name, 0) - self.counts.get(name, 0)

    def mean_until(self, later: OsdCounts, name: str) -> Mean:
        """What has been added to a mean."""
        (count, seconds), (before, seconds_before) = later.means.get(name, (0, 0.0)), self.means.get(name, (0, 0.0))
        return count - before, max(0.0, seconds - seconds_before)


@dataclass(frozen=True, slots=True)
class OsdRound:
    """The answers of all OSDs that were asked and did answer, by their numbers."""

    osds: Mapping[int, OsdCounts]
    denied: bool = False
    """Whether the cephx caps deny to ask them: then there is no other round."""


def round_of(answer: Mapping[str, Any]) -> OsdRound | None:
    """A line of ``watch_on_node.py`` with counters; None for any other answer."""
    if "osd_counters" not in answer:
        return None
    if answer["osd_counters"] is None:
        return OsdRound({}, denied=True)
    rows = answers.part(answer, "osd_counters").items()
    return OsdRound({int(osd): counts for osd, row in rows if osd.isdecimal() and (counts := _counts_of(row))})


def _counts_of(row: Any) -> OsdCounts | None:
    if not isinstance(row, list) or len(row) != len(_COUNTERS) + 2:
        return None
    values = dict(zip(_COUNTERS, row[2:], strict=True))
    by_name = {name: _first(values[counter] for counter in names) for name, names in _NAMES.items()}
    counts = {name: answers.whole(value) for name, value in by_name.items() if type(value) is int}
    means = {
        name: (answers.whole(value[0]), answers.number(value[1]))
        for name, value in by_name.items()
        if isinstance(value, list) and len(value) == 2 and name in _MEANS
    }
    return OsdCounts(answers.number(row[0]), answers.number(row[1]), counts, means)


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


class OsdDifferences:
    """Makes samples of rounds: what was counted between the answers of each OSD."""

    def __init__(self) -> None:
        self._last: dict[int, OsdCounts] = {}
        """The newest answer of each OSD."""

    def take(self, answered: OsdRound) -> OsdSample | None:
        """The interval that ends with a round, not yet with its run and its time; None for a first round.

        Where no OSD has answered it has no length.
        """
        spans = {
            osd: (self._last[osd], now)
            for osd, now in answered.osds.items()
            if osd in self._last and self._last[osd].is_before(now)
        }
        now = max((counts.at for counts in answered.osds.values()), default=0.0)
        self._last = {osd: last for osd, last in self._last.items() if now - last.at < _GONE_SECONDS}
        watched_before = set(self._last)
        watched = watched_before | answered.osds.keys()
        self._last |= answered.osds
        if not spans:
            missing = tuple(map(str, sorted(watched))) if watched == watched_before else ()
            return OsdSample(run=0, elapsed_seconds=0.0, interval_seconds=0.0, missing=missing) if missing else None
        lengths = sorted(now.at - before.at for before, now in spans.values())
        usual = lengths[(len(lengths) - 1) // 2]
        return _sample(spans, usual, sorted(watched - spans.keys()))


def _sample(spans: Mapping[int, tuple[OsdCounts, OsdCounts]], usual: float, missing: Iterable[int]) -> OsdSample:
    def summed(name: str) -> int:
        return sum(before.count_until(now, name) for before, now in spans.values())

    def lowest(cap: str) -> int | None:
        return min((now.counts[cap] for _, now in spans.values() if now.counts.get(cap)), default=None)

    return OsdSample(
        run=0,
        elapsed_seconds=0.0,
        interval_seconds=round(usual, 3),
        reads=summed("reads"),
        writes=summed("writes"),
        modifies=summed("modifies"),
        read_bytes=summed("read_bytes"),
        write_bytes=summed("write_bytes") + summed("modify_bytes"),
        **{name: _mean([before.mean_until(now, name) for before, now in spans.values()]) for name in _OF_ALL_MEANS},
        commits=sum(before.mean_until(now, "commit_seconds")[0] for before, now in spans.values()),
        **{cap: lowest(cap) for cap in _CAPS},
        osds={str(osd): _interval(before, now, usual) for osd, (before, now) in sorted(spans.items())},
        missing=tuple(map(str, missing)),
    )


def _interval(before: OsdCounts, now: OsdCounts, usual: float) -> OsdInterval:
    length = now.at - before.at
    means = {name: before.mean_until(now, name) for name in _MEANS}
    commits, subops = means["commit_seconds"], means["subop_seconds"]
    return OsdInterval(
        interval_seconds=round(length, 3) if abs(length - usual) > _JITTER * usual else 0.0,
        answer_seconds=now.answer_seconds if now.answer_seconds >= _AT_ONCE_SECONDS else 0.0,
        reads=before.count_until(now, "reads"),
        read_seconds=_mean([means["read_seconds"]]) or 0.0,
        writes=before.count_until(now, "writes"),
        write_seconds=_mean([means["write_seconds"]]) or 0.0,
        queue_seconds=_queue_seconds(means),
        subops=subops[0],
        subop_seconds=_mean([subops]) or 0.0,
        commits=commits[0],
        commit_seconds=_mean([commits]) or 0.0,
        received=before.count_until(now, "received"),
        refused=before.count_until(now, "refused"),
        refused_by_size=before.count_until(now, "refused_by_size"),
    )


def _queue_seconds(means: Mapping[str, Mean]) -> float:
    """The mean time that reads and writes waited for a worker thread; 0 where that is not known."""
    waited, count = 0.0, 0
    for flow in ("read", "write"):
        (of_all, seconds), (of_processed, process_seconds) = means[f"{flow}_seconds"], means[f"{flow}_process_seconds"]
        if of_all and of_processed:
            waited += of_all * max(0.0, seconds / of_all - process_seconds / of_processed)
            count += of_all
    return round(waited / count, 7) if count else 0.0


def _mean(means: Iterable[Mean]) -> float | None:
    pairs = list(means)
    count = sum(count for count, _ in pairs)
    return round(sum(seconds for _, seconds in pairs) / count, 7) if count > 0 else None
