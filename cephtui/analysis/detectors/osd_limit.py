"""What the OSDs of a pool can write at most: by what each has written to its own store. Pure.

For small random writes it is their number that counts, as an OSD measures it of itself or as it was benched, for large
ones their bytes, and between them the smaller bound. OSDs that share a disk share what it can do: benched one after the
other, the disk can do about what the fastest of them did. Small writes are an estimate: a bench makes an object of
each, which is not what clients do. For reads there is no such figure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cephtui.analysis.detectors.bounds import placed_rate
from cephtui.analysis.detectors.network import VALID_FOR, copies_text, data_chunks
from cephtui.analysis.runs.batches import measured
from cephtui.analysis.runs.facts import load_of, why_invalid
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, Run
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.nodes import OsdRate, OsdRates
from cephtui.tools import TOOLS

_IOPS, _BANDWIDTH = BY_NAME["iops"], BY_NAME["bandwidth_bytes"]
_SMALL_BLOCK = 4096
"""Bytes of the writes with which OSDs measure their own capacity."""
LARGE_BLOCK = 1 << 20
"""Bytes of the writes by which the bandwidth of an OSD is known, and whose number is no limit any more."""
_BANDWIDTH_BLOCK = 64 << 10
"""Bytes of the smallest writes that this bandwidth may limit: of smaller ones it is their number that costs."""
_BY_SERIAL = re.compile(r"[^ ]+( [0-9a-f]{8})+")
"""A host and digests of serial numbers: by the kernel's name of it a disk is not known to be the same."""
_CAPACITY = "osd_mclock_max_capacity_iops_"
_FALLBACKS = {"ssd": 21500.0, "hdd": 315.0}
"""The capacity of an OSD whose own measurement is not believable: its real one is not known."""
_KINDS = {"nvme": "ssd", "ssd": "ssd", "hdd": "hdd"}
"""The kind of capacity of an OSD, by device class."""


@dataclass(frozen=True, slots=True)
class OsdLimit:
    """What the OSDs of a pool let through."""

    metric: Metric
    at_most: float
    basis: str
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class _Rates:
    """What each OSD of a pool wrote, by its id, with the disk that each is on."""

    by_osd: Mapping[str, float]
    disks: Mapping[str, str]
    """An OSD whose disk is not known is left out: it is taken to have one of its own."""
    origin: str
    together: bool = False
    """Whether all of them wrote at the same time."""


def osd_rates(run: Run) -> OsdRates | None:
    """What each OSD wrote in a run that had each of them write to its own store; None of another run."""
    tool, load = TOOLS.get(run.tool), load_of(run)
    if tool is None or "osd" not in tool.kinds or why_invalid(run) or load is None:
        return None
    jobs = [(job, job.summary.write) for node in run.nodes for job in node.jobs if job.job.startswith("osd.")]
    rates = {
        job.job.removeprefix("osd."): OsdRate(iops=total.iops, bandwidth_bytes=total.bandwidth_bytes)
        for job, total in jobs
        if total
    }
    if not rates:
        return None
    disks = run.cluster.disk_by_osd if run.cluster else {}
    # a place without a device is only a host
    places = {job.job.removeprefix("osd."): job.place for job, _ in jobs if job.place and " " in job.place}
    return OsdRates(
        block_bytes=load.block_bytes,
        together=bool(run.options.get("together")),
        rates=rates,
        disks={osd: disks.get(osd) or places.get(osd, "") for osd in rates if osd in disks or osd in places},
        session=run.session,
        run=run.run,
        measured_at=run.started_at,
    )


def rates_before(run: Run, runs: Iterable[Run], kept: Iterable[OsdRates] = ()) -> list[OsdRates]:
    """What was measured of OSDs before a run began, the newest first: valid for a day, or for the same disks."""
    own = [rates for other in runs if (rates := osd_rates(other))]
    by_origin = {(rates.session, rates.run): rates for rates in [*kept, *own]}
    disks = run.cluster.disk_by_osd if run.cluster else {}
    before = [rates for rates in by_origin.values() if rates.measured_at < run.started_at]
    before = [rates for rates in before if is_valid(rates, run.started_at, disks)]
    return sorted(before, key=lambda rates: rates.measured_at, reverse=True)


def is_valid(rates: OsdRates, at: datetime, disks: Mapping[str, str]) -> bool:
    """Whether rates that were measured before a time still hold; ``disks`` are those of the OSDs then, if known."""
    both = {osd: disk for osd, disk in disks.items() if osd in rates.rates}
    if any(osd in rates.disks and rates.disks[osd] != disk for osd, disk in both.items()):
        return False
    is_same = bool(both) and all(osd in rates.disks and _BY_SERIAL.fullmatch(disk) for osd, disk in both.items())
    return is_same or at - rates.measured_at <= VALID_FOR


def limited_by_osds(run: Run) -> tuple[Metric, ...]:
    """The figures of a run's writes that OSDs may be known to limit, if what they write is measured."""
    load = load_of(run)
    if run.cluster is None or not run.cluster.pgs_by_osd or load is None or "write" not in run.summary.flows:
        return ()
    is_small = load.pattern.startswith("rand") and _SMALL_BLOCK <= load.block_bytes < LARGE_BLOCK
    is_large = not 0 < load.block_bytes < _BANDWIDTH_BLOCK
    return tuple(metric for metric, is_limited in ((_IOPS, is_small), (_BANDWIDTH, is_large)) if is_limited)


def osd_limit(run: Run, direction: str, benches: Sequence[OsdRates]) -> OsdLimit | None:
    """The nearest limit by ``rates_before`` the run; None where nothing is known."""
    cluster, load, limited = run.cluster, load_of(run), limited_by_osds(run)
    if cluster is None or load is None or direction != "write":
        return None
    limits: list[OsdLimit | None] = []
    if _IOPS in limited:
        small = [
            _of_bench(bench, _IOPS, run) for bench in benches if _SMALL_BLOCK <= bench.block_bytes <= load.block_bytes
        ]
        limits.append(_limit(cluster, _IOPS, [*small, _capacities(cluster)]))
    if _BANDWIDTH in limited:
        large = [_of_bench(bench, _BANDWIDTH, run) for bench in benches if bench.block_bytes >= LARGE_BLOCK]
        limits.append(_limit(cluster, _BANDWIDTH, large))
    known = [limit for limit in limits if limit]
    return max(known, key=lambda limit: sum(measured([run], direction, limit.metric)) / limit.at_most, default=None)


def _limit(cluster: ClusterEnvironment, metric: Metric, all_rates: Iterable[_Rates]) -> OsdLimit | None:
    """The limit by the first of these rates that has each OSD of the pool."""
    pg_num, chunks = cluster.pool.get("pg_num"), data_chunks(cluster)
    rates = next((rates for rates in all_rates if all(rates.by_osd.get(osd) for osd in cluster.pgs_by_osd)), None)
    if rates is None or not isinstance(pg_num, int) or (metric is _BANDWIDTH and chunks is None):
        return None
    osds_by_disk: dict[str, list[str]] = {}
    for osd in rates.by_osd:
        osds_by_disk.setdefault(rates.disks.get(osd, f"osd.{osd}"), []).append(osd)
    used = [osds for osds in osds_by_disk.values() if any(osd in cluster.pgs_by_osd for osd in osds)]
    sum_or_most = sum if rates.together else max
    capacities = [sum_or_most([rates.by_osd[osd] for osd in osds]) for osds in used]
    placed = [sum(cluster.pgs_by_osd.get(osd, 0) for osd in osds) for osds in used]
    at_most = placed_rate(capacities, placed, pg_num) * (chunks or 1 if metric is _BANDWIDTH else 1)
    shared = len(used) < len(cluster.pgs_by_osd)
    on_disks = f" on {len(used)} disk{'s' * (len(used) > 1)}" if shared else ""
    basis = f"{len(cluster.pgs_by_osd)} OSDs{on_disks}, {rates.origin}, {pg_num} PGs, {copies_text(cluster)}"
    return OsdLimit(metric, at_most, basis, is_estimate=metric is _IOPS or (shared and not rates.together))


def _of_bench(bench: OsdRates, metric: Metric, run: Run) -> _Rates:
    name = f"#{bench.run}" if bench.session == run.session else f"{bench.session}/{bench.run}"
    values = {osd: getattr(rate, metric.name) or 0.0 for osd, rate in bench.rates.items()}
    origin = f"what each wrote in {name} on {bench.measured_at:%Y-%m-%d}"
    return _Rates(values, bench.disks, origin, bench.together)


def _capacities(cluster: ClusterEnvironment) -> _Rates:
    """What OSDs have measured of themselves as they were made: one after the other, for all that is known."""
    values = {osd: _capacity(cluster, osd) or 0.0 for osd in cluster.pgs_by_osd}
    return _Rates(values, cluster.disk_by_osd, f"{_CAPACITY}*")


def _capacity(cluster: ClusterEnvironment, osd: str) -> float | None:
    """IOPS of an OSD; None where not measured. A disk that was replaced by another kind leaves its own figure."""
    options, only = cluster.config or {}, list(cluster.osds_by_class)
    device_class = cluster.class_by_osd.get(osd, only[0] if len(only) == 1 else "")
    stored = [kind for kind in _FALLBACKS if f"osd.{osd} {_CAPACITY}{kind}" in options]
    kind = _KINDS.get(device_class, stored[0] if len(stored) == 1 else "")
    try:
        capacity = float(options[f"osd.{osd} {_CAPACITY}{kind}"])
    except (KeyError, ValueError):
        return None
    return capacity if math.isfinite(capacity) and capacity > 0 and capacity != _FALLBACKS[kind] else None
