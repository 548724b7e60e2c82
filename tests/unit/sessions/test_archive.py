"""Saved sessions as a user handles them: listed from few bytes, noted, renamed, deleted; and what must not happen."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import SCHEMA_VERSION, ClusterEnvironment, NodeEnvironment, SessionNotes
from cephtui.models.session_row import SessionRow
from cephtui.sessions import archive, store, writer
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.store import StoreError
from cephtui.sessions.undo import Undo, left_behind
from cephtui.sessions.writer import SessionWriter, mark_undone, take_lock
from tests.support.golden import Golden
from tests.support.runs import nodes, run, total
from tests.support.sessions import write_run, write_session
from tests.unit.sessions.test_store import run_of, session_of_one_run

UNDO = Undo(node="local", target="file:/mnt/bench/test")
WRITING = """
import pathlib, sys
from cephtui.sessions.writer import SessionWriter
held = SessionWriter.open(pathlib.Path(sys.argv[1]), sys.argv[2])
print(flush=True)
sys.stdin.read()
"""


def varied(root: Path, name: str = "varied") -> Path:
    """A session of runs that differ in all that a listing tells."""
    ceph = ClusterEnvironment(ceph_version="16.2.15")
    runs = [
        run_of(name, 1, outcome="ok", nodes=nodes("b", "a")),
        run_of(name, 2, outcome="failed", preset="latency", cluster=ceph, nodes=nodes("a", "c")),
        run_of(name, 3, outcome="ok", environment={"d": NodeEnvironment()}),
    ]
    return write_session(root, runs, name=name)


def row_of(directory: Path) -> SessionRow:
    (row,) = [row for row in list_sessions(directory.parent) if row.session == directory.name]
    return row


def everything(root: Path) -> dict[str, bytes | str | None]:
    """All below a directory: contents of files, where links point to, None for directories."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(root.rglob("*")):
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = content
    return found


def kept(directory: Path) -> dict[str, bytes | str | None]:
    """The same without the lock, which whoever looks may make."""
    return {name: content for name, content in everything(directory).items() if Path(name).name != "lock"}


# ---------------------------------------------------------------------------------------------- listing


def test_a_row_tells_cluster_nodes_and_notes(root: Path) -> None:
    directory = varied(root)
    archive.write_notes(directory, SessionNotes(note="8G", tags=("lab",), baseline=2))
    row = row_of(directory)
    assert (row.runs, row.presets, row.outcomes) == (3, ("write-iops", "latency"), {"ok": 2, "failed": 1})
    assert (row.cluster, row.nodes) == ("ceph 16.2.15", ("b", "a", "c", "d"))
    assert (row.note, row.tags, row.baseline, row.error) == ("8G", ("lab",), 2, None)


def test_a_row_has_targets_and_the_best_of_the_runs_that_ended_well(root: Path) -> None:
    reads, writes = total(iops=120e3, bandwidth_bytes=480e6), total(iops=16.7e3, bandwidth_bytes=65e6)
    large, best = total(iops=180.0, bandwidth_bytes=732e6), total(iops=1e9, bandwidth_bytes=1e9)
    runs = [
        run(1, read=reads, write=writes),
        run(2, write=large, target="file:/mnt/a"),
        run(3, read=best, write=best, outcome="stopped"),
    ]
    row = row_of(write_session(root, runs))
    assert row.targets == ("rbd:bench", "file:/mnt/a")
    assert (row.best_read_iops, row.best_write_iops) == (120e3, 16.7e3)
    assert (row.best_read_bandwidth_bytes, row.best_write_bandwidth_bytes) == (480e6, 732e6)


def test_a_row_of_an_earlier_cephtui_is_made_again_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = varied(root)
    path, good = directory / "row.json", row_of(directory)
    now = path.read_text()
    earlier = json.loads(now)
    del earlier["row"]["targets"]
    path.write_text(json.dumps(earlier))
    assert row_of(directory) == good
    assert path.read_text() == now
    monkeypatch.setattr(store, "read_run", lambda *_: pytest.fail("a run was read"))
    assert row_of(directory) == good


def test_a_row_that_can_not_be_made_again_is_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = varied(root)
    good = row_of(directory)
    (directory / "row.json").write_text("{}")
    monkeypatch.setattr(os, "fsync", no_space)
    assert row_of(directory) == good


def test_a_cluster_that_does_not_tell_its_version_is_one(root: Path) -> None:
    assert row_of(write_session(root, [run(cluster=ClusterEnvironment())])).cluster == "ceph"


def test_a_closed_session_is_listed_without_reading_its_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = varied(root)
    (directory / "row.json").unlink()
    made = row_of(directory)
    SessionWriter.open(root, directory.name).close()
    monkeypatch.setattr(store, "read_run", lambda *_: pytest.fail("a run was read"))
    monkeypatch.setattr(store, "read_session", lambda *_: pytest.fail("session.json was read"))
    assert row_of(directory) == made


def test_a_row_is_kept_only_while_nobody_writes(root: Path) -> None:
    directory = varied(root)
    assert (directory / "row.json").exists()
    first = SessionWriter.open(root, directory.name)
    assert not (directory / "row.json").exists()
    first.close()
    assert (directory / "row.json").exists()
    second = SessionWriter.open(root, directory.name)
    first.close()
    assert not (directory / "row.json").exists()
    assert row_of(directory).writing
    second.close()


def test_a_row_in_a_session_that_is_written_does_not_count(root: Path) -> None:
    directory = varied(root)
    text = (directory / "row.json").read_text()
    (directory / "row.json").write_text(text.replace('"runs": 3', '"runs": 99'))
    assert row_of(directory).runs == 99
    with SessionWriter.open(root, directory.name)._held:
        (directory / "row.json").write_text(text.replace('"runs": 3', '"runs": 99'))
        assert (row_of(directory).runs, row_of(directory).writing) == (3, True)


def test_a_session_with_a_lost_run_keeps_no_row(root: Path) -> None:
    directory = session_of_one_run(root, "killed", outcome=None)
    assert not (directory / "row.json").exists()
    assert row_of(directory).outcomes == {"lost": 1}


def change_outcome(directory: Path) -> None:
    path = directory / "001" / "run.json"
    path.write_text(path.read_text().replace('"ok"', '"stopped"'))


def add_run(directory: Path) -> None:
    shutil.copytree(directory / "001", directory / "004")


def drop_run(directory: Path) -> None:
    shutil.rmtree(directory / "001")


@pytest.mark.parametrize(
    ("change", "outcomes"),
    [
        (change_outcome, {"stopped": 1, "failed": 1, "ok": 1}),
        (add_run, {"ok": 3, "failed": 1}),
        (drop_run, {"failed": 1, "ok": 1}),
    ],
)
def test_a_row_of_other_files_does_not_count(
    root: Path, change: Callable[[Path], None], outcomes: dict[str, int]
) -> None:
    directory = varied(root)
    change(directory)
    assert row_of(directory).outcomes == outcomes


def test_a_copied_session_has_the_name_of_its_directory(root: Path) -> None:
    directory = varied(root)
    shutil.copytree(directory, root / "copy")
    row = row_of(root / "copy")
    assert row == row_of(directory).model_copy(update={"session": "copy", "path": str(root / "copy")})
    assert store.read_run(root / "copy", 1).session == "copy"


def with_changed(text: str, *path: str, value: object) -> bytes:
    """JSON with another value somewhere."""
    data = json.loads(text)
    inner = data
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return json.dumps(data).encode()


HARMS: dict[str, Callable[[str], bytes]] = {
    "nothing in it": lambda text: b"",
    "torn": lambda text: text[: len(text) // 2].encode(),
    "a list": lambda text: b"[]",
    "null": lambda text: b"null",
    "not text": lambda text: b"\xff\xfe",
    "deep": lambda text: b"[" * 5000,
    "newer": lambda text: with_changed(text, "schema_version", value=SCHEMA_VERSION + 1),
    "no files": lambda text: with_changed(text, "files", value=None),
    "no row": lambda text: with_changed(text, "row", value=[]),
    "less than this version tells": lambda text: text.replace('"nodes"', '"other"').encode(),
    "no number": lambda text: with_changed(text, "row", "runs", value="many"),
    "no time zone": lambda text: with_changed(text, "row", "created_at", value="2026-01-02T03:04:05"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_broken_row_harms_nothing(root: Path, harm: str) -> None:
    directory = varied(root)
    good, path = row_of(directory), directory / "row.json"
    path.write_bytes(HARMS[harm](path.read_text()))
    assert row_of(directory) == good


def test_a_directory_in_place_of_the_row_harms_nothing(root: Path, golden: Golden) -> None:
    directory = varied(root)
    good = row_of(directory)
    (directory / "row.json").unlink()
    (directory / "row.json").mkdir()
    assert row_of(directory) == good
    with golden.raises(StoreError):
        SessionWriter.open(root, directory.name)
    assert not store.is_locked(directory)


def test_no_row_that_is_damaged_hides_a_session(root: Path) -> None:
    directory = varied(root)
    path = directory / "row.json"
    content = path.read_bytes()

    @given(start=st.integers(0, len(content)), length=st.integers(0, 40), piece=st.binary(max_size=20))
    def harms_nothing(start: int, length: int, piece: bytes) -> None:
        path.write_bytes(content[:start] + piece + content[start + length :])
        assert row_of(directory).error is None

    harms_nothing()


def test_a_session_that_can_not_be_looked_into_is_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shut, _ = varied(root, "shut"), varied(root, "open")
    real = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        if path == shut:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    errors = {row.session: row.error for row in list_sessions(root)}
    assert errors == {"shut": f"{shut}: Permission denied", "open": None}


def test_sessions_that_can_not_be_listed_are_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    varied(root)

    def iterdir(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with pytest.raises(StoreError, match=f"{root}: Permission denied"):
        list_sessions(root)


def test_a_row_that_can_not_be_kept_keeps_nobody_from_closing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = SessionWriter.open(root, "full")
    session.start_run(run_of("full")).finish(run_of("full", outcome="ok"))
    monkeypatch.setattr(writer, "write_whole", no_space)
    session.close()
    assert not store.is_locked(session.directory)
    assert (row_of(session.directory).runs, row_of(session.directory).error) == (1, None)


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


# ---------------------------------------------------------------------------------------------- notes


def test_a_session_without_notes_has_empty_ones(root: Path) -> None:
    assert archive.read_notes(varied(root)) == SessionNotes(note="", tags=(), baseline=None)


def test_one_note_is_changed_and_the_others_stay(root: Path) -> None:
    directory = varied(root)
    archive.annotate(directory, note="before tuning")
    archive.annotate(directory, tags=("lab", "nvme"))
    archive.annotate(directory, baseline=2)
    assert archive.read_notes(directory) == SessionNotes(note="before tuning", tags=("lab", "nvme"), baseline=2)
    archive.annotate(directory, baseline=None)
    assert archive.read_notes(directory) == SessionNotes(note="before tuning", tags=("lab", "nvme"))


def test_notes_are_one_line_that_no_terminal_obeys(root: Path) -> None:
    notes = archive.annotate(varied(root), note=" two\nlines\x1b[2J\t", tags=("a", "a", "\r", "b\n"))
    assert (notes.note, notes.tags) == ("two lines\\x1b[2J", ("a", "b"))


def test_what_is_no_note_is_refused(root: Path, golden: Golden) -> None:
    directory = varied(root)
    with golden.raises(StoreError):
        archive.annotate(directory, baseline="third")
    assert not (directory / "notes.json").exists()


@pytest.mark.parametrize(
    ("text", "tags"),
    [("", ()), ("lab", ("lab",)), ("lab, nvme", ("lab", "nvme")), ("  a  b,,a\t", ("a", "b"))],
)
def test_tags_are_typed_as_words(text: str, tags: tuple[str, ...]) -> None:
    assert archive.parse_tags(text) == tags


def test_torn_notes_are_told_and_their_session_is_listed(root: Path, golden: Golden) -> None:
    directory = varied(root)
    archive.annotate(directory, note="before tuning", tags=("lab",), baseline=2)
    path = directory / "notes.json"
    whole = path.read_bytes()
    errors = []
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError) as error:
            archive.annotate(directory, note="other")
        assert path.read_bytes() == whole[:length]
        errors.append(str(error.value))
    row = row_of(directory)
    assert (row.runs, row.note, row.error) == (3, "", errors[-1])
    golden.same({": ".join(error.split(": ")[:2]) for error in errors})  # the reason is worded by Python


def test_notes_of_a_newer_version_are_left_alone(root: Path, golden: Golden) -> None:
    directory = varied(root)
    path = directory / "notes.json"
    text = json.dumps({"schema_version": SCHEMA_VERSION + 1, "note": {"shape": "other"}})
    path.write_text(text)
    with golden.raises(StoreError):
        archive.annotate(directory, note="mine")
    assert path.read_text() == text
    assert row_of(directory).runs == 3


def test_a_full_disk_leaves_the_notes_as_they_were(root: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    directory = varied(root)
    archive.annotate(directory, note="before")
    there = everything(directory)
    monkeypatch.setattr(os, "fsync", no_space)
    with golden.raises(StoreError):
        archive.annotate(directory, note="after")
    assert everything(directory) == there


def test_a_session_that_another_console_writes_can_be_noted(root: Path) -> None:
    with another_console(root, "live"):
        archive.annotate(root / "live", note="watch this one")
        assert (row_of(root / "live").note, row_of(root / "live").writing) == ("watch this one", True)


# ---------------------------------------------------------------------------------------------- renaming


class another_console:
    """A process that holds a session until the end of the block."""

    def __init__(self, root: Path, name: str) -> None:
        argv = [sys.executable, "-c", WRITING, str(root), name]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"\n"

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def test_a_renamed_session_is_the_same_with_another_name(root: Path) -> None:
    directory = varied(root)
    archive.annotate(directory, note="8G", baseline=2)
    before, content = row_of(directory), kept(directory)
    assert archive.rename(root, "varied", "osd-memory-8g") == root / "osd-memory-8g"
    after = row_of(root / "osd-memory-8g")
    assert after == before.model_copy(update={"session": "osd-memory-8g", "path": str(root / "osd-memory-8g")})
    assert kept(root / "osd-memory-8g") == content
    assert [run.session for run in store.read_runs(root / "osd-memory-8g")[0]] == ["osd-memory-8g"] * 3
    assert not directory.exists()


def test_a_renamed_session_is_continued(root: Path) -> None:
    varied(root)
    archive.rename(root, "varied", "again")
    session = SessionWriter.open(root, "again")
    assert session.next_run() == 4
    session.close()


@pytest.mark.parametrize("name", ["", "a b", "../x", "..", ".", "a/b", ".hidden", "-x", "x" * 65, "ü", "a\n"])
def test_names_that_no_session_can_have(root: Path, name: str, golden: Golden) -> None:
    varied(root)
    there = everything(root.parent)
    problem = archive.name_problem(root, "varied", name)
    assert problem is not None
    golden.same(problem)
    for old, new in (("varied", name), (name, "new")):
        with pytest.raises(StoreError) as error:
            archive.rename(root, old, new)
        assert str(error.value) == problem
    with pytest.raises(StoreError):
        archive.delete(root / name if name else Path(name))
    assert everything(root.parent) == there


def a_session(path: Path) -> None:
    varied(path.parent, path.name)


def an_empty_directory(path: Path) -> None:
    path.mkdir()


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("take", [a_session, an_empty_directory, Path.touch, a_link_to_nothing])
def test_a_name_that_is_taken_stays_with_its_owner(root: Path, take: Callable[[Path], None], golden: Golden) -> None:
    varied(root)
    take(root / "taken")
    there = everything(root)
    with golden.raises(StoreError):
        archive.rename(root, "varied", "taken")
    assert everything(root) == there


def test_its_own_name_is_no_change(root: Path) -> None:
    directory = varied(root)
    assert archive.name_problem(root, "varied", "varied") is None
    assert archive.rename(root, "varied", "varied") == directory
    assert row_of(directory).runs == 3


def test_a_session_that_is_not_there(root: Path, golden: Golden) -> None:
    varied(root)
    for act in (
        lambda: archive.rename(root, "gone", "new"),
        lambda: archive.delete(root / "gone"),
        lambda: archive.annotate(root / "gone", note="x"),
    ):
        with golden.raises(StoreError):
            act()
    assert [row.session for row in list_sessions(root)] == ["varied"]


def test_what_is_no_session_is_left_alone(root: Path, golden: Golden) -> None:
    """A run, the directory of all sessions, or something else that somebody has put there."""
    directory = varied(root)
    (root / "backup").mkdir()
    (root / "backup" / "data").write_text("x")
    there = everything(root)
    for path in (directory / "001", root, root / "backup"):
        with golden.raises(StoreError):
            archive.delete(path)
    assert everything(root) == there


@pytest.mark.parametrize("name", ["session.json", "lock", "plans.jsonl"])
def test_a_broken_session_can_be_renamed_and_deleted(root: Path, name: str) -> None:
    directory = session_of_one_run(root, "broken")
    (directory / name).unlink()
    archive.annotate(directory, note="broken")
    archive.delete(archive.rename(root, "broken", "mended"))
    assert list(root.iterdir()) == []


def test_a_rename_that_the_disk_refuses_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    directory = varied(root)
    there = kept(root)

    def refuse(self: Path, target: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refuse)
    with golden.raises(StoreError):
        archive.rename(root, "varied", "new")
    with golden.raises(StoreError):
        archive.delete(directory)
    assert kept(root) == there
    assert not store.is_locked(directory)


# ---------------------------------------------------------------------------------------------- deleting


def test_a_deleted_session_leaves_nothing(root: Path) -> None:
    directory, other = varied(root), varied(root, "other")
    archive.delete(directory)
    assert list(root.iterdir()) == [other]
    assert row_of(other).runs == 3


def test_a_session_that_is_written_is_neither_renamed_nor_deleted(root: Path, golden: Golden) -> None:
    varied(root)
    with another_console(root, "varied"):
        there = kept(root)
        for act in (
            lambda: archive.rename(root, "varied", "new"),
            lambda: archive.delete(root / "varied"),
            lambda: archive.check_deletable(root / "varied"),
        ):
            with golden.raises(StoreError):
                act()
        assert kept(root) == there
    archive.delete(root / "varied")
    assert list_sessions(root) == []


def test_a_session_of_this_very_console_is_refused_too(root: Path, golden: Golden) -> None:
    session = SessionWriter.open(root, "own")
    with golden.raises(StoreError):
        archive.delete(session.directory)
    write_run(session, run_of("own", outcome="ok"), ())
    session.close()
    archive.delete(session.directory)


def test_what_a_session_left_behind_keeps_it(root: Path, golden: Golden) -> None:
    directory = session_of_one_run(root, "killed", outcome=None)
    there = kept(directory)
    for act in (archive.delete, archive.check_deletable):
        with golden.raises(StoreError) as error:
            act(directory)
        assert all(value in str(error.value) for value in ("killed", UNDO.target, UNDO.node, "cephtui cleanup"))
    assert kept(directory) == there
    mark_undone(directory, UNDO)
    archive.check_deletable(directory)
    archive.delete(directory)
    assert list(root.iterdir()) == []


def test_more_than_one_thing_left_behind_is_counted(root: Path, golden: Golden) -> None:
    session = SessionWriter.open(root, "killed")
    for name in ("a", "b", "c"):
        session.undo(Undo(node="pve1", target=f"rbd:bench/{name}"))
    session.close()
    with golden.raises(StoreError):
        archive.delete(session.directory)


def test_an_undo_list_that_can_not_be_read_keeps_its_session(root: Path, golden: Golden) -> None:
    directory = varied(root)
    (directory / "undo.jsonl").mkdir()
    with golden.raises(StoreError):
        archive.delete(directory)
    assert row_of(directory).runs == 3


def test_no_link_leads_out(root: Path, tmp_path: Path, golden: Golden) -> None:
    """A session that is a link is left alone; a link within one goes, what it points to stays."""
    outside = varied(tmp_path / "elsewhere", "precious")
    (root / "linked").parent.mkdir()
    (root / "linked").symlink_to(outside)
    there = everything(outside)
    for act in (
        lambda: archive.rename(root, "linked", "new"),
        lambda: archive.delete(root / "linked"),
        lambda: archive.annotate(root / "linked", note="x"),
        lambda: archive.check_deletable(root / "linked"),
    ):
        with golden.raises(StoreError):
            act()
    directory = varied(root)
    (directory / "raw").symlink_to(outside)
    (directory / "notes.json").symlink_to(outside / "session.json")
    (directory / "001" / "extra").symlink_to(outside / "session.json")
    archive.write_notes(directory, SessionNotes(note="mine"))
    archive.delete(directory)
    assert everything(outside) == there
    assert sorted(root.iterdir()) == [root / "linked"]


def test_a_console_that_is_killed_while_it_deletes_leaves_no_half_session(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, other = varied(root), varied(root, "other")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            archive.delete(directory)
    assert [row.session for row in list_sessions(root)] == ["other"]
    assert left_behind(root) == []
    assert len(list(root.iterdir())) == 2
    archive.delete(other)
    assert list(root.iterdir()) == []


def test_what_could_not_be_removed_is_named(root: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    directory = varied(root)

    def refuse(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with golden.raises(StoreError) as error:
        archive.delete(directory)
    (left,) = root.iterdir()
    assert f" {left} " in str(error.value)
    assert list_sessions(root) == []


def test_a_lock_that_can_not_be_taken_is_told(root: Path, golden: Golden) -> None:
    directory = varied(root)
    (directory / "lock").unlink()
    (directory / "lock").mkdir()
    with golden.raises(StoreError):
        archive.delete(directory)
    assert row_of(directory).runs == 3


def test_whoever_holds_a_session_lets_it_go(root: Path) -> None:
    directory = varied(root)
    archive.check_deletable(directory)
    lock = take_lock(directory)
    assert lock is not None
    lock.close()


def test_the_size_is_that_of_the_session_alone(root: Path, tmp_path: Path) -> None:
    directory = varied(root)
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    before = archive.size_bytes(directory)
    (directory / "001" / "link").symlink_to(tmp_path / "large")
    (directory / "001" / "more").write_bytes(b"x" * 1000)
    assert 1000 <= archive.size_bytes(directory) - before < 2000
    assert archive.size_bytes(root / "gone") == 0
