"""cephtui against the lab: the real command line on this side, and what it does and leaves on the other."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.end_to_end.sandbox import Console, Event, Sandbox, fio_documents, read_samples, sets, wait_for
from tests.lab import Lab

__all__ = ["Bench", "Console", "Event", "bench_on", "fio_documents", "left_on", "read_samples", "sets", "wait_for"]

OWN = "cephtui-"
RUN = "CEPHTUI_RUN="
"""In the environment of everything that runs behind a watchdog."""
REMOVED_SECONDS = 90.0
"""The watch of a client that was killed lasts 30 s."""


class Bench:
    """A cephtui of a test's own that works on the lab."""

    def __init__(self, lab: Lab, sandbox: Sandbox) -> None:
        self.lab, self.sandbox = lab, sandbox
        self.config = lab.config
        """What consoles are started with."""

    # ------------------------------------------------------------------ starting

    def start(
        self,
        *presets: str,
        on: Sequence[str] = ("lab1",),
        target: str = "",
        words: Sequence[str] = (),
        env: Mapping[str, str | None] | None = None,
        **options: object,
    ) -> Console:
        """Start ``cephtui run --json``; ``options`` are those of the preset."""
        nodes = [word for node in on for word in ("--node", node)]
        target = target or f"rbd:{self.lab.pool}"
        where = ["--config", str(self.config), *nodes, "--target", target]
        return self.sandbox.start("run", *presets, *where, *sets(**options), "--json", *words, env=env)

    def run(self, *presets: str, seconds: float = 120.0, **how: Any) -> Console:
        """The same to its end."""
        console = self.start(*presets, **how)
        console.wait(seconds)
        return console

    def cephtui(self, *words: str, seconds: float = 120.0) -> Console:
        """Any command to its end."""
        return self.sandbox.run(*words, seconds=seconds)

    def configure(self, **nodes: Mapping[str, object]) -> None:
        """Use a config file in which these nodes have other settings than the lab's; None takes one away."""
        usual = {
            "ceph_conf": str(self.lab.ceph_conf),
            "ceph_keyring": str(self.lab.ceph_keyring),
            "ceph_id": "admin",
        }
        lines = [f"ssh_config = {json.dumps(str(self.lab.ssh_config))}"]
        for name in self.lab.nodes:
            settings = {"host": name, **usual, **nodes.get(name, {})}
            lines.append(f"[nodes.{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items() if value is not None]
        lines.append(f"[groups]\nlab = {json.dumps(self.lab.nodes)}")
        self.config = self.sandbox.root / f"config-{secrets.token_hex(4)}.toml"
        self.config.write_text("\n".join(lines) + "\n")

    # ------------------------------------------------------------------ looking

    def running(self, node: str | None = None, program: str = "") -> dict[int, str]:
        """What runs behind a watchdog on a node, or on all of them, the watchdogs included."""
        found = {**self.lab.processes(RUN, node), **self.lab.processes("cephtui-watchdog", node)}
        return {pid: command for pid, command in found.items() if program in (Path(command.split(" ")[0]).name, "")}

    def wait_nothing_runs(self, seconds: float = 20.0, nodes: Sequence[str] = Lab.nodes) -> float:
        """Until no benchmark and no watchdog is left on these nodes; gives the seconds that took."""
        return wait_for(
            lambda: not any(self.running(node) for node in nodes),
            seconds,
            "the end of every process on the nodes",
            lambda: str(self.running()),
        )

    def clean_up(self) -> None:
        """``cephtui cleanup``, which must succeed, and then nothing is left."""
        console = self.cephtui("cleanup", "--yes")
        assert console.process.returncode == 0, console.describe()
        assert left_on(self.lab) == []


def images(lab: Lab, pool: str | None = None) -> list[str]:
    """The images of cephtui's in a pool."""
    return [name for name in lab.rbd("ls", pool or lab.pool).split() if name.startswith(OWN)]


def objects(lab: Lab, pool: str | None = None) -> Counter[str]:
    """How many objects there are in each namespace of cephtui's in a pool."""
    rows = [line.split("\t") for line in lab.rados("--pool", pool or lab.pool, "ls", "--all").splitlines()]
    return Counter(row[0] for row in rows if len(row) > 1 and row[0].startswith(OWN))


def files(lab: Lab) -> list[Path]:
    """What there is in the nodes' folders for temporary files, where tests have their targets."""
    folders = [lab.outside(node, folder) for node in lab.nodes for folder in ("/tmp", "/var/tmp")]
    return [path for folder in folders for path in folder.iterdir() if path.name.startswith("cephtui")]


def left_on(lab: Lab) -> list[str]:
    """All that a cephtui has left on the lab."""
    pools = [pool for pool in lab.ceph("osd", "pool", "ls") if not pool.startswith(".")]
    processes = {**lab.processes(RUN), **lab.processes("cephtui-watchdog")}
    return [
        *(f"process {pid}: {command[:200]}" for pid, command in processes.items()),
        *(f"image {pool}/{name}" for pool in pools for name in images(lab, pool)),
        *(f"{number} objects in {pool}/{name}" for pool in pools for name, number in objects(lab, pool).items()),
        *(f"file {path}" for path in files(lab)),
    ]


def _remove_all(lab: Lab) -> None:
    """So that one failed test does not make others fail."""
    for pid in lab.processes(RUN):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for path in files(lab):
        path.unlink()
    for name in images(lab):
        done = ["rbd", "--conf", lab.ceph_conf, "rm", "--no-progress", f"{lab.pool}/{name}"]
        wait_for(lambda done=done: lab.on("ceph", *done).returncode == 0, REMOVED_SECONDS, f"the removal of {name}")
    for namespace in objects(lab):
        rados = ["--pool", lab.pool, "--namespace", namespace]
        for name in lab.rados(*rados, "ls").split("\n")[:-1]:
            lab.rados(*rados, "rm", "--force-full", "--", name)


@contextmanager
def bench_on(lab: Lab, root: Path) -> Iterator[Bench]:
    """A bench whose end fails where anything is left, here or on the lab."""
    sandbox = Sandbox(root)
    try:
        yield Bench(lab, sandbox)
    finally:
        here = sandbox.kill_all()
        there = left_on(lab)
        if there:
            _remove_all(lab)
    assert not here, f"still running at the end of the test: {here}"
    assert there == []
