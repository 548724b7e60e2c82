"""``cephtui check`` as the real process, with fio at a fixed rate: what it says of a change is certain then.

A change that slows down is a file: while it exists, the fio of these tests keeps to a lower rate.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import cephtui
from cephtui.models import Mark
from cephtui.reports.words.facts import ranges
from cephtui.sessions.changes import Ran, not_undone
from cephtui.sessions.writer import append_lines
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import CERTAIN, ENDLESS, Console, Event, Sandbox, sets, wait_for
from tests.end_to_end.test_screens_end import IDLE, Terminal

RATE, SLOWER = 100, 40
END_SECONDS = 120.0
PRESET = "write-iops"
FIO = f"""
case " $* " in *" --name={PRESET} "*) ;; *) exec "$FIO" "$@";; esac
echo run >> log
if [ -e slow ]; then set -- "$@" --rate_iops={SLOWER}; fi
if [ -e slow ] && [ -e hold ]; then set -- "$@" --runtime={ENDLESS}; fi
{CERTAIN}
"""
"""With the file ``hold`` a run after the change goes on until it is stopped."""
CHANGE, UNDO = "echo change >> log; touch slow", "echo undo >> log; rm slow"
THERE_AND_BACK = ["--change", CHANGE, "--undo", UNDO]
OWN_TREE = str(Path(cephtui.__file__).parent.parent)


def steady(rate: int = RATE) -> list[str]:
    """``--set`` for a short run with this rate."""
    return sets(runtime=2, ramp_time=0, size="1M", numjobs=1, iodepth=4, rate_iops=rate)


class Desk:
    """A sandbox in whose own folder the changes are made."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.root = sandbox, sandbox.root
        self.slow, self.hold = self.root / "slow", self.root / "hold"
        self.env = sandbox.program("fio", f"cd {self.root}{FIO}")
        self.target = f"file:{sandbox.files}/target"

    def start(self, *words: str) -> Console:
        return self.sandbox.start(*words, env=self.env)

    def run(self, *words: str, code: int, seconds: float = END_SECONDS) -> Console:
        """To its end, which has to be with this exit code."""
        console = self.start(*words)
        assert console.wait(seconds) == code, console.describe()
        return console

    def measure(self, session: str, runs: int = 3, rate: int = RATE) -> None:
        words = ["--repeat", str(runs), "--target", self.target, "--session", session]
        self.run("run", PRESET, *steady(rate), *words, code=0)

    def guided(self, session: str = "C", runs: int | None = 3) -> list[str]:
        """A check that measures."""
        number = ["--runs", str(runs)] if runs else []
        return ["check", "--preset", PRESET, *steady(), "--target", self.target, *number, "--session", session]

    def mark(self, session: str, text: str) -> None:
        """As the console keeps one between two runs."""
        append_lines(self.sandbox.session(session) / "marks.jsonl", [Mark(at=datetime.now(UTC), text=text)])

    def kept(self, session: str, name: str = "verdicts.jsonl") -> list[Event]:
        path = self.sandbox.session(session) / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def log(self) -> list[str]:
        """What the changes and fio have written down, in order."""
        path = self.root / "log"
        return path.read_text().split() if path.exists() else []

    def outcomes(self, session: str = "C") -> list[str]:
        paths = sorted(self.sandbox.session(session).glob("*/run.json"))
        return [json.loads(path.read_text())["outcome"] for path in paths]

    def left(self, undo: str, session: str = "C") -> None:
        """A session as a killed check leaves it, with its change in place."""
        folder, at = self.sandbox.data / "sessions" / session, datetime.now(UTC).isoformat()
        folder.mkdir(parents=True)
        append_lines(folder / "changes.jsonl", [Ran(at=datetime.now(UTC), kind="change", command="x", undo=undo)])
        (folder / "session.json").write_text(
            json.dumps({"session": session, "created_at": at, "cephtui_version": "0", "schema_version": 1})
        )

    def in_time(self, seconds: int, *words: str) -> Console:
        """Started with so short a time limit for changes and undos."""
        limit = f"from cephtui.running import command\ncommand.TIME_LIMIT_SECONDS = {seconds}\n"
        return self.sandbox.start(*words, env={**self.env, **self.before(limit)})

    def before(self, code: str) -> dict[str, str]:
        """The environment of a cephtui that runs this code first."""
        folder = self.root / "site"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(code)
        return {"PYTHONPATH": f"{folder}:{OWN_TREE}", "PYTHONDONTWRITEBYTECODE": "1"}

    def wait_in_after(self, console: Console) -> None:
        """Until it measures after the change."""

        def is_measuring() -> bool:
            runs = sorted(self.sandbox.session("C").glob("*/samples.jsonl")) if self.slow.exists() else []
            return self.log[-1:] == ["run"] and len(runs) > 1 and runs[-1].read_bytes().count(b"\n") > 2

        console.wait_for(is_measuring, END_SECONDS, "samples after the change")


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    return Desk(sandbox)


@pytest.fixture(scope="module")
def saved(new_sandbox: NewSandbox) -> Desk:
    """S: three runs, three slower ones, three as the first, one more; M: three runs, a change with its mark, three."""
    desk = Desk(new_sandbox())
    for runs, rate in ((3, RATE), (3, SLOWER), (3, RATE), (1, RATE)):
        desk.measure("S", runs, rate)
    desk.measure("M")
    desk.mark("M", "fewer shards")
    desk.slow.touch()
    desk.measure("M")
    desk.slow.unlink()
    return desk


def word_of(console: Console) -> str:
    """The word of the first verdict, which decides."""
    return str(next(event["word"] for event in console.events if event["event"] == "verdict"))


def conclusion(console: Console) -> Event:
    """Of ``--json``: all that is printed after the runs are verdicts, those that decide first, then this."""
    events = console.events
    last = events.pop()
    assert last["event"] == "conclusion"
    verdicts = [event for event in events if event["event"] == "verdict"]
    assert events[len(events) - len(verdicts) :] == verdicts
    decides = [verdict["decides"] for verdict in verdicts]
    assert decides == sorted(decides, reverse=True)
    assert decides[0]
    assert last["exit_code"] == console.process.returncode
    return last


# ---------------------------------------------------------------------------------------------- saved runs


def test_two_named_batches_are_judged_and_the_verdict_is_kept(saved: Desk) -> None:
    console = saved.run("check", "S/1", "S/4", "--json", code=5)
    answer = conclusion(console)
    verdict = console.events[0]
    assert (answer["answer"], answer["changed"]) == ("not met", [f"option rate_iops {RATE} -> {SLOWER}"])
    assert (verdict["before"], verdict["after"]) == (["S/1", "S/2", "S/3"], ["S/4", "S/5", "S/6"])
    assert (verdict["preset"], verdict["direction"], verdict["figure"]) == (PRESET, "write", "iops")
    assert (verdict["word"], verdict["differs"], verdict["met"]) == ("worse", "slower", False)
    assert verdict["ratio"] == pytest.approx(SLOWER / RATE, abs=0.05)
    assert verdict["interval"][0] <= verdict["ratio"] <= verdict["interval"][1] < 0.9
    assert saved.kept("S")[-len(console.events) :] == console.events
    runs_told = defaultdict(list)
    for run in range(1, 7):
        findings = json.loads((saved.sandbox.session("S") / f"{run:03}" / "run.json").read_text())["findings"]
        (short,) = [found["text"] for found in findings if found["code"] == "short"]
        assert short.startswith("only 2.")
        runs_told[short].append(run)
    text = saved.run("check", "S/1", "S/4", code=5).stdout
    for short, runs in runs_told.items():
        assert f"S/{ranges(runs)}: {short}" in text


def test_a_second_look_at_the_same_runs_is_said(saved: Desk) -> None:
    words = ["check", "S/4", "S/7", "--json"]
    assert [conclusion(saved.run(*words, code=0))["notes"] for _ in range(3)] == [[]] * 3, (
        "no other runs, no other look"
    )
    (note,) = conclusion(saved.run(*words, "--without", "9", code=6))["notes"]
    assert "look" in note
    assert conclusion(saved.run(*words, code=0))["notes"] == []
    assert conclusion(saved.run("check", "S/4", "M/1", "--json", code=0))["notes"] == []


def test_equal_batches_meet_what_is_required(saved: Desk) -> None:
    console = saved.run("check", "S/1", "S/7", "--json", code=0)
    assert word_of(console) == "same"
    assert conclusion(console)["answer"] == "met"
    assert console.complaints == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["S/1", "S/4", "--require", "-70"], 0),
        (["S/4", "S/7", "--require", "20"], 0),
        (["S/1", "S/7", "--require", "20"], 5),
        (["S/1", "S/10"], 6),  # one run after
        (["S/10", "S/1"], 6),
        (["S/1", "S/4", "--without", "5"], 6),
    ],
)
def test_the_answer_depends_on_what_is_asked(saved: Desk, words: list[str], code: int) -> None:
    answer = conclusion(saved.run("check", *words, "--json", code=code))
    assert answer["answer"] == {0: "met", 5: "not met", 6: "undecided"}[code]
    assert [each["run"] for each in answer["left_out"]] == (["S/5"] if "--without" in words else [])


def test_a_figure_that_was_not_measured_is_said(saved: Desk) -> None:
    console = saved.run("check", "S/1", "S/4", "--direction", "read", code=6)
    assert "read IOPS" in console.stdout


def test_a_session_is_judged_around_its_mark(saved: Desk) -> None:
    for words in (["M"], ["M", "--mark", "1"]):
        console = saved.run("check", *words, "--json", code=5)
        assert "fewer shards" in conclusion(console)["noted"]
        assert console.events[0]["before"] == ["M/1", "M/2", "M/3"]
        assert console.events[0]["after"] == ["M/4", "M/5", "M/6"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["S"], "cephtui check S/1 S/2"),
        (["M", "--mark", "2"], "session M"),
        (["S/1", "S/99"], "run 99"),
        (["nothing"], "'nothing'"),
        (["S/1", "S/4", "--mark", "1"], "cephtui check SESSION"),
        (["S", "--against", "S/1"], "--against"),
        (["--against", "S/1", "--change", "touch slow"], "--against"),
        (["--preset", PRESET, "--undo", "touch slow"], "--undo"),
        (["--preset", PRESET, "--change", "touch slow", "--set", "iodepth=1,2"], "iodepth"),
        (["--continue", "S", "--change", "touch slow"], "session S"),
    ],
)
def test_wrong_usage_measures_and_changes_nothing(saved: Desk, words: list[str], named: str) -> None:
    before = saved.log
    console = saved.run("check", *words, code=2)
    assert named in console.complaints[-1]
    assert saved.log == before
    assert not saved.slow.exists()


def test_against_saved_runs_it_measures_in_a_new_session(saved: Desk) -> None:
    before = len(saved.kept("S"))
    console = saved.run("check", "--against", "S/1", "--runs", "3", "--session", "A", "--json", code=0)
    assert conclusion(console)["answer"] == "met"
    verdict = next(event for event in console.events if event["event"] == "verdict")
    assert (verdict["before"], verdict["after"]) == (["S/1", "S/2", "S/3"], ["A/1", "A/2", "A/3"])
    assert [run["options"]["rate_iops"] for run in console.runs] == [RATE] * 3
    assert [run["target"] for run in console.runs] == [saved.target] * 3
    assert [event["event"] for event in saved.kept("A")][-1] == "conclusion"
    assert len(saved.kept("S")) == before
    assert saved.sandbox.left() == []


def test_against_too_few_runs_nothing_is_measured(saved: Desk) -> None:
    """However many there were after the change, there would be no verdict."""
    before = saved.log
    console = saved.run("check", "--against", "S/10", "--session", "F", code=2)
    assert "S/10" in console.stderr
    assert saved.log == before
    assert not saved.sandbox.session("F").exists()


# ---------------------------------------------------------------------------------------------- a guided check


def test_the_sides_take_turns_and_the_change_is_undone(desk: Desk) -> None:
    """The looks are at 4, 6, 8 and 12 runs a side: at the first of them this change is beyond doubt."""
    before, run, after = ["undo"], ["run"], ["change"]
    first = f"cp data/sessions/C/changes.jsonl noted-before; {CHANGE}"
    words = [*desk.guided(runs=None), "--json", "--change", first, "--undo", UNDO]
    console = desk.run(*words, code=5)
    assert desk.log == [*run, *after, *run * 2, *before, *run * 2, *after, *run * 2, *before, *run]
    assert not desk.slow.exists()
    answer = conclusion(console)
    verdict = next(event for event in console.events if event["event"] == "verdict")
    assert (verdict["method"], verdict["looks"], verdict["looks_most"]) == ("paired", 1, 4)
    assert verdict["before"] == ["C/1", "C/4", "C/5", "C/8"]
    assert verdict["after"] == ["C/2", "C/3", "C/6", "C/7"]
    assert first in answer["noted"]
    assert desk.kept("C")[-1] == answer
    (*_, noted) = [json.loads(line) for line in (desk.root / "noted-before").read_text().splitlines()]
    assert (noted["kind"], noted["undo"], noted["status"]) == ("change", UNDO, None)
    ran = [(each["kind"], each["status"]) for each in desk.kept("C", "changes.jsonl")]
    assert ran == [("change", None), ("change", 0), ("undo", None), ("undo", 0)] * 2
    desk.sandbox.assert_clean()
    again = desk.run("check", "C", "--json", code=5)  # the session knows its sides
    assert again.events[0]["before"] == verdict["before"]
    assert desk.run("cleanup", code=0).complaints == []


def test_a_change_that_nothing_depends_on_is_met(desk: Desk) -> None:
    words = [*desk.guided(), "--change", "echo change >> log", "--undo", "echo undo >> log"]
    assert word_of(desk.run(*words, "--json", code=0)) == "same"
    assert desk.log == ["run", "change", "run", "run", "undo", "run", "run", "change", "run", "undo"]


def test_a_change_without_undo_comes_after_all_of_before(desk: Desk) -> None:
    desk.run(*desk.guided(), "--change", CHANGE, code=5)
    assert desk.log == [*["run"] * 3, "change", *["run"] * 3]
    assert desk.slow.exists()
    assert desk.run("cleanup", code=0).complaints == []


def test_a_refused_target_changes_nothing(desk: Desk) -> None:
    target = desk.sandbox.files / "target"
    target.write_text("somebody's")
    console = desk.run(*desk.guided(), *THERE_AND_BACK, code=3)
    assert "target" in console.stderr
    assert desk.log == []
    assert target.read_text() == "somebody's"


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


def test_a_stopped_guided_check_is_undone_and_can_be_continued(desk: Desk) -> None:
    desk.hold.touch()
    console = desk.start(*desk.guided(), *THERE_AND_BACK, "--require", "-70")
    desk.wait_in_after(console)
    console.process.send_signal(signal.SIGINT)
    assert console.wait(END_SECONDS) == 4, console.describe()
    assert "cephtui check --continue C" in console.stderr
    assert desk.log == ["run", "change", "run", "undo"]
    assert not desk.slow.exists()
    assert not (desk.sandbox.session("C") / "verdicts.jsonl").exists()
    desk.sandbox.assert_clean()
    desk.hold.unlink()

    refused = desk.run("check", "--continue", "C", code=2)
    assert "--change and --undo" in refused.stderr
    continued = desk.run("check", "--continue", "C", *THERE_AND_BACK, "--json", code=0)  # as required at the first time
    answer = conclusion(continued)
    assert [each["run"] for each in answer["left_out"]] == ["C/2"]
    assert desk.log[4:] == ["change", "run", "run", "undo", "run", "run", "change", "run", "undo"]
    assert desk.outcomes() == ["ok", "stopped", *["ok"] * 5]
    desk.sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- killed


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
    assert "its end is not known" in refused.stderr
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


# ---------------------------------------------------------------------------------------------- before it begins


def test_a_dry_run_runs_nothing_and_tells_what_could_be_seen(desk: Desk) -> None:
    for turns, order in ((THERE_AND_BACK, "A B B A"), ([], "before, then after")):
        console = desk.run(*desk.guided(runs=None), *turns, "--dry-run", code=0)
        command, first, *looks, last = [
            line for line in console.stdout.splitlines() if line[:1] != " " or line.startswith("  look")
        ]
        assert command.startswith(f"1. {PRESET} "), command
        assert (PRESET in first, desk.target in first, first.endswith(order)) == (True, True, True), first
        sides = ["4", "6", "8", "12"] if turns else ["6"] * 4
        for number, (line, before, after) in enumerate(zip(looks, sides, ["4", "6", "8", "12"], strict=True), 1):
            assert line.startswith(f"  look {number}: {before} before, {after} after, about "), line
            assert line.count(" %") == 3, line
        assert re.findall(r"\d+ %", last) == ["2 %", "5 %", "10 %"]
    (plan,) = desk.run(*desk.guided(), *THERE_AND_BACK, "--dry-run", "--json", code=0).events
    assert plan["event"] == "plan"
    assert desk.log == []
    assert not (desk.sandbox.data / "sessions").exists()
    assert desk.sandbox.left() == []


def test_without_a_terminal_the_way_with_two_commands_is_named(desk: Desk) -> None:
    console = desk.run(*desk.guided(), code=2)
    for words in ("--change", "cephtui run PRESET --repeat 6", "cephtui check --against SESSION/RUN"):
        assert words in console.stderr, console.stderr
    assert desk.log == []


# ---------------------------------------------------------------------------------------------- on a terminal


ASKS = b"Make the change"
AS_IT_IS = b"Press Enter to measure as it is"
OnTerminal = Callable[..., Terminal]


@pytest.fixture
def terminal(desk: Desk) -> Iterator[OnTerminal]:
    """Starts cephtui on terminals, which are closed at the end of the test."""
    terminals: list[Terminal] = []

    def start(*words: str, env: dict[str, str] | None = None) -> Terminal:
        terminals.append(Terminal(desk.sandbox, *words, env=env or desk.env))
        return terminals[-1]

    yield start
    for each in terminals:
        each.hang_up()


def wait_asked(terminal: Terminal) -> None:
    """Until it asks for the change."""
    wait_for(lambda: ASKS in terminal.sent, END_SECONDS, "the question", terminal.describe)


_FLUSHES_LATE = """
import termios, time
flush = termios.tcflush
termios.tcflush = lambda *words: (time.sleep(1), flush(*words))
"""


def test_the_words_that_are_typed_become_the_mark(desk: Desk, terminal: OnTerminal) -> None:
    asked = terminal(*desk.guided(), env={**desk.env, **desk.before(_FLUSHES_LATE)})
    asked.type("too early\r")  # what is typed before it asks is no answer
    wait_asked(asked)
    desk.slow.touch()
    asked.type("fewer shards\r")
    wait_for(lambda: AS_IT_IS in asked.sent, END_SECONDS, "the question whether it took effect", asked.describe)
    assert desk.log == ["run"] * 3, "no run is spent before that is answered"
    asked.type("\r")
    assert asked.console.wait(END_SECONDS) == 5, asked.describe()
    assert desk.kept("C")[0]["word"] == "worse"
    assert [mark["text"] for mark in desk.kept("C", "marks.jsonl")] == ["fewer shards"]
    assert desk.kept("C")[-1]["noted"] == ["fewer shards"]
    assert desk.log == ["run"] * 6
    desk.sandbox.assert_clean()


def test_a_stop_while_it_asks_can_be_continued(desk: Desk, terminal: OnTerminal) -> None:
    asked = terminal(*desk.guided(runs=2))
    wait_asked(asked)
    asked.type("\x03")
    assert asked.console.wait(END_SECONDS) == 4, asked.describe()
    assert b"check --continue C" in asked.all_sent()
    desk.sandbox.assert_clean()
    again = terminal("check", "--continue", "C")
    wait_asked(again)
    again.type("\r")
    wait_for(lambda: AS_IT_IS in again.sent, END_SECONDS, "the question whether it took effect", again.describe)
    again.type("\r")
    assert again.console.wait(END_SECONDS) == 6, again.describe()  # two runs a side are not judged
    assert [mark["text"] for mark in desk.kept("C", "marks.jsonl")] == ["the change"]
    assert desk.outcomes() == ["ok"] * 4


# ---------------------------------------------------------------------------------------------- what it costs


_KEEPS_MODULES = "import atexit, sys\natexit.register(lambda: open({path!r}, 'w').write(' '.join(sys.modules)))\n"


@pytest.mark.matrix
def test_only_a_verdict_imports_its_libraries(desk: Desk, terminal: OnTerminal) -> None:
    found = desk.root / "modules"
    env = desk.before(_KEEPS_MODULES.format(path=str(found)))

    def imported(*words: str) -> set[str]:
        found.unlink(missing_ok=True)
        if words:
            assert desk.sandbox.run(*words, env=env).process.returncode in (0, 5)
        else:
            console = terminal(env=env)
            console.shows(IDLE)
            console.type("q")
            assert console.console.wait(END_SECONDS) == 0, console.describe()
        names = set(found.read_text().split())
        assert "cephtui" in names
        return names & {"mpmath", "scipy", "numpy"}

    words = ["--target", desk.target, "--session", "S"]
    assert imported("run", PRESET, *steady(RATE), *words) == set()
    for rate in (RATE, SLOWER):  # a table of repeats shows their intervals
        assert imported("run", PRESET, *steady(rate), *words, "--repeat", "3") == {"mpmath"}
    assert imported("--version") == set()
    assert imported("--help") == set()
    assert imported() == set()
    assert imported("check", "S/2", "S/5") == {"mpmath"}
