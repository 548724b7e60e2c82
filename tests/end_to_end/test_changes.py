"""The change of a guided check, whatever is killed, hangs or is done meanwhile: as the real process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from datetime import UTC, datetime

import pytest

from cephtui.sessions.changes import not_undone
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.desk import CHANGE, END_SECONDS, PRESET, THERE_AND_BACK, UNDO, Desk, conclusion, steady
from tests.end_to_end.sandbox import Event, wait_for


def test_a_change_that_fails_is_undone(desk: Desk) -> None:
    """It may have been made in part."""
    words = ["--change", f"{CHANGE}; echo no such option >&2; exit 7", "--undo", UNDO]
    console = desk.run(*desk.guided(), *words, code=1)
    assert "status 7: no such option" in console.stderr
    assert desk.log == ["run", "change", "undo"]
    assert not desk.slow.exists()
    noted = [each for each in desk.kept("C", "changes.jsonl") if each["status"] is not None]
    assert [(each["kind"], each["status"], each["output"]) for each in noted] == [
        ("change", 7, "no such option\n"),
        ("undo", 0, ""),
    ]
    desk.sandbox.assert_clean()


def test_an_undo_that_fails_is_said_and_can_be_repeated(desk: Desk) -> None:
    blocked = desk.root / "blocked"
    words = ["--change", f"{CHANGE}; touch blocked; exit 1", "--undo", f"test ! -e {blocked} || exit 1; {UNDO}"]
    console = desk.run(*desk.guided(), *words, code=1)
    (line,) = desk.run("cleanup", "--undo", "C", "--yes", code=1).complaints
    assert line.endswith(": status 1: cephtui cleanup --undo C")
    assert line in console.complaints
    blocked.unlink()
    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    assert desk.log == ["run", "change", "undo"]


@pytest.mark.parametrize("ignores", ["", "trap '' TERM; "])
def test_a_change_that_hangs_is_stopped_and_undone(desk: Desk, ignores: str) -> None:
    words = ["--change", f"{ignores}{CHANGE}; sleep 1000 & sleep 1000", "--undo", UNDO]
    console = desk.start(*desk.guided(), *words)
    console.wait_for(desk.slow.exists, END_SECONDS, "the change")
    console.wait_for(lambda: len(desk.sandbox.processes("sleep")) == 2, END_SECONDS, "what it starts")
    console.process.send_signal(signal.SIGTERM)
    assert console.wait(END_SECONDS) == 4, console.describe()
    assert "--change" in console.stderr
    assert desk.log == ["run", "change", "undo"]
    assert not desk.slow.exists()
    desk.sandbox.assert_clean()


def test_an_undo_that_hangs_is_left_with_a_second_signal(desk: Desk) -> None:
    words = ["--change", f"{CHANGE}; exit 1", "--undo", "touch undoing; sleep 1000 & sleep 1000"]
    console = desk.start(*desk.guided(), *words)
    console.wait_for((desk.root / "undoing").exists, END_SECONDS, "the undo")
    console.process.send_signal(signal.SIGTERM)
    console.wait_for(lambda: "second Ctrl+C" in console.stderr, END_SECONDS, "that the undo is waited for")
    time.sleep(0.5)  # signals that come together are one
    console.process.send_signal(signal.SIGINT)
    assert console.wait(END_SECONDS) == 4, console.describe()
    assert "Traceback" not in console.stderr
    assert console.complaints[-1].endswith(": cephtui cleanup --undo C")
    desk.sandbox.assert_clean()


@pytest.mark.parametrize(
    ("undo", "why"),
    [
        ("sleep 1000 & setsid sleep 1000 & sleep 1000", "within 2 s"),
        ("trap '' TERM; while :; do sleep 1; done", "within 2 s"),
        ("yes", "within 2 s: y"),
        ("head -c 999999 /dev/zero | tr '\\0' x; exit 3", "status 3: xxx"),
        ("echo no quorum; kill -KILL $$", "status 137: no quorum"),
    ],
)
def test_an_undo_that_does_not_end_well_is_said_and_stays(desk: Desk, undo: str, why: str) -> None:
    desk.left(undo)
    console = desk.in_time(2, "cleanup", "--undo", "C", "--yes")
    assert console.wait(END_SECONDS) == 1, console.describe()
    assert console.stdout.startswith("session C")
    assert console.stdout.endswith(f": {undo}\n")
    (line,) = console.complaints
    assert f"{why}" in line
    assert line.endswith(": cephtui cleanup --undo C")
    assert len(line) < 500
    desk.sandbox.assert_clean()
    assert "cephtui cleanup --undo C" in desk.run("cleanup", code=0).stderr


def test_a_check_whose_undo_hangs_ends_in_time_and_says_so(desk: Desk) -> None:
    words = ["--change", f"{CHANGE}; exit 1", "--undo", "echo undo >> log; sleep 1000"]
    console = desk.in_time(2, *desk.guided(), *words)
    assert console.wait(END_SECONDS) == 1, console.describe()
    assert any(line.endswith(": echo undo >> log; sleep 1000") for line in console.complaints)
    assert console.complaints[-1].endswith("within 2 s: cephtui cleanup --undo C")
    assert desk.log == ["run", "change", "undo"]
    desk.sandbox.assert_clean()


@pytest.mark.matrix
def test_an_undo_whose_console_stands_still_says_so_and_stays(desk: Desk) -> None:
    desk.left("sleep 300")
    console = desk.start("cleanup", "--undo", "C", "--yes")
    console.wait_for(lambda: desk.sandbox.processes("sleep"), END_SECONDS, "the undo")
    console.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: not desk.sandbox.processes("sleep"), END_SECONDS, "the end of the undo")
    console.process.send_signal(signal.SIGCONT)
    assert console.wait(END_SECONDS) == 1
    assert console.complaints[-1].endswith(": cephtui cleanup --undo C"), console.describe()
    assert not_undone(desk.sandbox.session("C")) == "sleep 300"


def test_an_undo_does_not_begin_before_the_end_of_one_whose_console_and_watchdog_were_killed(desk: Desk) -> None:
    alone = "exec 8>> held; flock -n 8 || echo twice >> log"
    desk.left(f"trap '' TERM; {alone}; echo undo >> log; test -e stays || {{ touch stays; sleep 1000; }}")
    first = desk.start("cleanup", "--undo", "C", "--yes")
    first.wait_for((desk.root / "stays").exists, END_SECONDS, "the undo")
    desk.sandbox.watchdog().kill()
    first.process.kill()
    first.process.wait()
    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    assert desk.log == ["undo", "undo"]
    desk.sandbox.assert_clean()


def test_an_undo_may_take_longer_than_a_removal(desk: Desk) -> None:
    soon = desk.before("from cephtui.running import cleanup\ncleanup.ENDING_SECONDS = 1\n")
    words = ["--change", f"{CHANGE}; exit 1", "--undo", f"touch undoing; sleep 4; {UNDO}"]
    console = desk.sandbox.start(*desk.guided(), *words, env={**desk.env, **soon})
    console.wait_for((desk.root / "undoing").exists, END_SECONDS, "the undo")
    console.process.send_signal(signal.SIGTERM)
    assert console.wait(END_SECONDS) in (1, 4), console.describe()
    assert desk.log == ["run", "change", "undo"]
    assert not desk.slow.exists()
    desk.sandbox.assert_clean()


def test_a_change_that_cannot_be_noted_is_not_made(desk: Desk) -> None:
    (desk.sandbox.data / "sessions" / "C" / "changes.jsonl").mkdir(parents=True)
    console = desk.run(*desk.guided(), *THERE_AND_BACK, code=4)
    assert "--change" in console.stderr
    assert "Is a directory" in console.stderr
    assert desk.log == ["run"]
    desk.sandbox.assert_clean()


def test_a_change_is_undone_also_where_that_cannot_be_noted(desk: Desk) -> None:
    spoil = "rm data/sessions/C/changes.jsonl; mkdir data/sessions/C/changes.jsonl"
    desk.run(*desk.guided(), "--change", f"{CHANGE}; {spoil}", "--undo", UNDO, "--runs", "2", code=6)
    assert desk.log == ["run", "change", "run", "run", "undo", "run"]
    assert not desk.slow.exists()


def killed(desk: Desk, undo: str = UNDO) -> None:
    """A guided check that was killed while it measured after the change."""
    desk.hold.touch()
    console = desk.start(*desk.guided(), "--change", CHANGE, "--undo", undo)
    desk.wait_in_after(console)
    console.process.kill()
    desk.sandbox.wait_gone()
    desk.hold.unlink()
    assert desk.slow.exists()
    assert desk.log == ["run", "change", "run"]


def test_what_a_killed_guided_check_has_changed_is_undone_by_its_name(desk: Desk) -> None:
    killed(desk)
    (line,) = desk.run("cleanup", "--dry-run", code=0).complaints
    assert "cephtui cleanup --undo C" in line
    assert line.endswith(f": {UNDO}")
    assert line in desk.run("cleanup", "--yes", code=0).complaints
    assert desk.sandbox.left() == []
    assert UNDO in desk.run("cleanup", "--undo", "C", "--dry-run", code=0).stdout
    assert "--yes" in desk.run("cleanup", "--undo", "C", code=3).stderr
    assert desk.log == ["run", "change", "run"]

    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    assert desk.log == ["run", "change", "run", "undo"]
    assert not desk.slow.exists()
    assert "session C" in desk.run("cleanup", "--undo", "C", "--yes", code=2).stderr
    assert desk.run("cleanup", code=0).complaints == []
    assert desk.log.count("undo") == 1


def test_an_undo_by_name_runs_once_at_a_time_and_can_be_stopped(desk: Desk) -> None:
    killed(desk, f"{UNDO}; test -e stays || {{ touch stays; sleep 1000; }}")
    first = desk.start("cleanup", "--undo", "C", "--yes")
    first.wait_for((desk.root / "stays").exists, END_SECONDS, "the undo")
    desk.run("cleanup", "--undo", "C", "--yes", code=2)
    assert "--undo" not in desk.run("cleanup", "--yes", code=0).stderr
    first.process.send_signal(signal.SIGTERM)
    assert first.wait(END_SECONDS) == 4, first.describe()
    assert first.complaints[0] == "cephtui: interrupted"
    assert first.complaints[1].endswith(": cephtui cleanup --undo C")
    desk.sandbox.wait_gone()
    assert "cephtui cleanup --undo C" in desk.run("cleanup", "--yes", code=0).stderr
    assert desk.log.count("undo") == 1
    desk.sandbox.assert_clean()


def test_a_killed_guided_check_is_continued_with_the_change_in_place(desk: Desk) -> None:
    killed(desk)
    console = desk.run("check", "--continue", "C", *THERE_AND_BACK, "--json", code=5)
    assert [each["run"] for each in conclusion(console)["left_out"]] == ["C/2"]
    assert desk.log[3:] == ["run", "run", "undo", "run", "run", "change", "run", "undo"]
    assert not desk.slow.exists()
    desk.sandbox.assert_clean()


def test_a_change_whose_end_is_not_known_is_not_made_again_unasked(desk: Desk) -> None:
    """The console was killed while it was made: half of it may be in place."""
    hangs = f"{CHANGE}; test -e stays || {{ touch stays; sleep 1000; }}"
    console = desk.start(*desk.guided(), "--change", hangs, "--undo", UNDO)
    console.wait_for((desk.root / "stays").exists, END_SECONDS, "the change")
    console.process.kill()
    desk.sandbox.wait_gone()
    refused = desk.run("check", "--continue", "C", "--change", hangs, "--undo", UNDO, code=3)
    assert "whether it is made" in refused.stderr
    assert "cephtui cleanup --undo C" in refused.stderr
    assert desk.log == ["run", "change"]
    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    desk.run("check", "--continue", "C", "--change", hangs, "--undo", UNDO, code=5)
    assert desk.log[:4] == ["run", "change", "undo", "change"]
    assert not desk.slow.exists()
    desk.sandbox.assert_clean()


def test_a_change_is_not_taken_back_below_the_check_that_measures_it(desk: Desk) -> None:
    desk.hold.touch()
    first = desk.start(*desk.guided(), *THERE_AND_BACK)
    desk.wait_in_after(first)
    for words in (
        ["check", "--continue", "C", *THERE_AND_BACK],
        [*desk.guided(), *THERE_AND_BACK],
        ["check", "--against", "C/1", "--session", "C"],
    ):
        assert "session C" in desk.run(*words, code=3).stderr
    desk.run("cleanup", "--undo", "C", "--yes", code=2)
    assert desk.log == ["run", "change", "run"]
    first.process.send_signal(signal.SIGINT)
    assert first.wait(END_SECONDS) == 4, first.describe()
    assert desk.log == ["run", "change", "run", "undo"]
    desk.sandbox.assert_clean()


GATE = "while [ -e held-{0} ]; do sleep 0.1; done"
HELD = ["--change", f"{CHANGE}; {GATE.format('change')}", "--undo", f"{GATE.format('undo')}; {UNDO} -f"]
OTHERS = {
    "continue": (["check", "--continue", "C", *HELD], 3),
    "run": (["run", PRESET, *steady(), "--session", "C"], 3),
    "against": (["check", "--against", "C/1", "--session", "C"], 3),
    "undo": (["cleanup", "--undo", "C", "--yes"], 2),
    "cleanup": (["cleanup", "--yes"], 0),
}
"""What another console may do, and its exit code."""


@pytest.mark.parametrize("phase", ["change", pytest.param("undo", marks=pytest.mark.matrix)])
def test_a_check_in_any_phase_is_touched_by_no_other_console(desk: Desk, phase: str) -> None:
    held = desk.root / f"held-{phase}"
    held.touch()
    first = desk.start(*desk.guided(runs=2), *HELD, "--json")
    log = ["run", "change"] + ["run", "run"] * (phase == "undo")
    first.wait_for(lambda: desk.log == log and f"cephtui: {phase}, " in first.stderr, END_SECONDS, phase)
    others = {**OTHERS, "check": ([*desk.guided(), *HELD], 3)}
    for words, code in others.values():
        desk.run(*words, code=code)
    assert desk.log == log
    held.unlink()
    assert first.wait(END_SECONDS) == 6, first.describe()
    assert desk.log == ["run", "change", "run", "run", "undo", "run"]
    desk.sandbox.assert_clean()


@pytest.mark.matrix
def test_a_change_and_an_undo_of_another_check_meanwhile_are_findings(desk: Desk) -> None:
    """They may have been the same: then a part of what is measured after the change is measured without it."""
    held = desk.root / "held-change"
    held.touch()
    first = desk.start(*desk.guided(runs=2), *HELD, "--json")
    first.wait_for(lambda: desk.log == ["run", "change"], END_SECONDS, "the change")
    second = ["check", "--preset", PRESET, *steady(), "--target", f"{desk.target}-2", "--runs", "2", "--session", "D"]
    other = desk.run(*second, "--change", "true", "--undo", "rm slow", "--json", code=6)
    held.unlink()
    assert first.wait(END_SECONDS) == 6, first.describe()
    for run in other.runs:
        (in_place,) = left_changed(run)
        assert "session C" in in_place
        assert in_place.endswith(f": {HELD[1]}")
    before, ran, again, afterwards = (left_changed(run) for run in first.runs)
    assert (before, again, afterwards) == ([], ran, [])
    for text, command in zip(ran, ("true", "rm slow"), strict=True):
        assert "session D" in text
        assert text.endswith(f" {command}")
    assert {each["why"] for each in conclusion(first)["limited"]} >= {*ran}


def left_changed(run: Event) -> list[str]:
    return [each["text"] for each in run["findings"] if each["code"] == "left-changed"]


def test_a_verdict_is_not_given_where_something_else_has_undone_the_change(desk: Desk) -> None:
    """As by a program that does not keep to the lock of the session."""
    undone = f'{{"kind": "undo", "command": "x", "undo": "x", "status": 0, "at": "{datetime.now(UTC).isoformat()}"}}'
    path = desk.sandbox.data / "sessions" / "C" / "changes.jsonl"
    words = ["--change", f"{CHANGE}; {{ sleep 1; echo '{undone}' >> {path}; }} > /dev/null 2>&1 &", "--undo", UNDO]
    console = desk.run(*desk.guided(runs=2), *words, "--json", code=4)
    assert "undone" in console.stderr
    assert {event["event"] for event in console.events} >= {"run"}
    assert not {event["event"] for event in console.events} & {"verdict", "conclusion"}
    assert "undo" not in desk.log


@pytest.mark.parametrize("ignores", ["", "trap '' TERM; "])
def test_a_change_ends_with_its_killed_console_before_it_is_undone(desk: Desk, ignores: str) -> None:
    change = f"{ignores}touch begun; sleep 6; touch slow"
    console = desk.start(*desk.guided(), "--change", change, "--undo", "echo undo >> log; rm -f slow")
    console.wait_for((desk.root / "begun").exists, END_SECONDS, "the change")
    console.process.kill()
    console.process.wait()
    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    assert desk.sandbox.processes("sleep") == []
    assert desk.log == ["run", "undo"]
    assert not desk.slow.exists()
    desk.sandbox.wait_gone()


def test_what_a_change_leaves_in_the_background_lives_on(desk: Desk) -> None:
    """As the daemon of a mount does, and the session is not in use by it."""
    console = desk.run(
        *desk.guided(runs=2), "--change", "sleep 1000 > /dev/null 2>&1 &", "--undo", "true", "--json", code=6
    )
    assert len(desk.outcomes()) == 4, console.describe()
    (daemon,) = desk.sandbox.processes("sleep")
    os.kill(daemon.pid, signal.SIGKILL)
    desk.sandbox.assert_clean()


def test_a_change_that_was_left_in_place_is_said_by_every_other_run(desk: Desk) -> None:
    killed(desk)
    desk.measure("other", runs=1)
    (run,) = (json.loads(path.read_text()) for path in desk.sandbox.session("other").glob("*/run.json"))
    (said,) = left_changed(run)
    assert "session C" in said
    assert said.endswith(f": {CHANGE}")
    console = desk.run(*desk.guided("D", runs=2), "--change", "true", "--undo", "true", code=6)
    said_at = next(at for at, line in enumerate(console.complaints) if "cephtui cleanup --undo C" in line)
    assert said_at < console.complaints.index(f"cephtui: {PRESET} (1/1)"), "before the first run"
    desk.run("cleanup", "--undo", "C", "--yes", code=0)
    desk.measure("after", runs=1)
    (run,) = (json.loads(path.read_text()) for path in desk.sandbox.session("after").glob("*/run.json"))
    assert "left-changed" not in {each["code"] for each in run["findings"]}


@pytest.mark.parametrize(
    ("char", "escaped"),
    [
        ("\n", r"\n"),
        ("\r", r"\r"),
        ("\t", r"\t"),
        ("\x1b[2K", r"\x1b[2K"),
        ("\u202e", r"\u202e"),
        ("\u00a0", r"\u00a0"),
    ],
)
def test_a_command_that_is_not_shown_as_it_runs_is_not_run(desk: Desk, char: str, escaped: str) -> None:
    desk.left(f"true  # ticket{char}touch PWN")
    console = desk.run("cleanup", "--undo", "C", "--yes", code=3)
    shown = f"true  # ticket{escaped}touch PWN"
    assert console.stdout.rstrip().endswith(shown)
    assert shown in desk.run("cleanup", code=0).stderr
    assert not (desk.root / "PWN").exists()


@pytest.mark.parametrize("words", [["--change", "a\nb"], ["--change", "a", "--undo", "b\x1b"]])
def test_a_command_of_several_lines_is_not_taken(desk: Desk, words: list[str]) -> None:
    assert words[-2] in desk.run(*desk.guided(), *words, code=2).stderr
    assert desk.log == []


def test_the_command_of_a_copied_session_runs_by_its_name_only(desk: Desk, new_sandbox: NewSandbox) -> None:
    here = Desk(new_sandbox())
    mine = here.root / "taken"
    killed(desk, f"touch {mine}")
    shutil.copytree(desk.sandbox.session("C"), here.sandbox.data / "sessions" / "C")
    here.run("check", "C", "--without", "C/2", code=6)
    here.run("check", "--continue", "C", code=2)
    here.run("show", "C", code=0)
    here.run("sessions", code=0)
    here.run("cleanup", "--yes", "--as-listed", code=0)
    here.measure("other", runs=1)
    here.run(*here.guided("D", runs=2), "--change", "true", "--undo", "true", code=6)
    again = [*here.guided(), "--change", "true", "--undo", "true"]
    assert "cephtui cleanup --undo C" in here.run(*again, code=3).stderr  # of the session's own it would lose sight
    assert not mine.exists()
    assert str(mine) in here.run("cleanup", "--undo", "C", "--yes", code=0).stdout
    assert mine.exists()
