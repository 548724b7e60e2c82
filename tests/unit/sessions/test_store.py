"""Sessions on disk: torn, damaged, written by two, newer than this cephtui, and on a full disk."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.runs import history
from cephtui.models import SCHEMA_VERSION, Interval, Mark, Phase, Plan, Run, Sample
from cephtui.sessions import store
from cephtui.sessions.jsonlines import line
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.names import NO_SESSIONS, find_session
from cephtui.sessions.store import StoreError
from cephtui.sessions.undo import Undo, left_behind
from cephtui.sessions.writer import RawLimits, SessionWriter, mark_undone
from tests.support.disks import mounted
from tests.support.golden import Golden
from tests.support.runs import begun
from tests.support.sessions import write_session

PLAN = Plan(steps=(), duration_seconds=1.0, session_bytes=1000)


def run_of(session: str, number: int = 1, **fields: Any) -> Run:
    """A run on a file, in progress if nothing else is said."""
    usual = {
        "session": session,
        "batch": "b1",
        "target": "file:/mnt/bench/test",
        "options": {"bs": "4k", "direct": True},
        "started_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    }
    return begun(number, **{**usual, **fields})


def sample_of(second: int, node: str | None = None, phase: Phase = "run", iops: float = 100.0) -> Sample:
    interval = Interval(int(iops), 4096 * int(iops), iops, 4096 * iops, 0.001, 0.002, {700: int(iops)})
    return Sample(1, node, "write-iops", phase, float(second), 1.0, None, interval)


def session_of_one_run(root: Path, name: str, seconds: int = 5, outcome: str | None = "ok") -> Path:
    """A session of one run, that ended or (outcome None) whose console was killed."""
    session = SessionWriter.open(root, name)
    session.add_plan(PLAN)
    session.undo(Undo(node="local", target="file:/mnt/bench/test"))
    writer = session.start_run(run_of(name, session.next_run()))
    for second in range(1, seconds + 1):
        for node in ("local", None):
            writer.sample(sample_of(second, node))
        writer.raw("local", "stdout", b"{}\n", float(second))
    if outcome:
        writer.finish(run_of(name, outcome=outcome, duration_seconds=float(seconds)))
        session.undo(Undo(node="local", target="file:/mnt/bench/test", done=True))
    session.close()
    return session.directory


# ---------------------------------------------------------------------------------------------- writing and reading


def test_what_was_written_is_read(root: Path) -> None:
    directory = session_of_one_run(root, "tuning")
    assert store.read_session(directory).session == "tuning"
    run = store.read_run(directory, 1)
    assert (run.outcome, run.duration_seconds, run.options) == ("ok", 5.0, {"bs": "4k", "direct": True})
    assert list(store.read_samples(directory, 1)) == [
        sample_of(second, node) for second in range(1, 6) for node in ("local", None)
    ]
    assert store.read_history(directory, 1).total("iops").values() == [100.0] * 5
    (row,) = list_sessions(root)
    assert (row.session, row.runs, row.presets, row.outcomes) == ("tuning", 1, ("write-iops",), {"ok": 1})
    assert (row.writing, row.error, row.path) == (False, None, str(directory))


def test_the_files_are_plain(root: Path) -> None:
    directory = session_of_one_run(root, "tuning")
    files = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    assert files == [
        "001/overview.json",
        "001/raw/local.index.jsonl",
        "001/raw/local.stdout",
        "001/run.json",
        "001/samples.jsonl",
        "lock",
        "plans.jsonl",
        "row.json",
        "session.json",
        "undo.jsonl",
    ]
    assert (directory / "plans.jsonl").read_text() == line(PLAN) + "\n"
    assert (directory / "001/samples.jsonl").read_text().splitlines()[0] == line(sample_of(1, "local"))
    assert json.loads((directory / "001/run.json").read_text())["schema_version"] == SCHEMA_VERSION


def test_raw_output_is_verbatim_with_its_times(root: Path) -> None:
    session = SessionWriter.open(root, "tuning")
    writer = session.start_run(run_of("tuning"))
    pieces = [(b"\x00\xff{", 0.1), (b'"a"', 0.2), (b"", 0.3), (b"}\n", 1.5)]
    for data, elapsed in pieces:
        writer.raw("local", "stdout", data, elapsed)
    writer.raw("local", "stderr", b"oops", 0.4)
    writer.raw("local.prepare", "stdout", b"fill", 0.5)
    session.close()
    raw = session.directory / "001" / "raw"
    assert (raw / "local.stdout").read_bytes() == b"".join(data for data, _ in pieces)
    assert (raw / "local.stderr").read_bytes() == b"oops"
    assert (raw / "local.prepare.stdout").read_bytes() == b"fill"
    index = [json.loads(text) for text in (raw / "local.index.jsonl").read_text().splitlines()]
    content = {stream: (raw / f"local.{stream}").read_bytes() for stream in ("stdout", "stderr")}
    found = [
        (content[entry["stream"]][entry["offset"] : entry["offset"] + entry["bytes"]], entry["elapsed_seconds"])
        for entry in index
    ]
    assert found == [*pieces, (b"oops", 0.4)]


def test_a_session_is_continued(root: Path) -> None:
    session_of_one_run(root, "tuning")
    session = SessionWriter.open(root, "tuning")
    assert session.next_run() == 2
    assert session.next_run() == 3
    writer = session.start_run(run_of("tuning", 2, preset="latency"))
    writer.finish(run_of("tuning", 2, preset="latency", outcome="failed"))
    session.close()
    (row,) = list_sessions(root)
    assert (row.runs, row.presets, row.outcomes) == (2, ("write-iops", "latency"), {"ok": 1, "failed": 1})


def test_without_a_name_a_session_is_named_after_the_time(root: Path) -> None:
    opened = [SessionWriter.open(root, None) for _ in range(3)]
    assert len(list_sessions(root)) == 3
    for session in opened:
        session.close()
    assert len({session.name for session in opened}) == 3
    assert all(session.name.startswith(str(datetime.now().year)) for session in opened)


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", ".hidden", "-x", "x" * 65, "ü", "a\n"])
def test_names_that_no_session_can_have(root: Path, name: str) -> None:
    with pytest.raises(StoreError, match="expected up to 64 letters, digits"):
        SessionWriter.open(root, name)
    assert not root.exists()
    with pytest.raises(StoreError, match="no session"):
        find_session(root, name)


def test_sessions_are_listed_by_age_and_found_by_name(root: Path, golden: Golden) -> None:
    for name in ("b", "a", "c"):
        session_of_one_run(root, name)
    (root / "notes.txt").write_text("not a session")
    assert [row.session for row in list_sessions(root)] == ["b", "a", "c"]
    assert find_session(root, "a") == root / "a"
    with golden.raises(StoreError):
        find_session(root, "d")


def session_at(root: Path, name: str, created: int, *years: int) -> Path:
    """A session that was made in this year, with runs of these years."""
    dates = [datetime(year, 5, 5, tzinfo=UTC) for year in years]
    runs = [begun(number, outcome="ok", started_at=date) for number, date in enumerate(dates, 1)]
    return write_session(root, runs, name=name, created_at=datetime(created, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("kept", [True, False])
def test_the_last_session_is_the_one_that_was_measured_last_by_what_stands_in_it(root: Path, kept: bool) -> None:
    names = ["imported", "old", "empty", "gone-on", "broken", "last-of-all"]
    session_at(root, "last-of-all", 2020, 2026)
    session_at(root, "empty", 2022)
    session_at(root, "gone-on", 2019, 2019, 2023)
    session_at(root, "imported", 2018, 2001)
    old = session_at(root, "old", 2020, 2021)
    broken = session_at(root, "broken", 2020, 2024, 2025)
    (broken / "002" / "run.json").write_text("{")
    if kept:
        list_sessions(root)
    for written in (old / "session.json", old / "001" / "run.json", old / "001" / "samples.jsonl"):
        written.touch()
    session = SessionWriter.open(root, "old")
    session.mark(Mark(at=datetime(2027, 1, 1, tzinfo=UTC), text="one more OSD"))
    session.close()
    assert [row.session for row in list_sessions(root)] == names
    while names:
        last = find_session(root, "last")
        assert last.name == names.pop()
        shutil.rmtree(last)


def test_without_any_session_it_is_said_how_one_is_made(root: Path, golden: Golden) -> None:
    for name in ("last", "-", "tuning"):
        with pytest.raises(StoreError) as error:
            find_session(root, name)
        assert str(error.value) == NO_SESSIONS
    root.parent.mkdir(exist_ok=True)
    root.write_text("")
    with golden.raises(StoreError):
        find_session(root, "last")


def test_no_sessions_at_all(root: Path) -> None:
    assert list_sessions(root) == []
    assert left_behind(root) == []


def test_the_overview_has_a_bound(root: Path) -> None:
    session = SessionWriter.open(root, "long")
    writer = session.start_run(run_of("long"))
    for second in range(1, 4502):
        writer.sample(sample_of(second, iops=float(second)))
    writer.sample(sample_of(1, phase="prepare", iops=1e6))
    writer.finish(run_of("long", outcome="ok"))
    session.close()
    overview = store.read_overview(session.directory, 1)
    assert overview is not None
    points = overview.series["write.iops"]
    assert len(points) <= 2 * history.CURVE_STRETCHES
    assert (points[0][1], points[-1][3], points[-1][0]) == (1.0, 4501.0, 4501.0)
    assert set(overview.series) == {
        f"write.{figure}" for figure in ("iops", "bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds")
    }


# ---------------------------------------------------------------------------------------------- lost and torn


def test_a_killed_console_leaves_a_lost_run_with_its_samples(root: Path, golden: Golden) -> None:
    directory = session_of_one_run(root, "killed", outcome=None)
    run = store.read_run(directory, 1)
    assert run.outcome == "lost"
    golden.same(run.error)
    assert len(list(store.read_samples(directory, 1))) == 10
    assert store.read_overview(directory, 1) is None
    assert store.read_history(directory, 1).total("iops").values() == [100.0] * 5
    assert list_sessions(root)[0].outcomes == {"lost": 1}


@pytest.mark.parametrize("reason", ["", "osd.1 is nearly\nfull"])
def test_a_run_whose_end_was_asked_for_is_stopped_however_the_console_ended(
    root: Path, reason: str, golden: Golden
) -> None:
    session = SessionWriter.open(root, "stopped")
    writer = session.start_run(run_of("stopped"))
    writer.sample(sample_of(1))
    writer.stop_asked(reason)
    assert store.read_run(session.directory, 1).outcome is None
    session.close()
    run = store.read_run(session.directory, 1)
    assert run.outcome == "stopped"
    golden.same(run.error)
    SessionWriter.open(root, "stopped").close()
    assert Run.model_validate_json((session.directory / "001" / "run.json").read_text()) == run
    assert list_sessions(root)[0].outcomes == {"stopped": 1}


def test_a_run_in_progress_can_be_followed(root: Path) -> None:
    session = SessionWriter.open(root, "live")
    writer = session.start_run(run_of("live"))
    writer.sample(sample_of(1))
    assert store.read_run(session.directory, 1).outcome is None
    assert list(store.read_samples(session.directory, 1)) == [sample_of(1)]
    (row,) = list_sessions(root)
    assert (row.writing, row.outcomes) == (True, {"running": 1})
    writer.sample(sample_of(2))
    assert len(list(store.read_samples(session.directory, 1))) == 2
    session.close()
    assert store.read_run(session.directory, 1).outcome == "lost"


def test_who_reads_a_run_while_it_is_written_gets_all_of_one_state(root: Path) -> None:
    session = SessionWriter.open(root, "live")
    writer = session.start_run(run_of("live"))
    with (session.directory / "001" / "run.json").open() as reader:
        writer.finish(run_of("live", outcome="ok"))
        assert Run.model_validate_json(reader.read()) == run_of("live")
    session.close()
    assert store.read_run(session.directory, 1) == run_of("live", outcome="ok")


def test_a_run_that_had_not_begun_is_none(root: Path) -> None:
    directory = session_of_one_run(root, "tuning")
    (directory / "002" / "raw").mkdir(parents=True)
    (row,) = list_sessions(root)
    assert (row.runs, row.error) == (1, None)
    session = SessionWriter.open(root, "tuning")
    assert session.next_run() == 3
    session.close()


@given(st.integers(0, 4000))
def test_any_prefix_of_the_samples_reads_as_its_complete_lines(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "001"
        run.mkdir()
        samples = [sample_of(second, iops=second * 1.5) for second in range(1, 13)]
        whole = b"".join(line(sample).encode() + b"\n" for sample in samples)
        (run / "samples.jsonl").write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        assert list(store.read_samples(Path(folder), 1)) == samples[:complete]


def test_a_run_without_samples_has_none(root: Path) -> None:
    session = SessionWriter.open(root, "early")
    session.start_run(run_of("early"))
    session.close()
    assert list(store.read_samples(session.directory, 1)) == []
    assert store.read_history(session.directory, 1).total("iops").values() == []


# ---------------------------------------------------------------------------------------------- damage


def read_everything(directory: Path) -> None:
    store.read_session(directory)
    runs, broken = store.read_runs(directory)
    if broken:
        raise broken[0]
    for run in runs:
        list(store.read_samples(directory, run.run))
        store.read_overview(directory, run.run)


def problem_of(directory: Path) -> str:
    """Why it can't be read; anything but a StoreError fails the test."""
    try:
        read_everything(directory)
    except StoreError as error:
        return str(error)
    return ""


READ = ("session.json", "001/run.json", "001/samples.jsonl", "001/overview.json")


def test_a_damaged_file_is_named_and_the_other_sessions_are_listed(root: Path) -> None:
    for name in ("before", "damaged", "healthy"):
        session_of_one_run(root, name, seconds=2)
    directory = root / "damaged"
    sound = {name: (directory / name).read_bytes() for name in READ}
    pieces = st.binary(max_size=30) | st.sampled_from([b"", b"[]", b"null", b"1e999", b"-1", b'"\\ud800"', b"[" * 5000])

    @given(data=st.data())
    def is_named(data: st.DataObject) -> None:
        for each, text in sound.items():
            (directory / each).write_bytes(text)
        name = data.draw(st.sampled_from(READ))
        path, content = directory / name, sound[name]
        start = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 40) | st.just(len(content)))
        path.write_bytes(content[:start] + data.draw(pieces) + content[start + length :])
        error = problem_of(directory)
        assert not error or (error.startswith(str(path)) and "\n" not in error)
        rows = {row.session: row for row in list_sessions(root)}
        assert set(rows) == {"before", "damaged", "healthy"}
        for other in ("before", "healthy"):
            assert (rows[other].error, rows[other].outcomes) == (None, {"ok": 1})
        if rows["damaged"].error:
            assert str(path) in rows["damaged"].error

    is_named()


def drop(path: Path) -> None:
    path.unlink()


def make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_older_time(path: Path) -> None:
    """Without a time zone it could not be sorted among the others."""
    path.write_text(path.read_text().replace('Z"', '"'))


def make_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe nothing")


@pytest.mark.parametrize(
    ("name", "harm", "said"),
    [
        ("session.json", drop, "No such file or directory"),
        ("session.json", make_directory, "Is a directory"),
        ("session.json", make_text, ""),
        ("session.json", make_older_time, "created_at: Input should have timezone info"),
        ("001/run.json", drop, "No such file or directory"),
        ("001/run.json", make_directory, "Is a directory"),
        ("001/run.json", make_text, ""),
        ("001/run.json", make_older_time, "started_at: Input should have timezone info"),
    ],
)
def test_a_broken_session_is_listed_with_its_reason(
    root: Path, name: str, harm: Callable[[Path], None], said: str, golden: Golden
) -> None:
    session_of_one_run(root, "healthy")
    directory = session_of_one_run(root, "broken")
    harm(directory / name)
    rows = {row.session: row for row in list_sessions(root)}
    assert rows["broken"].error is not None
    assert rows["broken"].error.startswith(f"{directory / name}: {said}")
    golden.same(rows["broken"].error)
    assert (rows["healthy"].error, rows["healthy"].runs) == (None, 1)
    with pytest.raises(StoreError, match=name):
        read_everything(directory)


@pytest.mark.parametrize("name", ["001/samples.jsonl", "001/overview.json"])
def test_a_broken_series_is_named(root: Path, name: str) -> None:
    directory = session_of_one_run(root, "broken")
    make_text(directory / name)
    with (directory / name).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(StoreError, match=name):
        read_everything(directory)
    assert list_sessions(root)[0].error is None


def test_a_broken_line_in_the_middle_is_named_with_its_number(root: Path, golden: Golden) -> None:
    directory = session_of_one_run(root, "broken")
    path = directory / "001/samples.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{}\n", *lines[3:]]))
    with golden.raises(StoreError):
        list(store.read_samples(directory, 1))


@pytest.mark.parametrize("name", ["session.json", "001/run.json", "001/overview.json"])
def test_a_newer_version_is_refused_by_name(root: Path, name: str, golden: Golden) -> None:
    session_of_one_run(root, "other")
    path = session_of_one_run(root, "newer") / name
    content = json.loads(path.read_text()) | {"schema_version": SCHEMA_VERSION + 1, "series": "in another shape"}
    path.write_text(json.dumps(content))
    with golden.raises(StoreError) as error:
        read_everything(path.parents[name.count("/")])
    assert str(error.value).startswith(f"{path}: ")
    assert f"schema {SCHEMA_VERSION + 1}" in str(error.value)
    assert len(list_sessions(root)) == 2
    if name == "session.json":
        with pytest.raises(StoreError, match="update cephtui"):
            SessionWriter.open(root, "newer")


@pytest.mark.parametrize("name", ["session.json", "001/run.json", "001/overview.json"])
def test_unknown_keys_are_ignored(root: Path, name: str) -> None:
    directory = session_of_one_run(root, "tuning")
    before = store.read_run(directory, 1)
    path = directory / name
    path.write_text(json.dumps(json.loads(path.read_text()) | {"colour": {"red": [1]}}))
    read_everything(directory)
    assert store.read_run(directory, 1) == before


# ---------------------------------------------------------------------------------------------- one writer


def test_a_second_writer_is_refused(root: Path, golden: Golden) -> None:
    first = SessionWriter.open(root, "tuning")
    with golden.raises(StoreError):
        SessionWriter.open(root, "tuning")
    first.close()
    SessionWriter.open(root, "tuning").close()


def test_a_killed_writer_holds_nothing(root: Path, golden: Golden) -> None:
    """The lock is the kernel's, so that no crash can leave it behind."""
    program = "import sys, pathlib; from cephtui.sessions.writer import SessionWriter as W\n"
    program += "held = W.open(pathlib.Path(sys.argv[1]), 'tuning'); print(flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", program, str(root)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        with golden.raises(StoreError):
            SessionWriter.open(root, "tuning")
        assert list_sessions(root)[0].writing
        other.kill()
    assert list_sessions(root) == []
    SessionWriter.open(root, "tuning").close()


def test_many_readers_do_not_keep_a_writer_out(root: Path) -> None:
    directory = session_of_one_run(root, "tuning", outcome=None)
    for _ in range(50):
        assert store.read_run(directory, 1).outcome == "lost"
        SessionWriter.open(root, "tuning").close()


# ---------------------------------------------------------------------------------------------- what was left behind


def test_what_was_created_and_not_removed_is_known(root: Path) -> None:
    done = session_of_one_run(root, "done")
    killed = session_of_one_run(root, "killed", outcome=None)
    undo = Undo(node="local", target="file:/mnt/bench/test")
    assert left_behind(root) == [(killed, undo)]
    mark_undone(killed, undo)
    assert left_behind(root) == []
    assert done.exists()


def test_a_living_console_leaves_nothing_behind(root: Path) -> None:
    session = SessionWriter.open(root, "live")
    session.undo(Undo(node="local", target="file:/x"))
    assert left_behind(root) == []
    session.close()
    assert len(left_behind(root)) == 1


def test_a_torn_line_hides_no_other(root: Path) -> None:
    directory = root / "torn"
    directory.mkdir(parents=True)
    first, second = (Undo(node="local", target=f"file:/{name}") for name in "ab")
    (directory / "undo.jsonl").write_text(f'{line(first)}\n{{"node":"lo\n{line(second)}\n{{"node"')
    assert left_behind(root) == [(directory, first), (directory, second)]
    mark_undone(directory, first)
    assert left_behind(root) == [(directory, second)], "a mark begins a line of its own"
    mark_undone(directory, second)
    assert left_behind(root) == []


def test_a_broken_run_is_named_and_the_others_are_listed(root: Path) -> None:
    session = SessionWriter.open(root, "tuning")
    for number in (1, 2):
        session.start_run(run_of("tuning", number)).finish(run_of("tuning", number, outcome="ok"))
    session.close()
    (session.directory / "001" / "run.json").write_text("{")
    runs, broken = store.read_runs(session.directory)
    assert [run.run for run in runs] == [2]
    assert [str(session.directory / "001" / "run.json") in str(error) for error in broken] == [True]
    row = list_sessions(root)[0]
    assert (row.runs, row.outcomes) == (1, {"ok": 1})
    assert row.error is not None


# ---------------------------------------------------------------------------------------------- a full disk


def fill_up(disk: Path) -> Path:
    path = disk / "ballast"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    assert shutil.disk_usage(disk).free == 0
    return path


@pytest.mark.root
def test_a_run_can_be_finished_on_a_full_disk(tmp_path: Path) -> None:
    with mounted("size=2m") as disk:
        earlier = session_of_one_run(disk, "earlier")
        known = {path: path.read_bytes() for path in earlier.rglob("*") if path.is_file()}
        session = SessionWriter.open(disk, "tuning")
        writer = session.start_run(run_of("tuning"))
        written = [sample_of(second) for second in range(1, 30)]
        for sample in written:
            writer.sample(sample)
        fill_up(disk)
        refused = 0
        for second in range(30, 200):
            sample = sample_of(second)
            try:
                writer.sample(sample)
                written.append(sample)
            except OSError:
                refused += 1
        assert refused > 50
        writer.finish(run_of("tuning", outcome="stopped", error="the session can no longer be written"))
        session.close()

        run = store.read_run(session.directory, 1)
        assert (run.outcome, run.error) == ("stopped", "the session can no longer be written")
        assert list(store.read_samples(session.directory, 1)) == written
        assert {row.session: row.error for row in list_sessions(disk)} == {"earlier": None, "tuning": None}
        assert {path: path.read_bytes() for path in known} == known


@pytest.mark.root
def test_a_run_that_can_not_be_written_any_more_stays_as_it_was() -> None:
    with mounted("size=2m") as disk:
        session = SessionWriter.open(disk, "tuning")
        writer = session.start_run(run_of("tuning"))
        writer.sample(sample_of(1))
        fill_up(disk)
        with pytest.raises(OSError, match="No space left on device"):
            writer.write(run_of("tuning", outcome="ok", error="x" * (1 << 20)))
        session.close()
        assert store.read_run(session.directory, 1).outcome == "lost"
        assert {path.name for path in (session.directory / "001").iterdir()} == {"raw", "run.json", "samples.jsonl"}


@pytest.mark.root
def test_after_a_moment_of_a_full_disk_the_lines_are_whole(tmp_path: Path, golden: Golden) -> None:
    with mounted("size=2m") as disk:
        session = SessionWriter.open(disk, "tuning")
        writer = session.start_run(run_of("tuning"))
        writer.sample(sample_of(1))
        writer.raw("local", "stdout", b"before", 1.0)
        ballast = fill_up(disk)
        kept = [sample_of(1)]
        for second in range(2, 100):
            with suppress(OSError):
                writer.sample(sample_of(second))
                kept.append(sample_of(second))
        for _ in range(3):
            writer.raw("local", "stdout", b"x" * 8192, 2.0)
        (finding,) = writer.findings()
        assert finding.values == {"output": "local.stdout", "stored_bytes": 6, "said_bytes": 24582, "end_bytes": 0}
        golden.same(finding.text)
        ballast.unlink()
        for second in (100, 101):
            writer.sample(sample_of(second))
            kept.append(sample_of(second))
        writer.raw("local", "stdout", b"after", 3.0)
        assert writer.findings() == ()
        writer.finish(run_of("tuning", outcome="ok"))
        session.close()
        assert len(kept) < 80
        assert list(store.read_samples(session.directory, 1)) == kept
        raw = session.directory / "001" / "raw"
        assert (raw / "local.stdout").read_bytes() == b"before"
        left_out = b"cephtui: 0 bytes are left out here\n"
        assert (raw / "local.stdout.tail").read_bytes() == left_out + 3 * 8192 * b"x" + b"after"
        index = [json.loads(text) for text in (raw / "local.index.jsonl").read_text().splitlines()]
        assert [(entry["offset"], entry["bytes"]) for entry in index] == [(0, 6)]


@pytest.mark.root
def test_of_raw_output_that_has_no_room_the_finding_claims_nothing(golden: Golden) -> None:
    with mounted("size=2m") as disk:
        session = SessionWriter.open(disk, "tuning")
        writer = session.start_run(run_of("tuning"))
        writer.sample(sample_of(1))
        fill_up(disk)
        for stream in ("stdout", "stderr"):
            writer.raw("local", stream, b"x" * 8192, 1.0)
        (finding,) = writer.findings()
        sizes = {"stored_bytes": 0, "said_bytes": 8192, "end_bytes": 0}
        assert finding.values == {"output": "local.stdout", **sizes, "others": 1}
        golden.same(finding.text)
        writer.finish(run_of("tuning", outcome="ok"))
        session.close()
        assert not [path for path in (session.directory / "001" / "raw").iterdir() if path.stat().st_size]


@pytest.mark.root
def test_a_plan_that_would_not_fit_is_refused_with_the_figures() -> None:
    with mounted("size=2m") as disk:
        root = disk / "not" / "there" / "yet"
        with pytest.raises(StoreError) as error:
            store.check_space(root, PLAN.model_copy(update={"session_bytes": 2 << 20}))
        assert f"not enough space for the session in {root}: needs about 2.50 MiB" in str(error.value)
        assert "CEPHTUI_DATA_DIR" in str(error.value)
        store.check_space(root, PLAN)


@pytest.mark.root
def test_on_a_full_disk_no_session_is_opened_and_none_is_broken(tmp_path: Path, golden: Golden) -> None:
    with mounted("size=2m") as disk:
        session_of_one_run(disk, "earlier")
        fill_up(disk)
        with golden.raises(StoreError):
            SessionWriter.open(disk, "new")
        with golden.raises(StoreError):
            SessionWriter.open(disk, "earlier")
        assert [(row.session, row.error) for row in list_sessions(disk)] == [("earlier", None)]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("what", ["the session", "session /x/undo.jsonl"])
def test_where_sessions_can_not_be_written_the_next_step_is_said(number: int, what: str) -> None:
    text = str(store.cannot_write(OSError(number, os.strerror(number), "/x/undo.jsonl"), what))
    assert os.strerror(number) in text
    assert text.count("/x") == 1
    assert "CEPHTUI_DATA_DIR" in text
    assert ("free up space" in text) == (number in store.NO_ROOM)


def test_a_directory_that_is_none_is_told(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "file").write_text("")
    with golden.raises(StoreError):
        SessionWriter.open(tmp_path / "file", "new")


def test_raw_output_beyond_what_is_normal_is_stored_in_part(tmp_path: Path, golden: Golden) -> None:
    session = SessionWriter.open(tmp_path, "flood")
    limits = RawLimits(first_bytes=10_000, bytes_per_second=1000)
    writer = session.start_run(run_of("flood"), limits)
    for number in range(200):
        writer.raw("n1", "stderr", b"e" * 1000, 0.1)
        writer.raw("n1", "stdout", b"%d" % (number % 10), 1.0 * number)  # an index is stored, too
        writer.sample(sample_of(number + 1))
    (finding,) = writer.findings()
    assert finding.code == "raw-cut"
    golden.same(finding.text)
    writer.finish(run_of("flood", outcome="ok"))
    session.close()
    raw = session.directory / "001" / "raw"
    assert (raw / "n1.stderr").read_bytes() == b"e" * 9000
    left_out, _, tail = (raw / "n1.stderr.tail").read_bytes().partition(b"\n")
    assert (left_out, tail) == (b"cephtui: 125464 bytes are left out here", b"e" * 65536)
    assert (raw / "n1.stdout").read_bytes() == b"0123456789" * 20
    assert not (raw / "n1.stdout.tail").exists()
    assert len(list(store.read_samples(session.directory, 1))) == 200


def test_the_index_of_many_small_pieces_is_bounded_too(tmp_path: Path) -> None:
    session = SessionWriter.open(tmp_path, "crumbs")
    writer = session.start_run(run_of("crumbs"), RawLimits(first_bytes=10_000, bytes_per_second=0))
    for _ in range(1000):
        writer.raw("n1", "stdout", b"x", 1.0)
    session.close()
    assert sum(path.stat().st_size for path in (session.directory / "001" / "raw").iterdir()) <= 10_000


def test_raw_output_leaves_room_for_the_samples(tmp_path: Path, golden: Golden) -> None:
    session = SessionWriter.open(tmp_path, "small")
    free = shutil.disk_usage(tmp_path).free
    writer = session.start_run(run_of("small"), RawLimits(spare_bytes=2 * free))
    writer.raw("n1", "stdout", b"x" * 100_000, 1.0)
    writer.sample(sample_of(1))
    golden.same(writer.findings()[0].text)
    session.close()
    assert len(list(store.read_samples(session.directory, 1))) == 1


@pytest.mark.parametrize("name", [None, "mine"])
def test_only_its_user_can_enter_a_new_session(tmp_path: Path, name: str | None) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o750)
    root = shared / "new" / "sessions"
    session = SessionWriter.open(root, name)
    folders = (shared, root.parent, root, *root.iterdir())
    assert [oct(folder.stat().st_mode & 0o777) for folder in folders] == ["0o750", "0o700", "0o700", "0o700"]
    session.close()
