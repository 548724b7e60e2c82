"""Block devices on files of a lab."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab import processes
from tests.lab.processes import LabError
from tests.support import disks


@contextmanager
def attached(directory: Path, size: int) -> Iterator[Path]:
    """A block device of this size on a sparse file in the directory, until the end of the block."""
    with tempfile.NamedTemporaryFile(prefix="loop-", dir=directory) as file:
        file.truncate(size)
        try:
            with disks.opening():
                device = Path(processes.run(["losetup", "--find", "--show", file.name]).strip())
        except LabError as error:
            raise LabError(f"this machine forbids loop devices: {error}") from error
        try:
            yield device
        finally:
            _detach(file.name)


def detach_all(directory: Path) -> None:
    """Detaches every block device whose file is in this directory."""
    _detach(f"{directory}/")


def _detach(start: str) -> None:
    # The file says whose a device is: its number may long be somebody else's.
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            file = backing.read_text().strip()
        except OSError:
            continue
        if file.startswith(start):
            processes.run(["losetup", "--detach", f"/dev/{backing.parts[3]}"])


def forbidden(directory: Path) -> str | None:
    """Why there can be no block device, if so."""
    try:
        with attached(directory, 1 << 20):
            return None
    except LabError as error:
        return str(error)
