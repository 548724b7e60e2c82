"""File targets: the real scripts on real files; a file that is somebody's is never touched."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import Node
from cephtui.models.refusal import Refusal
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.shell import NodeShell
from cephtui.running.cleanup import remove_patiently
from cephtui.sessions.undo import Undo
from cephtui.targets import TargetError, parse_target, target_examples
from cephtui.targets import file as file_target
from cephtui.targets.base import DataLayout
from cephtui.targets.devices import QUEUES_FUNCTION, parse_queues
from cephtui.targets.file import FileFacts, FileTarget, parse_file_facts
from cephtui.tools.fio import Fio
from tests.support import disks
from tests.support.golden import Golden

SPAN = 1 << 20
NAMES = [
    "plain",
    "a b",
    "it's",
    'say "x"',
    "co:lon",
    "back\\slash",
    "-rf",
    "--",
    "*",
    "$HOME",
    "`x`",
    "ünï",
    ".hid",
    "=%,",
]


def run(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)


def inspect(path: Path | str) -> FileFacts:
    with disks.opening():
        completed = run(file_target.inspect_file_argv(str(path)))
    assert (completed.returncode, completed.stderr) == (0, "")
    return parse_file_facts(completed.stdout)


def create(path: Path | str, span: int = SPAN) -> subprocess.CompletedProcess[str]:
    return run(file_target.create_argv(str(path), span))


def remove(path: Path | str) -> subprocess.CompletedProcess[str]:
    return run(file_target.remove_argv(str(path)))


def refusal(path: Path | str, *destroy: str, span: int = SPAN) -> Refusal | None:
    return file_target.guard_file(str(path), inspect(path), span, destroy)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours"
    assert create(path).returncode == 0
    return path


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "foreign"
    path.write_bytes(b"somebody's " * 1000)
    return path


# ---------------------------------------------------------------------------------------------- the name


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_a_target(tmp_path: Path, name: str) -> None:
    target = parse_target(f"file:{tmp_path}/{name}")
    assert isinstance(target, FileTarget)
    assert target.path == f"{tmp_path}/{name}"
    assert parse_target(target.spec) == target


def test_a_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert parse_target("file:-rf") == FileTarget(f"{tmp_path}/-rf")
    assert parse_target("file:~/scratch") == FileTarget("/home/somebody/scratch")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/tmp/x", "file:/tmp/x"),
        ("/dev/vda", "device:/dev/vda"),
        ("File:/tmp/x", "file:/tmp/x"),
        ("RBD:a/b", "rbd:a/b"),
    ],
)
def test_what_was_meant_is_offered(text: str, meant: str) -> None:
    with pytest.raises(TargetError, match=f"^unknown target {text!r}: did you mean {meant}\\?$"):
        parse_target(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "nfs:export", "disk:/dev/sda"),
        *("file:", "device:", "rbd:", "pool:"),
    ],
)
def test_other_schemes_are_refused(text: str) -> None:
    *others, last = target_examples()
    expected = re.escape(f"unknown target {text!r}: expected {', '.join(others)} or {last}")
    with pytest.raises(TargetError, match=f"^{expected}$"):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "kind", "pool", "is_managed", "single_client"),
    [
        ("file:/mnt/x", "file", None, True, False),
        ("device:/dev/sdz", "device", None, False, False),
        ("rbd:bench", "rbd", "bench", True, False),
        ("rbd:bench/vm-100-disk-0", "image", "bench", False, True),
        ("pool:bench", "pool", "bench", True, False),
        ("krbd:bench", "device", "bench", True, False),
        ("krbd:bench+ext4", "file", "bench", True, False),
        ("krbd:bench+xfs", "file", "bench", True, False),
    ],
)
def test_every_scheme_is_a_kind_of_target(
    text: str, kind: str, pool: str | None, is_managed: bool, single_client: bool
) -> None:
    target = parse_target(text)
    assert (target.kind, target.pool) == (kind, pool)
    assert (target.is_managed, target.single_client) == (is_managed, single_client)
    assert target.spec == text
    assert parse_target(target.spec) == target


@pytest.mark.parametrize(
    "text",
    [
        "device:/tmp/x",
        "device:/dev/",
        "krbd:bench+btrfs",
        "krbd:bench+",
        "krbd:bench/image",
        "rbd:bench/space/image",
        "rbd:bench/",
        "rbd:/image",
        "rbd:bench@snap",
        "rbd:bench/image@snap",
        "rbd:a b",
        "rbd:bench\x00",
        "pool:bench/image",
        "pool:a\nb",
    ],
)
def test_what_a_scheme_can_not_mean_is_refused(text: str, golden: Golden) -> None:
    with golden.raises(TargetError) as error:
        parse_target(text)
    assert str(error.value).startswith(f"target {text!r}: ")


def test_images_are_named_by_who_makes_them_and_not_made_up(golden: Golden) -> None:
    layout = DataLayout(jobs=2, size_bytes=1 << 20, alone=True, batch="b")
    _, parts = parse_target("rbd:bench", owner_id="me").lay_out(Node(name="pve1"), layout)
    assert [part.spec for part in parts] == ["rbd:bench/cephtui-me-pve1-0", "rbd:bench/cephtui-me-pve1-1"]
    with golden.raises(AssertionError):
        parse_target("rbd:bench").lay_out(Node(name="pve1"), layout)


def test_a_data_pool_is_for_new_images_only(golden: Golden) -> None:
    assert parse_target("rbd:bench", data_pool="ec").data_pool == "ec"
    for other in ("file:/mnt/x", "device:/dev/sdz", "rbd:bench/image", "pool:bench"):
        with golden.raises(TargetError):
            parse_target(other, data_pool="ec")


@pytest.mark.parametrize("path", ["/", "/tmp/..", "..", "/tmp/a\nb", "/tmp/a\tb", "/tmp/a\x00b", "/tmp/a\x1bb"])
def test_what_names_no_file_is_refused(path: str, golden: Golden) -> None:
    with golden.raises(TargetError):
        parse_target(f"file:{path}")


@pytest.mark.parametrize("path", ["/tmp/vm;2", "/tmp/a#b", "/tmp/d#/b", "/tmp/a ", "/tmp/a\x7f"])
def test_names_that_fio_would_shorten_are_refused(path: str, golden: Golden) -> None:
    """fio would write to /tmp/vm, whosever that is."""
    with golden.raises(TargetError):
        parse_target(f"file:{path}")


def test_an_unknown_user_is_refused(golden: Golden) -> None:
    with golden.raises(TargetError):
        parse_target("file:~nobody-of-this-name/x")


@given(st.text(max_size=30))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    try:
        target = parse_target(f"file:{text}")
    except TargetError:
        return
    assert isinstance(target, FileTarget)
    assert target.path.startswith("/")
    assert not target.path.endswith((" ", "/"))


@pytest.mark.parametrize("name", NAMES)
def test_fio_writes_to_just_the_file_that_is_named(tmp_path: Path, name: str) -> None:
    fio = shutil.which("fio")
    assert fio, "fio is not installed: apt-get install fio"
    target = parse_target(f"file:{tmp_path}/{name}")
    place, _ = target.lay_out(Node(name="local"), DataLayout(jobs=1, size_bytes=8192, alone=True, batch="b"))
    options = Fio().check_options({"rw": "write", "ioengine": "psync", "direct": False, "time_based": False})
    completed = run([fio, *Fio().bind(options).argv("x", 8192, place)[1:]])
    assert completed.returncode == 0, completed.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


# ---------------------------------------------------------------------------------------------- inspecting


def test_a_missing_file(tmp_path: Path) -> None:
    facts = inspect(tmp_path / "new")
    assert (facts.kind, facts.writable, facts.directory, facts.marked, facts.busy) == (
        "missing",
        True,
        True,
        False,
        False,
    )
    assert (facts.size, facts.allocated, facts.inode) == (0, 0, None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_ours(ours: Path) -> None:
    facts = inspect(ours)
    status = ours.stat()
    assert (facts.kind, facts.writable, facts.marked, facts.busy) == ("file", True, True, False)
    assert (facts.size, facts.allocated) == (SPAN + file_target.MARK_BYTES, status.st_blocks * 512)
    assert facts.inode == f"{status.st_dev}:{status.st_ino}"


def test_a_foreign_file(foreign: Path) -> None:
    facts = inspect(foreign)
    assert (facts.kind, facts.size, facts.marked) == ("file", 11000, False)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"cephtui scratch fil", b"\0" * 8192, b"cephtui scratch file" + b"\0" * 8192]
)
def test_only_the_last_block_can_carry_the_mark(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert not inspect(path).marked


def test_the_free_space_is_that_of_the_file_system(tmp_path: Path) -> None:
    facts = inspect(tmp_path / "new")
    status = os.statvfs(tmp_path)
    assert facts.total == pytest.approx(status.f_blocks * status.f_frsize)
    assert facts.free == pytest.approx(status.f_bavail * status.f_frsize, abs=1 << 30)
    assert facts.filesystem
    assert facts.device


def test_without_a_directory(tmp_path: Path) -> None:
    facts = inspect(tmp_path / "none" / "new")
    assert (facts.kind, facts.directory, facts.writable, facts.free) == ("missing", False, False, None)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


KINDS: dict[str, Callable[[Path], None]] = {
    "directory": Path.mkdir,
    "fifo": os.mkfifo,
    "socket": make_socket,
    "symbolic link": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_named_and_refused(tmp_path: Path, kind: str, golden: Golden) -> None:
    path = tmp_path / "x"
    KINDS[kind](path)
    assert inspect(path).kind == kind
    found = refusal(path, "x", str(path))
    assert found is not None
    assert found == Refusal(found.problem, found.remedy)
    assert str(path) in found.problem
    assert kind in found.problem
    golden.same(found.text)
    assert create(path).returncode != 0
    remove(path)
    assert path.is_symlink() or path.exists()


def test_a_device_is_refused(golden: Golden) -> None:
    assert inspect("/dev/null").kind == "character special file"
    found = refusal("/dev/null", "null", "/dev/null")
    assert found is not None
    golden.same(found.text)


@pytest.mark.parametrize("text", ["", "bash: no such command", "size\t5\n", "kind missing\n"])
def test_an_answer_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="unexpected answer"):
        parse_file_facts(text)


# ---------------------------------------------------------------------------------------------- making and removing


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_made_and_removed_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    made = create(path)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.strip() == inspect(path).inode
    assert inspect(path).marked
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    assert remove(path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("span", [512, 4096, SPAN + 512, 1 << 33])
def test_the_span_is_free_for_the_benchmark(tmp_path: Path, span: int) -> None:
    path = tmp_path / "x"
    assert create(path, span).returncode == 0
    assert path.stat().st_size == span + file_target.MARK_BYTES
    with path.open("r+b") as file:
        file.write(b"\xff" * min(span, SPAN))
        file.seek(span)
        assert file.read(len(file_target.MARK)) == file_target.MARK.encode()
    assert inspect(path).marked
    assert remove(path).returncode == 0


@pytest.mark.parametrize("span", [SPAN // 2, SPAN, SPAN * 4])
def test_a_file_of_ours_is_fitted_to_another_span(ours: Path, span: int) -> None:
    with ours.open("r+b") as file:
        file.write(b"data")
    inode = inspect(ours).inode
    assert create(ours, span).stdout.strip() == inode
    facts = inspect(ours)
    assert (facts.marked, facts.size, facts.inode) == (True, span + file_target.MARK_BYTES, inode)
    assert ours.read_bytes()[:4] == b"data"


def test_without_a_directory_nothing_is_made(tmp_path: Path) -> None:
    made = create(tmp_path / "none" / "x")
    assert made.returncode != 0
    assert "No such file or directory" in made.stderr


def test_removing_what_is_gone_is_no_error(tmp_path: Path) -> None:
    assert remove(tmp_path / "x").returncode == 77


def test_a_foreign_file_is_never_changed_or_removed(foreign: Path) -> None:
    before = (foreign.read_bytes(), foreign.stat().st_mtime_ns, foreign.stat().st_ino)
    inspect(foreign)
    made = create(foreign)
    assert (made.returncode, made.stderr) == (1, f"{foreign} exists and was not made by cephtui\n")
    removed = remove(foreign)
    assert (removed.returncode, removed.stderr) == (76, f"{foreign} does not carry cephtui's mark any more\n")
    assert (foreign.read_bytes(), foreign.stat().st_mtime_ns, foreign.stat().st_ino) == before


def test_a_link_to_a_foreign_file_is_as_foreign(tmp_path: Path, foreign: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(foreign)
    facts = inspect(link)
    assert (facts.kind, facts.marked, facts.size) == ("file", False, 11000)
    assert refusal(link) is not None
    assert (create(link).returncode, remove(link).returncode) == (1, 76)
    assert foreign.read_bytes() == b"somebody's " * 1000
    assert link.is_symlink()


def test_a_link_to_ours_is_not_removed(tmp_path: Path, ours: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(ours)
    assert inspect(link).marked
    assert remove(link).returncode == 76
    assert link.is_symlink()
    assert ours.exists()


def test_a_dangling_link_makes_no_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    assert create(link).returncode != 0
    assert not (tmp_path / "elsewhere").exists()
    assert remove(link).returncode == 77
    assert link.is_symlink()


def test_a_file_in_use_is_told_refused_and_not_removed(ours: Path, golden: Golden) -> None:
    with ours.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert inspect(ours).busy
        refused, removed = refusal(ours), remove(ours)
        assert refused is not None
        assert refused == Refusal(refused.problem, refused.remedy)
        assert removed.returncode == 75
        golden.same([refused.text, removed.stderr])
        assert ours.exists()
    assert not inspect(ours).busy
    assert refusal(ours) is None
    assert remove(ours).returncode == 0


def test_a_lock_that_cephfs_keeps_of_a_client_that_was_cut_off_does_not_keep_the_file(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in says that it is CephFS, and that the lock is held; a process that has the file open is a real one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, body in (("flock", "exit 75"), ("stat", '[ "$1" = -f ] && echo ceph || exec /usr/bin/stat "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with ours.open("rb"):
        assert remove(ours).returncode == 75
    assert ours.exists()
    assert remove(ours).returncode == 0
    assert not ours.exists()


async def test_the_removal_of_a_file_waits_for_a_process_that_ends(ours: Path, golden: Golden) -> None:
    """On a shared file system it holds its file until its last I/O has come back."""
    said = list[str]()
    with ours.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def say(text: str) -> None:
            said.append(text)
            file.close()

        shell, undo = NodeShell(Node(name="local"), LocalConnection()), Undo(node="local", target=f"file:{ours}")
        assert (await remove_patiently(shell, undo, say)).status == "done"
    golden.same(said)
    assert not ours.exists()


def owned(verb: str, path: Path, owner: str) -> subprocess.CompletedProcess[str]:
    create = file_target.create_argv(str(path), SPAN, owner)
    return run(create if verb == "create" else file_target.remove_argv(str(path), owner))


def test_only_its_owner_removes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for owner, others in (("one-0f", ("", "one-0", "one-0f1", "*", ".*")), ("", ("one-0f",))):
        assert owned("create", path, owner).returncode == 0
        for other in others:
            removed = owned("remove", path, other)
            assert (removed.returncode, removed.stderr) == (76, f"{path} carries the mark of another session\n")
        assert inspect(path).marked
        assert owned("remove", path, owner).returncode == 0
        assert not path.exists()
    # who uses a file that another has left makes it its own
    owned("create", path, "one")
    assert owned("create", path, "two").returncode == 0
    assert owned("remove", path, "one").returncode == 76
    assert owned("remove", path, "two").returncode == 0


def test_what_is_not_there_is_told_with_the_file_system_that_it_would_be_on(tmp_path: Path) -> None:
    point = run(("stat", "-c", "%m", str(tmp_path))).stdout
    for path in (tmp_path / "x", tmp_path / "not" / "there" / "x"):
        removed = remove(path)
        assert (removed.returncode, removed.stderr) == (77, point)
    assert inspect(tmp_path / "x").mount == point.strip()


def test_a_given_up_file_is_extended_in_its_place(tmp_path: Path, foreign: Path) -> None:
    before = foreign.stat()

    def extend(size: int, identity: str = f"{before.st_dev}:{before.st_ino}") -> int:
        return run(file_target.extend_argv(str(foreign), identity, size)).returncode

    assert extend(before.st_size + 5000) == 0
    after = foreign.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size + 5000)
    assert extend(1) == 0
    assert foreign.stat().st_size == before.st_size + 5000, "it never becomes smaller"
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / "other").replace(foreign)
    assert extend(1 << 20) == 1
    assert foreign.read_bytes() == b"other"
    foreign.unlink()
    assert extend(1 << 20) == 1
    assert not foreign.exists()


def test_what_is_no_file_is_not_taken_and_says_so(tmp_path: Path) -> None:
    fifo, folder = tmp_path / "fifo", tmp_path / "folder"
    os.mkfifo(fifo)
    folder.mkdir()
    for path in (fifo, folder):
        made = create(path)
        assert (made.returncode, made.stderr) == (1, f"{path} exists and was not made by cephtui\n")


def test_the_mark_is_whole_however_the_shell_writes_it(tmp_path: Path) -> None:
    """It comes in two pieces, and now and then only the first is there when it is asked for."""
    path = tmp_path / "x"
    for number in range(100):
        assert owned("create", path, f"one-{number}").returncode == 0
        assert path.read_bytes()[SPAN:].strip(b"\0").split(b"\n")[1] == f"one-{number}".encode()
        assert path.stat().st_size == SPAN + file_target.MARK_BYTES


def test_a_mark_that_is_not_read_to_its_end_is_nobody_elses(tmp_path: Path) -> None:
    """What reads it may be killed; the file stays on the list then."""
    path, programs = tmp_path / "x", tmp_path / "bin"
    assert owned("create", path, "one").returncode == 0
    programs.mkdir()
    (programs / "sed").write_text("#!/bin/sh\nkill -KILL $$\n")
    (programs / "sed").chmod(0o755)
    command = ("env", f"PATH={programs}:{os.environ['PATH']}", *file_target.remove_argv(str(path), "one"))
    removed = run(command)
    assert removed.returncode == 1
    assert removed.stderr.endswith(f"the mark of {path} can't be read\n")
    assert path.exists()


def test_a_file_with_another_name_besides_is_not_removed(tmp_path: Path, ours: Path) -> None:
    link = tmp_path / "link"
    link.hardlink_to(ours)
    for path in (ours, link):
        removed = remove(path)
        assert (removed.returncode, removed.stderr) == (76, f"{path} has other names (hard links)\n")
    link.unlink()
    assert remove(ours).returncode == 0


def test_a_file_that_is_replaced_while_the_removal_waits_is_not_removed(ours: Path, foreign: Path) -> None:
    with ours.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        command = file_target.remove_argv(str(ours))
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as removing:
            inode = ours.stat().st_ino
            while not any(
                f":{inode} " in line and "->" in line for line in Path("/proc/locks").read_text().splitlines()
            ):
                assert removing.poll() is None
            foreign.replace(ours)
            fcntl.flock(file, fcntl.LOCK_UN)
            assert removing.wait(20) == 76
    assert ours.read_bytes() == b"somebody's " * 1000


# ---------------------------------------------------------------------------------------------- the guard


GIB = 1 << 30
NEW = FileFacts("missing", writable=True, directory=True, free=100 * GIB, total=200 * GIB, filesystem="ext4")
PATH = "/mnt/bench/vm-100"


def guard(facts: FileFacts, *destroy: str, span: int = GIB) -> Refusal | None:
    return file_target.guard_file(PATH, facts, span, destroy)


def test_a_new_file_and_one_of_ours_may_be_used(tmp_path: Path, ours: Path) -> None:
    assert refusal(tmp_path / "new") is None
    assert refusal(ours) is None


def test_a_foreign_file_must_be_given_up_by_its_name(foreign: Path, golden: Golden) -> None:
    found = refusal(foreign)
    assert found is not None
    assert found.confirm == "foreign"
    golden.same(found.text)
    assert refusal(foreign, "foreign") is None
    assert refusal(foreign, str(foreign)) is None
    for other in ("", "Foreign", "foreign ", "*", str(foreign.parent), "ours"):
        assert refusal(foreign, other) == found


def test_a_missing_directory_is_named(golden: Golden) -> None:
    found = guard(FileFacts("missing"))
    assert found is not None
    assert found == Refusal(found.problem, found.remedy)
    golden.same(found.text)


def test_what_can_not_be_written_is_named(golden: Golden) -> None:
    found = guard(FileFacts("missing", directory=True))
    assert found is not None
    golden.same(found.text)


def facts_with(free: int, total: int, allocated: int = 0) -> FileFacts:
    kind = "file" if allocated else "missing"
    marked = bool(allocated)
    return FileFacts(kind, allocated=allocated, writable=True, marked=marked, directory=True, free=free, total=total)


def test_too_little_space_is_told_with_the_figures(golden: Golden) -> None:
    found = guard(facts_with(free=3 * GIB, total=40 * GIB), span=2 * GIB)
    assert found is not None
    assert found.confirm is None
    golden.same(found.text)


def test_the_reserve_is_a_twentieth_of_the_file_system() -> None:
    span = 2 * GIB - file_target.MARK_BYTES
    assert guard(facts_with(free=4 * GIB, total=40 * GIB), span=span) is None
    assert guard(facts_with(free=4 * GIB - 1, total=40 * GIB), span=span) is not None


def test_what_the_file_has_already_is_not_needed_again() -> None:
    assert guard(facts_with(free=2 * GIB, total=40 * GIB, allocated=GIB + file_target.MARK_BYTES), span=GIB) is None
    assert guard(facts_with(free=2 * GIB, total=40 * GIB), span=GIB) is not None


def test_unknown_space_is_no_reason() -> None:
    assert guard(FileFacts("missing", writable=True, directory=True)) is None


def test_a_full_file_system_is_not_negative() -> None:
    found = guard(facts_with(free=0, total=40 * GIB))
    assert found is not None
    assert "0 B free" in found.text


# ---------------------------------------------------------------------------------------------- findings


@pytest.mark.parametrize(
    ("filesystem", "memory", "direct", "codes"),
    [
        ("ext4", (), True, []),
        ("ext4", (), False, ["page-cache"]),
        ("ext4", ("tmpfs",), True, ["memory"]),
        ("tmpfs", ("tmpfs",), True, ["memory"]),
        ("ramfs", ("ramfs",), False, ["memory"]),
        ("zfs", (), True, ["file-system-cache"]),
        (None, (), True, []),
    ],
)
def test_what_may_be_memory_is_said(
    filesystem: str | None, memory: tuple[str, ...], direct: bool, codes: list[str]
) -> None:
    facts = FileFacts("missing", filesystem=filesystem, memory=memory)
    found = file_target.file_findings(facts, {"direct": direct})
    assert [finding.code for finding in found] == codes
    assert all("memory" in finding.text for finding in found)


def test_a_loop_device_below_a_file_may_cache(golden: Golden) -> None:
    (found,) = file_target.file_findings(FileFacts("missing", filesystem="xfs", cached=("loop3",)), {"direct": True})
    assert found.code == "file-system-cache"
    golden.same(found.text)


def test_a_file_in_memory_is_known_whether_or_not_it_exists() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "x"
        assert inspect(path).memory == ("tmpfs",)
        path.touch()
        assert inspect(path).memory == ("tmpfs",)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        assert inspect(Path(folder) / "x").memory == ()


def queues_below(name: str, block: Path) -> dict[str, str]:
    """As the scripts report those of a device of this name in sysfs."""
    script = f'{QUEUES_FUNCTION}say() {{ printf "%s\\t%s\\n" "$@"; }}\nqueues "$1"'
    completed = run(["bash", "-c", script, "test", str(block / name)])
    assert completed.stderr == ""
    return dict(parse_queues(completed.stdout))


def disk(block: Path, name: str, scheduler: str, requests: int = 256) -> Path:
    queue = block / name / "queue"
    queue.mkdir(parents=True)
    (queue / "scheduler").write_text(f"{scheduler}\n")
    (queue / "nr_requests").write_text(f"{requests}\n")
    return block / name


def test_the_queues_of_the_disks_under_a_volume(tmp_path: Path) -> None:
    """A volume of a RAID of partitions of two disks."""
    disks = disk(tmp_path, "sda", "none [mq-deadline] kyber"), disk(tmp_path, "sdb", "[none] mq-deadline")
    raid, volume = disk(tmp_path, "md0", "none", 1), disk(tmp_path, "dm-0", "none", 1)
    for each in (raid, volume):
        (each / "slaves").mkdir()
    (volume / "slaves" / "md0").symlink_to(raid)
    for each in disks:
        part = each / f"{each.name}1"
        part.mkdir()
        (part / "partition").write_text("1\n")
        (raid / "slaves" / part.name).symlink_to(part)
    assert queues_below("sda/sda1", tmp_path) == {"queue/scheduler": "mq-deadline", "queue/nr_requests": "256"}
    assert queues_below("dm-0", tmp_path) == {"queue/scheduler": "mq-deadline, none", "queue/nr_requests": "256"}
    assert queues_below("missing", tmp_path) == {}


def test_a_file_has_the_queues_of_its_disk(tmp_path: Path) -> None:
    facts = inspect(tmp_path / "new")
    if Path(facts.device or "").is_block_device():
        assert facts.queues["queue/read_ahead_kb"].isdigit()
    else:
        assert facts.queues == {}


def test_a_long_list_of_queues_is_cut() -> None:
    text = "".join(f"queue/scheduler\ts{n}\nqueue/x{n}\t1\n" for n in range(10_000))
    found = parse_queues(text)
    assert (list(found), len(found["queue/scheduler"])) == (["queue/scheduler"], 200)
