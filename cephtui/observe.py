"""A Ceph cluster as a run sees it: asked and guarded before, watched during. What ``ceph`` knows, put to use."""

from __future__ import annotations

import asyncio
import codecs
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from cephtui.ceph import answers, cluster, in_use, pool_guards, pools, proxmox, rates, watch
from cephtui.ceph.cluster import ClusterState, OsdsAway
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.ceph.rates import OsdLatency, PoolRates
from cephtui.models import ClusterEnvironment, ClusterSample, Finding, Kind, Node, OptionValue, PoolActivity, Step
from cephtui.record import Recorder, StopRequest
from cephtui.refusal import Refusal
from cephtui.shell import NodeShell, Shell, with_ceph_user
from cephtui.targets.base import TargetFault, reason
from cephtui.transport import TransportError

WATCH_SECONDS = 2.0
LINGER_SECONDS = 15.0
"""How long a pool's rates show what has ended."""
_LINGER_TRIES = 7
_WATCHES = 5
"""How often the command that asks the cluster is started, if it ends before the run."""
_SPARED = 0.9
"""Of the room that there is: others may write between the question and the guard."""
_A_WEEK_SECONDS = 7 * 86400
T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    """What the key may not ask is noted, and goes on."""

    shell: Shell
    denied: list[str] = field(default_factory=list)

    async def ask(self, argv: Sequence[str], parse: Callable[[str], T]) -> T | None:
        answer = await self.shell.ceph(argv)
        if answer.status == 0:
            try:
                return parse(answer.stdout)
            except ValueError as error:
                log.warning("%s: %s: %s", self.shell.node.name, " ".join(argv[:4]), error)
                return None
        words = [word for word in argv if word not in ("-f", "json")]
        if answers.is_denied(answer.status, answer.stderr):
            self.denied.append(" ".join(words) if argv[0] == "ceph" else "images in use")
        else:
            log.warning("%s: %s: %s", self.shell.node.name, " ".join(words[:4]), reason(answer))
        return None


@dataclass(frozen=True, slots=True)
class View:
    """What the cluster is like before a run, and what follows from it."""

    refusal: Refusal | None = None
    is_full: bool = False
    """Whether it is for want of room that it is refused."""
    findings: tuple[Finding, ...] = ()
    environment: ClusterEnvironment | None = None
    state: ClusterState | None = None
    pool: str | None = None
    data_pool: str | None = None

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools that the run uses."""
        return tuple(pool for pool in (self.pool, self.data_pool) if pool)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What says whether data fits, of all pools; None is what could not be asked."""

    osd_map: OsdMap | None
    usage: Mapping[str, PoolUsage] | None
    osds: tuple[OsdUsage, ...] | None
    pgs: tuple[Pg, ...] | None

    @classmethod
    async def asked(cls, asked: _Asked) -> _Figures:
        found = await asyncio.gather(
            asked.ask(pools.OSD_MAP_ARGV, pools.parse_osd_map),
            asked.ask(pools.USAGE_ARGV, pools.parse_usage),
            asked.ask(pools.OSD_USAGE_ARGV, pools.parse_osd_usage),
            asked.ask(pools.PGS_ARGV, pools.parse_pgs),
        )
        return cls(*found)

    def space(self, osd_map: OsdMap, pool: Pool) -> Space:
        return Space(pool, (self.usage or {}).get(pool.name), osd_map.nearfull_ratio, self.osds, self.pgs)


async def _state(shell: Shell) -> ClusterState:
    """The cluster's state; raises TargetFault where it can't be asked at all."""
    answer = await shell.ceph(cluster.STATUS_ARGV)
    if answer.status != 0:
        why = answers.no_cluster(answer.status, answer.stderr) or reason(answer)
        remedy = "apt-get install ceph-common" if answer.status == 127 else "see --ceph-conf and --ceph-id"
        raise TargetFault(f"{shell.node.name}: can't ask the cluster: {why}: {remedy}")
    try:
        return cluster.parse_status(answer.stdout)
    except ValueError as error:
        raise TargetFault(f"{shell.node.name}: can't ask the cluster: {error}") from None


# ---------------------------------------------------------------------------------------------- the way to it


async def with_access(shell: NodeShell, pool: str | None) -> Node:
    """The node with a way to Ceph: as it was given, else the usual places, else what Proxmox VE's storages name."""
    node = shell.node
    if node.ceph_conf or node.ceph_keyring or node.ceph_prefix:
        return node
    answer = await shell.run(proxmox.access_argv())
    try:
        access = proxmox.parse_access(answer.stdout)
    except ValueError:
        return node
    ways = proxmox.ceph_ways(access)
    named = proxmox.storage_of(access.storages, pool) if pool else ()
    way = next((way for way in ways if way.source in named), ways[0] if ways else None)
    if way is None or (way.source == "/etc/ceph" and node.ceph_id is None):
        return node
    return node.model_copy(
        update={
            "ceph_conf": way.conf,
            "ceph_keyring": way.keyring,
            "ceph_id": node.ceph_id or way.id,
            "ceph_mon_host": ",".join(way.monhost) or None if way.conf is None else None,
        }
    )


# ---------------------------------------------------------------------------------------------- before a plan


async def health(shell: Shell) -> str:
    """What the cluster says of its health, or why it can't be asked; raises TransportError."""
    try:
        return (await _state(shell)).health
    except TargetFault as fault:
        return str(fault).removeprefix(f"{shell.node.name}: ")


async def guard_service(shell: Shell, pool: str) -> Refusal | None:
    """Why nothing in a pool can even be looked at, or None: only the monitors are asked. Raises TransportError."""
    try:
        state = await _state(shell)
    except TargetFault as fault:
        return Refusal(str(fault))
    asked = _Asked(shell)
    osd_map = await asked.ask(pools.OSD_MAP_ARGV, pools.parse_osd_map)
    if osd_map is None:
        return Refusal(f"can't ask which pools there are: {', '.join(asked.denied) or 'no answer'}")
    pgs = await asked.ask(pools.PGS_ARGV, pools.parse_pgs) if state.inactive_pgs else None
    return pool_guards.guard_pool(pool, osd_map, state, pgs, writes=False)


async def room_bytes(shell: Shell, pool: str) -> int | None:
    """Bytes that a run may add to a pool, with something to spare; None where that can't be asked."""
    found = await _Figures.asked(_Asked(shell))
    if found.osd_map is None or pool not in found.osd_map.pools:
        return None  # the guard, which asks again, tells what is wrong
    most = pool_guards.headroom(found.space(found.osd_map, found.osd_map.pools[pool]))
    return None if most is None else int(_SPARED * most)


async def pool_activity(shell: Shell, pool: str, *, own_load: bool = False, patient: bool = True) -> PoolActivity:
    """Who else uses a pool. With ``own_load``, of a run that has just ended, the rates would not tell.

    ``patient`` waits for rates that are about to be gone, where something depends on them.
    """
    asked = _Asked(shell)
    images, going_on = await asyncio.gather(
        asked.ask(in_use.in_use_argv(pool), in_use.parse_in_use), _rates(asked, pool, 0 if own_load else 1)
    )
    if patient and going_on and going_on.iops and not (images and images.count):
        going_on = await _rates(asked, pool, _LINGER_TRIES)
    return pool_guards.activity_of(pool, images, going_on, own_load=own_load)


async def _rates(asked: _Asked, pool: str, tries: int) -> PoolRates | None:
    """The rates once those of a client that has ended are gone: they linger, and so do those of a question."""
    found = None
    for number in range(tries):
        if number:
            await asyncio.sleep(LINGER_SECONDS / _LINGER_TRIES)
        found = await asked.ask(rates.pool_stats_argv(pool), lambda text: rates.parse_pool_stats(text, pool))
        if found is None or found.iops == 0:
            break
    return found


# ---------------------------------------------------------------------------------------------- what was made in it


async def osd_map(shell: Shell) -> OsdMap:
    """The cluster's pools, and which cluster it is; raises TargetFault where that can't be told."""
    answer = await shell.ceph(pools.OSD_MAP_ARGV)
    if answer.status != 0:
        why = answers.no_cluster(answer.status, answer.stderr) or reason(answer)
        raise TargetFault(f"can't ask which pools there are: {why}")
    try:
        return pools.parse_osd_map(answer.stdout)
    except ValueError as error:
        raise TargetFault(f"can't ask which pools there are: {error}") from None


async def pool_now(shell: Shell, pool: str, pool_id: int | None, cluster: str | None) -> str | None:
    """What a pool in which something was made is called now; None where it does not exist any more.

    Without its id it is known by its name. Raises TargetFault where the cluster can't be asked, or is another one.
    """
    found = await osd_map(shell)
    if cluster and found.fsid != cluster:
        where = f"the cluster that answers is {found.fsid or 'unknown'}, it was made in {cluster}"
        raise TargetFault(f"{where}: see --ceph-conf and --ceph-keyring")
    if pool_id is None:
        return pool if pool in found.pools else None
    return next((name for name, one in found.pools.items() if one.id == pool_id), None)


# ---------------------------------------------------------------------------------------------- before a run


def new_bytes(steps: Sequence[Step]) -> int:
    """Bytes that these steps add to a pool at most, on all nodes together."""
    parts = {(node.node, part.spec): part.bytes for step in steps for node in step.nodes for part in node.fill}
    written = {
        (node.node, part.spec): part.bytes
        for step in steps
        if step.writes and not step.filled
        for node in step.nodes
        for part in node.parts
    }
    return sum({**written, **parts}.values())


async def examine(shell: Shell, kind: Kind, pool: str | None, step: Step, wanted_bytes: int) -> View:
    """The cluster before a step, and the guards on a pool for so many new bytes; raises TransportError."""
    if pool is None:
        return View()
    try:
        state = await _state(shell)
    except TargetFault as fault:
        return View(Refusal(str(fault)))
    asked = _Asked(shell)
    found = await _Figures.asked(asked)
    osd_map, pgs = found.osd_map, found.pgs
    if osd_map is None:
        return View(Refusal(f"can't ask which pools there are: {', '.join(asked.denied) or 'no answer'}"))
    # an image is opened for writing even where it is only read: in a full pool that hangs
    writes = step.writes or kind in ("rbd", "image")
    refusal = pool_guards.guard_pool(pool, osd_map, state, pgs, writes=writes)
    if refusal:
        return View(refusal)
    if state.osds_up < state.osds:
        down = await asked.ask(cluster.DOWN_ARGV, cluster.parse_osds)
        state = replace(state, osds_down=down.names if down else None)
    if step.data_pool:
        refusal = pool_guards.guard_pool(step.data_pool, osd_map, state, pgs, writes=writes)
        if refusal:
            return View(refusal)
    data_pool = osd_map.pools[step.data_pool or pool]
    if kind == "rbd":
        refusal = pool_guards.guard_image_pool(osd_map.pools[pool], data_pool if step.data_pool else None)
    space = found.space(osd_map, data_pool)
    full = pool_guards.guard_space(space, wanted_bytes)
    findings = (*cluster.findings(state), *pool_guards.pool_findings(data_pool))
    if step.writes:
        findings = (*findings, *pool_guards.space_findings(space))
    environment = await _environment(asked, state, osd_map, data_pool.name)
    return View(refusal or full, full is not None, findings, environment, state, pool, step.data_pool)


async def _environment(asked: _Asked, state: ClusterState, osd_map: OsdMap, pool: str) -> ClusterEnvironment:
    queue_option, profile_option = map(cluster.option_argv, cluster.OSD_OPTIONS)
    versions, rules, queue, profile = await asyncio.gather(
        asked.ask(cluster.VERSIONS_ARGV, cluster.parse_versions),
        asked.ask(pools.CRUSH_RULES_ARGV, pools.parse_crush_rules),
        asked.ask(queue_option, cluster.parse_option),
        asked.ask(profile_option, cluster.parse_option),
    )
    found = osd_map.pools[pool]
    rule = (rules or {}).get(found.crush_rule)
    facts: dict[str, OptionValue | None] = {
        "name": found.name,
        "type": found.kind,
        "size": found.size,
        "min_size": found.min_size,
        "pg_num": found.pg_num,
        "autoscale": found.autoscale,
        "crush_rule": rule.text if rule else str(found.crush_rule),
        "erasure_code_profile": found.ec_profile or None,
        "quota_bytes": found.quota_bytes or None,
    }
    return ClusterEnvironment(
        ceph_version=", ".join(versions) if versions else None,
        health=state.health,
        checks=tuple(check.message or check.code for check in state.checks),
        osds=state.osds,
        osds_up=state.osds_up,
        osds_in=state.osds_in,
        pg_states=dict(state.pg_states),
        pool=facts,
        osd_op_queue=queue,
        osd_mclock_profile=profile,
        no_permission=tuple(asked.denied),
    )


# ---------------------------------------------------------------------------------------------- during a run


async def observe(shell: NodeShell, view: View, recorder: Recorder, stop: StopRequest) -> None:
    """Keep what the cluster says of itself until cancelled; a run that harms it is stopped."""
    if view.state is None or view.pool is None:
        return
    recorder.cluster(_Seen(view.state, down=view.state.osds_down).sample())
    try:
        for _ in range(_WATCHES):
            await _watch(shell, view, recorder, stop)
            if shell.connection.closed:
                raise TransportError(f"the connection to {shell.node.name} was lost")
            await asyncio.sleep(WATCH_SECONDS)
        raise TransportError(f"ceph ended on {shell.node.name} again and again")
    except (ValueError, TransportError) as error:
        log.warning("the cluster is not watched: %s", error)
        recorder.course.unasked(str(error))


async def _watch(shell: NodeShell, view: View, recorder: Recorder, stop: StopRequest) -> None:
    """Until the command that asks the cluster has ended; raises ValueError and TransportError."""
    assert view.pool
    process = await shell.connection.start(
        with_ceph_user(shell.node, watch.watch_argv(view.pool, WATCH_SECONDS)),
        prefix=shell.node.ceph_prefix,
        token=secrets.token_hex(16),
        limit_seconds=_A_WEEK_SECONDS,
    )
    try:
        process.release()
        reader, decoder, seen = watch.CephWatch(), codecs.getincrementaldecoder("utf-8")("replace"), _Seen()
        async for chunk in process.chunks():
            if chunk.stream != "stdout":
                continue
            for answer in reader.feed(decoder.decode(chunk.data)):
                seen = seen.with_answer(answer)
                if isinstance(answer, ClusterState):
                    recorder.cluster(seen.sample())
                    await _stop_where_harmed(shell, view, answer, stop)
    finally:
        await process.stop()
        await process.wait()


@dataclass(frozen=True, slots=True)
class _Seen:
    """The latest of each kind of answer."""

    state: ClusterState | None = None
    latency: OsdLatency | None = None
    down: tuple[str, ...] | None = None
    out: tuple[str, ...] | None = None
    asked_down: bool = False
    """Whether the next names are of those that are out."""

    def with_answer(self, answer: watch.Seen) -> _Seen:
        if isinstance(answer, OsdsAway):
            if self.asked_down:
                return replace(self, out=answer.names, asked_down=False)
            return replace(self, down=answer.names, asked_down=True)
        if isinstance(answer, ClusterState):
            return replace(self, state=answer, asked_down=False)
        return replace(self, latency=answer) if isinstance(answer, OsdLatency) else self

    def sample(self) -> ClusterSample:
        state = self.state
        assert state is not None
        latency = self.latency.seconds if self.latency else {}
        slow = [check for check in state.checks if check.code == "SLOW_OPS"]
        return ClusterSample(
            run=0,
            elapsed_seconds=0.0,
            health=state.health,
            osds=state.osds,
            osds_up=state.osds_up,
            osds_in=state.osds_in,
            osds_down=() if state.osds_up >= state.osds else self.down,
            osds_out=() if state.osds_in >= state.osds else self.out,
            checks={check.code: check.message or check.code for check in state.checks if not check.muted},
            flags=tuple(sorted(state.flags)),
            slow_ops=sum(max(1, check.count) for check in slow),
            monitors=state.monitors,
            monitors_in_quorum=state.monitors_in_quorum,
            pools=state.pools,
            pg_states=dict(state.pg_states),
            degraded_ratio=state.degraded_ratio,
            misplaced_ratio=state.misplaced_ratio,
            client_iops=state.read_iops + state.write_iops,
            client_bandwidth_bytes=state.read_bytes + state.write_bytes,
            recovery_bandwidth_bytes=state.recovery_bytes,
            osd_latency_seconds={str(osd): seconds for osd, seconds in latency.items()},
        )


async def _stop_where_harmed(shell: Shell, view: View, now: ClusterState, stop: StopRequest) -> None:
    assert view.state
    why = cluster.stop_reason(view.state, now)
    if why == cluster.POOL_FULL and stop.reason is None:
        osd_map = await _Asked(shell).ask(pools.OSD_MAP_ARGV, pools.parse_osd_map)
        why = pool_guards.full_reason(view.pools, osd_map) if osd_map else why
    if why and stop.reason is None:
        stop.request(why)


# ---------------------------------------------------------------------------------------------- after a run


async def deleted(shell: Shell, names: Sequence[str]) -> str | None:
    """That one of these pools is there no more, or None; raises TransportError."""
    osd_map = await _Asked(shell).ask(pools.OSD_MAP_ARGV, pools.parse_osd_map) if names else None
    gone = [name for name in names if osd_map and name not in osd_map.pools]
    return f"pool {gone[0]} was deleted during the run" if gone else None
