"""System calls of a process that take longer, by strace."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.honest.scene import NotProvoked


@contextmanager
def slow_calls(pid: int, name: str, seconds: float) -> Iterator[None]:
    """A system call takes so much longer in all threads of a process; raises NotProvoked without strace."""
    if not shutil.which("strace"):
        raise NotProvoked("strace is not installed")
    delay = ("-e", f"trace={name}", "-e", f"inject={name}:delay_enter={round(1e6 * seconds)}")
    command = ["strace", "-f", "-q", "-o", "/dev/null", *delay, "-p", str(pid)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as tracer:
        try:
            time.sleep(1)
            if tracer.poll() is not None and tracer.stderr:
                raise NotProvoked(tracer.stderr.read().decode().strip())
            yield
        finally:
            tracer.send_signal(signal.SIGTERM)
