"""The jobs of a run that have something to be compared with, such as OSDs of a device class: what each did, and which
are clearly slower than the others. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from cephtui.analysis.detectors.slowest import LEAST, NODE_FRACTION
from cephtui.frozen import dataclass
from cephtui.models import Finding, JobSample, NodeResult
from cephtui.models.findings.client import SLOW_JOB, under_median

JobKey = tuple[str, str, str]
"""Node, job and direction."""


@dataclass(frozen=True, slots=True)
class JobFigure:
    """What one job did in one direction, until now or in the whole run."""

    job: str
    direction: str
    group: str
    """What it is compared within; empty where there is nothing such."""
    place: str
    """Where it is, in words; may be empty."""
    iops: float | None
    bandwidth_bytes: float


def job_figures(nodes: Iterable[NodeResult]) -> list[JobFigure]:
    """Of a run that is over; none where its jobs have neither a group nor a place."""
    return [
        JobFigure(job.job, direction, job.group or "", job.place or "", total.iops, total.bandwidth_bytes)
        for node in nodes
        for job in node.jobs
        for direction, total in job.summary.flows.items()
        if (job.group or job.place) and total.bandwidth_bytes is not None
    ]


class JobsSoFar:
    """Adds up what jobs have done, as it comes."""

    def __init__(self) -> None:
        self._all: dict[JobKey, JobSample] = {}

    def add(self, node: str, samples: Iterable[JobSample]) -> None:
        """What some jobs of a node have done since they were last heard of."""
        for one in samples:
            key = node, one.job, one.direction
            self._all[key] = _added(self._all[key], one) if key in self._all else one

    def figures(self) -> list[JobFigure]:
        """In the order in which they were first heard of."""
        return [_figure(one) for one in self._all.values() if one.seconds > 0]


def _added(one: JobSample, other: JobSample) -> JobSample:
    ios = None if one.ios is None or other.ios is None else one.ios + other.ios
    done = one.bytes + other.bytes, one.seconds + other.seconds
    return JobSample(other.job, other.direction, ios, *done, other.group, other.place)


def _figure(one: JobSample) -> JobFigure:
    iops = None if one.ios is None else one.ios / one.seconds
    return JobFigure(one.job, one.direction, one.group, one.place, iops, one.bytes / one.seconds)


def slower(figures: Iterable[JobFigure]) -> Mapping[JobFigure, float]:
    """Those that are at least 15 % under the median of their group, with how far: 0.38 is 38 %.

    A group has at least ``LEAST`` jobs: fewer have no median that one could fall short of.
    """
    groups: dict[tuple[str, str], list[JobFigure]] = {}
    for each in figures:
        groups.setdefault((each.direction, each.group), []).append(each)
    found: dict[JobFigure, float] = {}
    for same in groups.values():
        middle = median(each.bandwidth_bytes for each in same)
        if len(same) >= LEAST and middle > 0:
            found |= {each: 1 - each.bandwidth_bytes / middle for each in same
                      if each.bandwidth_bytes <= (1 - NODE_FRACTION) * middle}  # fmt: skip
    return found


def slow_jobs(node: NodeResult) -> list[Finding]:
    """A finding for each job that is clearly slower than the others of its group."""
    figures = job_figures([node])
    return [_finding(each, fraction) for each, fraction in slower(figures).items()]


def _finding(one: JobFigure, fraction: float) -> Finding:
    return SLOW_JOB.found(
        job=one.job,
        place=one.place or None,
        group=one.group or None,
        direction=one.direction,
        rate_bytes=one.bandwidth_bytes,
        fraction=fraction,
    )


def under(one: JobFigure, fraction: float) -> str:
    """``38 % under the median of hdd``."""
    return under_median(fraction, one.group)
