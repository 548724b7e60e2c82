"""ioping's raw statistics, a line for each request, become readings and a result.

Format: ioping 1.3 ``-p 1 -q``, ten whole numbers a line: requests counted, their time in nanoseconds, requests a
second, bytes a second, least, mean and greatest time, deviation, requests with those left out, and the nanoseconds
since the line before. The third and fourth are of the time in requests only, so they are no rates of the run.
"""

from __future__ import annotations

import math
import re

from cephtui import stats
from cephtui.models import Interval
from cephtui.tools.base import Parser, Reading, Stream, ToolResult
from cephtui.tools.stderr import Errors, spoken

_LINE = re.compile(rb"[0-9]{1,18}(?: [0-9]{1,18}){9}")
_REST_MOST = 4096
_SECOND_NS = 1_000_000_000


class _Requests:
    """What was counted since some moment."""

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}
        self.count = self.spent_ns = self.squares = self.lasted_ns = self.most_ns = 0
        self.least_ns: int | None = None

    def add(self, count: int, spent_ns: int, lasted_ns: int) -> None:
        """A line; it may count no request, where that was the first."""
        self.lasted_ns += lasted_ns
        if not count:
            return
        each = spent_ns // count
        bucket = stats.bucket_of(each)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + count
        self.count, self.spent_ns, self.squares = self.count + count, self.spent_ns + spent_ns, self.squares + each**2
        self.least_ns = each if self.least_ns is None else min(self.least_ns, each)
        self.most_ns = max(self.most_ns, each)

    def interval(self, block_bytes: int) -> Interval:
        """As one interval."""
        mean = self.spent_ns / self.count / 1e9 if self.count else None
        nbytes = self.count * block_bytes
        return stats.make_interval(self.count, nbytes, self.lasted_ns / 1e9, mean, dict(self.buckets))

    def flow(self, block_bytes: int) -> stats.Flow | None:
        """As a whole run; None where nothing was counted."""
        if not self.count or self.least_ns is None:
            return None
        interval = self.interval(block_bytes)
        mean = self.spent_ns / self.count
        deviation = math.sqrt(max(0.0, self.squares / self.count - mean**2))
        return stats.Flow(
            ios=self.count,
            bytes=interval.bytes,
            runtime_seconds=self.lasted_ns / 1e9,
            iops=interval.iops,
            bandwidth_bytes=interval.bandwidth_bytes,
            buckets=self.buckets,
            moments=stats.Moments(self.count, mean / 1e9, deviation / 1e9),
            bounds=(self.least_ns / 1e9, self.most_ns / 1e9),
        )


class IopingParser(Parser):
    """A reading for each second, by ioping's own clock; one is longer where a request hung."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._rest = b""
        self._errors = Errors()
        self._all, self._now = _Requests(), _Requests()

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream == "stderr":
            self._errors.add(data)
            return []
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_REST_MOST:]
        return [reading for line in lines for reading in self._take(line)]

    def _take(self, line: bytes) -> list[Reading]:
        if not _LINE.fullmatch(line):
            return []
        count, spent, *_, lasted = map(int, line.split())
        for requests in (self._all, self._now):
            requests.add(count, spent, lasted)
        return self.finish() if self._now.lasted_ns >= _SECOND_NS else []

    def finish(self) -> list[Reading]:
        """What is left since the last second; a rate that is kept by a timer is no noise in a short one."""
        now, self._now = self._now, _Requests()
        if not now.count:
            return []
        lasted = now.lasted_ns / 1e9
        return [Reading("run", self._all.lasted_ns / 1e9, lasted, now.interval(self._block_bytes), None)]

    def result(self) -> ToolResult:
        error = next(iter(spoken(self._errors.text)), None)
        return ToolResult(read=self._all.flow(self._block_bytes), error=error)
