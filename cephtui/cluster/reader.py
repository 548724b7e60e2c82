"""The one reader of a cluster: queries with typed answers, and one error for a query that has none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, TypeVar

from cephtui.ceph import (
    answers,
    cluster,
    config,
    crush_tree,
    file_systems,
    gateways,
    images,
    in_use,
    new_pool,
    osd_devices,
    osd_options,
    osd_pings,
    pools,
    proxmox,
    qos,
    rates,
)
from cephtui.ceph import commands as ceph_commands
from cephtui.ceph import slow_operations as slow_ops
from cephtui.ceph.cluster import ClusterState, OsdNames
from cephtui.ceph.images import ImageInfo, ImageUse
from cephtui.ceph.in_use import ImagesInUse
from cephtui.ceph.librbd_caches import CacheSetting, parse_caches
from cephtui.ceph.osd_devices import OsdDevices
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import CrushRule, OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.ceph.qos import Limits
from cephtui.ceph.rates import PoolRates
from cephtui.ceph.slow_operations import SlowOperation
from cephtui.frozen import dataclass
from cephtui.models import OsdOption, OsdPing
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import Completed, TransportError

_FORMAT = ("-f", "json")
NEEDS_ADMIN = "the user needs admin caps: --ceph-id admin"
_SEE_ACCESS = "start cephtui with the right --ceph-conf and --ceph-id"
_NOT_INSTALLED, _INSTALL = "Ceph's programs are not installed", "apt-get install ceph-common"
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
log = logging.getLogger(__name__)


class ClusterError(Exception):
    """A query has no answer, or one that can't be parsed; the text is for the user."""

    def __init__(self, problem: str, remedy: str = "", *, denied: bool = False, missing: bool = False) -> None:
        self.refusal = Refusal(problem, remedy)
        """The error as the reason why a run may not start."""
        self.denied = denied
        """Whether the cephx caps deny the query."""
        self.missing = missing
        """Whether the image, or its pool, does not exist."""
        super().__init__(self.refusal.text)


@dataclass(frozen=True, slots=True)
class Query(Generic[T_co]):
    """A command that only reads, and the parser of what it prints."""

    argv: tuple[str, ...]
    parse: Callable[[str], T_co]
    failure: str = ""
    """What a failure means: ``can't query the cluster``; empty where the name of the command says it."""
    remedy: str = ""
    """The next step, where the reason of the failure does not imply it."""
    image: str = ""
    """The image, ``pool/image``, that the query is about; empty for other queries."""
    name: str = ""

    @property
    def label(self) -> str:
        """The name under which a query is recorded where the cephx caps deny it: ``ceph osd df``."""
        return self.name or " ".join(word for word in self.argv if word not in _FORMAT)


# ---------------------------------------------------------------------------------------------- the cluster

STATUS = Query(cluster.STATUS_ARGV, cluster.parse_status, "can't query the cluster", _SEE_ACCESS)
OSD_MAP = Query(pools.OSD_MAP_ARGV, pools.parse_osd_map, "can't list the pools")
USAGE: Query[Mapping[str, PoolUsage]] = Query(pools.USAGE_ARGV, pools.parse_usage)
OSD_USAGE: Query[tuple[OsdUsage, ...]] = Query(pools.OSD_USAGE_ARGV, pools.parse_osd_usage)
PGS: Query[tuple[Pg, ...]] = Query(pools.PGS_ARGV, pools.parse_pgs)
OSDS_DOWN: Query[OsdNames] = Query(cluster.DOWN_ARGV, cluster.parse_osds)
OSDS_UP: Query[OsdNames] = Query(cluster.UP_ARGV, cluster.parse_osds, "can't read which OSDs are up")
VERSIONS: Query[Mapping[str, int]] = Query(cluster.VERSIONS_ARGV, cluster.parse_versions)
TREE = Query(crush_tree.TREE_ARGV, crush_tree.parse_tree)
CRUSH_RULES: Query[Mapping[int, CrushRule]] = Query(pools.CRUSH_RULES_ARGV, pools.parse_crush_rules)
OSD_METADATA: Query[tuple[OsdDevices, ...]] = Query(osd_devices.OSD_METADATA_ARGV, osd_devices.parse_osd_metadata)
FILE_SYSTEMS = Query(file_systems.FILE_SYSTEMS_ARGV, file_systems.parse_file_systems)
GATEWAYS: Query[tuple[str, ...]] = Query(gateways.SERVICES_ARGV, gateways.parse_gateways)
CONFIG = Query(config.CONFIG_ARGV, config.parse_config)
OSD_PINGS: Query[tuple[OsdPing, ...]] = Query(osd_pings.ARGV, osd_pings.parse)
OSD_OPTIONS: Query[tuple[OsdOption, ...]] = Query(osd_options.ARGV, osd_options.parse)
POOLS = (OSD_MAP, USAGE, OSD_USAGE, PGS)
"""The queries of ``ClusterReader.pools``."""

PG_LIMIT: Query[int] = Query(new_pool.PG_LIMIT_ARGV, lambda text: int(cluster.parse_option(text)))
OBJECT_MOST: Query[int] = Query(
    cluster.option_argv("osd_max_object_size"), lambda text: int(cluster.parse_option(text))
)


def osd_option(name: str) -> Query[str]:
    """The value of one OSD option in the configuration database."""
    return Query(cluster.option_argv(name), cluster.parse_option)


def osd_cache_drop(osd: str) -> Query[str]:
    """An order and not a question: an OSD drops its caches."""
    return Query(cluster.cache_drop_argv(osd), str)


def slow_operations(osd: str) -> Query[tuple[SlowOperation, ...]]:
    """The slowest operations of an OSD, ``osd.3``."""
    return Query(slow_ops.argv(osd), lambda text: slow_ops.parse_slow_operations(osd, text))


def pool_rates(pool: str) -> Query[PoolRates]:
    """The rates of the clients of a pool."""
    return Query(rates.pool_stats_argv(pool), lambda text: rates.parse_pool_stats(text, pool))


def images_in_use(pool: str) -> Query[ImagesInUse]:
    """How many images of a pool have a watcher."""
    return Query(in_use.in_use_argv(pool), in_use.parse_in_use, name="images in use")


# ---------------------------------------------------------------------------------------------- images


def image_names(pool: str) -> Query[tuple[str, ...]]:
    """The names of a pool's images."""
    return Query(images.list_argv(pool), images.parse_list, f"can't list the images of pool {pool}")


def image_info(pool: str, image: str) -> Query[ImageInfo]:
    """The properties of an image."""
    return _image_query(pool, image, images.info_argv(pool, image), lambda text: images.parse_info(text, pool))


def image_use(pool: str, image: str) -> Query[ImageUse]:
    """Who has an image open."""
    return _image_query(pool, image, images.status_argv(pool, image), images.parse_image_use)


def image_snapshots(pool: str, image: str) -> Query[tuple[str, ...]]:
    """All snapshots of an image."""
    return _image_query(pool, image, images.snapshots_argv(pool, image), images.parse_snapshots)


def image_children(pool: str, image: str) -> Query[tuple[str, ...]]:
    """The clones of an image."""
    return _image_query(pool, image, images.children_argv(pool, image), images.parse_children)


def image_parent(parent: str) -> Query[ImageInfo]:
    """The properties of the snapshot that a clone was made of, ``pool/image@snapshot``."""
    pool, _, name = parent.partition("/")
    return _image_query(pool, name, images.parent_argv(parent), lambda text: images.parse_info(text, pool))


def image_written(chain: Sequence[ImageInfo], span_bytes: int) -> Query[int]:
    """How many of the first bytes of an image were written; after it the ``chain`` has what it is a clone of."""
    image = chain[0]
    return _image_query(image.pool, image.name, images.written_argv(chain, span_bytes), images.parse_written)


def image_limits(pool: str, image: str | None) -> Query[Limits]:
    """The limits of the clients of an image, or of new images of a pool."""
    name = f"{pool}/{image}" if image else pool
    failure = f"can't read the limits of {name}"
    return Query(qos.limits_argv(pool, image), qos.parse_limits, failure, image=name if image else "")


def image_settings(pool: str, image: str) -> Query[tuple[Limits, tuple[CacheSetting, ...]]]:
    """The limits of the clients of an image, and the caches that are switched on for it."""
    argv, spec = qos.limits_argv(pool, image), f"{pool}/{image}"
    return Query(argv, lambda text: (qos.parse_limits(text), parse_caches(text)), f"can't query {spec}", image=spec)


def _image_query(pool: str, image: str, argv: tuple[str, ...], parse: Callable[[str], T]) -> Query[T]:
    spec = f"{pool}/{image}"
    failure, remedy = f"can't inspect image {spec}", "start cephtui with the right --ceph-id and --ceph-keyring"
    return Query(argv, parse, failure, remedy, spec)


# ---------------------------------------------------------------------------------------------- the reader


@dataclass(slots=True)
class ClusterReader:
    """Asks a cluster through a node's shell. All methods raise TransportError where the node itself does not answer."""

    shell: Shell
    denied: list[str] = field(default_factory=list)
    """The labels of queries that the cephx caps deny."""
    _fetched: dict[tuple[str, ...], Completed] = field(default_factory=dict)
    """Answers that were fetched before they are asked for, by their commands."""
    _fetches: bool = True
    """Whether the node is expected to answer without starting ``ceph``."""

    async def fetch(self, *queries: Query[Any]) -> None:
        """Fetch the answers to several ``ceph`` queries at once; each is taken by the next ``ask`` for it.

        Where that does not work, ``ask`` runs ``ceph`` for each of them, which reports best why.
        """
        commands = [query.argv for query in queries]
        done = await self.shell.ceph(ceph_commands.script_argv(commands))
        if done.status == ceph_commands.TIMED_OUT:
            self._fetched |= dict.fromkeys(commands, done)
            return
        try:
            if done.status != 0:
                raise ValueError(failure_reason(done))
            replies = ceph_commands.parse_answers(done.stdout, len(commands))
        except ValueError as error:
            log.info("%s: ceph itself is asked: %s", self.shell.node.name, error)
            self._fetches = False
            return
        self._fetched |= {command: Completed(*reply) for command, reply in zip(commands, replies, strict=True)}

    async def ask(self, query: Query[T]) -> T:
        """The answer; raises ClusterError where there is none."""
        if query.argv not in self._fetched and query.argv[0] == "ceph" and self._fetches:
            await self.fetch(query)
        answer = self._fetched.pop(query.argv, None)
        if answer is None:
            answer = await self.shell.ceph(query.argv)
        if answer.status != 0:
            raise _error(query, answer)
        try:
            return query.parse(answer.stdout)
        except ValueError as error:
            raise ClusterError(f"{query.failure or query.label}: {error}") from None

    async def permitted(self, query: Query[T]) -> T | None:
        """The answer; None, and an entry in ``denied``, where the cephx caps deny it. Else raises ClusterError."""
        try:
            return await self.ask(query)
        except ClusterError as error:
            if not error.denied:
                raise
            self.denied.append(query.label)
            return None

    async def optional(self, query: Query[T]) -> T | None:
        """The answer; None where there is none, for any reason: what is not in ``denied`` is logged."""
        try:
            return await self.permitted(query)
        except ClusterError as error:
            log.warning("%s: %s", self.shell.node.name, error)
            return None

    async def status(self) -> ClusterState:
        """The state of the cluster, asked first since the error names missing programs of Ceph; raises ClusterError."""
        try:
            return await self.ask(STATUS)
        except TransportError:  # raised for a command that can't be started, too
            if await self._has_ceph():
                raise
            raise ClusterError(f"{STATUS.failure}: {_NOT_INSTALLED}", _INSTALL) from None

    async def _has_ceph(self) -> bool:
        done = await self.shell.ceph(proxmox.access_argv())
        try:
            return "ceph" in proxmox.parse_access(done.stdout).programs
        except ValueError:
            return True

    async def pools(self) -> Pools:
        """All pools with what decides whether data fits into them; raises ClusterError."""
        if OSD_MAP.argv not in self._fetched:
            await self.fetch(*POOLS)
        osd_map, usage, osds, pgs = await asyncio.gather(
            self.ask(OSD_MAP), self.optional(USAGE), self.optional(OSD_USAGE), self.optional(PGS)
        )
        return Pools(osd_map, usage, osds, None if pgs is None else _by_pool(pgs))


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of a cluster, and what decides whether data fits into them; None is what could not be asked."""

    osd_map: OsdMap
    usage: Mapping[str, PoolUsage] | None
    osds: tuple[OsdUsage, ...] | None
    pgs: Mapping[int, Sequence[Pg]] | None
    """The PGs by the id of their pool: there may be many pools and many PGs."""

    def pgs_of(self, pool: Pool) -> Sequence[Pg] | None:
        """The PGs of a pool."""
        return None if self.pgs is None else self.pgs.get(pool.id, ())

    def space(self, pool: Pool) -> Space:
        """What decides whether data fits into a pool."""
        usage = (self.usage or {}).get(pool.name)
        return Space(pool, usage, self.osd_map.nearfull_ratio, self.osds, self.pgs_of(pool))


def _by_pool(pgs: Iterable[Pg]) -> Mapping[int, Sequence[Pg]]:
    by_pool: dict[int, list[Pg]] = {}
    for pg in pgs:
        by_pool.setdefault(pg.pool, []).append(pg)
    return by_pool


def _error(query: Query[T], answer: Completed) -> ClusterError:
    missing = answers.missing(answer.status, answer.stderr) if query.image else None
    if missing:
        name = query.image.partition("/")[0] if missing == "pool" else query.image
        return ClusterError(f"there is no {missing} {name}", "see rbd ls", missing=True)
    failure = query.failure or query.label
    if answer.status == 127:
        return ClusterError(f"{failure}: {_NOT_INSTALLED}", _INSTALL)
    unreached = answers.no_cluster(answer.status, answer.stderr)
    if unreached:
        return ClusterError(f"{failure}: {unreached}", _SEE_ACCESS)
    denied = answers.is_denied(answer.status, answer.stderr)
    why = "no permission" if denied else failure_reason(answer)
    return ClusterError(f"{failure}: {why}", query.remedy, denied=denied)
