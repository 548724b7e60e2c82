"""What a lab has started, on disk: whoever ends it needs nothing else, whatever became of whoever began it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.lab.processes import LabError, Process

_NAME = "state.json"
_NEXT = "state.json.next"


@dataclass
class State:
    """The processes that hold a lab. Everything else runs inside the machines and ends with them."""

    machines: dict[str, Process] = field(default_factory=dict)
    keeper: Process | None = None
    ceph: bool = False
    kernel: bool = False
    """Whether a virtual machine is one of its hosts."""
    root: str = ""
    """The root directory that its hosts and its cluster have; empty: that of this machine."""
    ready: bool = False

    def runs(self) -> bool:
        """Whether the lab came up in full and every machine of it is still there."""
        return self.ready and all(process.runs() for process in self.machines.values())

    def save(self, directory: Path) -> None:
        """Writes it, never in part."""
        next_ = directory / _NEXT
        next_.write_text(json.dumps(asdict(self), indent=2) + "\n")
        next_.replace(directory / _NAME)

    @classmethod
    def load(cls, directory: Path) -> State | None:
        """The state of the lab in this directory, if there is one."""
        try:
            text = (directory / _NAME).read_text()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            read = json.loads(text)
            machines = {name: Process(**process) for name, process in read["machines"].items()}
            keeper = Process(**read["keeper"]) if read["keeper"] else None
            return cls(machines, keeper, read["ceph"], read.get("kernel", False), read.get("root", ""), read["ready"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LabError(f"{directory / _NAME} is not the state of a lab: {error!r}") from error


def is_blank(directory: Path) -> bool:
    """Whether there is nothing in a directory but what an interrupted start may have left."""
    return {path.name for path in directory.iterdir()} <= {_NEXT}


@contextmanager
def locked(directory: Path) -> Iterator[bool]:
    """Keeps every other start and end of this lab waiting. False if the directory is not there, or not any more."""
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    except NotADirectoryError:
        raise LabError(f"{directory} is not a directory") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            there = os.path.samestat(os.fstat(handle), directory.stat())
        except FileNotFoundError:
            there = False
        yield there
    finally:
        os.close(handle)
