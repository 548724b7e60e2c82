"""``cephtui check`` as the real process: saved runs, guided checks, and what is said before."""

from __future__ import annotations

import json
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from cephtui.reports.words.facts import ranges
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.desk import (
    CHANGE,
    END_SECONDS,
    PRESET,
    RATE,
    SLOWER,
    THERE_AND_BACK,
    UNDO,
    Desk,
    conclusion,
    steady,
    word_of,
)
from tests.end_to_end.sandbox import wait_for
from tests.end_to_end.test_screens_end import IDLE, Terminal


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
AS_IT_IS = b"Press Enter to measure without a change"
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
