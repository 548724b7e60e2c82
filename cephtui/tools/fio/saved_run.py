"""A run in a saved log of fio, from the jobs that its output names: what text and JSON have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import DiskUse, Finding, JobResult, LatencyShare, OptionValue, Summary, Total
from cephtui.models.findings.data import COMPRESSIBLE, LIBRBD_CACHE, PAGE_CACHE
from cephtui.models.findings.measurement import ERRORS_COUNTED, INCOMPLETE
from cephtui.models.metrics import is_carried
from cephtui.models.results import PERCENTILES
from cephtui.stats import Flow
from cephtui.tools.base import Reading, by_direction
from cephtui.tools.dates import as_date
from cephtui.tools.fio.flushes import caches_writes
from cephtui.tools.fio.options import WITHOUT_LATENCY, smaller_data
from cephtui.tools.logs import FoundRun, joined_names

_ALWAYS = (50.0, 95.0, 99.0, 99.9)
"""The others only where enough I/Os lie beyond them."""
_OWN_CACHE = ("rbd", "rados", "null")
"""Engines that do not go through the page cache."""
NOT_UNDERSTOOD = "not understood"
DATE = "%a %b %d %H:%M:%S %Y"


@dataclass(frozen=True, slots=True)
class Job:
    """A job, or a group of jobs that fio reports as one."""

    name: str
    flows: Mapping[str, Flow]
    percentiles: Mapping[str, Mapping[float, float]] = field(default_factory=dict)
    """Seconds by flow, then by percent, as fio prints them; those of a Total."""
    error: str | None = None
    user_percent: float | None = None
    system_percent: float | None = None
    switches: int | None = None
    """Context switches."""
    latency_shares: tuple[LatencyShare, ...] = ()
    """As in a NodeResult."""

    def summary(self, *, histogram: bool = False) -> Summary:
        """Percentiles are those of the histogram, or where it has none as fio prints them."""
        whole = stats.summarise([self.flows], histogram=histogram).flows
        totals = {name: self._with_percentiles(name, total) for name, total in whole.items()}
        read, write, other = by_direction(totals)
        return Summary(read=read, write=write, other=other)

    def _with_percentiles(self, name: str, total: Total) -> Total:
        moments = self.flows[name].moments
        percentiles = {
            PERCENTILES[percent]: seconds
            for percent, seconds in self.percentiles.get(name, {}).items()
            if is_shown(percent, moments.count if moments else 0)
        }
        return total.model_copy(update={field: s for field, s in percentiles.items() if getattr(total, field) is None})


def is_shown(percent: float, count: int) -> bool:
    """Whether a percentile of so many I/Os says something."""
    return percent in _ALWAYS or is_carried(count, percent)


def as_datetime(text: str) -> datetime | None:
    """``Mon Apr  7 22:14:44 2025``: by the clock of the node."""
    date = as_date(" ".join(text.split()), DATE)
    return date if date and 1970 < date.year < 3000 else None


def _summary_of(jobs: Sequence[Job]) -> Summary:
    """The summary of jobs that ran at the same time."""
    if len(jobs) == 1:
        return jobs[0].summary(histogram=True)
    return stats.summarise([job.flows for job in jobs], histogram=True)


def _job_results(jobs: Sequence[Job]) -> tuple[JobResult, ...]:
    if len(jobs) < 2:
        return ()
    return tuple(JobResult(job=f"{job.name} {number}", summary=job.summary()) for number, job in enumerate(jobs, 1))


def saved_run(
    jobs: Sequence[Job],
    *,
    lines: tuple[int, int],
    options: Mapping[str, OptionValue],
    ended_at: datetime | None,
    disks: tuple[DiskUse, ...] = (),
    readings: tuple[Reading, ...] = (),
    version: str = "",
    **fields: Any,
) -> FoundRun:
    """The run of at least one job; fio prints the date at its end. ``fields`` are other fields of a FoundRun."""
    lasted = max((flow.runtime_seconds for job in jobs for flow in job.flows.values()), default=0.0)
    ramp = float(options.get("ramp_time") or 0.0)
    return FoundRun(
        line=lines[0],
        last_line=lines[1],
        name=joined_names(job.name for job in jobs) or "fio",
        options=options,
        started_at=ended_at and ended_at - timedelta(seconds=lasted + ramp),
        duration_seconds=lasted + ramp,
        error=next((job.error for job in jobs if job.error), None),
        summary=_summary_of(jobs),
        jobs=_job_results(jobs),
        cpu_user_percent=stats.mean_of_known(job.user_percent for job in jobs),
        cpu_system_percent=stats.mean_of_known(job.system_percent for job in jobs),
        context_switches=stats.known_sum(job.switches for job in jobs),
        latency_shares=jobs[0].latency_shares if len(jobs) == 1 else (),
        disks=disks,
        findings=tuple(_findings(jobs, {**fields.get("other_options", {}), **options}, version)),
        readings=readings,
        version=version,
        **fields,
    )


def _is_ramp(jobs: Sequence[Job], options: Mapping[str, OptionValue]) -> bool:
    """Whether the jobs ended before their ramp was over: fio then prints what was done in it, without latency."""
    flows = [flow for job in jobs for flow in job.flows.values()]
    is_timed = not WITHOUT_LATENCY & options.keys()
    return bool(options.get("ramp_time") and flows and is_timed) and not any(flow.moments for flow in flows)


def one_after_the_other(runs: Sequence[FoundRun]) -> list[FoundRun]:
    """The groups of one start of fio: all are printed at its end, and each began when the one before it had ended."""
    dated: list[FoundRun] = []
    later = timedelta()
    for run in reversed(runs):
        dated.append(replace(run, started_at=run.started_at and run.started_at - later))
        later += timedelta(seconds=run.duration_seconds)
    return dated[::-1]


def _findings(jobs: Sequence[Job], options: Mapping[str, OptionValue], version: str) -> list[Finding]:
    """The findings on the figures of jobs of this version with these options."""
    engine, findings = options.get("ioengine"), list[Finding]()
    if _is_ramp(jobs, options):
        findings.append(INCOMPLETE.found(in_ramp=True))
    if engine == "rados":
        findings.append(ERRORS_COUNTED.found())
    if options.get("direct") is False and engine not in _OWN_CACHE:
        findings.append(PAGE_CACHE.found())
    if caches_writes(options, version):
        findings.append(LIBRBD_CACHE.found(option="direct=0"))
    smaller = smaller_data(options)
    if smaller.options and options.get("rw", "read") not in ("read", "randread"):
        findings.append(COMPRESSIBLE.found(options=smaller.options))
    return findings
