"""cephtui as a process that was forked, not started: for tests of what it does, not of how it starts or ends."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.end_to_end import fork_server

_DUMP_SECONDS = 1.0


class Forked:
    """A forked process, as subprocess.Popen shows one."""

    def __init__(self, server: _Server, pid: int) -> None:
        self.pid, self._server = pid, server
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status, if it has ended."""
        self._server.read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status."""
        until = time.monotonic() + (math.inf if timeout is None else timeout)
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("cephtui", timeout or 0)
            time.sleep(0.02)
        return status

    def send_signal(self, sig: int) -> None:
        """Send a signal, if it has not ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def stacks(self, folder: Path) -> str:
        """What each of its threads does, by the file in the folder where it was started; nothing if it has ended."""
        if self.poll() is not None:
            return ""
        self.send_signal(signal.SIGUSR1)
        time.sleep(_DUMP_SECONDS)
        return (folder / fork_server.STACKS.format(self.pid)).read_text(errors="replace")

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


class _Server:
    """The process that forks; it ends with this one."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, fork_server.__file__, str(theirs.fileno())]
        # cephtui looks in /proc for the locale that it was started with.
        env = {**{name: value for name, value in os.environ.items() if not name.startswith("LC_")}, "LANG": "C.UTF-8"}
        self._process = subprocess.Popen(command, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._lock = threading.Lock()
        self._forked: dict[int, Forked] = {}

    def fork(self, what: Mapping[str, object], streams: Sequence[int]) -> Forked:
        """Start one."""
        with self._lock:
            socket.send_fds(self._control, [json.dumps(what).encode()], streams)
            while not (pid := self._receive(0)):
                pass
            self._forked[pid] = Forked(self, pid)
            return self._forked[pid]

    def read(self) -> None:
        """Take in which of them have ended."""
        with self._lock, contextlib.suppress(BlockingIOError):
            while True:
                self._receive(socket.MSG_DONTWAIT)

    def _receive(self, flags: int) -> int:
        """The id of a process that was started; 0 where it is that one has ended."""
        message = self._control.recv(fork_server.MESSAGE_BYTES, flags)
        assert message, "the process that forks has ended"
        what, pid, status = json.loads(message)
        if what == "started":
            return int(pid)
        self._forked.pop(pid).returncode = status
        return 0


_server = cache(_Server)


def fork(argv: Sequence[str], env: Mapping[str, str], cwd: str, streams: Sequence[int], *, terminal: bool) -> Forked:
    """Start cephtui, with ``terminal`` on one that its first stream is."""
    return _server().fork({"argv": [*argv], "env": {**env}, "cwd": cwd, "terminal": terminal}, streams)
