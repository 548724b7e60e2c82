"""Releases of Debian whose Ceph, fio, OpenSSH and Python a lab can have: each is a root directory that is made once."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import processes
from .processes import LabError

RELEASES = ("trixie", "sid")
CACHE = Path("/var/cache/cephtui-lab/roots")
SHOWN = {"ceph-common": "Ceph", "fio": "fio", "openssh-server": "OpenSSH", "python3": "Python"}
"""Packages whose versions tell what a lab has, and what they are called."""
ASSEMBLE = Path(__file__).with_name("root.sh")

_PACKAGES = (
    *("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph-common", "ceph-base", "radosgw"),
    *("fio", "ioping", "iperf3", "python3", "openssh-server", "openssh-client", "curl", "tcsh", "perl"),
    *("util-linux", "mount", "iproute2", "kmod", "procps", "e2fsprogs", "xfsprogs"),
)
_MORE_PACKAGES = {
    # Two compressors of Ceph 20.2 want it, and its package does not.
    "sid": ("libqatzip3",)
}
_HOOKS = {
    # No second interpreter of a process can import it, and every module of Ceph's manager does (Ceph 18.2). Here none
    # has passwords.
    "trixie": 'cd "$1/usr/lib/python3/dist-packages" && rm -r bcrypt && touch bcrypt.py'
}
_MAKING_SECONDS = 1800
_SHOWN_CHARACTERS = 2000


def root_of(release: str) -> Path:
    """The root directory of a release, which is made where there is none: it takes a minute, and then 750 MB.

    Raises LabError.
    """
    wanted = (*_PACKAGES, *_MORE_PACKAGES.get(release, ())), _HOOKS.get(release, "true")
    root = CACHE / f"{release}-{zlib.crc32(repr(wanted).encode()):08x}"
    with _alone() as lock:
        if not root.is_dir():
            print(f"lab: making a root directory of Debian {release} in {CACHE}, once: about a minute", flush=True)
            _make(release, *wanted, root, lock)
    return root


@contextmanager
def _alone() -> Iterator[int]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _make(release: str, packages: Sequence[str], hook: str, root: Path, lock: int) -> None:
    if not shutil.which("mmdebstrap"):
        raise LabError("the root directory of a release needs a package that is not installed: mmdebstrap")
    unfinished = CACHE / f".{release}"
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [
        # Its mounts are its own: nothing is mounted below a directory that was left unfinished.
        *("unshare", "--mount", "--fork", "--kill-child", "--"),
        *("mmdebstrap", "--mode=root", "--variant=essential", f"--include={','.join(packages)}"),
        # A mirror can be older than its lists are said to be good for.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        f"--customize-hook={hook}",
        *(release, unfinished, *_mirror()),
    ]
    try:
        # It keeps the lock: whoever started it may have ended meanwhile.
        done = subprocess.run(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_MAKING_SECONDS,
            pass_fds=[lock],
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"no root directory of {release} within {_MAKING_SECONDS} s") from error
    if done.returncode:
        raise LabError(f"mmdebstrap made no root directory of {release}: {done.stdout[-_SHOWN_CHARACTERS:].strip()}")
    unfinished.rename(root)


def _mirror() -> list[str]:
    """The mirror of Debian's archive that this machine uses; else none, and mmdebstrap takes Debian's own."""
    words = ["Created-By: Packages", "Origin: Debian", "Label: Debian", "Component: main"]
    try:
        return processes.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", *words]).split()[:1]
    except LabError:
        return []


def versions(root: Path = Path("/")) -> str:
    """The versions of what a lab has that is made of this root directory: ``Ceph 18.2.7, fio 3.39, ...``."""
    database = ["--admindir", str(root / "var/lib/dpkg")]
    shown = processes.run(["dpkg-query", *database, "--show", "--showformat", "${Package} ${Version}\\n", *SHOWN])
    pairs = (line.split() for line in shown.splitlines())
    upstream = {package: re.sub(r"^\d+:|[+-].*", "", version) for package, version in pairs}
    return ", ".join(f"{name} {upstream.get(package, 'unknown')}" for package, name in SHOWN.items())
