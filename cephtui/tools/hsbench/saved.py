"""Every run of hsbench in a saved log or in one of its files; the forms are in ``output``. Each loop is a run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.tools.base import Reading
from cephtui.tools.dates import as_date
from cephtui.tools.documents import json_documents
from cephtui.tools.hsbench.options import HsbenchOptions
from cephtui.tools.hsbench.output import HsbenchParser
from cephtui.tools.logs import FoundRun, Log, LogLine
from cephtui.tools.options import size_or_zero
from cephtui.tools.signs import Sign
from cephtui.units import short_size

_STAMP = re.compile(r"(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) (.*)")
_DATE = "%Y/%m/%d %H:%M:%S"
_TITLE = re.compile(r"Hotsauce S3 Benchmark Version (\S+)")
_PARAMETER = re.compile(r"([a-z_]{3,20})=(.*)")
_ENDS = re.compile(r"Slowdowns: \d+$")
_LOOP = re.compile(r"(?:Running Loop |Loop: )(\d{1,9})\b")
_LIST = re.compile(r"\[(?=\s*\{\s*\"Loop\"\s*:\s*\d+\s*,\s*\"IntervalName\")")
_TABLE = re.compile(r"Loop,Int\w+,Duration\(s\),Mode,Ops,MB/s,IO/s,.*")
_TIMES = ("MinLat", "AvgLat", "NinetyNineLat", "MaxLat")
_COLUMNS = ("Loop", "IntervalName", "Seconds", "Mode", "Ops", "Mbps", "Iops", *_TIMES, "Slowdowns")
_USUAL = {"object_count": "-1", "max_keys": "1000", "loops": "1", "interval": "1.000000"}
"""Defaults of hsbench for parameters that no preset has."""
_MEASURED = "plgd"
_NEAR = 0.01
"""The fraction by which the size of an object that follows from rounded figures may be off."""
SIGNS: Sequence[Sign] = (
    Sign("output", r"(?:\S+ \S+ )?(?:Running Loop \d|Loop: \d+, Int: )"),
    Sign("begun", r'Loop,Int\w+,Duration\(s\),Mode|"IntervalName" *:'),
)


@dataclass(frozen=True, slots=True)
class _Part:
    """The figures of one loop."""

    line: int
    last_line: int
    pieces: Sequence[tuple[str, float]]
    """Lines as hsbench prints them, and when each came, in seconds."""
    size: int
    """Bytes of an object; 0 where that is not known."""
    parameters: Mapping[str, str]
    version: str = ""
    started_at: datetime | None = None


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    if "Hotsauce" not in log.text and "Loop" not in log.text:
        return []
    parts = [*_texts(log.lines), *_lists(log), *_tables(log.lines)]
    runs = [run for part in parts if (run := _run(part))]
    return sorted(runs, key=lambda run: run.line)


# ---------------------------------------------------------------------------------------------- text


def _texts(lines: Sequence[LogLine]) -> Iterator[_Part]:
    parameters: dict[str, str] = {}
    version, loop = "", ""
    block: list[LogLine] = []
    for line in lines:
        text = _STAMP.sub(r"\2", line.text.strip())
        title, now = _TITLE.match(text), _LOOP.match(text)
        if block and (title or (now and now[1] != loop)):
            yield _part(block, parameters, version)
            block = []
        if title:
            parameters, version, loop = {}, f"hsbench {title[1]}", ""
        elif now:
            loop = now[1]
            block.append(line)
        elif version and not block and (parameter := _PARAMETER.fullmatch(text)):
            parameters[parameter[1]] = parameter[2]
        elif block and (_STAMP.match(line.text.strip()) or text.startswith(("FATAL", "caused by"))):
            block.append(line)
    if block:
        yield _part(block, parameters, version)


def _part(lines: Sequence[LogLine], parameters: Mapping[str, str], version: str) -> _Part:
    texts = [line.text.strip() for line in lines]
    stamps = [stamp[1] if (stamp := _STAMP.match(text)) else "" for text in texts]
    times = [as_date(stamp, _DATE) for stamp in stamps]
    began = next((time for time in times if time), None)
    pieces: list[tuple[str, float]] = []
    at = 0.0
    for text, time in zip(texts, times, strict=True):
        at = max(0.0, (time - began).total_seconds()) if time and began else at
        pieces.append((text, at))
    last = next((line.number for line in reversed(lines) if _LOOP.search(line.text)), lines[-1].number)
    size = size_or_zero(parameters.get("size", ""))
    return _Part(lines[0].number, last, pieces, size, dict(parameters), version, began)


# ---------------------------------------------------------------------------------------------- files


def _lists(log: Log) -> Iterator[_Part]:
    for document in json_documents(log, _LIST, '"IntervalName"'):
        rows = [row for row in document.content if isinstance(row, dict)]
        yield from _of_rows(rows, document.line, document.last_line)


def _tables(lines: Sequence[LogLine]) -> Iterator[_Part]:
    rows: list[dict[str, str]] = []
    first = last = 0
    for line in lines:
        if _TABLE.fullmatch(line.text.strip()):
            yield from _of_rows(rows, first, last)
            rows, first, last = [], line.number, line.number
        elif first:
            values = next(csv.reader([line.text.strip()]), [])
            if len(values) == len(_COLUMNS):
                rows.append(dict(zip(_COLUMNS, values, strict=True)))
                last = line.number
    yield from _of_rows(rows, first, last)


def _of_rows(rows: Sequence[Mapping[str, Any]], line: int, last_line: int) -> Iterator[_Part]:
    """Rows become the lines that hsbench prints, with more digits."""
    for _, loop_rows in groupby(rows, key=lambda row: str(row.get("Loop"))):
        try:
            pieces, size = _pieces(list(loop_rows))
        except (LookupError, TypeError, ValueError):
            continue
        yield _Part(line, last_line, pieces, size, {})


def _pieces(rows: Iterable[Mapping[str, Any]]) -> tuple[list[tuple[str, float]], int]:
    """Raises LookupError, TypeError and ValueError for rows without these figures."""
    pieces: list[tuple[str, float]] = []
    began, mode, size = 0.0, "", 0
    for row in rows:
        if row["Mode"] != mode:
            pieces.append((f"Running Loop {int(row['Loop'])} {row['Mode']} TEST", began))
            mode = row["Mode"]
        seconds, ops, rate, speed = (float(row[name]) for name in ("Seconds", "Ops", "Iops", "Mbps"))
        times = (float(row[name]) for name in _TIMES)
        least, mean, p99, most = (f"{time:.6f}" for time in times)
        text = (
            f"Loop: {int(row['Loop'])}, Int: {row['IntervalName']}, Dur(s): {seconds:.6f}, Mode: {mode}, "
            f"Ops: {ops:.0f}, MB/s: {speed:.2f}, IO/s: {rate:.6f}, Lat(ms): [ min: {least}, avg: {mean}, 99%: {p99}, "
            f"max: {most} ], Slowdowns: {int(row['Slowdowns'])}"
        )
        if row["IntervalName"] == "TOTAL":
            began += seconds
        pieces.append((text, began))
        if mode in ("PUT", "GET") and ops and not size:
            size = _whole(speed * seconds * 1024**2 / ops)
    return pieces, size


def _whole(nbytes: float) -> int:
    """A size that has been rounded; 0 where it is near no whole KiB."""
    whole = round(nbytes / 1024) * 1024
    return whole if whole and abs(nbytes - whole) <= _NEAR * whole else 0


# ---------------------------------------------------------------------------------------------- both


def _is_cut(text: str) -> bool:
    """Whether a line of figures, the last of a log, ends before its end."""
    return "Loop: ".startswith(_STAMP.sub(r"\2", text)[:6]) and not _ENDS.search(text)


def _run(part: _Part) -> FoundRun | None:
    """The run of a part; None where nothing was measured."""
    threads = part.parameters.get("threads", "")
    parser = HsbenchParser(part.size, int(threads) if threads.isdecimal() else None)
    readings: list[Reading] = []
    for text, at in part.pieces[:-1] if _is_cut(part.pieces[-1][0]) else part.pieces:
        readings += parser.feed("stderr", f"{text}\n".encode(), at)
    readings += parser.finish()
    result = parser.result()
    if not result.flows and not result.error:
        return None
    options, other = _options(part)
    endpoint = part.parameters.get("url", "")
    return FoundRun(
        line=part.line,
        last_line=part.last_line,
        name="hsbench",
        options=options,
        other_options=other,
        has_all_options=bool(part.parameters),
        request=" ".join(f"{name}={value}" for name, value in sorted(part.parameters.items())),
        target=f"s3:{endpoint}" if endpoint else "",
        version=part.version,
        started_at=part.started_at,
        duration_seconds=sum(flow.runtime_seconds for flow in result.flows.values()),
        error=result.error,
        summary=stats.summarise([result.flows]),
        findings=result.findings,
        readings=tuple(readings),
    )


def _options(part: _Part) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others; making and removing buckets is measured by none."""
    parameters = part.parameters
    values: dict[str, object] = {"size": short_size(part.size)} if part.size else {}
    values |= {
        to: parameters[name] for name, to in (("threads", "threads"), ("duration", "runtime")) if name in parameters
    }
    values |= {"buckets": parameters["bucket_count"]} if "bucket_count" in parameters else {}
    if "modes" in parameters:
        values["modes"] = "".join(mode for mode in parameters["modes"] if mode in _MEASURED)
    options, refused = HsbenchOptions.check_each(values)
    other = {name: parameters[name] for name, usual in _USUAL.items() if parameters.get(name, usual) != usual}
    return options, {**other, **{name: str(value) for name, value in refused.items()}}
