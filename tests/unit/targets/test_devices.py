"""Block devices: the real script on loop devices of the tests' own; one that is somebody's is never touched."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cephtui.models.refusal import Refusal
from cephtui.targets import devices
from cephtui.targets.devices import DeviceFacts, RbdMapping, guard_device, parse_device
from tests.support import disks
from tests.support.golden import Golden

MIB = 1 << 20
SIZE = 64 * MIB
SPAN = MIB


def call(*argv: str | Path) -> str:
    """What a tool prints; a tool that is missing or fails is a failed test."""
    if not shutil.which(str(argv[0])):
        pytest.fail(f"this test needs {argv[0]}: apt-get install util-linux e2fsprogs lvm2 mount")
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(str(word) for word in argv)}: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def attached(*options: str, file: Path | None = None) -> Iterator[str]:
    """A loop device on a file of its own, not below pytest's folders: see tests/support/disks.py."""
    with tempfile.TemporaryDirectory(prefix="cephtui-loop-", dir="/var/tmp") as folder:
        path = file or Path(folder) / "disk"
        if not file:
            with path.open("wb") as new:
                new.truncate(SIZE)
        with disks.attached(path, *options) as device:
            try:
                yield device
            finally:
                subprocess.run(["partx", "-d", device], capture_output=True, check=False)


@pytest.fixture
def device() -> Iterator[str]:
    with attached() as name:
        yield name


@contextlib.contextmanager
def mounted(device: str) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="cephtui-disk 4%s ", dir="/var/tmp"))
    call("mount", device, folder)
    try:
        yield folder
    finally:
        call("umount", folder)
        folder.rmdir()


def run(argv: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30, check=False, **more
    )


def inspect(path: str, *roots: str, **more: Any) -> DeviceFacts:
    with disks.undisturbed():
        done = run(devices.inspect_device_argv(path, *roots), **more)
    assert (done.returncode, done.stderr) == (0, "")
    return parse_device(done.stdout)


def refusal(path: str, *destroy: str, span: int = SPAN) -> Refusal | None:
    return guard_device(path, inspect(path), span, destroy)


def problem_of(path: str) -> str:
    """Why it is refused, whatever is typed."""
    found = refusal(path, path, Path(path).name)
    assert found is not None
    assert found.problem.startswith(f"{path} ")
    assert found.remedy
    assert found.confirm is None
    return found.problem


def content(device: str) -> str:
    return hashlib.sha256(Path(device).read_bytes()).hexdigest()


# ---------------------------------------------------------------------------------------------- real devices


def test_an_empty_device_is_given_up_by_its_name(device: str, golden: Golden) -> None:
    facts = inspect(device)
    name = Path(device).name
    assert (facts.kind, facts.name, facts.size, facts.root, facts.readonly) == ("device", name, SIZE, True, False)
    assert (facts.signatures, facts.claim, facts.openers, facts.holders) == ((), "free", (), ())
    assert device in facts.aliases
    assert facts.backing is not None
    found = refusal(device)
    assert found is not None
    golden.same(found.text)
    assert (found.confirm, found.confirm_kind) == (name, "destroy")
    assert refusal(device, name) is None
    assert refusal(device, device) is None
    assert refusal(device, "loop", "*", "") == found


def test_inspecting_changes_nothing(device: str) -> None:
    Path(device).write_bytes(os.urandom(SIZE))
    before = content(device)
    inspect(device)
    assert content(device) == before


@contextlib.contextmanager
def in_memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cephtui-loop-", dir="/dev/shm") as folder:
        path = Path(folder) / "disk"
        with path.open("wb") as new:
            new.truncate(SIZE)
        yield path


def test_a_device_that_is_memory_is_known_through_what_is_between(device: str) -> None:
    """A loop device over tmpfs, its file system, a loop device over a file on that, and a partition."""
    assert inspect(device).memory == ()
    with in_memory() as file, attached(file=file) as over:
        assert inspect(over).memory == ("tmpfs",)
        call("mkfs.ext4", "-q", over)
        with mounted(over) as folder, (folder / "inner").open("wb") as inner:
            inner.truncate(8 * MIB)
            inner.flush()
            with attached(file=folder / "inner") as nested:
                assert inspect(nested).memory == ("tmpfs",)
        make_partition(over)
        with partitioned(over) as part:
            assert inspect(part).memory == ("tmpfs",)


@pytest.mark.parametrize(("mode", "is_cached"), [("off", True), ("on", False)])
def test_a_loop_device_without_direct_io_is_cached(device: str, mode: str, is_cached: bool) -> None:
    call("losetup", f"--direct-io={mode}", device)
    assert inspect(device).cached == ((Path(device).name,) if is_cached else ())


MEMORY_TREES = {
    "ram0": ("ram0", {}, ("ram0",)),
    "a volume of zram": ("dm-0", {"dm-0": ["zram1", "sda"]}, ("zram1",)),
    "a volume of disks": ("dm-0", {"dm-0": ["sda", "sdb"]}, ()),
    "a RAID of two": ("md0", {"md0": ["ram0", "ram1"]}, ("ram0", "ram1")),
}


@pytest.mark.parametrize("tree", MEMORY_TREES)
def test_memory_below_volumes_is_known(tmp_path: Path, tree: str) -> None:
    name, below, memory = MEMORY_TREES[tree]
    block = tmp_path / "block"
    for each in {name, *below, *(part for parts in below.values() for part in parts)}:
        (block / each / "slaves").mkdir(parents=True)
    for each, parts in below.items():
        for part in parts:
            (block / each / "slaves" / part).symlink_to(block / part)
    (tmp_path / "dev" / "block").mkdir(parents=True)
    (tmp_path / "dev" / "block" / "9:9").symlink_to(block / name)
    script = f'{devices.MEMORY_FUNCTIONS}say() {{ printf "%s\\t%s\\n" "$@"; }}\nsys=$1; memory_in 9:9'
    done = run(["bash", "-c", script, "test", str(tmp_path)])
    assert (parse_device(f"kind\tdevice\n{done.stdout}").memory, done.stderr) == (memory, "")


BELOW = "dm-0/slaves/dm-1/dm"
CACHE_TREES: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "bcache": (
        "bcache0",
        {"bcache0/bcache/cache_mode": "writethrough [writeback] writearound none", "bcache0/bcache/state": "dirty"},
        ("bcache0 (bcache, writeback)",),
    ),
    "bcache without a cache": (
        "bcache0",
        {"bcache0/bcache/cache_mode": "[writethrough] writeback none", "bcache0/bcache/state": "no cache"},
        (),
    ),
    "bcache that is switched off": (
        "bcache0",
        {"bcache0/bcache/cache_mode": "writethrough writeback [none]", "bcache0/bcache/state": "clean"},
        (),
    ),
    "bcache that can't be read": ("bcache0", {}, ()),
    "lvmcache": (
        "dm-0",
        {
            "dm-0/dm/name": "vg-data",
            f"{BELOW}/uuid": "LVM-a-real",
            f"{BELOW}/name": "vg-data_corig",
        },
        ("vg-data (dm-cache)",),
    ),
    "lvmcache of writes": (
        "dm-0",
        {
            "dm-0/dm/name": "vg-data",
            f"{BELOW}/uuid": "LVM-a-real",
            f"{BELOW}/name": "vg-d_wcorig",
        },
        ("vg-data (dm-writecache)",),
    ),
    "a volume": (
        "dm-0",
        {"dm-0/dm/name": "vg-data", f"{BELOW}/uuid": "LVM-a", f"{BELOW}/name": "vg-other"},
        (),
    ),
}


def caches_in(folder: Path, tree: str, table: str) -> tuple[str, ...]:
    """The caches that are known in a tree of sysfs, where dmsetup prints this of every device."""
    name, files, _ = CACHE_TREES[tree]
    for file, text in {f"{name}/slaves/sda/size": "0", f"{name}/dev": "253:0", **files}.items():
        path = folder / "block" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (folder / "dev" / "block").mkdir(parents=True)
    (folder / "dev" / "block" / "9:9").symlink_to(folder / "block" / name)
    stubs = f'say() {{ printf "%s\t%s\n" "$@"; }}\ndmsetup() {{ printf %s "{table}"; }}'
    done = run(["bash", "-c", f"{devices.MEMORY_FUNCTIONS}{stubs}\nsys=$1; memory_in 9:9", "test", str(folder)])
    assert done.stderr == ""
    return parse_device(f"kind\tdevice\n{done.stdout}").caches


@pytest.mark.parametrize("tree", CACHE_TREES)
def test_a_cache_in_front_of_a_disk_is_known_without_root(tmp_path: Path, tree: str) -> None:
    assert caches_in(tmp_path, tree, "") == CACHE_TREES[tree][2]


@pytest.mark.parametrize(
    ("table", "caches"),
    [
        ("0 2048 cache 253:1 253:2 253:3 128 1 writeback smq 0\n", ("vg-data (dm-cache)",)),
        ("0 2048 cache 253:1 253:2 253:3 128 2 metadata2 passthrough smq 0\n", ()),
        ("0 2048 writecache s 253:1 253:2 4096 0\n", ("vg-data (dm-writecache)",)),
        ("0 2048 linear 8:0 2048\n", ()),
    ],
)
def test_a_table_of_the_device_mapper_tells_of_a_cache(tmp_path: Path, table: str, caches: tuple[str, ...]) -> None:
    assert caches_in(tmp_path, "a volume", table) == caches


def written(path: str, span: int, **more: Any) -> str:
    done = run(devices.written_argv(path, span), **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_loop_device_tells_what_of_its_file_is_written(device: str, tmp_path: Path) -> None:
    assert written(device, SIZE) == "0"
    with Path(device).open("r+b") as disk:
        disk.write(os.urandom(24 * MIB))
        os.fsync(disk.fileno())
    by_python, by_none = tmp_path / "python", tmp_path / "none"
    by_python.mkdir()
    by_none.mkdir()
    for environment in (dict(os.environ), without(by_python, "perl")):
        assert written(device, 16 * MIB, env=environment) == str(16 * MIB)
        assert written(device, 32 * MIB, env=environment) == str(24 * MIB)
        assert written(device, SIZE, env=environment) == str(24 * MIB)
    assert written(device, SIZE, env=without(by_none, "perl", "python3")) == ""


def test_a_loop_device_begins_where_its_offset_is() -> None:
    with attached("--offset", str(16 * MIB)) as device:
        with Path(device).open("r+b") as disk:
            disk.write(os.urandom(8 * MIB))
            os.fsync(disk.fileno())
        assert written(device, 16 * MIB) == str(8 * MIB)


def test_what_is_no_loop_device_does_not_tell(tmp_path: Path) -> None:
    assert written(os.devnull, SIZE) == ""
    assert written(str(tmp_path / "missing"), SIZE) == ""


@pytest.mark.parametrize(
    ("status", "span", "text"),
    [
        (f"0 {SIZE // 512} thin {SIZE // 512} {SIZE // 512 - 1}", SIZE // 2, str(SIZE // 2)),
        (f"0 {SIZE // 512} thin 2048 2047", SIZE, str(MIB)),
        (f"0 {SIZE // 512} thin 2048 2047", SIZE // 2, ""),
        (f"0 {SIZE // 512} linear", SIZE, ""),
        ("", SIZE, ""),
    ],
)
def test_a_thin_volume_tells_as_far_as_it_knows(tmp_path: Path, status: str, span: int, text: str) -> None:
    """How many of its sectors have a place, but not which."""
    program = tmp_path / "dmsetup"
    program.write_text(f"#!/bin/bash\necho '{status}'\n")
    program.chmod(0o755)
    assert written(os.devnull, span, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}) == text


def test_a_link_to_a_device_is_the_device(device: str, tmp_path: Path, golden: Golden) -> None:
    link = tmp_path / "by id=x"
    link.symlink_to(device)
    assert inspect(str(link)).name == Path(device).name
    assert refusal(str(link), "by id=x") is None
    assert refusal(str(link), Path(device).name) is not None
    call("mkfs.ext4", "-q", device)
    golden.same(problem_of(str(link)))


@pytest.mark.parametrize("make", [("mkfs.ext4", "-q"), ("mkswap", "-q"), ("pvcreate", "-qq")])
def test_a_signature_refuses(device: str, make: tuple[str, ...], golden: Golden) -> None:
    call(*make, device)
    golden.same(problem_of(device))


def test_the_remedy_for_a_file_system_names_the_command(device: str, golden: Golden) -> None:
    call("mkfs.ext4", "-q", device)
    found = refusal(device)
    assert found is not None
    golden.same(found.remedy)


@pytest.mark.parametrize("at", [0, 1 << 30])
@pytest.mark.root
def test_an_osd_is_known_by_any_of_its_labels(at: int, tmp_path: Path, golden: Golden) -> None:
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate((1 << 30) + SIZE)
        file.seek(at)
        file.write(b"bluestore block device\n11111111-2222-3333-4444-555555555555\n")
    with attached(file=disk) as device:
        golden.same(problem_of(device))


def test_an_osd_is_known_without_wipefs(device: str, tmp_path: Path) -> None:
    Path(device).write_bytes(b"bluestore block device\n")
    facts = inspect(device, env=without(tmp_path, "wipefs"))
    assert facts.signatures == ("ceph_bluestore",)


def test_a_partition_table_refuses(device: str, golden: Golden) -> None:
    make_partition(device)
    golden.same(problem_of(device))


@contextlib.contextmanager
def partitioned(device: str) -> Iterator[str]:
    """Its first partition, made known to the kernel by hand, as no udev does it."""
    call("partx", "-a", "-n", "1:1", device)
    number = (Path("/sys/class/block") / f"{Path(device).name}p1" / "dev").read_text().strip()
    part = f"{device}p1"
    if not Path(part).exists():
        major, minor = number.split(":")
        call("mknod", part, "b", major, minor)
    yield part


def make_partition(device: str) -> None:
    """A table of one partition, from 1 MiB to the end, as the first sector of a PC's disk holds it."""
    start, sectors = MIB // 512, (SIZE - MIB) // 512
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + start.to_bytes(4, "little") + sectors.to_bytes(4, "little")
    with Path(device).open("r+b") as file:
        file.seek(446)
        file.write(entry + bytes(48) + b"\x55\xaa")


def test_a_disk_with_partitions_is_refused_and_a_free_partition_is_not(device: str) -> None:
    make_partition(device)
    with partitioned(device) as part:
        name = Path(device).name
        assert f"{name}p1" in problem_of(device)
        facts = inspect(part)
        assert (facts.name, facts.whole, facts.size) == (f"{name}p1", name, SIZE - MIB)
        assert refusal(part, f"{name}p1") is None


def test_a_partition_is_refused_by_what_its_disk_is_used_for(device: str) -> None:
    make_partition(device)
    with partitioned(device) as part, Path(device).open("rb"):
        assert inspect(device).openers[0] in problem_of(part)


def test_a_disk_is_refused_by_what_its_partition_is_used_for(device: str) -> None:
    make_partition(device)
    with partitioned(device) as part:
        call("mkfs.ext4", "-q", part)
        with mounted(part) as folder:
            assert str(folder) in problem_of(device)
            assert str(folder) in problem_of(part)
            assert inspect(device).claim == "busy"


def test_a_mounted_device_is_refused(device: str) -> None:
    call("mkfs.ext4", "-q", device)
    with mounted(device) as folder:
        facts = inspect(device)
        assert (facts.mounts, facts.claim) == ((str(folder),), "busy")
        assert str(folder) in problem_of(device)


def test_a_device_mounted_elsewhere_is_refused(device: str, golden: Golden) -> None:
    """In a mount namespace that the node's own shell does not see, and with its signature gone."""
    call("mkfs.ext4", "-q", device)
    folder = tempfile.mkdtemp(prefix="cephtui-disk-", dir="/var/tmp")
    script = (
        'mount "$0" "$1" && dd if=/dev/zero of="$0" bs=64k count=1 conv=notrunc status=none && echo up && read -r _'
    )
    command = ["unshare", "--mount", "bash", "-c", script, device, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "up\n"
        facts = inspect(device)
        assert (facts.mounts, facts.claim) == ((), "busy")
        golden.same(problem_of(device))
        process.stdin.close()
    Path(folder).rmdir()


def test_swap_in_use_is_refused(device: str, golden: Golden) -> None:
    call("mkswap", "-q", device)
    call("swapon", device)
    try:
        assert inspect(device).claim == "busy"
        golden.same(problem_of(device))
    finally:
        call("swapoff", device)


@pytest.mark.root
def test_a_read_only_device_is_refused(golden: Golden) -> None:
    with attached("-r") as device:
        golden.same(problem_of(device))


def test_a_device_that_a_program_has_open_is_refused(device: str) -> None:
    """As a virtual machine has its disk, without claiming it."""
    with Path(device).open("rb"):
        facts = inspect(device)
        while len(facts.openers) > 1:  # udev looks at a device that is new
            facts = inspect(device)
        (opener,) = facts.openers
        assert opener.endswith(f" ({os.getpid()})")
        assert facts.claim == "free"
        assert opener in problem_of(device)
    assert inspect(device).openers == ()


@pytest.mark.root
def test_a_device_under_another_loop_device_is_refused(device: str, golden: Golden) -> None:
    """The kernel neither claims it nor shows it as a holder."""
    with attached(file=Path(device)) as upper:
        assert Path(upper).name in problem_of(device)
        golden.same(problem_of(device))
        assert refusal(upper, upper) is None
    assert inspect(device).holders == ()


def test_a_device_that_is_too_small(device: str, golden: Golden) -> None:
    name = Path(device).name
    assert refusal(device, name, span=SIZE) is None
    found = refusal(device, name, span=SIZE + 1)
    assert found is not None
    golden.same(found.text)


@pytest.mark.parametrize("kind", ["missing", "file", "directory", "dangling"])
def test_what_is_no_device_is_refused(tmp_path: Path, kind: str, golden: Golden) -> None:
    path = tmp_path / "x"
    if kind == "file":
        path.write_text("x")
    elif kind == "directory":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    found = refusal(str(path), str(path), "x")
    assert found is not None
    assert found.confirm is None
    golden.same(found.problem)


def test_a_character_device_is_refused(golden: Golden) -> None:
    golden.same(problem_of("/dev/null"))


# ---------------------------------------------------------------------------------------------- what is not known


NEEDED = ("bash", "cat", "dd", "find", "grep", "id", "perl", "readlink", "sort", "stat", "tr", "wipefs")


def without(folder: Path, *programs: str) -> dict[str, str]:
    """An environment that has all that the script uses but these."""
    folder = folder / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(sys.executable)
    for program in NEEDED:
        (folder / program).symlink_to(str(shutil.which(program)))
    for program in programs:
        (folder / program).unlink()
    return {"PATH": str(folder)}


@pytest.mark.parametrize("missing", [("wipefs",), ("perl", "python3")])
def test_what_can_not_be_found_out_is_refused(
    device: str, tmp_path: Path, missing: tuple[str, ...], golden: Golden
) -> None:
    found = guard_device(device, inspect(device, env=without(tmp_path, *missing)), SPAN, (device,))
    assert found is not None
    assert found.confirm is None
    golden.same(found.text)


def test_python_asks_for_the_claim_where_there_is_no_perl(device: str, tmp_path: Path) -> None:
    environment = without(tmp_path, "perl")
    assert inspect(device, env=environment).claim == "free"
    call("mkfs.ext4", "-q", device)
    with mounted(device):
        assert inspect(device, env=environment).claim == "busy"


def test_another_user_than_root_can_not_tell(device: str, golden: Golden) -> None:
    with disks.undisturbed():
        done = run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *devices.inspect_device_argv(device)]
        )
    facts = parse_device(done.stdout)
    assert (facts.root, facts.signatures, facts.claim) == (False, None, None)
    found = guard_device(device, facts, SPAN, (device,))
    assert found is not None
    assert found.confirm is None
    golden.same(found.text)


@pytest.mark.parametrize("text", ["", "bash: no such command", "size\t5\n", "kind device\n"])
def test_an_answer_that_is_none(text: str, golden: Golden) -> None:
    with golden.raises(ValueError):
        parse_device(text)


@pytest.mark.parametrize("answer", ["{", "[]", '{"signatures": 3}', '{"signatures": [{}]}', "nonsense"])
def test_signatures_that_can_not_be_read_are_unknown(answer: str) -> None:
    assert parse_device(f"kind\tdevice\nsignatures\t{answer}\n").signatures is None


def test_no_signature_is_not_an_unknown_one() -> None:
    """Releases of wipefs differ in what they print for nothing."""
    for answer in ("", '{"signatures": []}', '{   "signatures": [   ]}'):
        assert parse_device(f"kind\tdevice\nsignatures\t{answer}\n").signatures == ()


# ---------------------------------------------------------------------------------------------- mapped images


def sysfs(root: Path, device: str, **keys: str) -> str:
    """A /sys in which a device is /dev/rbd7, as a kernel with rbd has it."""
    status = Path(device).stat()
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    node = root / "devices/rbd/7/block/rbd7"
    node.mkdir(parents=True)
    (node / "size").write_text(f"{SIZE // 512}\n")
    (node / "ro").write_text("0\n")
    (root / "dev/block").mkdir(parents=True)
    (root / "dev/block" / number).symlink_to(node)
    mapping = root / "bus/rbd/devices/7"
    mapping.mkdir(parents=True)
    for key, value in keys.items():
        (mapping / key).write_text(f"{value}\n")
    return str(root)


KEYS = {"pool": "rbd", "name": "bench", "pool_ns": "", "current_snap": "-", "client_id": "client4711"}


def test_a_mapped_image_is_known(device: str, tmp_path: Path) -> None:
    facts = inspect(device, sysfs(tmp_path, device, **KEYS, cluster_fsid="f"))
    assert (facts.name, facts.rbd) == ("rbd7", RbdMapping("rbd", "bench", client=4711, fsid="f"))
    assert guard_device(device, facts, SPAN, (device,)) is None


@pytest.mark.parametrize(
    ("keys", "image"),
    [({"pool_ns": "tenant"}, "rbd/tenant/bench"), ({"current_snap": "before"}, "bench"), ({"name": ""}, "")],
)
def test_a_mapped_image_that_is_refused(
    device: str, tmp_path: Path, keys: dict[str, str], image: str, golden: Golden
) -> None:
    facts = inspect(device, sysfs(tmp_path, device, **{**KEYS, **keys}))
    found = guard_device(device, facts, SPAN, (device,))
    assert found is not None
    assert found.confirm is None
    assert image in found.problem
    golden.same(found.problem)


def test_a_device_that_guests_have_is_refused(device: str, tmp_path: Path, golden: Golden) -> None:
    folder = tmp_path / "nodes/pve2/qemu-server"
    folder.mkdir(parents=True)
    link = tmp_path / "by-id"
    link.symlink_to(device)
    (folder / "1.conf").write_text("scsi0: local:vm-1-disk-0\n")
    (folder / "2.conf").write_text(f"scsi0: /dev/null,size=1G\nscsi1: {device},size=64M\n")
    facts = inspect(device, "/sys", str(tmp_path))
    assert facts.references == (f"{folder}/2.conf",)
    found = guard_device(device, facts, SPAN, (device,))
    assert found is not None
    golden.same(found.problem)


def test_a_loop_device_that_is_detached_meanwhile_is_no_error(device: str, tmp_path: Path) -> None:
    """Its file in /sys is there when it is looked for, and can't be read any more."""
    root = sysfs(tmp_path, device)
    (tmp_path / "block/loop9/loop/backing_file").mkdir(parents=True)
    assert inspect(device, root).name == "rbd7"


# ---------------------------------------------------------------------------------------------- the guard


PATH = "/dev/sdx"
FREE = DeviceFacts("device", "sdx", "8:1", 1 << 40, root=True, signatures=(), claim="free")


@pytest.mark.parametrize(
    "more",
    [
        {"holders": ("dm-0",)},
        {"signatures": ("zfs_member",)},
        {"signatures": ("linux_raid_member",)},
        {"signatures": ("crypto_LUKS",)},
        {"signatures": ("xfs", "zfs_member")},
        {"signatures": ("btrfs",)},
        {"signatures": ("gpt", "PMBR")},
        {"partitions": ("sdx1",)},
        {"claim": "busy"},
        {"claim": None},
        {"name": None},
        {"unreadable": ("/etc/pve/x.conf",)},
        {"aliases": ("/dev/zvol/rpool/data/vm-100-disk-0",)},
        {"aliases": ("/dev/rbd/p/base-9-disk-0",)},
        {"volume": "pve-vm--100--disk--0"},
        {"volume": "pve-data_tmeta", "volume_uuid": f"LVM-{'a' * 64}-tmeta"},
        {"name": "rbd3"},
    ],
)
def test_what_the_guard_refuses(more: dict[str, Any], golden: Golden) -> None:
    found = guard_device(PATH, replace(FREE, **more), SPAN, (PATH, "sdx"))
    assert found is not None
    assert found.confirm is None
    golden.same(found.problem)
    assert found.remedy
    assert "\n" not in found.text


def test_a_logical_volume_may_be_given_up() -> None:
    facts = replace(FREE, name="dm-2", volume="vm--data-bench--1", volume_uuid=f"LVM-{'a' * 64}")
    found = guard_device("/dev/vg/bench-1", facts, SPAN, ())
    assert found is not None
    assert found.confirm == "bench-1"
    assert guard_device("/dev/vg/bench-1", facts, SPAN, ("bench-1",)) is None


def test_many_users_are_cut_short(golden: Golden) -> None:
    found = guard_device(PATH, replace(FREE, openers=("a (1)", "b (2)", "c (3)", "d (4)", "e (5)")), SPAN, ())
    assert found is not None
    golden.same(found.problem)
