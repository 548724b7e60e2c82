"""What ``worker_on_node.py`` prints of a gosbench worker becomes readings and a result.

stdout is scrapes of the worker's metrics, in Prometheus' text format with counters from the start of the test::

    # at 7.064650 working 8182516 7493289
    gosbench_finished_ops{method="GET",testName="cephtui"} 173
    gosbench_ops_latency_bucket{method="GET",testName="cephtui",le="64"} 173
    gosbench_test_start{testName="cephtui"} 1.795254934395e+12
    # end

Times are cut to whole milliseconds and counted in ranges whose ends double: 2 ms, 4 ms ... 4096 ms, and over it. Failed
operations are in times and bytes, but not in ``finished_ops``. stderr is the logs of server and worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import Finding, Interval
from cephtui.models.findings.measurement import COARSE, FAILED_OPS, OVERRUN
from cephtui.tools.base import Reading, Stream, ToolResult, by_direction
from cephtui.tools.gosbench.log import failed_method, is_error, message_of
from cephtui.tools.lines import HELD_SECONDS, Intervals, LineParser

_FLOWS = {"GET": "read", "PUT": "write"}
_AT = re.compile(r"# at ([0-9]{1,9}\.[0-9]{1,9}) (\w{1,20}) ([0-9]{1,18}) ([0-9]{1,18})", re.ASCII)
_LINE = re.compile(
    r'gosbench_(\w{1,30})\{(?:method="([A-Z]{1,10})",)?testName="[^"]{0,99}"(?:,le="([0-9+Inf]{1,9})")?\}'
    r" ([0-9.]{1,20}(?:e\+[0-9]{1,2})?)",
    re.ASCII,
)
_FIGURE_MOST = 1 << 62


def flow_of_method(method: str) -> str:
    """The flow of a method; those that neither read nor write have their own name: ``delete``."""
    return _FLOWS.get(method, method.lower())


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one method, since the start of the test."""

    finished: int = 0
    failed: int = 0
    nbytes: int = 0
    spent_ms: int = 0
    timed: int = 0
    within: Mapping[str, int] = field(default_factory=dict)
    """How many took at most so many milliseconds, by the figure as it is printed."""

    def ranges(self, longest_seconds: float) -> dict[int, int]:
        """Completions by the bucket of the most that they can have taken.

        The greatest range has no end: nothing took longer than ``longest_seconds``.
        """
        buckets: dict[int, int] = {}
        before = 0
        for end, count in self.within.items():
            most = (int(end) + 1) / 1e3 if end.isdecimal() else longest_seconds
            if count > before:
                bucket = stats.bucket_of(round(most * 1e9))
                buckets[bucket] = buckets.get(bucket, 0) + count - before
            before = max(before, count)
        return buckets


@dataclass(frozen=True, slots=True)
class Scrape:
    """The metrics at one moment."""

    at: float
    state: str
    passed_on: int
    """Bytes to the endpoint."""
    methods: Mapping[str, Counts]
    start_ms: int | None = None
    end_ms: int | None = None


class _Reader:
    """Lines that become scrapes."""

    def __init__(self) -> None:
        self._begun: tuple[float, str, int] | None = None
        self._figures: dict[str, dict[str, int]] = {}
        self._within: dict[str, dict[str, int]] = {}

    def take(self, line: str) -> Scrape | None:
        """A scrape that ends with this line."""
        if begun := _AT.fullmatch(line):
            self._begun = float(begun[1]), begun[2], int(begun[3])
            self._figures, self._within = {}, {}
        elif line == "# end" and self._begun:
            at, state, passed_on = self._begun
            self._begun = None
            times = self._figures.pop("", {})
            methods = {name: self._counts(name) for name in self._figures}
            return Scrape(at, state, passed_on, methods, times.get("test_start"), times.get("test_end"))
        elif metric := _LINE.fullmatch(line):
            name, method, end, value = (part or "" for part in metric.groups())
            self._note(name, method, end, value)
        return None

    def _note(self, name: str, method: str, end: str, value: str) -> None:
        try:
            count = int(float(value))
        except ValueError:
            return
        if count > _FIGURE_MOST:
            return
        if name == "ops_latency_bucket" and (end.isdecimal() or end == "+Inf"):
            self._within.setdefault(method, {})[end] = count
        else:
            self._figures.setdefault(method, {})[name] = count

    def _counts(self, method: str) -> Counts:
        figures = self._figures[method]
        return Counts(
            finished=figures.get("finished_ops", 0),
            failed=figures.get("failed_ops", 0),
            nbytes=figures.get("uploaded_bytes", 0) + figures.get("downloaded_bytes", 0),
            spent_ms=figures.get("ops_latency_sum", 0),
            timed=figures.get("ops_latency_count", 0),
            within=self._within.get(method, {}),
        )


class GosbenchParser(LineParser):
    """A reading for each second; until the objects are prepared it has the bytes that are sent."""

    line_most = 1 << 16

    def __init__(self, object_bytes: int, seconds: float | None) -> None:
        """``object_bytes`` is 0 where they differ: then what failed can't be taken out of the bytes."""
        super().__init__()
        self._object_bytes, self._seconds = object_bytes, seconds
        self._log_rest = b""
        self._reader = _Reader()
        self._state = ""
        self._sent_at, self._sent_bytes = 0.0, 0
        self._begun: Scrape | None = None
        self._last: Scrape | None = None
        self._intervals = Intervals()
        self._own_error, self._wrong = "", ""
        self._why: dict[str, str] = {}
        """The first error of each method."""

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream == "stderr":
            *lines, self._log_rest = (self._log_rest + data)[-self.line_most :].split(b"\n")
            for line in lines:
                self._hear(line.decode("utf-8", "replace"))
        return super().feed(stream, data, elapsed_seconds)

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        scrape = self._reader.take(line)
        return self._take_scrape(scrape, elapsed_seconds) if scrape else []

    def _hear(self, line: str) -> None:
        """A line of the logs; the first error is kept, of all and of each method."""
        if line.startswith("cephtui: "):
            self._own_error = self._own_error or line.removeprefix("cephtui: ")
        elif is_error(line):
            message = message_of(line)
            self._wrong = self._wrong or message
            if method := failed_method(line):
                self._why.setdefault(method, message.partition(": ")[2])

    def _take_scrape(self, scrape: Scrape, elapsed: float) -> list[Reading]:
        self._state = scrape.state
        if self.is_preparing():
            return self._prepared(scrape, elapsed)
        if self._last is None:  # what is in the first has been done in a moment, and goes into the first second
            self._begun = self._last = Scrape(scrape.at, scrape.state, 0, {})
            return []
        before, self._last = self._last, scrape
        seconds = scrape.at - before.at
        flows = {} if seconds <= 0 else self._flows(before, scrape, seconds)
        if not flows:
            return []
        may_be_last = self._seconds is not None and self._run_seconds >= self._seconds - HELD_SECONDS
        return self._intervals.add(Reading("run", elapsed, seconds, *by_direction(flows)), hold=may_be_last)

    def _prepared(self, scrape: Scrape, elapsed: float) -> list[Reading]:
        """The bytes that went to the gateway, with what HTTP needs."""
        seconds, more = scrape.at - self._sent_at, scrape.passed_on - self._sent_bytes
        self._sent_at, self._sent_bytes = scrape.at, scrape.passed_on
        if seconds <= 0 or more < 0 or self._last:
            return []
        return [Reading("prepare", elapsed, seconds, None, Interval(None, more, None, more / seconds))]

    def _flows(self, before: Scrape, now: Scrape, seconds: float) -> dict[str, Interval]:
        """The intervals between two scrapes, by flow."""
        intervals = {}
        lasted = now.at - self._begun.at if self._begun else seconds
        for method, counts in now.methods.items():
            old = before.methods.get(method, Counts())
            timed, spent = counts.timed - old.timed, counts.spent_ms - old.spent_ms
            mean = spent / timed / 1e3 if timed > 0 else None
            buckets = stats.subtract_buckets(counts.ranges(lasted), old.ranges(lasted))
            ios = max(0, counts.finished - old.finished)
            nbytes = max(0, self._bytes(counts) - self._bytes(old)) if method in _FLOWS else None
            intervals[flow_of_method(method)] = stats.make_interval(ios, nbytes, seconds, mean, buckets)
        return intervals

    def _bytes(self, counts: Counts) -> int:
        """The bytes of what has not failed, where that is known."""
        return counts.nbytes - (counts.failed * self._object_bytes if counts.nbytes else 0)

    @property
    def _run_seconds(self) -> float:
        return self._last.at - self._begun.at if self._last and self._begun else 0.0

    def is_preparing(self) -> bool:
        return self._state not in ("working", "done")

    def is_prepared(self) -> bool:
        return self._state == "prepared"

    def finish(self) -> list[Reading]:
        return self._intervals.release()

    def result(self) -> ToolResult:
        error = self._own_error or self._wrong or None
        last = self._last
        if last is None:
            return ToolResult(error=error)
        seconds = self._run_seconds
        if last.start_ms and last.end_ms and last.end_ms > last.start_ms:
            seconds = (last.end_ms - last.start_ms) / 1e3
        flows = {flow_of_method(method): self._flow(method, counts, seconds) for method, counts in last.methods.items()}
        done = {name: flow for name, flow in flows.items() if flow}
        return ToolResult(*by_direction(done), error=error, findings=self._findings(last, seconds))

    def _flow(self, method: str, counts: Counts, seconds: float) -> stats.Flow | None:
        """The whole run of one method; None where nothing was finished."""
        if not counts.finished or seconds <= 0:
            return None
        nbytes = max(0, self._bytes(counts)) if method in _FLOWS else None
        moments = stats.Moments(counts.timed, counts.spent_ms / counts.timed / 1e3, None) if counts.timed else None
        return stats.make_flow(counts.finished, nbytes, seconds, counts.ranges(seconds), moments)

    def _findings(self, last: Scrape, seconds: float) -> tuple[Finding, ...]:
        failed = [(name, counts.failed, counts.finished) for name, counts in last.methods.items() if counts.failed]
        findings = [self._failed(*counts) for counts in failed]
        if any(counts.finished for counts in last.methods.values()):
            findings.append(COARSE.found())
        if self._seconds is not None and seconds > _LATE_FACTOR * self._seconds + _LATE_SECONDS:
            findings.append(OVERRUN.found(measured_seconds=seconds, wanted_seconds=self._seconds))
        return tuple(findings)

    def _failed(self, method: str, failed: int, finished: int) -> Finding:
        figures = "latency" if self._object_bytes else "latency and bandwidth"
        share = 100 * failed / (failed + finished)
        return FAILED_OPS.found(
            operation=method, failed=failed, share_percent=share, figures=figures, why=self._why.get(method)
        )


_LATE_FACTOR, _LATE_SECONDS = 1.1, 1.0
"""An end so late is more than what was in flight."""
