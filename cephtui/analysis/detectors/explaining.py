"""What explains a span of a run: one answer for banner, findings, chart and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cephtui.ceph.health import holds_clients
from cephtui.models import Finding, Run
from cephtui.models.findings.cluster import (
    CLUSTER_SILENT,
    FLAG,
    OSD_DOWN,
    PGS_INACTIVE,
    PGS_MOSTLY_INACTIVE,
    SLOW_OPS,
)
from cephtui.models.findings.kind import Value, Values, finding_kind
from cephtui.models.findings.machine import CPU_TAKEN, DISORDERED, NIC_DROPS, RETRANSMITS, STEAL
from cephtui.models.findings.measurement import COLLAPSE, DIP, STALLED

MARK_SECONDS = 1.0
"""A mark so soon after the begin of a span may still stand for its cause: samples end on whole seconds."""
_LAG_SECONDS = 4.0
"""An answer of the cluster may come so much later than the event that it reports."""
_OF_CLUSTER = (OSD_DOWN, FLAG, PGS_MOSTLY_INACTIVE, PGS_INACTIVE, SLOW_OPS, CLUSTER_SILENT)
_OF_NODES = (CPU_TAKEN, STEAL, RETRANSMITS, DISORDERED, NIC_DROPS)
_CAUSES = tuple(kind.code for kind in (*_OF_CLUSTER, *_OF_NODES))
"""Findings that can keep I/O from completing, the likeliest first."""
_STEAL_LEAST = 0.2
"""Less steal does not stop a VM's I/O."""
EXPLAINED = (STALLED, COLLAPSE, DIP)
"""Findings that have an explanation."""
_MOST = 3
"""More findings of one kind are joined to one."""
_MOST_BESIDE = 3
"""More are not told of what the cluster reported beside a span: they are findings of their own."""


def mark_of(begun: float, marks: Iterable[tuple[float, str]]) -> tuple[float, str] | None:
    """The user's newest mark at or before the begin of a span, in elapsed seconds, with its text; None without any."""
    return max((mark for mark in marks if mark[0] <= begun + MARK_SECONDS), default=None, key=lambda mark: mark[0])


def explanation(
    begun: float,
    over: float,
    marks: Iterable[tuple[float, str]],
    events: Iterable[Finding],
    *,
    is_asked: bool,
    otherwise: str = "",
) -> dict[str, Value]:
    """The explanation of a span, as values of a finding: the user's ``mark`` with its ``marked_seconds``, and the
    ``cause`` that the cluster reported beside it, ``otherwise`` one that is known by itself. Without a cause all that
    the cluster reported ``beside`` it and that may have slowed I/O. Where there is none of it, it is ``unexplained``,
    if the cluster was asked. No ``events`` are joined: of those that are, not all are beside it.
    """
    reported = list(events)
    causes = [event for event in reported if _can_stop_io(event) and _is_beside(event, begun, over)]
    values = _noted(mark_of(begun, marks))
    if cause := _likeliest(causes) or otherwise:
        values["cause"] = cause
    elif beside := [event for event in reported if _may_slow_io(event) and _overlaps(event, begun, over)]:
        beside.sort(key=lambda event: abs((event.from_seconds or 0.0) - begun))
        values["beside"] = tuple(event.text for event in beside[:_MOST_BESIDE])
    return values or ({"unexplained": True} if is_asked else {})


def _likeliest(events: Sequence[Finding]) -> str:
    first = min(events, key=cause_rank, default=None)
    return joined_if_many([event for event in events if event.code == first.code])[0].text if first else ""


def joined_if_many(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Findings of one kind; many of them joined to one that has their subjects, and the time they are spread over."""
    if len(findings) <= _MOST:
        return findings
    things = tuple(dict.fromkeys(finding.label or finding.code for finding in findings))
    begun = min(finding.from_seconds or 0.0 for finding in findings)
    over = max(finding.to_seconds or 0.0 for finding in findings)
    kind = finding_kind(findings[0].code)
    return [kind.found((begun, over), **findings[0].values, things=things, number=len(findings))]


def with_mark(run: Run, marked_seconds: float, text: str) -> Run:
    """A run that has ended, with a mark that was worded after that: it explains what began after it."""
    return run.model_copy(
        update={"findings": tuple(_marked(finding, (marked_seconds, text)) for finding in run.findings)}
    )


def _marked(finding: Finding, mark: tuple[float, str]) -> Finding:
    begun, over = finding.from_seconds, finding.to_seconds
    values: Values = finding.values
    kind = finding_kind(finding.code)
    if kind not in EXPLAINED or begun is None or over is None or not values:
        return finding
    marks = [(values["marked_seconds"], values["mark"])] if "mark" in values else []
    noted = _noted(mark_of(begun, [*marks, mark]))
    kept_values = {name: value for name, value in values.items() if not (noted and name == "unexplained")}
    return kind.found((begun, over), **{**kept_values, **noted})


def _noted(mark: tuple[float, str] | None) -> dict[str, Value]:
    return {"marked_seconds": mark[0], "mark": mark[1]} if mark else {}


def cause_rank(finding: Finding) -> int:
    """The order of findings at one moment: what explains others comes before them."""
    return _CAUSES.index(finding.code) if finding.code in _CAUSES else len(_CAUSES)


def _can_stop_io(event: Finding) -> bool:
    """Whether an event can stop I/O. Of flags only those that hold clients back: noout and noscrub do not."""
    values: Values = event.values
    if event.code == FLAG.code:
        return holds_clients(str(values["flag"]))
    return event.code in _CAUSES and (event.code != STEAL.code or values["ratio"] >= _STEAL_LEAST)


def _may_slow_io(event: Finding) -> bool:
    kind = finding_kind(event.code)
    return kind.topic == "cluster" and kind.level != "note"


def _overlaps(event: Finding, begun: float, over: float) -> bool:
    return (event.from_seconds or 0.0) - _LAG_SECONDS <= over and begun <= (event.to_seconds or 0.0)


def _is_beside(event: Finding, begun: float, over: float) -> bool:
    """Whether an event is beside a span. With an OSD down I/O goes on once its PGs have peered: its ends count."""
    if event.code == OSD_DOWN.code and "times" not in event.values:
        return any(at - _LAG_SECONDS <= over and begun <= at + _LAG_SECONDS for at in _turns(event))
    return _overlaps(event, begun, over)


def _turns(event: Finding) -> Iterator[float]:
    """When something began and was over, as far as that was seen."""
    if not event.values.get("early"):
        yield event.from_seconds or 0.0
    if not event.values.get("to_the_end"):
        yield event.to_seconds or 0.0
