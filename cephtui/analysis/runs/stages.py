"""Where the latency of client I/O goes: the mean of a run's reads, or writes, split by what the OSDs counted. Pure.

Each stage is a difference of means of the same operations, so that the stages add up to what the client measured; the
first is what is left of that. Means only: percentiles can't be split by counters.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeAlias

from cephtui.models import Finding, OsdSample, Run, Sample, Stages
from cephtui.models.findings.cluster import MESSAGE_CAP
from cephtui.models.verdict import StageChange

_COVERED = 0.8
"""Of so much of a time it has to be known what the client measured."""
_LONGER = 1.05
"""The operations of the OSDs take so much longer than the client's I/Os only where they are others."""
_NOW = 3
"""What is shown while the run goes on is of so many answers of the OSDs: their seconds do not end with the client's."""
_FROM_SECONDS = 1.0
"""Answers of OSDs come up to so much later than the figures of the client: before there was no load in a part of it."""
_KEPT = 60
"""Seconds of the client for which the OSDs may answer later."""
Flow: TypeAlias = Literal["read", "write"]
FLOWS: tuple[Flow, ...] = ("read", "write")


@dataclass(slots=True)
class _Sums:
    """The I/Os of the client and the operations of the OSDs in the same time, with the sums of their times."""

    ios: float = 0.0
    client_seconds: float = 0.0
    operations: int = 0
    op_seconds: float = 0.0
    process_seconds: float = 0.0
    prepare_seconds: float = 0.0

    def add(self, other: _Sums) -> None:
        self.ios += other.ios
        self.client_seconds += other.client_seconds
        self.operations += other.operations
        self.op_seconds += other.op_seconds
        self.process_seconds += other.process_seconds
        self.prepare_seconds += other.prepare_seconds

    def stages(self) -> Stages | None:
        """None without I/Os or operations, and where these take longer: a cache answers, or others' are slower."""
        if self.ios < 1 or not self.operations:
            return None
        client = self.client_seconds / self.ios
        op, process, prepare = (
            seconds / self.operations for seconds in (self.op_seconds, self.process_seconds, self.prepare_seconds)
        )
        if op > _LONGER * client:
            return None
        return Stages(
            ios=round(self.ios),
            operations=self.operations,
            outside_seconds=max(0.0, client - op),
            queue_seconds=max(0.0, op - process),
            prepare_seconds=prepare,
            store_seconds=max(0.0, process - prepare),
        )


@dataclass(frozen=True, slots=True)
class _Second:
    """What the client measured until a moment, by flow: I/Os, and the sum of their latencies."""

    begun: float
    over: float
    flows: Mapping[Flow, tuple[int, float]] = field(default_factory=dict)


class StagesSoFar:
    """Takes in the samples of a run and those of its OSDs, and compares those of the same time."""

    def __init__(self) -> None:
        self._from = math.inf
        """When there was a load in all of what the OSDs counted."""
        self._seconds: deque[_Second] = deque(maxlen=_KEPT)
        self._waiting: deque[OsdSample] = deque(maxlen=_KEPT)
        self._last: deque[dict[Flow, _Sums]] = deque(maxlen=_NOW)
        self._all = {name: _Sums() for name in FLOWS}

    def add(self, merged: Sample) -> None:
        """Take in a sample of all nodes merged; one of the ramp, or without a node, is left out."""
        flows = {name: flow for name, flow in merged.flows.items() if name in FLOWS and flow.ios != 0}
        is_known = all(flow.ios is not None and flow.latency_mean_seconds is not None for flow in flows.values())
        if merged.phase != "run" or merged.missing or not is_known:
            return
        sums = {
            name: (flow.ios or 0, (flow.ios or 0) * (flow.latency_mean_seconds or 0.0)) for name, flow in flows.items()
        }
        begun = merged.elapsed_seconds - merged.interval_seconds
        self._from = min(self._from, begun + _FROM_SECONDS)
        self._seconds.append(_Second(begun, merged.elapsed_seconds, sums))
        self._compare()

    def osds(self, sample: OsdSample) -> None:
        """Take in what the OSDs have counted."""
        if sample.phase == "run":
            self._waiting.append(sample)
            self._compare()

    @property
    def now(self) -> dict[Flow, Stages]:
        """Those of the last seconds, by flow; empty where they are not known."""
        sums = {name: _Sums() for name in FLOWS}
        for part in self._last:
            for name in part:
                sums[name].add(part[name])
        return _known(sums)

    def results(self) -> dict[Flow, Stages]:
        """Those of the run, by flow; empty where they are not known."""
        return _known(self._all)

    def _compare(self) -> None:
        while self._waiting and self._seconds and self._waiting[0].elapsed_seconds <= self._seconds[-1].over:
            sample = self._waiting.popleft()
            is_loaded = sample.elapsed_seconds - sample.interval_seconds >= self._from
            if is_loaded and (sums := _sums_of(sample, self._seconds)):
                self._last.append(sums)
                for name in sums:
                    self._all[name].add(sums[name])


def _sums_of(sample: OsdSample, seconds: Iterable[_Second]) -> dict[Flow, _Sums]:
    """What the OSDs counted, beside what the client measured in that time; empty where most of that is not known."""
    begun, over = sample.elapsed_seconds - sample.interval_seconds, sample.elapsed_seconds
    sums: dict[Flow, _Sums] = {
        # an OSD reads while it prepares (PrimaryLogPG::execute_ctx): these times are not apart
        "read": _of_osds(sample.reads, sample.read_seconds, sample.read_process_seconds, 0.0),
        "write": _of_osds(
            sample.writes, sample.write_seconds, sample.write_process_seconds, sample.write_prepare_seconds
        ),
    }
    covered = 0.0
    for second in seconds:
        common = min(over, second.over) - max(begun, second.begun)
        if common <= 0:
            continue
        covered += common
        part = common / (second.over - second.begun)
        for name, (ios, latencies) in second.flows.items():
            sums[name].ios += part * ios
            sums[name].client_seconds += part * latencies
    return sums if covered >= _COVERED * sample.interval_seconds > 0 else {}


def _of_osds(operations: int, op: float | None, process: float | None, prepare: float | None) -> _Sums:
    if op is None or process is None or prepare is None:
        return _Sums()
    return _Sums(
        operations=operations,
        op_seconds=operations * op,
        process_seconds=operations * process,
        prepare_seconds=operations * prepare,
    )


def _known(sums: Mapping[Flow, _Sums]) -> dict[Flow, Stages]:
    return {name: stages for name, part in sums.items() if (stages := part.stages())}


def mean_stages(runs: Sequence[Run]) -> dict[Flow, Stages]:
    """The stages of runs that repeat each other, by flow: the means of those that have them."""
    flows = dict.fromkeys(flow for run in runs for flow in run.stages)
    return {flow: _mean([run.stages[flow] for run in runs if flow in run.stages]) for flow in flows}


def is_capped(findings: Iterable[Finding]) -> bool:
    """Whether the message cap was reached: messages that wait for it are in the first stage too."""
    return any(finding.code == MESSAGE_CAP.code for finding in findings)


def stage_changes(before: Sequence[Run], after: Sequence[Run]) -> list[StageChange]:
    """Of each flow whose stages both sides know; runs that repeat each other on each side."""
    was_capped = is_capped(finding for run in (*before, *after) for finding in run.findings)
    stages, later = mean_stages(before), mean_stages(after)
    return [
        StageChange(
            preset=before[0].preset, direction=flow, before=stages[flow], after=later[flow], message_cap=was_capped
        )
        for flow in stages
        if flow in later
    ]


def _mean(stages: Sequence[Stages]) -> Stages:
    values = {name: fmean(getattr(of, name) for of in stages) for name in Stages.model_fields}
    return Stages(**{name: round(value) if name in ("ios", "operations") else value for name, value in values.items()})
