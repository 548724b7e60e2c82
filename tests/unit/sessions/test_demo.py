"""The demo is a session like any other for every verb that reads, on a fresh install; nothing writes into it."""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import click
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from cephtui import paths
from cephtui.cli import complete, saved
from cephtui.cli.verbs import cli
from cephtui.models import SessionNotes
from cephtui.sessions import archive, demo, store
from cephtui.sessions.listing import demo_row, list_with_demo, session_row
from cephtui.sessions.names import NO_SESSIONS, check_writable, ensure_unpacked, find_session
from cephtui.sessions.saved_runs import candidates
from cephtui.sessions.store import StoreError
from cephtui.sessions.writer import SessionWriter, append_lines, take_lock
from cephtui.targets.scratch import remove_dead
from cephtui.tui.app import SavedApp
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from tests.recordings.record_demo import row_of
from tests.support.drawings import draw_session
from tests.support.replayed import until
from tests.support.runs import begun
from tests.support.sessions import write_session


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's sessions would be: there are none, and nothing is in the cache."""
    monkeypatch.setattr(paths, "sessions_dir", lambda: tmp_path / "sessions")
    monkeypatch.setattr(paths, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "sessions"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def packaged(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The demo, unpacked once for these tests: none of them may have changed it."""
    monkeypatch.setattr(paths, "cache_dir", lambda: cache)
    session = ensure_unpacked(demo.directory())
    before = files(session)
    yield session
    assert files(session) == before
    assert {path.name for path in cache.iterdir()} - {"pages"} == {session.parent.name}


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of each file."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, prog_name="cephtui")


# ---------------------------------------------------------------------------------------------- read by every verb


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["show", "demo"], "osd.1 frozen"),
        (["show", "demo/8"], "all I/O stopped for 5 s"),
        (["show", "demo", "--curve"], "over the marks"),
        (["show", "demo", "--table"], "depth-sweep"),
        (["compare", "demo/9", "demo/22"], "BETTER: 5.2 times as many write IOPS"),
        (["check", "demo"], "inconclusive (exit 6)"),
        (["check", "demo/9", "demo/22"], "met (exit 0)"),
        (["check", "demo/7", "--expect", "iops>=1"], "PASS"),
        (["why", "demo"], "osd.1 was slow"),
        (["report", "demo"], "Inconclusive"),
    ],
)
def test_a_verb_reads_it_and_writes_nothing(root: Path, packaged: Path, words: list[str], shown: str) -> None:
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert shown in result.output
    assert "not kept" not in result.output
    assert not root.exists()


def test_its_figures_are_whole_on_a_small_terminal(root: Path, packaged: Path) -> None:
    console = Console(width=80, file=(file := io.StringIO()))
    console.print(draw_session(store.read_runs(packaged)[0], store.read_marks(packaged)))
    lines = file.getvalue().splitlines()
    (head,) = (line for line in lines if line.endswith("outcome"))
    assert head.split() == ["#", "preset", "IOPS", "bandwidth", "lat", "mean", "p99", "outcome"]
    rows = [" ".join(line.split()) for line in lines]
    assert "9-11 mean write 393 1.54 MiB/s 123 ms 297 ms n=3 !" in rows
    assert "95 % ±3.9 % ±3.9 % ±3.3 % ±5.5 %" in rows
    assert "8 write-iops write 2.01k 7.85 MiB/s 23.8 ms 70.8 ms questionable" in rows


def test_a_report_of_it_is_a_file(root: Path, packaged: Path, tmp_path: Path) -> None:
    result = run("report", "demo", "-o", str(tmp_path / "x.html"))
    assert result.exit_code == 0, result.output
    assert "ceph config set osd osd_memory_target 6G" in (tmp_path / "x.html").read_text()


def test_the_last_session_is_never_the_demo(root: Path) -> None:
    for name in ("last", "-", "de"):
        with pytest.raises(StoreError) as error:
            find_session(root, name)
        assert str(error.value) == NO_SESSIONS
    directory = write_session(root, [begun(outcome="ok")])
    assert {find_session(root, name) for name in ("last", "-", "t")} == {directory}


def test_a_session_of_the_users_with_its_name_comes_first(root: Path) -> None:
    directory = demo.unpack(root)
    assert ensure_unpacked(find_session(root, "demo")) == directory
    assert [row.path for row in list_with_demo(root)] == [str(directory)]
    assert complete.complete_sessions(*COMPLETED, "") == ["demo", "last"]
    check_writable(directory)
    archive.annotate(directory, note="mine")
    assert run("sessions").output.endswith("demo: mine\n")


# ---------------------------------------------------------------------------------------------- listed


COMPLETED = click.Context(cli), click.Argument(["name"])


def test_its_row_is_that_of_the_archive(packaged: Path) -> None:
    assert demo.ROW.read_text() == row_of(demo.ARCHIVE)
    assert demo_row() == session_row(packaged)


def test_neither_listing_nor_completing_unpacks_it(root: Path) -> None:
    result = run("sessions")
    assert NO_SESSIONS in result.output
    assert result.output.endswith("demo: read-only: comes with cephtui\n")
    assert run("sessions", "--json").output == ""
    assert complete.complete_sessions(*COMPLETED, "d") == ["demo"]
    assert complete.complete_own_sessions(*COMPLETED, "") == []
    assert complete.complete_runs(*COMPLETED, "demo/1") == [f"demo/{n}" for n in (1, *range(10, 20))]
    write_session(root, [begun(outcome="ok")])
    for beside in (root, demo.directory().parent):
        assert [row.session for row in list_with_demo(beside)] == ["tuning", "demo"], "of the user, also from the demo"
    assert [json.loads(line)["session"] for line in run("sessions", "--json").output.splitlines()] == ["tuning"]
    assert complete.complete_sessions(*COMPLETED, "") == ["tuning", "last", "demo"]
    assert {path.name for path in paths.cache_dir().iterdir()} == {"pages"}


def test_its_runs_are_compared_with_those_of_the_users_but_not_offered_for_them(root: Path, packaged: Path) -> None:
    directory = write_session(root, [begun(outcome="ok")])
    assert {each.directory for each in candidates(root, ("demo", demo.STAR))} == {packaged, directory}
    assert [*candidates(root, ("tuning", 1))] == []


# ---------------------------------------------------------------------------------------------- never written


@pytest.mark.parametrize(
    "write",
    [
        take_lock,
        archive.delete,
        archive.check_deletable,
        lambda directory: archive.annotate(directory, baseline=3),
        lambda directory: archive.write_notes(directory, SessionNotes()),
        lambda directory: archive.rename(directory.parent, directory.name, "mine"),
        lambda directory: append_lines(directory / "undo.jsonl", []),
    ],
)
def test_whatever_writes_refuses(packaged: Path, write: Callable[[Path], object]) -> None:
    with pytest.raises(
        StoreError, match=r"session demo comes with cephtui and is read-only: use a session of your own"
    ):
        write(packaged)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "write-iops", "--session", "demo"],
        ["run", "write-iops", "--session", "demo", "--dry-run"],
        ["run", "--resume", "demo"],
        ["check", "--preset", "write-iops", "--change", "true", "--session", "demo"],
        ["check", "--continue", "demo", "--change", "true"],
        ["provisioned", "--session", "demo", __file__],
        ["import", "--session", "demo", __file__],
    ],
)
def test_a_verb_that_would_write_refuses_in_a_line(root: Path, packaged: Path, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code in (1, 2, 3), result.output
    assert "session demo comes with cephtui and is read-only: " in result.output.splitlines()[-1]
    assert not root.exists()


def test_no_session_gets_its_name(root: Path) -> None:
    directory = write_session(root, [begun(outcome="ok")])
    refused = "session demo comes with cephtui and is read-only: choose another name"
    with pytest.raises(StoreError, match=refused):
        SessionWriter.open(root, "demo")
    assert archive.name_problem(root, "tuning", "demo") == refused
    assert [*root.iterdir()] == [directory]


async def test_the_console_opens_it_and_refuses_to_change_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app, messages = SavedApp(root, [SessionsScreen(root, with_demo=True)]), list[str]()
    # a slow machine says that it unpacks the demo, too
    monkeypatch.setattr(app, "notify", lambda text, **options: messages.extend([text] * ("unpacking" not in text)))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = app.screen
        await until(pilot, lambda: screen.focused is not None)
        for keys in "RNTD":
            await pilot.press(keys)
        await until(pilot, lambda: len(messages) == 4)
        assert app.screen is screen
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.drawn is not None)
        await pilot.press("B")
        await until(pilot, lambda: len(messages) == 5)
    assert all("read-only: use a session of your own" in message for message in messages)
    assert not [path for path in demo.directory().iterdir() if path.name == "notes.json"]


# ---------------------------------------------------------------------------------------------- unpacked


def test_it_is_unpacked_once_for_this_user_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpack, together, folders = demo.unpack, Barrier(4), list[Path]()

    def counted(folder: Path) -> Path:
        folders.append(folder)
        return unpack(folder)

    def use() -> Path:
        together.wait()
        return ensure_unpacked(demo.directory())

    monkeypatch.setattr(demo, "unpack", counted)
    with ThreadPoolExecutor(4) as threads:
        used = {use.result() for use in [threads.submit(use) for _ in range(4)]}
    assert used == {demo.directory()}
    assert len(folders) == 1
    assert demo.directory().parent.stat().st_mode & 0o777 == 0o700
    assert [*paths.cache_dir().iterdir()] == [demo.directory().parent]


def test_what_nobody_uses_any_more_is_removed(root: Path) -> None:
    """Those of other releases, and of a process that was killed while it unpacked; scratch files are no concern."""
    cache = paths.cache_dir()
    for name in ("packaged-old", "packaged-used", ".packaged-killed", "scratch-1"):
        (cache / name / "demo").mkdir(parents=True)
    used = os.open(cache / "packaged-used", os.O_RDONLY)
    fcntl.flock(used, fcntl.LOCK_SH)
    ensure_unpacked(demo.directory())
    os.close(used)
    names = {demo.directory().parent.name, "packaged-used", "scratch-1"}
    assert {path.name for path in cache.iterdir()} == names
    remove_dead(cache)
    assert {path.name for path in cache.iterdir()} == names - {"scratch-1"}


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, os.mkfifo, lambda place: place.symlink_to(place.parent)])
def test_what_stands_in_its_place_is_replaced(root: Path, make: Callable[[Path], object]) -> None:
    place = demo.directory().parent
    place.parent.mkdir()
    make(place)
    assert session_row(ensure_unpacked(place / "demo")) == demo_row()
    assert not place.is_symlink()
    assert [*place.parent.iterdir()] == [place]


def test_unpacking_that_takes_long_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpack, told, said = demo.unpack, Event(), list[str]()

    def slow(folder: Path) -> Path:
        assert told.wait(120)
        return unpack(folder)

    def say(text: str) -> None:
        said.append(text)
        told.set()

    monkeypatch.setattr(saved, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(saved, "say", say)
    monkeypatch.setattr(demo, "unpack", slow)
    assert run("show", "demo").exit_code == 0
    assert said == ["unpacking the demo ..."]


def test_a_cache_that_can_not_be_written_is_told_in_a_line(root: Path) -> None:
    paths.cache_dir().write_text("")
    result = run("show", "demo")
    assert result.exit_code == 3
    (line,) = result.output.splitlines()
    assert line.startswith("Error: can't unpack the demo in ")
    assert line.endswith(": set XDG_CACHE_HOME to another directory")


def test_an_archive_that_is_cut_off_is_told_in_a_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = tmp_path / "session.tar.xz"
    archive.write_bytes(demo.ARCHIVE.read_bytes()[:100_000])
    monkeypatch.setattr(demo, "ARCHIVE", archive)
    result = run("show", "demo")
    assert result.exit_code == 3
    assert "session.tar.xz is damaged" in result.output
    assert [path for path in paths.cache_dir().rglob("*") if path.is_file()] == []
