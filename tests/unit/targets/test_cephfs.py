"""A mounted CephFS as a target: which pool has its data."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.ceph.file_systems import parse_file_systems
from cephtui.models import FilePlace, Node
from cephtui.targets import parse_target
from cephtui.targets.base import DataLayout, TargetFault
from cephtui.targets.cephfs import CephfsFacts, default_pool_id, parse_cephfs_facts
from tests.support.clusters import ANSWERS, RecordedShell, ok
from tests.support.golden import Golden

PATH = "/mnt/pve/cephfs/test"
REC = next(
    pool["pool"]
    for pool in json.loads((ANSWERS / "healthy" / "osd-map.stdout").read_text())["pools"]
    if pool["pool_name"] == "rec"
)


def dump(*names: str, default: int | None = None) -> str:
    """What ``ceph fs dump`` prints of these file systems, the first with its data in the recorded pool rec."""
    found = [
        {"id": number, "mdsmap": {"fs_name": name, "data_pools": [REC + number, 99]}}
        for number, name in enumerate(names)
    ]
    return json.dumps({"epoch": 4, "default_fscid": default, "filesystems": found})


def located(answer: str, files: str = "") -> str | None:
    shell = RecordedShell("healthy", bash_cephfs=ok(answer), ceph_fs_dump=ok(files or dump("cephfs")))
    return asyncio.run(parse_target(f"cephfs:{PATH}").locate({}, shell)).pool


# ---------------------------------------------------------------------------------------------- on the node


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", CephfsFacts()),
        ("type\text4\nsource\t/dev/sda1\noptions\trw,relatime\n", CephfsFacts("ext4")),
        (
            "type\tceph\nsource\t10.0.0.1:6789:/\noptions\trw,relatime,name=admin,mds_namespace=files,acl\n",
            CephfsFacts("ceph", "files"),
        ),
        (
            "type\tceph\nsource\tadmin@1f9b2c6e-0000-4000-8000-000000000001.files=/sub\noptions\trw,relatime\n",
            CephfsFacts("ceph", "files"),
        ),
        (
            "type\tfuse.ceph-fuse\nsource\tceph-fuse\noptions\trw\npool\tfast\n",
            CephfsFacts("fuse.ceph-fuse", None, "fast"),
        ),
    ],
)
def test_what_a_mount_tells(text: str, facts: CephfsFacts) -> None:
    assert parse_cephfs_facts(text) == facts


@given(st.text())
def test_any_answer_of_a_node_is_read(text: str) -> None:
    parse_cephfs_facts(text)


def test_a_file_is_laid_out_as_any_other_and_removed_as_one() -> None:
    target = parse_target(f"cephfs:{PATH}")
    place, (part,) = target.lay_out(Node(name="pve1"), DataLayout(2, 1 << 20, alone=False, batch="b"))
    assert (place, part.spec) == (FilePlace(kind="file", path=f"{PATH}.pve1"), f"file:{PATH}.pve1")
    assert parse_target(target.spec) == target


# ---------------------------------------------------------------------------------------------- its pool


def test_a_layout_goes_before_the_default() -> None:
    assert located("type\tceph\npool\tfast\n") == "fast"
    assert located("type\tceph\n") == "rec"


def test_the_file_system_is_the_one_that_the_mount_names() -> None:
    several = parse_file_systems(dump("a", "b", "c", default=1))
    assert [default_pool_id(several, name) for name in ("a", "c", None, "other")] == [REC, REC + 2, REC + 1, None]
    unnamed = parse_file_systems(dump("a", "b"))
    assert default_pool_id(unnamed, None) is None
    assert default_pool_id(parse_file_systems(dump()), None) is None


@pytest.mark.parametrize(
    ("answer", "files"),
    [
        ("", ""),
        ("type\text4\n", ""),
        ("type\tceph\n", dump("a", "b")),
        ("type\tceph\n", "[]"),
    ],
)
def test_a_pool_that_is_not_known_is_refused_with_the_next_step(answer: str, files: str, golden: Golden) -> None:
    with golden.raises(TargetFault):
        located(answer, files)
