"""The candidates for a target on a node: pools and images of its cluster, its block devices; and the known nodes.

Nothing is written. What a guard would refuse to write is a candidate too, with its reason.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cephtui import config as nodes
from cephtui import devices as block
from cephtui import units
from cephtui.ceph import answers, pool_guards
from cephtui.ceph import images as rbd_images
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.images import ImageFacts
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import Pool
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader, Pools
from cephtui.config import Config
from cephtui.devices import DeviceFacts
from cephtui.models import Node
from cephtui.refusal import Refusal
from cephtui.shell import Shell, reason
from cephtui.targets import TargetError, parse_target, rbd
from cephtui.targets.base import TargetFault, Use
from cephtui.targets.device import DeviceTarget
from cephtui.tools import TOOLS

POOLS, DEVICES = "pools", "devices"
LOOKED_AT_MOST = 50
"""Images of a pool, or devices of a node, that are looked at closely: each takes a few commands."""
LOOKED_AT_ONCE = 4
ASKS_FIRST = "asks first"
"""In the words of what may be written once its name is typed."""
NOT_LOOKED_AT = "not looked at"
_LEAST_BYTES = 4 << 20
"""One object: a pool without room for it can't be measured."""
_WRITING = Use(parts=(), writes=True, known=True, options={}, destroy=())


@dataclass(frozen=True, slots=True)
class Candidate:
    """What can be tested, or could be if no guard refused it."""

    spec: str
    """As it is typed on the command line: ``rbd:bench``, ``device:/dev/sdb``."""
    text: str
    """What it is, in words."""
    reason: str | None = None
    """Why a guard would refuse to write there; None where it would not."""
    remedy: str = ""
    """What can be done about it."""


OnFound = Callable[[Sequence[Candidate]], None]
"""Takes candidates as they are found; one of the same ``spec`` as before replaces it."""


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A name that can be given for nodes."""

    name: str
    text: str
    """What it is, in words."""
    members: tuple[str, ...] = ()
    """Names of the nodes, where it is a group."""


async def discover(shell: Shell, of: str, on_found: OnFound) -> str:
    """Find the candidates ``of`` a node: ``POOLS``, ``DEVICES``, or the images of a pool (``rbd:POOL``).

    The result is why there is none, or not all of them, in words; else empty. Raises TransportError.
    """
    try:
        if of == POOLS:
            return await _pools(shell, on_found)
        if of == DEVICES:
            return await _devices(shell, on_found)
        return await _images(shell, of.removeprefix("rbd:"), on_found)
    except ClusterError as error:
        return str(error)


# ---------------------------------------------------------------------------------------------- pools


async def _pools(shell: Shell, on_found: OnFound) -> str:
    """Each pool for images (``rbd:POOL``) and for objects (``pool:POOL``), by five commands."""
    asked = ClusterReader(shell)
    state, pools = await asked.status(), await asked.pools()
    in_order = sorted(pools.osd_map.pools.values(), key=_pool_order)
    on_found([candidate for pool in in_order for candidate in _of_pool(pools, state, pool)])
    return "" if in_order else "the cluster has no pool: ceph osd pool create NAME"


def _pool_order(pool: Pool) -> tuple[bool, str]:
    """Those that are meant for images first; last what CephFS, the gateways and Ceph itself use."""
    return bool(pool.applications) and "rbd" not in pool.applications, pool.name


def _of_pool(pools: Pools, state: ClusterState, pool: Pool) -> Iterator[Candidate]:
    space = pools.space(pool)
    serves = pool_guards.guard_pool(pool.name, pools.osd_map, state, pools.pgs_of(pool), writes=True)
    full = pool_guards.guard_space(space, _LEAST_BYTES)
    no_images = pool_guards.guard_image_pool(pool, None)
    room = ", ".join([*_used_by(pool), _room_text(space)])
    yield _candidate(f"rbd:{pool.name}", f"new images, {pool.text}, {room}", serves or no_images or full)
    users = " and ".join(tool.title for tool in TOOLS.values() if "pool" in tool.kinds)
    yield _candidate(f"pool:{pool.name}", f"objects for {users}, {room}", serves or full)


def _used_by(pool: Pool) -> list[str]:
    others = [name for name in pool.applications if name != "rbd"]
    return [f"used by {', '.join(others)}"] if others else []


def _room_text(space: Space) -> str:
    """What the guards let a run write."""
    room = pool_guards.headroom(space)
    return "free space unknown: no permission" if room is None else f"room for {units.size(room)}"


def _candidate(spec: str, text: str, refusal: Refusal | None) -> Candidate:
    """A candidate as a guard sees it; one that can't be named is refused as well."""
    try:
        parse_target(spec)
    except TargetError as error:
        return Candidate(spec, text, str(error).partition(": ")[2])
    if refusal is None or refusal.confirm:
        return Candidate(spec, f"{text}, {ASKS_FIRST}" if refusal else text)
    return Candidate(spec, text, refusal.problem, refusal.remedy)


# ---------------------------------------------------------------------------------------------- images


async def _images(shell: Shell, pool: str, on_found: OnFound) -> str:
    """All names at once, then what is found out about each; a guest's disk is known by its name."""
    names = await ClusterReader(shell).ask(reader.image_names(pool))
    listed = [_named_image(pool, name) for name in sorted(names, key=_by_number)]
    on_found(listed)
    await _look_closely(listed, lambda candidate: _image(shell, candidate), on_found)
    return "" if names else f"pool {pool} has no images"


def _named_image(pool: str, name: str) -> Candidate:
    refusal = rbd_images.guard_name(pool, name)
    return _candidate(f"rbd:{pool}/{name}", "image" if refusal else f"image, {NOT_LOOKED_AT}", refusal)


async def _image(shell: Shell, listed: Candidate) -> Candidate:
    pool, _, name = listed.spec.removeprefix("rbd:").partition("/")
    try:
        facts = await rbd.image_facts(shell, pool, name)
    except ClusterError as error:
        return _candidate(listed.spec, "image", error.refusal)
    return _candidate(listed.spec, _image_text(facts), rbd_images.guard_image(facts, 0, ()))


def _image_text(facts: ImageFacts) -> str:
    info = facts.info
    clone = f", clone of {info.parent}" if info.parent else ""
    data = f", data in pool {info.data_pool}" if info.data_pool else ""
    return f"image of {units.size(info.size)}{clone}{data}"


# ---------------------------------------------------------------------------------------------- devices


async def _devices(shell: Shell, on_found: OnFound) -> str:
    """Disks, partitions and volumes; what plainly is in use is not looked at closely."""
    answer = await shell.run(block.list_argv())
    if answer.status != 0:
        return f"can't list the devices: {reason(answer)}"
    found = sorted(block.parse_list(answer.stdout), key=lambda facts: _by_number(facts.aliases[0]))
    listed = [_listed_device(facts) for facts in found]
    on_found(listed)
    await _look_closely(listed, lambda candidate: _device(shell, candidate), on_found)
    return "" if listed else "there are no block devices"


def _listed_device(facts: DeviceFacts) -> Candidate:
    path = facts.aliases[0]
    refusal = block.guard_listed(path, facts)
    text = _device_text(facts)
    return _candidate(f"device:{path}", text if refusal else f"{text}, {NOT_LOOKED_AT}", refusal)


def _device_text(facts: DeviceFacts) -> str:
    backing = f" on {facts.backing}" if facts.backing else ""
    return f"{units.size(facts.size)}{backing}"


async def _device(shell: Shell, listed: Candidate) -> Candidate:
    text = listed.text.removesuffix(f", {NOT_LOOKED_AT}")
    try:
        found = await DeviceTarget(listed.spec.removeprefix("device:")).inspect(shell, _WRITING)
    except TargetFault as fault:
        return replace(listed, reason=str(fault))
    return _candidate(listed.spec, text, found.refusal)


# ---------------------------------------------------------------------------------------------- both


async def _look_closely(
    listed: Sequence[Candidate], look: Callable[[Candidate], Awaitable[Candidate]], on_found: OnFound
) -> None:
    """The first of those that nothing speaks against yet, a few at a time; raises TransportError."""
    waiting = iter([candidate for candidate in listed if candidate.reason is None][:LOOKED_AT_MOST])

    async def take_turns() -> None:
        for candidate in waiting:
            on_found([await look(candidate)])

    ended = await asyncio.gather(*(take_turns() for _ in range(LOOKED_AT_ONCE)), return_exceptions=True)
    for error in ended:
        if error is not None:
            raise error


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sorts as people count: disk 2 before disk 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


# ---------------------------------------------------------------------------------------------- nodes


def known_nodes(config: Config) -> tuple[KnownNode, ...]:
    """This machine, the nodes and groups of the config file, the hosts of the SSH configuration; reads that."""
    named = {nodes.LOCAL: KnownNode(nodes.LOCAL, "this machine")}
    named |= {name: KnownNode(name, _node_text(node)) for name, node in config.nodes.items()}
    named |= {name: KnownNode(name, _group_text(some), some) for name, some in config.groups.items()}
    return (*named.values(), *_ssh_nodes(config, named))


def _ssh_nodes(config: Config, named: Mapping[str, KnownNode]) -> Iterable[KnownNode]:
    hosts = nodes.ssh_hosts(config.ssh_config)
    return (KnownNode(host, "from the SSH configuration") for host in hosts if host not in named)


def _node_text(node: Node) -> str:
    if node.host is None:
        return "this machine"
    user = f"{node.user}@" if node.user else ""
    port = f":{node.port}" if node.port else ""
    behind = f", behind {' '.join(node.prefix)}" if node.prefix else ""
    return f"{user}{node.host}{port}{behind}"


def _group_text(members: Sequence[str]) -> str:
    return f"group: {answers.listed(members, 8)}"
