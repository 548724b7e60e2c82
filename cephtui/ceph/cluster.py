"""The state of a cluster: health, OSDs, PGs, rates; as a finding before a run, and as a reason to stop during it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Any

from cephtui.ceph import answers, health
from cephtui.ceph.health import SLOW_OPS
from cephtui.frozen import dataclass
from cephtui.models import Finding
from cephtui.models.findings.cluster import HEALTH_OTHER, HEALTH_SPEED, OSD_DOWN, OSDS, PGS, RECOVERY, SCRUB, SNAPTRIM

STATUS_ARGV = ("ceph", "status", "-f", "json")
"""The command that reports a ClusterState; the cephx caps ``mon r`` are enough."""
VERSIONS_ARGV = ("ceph", "versions", "-f", "json")
DOWN_ARGV = ("ceph", "osd", "tree", "down", "-f", "json")
OUT_ARGV = ("ceph", "osd", "tree", "out", "-f", "json")
UP_ARGV = ("ceph", "osd", "tree", "up", "-f", "json")
"""The three commands above report OsdNames; the cephx caps ``mon r`` are enough."""
OSD_OPTIONS = ("osd_op_queue", "osd_mclock_profile")
"""The options that set the shares of clients and recovery; the profile has no effect on another queue than mclock."""

_BLOCKING_FLAGS = {"full", "pauserd", "pausewr"}
POOL_FULL = "a pool became full, or reached its quota, during the run: see ceph health detail"
"""A reason to stop a run; which pool is full, and why, is in the OSD map only."""
_FILLING_CHECKS = ("OSD_NEARFULL", "OSD_BACKFILLFULL", "OSD_FULL")
_STILL_CLEAN = {"scrubbing", "deep", "snaptrim", "snaptrim_wait", "snaptrim_error", "inconsistent"}
"""States that a PG may also have while all its copies are in their places and nothing has to be recovered."""
_ON_THE_WAY = {"peering", "activating", "creating", "unknown"}
_STUCK = {"down", "incomplete", "stale"}


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One of the checks of ``ceph health``."""

    code: str
    severity: str
    message: str
    count: int
    """The number of OSDs, pools or operations that the check is about; 0 where the message has no number."""
    muted: bool = False


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The answer to ``ceph status``. Rates lag about 3 s behind."""

    health: str
    """``HEALTH_OK``, ``HEALTH_WARN`` or ``HEALTH_ERR``."""
    checks: tuple[HealthCheck, ...] = ()
    fsid: str | None = None
    osds: int = 0
    osds_up: int = 0
    osds_in: int = 0
    osds_down: tuple[str, ...] | None = None
    """The names of OSDs that are down; None where they were not asked for."""
    pgs: int = 0
    pg_states: Mapping[str, int] = field(default_factory=dict)
    """How many PGs are in each state: ``active+clean``."""
    misplaced_ratio: float | None = 0.0
    """Misplaced copies as a fraction of all object copies. Health does not mention them. None where it is not known:
    Ceph counts several times as many as there are while PGs are split."""
    degraded_ratio: float | None = 0.0
    read_bytes: float = 0.0
    """Bytes per second that all clients together read."""
    write_bytes: float = 0.0
    read_iops: float = 0.0
    write_iops: float = 0.0
    recovery_bytes: float = 0.0
    """Bytes per second; 0 where no PG is recovered or backfilled: Ceph's average shows a rate for 25 s longer."""
    pools: int | None = None
    monitors: int | None = None
    monitors_in_quorum: int | None = None

    @property
    def inactive_pgs(self) -> int:
        """PGs that take no requests at the moment."""
        return sum(count for state, count in self.pg_states.items() if not serves(state))

    @property
    def scrubbing_pgs(self) -> int:
        """PGs that are being scrubbed, deep or not."""
        return sum(count for state, count in self.pg_states.items() if scrubs(state))

    @property
    def unclean(self) -> Mapping[str, int]:
        """How many PGs are in each state that is not active+clean, whatever a clean PG does besides."""
        return {state: count for state, count in self.pg_states.items() if not is_clean(state)}

    @property
    def flags(self) -> frozenset[str]:
        """The flags on the whole cluster that health complains of: ``noout``, ``full``, ``pausewr``."""
        return frozenset[str]().union(*(health.flags_of(check.code, check.message) for check in self.checks))


@dataclass(frozen=True, slots=True)
class OsdNames:
    """The OSDs that are up, down or out, whichever were asked for."""

    names: tuple[str, ...]
    """``osd.2``."""


def serves(state: str) -> bool:
    """Whether a PG in this state takes requests; a stale one is only the last state that its OSDs have reported."""
    words = state.split("+")
    return "active" in words and "stale" not in words


def will_serve(state: str) -> bool:
    """Whether a PG that takes no requests in this state is about to: it is so after each change of its OSDs."""
    words = frozenset(state.split("+"))
    return bool(words & _ON_THE_WAY) and not words & _STUCK


def is_clean(state: str) -> bool:
    """Whether a PG in this state has all its copies in their places: it may be scrubbed, or trim snapshots."""
    return set(state.split("+")) - _STILL_CLEAN == {"active", "clean"}


def scrubs(state: str) -> bool:
    """Whether a PG in this state is being scrubbed, deep or not."""
    return "scrubbing" in state.split("+")


def trims(state: str) -> bool:
    """Whether a PG in this state removes what deleted snapshots had; one that waits for its turn does not."""
    return "snaptrim" in state.split("+")


def recovers(state: str) -> bool:
    """Whether a PG in this state is being recovered or backfilled, or waits for its turn."""
    return "recover" in state or "backfill" in state


def option_argv(name: str) -> tuple[str, ...]:
    """The command that prints one OSD option of the configuration database; a host's ceph.conf may override it."""
    return ("ceph", "config", "get", "osd", name)


def parse_status(text: str) -> ClusterState:
    """The answer to ``STATUS_ARGV``."""
    return cluster_state_of(answers.json_object(text, "health", "pgmap"))


def cluster_state_of(answer: Mapping[str, Any]) -> ClusterState:
    """The state in an answer to ``STATUS_ARGV``."""
    osdmap = answers.part(answer, "osdmap")
    osdmap = answers.part(osdmap, "osdmap") or osdmap  # one level deeper up to Nautilus
    pgmap = answers.part(answer, "pgmap")
    reported = answers.part(answer, "health")
    monmap = answers.part(answer, "monmap")
    pg_states = {
        str(entry.get("state_name")): answers.whole(entry.get("count"))
        for entry in answers.objects(pgmap.get("pgs_by_state"))
    }
    recovery_bytes = answers.number(pgmap.get("recovering_bytes_per_sec"))
    return ClusterState(
        health=str(reported.get("status") or reported.get("overall_status") or "unknown"),
        checks=tuple(_check(code, value) for code, value in answers.part(reported, "checks").items()),
        fsid=str(answer["fsid"]) if "fsid" in answer else None,
        osds=answers.whole(osdmap.get("num_osds")),
        osds_up=answers.whole(osdmap.get("num_up_osds")),
        osds_in=answers.whole(osdmap.get("num_in_osds")),
        pgs=answers.whole(pgmap.get("num_pgs")),
        pg_states=pg_states,
        misplaced_ratio=_share(pgmap.get("misplaced_ratio")),
        degraded_ratio=_share(pgmap.get("degraded_ratio")),
        read_bytes=answers.number(pgmap.get("read_bytes_sec")),
        write_bytes=answers.number(pgmap.get("write_bytes_sec")),
        read_iops=answers.number(pgmap.get("read_op_per_sec")),
        write_iops=answers.number(pgmap.get("write_op_per_sec")),
        recovery_bytes=recovery_bytes if any(map(recovers, pg_states)) else 0.0,
        pools=answers.whole(pgmap["num_pools"]) if "num_pools" in pgmap else None,
        monitors=answers.whole(monmap["num_mons"]) if "num_mons" in monmap else None,
        monitors_in_quorum=len(answer["quorum"]) if isinstance(answer.get("quorum"), list) else None,
    )


def _share(answer: Any) -> float | None:
    """A fraction of all copies; None for one above 1, which is none."""
    ratio = answers.number(answer)
    return ratio if ratio <= 1 else None


def parse_osds(text: str) -> OsdNames:
    """The answer to ``UP_ARGV``, ``DOWN_ARGV`` or ``OUT_ARGV``."""
    return osds_of(answers.json_object(text, "nodes"))


def osds_of(answer: Mapping[str, Any]) -> OsdNames:
    """The OSDs in an answer to ``UP_ARGV``, ``DOWN_ARGV`` or ``OUT_ARGV``."""
    nodes = [*answers.objects(answer.get("nodes")), *answers.objects(answer.get("stray"))]
    return OsdNames(tuple(str(node.get("name")) for node in nodes if node.get("type") == "osd"))


def cache_drop_argv(osd: str) -> tuple[str, ...]:
    """The command that has an OSD, ``osd.3``, drop its caches; the cephx caps ``osd allow *`` are needed."""
    return ("ceph", "tell", osd, "cache", "drop")


def _check(code: str, value: Any) -> HealthCheck:
    value = value if isinstance(value, dict) else {}
    summary = answers.part(value, "summary")
    message = str(summary.get("message") or "")
    count = answers.whole(summary.get("count")) or health.number_in(message)
    return HealthCheck(code, str(value.get("severity") or ""), message, count, bool(value.get("muted")))


def parse_versions(text: str) -> Mapping[str, int]:
    """The answer to ``VERSIONS_ARGV``: how many daemons run each version, such as ``16.2.15``."""
    answer = answers.json_object(text, "overall")
    daemons: dict[str, int] = {}
    for version, count in answers.part(answer, "overall").items():
        short = re.search(r"ceph version (\S+)", version)
        name = short[1] if short else version
        daemons[name] = daemons.get(name, 0) + answers.whole(count)
    return daemons


def parse_option(text: str) -> str:
    """The answer to ``option_argv``."""
    value = text.strip().strip('"')
    if not value or "\n" in value:
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return value


def stop_reason(before: ClusterState, now: ClusterState) -> str | None:
    """Why a run has to end: the cluster became full, nearly full or slow since its start. None where it need not."""
    blocking = (now.flags - before.flags) & _BLOCKING_FLAGS
    if blocking:
        return f"the cluster's {', '.join(sorted(blocking))} flag was set during the run"
    if _count(now, "OSD_FULL") > _count(before, "OSD_FULL"):
        return f"an OSD became full during the run: {_message(now, 'OSD_FULL')}"
    if _count(now, "POOL_FULL") > _count(before, "POOL_FULL"):
        return POOL_FULL
    if sum(_count(now, code) for code in _FILLING_CHECKS) > sum(_count(before, code) for code in _FILLING_CHECKS):
        code = next(code for code in reversed(_FILLING_CHECKS) if _count(now, code))
        return f"an OSD became nearly full during the run: {_message(now, code)}"
    if _is_slower(before, now):
        return f"the cluster can't keep up: {_message(now, SLOW_OPS)}"
    return None


def _count(state: ClusterState, code: str) -> int:
    """How many things a check is about, at least one where it is there."""
    return sum(max(1, check.count) for check in state.checks if check.code == code)


def _message(state: ClusterState, code: str) -> str:
    return next((check.message for check in state.checks if check.code == code), code)


def _is_slower(before: ClusterState, now: ClusterState) -> bool:
    """Whether daemons have slow operations that had none; the number of operations that are stuck changes by itself."""
    slow, earlier = (set(re.findall(r"\b(?:osd|mds)\.\w+", _message(state, SLOW_OPS))) for state in (now, before))
    if not _count(now, SLOW_OPS) or not health.costs_speed(SLOW_OPS, _message(now, SLOW_OPS)):
        return False
    return not _count(before, SLOW_OPS) or not slow <= earlier


def state_findings(
    state: ClusterState, *, has_mds: bool = True, own_flags: Collection[str] = ()
) -> tuple[Finding, ...]:
    """What the cluster's state does to the figures; without ``has_mds``, to figures of I/O that passes no MDS.

    ``own_flags`` are set for the run: where health complains of no other, that is no finding.
    """
    stood = _health(state, has_mds, own_flags)
    return (*stood, *_osds(state), *_pgs(state), *_recovery(state), *_scrub(state), *_snaptrim(state))


def _health(state: ClusterState, has_mds: bool, own_flags: Collection[str]) -> Iterator[Finding]:
    """A state other than HEALTH_OK for which no check gives a reason may cost speed."""
    messages = {check.code: check.message for check in state.checks if not check.muted}
    flags = {code: health.flags_of(code, message) for code, message in messages.items()}
    own = {code for code, found in flags.items() if found and found.issubset(own_flags)}
    if state.health == "HEALTH_OK" or (own and own.issuperset(messages)):
        return
    messages = {code: message for code, message in messages.items() if code not in own}
    checks = health.by_effect(messages, stood=messages, has_mds=has_mds)
    if checks.speed or not checks.other:
        yield HEALTH_SPEED.found(status=state.health, details=tuple(checks.speed.values()) or None)
    if checks.other:
        yield HEALTH_OTHER.found(status=state.health, details=tuple(checks.other.values()))


def _osds(state: ClusterState) -> Iterator[Finding]:
    """An OSD that is down and out lacks nothing any more but itself: the check OSD_DOWN is about OSDs that are in."""
    down, out = state.osds - state.osds_up, state.osds - state.osds_in
    if (down_and_in := min(down, _count(state, "OSD_DOWN"))) > 0:
        names = state.osds_down or ()
        yield OSD_DOWN.found(osds=down_and_in, of=state.osds, details=names if len(names) == down_and_in else None)
    if out > 0:
        yield OSDS.found(osds=out, of=state.osds)


def _pgs(state: ClusterState) -> Iterator[Finding]:
    unclean = sorted(state.unclean.items(), key=lambda item: -item[1])
    if unclean:
        details = tuple(f"{count} {name}" for name, count in unclean)
        yield PGS.found(pgs=sum(state.unclean.values()), of=state.pgs, details=details)


def _recovery(state: ClusterState) -> Iterator[Finding]:
    figures = {
        "degraded_ratio": state.degraded_ratio or None,
        "misplaced_ratio": state.misplaced_ratio or None,
        "rate_bytes": state.recovery_bytes or None,
    }
    if any(figures.values()):
        yield RECOVERY.found(**figures)


def _scrub(state: ClusterState) -> Iterator[Finding]:
    if state.scrubbing_pgs:
        yield SCRUB.found(pgs=state.scrubbing_pgs, of=state.pgs)


def _snaptrim(state: ClusterState) -> Iterator[Finding]:
    if trimming := sum(count for name, count in state.pg_states.items() if trims(name)):
        yield SNAPTRIM.found(pgs=trimming, of=state.pgs)
