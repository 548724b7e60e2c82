"""What happened during a run: events of the cluster, stalls of the nodes, which event explains which stall,
and a change of level.

Taken in during the run, in bounded space, and pure: what is kept of a run and what is drawn of one that is live,
saved or replayed are the same. Moments are elapsed seconds since the release of the benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cephtui.analysis.detectors.answers import Answers, PgCount
from cephtui.analysis.detectors.ended import WholeSeconds
from cephtui.analysis.detectors.explaining import (
    LAG_SECONDS,
    cause_rank,
    explanation,
    explanation_of_rhythm,
    explanation_of_rise,
    joined_if_many,
)
from cephtui.analysis.detectors.first_seconds import FirstSeconds
from cephtui.analysis.detectors.machine import Machines, beside
from cephtui.analysis.detectors.osds import OsdsSoFar
from cephtui.analysis.detectors.other_clients import OtherOperations, operations_per_io
from cephtui.analysis.detectors.settling import PerSecond, Trouble, rate_of
from cephtui.analysis.detectors.signals import OtherClients, Signal, signals
from cephtui.analysis.detectors.slowest import NodeRates
from cephtui.analysis.detectors.stalls import (
    EDGE_SECONDS,
    ROUNDING_SECONDS,
    Completions,
    Stall,
    is_told_by,
    joined_stalls,
)
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.stages import StagesSoFar
from cephtui.models import ClusterSample, Finding, Mark, NodeSample, OsdSample, Sample, Step
from cephtui.models.findings.client import NODE_ENDED
from cephtui.models.findings.cluster import (
    OTHER_CLIENTS,
    PGS_INACTIVE,
    PGS_MOSTLY_INACTIVE,
)
from cephtui.models.findings.kind import Value, names_in
from cephtui.models.findings.measurement import NOT_SETTLED, OVERRUN, STALLED
from cephtui.models.metrics import HeadlineName
from cephtui.tools import TOOLS

_JOIN_SECONDS = 10.0
"""A signal that returns within this time is regarded as never interrupted."""
_MOST_STALLS = 5
"""More are summed up."""
_INACTIVE_SHARE = 0.1
"""The share of the run's time: longer without all PGs the run measured a wait."""

SignalKey = tuple[str, str]
"""Code and subject: ``osd-down`` of ``osd.2``."""


@dataclass(slots=True)
class _Span:
    """A signal over time."""

    signal: Signal
    begun: float
    over: float | None = None
    times: int = 1
    early: bool = False
    """Whether it began before the release."""

    def again(self, signal: Signal) -> None:
        """Take in that it is reported still, or once more."""
        if self.over is not None:
            self.over, self.times = None, self.times + 1
        most, other = (signal, self.signal) if signal.weight > self.signal.weight else (self.signal, signal)
        self.signal = replace(most, parts={**other.parts, **most.parts})


class Course:
    """Takes in a run as it proceeds; the first cluster sample, in ``prepare``, is the state before it."""

    def __init__(
        self,
        headline: HeadlineName = "iops",
        tool: str = "",
        *,
        has_mds: bool = True,
        waits: bool = False,
        step: Step | None = None,
    ) -> None:
        """``headline`` is that of the preset, ``tool`` what measures, ``has_mds`` whether its I/O may pass an MDS,
        ``waits`` whether it waits between two I/Os because the user wants it. ``step`` is what runs.
        """
        self.seconds = PerSecond(headline)
        """Those of the run in which all nodes took part that had not broken off; none of a tool that measures none."""
        self._whole = WholeSeconds(self.seconds)
        self._first = FirstSeconds(headline)
        self._rates = NodeRates()
        self._has_mds, self.waits = has_mds, waits
        self._pauses = TOOLS[tool].pauses if tool in TOOLS else {}
        self._has_seconds = tool not in TOOLS or TOOLS[tool].has_seconds
        self._may_ramp = tool in TOOLS and bool(TOOLS[tool].ramp_option)
        self._before: ClusterSample | None = None
        self._signals_before: dict[SignalKey, Signal] = {}
        self._spans: dict[SignalKey, list[_Span]] = {}
        self._answers, self._pgs = Answers(), PgCount()
        self._nodes: dict[str, Completions] = {}
        self._flows = set[str]()
        """The flows of the run so far."""
        self._others = OtherClients()
        self.machines = Machines()
        """What the nodes did beside the benchmark."""
        self.other_operations = OtherOperations(operations_per_io(step) if step else None)
        """What the OSDs did for other clients."""
        self.counted = OsdsSoFar(step)
        """What the OSDs of the pool have counted."""
        self.stages = StagesSoFar()
        """Where the latency goes."""
        self._marks: list[tuple[float, str]] = []
        """When the user has noted what."""

    @classmethod
    def of(cls, step: Step) -> Course:
        """The course of a step's run, before it begins."""
        load = load_of(step)
        return cls(step.headline, step.tool, has_mds=step.has_mds, waits=bool(load and load.pauses), step=step)

    # ------------------------------------------------------------------ what is taken in

    def add(self, sample: Sample) -> None:
        """Take in a sample of a node, or of all merged."""
        if sample.phase == "prepare":
            return
        if sample.node is not None:
            self._nodes.setdefault(sample.node, Completions()).add(sample)
            self._flows |= sample.flows.keys()
            if sample.phase == "run" and self._has_seconds:
                _, rate = rate_of(sample, self.seconds.metric)
                self._rates.add(sample.node, sample.elapsed_seconds, rate, round(sample.interval_seconds))
            return
        self._others.add(sample)
        self.other_operations.add(sample)
        self.stages.add(sample)
        middle = sample.elapsed_seconds - sample.interval_seconds / 2
        # without a node that has come to its end, it is no second of all
        absent = {*sample.missing, *(name for name, node in self._nodes.items() if node.reached <= middle)}
        if sample.phase == "run" and self._has_seconds:
            self._whole.add(sample, absent)
        if self._may_ramp and not absent:
            self._first.add(sample)

    def end(self, node: str, elapsed_seconds: float, *, broke_off: bool = False) -> None:
        """A node's benchmark has ended; the run is that of the others where it ``broke_off``."""
        self._nodes.setdefault(node, Completions()).ended = elapsed_seconds
        if broke_off:
            self._whole.leave(node)
            self.other_operations.forget()  # it may go on unseen

    def console_stalled(self, begun: float, over: float) -> None:
        """The console itself was stalled: samples and answers of that time came late."""
        self._answers.console_stood(begun, over)

    def mark(self, mark: Mark) -> None:
        """Take in what the user did at a moment of the run."""
        if mark.elapsed_seconds is not None:
            self._marks.append((mark.elapsed_seconds, mark.text))

    def machine(self, sample: NodeSample) -> None:
        """Take in what a node did beside the benchmark."""
        self.machines.add(sample)

    def no_longer_asked(self, why: str) -> None:
        """Take in that from now on the cluster is not asked any more, and why."""
        self._answers.no_longer_asked = why

    def osds(self, sample: OsdSample) -> None:
        """Take in what the OSDs of the pool have counted."""
        self.counted.add(sample)
        self.other_operations.osds(sample)
        self.stages.osds(sample)

    def osds_denied(self) -> None:
        """Take in that the cephx caps deny to ask OSDs for their counters."""
        self.counted.is_denied = True

    def cluster(self, sample: ClusterSample) -> None:
        """Take in a state of the cluster."""
        by_rate = self._others.signals(sample)
        of_others = self.other_operations.signals() if self.other_operations.is_known else by_rate
        reported = [*signals(sample, self._before, has_mds=self._has_mds), *of_others]
        now = {(signal.kind.code, signal.subject): signal for signal in reported}
        if sample.phase == "prepare":
            self._answers.before()
            if self._before is None:
                self._before, self._signals_before = sample, now
            self._spans = {key: [_Span(signal, 0.0, early=True)] for key, signal in now.items()}
            return
        at = sample.elapsed_seconds
        if self._answers.last is None:  # a signal that ended before the release is none of the run
            self._spans = {key: spans for key, spans in self._spans.items() if key in now}
        self._answers.at(at)
        for key, signal in now.items():
            spans = self._spans.setdefault(key, [])
            if spans and at - (spans[-1].over or at) <= _JOIN_SECONDS:
                spans[-1].again(signal)
            else:
                spans.append(_Span(signal, at if signal.since is None else signal.since))
        for key, spans in self._spans.items():
            if key not in now and spans[-1].over is None:
                spans[-1].over = at
        self._pgs.add(sample, self._before)

    # ------------------------------------------------------------------ what is found

    def findings(self, lost: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
        """All findings so far, in the order of time; ``lost`` has the reason of each node that was lost early."""
        if not self._nodes:
            return ()
        end = self._end()
        reported = [*self._reported(end, standing=False), *self._answers.silent(end), *self.machines.events()]
        events = sorted(reported, key=lambda event: event.code)
        findings = [
            finding for _, group in groupby(events, lambda event: event.code) for finding in joined_if_many([*group])
        ]
        findings += self.machines.states()
        other_events = [*self._pgs.split(), *self._answers.stood()]
        is_alone = not any(code == OTHER_CLIENTS.code for code, _ in self._spans)
        counted = [*self.counted.findings(is_alone=is_alone)]
        explaining = [*events, *other_events, *self._reported(end, standing=True), *counted]
        stalls = joined_stalls(self._each_stall(end))
        findings += [*other_events, *self._stalls(stalls, end, explaining, lost or {}), *counted]
        findings += self._unsettled(stalls, end, explaining)
        return tuple(sorted(findings, key=lambda finding: (finding.from_seconds or 0.0, cause_rank(finding))))

    def _end(self) -> float:
        """The end of the run; while it runs, its newest figure."""
        if all(node.ended is not None for node in self._nodes.values()):
            return max(node.ended or 0.0 for node in self._nodes.values())
        return max(self._answers.last or 0.0, *(node.reached for node in self._nodes.values()))

    def _reported(self, end: float, *, standing: bool) -> Iterator[Finding]:
        """What the cluster reported; what is ``standing``, from before the run to its end, is no event of the run."""
        for key, spans in self._spans.items():
            for span in spans:
                if span.begun <= end and _is_as_before(span, self._signals_before.get(key)) == standing:
                    yield _described(span, end)

    def _stalls(
        self, stalls: Sequence[Stall], end: float, events: Sequence[Finding], lost: Mapping[str, str]
    ) -> list[Finding]:
        shown = sorted(stalls, key=lambda stall: -stall.seconds)[:_MOST_STALLS]
        findings = [self._stalled(stall, end, events, lost) for stall in shown]
        rest = [stall for stall in stalls if stall not in shown]
        if rest:
            findings.append(STALLED.found(seconds=sum(stall.seconds for stall in rest), times=len(rest)))
        return findings

    def _unsettled(self, stalls: Sequence[Stall], end: float, events: Sequence[Finding]) -> Iterator[Finding]:
        """What the seconds show, but for what the stalls are told of already, or is the tool's own rhythm."""
        if self.waits or self._pause or not self._whole:  # without a node there is another level
            return
        for trouble in self.seconds.troubles():
            if not is_told_by(stalls, trouble.low):
                yield trouble.kind.found(trouble.span, **trouble.values, **self._why(trouble, events))
        is_settling = all(trouble.kind is NOT_SETTLED for trouble in self.seconds.troubles())
        if is_settling and (without_ramp := self._first.finding()):
            yield without_ramp
        slow = self._rates.finding(self.seconds.metric)
        names = names_in(slow.values, "node", "slow_nodes") if slow else ()
        if slow and not is_told_by([stall for stall in stalls if {*names} & {*stall.nodes}], (0.0, end)):
            yield slow

    def _why(self, trouble: Trouble, events: Sequence[Finding]) -> dict[str, Value]:
        if trouble.low is None:
            return explanation_of_rhythm(events)
        lag = max(LAG_SECONDS, 2 * trouble.exact_seconds)
        if trouble.change != "fall":
            events = events if trouble.change == "rise" else ()
            return explanation_of_rise(trouble.span[0], self._marks, events, lag)
        is_asked, held_back = self._answers.last is not None, self.counted.held_back(*trouble.low, lag)
        return explanation(
            *trouble.low, self._marks, events, is_asked=is_asked, otherwise=held_back, stopped=False, lag=lag
        )

    @property
    def _pause(self) -> str:
        """Why the tool has pauses of its own; empty where it has none."""
        return next((why for flow, why in self._pauses.items() if flow in self._flows), "")

    def _each_stall(self, end: float) -> Iterator[Stall]:
        reached = max(node.reached for node in self._nodes.values())
        for name, node in self._nodes.items():
            # while it runs, only the cluster gives the time: a node without samples may be late, or done
            until = end if end > reached + EDGE_SECONDS else node.reached
            for begun, over in node.stalls(until if node.ended is None else node.ended):
                yield Stall(begun, over, (name,))

    def _stalled(self, stall: Stall, end: float, events: Sequence[Finding], lost: Mapping[str, str]) -> Finding:
        everywhere = len(stall.nodes) == len(self._nodes)
        return STALLED.found(
            (stall.begun, stall.over),
            seconds=stall.seconds,
            nodes=None if everywhere else stall.nodes,
            everywhere=True if everywhere and len(self._nodes) > 1 else None,
            to_the_end=stall.over >= end or None,
            **self._cause(stall, events, lost),
        )

    def _cause(self, stall: Stall, events: Sequence[Finding], lost: Mapping[str, str]) -> dict[str, Value]:
        for name in stall.nodes:
            if name in lost and stall.over >= (self._nodes[name].ended or 0.0) - ROUNDING_SECONDS:
                ended: dict[str, Value] = {"cause": lost[name], "cause_code": NODE_ENDED.code}
                return explanation(stall.begun, stall.over, self._marks, (), is_asked=False, otherwise=ended)
        is_asked, events = self._answers.last is not None, beside(events, stall.nodes)
        paused: dict[str, Value] = {"cause": self._pause, "cause_code": OVERRUN.code}
        otherwise = paused if self._pause else self.counted.held_back(stall.begun, stall.over)
        return explanation(stall.begun, stall.over, self._marks, events, is_asked=is_asked, otherwise=otherwise)


def _is_as_before(span: _Span, before: Signal | None) -> bool:
    """Whether a signal stood before the run and all the time: the finding of the state before has it."""
    if not span.early or span.over is not None or span.times > 1:
        return False
    is_more = before is not None and span.signal.weight > 1.2 * before.weight
    return before is not None and not is_more and set(span.signal.parts) <= set(before.parts)


def _described(span: _Span, end: float) -> Finding:
    over = end if span.over is None else min(span.over, end)
    signal, kind = span.signal, span.signal.kind
    if kind is PGS_INACTIVE and over - span.begun > _INACTIVE_SHARE * end:
        kind = PGS_MOSTLY_INACTIVE
    return kind.found(
        (span.begun, over),
        **signal.values,
        times=span.times if span.times > 1 else None,
        early=span.early or None,
        to_the_end=over >= end or None,
        details=tuple(signal.parts.values()) or None,
    )
