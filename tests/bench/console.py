"""The console's process from outside: the command cephtui, or another, on a terminal of its own or headless."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cephtui.models import Sample
from cephtui.sessions import store
from cephtui.sessions.jsonlines import parse_sample
from cephtui.sessions.store import StoreError
from tests.bench import precedence
from tests.bench.drawn import Drawn
from tests.bench.interactive import NotMeasured
from tests.bench.nodes import nodes
from tests.bench.recording import CHECKOUT, TARGET, names

COLUMNS, ROWS = 120, 36
LARGE = (200, 50)
"""Columns and rows where every panel has room."""
SESSION = "bench"
CEPHTUI = (sys.executable, "-m", "cephtui")
LISTENING = b"fio --name="
"""In the preview of the command, which is drawn when the console listens to keys."""
NODES_PLACE = "ssh"
SETTLE_SECONDS = 1.0
START_SECONDS = 90.0
_TICKS = os.sysconf("SC_CLK_TCK")
_ENDING_SECONDS = 30


@dataclass(slots=True)
class Console:
    """A console that runs."""

    process: subprocess.Popen[bytes]
    session: Path
    began: float
    """The moment of its start, by the monotonic clock."""
    terminal: int | None = None
    """From where it is typed into."""
    seen: list[Sample] = field(default_factory=list)
    """All samples of its first run that it has stored, in their order."""
    drawn: Drawn = field(default_factory=Drawn)
    """What it has written to its terminal, or to its stdout."""
    read: threading.Event = field(default_factory=threading.Event)
    """While it is clear, its terminal takes no output."""
    _read: int = 0
    _rest: bytes = b""

    @property
    def samples(self) -> Path:
        """Where the samples of its first run are."""
        return self.session / "001" / "samples.jsonl"

    def press(self, key: str) -> float:
        """Press a key; the result is the moment."""
        assert self.terminal is not None
        now = time.monotonic()
        os.write(self.terminal, key.encode())
        return now

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def look(self) -> None:
        """Take in the samples that it has stored since the last look."""
        if not self.samples.exists():
            return
        with self.samples.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.seen += map(parse_sample, lines)

    def outcome(self, number: int = 1) -> str | None:
        """What has become of a run; None while it goes on or has not begun."""
        try:
            return store.read_run(self.session, number).outcome
        except StoreError:
            return None

    def wait_for_run(self, seconds: float) -> None:
        """Until the ramp is over; raises NotMeasured."""
        self.wait(lambda: any(s.phase == "run" and s.node is None for s in self.seen), "no run", seconds)

    def wait_for_end(self, number: int, seconds: float) -> None:
        """Until a run has come to its good end; raises NotMeasured."""
        self.wait(lambda: self.outcome(number) is not None, f"run {number} did not end", seconds)
        if self.outcome(number) != "ok":
            raise NotMeasured(f"run {number} was {self.outcome(number)}")

    def wait_for_text(self, text: bytes, seconds: float, since: float = 0.0) -> float:
        """Until this has been drawn; the result is the moment. Raises NotMeasured."""
        self.wait(lambda: self.drawn.when(text, since) is not None, f"nothing drawn with {text!r}", seconds)
        return self.drawn.when(text, since) or 0.0

    def wait(self, holds: Callable[[], bool], problem: str, seconds: float) -> None:
        """Until this holds; raises NotMeasured."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end or self.process.poll() is not None:
                raise NotMeasured(f"{problem}; it said last: {self.drawn.words()[-500:]}")
            time.sleep(0.05)
            self.look()


@contextmanager
def console(
    words: Sequence[str], directory: Path, *, terminal: bool, size: tuple[int, int] = (COLUMNS, ROWS)
) -> Iterator[Console]:
    """The command cephtui with these words, and with places of its own, while the block lasts."""
    with running([*CEPHTUI, *words], directory, terminal=terminal, size=size) as started:
        yield started


@contextmanager
def on_nodes(
    number: int, directory: Path, kind: str = "recorded", size: tuple[int, int] = (COLUMNS, ROWS)
) -> Iterator[Console]:
    """The console on a terminal, with so many simulated nodes, listening to keys; their notes are in ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    with (
        nodes(kind, directory / NODES_PLACE) as ssh_config,
        console(where(number, ssh_config), directory, terminal=True, size=size) as started,
    ):
        started.wait_for_text(LISTENING, START_SECONDS)
        time.sleep(SETTLE_SECONDS)
        yield started


def where(number: int, ssh_config: Path) -> list[str]:
    """The options that name so many simulated nodes, their target and the session."""
    named = [word for name in names(number) for word in ("--node", name)]
    return ["-F", str(ssh_config), *named, "--target", TARGET, "--session", SESSION]


@contextmanager
def running(
    command: Sequence[str], directory: Path, *, terminal: bool, size: tuple[int, int] = (COLUMNS, ROWS)
) -> Iterator[Console]:
    """Any command like that."""
    master, slave = _terminal(size) if terminal else os.pipe()
    session = directory / "sessions" / SESSION
    try:
        began = time.monotonic()
        process = _started(command, directory, slave, terminal=terminal)
    finally:
        os.close(slave)
    precedence.give([process.pid])
    started = Console(process, session, began, master if terminal else None)
    started.read.set()
    reader = threading.Thread(target=_read_all, args=(master, started), daemon=True)
    reader.start()
    try:
        yield started
    finally:
        started.read.set()
        _end(process)
        reader.join(5)
        os.close(master)


def _started(command: Sequence[str], directory: Path, slave: int, *, terminal: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=CHECKOUT,
        stdin=slave if terminal else subprocess.DEVNULL,
        stdout=slave,
        stderr=slave if terminal else subprocess.DEVNULL,
        env=environment(directory),
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def environment(directory: Path) -> dict[str, str]:
    """That of a user whose places are all in this directory, on a terminal that can show everything."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "PYTHONPATH")}
    homes = {f"XDG_{name}_HOME": str(directory / name.lower()) for name in ("CONFIG", "CACHE", "STATE", "DATA")}
    own = {"HOME": str(directory), "CEPHTUI_DATA_DIR": str(directory), "COLORTERM": "truecolor"}
    return {"LANG": "C.UTF-8", **kept, **homes, **own, "TERM": "xterm-256color"}


def _terminal(size: tuple[int, int]) -> tuple[int, int]:
    master, slave = pty.openpty()
    columns, rows = size
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return master, slave


def _read_all(descriptor: int, console: Console) -> None:
    with contextlib.suppress(OSError):  # a terminal whose last user is gone
        while console.read.wait() and (data := os.read(descriptor, 1 << 16)):
            console.drawn.add(data, time.monotonic())
