"""ioping's raw statistics, a line for each request, become readings and a result.

Format: ioping 1.3 ``-p 1 -q``, ten whole numbers a line: requests counted, their time in nanoseconds, requests a
second, bytes a second, least, mean and greatest time, deviation, requests with those left out, and the nanoseconds
since the line before. The third and fourth are of the time in requests only, so they are no rates of the run.

For people it prints a line for each request and statistics at the end, ``2 requests completed in 637.8 us, 8 KiB read``
and ``generated 3 requests in 2.00 s``, whose time is that of the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from cephtui import stats
from cephtui.models import Interval
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import LineParser

_LINE = re.compile(r"[0-9]{1,18}(?: [0-9]{1,18}){9}")
_SECOND_NS = 1_000_000_000


_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hour": 3600.0, "day": 86400.0}
_SCALES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_TIME = r"([0-9.]{1,9}) (ns|us|ms|s|min|hour|day)"
_COMPLETED = re.compile(
    r"([0-9.]{1,9}) ?([kMG]?) requests completed in " + _TIME + r", ([0-9.]{1,9}) ([KMGT]i)?B (read|written), .*",
    re.ASCII,
)
_GENERATED = re.compile(rf"generated [0-9.]{{1,9}} ?[kMG]? requests in {_TIME}, .*", re.ASCII)
_BOUNDS = re.compile(rf"min/avg/max/mdev = {_TIME} / {_TIME} / {_TIME} / {_TIME}", re.ASCII)


def read_statistics(lines: Sequence[str]) -> dict[str, stats.Flow]:
    """The flows of a whole run as printed for people, by direction; three digits. Empty where a line is missing.

    The requests are those after the first, which warms up.
    """
    done, generated, times = (_first(form, lines) for form in (_COMPLETED, _GENERATED, _BOUNDS))
    if not (done and generated and times):
        return {}
    try:
        count = round(float(done[1]) * _SCALES[done[2]])
        nbytes = round(float(done[5]) * 1024 ** " KMGT".index((done[6] or " ")[0]))
        lasted = float(generated[1]) * _UNITS[generated[2]]
        least, mean, most, deviation = (float(times[at]) * _UNITS[times[at + 1]] for at in (1, 3, 5, 7))
    except ValueError:
        return {}
    if not count or lasted <= 0:
        return {}
    moments = stats.Moments(count, mean, deviation)
    flow = stats.make_flow(count, nbytes, lasted, moments=moments, bounds=(least, most))
    return {"read" if done[7] == "read" else "write": flow}


def _first(form: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((match for line in lines if (match := form.fullmatch(line))), None)


class _Requests:
    """The requests that were counted since some moment."""

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}
        self.count = self.spent_ns = self.squares = self.lasted_ns = self.most_ns = 0
        self.least_ns: int | None = None

    def add(self, count: int, spent_ns: int, lasted_ns: int) -> None:
        """A line; it may count no request, where that was the first."""
        self.lasted_ns += lasted_ns
        if not count:
            return
        mean_ns = spent_ns // count
        bucket = stats.bucket_of(mean_ns)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + count
        self.count += count
        self.spent_ns += spent_ns
        self.squares += mean_ns**2
        self.least_ns = mean_ns if self.least_ns is None else min(self.least_ns, mean_ns)
        self.most_ns = max(self.most_ns, mean_ns)

    def interval(self, block_bytes: int) -> Interval:
        """The requests as one interval."""
        mean = self.spent_ns / self.count / 1e9 if self.count else None
        nbytes = self.count * block_bytes
        return stats.make_interval(self.count, nbytes, self.lasted_ns / 1e9, mean, dict(self.buckets))

    def flow(self, block_bytes: int) -> stats.Flow | None:
        """The requests as a whole run; None where nothing was counted."""
        if not self.count or self.least_ns is None:
            return None
        mean = self.spent_ns / self.count
        deviation = math.sqrt(max(0.0, self.squares / self.count - mean**2))
        return stats.make_flow(
            self.count,
            self.count * block_bytes,
            self.lasted_ns / 1e9,
            self.buckets,
            moments=stats.Moments(self.count, mean / 1e9, deviation / 1e9),
            bounds=(self.least_ns / 1e9, self.most_ns / 1e9),
        )


def is_raw(line: str) -> bool:
    """Whether a line is one of the raw statistics."""
    return line[:1].isdigit() and _LINE.fullmatch(line) is not None


class IopingParser(LineParser):
    """A reading for each second, by ioping's own clock; one is longer where a request hung."""

    def __init__(self, block_bytes: int) -> None:
        super().__init__()
        self._block_bytes = block_bytes
        self._all, self._now = _Requests(), _Requests()

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        if not _LINE.fullmatch(line):
            return []
        count, spent, *_, lasted = map(int, line.split())
        for requests in (self._all, self._now):
            requests.add(count, spent, lasted)
        return self.finish() if self._now.lasted_ns >= _SECOND_NS else []

    def finish(self) -> list[Reading]:
        """The readings since the last second; a rate that is kept by a timer is no noise in a short one."""
        now, self._now = self._now, _Requests()
        if not now.count:
            return []
        lasted = now.lasted_ns / 1e9
        return [Reading("run", self._all.lasted_ns / 1e9, lasted, now.interval(self._block_bytes), None)]

    def result(self) -> ToolResult:
        return ToolResult(read=self._all.flow(self._block_bytes), error=next(iter(self.errors.spoken), None))
