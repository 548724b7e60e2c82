"""Ceph's answers: recorded ones of 16.2.15, what other releases say otherwise, and the guards on them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.ceph import answers, cluster, config, crush_tree, images, in_use, pool_guards, pools, proxmox, rates, watch
from cephtui.ceph.cluster import ClusterState, HealthCheck
from cephtui.ceph.images import ImageFacts, ImageInfo, ImageUse, Watcher
from cephtui.ceph.in_use import ImagesInUse
from cephtui.ceph.pool_guards import Space
from cephtui.ceph.pools import OsdMap, OsdUsage, Pg, Pool, PoolUsage
from cephtui.ceph.rates import OsdLatency, PoolRates
from cephtui.models import PoolActivity
from cephtui.models.findings.cluster import OSD_DOWN, OSDS, PGS, PGS_SPLIT, SCRUB, SNAPTRIM
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.known import known

FOLDER = RECORDINGS / "ceph-16.2"
COMMANDS: dict[str, dict[str, Any]] = json.loads((FOLDER / "commands.json").read_text())
GIB = 1 << 30


def recorded(name: str) -> str:
    return (FOLDER / f"{name}.stdout").read_text()


def state(name: str) -> ClusterState:
    return cluster.parse_status(recorded(f"{name}/status"))


def osd_map(name: str = "healthy") -> OsdMap:
    return pools.parse_osd_map(recorded(f"{name}/osd-map"))


def osd_latency(text: str) -> OsdLatency:
    """An answer to ``ceph osd perf``, as the watch during a run reads it; raises ValueError for any other answer."""
    latency = rates.osd_latency_of(answers.json_object(text))
    if latency is None:
        raise ValueError(f"unexpected answer: {text[:200]!r}")
    return latency


# ---------------------------------------------------------------------------------------------- any answer


@pytest.mark.parametrize("text", ["", "Error", "[1", "null", "3", '"x"', "[]", "{}", '{"x": 1}', "HEALTH_OK\n"])
def test_an_answer_that_is_none(text: str) -> None:
    parsers = [
        cluster.parse_status,
        cluster.parse_versions,
        osd_latency,
        lambda text: rates.parse_pool_stats(text, "rec"),
        pools.parse_osd_map,
        pools.parse_usage,
        pools.parse_osd_usage,
        crush_tree.parse_tree,
        lambda text: images.parse_info(text, "rec"),
        images.parse_image_use,
        in_use.parse_in_use,
    ]
    for parser in parsers:
        with pytest.raises(ValueError, match=r"^unexpected answer"):
            parser(text)


@pytest.mark.parametrize("text", ["", "Error", "null", "{}", '"x"'])
def test_a_list_that_is_none(text: str) -> None:
    for parser in (
        config.parse_config,
        pools.parse_pgs,
        pools.parse_crush_rules,
        images.parse_snapshots,
        images.parse_children,
    ):
        with pytest.raises(ValueError, match=r"^unexpected answer"):
            parser(text)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(FOLDER.glob("*/*.stdout"))), st.data())
def test_no_other_json_is_anything_but_read_or_refused(path: Path, data: st.DataObject) -> None:
    """Any key of a recorded answer may be missing, or hold something else."""
    try:
        value = json.loads(path.read_text())
    except ValueError:
        return
    for _ in range(data.draw(st.integers(1, 3))):
        value = damaged(value, data)
    text = json.dumps(value)
    for parser in (
        cluster.parse_status,
        cluster.parse_versions,
        osd_latency,
        lambda text: rates.parse_pool_stats(text, "rec"),
        pools.parse_osd_map,
        pools.parse_usage,
        pools.parse_osd_usage,
        crush_tree.parse_tree,
        pools.parse_pgs,
        pools.parse_crush_rules,
        config.parse_config,
        lambda text: images.parse_info(text, "rec"),
        images.parse_image_use,
        images.parse_snapshots,
        images.parse_children,
        images.parse_written,
    ):
        try:
            parser(text)
        except ValueError as error:
            assert str(error).startswith("unexpected answer")  # noqa: PT017


def damaged(value: Any, data: st.DataObject) -> Any:
    if isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.booleans()):
            return {**value, key: damaged(value[key], data)}
        return {other: value[other] for other in value if other != key}
    if isinstance(value, list) and value:
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], damaged(value[index], data), *value[index + 1 :]]
    return data.draw(junk)


def test_figures_that_json_does_not_know() -> None:
    assert answers.parse_answer('{"a": -nan, "b":[inf,1], "c": "nan"}') == {"a": None, "b": [None, 1], "c": "nan"}


@pytest.mark.parametrize(
    ("name", "denied"),
    [
        ("denied/osd-usage", True),
        ("denied/pgs", True),
        ("denied/osd-perf", True),
        ("denied/pool-stats", True),
        ("denied/osd_op_queue", True),
        ("denied/other-pool.info", True),
        ("denied/other-pool.in-use", True),
        ("denied/status", False),
        ("denied/usage", False),
        ("denied/osd-map", False),
        ("denied/versions", False),
        ("denied/crush-rules", False),
        ("denied/config-dump", False),
        ("denied/plain.info", False),
        ("healthy/option-unknown", False),
        ("images/none.info", False),
    ],
)
def test_what_a_restricted_key_may_ask(name: str, denied: bool) -> None:
    said = COMMANDS[name]
    assert answers.is_denied(said["status"], said["stderr"]) == denied
    assert answers.no_cluster(said["status"], said["stderr"]) is None


@pytest.mark.parametrize(
    ("status", "stderr"),
    [
        tuple(COMMANDS["denied/no-key.status"][key] for key in ("status", "stderr")),
        tuple(COMMANDS["denied/no-key.info"][key] for key in ("status", "stderr")),
        (1, "Error initializing cluster client: ObjectNotFound('... conf_read_file)')"),
        (110, "rbd: couldn't connect to the cluster!\n(110) Connection timed out"),
        (1, "timed out\n"),
        (127, "env: 'ceph': No such file or directory"),
    ],
)
def test_why_a_cluster_is_not_reached(status: int, stderr: str, golden: Golden) -> None:
    golden.same(answers.no_cluster(status, stderr))


def test_a_command_that_failed_for_another_reason_has_reached_it() -> None:
    assert answers.no_cluster(2, "rbd: error opening image none: (2) No such file or directory") is None
    assert answers.no_cluster(0, "timed out") is None


def test_what_is_missing_is_told_apart() -> None:
    for name, expected in (("images/none.info", "image"), ("images/no-pool.info", "pool"), ("images/plain.info", None)):
        assert answers.missing(COMMANDS[name]["status"], COMMANDS[name]["stderr"]) == expected
    assert answers.missing(1, "rbd: error opening image x: (2) No such file or directory") is None


def test_the_recorded_questions_are_those_that_are_asked() -> None:
    asked = {
        "healthy/status": cluster.STATUS_ARGV,
        "healthy/versions": cluster.VERSIONS_ARGV,
        "healthy/osd-map": pools.OSD_MAP_ARGV,
        "healthy/usage": pools.USAGE_ARGV,
        "healthy/osd-usage": pools.OSD_USAGE_ARGV,
        "healthy/pgs": pools.PGS_ARGV,
        "healthy/crush-rules": pools.CRUSH_RULES_ARGV,
        "healthy/osd-perf": rates.OSD_PERF_ARGV,
        "healthy/pool-stats": rates.pool_stats_argv("rec"),
        "healthy/config-dump": config.CONFIG_ARGV,
        "healthy/osd_op_queue": cluster.option_argv("osd_op_queue"),
        "images/plain.info": images.info_argv("rec", "plain"),
        "images/plain.status": images.status_argv("rec", "plain"),
        "images/plain.snapshots": images.snapshots_argv("rec", "plain"),
        "images/plain.children": images.children_argv("rec", "plain"),
    }
    for name, argv in asked.items():
        assert tuple(COMMANDS[name]["argv"]) == argv
    assert {"osd_op_queue", "osd_mclock_profile"} == set(cluster.OSD_OPTIONS)


# ---------------------------------------------------------------------------------------------- the cluster's state


def test_a_healthy_cluster() -> None:
    found = state("healthy")
    assert (found.health, found.checks, found.osds, found.osds_up, found.osds_in) == ("HEALTH_OK", (), 3, 3, 3)
    assert (found.pgs, found.pg_states, found.inactive_pgs) == (81, {"active+clean": 81}, 0)
    assert (found.unclean, found.misplaced_ratio, found.degraded_ratio) == ({}, 0, 0)
    assert (found.read_iops, found.write_iops, found.write_bytes, found.recovery_bytes) == (0, 0, 0, 0)
    assert found.fsid == osd_map_fsid()
    assert cluster.state_findings(found) == ()


def osd_map_fsid() -> str:
    return str(json.loads(recorded("healthy/osd-map"))["fsid"])


def test_client_rates() -> None:
    found = state("busy")
    assert found.write_iops > 1000
    assert found.write_bytes > found.write_iops * 4000
    assert cluster.state_findings(found) == ()


def test_misplaced_objects_are_found_though_the_cluster_is_healthy() -> None:
    found = state("osd-out")
    assert found.health == "HEALTH_OK"
    assert (found.osds, found.osds_up, found.osds_in) == (3, 3, 2)
    assert known(found.misplaced_ratio) > 0.1
    by_code = {finding.code: finding for finding in cluster.state_findings(found)}
    assert by_code.keys() == {"osds", "pgs", "recovery"}
    assert by_code["osds"] == OSDS.found(osds=1, of=3)
    assert by_code["pgs"].values["pgs"] == sum(found.unclean.values())
    assert by_code["recovery"].values["misplaced_ratio"] == found.misplaced_ratio


@pytest.mark.parametrize("word", ["misplaced", "degraded"])
def test_a_share_of_more_than_all_copies_is_left_out(word: str) -> None:
    """Ceph has such while PGs are split; that they are not clean is said all the same."""
    answer = json.loads(recorded("osd-out/status"))
    answer["pgmap"] = {**answer["pgmap"], "misplaced_ratio": 0.25, "degraded_ratio": 0.125, f"{word}_ratio": 3.561}
    found = cluster.parse_status(json.dumps(answer))
    by_code = {finding.code: finding for finding in cluster.state_findings(found)}
    assert getattr(found, f"{word}_ratio") is None
    assert by_code["recovery"].values.keys() >= {"misplaced_ratio", "degraded_ratio"} - {f"{word}_ratio"}
    assert f"{word}_ratio" not in by_code["recovery"].values
    assert by_code["pgs"].values["pgs"] == sum(found.unclean.values())


def test_degraded_objects_are_found() -> None:
    found = state("osd-down")
    assert known(found.degraded_ratio) > 0.2
    by_code = {finding.code: finding for finding in cluster.state_findings(found)}
    assert "OSD_DOWN (1 osds down)" in by_code["health-speed"].text
    assert by_code["osd-down"] == OSD_DOWN.found(osds=1, of=3)
    assert by_code["recovery"].values["degraded_ratio"] == found.degraded_ratio


def test_an_osd_that_is_down_and_out_is_one_that_is_out() -> None:
    """Its data is on the others by now: Ceph itself reports HEALTH_OK."""
    gone = ClusterState("HEALTH_OK", osds=12, osds_up=11, osds_in=11, osds_down=("osd.3",), pgs=8)
    assert cluster.state_findings(gone) == (OSDS.found(osds=1, of=12),)
    check = HealthCheck("OSD_DOWN", "HEALTH_WARN", "1 osds down", 1)
    both = replace(gone, health="HEALTH_WARN", checks=(check,), osds_up=10, osds_down=("osd.3", "osd.7"))
    assert OSD_DOWN.found(osds=1, of=12) in cluster.state_findings(both)
    assert OSDS.found(osds=1, of=12) in cluster.state_findings(both)
    muted = replace(both, health="HEALTH_OK", checks=(replace(check, muted=True),), osds_in=12, osds_up=11)
    muted = replace(muted, osds_down=("osd.7",))
    assert cluster.state_findings(muted) == (OSD_DOWN.found(osds=1, of=12, details=("osd.7",)),)


def test_pgs_whose_osds_are_gone_serve_nobody() -> None:
    """They are only remembered as active."""
    found = state("osd-down")
    stale = sum(count for name, count in found.pg_states.items() if "stale" in name)
    assert stale > 0
    assert found.inactive_pgs == stale


@pytest.mark.parametrize(
    ("name", "works"),
    [
        ("active+clean", True),
        ("active+clean+scrubbing+deep", True),
        ("active+recovery_wait+degraded", True),
        ("activating", False),
        ("undersized+degraded+peered", False),
        ("peering", False),
        ("unknown", False),
        ("down", False),
        ("incomplete", False),
        ("stale+active+clean", False),
        ("creating+peering", False),
    ],
)
def test_which_pgs_serve(name: str, works: bool) -> None:
    assert cluster.serves(name) == works


def test_what_a_clean_pg_does_besides_is_a_finding_of_its_own() -> None:
    states = {
        "active+clean": 5,
        "active+clean+scrubbing": 1,
        "active+clean+scrubbing+deep": 2,
        "active+clean+snaptrim": 1,
        "active+clean+snaptrim_wait": 4,
        "active+clean+inconsistent": 1,
        "active+clean+remapped": 1,
    }
    found = ClusterState("HEALTH_OK", pgs=15, pg_states=states)
    assert found.scrubbing_pgs == 3
    assert cluster.state_findings(found) == (
        PGS.found(pgs=1, of=15, details=("1 active+clean+remapped",)),
        SCRUB.found(pgs=3, of=15),
        SNAPTRIM.found(pgs=1, of=15),
    )


def test_the_rate_of_a_recovery_before_a_run_is_not_said_to_be_of_the_run() -> None:
    (found,) = cluster.state_findings(ClusterState("HEALTH_OK", recovery_bytes=64e6))
    assert found.code == "recovery"
    assert "run" not in found.text


def test_muted_checks_are_not_told() -> None:
    checks = (HealthCheck("A", "HEALTH_WARN", "one", 1, muted=True), HealthCheck("B", "HEALTH_WARN", "two", 1))
    (finding,) = cluster.state_findings(ClusterState("HEALTH_WARN", checks))
    assert (finding.code, finding.values) == ("health-speed", {"status": "HEALTH_WARN", "details": ("B (two)",)})


def test_health_errors_are_findings(golden: Golden) -> None:
    texts = {finding.code: finding.text for finding in cluster.state_findings(state("full"))}
    assert "OSD_FULL (3 full osd(s)), POOL_FULL (5 pool(s) full)" in texts["health-speed"]
    golden.same(texts["health-speed"])


def test_the_status_of_nautilus() -> None:
    text = json.dumps(
        {
            "fsid": "f",
            "health": {"checks": {"OSD_DOWN": {"severity": "HEALTH_WARN", "summary": {"message": "1 osds down"}}},
                       "status": "HEALTH_WARN"},
            "osdmap": {"osdmap": {"epoch": 1, "num_osds": 4, "num_up_osds": 3, "num_in_osds": 2, "full": False}},
            "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 8}], "num_pgs": 8},
        }
    )  # fmt: skip
    found = cluster.parse_status(text)
    assert (found.osds, found.osds_up, found.osds_in, found.pgs) == (4, 3, 2, 8)
    assert found.checks == (HealthCheck("OSD_DOWN", "HEALTH_WARN", "1 osds down", 1),)


def test_versions_are_counted() -> None:
    assert cluster.parse_versions(recorded("healthy/versions")) == {"16.2.15": 5}
    two = {"overall": {"ceph version 18.2.4 (x) reef (stable)": 3, "ceph version 18.2.4 (y) reef (stable)": 1,
                       "ceph version 19.2.0 (z) squid (stable)": 2}}  # fmt: skip
    assert cluster.parse_versions(json.dumps(two)) == {"18.2.4": 4, "19.2.0": 2}


def test_osd_options() -> None:
    assert cluster.parse_option(recorded("healthy/osd_op_queue")) == "wpq"
    assert cluster.parse_option(recorded("healthy/osd_mclock_profile")) == "high_client_ops"
    assert cluster.parse_option('"balanced"\n') == "balanced"
    for text in ("", "\n", "a\nb"):
        with pytest.raises(ValueError, match="unexpected answer"):
            cluster.parse_option(text)


def options(*rows: dict[str, Any]) -> config.ClusterConfig:
    return config.parse_config(json.dumps(rows))


def test_the_options_that_are_set_without_what_may_be_secret() -> None:
    assert config.parse_config(recorded("healthy/config-dump")) == config.ClusterConfig(
        {
            "mgr mgr/dashboard/GRAFANA_API_PASSWORD": "(not kept)",
            "osd osd_op_num_shards_hdd": "8",
            "osd/class:hdd osd_max_backfills": "2",
            "osd/host:lab1 osd_recovery_sleep": "0.500000",
            "client.rgw.lab1 rgw_keystone_admin_password": "(not kept)",
        }
    )
    assert options() == config.ClusterConfig({})


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("osd_memory_target", "4294967296", True),
        ("bluestore_rocksdb_options", "compression=kNoCompression,max_write_buffer_number=4", True),
        ("container_image", "quay.io/ceph/ceph@sha256:" + "0a" * 32, True),
        ("cluster_network", "10.1.0.0/24", True),
        ("rgw_frontends", "beast port=80", True),
        ("mgr/balancer/mode", "upmap", True),
        ("rgw_frontends", "beast ssl_port=443 ssl_private_key=config://rgw/cert/x", False),
        ("rgw_crypt_s3_kms_encryption_keys", "x", False),
        ("rgw_ldap_secret", "x", False),
        ("rgw_crypt_vault_token_file", "x", False),
        ("rgw_keystone_admin_password", "x", False),
        ("mgr/cephadm/registry_username", "x", False),
        ("mgr/dashboard/RGW_API_ACCESS_KEY", "x", False),
        ("mgr/telemetry/contact", "x", False),
        ("registry_url", "x", False),
        ("S3_CREDENTIAL", "x", False),
        ("some_url", "https://user:word@host/", False),
        ("some_text", "-----BEGIN PRIVATE KEY-----", False),
        ("some_text", "AQBwKARrAAAAABAAdHFmmSeA4qoIMBQWobKmog==", False),
        ("some_text", "x " * 295 + "AQBwKARrAAAAABAAdHFmmSeA4qoIMBQWobKmog==", False),
        ("some_text", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.x", False),
    ],
)
def test_which_values_are_kept(name: str, value: str, kept: bool) -> None:
    found = options({"section": "global", "name": name, "value": value, "mask": ""})
    assert found.options == {f"global {name}": value if kept else "(not kept)"}


def test_more_options_than_are_kept_are_counted() -> None:
    """Those of single OSDs, of which there are most, are the last."""
    own = [{"section": f"osd.{n}", "name": "osd_mclock_max_capacity_iops_hdd", "value": "300.1"} for n in range(4000)]
    found = options(*own, {"section": "osd", "name": "osd_max_backfills", "value": "3" * 10_000})
    assert (len(found.options), found.more) == (500, 3501)
    first, value = next(iter(found.options.items()))
    assert (first, len(value)) == ("osd osd_max_backfills", 600 + len("... (10000 characters)"))


def test_the_settings_of_a_pool_are_picked_by_name() -> None:
    found = osd_map().pools["recdata"].settings
    assert {"application": "rbd", "flags": "ec_overwrites,hashpspool", "fast_read": "false", "ec k": "2"}.items() <= (
        found.items()
    )
    assert not {"last_change", "snap_seq", "pg_num", "pg_placement_num"} & set(found)
    answer = json.loads(recorded("healthy/osd-map"))
    answer["pools"][-1]["options"] = {"compression_mode": "aggressive", "compression_required_ratio": 0.875}
    changed = pools.parse_osd_map(json.dumps(answer)).pools["recdata"].settings
    assert changed == {**found, "compression_mode": "aggressive", "compression_required_ratio": "0.875"}
    answer["pools"][-1]["options"] = {f"x{n}": "y" * 10_000 for n in range(10_000)}
    assert len(json.dumps(dict(pools.parse_osd_map(json.dumps(answer)).pools["recdata"].settings))) < 100_000


def test_the_steps_of_a_crush_rule() -> None:
    found = pools.parse_crush_rules(recorded("healthy/crush-rules"))
    assert found[0].steps == ("take default", "choose_firstn 0 osd", "emit")
    assert found[1].steps[:2] == ("set_chooseleaf_tries 5", "set_choose_tries 100")


# ---------------------------------------------------------------------------------------------- stopping a run


@pytest.mark.parametrize("name", ["nearfull", "backfillfull", "full", "quota-full", "paused", "slow"])
def test_what_stops_a_run(name: str, golden: Golden) -> None:
    reason = cluster.stop_reason(state("healthy"), state(name))
    golden.same(reason)
    assert cluster.stop_reason(state(name), state(name)) is None
    assert cluster.stop_reason(state(name), state("healthy")) is None


def test_a_quota_that_is_reached_is_told_as_such(golden: Golden) -> None:
    """With the pool, and what raises it; another pool's is nothing of the run."""
    found = osd_map("quota-full")
    (pool,) = [pool for pool in found.pools.values() if "full_quota" in pool.flags]
    command = f"ceph osd pool set-quota {pool.name} max_"
    reason = pool_guards.full_reason(["bench", pool.name], found)
    assert command in str(reason)
    golden.same(reason)
    assert pool_guards.full_reason(["bench", "gone"], found) is None
    by_space = replace(found, pools={pool.name: replace(pool, flags=frozenset({"full"}))})
    golden.same(pool_guards.full_reason([pool.name], by_space))


def test_osds_that_are_down_or_out_have_names() -> None:
    text = """{"nodes": [{"id": -1, "name": "default", "type": "root"}, {"id": -2, "name": "ceph", "type": "host"},
        {"id": 2, "name": "osd.2", "type": "osd", "status": "down"}], "stray": [{"name": "osd.7", "type": "osd"}]}"""
    assert cluster.parse_osds(text).names == ("osd.2", "osd.7")
    assert watch.CephWatch().feed(text) == [cluster.OsdNames(("osd.2", "osd.7"))]
    down = replace(state("osd-down"), osds_down=("osd.2",))
    assert OSD_DOWN.found(osds=1, of=3, details=("osd.2",)) in cluster.state_findings(down)


@pytest.mark.parametrize("name", ["healthy", "busy", "osd-out", "osd-down"])
def test_what_does_not_stop_a_run(name: str) -> None:
    assert cluster.stop_reason(state("healthy"), state(name)) is None


def complaining(code: str, message: str, count: int = 0) -> ClusterState:
    return ClusterState("HEALTH_WARN", (HealthCheck(code, "HEALTH_WARN", message, count),))


def test_one_more_nearly_full_osd_stops_and_one_less_does_not() -> None:
    one, two = (complaining("OSD_NEARFULL", f"{count} nearfull osd(s)", count) for count in (1, 2))
    assert cluster.stop_reason(one, two) is not None
    assert cluster.stop_reason(two, one) is None
    worse = complaining("OSD_BACKFILLFULL", "1 backfillfull osd(s)", 1)
    assert cluster.stop_reason(one, worse) is None


def test_slow_operations_stop_where_they_are_new() -> None:
    before = complaining("SLOW_OPS", "5 slow ops, oldest one blocked for 9 sec, osd.1 has slow ops")
    more = complaining("SLOW_OPS", "9 slow ops, oldest one blocked for 12 sec, osd.1 has slow ops")
    other = complaining("SLOW_OPS", "2 slow ops, oldest one blocked for 31 sec, daemons [osd.1,osd.12] have slow ops.")
    assert cluster.stop_reason(before, more) is None
    assert cluster.stop_reason(before, other) is not None
    assert cluster.stop_reason(other, before) is None


# ---------------------------------------------------------------------------------------------- what goes on


def test_osd_latency() -> None:
    latency = osd_latency(recorded("busy/osd-perf"))
    assert set(latency.seconds) == {0, 1, 2}
    assert latency.worst is not None
    assert 0.001 < latency.worst[1] < 1
    assert OsdLatency({}).worst is None
    old = {"osd_perf_infos": [{"id": 7, "perf_stats": {"commit_latency_ms": 12, "apply_latency_ms": 12}}]}
    assert osd_latency(json.dumps(old)).seconds == {7: 0.012}


def test_pool_rates() -> None:
    idle = rates.parse_pool_stats(recorded("healthy/pool-stats"), "rec")
    assert idle == PoolRates("rec")
    busy = rates.parse_pool_stats(recorded("busy/pool-stats"), "rec")
    assert busy.write_iops > 1000
    assert busy.iops == busy.read_iops + busy.write_iops
    assert rates.parse_pool_stats(recorded("osd-out/pool-stats"), "rec").recovery_bytes > 0
    with pytest.raises(ValueError, match="unexpected answer"):
        rates.parse_pool_stats(recorded("busy/pool-stats"), "another")


def seen(pieces: Sequence[str]) -> list[watch.Report]:
    reader = watch.CephWatch()
    return [answer for piece in pieces for answer in reader.feed(piece)]


def test_what_is_watched_comes_in_any_pieces() -> None:
    text = recorded("watch/admin")
    whole = seen([text])
    assert [type(answer) for answer in whole[:3]] == [ClusterState, OsdLatency, PoolRates]
    assert len(whole) > 12
    for size in (1, 7, 4096):
        assert seen([text[at : at + size] for at in range(0, len(text), size)]) == whole


def test_a_restricted_key_watches_the_state_alone() -> None:
    assert {type(answer) for answer in seen([recorded("watch/denied")])} == {ClusterState}


def test_other_lines_between_the_answers_are_dropped() -> None:
    text = recorded("healthy/status").strip()
    assert len(seen(["ceph> \n", text, "\nWARNING: something {\n[]\n3\n", text + "\n"])) == 2


@pytest.mark.parametrize(
    "flood", ["x" * 65536, "{" * 65536, '{"a": [' + "0," * 32000, "[" * 65536, '{"a\\n": 1}\n' * 3000, "{\n" * 9000]
)
def test_a_flood_is_neither_kept_nor_taken_for_an_answer(flood: str) -> None:
    reader = watch.CephWatch()
    for _ in range(200):
        assert reader.feed(flood) == []
        assert len(reader._rest) < 10 << 20
    text = recorded("healthy/status").strip()
    for _ in range(200):  # what begins like an answer keeps others away for a time
        if [type(answer) for answer in reader.feed(f"\n{text}\n" + "\n" * 65536)]:
            return
    raise AssertionError("no answer is seen after the flood")


def test_a_pool_that_ceph_can_not_read_is_not_watched() -> None:
    for name in ("a b", "a;b", "", "a\nosd down 1"):
        with pytest.raises(ValueError, match="can't handle such a name"):
            watch.watch_argv(name, 1)
    assert watch.watch_argv("rbd-hdd_1.x", 1.5)[-4:-2] == ("rbd-hdd_1.x", "1.5")
    assert watch.watch_argv("rbd", 2, [0, 12])[-1] == "[0, 12]"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs that stand in for Ceph's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def run(argv: Sequence[str], timeout: float = 20) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout, check=False)


def test_the_watch_ends_when_ceph_ends(programs: Path) -> None:
    program(programs, "ceph", 'for i in a b c d e; do read -r line; printf "%s/" "$line"; done; echo "$*"')
    program(programs, "python3", "exit 127")
    done = run(["bash", "-c", 'trap "" PIPE; exec "$@"', "x", *watch.watch_argv("rec", 0.1)])
    assert done.stdout == "osd tree down/osd tree out/status/osd perf/osd pool stats rec/-f json\n"
    assert done.stderr == ""


# ---------------------------------------------------------------------------------------------- pools


def test_pools() -> None:
    found = osd_map()
    assert set(found.pools) == {"device_health_metrics", "bench", "rec", "recquota", "recdata"}
    pool = found.pools["rec"]
    assert (pool.kind, pool.size, pool.min_size, pool.pg_num, pool.autoscale) == ("replicated", 2, 1, 16, "on")
    assert (pool.applications, pool.raw_per_byte, pool.ec_profile) == (("rbd",), 2, "")
    assert pool.text == "replicated x2, 16 PGs, autoscale on"
    erasure = found.pools["recdata"]
    assert (erasure.kind, erasure.size, erasure.data_chunks, erasure.ec_profile) == ("erasure", 3, 2, "rec-ec")
    assert erasure.raw_per_byte == 1.5
    assert erasure.text.startswith("EC 2+1, 16 PGs")
    assert "ec_overwrites" in erasure.flags
    assert found.nearfull_ratio == pytest.approx(0.85)
    assert found.full_ratio == pytest.approx(0.95)


def test_the_restricted_key_sees_the_same_pools() -> None:
    assert osd_map("denied") == osd_map()


def test_an_erasure_profile_that_is_gone_is_taken_from_the_pool() -> None:
    pool = {
        "pool_id": 4,
        "pool_name": "ec",
        "type": 3,
        "size": 6,
        "min_size": 5,
        "pg_num": 8,
        "erasure_code_profile": "x",
    }
    found = pools.parse_osd_map(json.dumps({"pools": [pool]})).pools["ec"]
    assert (found.id, found.data_chunks, found.autoscale, found.pg_num_target) == (4, 4, "unknown", 8)


def test_usage() -> None:
    found = pools.parse_usage(recorded("quota/usage"))
    assert found["recquota"].stored > 8 << 20
    assert found["rec"].max_avail < found["bench"].max_avail
    (osd, *_) = usage = pools.parse_osd_usage(recorded("healthy/osd-usage"))
    assert [one.id for one in usage] == [0, 1, 2]
    assert osd.total == 6 * GIB
    assert 0 < osd.used < osd.total


def test_an_osd_without_a_size_is_left_out() -> None:
    nodes = [
        {"id": 0, "type": "osd", "kb": 0, "kb_used": 0},
        {"id": 1, "kb": 4, "kb_used": 1},
        {"id": -1, "type": "host"},
    ]
    assert pools.parse_osd_usage(json.dumps({"nodes": nodes})) == (OsdUsage(1, 4096, 1024),)


TREE = {
    "nodes": [
        {"id": -1, "name": "default", "type": "root", "type_id": 11, "children": [-3, -2]},
        {"id": -2, "name": "pve1", "type": "host", "type_id": 1, "children": [1, 0]},
        {"id": 0, "device_class": "hdd", "name": "osd.0", "type": "osd", "type_id": 0, "status": "up"},
        {"id": 1, "device_class": "ssd", "name": "osd.1", "type": "osd", "type_id": 0, "status": "up"},
        {"id": -3, "name": "rack1", "type": "rack", "type_id": 3, "children": [-4]},
        {"id": -4, "name": "pve2", "type": "host", "type_id": 1, "children": [2]},
        {"id": 2, "device_class": "ssd", "name": "osd.2", "type": "osd", "type_id": 0, "status": "down"},
        {"id": -5, "name": "other", "type": "root", "type_id": 11, "children": [-6]},
        {"id": -6, "name": "pve9", "type": "host", "type_id": 1, "children": []},
    ],
    "stray": [],
}


@pytest.mark.parametrize(
    ("take", "hosts"),
    [
        ("default", {"pve1": 2, "pve2": 1}),
        ("default~ssd", {"pve1": 1, "pve2": 1}),
        ("default~hdd", {"pve1": 1}),
        ("rack1", {"pve2": 1}),
        ("other", {}),
        ("none", {}),
    ],
)
def test_the_hosts_of_what_a_rule_takes(take: str, hosts: dict[str, int]) -> None:
    assert crush_tree.parse_tree(json.dumps(TREE)).osds_by_host(take) == hosts


def test_a_tree_that_bites_its_tail_ends() -> None:
    nodes = [{"id": -1, "name": "a", "type": "root", "children": [-2]}, {"id": -2, "name": "b", "children": [-1, -2]}]
    assert crush_tree.parse_tree(json.dumps({"nodes": nodes})).osds_by_host("a") == {}


def test_whether_osds_have_a_network_of_their_own() -> None:
    def apart(*osds: dict[str, str]) -> bool | None:
        return pools.parse_osd_map(json.dumps({"pools": [], "osds": osds})).networks_apart

    assert osd_map().networks_apart is False
    first = {"public_addr": "10.0.0.1:6801/2", "cluster_addr": "10.0.0.1:6803/2"}
    assert apart(first, {"public_addr": "10.0.0.2:6801/2", "cluster_addr": "10.1.0.2:6803/2"}) is True
    assert apart(first, {"public_addr": ":/0", "cluster_addr": ":/0"}) is False
    assert apart({"public_addr": ":/0", "cluster_addr": ":/0"}) is None
    assert apart({"public_addr": "[fd00::1]:6801/2", "cluster_addr": "[fd00::1]:6803/2"}) is False


def test_pgs() -> None:
    found = pools.parse_pgs(recorded("healthy/pgs"))
    pool = osd_map().pools["rec"]
    ours = [pg for pg in found if pg.pool == pool.id]
    assert (len(found), len(ours)) == (81, 16)
    assert all(pg.state == "active+clean" and len(pg.osds) == 2 for pg in ours)
    old = [{"pgid": "7.1f", "state": "active", "up": [3, 2147483647, 1], "acting": [3]}]
    assert pools.parse_pgs(json.dumps(old)) == (Pg(7, "active", (3, 1)),)


def test_crush_rules(golden: Golden) -> None:
    rule = pools.parse_crush_rules(recorded("healthy/crush-rules"))[0]
    assert (rule.name, rule.takes, rule.failure_domain) == ("replicated_rule", ("default",), "osd")
    golden.same(rule.text)


# ---------------------------------------------------------------------------------------------- guards on a pool


def guard_pool(name: str, pool: str = "rec", *, writes: bool = True, pgs: bool = True) -> str | None:
    path = FOLDER / name
    map_of = osd_map(name) if (path / "osd-map.stdout").exists() else osd_map()
    listed = pools.parse_pgs(recorded(f"{name}/pgs")) if pgs and (path / "pgs.stdout").exists() else None
    found = pool_guards.guard_pool(pool, map_of, state(name), listed, writes=writes)
    assert found is None or found.confirm is None
    return found.text if found else None


def test_a_pool_in_order_may_be_used() -> None:
    for name in ("healthy", "nearfull", "backfillfull", "quota"):
        assert guard_pool(name) is None


def test_a_pool_that_is_not_there(golden: Golden) -> None:
    text = guard_pool("healthy", "none")
    assert "bench, device_health_metrics, rec, recdata, recquota" in str(text)
    golden.same(text)


def test_a_full_cluster_takes_no_writes(golden: Golden) -> None:
    golden.same(guard_pool("full"))
    assert guard_pool("full", writes=False) is None
    full = replace(osd_map(), flags=frozenset({"full"}))
    assert pool_guards.guard_pool("rec", full, state("healthy"), None, writes=True) is not None


def test_an_osd_that_is_full_makes_only_its_own_pools_full() -> None:
    """As Ceph itself has it: the pools of another class take writes."""
    pool = osd_map().pools["rec"]
    for flags, refused in ((frozenset[str](), None), (frozenset({"full"}), "pool rec is full")):
        found = OsdMap({"rec": replace(pool, flags=flags)})
        refusal = pool_guards.guard_pool("rec", found, state("full"), None, writes=True)
        assert (refusal and refusal.problem) == refused


def test_a_full_pool_takes_no_writes(golden: Golden) -> None:
    text = guard_pool("quota-full", "recquota")
    assert "ceph osd pool set-quota recquota max_bytes N" in str(text)
    golden.same(text)
    assert guard_pool("quota-full", "recquota", writes=False) is None
    assert guard_pool("quota-full", "rec") is None
    full = replace(osd_map("full").pools["rec"])
    found = pool_guards.guard_pool("rec", OsdMap({"rec": full}), state("healthy"), None, writes=True)
    assert found is not None
    golden.same(found.problem)


def test_a_paused_cluster_would_hang(golden: Golden) -> None:
    for writes in (True, False):
        found = guard_pool("paused", writes=writes)
        golden.same(found)


def test_inactive_pgs_of_the_pool_refuse(golden: Golden) -> None:
    found = guard_pool("osd-down", "bench", writes=False)
    assert "stale+active+clean" in str(found)
    golden.same(found)


def test_inactive_pgs_of_other_pools_do_not() -> None:
    assert guard_pool("osd-down", "rec") is None


def test_inactive_pgs_that_may_be_anybodys_refuse(golden: Golden) -> None:
    golden.same(guard_pool("osd-down", "rec", pgs=False))


@pytest.mark.parametrize(
    ("pg_states", "passes"),
    [
        (["peering"], True),
        (["remapped+peering", "activating+undersized+degraded", "creating+peering", "unknown"], True),
        (["peering", "down+peering"], False),
        (["incomplete"], False),
        (["stale+peering"], False),
        (["undersized+degraded+peered"], False),
    ],
)
def test_pgs_that_will_serve_pass(pg_states: list[str], passes: bool) -> None:
    """``peered`` is what has too few replicas for its min_size: it stays so."""
    now = replace(state("healthy"), pg_states={"active+clean": 4, **dict.fromkeys(pg_states, 1)})
    of_all = pool_guards.guard_all_pgs(now, "all are needed")
    pgs = [Pg(1, each) for each in now.pg_states]
    of_pool = pool_guards.guard_pool("rbd", OsdMap({"rbd": POOL}), now, pgs, writes=True)
    assert of_all is not None
    assert of_pool is not None
    assert (of_all.passes, of_pool.passes) == (passes, passes)


POOL = Pool(1, "rbd", size=3, pg_num=4)


def space(free: int = 100, stored: int = 0, quota: int = 0, used: int = 10, **more: Any) -> Space:
    """Three OSDs of 100 GiB with as many used; each of four PGs is on all three. All in GiB."""
    pool = replace(POOL, quota_bytes=quota * GIB)
    osds = tuple(OsdUsage(number, 100 * GIB, used * GIB) for number in range(3))
    pgs = tuple(Pg(1, "active+clean", (0, 1, 2)) for _ in range(4))
    values: dict[str, Any] = {"osds": osds, "pgs": pgs, **more}
    return Space(pool, PoolUsage(stored * GIB, free * GIB), **values)


def test_a_run_may_use_four_fifths_of_what_is_free(golden: Golden) -> None:
    assert pool_guards.room(space(free=50)) == 40 * GIB
    assert pool_guards.guard_space(space(free=50), 40 * GIB) is None
    found = pool_guards.guard_space(space(free=50), 40 * GIB + 1)
    assert found is not None
    golden.same(found.text)


def test_a_quota_bounds_it_too(golden: Golden) -> None:
    found = space(free=50, stored=10, quota=20)
    assert pool_guards.room(found) == 8 * GIB
    assert pool_guards.guard_space(found, 8 * GIB) is None
    refused = pool_guards.guard_space(found, 9 * GIB)
    assert refused is not None
    assert "10.0 GiB" in refused.text
    golden.same(refused.text)
    assert pool_guards.room(space(free=50, stored=30, quota=20)) == 0


def test_no_osd_may_get_nearly_full() -> None:
    """Of each byte every OSD gets one."""
    assert pool_guards.guard_space(space(used=10), 75 * GIB) is None
    found = pool_guards.guard_space(space(used=10), 76 * GIB)
    assert found is not None
    assert found.problem == (
        "76.0 GiB in pool rbd (replicated x3, 4 PGs, autoscale unknown) would fill osd.0 from 10.0 % to 86.0 %, "
        "above nearfull (85.0 %)"
    )


def test_an_osd_gets_as_much_as_it_has_pgs() -> None:
    pgs = (*(Pg(1, "active+clean", (0, 1)) for _ in range(3)), Pg(1, "active+clean", (1, 2)), Pg(2, "x", (2, 2, 2)))
    found = replace(space(used=50), pgs=pgs, pool=replace(POOL, size=2))
    assert pool_guards.guard_space(found, 35 * GIB) is None
    refused = pool_guards.guard_space(found, 36 * GIB)
    assert refused is not None
    assert "osd.1 from 50.0 % to 86.0 %" in refused.text


def test_an_osd_of_another_pool_may_be_as_full_as_it_is() -> None:
    osds = (*known(space().osds), OsdUsage(9, 100 * GIB, 99 * GIB))
    assert pool_guards.guard_space(space(osds=osds), GIB) is None


def test_what_may_not_be_asked_is_a_finding(golden: Golden) -> None:
    assert pool_guards.space_findings(space()) == ()
    (finding,) = pool_guards.space_findings(space(osds=None))
    golden.same(finding.text)
    assert pool_guards.guard_space(space(osds=None, pgs=None), 79 * GIB) is None
    unknown = Space(POOL, None)
    assert (pool_guards.room(unknown), pool_guards.guard_space(unknown, 1 << 60)) == (None, None)
    golden.same(pool_guards.space_findings(unknown)[0].text)


def test_the_lab_has_room() -> None:
    usage = pools.parse_usage(recorded("healthy/usage"))
    found = Space(
        osd_map().pools["rec"],
        usage["rec"],
        osd_map().nearfull_ratio,
        pools.parse_osd_usage(recorded("healthy/osd-usage")),
        pools.parse_pgs(recorded("healthy/pgs")),
    )
    assert pool_guards.guard_space(found, GIB) is None
    assert pool_guards.guard_space(found, usage["rec"].max_avail) is not None
    refused = pool_guards.guard_space(replace(found, nearfull_ratio=0.3), 5 * GIB // 2)
    assert refused is not None
    assert "would fill osd." in refused.text


def test_autoscaling_is_a_finding() -> None:
    assert [one.code for one in pool_guards.pool_findings(osd_map().pools["rec"])] == ["autoscale"]
    assert pool_guards.pool_findings(osd_map().pools["bench"]) == ()
    (finding,) = pool_guards.pool_findings(replace(POOL, pg_num=16, pg_num_target=64))
    assert finding == PGS_SPLIT.found(pool="rbd", before=16, after=64)


def activity(images: ImagesInUse | None = None, rates: PoolRates | None = None) -> PoolActivity:
    return pool_guards.activity_of("rbd", images, rates)


NOBODY = activity(ImagesInUse(0, 10, 10), PoolRates("rbd"))
GUESTS = activity(ImagesInUse(3, 10, 10), PoolRates("rbd", write_iops=1200.0))


@pytest.mark.parametrize(
    ("found", "writes", "nodes", "agreed", "asks"),
    [
        (NOBODY, True, 3, False, False),
        (GUESTS, False, 1, False, False),
        (GUESTS, True, 1, False, True),
        (GUESTS, False, 2, False, True),
        (GUESTS, True, 3, True, False),
        (activity(None, None), True, 3, False, False),
        (activity(ImagesInUse(0, 10, 10), PoolRates("rbd", read_iops=1)), True, 1, False, True),
        (activity(ImagesInUse(1, 10, 10), None), True, 1, False, True),
        (activity(ImagesInUse(0, 200, 500), None), True, 1, False, True),
    ],
)
def test_a_pool_that_others_use_is_asked_for(
    found: PoolActivity, writes: bool, nodes: int, agreed: bool, asks: bool
) -> None:
    refusal = pool_guards.guard_busy_pool(found, writes=writes, nodes=nodes, agreed=agreed)
    assert (refusal is not None) == asks
    if refusal:
        assert (refusal.confirm, refusal.confirm_kind) == ("rbd", "shared-pool")
        assert "--shared-pool" in refusal.text
        assert found.text in refusal.text


def test_who_uses_a_pool_is_told(golden: Golden) -> None:
    golden.same(GUESTS.text)
    golden.same(activity().text)
    some = activity(ImagesInUse(4, 200, 500))
    golden.same(some.text)
    after = pool_guards.activity_of("rbd", ImagesInUse(3, 10, 10), None, own_load=True)
    golden.same(after.text)


def test_images_on_erasure_coded_pools_need_another_for_themselves(golden: Golden) -> None:
    found = osd_map().pools
    assert pool_guards.guard_image_pool(found["rec"], None) is None
    assert pool_guards.guard_image_pool(found["rec"], found["recdata"]) is None
    refused = pool_guards.guard_image_pool(found["recdata"], None)
    assert refused is not None
    golden.same(refused.text)
    plain = replace(found["recdata"], flags=frozenset())
    refused = pool_guards.guard_image_pool(found["rec"], plain)
    assert refused is not None
    assert "allow_ec_overwrites" in refused.text


# ---------------------------------------------------------------------------------------------- images


def facts_of(name: str) -> ImageFacts:
    return ImageFacts(
        info=images.parse_info(recorded(f"images/{name}.info"), "rec"),
        use=images.parse_image_use(recorded(f"images/{name}.status")),
        snapshots=images.parse_snapshots(recorded(f"images/{name}.snapshots")),
        children=images.parse_children(recorded(f"images/{name}.children")),
    )


def guard_image(facts: ImageFacts, *destroy: str, span: int = 1 << 20, **more: Any) -> str | None:
    found = images.guard_image(facts, span, destroy, **more)
    return found.text if found else None


def test_what_an_image_is() -> None:
    info = facts_of("plain").info
    assert (info.spec, info.size, info.object_size, info.data_pool) == ("rec/plain", GIB, 4 << 20, None)
    assert "exclusive-lock" in info.features
    assert info.mirroring is None
    assert facts_of("ec").info.data_pool == "recdata"
    assert facts_of("child").info.parent == "rec/parent@base"


def test_an_image_is_given_up_by_its_name(golden: Golden) -> None:
    facts = facts_of("plain")
    found = images.guard_image(facts, 1 << 20, ())
    assert found is not None
    assert (found.confirm, found.confirm_kind) == ("plain", "destroy")
    golden.same(found.text)
    assert guard_image(facts, "plain") is None
    assert guard_image(facts, "rec/plain") is None
    assert guard_image(facts, is_own=True) is None
    for other in ("", "rec", "Plain", "other/plain", "*"):
        assert guard_image(facts, other) == found.text


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("snapped", "before"),
        ("parent", "rec/child"),
        ("gone", "rec/orphan"),
        ("journal", "journal"),
        ("mirrored", "snapshot"),
        ("moved", "rec/moved"),
    ],
)
def test_an_image_that_somebody_relies_on_is_refused_whatever_is_typed(name: str, who: str, golden: Golden) -> None:
    facts = facts_of(name)
    found = images.guard_image(facts, 1 << 20, (name, f"rec/{name}"), is_own=True)
    assert found is not None
    assert who in found.problem
    golden.same(found.problem)
    assert found.confirm is None


def test_clones_show_as_snapshots_even_when_the_snapshot_was_removed() -> None:
    facts = facts_of("gone")
    assert facts.snapshots == ("x",)
    assert guard_image(replace(facts, children=()), "gone") is not None


def test_a_clone_may_be_given_up() -> None:
    assert guard_image(facts_of("child"), "child") is None


def test_a_watched_image_is_refused(golden: Golden) -> None:
    use = images.parse_image_use(recorded("busy/plain.status"))
    (watcher,) = use.watchers
    assert watcher.address.startswith("10.77.0.")
    found = guard_image(replace(facts_of("plain"), use=use), "plain", is_own=True)
    golden.same(found)


def test_the_nodes_own_mapping_is_no_other_user() -> None:
    mapped = Watcher("10.0.0.1:0/1", 4711)
    facts = replace(facts_of("plain"), use=ImageUse((mapped,)))
    assert guard_image(facts, "plain", own_clients=frozenset({4711})) is None
    assert guard_image(facts, "plain", own_clients=frozenset({4712})) is not None
    two = replace(facts, use=ImageUse((mapped, Watcher("10.0.0.2:0/1", 5))))
    assert guard_image(two, "plain", own_clients=frozenset({4711})) is not None
    unnamed = replace(facts, use=ImageUse((Watcher("10.0.0.1:0/1"),)))
    assert guard_image(unnamed, "plain", own_clients=frozenset({4711})) is not None


@pytest.mark.parametrize("name", ["vm-100-disk-0", "base-9000-disk-0", "vm-100-state-x", "vm-x"])
def test_guests_disks_are_refused_by_their_name(name: str, golden: Golden) -> None:
    facts = replace(facts_of("plain"), info=replace(facts_of("plain").info, name=name))
    found = images.guard_image(facts, 1, (name,), is_own=True)
    assert found is not None
    golden.same(found.problem)
    assert found.confirm is None


def test_images_that_guests_name_are_refused(golden: Golden) -> None:
    facts = replace(facts_of("plain"), references=("/etc/pve/qemu-server/100.conf",))
    golden.same(guard_image(facts, "plain"))


def test_what_is_not_known_is_refused(golden: Golden) -> None:
    facts = facts_of("plain")
    for unknown in (
        replace(facts, use=None),
        replace(facts, snapshots=None),
        replace(facts, unreadable=("/etc/pve/qemu-server/1.conf",)),
    ):
        found = images.guard_image(unknown, 1, ("plain",), is_own=True)
        assert found is not None
        golden.same(found.problem)
        assert found.confirm is None


def test_an_image_that_is_too_small(golden: Golden) -> None:
    assert guard_image(facts_of("plain"), "plain", span=GIB) is None
    golden.same(guard_image(facts_of("plain"), "plain", span=GIB + 1))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((text, None) for text in ("", "[1]", "3", "3 3", "-1 0 0", "1e9 0 0", f"{'9' * 20} 0 0", "1 2 x")),
        ("67108864 0 0\n", 67108864),
        ("67108864 4194304 4194304", 67108864),
        ("67108864 1048576 4194304", 16777216),
        ("8 9 4", 8),
    ],
)
def test_what_was_written_is_a_number_of_bytes(text: str, written: int | None) -> None:
    if written is None:
        with pytest.raises(ValueError, match=r"^unexpected answer"):
            images.parse_written(text)
    else:
        assert images.parse_written(text) == written


def test_an_image_that_has_an_object_map_or_few_objects_tells_them() -> None:
    with_map = facts_of("plain").info
    assert with_map.tells_objects
    large = replace(with_map, size=1 << 40)
    assert large.tells_objects
    assert not replace(large, features=("layering",)).tells_objects
    assert not replace(large, flags=("object map invalid", "fast diff invalid")).tells_objects
    assert replace(with_map, features=("layering",)).tells_objects


DIFF = """\
echo 'Offset    Length   Type'
echo '0         4194304  data'
echo '4194304   4194304  data'
echo '8388608   4194304  zero'
echo '12582912  4194304  data'
echo 'warning: fast-diff map is not enabled for x. operation may be slow.' >&2
"""
"""What rbd 16.2.15 prints of ``rbd diff --whole-object``."""
UNKNOWN = "echo 'mapext error: (95) Operation not supported' >&2; exit 1"


def image_of(mib: int, prefix: str = "rbd_data.1") -> ImageInfo:
    return ImageInfo("bench", "x", size=mib << 20, object_size=4 << 20, prefix=prefix)


def written(mib: int = 16, span: int = 16) -> int:
    return images.parse_written(
        run(images.written_argv([image_of(mib), image_of(mib, "rbd_data.2")], span << 20)).stdout
    )


@pytest.mark.parametrize(("span", "mib"), [(4, 4), (6, 6), (10, 8), (16, 12)])
def test_of_the_span_alone_it_is_asked_what_was_written(programs: Path, span: int, mib: int) -> None:
    program(programs, "rbd", DIFF)
    program(programs, "rados", UNKNOWN)
    assert written(span=span) == mib << 20


def test_objects_that_were_written_in_part_are_looked_into(programs: Path) -> None:
    """As ``rados mapext`` prints it, in hexadecimal; the last object of the image has half its size, and the second is
    that of the image that it is a clone of."""
    program(programs, "rbd", DIFF)
    program(
        programs,
        "rados",
        """case $4 in
        rbd_data.1.0000000000000000) printf '0\\t200000\\n300000\\t80000\\n';;
        rbd_data.2.0000000000000001) printf '0\\t400000\\n';;
        rbd_data.1.0000000000000003) printf '0\\t200000\\n';;
        *) exit 2; esac""",
    )
    assert written(mib=14, span=14) == round((10 << 20) * (2.5 + 4 + 2) / 10)
    assert written(mib=14, span=1) == 1 << 20, "of the span alone"
    assert written(mib=14, span=3) == 2 << 20


def test_of_many_objects_some_are_looked_into(programs: Path, tmp_path: Path) -> None:
    program(programs, "rbd", "for i in $(seq 0 999); do echo $(( i * 4194304 )) 4194304 data; done")
    program(programs, "rados", f"echo $4 >> {tmp_path}/asked; printf '0\\t100000\\n'")
    assert written(mib=4000, span=4000) == 1000 << 20
    asked = {int(line.rpartition(".")[2], 16) for line in (tmp_path / "asked").read_text().splitlines()}
    assert len(asked) == 16
    assert max(asked) - min(asked) > 900


def test_an_image_without_any_object_was_never_written(programs: Path) -> None:
    program(programs, "rbd", "exit 0")
    program(programs, "rados", UNKNOWN)
    assert written() == 0


def test_an_image_that_can_not_be_asked_is_not_taken_for_empty(programs: Path) -> None:
    program(programs, "rbd", "exit 2")
    assert run(images.written_argv([image_of(16)], 1 << 20)).returncode == 1


def test_images_of_other_releases() -> None:
    nautilus = {"name": "x", "id": "1", "size": 8, "order": 22, "features": ["layering"],
                "mirroring": {"state": "enabled", "global_id": "g", "primary": True}}  # fmt: skip
    info = images.parse_info(json.dumps(nautilus), "p")
    assert (info.mirroring, info.object_size) == ("journal", 4 << 20)
    off = {**nautilus, "mirroring": {"state": "disabled"}}
    assert images.parse_info(json.dumps(off), "p").mirroring is None
    parent = {**nautilus, "parent": {"pool": "p", "pool_namespace": "n", "image": "i", "snapshot": "s"}}
    assert images.parse_info(json.dumps(parent), "p").parent == "p/n/i@s"
    old = {"watchers": {"watcher": {"address": "1.2.3.4:0/5", "client": 6, "cookie": 7}}}
    assert images.parse_image_use(json.dumps(old)).watchers == (Watcher("1.2.3.4:0/5", 6),)


def test_any_name_is_one_argument() -> None:
    assert images.info_argv("a/b", "-x @y")[2:6] == ("--pool", "a/b", "--image", "-x @y")
    assert ImageInfo("a", "b").spec == "a/b"


# ---------------------------------------------------------------------------------------------- images in use


@pytest.mark.parametrize(("name", "used"), [("healthy", 0), ("busy", 1), ("busy-denied", 1), ("osd-down", 0)])
def test_images_in_use(name: str, used: int) -> None:
    found = in_use.parse_in_use(recorded(f"{name}/in-use"))
    assert (found.count, found.complete, found.images) == (used, True, found.inspected)
    assert found.images == 10


RADOS = r"""
case $* in
    *listomapkeys*) for i in $(seq 1 IMAGES); do echo "id_a$i"; echo "name_vm-$i"; done;;
    *'listwatchers rbd_header.a'[12]) echo 'watcher=10.0.0.1:0/1 client.1 cookie=1';;
    *listwatchers*) sleep PAUSE;;
esac
"""
TELL = r"""
echo 'osd.0: [{"object":"rbd_header.a1"},{"object":"rbd_header.a1"},{"object":"rbd_header.b7"}]'
echo 'osd.1: [{"object":"rbd_header.a3"},{"object":"rbd_mirroring"},{"object":"rbd_header.a33"}]'
exit STATUS
"""


def stand_in(folder: Path, images: int, pause: float = 0, status: int = 0, asked: str = "python3") -> None:
    program(folder, "rados", RADOS.replace("IMAGES", str(images)).replace("PAUSE", str(pause)))
    program(folder, asked, TELL.replace("STATUS", str(status)))
    if asked != "python3":
        program(folder, "python3", "exit 127")


@pytest.mark.parametrize("asked", ["python3", "ceph"])
@pytest.mark.parametrize("status", [0, 6])
def test_the_osds_tell_of_all_watchers(programs: Path, status: int, asked: str) -> None:
    """6 where one of them is down."""
    stand_in(programs, 5, status=status, asked=asked)
    done = run(in_use.in_use_argv("rbd", seconds=300))
    assert in_use.parse_in_use(done.stdout) == ImagesInUse(2, 5, 5)


def test_without_the_osds_every_image_is_asked(programs: Path) -> None:
    stand_in(programs, 9, status=13)
    done = run(in_use.in_use_argv("rbd", seconds=300))
    assert in_use.parse_in_use(done.stdout) == ImagesInUse(2, 9, 9)


def test_not_more_images_are_asked_than_allowed(programs: Path, golden: Golden) -> None:
    stand_in(programs, 9, status=13)
    found = in_use.parse_in_use(run(in_use.in_use_argv("rbd", most=4, seconds=300)).stdout)
    assert found == ImagesInUse(2, 4, 9)
    golden.same(found.text)


def test_no_longer_than_allowed(programs: Path) -> None:
    stand_in(programs, 100, pause=2, status=13)
    found = in_use.parse_in_use(run(in_use.in_use_argv("rbd", seconds=2)).stdout)
    assert found.inspected < 50
    assert (found.images, found.complete) == (100, False)


@pytest.mark.parametrize("images", [0, 1])
def test_few_images(programs: Path, images: int) -> None:
    stand_in(programs, images)
    assert in_use.parse_in_use(run(in_use.in_use_argv("rbd", seconds=300)).stdout) == ImagesInUse(
        images, images, images
    )


def test_a_pool_that_never_had_an_image(programs: Path) -> None:
    message = "error getting omap key set noinit/rbd_directory: (2) No such file or directory"
    program(programs, "rados", f'echo "{message}" >&2; exit 1')
    assert in_use.parse_in_use(run(in_use.in_use_argv("noinit")).stdout) == ImagesInUse(0, 0, 0)


def test_a_pool_that_may_not_be_looked_at(programs: Path) -> None:
    program(
        programs, "rados", 'echo "error getting omap key set p/rbd_directory: (1) Operation not permitted" >&2; exit 1'
    )
    done = run(in_use.in_use_argv("p"))
    assert done.stdout == ""
    assert answers.is_denied(done.returncode, done.stderr)


# ---------------------------------------------------------------------------------------------- Proxmox VE


STORAGE_CFG = """\
dir: local
\tpath /var/lib/vz
\tcontent iso,backup

rbd: ceph-vm
\tcontent images,rootdir
\tkrbd 1
\tpool vms

rbd: outside
        content images
        data-pool ecdata
        monhost 10.1.1.1;10.1.1.2, 10.1.1.3
        namespace tenant
        pool far
        username bench

rbd: off
\tdisable
\tpool old

cephfs: fs
\tmonhost 10.1.1.9
"""


def test_storages() -> None:
    near, far = proxmox.parse_storage_cfg(STORAGE_CFG)
    assert (near.name, near.pool, near.krbd, near.monhost, near.username) == ("ceph-vm", "vms", True, (), "admin")
    assert (near.conf, near.keyring) == ("/etc/pve/ceph.conf", "/etc/pve/priv/ceph.client.admin.keyring")
    assert (far.pool, far.data_pool, far.namespace, far.username) == ("far", "ecdata", "tenant", "bench")
    assert far.monhost == ("10.1.1.1", "10.1.1.2", "10.1.1.3")
    assert (far.conf, far.keyring) == ("/etc/pve/priv/ceph/outside.conf", "/etc/pve/priv/ceph/outside.keyring")
    assert proxmox.storage_of((near, far), "ecdata") == ("outside",)
    assert proxmox.parse_storage_cfg("") == ()


@given(st.text())
def test_any_text_is_a_storage_cfg(text: str) -> None:
    proxmox.parse_storage_cfg(text)


def put(root: Path, *names: str, text: str = "x\n") -> None:
    for name in names:
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def access(root: Path) -> proxmox.CephAccess:
    done = run(proxmox.access_argv(str(root)))
    assert (done.returncode, done.stderr) == (0, "")
    return proxmox.parse_access(done.stdout)


def test_a_node_without_ceph(tmp_path: Path) -> None:
    found = access(tmp_path)
    assert (found.files, found.unreadable, found.storages) == ((), (), ())
    assert proxmox.found_access(found) == ()


def test_the_access_that_a_proxmox_node_has(tmp_path: Path, programs: Path) -> None:
    for name in ("ceph", "rbd"):
        program(programs, name, "")
    put(tmp_path, "/etc/pve/ceph.conf", "/etc/pve/priv/ceph.client.admin.keyring", "/etc/pve/priv/ceph/outside.keyring")
    put(tmp_path, "/etc/pve/storage.cfg", text=STORAGE_CFG)
    (tmp_path / "etc/ceph").mkdir()
    (tmp_path / "etc/ceph/ceph.conf").symlink_to(tmp_path / "etc/pve/ceph.conf")
    found = access(tmp_path)
    assert {"ceph", "rbd"} <= set(found.programs)
    assert [storage.name for storage in found.storages] == ["ceph-vm", "outside"]
    admin = "/etc/pve/priv/ceph.client.admin.keyring"
    assert proxmox.found_access(found) == (
        proxmox.FoundAccess("/etc/ceph", "/etc/ceph/ceph.conf", admin),
        proxmox.FoundAccess("/etc/pve", "/etc/pve/ceph.conf", admin),
        proxmox.FoundAccess(
            "outside", None, "/etc/pve/priv/ceph/outside.keyring", "bench", ("10.1.1.1", "10.1.1.2", "10.1.1.3")
        ),
    )


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_storages_are_read_of_a_regular_file_alone(tmp_path: Path, make: Callable[[Path], object]) -> None:
    (tmp_path / "etc/pve").mkdir(parents=True)
    make(tmp_path / "etc/pve/storage.cfg")
    assert access(tmp_path).unreadable == ("/etc/pve/storage.cfg",)


def test_an_answer_about_access_that_was_cut_off() -> None:
    for text in ("", "file\t/etc/ceph/ceph.conf\n", "bash: not found\n"):
        with pytest.raises(ValueError, match="unexpected answer"):
            proxmox.parse_access(text)
        with pytest.raises(ValueError, match="unexpected answer"):
            proxmox.parse_references(text, "x")


def references(root: Path, image: str) -> proxmox.References:
    done = run(proxmox.references_argv(image, str(root)))
    assert (done.returncode, done.stderr) == (0, "")
    return proxmox.parse_references(done.stdout, image)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("scsi0: ceph-vm:bench,size=32G", True),
        ("unused0: ceph-vm:bench", True),
        ("scsi0: ceph-vm:base-9-disk-0/bench,discard=on", True),
        ("mp0: /dev/rbd/vms/bench,mp=/mnt", True),
        ("args: -drive file=rbd:vms/bench,if=none", True),
        ("args: -drive 'file=rbd:vms/bench'", True),
        ("scsi1: /dev/rbd/vms/bench@snap", True),
        ("name: bench", False),
        ("scsi0: ceph-vm:bench2,size=32G", False),
        ("scsi0: ceph-vm:my-bench", False),
        ("scsi0: ceph-vm:xbench,size=1G", False),
    ],
)
def test_guests_that_name_an_image(tmp_path: Path, line: str, named: bool) -> None:
    put(tmp_path, "nodes/pve2/lxc/7.conf", text=f"arch: amd64\n{line}\n")
    found = references(tmp_path, "bench")
    assert found.files == ((f"{tmp_path}/nodes/pve2/lxc/7.conf",) if named else ())
    assert found.unreadable == ()


def test_every_guest_on_every_node_is_looked_at(tmp_path: Path) -> None:
    names = ("qemu-server/1.conf", "lxc/2.conf", "nodes/a/qemu-server/3.conf", "nodes/b/lxc/4.conf")
    put(tmp_path, *names, text="scsi0: s:a.b+c\nscsi1: s:a.b+c")
    put(tmp_path, "nodes/b/lxc/5.conf", text="scsi0: s:axb+c")
    assert references(tmp_path, "a.b+c").files == tuple(f"{tmp_path}/{name}" for name in names)


def test_a_node_without_proxmox_has_no_guests(tmp_path: Path) -> None:
    assert references(tmp_path / "none", "x") == proxmox.References()
