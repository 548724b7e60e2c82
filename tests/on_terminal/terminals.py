"""A tmux of its own to look at the screen, and a recorder of every byte that is sent."""

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
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.end_to_end.sandbox import ENDLESS
from tests.support.waiting import wait_for

PATIENCE_SECONDS = 60.0
CONSOLE = (sys.executable, "-m", "cephtui", "--session", "s")
PRESET = f"""
title = "Write IOPS"
key = 2
[options]
rw = "randwrite"
bs = "4k"
iodepth = 4
numjobs = 1
size = "4M"
runtime = {ENDLESS}
ramp_time = 0
"""
"""Runs until it is stopped, on a small file."""


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    """Wait for what another process brings about; `what` describes the present state where it does not come."""
    wait_for(condition, PATIENCE_SECONDS, "another state than this:", what)


def environment(home: Path, term: str, **more: str) -> dict[str, str]:
    """Nothing of this terminal's own; every directory of the console below `home`."""
    presets = home / "config" / "cephtui" / "presets"
    presets.mkdir(parents=True, exist_ok=True)
    (presets / "write-iops.toml").write_text(PRESET)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "CEPHTUI_DATA_DIR": str(home / "data"),
        "LANG": "C.UTF-8",
        "TERM": term,
        **more,
    }


class Tmux:
    """One window of a server that nobody else uses."""

    def __init__(self, size: tuple[int, int], environ: Mapping[str, str], command: tuple[str, ...]) -> None:
        self._server = f"cephtui-test-{uuid.uuid4().hex[:8]}"
        settings = [f"{name}={value}" for name, value in environ.items()]
        width, height = (str(number) for number in size)
        self._run(
            *("start-server", ";", "set", "-g", "status", "off", ";", "set", "-g", "remain-on-exit", "on", ";"),
            *("new-session", "-d", "-x", width, "-y", height, "env", "-i", *settings, *command),
        )

    def _run(self, *arguments: str) -> str:
        tmux = ("tmux", "-L", self._server, "-f", "/dev/null", *arguments)
        outside = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm"}
        done = subprocess.run(tmux, capture_output=True, text=True, env=outside, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._run("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        """As if the user pulled at a corner of the window."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> list[str]:
        """The lines that can be seen now."""
        return self._run("capture-pane", "-p").removesuffix("\n").split("\n")

    def text(self) -> str:
        """The same in one piece."""
        return "\n".join(self.screen())

    def shows(self, *words: str) -> None:
        """Wait until all of these can be seen."""
        until(lambda: all(word in self.text() for word in words), lambda: f"not all of {words} in:\n{self.text()}")

    def ends(self) -> None:
        """Wait until the program has left; what tmux writes onto the screen then, it sometimes does not write."""
        until(lambda: self._run("display-message", "-p", "#{pane_dead}").strip() == "1", self.text)

    def modes(self) -> dict[str, str]:
        """Whether the terminal is as a program finds it."""
        names = ("alternate_on", "cursor_flag", "mouse_any_flag", "keypad_cursor_flag", "wrap_flag")
        values = self._run("display-message", "-p", ",".join(f"#{{{name}}}" for name in names)).strip().split(",")
        return dict(zip(names, values, strict=True))

    def close(self) -> None:
        """End the server with what runs in it."""
        with contextlib.suppress(AssertionError):
            self._run("kill-server")


@contextlib.contextmanager
def tmux(size: tuple[int, int], environ: Mapping[str, str], command: tuple[str, ...] = CONSOLE) -> Iterator[Tmux]:
    """A window with the console, ended at the end."""
    window = Tmux(size, environ, command)
    try:
        yield window
    finally:
        window.close()


class Recorder:
    """The console on a pseudo terminal that keeps what it sends."""

    def __init__(self, size: tuple[int, int], environ: Mapping[str, str], command: tuple[str, ...]) -> None:
        self.sent = b""
        self._master, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._process = subprocess.Popen(
            command, env=dict(environ), start_new_session=True, stdin=child, stdout=child, stderr=child
        )
        os.close(child)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._master, 65536):
                self.sent += data

    def keys(self, text: str) -> None:
        """Type."""
        os.write(self._master, text.encode())

    def sends(self, *words: bytes) -> None:
        """Wait until all of these have been sent."""
        until(lambda: all(word in self.sent for word in words), lambda: f"not all of {words} in {self.sent!r}")

    def exit_code(self) -> int:
        """Wait for its end."""
        return self._process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """End it, if it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE_SECONDS)
        os.close(self._master)


@contextlib.contextmanager
def recorder(
    size: tuple[int, int], environ: Mapping[str, str], command: tuple[str, ...] = CONSOLE
) -> Iterator[Recorder]:
    """A recording of the console, ended at the end."""
    recording = Recorder(size, environ, command)
    try:
        yield recording
    finally:
        recording.close()
