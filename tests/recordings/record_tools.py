"""Records the session that the pictures of links and of OSDs are drawn from, on a lab.

``python -m tests.recordings.record_tools LAB OUT.tar.xz``; LAB is the directory of a lab that is up. One host sends no
faster than 10GBASE-T, and one OSD compresses all that it writes. All figures are what the lab gave.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.lab import Lab
from tests.on_lab.runs import shaping
from tests.recordings.record_demo import pack

SESSION = "tools"
SLOW_HOST, RATE = "lab3", "10gbit"
SLOW_OSD, COMPRESSION = "osd.1", {"bluestore_compression_mode": "force", "bluestore_compression_algorithm": "zlib"}


def record(lab: Lab, data: Path) -> None:
    """Each link between the hosts, then each OSD in turn."""
    cephtui = [str(Path(sys.executable).with_name("cephtui")), "run"]
    where = ["--config", str(lab.config), "--node", "lab", "--session", SESSION]
    environment = {**os.environ, "CEPHTUI_DATA_DIR": str(data)}
    with shaping(lab, [SLOW_HOST], RATE):
        subprocess.run([*cephtui, "network", *where, "--target", "host:*"], env=environment, check=True)
    for name, value in COMPRESSION.items():
        lab.ceph("config", "set", SLOW_OSD, name, value)
    osds = ["osd-write", *where, "--target", "osd:*", "--shared-pool"]
    subprocess.run([*cephtui, *osds], env=environment, check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        record(Lab(Path(sys.argv[1])), Path(folder))
        pack(Path(folder) / "sessions" / SESSION, Path(sys.argv[2]))
