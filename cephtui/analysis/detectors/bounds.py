"""What network and OSDs let through at most, from how data is placed on them. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cephtui.frozen import dataclass


@dataclass(frozen=True, slots=True)
class PoolHosts:
    """The hosts that the data of a pool passes through."""

    hosts: int
    """Hosts that have OSDs of the pool, no two copies on the same; at least 2."""
    internal: float
    """Bytes that OSDs send each other for each byte of a client."""
    on_hosts: int = 0
    """The number of these hosts that are clients, all alike; 0 where all clients are elsewhere."""


def internal_bytes(direction: str, copies: int, data_chunks: int = 1) -> float:
    """The bytes that OSDs send each other for each byte that is read or written.

    ``copies`` are all of them, or all chunks; an object that is not erasure-coded has one data chunk, itself.
    """
    if direction == "read":
        return (data_chunks - 1) / data_chunks
    return (copies - 1) / data_chunks


def network_rate(link: float, layout: PoolHosts, *, has_cluster_network: bool = False) -> float:
    """The bytes a second that all clients together can have at most; ``link`` is one of a host, in one direction.

    ``has_cluster_network``: the OSDs have another network of the same speed for themselves.
    """
    hosts, clients = layout.hosts, layout.on_hosts
    public = (1 - 1 / hosts) / clients if clients else 1 / hosts
    """The share of each byte that passes the busiest link between clients and OSDs: 1 in ``hosts`` is local."""
    internal = layout.internal / hosts
    return link / (max(public, internal) if has_cluster_network else public + internal)


def placed_rate(capacities: Sequence[float], pgs: Sequence[int], pg_num: int) -> float:
    """The requests or bytes a second of a pool at most: the OSD with the most PGs for its capacity is full first.

    ``capacities`` and ``pgs``, those of the pool that an OSD has, in the same order; each request goes to one PG, and
    so to all of its OSDs.
    """
    rates = (capacity * pg_num / number for capacity, number in zip(capacities, pgs, strict=True) if number)
    return min(rates, default=math.inf)
