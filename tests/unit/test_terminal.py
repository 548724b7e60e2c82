"""The console in a real terminal with a real fio: however it ends, nothing of it stays behind."""

from __future__ import annotations

import asyncio
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
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.app import App
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from cephtui.reports.words.quality import outcome_word
from cephtui.sessions import store
from cephtui.terminal import signal_handlers
from cephtui.tui.textual_private import TerminalDriver
from tests.end_to_end.sandbox import own_terminal
from tests.support.known import known

PRESET = """
title = "Write IOPS"
key = 2
[options]
rw = "randwrite"
bs = "4k"
iodepth = 16
numjobs = 8
size = "4M"
runtime = {runtime}
ramp_time = 1
rate_iops = 20
"""


class Terminal:
    """cephtui in a pseudo terminal of 80x24, whose screen is read while ``reading`` is set."""

    def __init__(self, home: Path, runtime: int) -> None:
        presets = home / "config" / "cephtui" / "presets"
        presets.mkdir(parents=True)
        (presets / "write-iops.toml").write_text(PRESET.format(runtime=runtime))
        self.sessions, self.cache = home / "data" / "sessions", home / "cache" / "cephtui"
        self.master, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "CEPHTUI_DATA_DIR": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cephtui", "--session", "s"],
            env=environment,
            **own_terminal(child),
        )
        os.close(child)
        self.screen = b""
        self.reading = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            if not self.reading:
                time.sleep(0.05)
                continue
            try:
                self.screen += os.read(self.master, 65536)
            except OSError:
                return

    def keys(self, text: str) -> None:
        """Type."""
        os.write(self.master, text.encode())

    def hang_up(self) -> None:
        """The terminal goes away."""
        os.close(self.master)

    def benchmarks(self) -> list[int]:
        """The processes that use this console's scratch file, forked workers included."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and str(self.cache).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def samples(self) -> int:
        """How many samples of the first run are on disk."""
        directory = self.sessions / "s"
        return sum(1 for _ in store.read_samples(directory, 1)) if (directory / "001").is_dir() else 0


def until(condition: Callable[[], bool], seconds: float, terminal: Terminal) -> None:
    """Wait for something, on a busy machine three times as long; a failure shows the end of the screen."""
    deadline = time.monotonic() + 3 * seconds
    while not condition():
        assert time.monotonic() < deadline, terminal.screen[-3000:].decode(errors="replace")
        time.sleep(0.05)


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """A console in mid-run."""
    terminal = Terminal(tmp_path, getattr(request, "param", 60))
    try:
        until(lambda: b"Latency" in terminal.screen, 20, terminal)
        terminal.keys("2\r")
        until(lambda: terminal.samples() >= 4, 30, terminal)
        assert len(terminal.benchmarks()) > 8
        yield terminal
    finally:
        terminal.process.kill()
        terminal.process.wait()
        until(lambda: not terminal.benchmarks(), 30, terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_run_and_keeps_it(running: Terminal, number: signal.Signals) -> None:
    running.process.send_signal(number)
    until(lambda: running.process.poll() is not None, 20, running)
    assert running.benchmarks() == []
    assert list(running.cache.iterdir()) == []
    run = store.read_run(running.sessions / "s", 1)
    assert run.outcome == "stopped"
    assert run.summary.write
    assert b"\x1b[?1049l" in running.screen  # the terminal is back in its normal screen
    assert b"Traceback" not in running.screen


def test_a_terminal_that_goes_away_stops_the_run_and_keeps_it(running: Terminal) -> None:
    running.hang_up()
    until(lambda: running.process.poll() is not None, 30, running)
    assert running.benchmarks() == []
    assert list(running.cache.iterdir()) == []
    assert store.read_run(running.sessions / "s", 1).outcome == "stopped"


def test_a_killed_console_leaves_nothing_and_reads_as_lost(running: Terminal) -> None:
    before = running.samples()
    running.process.kill()
    running.process.wait()
    until(lambda: not running.benchmarks(), 20, running)
    run = store.read_run(running.sessions / "s", 1)
    assert run.outcome == "lost"
    assert running.samples() >= before


def test_quit_key_asks_and_then_leaves_nothing(running: Terminal) -> None:
    running.keys("q")
    until(lambda: b"A run is in progress" in running.screen, 10, running)
    running.keys("y")
    until(lambda: running.process.poll() is not None, 20, running)
    assert running.process.returncode == 0
    assert running.benchmarks() == []
    assert list(running.cache.iterdir()) == []
    assert store.read_run(running.sessions / "s", 1).outcome == "stopped"


@pytest.mark.parametrize("running", [8], indirect=True)
def test_a_stalled_terminal_ends_nothing(running: Terminal) -> None:
    running.reading = False  # the screen is not read until the run has ended
    until(lambda: store.read_run(running.sessions / "s", 1).outcome == "ok", 40, running)
    running.reading = True
    word = outcome_word(store.read_run(running.sessions / "s", 1)).encode()
    until(lambda: word in running.screen, 20, running)  # in mid-run q asks
    running.keys("q")
    until(lambda: running.process.poll() is not None, 20, running)
    run = store.read_run(running.sessions / "s", 1)
    samples = [s for s in store.read_samples(running.sessions / "s", 1) if s.node is None and s.phase == "run"]
    assert run.summary.write
    assert sum(known(s.write.ios) for s in samples if s.write) == pytest.approx(run.summary.write.ios, rel=0.01)
    assert max(s.interval_seconds for s in samples) < 3.0


async def test_a_terminal_that_is_gone_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the thread that writes would wait for ever, had that ended with the terminal."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as file:
        monkeypatch.setattr(sys, "__stderr__", file)
        writer = WriterThread(known(TerminalDriver(App())._file))
        writer.start()
        os.close(ours)

        def draw() -> None:
            for _ in range(10 * MAX_QUEUED_WRITES):
                writer.write("#" * 1000)
            writer.stop()

        drawing = threading.Thread(target=draw, daemon=True)
        drawing.start()
        drawing.join(30)
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)
    assert not drawing.is_alive()


async def test_a_signal_about_the_terminal_does_nothing_until_what_it_has_interrupted_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That may hold a lock which the application's output takes too."""
    done: list[object] = []
    monkeypatch.setattr(TerminalDriver, "suspend_application_mode", lambda _: done.append("suspended"))
    monkeypatch.setattr(TerminalDriver, "resume_application_mode", lambda _: done.append("resumed"))
    monkeypatch.setattr(os, "kill", lambda pid, number: done.append(number))
    with signal_handlers({signal.SIGTSTP: signal.SIG_DFL, signal.SIGCONT: signal.SIG_DFL}):
        TerminalDriver(App())
        for number, what in ((signal.SIGTSTP, ["suspended", signal.SIGSTOP]), (signal.SIGCONT, ["resumed"])):
            done.clear()
            signal.raise_signal(number)
            assert done == []
            await asyncio.sleep(0)
            assert done == what
