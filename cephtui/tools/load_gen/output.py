"""``rados load-gen``'s live output, two lines for each operation, becomes readings and a result.

Format (rados 16.2)::

    preparing 8 objects
    load-gen will run 5 seconds
        1: throughput=0MB/sec pending data=0
    WRITE : oid=obj-z3oh3EX-TFtgzvj off=2186852 len=388334
    op 0 completed, throughput=0.0796MB/sec
    waiting for all operations to complete
    cleaning up objects

The operations are numbered in the order of their first lines. ``throughput`` is the mean since the start. Whether an
operation has failed is printed nowhere, and those that have count like the others.
"""

from __future__ import annotations

import re

from cephtui import stats
from cephtui.models import Interval
from cephtui.models.findings.data import HOLES
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import HELD_SECONDS, Intervals, LineParser

_PENDING_MOST = 1_000_000
_BEGIN = re.compile(r"load-gen will run \d{1,9} seconds", re.ASCII)
_OP = re.compile(r"(READ|WRITE) : oid=\S{1,64} off=\d{1,18} len=(\d{1,12})", re.ASCII)
_DONE = re.compile(r"op (\d{1,12}) completed", re.ASCII)
_UNMADE = "load-gen bootstrap failed"


class _Counts:
    """Operations and bytes of reads and writes."""

    def __init__(self) -> None:
        self.ops = {"read": 0, "write": 0}
        self.bytes = {"read": 0, "write": 0}

    def add(self, kind: str, size: int) -> None:
        self.ops[kind] += 1
        self.bytes[kind] += size

    def interval(self, kind: str, seconds: float) -> Interval:
        return stats.make_interval(self.ops[kind], self.bytes[kind], seconds, None, None)

    def flow(self, kind: str, seconds: float) -> stats.Flow | None:
        ops, size = self.ops[kind], self.bytes[kind]
        if not ops or seconds <= 0:
            return None
        return stats.make_flow(ops, size, seconds)


class LoadGenParser(LineParser):
    """There is no ramp. ``seconds`` is how long it runs."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self._seconds = seconds
        self._begun: float | None = None
        self._cut_at = self._done_at = 0.0
        self._number = 0
        self._pending: dict[int, tuple[str, int]] = {}
        """Operations that have begun, with their kind and size."""
        self._kinds: set[str] = set()
        self._all, self._now = _Counts(), _Counts()
        self._intervals = Intervals()

    def finish(self) -> list[Reading]:
        """The last reading: what was completed after the last whole second, or that joined with the one before it."""
        if self._done_at > self._cut_at and any(self._now.ops.values()):
            return self._intervals.add(self._reading(self._done_at), hold=False)
        return self._intervals.release()

    def result(self) -> ToolResult:
        """It prints no totals: all is the sum of what was completed."""
        seconds = self._done_at - self._begun if self._begun is not None else 0.0
        read, write = (self._all.flow(kind, seconds) for kind in ("read", "write"))
        findings = (HOLES.found(),) if self._all.ops["read"] else ()
        return ToolResult(read, write, error=self._error(), findings=findings)

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        at = elapsed_seconds
        if self._begun is None:
            if _BEGIN.fullmatch(line.rstrip("\r")):
                self._begun = self._cut_at = self._done_at = at
            return []
        ready = self._cut(at) if at - self._cut_at >= 1.0 else []
        if begun := _OP.search(line):
            if len(self._pending) < _PENDING_MOST:
                self._pending[self._number] = begun[1].lower(), int(begun[2])
                self._kinds.add(begun[1].lower())
            self._number += 1
        for done in _DONE.finditer(line):
            if operation := self._pending.pop(int(done[1]), None):
                self._done_at = at
                self._all.add(*operation)
                self._now.add(*operation)
        return ready

    def _cut(self, at: float) -> list[Reading]:
        """End an interval here."""
        assert self._begun is not None
        may_be_last = self._seconds is None or at - self._begun + HELD_SECONDS >= self._seconds
        return self._intervals.add(self._reading(at), hold=may_be_last)

    def _reading(self, at: float) -> Reading:
        seconds, now = at - self._cut_at, self._now
        self._cut_at, self._now = at, _Counts()
        read, write = (now.interval(kind, seconds) if kind in self._kinds else None for kind in ("read", "write"))
        return Reading("run", at, seconds, read, write)

    def _error(self) -> str | None:
        lines = self.errors.spoken
        first = next((line for line in lines if line != _UNMADE), None)
        if first and _UNMADE in lines:
            return f"its objects could not be created: {first}"
        return first or next(iter(lines), None)
