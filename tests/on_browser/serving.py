"""A ``cephtui serve`` of a test's own, and its processes."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.sandbox import MARK, Process, processes_marked, wait_for

CHECKOUT = Path(__file__).parent.parent.parent
SECONDS = 30.0


class Serving:
    """A ``cephtui serve`` with folders of its own; what it leaves running fails the test."""

    def __init__(self, folder: Path, words: tuple[str, ...]) -> None:
        self.folder = folder
        self._mark = f"{MARK}={secrets.token_hex(8)}"
        homes = {name: str(folder) for name in ("HOME", "CEPHTUI_DATA_DIR")}
        homes |= {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "STATE")}
        # as on a plain terminal, which the browser is not
        environment = {**os.environ, **homes, "TERM": "linux", "LANG": "C", MARK: self._mark.partition("=")[2]}
        command = [sys.executable, "-m", "cephtui", "serve", "--port", "0", *words]
        self._output = folder / "output"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=output, stderr=output)

    @property
    def said(self) -> str:
        """All that it has printed."""
        return self._output.read_text()

    @property
    def urls(self) -> list[str]:
        """Those that it has printed, in order."""
        return re.findall(r"http://\S+", self.said)

    @property
    def url(self) -> str:
        """The first, once it is there."""
        wait_for(lambda: self.urls, SECONDS, "an address", lambda: self.said)
        return self.urls[0]

    @property
    def pages(self) -> list[Process]:
        """The processes of its pages."""
        return [each for each in self.running if each.pid != self.process.pid]

    @property
    def running(self) -> list[Process]:
        """All of its processes."""
        return processes_marked(self._mark)

    def runs(self, program: str) -> None:
        """Wait until one of its processes runs this."""
        wait_for(lambda: program in {each.program for each in self.running}, SECONDS, program, lambda: self.said)

    def pages_become(self, number: int) -> None:
        """Wait until there are so many."""
        wait_for(lambda: len(self.pages) == number, SECONDS, f"{number} pages", lambda: f"{self.pages}\n{self.said}")

    def end(self, number: int = signal.SIGINT) -> int:
        """End it, and wait until nothing of it runs; its exit status."""
        self.process.send_signal(number)
        wait_for(lambda: self.process.poll() is not None, SECONDS, "its end", lambda: self.said)
        status = self.process.wait()
        wait_for(lambda: not self.running, SECONDS, "the end of all", lambda: f"{self.running}\n{self.said}")
        return status


@contextmanager
def serving(folder: Path, words: tuple[str, ...]) -> Iterator[Serving]:
    """One for the block."""
    server = Serving(folder, words)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()
        for left in server.running:
            left.kill()
