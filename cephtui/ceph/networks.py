"""Which address of a host is in the cluster's public network, and which in that of the OSDs for themselves. Pure."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Any, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Interface: TypeAlias = IPv4Interface | IPv6Interface
Network: TypeAlias = IPv4Network | IPv6Network
PUBLIC, CLUSTER = "public", "cluster"
_INTERFACES_MOST = 1000


def parse_interfaces(text: str) -> tuple[Interface, ...]:
    """The addresses in the output of ``ip -j address`` that other hosts can use; raises ValueError."""
    links = json.loads(text)
    if not isinstance(links, list):
        raise ValueError("not the output of ip -j address")
    return tuple(_interfaces(links))[:_INTERFACES_MOST]


def _interfaces(links: Iterable[Any]) -> Iterator[Interface]:
    for link in links:
        infos = link.get("addr_info") if isinstance(link, dict) else None
        for info in infos if isinstance(infos, list) else ():
            if isinstance(info, dict) and info.get("scope") == "global":
                yield ipaddress.ip_interface(f"{info.get('local')}/{info.get('prefixlen')}")


def parse_address(text: str) -> Address | None:
    """The IP address in a daemon's address as Ceph writes it: ``10.1.1.1:6800/123``, ``[fd00::1]:6800/123``."""
    host = text.partition("/")[0].rpartition(":")[0].strip("[]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return None if address.is_unspecified else address


def networks_in(options: Mapping[str, str], name: str) -> tuple[Network, ...]:
    """What ``public_network`` or ``cluster_network`` is set to in any section of the configuration database."""
    values = [value for key, value in options.items() if key.rpartition(" ")[2] == f"{name}_network"]
    return tuple(_networks(part.strip() for value in values for part in value.split(",")))


def _networks(texts: Iterable[str]) -> Iterator[Network]:
    for text in texts:
        try:
            yield ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue


def address_in(
    interfaces: Sequence[Interface], networks: Sequence[Network], daemons: Iterable[Address]
) -> Address | None:
    """The address of a host in a network: that of a daemon on the host, else one in a configured network, else one that
    reaches a daemon without a router; None where there is none.
    """
    daemons = frozenset(daemons)
    tests: tuple[Callable[[Interface], bool], ...] = (
        lambda interface: interface.ip in daemons,
        lambda interface: any(interface.ip in network for network in networks),
        lambda interface: any(daemon in interface.network for daemon in daemons),
    )
    return next((interface.ip for fits in tests for interface in interfaces if fits(interface)), None)
