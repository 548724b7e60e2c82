"""A command that the user gave on the command line, run on this machine in a shell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable

from cephtui.frozen import dataclass

TIME_LIMIT_SECONDS = 600.0
_GRACE_SECONDS, _POLL_SECONDS = 3.0, 0.05
_OUTPUT_MOST_BYTES = 16 << 10


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command has ended."""

    status: int
    """Its exit status; -N where signal N ended it."""
    output: str
    """Both streams; of a long one the end."""
    problem: str
    """Why it counts as failed, in words; empty where it does not."""


def run_command(command: str, is_stopped: Callable[[], bool], limit_seconds: float = TIME_LIMIT_SECONDS) -> Ended:
    """Run it to its end, to the limit, or until it ``is_stopped``; then its whole process group is ended."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail = bytearray()
    reader = threading.Thread(target=_read, args=(process, tail), daemon=True)
    reader.start()
    began, problem = time.monotonic(), ""
    try:
        while process.poll() is None and not problem:
            time.sleep(_POLL_SECONDS)
            if is_stopped():
                problem = "stopped"
            elif time.monotonic() - began > limit_seconds:
                problem = f"it did not end within {limit_seconds:.0f} s"
        status = _end(process) if problem else process.returncode
    except BaseException:  # a second signal: nothing is waited for any more
        _kill(process, signal.SIGKILL)
        raise
    reader.join(_GRACE_SECONDS)  # a process that it has left in the background holds its output open
    if status and not problem:
        problem = f"status {status}" if status > 0 else f"signal {-status}"
    return Ended(status, bytes(tail).decode(errors="replace"), problem)


def _read(process: subprocess.Popen[bytes], tail: bytearray) -> None:
    assert process.stdout
    with contextlib.suppress(OSError, ValueError):
        while piece := os.read(process.stdout.fileno(), 65536):
            tail += piece
            del tail[:-_OUTPUT_MOST_BYTES]


def _end(process: subprocess.Popen[bytes]) -> int:
    for number in (signal.SIGTERM, signal.SIGKILL):
        _kill(process, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    return process.wait()


def _kill(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
