"""Which health checks of Ceph limit what a benchmark measures."""

from __future__ import annotations

import pytest

from cephtui.analysis.detectors.signals import signals
from cephtui.ceph import cluster, health
from cephtui.ceph.cluster import ClusterState, HealthCheck
from cephtui.cluster.monitor import Observation
from cephtui.models.findings import KINDS
from tests.support.golden import Golden

DOCUMENTED = """
DAEMON_OLD_VERSION MON_DOWN MON_CLOCK_SKEW MON_MSGR2_NOT_ENABLED MON_DISK_LOW MON_DISK_CRIT MON_DISK_BIG MON_NETSPLIT
AUTH_INSECURE_GLOBAL_ID_RECLAIM AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED MGR_DOWN MGR_MODULE_DEPENDENCY MGR_MODULE_ERROR
OSD_DOWN OSD_ORPHAN OSD_OUT_OF_ORDER_FULL OSD_FULL OSD_BACKFILLFULL OSD_NEARFULL OSD_FLAGS OLD_CRUSH_TUNABLES
OLD_CRUSH_STRAW_CALC_VERSION CACHE_POOL_NO_HIT_SET OSD_NO_SORTBITWISE OSD_FILESTORE OSD_UNREACHABLE POOL_FULL
BLUEFS_SPILLOVER BLUEFS_AVAILABLE_SPACE BLUEFS_LOW_SPACE BLUESTORE_FRAGMENTATION BLUESTORE_LEGACY_STATFS
BLUESTORE_NO_PER_POOL_OMAP BLUESTORE_NO_PER_PG_OMAP BLUESTORE_DISK_SIZE_MISMATCH BLUESTORE_NO_COMPRESSION
BLUESTORE_SPURIOUS_READ_ERRORS BLOCK_DEVICE_STALLED_READ_ALERT WAL_DEVICE_STALLED_READ_ALERT
DB_DEVICE_STALLED_READ_ALERT BLUESTORE_SLOW_OP_ALERT DEVICE_HEALTH DEVICE_HEALTH_IN_USE DEVICE_HEALTH_TOOMANY
PG_AVAILABILITY PG_DEGRADED PG_RECOVERY_FULL PG_BACKFILL_FULL PG_DAMAGED OSD_SCRUB_ERRORS OSD_TOO_MANY_REPAIRS
LARGE_OMAP_OBJECTS CACHE_POOL_NEAR_FULL TOO_FEW_PGS POOL_PG_NUM_NOT_POWER_OF_TWO POOL_TOO_FEW_PGS TOO_MANY_PGS
POOL_TOO_MANY_PGS POOL_TARGET_SIZE_BYTES_OVERCOMMITTED POOL_HAS_TARGET_SIZE_BYTES_AND_RATIO TOO_FEW_OSDS
SMALLER_PGP_NUM MANY_OBJECTS_PER_PG POOL_APP_NOT_ENABLED POOL_NEAR_FULL OBJECT_MISPLACED OBJECT_UNFOUND SLOW_OPS
PG_NOT_SCRUBBED PG_NOT_DEEP_SCRUBBED PG_SLOW_SNAP_TRIMMING INCORRECT_NUM_BUCKETS_STRETCH_MODE
STRETCH_MODE_BUCKET_WEIGHT_IMBALANCE NONEXISTENT_MON_CRUSH_LOC_STRETCH_MODE NVMEOF_SINGLE_GATEWAY NVMEOF_GATEWAY_DOWN
NVMEOF_GATEWAY_DELETING RECENT_CRASH RECENT_MGR_MODULE_CRASH TELEMETRY_CHANGED AUTH_BAD_CAPS OSD_NO_DOWN_OUT_INTERVAL
DASHBOARD_DEBUG
"""
"""The codes of rados/operations/health-checks from 16.2 to 20.2; OSDMAP_FLAGS goes by its flags."""


def test_every_documented_check_is_in_the_table_once() -> None:
    assert set(DOCUMENTED.split()) <= health.SPEED | health.OTHER
    assert not health.SPEED & health.OTHER
    assert health.OSDMAP_FLAGS not in health.SPEED | health.OTHER


@pytest.mark.parametrize(
    ("code", "costs"),
    [
        ("SLOW_OPS", True),
        ("OSD_DOWN", True),
        ("OSD_HOST_DOWN", True),
        ("OSD_NEARFULL", True),
        ("PG_DEGRADED", True),
        ("PG_BACKFILL_FULL", True),
        ("PG_AVAILABILITY", True),
        ("OBJECT_MISPLACED", True),
        ("NOT_KNOWN_YET", True),
        ("POOL_APP_NOT_ENABLED", False),
        ("MON_CLOCK_SKEW", False),
        ("TELEMETRY_CHANGED", False),
        ("RECENT_CRASH", False),
        ("AUTH_INSECURE_GLOBAL_ID_RECLAIM", False),
        ("POOL_NO_REDUNDANCY", False),
        ("POOL_TOO_FEW_PGS", False),
        ("TOO_FEW_PGS", False),
        ("OSD_TOO_MANY_REPAIRS", False),
        ("BLUESTORE_SPURIOUS_READ_ERRORS", False),
    ],
)
def test_what_costs_speed(code: str, costs: bool) -> None:
    assert health.costs_speed(code) == costs


@pytest.mark.parametrize(
    ("message", "costs"),
    [
        ("noscrub flag(s) set", False),
        ("noscrub,nodeep-scrub flag(s) set", False),
        ("noout flag(s) set", False),
        ("pausewr flag(s) set", True),
        ("noscrub,full flag(s) set", True),
        ("nodown flag(s) set", True),
        ("some_new_one flag(s) set", True),
        ("", True),
    ],
)
def test_flags_of_the_cluster_decide_for_their_check(message: str, costs: bool) -> None:
    found = health.by_effect({"OSDMAP_FLAGS": message})
    assert (bool(found.speed), bool(found.other)) == (costs, not costs)


@pytest.mark.parametrize(
    ("code", "message", "costs"),
    [
        ("SLOW_OPS", "3 slow ops", True),
        ("SLOW_OPS", "5 slow ops, oldest one blocked for 37 sec, osd.3 has slow ops", True),
        ("SLOW_OPS", "5 slow ops, oldest one blocked for 37 sec, daemons [osd.3,mon.b] have slow ops.", True),
        ("SLOW_OPS", "2 slow ops, oldest one blocked for 33 sec, mon.a has slow ops", False),
        ("SLOW_OPS", "5 slow ops, oldest one blocked for 37 sec, daemons [mon.a,mon.b] have slow ops.", False),
        ("PG_DAMAGED", "Possible data damage: 1 pg inconsistent", False),
        ("PG_DAMAGED", "Possible data damage: 2 pgs inconsistent, 1 pg snaptrim_error", False),
        ("PG_DAMAGED", "Possible data damage: 1 pg inconsistent, 1 pg repair", True),
        ("PG_DAMAGED", "Possible data damage: 8 pgs recovery_unfound", True),
        ("PG_DAMAGED", "", True),
    ],
)
def test_what_a_message_names_decides(code: str, message: str, costs: bool) -> None:
    """Clients pass no monitor, and PGs in which a scrub has found something serve them as before."""
    assert health.costs_speed(code, message) == costs
    sample = Observation(ClusterState("HEALTH_WARN", (HealthCheck(code, "HEALTH_WARN", message, 3),))).sample()
    assert bool(sample.slow_ops) == (costs and code == "SLOW_OPS")


def test_slow_operations_of_monitors_end_no_run() -> None:
    def with_slow(daemon: str) -> ClusterState:
        message = f"2 slow ops, oldest one blocked for 33 sec, {daemon} has slow ops"
        return ClusterState("HEALTH_WARN", (HealthCheck("SLOW_OPS", "HEALTH_WARN", message, 2),))

    assert cluster.stop_reason(ClusterState("HEALTH_OK"), with_slow("mon.a")) is None
    assert cluster.stop_reason(with_slow("mon.a"), with_slow("osd.1")) is not None


@pytest.mark.parametrize(
    ("code", "costs"),
    [
        ("MDS_UP_LESS_THAN_MAX", False),
        ("MDS_TRIM", False),
        ("FS_DEGRADED", False),
        ("MDS_SLOW_METADATA_IO", True),
        ("OSD_NEARFULL", True),
    ],
)
def test_checks_of_cephfs_cost_no_speed_where_no_mds_is_passed(code: str, costs: bool) -> None:
    state = ClusterState("HEALTH_WARN", (HealthCheck(code, "HEALTH_WARN", "so", 1),))
    sample = Observation(state).sample()
    for has_mds, expected in ((True, True), (False, costs)):
        kind = "health-speed" if expected else "health-other"
        assert [each.code for each in cluster.state_findings(state, has_mds=has_mds)] == [kind]
        assert [signal.kind.code for signal in signals(sample, None, has_mds=has_mds)] == [kind]


@pytest.mark.parametrize("code", ["BLUESTORE_SLOW_OP_ALERT", "DB_DEVICE_STALLED_READ_ALERT"])
def test_a_check_that_outlasts_its_reason_says_how_long(code: str) -> None:
    (text,) = health.by_effect({code: "1 OSD(s)"}).speed.values()
    assert "24 h by default" in text
    (text,) = health.by_effect({"OSD_DOWN": "1 osds down"}).speed.values()
    assert text == "OSD_DOWN (1 osds down)"


def test_what_is_said_of_checks_that_are_noted_holds_for_an_alert_that_stood_before() -> None:
    """The OSD may go on being slow: that the run is without it is more than the check says."""
    kind = KINDS["health-other"]
    assert (kind.level, "nothing" in kind.why, "none" in kind.cure) == ("note", False, False)
    assert "ceph health detail" in kind.cure


@pytest.mark.parametrize("code", ["BLUESTORE_SLOW_OP_ALERT", "WAL_DEVICE_STALLED_READ_ALERT"])
def test_an_alert_that_stood_before_a_run_says_nothing_of_it(code: str) -> None:
    """It stands for a day after the last slow operation; one that comes, or is about more OSDs, is of the run."""

    def state(osds: int) -> ClusterState:
        return ClusterState("HEALTH_WARN", (HealthCheck(code, "HEALTH_WARN", f"{osds} OSD(s) had it", osds),))

    before = Observation(state(2)).sample()
    during = [before.model_copy(update={"phase": "run", "checks": {code: f"{osds} OSD(s) had it"}}) for osds in (1, 3)]
    assert [each.code for each in cluster.state_findings(state(2))] == ["health-other"]
    assert [signal.kind.code for signal in signals(before.model_copy(update={"phase": "prepare"}), None)] == [
        "health-other"
    ]
    assert not list(signals(during[0], before))
    assert [signal.kind.code for signal in signals(during[1], before)] == ["health-speed"]
    healthy = Observation(ClusterState("HEALTH_OK")).sample()
    assert [signal.kind.code for signal in signals(during[0], healthy)] == ["health-speed"]


def test_a_state_that_names_no_check_says_so(golden: Golden) -> None:
    (finding,) = cluster.state_findings(ClusterState("HEALTH_WARN"))
    (signal,) = signals(Observation(ClusterState("HEALTH_ERR")).sample(), None)
    assert finding.code == signal.kind.code == "health-speed"
    golden.same([finding.text, signal.kind.found((1.0, 2.0), **signal.values).text, finding.cure])


def test_one_state_can_have_both_kinds_each_with_its_codes(golden: Golden) -> None:
    checks = (
        HealthCheck("SLOW_OPS", "HEALTH_WARN", "3 slow ops", 3),
        HealthCheck("MON_CLOCK_SKEW", "HEALTH_WARN", "clock skew detected on mon.b", 0),
        HealthCheck("RECENT_CRASH", "HEALTH_WARN", "", 0),
    )
    texts = {finding.code: finding.text for finding in cluster.state_findings(ClusterState("HEALTH_WARN", checks))}
    assert texts.keys() == {"health-speed", "health-other"}
    golden.same(texts["health-speed"])
    golden.same(texts["health-other"])


def test_an_ill_health_without_a_reason_may_cost_speed(golden: Golden) -> None:
    (finding,) = cluster.state_findings(ClusterState("unknown"))
    assert finding.code == "health-speed"
    golden.same(finding.text)
