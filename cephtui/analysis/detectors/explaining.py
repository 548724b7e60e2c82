"""What explains a span of a run: one answer for banner, findings, chart and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cephtui.ceph.health import holds_clients
from cephtui.models import Finding, Run, SlowestOperation
from cephtui.models.findings.cluster import (
    CLUSTER_SILENT,
    FLAG,
    HEALTH_SPEED,
    MESSAGE_CAP,
    OSD_DOWN,
    OSD_OUT,
    OTHER_CLIENTS,
    PGS,
    PGS_INACTIVE,
    PGS_MOSTLY_INACTIVE,
    PGS_SPLIT,
    RECOVERY,
    SCRUB,
    SLOW_OPS,
    SLOW_OSD,
    SNAPTRIM,
)
from cephtui.models.findings.kind import Value, Values, finding_kind
from cephtui.models.findings.machine import CPU_TAKEN, DISORDERED, MEMORY_WANTED, NIC_DROPS, RETRANSMITS, STEAL
from cephtui.models.findings.measurement import COLLAPSE, DIP, NOT_SETTLED, STALLED

MARK_SECONDS = 1.0
"""A mark so soon after the begin of a span may still stand for its cause: samples end on whole seconds."""
LAG_SECONDS = 4.0
"""What begins so soon before or after I/O stops or slows may be its cause: answers and samples come late."""
_REPORTED_SECONDS = {OSD_DOWN.code: 30.0, SLOW_OPS.code: 40.0}
"""What is reported later: after osd_heartbeat_grace, and osd_op_complaint_time."""
_SURE = (OSD_DOWN, FLAG, PGS_MOSTLY_INACTIVE, PGS_INACTIVE)
"""These come before what the OSDs' own counters tell."""
_OF_NODES = (CPU_TAKEN, STEAL, MEMORY_WANTED, RETRANSMITS, DISORDERED, NIC_DROPS)
_STOPPING = tuple(kind.code for kind in (*_SURE, SLOW_OPS, CLUSTER_SILENT, *_OF_NODES))
"""Findings that can keep I/O from completing, the likeliest first."""
_SLOWING = (MESSAGE_CAP, OSD_OUT, PGS_SPLIT, RECOVERY, OTHER_CLIENTS, PGS, SCRUB, SNAPTRIM, HEALTH_SPEED)
_CAUSES = (*_STOPPING, *(kind.code for kind in _SLOWING))
"""These, and those that can only slow it."""
_STEAL_LEAST = 0.2
"""Less steal does not stop a VM's I/O."""
EXPLAINED = (STALLED, COLLAPSE, DIP, NOT_SETTLED)
"""Findings that have an explanation."""
_WAITED = 0.5
"""An operation that was under way for so much of a span says what I/O waited for."""
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
    otherwise: Mapping[str, Value] | None = None,
    stopped: bool = True,
    lag: float = LAG_SECONDS,
) -> dict[str, Value]:
    """The explanation of a span in which I/O ``stopped``, or was slower, as values of a finding.

    They are the user's ``mark`` with its ``marked_seconds``, and the ``cause`` with its ``cause_code``: what began as
    the span did, ``lag`` seconds before or after it, and can have stopped I/O, or slowed it; ``otherwise`` one that is
    known by itself. Without a cause all that was reported ``beside`` it and that may have slowed I/O. Where there is
    none of it, it is ``unexplained``, if the cluster was asked. No ``events`` are joined: of those that are, not all
    are beside it.
    """
    reported = list(events)
    can_cause = _can_stop_io if stopped else _can_slow_io
    causes = [event for event in reported if can_cause(event) and _begins_with(event, begun, over, lag)]
    values = _noted(mark_of(begun, marks))
    if cause := _likeliest(causes, otherwise or {}):
        return {**values, **cause}
    if beside := [event for event in reported if _may_slow_io(event) and _overlaps(event, begun, over)]:
        beside.sort(key=lambda event: abs((event.from_seconds or 0.0) - begun))
        values["beside"] = tuple(event.text for event in beside[:_MOST_BESIDE])
    return values or ({"unexplained": True} if is_asked else {})


def explanation_of_rise(
    at: float, marks: Iterable[tuple[float, str]], events: Iterable[Finding], lag: float = LAG_SECONDS
) -> dict[str, Value]:
    """The explanation of a rise, as values of a finding: the user's mark, and what had slowed I/O and ended then."""
    ended = [event for event in events if _can_slow_io(event) and _ends_at(event, at, lag)]
    return {**_noted(mark_of(at, marks)), **_likeliest(ended, {})}


def explanation_of_rhythm(events: Iterable[Finding]) -> dict[str, Value]:
    """The explanation of seconds that differ all the time, as values of a finding: an OSD that stood now and then."""
    late = [event for event in events if event.code == SLOW_OSD.code and "late" in event.values]
    return {"cause": late[0].text, "cause_code": SLOW_OSD.code} if late else {}


def _likeliest(causes: Sequence[Finding], otherwise: Mapping[str, Value]) -> Mapping[str, Value]:
    first = min(causes, key=lambda cause: _CAUSES.index(cause.code), default=None)
    if first is None or (otherwise and cause_rank(first) >= len(_SURE)):
        return otherwise
    text = joined_if_many([event for event in causes if event.code == first.code])[0].text
    return {"cause": text, "cause_code": first.code}


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


def with_operations(run: Run) -> Run:
    """A run that has ended, with its slowest operations: they say what I/O waited for where no cause is known."""
    findings = tuple(_with_operation(finding, run.slowest) for finding in run.findings)
    return run.model_copy(update={"findings": findings}) if run.slowest else run


def _with_operation(finding: Finding, slowest: Sequence[SlowestOperation]) -> Finding:
    begun, over = finding.from_seconds, finding.to_seconds
    kind = finding_kind(finding.code)
    if kind not in EXPLAINED or begun is None or over is None or "cause_code" in finding.values:
        return finding
    common = {one: _common_seconds(one, begun, over) for one in slowest if one.own is not False and one.stages}
    waited = max(common, key=lambda one: common[one], default=None)
    if waited is None or common[waited] < _WAITED * (over - begun) or common[waited] <= 0:
        return finding
    stage = max(waited.stages, key=lambda name: waited.stages[name])
    values: dict[str, Value] = {name: value for name, value in finding.values.items() if name != "unexplained"}
    values |= {"slow_osd": waited.osd, "slow_seconds": waited.seconds}
    return kind.found((begun, over), **values, slow_stage=stage, stage_seconds=waited.stages[stage])


def _common_seconds(operation: SlowestOperation, begun: float, over: float) -> float:
    """How much of a span an operation was under way."""
    at = operation.at_seconds
    return 0.0 if at is None else min(over, at + operation.seconds) - max(begun, at)


def _noted(mark: tuple[float, str] | None) -> dict[str, Value]:
    return {"marked_seconds": mark[0], "mark": mark[1]} if mark else {}


def cause_rank(finding: Finding) -> int:
    """The order of findings at one moment: what explains others comes before them."""
    return _STOPPING.index(finding.code) if finding.code in _STOPPING else len(_STOPPING)


def _can_stop_io(event: Finding) -> bool:
    """Whether an event can stop I/O. Of flags only those that hold clients back: noout and noscrub do not."""
    values: Values = event.values
    if event.code == FLAG.code:
        return holds_clients(str(values["flag"]))
    return event.code in _STOPPING and (event.code != STEAL.code or values["ratio"] >= _STEAL_LEAST)


def _can_slow_io(event: Finding) -> bool:
    return event.code in _CAUSES[len(_STOPPING) :] or _can_stop_io(event)


def _may_slow_io(event: Finding) -> bool:
    kind = finding_kind(event.code)
    return (kind.topic == "cluster" and kind.level != "note") or kind in _OF_NODES


def _overlaps(event: Finding, begun: float, over: float) -> bool:
    return (event.from_seconds or 0.0) - LAG_SECONDS <= over and begun <= (event.to_seconds or 0.0)


def _begins_with(event: Finding, begun: float, over: float, lag: float) -> bool:
    """Whether an event may be the cause of a span. With an OSD down I/O goes on once its PGs have peered: its return
    counts too, and of one that was down several times each moment between. What was so as the run began has begun with
    nothing that came later.
    """
    if event.from_seconds is None:
        return False
    is_of_osd = event.code == OSD_DOWN.code
    if is_of_osd and "times" in event.values:
        return _overlaps(event, begun, over)
    if not is_of_osd and event.from_seconds <= MARK_SECONDS < begun:
        return False
    latest = min(over, begun + _REPORTED_SECONDS.get(event.code, 0.0)) + lag
    turns = _turns(event) if is_of_osd else [event.from_seconds]
    return any(begun - lag <= at <= latest for at in turns)


def _ends_at(event: Finding, at: float, lag: float) -> bool:
    over = event.to_seconds or 0.0
    is_before = (event.from_seconds or 0.0) < at - lag
    return is_before and not event.values.get("to_the_end") and abs(over - at) <= lag


def _turns(event: Finding) -> Iterator[float]:
    """When something began and was over, as far as that was seen."""
    if not event.values.get("early"):
        yield event.from_seconds or 0.0
    if not event.values.get("to_the_end"):
        yield event.to_seconds or 0.0
