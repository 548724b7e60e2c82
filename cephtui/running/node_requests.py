"""Requests of other threads to nodes, besides plans; each answer is a Future.

What asks a cluster is imported with the first request for it: the first frame needs none of it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cephtui.models.refusal import Refusal
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import TransportError
from cephtui.running.cleanup import Cleanup
from cephtui.running.connections import Connections
from cephtui.sessions import store
from cephtui.sessions.store import StoreError
from cephtui.sessions.undo import Undo
from cephtui.targets.base import Removed, Target, TargetFault
from cephtui.targets.candidates import OnFound

if TYPE_CHECKING:
    from cephtui.analysis.detectors.host import ClusterFacts
    from cephtui.ceph.qos import Limits
    from cephtui.ceph.surroundings import Surroundings
    from cephtui.models import Node, Plan
    from cephtui.models.inventory import Inventory
    from cephtui.running.survey import Conditions, Survey

T = TypeVar("T")


class Call(Protocol):
    """Runs a coroutine on the runner's thread."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> Future[T]: ...


class NodeRequests:
    """Requests about nodes, their targets and their cluster. Called from any thread."""

    def __init__(
        self,
        call: Call,
        root: Path,
        connections: Connections,
        cleanup: Cleanup,
    ) -> None:
        self._call, self._root = call, root
        self._connections, self._cleanup = connections, cleanup
        self._waits: dict[object, str] = {}

    @property
    def waits(self) -> tuple[str, ...]:
        """The reasons of waits: nodes that are being connected, each with its name, and the needs of a target."""
        return (*self._connections.waits, *self._waits.values())

    def reach(self, node: Node, answers: Mapping[str, str] | None = None, pool: str | None = None) -> Future[NodeState]:
        """Connect to a node, with the answers to its questions, and probe it; raises nothing.

        ``pool`` helps to choose between several Ceph accesses that the node has.
        """
        return self._call(self._connections.reach(node, answers or {}, pool))

    def health(self, node: Node) -> Future[str]:
        """The health of a node's cluster, or why it can't be asked; or a TransportError."""
        return self._call(_health(self._connections, node))

    def cluster(self, node: Node) -> Future[ClusterFacts]:
        """The facts and health of a node's cluster, or why it can't be asked; or a TransportError."""
        return self._call(_cluster(self._connections, node))

    def surroundings(self, node: Node) -> Future[Surroundings]:
        """The surroundings of a node that was reached, by its files; or a TransportError."""
        return self._call(_surroundings(self._connections, node))

    def inventory(self, state: NodeState) -> Future[Inventory]:
        """The disks and network interfaces of a node that was reached; or a TransportError."""
        return self._call(self._inventory(state))

    def resolve_access(self, target: Target, nodes: Sequence[Node]) -> Future[Target]:
        """The target with the access of these nodes to it; or SecretsMissing, a TargetFault or a TransportError."""
        return self._call(self._resolve_access(target, nodes))

    def survey(
        self, target: Target, nodes: tuple[Node, ...], ceph_node: str | None = None, *, patient: bool = True
    ) -> Future[Survey]:
        """The facts that a plan needs of a target; or a TransportError or TargetFault.

        ``patient`` takes up to half a minute where the pool is, or has just been, in use.
        """
        return self._call(self._survey(target, nodes, ceph_node, patient))

    def check(self, plan: Plan, target: Target) -> Future[list[Refusal]]:
        """Why the guards refuse a plan, without starting it; empty where they don't."""
        return self._call(self.refusals(plan, target))

    def limits(self, node: Node, target: Target) -> Future[Limits]:
        """The limits that are set for the clients of a target; or a TransportError or TargetFault."""
        return self._call(_limits(self._connections, node, target))

    def conditions(self, plan: Plan, target: Target) -> Future[Conditions]:
        """The conditions of a run of a plan's first step now; or a TransportError or TargetFault."""
        return self._call(_conditions(self._connections, plan, target))

    def cluster_disks(self, node: Node) -> Future[tuple[str, dict[str, str], bool]]:
        """The id of a node's cluster, empty without one, the disk of each OSD, and whether OSDs have a network of
        their own; or a TransportError.
        """
        return self._call(_cluster_disks(self._connections, node))

    def discover(self, node: Node, of: str, on_found: OnFound) -> Future[str]:
        """Find the candidates of a node (see ``discovery.discover``); the result is why not all of them, or empty.

        ``on_found`` is called on the runner's thread and must not wait. Cancelling the future ends the search.
        """
        return self._call(_discover(self._connections, node, of, on_found))

    def remove(self, node: Node, undo: Undo, directory: Path) -> Future[Removed]:
        """Remove a leftover of the session in this directory, connecting to this node."""
        return self._call(self._cleanup.remove(directory, node, undo))

    def remove_left_behind(self) -> Future[None]:
        """Remove the leftovers of killed consoles on this machine; notices report it."""
        return self._call(self._cleanup.remove_left_behind())

    async def _inventory(self, state: NodeState) -> Inventory:
        from cephtui.analysis.detectors.hardware import with_osds
        from cephtui.cluster import reader
        from cephtui.nodes.inventory import inventory

        shell, environment = await self._connections.shell(state.node), state.environment
        node_inventory = await inventory(shell)
        if environment is None or "ceph" not in environment.tools:
            return node_inventory
        osds = await reader.ClusterReader(shell).optional(reader.OSD_METADATA)
        return with_osds(node_inventory, osds or (), environment.hostname)

    async def _resolve_access(self, target: Target, nodes: Sequence[Node]) -> Target:
        return await target.resolve_access([*(await self._connections.shells(nodes)).values()])

    async def _survey(self, target: Target, nodes: tuple[Node, ...], ceph_node: str | None, patient: bool) -> Survey:
        from cephtui.running import survey

        asking = next((node for node in nodes if node.name == ceph_node), nodes[0])
        shell = await self._connections.shell(asking)
        hosts = await self._connections.shells(target.hosts)
        with self._waiting() as on_wait:
            return await survey.survey(shell, target, len(nodes), hosts, self._root, on_wait if patient else None)

    async def refusals(self, plan: Plan, target: Target) -> list[Refusal]:
        """The same on the runner's thread; without room for the session only where the target has room."""
        from cephtui.running import survey

        try:
            shells = await self._connections.shells(plan.hosts)
            with self._waiting() as on_wait:
                refusals = await survey.plan_refusals(plan, target, shells, self._root, on_wait)
            if not refusals:
                store.check_space(self._root, plan)
        except (StoreError, TransportError, TargetFault) as error:
            refusals = [Refusal(str(error))]
        return list({refusal.text: refusal for refusal in refusals}.values())

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[Callable[[str], None]]:
        """Takes what is waited for in the block."""
        key = object()
        try:
            yield functools.partial(self._waits.__setitem__, key)
        finally:
            self._waits.pop(key, None)


async def _cluster_disks(connections: Connections, node: Node) -> tuple[str, dict[str, str], bool]:
    from cephtui.cluster import reader

    cluster = reader.ClusterReader(await connections.shell(node))
    await cluster.fetch(reader.OSD_MAP, reader.OSD_METADATA)
    osd_map, osds = await cluster.optional(reader.OSD_MAP), await cluster.optional(reader.OSD_METADATA)
    disks = {str(osd.id): osd.data_disk for osd in osds or () if osd.data_disk}
    return (osd_map.fsid, disks, bool(osd_map.networks_apart)) if osd_map else ("", disks, False)


async def _health(connections: Connections, node: Node) -> str:
    from cephtui.cluster import preflight

    return await preflight.cluster_health(await connections.shell(node))


async def _cluster(connections: Connections, node: Node) -> ClusterFacts:
    from cephtui.cluster.facts import cluster_facts

    return await cluster_facts(await connections.shell(node))


async def _surroundings(connections: Connections, node: Node) -> Surroundings:
    from cephtui.targets.surroundings import surroundings

    return await surroundings(await connections.shell(node))


async def _discover(connections: Connections, node: Node, of: str, on_found: OnFound) -> str:
    from cephtui.targets.discovery import discover

    try:
        return await discover(await connections.shell(node), of, on_found)
    except TransportError as error:
        return str(error)


async def _limits(connections: Connections, node: Node, target: Target) -> Limits:
    return await target.limits(await connections.shell(node))


async def _conditions(connections: Connections, plan: Plan, target: Target) -> Conditions:
    from cephtui.running import survey

    return await survey.plan_conditions(plan, target, await connections.shells(plan.hosts))
