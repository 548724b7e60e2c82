"""iperf3's output becomes readings and a result: lines of text, or from 3.17 on a line of JSON for each event.

Formats: iperf3 3.12 ``-V -i 1 -f k --forceflush``, and 3.18 ``--json-stream``; other units have three digits. What the
client sends is a write, what it receives a read. Of the whole, the bytes that have arrived count: what the sender has
handed to its kernel is more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cephtui.models import Finding, Interval
from cephtui.models.findings.client import ONE_THREAD
from cephtui.reading import load_json
from cephtui.stats import Flow, known_sum, mean_of_known
from cephtui.tools.base import Reading, ToolResult
from cephtui.tools.lines import LineParser

_BUSY_PERCENT = 85
"""Percent of one CPU: a thread that is busier may be what limits."""
_ONE_THREAD_BELOW = (3, 16)
"""Before it one thread serves all streams."""
_FIGURE_MOST = 1e18
_HINTS = {
    "Connection refused": "nothing listens there: does the server run?",
    "Connection timed out": "no answer: does a firewall drop the port?",
    "No route to host": "does a firewall reject the port?",
}
_ROW = re.compile(
    r"\[ *(?P<id>SUM|[0-9]{1,5})\](?:\[(?P<role>TX|RX)-[CS]\])? +"
    r"(?P<start>[0-9]{1,6}\.[0-9]{2})-(?P<end>[0-9]{1,6}\.[0-9]{2})"
    r" +sec +[0-9.]{1,9} [A-Z]?Bytes +(?P<rate>[0-9.]{1,15}) (?P<unit>[KMGT]?)(?P<of>bits|Bytes)/sec(?P<rest>.*)"
)
_BYTES_A_SECOND = {"bits": (1 / 8, 1000), "Bytes": (1, 1024)}
"""Bytes of a unit, and the factor to the next one."""
_RETRANSMITS = re.compile(r" +([0-9]{1,10})\b")
_VERSION = re.compile(r"iperf ([0-9]{1,3})\.([0-9]{1,3})")
_CPU = re.compile(
    r"CPU Utilization: local/\w+ (?P<local>[0-9.]{1,9})% \((?P<user>[0-9.]{1,9})%u/(?P<system>[0-9.]{1,9})%s\), "
    r"remote/\w+ (?P<remote>[0-9.]{1,9})%"
)


@dataclass(slots=True)
class _Part:
    """The data of one side in an interval, or in the whole run."""

    start: float
    end: float
    bytes: int
    retransmits: int | None = None
    rtt_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """After the ramp the start of an interval may still be of the clock before."""
        return self.end - self.start if self.start < self.end else self.end

    def interval(self) -> Interval:
        rate = self.bytes / self.seconds
        return Interval(None, self.bytes, None, rate, retransmits=self.retransmits, rtt_seconds=self.rtt_seconds)


@dataclass(slots=True)
class _Side:
    """One direction: its intervals since the ramp, and what iperf3 says of the whole."""

    ended: float = 0.0
    is_ramp: bool = False
    parts: list[_Part] = field(default_factory=list)
    sent: _Part | None = None
    received: _Part | None = None

    def is_new(self, part: _Part, is_ramp: bool) -> bool:
        """Whether an interval follows the last one: where the server is lost, the last is printed again."""
        if self.is_ramp and not is_ramp:
            self.ended = 0.0
        if part.end <= self.ended or part.seconds <= 0:
            return False
        self.ended, self.is_ramp = part.end, is_ramp
        return True

    def flow(self) -> Flow | None:
        """The data that has arrived; without that, as after a stop, what was sent."""
        sent = self.sent or (self._added() if self.parts else None)
        counted = self.received if self.received and self.received.bytes else sent
        if counted is None or counted.seconds <= 0:
            return None
        rate = counted.bytes / counted.seconds
        retransmits = sent.retransmits if sent else None
        rtt = sent.rtt_seconds if sent and sent.rtt_seconds else mean_of_known(p.rtt_seconds for p in self.parts)
        return Flow(None, counted.bytes, counted.seconds, None, rate, {}, None, None, None, None, retransmits, rtt)

    def _added(self) -> _Part:
        lasted = sum(part.seconds for part in self.parts)
        return _Part(0.0, lasted, sum(p.bytes for p in self.parts), known_sum(p.retransmits for p in self.parts))


@dataclass(slots=True)
class _Cpu:
    """How busy the two processes were, in percent of one CPU."""

    local: float
    user: float
    system: float
    remote: float


@dataclass(frozen=True, slots=True)
class IperfRow:
    """A line of its table."""

    stream: str
    """Its number, or ``SUM``."""
    role: str
    """``TX`` or ``RX`` where both directions are measured, else empty."""
    end_seconds: float
    verb: str
    """``sender`` or ``receiver`` of a total."""
    is_ramp: bool


def read_row(line: str) -> IperfRow | None:
    """The row of a line; None for any other line."""
    row = _ROW.match(line)
    if row is None:
        return None
    rest = row["rest"].split()
    verb = rest[-1] if rest and rest[-1] in ("sender", "receiver") else ""
    return IperfRow(row["id"], row["role"] or "", float(row["end"]), verb, "(omitted)" in rest)


class Iperf3Parser(LineParser):
    """A reading for each second, of both directions where both are measured."""

    line_most = 1 << 20
    """256 streams have 70 KiB of JSON."""

    def __init__(self, direction: str, streams: int) -> None:
        super().__init__()
        self._direction, self._streams = direction, streams
        self._reported = ""
        self._sides = {"read": _Side(), "write": _Side()}
        self._ramp_seconds = 0.0
        self._now: dict[str, _Part] = {}
        """The intervals of this second, until both directions are there."""
        self._version: tuple[int, int] | None = None
        self._cpu: _Cpu | None = None

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        return self._take_event(line) if line.startswith("{") else self._take_text(line)

    # ------------------------------------------------------------------ text

    def _take_text(self, text: str) -> list[Reading]:
        if row := _ROW.match(text):
            return self._take_row(row)
        if version := _VERSION.match(text):
            self._version = int(version[1]), int(version[2])
        elif (busy := _CPU.match(text)) and self._cpu is None:
            self._cpu = _cpu_of(busy.groupdict())
        return []

    def _take_row(self, row: re.Match[str]) -> list[Reading]:
        """The readings of a row; of several streams their sum counts."""
        if (row["id"] == "SUM") != (self._streams > 1):
            return []
        start, end, rate = map(_figure, (row["start"], row["end"], row["rate"]))
        unit, step = _BYTES_A_SECOND[row["of"]]
        rate *= unit * step ** " KMGT".index(row["unit"] or " ")
        part = _Part(start, end, round(rate * max(0.0, end - start)))
        if retransmits := _RETRANSMITS.match(row["rest"]):
            part.retransmits = int(retransmits[1])
        side = {"TX": "write", "RX": "read"}.get(row["role"] or "") or self._one_side
        if row["rest"].rstrip().endswith(("sender", "receiver")):
            self._whole(side, part, sent=row["rest"].rstrip().endswith("sender"))
            return []
        return self._interval(side, part, is_ramp="(omitted)" in row["rest"])

    # ------------------------------------------------------------------ JSON

    def _take_event(self, text: str) -> list[Reading]:
        try:
            event = load_json(text)
            kind, data = event["event"], event["data"]
            if kind == "interval":
                return self._take_interval(data)
            if kind == "start":
                self._take_text(str(data["version"]))
            elif kind == "error":
                self._reported = self._reported or str(data)
            elif kind == "end" and data:
                self._take_end(data)
        except (LookupError, TypeError, ValueError, AttributeError):  # no line of iperf3's
            pass
        return []

    def _take_interval(self, data: Mapping[str, Any]) -> list[Reading]:
        readings: list[Reading] = []
        for name, side in (("sum", self._one_side), ("sum_bidir_reverse", "read")):
            if name not in data:
                continue
            part = _part_of(data[name])
            if data[name].get("sender"):
                trips = [_figure(stream.get("rtt", 0)) for stream in data["streams"] if stream.get("sender")]
                part.rtt_seconds = _rtt(trips)
            readings += self._interval(side, part, is_ramp=bool(data[name].get("omitted")))
        return readings

    def _take_end(self, data: Mapping[str, Any]) -> None:
        for name, side in (("", self._one_side), ("_bidir_reverse", "read")):
            for verb in ("sent", "received"):
                if f"sum_{verb}{name}" in data:
                    self._whole(side, _part_of(data[f"sum_{verb}{name}"]), sent=verb == "sent")
        ends = [stream["sender"] for stream in data["streams"] if stream["sender"].get("sender")]
        if ends and (sent := self._sides["write"].sent):
            sent.rtt_seconds = _rtt([_figure(end.get("mean_rtt", 0)) for end in ends])
        if busy := data.get("cpu_utilization_percent"):
            names = {"local": "host_total", "user": "host_user", "system": "host_system", "remote": "remote_total"}
            self._cpu = _cpu_of({name: busy[key] for name, key in names.items()})

    # ------------------------------------------------------------------ both

    @property
    def _one_side(self) -> str:
        """The direction of a row without a role."""
        return "read" if self._direction == "in" else "write"

    def _whole(self, side: str, part: _Part, *, sent: bool) -> None:
        if sent:
            self._sides[side].sent = part
        else:
            self._sides[side].received = part

    def _interval(self, side: str, part: _Part, *, is_ramp: bool) -> list[Reading]:
        """The reading that is complete with it, or with which it does not belong together."""
        state = self._sides[side]
        closed = self.finish() if side in self._now else []
        if not state.is_new(part, is_ramp):
            return closed
        if is_ramp:
            self._ramp_seconds = max(self._ramp_seconds, part.end)
        else:
            state.parts.append(part)
        self._now[side] = part
        return closed + (self.finish() if self._direction != "both" or len(self._now) == 2 else [])

    def finish(self) -> list[Reading]:
        now, self._now = self._now, {}
        if not now:
            return []
        is_ramp = any(self._sides[side].is_ramp for side in now)
        end = max(part.end for part in now.values())
        flows = {side: part.interval() for side, part in now.items()}
        lasted = max(part.seconds for part in now.values())
        elapsed = end if is_ramp else self._ramp_seconds + end
        return [Reading("ramp" if is_ramp else "run", elapsed, lasted, flows.get("read"), flows.get("write"))]

    def result(self) -> ToolResult:
        busy = self._cpu
        return ToolResult(
            read=self._sides["read"].flow(),
            write=self._sides["write"].flow(),
            cpu_user_percent=busy.user if busy else None,
            cpu_system_percent=busy.system if busy else None,
            error=self._error(),
            findings=self._findings(),
        )

    def _error(self) -> str | None:
        lines = [self._reported, *self.errors.spoken]
        line = next((line for line in lines if line and not line.startswith("warning: ")), None)
        if line is None:
            return None
        text = f"iperf3: {line.removeprefix('iperf3: ').removeprefix('error - ')}"
        hint = next((hint for words, hint in _HINTS.items() if text.endswith(words)), "")
        return f"{text}: {hint}" if hint else text

    def _findings(self) -> tuple[Finding, ...]:
        """The finding that a thread of iperf3's own may be what limits."""
        busy = max(self._cpu.local, self._cpu.remote) if self._cpu else 0.0
        if self._cpu is None or self._version is None or busy <= _BUSY_PERCENT:
            return ()
        where = "on the node" if self._cpu.local >= self._cpu.remote else "on the target"
        # not the very figure: the same is said of all links, and then once
        is_only_one = self._version < _ONE_THREAD_BELOW
        if not is_only_one and self._streams != 1:
            return ()
        version = ".".join(map(str, self._version)) if is_only_one else None
        return (ONE_THREAD.found(busy_percent=_BUSY_PERCENT, where=where, version=version),)


def _figure(value: object) -> float:
    """Raises ValueError and TypeError."""
    figure = float(value)  # type: ignore[arg-type]
    if not 0 <= figure <= _FIGURE_MOST:
        raise ValueError(f"no figure: {value}")
    return figure


def _part_of(data: Mapping[str, Any]) -> _Part:
    """Raises ValueError, LookupError and TypeError."""
    start, end, nbytes = (_figure(data[name]) for name in ("start", "end", "bytes"))
    again = data.get("retransmits")
    return _Part(start, end, int(nbytes), None if again is None else int(_figure(again)))


def _cpu_of(percents: Mapping[str, Any]) -> _Cpu:
    return _Cpu(*(_figure(percents[name]) for name in ("local", "user", "system", "remote")))


def _rtt(microseconds: list[float]) -> float | None:
    """The mean round trip of all streams, in seconds; 0 is not known."""
    mean = mean_of_known(value or None for value in microseconds)
    return mean / 1e6 if mean else None
