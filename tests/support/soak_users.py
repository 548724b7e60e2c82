"""Who uses cephtui in the soak: one at a terminal for the whole time, and others whose consoles need none."""

from __future__ import annotations

import contextlib
import os
import random
import re
import secrets
import select
import signal
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from cephtui import exit_codes
from tests.end_to_end.sandbox import Console, Sandbox, sets
from tests.end_to_end.test_screens_end import IDLE, LEAVE_ALTERNATE, SHOW_CURSOR, Step, Terminal, preset
from tests.lab import Lab
from tests.support.waiting import FairClock

LONGEST_SECONDS, SEEN_SECONDS = 300.0, 60.0
"""In which a console without a terminal, or a run, has ended; in which a screen is seen."""
DOCUMENTED = frozenset(exit_codes.WORST)

FILE, EVERYWHERE = "file:/var/tmp/cephtui-{name}", "lab"
FIO = {"runtime": 5, "size": "4M", "numjobs": 1, "ramp_time": 0, "rate_iops": 20}
OBJECTS = {"runtime": 5, "block-size": "64K", "concurrent-ios": 1}
POOL = {
    "runtime": 5,
    "num-objects": 2,
    **dict.fromkeys(("min-object-size", "max-object-size"), "1M"),
    **dict.fromkeys(("min-op-len", "max-op-len", "target-throughput"), "64K"),
}
SEATS: Mapping[str, tuple[str, Sequence[tuple[str, str, Mapping[str, object]]]]] = {
    "rbd": ("lab2", [("mixed-75-25", "rbd:{pool}", FIO), ("write-iops", "rbd:{pool}", FIO)]),
    "pool": ("lab3", [("rados-write", "pool:{pool}", OBJECTS), ("load-gen", "new-pool:pg=1,size=1", POOL)]),
    "file": ("lab1", [("write-iops", FILE, FIO), ("ping", FILE, {"runtime": 5, "work-size": "1M"})]),
}
"""Where a console is started after the other: a node, where it is not all at once, and what is measured there."""

TERMINAL = "terminal"
PRESETS = {"2": ("write-iops", "randwrite"), "4": ("read-iops", "randread"), "6": ("mixed-75-25", "randrw")}
"""On the keys of the console on the terminal."""
QUESTION, NOT_RUN = "run (y)", "not run"
WALKS: Sequence[Step] = [
    *(("e", "enter keeps"), ("p", "type to filter"), ("t", "rbd:POOL or file:"), ("n", "[user@]host")),
    *(("o", "outcomes"), ("M", "matrix of"), ("l", "esc back"), ("f", "-q quit"), ("?", "esc closes")),
]
ESCAPE, ESCAPE_SECONDS = "\x1b", 0.5
"""What is typed sooner after it makes another key of it."""
_BEGUN = re.compile(r"#(\d+) \S+ +(\w+)")
_ENDED = re.compile(r"#(\d+) \S+ +(ok|stopped|lost|refused|failed)\b")
_KEPT_BYTES = 1 << 17
_UNDONE = {
    b"\x1b[?1049h": LEAVE_ALTERNATE,
    b"\x1b[?25l": SHOW_CURSOR,
    **{b"\x1b[?%dh" % mode: b"\x1b[?%dl" % mode for mode in (1000, 1003, 2004)},
}
"""What takes back what was done to the terminal: the other screen, the hidden cursor, the mouse, and pasting."""


class Report:
    """What has happened: any thread may add to it."""

    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.is_closed = False
        """Whether what still happens is the end of the soak's own making."""

    def check(self, holds: object, otherwise: str) -> None:
        """What is not as it should be is kept as one line."""
        if not (holds or self.is_closed):
            self.wrong.append(" | ".join(line.rstrip() for line in otherwise.splitlines() if line.strip()))
            print(f"wrong: {self.wrong[-1][:300]}", flush=True)


class Seat:
    """Where a console without a terminal is started after the other."""

    def __init__(self, name: str, lab: Lab, sandbox: Sandbox, report: Report, chance: random.Random) -> None:
        self._name, self._lab, self._sandbox, self._report, self._chance = name, lab, sandbox, report, chance
        self._console: Console | None = None
        self._killed: dict[Console, signal.Signals] = {}

    def stay(self, over: threading.Event) -> None:
        """The console that is there in the end comes to its own end."""
        while not over.is_set():
            self._console = console = self._sandbox.start(*self._words())
            try:
                console.wait(LONGEST_SECONDS)
            except AssertionError as error:
                self._report.check(False, f"{self._name}: {error}")
                self._killed[console] = signal.SIGKILL
                console.process.kill()
                console.process.wait(SEEN_SECONDS)
            self._judge(console, console.process.returncode)

    def kill(self, number: signal.Signals) -> bool:
        """Send a console this signal, where there is one."""
        console = self._console
        if console is None or console in self._killed or console.process.poll() is not None:
            return False
        self._killed[console] = number
        console.process.send_signal(number)
        return True

    def _words(self) -> list[str]:
        node, errands = SEATS[self._name]
        preset, target, options = self._chance.choice(errands)
        on = self._chance.choice((node, node, EVERYWHERE))
        target = target.format(pool=self._lab.pool, name=secrets.token_hex(6))
        where = ["--config", str(self._lab.config), "--node", on, "--target", target, "--shared-pool"]
        return ["run", preset, *where, *sets(**options), "--json"]

    def _judge(self, console: Console, status: int | None) -> None:
        number = self._killed.get(console)
        ended = number.name if number else f"exit status {status}" if status else "ok"
        self._report.outcomes[f"{self._name}: {ended}"] += 1
        allowed = DOCUMENTED | ({-number} if number else set())
        self._report.check(status in allowed, f"{self._name}: exit status {status}: {console.describe()}")
        self._report.check("Traceback" not in console.stderr, f"{self._name}: a traceback: {console.describe()}")


class LongTerminal(Terminal):
    """Draws at once and keeps only the end of what was sent, which is long after an hour."""

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while not self._hung_up.is_set():
                if select.select([self._ours], [], [], 0.1)[0]:
                    data = os.read(self._ours, 65536)
                    self._screen.feed(data)
                    self.sent = (self.sent + data)[-_KEPT_BYTES:]

    @property
    def text(self) -> str:
        """What can be seen."""
        return self._screen.text

    def not_restored(self) -> Iterator[str]:
        """What is not as on a terminal that nobody has used."""
        ours, theirs = os.openpty()
        if termios.tcgetattr(self._ours) != termios.tcgetattr(theirs):
            yield "the settings of the terminal are not restored"
        os.close(ours)
        os.close(theirs)
        lasting = (end for begin, end in _UNDONE.items() if self.sent.rfind(end) <= self.sent.rfind(begin))
        yield from (f"{end!r} was not the last word" for end in lasting)
        if b"Traceback" in self.sent:
            yield self.sent[self.sent.rindex(b"Traceback") :].decode(errors="replace")


class User:
    """Who sits at the console on the terminal, and measures on one node again and again."""

    def __init__(self, lab: Lab, sandbox: Sandbox, report: Report, chance: random.Random) -> None:
        self._report, self._chance = report, chance
        self.runs = 0
        """How many have ended."""
        presets = sandbox.config / "cephtui" / "presets"
        presets.mkdir(parents=True)
        for key, (name, pattern) in PRESETS.items():
            (presets / f"{name}.toml").write_text(preset(4, int(key), pattern))
        where = ["--config", str(lab.config), "--node", "lab1", "--target", f"rbd:{lab.pool}"]
        self.terminal = LongTerminal(sandbox, *where, "--session", TERMINAL)
        self.pid = self.terminal.console.process.pid

    @property
    def status(self) -> int | None:
        """The exit status of the console, where it has ended."""
        return self.terminal.console.process.poll()

    def stay(self, over: threading.Event) -> None:
        """Look at another screen during each run."""
        self._see("the console", partial(shows, IDLE))
        while not over.is_set() and self.status is None:
            self.terminal.type(ESCAPE)  # what was said of the run before goes
            time.sleep(ESCAPE_SECONDS)
            self.terminal.type(self._chance.choice([*PRESETS]) + "\r")
            time.sleep(ESCAPE_SECONDS)
            self._see("a run, or why there is none", partial(self._tells, _BEGUN), seconds=LONGEST_SECONDS)
            if self.runs:  # some have nothing to show before
                self._walk(*self._chance.choice(WALKS))
            self._see("the end of the run", partial(self._tells, _ENDED), seconds=LONGEST_SECONDS)
            number, outcome = latest(_ENDED, self.terminal.text)
            self._report.outcomes[f"{TERMINAL}: {outcome if number > self.runs else NOT_RUN}"] += 1
            self.runs = max(number, self.runs)

    def leave(self) -> None:
        """Quit, and look at what the terminal is left like."""
        self.terminal.type("q")
        self._see("the end of the console", lambda _: False, seconds=LONGEST_SECONDS)
        self._report.check(self.status in DOCUMENTED, f"{TERMINAL}: exit status {self.status}")
        for line in self.terminal.not_restored():
            self._report.check(False, f"{TERMINAL}: {line}")

    def _walk(self, key: str, words: str) -> None:
        back = words.removeprefix("-") if words.startswith("-") else f"-{words}"
        for pressed, seen in ((key, words), (ESCAPE, back)):
            self.terminal.type(pressed)
            self._see(seen, partial(shows, seen), again=pressed)

    def _see(self, what: str, holds: Callable[[str], bool], seconds: float = SEEN_SECONDS, again: str = "") -> None:
        """Wait until it can be seen, or the console has ended; that it can't be seen in time is a failure.

        A question is answered; it may have taken a key that is then pressed ``again``.
        """
        clock = FairClock()
        while self.status is None and not holds(text := self.terminal.text):
            if QUESTION in text:
                self.terminal.type("y")
                time.sleep(1)
                self.terminal.type(again)
            if clock.seconds() > seconds:
                self._report.check(False, f"{TERMINAL}: not seen within {seconds:.0f} s: {what}\n{text}")
                return
            time.sleep(0.1)

    def _tells(self, pattern: re.Pattern[str], text: str) -> bool:
        return latest(pattern, text)[0] > self.runs or NOT_RUN in text


def shows(words: str, text: str) -> bool:
    """Whether these are in a text; behind a minus, whether they are not."""
    return (words.removeprefix("-") in text) != words.startswith("-")


def latest(pattern: re.Pattern[str], text: str) -> tuple[int, str]:
    """The greatest number of a run, and what is said of it."""
    return max(((int(found[1]), found[2]) for found in pattern.finditer(text)), default=(0, ""))
