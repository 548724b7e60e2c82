"""The cluster before a run: its health, its guards on a pool, and who else uses that pool."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cephtui import units
from cephtui.analysis.detectors.setup import setup_findings
from cephtui.ceph import pool_guards, quiet
from cephtui.ceph.answers import setting_text
from cephtui.ceph.cluster import OSD_OPTIONS, ClusterState, state_findings
from cephtui.ceph.osd_devices import OsdDevices
from cephtui.ceph.pools import CrushRule, Pool
from cephtui.ceph.rates import PoolRates
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader, Pools, Query
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, Finding, OptionValue, OsdOption, PoolActivity
from cephtui.models.base import Quiet
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell

LINGER_SECONDS = 30.0
"""How long a pool's client I/O rates show clients that have ended: they are averages, and take 12 to 25 s to decay."""
_FALLING_SECONDS, _LONGEST_SECONDS = 12.0, 90.0
"""Rates whose lowest value is at most so old are still decaying; and how long that is waited for."""
_ASK_AGAIN_SECONDS = 2.0
PASSES_SECONDS = 60.0
"""Seconds to wait for what passes by itself: PGs peer for a few seconds, longer where an OSD has just died."""
WAITS_FOR_PGS = "waiting for PGs to become active"
_SPARED = 0.9
"""The fraction of the room that is used: others may write between the query and the guard."""
_NAMES_MOST = 100
"""Flags and device classes that are kept; there are a dozen."""
_OSDS_MOST = 1000
"""OSDs of a pool up to which its PGs are counted by OSD: a large cluster's need not be in every run."""
_QUEUE, _PROFILE = map(reader.osd_option, OSD_OPTIONS)
_CONDITIONS = (
    *(reader.VERSIONS, reader.CRUSH_RULES, reader.TREE, reader.CONFIG),
    *(reader.OSD_METADATA, reader.OSD_OPTIONS, reader.OSD_PINGS),
    *(_QUEUE, _PROFILE),
)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a step needs of the cluster."""

    pool: str | None
    """None for a step that uses no pool."""
    data_pool: str | None
    """The erasure-coded pool for the data of new images."""
    writes: bool
    opens_for_writing: bool
    """Whether the step opens its data for writing, even if only to read."""
    creates_images: bool
    new_bytes: int
    is_watched: bool = False
    """Whether the step loads the cluster although it uses no pool."""
    has_mds: bool = False
    """Whether the step's I/O passes an MDS."""
    quiet: Quiet = ""
    """What of the cluster's own work is held back for the step."""
    all_pgs: str = ""
    """Why the PGs of all pools have to be active; empty where they need not be."""

    @property
    def has_cluster(self) -> bool:
        """Whether the step has to do with a cluster at all."""
        return self.pool is not None or self.is_watched


@dataclass(frozen=True, slots=True)
class Preflight:
    """The cluster before a run, and what follows from its state."""

    refusal: Refusal | None = None
    is_full: bool = False
    """Whether the refusal is for lack of space."""
    findings: tuple[Finding, ...] = ()
    environment: ClusterEnvironment | None = None
    state: ClusterState | None = None
    pool: str | None = None
    data_pool: str | None = None

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools that the run uses."""
        return tuple(pool for pool in (self.pool, self.data_pool) if pool)


# ---------------------------------------------------------------------------------------------- before a plan


async def cluster_health(shell: Shell) -> str:
    """``HEALTH_OK``, or why the cluster can't be asked; raises TransportError."""
    try:
        return (await ClusterReader(shell).status()).health
    except ClusterError as error:
        return str(error)


async def guard_service(cluster: ClusterReader, pool: str) -> Refusal | None:
    """Why no data in a pool can be inspected, or None; only the monitors are asked. Raises TransportError."""
    await cluster.fetch(reader.STATUS, reader.OSD_MAP)
    try:
        state = await cluster.status()
        osd_map = await cluster.ask(reader.OSD_MAP)
    except ClusterError as error:
        return _refusal_on_node(cluster.shell, error)
    pgs = await cluster.optional(reader.PGS) if state.inactive_pgs else None
    return pool_guards.guard_pool(pool, osd_map, state, pgs, writes=False)


def _refusal_on_node(shell: Shell, error: ClusterError) -> Refusal:
    """The refusal with the name of the node whose Ceph access was used."""
    return replace(error.refusal, problem=f"{shell.node.name}: {error.refusal.problem}")


async def room_bytes(shell: Shell, pool: str) -> int | None:
    """Bytes that a run may add to a pool, with a reserve; None where that can't be asked."""
    try:
        pools = await ClusterReader(shell).pools()
    except ClusterError:
        return None  # the guard asks again, and reports the error
    if pool not in pools.osd_map.pools:
        return None
    most = pool_guards.headroom(pools.space(pools.osd_map.pools[pool]))
    return None if most is None else int(_SPARED * most)


async def pool_activity(
    shell: Shell, pool: str, *, own_load: bool = False, on_wait: Callable[[str], None] | None = None
) -> PoolActivity:
    """Who else uses a pool. With ``own_load`` the rates are not asked, since they are those of a run that has just
    ended.

    With ``on_wait``, which gets the reason, rates that are about to decay are waited for, where something depends on
    them. Raises TransportError.
    """
    cluster = ClusterReader(shell)
    query = reader.pool_rates(pool)
    if own_load:
        images, rates = await cluster.optional(reader.images_in_use(pool)), None
    else:
        images, rates = await asyncio.gather(cluster.optional(reader.images_in_use(pool)), cluster.optional(query))
    if on_wait and rates and rates.iops and not (images and images.count):
        on_wait(
            f"pool {pool} has {units.iops(rates.iops)} client IOPS: waiting up to {units.duration(LINGER_SECONDS)} "
            "in case these clients have ended"
        )
        rates = await _rates_after_decay(cluster, query, rates)
    return pool_guards.activity_of(pool, images, rates, own_load=own_load)


async def _rates_after_decay(cluster: ClusterReader, query: Query[PoolRates], rates: PoolRates) -> PoolRates | None:
    """Client I/O rates, read again until clients that have ended, and queries, can't be in them any more.

    They rise at first where what has ended was short.
    """
    clock = asyncio.get_running_loop().time
    last, until, lowest = clock() + _LONGEST_SECONDS, clock() + LINGER_SECONDS, rates.iops
    now: PoolRates | None = rates
    while now and now.iops and clock() < until:
        await asyncio.sleep(_ASK_AGAIN_SECONDS)
        now = await cluster.optional(query)
        if now and now.iops < lowest:
            lowest, until = now.iops, max(until, min(last, clock() + _FALLING_SECONDS))
    return now


# ---------------------------------------------------------------------------------------------- before a run


async def check(shell: Shell, demand: Demand) -> Preflight:
    """The cluster before a step, and the guards on the step's pools; raises TransportError."""
    pool = demand.pool
    if not demand.has_cluster:
        return Preflight()
    cluster = ClusterReader(shell)
    await cluster.fetch(reader.STATUS, *reader.POOLS, *_CONDITIONS)
    try:
        state = await cluster.status()
        pools = await cluster.pools()
    except ClusterError as error:
        return Preflight(_refusal_on_node(shell, error))
    if state.osds_up < state.osds:
        down = await cluster.optional(reader.OSDS_DOWN)
        state = replace(state, osds_down=down.names if down else None)
    findings = state_findings(state, has_mds=demand.has_mds, own_flags=quiet.FLAGS if demand.quiet else ())
    if pool is None:
        inactive = pool_guards.guard_all_pgs(state, demand.all_pgs) if demand.all_pgs else None
        environment = await _environment(cluster, state, pools, None, None)
        return Preflight(inactive, findings=findings, environment=environment, state=state)
    osd_map = pools.osd_map
    for name in filter(None, (pool, demand.data_pool)):
        pgs = pools.pgs_of(osd_map.pools[name]) if name in osd_map.pools else None
        refusal = pool_guards.guard_pool(name, osd_map, state, pgs, writes=demand.opens_for_writing)
        if refusal:
            return Preflight(refusal)
    data_pool = osd_map.pools[demand.data_pool or pool]
    if demand.creates_images:
        refusal = pool_guards.guard_image_pool(osd_map.pools[pool], data_pool if demand.data_pool else None)
    space = pools.space(data_pool)
    full = pool_guards.guard_space(space, demand.new_bytes)
    findings = (*findings, *pool_guards.pool_findings(data_pool))
    if demand.writes:
        findings = (*findings, *pool_guards.space_findings(space))
    environment = await _environment(cluster, state, pools, data_pool, osd_map.pools[pool])
    findings = (*findings, *setup_findings(environment))
    return Preflight(refusal or full, full is not None, findings, environment, state, pool, demand.data_pool)


async def _environment(
    cluster: ClusterReader, state: ClusterState, pools: Pools, pool: Pool | None, metadata_pool: Pool | None
) -> ClusterEnvironment:
    """The conditions in the cluster, with the settings of the pool of the data and of the pool of its metadata."""
    versions, rules, tree, config, queue, profile = await asyncio.gather(
        cluster.optional(reader.VERSIONS),
        cluster.optional(reader.CRUSH_RULES),
        cluster.optional(reader.TREE),
        cluster.optional(reader.CONFIG),
        cluster.optional(_QUEUE),
        cluster.optional(_PROFILE),
    )
    devices, options, pings = await asyncio.gather(
        cluster.optional(reader.OSD_METADATA), cluster.optional(reader.OSD_OPTIONS), cluster.optional(reader.OSD_PINGS)
    )
    rule = (rules or {}).get(pool.crush_rule) if pool else None
    placed = _placed(pools, pool)
    of_pool = [osd for osd in devices or () if pool is None or osd.id in placed]
    return ClusterEnvironment(
        **_state(state),
        **_osds(pools, pool, placed, of_pool if state.osds <= _OSDS_MOST else ()),
        fsid=pools.osd_map.fsid or None,
        ceph_version=", ".join(versions) if versions else None,
        osds_by_host=tree.osds_by_host(rule.takes[0]) if tree and rule and len(rule.takes) == 1 else {},
        failure_domain=rule.failure_domain if rule else None,
        networks_apart=pools.osd_map.networks_apart,
        osd_flags=tuple(sorted(pools.osd_map.flags)[:_NAMES_MOST]),
        pool=_facts(pool, rule) if pool else {},
        pool_settings=_settings(pool, metadata_pool, rule),
        osd_op_queue=queue,
        osd_mclock_profile=profile,
        config=None if config is None else dict(config.options),
        config_more=config.more if config else 0,
        slow_pings=tuple(ping for ping in pings or () if not placed or int(ping.osd) in placed),
        osd_options=tuple(_of_osds(options or (), placed)),
        no_permission=tuple(cluster.denied),
    )


def _state(state: ClusterState) -> dict[str, Any]:
    """How the cluster is, by fields of its environment."""
    return {
        "health": state.health,
        "checks": tuple(check.message or check.code for check in state.checks),
        "osds": state.osds,
        "osds_up": state.osds_up,
        "osds_in": state.osds_in,
        "pg_states": dict(state.pg_states),
    }


def _osds(pools: Pools, pool: Pool | None, placed: Mapping[int, int], shown: Sequence[OsdDevices]) -> dict[str, Any]:
    """Its OSDs and those of the pool, by fields of its environment; ``shown`` are those whose disks are told."""
    pgs = (pools.pgs_of(pool) if pool else None) or ()
    classes = {osd.id: osd.device_class for osd in pools.osds or () if osd.device_class}
    return {
        "osds_by_class": dict(Counter(classes.values()).most_common(_NAMES_MOST)),
        "pgs_by_osd": {str(osd): number for osd, number in sorted(placed.items())},
        "primaries": len({pg.primary for pg in pgs if pg.primary is not None}),
        "class_by_osd": {str(osd): classes[osd] for osd in sorted(placed) if osd in classes},
        "disk_by_osd": {str(osd.id): osd.data_disk for osd in shown if osd.data_disk},
        "model_by_osd": {str(osd.id): osd.model for osd in shown if osd.model},
    }


def _placed(pools: Pools, pool: Pool | None) -> Mapping[int, int]:
    """How many PGs of the pool each OSD has; none where there are too many OSDs."""
    placed = Counter(osd for pg in (pools.pgs_of(pool) if pool else None) or () for osd in pg.osds)
    return placed if len(placed) <= _OSDS_MOST else {}


def _settings(pool: Pool | None, metadata_pool: Pool | None, rule: CrushRule | None) -> dict[str, str]:
    """Those of the pool, of its rule, and of the pool of its metadata if that is another one."""
    settings = {**(pool.settings if pool else {}), **(_rule_settings(rule) if rule else {})}
    if metadata_pool and metadata_pool is not pool:
        settings |= {f"metadata {name}": value for name, value in metadata_pool.settings.items()}
    return settings


def _of_osds(options: Iterable[OsdOption], osds: Mapping[int, int]) -> Iterator[OsdOption]:
    """The options of some OSDs; of all where none are named."""
    for option in options:
        having = tuple(osd for osd in option.osds if not osds or int(osd) in osds)
        if having:
            yield option.model_copy(update={"osds": having})


def _rule_settings(rule: CrushRule) -> dict[str, str]:
    return {"crush_rule steps": setting_text(", ".join(rule.steps))}


def _facts(pool: Pool, rule: CrushRule | None) -> dict[str, OptionValue | None]:
    """The properties of a pool."""
    return {
        "name": pool.name,
        "type": pool.kind,
        "size": pool.size,
        "min_size": pool.min_size,
        "pg_num": pool.pg_num,
        "pg_num_target": pool.pg_num_target if pool.pg_num_target != pool.pg_num else None,
        "autoscale": pool.autoscale,
        "crush_rule": rule.text if rule else str(pool.crush_rule),
        "erasure_code_profile": pool.ec_profile or None,
        "quota_bytes": pool.quota_bytes or None,
    }
