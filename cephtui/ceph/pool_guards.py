"""The guards on a pool: its PGs are active, it has enough free space, no other clients use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cephtui import units
from cephtui.ceph import answers
from cephtui.ceph.cluster import ClusterState, serves, will_serve
from cephtui.ceph.in_use import ImagesInUse
from cephtui.ceph.pools import OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.ceph.rates import PoolRates
from cephtui.frozen import dataclass
from cephtui.models import Finding, PoolActivity
from cephtui.models.base import QUIET_OPTIONS, Quiet
from cephtui.models.findings.cluster import AUTOSCALE, PGS_SPLIT
from cephtui.models.findings.data import SPACE
from cephtui.models.refusal import Refusal

USABLE = 0.8
"""The fraction of the free space that a run may fill."""


@dataclass(frozen=True, slots=True)
class Space:
    """All that decides whether new data fits; None is what the cephx caps deny."""

    pool: Pool
    usage: PoolUsage | None
    nearfull_ratio: float = 0.85
    osds: Sequence[OsdUsage] | None = None
    pgs: Sequence[Pg] | None = None


def guard_pool(
    name: str, osd_map: OsdMap, state: ClusterState, pgs: Sequence[Pg] | None, *, writes: bool
) -> Refusal | None:
    """Why nothing may run in a pool, or None: it does not exist, is blocked or full, or has inactive PGs.

    ``pgs`` are needed only where ``state.inactive_pgs`` is not zero.
    """
    pool = osd_map.pools.get(name)
    if pool is None:
        pools = answers.listed(sorted(osd_map.pools), 8) or "none"
        return Refusal(f"there is no pool {name}", f"choose one of: {pools}")
    return _guard_flags(pool, osd_map, state, writes) or _guard_pgs(pool, state, pgs)


def _guard_flags(pool: Pool, osd_map: OsdMap, state: ClusterState, writes: bool) -> Refusal | None:
    flags = osd_map.flags | state.flags
    paused = sorted(flags & {"pauserd", "pausewr"})
    if paused:
        return Refusal(f"the cluster is paused ({', '.join(paused)})", "ceph osd unpause, once its reason is resolved")
    if not writes:
        return None
    if "full" in flags:  # up to Luminous; later an OSD that is full makes those pools full that have PGs on it
        return Refusal("the cluster is full and accepts no writes", "see ceph health detail and free up space first")
    if "full_quota" in pool.flags:
        return Refusal(
            f"pool {pool.name} is full: its quota is used up", f"{_raise_quota(pool)}, or choose another pool"
        )
    if "full" in pool.flags:
        return Refusal(f"pool {pool.name} is full", "see ceph health detail and free up space first")
    return None


def _raise_quota(pool: Pool) -> str:
    """The commands that raise the quotas of a pool."""
    kinds = [kind for kind, most in (("max_bytes", pool.quota_bytes), ("max_objects", pool.quota_objects)) if most]
    return "raise it: " + " or ".join(
        f"ceph osd pool set-quota {pool.name} {kind} N" for kind in kinds or ["max_bytes"]
    )


def full_reason(names: Iterable[str], osd_map: OsdMap) -> str | None:
    """Why a run in these pools has to end because one of them became full; None where none did."""
    pools = [pool for name in names if (pool := osd_map.pools.get(name)) and pool.flags & {"full", "full_quota"}]
    for pool in pools:
        if "full_quota" not in pool.flags:
            return f"pool {pool.name} became full during the run: see ceph health detail and free up space first"
        quotas = [units.size(pool.quota_bytes)] if pool.quota_bytes else []
        quotas += [f"{pool.quota_objects} objects"] if pool.quota_objects else []
        reached = f"the quota of pool {pool.name} ({' and '.join(quotas)}) was reached during the run"
        return f"{reached}: {_raise_quota(pool)}"
    return None


def _guard_pgs(pool: Pool, state: ClusterState, pgs: Sequence[Pg] | None) -> Refusal | None:
    if pgs is None:
        return guard_all_pgs(state, "the cephx caps deny asking which pool they belong to")
    states = Counter(pg.state for pg in pgs if pg.pool == pool.id and not serves(pg.state))
    if not state.inactive_pgs or not states:
        return None
    shown = answers.listed([f"{count} {name}" for name, count in states.most_common()])
    return _inactive(f"of the {pool.pg_num} PGs of pool {pool.name} {states.total()} are not active ({shown})", states)


def guard_all_pgs(state: ClusterState, why: str) -> Refusal | None:
    """Why nothing may run that needs the PGs of all pools, or None; ``why`` is why it needs them."""
    number, states = state.inactive_pgs, [name for name in state.pg_states if not serves(name)]
    text = f"{number} PG{'s' * (number > 1)} of the cluster {'are' if number > 1 else 'is'} not active, and {why}"
    return _inactive(text, states) if number else None


def _inactive(text: str, states: Iterable[str]) -> Refusal:
    passes = all(will_serve(state) for state in states)
    return Refusal(text, "wait until they are active: ceph pg dump_stuck inactive", passes=passes)


def guard_space(space: Space, new_bytes: int) -> Refusal | None:
    """Why a pool has no room for so many new bytes of all nodes together, or None.

    What the cephx caps deny is no reason: see ``space_findings``. For images with a data pool, ``space`` is that one's.
    """
    return None if new_bytes <= 0 else _guard_room(space, new_bytes) or _guard_osds(space, new_bytes)


def room(space: Space) -> int | None:
    """Bytes that a run may add to a pool; None where that can't be asked."""
    if space.usage is None:
        return None
    free = space.usage.max_avail
    if space.pool.quota_bytes:
        free = min(free, max(0, space.pool.quota_bytes - space.usage.stored))
    return int(USABLE * free)


def headroom(space: Space) -> int | None:
    """Bytes that both guards on space let a run add; None where that can't be asked."""
    most = room(space)
    pgs_by_osd = Counter(osd for pg in space.pgs or () if pg.pool == space.pool.id for osd in pg.osds)
    if most is None or not pgs_by_osd:
        return most
    for osd in space.osds or ():
        share = space.pool.raw_per_byte * pgs_by_osd[osd.id] / pgs_by_osd.total()
        if share:
            most = min(most, max(0, int((space.nearfull_ratio * osd.total - osd.used) / share)))
    return most


def _guard_room(space: Space, new_bytes: int) -> Refusal | None:
    usable = room(space)
    if usable is None or space.usage is None or new_bytes <= usable:
        return None
    remaining = space.pool.quota_bytes - space.usage.stored
    by_quota = space.pool.quota_bytes and remaining < space.usage.max_avail
    free = (
        f"{units.size(max(0, remaining))} left of its quota"
        if by_quota
        else f"{units.size(space.usage.max_avail)} free"
    )
    return Refusal(
        f"not enough space in pool {space.pool.name}: needs {units.size(new_bytes)} for all nodes together, "
        f"has {free}, of which {units.size(usable)} may be used",
        "choose a smaller size, fewer nodes or another pool",
    )


def _guard_osds(space: Space, new_bytes: int) -> Refusal | None:
    for osd, filled in _fill_levels(space, new_bytes):
        if filled > space.nearfull_ratio * osd.total:
            before, after = (units.percent(100 * used / osd.total) for used in (osd.used, filled))
            return Refusal(
                f"{units.size(new_bytes)} in pool {space.pool.name} ({space.pool.text}) would fill osd.{osd.id} from "
                f"{before} to {after}, above nearfull ({units.percent(100 * space.nearfull_ratio)})",
                "choose a smaller size, fewer nodes or another pool",
            )
    return None


def _fill_levels(space: Space, new_bytes: int) -> Iterable[tuple[OsdUsage, float]]:
    """Each OSD that has PGs of the pool, with the bytes used on it after the run; the fullest first.

    Objects spread evenly over PGs, so that an OSD's share is that of the pool's PGs on it.
    """
    pgs_by_osd = Counter(osd for pg in space.pgs or () if pg.pool == space.pool.id for osd in pg.osds)
    total = pgs_by_osd.total()
    raw = new_bytes * space.pool.raw_per_byte
    fills = [(osd, osd.used + raw * pgs_by_osd[osd.id] / total) for osd in space.osds or () if pgs_by_osd[osd.id]]
    return sorted(fills, key=lambda fill: -fill[1] / fill[0].total)


def space_findings(space: Space) -> tuple[Finding, ...]:
    """What is not known of the free space."""
    if space.usage is None:
        return (SPACE.found(pool=space.pool.name),)
    if space.osds is None or space.pgs is None:
        return (SPACE.found(pool=space.pool.name, by_osd=True),)
    return ()


def pool_findings(pool: Pool) -> tuple[Finding, ...]:
    """What the pool's settings do to the figures."""
    if pool.pg_num_target and pool.pg_num != pool.pg_num_target:
        return (PGS_SPLIT.found(pool=pool.name, before=pool.pg_num, after=pool.pg_num_target),)
    if pool.autoscale == "on":
        return (AUTOSCALE.found(pool=pool.name),)
    return ()


def activity_of(
    pool: str, images: ImagesInUse | None, rates: PoolRates | None, *, own_load: bool = False
) -> PoolActivity:
    """Who else uses a pool; None is what the cephx caps deny. With ``own_load`` the rates are not to be asked."""
    in_use = images.text if images else "images in use: no permission"
    iops = f"{units.iops(rates.iops)} client IOPS" if rates else "client IOPS: no permission"
    return PoolActivity(
        pool=pool,
        images_in_use=images.count if images else None,
        images_looked_at=images.inspected if images else None,
        images=images.images if images else None,
        client_iops=rates.iops if rates else None,
        text=f"{in_use}, {'own I/O has just ended' if own_load else iops}",
    )


def guard_busy_pool(activity: PoolActivity | None, *, writes: bool, nodes: int, agreed: bool) -> Refusal | None:
    """The question before a write, or a run on several nodes, in a pool that others use; None where there is none."""
    if activity is None or agreed or not (writes or nodes > 1) or not _is_busy(activity):
        return None
    return Refusal(
        f"pool {activity.pool} is in use: {activity.text}",
        "wait for a quiet hour, use another pool, or allow it with --shared-pool",
        confirm=activity.pool,
        confirm_kind="shared-pool",
    )


def guard_osd_caches(pool: str | None, *, drops: bool, agreed: bool) -> Refusal | None:
    """The question before the caches of all OSDs are dropped for a run in a pool; None where there is none."""
    if pool is None or agreed or not drops:
        return None
    return Refusal(
        "dropping the caches of all OSDs slows every client of the cluster until the caches are warm again",
        "run without dropping caches, or allow it with --drop-caches",
        confirm=pool,
        confirm_kind="drop-caches",
    )


def guard_quiet(quiet: Quiet, *, agreed: bool) -> Refusal | None:
    """The question before the cluster's own work is held back for a study; None where there is none."""
    if agreed or not quiet:
        return None
    also = ", and the balancer and the PG autoscaler of all pools are switched off," if quiet == "all" else ""
    return Refusal(
        f"noscrub and nodeep-scrub are set for the whole cluster{also} until the end of the study",
        f"measure without that, or allow it with {QUIET_OPTIONS[quiet]}",
        confirm=quiet,
        confirm_kind="quiet-cluster",
    )


def _is_busy(activity: PoolActivity) -> bool:
    """Whether other clients are known to use the pool, or not all of its images could be inspected."""
    if activity.images_in_use or activity.client_iops:
        return True
    return activity.images_looked_at is not None and activity.images_looked_at < (activity.images or 0)


def guard_image_pool(pool: Pool, data_pool: Pool | None) -> Refusal | None:
    """Why no image can be made in a pool, with its data in another one, or None."""
    if pool.kind == "erasure":
        return Refusal(
            f"pool {pool.name} is erasure-coded: it can't store images",
            f"use a replicated pool, with --data-pool {pool.name}",
        )
    if data_pool and data_pool.kind == "erasure" and "ec_overwrites" not in data_pool.flags:
        remedy = f"ceph osd pool set {data_pool.name} allow_ec_overwrites true, or choose another"
        return Refusal(f"data pool {data_pool.name} does not allow overwrites", remedy)
    return None
