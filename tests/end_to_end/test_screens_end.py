"""On whatever screen cephtui is ended, by whatever means: nothing goes on, nothing is left, all can be read.

The real process on a terminal of its own, whose screen is read.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from cephtui.sessions import demo, store
from tests.end_to_end.forks import Forked
from tests.end_to_end.sandbox import ENDLESS, Console, Sandbox, on_terminal, wait_for
from tests.support import two_copies
from tests.support.matrix import cases

COLUMNS, ROWS = 120, 36
SEEN_SECONDS = 60.0
ALTERNATE, LEAVE_ALTERNATE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
IDLE, RUNNING = "p presets", " running "
Step = tuple[str, str]
"""A key, and words that are then to be seen; behind a minus, words that are not to be seen any more."""
SESSIONS: tuple[Step, ...] = (("o", "outcomes"),)
SESSION: tuple[Step, ...] = (*SESSIONS, ("\r", f"#{two_copies.STAR} write-iops"))
SCREENS: dict[str, tuple[Step, ...]] = {
    "console": (),
    "form": (("e", "enter keeps"),),
    "preset list": (("p", "type to filter"),),
    "target picker": (("t", "rbd:POOL or file:"),),
    "node picker": (("n", "[user@]host"),),
    "queue": (("u", "The queue is empty"),),
    "sessions": SESSIONS,
    "session": SESSION,
    "compare": (*SESSION, ("c", "demo/13"), ("\r", "A #")),
    "replay": (*SESSION, ("p", "replay of demo/")),
    "presenter": (("f", "-q quit"),),
    "full-screen chart": (("F", "-Write IOPS"),),
    "log": (*SESSION, ("l", "right for the next")),
    "help": (("?", "esc closes"),),
}
KILLED = ("console", "sessions", "replay")
"""Where it is also killed: that leaves the same behind on every screen, but what goes on beside these differs."""
ALWAYS = (*KILLED, "presenter")
"""What goes on beside the others goes on beside one of these: they are of the matrix."""
IN_A_RUN: dict[str, tuple[Step, ...]] = {
    "console": (),
    "presenter": (("f", "-q quit"),),
    "full-screen chart": (("F", "-Write IOPS"),),
    "log": (("l", "write-iops on local"),),
}


def preset(runtime: int = ENDLESS, key: int = 2, rw: str = "randwrite") -> str:
    """A user's preset, which loads nothing."""
    return f"""
title = "Write IOPS"
key = {key}
[options]
rw = "{rw}"
bs = "4k"
iodepth = 4
numjobs = 2
size = "4M"
runtime = {runtime}
ramp_time = 0
rate_iops = 20
"""


# ---------------------------------------------------------------------------------------------- a terminal

_PIECE = re.compile(r"\x1b\[([?<>=]?[\d;]*[ $]?)([@-~])|\x1b[^\[]|[^\x1b\r\n]+|[\r\n]")


class Screen:
    """What a terminal shows: of its commands those that place text."""

    def __init__(self) -> None:
        self._rows = [[" "] * COLUMNS for _ in range(ROWS)]
        self._row = self._column = 0
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        """Take in a piece of output, cut anywhere."""
        text, at = self._rest + self._decoder.decode(data), 0
        while piece := _PIECE.match(text, at):
            at = piece.end()
            self._take(piece)
        self._rest = text[at:]

    def _take(self, piece: re.Match[str]) -> None:
        if piece[2] == "H":
            row, _, column = piece[1].partition(";")
            self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
        elif piece[0] == "\n":
            self._row, self._column = self._row + 1, 0
        elif piece[0] == "\r":
            self._column = 0
        elif piece[0][0] != "\x1b":
            for letter in piece[0]:
                if self._row < ROWS and self._column < COLUMNS:
                    self._rows[self._row][self._column] = letter
                self._column += 1

    @property
    def text(self) -> str:
        """Row by row."""
        return "\n".join("".join(row).rstrip() for row in self._rows)


class Terminal:
    """cephtui on a terminal: what it sends is read at once, as a terminal does."""

    def __init__(
        self, sandbox: Sandbox, *words: str, env: Mapping[str, str | None] | None = None, is_leader: bool = True
    ) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.console: Console
        if is_leader:
            self.console = sandbox.start(*words, env=env, terminal=theirs)
        else:
            self.console = sandbox.start(*words, env=env, **on_terminal(theirs))
        os.close(theirs)
        self.sent = b""
        self._screen, self._drawn = Screen(), 0
        self._hung_up = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while not self._hung_up.is_set():
                if select.select([self._ours], [], [], 0.1)[0]:
                    self.sent += os.read(self._ours, 65536)

    @property
    def text(self) -> str:
        """What can be seen."""
        drawn, self._drawn = self._drawn, len(self.sent)
        self._screen.feed(self.sent[drawn : self._drawn])
        return self._screen.text

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def shows(self, words: str) -> None:
        """Wait until these can be seen, or with a minus before them can't."""
        wanted, absent = words.removeprefix("-"), words.startswith("-")
        wait_for(lambda: (wanted in self.text) != absent, SEEN_SECONDS, repr(words), self.describe)

    def sends(self, more: int) -> None:
        """Wait until it has sent more bytes than this."""
        wait_for(lambda: len(self.sent) > more, SEEN_SECONDS, "output", self.describe)

    def go(self, steps: tuple[Step, ...]) -> None:
        """Press each key when what it is for is there."""
        for key, words in steps:
            self.type(key)
            self.shows(words)

    def signal(self, number: signal.Signals) -> None:
        """Send cephtui a signal."""
        self.console.process.send_signal(number)

    def hang_up(self) -> None:
        """As when a window or a connection is closed."""
        if not self._hung_up.is_set():
            self._hung_up.set()
            self._reader.join()
            os.close(self._ours)

    def all_sent(self) -> bytes:
        """All that it has sent, after its end."""
        self._reader.join()
        return self.sent

    def describe(self) -> str:
        """What a failed test needs to know."""
        return f"{self.text}\n{self.console.describe()}"


NewTerminal = Callable[..., Terminal]


@pytest.fixture
def terminal(sandbox: Sandbox) -> Iterator[NewTerminal]:
    """Starts cephtui on terminals, which are closed at the end of the test."""
    terminals: list[Terminal] = []

    def start(*words: str, is_leader: bool = True) -> Terminal:
        terminals.append(Terminal(sandbox, *words, is_leader=is_leader))
        return terminals[-1]

    try:
        yield start
    finally:
        for each in terminals:
            each.hang_up()


# ---------------------------------------------------------------------------------------------- how it ends

ENDINGS: dict[str, Callable[[Terminal], None]] = {
    "TERM": lambda terminal: terminal.signal(signal.SIGTERM),
    "HUP": Terminal.hang_up,
    "KILL": lambda terminal: terminal.signal(signal.SIGKILL),
}


def prepare(sandbox: Sandbox) -> None:
    """A saved session, and a small benchmark on the key 2."""
    two_copies.unpack(sandbox.data / "sessions")
    presets = sandbox.config / "cephtui" / "presets"
    presets.mkdir(parents=True)
    (presets / "write-iops.toml").write_text(preset())


def end_each(sandbox: Sandbox, terminals: dict[str, Terminal]) -> None:
    """End each in its way; all are gone in time, what was left too, and the terminal is as it was."""
    for how, each in terminals.items():
        ENDINGS[how](each)
    for each in terminals.values():
        each.console.wait()
    sandbox.wait_gone()
    if "KILL" in terminals:
        assert terminals["KILL"].console.process.returncode == -signal.SIGKILL
    for how in ("TERM", "HUP"):
        assert terminals[how].console.process.returncode in (0, 4), terminals[how].describe()
        assert b"Traceback" not in terminals[how].sent
    restored = terminals["TERM"].all_sent()
    assert restored.rindex(LEAVE_ALTERNATE) > restored.rindex(ALTERNATE)
    assert restored.rindex(SHOW_CURSOR) > restored.rindex(b"\x1b[?25l")
    for mode in (b"1000", b"1003", b"2004"):  # mouse and paste
        assert restored.rindex(b"\x1b[?%bl" % mode) > restored.rindex(b"\x1b[?%bh" % mode), mode
    assert "Traceback" not in sandbox.log


def scratches(sandbox: Sandbox) -> list[Path]:
    """The folders of scratch files."""
    return sorted((sandbox.cache / "cephtui").glob("scratch-*"))


def assert_next_start_tidies(sandbox: Sandbox, terminal: NewTerminal) -> None:
    """Of three consoles the killed one has left its scratch folder; the next start removes it, and leaves nothing."""
    (left,) = scratches(sandbox)
    after = terminal()
    after.shows(IDLE)
    wait_for(lambda: not left.exists(), SEEN_SECONDS, f"the end of {left}", sandbox.describe)
    after.type("q")
    assert after.console.wait() == 0, after.describe()
    sandbox.assert_clean()


@pytest.mark.parametrize("screen", cases(SCREENS, ALWAYS))
def test_an_idle_cephtui_ends_on_every_screen(sandbox: Sandbox, terminal: NewTerminal, screen: str) -> None:
    prepare(sandbox)
    terminals = {how: terminal() for how in ENDINGS if how != "KILL" or screen in KILLED}
    for each in terminals.values():
        each.shows(IDLE)
        each.go(SCREENS[screen])
    assert len(scratches(sandbox)) == len(terminals)
    end_each(sandbox, terminals)
    if screen in KILLED:
        assert_next_start_tidies(sandbox, terminal)
    sandbox.assert_clean()
    run = store.read_run(sandbox.data / "sessions" / "demo", two_copies.STAR)
    assert run.preset == "write-iops"
    assert [path.name for path in (sandbox.data / "sessions").iterdir()] == ["demo"]


def has_lines(samples: Path) -> bool:
    return samples.exists() and samples.read_bytes().count(b"\n") > 3


@pytest.mark.parametrize("screen", cases(IN_A_RUN, ALWAYS))
def test_a_run_ends_with_cephtui_on_every_screen(sandbox: Sandbox, terminal: NewTerminal, screen: str) -> None:
    prepare(sandbox)
    terminals = {how: terminal("--session", how) for how in ENDINGS}
    for each in terminals.values():
        each.shows(IDLE)
        each.type("2\r")
    for how, each in terminals.items():
        each.shows(RUNNING)
        samples = sandbox.session(how) / "001" / "samples.jsonl"
        wait_for(partial(has_lines, samples), SEEN_SECONDS, "samples", each.describe)
        each.go(IN_A_RUN[screen])
    assert sandbox.processes("fio")
    assert len([path for path in scratches(sandbox) if (path / "scratch").exists()]) == len(ENDINGS)
    end_each(sandbox, terminals)
    assert_next_start_tidies(sandbox, terminal)
    for how, outcome in (("TERM", "stopped"), ("HUP", "stopped"), ("KILL", "lost")):
        shown = sandbox.run("show", f"{how}/1", "--json")
        assert shown.process.returncode == 0, shown.describe()
        *states, run = shown.events
        samples_shown = [event for event in states if event["event"] == "sample"]
        assert run["outcome"] == outcome
        assert sum(bool(sample["write"] and sample["write"]["ios"]) for sample in samples_shown) > 3


def test_a_terminal_that_ends_without_a_signal_ends_it_in_order(sandbox: Sandbox, terminal: NewTerminal) -> None:
    """As where make or another program that passes no SIGHUP on leads the terminal's session."""
    prepare(sandbox)
    idle, busy = terminal(is_leader=False), terminal("--session", "S", is_leader=False)
    for each in (idle, busy):
        each.shows(IDLE)
    busy.type("2\r")
    busy.shows(RUNNING)
    wait_for(lambda: has_lines(sandbox.session("S") / "001" / "samples.jsonl"), SEEN_SECONDS, "samples", busy.describe)
    for each, code in ((idle, 0), (busy, 4)):
        each.hang_up()
        assert each.console.wait() == code, each.describe()
    sandbox.assert_clean()
    assert scratches(sandbox) == []
    assert store.read_run(sandbox.session("S"), 1).outcome == "stopped"


def test_a_console_that_was_stopped_goes_on_with_as_many_threads(sandbox: Sandbox, terminal: NewTerminal) -> None:
    """SIGCONT also comes with a hang-up, and from whoever likes to send it."""
    prepare(sandbox)
    each = terminal()
    each.shows(IDLE)
    each.go(SCREENS["help"])
    dumped = ""

    def drawing() -> list[int]:
        """How many threads read keys, and how many write to the terminal; others come and go."""
        nonlocal dumped
        assert isinstance(each.console.process, Forked)
        before, dumped = dumped, each.console.process.stacks(sandbox.root)
        return [dumped[len(before) :].count(name) for name in ("in _run_input_thread", "_writer_thread.py")]

    wait_for(lambda: drawing() == [1, 1], SEEN_SECONDS, "one thread of each kind", each.describe)
    for number in (signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        drawn = each.sent.count(ALTERNATE)
        each.signal(number)
        if number == signal.SIGCONT:
            wait_for(lambda: each.sent.count(ALTERNATE) > drawn, SEEN_SECONDS, "a new screen", each.describe)  # noqa: B023
    wait_for(lambda: drawing() == [1, 1], SEEN_SECONDS, "one thread of each kind", each.describe)
    each.go((("\x1b", "-esc closes"), *SCREENS["preset list"], ("\x1b", "-type to filter")))
    each.type("q")
    assert each.console.wait() == 0, each.describe()


@pytest.mark.parametrize("words", [[], ["demo"]])
def test_a_signal_while_it_starts_ends_it_in_order(sandbox: Sandbox, terminal: NewTerminal, words: list[str]) -> None:
    """From the moment on at which it has changed the terminal."""
    sandbox.forks = False
    for more in (0, 20, 500, 2000, 5000):
        each = terminal(*words)
        each.sends(more)
        each.signal(signal.SIGTERM)
        assert each.console.wait() == 0, each.describe()
        sent = each.all_sent()
        assert sent.rindex(LEAVE_ALTERNATE) > sent.rindex(ALTERNATE)
        assert b"rror" not in sent[sent.rindex(LEAVE_ALTERNATE) :]
        sandbox.assert_clean()
        assert scratches(sandbox) == []
    assert "Traceback" not in sandbox.log


def contents(session: Path) -> dict[Path, bytes]:
    """All that a session has, but for the lock."""
    paths = (path for path in session.rglob("*") if path.is_file() and path.name != "lock")
    return {path.relative_to(session): path.read_bytes() for path in paths}


@pytest.mark.parametrize("words", [["demo"], ["replay", f"demo/{two_copies.STAR}"], ["watch", "demo"]])
def test_what_shows_saved_runs_ends_too(sandbox: Sandbox, terminal: NewTerminal, words: list[str]) -> None:
    prepare(sandbox)
    before = sorted(path for path in sandbox.data.rglob("*") if path.name != "lock")
    terminals = {how: terminal(*words) for how in ENDINGS}
    for each in terminals.values():
        each.shows("esc back")
        each.shows("write-iops ")
    end_each(sandbox, terminals)
    assert sorted(path for path in sandbox.data.rglob("*") if path.name != "lock") == before
    if words == ["demo"]:
        (packaged,) = (sandbox.cache / "cephtui").iterdir()
        assert contents(packaged / "demo") == contents(demo.unpack(sandbox.root / "unpacked"))
    shown = sandbox.run("show", f"demo/{two_copies.STAR}")
    assert shown.process.returncode == 0, shown.describe()
