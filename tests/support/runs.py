"""Runs: with given figures, one after the other, and the recorded one with changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cephtui.models import ClusterEnvironment, NodeEnvironment, NodeResult, OptionValue, Run, Sample, Summary, Total
from cephtui.models.metrics import BY_NAME, DIRECTIONS
from cephtui.sessions import store
from tests import RECORDINGS
from tests.support.closed_loops import System, hard

IOPS, LATENCY, P99 = BY_NAME["iops"], BY_NAME["latency_mean_seconds"], BY_NAME["latency_p99_seconds"]
STARTED = datetime(2026, 11, 21, 10, tzinfo=UTC)
RUN_SECONDS = 62.0
STEP_SECONDS = 65.0
"""From the start of a run to that of the next."""
SESSION = RECORDINGS / "replay"
"""The recorded session."""
WRITE_IOPS, MIXED = 1, 2
"""Its runs."""
_OPTIONS = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "runtime": 60.0, "direct": True}
_BLOCK_BYTES = 4096


def total(**figures: Any) -> Total:
    """Of a minute. A rate or latency that is not given is not known; one that is may be of any size."""
    fields = {"ios": 100_000, "bytes": 1, "runtime_seconds": 60.0, "iops": None, "bandwidth_bytes": 1.0}
    return Total.model_construct(**{**fields, **figures})


def run(
    number: int = 1,
    iops: float | None = 1000.0,
    *,
    write: Total | None = None,
    read: Total | None = None,
    **fields: Any,
) -> Run:
    """A run that ended well; its number is its turn. It wrote with these IOPS, unless it has other figures."""
    usual = {
        "session": "tuning",
        "run": number,
        "batch": "b",
        "preset": "write-iops",
        "tool": "fio",
        "target": "rbd:bench",
        "options": _OPTIONS,
        "outcome": "ok",
        "command": "fio",
        "started_at": STARTED + timedelta(seconds=STEP_SECONDS * number),
        "duration_seconds": RUN_SECONDS,
        "nodes": nodes("pve1"),
        "summary": Summary(read=read, write=write or (None if read else total(iops=iops))),
    }
    return Run.model_validate(usual).model_copy(update=fields)


def runs(values: Iterable[float], first: int = 1, figure: str = "iops", **fields: Any) -> tuple[Run, ...]:
    """One after the other, numbered from ``first``."""
    return tuple(run(number, write=total(**{figure: value}), **fields) for number, value in enumerate(values, first))


def begun(number: int = 1, **fields: Any) -> Run:
    """A run in progress, which has measured nothing yet."""
    return run(number, **{"outcome": None, "duration_seconds": 0.0, "nodes": (), "summary": Summary(), **fields})


def recorded(
    number: int | None = None,
    *,
    of: int = WRITE_IOPS,
    iops: float | None = None,
    p99: float | None = None,
    **fields: Any,
) -> Run:
    """A run of the recorded session: with its own number and figures, or with those that are given."""
    run = store.read_run(SESSION, of)
    figures = {"iops": iops, "latency_p99_seconds": p99}
    changes = {name: figure for name, figure in figures.items() if figure is not None}
    if run.summary.write and changes:
        write = run.summary.write.model_copy(update=changes)
        run = run.model_copy(update={"summary": run.summary.model_copy(update={"write": write})})
    return run.model_copy(update={"run": of if number is None else number, **fields})


# ---------------------------------------------------------------------------------------------- under load


def under_load(number: int, rate: float, latency: float, batch: str = "sweep", **options: OptionValue) -> Run:
    """The recorded run with so many IOPS at this mean latency, in seconds; its p99 is twice that."""
    run, ios = recorded(number), round(60 * rate)
    rates = {"iops": rate, "bandwidth_bytes": rate * _BLOCK_BYTES}
    latencies = {"latency_mean_seconds": latency, "latency_p99_seconds": 2 * latency}
    return recorded(
        number,
        batch=batch,
        options={**run.options, "bs": "4k", "numjobs": 1, **options},
        summary=Summary(write=total(ios=ios, bytes=ios * _BLOCK_BYTES, **rates, **latencies)),
        findings=(),
        started_at=run.started_at + timedelta(minutes=number),
    )


def sweep(depths: Sequence[int], system: System | None = None, first: int = 1, **options: OptionValue) -> list[Run]:
    """A run at each depth, by default of a system with its knee at depth 16."""
    rate = system or hard(16)
    return [
        under_load(number, rate(depth), depth / rate(depth), "sweep", iodepth=depth, **options)
        for number, depth in enumerate(depths, first)
    ]


# ---------------------------------------------------------------------------------------------- where they ran


def nodes(*names: str, **fields: Any) -> tuple[NodeResult, ...]:
    """What the nodes of a run did, by default without figures."""
    return tuple(NodeResult(**{"node": name, "command": "fio", **fields}) for name in names)


def environment(**fields: Any) -> NodeEnvironment:
    """Of a node of Proxmox VE."""
    return NodeEnvironment(
        hostname="pve1", os="Debian GNU/Linux 12", kernel="6.8.12-4-pve", cpu="EPYC 7302", cpu_count=16, **fields
    )


def cluster(**fields: Any) -> ClusterEnvironment:
    """Of a healthy cluster with a pool of three copies."""
    pool = {"name": "bench", "type": "replicated", "size": 3}
    usual = {"ceph_version": "19.2.1", "health": "HEALTH_OK", "osds": 6, "osds_up": 6, "osds_in": 6, "pool": pool}
    return ClusterEnvironment(**{**usual, **fields})


def without_ios(sample: Sample) -> Sample:
    """A sample without its time, and without the I/Os of reads and writes: an earlier cephtui kept those that began."""
    bare = {
        name: replace(interval, ios=None, iops=None)
        for name in DIRECTIONS
        if (interval := getattr(sample, name)) is not None
    }
    return replace(sample, elapsed_seconds=0.0, **bare)
