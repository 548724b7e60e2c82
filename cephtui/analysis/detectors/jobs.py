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
    """The figures of one job in one direction, until now or in the whole run."""

    job: str
    direction: str
    group: str
    """The group that it is compared within; empty where there is none."""
    place: str
    """Where it is, in words; may be empty."""
    iops: float | None
    bandwidth_bytes: float


def job_figures(nodes: Iterable[NodeResult]) -> list[JobFigure]:
    """The figures of a run that is over; none where its jobs have neither a group nor a place."""
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
        """Take in what some jobs of a node have done since they were last heard of."""
        for sample in samples:
            key = node, sample.job, sample.direction
            self._all[key] = _added(self._all[key], sample) if key in self._all else sample

    def figures(self) -> list[JobFigure]:
        """The figures so far, in the order in which the jobs were first heard of."""
        return [_figure(total) for total in self._all.values() if total.seconds > 0]


def _added(first: JobSample, other: JobSample) -> JobSample:
    ios = None if first.ios is None or other.ios is None else first.ios + other.ios
    done = first.bytes + other.bytes, first.seconds + other.seconds
    return JobSample(other.job, other.direction, ios, *done, other.group, other.place)


def _figure(total: JobSample) -> JobFigure:
    iops = None if total.ios is None else total.ios / total.seconds
    return JobFigure(total.job, total.direction, total.group, total.place, iops, total.bytes / total.seconds)


def slower(figures: Iterable[JobFigure]) -> Mapping[JobFigure, float]:
    """The figures at least 15 % under the median of their group, with how far: 0.38 is 38 %.

    A group has at least ``LEAST`` jobs: fewer have no median that one could fall short of.
    """
    groups: dict[tuple[str, str], list[JobFigure]] = {}
    for figure in figures:
        groups.setdefault((figure.direction, figure.group), []).append(figure)
    fractions: dict[JobFigure, float] = {}
    for group in groups.values():
        middle = median(figure.bandwidth_bytes for figure in group)
        if len(group) >= LEAST and middle > 0:
            for figure in group:
                if figure.bandwidth_bytes <= (1 - NODE_FRACTION) * middle:
                    fractions[figure] = 1 - figure.bandwidth_bytes / middle
    return fractions


def slow_jobs(node: NodeResult) -> list[Finding]:
    """A finding for each job that is clearly slower than the others of its group."""
    figures = job_figures([node])
    return [_finding(figure, fraction) for figure, fraction in slower(figures).items()]


def _finding(figure: JobFigure, fraction: float) -> Finding:
    return SLOW_JOB.found(
        job=figure.job,
        place=figure.place or None,
        group=figure.group or None,
        direction=figure.direction,
        rate_bytes=figure.bandwidth_bytes,
        fraction=fraction,
    )


def under(figure: JobFigure, fraction: float) -> str:
    """``38 % below the median of hdd``."""
    return under_median(fraction, figure.group)
