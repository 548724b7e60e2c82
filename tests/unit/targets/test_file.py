"""What a path leads to, and who else uses that: an OSD's data under any name, and a file that anybody has open."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cephtui.models.refusal import Refusal
from cephtui.targets import devices
from cephtui.targets import file as file_target
from cephtui.targets.devices import guard_device, parse_device
from cephtui.targets.file import FileFacts, parse_file_facts
from tests.support import disks
from tests.support.golden import Golden

SPAN = 1 << 20
LABEL = b"bluestore block device\n"
LOOKING = (
    "bash", "cat", "dd", "df", "dirname", "find", "flock", "grep", "head", "id", "readlink",
    "sort", "stat", "tail", "tr",
)  # fmt: skip
"""What a look at a file uses, besides what asks for the claim."""
Held = Callable[[Path], contextlib.AbstractContextManager[object]]


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder with a blank in its name, not below pytest's: see tests/support/disks.py."""
    with tempfile.TemporaryDirectory(prefix="cephtui leads ", dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def osd(disk: Path) -> Path:
    """The data directory of an OSD that does not run."""
    folder = disk / "osd.7"
    (folder / "current").mkdir(parents=True)
    for name, text in {
        "whoami": b"7\n",
        "ceph_fsid": b"x\n",
        "block": LABEL + bytes(8192),
        "current/1": b"object",
    }.items():
        (folder / name).write_bytes(text)
    return folder


def inspected(path: Path, *before: str) -> FileFacts:
    argv = [*before, *file_target.inspect_file_argv(str(path))]
    with disks.opening():
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return parse_file_facts(done.stdout)


def given_up(path: Path, *before: str) -> Refusal | None:
    return file_target.guard_file(str(path), inspected(path, *before), SPAN, (str(path), path.name))


def mounted(what: Path, at: Path) -> tuple[str, ...]:
    """Words before a command that sees one bound to the other, and nobody else does."""
    if what.is_dir():
        at.mkdir()
    else:
        at.touch()
    return (
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount --bind "$1" "$2" && shift 2 && exec "$@"',
        "sh",
        str(what),
        str(at),
    )


# ---------------------------------------------------------------------------------------------- an OSD's data


def test_a_link_to_the_block_of_an_osd_is_refused(osd: Path, disk: Path, golden: Golden) -> None:
    (disk / "l").symlink_to(osd / "block")
    (disk / "through").symlink_to("l")
    (disk / "folder").symlink_to(osd)
    os.link(osd / "block", disk / "hard")
    for path in (disk / "l", disk / "through", disk / "folder" / "block", osd / "block"):
        found = given_up(path)
        assert found, path
        golden.same(found.text)
    found = given_up(disk / "hard")
    assert found
    golden.same(found.problem)
    assert found.confirm is None
    assert (osd / "block").read_bytes().startswith(LABEL)


@pytest.mark.parametrize("at", [1 << 30, 10 << 30])
def test_an_osd_is_known_by_the_copies_of_its_label(disk: Path, at: int) -> None:
    path = disk / "copied"
    with path.open("wb") as file:
        file.seek(at)
        file.write(LABEL)
    assert inspected(path).is_osd_data


@pytest.mark.root
@pytest.mark.parametrize(
    ("shown", "name"), [("block", ""), ("current/1", ""), ("current", "1"), ("current", "new"), (".", "new")]
)
def test_a_bind_mount_of_what_an_osd_has_is_refused(
    osd: Path, disk: Path, shown: str, name: str, golden: Golden
) -> None:
    path, words = disk / "bound" / name, mounted(osd / shown, disk / "bound")
    found = given_up(path, *words)
    assert found
    golden.same(found.remedy)


def test_a_file_that_is_nobodys_is_given_up_under_any_name(disk: Path) -> None:
    (disk / "mine").write_bytes(b"mine")
    (disk / "l").symlink_to("mine")
    os.link(disk / "mine", disk / "hard")
    assert [given_up(disk / name) for name in ("mine", "l", "hard", "new")] == [None] * 4


# ---------------------------------------------------------------------------------------------- in use


@contextlib.contextmanager
def opened(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        yield file


@contextlib.contextmanager
def mapped(path: Path) -> Iterator[object]:
    with path.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    yield memory
    memory.close()


def _locked(command: int) -> Held:
    @contextlib.contextmanager
    def held(path: Path) -> Iterator[object]:
        with path.open("r+b") as file:
            fcntl.fcntl(file, command, struct.pack("hhxxxxqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            yield file

    return held


@contextlib.contextmanager
def of_another(path: Path) -> Iterator[object]:
    """By a process that can't be seen from where it is looked."""
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; f = open(sys.argv[1], 'r+b'); print(flush=True); sys.stdin.read()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.communicate()


WAYS: dict[str, Held] = {
    "open": opened,
    "mapped": mapped,
    "POSIX lock": _locked(fcntl.F_SETLK),
    "OFD lock": _locked(fcntl.F_OFD_SETLK),
    "another process": of_another,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["image", "l", "hard"])
def test_a_file_that_anybody_has_open_is_not_given_up(disk: Path, way: str, name: str, golden: Golden) -> None:
    (disk / "image").write_bytes(bytes(8192))
    (disk / "l").symlink_to("image")
    os.link(disk / "image", disk / "hard")
    with WAYS[way](disk / "image") as held:
        found = given_up(disk / name)
        holder = held.pid if isinstance(held, subprocess.Popen) else os.getpid()
        who = f"{Path(f'/proc/{holder}/comm').read_text().strip()} ({holder})"
    assert found
    assert found.confirm is None
    assert found.problem.startswith(f"{disk / name} ")
    assert found.problem.endswith(f" {who}")
    told = found.problem.removeprefix(f"{disk / name} ").removesuffix(who)
    golden.same([told, found.remedy], "targets/file: a file that anybody has open")
    assert given_up(disk / name) is None


@pytest.mark.root
def test_a_file_that_is_open_where_nobody_sees_it_is_not_given_up(disk: Path, golden: Golden) -> None:
    """Inside of a container, whose processes are its own."""
    (disk / "image").write_bytes(bytes(8192))
    inside = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    assert given_up(disk / "image", *inside) is None
    with of_another(disk / "image"):
        found = given_up(disk / "image", *inside)
    assert found
    golden.same(found.problem)


@pytest.mark.root
@pytest.mark.parametrize("asks", [shutil.which("perl"), sys.executable], ids=["perl", "python3"])
def test_those_that_look_at_the_same_time_do_not_refuse_each_other(disk: Path, asks: str) -> None:
    programs, path = disk / "bin", disk / "file"
    programs.mkdir()
    (programs / ("python3" if asks == sys.executable else "perl")).symlink_to(asks)
    for name in LOOKING:
        (programs / name).symlink_to(str(shutil.which(name)))
    path.write_bytes(bytes(8192))
    with ThreadPoolExecutor(6) as pool:
        looks = pool.map(lambda _: inspected(path, "env", f"PATH={programs}"), range(48))
    assert {(facts.claim, facts.openers) for facts in looks} == {("free", ())}


def test_a_file_behind_a_loop_device_is_not_given_up(disk: Path, golden: Golden) -> None:
    (disk / "image").write_bytes(bytes(1 << 20))
    with disks.attached(disk / "image"):
        found = given_up(disk / "image")
    assert found
    golden.same(found.problem)


@pytest.mark.root
@pytest.mark.parametrize("offset", [0, 4096])
def test_a_loop_device_on_the_block_of_an_osd_is_refused(osd: Path, disk: Path, offset: int, golden: Golden) -> None:
    (osd / "block").write_bytes(LABEL + bytes(1 << 20))
    os.link(osd / "block", disk / "hard")
    with disks.attached(disk / "hard", "--offset", str(offset)) as name, disks.undisturbed():
        answer = subprocess.run(devices.inspect_device_argv(name), capture_output=True, text=True, check=True).stdout
    found = guard_device(name, parse_device(answer), SPAN, (name, Path(name).name))
    assert found
    golden.same(found.problem)


def test_who_has_a_file_open_is_unknown_without_root_and_a_lease(golden: Golden) -> None:
    facts = FileFacts(kind="file", writable=True, directory=True)
    found = file_target.guard_file("/x/y", facts, SPAN, ("y",))
    assert found
    golden.same(found.problem)
    for known in (FileFacts(kind="file", writable=True, directory=True, claim="free"),
                  FileFacts(kind="file", writable=True, directory=True, root=True)):  # fmt: skip
        assert file_target.guard_file("/x/y", known, SPAN, ("y",)) is None
