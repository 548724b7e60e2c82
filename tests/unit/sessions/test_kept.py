"""Sessions in which nothing was measured are not kept; whatever is of worth in one keeps it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from cephtui.models import Mark, SessionNotes
from cephtui.sessions import archive
from cephtui.sessions.kept import holds_nothing
from cephtui.sessions.listing import list_sessions
from cephtui.sessions.store import count_runs
from cephtui.sessions.undo import Undo
from cephtui.sessions.writer import RunWriter, SessionWriter, drop_killed, mark_undone
from tests.support.runs import STARTED
from tests.unit.sessions.test_store import run_of, sample_of

UNDO = Undo(node="local", target="file:/mnt/bench/test")
WHY = "image bench/vm-1 is in use"


def begin(root: Path, outcome: str = "refused") -> tuple[SessionWriter, RunWriter]:
    """A session with a run that had this outcome before it was measured."""
    writer = SessionWriter.open(root, "tuning")
    run = run_of("tuning", writer.next_run(), outcome=outcome, error=WHY)
    return writer, writer.start_run(run)


def killed(root: Path) -> SessionWriter:
    """A session whose console was killed before anything was measured."""
    writer = SessionWriter.open(root, "tuning")
    writer.start_run(run_of("tuning", 1))
    writer._held.close()
    return writer


def names(root: Path) -> list[str]:
    return [row.session for row in list_sessions(root)]


@pytest.mark.parametrize("outcome", ["refused", "failed", "stopped", "lost"])
def test_without_any_output_of_its_runs_it_is_removed_and_the_log_says_why(
    tmp_path: Path, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "cephtui"):
        writer, _ = begin(tmp_path, outcome)
        writer.close()
    assert [*tmp_path.iterdir()] == []
    assert f"write-iops #1 {outcome}: {WHY}" in caplog.text
    assert "session tuning is not kept" in caplog.text


def test_the_words_of_a_node_that_refuses_are_no_output(tmp_path: Path) -> None:
    writer, run = begin(tmp_path)
    run.raw("local", "stderr", b"cephtui: it is in use by another run\n", 0.1)
    writer.close()
    assert names(tmp_path) == []


WORTH: dict[str, Callable[[SessionWriter, RunWriter], object]] = {
    "a sample": lambda writer, run: run.sample(sample_of(1)),
    "a mark": lambda writer, run: writer.mark(Mark(at=STARTED, text="a new disk")),
    "a note": lambda writer, run: archive.write_notes(writer.directory, SessionNotes(note="mine")),
    "a change": lambda writer, run: (writer.directory / "changes.jsonl").write_text("{}\n"),
    "a leftover": lambda writer, run: writer.undo(UNDO),
    "a list of leftovers that can't be read": lambda writer, run: (writer.directory / "undo.jsonl").mkdir(),
    "somebody's file": lambda writer, run: (writer.directory / "todo.txt").write_text("mine"),
    "a session file that can't be read": lambda writer, run: (writer.directory / "session.json").write_text("{}"),
    "a run that can't be read": lambda writer, run: (run.directory / "run.json").write_text("{"),
}


@pytest.mark.parametrize("worth", [*WORTH])
def test_what_is_of_worth_keeps_it(tmp_path: Path, worth: str) -> None:
    writer, run = begin(tmp_path)
    WORTH[worth](writer, run)
    writer.close()
    assert names(tmp_path) == ["tuning"]


@pytest.mark.parametrize("outcome", ["failed", "stopped", "lost"])
def test_so_does_a_run_that_has_printed_something(tmp_path: Path, outcome: str) -> None:
    writer, run = begin(tmp_path, outcome)
    run.raw("local", "stderr", b"fio: engine rbd not loadable\n", 0.1)
    writer.close()
    assert names(tmp_path) == ["tuning"]


def test_a_refused_run_leaves_a_session_with_earlier_runs_as_it_is(tmp_path: Path) -> None:
    writer, _ = begin(tmp_path, "ok")
    writer.close()
    writer, _ = begin(tmp_path, "refused")
    writer.close()
    assert count_runs(tmp_path / "tuning") == 2


def test_what_was_made_and_removed_is_no_reason_to_keep_it(tmp_path: Path) -> None:
    writer, _ = begin(tmp_path)
    writer.undo(UNDO)
    writer.undo(UNDO.model_copy(update={"done": True}))
    writer.close()
    assert names(tmp_path) == []


# ---------------------------------------------------------------------------------------------- after a KILL


def test_of_a_killed_console_it_is_not_listed_and_removed_at_the_next_start(tmp_path: Path) -> None:
    directory = killed(tmp_path).directory
    assert names(tmp_path) == []
    assert directory.is_dir()
    drop_killed(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_its_leftovers_are_removed_first(tmp_path: Path) -> None:
    writer = killed(tmp_path)
    writer.undo(UNDO)
    drop_killed(tmp_path)
    assert names(tmp_path) == ["tuning"]
    mark_undone(writer.directory, UNDO)
    assert [*tmp_path.iterdir()] == []


def test_while_a_console_writes_it_it_is_listed_and_stays(tmp_path: Path) -> None:
    writer, _ = begin(tmp_path)
    drop_killed(tmp_path)
    assert names(tmp_path) == ["tuning"]
    assert holds_nothing(writer.directory)
    writer.close()
