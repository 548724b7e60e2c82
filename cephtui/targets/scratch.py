"""Directories in the user's cache that a later start removes after a crash, and the default target in one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cephtui import paths
from cephtui.targets.file import FileKind, FileTarget

_PREFIX = "scratch-"
SCRATCH = "a scratch file"
"""What it is called; its path says nothing."""


def is_scratch(spec: str) -> bool:
    """Whether a part is in a scratch directory, and is removed with it."""
    return spec.startswith(FileTarget(f"{paths.cache_dir()}/{_PREFIX}").spec)


def target_words(spec: str) -> str:
    """``a scratch file in ~/.cache/cephtui``; any other target as it is typed."""
    if not is_scratch(spec):
        return spec
    cache, home = paths.cache_dir(), Path.home()
    return f"{SCRATCH} in {f'~/{cache.relative_to(home)}' if cache.is_relative_to(home) else cache}"


def _lock(directory: Path) -> int | None:
    """A descriptor that holds a directory; None where a living console holds it."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_dead(cache: Path) -> None:
    """Remove the scratch directories whose consoles have ended."""
    for directory in cache.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            descriptor = _lock(directory)
            if descriptor is not None:
                shutil.rmtree(directory, ignore_errors=True)
                os.close(descriptor)


@contextlib.contextmanager
def scratch_directory(cache: Path, earlier: Path | None = None) -> Iterator[Path]:
    """A directory of this process's own, removed at the end of the block, or by a later start; raises OSError.

    It has the name of an ``earlier`` one, unless that is still in use.
    """
    paths.make_private(cache)
    remove_dead(cache)
    # under another name until it is locked, so that another console's start does not take it for dead
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=cache))
    descriptor = _lock(new)
    directory = cache / f"{_PREFIX}{new.name.removeprefix('.new-')}"
    if earlier and earlier.parent == cache and earlier.name.startswith(_PREFIX) and not os.path.lexists(earlier):
        directory = earlier
    new.rename(directory)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def scratch_target(cache: Path, earlier: str = "") -> Iterator[FileTarget]:
    """A file of this console's own; the ``earlier`` one again, so that runs on both are alike.

    Raises OSError where the cache can't be written, TargetError where a tool can't use its path.
    """
    with scratch_directory(cache, Path(earlier.partition(":")[2]).parent) as directory:
        yield FileKind().parse(str(directory / "scratch"))
