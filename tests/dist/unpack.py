"""The first module of the one file: unpacks it, once, to where no other user can write, and starts cephtui.

Each start holds a shared lock on the directory that it runs from. What nobody has locked, and is no longer needed, is
removed: directories of other versions, and unpacking that was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

NAME = "cephtui-unbuilt"
"""Of what is unpacked: the version, and a digest of the content."""
PARTIAL = "cephtui-unpacked-"
"""How directories begin that are being unpacked, or are there for one start only."""
COMMON = "common.tar.xz"
MODULE = "cephtui"


class Unfit(Exception):
    """Nothing can run from a directory; the text says why."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run cephtui from the first place that is fit for it."""
    refusals = list[str]()
    for base, is_kept in places():
        try:
            folder, lock = ready(base, is_kept)
        except (Unfit, OSError) as error:
            refusals.append(f"{base} ({error.strerror if isinstance(error, OSError) else error})")
            continue
        if not is_kept:
            _remove_at_end(folder, lock)
        os.set_inheritable(lock, True)
        python = str(folder / "bin" / "python")
        os.execv(python, [python, "-I", "-m", MODULE, *arguments])
    sys.exit(
        "cephtui: no directory to unpack into, with 100 MB and programs allowed: set XDG_CACHE_HOME to one; tried "
        + ", ".join(refusals)
    )


def places() -> Iterator[tuple[Path, bool]]:
    """Directories to unpack into, and whether what is unpacked there stays."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with suppress(RuntimeError):  # who has no home
        if (own := own.expanduser()).is_absolute():
            yield own / "cephtui" / "programs", True
    if os.geteuid() == 0:
        yield Path("/var/cache/cephtui/programs"), True
    for folder in dict.fromkeys([os.environ.get("TMPDIR") or "/tmp", "/tmp", "/var/tmp", "/dev/shm"]):
        yield Path(folder), False


def ready(base: Path, is_kept: bool) -> tuple[Path, int]:
    """A directory below this one that has cephtui, and a lock on it.

    Raises Unfit and OSError.
    """
    base = base.resolve()
    _check(next(each for each in (base, *base.parents) if each.exists()))
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check(base)
    if not is_kept:
        return _unpacked(base)
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    kept = base / f"{NAME}-{sys.implementation.cache_tag}-{zlib.crc32(bytes(python)):08x}"
    while True:
        with suppress(FileNotFoundError):
            if (lock := held(kept)) is not None:
                return kept, lock
            continue
        folder, lock = _unpacked(base)
        try:
            folder.rename(kept)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # else another start was first
                raise
        else:
            _sweep(other for other in base.glob("cephtui-*") if not other.name.startswith(NAME))
            return kept, lock


def _check(base: Path) -> None:
    """Raises Unfit where others could change what is unpacked, or nothing can be run."""
    for each in (base, *base.parents):
        seen = each.stat()
        others = stat.S_IWOTH | (0 if seen.st_gid == os.getegid() else stat.S_IWGRP)
        if seen.st_uid not in (0, os.geteuid()) or (seen.st_mode & others and not seen.st_mode & stat.S_ISVTX):
            raise Unfit(f"other users can change {each}")
    if os.statvfs(base).f_flag & os.ST_NOEXEC:
        raise Unfit("mounted noexec")


def held(folder: Path) -> int | None:
    """A shared lock on a directory; None if it is gone meanwhile.

    Raises FileNotFoundError.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):  # a file system without locks
        fcntl.flock(lock, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    os.close(lock)
    return None


def _unpacked(base: Path) -> tuple[Path, int]:
    import tempfile

    _sweep(base.glob(f"{PARTIAL}*"))
    lock = None
    while lock is None:
        folder = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=base))
        lock = held(folder)
    try:
        print(f"cephtui: unpacking into {base} ...", file=sys.stderr, flush=True)
        unpack(Path(sys.argv[0]), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
        raise
    return folder, lock


def unpack(archive: Path, folder: Path) -> None:
    """Make an environment of Python of what the one file has for this version of it."""
    import lzma
    import tarfile
    import zipfile

    minor = "{}.{}".format(*sys.version_info)
    lay(folder, Path(getattr(sys, "_base_executable", sys.executable)).resolve(), minor)
    try:
        with zipfile.ZipFile(archive) as members:
            for name in (COMMON, f"{minor}.tar.xz"):
                with members.open(name) as member, tarfile.open(fileobj=member, mode="r|xz") as tar:
                    tar.extraction_filter = lambda entry, _: entry  # they are our own
                    tar.extractall(site_packages(folder, minor))
    except (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, EOFError):
        sys.exit(f"cephtui: {archive} is damaged: copy it again, and compare it with SHA256SUMS")


def lay(folder: Path, python: Path, minor: str) -> None:
    """Make an environment of this interpreter without packages, as the module venv does, which Debian leaves out."""
    site_packages(folder, minor).mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(
        f"home = {python.parent}\ninclude-system-site-packages = false\nversion = {minor}\n"
    )


def site_packages(folder: Path, minor: str) -> Path:
    """Where an environment has its packages."""
    return folder / "lib" / f"python{minor}" / "site-packages"


def _sweep(folders: Iterable[Path]) -> None:
    """Remove of these what this user has unpacked and no start holds."""
    for folder in folders:
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _remove_at_end(folder: Path, lock: int) -> None:
    """Leave a process behind that removes the directory when the lock is given up, however this process ends."""
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(lock)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
