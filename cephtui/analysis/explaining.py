"""What explains a span of a run: one answer for banner, findings, chart and reports."""

from __future__ import annotations

from collections.abc import Iterable

from cephtui.models import Finding
from cephtui.models.findings.cluster import (
    CLUSTER_SILENT,
    FLAG,
    OSD_DOWN,
    PGS_INACTIVE,
    PGS_MOSTLY_INACTIVE,
    SLOW_OPS,
)
from cephtui.units import clock

MARK_SECONDS = 1.0
"""So much after the begin of a span a mark may be, and still stand for its cause: samples end on whole seconds."""
_LAG_SECONDS = 4.0
"""By how much an answer of the cluster may come later than the event that it reports."""
_CAUSES = tuple(kind.code for kind in (OSD_DOWN, FLAG, PGS_MOSTLY_INACTIVE, PGS_INACTIVE, SLOW_OPS, CLUSTER_SILENT))
"""What can keep I/O from completing, the likeliest first."""
NOTHING_KNOWN = "nothing that the cluster reported explains it"


def mark_of(begun: float, marks: Iterable[tuple[float, str]]) -> tuple[float, str] | None:
    """The user's newest mark at or before the begin of a span, in elapsed seconds, with its text; None without any."""
    return max((mark for mark in marks if mark[0] <= begun + MARK_SECONDS), default=None, key=lambda mark: mark[0])


def explanation(
    begun: float, over: float, marks: Iterable[tuple[float, str]], events: Iterable[Finding], *, is_asked: bool
) -> str:
    """What explains the span: the user's mark and what the cluster reported beside it; else that nothing is known.

    Empty where nothing is known because the cluster was not asked.
    """
    mark = mark_of(begun, marks)
    noted = f"after the mark at {clock(mark[0])}, {mark[1]}" if mark else ""
    beside = [event for event in events if event.code in _CAUSES and _is_beside(event, begun, over)]
    reported = min(beside, key=cause_rank).text if beside else ""
    return "; ".join(filter(None, (noted, reported))) or (NOTHING_KNOWN if is_asked else "")


def cause_rank(finding: Finding) -> int:
    """What explains others comes before them."""
    return _CAUSES.index(finding.code) if finding.code in _CAUSES else len(_CAUSES)


def _is_beside(event: Finding, begun: float, over: float) -> bool:
    return (event.from_seconds or 0.0) - _LAG_SECONDS <= over and begun <= (event.to_seconds or 0.0)
