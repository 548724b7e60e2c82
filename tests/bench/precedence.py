"""Precedence over the rest of the machine for what is being measured: it competes with itself, not with neighbours.

Linux weighs sessions before it weighs processes (sched(7), "The autogroup feature"), and sshd makes a session of every
command, and fio of every job. So each of them is given the same weight: console, ssh, sshd, watchdog and fio.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab import Lab

_WEIGHT, _USUAL = "-20", "0"
_POLL_SECONDS, _SETTLE_SECONDS, _LIMIT_SECONDS = 0.05, 0.2, 10.0


@contextmanager
def own_session() -> Iterator[None]:
    """This process and all that shares its session, while the block lasts."""
    give([os.getpid()])
    try:
        yield
    finally:
        give([os.getpid()], _USUAL)


def give(pids: Iterable[int], weight: str = _WEIGHT) -> None:
    """Give weight to the sessions of these processes."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended, or this kernel does not group sessions
            Path(f"/proc/{pid}/autogroup").write_text(weight)


def every_command(lab: Lab) -> None:
    """From now on sshd gives weight to every command on the lab's nodes before it begins."""
    for node in lab.nodes:
        file = lab.outside(node, "/root/.ssh/rc")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"echo {_WEIGHT} 2>/dev/null > /proc/$$/autogroup\n")


def servers(lab: Lab) -> None:
    """The nodes' own processes, and what carries the console's connections to them."""
    give([*lab.processes(), *_family([os.getpid()])])


def fio(lab: Lab, node: str) -> None:
    """Wait for a job of fio on the node, and give it weight too."""
    end = time.monotonic() + _LIMIT_SECONDS
    while _fios(lab, node) < 2 and time.monotonic() < end:  # fio itself, and its job
        time.sleep(_POLL_SECONDS)
    time.sleep(_SETTLE_SECONDS)  # until the job has its session
    give([*lab.processes(machine=node), *_family([os.getpid()])])


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
