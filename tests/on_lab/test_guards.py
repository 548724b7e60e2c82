"""Every guard with the real thing it guards against; and what is allowed all the same."""

from __future__ import annotations

import hashlib
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.on_lab.others import SMALL, Others, all_refused, allowed, findings, opened, refused
from tests.on_lab.runs import Bench
from tests.support import disks

MIB = 1 << 20


def destroy(pool: str, image: str) -> list[str]:
    """All names by which an image can be given up."""
    return ["--destroy", image, "--destroy", f"{pool}/{image}"]


# --- Images --------------------------------------------------------------------------------------


def test_an_image_that_is_somebodys_is_not_written_whatever_is_typed(bench: Bench, pool: str, others: Others) -> None:
    rbd = bench.lab.rbd
    for name in ("base-9000-disk-0", "kept", "parent", "trashed", "mirrored", "watched"):
        rbd("create", "--size", "16", f"{pool}/{name}")
    rbd("snap", "create", "--no-progress", f"{pool}/kept@before-upgrade")
    for parent in ("parent", "trashed"):
        rbd("snap", "create", "--no-progress", f"{pool}/{parent}@golden")
        clone = ["--rbd-default-clone-format", "2", "clone", f"{pool}/{parent}@golden", f"{pool}/clone-of-{parent}"]
        rbd(*clone)
    rbd("snap", "rm", "--no-progress", f"{pool}/trashed@golden")
    rbd("mirror", "pool", "enable", pool, "image")
    rbd("mirror", "image", "enable", f"{pool}/mirrored", "snapshot")
    before = others.look()
    whose = {
        "vm-100-disk-0": "guest",
        "base-9000-disk-0": "guest",
        "kept": ": before-upgrade",
        "parent": f"{pool}/clone-of-parent",
        "trashed": f"{pool}/clone-of-trashed",
        "mirrored": "mirrored (snapshot)",
        "watched": f" {bench.lab.address('ceph')}:",
    }
    with opened(bench.lab, f"{pool}/watched"):
        asked = [
            (
                ["write-iops", f"rbd:{pool}/{name}", *destroy(pool, name), "--shared-pool"],
                (f"image {pool}/{name} ", why),
            )
            for name, why in whose.items()
        ]
        all_refused(bench, asked)
        # a read has to be filled where its name is typed: that is a write as well
        text = refused(bench, "read-iops", f"rbd:{pool}/vm-100-disk-0", *destroy(pool, "vm-100-disk-0"))
        assert "guest" in text
        console = bench.run(
            "write-iops",
            target=f"rbd:{pool}/vm-100-disk-0",
            words=[*destroy(pool, "vm-100-disk-0"), "--shared-pool"],
            **SMALL,
        )

    assert console.process.returncode == 3, console.describe()
    (run,) = console.runs
    assert (run["outcome"], run["nodes"][0]["outcome"]) == ("refused", "refused")
    assert "guest" in console.stderr
    assert others.look() == before
    rbd("mirror", "image", "disable", "--force", f"{pool}/mirrored")


def test_any_other_image_asks_for_its_name_is_used_and_survives(bench: Bench, pool: str, others: Others) -> None:
    target, checksum = f"rbd:{pool}/data", others.checksum("data")

    text = refused(bench, "write-iops", target, "--shared-pool")
    assert f"image {pool}/data " in text
    assert "(16.0 MiB)" in text
    assert "--destroy data" in text
    # neither another name, nor part of it, nor that of an image that looks like cephtui's
    wrong = ["--destroy", "dat", "--destroy", "vm-100-disk-0", "--destroy", pool, "--destroy", "cephtui-notes"]
    asked = [
        (["write-iops", f"rbd:{pool}/{name}", *words, "--shared-pool"], (f"image {pool}/{name} ", "exists"))
        for name, words in (("data", wrong), ("cephtui-notes", []), ("cephtui-0badcafe-lab1-0", []))
    ]
    all_refused(bench, asked, size="4M")
    assert "too small" in refused(bench, "write-iops", target, "--destroy", "data", "--shared-pool", size="32M")
    assert f"image {pool}/dta" in refused(bench, "write-iops", f"rbd:{pool}/dta", "--destroy", "dta")
    others.assert_unchanged()

    used = bench.run("write-iops", target=target, words=["--destroy", "data", "--shared-pool"], **SMALL)

    assert "unverified" not in findings(used)
    assert used.runs[0]["summary"]["write"]["ios"] > 0
    assert others.checksum("data") != checksum
    changed = set(others.before) ^ set(others.look())
    assert {line.split()[1] for line in changed} == {"data"}  # its contents; not its size, its id or anything else
    assert not (bench.sandbox.session() / "undo.jsonl").exists()
    assert bench.cephtui("cleanup", "--yes").complaints == []


def test_what_is_only_read_is_not_written(bench: Bench, pool: str, others: Others) -> None:
    """And what of it was never written marks the figures; that they are higher, a busy machine may hide."""
    bench.lab.rbd("create", "--size", "16", f"{pool}/thin")
    before = others.look()

    def about(image: str) -> dict[str, str]:
        return findings(bench.run("read-iops", target=f"rbd:{pool}/{image}", **{**SMALL, "size": "16M"}))

    about_thin, about_filled = about("thin"), about("vm-100-disk-0")

    assert others.look() == before
    assert "thin" in about_thin
    assert not {"thin", "unverified"} & set(about_filled)
    assert f"{pool}/thin " in about_thin["thin"]
    # a snapshot of somebody's is no reason against reading, and neither is that it is open
    bench.lab.rbd("snap", "create", "--no-progress", f"{pool}/data@kept")
    with opened(bench.lab, f"{pool}/data"):
        allowed(bench, "read-iops", f"rbd:{pool}/data")


@pytest.mark.essential
def test_what_no_image_can_be_is_refused_at_once(bench: Bench, pool: str) -> None:
    asked = {
        (f"rbd:{pool}/tenant/data", "write-iops"): "RBD namespace",
        (f"rbd:{pool}/data@snap", "read-iops"): "expected rbd:POOL or rbd:POOL/IMAGE",
        (f"pool:{pool}", "write-iops"): "use --target rbd:POOL",
        (f"pool:{pool}", "read-throughput"): "use --target rbd:POOL",
        (f"rbd:{pool}", "rados-write"): "use --target pool:POOL",
        (f"pool:{pool}/theirs", "rados-write"): "cephtui creates a namespace",
    }
    consoles = {key: bench.start(key[1], target=key[0], words=["--destroy", "data"]) for key in asked}
    for key, console in consoles.items():
        assert console.wait() == 2, console.describe()
        assert asked[key] in console.stderr
    assert "pool nope" in refused(bench, "write-iops", "rbd:nope")


# --- Devices -------------------------------------------------------------------------------------

BYTES = 64 * MIB


def run_here(*words: str | Path) -> str:
    """The output of a command on this machine."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def raid_superblock() -> bytes:
    """What mdadm writes 4 KiB into a member of a RAID 1 (version 1.2), as linux/raid/md_p.h has it."""
    block = bytearray(256)
    struct.pack_into("<IIII16s32sQIi", block, 0, 0xA92B4EFC, 1, 0, 0, b"u" * 16, b"lab:0", 0, 1, 0)
    struct.pack_into("<QIi", block, 0x50, BYTES // 512 - 2048, 0, 2)
    struct.pack_into("<QQQ", block, 0x80, 2048, BYTES // 512 - 2048, 8)
    struct.pack_into("<II", block, 0xD8, 0, 0)
    total = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 0xD8, (total & 0xFFFFFFFF) + (total >> 32))
    return bytes(block)


def write_at(device: Path, place: int, what: bytes) -> None:
    with device.open("r+b") as file:
        file.seek(place)
        file.write(what)


def checksum(device: Path) -> str:
    return hashlib.sha256(device.read_bytes()).hexdigest()


@contextmanager
def mounted(lab: Lab, device: Path, machine: str | None = None) -> Iterator[None]:
    """A device that is mounted, here or where nobody else sees it."""
    folder = lab.directory / f"mounted-{device.name}"
    folder.mkdir()

    def run(*words: str | Path) -> None:
        run_here(*(lab.command(machine, *words) if machine else words))

    run("mount", "-o", "ro", device, folder)
    try:
        yield
    finally:
        run("umount", folder)
        folder.rmdir()


@contextmanager
def swapped(device: Path) -> Iterator[None]:
    run_here("swapon", device)
    try:
        yield
    finally:
        run_here("swapoff", device)


def test_a_device_that_is_somebodys_is_not_written_whatever_is_typed(bench: Bench) -> None:
    lab = bench.lab
    with ExitStack() as stack:
        kinds = "ext4 table lvm luks raid osd swap mounted elsewhere swapping opened"
        devices = {kind: stack.enter_context(lab.loop_device(BYTES)) for kind in kinds.split()}
        for kind in ("ext4", "mounted", "elsewhere"):
            run_here("mkfs.ext4", "-q", devices[kind])
        run_here("parted", "-s", devices["table"], "mklabel", "gpt", "mkpart", "data", "1MiB", "32MiB")
        # else the kernel would still have it when the device is somebody else's
        stack.callback(run_here, "parted", "-s", devices["table"], "rm", "1")
        run_here("pvcreate", "-q", "-y", devices["lvm"])
        quick = ["--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]
        run_here("cryptsetup", "luksFormat", "-q", *quick, devices["luks"], lab.known_hosts)
        write_at(devices["raid"], 4096, raid_superblock())
        with (lab.directory / "osd.0" / "block").open("rb") as osd:
            write_at(devices["osd"], 0, osd.read(4096))
        for kind in ("swap", "swapping"):
            run_here("mkswap", devices[kind])
        stack.enter_context(mounted(lab, devices["mounted"]))
        stack.enter_context(mounted(lab, devices["elsewhere"], "lab2"))
        stack.enter_context(swapped(devices["swapping"]))
        stack.enter_context(devices["opened"].open("rb"))
        before = {kind: checksum(device) for kind, device in devices.items() if kind != "swapping"}
        whose = {
            "ext4": "ext4",
            "table": "partition table",
            "lvm": "LVM",
            "luks": "LUKS",
            "raid": "RAID",
            "osd": "OSD",
            "swap": "swap",
            "mounted": f" {lab.directory}/mounted-",
            "elsewhere": "ext4",
            "swapping": "swap",
            "opened": " python",
        }

        def asked(kinds: Sequence[str]) -> list[tuple[list[str], tuple[str, ...]]]:
            names = {kind: [str(devices[kind]), devices[kind].name] for kind in kinds}
            given_up = {kind: [w for name in names[kind] for w in ("--destroy", name)] for kind in kinds}
            named = {kind: (f"{devices[kind]} ", whose[kind]) for kind in kinds}
            return [(["write-iops", f"device:{devices[kind]}", *given_up[kind]], named[kind]) for kind in kinds]

        all_refused(bench, asked(list(whose)), node="local", at_once=4)
        # on a host of the lab: its own mounts and processes are not those of this machine
        whose["mounted"] = "ext4"
        all_refused(bench, asked(["ext4", "table", "lvm", "osd", "mounted"]))
        # nothing on it, but somebody holds it where this host can't see who
        write_at(devices["elsewhere"], 1080, bytes(2))
        whose["elsewhere"] = " system"
        all_refused(bench, asked(["elsewhere"]))
        write_at(devices["elsewhere"], 1080, b"\x53\xef")
        run = bench.run("write-iops", on=["local"], target=f"device:{devices['ext4']}", **SMALL)
        assert run.process.returncode == 3, run.describe()
        assert {kind: checksum(device) for kind, device in devices.items() if kind in before} == before


@pytest.mark.essential
def test_a_device_of_nobody_asks_for_its_name_is_used_and_survives(bench: Bench) -> None:
    pattern = bytes(range(256)) * (BYTES // 256)
    with bench.lab.loop_device(BYTES) as device, disks.undisturbed():
        write_at(device, 0, pattern)
        target = f"device:{device}"
        text = refused(bench, "write-iops", target, "--destroy", "loop", "--destroy", "/dev")
        assert f"{device} " in text
        assert "(64.0 MiB" in text
        assert f"--destroy {device.name}" in text
        assert "too small" in refused(bench, "write-iops", target, "--destroy", device.name, size="65M")
        link = bench.lab.directory / "somebody"
        link.symlink_to(device)
        assert bench.start("write-iops", target=f"device:{link}", words=["--destroy", "somebody"]).wait() == 2
        link.unlink()

        read = bench.run("read-iops", target=target, **SMALL)
        assert not {"unverified", "holes"} & set(findings(read))
        assert device.read_bytes() == pattern

        written = bench.run("write-iops", target=target, words=["--destroy", device.name], **SMALL)
        assert "unverified" not in findings(written)
        found = device.read_bytes()
        assert found[: 8 * MIB] != pattern[: 8 * MIB]
        assert found[8 * MIB :] == pattern[8 * MIB :]
        assert not list(bench.sandbox.data.glob("sessions/*/undo.jsonl"))
    assert bench.start("read-iops", target="device:/etc/passwd").wait() == 2
    assert "/dev/nothing" in refused(bench, "read-iops", "device:/dev/nothing")
    assert "block device" in refused(bench, "write-iops", "device:/dev/null", "--destroy", "null")
