"""The disk of an OSD, by which OSDs that share one are known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cephtui.ceph.osd_devices import parse_osd_metadata


def data_disks(*osds: dict[str, Any]) -> list[str]:
    answer = [{"id": number, "hostname": "pve1", **osd} for number, osd in enumerate(osds)]
    return [osd.data_disk for osd in parse_osd_metadata(json.dumps(answer))]


def test_osds_of_one_disk_have_the_same_and_a_shared_db_is_none() -> None:
    two = {"bluestore_bdev_devices": "nvme0n1", "devices": "nvme0n1"}
    hdds = [
        {"bluefs_db_devices": "nvme1n1", "bluestore_bdev_devices": disk, "devices": f"nvme1n1,{disk}"}
        for disk in ("sda", "sdb")
    ]
    disks = data_disks(two, two, *hdds)
    assert disks == ["pve1 nvme0n1", "pve1 nvme0n1", "pve1 sda", "pve1 sdb"]


def test_a_disk_with_a_serial_number_is_known_by_that_whatever_the_kernel_calls_it() -> None:
    one = {"bluestore_bdev_devices": "sda", "device_ids": "sda=WDC_WD40_ABC"}
    renamed = {"bluestore_bdev_devices": "sdc", "device_ids": "sdb=OTHER_1,sdc=WDC_WD40_ABC"}
    replaced = {"bluestore_bdev_devices": "sda", "device_ids": "sda=WDC_WD40_XYZ"}
    first, second, third = data_disks(one, renamed, replaced)
    assert first == second != third
    assert "ABC" not in first


@pytest.mark.parametrize(
    ("ids", "model"),
    [
        ("sda=Samsung_SSD_870_EVO_1TB_S6PTNM0R123456", "Samsung SSD 870 EVO 1TB"),
        ("sda=WDC_WD40_ABC,nvme0n1=INTEL_1", "WDC WD40"),
        ("sda=ONEWORD", ""),
        ("sda=MODEL_", ""),
        ("nvme0n1=INTEL_1", ""),
        ("", ""),
    ],
)
def test_the_model_of_a_disk_is_kept_without_its_serial_number(ids: str, model: str) -> None:
    answer = {"id": 0, "hostname": "pve1", "bluestore_bdev_devices": "sda", "bluefs_db_devices": "nvme0n1"}
    (osd,) = parse_osd_metadata(json.dumps([{**answer, "device_ids": ids}]))
    assert osd.model == model


def test_without_a_device_no_disk_is_known() -> None:
    assert data_disks({}, {"bluestore_bdev_devices": "", "device_ids": "junk"}) == ["", ""]
