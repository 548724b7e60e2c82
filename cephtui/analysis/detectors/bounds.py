"""What network and OSDs let through at most, from how data is placed on them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from cephtui.frozen import dataclass

Way: TypeAlias = Literal["sends", "receives"]
Network: TypeAlias = Literal["public", "cluster"]
Speed: TypeAlias = Callable[[str, Way, Network], float | None]
"""The bytes a second that a host sends or receives at most in a network; None where that is not known."""
WAYS: tuple[Way, ...] = ("sends", "receives")
NETWORKS: tuple[Network, ...] = ("public", "cluster")


@dataclass(frozen=True, slots=True)
class Traffic:
    """The hosts that a load passes through, and how much of each byte of a client passes each of them."""

    direction: str
    """``write`` or ``read``."""
    clients: tuple[str, ...]
    """The hosts of the clients, each once."""
    shares: Mapping[str, float]
    """By OSD host the share of all bytes for which it is the primary; together 1. No two copies are on one host."""
    internal: float
    """Bytes that OSDs send each other for each byte of a client."""
    others: Mapping[str, float] = field(default_factory=dict)
    """By OSD host the share of all copies or chunks but the primary's; where it is empty the ``shares``."""
    has_cluster_network: bool = False
    """Whether the OSDs have another network for themselves."""

    @property
    def way_of_clients(self) -> Way:
        """What a client does with the data."""
        return "sends" if self.direction == "write" else "receives"

    @property
    def way_of_hosts(self) -> Way:
        """What an OSD host does with the data of clients."""
        return "receives" if self.direction == "write" else "sends"

    def is_of_client(self, host: str, way: Way, network: Network) -> bool:
        """Whether it is a client that sends or receives its own data there."""
        return (way, network) == (self.way_of_clients, "public") and host in self.clients

    def passes(self, host: str, way: Way, network: Network) -> bool:
        """Whether any data passes the link of a host there."""
        between = network == ("cluster" if self.has_cluster_network else "public") and self.between_osds(host, way)
        if between or network == "cluster":
            return bool(between)
        is_asked = way == self.way_of_hosts and self.shares.get(host, 0.0) > 0 and self.clients != (host,)
        return is_asked or (self.is_of_client(host, way, network) and self.shares.get(host, 0.0) < 1)

    def between_osds(self, host: str, way: Way) -> float:
        """The bytes that a host's OSDs send to others, or receive, for each byte of a client: primaries send copies."""
        is_primary = (way == "sends") == (self.direction == "write")
        shares = self.shares if is_primary else self.others or self.shares
        return shares.get(host, 0.0) * self.internal

    def beside(self, host: str, way: Way) -> float:
        """Those of them that pass the links of the clients too."""
        return 0.0 if self.has_cluster_network else self.between_osds(host, way)


@dataclass(frozen=True, slots=True)
class NetworkBound:
    """The bytes a second that all clients together can have at most, since the links of some hosts are full then."""

    rate: float
    hosts: tuple[str, ...]
    way: Way
    network: Network = "public"


def internal_bytes(direction: str, copies: int, data_chunks: int = 1) -> float:
    """The bytes that OSDs send each other for each byte that is read or written.

    ``copies`` are all of them, or all chunks; an object that is not erasure-coded has one data chunk, itself.
    """
    if direction == "read":
        return (data_chunks - 1) / data_chunks
    return (copies - 1) / data_chunks


def network_bounds(traffic: Traffic, speed: Speed) -> Iterator[NetworkBound]:
    """All bounds that follow from the speeds that are known; the least of them holds.

    A slow client bounds itself, and what the OSDs on its host send and receive; other clients go on.
    """
    if bound := _bound_of_clients(traffic, speed):
        yield bound
    for host in traffic.shares:
        network: Network = "cluster" if traffic.has_cluster_network else "public"
        for way in WAYS:
            between_osds, link = traffic.between_osds(host, way), speed(host, way, network)
            if between_osds and link:
                yield NetworkBound(link / between_osds, (host,), way, network)
        if (rate := _rate_of_host(traffic, host, speed)) is not None:
            yield NetworkBound(rate, (host,), traffic.way_of_hosts)


def _bound_of_clients(traffic: Traffic, speed: Speed) -> NetworkBound | None:
    """The sum of what the clients can have, each by its own link: an OSD host has its share of the data itself."""
    rate, internal, way = 0.0, 0.0, traffic.way_of_clients
    for client in traffic.clients:
        link, share = speed(client, way, "public"), traffic.shares.get(client, 0.0)
        if link is None or share >= 1:
            return None
        rate += link / (1 - share)
        internal += traffic.beside(client, way) / (1 - share)
    return NetworkBound(rate / (1 + internal), traffic.clients, way)


def _rate_of_host(traffic: Traffic, host: str, speed: Speed) -> float | None:
    """The rate at which an OSD host's link is full of what it exchanges with clients elsewhere, and with OSDs."""
    share, way = traffic.shares[host], traffic.way_of_hosts
    link, passes = speed(host, way, "public"), share + traffic.beside(host, way)
    if link is None or not passes:
        return None
    if host not in traffic.clients:
        return link / passes
    own = speed(host, traffic.way_of_clients, "public")
    if own is None or len(traffic.clients) == 1 or share >= 1:
        return None  # for all that is known the load is its own
    beside_own = traffic.beside(host, traffic.way_of_clients)
    return (link + share * own / (1 - share)) / (passes + share * beside_own / (1 - share))


def placed_rate(capacities: Sequence[float], pgs: Sequence[int], pg_num: int) -> float:
    """The requests or bytes a second of a pool at most: the OSD with the most PGs for its capacity is full first.

    ``capacities`` and ``pgs``, those of the pool that an OSD has, in the same order; each request goes to one PG, and
    so to all of its OSDs.
    """
    rates = (capacity * pg_num / number for capacity, number in zip(capacities, pgs, strict=True) if number)
    return min(rates, default=math.inf)
