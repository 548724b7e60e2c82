"""The console's process from outside: the command cephtui, on a terminal of its own or headless."""

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

from cephtui.jsonlines import parse_sample
from cephtui.models import Sample

from . import precedence
from .sitting import NotMeasured

COLUMNS, ROWS = 120, 36
SESSION = "bench"
_TICKS = os.sysconf("SC_CLK_TCK")
_ENDING_SECONDS = 30


@dataclass(slots=True)
class Console:
    """A console that runs."""

    process: subprocess.Popen[bytes]
    samples: Path
    terminal: int | None = None
    """From where it is typed into."""
    seen: list[Sample] = field(default_factory=list)
    """All samples that it has stored, in their order."""
    drawn: bytearray = field(default_factory=bytearray)
    """What it has written to its terminal, or to its stdout."""
    _read: int = 0
    _rest: bytes = b""

    def press(self, key: str) -> None:
        """Press a key."""
        assert self.terminal is not None
        os.write(self.terminal, key.encode())

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

    def wait_for_run(self, seconds: float) -> None:
        """Until the ramp is over; raises NotMeasured."""
        self._wait(lambda: any(s.phase == "run" and s.node is None for s in self.seen), "no run", seconds)

    def wait_for_text(self, text: bytes, seconds: float) -> None:
        """Until this has been drawn; raises NotMeasured."""
        self._wait(lambda: text in self.drawn, f"nothing drawn with {text!r}", seconds)

    def _wait(self, holds: Callable[[], bool], problem: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end or self.process.poll() is not None:
                raise NotMeasured(f"{problem}; it said last: {bytes(self.drawn[-2000:])!r}")
            time.sleep(0.1)
            self.look()


@contextmanager
def console(words: Sequence[str], directory: Path, *, terminal: bool) -> Iterator[Console]:
    """The command cephtui with these words, and with places of its own, while the block lasts."""
    master, slave = _terminal() if terminal else os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "cephtui.cli", *words],
            stdin=slave if terminal else subprocess.DEVNULL,
            stdout=slave,
            stderr=slave if terminal else subprocess.DEVNULL,
            env=_environment(directory),
            start_new_session=True,
        )
    finally:
        os.close(slave)
    precedence.give([process.pid])
    samples = directory / "sessions" / SESSION / "001" / "samples.jsonl"
    running = Console(process, samples, master if terminal else None)
    reader = threading.Thread(target=_read_all, args=(master, running.drawn), daemon=True)
    reader.start()
    try:
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(5)
        os.close(master)


def _environment(directory: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "PYTHONPATH")}
    homes = {f"XDG_{name}_HOME": str(directory / name.lower()) for name in ("CONFIG", "CACHE", "STATE", "DATA")}
    own = {"HOME": str(directory), "CEPHTUI_DATA_DIR": str(directory), "COLORTERM": "truecolor"}
    return {**kept, **homes, **own, "TERM": "xterm-256color"}


def _terminal() -> tuple[int, int]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return master, slave


def _read_all(descriptor: int, drawn: bytearray) -> None:
    with contextlib.suppress(OSError):  # a terminal whose last user is gone
        while data := os.read(descriptor, 1 << 16):
            drawn += data
