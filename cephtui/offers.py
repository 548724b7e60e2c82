"""What a node can test: pools and images of its cluster, its block devices; and which nodes there are.

Nothing is written. Whatever can't be asked is told in words, and what a guard would refuse to write carries its reason.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cephtui import config as nodes
from cephtui import devices as block
from cephtui import units
from cephtui.ceph import answers, cluster, pool_guards, proxmox
from cephtui.ceph import images as rbd_images
from cephtui.ceph import pools as ceph_pools
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.images import ImageFacts
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.config import Config
from cephtui.devices import DeviceFacts
from cephtui.models import Node
from cephtui.refusal import Refusal
from cephtui.shell import Shell
from cephtui.targets import TargetError, parse_target, rbd
from cephtui.targets.base import TargetFault, Use, reason
from cephtui.targets.device import DeviceTarget
from cephtui.tools import TOOLS
from cephtui.transport import Completed, TransportError

POOLS, DEVICES = "pools", "devices"
LOOKED_AT_MOST = 50
"""Images of a pool, or devices of a node, that are looked at closely: each takes a few commands."""
LOOKED_AT_ONCE = 4
ASKS_FIRST = "asks first"
"""In the words of what may be written once its name is typed."""
NOT_LOOKED_AT = "not looked at"
_LEAST_BYTES = 4 << 20
"""One object: a pool without room for it can't be measured."""
_MISSING = "Ceph's programs are not installed: apt-get install ceph-common"
_WRITING = Use(parts=(), writes=True, known=True, options={}, destroy=())
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that can be tested, or could be if no guard were against it."""

    spec: str
    """As it is typed on the command line: ``rbd:bench``, ``device:/dev/sdb``."""
    text: str
    """What it is, in words."""
    reason: str | None = None
    """Why a guard would refuse to write there; None where it would not."""
    remedy: str = ""
    """What can be done about it."""


Put = Callable[[Sequence[Offer]], None]
"""Takes offers as they are found; one of the same ``spec`` as before takes its place."""


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A name that can be given for nodes."""

    name: str
    text: str
    """What it is, in words."""
    members: tuple[str, ...] = ()
    """Names of the nodes, where it is a group."""


@dataclass(frozen=True, slots=True)
class _Cluster:
    """What says which pools can be used; None is what the key may not ask."""

    state: ClusterState
    osd_map: OsdMap
    usage: Mapping[str, PoolUsage] | None
    osds: tuple[OsdUsage, ...] | None
    pgs: Mapping[int, Sequence[Pg]] | None
    """By pool: each guard counts those of its own, and there may be many of both."""

    def pgs_of(self, pool: Pool) -> Sequence[Pg] | None:
        return None if self.pgs is None else self.pgs.get(pool.id, ())

    def space(self, pool: Pool) -> Space:
        usage = (self.usage or {}).get(pool.name)
        return Space(pool, usage, self.osd_map.nearfull_ratio, self.osds, self.pgs_of(pool))


async def ask_for(shell: Shell, of: str, put: Put) -> str:
    """Hand over what there is ``of`` a node: ``POOLS``, ``DEVICES``, or the images of a pool (``rbd:POOL``).

    The result is why there is nothing, or not all of it, in words; else empty. Raises TransportError.
    """
    if of == POOLS:
        return await pools(shell, put)
    if of == DEVICES:
        return await devices(shell, put)
    return await images(shell, of.removeprefix("rbd:"), put)


# ---------------------------------------------------------------------------------------------- pools


async def pools(shell: Shell, put: Put) -> str:
    """See ``ask_for``: each pool for images (``rbd:POOL``) and for objects (``pool:POOL``), by five commands."""
    found = await _ask_cluster(shell)
    if isinstance(found, str):
        return f"can't ask the cluster: {found}"
    put([offer for pool in sorted(found.osd_map.pools.values(), key=_pool_order) for offer in _of_pool(found, pool)])
    return "" if found.osd_map.pools else "the cluster has no pool: ceph osd pool create NAME"


async def _ask_cluster(shell: Shell) -> _Cluster | str:
    state = await _state(shell)
    if isinstance(state, str):
        return state
    osd_map, usage, osds, pgs = await asyncio.gather(
        _ask(shell, ceph_pools.OSD_MAP_ARGV, ceph_pools.parse_osd_map),
        _ask(shell, ceph_pools.USAGE_ARGV, ceph_pools.parse_usage),
        _ask(shell, ceph_pools.OSD_USAGE_ARGV, ceph_pools.parse_osd_usage),
        _ask(shell, ceph_pools.PGS_ARGV, ceph_pools.parse_pgs),
    )
    if isinstance(osd_map, str):
        return osd_map
    by_pool = None if isinstance(pgs, str) else _by_pool(pgs)
    return _Cluster(state, osd_map, _unless_text(usage), _unless_text(osds), by_pool)


def _by_pool(pgs: Iterable[Pg]) -> Mapping[int, Sequence[Pg]]:
    found: dict[int, list[Pg]] = {}
    for pg in pgs:
        found.setdefault(pg.pool, []).append(pg)
    return found


async def _state(shell: Shell) -> ClusterState | str:
    try:
        return await _ask(shell, cluster.STATUS_ARGV, cluster.parse_status)
    except TransportError:
        if await _has_ceph(shell):
            raise
        return _MISSING


async def _has_ceph(shell: Shell) -> bool:
    found = await shell.ceph(proxmox.access_argv())
    try:
        return "ceph" in proxmox.parse_access(found.stdout).programs
    except ValueError:
        return True


async def _ask(shell: Shell, argv: Sequence[str], parse: Callable[[str], T]) -> T | str:
    """The answer of a ceph or rbd command, or why there is none."""
    answer = await shell.ceph(argv)
    if answer.status != 0:
        return _why(answer)
    try:
        return parse(answer.stdout)
    except ValueError as error:
        return str(error)


def _why(answer: Completed) -> str:
    """Why a command of Ceph's has failed."""
    if answer.status == 127:
        return _MISSING
    unreached = answers.no_cluster(answer.status, answer.stderr)
    if unreached:
        return f"{unreached}: see --ceph-conf and --ceph-id"
    return "no permission" if answers.is_denied(answer.status, answer.stderr) else reason(answer)


def _unless_text(answer: T | str) -> T | None:
    return None if isinstance(answer, str) else answer


def _pool_order(pool: Pool) -> tuple[bool, str]:
    """Those that are meant for images first; last what CephFS, the gateways and Ceph itself use."""
    return bool(pool.applications) and "rbd" not in pool.applications, pool.name


def _of_pool(found: _Cluster, pool: Pool) -> Iterator[Offer]:
    space = found.space(pool)
    serves = pool_guards.guard_pool(pool.name, found.osd_map, found.state, found.pgs_of(pool), writes=True)
    full = pool_guards.guard_space(space, _LEAST_BYTES)
    no_images = pool_guards.guard_image_pool(pool, None)
    room = ", ".join([*_used_by(pool), _room_text(space)])
    yield _offer(f"rbd:{pool.name}", f"new images, {pool.text}, {room}", serves or no_images or full)
    users = " and ".join(tool.title for tool in TOOLS.values() if "pool" in tool.kinds)
    yield _offer(f"pool:{pool.name}", f"objects for {users}, {room}", serves or full)


def _used_by(pool: Pool) -> list[str]:
    others = [name for name in pool.applications if name != "rbd"]
    return [f"used by {', '.join(others)}"] if others else []


def _room_text(space: Space) -> str:
    """What the guards let a run write."""
    room = pool_guards.headroom(space)
    return "free space unknown: no permission" if room is None else f"room for {units.size(room)}"


def _offer(spec: str, text: str, refusal: Refusal | None) -> Offer:
    """An offer as a guard sees it; one that can't be named is refused as well."""
    try:
        parse_target(spec)
    except TargetError as error:
        return Offer(spec, text, str(error).partition(": ")[2])
    if refusal is None or refusal.confirm:
        return Offer(spec, f"{text}, {ASKS_FIRST}" if refusal else text)
    return Offer(spec, text, refusal.problem, refusal.remedy)


# ---------------------------------------------------------------------------------------------- images


async def images(shell: Shell, pool: str, put: Put) -> str:
    """See ``ask_for``: all names at once, then what is found out about each; a guest's disk is told by its name."""
    names = await _ask(shell, rbd_images.list_argv(pool), rbd_images.parse_list)
    if isinstance(names, str):
        return f"can't list the images of pool {pool}: {names}"
    listed = [_named_image(pool, name) for name in sorted(names, key=_by_number)]
    put(listed)
    await _look_closely(listed, lambda offer: _image(shell, offer), put)
    return "" if names else f"pool {pool} has no images"


def _named_image(pool: str, name: str) -> Offer:
    refusal = rbd_images.guard_name(pool, name)
    return _offer(f"rbd:{pool}/{name}", "image" if refusal else f"image, {NOT_LOOKED_AT}", refusal)


async def _image(shell: Shell, listed: Offer) -> Offer:
    pool, _, name = listed.spec.removeprefix("rbd:").partition("/")
    facts = await rbd.look_at(shell, pool, name)
    if isinstance(facts, Refusal):
        return _offer(listed.spec, "image", facts)
    return _offer(listed.spec, _image_text(facts), rbd_images.guard_image(facts, 0, ()))


def _image_text(facts: ImageFacts) -> str:
    info = facts.info
    clone = f", clone of {info.parent}" if info.parent else ""
    data = f", data in pool {info.data_pool}" if info.data_pool else ""
    return f"image of {units.size(info.size)}{clone}{data}"


# ---------------------------------------------------------------------------------------------- devices


async def devices(shell: Shell, put: Put) -> str:
    """See ``ask_for``: disks, partitions and volumes; what plainly is in use is not looked at closely."""
    answer = await shell.run(block.list_argv())
    if answer.status != 0:
        return f"can't list the devices: {reason(answer)}"
    found = sorted(block.parse_list(answer.stdout), key=lambda facts: _by_number(facts.aliases[0]))
    listed = [_listed_device(facts) for facts in found]
    put(listed)
    await _look_closely(listed, lambda offer: _device(shell, offer), put)
    return "" if listed else "there are no block devices"


def _listed_device(facts: DeviceFacts) -> Offer:
    path = facts.aliases[0]
    refusal = block.guard_listed(path, facts)
    text = _device_text(facts)
    return _offer(f"device:{path}", text if refusal else f"{text}, {NOT_LOOKED_AT}", refusal)


def _device_text(facts: DeviceFacts) -> str:
    backing = f" on {facts.backing}" if facts.backing else ""
    return f"{units.size(facts.size)}{backing}"


async def _device(shell: Shell, listed: Offer) -> Offer:
    text = listed.text.removesuffix(f", {NOT_LOOKED_AT}")
    found = await DeviceTarget(listed.spec.removeprefix("device:")).inspect(shell, _WRITING)
    return _offer(listed.spec, text, found.refusal)


# ---------------------------------------------------------------------------------------------- both


async def _look_closely(listed: Sequence[Offer], look: Callable[[Offer], Awaitable[Offer]], put: Put) -> None:
    """The first of those that nothing speaks against yet, a few at a time; raises TransportError."""
    waiting = iter([offer for offer in listed if offer.reason is None][:LOOKED_AT_MOST])

    async def take_turns() -> None:
        for offer in waiting:
            put([await _verdict(offer, look)])

    ended = await asyncio.gather(*(take_turns() for _ in range(LOOKED_AT_ONCE)), return_exceptions=True)
    for error in ended:
        if error is not None:
            raise error


async def _verdict(offer: Offer, look: Callable[[Offer], Awaitable[Offer]]) -> Offer:
    try:
        return await look(offer)
    except TargetFault as fault:
        return replace(offer, reason=str(fault))


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
