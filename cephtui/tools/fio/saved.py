"""Every run in a saved log of fio, whatever it was printed as."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cephtui.models.metrics import DIRECTIONS
from cephtui.tools.fio.saved_json import find_documents
from cephtui.tools.fio.saved_terse import find_terse
from cephtui.tools.fio.saved_text import find_text
from cephtui.tools.logs import FoundRun, Log
from cephtui.tools.signs import Sign

_HEAD = re.compile(
    r"(?:<[\w.:-]{1,253}> ?)?(?:\S.{0,199}: \(g=\d{1,9}\): rw=|\.\.\.$|fio-\d[\w.-]*$|Starting \w|$)"
    r"|hostname=|.{0,200}: Laying out IO file|Jobs: "
)
_HEAD_MOST = 1000
"""Lines of it."""
SIGNS: Sequence[Sign] = (
    Sign("output", r"\S.{0,199}: \(groupid=\d"),
    Sign("output", r"(?:read|write|trim|mixed) *: *(?:IOPS|io|bw)="),
    Sign("output", r"(?:READ|WRITE|TRIM|MIXED): (?:bw|io)="),
    Sign("output", r'(?:\{ ?)?"fio version"', "fio that is no whole JSON"),
    Sign("output", r"\d;(?:fio-\d|[^;]{1,200}(?:;\d+){4};)"),
    Sign("begun", r"\S.{0,199}: \(g=\d+\): rw="),
    Sign("error", r"fio: (?:pid=|engine |failed |unable |job |bad |.*(?:\berr|not loadable|No such|denied))"),
    Sign("output", r"\d+, +\d+, +[012], +\d+(?:, +\d+)*$", "fio --write_*_log without that of its run"),
)
COMMAND = ("fio", r"\s--?(?:name|rw|readwrite|filename|ioengine)\b|\.(?:fio|job|ini)\b")


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing. A run that was printed in several forms is one."""
    runs = list(_with_heads(log, find_documents(log)))
    for printed_runs, is_one in ((find_text(log), _is_same), (find_terse(log), _is_rounded)):
        before = len(runs)
        for run in printed_runs:
            same = next((at for at in range(before) if is_one(run, runs[at])), None)
            if same is None:
                runs.append(run)
            else:
                spans = (*runs[same].other_spans, *run.other_spans, (run.line, run.last_line))
                runs[same] = replace(runs[same], other_spans=spans)
    return sorted(runs, key=lambda run: run.line)


def _with_heads(log: Log, documents: Sequence[FoundRun]) -> Iterator[FoundRun]:
    """Each with the lines that fio has printed right before it."""
    numbers = [line.number for line in log.lines] if documents else []
    for run in documents:
        below = first = bisect_left(numbers, run.line)
        while first and below - first < _HEAD_MOST and _HEAD.match(log.lines[first - 1].text):
            first -= 1
        yield replace(run, other_spans=((numbers[first], run.line - 1),)) if first < below else run


def _is_same(first: FoundRun, other: FoundRun) -> bool:
    return first.name == other.name and bool(first.summary.flows) and _done(first) == _done(other)


def _done(run: FoundRun) -> dict[str, tuple[int | None, float]]:
    flows = run.summary.flows
    return {name: (flows[name].ios, flows[name].runtime_seconds) for name in DIRECTIONS if name in flows}


def _is_rounded(run: FoundRun, other: FoundRun) -> bool:
    """Whether a run in terse form is one that was printed otherwise, too."""
    ours, theirs = run.summary.flows, other.summary.flows
    return (
        run.name == other.name
        and ours.keys() == theirs.keys() & set(DIRECTIONS)
        and all(
            round(total.runtime_seconds * 1e3) == round(theirs[name].runtime_seconds * 1e3)
            and abs((total.bytes or 0) - (theirs[name].bytes or 0)) <= _NEAR * (total.bytes or 0)
            for name, total in ours.items()
        )
    )


_NEAR = 0.01
"""The fraction by which the bytes of text are rounded."""
