"""Counters of this machine's kernel during a run, by no code of cephtui's."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cephtui.frozen import dataclass
from tests.bench.honest.judging import Counters

_EVERY_SECONDS = 0.5
_STEAL = 7
"""Which of the times of /proc/stat (proc_stat(5)) is that of the hypervisor."""
_TOTAL = re.compile(r"^some .* total=(\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Moment:
    at: float
    ticks: tuple[int, ...]
    cpu_stalled: float
    io_stalled: float


class Watch:
    """Reads them until the end of the block; ``counters`` are those of the whole time."""

    def __init__(self) -> None:
        self._began, self._running = _moment(), list[int]()

    def look(self) -> None:
        """Count the processes that run or wait to run just now."""
        self._running.append(_running())

    def counters(self) -> Counters:
        """From the beginning until now."""
        begun, now = self._began, _moment()
        seconds = max(now.at - begun.at, 1e-3)
        spent = [after - before for before, after in zip(begun.ticks, now.ticks, strict=True)]
        queue = sum(self._running) / len(self._running) if self._running else 0.0
        return Counters(
            steal=spent[_STEAL] / max(1, sum(spent)),
            queue=queue / (os.cpu_count() or 1),
            cpu_pressure=(now.cpu_stalled - begun.cpu_stalled) / seconds,
            io_pressure=(now.io_stalled - begun.io_stalled) / seconds,
        )


@contextmanager
def watched() -> Iterator[Watch]:
    """Looks twice a second while the block lasts."""
    watch, over = Watch(), threading.Event()

    def look() -> None:
        while not over.wait(_EVERY_SECONDS):
            watch.look()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()


def _moment() -> _Moment:
    ticks = tuple(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    return _Moment(time.monotonic(), ticks, _stalled("cpu"), _stalled("io"))


def _running() -> int:
    found = re.search(r"^procs_running (\d+)$", Path("/proc/stat").read_text(), re.MULTILINE)
    return int(found[1]) - 1 if found else 0  # without this one


def _stalled(what: str) -> float:
    """Seconds since boot in which some process waited for it; 0 where the kernel does not tell."""
    try:
        found = _TOTAL.search(Path(f"/proc/pressure/{what}").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1e6 if found else 0.0
