"""Every guard with the real thing it guards against; and what is allowed all the same."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab

from .others import (
    SMALL,
    Others,
    all_refused,
    allowed,
    busy,
    dry_run,
    erasure_profile,
    findings,
    opened,
    pool_on,
    refused,
    said,
    still,
    wait_clean,
    wait_pgs,
)
from .runs import Bench, wait_for

MIB = 1 << 20


@pytest.fixture
def pool(bench: Bench) -> Iterator[str]:
    """A pool of this test's own."""
    with pool_on(bench.lab) as name:
        yield name


@pytest.fixture
def others(bench: Bench, pool: str) -> Others:
    """What somebody else has in it."""
    return Others(bench.lab, pool)


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
        "vm-100-disk-0": "is by its name a guest's disk",
        "base-9000-disk-0": "is by its name a guest's disk",
        "kept": "has snapshots: before-upgrade",
        "parent": f"has clones: {pool}/clone-of-parent",
        "trashed": f"has clones: {pool}/clone-of-trashed",
        "mirrored": "is mirrored (snapshot)",
        "watched": f"is in use by {bench.lab.address('ceph')}:",
    }
    with opened(bench.lab, f"{pool}/watched"):
        asked = [
            (
                ["write-iops", f"rbd:{pool}/{name}", *destroy(pool, name), "--shared-pool"],
                f"image {pool}/{name} {why}",
            )
            for name, why in whose.items()
        ]
        all_refused(bench, asked)
        # a read has to be filled where its name is typed: that is a write as well
        text = refused(bench, "read-iops", f"rbd:{pool}/vm-100-disk-0", *destroy(pool, "vm-100-disk-0"))
        assert "is by its name a guest's disk" in text
        console = bench.run(
            "write-iops",
            target=f"rbd:{pool}/vm-100-disk-0",
            words=[*destroy(pool, "vm-100-disk-0"), "--shared-pool"],
            **SMALL,
        )

    assert console.process.returncode == 3, console.describe()
    (run,) = console.runs
    assert (run["outcome"], run["nodes"][0]["outcome"]) == ("refused", "refused")
    assert "is by its name a guest's disk" in console.stderr
    assert others.look() == before
    rbd("mirror", "image", "disable", "--force", f"{pool}/mirrored")


def test_any_other_image_asks_for_its_name_is_used_and_survives(bench: Bench, pool: str, others: Others) -> None:
    target, checksum = f"rbd:{pool}/data", others.checksum("data")

    text = refused(bench, "write-iops", target, "--shared-pool")
    assert f"image {pool}/data exists and is not cephtui's (16.0 MiB)" in text
    assert "--destroy data" in text
    # neither another name, nor part of it, nor that of an image that looks like cephtui's
    wrong = ["--destroy", "dat", "--destroy", "vm-100-disk-0", "--destroy", pool, "--destroy", "cephtui-notes"]
    asked = [
        (["write-iops", target, *wrong, "--shared-pool"], "exists and is not cephtui's"),
        (["write-iops", f"rbd:{pool}/cephtui-notes", "--shared-pool"], "exists and is not cephtui's"),
        (["write-iops", f"rbd:{pool}/cephtui-0badcafe-lab1-0", "--shared-pool"], "exists and is not cephtui's"),
    ]
    all_refused(bench, asked, size="4M")
    assert "is too small" in refused(bench, "write-iops", target, "--destroy", "data", "--shared-pool", size="32M")
    assert f"there is no image {pool}/dta" in refused(bench, "write-iops", f"rbd:{pool}/dta", "--destroy", "dta")
    others.assert_unchanged()

    used = bench.run("write-iops", target=target, words=["--destroy", "data", "--shared-pool"], **SMALL)

    assert "unverified" not in findings(used)
    assert used.runs[0]["summary"]["write"]["ios"] > 0
    assert others.checksum("data") != checksum
    changed = set(others.before) ^ set(others.look())
    assert {line.split()[1] for line in changed} == {"data"}  # its contents; not its size, its id or anything else
    assert not (bench.sandbox.session() / "undo.jsonl").exists()
    assert "nothing was left behind" in bench.cephtui("cleanup", "--yes").stdout


def test_what_is_only_read_is_not_written(bench: Bench, pool: str, others: Others) -> None:
    """And what of it was never written marks the figures; that they are higher, a busy machine may hide."""
    bench.lab.rbd("create", "--size", "16", f"{pool}/thin")
    before = others.look()

    def about(image: str) -> dict[str, str]:
        return findings(bench.run("read-iops", target=f"rbd:{pool}/{image}", **{**SMALL, "size": "16M"}))

    about_thin, about_filled = about("thin"), about("vm-100-disk-0")

    assert others.look() == before
    assert {"thin", "unverified"} <= set(about_thin)
    assert "unverified" in about_filled
    assert "thin" not in about_filled
    assert f"{pool}/thin is thin" in about_thin["thin"]
    # a snapshot of somebody's is no reason against reading, and neither is that it is open
    bench.lab.rbd("snap", "create", "--no-progress", f"{pool}/data@kept")
    with opened(bench.lab, f"{pool}/data"):
        allowed(bench, "read-iops", f"rbd:{pool}/data")


def test_what_no_image_can_be_is_refused_at_once(bench: Bench, pool: str) -> None:
    asked = {
        (f"rbd:{pool}/tenant/data", "write-iops"): "RBD namespace",
        (f"rbd:{pool}/data@snap", "read-iops"): "expected rbd:POOL or rbd:POOL/IMAGE",
        (f"pool:{pool}", "write-iops"): "use --target rbd:POOL",
        (f"pool:{pool}", "read-throughput"): "use --target rbd:POOL",
        (f"rbd:{pool}", "rados-write"): "use --target pool:POOL",
        (f"pool:{pool}/theirs", "rados-write"): "cephtui makes a namespace of its own",
    }
    consoles = {key: bench.start(key[1], target=key[0], words=["--destroy", "data"]) for key in asked}
    for key, console in consoles.items():
        assert console.wait() == 2, console.describe()
        assert asked[key] in console.stderr
    assert "there is no pool nope" in refused(bench, "write-iops", "rbd:nope")


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
            "ext4": "carries a signature of ext4",
            "table": "has a partition table",
            "lvm": "is part of LVM",
            "luks": "is an encrypted (LUKS) device",
            "raid": "is part of a RAID array",
            "osd": "is a Ceph OSD's",
            "swap": "is swap space",
            "mounted": f"is mounted on {lab.directory}/mounted-",
            "elsewhere": "carries a signature of ext4",
            "swapping": "is used as swap space",
            "opened": "is in use by python",
        }

        def asked(kinds: Sequence[str]) -> list[tuple[list[str], str]]:
            names = {kind: [str(devices[kind]), devices[kind].name] for kind in kinds}
            given_up = {kind: [w for name in names[kind] for w in ("--destroy", name)] for kind in kinds}
            return [(["write-iops", f"device:{devices[kind]}", *given_up[kind]], whose[kind]) for kind in kinds]

        all_refused(bench, asked(list(whose)), node="local", at_once=4)
        # on a host of the lab: its own mounts and processes are not those of this machine
        whose["mounted"] = "carries a signature of ext4"
        all_refused(bench, asked(["ext4", "table", "lvm", "osd", "mounted"]))
        # nothing on it, but somebody holds it where this host can't see who
        write_at(devices["elsewhere"], 1080, bytes(2))
        whose["elsewhere"] = "is in use by the system"
        all_refused(bench, asked(["elsewhere"]))
        write_at(devices["elsewhere"], 1080, b"\x53\xef")
        run = bench.run("write-iops", on=["local"], target=f"device:{devices['ext4']}", **SMALL)
        assert run.process.returncode == 3, run.describe()
        assert {kind: checksum(device) for kind, device in devices.items() if kind in before} == before


def test_a_device_of_nobody_asks_for_its_name_is_used_and_survives(bench: Bench) -> None:
    pattern = bytes(range(256)) * (BYTES // 256)
    with bench.lab.loop_device(BYTES) as device:
        write_at(device, 0, pattern)
        target = f"device:{device}"
        text = refused(bench, "write-iops", target, "--destroy", "loop", "--destroy", "/dev")
        assert f"{device} is an existing device (64.0 MiB" in text
        assert f"--destroy {device.name}" in text
        assert "too small" in refused(bench, "write-iops", target, "--destroy", device.name, size="65M")
        link = bench.lab.directory / "somebody"
        link.symlink_to(device)
        assert bench.start("write-iops", target=f"device:{link}", words=["--destroy", "somebody"]).wait() == 2
        link.unlink()

        read = bench.run("read-iops", target=target, **SMALL)
        assert "unverified" in findings(read)
        assert device.read_bytes() == pattern

        written = bench.run("write-iops", target=target, words=["--destroy", device.name], **SMALL)
        assert "unverified" not in findings(written)
        found = device.read_bytes()
        assert found[: 8 * MIB] != pattern[: 8 * MIB]
        assert found[8 * MIB :] == pattern[8 * MIB :]
        assert not list(bench.sandbox.data.glob("sessions/*/undo.jsonl"))
    assert bench.start("read-iops", target="device:/etc/passwd").wait() == 2
    assert "there is no device /dev/nothing" in refused(bench, "read-iops", "device:/dev/nothing")
    assert "not a block device" in refused(bench, "write-iops", "device:/dev/null", "--destroy", "null")


# --- Pools: room ---------------------------------------------------------------------------------


def stored(lab: Lab, pool: str) -> int:
    (found,) = [one for one in lab.ceph("df", "detail")["pools"] if one["name"] == pool]
    value: int = found["stats"]["stored"]
    return value


def test_a_quota_leaves_a_fifth_of_what_is_left(bench: Bench, pool: str) -> None:
    lab = bench.lab
    blob = lab.directory / "blob"
    blob.write_bytes(b"x" * 20 * MIB)
    lab.rados("--pool", pool, "put", "ledger", str(blob))
    blob.unlink()
    lab.ceph("osd", "pool", "set-quota", pool, "max_bytes", str(120 * MIB))
    wait_for(lambda: stored(lab, pool) == 20 * MIB, 30, "what is stored")

    text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="81M")
    assert f"not enough room in pool {pool}: needs 81.0 MiB on all nodes together" in text
    assert "has 100 MiB left of its quota of which 80.0 MiB may be used" in text
    allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="80M")
    # jobs and nodes add up
    assert "needs 88.0 MiB" in refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", numjobs=8, size="11M")
    three = bench.start(
        "write-iops",
        on=lab.nodes,
        target=f"rbd:{pool}",
        words=["--dry-run", "--shared-pool"],
        **{**SMALL, "size": "27M"},
    )
    assert "needs 81.0 MiB" in said(three)


def test_a_run_neither_fills_a_pool_nor_makes_an_osd_nearly_full(bench: Bench, pool: str) -> None:
    lab = bench.lab
    (found,) = [one for one in lab.ceph("df", "detail")["pools"] if one["name"] == pool]
    free = found["stats"]["max_avail"]
    text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size=f"{int(0.81 * free / MIB)}M")
    assert f"not enough room in pool {pool}" in text

    used = max(osd["utilization"] for osd in lab.ceph("osd", "df")["nodes"])
    lab.ceph("osd", "set-nearfull-ratio", f"{used / 100 + 0.02:.3f}")
    try:
        text = refused(bench, "write-iops", f"rbd:{pool}", "--shared-pool", size="2G")
        assert "would fill osd." in text
        assert "above nearfull" in text
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")
    finally:
        lab.ceph("osd", "set-nearfull-ratio", "0.85")
    wait_clean(lab)


def test_what_is_full_is_not_written(bench: Bench, pool: str, others: Others) -> None:
    lab = bench.lab
    into_image = ["write-iops", f"rbd:{pool}/data", "--destroy", "data", "--shared-pool"]
    into_pool = ["write-iops", f"rbd:{pool}", "--shared-pool"]
    # fio opens an image for writing even to read it: where nothing can be written it would hang
    from_image = ["read-iops", f"rbd:{pool}/data", "--shared-pool"]
    asked = (into_image, into_pool, from_image)

    lab.ceph("osd", "pool", "set-quota", pool, "max_objects", "1")
    wait_for(lambda: "full_quota" in flags(lab, pool), 60, "a pool that is full by its quota")
    all_refused(bench, [(words, f"pool {pool} is full: its quota is used up") for words in asked])
    objects = bench.start("rados-write", target=f"pool:{pool}", words=["--dry-run", "--shared-pool"])
    assert "its quota is used up" in said(objects)
    lab.ceph("osd", "pool", "set-quota", pool, "max_objects", "0")
    wait_for(lambda: "full_quota" not in flags(lab, pool), 60, "a pool that is not full")

    ratios = {"nearfull": "0.001", "backfillfull": "0.002", "full": "0.003"}
    usual = {"full": "0.95", "backfillfull": "0.9", "nearfull": "0.85"}
    try:
        for name, ratio in ratios.items():
            lab.ceph("osd", f"set-{name}-ratio", ratio)
        wait_for(lambda: "OSD_FULL" in lab.ceph("health")["checks"], 60, "full OSDs")
        all_refused(bench, [(words, "the cluster is full") for words in asked])
    finally:
        for name, ratio in usual.items():
            lab.ceph("osd", f"set-{name}-ratio", ratio)
    wait_clean(lab)
    others.assert_unchanged()


def flags(lab: Lab, pool: str) -> str:
    (found,) = [one for one in lab.ceph("osd", "dump")["pools"] if one["pool_name"] == pool]
    text: str = found["flags_names"]
    return text


# --- Pools: health -------------------------------------------------------------------------------


def test_pgs_that_serve_nobody_are_refused_and_degraded_ones_are_told(bench: Bench) -> None:
    lab = bench.lab
    with (
        pool_on(lab, size=2, min_size=2) as unserved,
        pool_on(lab, size=2, min_size=1) as degraded,
        erasure_profile(lab) as profile,
        pool_on(lab, profile=profile) as coded,
    ):
        lab.ceph("osd", "pool", "set", coded, "allow_ec_overwrites", "true")
        lab.ceph("osd", "pool", "set", coded, "min_size", "3")
        for pool in (unserved, degraded):
            lab.rbd("create", "--size", "16", f"{pool}/data")
        lab.rbd("bench", "--io-type", "write", "--io-size", "4M", "--io-total", "16M", f"{degraded}/data")
        lab.ceph("osd", "set", "noup")
        try:
            lab.ceph("osd", "down", "0")
            pools = (unserved, degraded, coded)
            # the manager learns of the OSD, and the OSDs of their PGs, one after the other
            wait_for(lambda: still(lambda: undersized(lab, pools), 4), 90, "PGs with too few OSDs")
            not_active = f"of the 8 PGs of pool {unserved} "
            asked = [
                (["write-iops", f"rbd:{unserved}"], not_active),
                (["read-iops", f"rbd:{unserved}/data"], not_active),
                (["write-iops", f"rbd:{unserved}/data", "--destroy", "data"], not_active),
                (["write-iops", f"rbd:{degraded}", "--data-pool", coded], f"PGs of pool {coded} "),
            ]
            all_refused(bench, [([*words, "--shared-pool"], text) for words, text in asked])
            console = bench.run("write-iops", target=f"rbd:{degraded}", words=["--shared-pool"], **SMALL)
        finally:
            lab.ceph("osd", "unset", "noup")
        found = findings(console)
        assert "of 3 OSDs 1 down" in found["osds"]
        (run,) = console.runs
        states = [state for state in run["cluster"]["pg_states"] if state != "active+clean"]
        assert any("degraded" in state for state in states), run["cluster"]
        # only the three most frequent are named, which these are is up to the placement
        named = [state for state in states if state in found["pgs"]]
        assert len(named) >= min(3, len(states)), found["pgs"]
        assert "degraded" in found["recovery"]
        assert "1 osds down" in found["health"]
        wait_clean(lab)


def undersized(lab: Lab, pools: Sequence[str]) -> bool:
    """Whether the cluster has noticed which PGs miss an OSD."""
    numbers = {one["pool_name"]: one["pool"] for one in lab.ceph("osd", "dump")["pools"]}
    states = {name: set[str]() for name in pools}
    for one in lab.ceph("pg", "dump", "pgs_brief")["pg_stats"]:
        for name in pools:
            if one["pgid"].startswith(f"{numbers[name]}."):
                states[name].add(one["state"])
    seen = ["+".join(sorted(found)) for found in states.values()]
    return all("undersized" in text and "stale" not in text and "peering" not in text for text in seen)


def test_a_paused_cluster_is_refused(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "16", f"{pool}/data")
    lab.ceph("osd", "set", "pause")
    try:
        asked = [(["write-iops", f"rbd:{pool}"], "the cluster is paused (pauserd, pausewr)")]
        asked += [(["read-iops", f"rbd:{pool}/data"], "the cluster is paused")]
        all_refused(bench, [([*words, "--shared-pool"], text) for words, text in asked])
    finally:
        lab.ceph("osd", "unset", "pause")
    wait_clean(lab)


def test_recovery_is_told_beside_the_figures(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "64", f"{pool}/data")
    lab.rbd("bench", "--io-type", "write", "--io-size", "4M", "--io-total", "64M", f"{pool}/data")
    try:
        for flag in ("nobackfill", "norecover"):
            lab.ceph("osd", "set", flag)
        lab.ceph("osd", "out", "0")
        wait_for(lambda: lab.ceph("status")["pgmap"].get("misplaced_ratio"), 60, "misplaced objects")
        wait_pgs(lab, pool)
        console = bench.run("read-iops", target=f"rbd:{pool}/data", words=["--shared-pool"], **SMALL)
    finally:
        lab.ceph("osd", "in", "0")
        for flag in ("nobackfill", "norecover"):
            lab.ceph("osd", "unset", flag)
    wait_clean(lab)

    found = findings(console)
    assert "of 3 OSDs 1 out" in found["osds"]
    assert "were not active+clean" in found["pgs"]
    assert "misplaced" in found["recovery"]
    assert console.runs[0]["cluster"]["osds_in"] == 2


def test_scrubbing_is_told_beside_the_figures(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "64", f"{pool}/data")
    lab.rbd("bench", "--io-type", "write", "--io-size", "4M", "--io-total", "64M", f"{pool}/data")
    slowly = {"osd_scrub_sleep": "5", "osd_scrub_chunk_min": "1", "osd_scrub_chunk_max": "1"}
    try:
        for name, value in slowly.items():
            lab.ceph("config", "set", "osd", name, value)
        lab.ceph("osd", "pool", "deep-scrub", pool)
        wait_for(lambda: "scrubbing" in json.dumps(lab.ceph("status")["pgmap"]), 60, "a scrub")
        console = bench.run("read-iops", target=f"rbd:{pool}/data", words=["--shared-pool"], **SMALL)
    finally:
        for name in slowly:
            lab.ceph("config", "rm", "osd", name)
    wait_clean(lab)

    found = findings(console)
    assert "PGs were being scrubbed" in found["scrub"]
    assert "pgs" not in found


# --- Pools: who else is there --------------------------------------------------------------------


def test_a_pool_that_others_use_is_loaded_only_where_that_is_typed(bench: Bench, pool: str) -> None:
    lab = bench.lab
    for image in ("data", "kept"):
        lab.rbd("create", "--size", "16", f"{pool}/{image}")
    in_use = f"pool {pool} is in use: 1 of 2 images in use"

    def on_all(*words: str) -> Any:
        small = {**SMALL, "size": "4M"}
        return bench.start("read-iops", on=lab.nodes, target=f"rbd:{pool}", words=["--dry-run", *words], **small)

    with opened(lab, f"{pool}/data"):
        asked = [
            ["write-iops", f"rbd:{pool}"],
            ["read-iops", f"rbd:{pool}"],  # it is filled first
            ["write-iops", f"rbd:{pool}/kept", "--destroy", "kept"],
        ]
        consoles = [dry_run(bench, *words) for words in asked]
        consoles += [on_all(), bench.start("rados-write", target=f"pool:{pool}", words=["--dry-run"])]
        for console in consoles:
            assert in_use in said(console)
            assert "--shared-pool" in console.stderr
        # what is only read, on one node, disturbs nobody much
        allowed(bench, "read-iops", f"rbd:{pool}/kept")
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")
        together = on_all("--shared-pool")
        assert together.wait() == 0, together.describe()
        # a key that may not ask the OSDs asks each image
        restricted = ["--ceph-id", lab.restricted_id, "--ceph-keyring", str(lab.restricted_keyring)]
        with opened(lab, f"{lab.pool}/{watched_image(lab)}"):
            text = refused(bench, "write-iops", f"rbd:{lab.pool}", *restricted)
        lab.rbd("rm", "--no-progress", f"{lab.pool}/watched")
        assert f"pool {lab.pool} is in use: 1 of 1 images in use" in text
        assert "client IOPS: no permission" in text

    with busy(lab, pool):
        text = refused(bench, "write-iops", f"rbd:{pool}")
        assert f"pool {pool} is in use: 0 of 2 images in use" in text
        assert ", 0 client IOPS" not in text
        allowed(bench, "write-iops", f"rbd:{pool}", "--shared-pool")


def watched_image(lab: Lab) -> str:
    """An image in the pool that the restricted key may use."""
    lab.rbd("create", "--size", "4", f"{lab.pool}/watched")
    return "watched"


def test_a_key_that_may_not_ask_everything_goes_on_and_says_so(bench: Bench, pool: str) -> None:
    lab = bench.lab
    restricted = ["--ceph-id", lab.restricted_id, "--ceph-keyring", str(lab.restricted_keyring)]
    runs = {
        "write-iops": bench.run("write-iops", words=restricted, **SMALL),
        "rados-write": bench.run(
            "rados-write", target=f"pool:{lab.pool}", words=[*restricted, "--shared-pool"], runtime=2
        ),
    }

    for preset, console in runs.items():
        found = findings(console)
        assert "no permission" in found["space"], preset
        cluster = console.runs[0]["cluster"]
        assert {"ceph osd df", "ceph pg dump pgs_brief"} <= set(cluster["no_permission"])
        assert cluster["pool"]["name"] == lab.pool
        assert cluster["health"].startswith("HEALTH_")
        assert console.runs[0]["summary"]["write"]["ios"] > 0
    (plan,) = [event for event in runs["write-iops"].events if event["event"] == "plan"]
    assert "client IOPS: no permission" in plan["pool_use"]["text"]
    # what it may not use is refused in words
    console = bench.run("write-iops", target=f"rbd:{pool}", words=restricted, **SMALL)
    assert console.process.returncode == 3, console.describe()
    assert "ermission" in console.stderr or "not permitted" in console.stderr
    assert lab.rbd("ls", pool) == ""


# --- Erasure coding ------------------------------------------------------------------------------


def test_images_of_an_erasure_coded_pool_need_another_for_their_names(bench: Bench, pool: str) -> None:
    lab = bench.lab
    with erasure_profile(lab) as profile, pool_on(lab, profile=profile) as coded:
        text = refused(bench, "write-iops", f"rbd:{coded}")
        assert f"pool {coded} is erasure-coded: images can't live there" in text
        assert f"use a replicated pool with {coded} as its data pool" in text
        text = refused(bench, "write-iops", f"rbd:{pool}", "--data-pool", coded)
        assert f"ceph osd pool set {coded} allow_ec_overwrites true" in text
        assert "there is no pool nope" in refused(bench, "write-iops", f"rbd:{pool}", "--data-pool", "nope")
        lab.ceph("osd", "pool", "set", coded, "allow_ec_overwrites", "true")

        words = ["--data-pool", coded, "--shared-pool"]
        console = bench.start("write-iops", target=f"rbd:{pool}", words=words, **{**SMALL, "runtime": 8})
        console.wait_for_samples(2, seconds=60)
        (image,) = lab.rbd("ls", pool).split()
        info = json.loads(lab.rbd("info", "--format", "json", f"{pool}/{image}"))
        data = [name for name in lab.rados("--pool", coded, "ls").split() if name.startswith("rbd_data.")]
        assert info["data_pool"] == coded
        assert len(data) == 2  # 8 MiB
        assert "rbd_data" not in lab.rados("--pool", pool, "ls")
        assert console.wait() == 0, console.describe()

        (run,) = console.runs
        assert (run["cluster"]["pool"]["name"], run["cluster"]["pool"]["type"]) == (coded, "erasure")
        assert run["cluster"]["pool"]["erasure_code_profile"] == profile
        assert lab.rados("--pool", coded, "ls").split() == ["rbd_info"]
        assert lab.rbd("ls", pool).split() == []
        # objects need no image
        objects = bench.run("rados-write", target=f"pool:{coded}", words=["--shared-pool"], runtime=2)
        assert findings(objects) is not None
        assert lab.rados("--pool", coded, "ls", "--all").split() == ["rbd_info"]
