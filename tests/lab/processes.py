"""Processes that are known for sure, and the commands the lab runs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import LEAST_SECONDS, comes_true

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class LabError(Exception):
    """The lab cannot do what it was asked; the message is for whoever asked."""


@dataclass(frozen=True)
class Process:
    """A process that was started here. Its start time tells it from a later one of the same number."""

    pid: int
    start: str

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """The process that has this number now, if it runs."""
        start = _start(pid)
        return cls(pid, start) if start else None

    def runs(self) -> bool:
        """Whether it is still there; one that has ended and waits for its parent is not."""
        return _start(self.pid) == self.start

    def kill(self, sig: signal.Signals = signal.SIGKILL, wait: float = 30) -> None:
        """Sends a signal and waits until the process has ended. No other process of this number is ever hit."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # Looked at after the handle was made: from here on the number cannot go to another process.
            if not self.runs():
                return
            signal.pidfd_send_signal(handle, sig)
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            if not poll.poll(wait * 1000):
                raise LabError(f"process {self.pid} ({command_of(self.pid)}) does not end")
        except ProcessLookupError:
            return
        finally:
            os.close(handle)


def _start(pid: int) -> str | None:
    try:
        # The name in parentheses can hold anything, spaces and parentheses too.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else f"{fields[19]}@{_BOOT_ID.read_text().strip()}"


def all_pids() -> Iterator[int]:
    """Every process of this machine."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - often, and there are many


def children(pid: int) -> list[int]:
    """The processes that the first thread of this one has started and that run."""
    try:
        # Asked often, and to look at all processes takes a hundred times as long.
        numbers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(number) for number in numbers if Process.of(int(number))]


def parent_of(pid: int) -> int | None:
    """The parent of a process."""
    parent = _status(pid).get("PPid")
    return int(parent) if parent else None


def name_of(pid: int) -> str | None:
    """The name of the program of a process."""
    return _status(pid).get("Name")


def inner_pid(pid: int) -> int | None:
    """The number that a process has inside its own PID namespace."""
    numbers = _status(pid).get("NSpid", "").split()
    return int(numbers[-1]) if numbers else None


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def command_of(pid: int) -> str:
    """The command line of a process, empty if it has none or is gone."""
    return _strings(pid, "cmdline")


def environment_of(pid: int) -> str:
    """The environment that a process was started with."""
    return _strings(pid, "environ")


def holders(*secrets: str) -> set[str]:
    """The files in /proc, of arguments and environments, in which others could read one of these."""
    read = {f"/proc/{pid}/{name}": _strings(pid, name) for pid in all_pids() for name in ("cmdline", "environ")}
    return {file for file, text in read.items() if any(secret in text for secret in secrets)}


def _strings(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def run(argv: Sequence[str | Path], *, input: str | None = None, timeout: float = 120) -> str:
    """The output of a command that has to succeed."""
    command = [str(word) for word in argv]
    try:
        done = subprocess.run(command, capture_output=True, text=True, input=input or "", timeout=timeout, check=False)
    except FileNotFoundError as error:
        raise LabError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"no answer within {timeout:g} s: {' '.join(command)}") from error
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"
        raise LabError(f"{' '.join(command)}: {said}")
    return done.stdout


def wait_until(what: str, holds: Callable[[], object], seconds: float, every: float = 0.2) -> None:
    """Calls until the answer is true; says what did not come true otherwise."""
    if not comes_true(holds, seconds, every):
        raise LabError(f"not within {max(seconds, LEAST_SECONDS):g} s: {what}")
