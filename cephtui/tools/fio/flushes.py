"""Flushes among a job's writes, and the commits that a write and its flush are together.

fio times fsync, fdatasync and sync_file_range as one (stat.c, ``sync_stat``, since 3.4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.models.metrics import COMMIT, FLUSH
from cephtui.stats import Flow, Moments, Times
from cephtui.tools.fio.options import WAITING_ENGINES

_VERSION = re.compile(r"fio-(\d{1,4})\.(\d{1,4})")
_LIBRBD_FLUSHED = (3, 26)
_LIBAIO_APART = (3, 41)
_WHOLE_PERCENT = 101.0
"""fio rounds each share up to 0.1."""
Lead: TypeAlias = Literal["lat", "slat"]
"""The part of a write's time before that of its flush."""


@dataclass(frozen=True, slots=True)
class Flushing:
    """The flushes of a job, or of several."""

    flush: Flow
    lead: Times | None = None
    """The part of each write's time before that of its flush; None where there are no commits."""

    @property
    def flows(self) -> dict[str, Flow]:
        """The flows by name, commits where there are any."""
        commit = self._commit()
        return {FLUSH: self.flush, **({COMMIT: commit} if commit else {})}

    def _commit(self) -> Flow | None:
        """Its mean is that of both parts; percentiles and bounds of parts can't be added up."""
        flush = self.flush
        if self.lead is None or flush.moments is None:
            return None
        mean = self.lead.moments.mean + flush.moments.mean
        return _flow(flush.ios, flush.runtime_seconds, {}, Times(Moments(flush.moments.count, mean, None), None))


def version_of(text: str) -> tuple[int, int] | None:
    """``fio-3.33``; None where it is not known."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match else None


def caches_writes(options: Mapping[str, OptionValue], version: str) -> bool:
    """Whether librbd takes the writes of fio's rbd engine into its cache, as far as options and version say.

    Without ``direct`` its cache is on, and writes through until the first flush (rbd_cache_writethrough_until_flush),
    which fio sends as it opens the image since 3.26 (engines/rbd.c), and where it is asked to flush.
    """
    if options.get("ioengine") != "rbd" or options.get("direct") is not False:
        return False
    return (version_of(version) or _LIBRBD_FLUSHED) >= _LIBRBD_FLUSHED or bool(options.get("fsync"))


def lead_of(engine: str, depth: int, version: str) -> Lead | None:
    """The part of a write's time before its flush; None where that is not known, so that there is no commit.

    With several I/Os in flight a flush does not wait for the write before it, except where the engine waits for each.
    libaio flushed without setting a new time before fio 3.41 (engines/libaio.c, ``fio_libaio_queue``): with one I/O in
    flight the flush's time begins as the write has been submitted.
    """
    if engine in WAITING_ENGINES:
        return "lat"
    release = version_of(version)
    if not engine or depth != 1 or not release:
        return None
    return "slat" if engine == "libaio" and release < _LIBAIO_APART else "lat"


def flushing(write: Flow, ios: int | None, buckets: Mapping[int, int], times: Times, lead: Lead | None) -> Flushing:
    """The flushes of a job; ``lead`` is None where a write and its flush are no commit.

    With ``fsync=N`` fio flushes after every N writes: more than half as many flushes are one for each write.
    """
    flush = _flow(ios, write.runtime_seconds, buckets, times)
    if lead is None or not ios or not write.ios or 2 * ios <= write.ios:
        return Flushing(flush)
    if lead == "slat":
        return Flushing(flush, write.slat)
    return Flushing(flush, write.lat or (Times(write.moments, write.bounds) if write.moments else None))


def _flow(ios: int | None, seconds: float, buckets: Mapping[int, int], times: Times) -> Flow:
    """The flow of flushes or commits; what moves no bytes has no bandwidth."""
    return Flow(
        ios=ios,
        bytes=0,
        runtime_seconds=seconds,
        iops=None if ios is None else ios / seconds if seconds else 0.0,
        bandwidth_bytes=None,
        buckets=buckets,
        moments=times.moments,
        bounds=times.bounds,
    )


def shares_of_all(depths: Mapping[str, float]) -> dict[str, float]:
    """How deep the queue was, in percent of all that was submitted.

    fio counts flushes too, and divides by the I/Os alone (stat.c, ``stat_calc_dist``): 200 % where all are flushed.
    """
    whole = sum(depths.values())
    return {name: share * 100 / whole for name, share in depths.items()} if whole > _WHOLE_PERCENT else dict(depths)
