"""Dates in saved output: the one that a shell printed above a run, as ``date`` does, alone on its line. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from cephtui.tools.logs import FoundRun, Log

_NEAR_LINES = 8
"""Between the date and the first line of its run, such as the command."""
_DATE = re.compile(
    r"[\s=*#+>-]*((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{2} +\d\d?|\d\d? [A-Z][a-z]{2} \d{4})"
    r" +\d\d?:\d\d:\d\d(?: [AP]M)?)(?: ([A-Z]{2,5}|[+-]\d\d))?( \d{4})?[\s=*#+-]*",
    re.ASCII,
)
_FORMATS = ("%a %b %d %H:%M:%S %Y", "%a %d %b %Y %I:%M:%S %p", "%a %d %b %Y %H:%M:%S", "%a %b %d %I:%M:%S %p %Y")


def dated(log: Log, runs: Sequence[tuple[str, FoundRun]]) -> list[tuple[str, FoundRun]]:
    """The runs, in the order of the log; one without a date of its own has the one above it, behind any other run."""
    dated_runs, end = [], 0
    dates = [(line.number, date) for line in log.lines if (date := date_of(line.text))]
    numbers = [number for number, _ in dates]
    for tool, run in runs:
        last = bisect_left(numbers, run.line) - 1
        is_near = last >= 0 and numbers[last] > max(end, run.line - 1 - _NEAR_LINES)
        has_date_above = is_near and run.started_at is None
        dated_runs.append((tool, replace(run, started_at=dates[last][1]) if has_date_above else run))
        end = max(end, run.last_line)
    return dated_runs


def as_date(text: str, form: str) -> datetime | None:
    """A date of a form of ``strptime``; None for another text."""
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def date_of(text: str) -> datetime | None:
    """``Thu Jun 16 21:24:44 CEST 2016``: by the clock of the node, but for UTC."""
    match = _DATE.fullmatch(text) if ":" in text and len(text) < 100 else None
    if match is None:
        return None
    words = " ".join(f"{match[1]}{match[3] or ''}".replace(",", "").split())
    for form in _FORMATS:
        if date := as_date(words, form):
            return date.replace(tzinfo=UTC) if match[2] in ("UTC", "GMT") else date
    return None
