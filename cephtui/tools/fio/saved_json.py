"""fio's JSON, as it is found in a log: whole documents, with whatever text stands between them.

Format (fio 2.0.10 to 3.42, ``--output-format=json`` and ``json+``; what differs is in ``versions``). With
``--status-interval`` there is a document for each interval, whose figures count from the start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS
from cephtui.models.metrics import FLUSH
from cephtui.models.results import PERCENTILES
from cephtui.tools.base import Reading
from cephtui.tools.documents import json_documents
from cephtui.tools.fio.clients import ALL, run_of_clients, with_percentiles
from cephtui.tools.fio.document import BROKEN, figure_or_none, flows_of_job, newest_form, result_of
from cephtui.tools.fio.options import FLAGS
from cephtui.tools.fio.output import DOCUMENT_START, FioParser
from cephtui.tools.fio.saved_options import SavedOptions, same_of, saved_options
from cephtui.tools.fio.saved_run import NOT_UNDERSTOOD, Job, as_datetime, one_after_the_other, saved_run
from cephtui.tools.fio.spread import document_shares, with_document
from cephtui.tools.fio.versions import FLOWS, as_of_now, checked_figure
from cephtui.tools.logs import FoundRun, Log, joined_names

_SLACK_SECONDS = 1.5
"""By how much two clocks of a run may go apart from one document to the next: one counts whole seconds."""
_LAST_YEAR_SECONDS = 32_000_000_000
"""The year 2984."""
_LEAST_SECONDS = 3
"""Documents of a run, at least, to be its seconds."""


@dataclass(frozen=True, slots=True)
class _Document:
    content: Mapping[str, Any]
    text: str
    line: int
    last_line: int

    @property
    def jobs(self) -> list[Mapping[str, Any]]:
        """The jobs of the document."""
        jobs: list[Mapping[str, Any]] = self.content["jobs"]
        return jobs

    @property
    def clock_seconds(self) -> float:
        """Time of day when it was printed; 0 where it has none."""
        milliseconds = figure_or_none(self.content.get("timestamp_ms"))
        return milliseconds / 1e3 if milliseconds else figure_or_none(self.content.get("timestamp")) or 0.0

    @property
    def elapsed_seconds(self) -> float:
        """Since fio's start."""
        return max((figure_or_none(job.get("elapsed")) or 0.0 for job in self.jobs), default=0.0)

    @property
    def names(self) -> list[str]:
        """The names of its jobs."""
        return [str(job.get("jobname", "")) for job in self.jobs]


def find_documents(log: Log) -> list[FoundRun]:
    """Every run that fio has printed as JSON; raises nothing."""
    return [run for documents in _by_start(_documents(log)) for run in _runs(documents)]


def _documents(log: Log) -> Iterator[_Document]:
    for document in json_documents(log, DOCUMENT_START):
        jobs = document.content.get("jobs", document.content.get("client_stats"))
        if isinstance(jobs, list) and jobs and all(isinstance(job, dict) for job in jobs):
            yield _Document({**document.content, "jobs": jobs}, document.text, document.line, document.last_line)


def _by_start(documents: Iterator[_Document]) -> Iterator[list[_Document]]:
    """The documents of each start of fio."""
    document_group: list[_Document] = []
    for document in documents:
        if document_group and not _continues(document_group[-1], document):
            yield document_group
            document_group = []
        document_group.append(document)
    if document_group:
        yield document_group


def _continues(before: _Document, now: _Document) -> bool:
    if before.names != now.names or not before.clock_seconds:
        return False
    passed, counted = now.clock_seconds - before.clock_seconds, now.elapsed_seconds - before.elapsed_seconds
    return passed >= 0 and counted >= 0 and abs(passed - counted) <= _SLACK_SECONDS and _ios(now) >= _ios(before)


def _ios(document: _Document) -> float:
    """The number of I/Os; none of a document in the ramp, whose counters start again."""
    parts = [job.get(flow) for job in document.jobs for flow in FLOWS]
    return sum(figure_or_none(part.get("total_ios")) or 0.0 for part in parts if isinstance(part, dict))


def _runs(documents: Sequence[_Document]) -> list[FoundRun]:
    """One of each group of jobs, which ran one after the other."""
    last = documents[-1]
    groups: dict[object, list[Mapping[str, Any]]] = {}
    for job in last.jobs:
        if not _is_sum(job):
            groups.setdefault(str(job.get("groupid", 0)), []).append(job)
    alone = len(groups) == 1
    runs = []
    for jobs in groups.values():
        try:
            run = _run(documents, jobs, alone=alone)
            runs.append(_with_clients(run, documents, jobs, alone=alone) if "hostname" in jobs[0] else run)
        except BROKEN:
            runs.append(_not_understood(documents, jobs))
    return one_after_the_other(runs)


def _is_sum(job: Mapping[str, Any]) -> bool:
    """Whether it is what all clients did together, in all groups."""
    return job.get("jobname") == ALL and "hostname" in job and "job options" not in job


def _with_clients(
    run: FoundRun, documents: Sequence[_Document], jobs: Sequence[Mapping[str, Any]], *, alone: bool
) -> FoundRun:
    """The run with the runs of its clients; raises one of ``BROKEN``."""
    clients: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for job in jobs:
        clients.setdefault((str(job.get("hostname", ""))[:200], str(job.get("port", ""))), []).append(job)
    client_runs = [(host, _run(documents, client_jobs, alone=False)) for (host, _), client_jobs in clients.items()]
    if len(client_runs) == 1:
        return replace(run, node=client_runs[0][0])
    common = same_of([client_run.options for _, client_run in client_runs])  # a number of jobs is that of each
    named = replace(
        run, options={name: common.get(name, value) for name, value in run.options.items() if name in common}
    )
    wholes = [job for job in documents[-1].jobs if _is_sum(job)]
    if alone and len(wholes) == 1:
        named = with_percentiles(named, _job(documents[-1].content, as_of_now(wholes[0])).percentiles)
    return run_of_clients(named, client_runs)


def _not_understood(documents: Sequence[_Document], jobs: Sequence[Mapping[str, Any]]) -> FoundRun:
    last = documents[-1]
    names = joined_names(str(job.get("jobname", ""))[:200] for job in jobs)
    job = Job(name=names, flows={}, error=f"{NOT_UNDERSTOOD}: job {names} of the JSON")
    return saved_run([job], lines=(documents[0].line, last.last_line), options={}, ended_at=_ended_at(last))


def _run(documents: Sequence[_Document], jobs: Sequence[Mapping[str, Any]], *, alone: bool) -> FoundRun:
    last = documents[-1]
    job_options = [_given(last.content, job) for job in jobs]
    saved = _saved_options(job_options, jobs)
    content = newest_form({**last.content, "jobs": jobs})
    result = result_of(content, measured=True)
    return saved_run(
        [_job(content, job) for job in content["jobs"]],
        lines=(documents[0].line, last.last_line),
        options=saved.options,
        other_options=saved.other_options,
        has_all_options=saved.is_all,
        ended_at=_ended_at(last),
        disks=result.disks if alone else (),
        depths=result.depths,
        readings=_readings(documents, ramp=bool(saved.options.get("ramp_time"))) if alone else (),
        target=saved.target,
        request=" ".join(f"{name}={value}" for name, value in sorted(same_of(job_options).items())),
        version=str(last.content.get("fio version", ""))[:100],
    )


def _given(content: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, str]:
    """The options of a job as fio repeats them; an empty value is a flag."""
    parts = (content.get("global options"), job.get("job options"))
    return {str(k): str(v) or "1" for part in parts if isinstance(part, dict) for k, v in part.items()}


def _saved_options(job_options: Sequence[Mapping[str, str]], jobs: Sequence[Mapping[str, Any]]) -> SavedOptions:
    """The options of the jobs of a group, with the depth and the number of jobs that they print."""
    depths = {str(job["latency_depth"]) for job in jobs if "latency_depth" in job}
    is_given = any("iodepth" in options for options in job_options)
    printed = {"iodepth": depths.pop()} if len(depths) == 1 and not is_given else {}
    if len(jobs) > 1:
        printed["numjobs"] = str(len(jobs))
    saved = saved_options(job_options, printed)
    unlisted = FLAGS.difference(*job_options)  # not every version of fio lists the flags among the options
    return replace(saved, options={name: value for name, value in saved.options.items() if name not in unlisted})


def _ended_at(document: _Document) -> datetime | None:
    """The end of a run, with its time zone where there is a time stamp."""
    if document.clock_seconds and document.clock_seconds < _LAST_YEAR_SECONDS:
        return datetime.fromtimestamp(document.clock_seconds, UTC)
    return as_datetime(str(document.content.get("time", "")))


def _job(content: Mapping[str, Any], job: Mapping[str, Any]) -> Job:
    """Raises one of ``BROKEN`` for what is no job of fio's."""
    printed_flows = flows_of_job(content, job)
    flows = {name: with_document(flow, job[name]) if name in FLOWS else flow for name, flow in printed_flows.items()}
    latencies = {name: job[name].get("clat_ns", {}) for name in FLOWS if name in job}
    latencies |= {FLUSH: job["sync"]["lat_ns"]} if FLUSH in flows else {}
    number, switches = int(checked_figure(job.get("error", 0))), figure_or_none(job.get("ctx"))
    return Job(
        name=str(job.get("jobname", ""))[:200],
        flows=flows,
        percentiles={name: _percentiles(latencies[name]) for name in flows if name in latencies},
        error=os.strerror(number) if number else None,
        user_percent=figure_or_none(job.get("usr_cpu")),
        system_percent=figure_or_none(job.get("sys_cpu")),
        switches=None if switches is None else int(switches),
        latency_shares=() if any(flow.buckets for flow in flows.values()) else document_shares(job),
    )


def _percentiles(latency: Mapping[str, Any]) -> dict[float, float]:
    printed = latency.get("percentile", {}).items()
    values = {float(percent): figure_or_none(nanoseconds) for percent, nanoseconds in printed}
    return {percent: value / 1e9 for percent, value in values.items() if percent in PERCENTILES and value is not None}


def _readings(documents: Sequence[_Document], *, ramp: bool) -> tuple[Reading, ...]:
    """The seconds of a run, where it has printed them."""
    if len(documents) < _LEAST_SECONDS:
        return ()
    parser, readings = FioParser(ramp=ramp), []
    began = documents[0].clock_seconds - documents[0].elapsed_seconds
    for document in documents:
        elapsed = min(max(0.0, document.clock_seconds - began), ELAPSED_MOST_SECONDS / 2)
        readings += parser.feed("stdout", f"{document.text}\n".encode(), elapsed)
    return (*readings, *parser.finish())
