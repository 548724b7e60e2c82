"""Releases of Debian whose Ceph, fio, OpenSSH and Python a lab can have: each is a root directory that is made once."""

from __future__ import annotations

import fcntl
import re
import shlex
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.lab import processes
from tests.lab.machines import PATH
from tests.lab.processes import LabError

RELEASES = ("trixie", "sid")
CACHE = Path("/var/cache/cephtui-lab/roots")
_ASKED = {"Ceph": "ceph --version", "fio": "fio --version", "OpenSSH": "ssh -V", "Python": "python3 --version"}
"""What tells whose programs a lab has, and who says its version."""
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
_SCRIPTS = tuple(Path(__file__).with_name(f"{name}.sh") for name in ("root_hook", "kernel_packages", "kernel_files"))
_MAKING_SECONDS = 1800
_SHOWN_CHARACTERS = 2000


def root_of(release: str) -> Path:
    """The root directory of a release, which is made where there is none: it takes a minute, and then 900 MB.

    Raises LabError.
    """
    return made(release, (*_PACKAGES, *_MORE_PACKAGES.get(release, ())), _SCRIPTS)


def made(release: str, packages: Sequence[str], scripts: Sequence[Path] = ()) -> Path:
    """A root directory with these packages, made once; the first script is run on it, and uses the others.

    Raises LabError.
    """
    made_by = "".join([*packages, *(script.read_text() for script in scripts)])
    root = CACHE / f"{release}-{zlib.crc32(made_by.encode()):08x}"
    with _alone() as lock:
        if not root.is_dir():
            print(f"lab: making a root directory of Debian {release} in {CACHE}, once: about a minute", flush=True)
            _make(release, packages, scripts[:1], root, lock)
    return root


@contextmanager
def _alone() -> Iterator[int]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _make(release: str, packages: Sequence[str], hooks: Sequence[Path], root: Path, lock: int) -> None:
    if not shutil.which("mmdebstrap"):
        raise LabError("the root directory of a release needs a package that is not installed: mmdebstrap")
    unfinished = CACHE / f".{release}"
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [
        # Its mounts are its own: nothing is mounted below a directory that was left unfinished.
        *("unshare", "--mount", "--fork", "--kill-child", "--"),
        *("mmdebstrap", "--mode=root", "--variant=apt", f"--include={','.join(packages)}"),
        # A mirror can be older than its lists are said to be good for.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        *(f'--customize-hook=sh {shlex.quote(str(hook))} "$1" {release}' for hook in hooks),
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
    return ", ".join(f"{name} {_version(root, command)}" for name, command in _ASKED.items())


def _version(root: Path, command: str) -> str:
    try:
        said = processes.run(["chroot", root, "env", f"PATH={PATH}", "sh", "-c", f"{command} 2>&1"])
    except LabError:
        return "unknown"
    found = re.search(r"\d+\.\d+[\w.]*", said)
    return found[0] if found else "unknown"
