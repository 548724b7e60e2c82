"""What one of fio's ``json+`` documents has of a whole run: flows, jobs, depth, CPU and disks.

The last document of a run is its result. Figures that others depend on raise one of ``BROKEN``; the others are left
out where they are no figures.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cephtui import stats
from cephtui.models import ELAPSED_MOST_SECONDS, DiskUse, JobResult
from cephtui.tools.base import ToolResult, by_direction
from cephtui.tools.fio.flushes import Flushing, Lead, flushing, lead_of, shares_of_all
from cephtui.tools.fio.options import DEFAULTS, SEVERAL_BLOCKS
from cephtui.tools.fio.versions import FLOWS, as_of_now, checked_figure
from cephtui.units import parse_size

BROKEN = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""Errors that a document raises which is not as expected."""
_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_DIFFERING = {*SEVERAL_BLOCKS, "bs_unaligned", "blocksize_unaligned"}
"""Options with which I/Os have different sizes."""
_DISK_COUNTS = ("read_ios", "write_ios", "read_merges", "write_merges")
_DISK_TIMES = {"read_wait_seconds": "read_ticks", "write_wait_seconds": "write_ticks", "queue_seconds": "in_queue"}


def figure_or_none(value: Any) -> float | None:
    """One that no other figure depends on: without it the rest still holds."""
    try:
        return float(checked_figure(value))
    except BROKEN:
        return None


def bins(part: Mapping[str, Any]) -> dict[int, int]:
    """The histogram of completion latencies of one direction, on the fixed grid; raises one of ``BROKEN``."""
    return _on_grid(part.get("clat_ns", {}).get("bins", {}))


def _on_grid(counts: Mapping[str, Any]) -> dict[int, int]:
    """Bins of microseconds may fall into one of nanoseconds."""
    return stats.add_buckets(
        {stats.bucket_of(int(ns)): int(checked_figure(number))} for ns, number in counts.items() if number
    )


def block_of(document: Mapping[str, Any], job: Mapping[str, Any]) -> int:
    """The bytes of each I/O of a job; 0 where they differ, or its options are not known."""
    options = _options(document, job)
    if not options or _DIFFERING & options.keys():
        return 0
    try:
        return parse_size(options.get("bs", options.get("blocksize", DEFAULTS["bs"])))
    except ValueError:
        return 0


def completed(part: Mapping[str, Any], block: int) -> int:
    """How many I/Os of one direction were completed, by their bytes, else by the latencies that were measured.

    fio counts an I/O when it begins: of those in flight as the ramp ends none, of those in flight at the end all.
    """
    nbytes = int(checked_figure(part["io_bytes"]))
    if block and nbytes % block == 0:
        return nbytes // block
    return int(checked_figure(part.get("clat_ns", {}).get("N", 0)) or checked_figure(part["total_ios"]))


def flow_of(part: Mapping[str, Any], block: int) -> stats.Flow | None:
    """A job's whole run in one direction, with the I/Os that were completed, each of so many bytes (``block_of``)."""
    flow = _flow(part)
    return flow and stats.with_completed(flow, completed(part, block))


def _flow(part: Mapping[str, Any]) -> stats.Flow | None:
    """Figures as fio wrote them."""
    if not part["total_ios"]:
        return None
    clat = part.get("clat_ns", {})
    number = int(checked_figure(clat.get("N", 0)))
    measured = number > 0
    return stats.Flow(
        ios=int(checked_figure(part["total_ios"])),
        bytes=int(checked_figure(part["io_bytes"])),
        runtime_seconds=min(checked_figure(part["runtime"]) / 1e3, ELAPSED_MOST_SECONDS),
        iops=float(checked_figure(part["iops"])),
        bandwidth_bytes=float(checked_figure(part["bw_bytes"])),
        buckets=bins(part),
        moments=stats.Moments(number, *(checked_figure(clat[k]) / 1e9 for k in ("mean", "stddev")))
        if measured
        else None,
        bounds=(checked_figure(clat["min"]) / 1e9, checked_figure(clat["max"]) / 1e9) if measured else None,
        slat=_times(part, "slat_ns"),
        lat=_times(part, "lat_ns"),
    )


def _times(part: Mapping[str, Any], key: str) -> stats.Times | None:
    """The times of submission, or of both; None where nothing was measured, or what is there is no figure.

    An engine that completes an I/O as it submits it has no submission latency of its own.
    """
    try:
        latency = part[key]
        number = int(checked_figure(latency.get("N", part["total_ios"])))
        least, most, mean, stddev = (checked_figure(latency[name]) / 1e9 for name in ("min", "max", "mean", "stddev"))
    except BROKEN:
        return None
    return stats.Times(stats.Moments(number, mean, stddev), (least, most)) if number else None


def flushing_of(document: Mapping[str, Any], job: Mapping[str, Any], write: stats.Flow | None) -> Flushing | None:
    """The flushes of a job in one of fio's JSON documents; None where it has none, or none that are figures."""
    sync = job.get("sync")
    if write is None or not isinstance(sync, dict) or not isinstance(sync.get("lat_ns"), dict):
        return None
    latency = sync["lat_ns"]
    if not latency.get("max"):
        return None
    options = _options(document, job)
    try:
        buckets = _on_grid(latency.get("bins", {}))
        ios = _count(sync, sum(buckets.values())) or _by_option(options, write)
        least, most, mean, stddev = (
            float(checked_figure(latency[name])) / 1e9 for name in ("min", "max", "mean", "stddev")
        )
    except BROKEN:
        return None
    times = stats.Times(stats.Moments(ios or write.ios or 1, mean, stddev), (least, most))
    return flushing(write, ios, buckets, times, _lead(document, options))


def _count(sync: Mapping[str, Any], in_buckets: int) -> int:
    """All that were timed: ``total_ios`` counts fsync alone, and until fio 3.17 there is no ``N``."""
    return (
        int(checked_figure(sync["lat_ns"].get("N", 0))) or in_buckets or int(checked_figure(sync.get("total_ios", 0)))
    )


def _by_option(options: Mapping[str, str], write: stats.Flow) -> int | None:
    """The number of fdatasync where fio has not counted it; None without that option."""
    interval = options.get("fdatasync", "")
    return write.ios // int(interval) if write.ios and interval.isdecimal() and int(interval) else None


def _lead(document: Mapping[str, Any], options: Mapping[str, str]) -> Lead | None:
    """The part of a write's time before its flush; None without any options."""
    engine = options.get("ioengine", "psync") if options else ""
    depth = options.get("iodepth", "1")
    return lead_of(engine, int(depth) if depth.isdecimal() else 0, str(document.get("fio version", "")))


def _options(document: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, str]:
    parts = (document.get("global options"), job.get("job options"))
    return {str(name): str(value) for part in parts if isinstance(part, dict) for name, value in part.items()}


def flows_of_job(document: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, stats.Flow]:
    """All that a job did, by name; raises one of ``BROKEN``.

    ``mixed`` beside reads and writes is all of them again (unified_rw_reporting=both).
    """
    block = block_of(document, job)
    flows = {name: flow for name in FLOWS if name in job and (flow := flow_of(job[name], block))}
    if len(flows) > 1:
        flows.pop("mixed", None)
    flushed = flushing_of(document, job, flows.get("write"))
    return {**flows, **(flushed.flows if flushed else {})}


def _disks(document: Mapping[str, Any]) -> tuple[DiskUse, ...]:
    """The disks whose utilisation fio reports."""
    disks = document.get("disk_util", [])
    return tuple(use for disk in disks if "util" in disk and (use := _disk(disk)))


def _disk(disk: Mapping[str, Any]) -> DiskUse | None:
    """The use of a disk as fio has it from the kernel, whose ticks are milliseconds."""
    util = figure_or_none(disk["util"])
    if util is None:
        return None
    counts = {name: figure_or_none(disk.get(name)) for name in _DISK_COUNTS}
    times = {name: figure_or_none(disk.get(key)) for name, key in _DISK_TIMES.items()}
    return DiskUse(
        name=str(disk["name"]),
        utilisation_percent=util,
        **{name: None if count is None else int(count) for name, count in counts.items()},
        **{name: None if ticks is None else ticks / 1e3 for name, ticks in times.items()},
    )


def _depths(jobs: list[Mapping[str, Any]]) -> dict[str, float]:
    """How deep the queue was, over the I/Os of all jobs; empty where a job does not report it."""
    weights = [sum(int(checked_figure(job[name]["total_ios"])) for name in FLOWS if name in job) for job in jobs]
    levels = [job.get("iodepth_level") for job in jobs]
    percents: dict[str, float] = {}
    for weight, level in zip(weights, levels, strict=True):
        shares = [figure_or_none(level.get(name)) for name in _DEPTHS] if isinstance(level, dict) else [None]
        if None in shares:
            return {}
        for name, share in zip(_DEPTHS, shares, strict=True):
            percents[name] = percents.get(name, 0.0) + (share or 0.0) * weight / (sum(weights) or 1)
    return shares_of_all(percents)


def _job_results(jobs: list[Mapping[str, Any]], flows: list[dict[str, stats.Flow]]) -> tuple[JobResult, ...]:
    if len(jobs) < 2:
        return ()
    return tuple(
        JobResult(
            job=f"{job['jobname']} {number}",
            image=_image(job),
            summary=stats.summarise([job_flows]),
        )
        for number, (job, job_flows) in enumerate(zip(jobs, flows, strict=True), 1)
    )


def _image(job: Mapping[str, Any]) -> str | None:
    options = job.get("job options")
    image = options.get("rbdname") if isinstance(options, dict) else None
    return image if isinstance(image, str) else None


def _switches(jobs: list[Mapping[str, Any]]) -> int | None:
    """The context switches of all jobs."""
    number = stats.known_sum(figure_or_none(job.get("ctx")) for job in jobs)
    return None if number is None else int(number)


def newest_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with its jobs as the newest fio writes them; raises one of ``BROKEN``."""
    return {**document, "jobs": [as_of_now(job) for job in document["jobs"]]}


def result_of(document: Mapping[str, Any], *, measured: bool) -> ToolResult:
    """The whole run, or where nothing was ``measured`` yet what is not part of its figures.

    Raises one of ``BROKEN``.
    """
    jobs = document["jobs"]
    flowing = jobs if measured else []
    flows = [flows_of_job(document, job) for job in flowing]
    added = {name: whole for name, parts in stats.group_by_name(flows).items() if (whole := stats.add_flows(parts))}
    return ToolResult(
        *by_direction(added),
        cpu_user_percent=stats.mean_of_known(figure_or_none(job.get("usr_cpu")) for job in jobs),
        cpu_system_percent=stats.mean_of_known(figure_or_none(job.get("sys_cpu")) for job in jobs),
        context_switches=_switches(jobs),
        depths=_depths(flowing),
        disks=_disks(document),
        jobs=_job_results(flowing, flows),
        error=next((os.strerror(job["error"]) for job in jobs if job.get("error")), None),
    )
