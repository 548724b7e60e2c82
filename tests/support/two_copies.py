"""A session of a real cluster for tests: every preset on three nodes, a second copy of the pool, an OSD that stops."""

from __future__ import annotations

from pathlib import Path

from cephtui.sessions import demo
from tests import RECORDINGS

ARCHIVE = RECORDINGS / "two-copies.tar.xz"
"""Recorded on Ceph 16.2 by a cephtui that knew no stages of latency; it has the name of the demo."""
STAR = 14
"""The number of a run of small writes on three nodes, in which an OSD stops for some seconds."""


def unpack(folder: Path) -> Path:
    """The directory of a copy below a folder."""
    demo.extract(ARCHIVE, folder)
    return folder / demo.SESSION
