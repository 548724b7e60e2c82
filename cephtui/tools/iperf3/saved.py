"""Every run in a saved log of iperf3 over TCP, as text or as JSON; the formats are in ``output``.

A run begins where a client connects or a server accepts; what a server has received is read there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS, OptionValue
from cephtui.models.findings.measurement import INCOMPLETE
from cephtui.tools.base import Reading
from cephtui.tools.commands import CommandLine, begun_by, command_lines, parsed_options
from cephtui.tools.dates import as_date
from cephtui.tools.documents import json_documents
from cephtui.tools.iperf3.options import Iperf3Options
from cephtui.tools.iperf3.output import Iperf3Parser, read_row
from cephtui.tools.logs import FoundRun, Log, LogLine, is_variable, without_output
from cephtui.tools.options import size_or_zero
from cephtui.tools.signs import Sign
from cephtui.units import short_size

_LETTERS = (
    "c=client s=server p=port t=time P=parallel R=reverse O=omit w=window l=length Z=zerocopy N=no-delay "
    "J=json V=verbose i=interval f=format n=bytes k=blockcount B=bind u=udp b=bitrate C=congestion A=affinity "
    "4=version4 6=version6 M=set-mss S=tos T=title D=daemon 1=one-off d=debug"
)
_SHORT = dict(pair.split("=") for pair in _LETTERS.split())
_FLAGS = frozenset(
    (
        *("server", "reverse", "bidir", "zerocopy", "no-delay", "json", "json-stream", "verbose", "udp"),
        *("version4", "version6", "daemon", "one-off", "forceflush", "get-server-output", "debug", "dont-fragment"),
        *("repeating-payload",),
    )
)
_OF_OUTPUT = frozenset(
    (
        *("json", "json-stream", "verbose", "interval", "format", "forceflush", "logfile", "title", "timestamps"),
        *("debug", "get-server-output", "client", "server", "port", "one-off", "daemon", "bind", "version4"),
        *("version6",),
    )
)
"""Who talks to whom, and what is printed: no part of what is measured."""
_OWN = frozenset(("time", "parallel", "reverse", "bidir", "omit", "window", "length", "zerocopy", "no-delay"))
_GAP_LINES = 30
"""Lines of one run are not further apart."""
_BLOCK_BYTES = 131072
"""Bytes of one write to a socket, by default."""
_CONNECTS = re.compile(r"Connecting to host (?P<host>[^\s,]+), port \d+")
_ACCEPTS = re.compile(r"Accepted connection from (?P<host>[^\s,]+), port \d+")
_HEADING = re.compile(r"\[ *ID\](?:\[Role\])? +Interval +.*")
_VERSION = re.compile(r"iperf 3\.\d+\S*")
_STARTING = re.compile(
    r"Starting Test: protocol: (\w+), (\d+) streams?, (\d+) byte blocks, omitting (\d+) seconds?, .*"
)
_SECONDS = re.compile(r"Starting Test: .* (\d+) seconds? test.*")
_TIME = re.compile(r"Time: (\w+, \d+ \w+ \d+ [\d:]+) (?:GMT|UTC)")
_DATE = "%a, %d %b %Y %H:%M:%S"
_SYSTEM = re.compile(r"Linux (\S+) \d+\..*")
_ERROR = re.compile(r"iperf3: .*")
_OF_UDP = ("Total Datagrams", "Jitter")
_DOCUMENT = re.compile(r"\{(?=\s*\"(?:start\"\s*:\s*\{|event\"\s*:\s*\"start\"))")
_EVENT = re.compile(r"\{(?=\s*\"event\"\s*:\s*\")")
SIGNS: Sequence[Sign] = (
    Sign("begun", r"Connecting to host \S+, port \d"),
    Sign("output", r'\[ *ID\] Interval .*Total Datagrams|"protocol" *: *"UDP"', "iperf3 over UDP"),
    Sign("output", r"\[ *(?:\d+|SUM)\] .*bits/sec|\"(?:test_start|connected)\""),
    Sign("error", r"iperf3: error - "),
)
COMMAND = ("iperf3", r"\s(?:-c|--client)")
FILES = (("iperf3 that has failed", r'"intervals"\s*:\s*\[\s*\][\s\S]{0,400}"error"\s*:'),)


@dataclass(frozen=True, slots=True)
class _Measurement:
    """A run, and what is known of it before its command is."""

    line: int
    last_line: int
    output: bytes
    """The output as the parser takes it."""
    direction: str
    streams: int
    host: str = ""
    node: str = ""
    version: str = ""
    error: str = ""
    started_at: datetime | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    """The options as a preset has them."""
    other: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    is_server: bool = False
    request: str = ""


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    if "its/sec" not in log.text and "Bytes/sec" not in log.text and "test_start" not in log.text:
        return []
    measurements = sorted([*_documents(log), *_streamed(log), *_texts(log)], key=lambda measurement: measurement.line)
    begun = begun_by(command_lines(log, "iperf3"), measurements, lambda output: (output.line, output.last_line), _fits)
    return [
        run for measurement, command in zip(measurements, begun, strict=True) if (run := _run(measurement, command))
    ]


# ---------------------------------------------------------------------------------------------- JSON


def _documents(log: Log) -> Iterator[_Measurement]:
    for document in json_documents(log, _DOCUMENT, '"test_start"'):
        content = document.content
        if not (isinstance(content, dict) and isinstance(content.get("intervals"), list)):
            continue
        events: list[Any] = [{"event": "start", "data": content["start"]}]
        events += [{"event": "interval", "data": data} for data in content["intervals"]]
        if content.get("error"):
            events.append({"event": "error", "data": content["error"]})
        events.append({"event": "end", "data": content.get("end")})
        if measurement := _of_events(events, document.line, document.last_line):
            yield measurement


def _streamed(log: Log) -> Iterator[_Measurement]:
    events: list[Any] = []
    first = 0
    for document in json_documents(log, _EVENT, '"event"'):
        kind = document.content.get("event")
        if kind == "start":
            events, first = [], document.line
        events.append(document.content)
        if kind == "end" and first and (measurement := _of_events(events, first, document.last_line)):
            yield measurement
            first = 0


def _of_events(events: Sequence[Mapping[str, Any]], line: int, last_line: int) -> _Measurement | None:
    """The measurement of a document; None for what is not of TCP, or no output of iperf3."""
    try:
        start = events[0]["data"]
        test = start["test_start"]
        streams = int(test["num_streams"])
        if test["protocol"] != "TCP" or not 0 < streams < 1000:
            return None
        is_server = "connecting_to" not in start
        peer = start["accepted_connection"] if is_server else start["connecting_to"]
        system = _SYSTEM.match(str(start.get("system_info", "")))
        return _Measurement(
            line=line,
            last_line=last_line,
            output=b"".join(json.dumps(event).encode() + b"\n" for event in events),
            direction=_direction(test.get("reverse"), test.get("bidir"), is_server=is_server),
            streams=streams,
            host=str(peer["host"]),
            node=system[1] if system else "",
            version=str(start["version"])[:100],
            started_at=_date(start.get("timestamp", {}).get("timesecs")),
            options=_stated(test, start),
            other={name: str(test[name]) for name in ("bytes", "blocks", "target_bitrate", "tos") if test.get(name)},
            is_server=is_server,
            request=json.dumps(test, sort_keys=True),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _direction(reverse: object, is_bidir: object, *, is_server: bool) -> str:
    return "both" if is_bidir else "in" if bool(reverse) is not is_server else "out"


def _date(seconds: object) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int) and 0 < seconds < 1 << 35 else None


def _stated(test: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, object]:
    """The options that a document states."""
    options: dict[str, object] = {"omit": test.get("omit", 0)}
    if test.get("duration"):
        options["runtime"] = test["duration"]
    if test.get("blksize") not in (None, 0, _BLOCK_BYTES):
        options["length"] = short_size(int(test["blksize"]))
    if start.get("sock_bufsize"):
        options["window"] = short_size(int(start["sock_bufsize"]))
    return options


# ---------------------------------------------------------------------------------------------- text


def _texts(log: Log) -> Iterator[_Measurement]:
    for lines in _blocks(log.lines):
        if measurement := _of_lines(lines):
            yield measurement


def _blocks(lines: Sequence[LogLine]) -> Iterator[list[LogLine]]:
    """The lines of each run, with those of its version and time."""
    block: list[LogLine] = []
    begun = over = False
    for line in lines:
        text = line.text.strip()
        row = read_row(text)
        begins = bool(_CONNECTS.match(text) or _ACCEPTS.match(text))
        is_far = bool(block) and line.number - block[-1].number > _GAP_LINES
        if begun and (is_far or begins or _VERSION.fullmatch(text) or (over and _HEADING.match(text) and not row)):
            yield block
            block, begun, over = [], False, False
        if begins or (not begun and _HEADING.match(text)):
            begun = True
        if _is_own(text) or row:
            block.append(line)
        over = over or text == "iperf Done."
    if begun:
        yield block


def _is_own(text: str) -> bool:
    forms = (_CONNECTS, _ACCEPTS, _HEADING, _VERSION, _STARTING, _TIME, _SYSTEM, _ERROR)
    return any(form.match(text) for form in forms) or text.startswith(
        ("Reverse mode", "CPU Utilization:", "iperf Done")
    )


def _of_lines(lines: Sequence[LogLine]) -> _Measurement | None:
    """The measurement of some lines; None for what is not of TCP, or has no figures."""
    texts = [line.text.strip() for line in lines]
    rows = [row for text in texts if (row := read_row(text))]
    if any(word in text for text in texts for word in _OF_UDP) or not rows:
        return None
    peer = next((match for text in texts if (match := _CONNECTS.match(text) or _ACCEPTS.match(text))), None)
    is_server = bool(peer and peer.re is _ACCEPTS)
    is_reverse = any(text.startswith("Reverse mode") for text in texts)
    if is_server:  # it prints the totals of its own side only
        is_reverse = {row.verb for row in rows if row.verb} == {"sender"}
    ramp = max((row.end_seconds for row in rows if row.is_ramp), default=0.0)
    starting = next((match for text in texts if (match := _STARTING.match(text))), None)
    options: dict[str, object] = {"omit": int(starting[4])} if starting else {"omit": round(ramp)} if ramp else {}
    if seconds := next((match for text in texts if (match := _SECONDS.match(text))), None):
        options["runtime"] = int(seconds[1])
    if starting and int(starting[3]) != _BLOCK_BYTES:
        options["length"] = short_size(int(starting[3]))
    system = next((match[1] for text in texts if (match := _SYSTEM.match(text))), "")
    date = next((as_date(match[1], _DATE) for text in texts if (match := _TIME.match(text))), None)
    return _Measurement(
        line=lines[0].number,
        last_line=lines[-1].number,
        output="".join(f"{text}\n" for text in texts if not _ERROR.match(text)).encode(),
        direction=_direction(is_reverse, any(row.role for row in rows), is_server=is_server),
        streams=len({row.stream for row in rows if row.stream != "SUM" and row.role != "RX"}) or 1,
        host=peer["host"] if peer else "",
        node=system,
        version=next((text for text in texts if _VERSION.fullmatch(text)), ""),
        error=next((text for text in texts if _ERROR.match(text)), ""),
        started_at=date and date.replace(tzinfo=UTC),
        options=options,
        is_whole=any(row.verb for row in rows),
        is_server=is_server,
    )


# ---------------------------------------------------------------------------------------------- both


def _typed_options(command: CommandLine) -> dict[str, str]:
    options, _ = parsed_options(command.words, _SHORT, _FLAGS)
    return options


def _fits(command: CommandLine, measurement: _Measurement) -> bool:
    """Whether a command can have begun a run: all that both say is the same."""
    texts = _typed_options(command)
    if ("server" in texts) is not measurement.is_server or "udp" in texts:
        return False
    if measurement.is_server:
        return True
    client = texts.get("client", "")
    if measurement.host and client and client != measurement.host and not is_variable(client):
        return False
    measured: dict[str, object] = {"parallel": measurement.streams}
    if "runtime" in measurement.options:
        measured["time"] = measurement.options["runtime"]
    asked_for = {"parallel": "1", "time": "10", **texts}
    if "bytes" in texts or "blockcount" in texts:
        measured.pop("time", None)
    direction = _direction("reverse" in texts, "bidir" in texts, is_server=False)
    return direction == measurement.direction and all(
        asked_for[name] == str(value) or is_variable(asked_for[name]) for name, value in measured.items()
    )


def _run(measurement: _Measurement, command: CommandLine | None) -> FoundRun | None:
    """The run of a measurement; None where nothing was measured."""
    parser = Iperf3Parser(measurement.direction, measurement.streams)
    readings: list[Reading] = parser.feed("stdout", measurement.output, 0.0)
    parser.feed("stderr", f"{measurement.error}\n".encode() if measurement.error else b"", 0.0)
    readings += parser.finish()
    result = parser.result()
    if not result.flows and not result.error:
        return None
    texts = _typed_options(command) if command else {}
    options, other = _options(measurement, texts)
    lasted = max((flow.runtime_seconds for flow in result.flows.values()), default=0.0)
    ramp = max((reading.elapsed_seconds for reading in readings if reading.phase == "ramp"), default=0.0)
    return FoundRun(
        line=measurement.line,
        last_line=measurement.last_line,
        name=f"iperf3-{measurement.direction}",
        options=options,
        other_options=other,
        has_all_options=command is not None and not measurement.is_server,
        command=command.text if command else "",
        request=without_output(command.text) if command else measurement.request,
        target=f"host:{measurement.host}" if measurement.host else "",
        node=measurement.node or (command.node if command else ""),
        version=measurement.version,
        started_at=measurement.started_at,
        duration_seconds=min(lasted + ramp, ELAPSED_MOST_SECONDS / 2),
        stopped=not measurement.is_whole,
        error=result.error,
        summary=stats.summarise([result.flows]),
        cpu_user_percent=result.cpu_user_percent,
        cpu_system_percent=result.cpu_system_percent,
        findings=result.findings if measurement.is_whole else (*result.findings, INCOMPLETE.found(log=True)),
        readings=tuple(readings),
    )


def _options(measurement: _Measurement, texts: Mapping[str, str]) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others."""
    values: dict[str, object] = {"direction": measurement.direction, "parallel": measurement.streams}
    if texts and not measurement.is_server:
        is_timed = "bytes" not in texts and "blockcount" not in texts
        values |= {
            "omit": texts.get("omit", "0"),
            **({"runtime": texts.get("time", "10")} if is_timed else {}),
        }
        values |= {name: texts[name] for name in ("window", "length", "zerocopy", "no-delay") if name in texts}
    values |= measurement.options
    options, refused = Iperf3Options.check_each({name: _plain(name, value) for name, value in values.items()})
    other = {**measurement.other, **{name: str(values[name]) for name in refused}}
    rest = {name: value for name, value in texts.items() if name not in _OWN | _OF_OUTPUT}
    return options, {**other, **rest}


def _plain(name: str, value: object) -> object:
    """A size as it is written shortest."""
    if name in ("window", "length") and (size := size_or_zero(str(value))):
        return short_size(size)
    return True if value == "true" else value
