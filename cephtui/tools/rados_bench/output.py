"""``rados bench``'s live output: a text table, a row a second, and totals at the end, become readings and a result.

Format (rados 16.2 ``bench ... --show-time``; the timestamps are not needed)::

    Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 60 seconds or 1000 objects
    TIMESTAMP   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    TIMESTAMP     1      16       174       158   631.963       632   0.0293273   0.0970312
    TIMESTAMP Total time run:         4.86501
    Total writes made:      1000

Reads have no ``Maintaining`` line. Every 20 rows there are a line with the extremes so far and the header again.
Both may have a time stamp of their own: ``2016-06-16 21:24:44.123456 min lat: 0.02 max lat: 0.5 avg lat: 0.1``.
``finished`` and ``avg lat(s)`` count from the start; ``last lat(s)`` is one operation's and not that of a
second. There are no percentiles, and of reads no standard deviation. A row comes a second and a bit after the one
before, so that ``sec`` falls behind the clock: by 36 ms in 64 s on a busy host, by more than a second in an hour.
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import replace
from datetime import datetime

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS, Finding
from cephtui.models.findings.measurement import SHORT, STUCK
from cephtui.tools.base import Parser, Reading, Stream, ToolResult, join_readings
from cephtui.tools.stderr import Errors, spoken

SHORTEST_INTERVAL = 0.5
"""Seconds; what is left over at the end is joined to the interval before it if it is shorter."""
STUCK_SECONDS = 10.0
"""So long without a completion, while operations are in flight, and the run not ended: worth a word."""
_PRECISE = 0.02
"""A mean that may be further off than this is not given."""
_LINE_MOST = 4096

DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[+-]\d{4})?"
"""As Ceph writes it: until 14 with a blank, and without the time zone."""
_TIME = rf"(?:({DATE}) )?"
_ROW = re.compile(_TIME + r" *(\d{1,9}) +(\d{1,9}) +\d{1,12} +(\d{1,12}) +\S+ +\S+ +\S+ +(\S+) *", re.ASCII)
_WRITES = re.compile(
    _TIME + r"Maintaining (\d{1,9}) concurrent writes of (\d{1,12}) bytes to objects of size (\d{1,12})"
    r" for up to (\d{1,9}) seconds or (\d{1,12}) objects *",
    re.ASCII,
)
_TOTAL = re.compile(
    _TIME + r"(Total time run|Total (?:writes|reads) made|(?:Write|Read) size"
    r"|(?:Average|Stddev|Max|Min) Latency)(?:\(s\))?: +(\S+) *",
    re.ASCII | re.IGNORECASE,
)
_EXTREMES = re.compile(rf"({DATE}) min lat: .*", re.ASCII)
_LOGGED = re.compile(rf"({DATE}) +[0-9a-f]{{6,16}} +-?\d{{1,2}} .*", re.ASCII)
"""A line of Ceph's own log, with thread and level."""
_WRONG = re.compile(r"\S+ is not correct!")
_REASONS = (
    re.compile(r"Must write data before .*"),
    re.compile(r"error opening pool .*"),
    re.compile(r"error during benchmark: .*"),
    re.compile(r".*(?:unable to find a keyring|no keyring found|global_init: unable to open|can't open) .*"),
    re.compile(r".*(?:authenticat|couldn't connect|error connecting).*"),
    re.compile(r".*(?:error|fail|invalid|unable|not found|denied|can only|cephtui|bash:).*", re.IGNORECASE),
)
"""The most exact first."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known at the end of one second; all counts are from the start."""

    second: int = 0
    in_flight: int = 0
    finished: int = 0
    mean: float = 0.0
    """Latency in seconds."""
    clock: float | None = None
    """Time of day."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What a write run prints of itself before it begins."""

    in_flight: int
    block_bytes: int
    object_bytes: int
    seconds: int
    objects: int

    @property
    def most_ios(self) -> int | None:
        """How many writes are allowed; None without a limit."""
        if not self.objects or not self.block_bytes:
            return None
        return self.objects * (self.object_bytes // self.block_bytes)


def _number(text: str) -> float | None:
    """A figure as the tool can mean it: finite, not negative, nothing that a sum or a quotient could overflow with."""
    try:
        value = float(text)
    except ValueError:
        return None
    return (value if value > 1e-12 else 0.0) if 0 <= value < 1 << 63 else None


def _clock(text: str | None) -> float | None:
    """Time of day; one without a time zone is taken for one of this machine's."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def read_clock(line: str) -> tuple[float, int] | None:
    """Time of day of a line that is no row, and how many seconds after the row before it; None for other lines.

    Of Ceph's own log, and of the extremes, which are printed every 20 rows, together with the row behind them.
    """
    extremes = _EXTREMES.fullmatch(line)
    match = extremes or _LOGGED.fullmatch(line)
    clock = _clock(match[1]) if match else None
    return None if clock is None else (clock, 1 if extremes else 0)


def read_row(line: str) -> Row | None:
    """A row of the table; None for another line."""
    match = _ROW.fullmatch(line)
    mean = _number(match[5]) if match else None
    if match is None or mean is None:
        return None
    return Row(int(match[2]), int(match[3]), int(match[4]), mean, _clock(match[1]))


def read_announced(line: str) -> Announced | None:
    """The line with which a write run begins; None for another."""
    match = _WRITES.fullmatch(line)
    return Announced(*(int(figure) for figure in match.groups()[1:])) if match else None


def read_total(line: str) -> tuple[str, float] | None:
    """A line of the totals, its name in small letters; None for another line, or a figure that can't be one."""
    match = _TOTAL.fullmatch(line)
    value = _number(match[3]) if match else None
    return (match[2].lower(), value) if match and value is not None else None


def _half_digit(value: float) -> float:
    """How far off a figure with six digits may be."""
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) - 5) if value > 0 else 0.0


def _mean_between(now: Row, before: Row) -> float | None:
    """Mean latency of the operations that finished between two rows, from the means since the start.

    Those have six digits: after a thousand seconds of even load a second's own mean may be 1 % off, later more.
    None where it may be more than 2 %, and without operations.
    """
    number = now.finished - before.finished
    if number <= 0:
        return None
    mean = (now.mean * now.finished - before.mean * before.finished) / number
    off = (_half_digit(now.mean) * now.finished + _half_digit(before.mean) * before.finished) / number
    return mean if mean > 0 and off <= _PRECISE * mean else None


def _seconds_between(now: Row, before: Row) -> float:
    """Length of an interval: by the timestamps, unless the clock was set."""
    counted = float(now.second - before.second)
    if now.clock is None or before.clock is None:
        return counted
    lasted = now.clock - before.clock
    return lasted if 0.9 * counted <= lasted <= counted + 5 else counted


class RadosBenchParser(Parser):
    """There is no ramp.

    Of reads ``block_bytes`` is the size of each, and ``seconds`` how long they may last; None where they may end
    at any time. Writes announce both themselves. With ``measures_writes`` it is worth a finding that a write run
    has ended before its time; one that prefills for reads is meant to. How many objects a run writes at most is
    decided by cephtui, or, where ``is_imported``, by the command that was given.
    """

    def __init__(
        self, *, block_bytes: int, seconds: float | None, measures_writes: bool = False, is_imported: bool = False
    ) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._line = ""
        self._errors = Errors()
        self._block_bytes = block_bytes
        self._seconds = seconds
        self._measures_writes = measures_writes
        self._is_imported = is_imported
        self._announced: Announced | None = None
        self._totals: dict[str, float] = {}
        self._last = Row()
        self._elapsed = 0.0
        self._measured = 0.0
        """Seconds of all intervals so far."""
        self._quiet = 0.0
        """Seconds since something finished."""
        self._held: Reading | None = None
        self._ended = False

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream == "stderr":
            self._errors.add(data)
            return []
        *lines, self._line = (self._line + self._decode(data)).split("\n")
        self._line = self._line[-_LINE_MOST:]
        return [reading for line in lines for reading in self._take(line.rstrip("\r"), elapsed_seconds)]

    def expect_end(self) -> None:
        """rados prints nothing more when it is ended, so nothing changes."""

    def finish(self) -> list[Reading]:
        """The operations that finished after the last row are put into an interval of their own."""
        if not self._ended:
            self._ended = True
            return [*self._rest(), *self._release()]
        return []

    def result(self) -> ToolResult:
        """Of a run that was ended only the last row is known."""
        flow = self._flow()
        return ToolResult(
            read=None if self._writes else flow,
            write=flow if self._writes else None,
            error=self._spoken_error(),
            findings=(*self._short(), *self._stuck()),
        )

    @property
    def _writes(self) -> bool:
        return self._announced is not None or "total writes made" in self._totals

    @property
    def _block(self) -> int:
        total = self._totals.get("write size") or self._totals.get("read size")
        if total is None and self._announced:
            return self._announced.block_bytes
        return self._block_bytes if total is None else int(total)

    @property
    def _total_ios(self) -> int | None:
        """Operations by the totals; None where the run was ended before them."""
        made = self._totals.get("total writes made", self._totals.get("total reads made"))
        return None if made is None or "total time run" not in self._totals else int(made)

    def _take(self, line: str, elapsed: float) -> list[Reading]:
        if total := read_total(line):
            name, value = total
            self._totals[name] = min(value, ELAPSED_MOST_SECONDS) if name == "total time run" else value
            return []
        self._announced = self._announced or read_announced(line)
        row = read_row(line)
        return self._cut(row, elapsed) if row else []

    def _cut(self, row: Row, elapsed: float) -> list[Reading]:
        """End an interval here. Row 0 only marks the begin of the run; what has finished by then is the first's."""
        if row.second == 0 and self._last == Row():
            self._last, self._elapsed = Row(clock=row.clock), elapsed
            return []
        if row.second <= self._last.second or row.finished < self._last.finished or self._totals:
            return []
        seconds = _seconds_between(row, self._last)
        reading = self._reading(row, seconds, elapsed)
        self._quiet = 0.0 if row.finished > self._last.finished else self._quiet + seconds
        self._last, self._elapsed = row, elapsed
        self._measured += seconds
        ready = self._release()
        if self._may_end(row):
            self._held = reading
            return ready
        return [*ready, reading]

    def _may_end(self, row: Row) -> bool:
        """Whether the run may end so soon after this row that the rest will have to join its interval."""
        seconds = self._announced.seconds if self._announced else self._seconds
        if not seconds or row.second + 1 >= seconds:
            return True
        most = self._announced.most_ios if self._announced else None
        return most is not None and row.finished + 2 * row.finished / row.second >= most

    def _reading(self, row: Row, seconds: float, elapsed: float) -> Reading:
        ios = row.finished - self._last.finished
        mean = _mean_between(row, self._last)
        interval = stats.make_interval(ios, ios * self._block, seconds, mean, None)
        read, write = (None, interval) if self._writes else (interval, None)
        return Reading("run", elapsed, seconds, read, write)

    def _rest(self) -> list[Reading]:
        """From the last row to the end; a rest that is too short joins the interval before it."""
        ios = self._total_ios
        if ios is None or ios < self._last.finished:
            return []
        seconds = max(0.0, self._totals["total time run"] - self._measured)
        mean = self._totals.get("average latency", 0.0)
        end = self._elapsed + seconds
        rest = self._reading(replace(self._last, finished=ios, mean=mean), seconds, end)
        if seconds < SHORTEST_INTERVAL and self._held:
            self._held = join_readings(self._held, rest)
            return []
        return [*self._release(), rest] if seconds and ios else []

    def _release(self) -> list[Reading]:
        held, self._held = self._held, None
        return [held] if held else []

    def _flow(self) -> stats.Flow | None:
        ios = self._total_ios
        whole = ios is not None
        ios = self._last.finished if ios is None else ios
        seconds = self._totals["total time run"] if whole else self._measured
        if not ios or not seconds:
            return None
        return stats.Flow(
            ios=ios,
            bytes=ios * self._block,
            runtime_seconds=seconds,
            iops=ios / seconds,
            bandwidth_bytes=ios * self._block / seconds,
            buckets={},
            moments=self._moments(ios, whole),
            bounds=self._bounds(),
        )

    def _moments(self, ios: int, whole: bool) -> stats.Moments | None:
        mean = self._totals.get("average latency") if whole else self._last.mean
        stddev = self._totals.get("stddev latency")  # reads have none
        return None if mean is None else stats.Moments(ios, mean, stddev)

    def _bounds(self) -> tuple[float, float] | None:
        low, high = self._totals.get("min latency"), self._totals.get("max latency")
        return None if low is None or high is None else (low, high)

    def _short(self) -> tuple[Finding, ...]:
        """A write run that was to last for a time has used up its objects first."""
        announced, ios = self._announced, self._total_ios
        most = announced.most_ios if announced else None
        if not self._measures_writes or most is None or ios is None or announced is None or ios < most:
            return ()
        seconds = self._totals["total time run"]
        if not announced.seconds or seconds >= announced.seconds - 0.5:
            return ()
        of = {"wanted_seconds": announced.seconds, "objects": announced.objects}
        return (SHORT.found(measured_seconds=seconds, **of, imported=self._is_imported or None),)

    def _stuck(self) -> tuple[Finding, ...]:
        """On a pool that is full or over its quota writes wait for ever, and rados with them."""
        if self._total_ios is not None or not self._last.in_flight or self._quiet < STUCK_SECONDS:
            return ()
        return (STUCK.found(seconds=self._quiet, writes=self._writes or None),)

    def _spoken_error(self) -> str | None:
        lines = spoken(self._errors.text)
        found = next((line for reason in _REASONS for line in lines if reason.fullmatch(line)), None)
        wrong = next((line for line in lines if _WRONG.fullmatch(line)), None)
        if found and wrong:
            return f"{found}: {wrong}"
        return found or wrong or next((line for line in reversed(lines) if line), None)
