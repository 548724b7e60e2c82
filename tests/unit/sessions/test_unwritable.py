"""A session that can't be written: measurements are printed nevertheless, created data is removed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from cephtui import writing
from cephtui.cli.emit import Output
from cephtui.cli.measuring import carry_out
from cephtui.models import Node, Plan, Run, Sample
from cephtui.running import cleanup
from cephtui.running.runner import Runner
from cephtui.sessions import writer
from cephtui.sessions.jsonlines import line
from cephtui.sessions.store import StoreError
from cephtui.targets import parse_target
from tests.support import plans
from tests.support.conducting import study
from tests.support.fakes import FakeNode, connector
from tests.support.golden import Golden
from tests.support.known import known

HOST = Node(name="a", host="a")
LONG = 30.0
TARGET = parse_target("file:/mnt/bench/test")


def plan(*presets: str) -> Plan:
    return plans.plan(*presets, nodes=[HOST], options=["runtime=20"])


class Trouble:
    """From a moment on, files with this in their path can't be written, or not even be opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.where, self.number, self.after = "", errno.EIO, 0
        self.met = 0
        self._write, self._whole = writing.write_all, writing.write_whole
        monkeypatch.setattr(writer, "write_all", self._write_all)
        monkeypatch.setattr(writer, "write_whole", self._write_whole)

    def _meet(self, path: str) -> None:
        if self.where and self.where in path:
            self.met += 1
            if self.met > self.after:
                raise OSError(self.number, os.strerror(self.number), path)

    def _write_all(self, file: IO[bytes], data: bytes) -> None:
        self._meet(str(file.name))
        self._write(file, data)

    def _write_whole(self, path: Path, text: str) -> None:
        self._meet(str(path))
        self._whole(path, text)


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> Trouble:
    return Trouble(monkeypatch)


class Desk:
    """A runner on one node that plays a recording."""

    def __init__(self, root: Path, made: Runner, host: FakeNode) -> None:
        self.runner, self.host = made, host
        self.directory = root / "s"
        self.inbox = made.subscribe()

    def published(self) -> list[Run]:
        """The runs that have ended."""
        return [event for event in self.inbox.drain() if isinstance(event, Run) and event.outcome]

    def left(self) -> tuple[tuple[str, str], ...]:
        """What is not yet removed, by node."""
        return self.runner.to_be_removed


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    host = FakeNode(HOST)
    with Runner(tmp_path, "s", connect_node=connector({"a": host})) as made:
        yield Desk(tmp_path, made, host)


def codes(run: Run) -> set[str]:
    return {finding.code for finding in run.findings}


@pytest.mark.parametrize(
    ("where", "after", "outcome", "code", "number"),
    [
        ("samples.jsonl", 6, "stopped", "partly-saved", errno.ENOSPC),
        ("raw/a.stdout", 3, "stopped", "partly-saved", errno.EACCES),
        ("raw/a.stdout", 3, "ok", None, errno.EDQUOT),  # raw output leaves the room to the samples
        ("index.jsonl", 3, "stopped", "partly-saved", errno.EIO),
        ("001/run.json", 1, "ok", "unsaved", errno.EACCES),
        ("overview.json", 0, "ok", None, errno.EROFS),
        ("row.json", 0, "ok", None, errno.EACCES),
        ("undo.jsonl", 1, "ok", None, errno.ENOENT),
        ("nothing", 0, "ok", None, errno.EIO),
    ],
)
def test_a_run_that_can_not_be_saved_is_printed_with_its_figures(
    desk: Desk, trouble: Trouble, where: str, after: int, outcome: str, code: str | None, number: int
) -> None:
    trouble.where, trouble.after, trouble.number = where, after, number
    (run,) = desk.runner.submit(plan("write-iops"), TARGET).result(LONG)
    assert desk.published() == [run]
    assert run.outcome == outcome
    assert codes(run) & {"unsaved", "partly-saved"} == ({code} if code else set())
    if outcome == "ok":
        assert run.summary.write
        assert known(run.summary.write.ios) > 0
    assert desk.host.there, "the test is void where nothing was created"
    assert desk.runner.close() == []
    assert desk.host.there == {}


def test_what_can_not_be_noted_is_not_created(desk: Desk, trouble: Trouble, golden: Golden) -> None:
    trouble.where = "undo.jsonl"
    (run,) = desk.runner.submit(plan("write-iops"), TARGET).result(LONG)
    assert (run.outcome, desk.host.log.of("created file:/mnt/bench/test")) == ("refused", [])
    golden.same(run.error)
    assert desk.runner.close() == []


def test_a_step_that_can_not_be_begun_keeps_those_before_it(desk: Desk, trouble: Trouble, golden: Golden) -> None:
    trouble.where = "002/run.json"
    (run,) = desk.runner.submit(plan("write-iops", "read-iops"), TARGET).result(LONG)
    assert run.outcome == "ok"
    (problem,) = desk.runner.close()
    assert "read-iops" in problem
    golden.same(problem)
    assert desk.host.there == {}


def test_a_first_step_that_can_not_be_begun_is_a_fault_of_the_session(
    desk: Desk, trouble: Trouble, golden: Golden
) -> None:
    trouble.where = "001/run.json"
    with golden.raises(StoreError):
        desk.runner.submit(plan("write-iops"), TARGET).result(LONG)


def remove(directory: Path) -> None:
    shutil.rmtree(directory)


def replace_samples(directory: Path) -> None:
    (directory / "001" / "samples.jsonl").unlink()
    (directory / "001" / "samples.jsonl").mkdir()


def replace_run(directory: Path) -> None:
    (directory / "001" / "run.json").unlink()
    (directory / "001" / "run.json").mkdir()


def replace_reserve(directory: Path) -> None:
    (directory / ".reserve").unlink()
    (directory / ".reserve").mkdir()


@pytest.mark.parametrize(
    ("change", "code"),
    [(remove, "unsaved"), (replace_samples, "partly-saved"), (replace_run, "unsaved"), (replace_reserve, None)],
)
def test_lost_files_of_a_run_in_progress_are_reported(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    code: str | None,
) -> None:
    sample, seen = writer.RunWriter.sample, itertools.count()

    def changing(self: writer.RunWriter, given: Sample) -> None:
        sample(self, given)
        if next(seen) == 12:
            change(desk.directory)

    monkeypatch.setattr(writer.RunWriter, "sample", changing)
    runs = study("write-iops", paths=("/mnt/bench/test",), options={"runtime": "20"}, node=HOST)
    status = carry_out(desk.runner, runs, output=Output("json"))
    (run,) = desk.published()
    printed = capsys.readouterr()
    assert line(run) in printed.out.splitlines()
    assert codes(run) & {"unsaved", "partly-saved"} == ({code} if code else set())
    assert status == (4 if code else 0)
    assert printed.err.count("\n") == (1 if code else 0), printed.err
    assert all(finding.text in printed.err for finding in run.findings if finding.code == code)
    assert run.summary.write
    assert desk.host.there == {}


def test_a_session_that_was_removed_is_not_begun_again(desk: Desk, golden: Golden) -> None:
    """Its lock was removed: another console would take its data for leftovers."""
    desk.runner.submit(plan("write-iops"), TARGET).result(LONG)
    shutil.rmtree(desk.directory)
    with golden.raises(StoreError):
        desk.runner.submit(plan("write-iops"), TARGET).result(LONG)
    assert desk.runner.close() == []
    assert desk.host.there == {}
    assert not desk.directory.exists()


# ---------------------------------------------------------------------------------------------- the time it takes


def test_a_removal_that_does_not_end_is_left_after_a_minute_of_its_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    desk.runner.submit(plan("write-iops"), TARGET).result(LONG)
    progress = desk.runner.cleanup.progress
    assert desk.left() == (("a", "file:/mnt/bench/test"),)
    assert not progress
    requested_at = time.monotonic() - 50.0
    assert not desk.runner.cleanup.is_overdue(requested_at)
    assert desk.runner.cleanup.is_overdue(requested_at - 11.0)
    with desk.runner.cleanup.counted("a", "file:/mnt/bench/test"), desk.runner.cleanup.counted("a", "rbd:bench/x"):
        golden.same(desk.runner.cleanup.progress)
        assert not desk.runner.cleanup.is_overdue(requested_at - 100.0), "it has just begun"
        monkeypatch.setattr(cleanup, "ENDING_SECONDS", -1.0)
        assert desk.runner.cleanup.is_overdue(time.monotonic())
        assert desk.left() == (("a", "file:/mnt/bench/test"), ("a", "rbd:bench/x"))
    monkeypatch.undo()
    assert desk.runner.tidy_up().wait(LONG)
    assert desk.left() == ()
    assert desk.runner.submit(plan("write-iops"), TARGET).result(LONG) == (), "nothing is begun any more"
    with contextlib.suppress(StoreError):
        assert desk.runner.close() == []
