"""Small file systems and loop devices of the tests' own; only root can have them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_LOCK = Path("/var/tmp/cephtui-tests-loop-devices")
"""Wherever a test run has its temporary files: loop devices are the machine's."""


# `losetup --find` opens the device that it takes, and `losetup --associated`, which a look at a file uses, opens all
# that there are. A guard that looks at a device just then sees that another process has it open, and refuses it.
@contextlib.contextmanager
def _locked(operation: int) -> Iterator[None]:
    _LOCK.mkdir(exist_ok=True)
    lock = os.open(_LOCK, os.O_RDONLY)
    try:
        fcntl.flock(lock, operation)
        yield
    finally:
        os.close(lock)


def undisturbed() -> contextlib.AbstractContextManager[None]:
    """Keep tests from opening loop devices: for a look at one."""
    return _locked(fcntl.LOCK_EX)


def opening() -> contextlib.AbstractContextManager[None]:
    """Wait for looks at loop devices, and keep new ones waiting: for what may open devices of other tests."""
    return _locked(fcntl.LOCK_SH)


@contextlib.contextmanager
def attached(file: Path, *options: str) -> Iterator[str]:
    """The name of a loop device on a file; only root can have one."""
    with opening():
        argv = ["losetup", *options, "--find", "--show", str(file)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"this test needs root and loop devices: {done.stderr.strip()}")
    device = done.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@contextlib.contextmanager
def mounted(options: str) -> Iterator[Path]:
    """A tmpfs with these mount options.

    Not below pytest's own folders: where a test run was killed, a mount left there would fail every later one.
    """
    folder = Path(tempfile.mkdtemp(prefix="cephtui-disk-", dir="/var/tmp"))
    command = ["mount", "-t", "tmpfs", "-o", options, "cephtui-test", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        if done.returncode:
            pytest.fail(f"this test needs root, to mount a small tmpfs: {done.stderr.strip()}")
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
        folder.rmdir()
