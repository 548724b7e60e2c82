"""What a lane costs: the CPU time of all that it starts, daemons and virtual machines too, and of the whole machine.

The first is counted by a control group of version 2 (docs.kernel.org, admin-guide/cgroup-v2: ``cpu.stat``), which takes
rights that not everybody has; the second by /proc/stat.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.processes import command_of

_ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
_ENTER = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'
_LOOKS_BEFORE, _LOOK_SECONDS = 5, 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Group:
    """All processes that a command starts, and what they start, whatever becomes of their parents."""

    path: Path

    @classmethod
    def make(cls, name: str) -> Group | None:
        """A new one below that of this process; None where it may not be made."""
        try:
            own = next(line.partition("::")[2] for line in _lines(Path("/proc/self/cgroup")) if line.startswith("0::"))
            root = next(root for root in _ROOTS if (root / "cgroup.procs").exists())
            path = root / own.lstrip("/") / f"cephtui-tests-{os.getpid()}-{name}"
            path.mkdir()
        except (OSError, StopIteration):
            return None
        return cls(path)

    def command(self, command: Sequence[str]) -> list[str]:
        """The same command, run in here."""
        return ["sh", "-c", _ENTER, "sh", str(self.path), *command]

    def cpu_seconds(self) -> float:
        """What they have used so far, also those that have ended."""
        values = dict(line.split() for line in _lines(self.path / "cpu.stat"))
        return int(values["usage_usec"]) / 1e6

    def processes(self) -> dict[int, str]:
        """Those that run, with their commands."""
        return {pid: command_of(pid) for pid in map(int, _lines(self.path / "cgroup.procs"))}

    def remove(self) -> None:
        """Forget it; what still runs goes to the group above."""
        for pid in self.processes():
            try:
                (self.path.parent / "cgroup.procs").write_text(str(pid))
            except OSError:
                continue
        self.path.rmdir()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@dataclass(frozen=True, slots=True)
class Meter:
    """The CPU time of the whole machine from a moment on, less what was used before it."""

    began: float
    busy: float
    before: float
    """CPU seconds a second."""

    @classmethod
    def start(cls) -> Meter:
        """From now on; it looks a little first, for what goes on and on: that is there at each look."""
        before, busy = math.inf, _busy_seconds()
        for _ in range(_LOOKS_BEFORE):
            time.sleep(_LOOK_SECONDS)
            then, busy = busy, _busy_seconds()
            before = min(before, (busy - then) / _LOOK_SECONDS)
        return cls(time.monotonic(), busy, before)

    def cpu_seconds(self) -> float:
        """What was used since."""
        return _busy_seconds() - self.busy - self.before * (time.monotonic() - self.began)


def cpu_seconds_of(pid: int) -> float:
    """What a process has used so far; proc_pid_stat(5)."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS


def _busy_seconds() -> float:
    """Of proc_stat(5): user, nice, system, irq and softirq; guests are part of the first two."""
    user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, _lines(Path("/proc/stat"))[0].split()[1:])
    return (user + nice + system + irq + softirq) / _TICKS
