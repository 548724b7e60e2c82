"""Other clients: operations that the OSDs of the pool have counted, less the run's own."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import pairwise

from cephtui.analysis.detectors.signals import Signal
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.history import TimeSeries
from cephtui.ceph.images import ImageInfo
from cephtui.frozen import dataclass
from cephtui.models import FilePlace, OsdSample, RadosPlace, RbdPlace, Sample, Step
from cephtui.models.findings.cluster import OTHER_CLIENTS
from cephtui.models.findings.kind import Value

_FROM_SECONDS = 5.0
"""Before that the load of the run begins, and what was before it ends: the tail of another run, a prefill."""
_WINDOW_SECONDS = 4.0
"""So long a time, and each interval of it but one, must have more than the run's own."""
_SHIFT_SECONDS = 1.0
"""Samples and the answers of OSDs may be apart by that much: the run's own is the most within it."""
_TOLERANCE = 1.05
"""What is sent again, and what librbd keeps beside the data, is the run's own too."""
_LEAST_SHARE, _LEAST_RATE = 0.15, 20.0
"""Less than this part of the run's own load, or fewer operations a second, is none: Ceph's own daemons are clients."""
_BYTES_PER_OPERATION = 64 << 10
"""So many bytes load an OSD about as much as one operation more."""
OBJECT_BYTES, _LEAST_OBJECT_BYTES = 4 << 20, 64 << 10
"""The size of the objects of images and files, unless chosen otherwise; and that of what was found and is not known:
one that is smaller than any that makes sense."""
_DEVICE_BYTES = 1 << 20
"""The kernel may cut a larger I/O of a device: 256 pages are one bio."""
_PART_SECONDS = 10.0
"""An OSD that has not answered for longer is not waited for."""
_GAP_SECONDS = 2.0
"""Answers that come later than that follow a time that was not counted."""
_SHIFTS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def operations_per_io(step: Step, image: ImageInfo | None = None) -> float | None:
    """How many operations of OSDs an I/O of the step is at most, on such an ``image``; None where that is not known.

    An I/O that crosses objects is several operations, and the first write to an object changes the object map. What a
    cache, a file system, a journal or a parent makes of I/Os is not known, nor what a gateway does for a request.
    """
    load, place = load_of(step), step.nodes[0].place if step.nodes else None
    if load is None or load.is_cached:
        return None
    if isinstance(place, RadosPlace):
        return 1.0
    if not isinstance(place, RbdPlace | FilePlace) or not load.block_bytes:
        return None
    if place.kind == "file" and (load.flushes or not step.has_mds):
        return None
    if image and _does_more(step, image):
        return None
    smallest = _object_bytes(place, image)
    crosses = smallest % load.block_bytes and load.block_bytes % smallest
    creates = step.writes and not step.filled
    return math.ceil(load.block_bytes / smallest) + bool(crosses) + creates


def _does_more(step: Step, image: ImageInfo) -> bool:
    """Whether librbd asks a parent for objects, writes a journal, or lays data over several objects in turn."""
    journals = step.writes and "journaling" in image.features
    return journals or "striping" in image.features or (image.parent is not None and not step.filled)


def _object_bytes(place: RbdPlace | FilePlace, image: ImageInfo | None) -> int:
    """The size of what an I/O is cut at."""
    if image and image.object_size:
        return min(image.object_size, _DEVICE_BYTES) if place.kind == "device" else image.object_size
    return _LEAST_OBJECT_BYTES if place.kind in ("image", "device") else OBJECT_BYTES


@dataclass(frozen=True, slots=True)
class OtherLoad:
    """What other clients do."""

    since: float
    """Elapsed seconds."""
    iops: float
    bandwidth_bytes: float
    share: float
    """Their part of all that the OSDs do, where 64 KiB are as much as an operation."""


@dataclass(frozen=True, slots=True)
class _Own:
    """What the run itself has done until a moment."""

    at: float
    operations: float
    nbytes: float


@dataclass(frozen=True, slots=True)
class _Counted:
    """What all OSDs have counted in a time until a moment.

    Its length is exact, by the clock of the node that asks; the moment is when that came in.
    """

    over: float
    seconds: float
    operations: int
    nbytes: int

    @property
    def begun(self) -> float:
        return self.over - self.seconds

    @property
    def shift(self) -> float:
        return max(_SHIFT_SECONDS, self.seconds)

    def and_then(self, later: _Counted) -> _Counted:
        """Both as one."""
        return _Counted(
            later.over,
            self.seconds + later.seconds,
            self.operations + later.operations,
            self.nbytes + later.nbytes,
        )


@dataclass(frozen=True, slots=True)
class _Excess:
    """What was counted in a time beyond the most that the run may have done, and that most, in operations."""

    operations: float
    nbytes: float
    own: float

    @property
    def load(self) -> float:
        return self.operations + self.nbytes / _BYTES_PER_OPERATION


class OtherOperations:
    """Compares what the OSDs of the pool count with what the run itself did."""

    def __init__(self, per_io_of_step: float | None = None) -> None:
        """``per_io_of_step`` is for samples that do not tell it, those of an earlier cephtui."""
        self._per_io_of_step = per_io_of_step
        self._per_io: float | None = None
        """The operations of one I/O at most; None where they are not known."""
        self._is_over = False
        self._own: deque[_Own] = deque()
        self._part: _Counted | None = None
        """What was counted since all OSDs have answered."""
        self._waiting: deque[_Counted] = deque()
        """What was counted in a time for which that of the run is not known yet."""
        self._window: deque[_Counted] = deque()
        self.now: OtherLoad | None = None
        self.is_known = False
        """Whether operations were compared at all: then rates of the pool need not be."""
        self.curve = TimeSeries()
        """Operations of other clients a second, with gaps where there were none."""

    def add(self, merged: Sample) -> None:
        """Take in a sample of all nodes merged."""
        flows = [flow for flow in (merged.read, merged.write) if flow]  # a flush is no operation of an OSD
        if self._per_io is None or merged.missing or any(flow.ios is None for flow in flows):
            self.interrupt()
            return
        start = merged.elapsed_seconds - merged.interval_seconds
        if not self._own:
            self._own.append(_Own(start, 0.0, 0.0))
        last = self._own[-1]
        operations = self._per_io * sum(flow.ios or 0 for flow in flows)
        nbytes = sum(flow.bytes for flow in flows)
        self._own.append(_Own(merged.elapsed_seconds, last.operations + operations, last.nbytes + nbytes))
        self._compare()

    def interrupt(self) -> None:
        """What the run did in a time is not known: nothing before it is compared with anything after it."""
        self._part = None
        self._own.clear()
        self._window.clear()
        self._waiting.clear()
        self.now = None

    def forget(self) -> None:
        """From now on it is not known what the run does."""
        self._per_io, self._is_over = None, True
        self.interrupt()

    def osds(self, sample: OsdSample) -> None:
        """Take in what the OSDs have counted; that of an OSD which did not answer comes with its next answer."""
        if self._is_over or sample.phase != "run":
            return
        tells_it = "operations_per_io" in sample.model_fields_set
        self._per_io = sample.operations_per_io if tells_it else self._per_io_of_step
        if self._per_io is None:
            return
        nbytes = sample.read_bytes + sample.write_bytes
        counted = _Counted(sample.elapsed_seconds, sample.interval_seconds, sample.operations, nbytes)
        self._part = self._part.and_then(counted) if self._part else counted
        if not sample.missing:
            self._waiting.append(self._part)
            self._part = None
            self._compare()
        elif self._part.seconds > _PART_SECONDS:
            self._part, self.now = None, None
            self._window.clear()

    def signals(self) -> Iterator[Signal]:
        """What other clients do now."""
        if load := self.now:
            values: dict[str, Value] = {
                "iops": load.iops,
                "rate_bytes": load.bandwidth_bytes,
                "share": round(load.share, 4),
            }
            yield Signal(OTHER_CLIENTS, values, weight=load.share, since=load.since)

    def _compare(self) -> None:
        while self._waiting and self._own:
            if self._waiting[0].over + self._waiting[0].shift > self._own[-1].at:
                break
            self._take(self._waiting.popleft())

    def _take(self, counted: _Counted) -> None:
        if counted.begun < max(_FROM_SECONDS, self._own[0].at + counted.shift):
            return
        self.is_known = True
        if self._window and counted.begun - self._window[-1].over > _GAP_SECONDS:
            self._window.clear()
        self._window.append(counted)
        while len(self._window) > 2 and _joined(self._window).seconds - self._window[0].seconds >= _WINDOW_SECONDS:
            self._window.popleft()
        self.now = self._lasting()
        self.curve.add(counted.over, self._excess(counted).operations / counted.seconds if self.now else None)
        while len(self._own) > 2 and self._own[1].at < _joined(self._window).begun - 2 * counted.shift - _GAP_SECONDS:
            self._own.popleft()

    def _lasting(self) -> OtherLoad | None:
        window, begun = _joined(self._window), [one.begun for one in self._window if self._is_more(one)]
        is_long = window.seconds >= _WINDOW_SECONDS - 0.5 and len(begun) >= max(2, len(self._window) - 1)
        if not is_long or not self._is_more(window):
            return None
        excess = self._excess(window)
        share = excess.load / (excess.load + excess.own)
        since = self.now.since if self.now else begun[0]
        return OtherLoad(since, excess.operations / window.seconds, excess.nbytes / window.seconds, share)

    def _is_more(self, counted: _Counted) -> bool:
        excess = self._excess(counted)
        return excess.load > max(_LEAST_SHARE * excess.own, _LEAST_RATE * counted.seconds)

    def _excess(self, counted: _Counted) -> _Excess:
        shifts = [part * self._window[-1].shift for part in _SHIFTS]
        spans = [(self._own_at(counted.begun + shift), self._own_at(counted.over + shift)) for shift in shifts]
        operations = max(end.operations - start.operations for start, end in spans)
        nbytes = max(end.nbytes - start.nbytes for start, end in spans)
        return _Excess(
            max(0.0, counted.operations - _TOLERANCE * operations),
            max(0.0, counted.nbytes - _TOLERANCE * nbytes),
            operations + nbytes / _BYTES_PER_OPERATION,
        )

    def _own_at(self, at: float) -> _Own:
        """What the run has done until a moment, as if it had been even within each of its samples."""
        for before, after in pairwise(self._own):
            if at <= after.at:
                part = min(1.0, max(0.0, (at - before.at) / (after.at - before.at))) if after.at > before.at else 1.0
                return _Own(
                    at,
                    before.operations + part * (after.operations - before.operations),
                    before.nbytes + part * (after.nbytes - before.nbytes),
                )
        return self._own[-1]


def _joined(window: Iterable[_Counted]) -> _Counted:
    return reduce(_Counted.and_then, window)
