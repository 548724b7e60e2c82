"""What the health checks of Ceph mean for a benchmark: those that cost speed, and the others.

A check costs speed where its documentation says that requests are slow or blocked, that OSDs, MDSs or copies of the
data are missing, that data is moved, or that space runs out. All of it is of docs.ceph.com for 16.2 to 20.2:
rados/operations/health-checks, cephfs/health-messages, cephadm/operations, and of the modules of the manager.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from cephtui.frozen import dataclass


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPEED = _codes(
    """
    MON_NETSPLIT
    OSD_DOWN OSD_FULL OSD_BACKFILLFULL OSD_NEARFULL OSD_UNREACHABLE
    OSD_SLOW_PING_TIME_BACK OSD_SLOW_PING_TIME_FRONT
    POOL_FULL POOL_BACKFILLFULL POOL_NEARFULL POOL_NEAR_FULL CACHE_POOL_NEAR_FULL
    BLUEFS_SPILLOVER BLUESTORE_FRAGMENTATION BLUESTORE_SLOW_OP_ALERT
    BLOCK_DEVICE_STALLED_READ_ALERT DB_DEVICE_STALLED_READ_ALERT WAL_DEVICE_STALLED_READ_ALERT DEVICE_HEALTH_IN_USE
    PG_AVAILABILITY PG_DEGRADED PG_RECOVERY_FULL PG_BACKFILL_FULL PG_DAMAGED PG_SLOW_SNAP_TRIMMING
    PENDING_CREATING_PGS OBJECT_MISPLACED OBJECT_UNFOUND
    SLOW_OPS REQUEST_SLOW REQUEST_STUCK DEGRADED_STRETCH_MODE RECOVERING_STRETCH_MODE
    FS_DEGRADED FS_WITH_FAILED_MDS MDS_ALL_DOWN MDS_UP_LESS_THAN_MAX MDS_READ_ONLY MDS_SLOW_REQUEST
    MDS_SLOW_METADATA_IO MDS_TRIM MDS_CLIENT_LATE_RELEASE MDS_CLIENT_LATE_RELEASE_MANY MDS_CLIENTS_LAGGY
    MDS_ESTIMATED_REPLAY_TIME
    CEPHADM_CHECK_MTU CEPHADM_CHECK_LINKSPEED
    """
)
"""The codes of checks that cost speed."""
OTHER = _codes(
    """
    DAEMON_OLD_VERSION MON_DOWN MON_CLOCK_SKEW MON_MSGR2_NOT_ENABLED MON_DISK_LOW MON_DISK_CRIT MON_DISK_BIG
    MON_LOCATION_NOT_SET
    AUTH_BAD_CAPS AUTH_INSECURE_GLOBAL_ID_RECLAIM AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED AUTH_INSECURE_KEYS_ALLOWED
    AUTH_INSECURE_KEYS_CREATABLE AUTH_INSECURE_SERVICE_TICKETS AUTH_INSECURE_SERVICE_KEY_TYPE
    AUTH_INSECURE_ROTATING_SERVICE_KEY_TYPE AUTH_INSECURE_CLIENT_KEY_TYPE AUTH_EMERGENCY_CIPHERS_SET
    MGR_DOWN MGR_MODULE_DEPENDENCY MGR_MODULE_ERROR RECENT_CRASH RECENT_MGR_MODULE_CRASH TELEMETRY_CHANGED
    DASHBOARD_DEBUG ALERTS_SMTP_ERROR MGR_INFLUX_NO_SERVER MGR_INFLUX_SEND_FAILED MGR_INFLUX_DB_LIST_FAILED
    MGR_INFLUX_QUEUE_FULL MGR_ZABBIX_NO_SERVER MGR_ZABBIX_SEND_FAILED
    OSD_ORPHAN OSD_OUT_OF_ORDER_FULL OSD_FLAGS OSD_NO_SORTBITWISE OSD_FILESTORE OSD_UPGRADE_FINISHED
    OSD_NO_DOWN_OUT_INTERVAL OSD_SCRUB_ERRORS OSD_TOO_MANY_REPAIRS BLUESTORE_SPURIOUS_READ_ERRORS
    OLD_CRUSH_TUNABLES OLD_CRUSH_STRAW_CALC_VERSION CACHE_POOL_NO_HIT_SET
    BLUEFS_AVAILABLE_SPACE BLUEFS_LOW_SPACE BLUESTORE_LEGACY_STATFS BLUESTORE_NO_PER_POOL_OMAP
    BLUESTORE_NO_PER_PG_OMAP BLUESTORE_DISK_SIZE_MISMATCH BLUESTORE_NO_COMPRESSION DEVICE_HEALTH DEVICE_HEALTH_TOOMANY
    LARGE_OMAP_OBJECTS POOL_PG_NUM_NOT_POWER_OF_TWO TOO_FEW_PGS POOL_TOO_FEW_PGS TOO_MANY_PGS POOL_TOO_MANY_PGS
    TOO_FEW_OSDS SMALLER_PGP_NUM
    MANY_OBJECTS_PER_PG POOL_TARGET_SIZE_BYTES_OVERCOMMITTED POOL_HAS_TARGET_SIZE_BYTES_AND_RATIO
    POOL_APP_NOT_ENABLED POOL_NO_REDUNDANCY POOL_SCRUB_FLAGS PG_NOT_SCRUBBED PG_NOT_DEEP_SCRUBBED
    INCORRECT_NUM_BUCKETS_STRETCH_MODE UNEVEN_WEIGHTS_STRETCH_MODE STRETCH_MODE_BUCKET_WEIGHT_IMBALANCE
    NONEXISTENT_MON_CRUSH_LOC_STRETCH_MODE NVMEOF_SINGLE_GATEWAY NVMEOF_GATEWAY_DOWN NVMEOF_GATEWAY_DELETING
    FS_INLINE_DATA_DEPRECATED MDS_INSUFFICIENT_STANDBY MDS_DAMAGE MDS_CACHE_OVERSIZED MDS_CLIENT_RECALL
    MDS_CLIENT_RECALL_MANY MDS_CLIENT_OLDEST_TID MDS_CLIENT_OLDEST_TID_MANY MDS_CLIENTS_BROKEN_ROOTSQUASH
    CEPHADM_PAUSED CEPHADM_STRAY_HOST CEPHADM_STRAY_DAEMON CEPHADM_HOST_CHECK_FAILED CEPHADM_FAILED_DAEMON
    CEPHADM_REFRESH_FAILED CEPHADM_APPLY_SPEC_FAIL CEPHADM_DAEMON_PLACE_FAIL CEPHADM_AGENT_DOWN CEPHADM_CERT_ERROR
    CEPHADM_CERT_WARNING CEPHADM_CHECK_KERNEL_LSM CEPHADM_CHECK_SUBSCRIPTION CEPHADM_CHECK_PUBLIC_MEMBERSHIP
    CEPHADM_CHECK_NETWORK_MISSING CEPHADM_CHECK_CEPH_RELEASE CEPHADM_CHECK_KERNEL_VERSION
    UPGRADE_NO_STANDBY_MGR UPGRADE_FAILED_PULL UPGRADE_BAD_TARGET_VERSION UPGRADE_REDEPLOY_DAEMON UPGRADE_EXCEPTION
    UPGRADE_OFFLINE_HOST
    """
)
"""The codes of checks that do not slow a benchmark down, or that are about how the cluster is set up."""
SLOWNESS = _codes(
    """
    SLOW_OPS REQUEST_SLOW REQUEST_STUCK BLUESTORE_SLOW_OP_ALERT MDS_SLOW_REQUEST MDS_SLOW_METADATA_IO
    BLOCK_DEVICE_STALLED_READ_ALERT DB_DEVICE_STALLED_READ_ALERT WAL_DEVICE_STALLED_READ_ALERT
    """
)
"""The codes of checks that say that operations are slow, and not why."""
OSDMAP_FLAGS, SLOW_OPS, _DAMAGED = "OSDMAP_FLAGS", "SLOW_OPS", "PG_DAMAGED"
"""Checks that may or may not cost speed: the flags, the daemons or the states of PGs in their messages decide."""
_DAEMON = re.compile(r"\b(osd|mon|mds|mgr)\.")
_STATE = re.compile(r"\bpgs? ([a-z_]+)")
_AS_FAST = {"inconsistent", "snaptrim_error"}
"""PGs in these states serve clients as before: a scrub or the trimming of snapshots has found something wrong."""
_OF_CEPHFS, _OF_OSDS = ("FS_", "MDS_"), {"MDS_SLOW_METADATA_IO"}
"""The prefixes of CephFS's codes, and the codes of CephFS that say that OSDs are slow."""
_OUTLASTING = {
    "BLUESTORE_SLOW_OP_ALERT": "bluestore_slow_ops_warn_lifetime, 24 h by default",
    **{
        f"{device}_DEVICE_STALLED_READ_ALERT": "bdev_stalled_read_warn_lifetime, 24 h by default"
        for device in ("BLOCK", "DB", "WAL")
    },
}
"""Checks that stay for hours after their cause, and the option for how long. Where such a check stood before a run, its
cause may have been over by then; only a check that comes during the run is about the run."""
_IDLE_FLAGS = _codes(
    "noscrub nodeep-scrub noup noin noout nobackfill norecover norebalance pauserec nosnaptrim notieragent"
)
"""Flags that suspend background work, or keep OSDs as they are. ``full`` and the pauses block clients; with ``nodown``
an OSD that fails stays up, and requests to it wait."""


def holds_clients(flag: str) -> bool:
    """Whether a flag of the whole cluster can keep clients from their data; an unknown flag can."""
    return flag not in _IDLE_FLAGS


def costs_speed(code: str, message: str = "") -> bool:
    """Whether a health check limits what a benchmark measures; an unknown check does.

    Of some it is the message that decides: ``OSDMAP_FLAGS`` names flags, ``SLOW_OPS`` daemons, ``PG_DAMAGED`` states.
    """
    if code == OSDMAP_FLAGS:
        flags = flags_of(code, message)
        return not flags or not _IDLE_FLAGS.issuperset(flags)
    if code == SLOW_OPS:
        daemons = set(_DAEMON.findall(message))
        return not daemons or daemons != {"mon"}
    if code == _DAMAGED:
        states = set(_STATE.findall(message))
        return not states or not _AS_FAST.issuperset(states)
    return code not in OTHER


@dataclass(frozen=True, slots=True)
class ByEffect:
    """Health checks in words, by their codes, sorted by what they mean for a benchmark."""

    speed: Mapping[str, str]
    other: Mapping[str, str]


def new_checks(before: Mapping[str, str], checks: Mapping[str, str]) -> Mapping[str, str]:
    """The checks that were not there before, and alerts that are about more OSDs than before; each with its message."""
    return {
        code: message
        for code, message in checks.items()
        if code not in before or (code in _OUTLASTING and number_in(message) > number_in(before[code]))
    }


def by_effect(checks: Mapping[str, str], *, stood: Collection[str] = (), has_mds: bool = True) -> ByEffect:
    """Sort checks, given with their messages, by whether they cost speed; the words of each name its code.

    ``stood`` has the codes of those that did so before the run, which an alert may do for a day. Of what does not pass
    an MDS, so without ``has_mds``, those of CephFS cost no speed.
    """
    words = {code: _words(code, message) for code, message in checks.items()}
    limiting = {
        code
        for code, message in checks.items()
        if costs_speed(code, message)
        and (has_mds or code in _OF_OSDS or not code.startswith(_OF_CEPHFS))
        and not (code in _OUTLASTING and code in stood)
    }
    return ByEffect(
        {code: text for code, text in words.items() if code in limiting},
        {code: text for code, text in words.items() if code not in limiting},
    )


def _words(code: str, message: str) -> str:
    """A check in words, ``SLOW_OPS (3 slow ops)``; how long its cause may have been over, where that can be."""
    remarks = [message] if message not in ("", code) else []
    remarks += [f"at some time within {_OUTLASTING[code]}"] if code in _OUTLASTING else []
    return f"{code} ({', '.join(remarks)})" if remarks else code


def only_slowness(checks: Collection[str]) -> bool:
    """Whether checks, in words, all say no more than that operations are slow."""
    return bool(checks) and SLOWNESS.issuperset(check.partition(" ")[0] for check in checks)


def number_in(message: str) -> int:
    """The number of OSDs, pools or operations with which a check's message begins; 0 where it has none."""
    leading = re.match(r"[0-9]{1,15}", message)
    return int(leading[0]) if leading else 0


def flags_of(code: str, message: str) -> frozenset[str]:
    """The flags in the message of ``OSDMAP_FLAGS``, such as ``noout,noscrub flag(s) set``; none in other messages."""
    if code != OSDMAP_FLAGS:
        return frozenset()
    return frozenset(re.split(r"[,\s]+", message.partition(" flag")[0])) - {""}
