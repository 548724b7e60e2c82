"""``host:NODE``, ``host:NODE@ADDRESS``, ``host:*``: the network to another node, in one of the cluster's networks.

Nothing is written. Of ``host:*`` each of the chosen nodes is the target of all others, one pair after the other.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar

from cephtui.ceph import networks
from cephtui.ceph.networks import CLUSTER, PUBLIC, Interface
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import HostPlace, Kind, NameKind, Node, Part, Place
from cephtui.models.findings.client import NETWORK_UNKNOWN
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import TransportError
from cephtui.paths import packaged_text
from cephtui.targets.base import DataLayout, Target, TargetError, TargetFault, TargetKind, TargetState, Use, is_text
from cephtui.targets.candidates import Candidate

_EVERY = "*"
_SCRIPT = packaged_text("cephtui.targets", "host_inspect.sh")
_PORTS = (5201, 5299)
"""The ports that are tried; iperf3's own is the first."""


@dataclass(frozen=True, slots=True)
class HostTarget(Target):
    """Another node, as it is reached from those that measure."""

    kind: ClassVar[Kind] = "host"
    default_span_bytes: ClassVar[int] = 0

    name: str
    address: str = ""
    """The address that was typed."""
    node: Node | None = None
    """The node; None where only its name is known so far."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """The node's addresses by network, once they were asked for."""
    port: int = 0
    fsid: str = ""
    """The id of the cluster, once it was asked for; empty without a cluster."""
    is_known: bool = True
    """Whether an address is in the cluster's public network; else it is the address that SSH uses."""

    @property
    def spec(self) -> str:
        return f"host:{self.name}{f'@{self.address}' if self.address else ''}"

    @property
    def hosts(self) -> tuple[Node, ...]:
        return (self.node,) if self.node else ()

    def expand(self, nodes: Sequence[Node], find: Callable[[str], Sequence[Node]]) -> tuple[Target, ...]:
        """The node, or the nodes of a group; a name means a chosen node first, then any other."""
        if self.name == _EVERY:
            if len(nodes) < 2:
                raise TargetError(f"target {self.spec!r} needs two nodes or more: --node A --node B")
            return tuple(replace(self, name=node.name, node=node) for node in nodes)
        chosen = [node for node in nodes if node.name == self.name]
        try:
            chosen = chosen or list(find(self.name))
        except ValueError as error:
            raise TargetError(f"target {self.spec!r}: {error}") from None
        if self.address and len(chosen) > 1:
            raise TargetError(f"target {self.spec!r}: an address belongs to one node, not to a group")
        return tuple(replace(self, name=node.name, node=node) for node in chosen)

    def measured_from(self, nodes: Sequence[str]) -> list[tuple[str, ...]]:
        """Each node by itself, but not from the target to itself."""
        return [(name,) for name in nodes if name != self.name]

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        return HostPlace(
            kind="host", host=self.name, addresses=dict(self.addresses), port=self.port, fsid=self.fsid
        ), ()

    async def locate(self, shells: Mapping[str, Shell], cluster_shell: Shell) -> HostTarget:
        """The target with its addresses in the cluster's networks, and with a free port."""
        if self.node is None:
            raise TargetFault(f"{self.spec} is several pairs of nodes: choose one pair with host:NODE and one --node")
        shell = shells[self.name]
        done = await shell.run(("bash", "-c", _SCRIPT, "cephtui-host", *map(str, _PORTS)))
        printed = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
        try:
            interfaces, port = networks.parse_interfaces(printed["interfaces"]), int(printed["port"])
        except (LookupError, ValueError):
            why = failure_reason(done) if done.status else "ip -j address has no answer: apt-get install iproute2"
            raise TargetFault(f"{self.name}: can't find its addresses: {why}") from None
        if self.address:
            self._check_own(interfaces)
            return replace(self, addresses={"": self.address}, port=port)
        fsid, by_network = await _in_cluster(interfaces, cluster_shell)
        is_known = PUBLIC in by_network
        if not is_known:
            by_network = {PUBLIC: self._ssh_address(interfaces, printed.get("ssh", "")), **by_network}
        return replace(self, addresses=by_network, port=port, fsid=fsid, is_known=is_known)

    def _check_own(self, interfaces: Sequence[Interface]) -> None:
        addresses = [str(interface.ip) for interface in interfaces]
        if self.address not in addresses:
            raise TargetFault(f"{self.name} has no address {self.address}: it has {', '.join(addresses) or 'none'}")

    def _ssh_address(self, interfaces: Sequence[Interface], connected: str) -> str:
        """The address that SSH uses; behind sudo or in a container, where that is not known, the first address."""
        addresses = [str(interface.ip) for interface in interfaces]
        preferred = (connected, (self.node.host if self.node else None) or "")
        reachable = next((address for address in (*preferred, *addresses) if address in addresses), None)
        if reachable is None:
            raise TargetFault(f"{self.name} has no address that other nodes can reach")
        return reachable

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Check that the node that measures is another one; else nothing would pass the network."""
        if not self.addresses:
            return TargetState(refusal=Refusal(f"{self.name}: its addresses are not known"))
        address = self.addresses.get("") or self.addresses.get(str(use.options.get("network")), "")
        done = await shell.run(("ip", "-j", "address", "show", "to", address))
        if f'"{address}"' in done.stdout:
            return TargetState(
                refusal=Refusal(f"{self.name} at {address} is {shell.node.name} itself", "choose another node")
            )
        if self.is_known:
            return TargetState()
        return TargetState(findings=(NETWORK_UNKNOWN.found(node=shell.node.name),))


async def _in_cluster(interfaces: Sequence[Interface], shell: Shell) -> tuple[str, dict[str, str]]:
    """The cluster's id, and the addresses in its networks, as far as it can be asked.

    One network for all is the public one.
    """
    cluster = ClusterReader(shell)
    try:
        osd_map = await cluster.optional(reader.OSD_MAP)
        config = await cluster.optional(reader.CONFIG) if osd_map else None
    except TransportError:
        return "", {}
    if osd_map is None:
        return "", {}
    daemons = {PUBLIC: osd_map.public_addresses}
    if osd_map.networks_apart:
        daemons[CLUSTER] = osd_map.cluster_addresses
    options = config.options if config else {}
    addresses = {
        name: networks.address_in(interfaces, networks.networks_in(options, name), daemon_addresses)
        for name, daemon_addresses in daemons.items()
    }
    return osd_map.fsid, {name: str(address) for name, address in addresses.items() if address}


class HostKind(TargetKind):
    """Other nodes, as ends of the network."""

    scheme = "host"
    examples = ("host:NODE",)
    usual = _EVERY

    async def on_node(self, shell: Shell) -> Sequence[Candidate]:
        """The target for all pairs of nodes; a single node is typed."""
        return [self.candidate(_EVERY, "the network between every pair of the chosen nodes", None)]

    def names_in(self, name: str) -> Mapping[str, NameKind]:
        node, _, address = name.rpartition("@")
        named: Mapping[str, NameKind] = {node: "node", address: "address"} if node else {name: "node"}
        return {} if name == _EVERY else named

    def measured_by(self, name: str, nodes: str) -> str:
        """The link with the names of its two ends."""
        return f"{nodes} to {name}" if nodes else self.spec(name)

    def parse(self, name: str, owner_id: str | None = None) -> HostTarget:
        """The target of this name; text after the last @ is an address where it can be one."""
        before, _, behind = name.rpartition("@")
        try:
            address = str(ipaddress.ip_address(behind)) if before else ""
        except ValueError:
            address = ""
        node = before if address else name
        if not is_text(name) or not node or node.startswith("-") or any(map(str.isspace, node)):
            raise TargetError(f"target {self.spec(name)!r}: expected host:NODE, host:NODE@ADDRESS or host:*")
        if node == _EVERY and address:
            raise TargetError(f"target {self.spec(name)!r}: an address belongs to one node")
        return HostTarget(node, address)
