"""What ``bench_on_node.py`` prints becomes readings, and a result with a job for each OSD.

Format: an object a line. The first has what the OSDs are, ``{"osds": [{"id", "class", "host", "devices"}]}``, each
other one is a portion as ``ceph tell osd.N bench -f json`` reports it, ``bytes_written``, ``blocksize`` and
``elapsed_sec`` by the OSD's own clock, with its number as ``osd``. The time between two portions, in which an OSD waits
to be told the next, is in no figure. Of a portion that has failed it is the OSD as ``unanswered``, with ``count`` and
``size`` of the command.

OSDs that write one after the other have as their rate all bytes over all the time in which one was writing: that of the
mean OSD. Of OSDs that write together it is the sum of their own rates, each over the time in which it was writing; a
reading is then a round, in which each of them has ended a portion at least.

ceph itself prints a portion as such an object, until Ceph 13 without its time; until Ceph 12, in the log of the cluster
and without ``-f json`` as text: ``bench: wrote 1 GiB in blocks of 4 MiB in 4.38 sec at 233 MiB/sec 58 IOPS``, where
``MB`` and ``KB`` are powers of 1024, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cephtui import stats
from cephtui.ceph import answers
from cephtui.frozen import dataclass
from cephtui.models import Finding, JobResult, JobSample
from cephtui.models.findings.client import PORTION
from cephtui.models.findings.data import RESIDUE
from cephtui.printable import printable
from cephtui.reading import load_json
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import LineParser

_BYTES_MOST, _SECONDS_MOST = 1 << 50, 1e6
_TEXT = re.compile(
    r"bench: wrote ([0-9.]{1,12}) ?([kKMGT]?i?B) in blocks of ([0-9.]{1,12}) ?([kKMGT]?i?B) in ([0-9.]{1,16}) sec\b.*",
    re.ASCII,
)
_DENIED = re.compile(r"EACCES|EPERM")
_CAPS = "the cephx caps don't allow ceph tell osd.N bench: the user needs osd 'allow *'"


@dataclass(frozen=True, slots=True)
class _Done:
    """The bytes that an OSD has written, and how long it took."""

    ios: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _About:
    """The class and place of an OSD."""

    device_class: str = ""
    place: str = ""
    """``pve1 sdb``."""


class OsdBenchParser(LineParser):
    """A reading for each portion, or for each round of OSDs that write together."""

    line_most = 4 << 20
    """Of the largest clusters the first has some hundred bytes for each OSD."""

    def __init__(self, *, together: bool) -> None:
        super().__init__()
        self._together = together
        self._osds: dict[int, _About] = {}
        """All that take part."""
        self._all: dict[int, list[_Done]] = {}
        self._round: dict[int, list[_Done]] = {}
        self._unanswered: dict[int, tuple[int, int]] = {}
        """Bytes and block size of the portion that an OSD has not reported."""
        self._elapsed = 0.0
        self._is_ending = False

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        self._elapsed = elapsed_seconds
        try:
            record = load_json(line)
            if "osds" in record:
                self._osds = {osd["id"]: _about(osd) for osd in record["osds"] if isinstance(osd["id"], int)}
                return []
            if "unanswered" in record:
                self._unanswered[int(record["unanswered"])] = int(record["count"]), int(record["size"])
                return []
            osd, done = int(record["osd"]), _portion(record)
        except (ValueError, LookupError, TypeError, OverflowError):
            return []
        self._all.setdefault(osd, []).append(done)
        self._round.setdefault(osd, []).append(done)
        is_over = not self._together or self._osds.keys() <= self._round.keys()
        return self.finish() if is_over else []

    def finish(self) -> list[Reading]:
        """The readings of the last round, which need not have all OSDs."""
        round_, self._round = self._round, {}
        if not round_:
            return []
        flow = _flow(round_, together=self._together)
        interval = stats.make_interval(flow.ios, flow.bytes, flow.runtime_seconds, None, None)
        jobs = tuple(self._sample(osd, _sum(done)) for osd, done in sorted(round_.items()))
        return [Reading("run", self._elapsed, flow.runtime_seconds, None, interval, jobs=jobs)]

    def _sample(self, osd: int, done: _Done) -> JobSample:
        about = self._osds.get(osd, _About())
        figures = (done.ios, done.bytes, done.seconds)
        return JobSample(f"osd.{osd}", "write", *figures, about.device_class, about.place)

    def expect_end(self) -> None:
        self._is_ending = True

    def result(self) -> ToolResult:
        error = next((_explained(line) for line in self.errors.spoken), None)
        if not self._all:
            return ToolResult(error=error, findings=self._findings())
        jobs = tuple(self._job(osd, done) for osd, done in sorted(self._all.items()))
        flow = _flow(self._all, together=self._together)
        return ToolResult(write=flow, jobs=jobs, error=error, findings=self._findings())

    def _job(self, osd: int, done: Iterable[_Done]) -> JobResult:
        about, flow = self._osds.get(osd, _About()), _flow({osd: done}, together=False)
        summary = stats.summarise([{"write": flow}])
        return JobResult(job=f"osd.{osd}", group=about.device_class or None, place=about.place or None, summary=summary)

    def _findings(self) -> tuple[Finding, ...]:
        """The findings of data that an OSD may keep after a stop, and of an end within a portion."""
        is_denied = _DENIED.search(self.errors.text)
        residues = [
            RESIDUE.found(osd=osd, count_bytes=count, block_bytes=size)
            for osd, (count, size) in self._unanswered.items()
        ]
        portion = [PORTION.found()] if self._is_ending else []
        return (*([] if is_denied else residues), *portion)


def read_text(text: str) -> dict[str, float] | None:
    """A portion in words as the object that ceph prints; None for any other line. Sizes are rounded there."""
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    try:
        nbytes, block = (_bytes(match[number], match[number + 1]) for number in (1, 3))
        return {"bytes_written": nbytes - nbytes % block, "blocksize": block, "elapsed_sec": float(match[5])}
    except (ValueError, ZeroDivisionError):
        return None


def _bytes(number: str, unit: str) -> int:
    factor: int = 1024 ** "bkmgt".index(unit[0].lower())
    return round(float(number) * factor)


def _about(osd: Mapping[str, Any]) -> _About:
    """The class and place of an OSD; raises LookupError."""
    place = " ".join(filter(None, (str(osd["host"]), str(osd["devices"]))))
    return _About(printable(str(osd["class"])), printable(place))


def _portion(answer: Mapping[str, Any]) -> _Done:
    """Raises ValueError, LookupError and TypeError where it is none."""
    nbytes, block = int(answer["bytes_written"]), int(answer["blocksize"])
    seconds = answers.number(answer["elapsed_sec"])
    if not (0 < block <= nbytes < _BYTES_MOST and 0 < seconds < _SECONDS_MOST):
        raise ValueError("not a portion")
    return _Done(nbytes // block, nbytes, seconds)


def _sum(parts: Iterable[_Done]) -> _Done:
    """One after the other as one."""
    portions = list(parts)
    return _Done(sum(p.ios for p in portions), sum(p.bytes for p in portions), sum(p.seconds for p in portions))


def _flow(osds: Mapping[int, Iterable[_Done]], *, together: bool) -> stats.Flow:
    """The flow of all OSDs; the time of those that wrote together is the one in which their rates make their bytes."""
    sums = [_sum(done) for done in osds.values()]
    whole = _sum(sums)
    seconds = whole.bytes / sum(done.bytes / done.seconds for done in sums) if together else whole.seconds
    return stats.make_flow(whole.ios, whole.bytes, seconds)


def _explained(line: str) -> str:
    return f"{line.rstrip(': ')}: {_CAPS}" if _DENIED.search(line) else line
