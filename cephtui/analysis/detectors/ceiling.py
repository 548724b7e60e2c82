"""What would limit a run at the latest: a rate that is set, network, OSDs, depth, about the client's CPU. Pure.

Each is an upper bound of a figure from what is known of the run: what a model does not know costs more. Network: the
bytes that pass the busiest link for each byte of a client, where each object is on the hosts of its copies or chunks
with equal probability; the link is as it was measured in the session, else as it was last measured in the cluster, else
as fast as the NIC. Depth: Little's law, with the latency of a single I/O in flight; with one I/O in flight it is the
limit by itself. CPU: the utilisation law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from cephtui import units
from cephtui.analysis.detectors.bounds import PoolHosts, internal_bytes, network_rate, placed_rate
from cephtui.analysis.detectors.jobs import job_figures
from cephtui.analysis.runs.batches import host_name, measured, node_names
from cephtui.analysis.runs.facts import load_of, threads_not_counted, why_invalid
from cephtui.analysis.runs.links import Link, fastest_link, links_of
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, ClusterLink, Run
from cephtui.models.base import OptionValue
from cephtui.models.metrics import BY_NAME, COMMIT, DIRECTIONS, FLUSH, METRICS, Metric
from cephtui.tools import TOOLS
from cephtui.tools.load import Load

Limit: TypeAlias = Literal["the rate that is set", "rbd_qos", "network", "OSDs", "depth", "client CPU"]
_SET: frozenset[Limit] = frozenset(("the rate that is set", "rbd_qos"))
"""Limits that the user sets: once reached they come first, whatever else is near."""
LIMITED = 0.9
"""The share of a ceiling from which on it limits the run."""
NEAR = 0.5
"""The share of a ceiling below which it is not near."""
TOO_GOOD = 1.05
"""The share of a ceiling above which the figure or the ceiling is wrong."""
_MTU, _HEADERS, _FRAME = 1500, 52, 38
"""Bytes: of a packet where the NIC does not say it, of IP and TCP in it, and of Ethernet around it."""
_BUSY_CPU = 0.85
"""The share of one CPU from which on a job's thread may be what limits."""
_SMALL_BLOCK = 4096
"""Bytes of the writes with which OSDs measure their own capacity."""
_LARGE_BLOCK = 1 << 20
"""Bytes of the writes by which the bandwidth of an OSD is known."""
_BANDWIDTH_BLOCK = 64 << 10
"""Bytes of the smallest writes that this bandwidth may limit: of smaller ones it is their number that costs."""
_LENGTHS = ("runtime", "ramp_time", "time_based")
"""Options that say how long is measured."""
_CAPACITY = "osd_mclock_max_capacity_iops_"
_FALLBACKS = {"ssd": 21500.0, "hdd": 315.0}
"""The capacity of an OSD whose own measurement is not believable: its real one is not known."""
_KINDS = {"nvme": "ssd", "ssd": "ssd", "hdd": "hdd"}
"""The kind of capacity of an OSD, by device class."""
_IOPS, _BANDWIDTH, _LATENCY = BY_NAME["iops"], BY_NAME["bandwidth_bytes"], BY_NAME["latency_mean_seconds"]
_QOS: Mapping[str, tuple[str, Metric]] = {
    f"rbd_qos_{direction}{'_' * bool(direction)}{unit}_limit": (direction, metric)
    for unit, metric in (("iops", _IOPS), ("bps", _BANDWIDTH))
    for direction in ("", *DIRECTIONS)
}
"""The direction and metric of each limit of an image; an empty direction is of reads and writes together."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A figure of a run, and what it can be at most."""

    limit: Limit
    direction: str
    metric: Metric
    measured: float
    at_most: float
    basis: str
    """The facts that the ceiling follows from, in words: ``1 of 3 OSD hosts, size 3``."""
    has_flushes: bool = False
    """Whether, with one I/O in flight, flushes take their turns too, whose time is in no latency of an I/O."""

    @property
    def share(self) -> float:
        """How much of it was measured; 1 is all of it."""
        return self.measured / self.at_most

    @property
    def is_estimate(self) -> bool:
        """Whether it is no bound: ``about``, not ``at most``."""
        return self.limit == "client CPU"

    @property
    def is_itself(self) -> bool:
        """Whether it is what was measured: with one I/O in flight the next one begins when that has ended."""
        return self.limit == "depth" and self.measured == self.at_most

    @property
    def is_set(self) -> bool:
        """Whether the user wants no more than that."""
        return self.limit in _SET

    @property
    def is_known(self) -> bool:
        """Whether it says how far the run is from a limit. A thread that uses little CPU says nothing of one."""
        return not self.is_estimate or self.share >= _BUSY_CPU


def ceilings(run: Run, session_runs: Iterable[Run] = (), links: Sequence[ClusterLink] = ()) -> list[Ceiling]:
    """All ceilings that are known of a run, the nearest first.

    ``session_runs`` are the runs of its session, ``links`` what was ever measured in its cluster.
    """
    if why_invalid(run):
        return []
    runs = list(session_runs)
    limits = list(_limits_set(run))
    is_held = any(ceiling.share >= LIMITED for ceiling in limits)
    for direction in DIRECTIONS:
        if direction in run.summary.flows:
            limits += _network(run, direction, runs, links)
            limits += _osds(run, direction)
            limits += _benched(run, direction, runs)
            limits += _depth(run, direction, runs, is_held=is_held)
    return sorted([*limits, *_client_cpu(run)], key=_order)


def _order(ceiling: Ceiling) -> tuple[bool, float]:
    """First the limits that the user has set and the run has reached, then the nearest."""
    return not (ceiling.is_set and ceiling.share >= LIMITED), -ceiling.share


def nearest(ceilings: Iterable[Ceiling]) -> Ceiling | None:
    """The ceiling that the run is nearest to; None where none is known."""
    return next((ceiling for ceiling in ceilings if ceiling.is_known), None)


def has_depth(run: Run) -> bool:
    """Whether a run with one I/O in flight would show what its depth lets through: it has several, and latencies."""
    load = load_of(run)
    times = (metric for metric in METRICS if metric.unit == "s")
    timed = any(measured([run], name, metric) for metric in times for name in DIRECTIONS)
    return timed and load is not None and load.depth * load.jobs > 1 and not _flushes_between(run, load)


# ---------------------------------------------------------------------------------------------- what the user has set


def _limits_set(run: Run) -> Iterator[Ceiling]:
    """The rate of the tool's options, and the limits that librbd keeps for each image."""
    load = load_of(run)
    if load is None:
        return
    nodes, rate, basis = len(node_names(run)), load.rate, _rate_options(run, load)
    for metric, most in ((_IOPS, rate.iops), (_BANDWIDTH, rate.bandwidth_bytes)):
        if most:
            directions = ("",) if rate.together else DIRECTIONS
            for direction in directions:
                yield from _ceiling(run, "the rate that is set", direction, metric, most * nodes, basis)
    yield from _image_limits(run)


def _rate_options(run: Run, load: Load) -> str:
    """The factors of the rate: ``rate_iops=50 x 8 jobs x 3 nodes``."""
    nodes, jobs = len(node_names(run)), load.jobs
    return f"{load.rate.named(run.options)}{f' x {jobs} jobs' * (jobs > 1)}{f' x {nodes} nodes' * (nodes > 1)}"


def _image_limits(run: Run) -> Iterator[Ceiling]:
    """The limits of as many images as there are places: librbd holds each client of an image to its limits."""
    set_for = run.cluster.image_limits if run.cluster else {}
    load = load_of(run)
    images = (load.jobs if load else 1) * len(node_names(run))
    for name, most in set_for.items():
        if name in _QOS:
            direction, metric = _QOS[name]
            basis = f"{name} {most:g}{f', {images} images' * (images > 1)}"
            yield from _ceiling(run, "rbd_qos", direction, metric, most * images, basis)


# ---------------------------------------------------------------------------------------------- network


@dataclass(frozen=True, slots=True)
class _Speed:
    """The speed of a node's link."""

    bytes_per_second: float
    basis: str


def _network(run: Run, direction: str, runs: Sequence[Run], earlier_links: Sequence[ClusterLink]) -> Iterator[Ceiling]:
    links = links_of(runs)
    speeds = [speed for node in node_names(run) if (speed := _speed(run, node, links, earlier_links))]
    layout, rates = _layout(run, direction), [speed.bytes_per_second for speed in speeds]
    if layout is None or len(rates) != len(node_names(run)):
        return
    if layout.on_hosts:
        at_most = network_rate(max(rates), layout, has_cluster_network=bool(run.cluster and run.cluster.networks_apart))
        where = f"{layout.on_hosts} of {layout.hosts} OSD hosts"
    else:  # the links of the OSD hosts are not known
        at_most, where = sum(rates), f"{len(rates)} client{'s' * (len(rates) > 1)}"
    fastest = max(speeds, key=lambda speed: speed.bytes_per_second)
    basis = f"from {where}, {_copies(run.cluster)}, {fastest.basis}"
    yield from _ceiling(run, "network", direction, _BANDWIDTH, at_most, basis)


def _speed(run: Run, node: str, links: Sequence[Link], earlier_links: Sequence[ClusterLink]) -> _Speed | None:
    """The speed measured in the session, else in another, else that of the fastest NIC; None where none is known."""
    if link := fastest_link(links, node):
        return _measured(link.bandwidth_bytes, f"#{link.runs[-1]}")
    host = host_name(run, node)
    links_of_host = [
        link for link in earlier_links if host in (link.source, link.destination) and link.network != "cluster"
    ]
    if last := max(links_of_host, key=lambda link: link.bandwidth_bytes, default=None):
        return _measured(last.bandwidth_bytes, f"{last.session}/{last.run}, {last.measured_at:%Y-%m-%d}")
    environment = run.environment.get(node)
    nics, mtus = (environment.nic_bits_per_second, environment.nic_mtu) if environment else ({}, {})
    speeds = ((bits, max(_MTU, mtus.get(name, _MTU))) for name, bits in nics.items())
    bits, mtu = max(speeds, default=(0, _MTU))
    payload = round((mtu - _HEADERS) / (mtu + _FRAME), 2)
    return _Speed(bits * payload / 8, f"NIC {units.bit_rate(bits)} x {payload}") if bits else None


def _measured(bandwidth_bytes: float, where: str) -> _Speed:
    return _Speed(bandwidth_bytes, f"link {units.link_rate(bandwidth_bytes)} as measured ({where})")


def _layout(run: Run, direction: str) -> PoolHosts | None:
    """The hosts of the pool; None where they are not known, or only some of the nodes are OSD hosts."""
    cluster = run.cluster
    if cluster is None or cluster.failure_domain != "host" or len(cluster.osds_by_host) < 2:
        return None
    copies, chunks = cluster.pool.get("size"), _data_chunks(cluster)
    if not isinstance(copies, int) or chunks is None or copies > len(cluster.osds_by_host):
        return None
    hosts = {host.partition(".")[0] for host in cluster.osds_by_host}
    names = [host_name(run, node).partition(".")[0] in hosts for node in node_names(run)]
    if any(names) and not all(names):
        return None
    return PoolHosts(len(cluster.osds_by_host), internal_bytes(direction, copies, chunks), sum(names))


def _data_chunks(cluster: ClusterEnvironment) -> int | None:
    if cluster.pool.get("type") == "replicated":
        return 1
    chunks = cluster.pool_settings.get("ec k", "")
    return int(chunks) if chunks.isdecimal() and 0 < len(chunks) < 3 and int(chunks) else None


def _copies(cluster: ClusterEnvironment | None) -> str:
    assert cluster is not None
    chunks, size = _data_chunks(cluster), cluster.pool.get("size")
    return f"size {size}" if chunks == 1 or chunks is None else f"EC {chunks}+{int(str(size)) - chunks}"


# ---------------------------------------------------------------------------------------------- OSDs


def _osds(run: Run, direction: str) -> Iterator[Ceiling]:
    """The ceiling of small writes by what OSDs have measured of themselves. For reads there is no such figure."""
    cluster, load = run.cluster, load_of(run)
    if cluster is None or direction != "write" or load is None or not load.pattern.startswith("rand"):
        return
    capacities = [_capacity(cluster, osd) for osd in cluster.pgs_by_osd]
    pg_num = cluster.pool.get("pg_num")
    if load.block_bytes < _SMALL_BLOCK or not isinstance(pg_num, int) or not all(capacities) or not capacities:
        return
    at_most = placed_rate([capacity or 0.0 for capacity in capacities], list(cluster.pgs_by_osd.values()), pg_num)
    basis = f"{len(capacities)} OSDs, {_CAPACITY}*, {pg_num} PGs, {_copies(cluster)}"
    yield from _ceiling(run, "OSDs", direction, _IOPS, at_most, basis)


def _benched(run: Run, direction: str, runs: Sequence[Run]) -> Iterator[Ceiling]:
    """The ceiling of writes by what each OSD has written to its own store in large blocks, in a run of the session."""
    cluster = run.cluster
    pg_num, chunks = (cluster.pool.get("pg_num"), _data_chunks(cluster)) if cluster else (None, None)
    if cluster is None or direction != "write" or not isinstance(pg_num, int) or chunks is None:
        return
    load = load_of(run)
    if load is None or 0 < load.block_bytes < _BANDWIDTH_BLOCK:
        return
    benches = [(other, rates) for other in runs if (rates := _rates_of(other, cluster.pgs_by_osd))]
    placed = list(cluster.pgs_by_osd.values())
    at_most, number = max(
        ((chunks * placed_rate(rates, placed, pg_num), o.run) for o, rates in benches), default=(0.0, 0)
    )
    basis = f"{len(placed)} OSDs, what each wrote in #{number}, {pg_num} PGs, {_copies(cluster)}"
    yield from _ceiling(run, "OSDs", direction, _BANDWIDTH, at_most, basis)


def _rates_of(run: Run, osds: Iterable[str]) -> list[float]:
    """Bytes a second that each of some OSDs wrote; none where not all of them were measured, or in small blocks."""
    load = load_of(run)
    if why_invalid(run) or load is None or load.block_bytes < _LARGE_BLOCK:
        return []
    figures = {figure.job: figure.bandwidth_bytes for figure in job_figures(run.nodes) if figure.direction == "write"}
    rates = [figures.get(f"osd.{osd}", 0.0) for osd in osds]
    return rates if all(rates) else []


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


# ---------------------------------------------------------------------------------------------- depth, CPU


def _depth(run: Run, direction: str, runs: Sequence[Run], *, is_held: bool) -> Iterator[Ceiling]:
    """The ceiling by the runs of the session with one I/O in flight on each node; with one, by the run itself.

    ``is_held``: a rate that is set keeps the next I/O back.
    """
    load = load_of(run)
    if load and load.depth * load.jobs == 1 and not load.pauses and not is_held:
        has_flushes = _flushes_between(run, load)
        basis = f"one I/O in flight on each node{', and flushes between' * has_flushes}"
        for rate in measured([run], direction, _IOPS):
            if rate:
                yield Ceiling("depth", direction, _IOPS, rate, rate, basis, has_flushes)
        return
    in_flight = load.depth * load.jobs * len(node_names(run)) if load else 0
    alone = [other for other in runs if _is_alone(other, run)]
    flow = COMMIT if direction == "write" and _commits(run) else direction
    seconds = geometric_mean(measured(alone, flow, _LATENCY))
    if not load or load.depth * load.jobs < 2 or not seconds or _flushes_between(run, load):
        return
    numbers = ", ".join(f"#{other.run}" for other in alone)
    basis = f"{in_flight} in flight, {units.latency(seconds)} with 1 on each node ({numbers})"
    yield from _ceiling(run, "depth", direction, _IOPS, in_flight / seconds, basis)


def _is_alone(other: Run, run: Run) -> bool:
    """Whether another run did the same with one I/O in flight on each node, under the same conditions."""
    load, load_of_run = load_of(other), load_of(run)
    return (
        load is not None
        and load_of_run is not None
        and load.depth * load.jobs == 1
        and (other.tool, _but_for_depth(other)) == (run.tool, _but_for_depth(run))
        and (other.target, node_names(other)) == (run.target, node_names(run))
        and (other.cluster.pool if other.cluster else None) == (run.cluster.pool if run.cluster else None)
        and _commits(other) == _commits(run)
        and not why_invalid(other)
    )


def _but_for_depth(run: Run) -> Mapping[str, OptionValue]:
    """The options that decide how long one I/O takes, whatever is in flight beside it and for however long."""
    tool = TOOLS[run.tool]
    other = {tool.depth_option, tool.jobs_option, *_LENGTHS}
    return {name: value for name, value in run.options.items() if name not in other}


def _flushes_between(run: Run, load: Load) -> bool:
    """Whether flushes take turns whose time is in no latency of an I/O, as it is in that of a commit."""
    return (load.flushes or FLUSH in run.summary.flows) and not _commits(run)


def _commits(run: Run) -> bool:
    return COMMIT in run.summary.flows


def _client_cpu(run: Run) -> Iterator[Ceiling]:
    """The ceiling by the CPU of the busiest node: that of its jobs' threads, on average."""
    used = {
        node.node: (node.cpu_user_percent + node.cpu_system_percent) / 100
        for node in run.nodes
        if node.cpu_user_percent is not None and node.cpu_system_percent is not None
    }
    node, most = max(used.items(), key=lambda pair: pair[1], default=("", 0.0))
    flows = {name: value for name in DIRECTIONS for value in measured([run], name, _IOPS)}
    if most > 0 and flows:
        direction = max(flows, key=lambda name: flows[name])
        basis = f"on {node} each job's own thread used {100 * most:.0f} % of one CPU{threads_not_counted(run)}"
        yield Ceiling("client CPU", direction, _IOPS, flows[direction], flows[direction] / most, basis)


def _ceiling(run: Run, limit: Limit, direction: str, metric: Metric, at_most: float, basis: str) -> Iterator[Ceiling]:
    """The ceiling, unless the run has no such figure; without a direction it is of reads and writes together."""
    flows = [direction] if direction else [name for name in DIRECTIONS if name in run.summary.flows]
    values = [value for flow in flows for value in measured([run], flow, metric)]
    if sum(values) > 0 and 0 < at_most < math.inf:
        yield Ceiling(limit, " and ".join(flows), metric, sum(values), at_most, basis)
