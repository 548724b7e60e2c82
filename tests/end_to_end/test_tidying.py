"""However cephtui is asked to end while it removes what it has created: the first time it finishes that, a second time
it says what is left.

The real process on a file whose removal takes as long as the test wants.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Console, Sandbox, light, sets, wait_for
from tests.end_to_end.test_screens_end import IDLE, LEAVE_ALTERNATE, Terminal, preset

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RUN = ["run", "write-iops", *light(1, numjobs=1), "--session", "S"]
LONG = [*RUN, *sets(runtime=ENDLESS), "--json"]


class Held:
    """A sandbox in which a removal waits until it is let go."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.target = sandbox.files / "target"
        self.spec = f"file:{self.target}"
        self._hold, self._asked = sandbox.root / "hold", sandbox.root / "asked"
        self._hold.touch()
        script = f"""
            touch {self._asked}
            while [ -e {self._hold} ]; do sleep 0.05; done
            exec /bin/rm "$@" """
        self.env = sandbox.program("rm", script)

    @property
    def left(self) -> str:
        """What is said where it stays."""
        return f"cephtui: local: {self.spec} was not removed: cephtui cleanup removes it\n"

    def start(self, *words: str) -> Console:
        """A cephtui whose removals wait."""
        return self.sandbox.start(*words, env=self.env)

    def wait_asked(self) -> None:
        """Until a removal waits."""
        wait_for(self._asked.exists, 60.0, "the removal", self.sandbox.describe)

    def let_go(self) -> None:
        """Removals go on."""
        self._hold.unlink()

    def leave_behind(self) -> None:
        """As by a console that was killed."""
        console = self.sandbox.start(*LONG, "--target", self.spec)
        console.wait_for_samples(1)
        console.process.kill()
        self.sandbox.wait_gone()
        assert self.target.exists()

    def assert_clean(self) -> None:
        """Nothing is left, and nothing is on a list."""
        self.sandbox.assert_clean()
        assert self.sandbox.run("cleanup").complaints == []


@pytest.fixture
def held(new_sandbox: NewSandbox) -> Iterator[Callable[[], Held]]:
    made: list[Held] = []

    def new() -> Held:
        made.append(Held(new_sandbox()))
        return made[-1]

    yield new
    for each in made:
        each._hold.unlink(missing_ok=True)
        each.sandbox.wait_gone()


def says(console: Console, words: str) -> None:
    """Wait until it has complained of this."""
    console.wait_for(lambda: words in console.stderr, 60, repr(words))


def again(console: Console, number: signal.Signals) -> None:
    """A second signal; one that comes with the first would be the same."""
    time.sleep(0.5)
    console.process.send_signal(number)


def test_the_first_signal_lets_a_removal_finish_and_a_second_says_what_is_left(held: Callable[[], Held]) -> None:
    cases = {number: held() for number in SIGNALS}
    consoles = {number: case.start(*RUN, "--json", "--target", case.spec) for number, case in cases.items()}
    for number, case in cases.items():
        case.wait_asked()
        if number == signal.SIGINT:
            says(consoles[number], "removing 1 of 1")  # the offer is made also where the removal was announced before
        consoles[number].process.send_signal(number)
    for number, console in consoles.items():
        says(console, f"removing 1 of 1: {cases[number].spec} (a second Ctrl+C ")
        assert [run["outcome"] for run in console.runs] == ["ok"]
        assert cases[number].target.exists()
    twice = cases.pop(signal.SIGTERM)
    again(consoles[signal.SIGTERM], signal.SIGHUP)
    assert consoles[signal.SIGTERM].wait() == 4, consoles[signal.SIGTERM].describe()
    assert consoles[signal.SIGTERM].stderr.endswith(f"cephtui: interrupted\n{twice.left}")
    assert twice.target.exists()
    for number, case in cases.items():
        case.let_go()
        assert consoles[number].wait() == 4, consoles[number].describe()
        assert "cephtui cleanup" not in consoles[number].stderr
        case.assert_clean()
    twice.let_go()
    removed = twice.sandbox.run("cleanup", "--yes")
    assert removed.process.returncode == 0, removed.describe()
    twice.assert_clean()


def test_what_can_not_be_removed_is_said_and_the_run_is_no_success(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    env = sandbox.program("rm", "echo \"rm: cannot remove '$2': Read-only file system\" >&2; exit 1")
    console = sandbox.run(*RUN, "--json", "--target", f"file:{sandbox.files / 'target'}", env=env)
    assert [run["outcome"] for run in console.runs] == ["ok"]
    assert console.process.returncode == 4, console.describe()
    (line,) = [line for line in console.complaints if ": cephtui cleanup " in line]
    assert f"file:{sandbox.files / 'target'} " in line
    assert "Read-only file system" in line
    assert sandbox.run("cleanup", "--yes").process.returncode == 0
    sandbox.assert_clean()


def test_a_cleanup_that_is_ended_says_what_is_left(held: Callable[[], Held]) -> None:
    once, twice = held(), held()
    consoles = {}
    for case in (once, twice):
        case.leave_behind()
        consoles[case] = case.start("cleanup", "--yes")
    for case, console in consoles.items():
        case.wait_asked()
        console.process.send_signal(signal.SIGINT)
        says(console, "finishing the removal")
    again(consoles[twice], signal.SIGTERM)
    assert consoles[twice].wait() == 4, consoles[twice].describe()
    assert consoles[twice].stderr.endswith(f"cephtui: interrupted\n{twice.left}")
    once.let_go()
    assert consoles[once].wait() == 4, consoles[once].describe()
    assert f"local: removed {once.spec}" in consoles[once].stderr
    once.assert_clean()


def test_what_another_console_left_is_removed_to_its_end_too(held: Callable[[], Held]) -> None:
    """Before the first step, which then does not begin."""
    case = held()
    case.leave_behind()
    console = case.start(*LONG, "--target", f"{case.spec}2", "--session", "T")
    case.wait_asked()
    console.process.send_signal(signal.SIGTERM)
    says(console, f"removing 1 of 1: {case.spec} (")
    case.let_go()
    assert console.wait() == 4, console.describe()
    assert console.runs == []
    case.assert_clean()


@pytest.mark.parametrize("words", [["info"], ["nodes"], RUN])
def test_a_signal_ends_every_command_in_order(held: Callable[[], Held], words: list[str]) -> None:
    """A program that it asks does not answer."""
    case = held()
    hanging = case.sandbox.program("fio", f"touch {case.sandbox.root}/asked; exec sleep 300")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        (case.sandbox.root / "asked").unlink(missing_ok=True)
        console = case.sandbox.start(*words, env=hanging)
        case.wait_asked()
        console.process.send_signal(number)
        assert console.wait() == 4, console.describe()
        assert console.stderr == "cephtui: interrupted\n"
        case.sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- the console


@pytest.fixture
def after_a_run(held: Callable[[], Held]) -> Iterator[Callable[..., tuple[Held, Terminal]]]:
    """A console on a file of its own after a run, or in mid-run."""
    terminals: list[Terminal] = []

    def start(runtime: int = 1) -> tuple[Held, Terminal]:
        case = held()
        presets = case.sandbox.config / "cephtui" / "presets"
        presets.mkdir(parents=True)
        (presets / "write-iops.toml").write_text(preset(runtime))
        terminal = Terminal(case.sandbox, "--target", case.spec, "--session", "S", env=case.env)
        terminals.append(terminal)
        terminal.shows(IDLE)
        terminal.type("2\r")
        terminal.shows(" running " if runtime > 1 else "questionable")
        return case, terminal

    yield start
    for each in terminals:
        each.hang_up()


def after_the_screen(terminal: Terminal) -> str:
    """What is on the terminal when it is as it was."""
    sent = terminal.all_sent()
    return sent[sent.rindex(LEAVE_ALTERNATE) :].decode()


def test_the_console_shows_its_removal_and_finishes_it(after_a_run: Callable[..., tuple[Held, Terminal]]) -> None:
    for number, code in ((None, 0), (signal.SIGTERM, 4), (signal.SIGINT, 4)):
        case, terminal = after_a_run()
        terminal.type("q")
        terminal.shows(f"removing 1 of 1: {str(case.spec)[:30]}")
        if number is not None:
            terminal.signal(number)
        terminal.shows("q ends at once")
        case.let_go()
        assert terminal.console.wait() == code, terminal.describe()
        assert "cephtui cleanup" not in after_the_screen(terminal)
        case.assert_clean()


@pytest.mark.parametrize("how", ["q", "\x03", "\x11", "signal"])
def test_a_second_time_ends_the_console_at_once_and_says_what_is_left(
    after_a_run: Callable[..., tuple[Held, Terminal]], how: str
) -> None:
    case, terminal = after_a_run()
    if how == "signal":
        terminal.signal(signal.SIGTERM)
    else:
        terminal.type("q")
    terminal.shows("removing 1 of 1")
    if how == "signal":
        again(terminal.console, signal.SIGHUP)
    else:
        terminal.type(how)
    assert terminal.console.wait() == 4, terminal.describe()
    assert case.left.strip() in after_the_screen(terminal)
    assert case.target.exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_in_mid_run_of_the_console_is_no_good_end(
    after_a_run: Callable[..., tuple[Held, Terminal]], number: signal.Signals
) -> None:
    case, terminal = after_a_run(300)
    case.let_go()
    run = Path(case.sandbox.session("S")) / "001"
    wait_for((run / "samples.jsonl").exists, 30.0, "a sample", terminal.describe)
    terminal.signal(number)
    assert terminal.console.wait() == 4, terminal.describe()
    assert (run / "run.json").read_text().count('"stopped"') > 0
    case.assert_clean()
