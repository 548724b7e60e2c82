"""``rbd bench``'s live output, a line a second and totals at the end, becomes readings and a result.

Format (rbd 16.2)::

    bench  type write io_size 4096 io_threads 16 bytes 8192000000000 pattern random
      SEC       OPS   OPS/SEC   BYTES/SEC
        1       688   721.311   2.8 MiB/s
    elapsed: 2   ops: 1545   ops/sec: 606.358   bytes/sec: 2.4 MiB/s
    read_ops: 1086   read_ops/sec: 386.752   read_bytes/sec: 1.5 MiB/s

OPS counts from the start, and what is in flight is left out. OPS/SEC is the mean of the last five lines and SEC cut to
a whole number, so both are unused: a rate is the difference of OPS over that of the arrivals. While nothing completes
there is no line. The last line, with ``write_ops`` behind it, is there for a mix only, which is not divided before.
rbd 9 and older begin with ``bench-write  io_size``, and until 14 rates of bytes are bare numbers.
"""

from __future__ import annotations

import re

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import Finding
from cephtui.models.findings.data import LIBRBD_CACHE
from cephtui.models.findings.measurement import NO_SECONDS
from cephtui.tools.base import Reading, ToolResult, by_direction
from cephtui.tools.lines import HELD_SECONDS, Intervals, LineParser

MIXED = "read+write"
"""The name of a mix until its totals divide it."""
_SILENT_SECONDS = 3.0
_BEGIN = re.compile(
    r"bench(?:-write| +type (?P<type>write|read|readwrite)\b(?: read:write=(?P<mix>\d{1,3}):\d{1,3})?.*) +"
    r"io_size (?P<size>\d{1,12}) io_threads (?P<threads>\d{1,9})(?: +bytes (?P<bytes>\d{1,18}))?"
    r"(?: +pattern (?P<pattern>[a-z ]{1,20}?))? *",
    re.ASCII,
)
_ROW = re.compile(r" *\d{1,9} +(\d{1,12}) +[\d.e+]{1,16} +[\d.e+]{1,16}(?: [KMGTPE]?i?B/s)? *", re.ASCII)
_TOTAL = re.compile(r"elapsed: +\d{1,9} +ops: +(\d{1,12}) +ops/sec: +([\d.e+-]{1,16}) .*", re.ASCII)
_PART = re.compile(r"(read|write)_ops: +(\d{1,12}) .*", re.ASCII)
_FAILED = re.compile(r"(?:read|write) error: .*")
_ENDED = re.compile(r"received +signal: .*")


@dataclass(frozen=True, slots=True)
class _Mark:
    """How many operations were completed at a moment."""

    ops: int
    at: float


@dataclass(frozen=True, slots=True)
class RbdAnnounced:
    """The announcement of a run at its beginning."""

    type: str
    """``write``, ``read`` or ``readwrite``."""
    block_bytes: int
    threads: int
    total_bytes: int | None
    pattern: str
    """The pattern as it is printed: ``random``, ``sequential``, ``full sequential``."""
    read_percent: int | None
    """The share of reads in a mix."""


def read_announced(line: str) -> RbdAnnounced | None:
    """The announcement in a line; None for any other line."""
    match = _BEGIN.fullmatch(line)
    if match is None:
        return None
    total, mix = match["bytes"], match["mix"]
    return RbdAnnounced(
        match["type"] or "write",
        int(match["size"]),
        int(match["threads"]),
        int(total) if total else None,
        match["pattern"] or "",
        int(mix) if mix else None,
    )


def second_of(line: str) -> int | None:
    """The second at which a line of the table was printed; None for any other line."""
    return int(line.split(maxsplit=1)[0]) if _ROW.fullmatch(line) else None


def totalled(line: str) -> int | None:
    """The number of operations in the line of totals; None for any other line."""
    match = _TOTAL.fullmatch(line)
    return int(match[1]) if match else None


def is_last(line: str) -> bool:
    """Whether a line is one of the totals."""
    return bool(_TOTAL.fullmatch(line) or _PART.fullmatch(line))


class RbdBenchParser(LineParser):
    """There is no ramp. ``seconds`` is how long it runs; None where it may end at any time."""

    def __init__(self, seconds: float | None, *, cached: bool = False) -> None:
        super().__init__()
        self._seconds, self._cached = seconds, cached
        self._type, self._block = "", 0
        self._begun = self._last = _Mark(0, 0.0)
        self._total: tuple[int, float] | None = None
        """Operations and seconds, by the tool itself."""
        self._parts: dict[str, int] = {}
        self._rows = 0
        self._intervals = Intervals()

    def finish(self) -> list[Reading]:
        """The last reading: what was completed after the last line, or that joined with the one before it."""
        last = self._last_reading()
        return self._intervals.add(last, hold=False) if last else self._intervals.release()

    def result(self) -> ToolResult:
        """The result of a run; of one that was killed by its last line."""
        error = next((line for line in self.errors.spoken if not _ENDED.fullmatch(line)), None)
        findings = [LIBRBD_CACHE.found(option="rbd-cache=true")] if self._cached else []
        flows = {name: flow for name, ops in self._counts().items() if (flow := self._flow(ops))}
        return ToolResult(*by_direction(flows), error=error, findings=(*findings, *self._silent()))

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        line, at = line.rstrip("\r"), elapsed_seconds
        if not self._type and (begin := read_announced(line)):
            self._type, self._block = begin.type, begin.block_bytes
            self._begun = self._last = _Mark(0, at)
        elif self._type and self._total is None and (row := _ROW.fullmatch(line)):
            return self._cut(_Mark(int(row[1]), at))
        elif self._type and self._total is None and (total := _TOTAL.fullmatch(line)):
            self._total = _total(int(total[1]), total[2])
        elif self._total and (part := _PART.fullmatch(line)):
            self._parts[part[1]] = int(part[2])
        elif _FAILED.fullmatch(line):
            self.errors.add(f"{line}\n".encode())
        return []

    def _cut(self, now: _Mark) -> list[Reading]:
        """End an interval here; two lines that arrive together are one."""
        if now.ops < self._last.ops or now.at <= self._last.at:
            return []
        reading, self._last = self._reading(now), now
        self._rows += 1
        return self._intervals.add(reading, hold=self._seconds is None or now.at + HELD_SECONDS >= self._seconds)

    def _reading(self, now: _Mark) -> Reading:
        ops, seconds = now.ops - self._last.ops, now.at - self._last.at
        done = stats.make_interval(ops, ops * self._block, seconds, None, None)
        flow = self._type if self._type in ("read", "write") else MIXED
        return Reading("run", now.at, seconds, *by_direction({flow: done}))

    def _last_reading(self) -> Reading | None:
        """The reading from the last line to the end by the totals; None where nothing was completed there."""
        if self._total is None:
            return None
        ops, seconds = self._total
        end = _Mark(ops, self._begun.at + seconds)
        return self._reading(end) if ops > self._last.ops and end.at > self._last.at else None

    def _counts(self) -> dict[str, int]:
        """Operations of each flow; a mix as a whole where its totals are missing."""
        ops = self._total[0] if self._total else self._last.ops
        if self._type in ("read", "write"):
            return {self._type: ops}
        return dict(self._parts) if sum(self._parts.values()) == ops else {MIXED: ops}

    def _flow(self, ops: int) -> stats.Flow | None:
        seconds = self._total[1] if self._total else self._last.at - self._begun.at
        if not ops or seconds <= 0:
            return None
        return stats.make_flow(ops, ops * self._block, seconds)

    def _silent(self) -> tuple[Finding, ...]:
        if self._rows or self._total is None or self._total[1] < _SILENT_SECONDS:
            return ()
        return (NO_SECONDS.found(seconds=self._total[1]),)


def _total(ops: int, rate: str) -> tuple[int, float] | None:
    """The time that it ran is printed cut to whole seconds; its operations and their rate have it in full."""
    try:
        per_second = float(rate)
    except ValueError:
        return None
    return (ops, ops / per_second) if ops and 0 < per_second < 1e12 else None
