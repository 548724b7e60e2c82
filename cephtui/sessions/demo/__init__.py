"""A recorded session of a real cluster on three nodes, for a talk without one."""

from __future__ import annotations

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "session.tar.xz"
SESSION = "demo"
STAR = 14
"""The run that is played first: small writes on three nodes, and an OSD that stands still for some seconds."""


def unpack(folder: Path) -> Path:
    """The session's directory, made below a folder; raises OSError."""
    extract(ARCHIVE, folder)
    return folder / SESSION


def extract(path: Path, folder: Path) -> None:
    """Make what an archive of sessions has, below a folder; raises OSError."""
    with tarfile.open(path) as archive:
        # Python 3.11.2, as in Proxmox VE 8, has no filters; from 3.12 on it warns where none is chosen.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
