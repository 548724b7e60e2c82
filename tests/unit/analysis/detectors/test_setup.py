"""What of a cluster's set-up makes a pool slow: mClock's capacities, device classes, OSDs that have no PGs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cephtui.analysis.detectors.setup import setup_findings
from cephtui.ceph import osd_options, osd_pings
from cephtui.models import ClusterEnvironment, OsdOption, OsdPing

SSD = "osd_mclock_max_capacity_iops_ssd"
HDD = "osd_mclock_max_capacity_iops_hdd"
MCLOCK: dict[str, Any] = {"osd_op_queue": "mclock_scheduler"}


def cluster(osds: int = 4, device_class: str = "ssd", **fields: Any) -> ClusterEnvironment:
    usual: dict[str, Any] = {
        "pool": {"name": "vms", "size": 3},
        "pgs_by_osd": {str(osd): 32 for osd in range(osds)},
        "class_by_osd": {str(osd): device_class for osd in range(osds)},
        "osds_by_host": {f"pve{osd}": 1 for osd in range(osds)},
        "osds": osds,
        "osd_op_queue": "wpq",
        "config": {},
    }
    return ClusterEnvironment(**{**usual, **fields})


def texts(of: ClusterEnvironment) -> list[str]:
    return [finding.text for finding in setup_findings(of)]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (cluster(**MCLOCK), []),
        (cluster(**MCLOCK, config=None), []),
        (cluster(config={f"osd.1 {SSD}": "10"}), []),
        (
            cluster(**MCLOCK, config={f"osd.1 {SSD}": "10"}),
            [f"mClock assumes 10 IOPS for osd.1 ({SSD}), 21.5k for the other OSDs"],
        ),
        (
            cluster(**MCLOCK, config={f"osd.{osd} {SSD}": str(iops) for osd, iops in enumerate((9e3, 8e3, 2e3, 7e3))}),
            [f"mClock assumes 2.00k IOPS for osd.2 ({SSD}), 8.00k for the other OSDs"],
        ),
        (
            cluster(**MCLOCK, config={f"osd.{osd} {SSD}": str(iops) for osd, iops in enumerate((9e3, 8e3, 4e3, 7e3))}),
            [],
        ),
        (cluster(**MCLOCK, config={f"osd {SSD}": "10"}), [f"mClock assumes 10 IOPS for osd.0, osd.1, osd.2 and 1 more "
                                                          f"({SSD}), the default is 21.5k"]),
        (cluster(**MCLOCK, config={f"osd {SSD}": "10", **{f"osd.{osd} {SSD}": "9000" for osd in range(4)}}), []),
        (cluster(2, **MCLOCK, config={f"osd.0 {SSD}": "3000"}), []),
        (cluster(2, **MCLOCK, config={f"osd.0 {SSD}": "?"}), []),
        (cluster(device_class="hdd", **MCLOCK, config={f"osd.0 {SSD}": "10"}), []),
        (
            cluster(device_class="hdd", **MCLOCK, config={f"osd.0 {HDD}": "12.5", f"osd/class:hdd {HDD}": "400"}),
            [f"mClock assumes 12.5 IOPS for osd.0 ({HDD}), 400 for the other OSDs"],
        ),
    ],
)  # fmt: skip
def test_an_osd_of_which_mclock_expects_too_little(of: ClusterEnvironment, said: list[str]) -> None:
    assert texts(of) == said


def test_a_pool_on_disks_of_several_classes() -> None:
    mixed = cluster(class_by_osd={"0": "ssd", "1": "hdd", "2": "hdd", "3": "hdd"})
    assert texts(mixed) == ["pool vms uses OSDs of several device classes: 3 hdd, 1 ssd"]
    assert texts(cluster(class_by_osd={})) == []


@pytest.mark.parametrize(
    ("osds", "of", "size", "is_said"),
    [(1, 3, 1, True), (3, 12, 3, True), (6, 12, 3, True), (7, 12, 3, False), (2, 3, 2, True), (3, 3, 3, False)],
)
def test_a_pool_that_lies_on_few_of_its_osds(osds: int, of: int, size: int, is_said: bool) -> None:
    few = cluster(osds, pool={"name": "vms", "size": size}, osds_by_host={"pve1": of})
    said = [f"pool vms uses only {osds} of the {of} OSDs that its CRUSH rule allows"]
    assert texts(few) == (said if is_said else [])


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"osd debug_osd": "20/20", "osd.3 debug_bluestore": "10"}, "osd debug_osd 20/20, osd.3 debug_bluestore 10"),
        ({"osd/class:hdd debug_bdev": "15/20"}, "osd/class:hdd debug_bdev 15/20"),
        ({"client debug_rbd": "20", "osd debug_ms": "1/5"}, "client debug_rbd 20"),
        ({"global debug_osd": "5/20", "mon debug_mon": "20", "osd osd_debug_pg_log_writeout": "true"}, ""),
        ({"osd debug_osd": "", "osd debug_ms": "all"}, ""),
    ],
)
def test_debug_levels_that_cost_time(config: dict[str, str], said: str) -> None:
    assert texts(cluster(config=config)) == ([f"high debug levels are set: {said}"] if said else [])


def test_a_pool_most_of_whose_osds_are_never_a_primary() -> None:
    assert texts(cluster(4, primaries=2)) == ["only 2 of the 4 OSDs of pool vms are primaries of its PGs"]
    assert texts(cluster(3, primaries=1)) == ["only 1 of the 3 OSDs of pool vms is the primary of its PGs"]
    assert texts(cluster(3, primaries=2)) == texts(cluster(1, primaries=1)) == []


def option(name: str, value: str, default: str, source: str = "override", osds: str = "1") -> OsdOption:
    return OsdOption(name=name, value=value, default=default, source=source, osds=tuple(osds))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"osd_options": (option("bluestore_throttle_bytes", "4096", "67108864"),)},
         "osd.1 bluestore_throttle_bytes 4096 (default 67108864), set at run time"),
        ({"osd_options": (option("bluestore_throttle_bytes", "4096", "67108864", osds="0123"),)},
         "osd.* bluestore_throttle_bytes 4096 (default 67108864), set at run time"),
        ({"osd_options": (option("osd_client_message_cap", "16", "256", osds="01"),), "osds": 3},
         "osd.0 osd_client_message_cap 16 (default 256), set at run time, "
         "osd.1 osd_client_message_cap 16 (default 256), set at run time"),
        ({"osd_options": (option("bluestore_throttle_bytes", "4096", "67108864", "mon", "0123"),),
          "config": {"osd bluestore_throttle_bytes": "4096", "osd.9 bluestore_throttle_bytes": "1"}},
         "osd bluestore_throttle_bytes 4096 (default 67108864)"),
        ({"osd_options": (option("osd_client_message_cap", "16", "256", "file"),)},
         "osd.1 osd_client_message_cap 16 (default 256), by ceph.conf"),
        ({"osd_options": (option("osd_client_message_cap", "0", "256"),)}, ""),
        ({"osd_options": (option("osd_client_message_cap", "128", "256"),)}, ""),
        ({"osd_options": (option("osd_op_num_shards_hdd", "1", "5"),)}, ""),
        ({"osd_options": (option("osd_mclock_scheduler_client_lim", "0.1", "0"),)}, ""),
        ({"osd_options": (option("osd_mclock_scheduler_client_lim", "0.1", "0"),), **MCLOCK},
         "osd.1 osd_mclock_scheduler_client_lim 0.1 (default 0), set at run time"),
        ({"osd_options": (option("osd_mclock_scheduler_client_lim", "0.6", "0"),), **MCLOCK}, ""),
        ({"osd_options": (option("osd_client_message_cap", "?", "256"),)}, ""),
        ({"config": {"client objecter_inflight_ops": "2", "osd objecter_inflight_ops": "2"}},
         "client objecter_inflight_ops 2 (default 1024)"),
    ],
)  # fmt: skip
def test_options_far_below_their_defaults(fields: dict[str, Any], said: str) -> None:
    assert texts(cluster(**fields)) == ([f"options are far below their defaults: {said}"] if said else [])


def test_a_debug_level_that_was_set_at_run_time() -> None:
    osds = cluster(osd_options=(option("debug_osd", "20/20", "1/5", osds="0123"), option("debug_ms", "1/5", "0/0")))
    assert texts(osds) == ["high debug levels are set: osd.* debug_osd 20/20, set at run time"]


def test_heartbeats_of_osds_that_take_long() -> None:
    def ping(osd: str, peer: str, network: str = "cluster", seconds: float = 0.03) -> OsdPing:
        return OsdPing(osd=osd, peer=peer, network=network, seconds=seconds)

    to_one = cluster(slow_pings=(ping("1", "3", seconds=0.081), ping("3", "2", "public"), ping("3", "1")))
    assert texts(to_one) == [
        "heartbeats from and to osd.3 took up to 81.0 ms (mean of a minute) in the cluster, public network"
    ]
    many = cluster(slow_pings=(ping("1", "3"), ping("1", "2"), ping("2", "3"), ping("3", "2")))
    assert texts(many) == [
        "heartbeats between OSDs took up to 30.0 ms (mean of a minute) in the cluster network, "
        "those of osd.1, osd.3, between 3 pairs in all"
    ]


def test_heartbeats_that_osds_report() -> None:
    def entry(seconds: object, **fields: object) -> dict[str, object]:
        usual = {"stale": False, "from osd": 1, "to osd": 0, "interface": "back", "average": {"1min": seconds}}
        return {**usual, **fields}

    entries = [
        entry(31.5), entry(90.0, stale=True), entry(8.0), entry(44.0, interface="front", **{"to osd": 2}),
        entry(99.0, interface="?"), entry(99.0, **{"from osd": "x"}), entry(None), "?",
    ]  # fmt: skip
    text = f"osd.1: {json.dumps({'threshold': 20, 'entries': entries})}\nosd.2: {{}}\nosd.3: ?"
    assert [(ping.osd, ping.peer, ping.network, ping.seconds) for ping in osd_pings.parse(text)] == [
        ("1", "2", "public", 0.044),
        ("1", "0", "cluster", 0.0315),
    ]


def test_what_osds_answer() -> None:
    answer = {"diff": {
        "bluestore_throttle_bytes": {"default": "67108864", "file": "0", "override": "4096", "final": "4096"},
        "debug_osd": {"default": "1/5", "mon": "20/20", "final": "20/20"},
        "osd_client_message_cap": {"default": 256, "mon": 256, "final": 256},
        "osd_mclock_scheduler_client_lim": {"default": 0, "final": 0.5},
        "keyring": {"default": "", "file": "/etc/ceph/keyring", "final": "/etc/ceph/keyring"},
        "debug_ms": "?",
        "debug_bdev": {"default": "1/3", "file": "0/0", "final": "0/0"},
    }}  # fmt: skip
    # ceph itself may break an answer into lines
    text = f"osd.10: {json.dumps(answer, indent=1)}\nosd.2: {json.dumps(answer)}\nosd.3: ?\nosd.4: {{\n"
    assert osd_options.parse(text) == (
        OsdOption(
            name="bluestore_throttle_bytes", value="4096", default="67108864", source="override", osds=("2", "10")
        ),
        OsdOption(name="debug_osd", value="20/20", default="1/5", source="mon", osds=("2", "10")),
    )
    assert osd_options.parse("") == ()


def test_what_is_not_known_says_nothing() -> None:
    assert texts(ClusterEnvironment()) == texts(ClusterEnvironment(**MCLOCK)) == []
