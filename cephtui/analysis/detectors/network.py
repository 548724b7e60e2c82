"""What the network lets through at most, for the way that a load takes: clients send writes and receive reads. Pure.

An object is on a host with the probability that the pool's PGs give it, or else its number of OSDs. What a host sends
and what it receives is as it was measured before the run, else as fast as its NIC. Either end may be what limits a
link: of the links of a host in one direction that were measured together the fastest counts, and for a host that is no
client only where its other end can do more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import TypeAlias

from cephtui import units
from cephtui.analysis.detectors.bounds import (
    NETWORKS,
    WAYS,
    Network,
    NetworkBound,
    Traffic,
    Way,
    internal_bytes,
    network_bounds,
)
from cephtui.analysis.runs.batches import host_name, node_names
from cephtui.analysis.runs.links import cluster_links, nics_of
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, ClusterLink, HostNics, Run
from cephtui.models.metrics import DIRECTIONS

VALID_FOR = timedelta(hours=24)
"""How long before a run something may have been measured, if it is not known to be still the same."""
_ONE_LOOK = timedelta(hours=1)
"""How long it takes at most to measure all links between some hosts."""
_NEARLY = 0.8
"""The share of a speed from which on a link is about as fast."""
_MTU, _HEADERS, _FRAME = 1500, 52, 38
"""Bytes: of a packet where the NIC does not say it, of IP and TCP in it, and of Ethernet around it."""


_End: TypeAlias = tuple[str, Way, str]
"""A host, what it does, and the network."""
_OTHER: Mapping[Way, Way] = {"sends": "receives", "receives": "sends"}


@dataclass(frozen=True, slots=True)
class NetworkLimit:
    """The bytes a second that the network lets through, and what that rests on."""

    at_most: float | None
    """None where what was measured may not be used any more: then the basis says why."""
    basis: str
    not_measured: tuple[str, ...] = ()
    """The hosts on the way of the data with a link of which no more than the NIC's speed is known."""


@dataclass(frozen=True, slots=True)
class _HostSpeed:
    """What a host sends or receives, in bytes a second; None where that is not known."""

    bytes_per_second: float | None
    basis: str


def links_before(run: Run, runs: Iterable[Run], links: Iterable[ClusterLink]) -> list[ClusterLink]:
    """What was measured before a run began, by runs of its session or kept with its cluster, the oldest first."""
    own_links = [link for other in runs for link in cluster_links(other)]
    by_origin = {(link.session, link.run, link.source, link.destination): link for link in [*links, *own_links]}
    before = [link for link in by_origin.values() if link.measured_at < run.started_at]
    return sorted(before, key=lambda link: link.measured_at)


def limited_by_network(run: Run) -> bool:
    """Whether it is known which way the data of a run takes, so that links may be known to limit it."""
    return any(_traffic(run, direction) for direction in DIRECTIONS if direction in run.summary.flows)


def network_limit(run: Run, direction: str, links: Sequence[ClusterLink]) -> NetworkLimit | None:
    """The limit by ``links_before`` the run; None where nothing is known."""
    traffic = _traffic(run, direction)
    if traffic is None:
        return None
    measured = _Speeds(run, links)
    ends = product(dict.fromkeys((*traffic.clients, *traffic.shares)), WAYS, NETWORKS)
    speeds = {end: measured.of(*end, is_client=traffic.is_of_client(*end)) for end in ends}
    bounds = network_bounds(traffic, lambda *end: speeds[end].bytes_per_second)
    bound = min(bounds, key=lambda bound: bound.rate, default=None)
    if bound is None:
        of_clients = (speeds[client, traffic.way_of_clients, "public"] for client in traffic.clients)
        why = next((speed.basis for speed in of_clients if speed.basis and speed.bytes_per_second is None), "")
        return NetworkLimit(None, f"not known: {why}") if why else None
    slowest = min(bound.hosts, key=lambda host: speeds[host, bound.way, bound.network].bytes_per_second or 0.0)
    link = f"{_full(bound, _called(run, slowest))}: {speeds[slowest, bound.way, bound.network].basis}"
    basis = f"from {_clients(traffic)}, {copies_text(run.cluster)}, {link}"
    not_measured = (
        f"{_called(run, host)}{' (cluster)' if network == 'cluster' else ''}"
        for host, way, network in sorted(speeds, key=lambda end: NETWORKS.index(end[2]))
        if traffic.passes(host, way, network) and not measured.has(host, way, network)
    )
    return NetworkLimit(bound.rate, basis, tuple(dict.fromkeys(not_measured)))


def _full(bound: NetworkBound, slowest: str) -> str:
    """Whose links are full, and in which direction: ``pve1 sends``."""
    where = " in the cluster network" if bound.network == "cluster" else ""
    if len(bound.hosts) == 1:
        return f"{slowest} {bound.way}{where}"
    return f"what {len(bound.hosts)} clients {bound.way.removesuffix('s')}{where}, the slowest {slowest}"


def _called(run: Run, host: str) -> str:
    """A host by one of the names that the run has for it."""
    clients = [host_name(run, node) for node in node_names(run)]
    names = [*(run.cluster.osds_by_host if run.cluster else ()), *clients]
    return next((name for name in names if short_name(name) == host), host)


def _clients(traffic: Traffic) -> str:
    inside = sum(client in traffic.shares for client in traffic.clients)
    if traffic.shares and inside == len(traffic.clients):
        return f"{inside} of {len(traffic.shares)} OSD hosts"
    return f"{len(traffic.clients)} client{'s' if len(traffic.clients) > 1 else ''}"


# ---------------------------------------------------------------------------------------------- where data passes


def _traffic(run: Run, direction: str) -> Traffic | None:
    """The way of the data; where it is not known between OSD hosts, that of clients elsewhere, else None."""
    cluster = run.cluster
    clients = tuple(dict.fromkeys(short_name(host_name(run, node)) for node in node_names(run)))
    if cluster is None or not cluster.osds_by_host:
        return None
    hosts = _placed(cluster)
    copies, chunks = cluster.pool.get("size"), data_chunks(cluster)
    if not isinstance(copies, int):
        return None
    if cluster.failure_domain != "host" or chunks is None or not 2 <= len(hosts) >= copies:
        return None if hosts.keys() & set(clients) else Traffic(direction, clients, {}, 0.0)
    internal, shares = internal_bytes(direction, copies, chunks), _shares(hosts)
    return Traffic(direction, clients, shares, internal, _others(shares, copies), bool(cluster.networks_apart))


def _placed(cluster: ClusterEnvironment) -> dict[str, int]:
    """By host how many of the pool's PGs are on it; where that is not known of all, how many OSDs it has."""
    osds = {short_name(host): number for host, number in cluster.osds_by_host.items()}
    pgs = dict.fromkeys(osds, 0)
    for osd, number in cluster.pgs_by_osd.items():
        host = short_name(cluster.disk_by_osd.get(osd, "").partition(" ")[0])
        if host not in pgs:
            return osds
        pgs[host] += number
    return pgs if any(pgs.values()) else osds


def _shares(placed: Mapping[str, int]) -> dict[str, float]:
    """By host the share of all objects for which it is the primary: that of all that is placed on it."""
    all_placed = sum(placed.values()) or 1
    return {host: number / all_placed for host, number in placed.items()}


def _others(shares: Mapping[str, float], copies: int) -> dict[str, float]:
    """By host the share of all other copies or chunks: no host has more than one of an object."""
    on_all = copies == len(shares)
    others = {host: (1.0 if on_all else min(1.0, copies * share)) - share for host, share in shares.items()}
    placed = sum(others.values())
    return {host: number / placed for host, number in others.items()} if placed > 0 else {}


def data_chunks(cluster: ClusterEnvironment) -> int | None:
    """The chunks of an object that hold its data, 1 of a pool with copies; None where that is not known."""
    if cluster.pool.get("type") == "replicated":
        return 1
    chunks = cluster.pool_settings.get("ec k", "")
    return int(chunks) if chunks.isdecimal() and 0 < len(chunks) < 3 and int(chunks) else None


def copies_text(cluster: ClusterEnvironment | None) -> str:
    """``size 3``, ``EC 2+1``."""
    assert cluster is not None
    chunks, size = data_chunks(cluster), cluster.pool.get("size")
    return f"size {size}" if chunks == 1 or chunks is None else f"EC {chunks}+{int(str(size)) - chunks}"


def short_name(host: str) -> str:
    """A host's name without its domain, as CRUSH has it."""
    return host.partition(".")[0].lower()


# ---------------------------------------------------------------------------------------------- how fast hosts are


class _Speeds:
    """What hosts send and receive for all that was known when a run began."""

    def __init__(self, run: Run, links: Iterable[ClusterLink]) -> None:
        self._run, self._nics = run, _nics(run)
        self._usable: dict[_End, dict[str, ClusterLink]] = {}
        """The newest measurement of each link that may be used, by one end and then the host at the other."""
        self._why: dict[_End, str] = {}
        """Why the newest of those that may not be used is none of them."""
        for link in links:
            why = why_unusable(link, run.started_at, self._nics)
            for way in WAYS:
                near, far = _ends(link, way)
                if why:
                    self._why[near, way, link.network] = f"link measured on {link.measured_at:%Y-%m-%d}, {why}"
                else:
                    self._usable.setdefault((near, way, link.network), {})[far] = link

    def of(self, host: str, way: Way, network: Network, *, is_client: bool) -> _HostSpeed:
        """The speed of a host as it was measured, else that of its NIC."""
        links = _of_one_look(self._usable.get((host, way, network), {}))
        far = max(links, key=lambda far: links[far].bandwidth_bytes, default="")
        if not far or not (is_client or self._is_of_host(links[far], way)):
            return _nic_speed(self._nics.get(host), self._why.get((host, way, network), ""))
        link = links[far]
        name = f"#{link.run}" if link.session == self._run.session else f"{link.session}/{link.run}"
        rate = units.link_rate(link.bandwidth_bytes)
        return _HostSpeed(link.bandwidth_bytes, f"{rate} as measured on {link.measured_at:%Y-%m-%d} ({name})")

    def has(self, host: str, way: Way, network: Network) -> bool:
        """Whether anything that was measured of it may be used."""
        return (host, way, network) in self._usable

    def _is_of_host(self, link: ClusterLink, way: Way) -> bool:
        """Whether a host and not the other end of its link is known to be what limits it.

        Either the link is nearly as fast as the host's NIC, or the other end has done clearly more with another host.
        """
        near, far = _ends(link, way)
        nic = _nic_speed(link.source_nics if way == "sends" else link.destination_nics, "").bytes_per_second
        if nic and link.bandwidth_bytes >= _NEARLY * nic:
            return True
        links_of_far = self._usable.get((far, _OTHER[way], link.network), {}).items()
        return any(
            host != near and _NEARLY * other.bandwidth_bytes >= link.bandwidth_bytes for host, other in links_of_far
        )


def _of_one_look(links: Mapping[str, ClusterLink]) -> Mapping[str, ClusterLink]:
    """The links of a host that were measured with the newest of them: what was measured before may be no more so."""
    newest = max(links.values(), key=lambda link: link.measured_at, default=None)
    return {
        far: link
        for far, link in links.items()
        if newest and link.session == newest.session and newest.measured_at - link.measured_at <= _ONE_LOOK
    }


def _ends(link: ClusterLink, way: Way) -> tuple[str, str]:
    """The host that sends or receives, then the other."""
    source, destination = short_name(link.source), short_name(link.destination)
    return (source, destination) if way == "sends" else (destination, source)


def why_unusable(link: ClusterLink, at: datetime, nics: Mapping[str, HostNics | None]) -> str:
    """Why a link that was measured before a time says nothing of it; empty where it does. ``nics`` are by host."""
    ends = (
        (link.source_nics, nics.get(short_name(link.source))),
        (link.destination_nics, nics.get(short_name(link.destination))),
    )
    both = [(saved, now) for saved, now in ends if saved and now]
    if changed := next(filter(None, (_changed(saved, now) for saved, now in both)), ""):
        return f"before {changed} changed"
    age = at - link.measured_at
    if age > _ONE_LOOK and any(saved and saved.shaping and not now for saved, now in ends):
        return f"more than {_ONE_LOOK // timedelta(hours=1)} h before, under a limit of tc that may be gone"
    is_same = len(both) == len(ends) and all(_is_path_known(saved, now) for saved, now in both)
    if not is_same and age > VALID_FOR:
        return f"more than {VALID_FOR // timedelta(hours=1)} h before, and not with NICs that are known to be the same"
    return ""


def _changed(saved: HostNics, now: HostNics) -> str:
    """What of a host's NICs is no more as it was, as far as that is known; empty for nothing."""
    if (saved.bits_per_second, saved.mtu) != (now.bits_per_second, now.mtu):
        return "a NIC"
    if saved.networks and now.networks and saved.networks != now.networks:
        return "the networks of a NIC"
    return "" if saved.shaping == now.shaping else "a limit of tc"


def _is_path_known(saved: HostNics, now: HostNics) -> bool:
    """Whether speeds and networks of a host's NICs are known, and nothing that is seen holds their packets back."""
    return bool(saved.bits_per_second and saved.networks and now.networks) and not saved.shaping


def _nics(run: Run) -> dict[str, HostNics | None]:
    """The NICs of the nodes of a run, by host."""
    return {short_name(host_name(run, node)): nics_of(environment) for node, environment in run.environment.items()}


def _nic_speed(nics: HostNics | None, why: str) -> _HostSpeed:
    """The payload of the fastest NIC; ``why`` nothing that was measured says more."""
    nics = nics or HostNics()
    speeds = [(bits, max(_MTU, nics.mtu.get(name, _MTU))) for name, bits in nics.bits_per_second.items()]
    bits, mtu = max(speeds, default=(0, _MTU))
    if not bits:
        return _HostSpeed(None, why)
    payload = round((mtu - _HEADERS) / (mtu + _FRAME), 2)
    beside = f" ({why})" if why else ""
    return _HostSpeed(bits * payload / 8, f"NIC {units.bit_rate(bits)} x {payload}{beside}")
