"""Where a lab refuses to run."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tests.lab.hosts import SSHD

# The path of a Unix socket has at most 107 characters, and the lab's own part of it takes some.
_LONGEST = 85

_NEEDED = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "ssh-keygen": "openssh-client",
    SSHD: "openssh-server",
}
_NEEDED_FOR_CEPH = {
    "ceph-mon": "ceph-mon",
    "ceph-mgr": "ceph-mgr",
    "ceph-osd": "ceph-osd",
    "monmaptool": "ceph-base",
    "ceph": "ceph-common",
    "rbd": "ceph-common",
}


def refusal(system: Path = Path("/")) -> str | None:
    """Why there must be no lab on this machine at all. `system` is where its root directory is."""
    if os.geteuid() != 0:
        return "the lab needs root: run it as root"
    for pattern in ("etc/pve", "var/lib/ceph/mon/*", "var/lib/ceph/osd/*"):
        for found in sorted(system.glob(pattern)):
            return f"refused: {found} exists, and the lab does not run where a cluster may live"
    return None


def missing(*, ceph: bool) -> str | None:
    """What has to be installed first; Ceph where the lab has that of this machine."""
    needed = _NEEDED | (_NEEDED_FOR_CEPH if ceph else {})
    packages = sorted({package for program, package in needed.items() if not shutil.which(program)})
    return f"the lab needs packages that are not installed: {' '.join(packages)}" if packages else None


def unfit(directory: Path) -> str | None:
    """Why a lab cannot be in this directory."""
    if not re.fullmatch(r"[A-Za-z0-9/._+@=,-]+", str(directory)):
        return f"{directory}: the configuration files of Ceph and OpenSSH cannot take every character; choose another"
    if len(str(directory)) > _LONGEST:
        return f"{directory} is too long: the sockets of the lab need a path of at most {_LONGEST} characters"
    return None
