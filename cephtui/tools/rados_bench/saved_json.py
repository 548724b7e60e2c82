"""``rados bench --format json`` in a saved log, as the lines that it would have printed without.

Format (rados 9.2 and later, ``json`` and ``json-pretty``; all values are text)::

    {"concurrent_ios":"16","object_size":"4194304","op_size":"4194304","seconds_to_run":"10","max_objects":"0",
     "object_prefix":"benchmark_data_HOST_PID","datas":[{"sec":"0","cur_ops":"0","started":"0","finished":"0",
     "avg_bw":"0.000000","cur_bw":"0.000000","last_lat":"0.000000","avg_lat":"0.000000"}],
     "total_time_run":"10.0100","total_writes_made":"640",...,"min_latency":"0.000100"}

Reads begin with ``datas``. Other lines, such as those of the clean-up, may stand within a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cephtui.tools.logs import Log, LogLine

LATENCY_STEP = 1e-6
"""Seconds: latencies have six decimals there."""
_START = re.compile(r'\{\s{0,200}"(?:bench"\s{0,200}:\s{0,200}\{\s{0,200}")?(?:concurrent_ios|datas)"\s{0,200}:')
_PAIR = re.compile(r'"([a-z_]{2,30})"\s{0,200}:\s{0,200}(?:"([^"\n]{0,200})"|(-?\d[^\s,{}\[\]"]{0,40}))|[{}]')
_TOTALS = {
    "total_time_run": "Total time run",
    "total_writes_made": "Total writes made",
    "total_reads_made": "Total reads made",
    "write_size": "Write size",
    "read_size": "Read size",
    "bandwidth": "Bandwidth (MB/sec)",
    "average_iops": "Average IOPS",
    "average_latency": "Average Latency(s)",
    "stddev_latency": "Stddev Latency(s)",
    "max_latency": "Max latency(s)",
    "min_latency": "Min latency(s)",
}
_ANNOUNCED = ("concurrent_ios", "op_size", "object_size", "seconds_to_run", "max_objects")
_ROW = ("sec", "cur_ops", "started", "finished", "avg_bw", "cur_bw", "last_lat", "avg_lat")


def as_lines(log: Log) -> tuple[Sequence[LogLine], set[int]]:
    """The lines of a log with those of its documents in their place, and the numbers of the latter."""
    starts = list(_START.finditer(log.text)) if '"datas"' in log.text or '"concurrent_ios"' in log.text else []
    if not starts:
        return log.lines, set()
    ends = [start.start() for start in starts[1:]] + [len(log.text)]
    all_lines: list[LogLine] = []
    within: set[int] = set()
    number, counted = 1, 0
    for start, end in zip(starts, ends, strict=True):
        number += log.text.count("\n", counted, start.start())
        counted = start.start()
        document_lines = list(_document(log.text, start.start(), end, number))
        all_lines += document_lines
        within.update(range(number, document_lines[-1].number + 1) if document_lines else ())
    numbers = {line.number for line in all_lines}
    other_lines = [line for line in log.lines if line.number not in within or _is_other(line.text)]
    return sorted([*other_lines, *all_lines], key=lambda line: line.number), numbers


def _is_other(text: str) -> bool:
    """Whether a line within a document is none of it."""
    return not text.startswith(('"', "{", "}", "[", "]")) and '":' not in text


def _document(text: str, at: int, end: int, number: int) -> Iterator[LogLine]:
    """The lines of a document, each where its newest value stands; it may be cut, or have others in it."""
    held: dict[str, str] = {}
    is_over = False
    for pair in _PAIR.finditer(text, at, end):
        number += text.count("\n", at, pair.start())
        at = pair.start()
        name, value = pair[1], pair[2] if pair[2] is not None else pair[3]
        if name is None:
            if is_over and pair[0] == "}":
                return
            continue
        is_over = is_over or name == "total_time_run"
        held[name] = value.replace(" ", "")
        if name in _TOTALS and is_over:
            yield LogLine(number, f"{_TOTALS[name]}: {held[name]}")
        elif name == "max_objects" and all(key in held for key in _ANNOUNCED):
            yield LogLine(number, _announced(held))
        elif name == "object_prefix":
            yield LogLine(number, f"Object prefix: {held[name]}")
        elif name == "avg_lat" and all(key in held for key in _ROW):
            yield LogLine(number, " ".join(held.pop(key) for key in _ROW))


def _announced(held: dict[str, str]) -> str:
    return (
        f"Maintaining {held['concurrent_ios']} concurrent writes of {held['op_size']} bytes to objects of size "
        f"{held['object_size']} for up to {held['seconds_to_run']} seconds or {held['max_objects']} objects"
    )
