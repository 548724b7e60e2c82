"""Records what a release of Ceph says under load: ``record_release.py LAB tests/recordings/releases``.

On a lab of one's own (``python -m tests.lab up LAB``, with ``--release`` for another release than this machine's), in a
folder named after Ceph's version. It makes a pool of its own, ``recorded``, which has two copies, and deletes it.
``commands.json`` has the command of each recording; those that are large are packed.
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from cephtui.ceph import cluster, pools, rates
from tests.lab import Lab
from tests.recordings.record_ceph_tools import IMAGE, POOL, RECORDINGS
from tests.support.waiting import comes_true

_TELL = ("ceph", "tell", "osd.1")
ASKED = {
    "status": cluster.STATUS_ARGV,
    "versions": cluster.VERSIONS_ARGV,
    "osd-map": pools.OSD_MAP_ARGV,
    "usage": pools.USAGE_ARGV,
    "osd-df": pools.OSD_USAGE_ARGV,
    "pgs-brief": pools.PGS_ARGV,
    "pg-dump": ("ceph", "pg", "dump", "-f", "json"),
    "crush-rules": pools.CRUSH_RULES_ARGV,
    "pool-stats": rates.pool_stats_argv(POOL),
    "osd-perf": rates.OSD_PERF_ARGV,
    "perf-osd": (*_TELL, "perf", "dump", "osd"),
    "perf-bluestore": (*_TELL, "perf", "dump", "bluestore"),
    "perf-message-throttle": (*_TELL, "perf", "dump", "throttle-osd_client_messages"),
    "perf-size-throttle": (*_TELL, "perf", "dump", "throttle-osd_client_bytes"),
    "historic-ops": (*_TELL, "dump_historic_ops_by_duration"),
    "osd-network": (*_TELL, "dump_osd_network", "0"),
}
"""During the second load."""
LOADS = {
    "rados-write": ("rados", "-p", POOL, "bench", "5", "write", "-b", "64K", "-t", "4", "--no-cleanup", "--show-time"),
    "rbd-bench": tuple(RECORDINGS["bench-write"]),
    "rados-rand": ("rados", "-p", POOL, "bench", "5", "rand", "-t", "4", "--show-time"),
    "load-gen": tuple(RECORDINGS["load-mixed"]),
}
_ENDLESS = "rbd-bench"
_LARGE = 20_000


class Recorder:
    """Runs commands on the cluster's machine, and keeps what they print."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.commands: dict[str, tuple[str, ...]] = {}

    def start(self, argv: tuple[str, ...]) -> subprocess.Popen[str]:
        """With the lab's configuration; rbd bench prints only while somebody reads it."""
        words = ["env", f"CEPH_CONF={self.lab.ceph_conf}", *argv]
        return subprocess.Popen(self.lab.command("ceph", *words), stdout=subprocess.PIPE, text=True)

    def keep(self, name: str, argv: tuple[str, ...], text: str) -> None:
        """Write one down."""
        self.commands[name] = argv
        path = self.folder / f"{name}.stdout"
        if len(text) > _LARGE:
            path.with_name(f"{path.name}.xz").write_bytes(lzma.compress(text.encode()))
        else:
            path.write_text(text)

    def record(self, name: str, argv: tuple[str, ...]) -> None:
        """Run a command to its end."""
        with self.start(argv) as process:
            text, _ = process.communicate(timeout=120)
        if process.returncode:
            sys.exit(f"{name}: exit status {process.returncode}")
        self.keep(name, argv, text)

    def record_beside(self, name: str, argv: tuple[str, ...], seconds: float) -> None:
        """A command that does not end, with all questions beside it."""
        process = self.start(argv)
        time.sleep(seconds)
        for question, words in ASKED.items():
            self.record(question, words)
        for pid in self.lab.processes("--rbd-cache=false", "ceph"):
            subprocess.run(["kill", "-TERM", str(pid)], check=True)
        self.keep(name, argv, process.communicate(timeout=60)[0])


def main() -> None:
    """Make the pool, record, delete it."""
    lab, root = Lab(Path(sys.argv[1])), Path(sys.argv[2])
    found = re.search(r"ceph version (\d+\.\d+\.\d+)", lab.on("ceph", "ceph", "--version").stdout)
    assert found
    recorder = Recorder(lab, root / f"ceph-{found[1]}")
    recorder.folder.mkdir(parents=True, exist_ok=True)
    lab.ceph("osd", "pool", "create", POOL, "8", "8")
    try:
        lab.ceph("osd", "pool", "set", POOL, "size", "2")
        lab.ceph("osd", "pool", "application", "enable", POOL, "rbd")
        lab.rbd("create", "--size", "256", IMAGE)
        comes_true(lambda: [s["state_name"] for s in lab.ceph("status")["pgmap"]["pgs_by_state"]] == ["active+clean"])
        # Pings between OSDs are counted by the minute.
        pings: list[str | Path] = ["ceph", "--conf", lab.ceph_conf, *ASKED["osd-network"][1:]]
        comes_true(lambda: json.loads(lab.on("ceph", *pings).stdout)["entries"], 180, 1)
        for name, argv in LOADS.items():
            if name == _ENDLESS:
                recorder.record_beside(name, argv, 15)
            else:
                recorder.record(name, argv)
    finally:
        lab.ceph("osd", "pool", "rm", POOL, POOL, "--yes-i-really-really-mean-it")
    lines = [f" {json.dumps(name)}: {json.dumps(argv)}" for name, argv in recorder.commands.items()]
    (recorder.folder / "commands.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
