"""What of a cluster's set-up makes a pool slow: mClock's capacities, device classes, OSDs that have no PGs."""

from __future__ import annotations

from typing import Any

import pytest

from cephtui.analysis.detectors.setup import setup_findings
from cephtui.models import ClusterEnvironment

SSD = "osd_mclock_max_capacity_iops_ssd"
HDD = "osd_mclock_max_capacity_iops_hdd"
MCLOCK: dict[str, Any] = {"osd_op_queue": "mclock_scheduler"}


def cluster(osds: int = 4, device_class: str = "ssd", **fields: Any) -> ClusterEnvironment:
    usual: dict[str, Any] = {
        "pool": {"name": "vms", "size": 3},
        "pgs_by_osd": {str(osd): 32 for osd in range(osds)},
        "class_by_osd": {str(osd): device_class for osd in range(osds)},
        "osds_by_host": {f"pve{osd}": 1 for osd in range(osds)},
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
            [f"mClock expects 10 IOPS of osd.1 ({SSD}), 21.5k of the other OSDs"],
        ),
        (
            cluster(**MCLOCK, config={f"osd.{osd} {SSD}": str(iops) for osd, iops in enumerate((9e3, 8e3, 2e3, 7e3))}),
            [f"mClock expects 2.00k IOPS of osd.2 ({SSD}), 8.00k of the other OSDs"],
        ),
        (
            cluster(**MCLOCK, config={f"osd.{osd} {SSD}": str(iops) for osd, iops in enumerate((9e3, 8e3, 4e3, 7e3))}),
            [],
        ),
        (cluster(**MCLOCK, config={f"osd {SSD}": "10"}), [f"mClock expects 10 IOPS of osd.0, osd.1, osd.2 and 1 more "
                                                          f"({SSD}), the default is 21.5k"]),
        (cluster(**MCLOCK, config={f"osd {SSD}": "10", **{f"osd.{osd} {SSD}": "9000" for osd in range(4)}}), []),
        (cluster(2, **MCLOCK, config={f"osd.0 {SSD}": "3000"}), []),
        (cluster(2, **MCLOCK, config={f"osd.0 {SSD}": "?"}), []),
        (cluster(device_class="hdd", **MCLOCK, config={f"osd.0 {SSD}": "10"}), []),
        (
            cluster(device_class="hdd", **MCLOCK, config={f"osd.0 {HDD}": "12.5", f"osd/class:hdd {HDD}": "400"}),
            [f"mClock expects 12.5 IOPS of osd.0 ({HDD}), 400 of the other OSDs"],
        ),
    ],
)  # fmt: skip
def test_an_osd_of_which_mclock_expects_too_little(of: ClusterEnvironment, said: list[str]) -> None:
    assert texts(of) == said


def test_a_pool_on_disks_of_several_classes() -> None:
    mixed = cluster(class_by_osd={"0": "ssd", "1": "hdd", "2": "hdd", "3": "hdd"})
    assert texts(mixed) == ["pool vms lies on OSDs of several device classes: 3 hdd, 1 ssd"]
    assert texts(cluster(class_by_osd={})) == []


@pytest.mark.parametrize(
    ("osds", "of", "size", "is_said"),
    [(1, 3, 1, True), (3, 12, 3, True), (6, 12, 3, True), (7, 12, 3, False), (2, 3, 2, True), (3, 3, 3, False)],
)
def test_a_pool_that_lies_on_few_of_its_osds(osds: int, of: int, size: int, is_said: bool) -> None:
    few = cluster(osds, pool={"name": "vms", "size": size}, osds_by_host={"pve1": of})
    said = [f"pool vms lies on {osds} of the {of} OSDs that its CRUSH rule may use"]
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


def test_what_is_not_known_says_nothing() -> None:
    assert texts(ClusterEnvironment()) == texts(ClusterEnvironment(**MCLOCK)) == []
