"""The session that comes with cephtui: recorded on a real cluster of three nodes, for a talk without one.

It is unpacked at its first use into the user's cache, where it stays, and is never written to.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cephtui import paths

ARCHIVE = Path(__file__).parent / "session.tar.xz"
ROW = Path(__file__).parent / "row.json"
"""The demo's line of the listing, without its path: made with the archive, so that listing unpacks nothing."""
SESSION = "demo"
STAR = 8
"""The number of a run of small writes on three nodes, in which an OSD stops for some seconds."""
_PREFIX, _DIGEST_DIGITS = "packaged-", 16


def directory() -> Path:
    """The directory where the demo is from its first use on; each archive has another."""
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:_DIGEST_DIGITS]
    return paths.cache_dir() / f"{_PREFIX}{digest}" / SESSION


def is_packaged(directory: Path) -> bool:
    """Whether this is the session that comes with cephtui, and not one of the user's: it is read-only."""
    return directory.name == SESSION and directory.parent.name.startswith(_PREFIX)


def unpacked() -> Path:
    """The demo's directory with all files; raises OSError."""
    session = directory()
    if not _is_there(session):
        _make(session.parent)
    _hold(session.parent)
    return session


def unpack(folder: Path) -> Path:
    """The directory of a copy that may be written to, made below a folder; raises OSError."""
    extract(ARCHIVE, folder)
    return folder / SESSION


def extract(path: Path, folder: Path) -> None:
    """Extract an archive of sessions below a folder; raises OSError, also for one that is cut off or damaged."""
    import lzma
    import tarfile

    try:
        with tarfile.open(path) as archive:
            # Python 3.11.2, as in Proxmox VE 8, has no filters; from 3.12 on it warns where none is chosen.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
    except (EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise OSError(errno.EIO, f"{path.name} is damaged: {error}") from None


def _is_there(session: Path) -> bool:
    """Whether the demo was unpacked, and nobody has emptied its directory since."""
    return (session / "session.json").is_file()


def _make(place: Path) -> None:
    """Unpack the demo in one step, and remove what other releases and killed processes have left; raises OSError."""
    paths.make_private(place.parent)
    with _exclusive(place.parent):
        if _is_there(place / SESSION):
            return  # by another process, meanwhile
        for path in place.parent.glob(f"*{_PREFIX}*"):
            _remove(path)
        new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=place.parent))  # for this user only
        try:
            unpack(new)
            new.rename(place)
        except OSError:
            if not _is_there(place / SESSION):  # it is there where no lock keeps two processes apart
                raise
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _remove(path: Path) -> None:
    """Remove a directory that no process uses, or a file; where that fails, it stays."""
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        elif not _is_held(path):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """A block that one process at a time enters, where the file system has locks."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@cache
def _hold(place: Path) -> int:
    """A descriptor that keeps other releases from removing the directory as long as this process lives."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


def _is_held(place: Path) -> bool:
    """Whether a process uses the directory, as far as that can be told."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
