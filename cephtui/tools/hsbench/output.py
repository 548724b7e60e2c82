"""hsbench's lines become readings and a result.

Format: hsbench 0.1 on stderr, ``Loop: 0, Int: 3, Dur(s): 1.0, Mode: PUT, Ops: 535, MB/s: 2.09, IO/s: 535, Lat(ms): [
min: 3.5, avg: 7.5, 99%: 12.5, max: 14.8 ], Slowdowns: 0`` behind a time in whole seconds. A line is printed when all
threads have passed its interval, so several may come late and at once; the last interval has none, and is what
``Int: TOTAL`` has beside the others. Its latencies are those of single requests, but of a GET until the headers of
the answer, and there is no histogram. ``Slowdowns`` are failed requests; a thread ends with its third.

Its files have the same figures: ``-j`` a list of objects, ``-o`` a table of CSV with two decimals.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import Finding, Interval
from cephtui.models.findings.measurement import ERRORS, FIRST_BYTE
from cephtui.printable import one_line
from cephtui.tools.base import Reading, ToolResult, by_direction
from cephtui.tools.lines import Intervals, LineParser

_FLOWS = {"PUT": "write", "GET": "read", "LIST": "list", "DEL": "delete"}
"""Flows by hsbench's word for the operation; those with the buckets are not measured."""
_NAMES = {"write": "PUT", "read": "GET", "list": "LIST", "delete": "DELETE"}
_TIME = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ", re.ASCII)
_NUMBER = r"(NaN|[+-]Inf|[0-9]{1,15}(?:\.[0-9]{1,6})?)"
_LINE = re.compile(
    r"Loop: [0-9]{1,9}, Int: (TOTAL|[0-9]{1,9}), Dur\(s\): " + _NUMBER + r", Mode: ([A-Z]{1,9}), Ops: ([0-9]{1,15}), "
    r"MB/s: \S{1,20}, IO/s: " + _NUMBER + r", Lat\(ms\): \[ min: " + _NUMBER + r", avg: " + _NUMBER + r", 99%: " +
    _NUMBER + r", max: " + _NUMBER + r" \], Slowdowns: ([0-9]{1,15})"
)  # fmt: skip
_NEWS = re.compile(
    r"Hotsauce S3 Benchmark|Parameters:|Running Loop \d|log, completions|"
    r"(?:url|object_prefix|bucket_prefix|region|modes|output|json_output|max_keys|object_count|bucket_count|duration|"
    r"threads|loops|size|interval)="
)
_FAILED = re.compile(r"(?:upload|download|delete) err")
_WHY = re.compile(r"=(\w{1,100}):(?: |$)|caused by: .*: ([\w ]{1,100})$")
_BEGINS = re.compile(r"Running Loop \d")
_OWN_MOST = 40
_ERRORS_OF_A_THREAD = 3
_HALF_DIGIT_SECONDS = 0.05
"""Durations have one decimal."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The figures of one interval, or of a whole operation."""

    number: int | None
    """None is the whole."""
    seconds: float
    mode: str
    ios: int
    iops: float
    latency_seconds: tuple[float, float, float, float]
    """Least, mean, p99, greatest."""
    failed: int


def _line(text: str) -> _Line | None:
    match = _LINE.fullmatch(text.rstrip())
    if not match:
        return None
    number, seconds, mode, ios, iops, *latency, failed = match.groups()
    least, mean, p99, most = (round(_finite(milliseconds) / 1000, 6) for milliseconds in latency)
    return _Line(
        number=None if number == "TOTAL" else int(number),
        seconds=_finite(seconds),
        mode=mode,
        ios=int(ios),
        iops=_finite(iops),
        latency_seconds=(least, mean, p99, most),
        failed=int(failed),
    )


def _finite(text: str) -> float:
    """Rates of nothing are no numbers."""
    return float(text) if text[-1].isdigit() else 0.0


class _Operation:
    """One of the operations, from its beginning on."""

    def __init__(self, begun: float, block_bytes: int) -> None:
        self._begun, self._block_bytes = begun, block_bytes
        self.lines: list[_Line] = []
        """Its intervals; of a whole operation it alone."""
        self.seconds = 0.0
        self.ios = 0
        self.intervals = Intervals()

    def interval(self, flow: str, line: _Line) -> list[Reading]:
        """The interval before this one: the last may still be joined with the rest."""
        self.lines.append(line)
        self.ios, self.seconds = self.ios + line.ios, self.seconds + line.seconds
        _, mean, p99, _ = line.latency_seconds
        figures = stats.make_interval(line.ios, self.bytes(line.ios), line.seconds, mean if line.ios else None, None)
        figures = replace(figures, latency_p99_seconds=p99 if line.ios else None)
        return self.intervals.add(self._reading(flow, line.seconds, figures), hold=True)

    def whole(self, flow: str, line: _Line, arrived: float) -> list[Reading]:
        """The readings of the whole that are not yet counted."""
        rest, before = line.ios - self.ios, self.seconds
        self.seconds, self.lines = self._length(line, arrived), [line]
        lasted = max(0.0, self.seconds - before)
        self.ios = line.ios
        if rest <= 0 or not (lasted or self.intervals.held):
            return self.intervals.release()
        figures = stats.make_interval(rest, self.bytes(rest), lasted, None, None)
        return self.intervals.add(self._reading(flow, lasted, figures), hold=False)

    def bytes(self, ios: int) -> int | None:
        """The bytes; None where the operation moves none."""
        return ios * self._block_bytes if self._block_bytes else None

    def flow(self) -> stats.Flow | None:
        """All of it so far; None where nothing was done."""
        lines = [line for line in self.lines if line.ios]
        if not lines:
            return None
        count = sum(line.ios for line in lines)
        mean = sum(line.ios * line.latency_seconds[1] for line in lines) / count
        moments = stats.Moments(count, mean, None)
        bounds = min(line.latency_seconds[0] for line in lines), max(line.latency_seconds[3] for line in lines)
        whole = stats.make_flow(count, self.bytes(count), self.seconds, moments=moments, bounds=bounds)
        return replace(whole, p99_seconds=lines[0].latency_seconds[2] if lines[0].number is None else None)

    def _reading(self, flow: str, lasted: float, figures: Interval) -> Reading:
        return Reading("run", self._begun + self.seconds, lasted, *by_direction({flow: figures}))

    def _length(self, line: _Line, arrived: float) -> float:
        """The length of the whole: when its line came, within what its rounded duration and rate leave open."""
        least, most = max(0.0, line.seconds - _HALF_DIGIT_SECONDS), line.seconds + _HALF_DIGIT_SECONDS
        if line.iops >= 1:
            least, most = max(least, line.ios / (line.iops + 0.5)), min(most, line.ios / (line.iops - 0.5))
        return min(max(arrived - self._begun, least), max(least, most))


class HsbenchParser(LineParser):
    """A reading for each interval of each operation, by hsbench's own clock."""

    stream = "stderr"
    line_most = 8192

    def __init__(self, block_bytes: int, threads: int | None) -> None:
        """``threads`` is None where it is not known how many there were."""
        super().__init__()
        self._block_bytes, self._threads = block_bytes, threads
        self._begun = 0.0
        self._operations: dict[str, _Operation] = {}
        self._failed: dict[str, int] = {}
        """Requests, by flow."""
        self._why: str = ""
        self._last_own = False
        self._own: list[str] = []
        """Lines that are neither figures nor news."""

    def finish(self) -> list[Reading]:
        """The last readings: of the last line, if it is whole, and those that were held back."""
        last = self.take_rest(self._begun)
        return [
            *last,
            *(reading for operation in self._operations.values() for reading in operation.intervals.release()),
        ]

    def result(self) -> ToolResult:
        flows = {name: flow for name, operation in self._operations.items() if (flow := operation.flow())}
        enough = self._threads * _ERRORS_OF_A_THREAD if self._threads else None
        ended = [name for name, failed in self._failed.items() if enough and failed >= enough]
        error = self._error() or (self._failures(ended[0]).text if ended else None)
        findings = self._findings(has_read="read" in flows)
        return ToolResult(*by_direction(flows), error=error, failed=bool(ended), findings=findings)

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        time = _TIME.match(line)
        text = line[time.end() :] if time else line
        figures = _line(text)
        if figures is None:
            self._note(text, is_new=bool(time), elapsed=elapsed_seconds)
            return []
        flow = _FLOWS.get(figures.mode)
        if flow is None:
            return []
        operation = self._operations.setdefault(flow, _Operation(self._begun, self._block_bytes * _carries(flow)))
        if figures.number is not None:
            return operation.interval(flow, figures)
        self._failed[flow] = figures.failed
        return operation.whole(flow, figures, elapsed_seconds)

    def _note(self, text: str, *, is_new: bool, elapsed: float) -> None:
        """A line without figures: the start of an operation, an error, or its second line."""
        if _BEGINS.match(text):
            self._begun = elapsed
        decoded = one_line(text).strip()[:500]
        if not decoded or _NEWS.match(text):
            self._last_own = self._last_own and not is_new
            return
        if _FAILED.match(text) or (not is_new and not self._last_own and not self._is_own(text)):
            reason = _WHY.search(decoded)
            self._why = self._why or (reason and (reason[1] or reason[2])) or ""
            self._last_own = False
        elif is_new or self._is_own(text):
            self._own = [*self._own, decoded][-_OWN_MOST:]
            self._last_own = True
        elif self._own:
            self._own[-1] = f"{self._own[-1]} {decoded}"[:1000]

    @staticmethod
    def _is_own(text: str) -> bool:
        """Whether a line without a time is no second line: it is of what starts hsbench."""
        return not text[:1].isspace() and not text.startswith("caused by: ")

    def _error(self) -> str | None:
        """In one line: that of its end, where it says that it can't go on."""
        fatal = next((line for line in self._own if line.startswith("FATAL: ")), None)
        return _plain(fatal) if fatal else next(iter(self._own[-1:]), None)

    def _findings(self, *, has_read: bool) -> tuple[Finding, ...]:
        failures = [self._failures(name) for name, failed in self._failed.items() if failed]
        return (*failures, FIRST_BYTE.found()) if has_read else tuple(failures)

    def _failures(self, flow: str) -> Finding:
        """The finding of failures, with the least and the most threads that these have ended."""
        failed = self._failed[flow]
        if self._threads is None:
            return ERRORS.found(operation=_NAMES[flow], failed=failed, why=self._why or None)
        least = max(0, failed - (_ERRORS_OF_A_THREAD - 1) * self._threads)
        most = min(self._threads, failed // _ERRORS_OF_A_THREAD)
        threads = {"threads": self._threads, "threads_least": least, "threads_most": most} if most else {}
        return ERRORS.found(operation=_NAMES[flow], failed=failed, why=self._why or None, **threads)


def _carries(flow: str) -> bool:
    """Whether an operation moves an object's bytes; hsbench counts them for a DELETE, too."""
    return flow in ("read", "write")


def _plain(fatal: str) -> str:
    """``FATAL: Unable to create bucket B (is your access and secret correct?): Code: text`` in fewer words."""
    text = fatal.removeprefix("FATAL: ").replace(" (is your access and secret correct?)", "")
    text = re.sub(r"\s*status code: (\d+), request id: .*", r" status \1", text)
    return re.sub(r"RequestError: send request failed caused by: (?:\w+ \"[^\"]*\": )?", "", text)
