"""Waiting for something that another process does, on a machine that may be busy with other work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

LEAST_SECONDS = 30.0
"""A shorter limit says more about the machine than about what is waited for."""
_CORES = len(os.sched_getaffinity(0))
_TICKS = os.sysconf("SC_CLK_TCK")


class FairClock:
    """The seconds in which a process that wanted a processor had one: fewer, the more of them wait.

    Processes that run or wait to run are counted by ``procs_running`` of /proc/stat, what a hypervisor gave to others
    by its ``steal`` (proc_stat(5)). This one has its share by its nice value, 1.25 times as much for each step
    (sched(7)), beside others that are taken to have none. It has to be looked at often: what it sees is taken for what
    was since the last look.
    """

    def __init__(self) -> None:
        self._seconds, self._looked, (_, self._stolen) = 0.0, time.monotonic(), _busy()

    def seconds(self) -> float:
        """Since it was made."""
        now, (running, stolen) = time.monotonic(), _busy()
        had = max(0.0, now - self._looked - (stolen - self._stolen) / _CORES)
        weight = 1.25 ** -os.getpriority(os.PRIO_PROCESS, 0)
        self._seconds += had * min(1.0, _CORES * weight / (weight + max(0, running - 1)))
        self._looked, self._stolen = now, stolen
        return self._seconds


def _busy() -> tuple[int, float]:
    """How many processes want a processor, and the seconds that were stolen since the machine was booted."""
    values = dict(line.split(maxsplit=1) for line in Path("/proc/stat").read_text().splitlines())
    return int(values["procs_running"]), int(values["cpu"].split()[7]) / _TICKS


def wait_for(condition: Callable[[], object], seconds: float, what: str, seen: Callable[[], str] = str) -> float:
    """Wait until it holds, and give the seconds that took; a timeout fails with what was seen instead.

    ``seconds`` are those of a fair clock, and at least LEAST_SECONDS; what is given are those of the wall.
    """
    started = time.monotonic()
    if not comes_true(condition, seconds):
        limit, waited = max(seconds, LEAST_SECONDS), time.monotonic() - started
        raise AssertionError(f"not within {limit:.0f} s ({waited:.0f} s on this busy machine): {what}\n{seen()}")
    return time.monotonic() - started


def comes_true(condition: Callable[[], object], seconds: float = LEAST_SECONDS, every: float | None = None) -> bool:
    """Whether it holds within so many seconds of a fair clock, LEAST_SECONDS at least.

    It is asked ``every`` so many seconds, or else less often the longer that takes.
    """
    clock, limit = FairClock(), max(seconds, LEAST_SECONDS)
    while not condition():
        waited = clock.seconds()
        if waited > limit:
            return False
        # to look at all processes, or all samples, costs time as well
        time.sleep(every or min(0.05 + waited / 20, 0.25))
    return True
