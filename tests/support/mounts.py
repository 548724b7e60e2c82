"""Small file systems of the tests' own; only root can mount them."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


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
