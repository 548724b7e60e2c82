"""Precedence over the rest of the machine for what is being measured: it competes with itself, not with neighbours.

Linux weighs sessions before it weighs processes (sched(7), "The autogroup feature"), and sshd makes a session of every
command, and fio of every job. So each of them is given weight once fio works: console, ssh, sshd, watchdog and fio, all
on the same terms.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from tests.lab import Lab

_WEIGHT = "-20"
_POLL_SECONDS, _SETTLE_SECONDS, _LIMIT_SECONDS = 0.05, 0.2, 10.0


def prefer(lab: Lab, node: str) -> None:
    """Wait for a job of fio on the node, then give weight to all of the node and of the console."""
    end = time.monotonic() + _LIMIT_SECONDS
    while _fios(lab, node) < 2 and time.monotonic() < end:  # fio itself, and its job
        time.sleep(_POLL_SECONDS)
    time.sleep(_SETTLE_SECONDS)  # until the job has its session
    for pid in (*lab.processes(machine=node), *_family([os.getpid()])):
        with contextlib.suppress(OSError):  # it has ended, or this kernel does not group sessions
            Path(f"/proc/{pid}/autogroup").write_text(_WEIGHT)


def _fios(lab: Lab, node: str) -> int:
    return sum(command.startswith("fio ") for command in lab.processes("fio", node).values())


def _family(pids: Iterable[int]) -> list[int]:
    """Processes and all that descends from them."""
    found = list(pids)
    for pid in found:
        with contextlib.suppress(OSError):
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, path.read_text().split())
    return found
