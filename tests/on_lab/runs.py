"""cephtui against the lab: the real command line on this side, and what it does and leaves on the other."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.end_to_end.sandbox import (
    ENDLESS,
    Console,
    Event,
    Sandbox,
    completed_ios,
    fio_documents,
    read_samples,
    sets,
    wait_for,
)
from tests.lab import Lab
from tests.lab.processes import Process, all_pids, command_of, environment_of
from tests.support.waiting import LEAST_SECONDS

__all__ = [
    "ENDLESS",
    "Bench",
    "Console",
    "Event",
    "benches_on",
    "completed_ios",
    "fio_documents",
    "left_on",
    "read_samples",
    "sets",
    "wait_for",
]

OWN = "cephtui-"
RUN = "CEPHTUI_RUN="
"""In the environment of everything that runs behind a watchdog."""
WATCHDOG = "cephtui-watchdog"
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
REMOVED_SECONDS = 90.0
"""The watch of a client that was killed lasts 30 s."""


class Bench:
    """A cephtui of a test's own that works on the lab."""

    def __init__(self, lab: Lab, sandbox: Sandbox) -> None:
        self.lab, self.sandbox = lab, sandbox
        self.config = lab.config
        """What consoles are started with."""
        self._programs: list[Path] = []

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

    def configure(self, programs: Mapping[str, str] | None = None, /, **nodes: Mapping[str, object]) -> None:
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
        lines += ["[programs]", *(f"{name} = {json.dumps(path)}" for name, path in (programs or {}).items())]
        self.config = self.sandbox.root / f"config-{secrets.token_hex(4)}.toml"
        self.config.write_text("\n".join(lines) + "\n")

    def program(self, node: str, name: str, script: str) -> list[str]:
        """A prefix with which ``name`` is this shell script on a node; ``$REAL`` in it is the real one."""
        folder = self._folder(node)
        path = self.lab.outside(node, folder) / name
        path.write_text(f"#!/bin/bash\nREAL=$(PATH={_PATH} command -v {name})\n{script}\n")
        path.chmod(0o755)
        return ["env", f"PATH={folder}:{_PATH}"]

    def without(self, node: str, *names: str) -> list[str]:
        """A prefix with which a node has all its programs but these."""
        folder = self._folder(node)
        others = [word for name in names for word in ("!", "-name", name)]
        link = ["-exec", "ln", "--symbolic", "--force", "--target-directory", folder, "{}", "+"]
        for place in ("/usr/bin", "/usr/sbin"):
            linked = self.lab.on(node, "find", place, "-mindepth", "1", "-maxdepth", "1", *others, *link)
            assert linked.returncode == 0, linked.stderr
        return ["env", f"PATH={folder}"]

    def file(self, node: str, text: str) -> str:
        """A file on a node, where nobody else can read it."""
        path = f"{self._folder(node)}/file"
        outside = self.lab.outside(node, path)
        outside.touch(mode=0o600)
        outside.write_text(text)
        return path

    def _folder(self, node: str) -> str:
        folder = f"/tmp/programs-{secrets.token_hex(4)}"
        self._programs.append(self.lab.outside(node, folder))
        self._programs[-1].mkdir()
        return folder

    def remove_programs(self) -> None:
        """Take the programs away from the nodes again."""
        for folder in self._programs:
            shutil.rmtree(folder)
        self._programs.clear()

    # ------------------------------------------------------------------ looking

    def running(self, *nodes: str, program: str = "") -> dict[int, str]:
        """What runs behind a watchdog on these nodes, or on all of them, the watchdogs included."""
        found = processes_on(self.lab, nodes or self.lab.nodes)
        return {pid: command for pid, command in found.items() if program in (Path(command.split(" ")[0]).name, "")}

    def wait_nothing_runs(self, *nodes: str) -> float:
        """Until no benchmark and no watchdog is left on these nodes; gives the seconds that took."""
        return wait_for(
            lambda: not self.running(*nodes),
            LEAST_SECONDS,
            "the end of every process on the nodes",
            lambda: str(self.running()),
        )

    def cleanup(self, *words: str, **how: Any) -> Console:
        """``cephtui cleanup`` to its end, with the config that consoles are started with."""
        return self.sandbox.run("cleanup", "--config", str(self.config), *words, **{"seconds": 120, **how})

    def clean_up(self) -> None:
        """``cephtui cleanup``, which must succeed, and then nothing is left."""
        console = self.cleanup("--yes")
        assert console.process.returncode == 0, console.describe()
        assert left_on(self.lab) == []


@contextmanager
def shaping(lab: Lab, nodes: Sequence[str], rate: str) -> Iterator[None]:
    """In the block these hosts send no faster than that: ``200mbit``, with all headers."""
    tbf = ("tbf", "rate", rate, "burst", "256k", "latency", "20ms")
    try:
        for node in nodes:
            made = lab.on(node, "tc", "qdisc", "replace", "dev", "eth0", "root", *tbf)
            assert made.returncode == 0, made.stderr
        yield
    finally:
        for node in nodes:
            lab.on(node, "tc", "qdisc", "del", "dev", "eth0", "root")


def processes_on(lab: Lab, nodes: Sequence[str] = Lab.nodes) -> dict[int, str]:
    """What belongs to a run on these nodes, also in further namespaces of processes, as in a container."""
    networks = {lab.network(name) for name in nodes}
    found = {}
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/ns/net").stat().st_ino in networks and Process.of(pid):
                command = command_of(pid)
                if WATCHDOG in command or RUN in f"{command} {environment_of(pid)}":
                    found[pid] = command
    return found


def noted(sandbox: Sandbox) -> set[str]:
    """What the sessions have on their lists as made and not yet removed."""
    pending: dict[tuple[str, str], bool] = {}
    for path in sorted((sandbox.data / "sessions").glob("*/undo.jsonl")):
        for entry in map(json.loads, path.read_text().splitlines()):
            pending[entry["node"], entry["target"]] = not entry.get("done", False)
    return {target for (_, target), is_left in pending.items() if is_left}


def images(lab: Lab, pool: str | None = None) -> list[str]:
    """The images of cephtui's in a pool."""
    return list(lab.ceph("own", OWN)[pool or lab.pool][0])


def objects(lab: Lab, pool: str | None = None) -> Counter[str]:
    """How many objects there are in each namespace of cephtui's in a pool."""
    return Counter(lab.ceph("own", OWN)[pool or lab.pool][1])


def files(lab: Lab) -> list[Path]:
    """What there is in the nodes' folders for temporary files, where tests have their targets."""
    folders = [lab.outside(node, folder) for node in lab.nodes for folder in ("/tmp", "/var/tmp")]
    return [path for folder in folders for path in folder.iterdir() if path.name.startswith("cephtui")]


def left_on(lab: Lab) -> list[str]:
    """All that a cephtui has left on the lab."""
    own = lab.ceph("own", OWN)
    processes = processes_on(lab)
    return [
        *(f"process {pid}: {command[:200]}" for pid, command in processes.items()),
        *(f"image {pool}/{name}" for pool, (images, _) in own.items() for name in images),
        *(f"{n} objects in {pool}/{name}" for pool, (_, objects) in own.items() for name, n in objects.items()),
        *(f"file {path}" for path in files(lab)),
    ]


def _succeeds(lab: Lab, command: Sequence[str | Path]) -> bool:
    return lab.on("ceph", *command).returncode == 0


def _remove_all(lab: Lab) -> None:
    """So that one failed test does not make others fail."""
    for pid in processes_on(lab):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for path in files(lab):
        path.unlink()
    for name in images(lab):
        done: list[str | Path] = ["rbd", "--conf", lab.ceph_conf, "rm", "--no-progress", f"{lab.pool}/{name}"]
        wait_for(partial(_succeeds, lab, done), REMOVED_SECONDS, f"the removal of {name}")
    for namespace in objects(lab):
        rados = ["--pool", lab.pool, "--namespace", namespace]
        for name in lab.rados(*rados, "ls").split("\n")[:-1]:
            lab.rados(*rados, "rm", "--force-full", "--", name)


def not_understood(sandbox: Sandbox) -> list[str]:
    """Commands that this release of Ceph does not have, or not with such parameters, as the log of cephtui has them."""
    logs = [path.read_text(errors="replace") for path in sandbox.state.rglob("*.log*")]
    return [line for log in logs for line in log.splitlines() if re.search("invalid command|no valid command", line)]


@contextmanager
def benches_on(lab: Lab) -> Iterator[Callable[[Path], Bench]]:
    """Makes benches in these folders; their end fails where anything is left, here or on the lab, or where Ceph did not
    understand a command.
    """
    benches: list[Bench] = []

    def make(root: Path) -> Bench:
        benches.append(Bench(lab, Sandbox(root, forks=True)))
        return benches[-1]

    try:
        yield make
    finally:
        here = [process for bench in benches for process in bench.sandbox.kill_all()]
        refused = [line for bench in benches for line in not_understood(bench.sandbox)]
        for bench in benches:
            bench.remove_programs()
        there = left_on(lab)
        if there:
            _remove_all(lab)
    assert not here, f"still running at the end of the test: {here}"
    assert there == []
    assert refused == []


# ---------------------------------------------------------------------------------------------- figures, from outside


def total_by_fio(documents: Sequence[Event]) -> Event:
    """What fio's documents, one of each node, say together: counts, and the percentiles of all their histograms."""
    jobs = [(document, job) for document in documents for job in document["jobs"]]
    return {
        direction: _all_jobs([{**job[direction], "completed": completed_ios(of, job[direction])} for of, job in jobs])
        for direction in ("read", "write")
    }


def _all_jobs(parts: Sequence[Event]) -> Event | None:
    bins: Counter[int] = Counter()
    for part in parts:
        bins.update({int(nanoseconds): count for nanoseconds, count in part["clat_ns"].get("bins", {}).items()})
    if not sum(part["total_ios"] for part in parts):
        return None
    return {
        "ios": sum(part["completed"] for part in parts),
        "bytes": sum(part["io_bytes"] for part in parts),
        "latency_p50_seconds": percentile(bins, 50),
        "latency_p99_seconds": percentile(bins, 99),
        "latency_p999_seconds": percentile(bins, 99.9),
        "latency_min_seconds": min(part["clat_ns"]["min"] for part in parts if part["total_ios"]) / 1e9,
        "latency_max_seconds": max(part["clat_ns"]["max"] for part in parts) / 1e9,
    }


def percentile(bins: Counter[int], percent: float) -> float | None:
    """Of a histogram in fio's own bins (nanoseconds), by the rule of fio's own percentiles; None of too few I/Os."""
    if (100 - percent) * bins.total() < 1000 - 1e-6:
        return None
    wanted, seen = percent / 100 * bins.total(), 0
    for nanoseconds in sorted(bins):
        seen += bins[nanoseconds]
        if seen >= wanted:
            return nanoseconds / 1e9
    raise AssertionError("an empty histogram")


def total_by_rados(outputs: Sequence[str]) -> Event:
    """What ``rados bench`` has printed at its end, on all nodes together."""
    found: dict[str, Event | None] = {"read": None, "write": None}
    for direction, verb in (("read", "reads"), ("write", "writes")):
        ios = [int(n) for text in outputs for n in re.findall(rf"^Total {verb} made:\s+(\d+)$", text, re.MULTILINE)]
        sizes = [int(n) for text in outputs for n in re.findall(r"^(?:Write|Read) size:\s+(\d+)$", text, re.MULTILINE)]
        if ios:
            assert len(ios) == len(sizes) == len(outputs)
            found[direction] = {"ios": sum(ios), "bytes": sum(n * size for n, size in zip(ios, sizes, strict=True))}
    return found


def raw(directory: Path, node: str, what: str = "stdout") -> Path:
    """A node's own words in the directory of a run."""
    return directory / "raw" / f"{node}.{what}"


def assert_agrees_with_the_tool(directory: Path) -> Event:
    """The totals of a run, and of each of its nodes, are those of the nodes' last words; gives the run."""
    run: Event = json.loads((directory / "run.json").read_text())
    names = [node["node"] for node in run["nodes"]]
    for summary, nodes in [(run["summary"], names), *((node["summary"], [node["node"]]) for node in run["nodes"])]:
        if run["tool"] == "fio":
            said = total_by_fio([fio_documents(raw(directory, node))[-1] for node in nodes])
        else:
            said = total_by_rados([raw(directory, node).read_text() for node in nodes])
        assert any(said.values()), f"nothing was measured on {nodes}"
        for direction, expected in said.items():
            found = summary[direction]
            assert (found is None) == (expected is None), f"{direction} on {nodes}: {found}, but {expected}"
            assert {key: found[key] for key in expected or {}} == (expected or {}), f"{direction} on {nodes}"
    return run


def assert_samples_add_up(directory: Path) -> None:
    """The seconds of a run make its totals, of all nodes and of each."""
    run = json.loads((directory / "run.json").read_text())
    samples = [sample for sample in read_samples(directory) if sample["phase"] == "run"]
    of_all = {None: run["summary"], **{node["node"]: node["summary"] for node in run["nodes"]}}
    for node, summary in of_all.items():
        for direction, total in summary.items():
            parts = [s[direction] for s in samples if s["node"] == node and s[direction]]
            assert bool(parts) == bool(total), f"{direction} of {node}"
            for figure in ("ios", "bytes") if total else ():
                added = sum(part[figure] for part in parts)
                assert abs(added - total[figure]) <= 0.01 * total[figure], f"{figure} of {node}: {added}, {total}"


def run_directories(console: Console) -> list[Path]:
    """Where the runs of a console's session are."""
    return sorted(path for path in console.sandbox.session().iterdir() if path.name.isdecimal())
