"""Runs of gosbench in what it leaves behind: the results of its server, a worker's log, and a scrape of its metrics.

The results have all operations in one, as ``operations``; a scrape that was taken after the end has each method.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.tools.gosbench.output import GosbenchParser
from cephtui.tools.logs import FoundRun, Log, LogLine
from cephtui.tools.signs import Sign

ALL = "operations"
"""The name of the operations of all methods together."""
_TABLE = re.compile(r"testName,Total Operations,Total Bytes,Average Bandwidth in Bytes/s,Average Latency in ms,.*")
_COLUMNS = 6
_RESULTS = re.compile(
    r".*msg=\"PERF RESULTS\" Average BW in Byte/s=(?P<bandwidth>\S+) Average latency in ms=(?P<latency>\S+) "
    r"Test runtime on server=\S+ Total Bytes=(?P<bytes>\S+) Total Operations=(?P<ops>\S+) test=(?P<name>\S+).*"
)
_VALUES = re.compile(
    r".*PROM VALUES \{TestName:(?P<name>.+) Operations:(?P<ops>\S+) Bytes:(?P<bytes>\S+) "
    r"Bandwidth:(?P<bandwidth>\S+) LatencyAvg:(?P<latency>\S+) Duration:\S+\}.*"
)
_METRIC = re.compile(r"gosbench_\w+\{.*\btestName=\"([^\"]*)\".*\} \S+")
_MOMENT = re.compile(r"gosbench_test_(start|end)\{.*\} ([\d.e+]+)")
_MOST = 1e18
SIGNS: Sequence[Sign] = (Sign("output", r"gosbench_\w+\{", "gosbench whose test has not ended"),)


@dataclass(frozen=True, slots=True)
class _Result:
    """The figures of a whole test."""

    line: int
    name: str
    ops: float
    nbytes: float
    bandwidth: float
    latency_ms: float


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    if "gosbench" not in log.text and "Total Operations" not in log.text and "PROM VALUES" not in log.text:
        return []
    runs = [run for result in _results(log.lines) if (run := _run(result))]
    return sorted([*runs, *_scrapes(log.lines)], key=lambda run: run.line)


def _results(lines: Sequence[LogLine]) -> Iterator[_Result]:
    is_table = False
    for line in lines:
        text = line.text.strip()
        if _TABLE.fullmatch(text):
            is_table = True
        elif is_table and text.count(",") == _COLUMNS - 1:
            name, *figures = next(csv.reader([text]))
            yield from _result(line.number, name, figures)
        elif match := _RESULTS.fullmatch(text) or _VALUES.fullmatch(text):
            figures = [match[name] for name in ("ops", "bytes", "bandwidth", "latency")]
            yield from _result(line.number, match["name"], figures)


def _result(line: int, name: str, figures: Sequence[str]) -> Iterator[_Result]:
    """The run of a row; None for one without figures."""
    try:
        ops, nbytes, bandwidth, latency = map(float, figures[:4])
    except ValueError:
        return
    if all(0 <= figure < _MOST for figure in (ops, nbytes, bandwidth, latency)):
        yield _Result(line, name, ops, nbytes, bandwidth, latency)


def _run(result: _Result) -> FoundRun | None:
    """The time in which the workers worked is that of their bandwidth: the server's has their preparation, too."""
    if not (result.ops and result.nbytes and result.bandwidth):
        return None
    seconds = result.nbytes / result.bandwidth
    if not 0 < seconds < 1e9:
        return None
    moments = stats.Moments(round(result.ops), result.latency_ms / 1e3, None) if result.latency_ms else None
    flow = stats.make_flow(round(result.ops), round(result.nbytes), seconds, moments=moments)
    return FoundRun(
        line=result.line,
        last_line=result.line,
        name=result.name or "gosbench",
        options={},
        duration_seconds=seconds,
        summary=stats.summarise([{ALL: flow}]),
    )


def _scrapes(lines: Sequence[LogLine]) -> Iterator[FoundRun]:
    """The run of each test by the last scrape that was taken after its end."""
    tests: dict[str, list[LogLine]] = {}
    for line in lines:
        if metric := _METRIC.fullmatch(line.text.strip()):
            tests.setdefault(metric[1], []).append(line)
    for name, test_lines in tests.items():
        if run := _of_scrape(name, test_lines):
            yield run


def _of_scrape(name: str, lines: Sequence[LogLine]) -> FoundRun | None:
    """The run of a scrape; None without its end: until then it is not known how long it has run."""
    texts = [line.text.strip() for line in lines]
    moments = {moment[1]: moment[2] for text in texts if (moment := _MOMENT.fullmatch(text))}
    seconds = _seconds(moments)
    if not seconds:
        return None
    parser = GosbenchParser(0, None)
    output = ["# at 0.0 working 0 0", "# end", f"# at {seconds:.6f} done 0 0", *texts, "# end", ""]
    parser.feed("stdout", "\n".join(output).encode(), seconds)
    result = parser.result()
    if not result.flows:
        return None
    return FoundRun(
        line=lines[0].number,
        last_line=lines[-1].number,
        name=name or "gosbench",
        options={},
        started_at=datetime.fromtimestamp(float(moments["start"]) / 1e3, UTC),
        duration_seconds=seconds,
        error=result.error,
        summary=stats.summarise([result.flows]),
        findings=result.findings,
    )


def _seconds(moments: Mapping[str, str]) -> float:
    """0 where it is not known."""
    try:
        start, end = float(moments["start"]) / 1e3, float(moments["end"]) / 1e3
    except (LookupError, ValueError):
        return 0.0
    return end - start if 0 < start < end < 1 << 35 else 0.0
