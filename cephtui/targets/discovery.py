"""The candidates for a target on a node: what there is in its cluster, its block devices; and the known nodes.

Nothing is written. What a guard would refuse to write is a candidate too, with its reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from cephtui import config as nodes
from cephtui import units
from cephtui.ceph import answers, pool_guards
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import Pool
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader, Pools
from cephtui.config import Config
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.nodes.shell import Shell
from cephtui.targets import every_kind, target_kind
from cephtui.targets.base import TargetKind
from cephtui.targets.candidates import OnFound, PoolFacts
from cephtui.targets.device import DeviceKind
from cephtui.targets.surroundings import candidates_in, surroundings

POOLS = "pools"
"""Asks for what can be tested in each pool, and for other things but devices."""
DEVICES = "devices"
SURROUNDINGS = "surroundings"
"""Asks for what can be tested by the files of a node, which is known before the cluster has answered."""
_LEAST_BYTES = 4 << 20
"""The size of an object: a pool without room for one can't be measured."""


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A name that can be typed for one or more nodes."""

    name: str
    text: str
    """What the node or the group is, in words."""
    members: tuple[str, ...] = ()
    """The names of the nodes of a group."""


async def discover(shell: Shell, scope: str, on_found: OnFound) -> str:
    """Find the candidates of a ``scope`` on a node: ``POOLS``, ``DEVICES``, or those below a target (``rbd:POOL``).

    The result is why there is none, or not all of them, in words; else empty. Raises TransportError.
    """
    try:
        if scope == POOLS:
            kinds = [kind for kind in every_kind() if await kind.is_usable(shell)]
            for candidates in await asyncio.gather(*(kind.on_node(shell) for kind in kinds)):
                on_found(candidates)
            return await _pools(shell, kinds, on_found)
        if scope == SURROUNDINGS:
            on_found(candidates_in(await surroundings(shell)))
            return ""
        if scope == DEVICES:
            return await DeviceKind().discover(shell, "", on_found)
        kind = target_kind(scope)
        return await kind.discover(shell, scope.partition(":")[2], on_found) if kind else ""
    except ClusterError as error:
        return str(error)


# ---------------------------------------------------------------------------------------------- pools


async def _pools(shell: Shell, kinds: Sequence[TargetKind], on_found: OnFound) -> str:
    """Find the candidates in each pool, of each kind of target that can be in a pool."""
    cluster = ClusterReader(shell)
    await cluster.fetch(reader.STATUS, *reader.POOLS)
    state, pools = await cluster.status(), await cluster.pools()
    in_order = sorted(pools.osd_map.pools.values(), key=_pool_order)
    facts = [_facts(pools, state, pool) for pool in in_order]
    candidates = [kind.in_any_cluster() for kind in kinds]
    candidates += [kind.in_this_pool(pool) for pool in facts for kind in kinds]
    on_found([candidate for candidate in candidates if candidate])
    return "" if in_order else "the cluster has no pool: ceph osd pool create NAME"


def _pool_order(pool: Pool) -> tuple[bool, str]:
    """Sorts pools for images first, and pools of CephFS, the gateways and Ceph itself last."""
    return bool(pool.applications) and "rbd" not in pool.applications, pool.name


def _facts(pools: Pools, state: ClusterState, pool: Pool) -> PoolFacts:
    space = pools.space(pool)
    return PoolFacts(
        pool,
        pool_guards.guard_pool(pool.name, pools.osd_map, state, pools.pgs_of(pool), writes=True),
        pool_guards.guard_space(space, _LEAST_BYTES),
        ", ".join([*_used_by(pool), _room_text(space)]),
    )


def _used_by(pool: Pool) -> list[str]:
    applications = [name for name in pool.applications if name != "rbd"]
    return [f"used by {', '.join(applications)}"] if applications else []


def _room_text(space: Space) -> str:
    """How much the guards let a run write, in words."""
    room = pool_guards.headroom(space)
    return "free space unknown: no permission" if room is None else f"room for {units.size(room)}"


# ---------------------------------------------------------------------------------------------- nodes


def known_nodes(config: Config) -> tuple[KnownNode, ...]:
    """This machine, the nodes and groups of the config file, and the hosts of the SSH configuration, which is read."""
    by_name = {nodes.LOCAL: KnownNode(nodes.LOCAL, "this machine")}
    by_name |= {name: KnownNode(name, _node_text(node)) for name, node in config.nodes.items()}
    by_name |= {name: KnownNode(name, _group_text(members), members) for name, members in config.groups.items()}
    near = {name: KnownNode(name, f"Proxmox VE node, {_node_text(node)}") for name, node in config.neighbours.items()}
    by_name |= {name: node for name, node in near.items() if name not in by_name}
    return (*by_name.values(), *_ssh_nodes(config, by_name))


def _ssh_nodes(config: Config, by_name: Mapping[str, KnownNode]) -> Iterable[KnownNode]:
    hosts = nodes.ssh_hosts(config.ssh_config)
    return (KnownNode(host, "from the SSH configuration") for host in hosts if host not in by_name)


def _node_text(node: Node) -> str:
    if node.host is None:
        return "this machine"
    user = f"{node.user}@" if node.user else ""
    port = f":{node.port}" if node.port else ""
    behind = f", behind {' '.join(node.prefix)}" if node.prefix else ""
    return f"{user}{node.host}{port}{behind}"


def _group_text(members: Sequence[str]) -> str:
    return f"group: {answers.listed(members, 8)}"
