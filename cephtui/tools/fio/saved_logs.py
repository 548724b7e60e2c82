"""The logs that fio writes beside its output, as the seconds of a run.

Format (fio 2.0 to 3.41, ``--write_bw_log`` and its like): a file for each job and kind, ``PREFIX_bw.1.log``, a line for
each time: milliseconds from the start, the value, 0 for a read or 1 for a write, and more. The values are KiB/s, IOPS,
and nanoseconds, before fio 3 microseconds. With ``log_avg_msec`` a line is the mean of an interval; without it is a
single I/O, which is not used here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS, Interval
from cephtui.tools.base import Reading

KINDS = {"bw": "bandwidth", "iops": "IOPS", "lat": "latency", "clat": "latency", "slat": "latency"}
"""The content of a log, by how its file is called."""
_NAME = re.compile(r"(?P<prefix>.+)_(?P<kind>bw|iops|lat|clat|slat)(?:\.\d{1,6})?\.log(?P<host>\.[\w.-]+)?")
_ROW = re.compile(r"\s*(\d{1,12}), *(\d{1,18}), *([012])(?:, *0\b.*)?")
"""A mean has no block size."""
_ANY_ROW = re.compile(r"\s*\d{1,12}, *\d{1,18}, *[012]\b.*")
_PREFIX = re.compile(r"write_(?:bw|iops|lat)_log\"?\s*[=:\s]\s*\"?([^\s\",]+)")
_FLOWS = ("read", "write")
_LEAST_MS = 100
"""A line of less is of a single I/O."""


@dataclass(frozen=True, slots=True)
class LogName:
    """The parts of a log file's name."""

    prefix: str
    kind: str
    host: str
    """The host in the name of a log of cbt: ``.node1``; else empty."""

    def is_of(self, file: str, text: str) -> bool:
        """Whether it is of the run in a file with this name and text."""
        file_names = {file, file.rpartition(".")[0]}
        named = (path.rpartition("/")[2] for path in _PREFIX.findall(text))
        return f"{self.prefix}{self.host}" in file_names or (not self.host and self.prefix in {*file_names, *named})


def read_name(file: str) -> LogName | None:
    """The parts of a file's name; None for a file that is called otherwise."""
    match = _NAME.fullmatch(file)
    return LogName(match["prefix"], match["kind"], match["host"] or "") if match else None


def is_log(text: str) -> bool:
    """Whether a text is of this form; a log may be empty."""
    first = next((line for line in text.splitlines()[:10] if line.strip()), "")
    return not first or bool(_ANY_ROW.fullmatch(first))


def seconds_of(logs: Sequence[tuple[str, str]], version: str) -> tuple[Reading, ...]:
    """The seconds of a run from all of its logs, each with its kind; empty where they are no means of intervals.

    ``version`` is fio's.
    """
    rows = [(kind, list(_rows(text))) for kind, text in logs]
    period = _period([times for kind, entries in rows if kind in ("bw", "iops") for times in _times(entries)])
    if not period:
        return ()
    intervals_per_second = -(-1000 // period)
    series = {name: _series(rows, *name, period) for name in _names(rows)}
    last = max((max(values) for (kind, _), values in series.items() if kind in ("bw", "iops") and values), default=0)
    unit = 1e6 if version.startswith("fio-2") else 1e9
    lasted = intervals_per_second * period / 1e3
    readings: list[Reading] = []
    for number in range(last // intervals_per_second):
        if (number + 1) * lasted >= ELAPSED_MOST_SECONDS:
            break
        at = range(number * intervals_per_second + 1, (number + 1) * intervals_per_second + 1)
        flows = {flow: interval for flow in _FLOWS if (interval := _interval(series, flow, at, lasted, unit))}
        if flows:
            readings.append(Reading("run", (number + 1) * lasted, lasted, flows.get("read"), flows.get("write")))
    return tuple(readings)


def _rows(text: str) -> Iterator[tuple[int, int, int]]:
    for line in text.splitlines():
        if row := _ROW.fullmatch(line[:200]):
            yield int(row[1]), int(row[2]), int(row[3])


def _times(rows: Iterable[tuple[int, int, int]]) -> Iterator[list[int]]:
    """The times of the lines of each direction."""
    times: dict[int, list[int]] = {}
    for at, _, flow in rows:
        times.setdefault(flow, []).append(at)
    return iter(times.values())


def _period(times: Sequence[Sequence[int]]) -> int:
    """Milliseconds from one line to the next; 0 where lines are no means."""
    steps = [after - before for job_times in times for before, after in pairwise(job_times)]
    steps += [job_times[0] for job_times in times if len(job_times) == 1]
    usual = round(median(steps) / 10) * 10 if steps else 0
    return usual if usual >= _LEAST_MS else 0


def _names(rows: Sequence[tuple[str, Sequence[tuple[int, int, int]]]]) -> list[tuple[str, int]]:
    return list(dict.fromkeys((kind, flow) for kind, entries in rows for _, _, flow in entries if flow < len(_FLOWS)))


def _series(
    rows: Sequence[tuple[str, Sequence[tuple[int, int, int]]]], kind: str, flow: int, period: int
) -> dict[int, list[int]]:
    """The values of all jobs by the number of their interval, from 1."""
    values: dict[int, list[int]] = {}
    for row_kind, entries in rows:
        if row_kind == kind:
            for at, value, of in entries:
                if of == flow:
                    values.setdefault(max(1, round(at / period)), []).append(value)
    return values


def _interval(
    series: Mapping[tuple[str, int], Mapping[int, Sequence[int]]], flow: str, at: range, lasted: float, unit: float
) -> Interval | None:
    """The interval of a flow; None where neither rate is there. An interval without a line had no I/O."""
    number = _FLOWS.index(flow)
    iops, kib = (_mean(series.get((kind, number)), at) for kind in ("iops", "bw"))
    if iops is None and kib is None:
        return None
    times = series.get(("clat", number)) or series.get(("lat", number)) or {}
    values = [value for index in at for value in times.get(index, ())]
    mean = sum(values) / len(values) / unit if values else None
    ios = None if iops is None else round(iops * lasted)
    return stats.make_interval(ios, None if kib is None else round(kib * 1024 * lasted), lasted, mean, None)


def _mean(values: Mapping[int, Sequence[int]] | None, at: range) -> float | None:
    """The mean of the sums of all jobs."""
    return None if values is None else sum(sum(values.get(number, ())) for number in at) / len(at)
