"""What a node has: the script on trees like those of real hosts, its answer, and what follows from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.detectors.hardware import differing_mtus, misaligned, with_findings, with_hardware, with_osds
from cephtui.ceph.osd_devices import osds_by_disk, parse_osd_metadata
from cephtui.models import Node, NodeEnvironment
from cephtui.models.inventory import Disk, Inventory, Nic, Partition
from cephtui.models.rows import NodeRow
from cephtui.nodes.inventory import inventory_argv, parse_inventory
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.state import NodeState, diagnosis
from tests.support.drawings import draw_nodes, printed
from tests.support.golden import Golden

FSID = "11111111-2222-3333-4444-555555555555"
SECTOR = 512
MIB = 1 << 20
TIB = 1 << 40
LVM = "ceph--0a1b-osd--block--2c3d"


class Host:
    """A tree like a host's /sys and /var/lib/ceph, and its ``ip``."""

    def __init__(self, root: Path) -> None:
        self.root, self.sys, self.ceph, self.dev = root, root / "sys", root / "ceph", root / "dev"
        for path in (self.sys / "block", self.sys / "class/block", self.sys / "class/net", self.dev, root / "bin"):
            path.mkdir(parents=True)
        self.ceph.mkdir()
        self.addresses: list[str] = []

    def _write(self, folder: Path, values: Mapping[str, object]) -> Path:
        for name, value in values.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{value}\n")
        (self.sys / "class/block" / folder.name).symlink_to(folder)
        (self.dev / folder.name).touch()
        return folder

    def disk(self, name: str, size: int, *, rotational: bool = False, model: str = "", is_device: bool = True) -> Path:
        values: dict[str, object] = {"size": size // SECTOR, "queue/rotational": int(rotational)}
        if is_device:
            values |= {"device/model": model} if model else {"device/vendor": "0x1af4"}
        return self._write(self.sys / "block" / name, values)

    def partition(self, disk: str, name: str, start: int, size: int) -> None:
        values = {"partition": 1, "start": start // SECTOR, "size": size // SECTOR}
        self._write(self.sys / "block" / disk / name, values)

    def volume(self, number: int, name: str, *below: str) -> None:
        """A device mapper's, made of these."""
        folder = self._write(self.sys / "block" / f"dm-{number}", {"size": 8, "dm/name": name})
        (folder / "slaves").mkdir()
        for each in below:
            (folder / "slaves" / each).symlink_to(self.sys / "class/block" / each)

    def osd(self, folder: str, use: str, device: str) -> None:
        (self.ceph / folder).mkdir(parents=True, exist_ok=True)
        (self.ceph / folder / use).symlink_to(self.dev / device)

    def nic(self, name: str, *, folders: Sequence[str] = (), lower: Sequence[str] = (), **values: object) -> None:
        folder = self.sys / "class/net" / name
        folder.mkdir()
        for key, value in {"operstate": "up", "mtu": 1500, "uevent": f"INTERFACE={name}", **values}.items():
            (folder / key).write_text(f"{value}\n")
        for each in folders:
            (folder / each).mkdir()
        for each in lower:
            (folder / f"lower_{each}").symlink_to(f"../{each}")

    def address(self, nic: str, address: str) -> None:
        self.addresses.append(f"{len(self.addresses)}: {nic}    inet {address} scope global {nic}")

    def inventory(self) -> Inventory:
        """As the script reports it."""
        ip = self.root / "bin/ip"
        ip.write_text("#!/bin/sh\ncat <<'END'\n" + "".join(f"{line}\n" for line in self.addresses) + "END\n")
        ip.chmod(0o755)
        argv = ("env", f"PATH={self.root}/bin:/usr/bin:/bin", *inventory_argv(str(self.sys), str(self.ceph)))
        done = asyncio.run(LocalConnection().run(argv))
        assert (done.status, done.stderr) == (0, ""), done
        assert done.stdout.endswith("done\t\n")
        return parse_inventory(done.stdout)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def osds(found: Inventory) -> dict[str, tuple[str, ...]]:
    return {disk.name: disk.osds for disk in found.disks}


# ---------------------------------------------------------------------------------------------- the script


def test_proxmox_with_osds_on_volumes_and_a_db_on_a_partition(host: Host) -> None:
    host.disk("sda", 512 << 30, model="SAMSUNG MZ7L3480")
    host.partition("sda", "sda1", 34 * SECTOR, 1007 << 10)
    host.partition("sda", "sda2", MIB, 512 * MIB)
    for name in ("sdb", "sdc"):
        host.disk(name, 16 * TIB, rotational=True, model="ST16000NM001G-2K")
    host.disk("nvme0n1", 2 * TIB, model="SAMSUNG MZQL21T9HCJR-00A07")
    host.partition("nvme0n1", "nvme0n1p1", MIB, 64 << 30)
    host.volume(0, LVM, "sdb")
    host.volume(1, f"{LVM}4", "sdc")
    host.volume(2, "crypted", "dm-1")
    host.osd("osd/ceph-3", "block", "dm-0")
    host.osd("osd/ceph-3", "block.db", "nvme0n1p1")
    host.osd("osd/ceph-12", "block", "dm-2")
    found = host.inventory()
    assert osds(found) == {"nvme0n1": ("osd.3 db",), "sda": (), "sdb": ("osd.3",), "sdc": ("osd.12",)}
    assert [(disk.name, disk.device_class, disk.size_bytes, disk.model) for disk in found.disks] == [
        ("nvme0n1", "nvme", 2 * TIB, "SAMSUNG MZQL21T9HCJR-00A07"),
        ("sda", "ssd", 512 << 30, "SAMSUNG MZ7L3480"),
        ("sdb", "hdd", 16 * TIB, "ST16000NM001G-2K"),
        ("sdc", "hdd", 16 * TIB, "ST16000NM001G-2K"),
    ]
    assert misaligned(found.disks) == [], "a boot loader's partition holds no data"


def test_cephadm_has_its_osds_below_the_cluster_s_id_and_volumes_without_links(host: Host) -> None:
    host.disk("sdb", TIB, model="disk")
    host.volume(0, LVM, "sdb")
    host.osd(f"{FSID}/osd.7", "block", f"mapper-{LVM}")
    (host.dev / LVM).touch()
    (host.ceph / f"{FSID}/osd.7/block").unlink()
    (host.ceph / f"{FSID}/osd.7/block").symlink_to(host.dev / LVM)
    (host.ceph / f"{FSID}/osd.7/block.tmp").symlink_to(host.dev / "sdb")
    (host.ceph / f"{FSID}/mon.a").mkdir()
    assert osds(host.inventory()) == {"sdb": ("osd.7",)}


def test_what_is_no_disk_is_left_out(host: Host) -> None:
    host.disk("vda", TIB)
    for name in ("rbd0", "sr0", "nbd0"):
        host.disk(name, TIB)
    host.disk("loop0", TIB, is_device=False)
    host.disk("sdz", 0, model="card reader")
    (host.disk("nvme0c0n1", TIB, model="path") / "hidden").write_text("1\n")
    (disk,) = host.inventory().disks
    assert disk == Disk(name="vda", device_class="ssd", size_bytes=TIB)


def test_a_partition_that_is_not_aligned_is_a_finding_with_the_next_step(host: Host, golden: Golden) -> None:
    host.disk("sda", TIB, model="disk")
    host.partition("sda", "sda1", 63 * SECTOR, 100 << 30)
    host.partition("sda", "sda2", 8 * SECTOR + (100 << 30), 100 << 30)
    (text,) = misaligned(host.inventory().disks)
    assert "32,256" in text
    assert "parted -a optimal" in text
    golden.same(text)


def test_bonds_bridges_and_vlans_as_the_kernel_has_them(host: Host) -> None:
    host.nic("eno1", folders=["device"], speed=10000, mtu=9000)
    host.nic("eno2", folders=["device"], speed=10000, mtu=9000)
    host.nic("eno3", folders=["device"], speed=-1, operstate="down")
    host.nic("bond0", folders=["bonding"], lower=["eno1", "eno2"], speed=20000, mtu=9000)
    host.nic("vmbr0", folders=["bridge"], lower=["bond0", "tap100i0", "fwpr100p0"], speed=20000, mtu=9000)
    host.nic("bond0.40", uevent="DEVTYPE=vlan", lower=["bond0"], speed=20000)
    for name in ("lo", "tap100i0", "veth0", "fwbr100i0", "ifb0"):
        host.nic(name)
    host.nic("dummy0", operstate="down")
    host.address("vmbr0", "10.0.0.1/24")
    host.address("bond0.40@bond0", "10.40.0.1/24")
    host.address("vmbr0", "fd00::1/64")
    found = {nic.name: nic for nic in host.inventory().nics}
    assert [*found] == ["bond0", "bond0.40", "eno1", "eno2", "eno3", "vmbr0"]
    assert found["vmbr0"] == Nic(
        name="vmbr0", kind="bridge", state="up", bits_per_second=20_000_000_000, mtu=9000, members=("bond0",),
        addresses=("10.0.0.1/24", "fd00::1/64"),
    )  # fmt: skip
    assert (found["bond0"].kind, found["bond0"].members) == ("bond", ("eno1", "eno2"))
    assert (found["bond0.40"].kind, found["bond0.40"].addresses) == ("vlan", ("10.40.0.1/24",))
    assert (found["eno3"].state, found["eno3"].bits_per_second) == ("down", None)


def test_a_model_with_control_characters_and_tabs_is_one_line(host: Host) -> None:
    host.disk("sda", TIB, model="evil\t\x1b[31mred\x07\tdisk\ndisk\tsdb\t1\t0\tfake")
    (disk,) = host.inventory().disks
    assert disk.model is not None
    assert disk.model.isprintable()
    assert "red" in disk.model


LINES = [
    *("disk\tsda\t1\t1\tx", "disk", "disk\tsda\t-1", "disk\tsda\t²\t1\t", f"disk\tsda\t{10**70}\t1\t"),
    *("partition\tsda\tsda1\t9", "partition\tsda\tsda1\t9\t9", "osd\tx\tblock\tsda", "osd\t1\tblock\tsda"),
    *("nic\te\t\t\t\t\t", "nic\te", f"nic\te\tbond\tup\t²\t{10**70}\t", "nic\te\tx\tup\t1500\t-1\ta"),
    *("address\te", "address\te\t1.2.3.4/99", "address\te\t1.2.3.4/9", "\t\t\t"),
]


@given(st.text(max_size=300) | st.lists(st.sampled_from(LINES)).map("\n".join))
def test_any_answer_is_parsed(text: str) -> None:
    hardware = parse_inventory(text)
    assert printed(draw_nodes(with_findings([with_hardware(NodeRow(node="a"), hardware)])))


# ---------------------------------------------------------------------------------------------- the cluster


def metadata(*osds: Mapping[str, object]) -> str:
    return json.dumps([{"id": number, **osd} for number, osd in enumerate(osds)])


def test_the_cluster_says_which_osds_are_on_a_host_and_on_which_disks() -> None:
    found = parse_osd_metadata(
        metadata(
            {
                "hostname": "pve1",
                "devices": "nvme0n1,sdb",
                "bluestore_bdev_devices": "sdb",
                "bluefs_db_devices": "nvme0n1",
            },
            {"hostname": "pve2.example.net", "devices": "sda"},
            {},
            {"hostname": "PVE1", "devices": "", "bluestore_bdev_devices": ""},
        )
    )
    assert osds_by_disk(found, "pve1.example.net") == {"sdb": ["osd.0"], "nvme0n1": ["osd.0 db"]}
    assert osds_by_disk(found, "pve2") == {"sda": ["osd.1"]}
    assert osds_by_disk(found, None) == {}
    disks = (Disk(name="sdb", device_class="hdd", size_bytes=1, osds=("osd.0",)),
             Disk(name="nvme0n1", device_class="nvme", size_bytes=1))  # fmt: skip
    assert osds(with_osds(Inventory(disks=disks), found, "pve1")) == {"sdb": ("osd.0",), "nvme0n1": ("osd.0 db",)}
    with pytest.raises(ValueError, match="unexpected answer"):
        parse_osd_metadata("{}")


# ---------------------------------------------------------------------------------------------- between nodes


def nic(name: str, mtu: int | None, *addresses: str) -> Nic:
    return Nic(name=name, state="up", mtu=mtu, addresses=addresses)


def test_the_mtu_is_compared_in_each_network_whatever_the_interfaces_are_called() -> None:
    nodes = {
        "a": [nic("eno1", 9000, "10.0.0.1/24"), nic("eno2", 1500, "10.1.0.1/24")],
        "b": [nic("vmbr0", 1500, "10.0.0.2/24", "fd00::2/64"), nic("eth2", 1500, "10.1.0.2/24")],
        "c": [nic("eno1", 9000, "10.0.0.3/24", "wrong", "10.9.9.9/32"), nic("eno3", None, "10.1.0.3/24")],
    }
    assert differing_mtus(nodes) == {
        "different MTUs in 10.0.0.0/24 (1500 on vmbr0 of b; 9000 on eno1 of a, eno1 of c): "
        "set the same MTU on all of them and on the switch": ("a", "c", "b")
    }
    assert differing_mtus({"a": nodes["a"]}) == {}


# ---------------------------------------------------------------------------------------------- as it is shown


def row(name: str, **fields: object) -> NodeRow:
    tools = {"fio": "fio-3.33", "ceph": "ceph version 18.2.4 (x)"}
    state = NodeState(Node(name=name), NodeEnvironment(os="Debian GNU/Linux 12 (bookworm)", tools=tools))
    presets = {"fio": ["write-iops", "read-iops", "latency", "ping-pong", "more"], "ioping": ["ping"]}
    return diagnosis(state, ["fio"], presets).model_copy(update={"cluster": "HEALTH_OK", **fields})


def test_a_tool_is_shown_with_its_version_and_what_it_is_for(golden: Golden) -> None:
    shown = {each.tool: each for each in row("a").tools}
    assert (shown["fio"].version, shown["fio"].problem) == ("fio-3.33", None)
    assert (shown["ioping"].version, shown["ioping"].presets) == (None, ("ping",))
    golden.same(shown["ioping"].problem)
    lines = [line.split() for line in printed(draw_nodes([row("a"), row("b")])).splitlines()]
    assert ["fio", "fio-3.33", "a,", "b", "write-iops,", "read-iops,", "latency", "and", "2", "more"] in lines
    assert ["ioping", "-", "a,", "b", "ping"] in lines


def test_all_of_it_fits_on_80_columns_and_a_finding_of_several_nodes_stands_once() -> None:
    disks = (
        Disk(
            name="nvme0n1", device_class="nvme", size_bytes=2 * TIB, model="SAMSUNG MZQL21T9HCJR-00A07",
            osds=("osd.3", "osd.4 db"), partitions=(Partition(name="nvme0n1p1", start_bytes=512, size_bytes=TIB),),
        ),
    )  # fmt: skip
    rows = with_findings(
        [
            row("pve1", disks=disks, nics=(nic("vmbr0", 9000, "10.0.0.1/24"),)),
            row("pve2", nics=(nic("e", 1500, "10.0.0.2/24"),)),
        ]
    )
    text = printed(draw_nodes(rows), width=80)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert "pve1 nvme0n1 nvme 2.00 TiB SAMSUNG MZQL21T9HCJR-00A07 osd.3, osd.4 db" in words
    assert words.count("different MTUs in 10.0.0.0/24") == 1
    assert "pve1, pve2: different MTUs" in words
    assert "pve1: nvme0n1p1 begins at byte 512 of nvme0n1" in words
    assert json.loads(rows[0].model_dump_json())["disks"][0]["osds"] == ["osd.3", "osd.4 db"]
