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

import math
import re
from dataclasses import replace

from cephtui import stats
from cephtui.models import ELAPSED_MOST_SECONDS, Finding
from cephtui.models.findings.measurement import SHORT, STUCK
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import Intervals, LineParser
from cephtui.tools.rados_bench.lines import RadosAnnounced, RadosRow, read_announced, read_row, read_total

STUCK_SECONDS = 10.0
"""Stall threshold: reported when I/O is in flight but nothing has completed for this long."""
_SECOND = 0.9
"""An interval of this length, or more, is one of the seconds of a run."""
_PRECISE = 0.02
"""A mean that may be further off than this is not given."""
_BLOCKS = 0.02
"""The fraction by which a block size that follows from rounded figures may be off."""
_ROUNDED = 5e-6
"""How far off a figure with six digits may be."""

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


def _half_digit(value: float) -> float:
    """How far off a figure with six digits may be."""
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) - 5) if value > 0 else 0.0


def block_of(nbytes: float, *, is_exact: bool) -> int:
    """A power of two, or as many KiB as only one number of is near enough; 0 for another."""
    power = 1 << max(0, round(math.log2(max(nbytes, 1.0))))
    if abs(nbytes - power) <= _BLOCKS * power:
        return power
    whole = round(nbytes / 1024) * 1024
    return whole if is_exact and abs(nbytes - whole) + _ROUNDED * nbytes < 512 else 0


def _mean_between(now: RadosRow, before: RadosRow, step: float) -> float | None:
    """Mean latency of the operations that finished between two rows, from the means since the start.

    Those have six digits: after a thousand seconds of even load a second's own mean may be 1 % off, later more.
    None where it may be more than 2 %, and without operations. ``step`` is what they are multiples of, if anything.
    """
    number = now.finished - before.finished
    if number <= 0:
        return None
    mean = (now.mean * now.finished - before.mean * before.finished) / number
    half = step / 2
    off = max(_half_digit(now.mean), half) * now.finished + max(_half_digit(before.mean), half) * before.finished
    off /= number
    return mean if mean > 0 and off <= _PRECISE * mean else None


def _seconds_between(now: RadosRow, before: RadosRow) -> float:
    """Length of an interval: by the timestamps, unless the clock was set."""
    counted = float(now.second - before.second)
    if now.clock is None or before.clock is None:
        return counted
    lasted = now.clock - before.clock
    return lasted if 0.9 * counted <= lasted <= counted + 5 else counted


def _reached(row: RadosRow, block_bytes: int, counted: float) -> float:
    """Seconds from the start to a row: by the mean speed where that is more exact than to count rows."""
    speed = row.speed * (1 << 20)
    if row.clock is not None or not speed:
        return counted
    seconds = row.finished * block_bytes / speed
    return seconds if row.second <= seconds <= 1.01 * row.second + 1 else counted


def _halves(rest: Reading, block_bytes: int) -> list[Reading]:
    """The end of a run in two, since it would be taken for one of its seconds, which the log does not have."""
    (done,) = rest.flows.values()
    ios, seconds = done.ios or 0, rest.interval_seconds / 2
    halves = []
    for number, end in ((ios // 2, rest.elapsed_seconds - seconds), (ios - ios // 2, rest.elapsed_seconds)):
        half = stats.make_interval(number, number * block_bytes, seconds, done.latency_mean_seconds, None)
        halves.append(Reading("run", end, seconds, half if rest.read else None, half if rest.write else None))
    return halves


class RadosBenchParser(LineParser):
    """There is no ramp.

    Of reads ``block_bytes`` is the size of each, and ``seconds`` how long they may last; None where they may end
    at any time. Writes announce both themselves. With ``measures_writes`` it is worth a finding that a write run
    has ended early; one that prefills for reads is meant to. How many objects a run writes at most is
    decided by cephtui, or, where ``is_imported``, by the command that was given. The end of an imported run, behind
    its last row, stays apart: it is none of the seconds that the log has. ``latency_step`` is what latencies are
    multiples of where they do not have six digits, in seconds.
    """

    def __init__(
        self,
        *,
        block_bytes: int,
        seconds: float | None,
        measures_writes: bool = False,
        is_imported: bool = False,
        latency_step: float = 0.0,
    ) -> None:
        super().__init__()
        self._block_bytes = block_bytes
        self._seconds = seconds
        self._measures_writes = measures_writes
        self._is_imported = is_imported
        self._latency_step = latency_step
        self._announced: RadosAnnounced | None = None
        self._totals: dict[str, float] = {}
        self._last = RadosRow()
        self._elapsed = 0.0
        self._measured = 0.0
        """Seconds of all intervals so far."""
        self._before = 0
        """Operations that had finished by row 0."""
        self._quiet = 0.0
        """Seconds since something finished."""
        self._intervals = Intervals()
        self._ended = False

    def finish(self) -> list[Reading]:
        """The operations that finished after the last row are put into an interval of their own."""
        if self._ended:
            return []
        self._ended = True
        return self._rest_of_run() or self._intervals.release()

    def result(self) -> ToolResult:
        """The result of a run; of one that was ended by its last row."""
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
        operations = self._totals.get("total writes made", self._totals.get("total reads made"))
        return None if operations is None or "total time run" not in self._totals else int(operations)

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        line = line.strip()
        if total := read_total(line):
            name, value = total
            self._totals[name] = min(value, ELAPSED_MOST_SECONDS) if name == "total time run" else value
            return []
        self._announced = self._announced or read_announced(line)
        row = read_row(line)
        return self._cut(row, elapsed_seconds) if row else []

    def _cut(self, row: RadosRow, elapsed: float) -> list[Reading]:
        """End an interval here; row 0 only marks the begin of the first."""
        if row.second == 0 and self._last == RadosRow():
            self._last, self._elapsed, self._before = row, elapsed, row.finished
            return []
        if row.second <= self._last.second or row.finished < self._last.finished or self._totals:
            return []
        seconds = _seconds_between(row, self._last)
        reading = self._reading(row, seconds, elapsed)
        self._quiet = 0.0 if row.finished > self._last.finished else self._quiet + seconds
        self._last, self._elapsed = row, elapsed
        self._measured += seconds
        return self._intervals.add(reading, hold=not self._is_imported and self._may_end(row))

    def _may_end(self, row: RadosRow) -> bool:
        """Whether the run may end so soon after this row that the rest will have to join its interval."""
        seconds = self._announced.seconds if self._announced else self._seconds
        if not seconds or row.second + 1 >= seconds:
            return True
        most = self._announced.most_ios if self._announced else None
        return most is not None and row.finished + 2 * row.finished / row.second >= most

    def _reading(self, row: RadosRow, seconds: float, elapsed: float) -> Reading:
        ios = row.finished - self._last.finished
        mean = _mean_between(row, self._last, self._latency_step)
        interval = stats.make_interval(ios, ios * self._block, seconds, mean, None)
        read, write = (None, interval) if self._writes else (interval, None)
        return Reading("run", elapsed, seconds, read, write)

    def _rest_of_run(self) -> list[Reading]:
        """The readings from the last row to the end; a rest that is too short joins the interval before it."""
        ios = self._total_ios
        if ios is None or ios < self._last.finished:
            return []
        reached = _reached(self._last, self._block, self._measured) if self._is_imported else self._measured
        seconds = max(0.0, self._totals["total time run"] - reached)
        mean = self._totals.get("average latency", 0.0)
        end = self._elapsed + seconds
        if not seconds or not ios:
            return []
        rest = self._reading(replace(self._last, finished=ios, mean=mean), seconds, end)
        if self._is_imported and _SECOND <= seconds < 2:
            return _halves(rest, self._block)
        return self._intervals.add(rest, hold=False)

    def _flow(self) -> stats.Flow | None:
        ios = self._total_ios
        whole = ios is not None
        ios = self._last.finished - self._before if ios is None else ios
        seconds = self._totals["total time run"] if whole else self._measured
        if not ios or not seconds:
            return None
        moments = self._moments(ios, whole)
        return stats.make_flow(ios, ios * self._block, seconds, moments=moments, bounds=self._bounds())

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
        lines = self.errors.spoken
        reason_line = next((line for reason in _REASONS for line in lines if reason.fullmatch(line)), None)
        wrong = next((line for line in lines if _WRONG.fullmatch(line)), None)
        if reason_line and wrong:
            return f"{reason_line}: {wrong}"
        return reason_line or wrong or next((line for line in reversed(lines) if line), None)
