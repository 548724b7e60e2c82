"""However cephtui ends, what was measured is kept and no fio, forked workers included, goes on.

All runs of this file go on side by side and are ended at the same moment; each test looks at one of them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import (
    ENDLESS,
    GONE_SECONDS,
    LIGHT_JOBS,
    Console,
    Event,
    Sandbox,
    light,
    on_terminal,
    read_samples,
    sets,
    wait_for,
)
from tests.support.waiting import FairClock

RUN = ["run", "write-iops", *light(ENDLESS, ramp_time=1), "--session", "S", "--json"]
NEXT = ["run", "read-iops", *light(1), "--json"]


@dataclass
class Ended:
    """A run in the middle of which something was killed or stopped."""

    console: Console
    seconds: float | None = None
    """From then until the last process but cephtui itself was gone, by a fair clock; None before."""
    wall_seconds: float = 0.0
    """The same by the clock on the wall."""
    samples: int = 0
    """Complete lines of samples that were on disk before."""

    @property
    def sandbox(self) -> Sandbox:
        """Where it ran."""
        return self.console.sandbox

    def gone_after(self) -> float:
        """Wait for the last process, and tell how long it took."""
        wait_for(lambda: self.seconds is not None, 2 * GONE_SECONDS, "the end of fio", self.console.describe)
        assert self.seconds is not None
        return self.seconds

    @property
    def run(self) -> Event:
        """The run as it was saved."""
        run: Event = json.loads((self.sandbox.session() / "001" / "run.json").read_text())
        return run


def kill_console(number: int) -> Callable[[Console], None]:
    """Send a signal to cephtui itself."""
    return lambda console: console.process.send_signal(number)


ENDINGS: dict[str, Callable[[Console], None]] = {
    "SIGINT": kill_console(signal.SIGINT),
    "SIGTERM": kill_console(signal.SIGTERM),
    "SIGHUP": kill_console(signal.SIGHUP),
    "killed": kill_console(signal.SIGKILL),
    "killed on a file": kill_console(signal.SIGKILL),
    "frozen": kill_console(signal.SIGSTOP),
    "fio killed": lambda console: console.sandbox.fio_main().kill(),
    "left alone": lambda console: None,
    "watchdog killed": lambda console: console.sandbox.watchdog().kill(),
}


@pytest.fixture(scope="module")
def ended(new_sandbox: NewSandbox) -> Iterator[dict[str, Ended]]:
    """Every run after its ending, whatever that was; how long things then lived is told by ``gone_after``."""
    cases: dict[str, Ended] = {}

    def start(name: str, *words: str) -> None:
        sandbox = new_sandbox()
        target = ["--target", f"file:{sandbox.files}/target"] if name == "killed on a file" else []
        cases[name] = Ended(sandbox.start(*RUN, *target, *words))

    for name in ENDINGS.keys() - {"left alone"}:
        start(name)
    for case in cases.values():
        case.console.wait_for_samples()
    start("left alone", *sets(runtime=17))  # the shortest, which has to be in mid-run as well
    cases["left alone"].console.wait_for_samples()
    watching = threading.Thread(target=watch, args=(cases,))
    for name, case in cases.items():
        assert len(case.sandbox.processes("fio")) == LIGHT_JOBS + 1, case.console.describe()
        case.samples = len(read_samples(case.sandbox.session() / "001"))
        ENDINGS[name](case.console)
    watching.start()
    yield cases
    watching.join()


def watch(cases: dict[str, Ended]) -> None:
    """Note when nothing but cephtui lives any more."""
    started, clock, running = time.monotonic(), FairClock(), [*cases.values()]
    while running and clock.seconds() < 2 * GONE_SECONDS:
        for case in running:
            if {process.pid for process in case.sandbox.processes()} <= {case.console.process.pid}:
                case.seconds, case.wall_seconds = clock.seconds(), time.monotonic() - started
        running = [case for case in running if case.seconds is None]
        time.sleep(0.2)


def assert_gone_before_the_frozen(ended: dict[str, Ended], name: str) -> None:
    """By what happened to it: a missing heartbeat ends everything too, at last, and is noticed after 15 s."""
    assert ended[name].gone_after() < ended["frozen"].gone_after()
    assert ended[name].wall_seconds < ended["frozen"].wall_seconds - 3


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_stops_the_run_and_keeps_what_was_measured(ended: dict[str, Ended], name: str) -> None:
    case = ended[name]
    assert_gone_before_the_frozen(ended, name)
    assert case.console.wait() == 4, case.console.describe()
    (run,) = case.console.runs
    assert run["outcome"] == "stopped"
    assert case.console.complaints == ["cephtui: write-iops #1 stopped"]
    assert {finding["code"] for finding in run["findings"]} >= {"incomplete"}
    total, samples = run["summary"]["write"], case.console.samples()
    for figure in ("ios", "bytes"):
        assert sum(sample["write"][figure] for sample in samples) == pytest.approx(total[figure], rel=0.01)
    assert total["latency_p50_seconds"] > 0
    assert read_samples(case.sandbox.session() / "001") == [e for e in case.console.events if e["event"] == "sample"]
    assert case.run == run
    case.sandbox.assert_clean()


@pytest.mark.parametrize("name", ["killed", "killed on a file"])
def test_a_killed_console_takes_fio_with_it(ended: dict[str, Ended], name: str) -> None:
    assert_gone_before_the_frozen(ended, name)
    assert ended[name].console.process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("name", ["killed", "killed on a file"])
def test_a_killed_console_leaves_a_lost_run_with_its_samples(ended: dict[str, Ended], name: str) -> None:
    case = ended[name]
    console = case.sandbox.run("show", "S/1", "--json")
    assert console.process.returncode == 0, console.describe()
    *states, run = console.events
    shown = [event for event in states if event["event"] == "sample"]
    assert run["outcome"] == "lost"
    assert run["error"]
    assert shown == read_samples(case.sandbox.session() / "001")
    assert len(shown) >= case.samples >= 4
    (row,) = case.sandbox.run("sessions", "--json").events
    assert (row["session"], row["outcomes"], row["writing"]) == ("S", {"lost": 1}, False)
    assert "lost" in case.sandbox.run("sessions").stdout
    assert "lost" in case.sandbox.run("show", "S").stdout


def test_a_torn_last_line_is_dropped(ended: dict[str, Ended]) -> None:
    case = ended["killed"]
    path = case.sandbox.session() / "001" / "samples.jsonl"
    before = path.read_bytes()
    path.write_bytes(before + before.splitlines(keepends=True)[-1][:100])
    try:
        shown = case.sandbox.run("show", "S/1", "--json")
        assert shown.process.returncode == 0, shown.describe()
        samples = [event for event in shown.events if event["event"] == "sample"]
        assert samples == [json.loads(line) for line in before.splitlines()]
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(("name", "what"), [("killed", "scratch"), ("killed on a file", "target")])
def test_the_next_start_removes_what_a_killed_console_left(ended: dict[str, Ended], name: str, what: str) -> None:
    sandbox = ended[name].sandbox
    assert any(what in path for path in sandbox.left()), f"nothing was left, the test is void: {sandbox.describe()}"
    after = sandbox.run(*NEXT)
    assert after.process.returncode == 0, after.describe()
    assert not sandbox.left(), after.describe()


def test_when_fio_is_killed_its_workers_go_too(ended: dict[str, Ended]) -> None:
    case = ended["fio killed"]
    assert_gone_before_the_frozen(ended, "fio killed")
    assert case.console.wait() in (1, 4), case.console.describe()
    (run,) = case.console.runs
    assert run["outcome"] in ("failed", "lost")
    assert run["error"]
    assert case.run == run
    case.sandbox.assert_clean()


def test_when_the_watchdog_is_killed_fio_goes_too(ended: dict[str, Ended]) -> None:
    case = ended["watchdog killed"]
    assert_gone_before_the_frozen(ended, "watchdog killed")
    assert case.console.wait() == 4, case.console.describe()
    (run,) = case.console.runs
    assert run["outcome"] == "lost"
    assert run["error"]
    case.sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- at other moments


SLOW_FILL = 'case " $* " in *" --name=fill "*) exec "$FIO" "$@" --rate=4m;; esac; exec "$FIO" "$@"'
READ = ["run", "read-iops", "--session", "S"]
BEGUN = {
    "filling": light(ENDLESS, size="1G"),
    "ramp": light(ENDLESS, ramp_time=ENDLESS),
    "steps": light(ENDLESS, iodepth="1,2,4"),
    "twice": light(ENDLESS),
}


@pytest.fixture(scope="module")
def begun(new_sandbox: NewSandbox) -> dict[str, Console]:
    """Runs that go on until a test ends them."""
    consoles = {}
    for name, options in BEGUN.items():
        sandbox = new_sandbox()
        target = ["--target", f"file:{sandbox.files}/target"]
        consoles[name] = sandbox.start(*READ, *options, *target, "--json", env=sandbox.program("fio", SLOW_FILL))
    return consoles


def test_a_signal_in_every_phase_leaves_nothing(new_sandbox: NewSandbox, begun: dict[str, Console]) -> None:
    """From the first moment on, the fill and the ramp included."""
    command = [*READ, *light(ENDLESS, ramp_time=2, size="8M"), "--json"]
    consoles = []
    for delay in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.5, 4.0):
        sandbox = new_sandbox()
        console = sandbox.start(*command, env=sandbox.program("fio", SLOW_FILL))
        consoles.append((time.monotonic() + delay, console))
    for when, console in consoles:
        time.sleep(max(0.0, when - time.monotonic()))
        console.process.send_signal(signal.SIGTERM)
    for _, console in consoles:
        status = console.wait()
        assert status in (4, -signal.SIGTERM), console.describe()
        assert "Traceback" not in console.stderr, console.describe()
        console.sandbox.wait_gone()
        if status == 4:
            assert not console.sandbox.left(), console.describe()
        for run in console.runs:
            assert run["outcome"] == "stopped", console.describe()


def stop(console: Console) -> None:
    """Press ctrl+c and wait for the end."""
    console.process.send_signal(signal.SIGINT)
    assert console.wait() == 4, console.describe()
    console.sandbox.assert_clean()


def test_a_stop_while_filling_is_a_stopped_run_without_figures(begun: dict[str, Console]) -> None:
    console = begun["filling"]
    console.wait_for_samples(1, "prepare")
    assert console.sandbox.left()
    stop(console)
    (run,) = console.runs
    assert (run["outcome"], run["summary"]) == ("stopped", {"read": None, "write": None})


def test_a_stop_in_the_ramp_says_that_nothing_was_measured(begun: dict[str, Console]) -> None:
    console = begun["ramp"]
    console.wait_for_samples(1, "ramp")
    stop(console)
    (run,) = console.runs
    assert (run["outcome"], run["summary"]) == ("stopped", {"read": None, "write": None})
    assert {finding["code"] for finding in run["findings"]} == {"incomplete"}


def test_a_stop_drops_the_steps_that_have_not_begun(begun: dict[str, Console]) -> None:
    console = begun["steps"]
    console.wait_for_samples(1)
    stop(console)
    assert [run["outcome"] for run in console.runs] == ["stopped"]


def test_two_signals_at_once_leave_nothing(begun: dict[str, Console]) -> None:
    console = begun["twice"]
    console.wait_for_samples(1)
    console.process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    stop(console)
    assert "Traceback" not in console.stderr


def test_the_end_of_the_terminal_stops_the_run(sandbox: Sandbox) -> None:
    """As when a browser terminal or an SSH session is closed: its processes get SIGHUP, and EIO for every write."""
    ours, theirs = os.openpty()
    options = light(ENDLESS)
    console = sandbox.start(*READ, *options, start_new_session=True, **on_terminal(theirs))
    os.close(theirs)
    samples = sandbox.data / "sessions" / "S" / "001" / "samples.jsonl"
    wait_for(lambda: samples.exists() and samples.stat().st_size, 30, "samples", console.describe)
    os.close(ours)
    console.process.send_signal(signal.SIGHUP)
    assert console.wait() == 4, console.describe()
    assert Ended(console).run["outcome"] == "stopped"
    sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- after a while


def test_a_frozen_console_loses_fio_by_its_missing_heartbeat(ended: dict[str, Ended]) -> None:
    case = ended["frozen"]
    assert case.gone_after() < GONE_SECONDS
    assert case.wall_seconds > 8
    case.console.process.send_signal(signal.SIGCONT)
    assert case.console.wait() == 4, case.console.describe()
    (run,) = case.console.runs
    assert run["outcome"] == "lost"
    assert run["error"], "it must say what happened"
    assert run["summary"]["write"]["ios"] > 0
    case.sandbox.assert_clean()


def test_a_run_longer_than_the_heartbeats_limit_comes_to_its_end(ended: dict[str, Ended]) -> None:
    case = ended["left alone"]
    assert case.console.wait() == 0, case.console.describe()
    assert case.run["duration_seconds"] > 16, "too short to show that the heartbeat arrives"
    case.sandbox.assert_clean()


_SWALLOWED = """
import os, signal
from cephtui.cli import main

def swallows(**_):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except main.Interrupted:
        raise ValueError("a library's own") from None

main.cli.main = swallows
main.main()
"""


def test_an_interruption_that_a_library_makes_an_error_of_is_one_all_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", _SWALLOWED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (4, "cephtui: interrupted\n")
