"""fio's live output: cumulative ``json+`` documents, one a second, become readings and a result.

Format: fio 3.x ``--output-format=json+ --status-interval=1``: whole documents one after the other without
separator, with text lines between them. Every figure in a document counts from the start, or from the end of the
ramp; a second is the difference of two documents.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS, Finding, Interval, OptionValue, Phase
from cephtui.models.findings.client import DEPTH
from cephtui.models.findings.measurement import UNREADABLE
from cephtui.models.metrics import COMMIT, DIRECTIONS, FLUSH
from cephtui.reading import load_json
from cephtui.tools.base import Parser, Reading, Stream, ToolResult
from cephtui.tools.fio.document import BROKEN, bins, block_of, completed, flow_of, flushing_of, newest_form, result_of
from cephtui.tools.fio.flushes import Flushing
from cephtui.tools.fio.options import WITHOUT_LATENCY
from cephtui.tools.fio.versions import checked_figure
from cephtui.tools.lines import SHORTEST_INTERVAL, Intervals
from cephtui.tools.stderr import Errors

DOCUMENT_START = re.compile(r'\{\s*"fio version"')
_END = re.compile(r"\n\}")  # only a document's own closing brace stands at the start of a line
_BUFFER_MOST = 16 << 20
_LINE_MOST = 4096
_TEXT_LINES_MOST = 50
_ERROR_MOST = 500
_ETA_UNKNOWN = 2**31 - 1
_ALL_PERCENT = 99.0
"""Percent of the I/Os that are all; fio has 0.1 for every smaller share."""
_LATE_SECONDS = 0.75
"""fio prints between its jobs' work: what comes so much later than it was measured is placed when it was."""
_ETA_SLACK = 1
"""Seconds; with a rate limit fio still prints 1 where a tenth of a second is left."""
_END_SECONDS = 2.0
"""Before the end of a run of a known length; fio itself prints the length only after two seconds."""


@dataclass(frozen=True, slots=True)
class _Direction:
    """Cumulative counters of reads or writes, over all jobs."""

    ios: int = 0
    """I/Os that were completed; fio counts those that ``began``."""
    began: int = 0
    bytes: int = 0
    runtime_ms: int = 0
    completions: int = 0
    latency_ns: float = 0.0
    """Sum of all completion latencies."""
    buckets: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Counters:
    read: _Direction = _Direction()
    write: _Direction = _Direction()
    flush: _Direction = _Direction()
    lead: _Direction = _Direction()
    """The part of the writes' time before their flushes; empty where there are no commits."""
    wall_ms: int = 0
    eta_seconds: int = 0

    @property
    def began(self) -> int:
        return self.read.began + self.write.began

    @property
    def completions(self) -> int:
        return self.read.completions + self.write.completions

    @property
    def runtime_ms(self) -> int:
        return max(self.read.runtime_ms, self.write.runtime_ms)


def _direction(parts: list[Mapping[str, Any]], blocks: Sequence[int]) -> _Direction:
    latency = [part.get("clat_ns", {}) for part in parts]
    return _Direction(
        ios=sum(map(completed, parts, blocks)),
        began=sum(int(checked_figure(p["total_ios"])) for p in parts),
        bytes=sum(int(checked_figure(p["io_bytes"])) for p in parts),
        runtime_ms=max(int(checked_figure(p["runtime"])) for p in parts),
        completions=sum(int(checked_figure(c.get("N", 0))) for c in latency),
        latency_ns=sum(c.get("N", 0) * float(checked_figure(c.get("mean", 0.0))) for c in latency),
        buckets=stats.add_buckets(bins(p) for p in parts),
    )


def _flushes(flushings: Sequence[Flushing]) -> tuple[_Direction, _Direction]:
    """The flushes of all jobs, and the part of the writes' time before their flushes."""
    flush, leads = [flushing.flush for flushing in flushings], [flushing.lead for flushing in flushings]
    leading = [lead.moments for lead in leads if lead]
    return (
        _timed([flow.moments for flow in flush if flow.moments], stats.add_buckets(flow.buckets for flow in flush)),
        _timed(leading if len(leading) == len(flushings) else []),
    )


def _timed(moments: Sequence[stats.Moments], buckets: Mapping[int, int] | None = None) -> _Direction:
    number = sum(moment.count for moment in moments)
    spent_ns = sum(moment.count * moment.mean * 1e9 for moment in moments)
    return _Direction(ios=number, completions=number, latency_ns=spent_ns, buckets=buckets)


def _counters(document: Mapping[str, Any]) -> _Counters:
    jobs = document["jobs"]
    blocks = [block_of(document, job) for job in jobs]
    flushings = (
        flushing_of(document, job, flow_of(job["write"], block))
        for job, block in zip(jobs, blocks, strict=True)
        if job.get("sync")
    )
    flush, lead = _flushes([flushing for flushing in flushings if flushing])
    return _Counters(
        read=_direction([job["read"] for job in jobs], blocks),
        write=_direction([job["write"] for job in jobs], blocks),
        flush=flush,
        lead=lead,
        wall_ms=int(checked_figure(document.get("timestamp_ms", 0))),
        eta_seconds=max(int(job.get("eta", 0)) for job in jobs),
    )


def _has_latency(document: Mapping[str, Any]) -> bool:
    """Whether latencies are measured; options that can't be read switch nothing off."""
    options = [document.get("global options"), *(job.get("job options") for job in document["jobs"])]
    readable = [job_options for job_options in options if isinstance(job_options, Mapping)]
    return all(str(job_options.get(name, "0")) == "0" for job_options in readable for name in WITHOUT_LATENCY)


def _difference(now: _Direction, before: _Direction, seconds: float) -> Interval | None:
    if not now.ios and not now.bytes:
        return None
    mean = _mean_seconds(now, before)
    buckets = stats.subtract_buckets(now.buckets or {}, before.buckets or {})
    return stats.make_interval(max(0, now.ios - before.ios), max(0, now.bytes - before.bytes), seconds, mean, buckets)


def _mean_seconds(now: _Direction, before: _Direction) -> float | None:
    """The mean latency of what has completed since; None where nothing has."""
    number, spent = now.completions - before.completions, now.latency_ns - before.latency_ns
    return spent / number / 1e9 if number > 0 and spent >= 0 else None


def _flushed(now: _Counters, before: _Counters, seconds: float) -> dict[str, Interval]:
    """The flushes, and where each write is flushed the commits: neither moves any bytes of its own."""
    interval = _difference(now.flush, before.flush, seconds)
    if interval is None:
        return {}
    flush = replace(interval, bandwidth_bytes=None)
    if not now.lead.ios:
        return {FLUSH: flush}
    means = _mean_seconds(now.lead, before.lead), flush.latency_mean_seconds
    mean = means[0] + means[1] if means[0] is not None and means[1] is not None else None
    commit = replace(flush, latency_mean_seconds=mean, latency_p99_seconds=None, latency_buckets=None)
    return {FLUSH: flush, COMMIT: commit}


class FioParser(Parser):
    """``ramp`` is whether the command has a ramp_time, whose figures are kept apart.

    ``without_depth`` has the engine and the depth that it can't reach, where it can't.
    """

    def __init__(
        self, *, ramp: bool, seconds: float | None = None, without_depth: Mapping[str, OptionValue] | None = None
    ) -> None:
        self._seconds, self._without_depth = seconds, without_depth
        self.phase: Phase = "ramp" if ramp else "run"
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._buffer = ""
        self._searched = 0
        self._text: list[str] = []
        self._errors = Errors()
        self._broken = 0
        self._before = _Counters()
        self._ended = 0.0
        """When the newest interval ended."""
        self._intervals = Intervals()
        self._alone: Reading | None = None
        """A phase so far, where it is too short for an interval of its own: given if it stays so."""
        self._cut_any = False
        """Whether the phase has had an interval."""
        self._ending = False
        self._document: Mapping[str, Any] | None = None

    def feed(self, stream: Stream, data: bytes, elapsed_seconds: float) -> list[Reading]:
        if stream == "stderr":
            self._errors.add(data)
            return []
        self._buffer += self._decode(data)
        readings: list[Reading] = []
        while (document := self._next_document()) is not None:
            readings += self._advance(document, elapsed_seconds)
        return readings

    def expect_end(self) -> None:
        self._ending = True

    def finish(self) -> list[Reading]:
        alone, self._alone = self._alone, None
        return self._intervals.release() or ([alone] if alone else [])

    def result(self) -> ToolResult:
        """A run that never left its ramp has no figures."""
        figures = ToolResult()
        try:
            if self._document is not None:
                figures = result_of(self._document, measured=self.phase == "run")
        except BROKEN:
            self._broken += 1
            self._document = None
        return replace(figures, error=self._spoken_error() or figures.error, findings=tuple(self._findings(figures)))

    def _findings(self, figures: ToolResult) -> Iterator[Finding]:
        if self._broken:
            yield UNREADABLE.found(reports=self._broken)
        if self._without_depth and figures.depths.get("1", 0.0) > _ALL_PERCENT:
            yield DEPTH.found(**self._without_depth)

    def _next_document(self) -> Mapping[str, Any] | None:
        """The next whole document, taken from the buffer; what is not one goes to the text lines."""
        while True:
            start = DOCUMENT_START.search(self._buffer)
            if not start:
                self._forget_text()
                return None
            end = _END.search(self._buffer, max(start.end(), self._searched))
            if not end:
                self._searched = max(start.end(), len(self._buffer) - 1)
                self._drop_endless()
                return None
            self._keep_text(self._buffer[: start.start()])
            text, self._buffer = self._buffer[start.start() : end.end()], self._buffer[end.end() :]
            self._searched = 0
            document = _parse(text)
            if document is not None:
                return document
            self._broken += 1
            self._resume_inside(text)

    def _resume_inside(self, text: str) -> None:
        """A document that was cut short may have swallowed the start of the next one."""
        again = DOCUMENT_START.search(text, 1)
        if again:
            self._buffer = text[again.start() :] + self._buffer

    def _forget_text(self) -> None:
        """No document has begun: keep only what may be the beginning of one, or of a line."""
        brace = self._buffer.rfind("{", max(0, len(self._buffer) - 64))
        end = brace if brace >= 0 else len(self._buffer)
        cut = self._buffer.rfind("\n", 0, end) + 1
        if end - cut > _LINE_MOST:
            cut = end
        self._keep_text(self._buffer[:cut])
        self._buffer, self._searched = self._buffer[cut:], 0

    def _drop_endless(self) -> None:
        if len(self._buffer) > _BUFFER_MOST:
            self._broken += 1
            self._buffer, self._searched = "", 0

    def _keep_text(self, text: str) -> None:
        lines = [line.strip()[:_LINE_MOST] for line in text.splitlines()[-_TEXT_LINES_MOST:] if line.strip()]
        self._text = (self._text + lines)[-_TEXT_LINES_MOST:]

    def _spoken_error(self) -> str | None:
        rest = DOCUMENT_START.split(self._buffer, maxsplit=1)[0]
        lines = [*self._errors.spoken, *self._text, *rest.splitlines()]
        return next((line.strip()[:_ERROR_MOST] for line in lines if _is_error(line)), None)

    def _left_ramp(self, now: _Counters, document: Mapping[str, Any]) -> bool:
        """fio measures no latency in the ramp and counts from zero after it.

        While some jobs are still in the ramp, most of what is counted has no latency. With latency switched off
        only the clock shows the end: ``runtime`` starts at zero again while the time of day does not. Elsewhere the
        clock shows nothing: a document that is printed late, as the last one on a busy machine, looks like that.
        """
        if now.completions:
            return 2 * now.completions > now.began
        before = self._before
        passed, counted = now.wall_ms - before.wall_ms, now.runtime_ms - before.runtime_ms
        restarted = before.wall_ms > 0 and counted < 0.5 * passed and not _has_latency(document)
        return now.began > 0 and before.began > 0 and (now.began < before.began or restarted)

    def _advance(self, document: Mapping[str, Any], elapsed: float) -> list[Reading]:
        try:
            document = newest_form(document)
            now = _counters(document)
        except BROKEN:
            self._broken += 1
            return []
        self._document = document
        ready: list[Reading] = []
        if self.phase == "ramp" and self._left_ramp(now, document):
            ready, self.phase, self._before, self._cut_any = self.finish(), "run", _Counters(), False
        elif now.began < self._before.began:
            self._before = _Counters()
        return ready + self._cut(now, elapsed)

    def _cut(self, now: _Counters, elapsed: float) -> list[Reading]:
        """End an interval here, unless it would be too short: then it joins the one held back, or the next."""
        reading = self._reading(now, elapsed)
        is_short = reading.interval_seconds < SHORTEST_INTERVAL
        if is_short and not self._intervals.held:
            if not self._cut_any and (reading.read or reading.write):
                self._alone = reading
            return []
        self._before, self._alone, self._cut_any = now, None, True
        self._ended = reading.elapsed_seconds
        return self._intervals.add(reading, hold=is_short or self._may_end(now))

    def _may_end(self, now: _Counters) -> bool:
        """Whether fio's next interval may be its last, a few milliseconds long: it will have to join this one."""
        unknown = now.eta_seconds == _ETA_UNKNOWN
        if self.phase == "run" and self._seconds is not None:
            seconds_left = self._seconds - now.runtime_ms / 1e3
            # on a machine under load fio's own estimate may be a second too late
            near, unknown = seconds_left < _ETA_SLACK + 0.5, unknown and seconds_left < _END_SECONDS
        else:
            near, unknown = False, unknown and self.phase == "run"
        return self._ending or near or unknown or now.eta_seconds <= _ETA_SLACK

    def _reading(self, now: _Counters, elapsed: float) -> Reading:
        before = self._before
        seconds = (now.runtime_ms - before.runtime_ms) / 1e3
        if seconds <= 0 and before.wall_ms:
            seconds = (now.wall_ms - before.wall_ms) / 1e3
        seconds = max(0.0, min(seconds, ELAPSED_MOST_SECONDS))
        read, write = (
            _difference(getattr(now, direction), getattr(before, direction), seconds) for direction in DIRECTIONS
        )
        return Reading(self.phase, self._end(elapsed, seconds), seconds, read, write, _flushed(now, before, seconds))

    def _end(self, arrived: float, seconds: float) -> float:
        """When an interval ended: as its output arrived, or by fio's own clock where fio printed it late."""
        expected = self._ended + seconds
        return expected if self._ended and arrived - expected > _LATE_SECONDS else arrived


def _parse(text: str) -> Mapping[str, Any] | None:
    try:
        document = load_json(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) and document.get("jobs") else None


def _is_error(line: str) -> bool:
    text = line.strip().lower()
    return (
        text.startswith(("fio:", "error", "bash:", "cephtui:")) or "error=" in text or "failed" in text
    ) and "terminating on signal" not in text
