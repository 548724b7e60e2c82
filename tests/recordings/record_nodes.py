"""Records the session that the picture of a matrix is drawn from, on a lab.

``python -m tests.recordings.record_nodes LAB OUT.tar.xz``; LAB is the directory of a lab that is up. The tests of the
suite ``proxmox`` on each node alone, then on all at once, each twice and on little data; the link of one host takes
500 Mbit/s. All figures are what the lab gave.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.lab import Lab
from tests.on_lab.runs import shaping
from tests.recordings.record_demo import pack

SESSION, SUITE = "nodes", "proxmox"
SLOW_HOST, RATE = "lab2", "500mbit"
SHORT = ("--set", "runtime=10", "--set", "size=32M", "--repeat", "2", "--shared-pool")


def record(lab: Lab, data: Path) -> None:
    """The suite, one step after the other."""
    nodes = [word for name in lab.nodes for word in ("--node", name)]
    where = ["--config", str(lab.config), *nodes, "--target", f"rbd:{lab.pool}", "--session", SESSION]
    cephtui = str(Path(sys.executable).with_name("cephtui"))
    environment = {**os.environ, "CEPHTUI_DATA_DIR": str(data)}
    with shaping(lab, [SLOW_HOST], RATE):
        subprocess.run([cephtui, "run", SUITE, *where, *SHORT], env=environment, check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        record(Lab(Path(sys.argv[1])), Path(folder))
        session = Path(folder) / "sessions" / SESSION
        for raw in session.glob("*/raw"):
            shutil.rmtree(raw)  # what the tools printed is in no picture
        pack(session, Path(sys.argv[2]))
