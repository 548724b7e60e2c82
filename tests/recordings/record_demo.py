"""Records the session that ``cephtui demo`` shows, on a lab: ``python -m tests.recordings.record_demo LAB OUT.tar.xz``.

LAB is the directory of a lab that is up (``python -m tests.lab up DIRECTORY``). Three nodes run every preset on two
copies; an OSD stands still for some seconds; the disk of an OSD is slowed down, which is diagnosed and taken back; an
option is changed that does not help; and small writes are run at each depth. All figures are what the lab gave. Beside
OUT.tar.xz is the session's line of the listing, ``row.json``.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cephtui.models import Mark, Node, Run
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Choice, choose, find_presets
from cephtui.running.runner import Runner
from cephtui.sessions import demo
from cephtui.sessions.listing import session_row
from cephtui.targets import parse_target
from tests.bench.honest import provoking
from tests.bench.tracing import slow_calls
from tests.end_to_end.sandbox import Sandbox
from tests.lab import Lab
from tests.on_lab.others import wait_clean
from tests.on_lab.runs import Bench

SESSION, RECORDED = "demo", "recorded"
"""Its name, and one that a session may have while it is recorded."""
SMALL: dict[str, Choice] = {"size": "256M", "numjobs": 1, "iodepth": 16, "ramp_time": 2}
"""Three nodes share the lab's two CPUs."""
OSD = 1
SLOW_SECONDS, SETTLE_SECONDS = 0.006, 5.0
"""How much longer that OSD takes for a write to its disk at last; the time after a change."""


class Stage:
    """A runner on the lab's nodes."""

    def __init__(self, lab: Lab, root: Path, runner: Runner) -> None:
        self.lab, self.runner = lab, runner
        self._presets = find_presets(packaged_presets_dir(), root / "none")
        nodes = [
            Node(name=name, host=name, ssh_config=str(lab.ssh_config), ceph_conf=str(lab.ceph_conf))
            for name in lab.nodes
        ]
        states = [reached.result() for reached in [runner.nodes.reach(node) for node in nodes]]
        self.nodes = tuple(state.node for state in states)
        self._owner_id = new_batch()

    def run(
        self,
        preset: str,
        target: str,
        options: dict[str, Choice],
        repeats: int = 1,
        beside: Callable[[], None] | None = None,
    ) -> tuple[Run, ...]:
        """A preset on all nodes, to its end."""
        parsed = parse_target(f"{target}:{self.lab.pool}", owner_id=self._owner_id)
        room = self.runner.nodes.survey(parsed, self.nodes, patient=False).result().room_bytes
        request = Request(
            choose(self._presets, [preset]), self.nodes, parsed, options, repeats, shared_pool=True, room_bytes=room
        )
        done = self.runner.submit(make_plan(request, new_batch, self.runner.prefilled()), parsed)
        if beside:
            threading.Thread(target=beside).start()
        runs = done.result()
        for run in runs:
            print(f"#{run.run} {run.preset} {run.outcome} {run.error or ''}", flush=True)
        return runs

    def mark(self, text: str) -> Mark:
        """Say what was done."""
        return self.runner.begin_mark().keep(text).result()

    def change(self, command: str) -> None:
        """Change the cluster by a command that begins with ``ceph``, and mark it."""
        self.mark(command)
        self.lab.ceph(*command.split()[1:])
        time.sleep(SETTLE_SECONDS)

    def pause_osd(self, after: float, seconds: float) -> None:
        """An OSD stands still for a while in mid-run."""
        (pid,) = [pid for pid, command in self.lab.processes("ceph-osd", "ceph").items() if f"--id {OSD}" in command]
        inbox = self.runner.subscribe()
        while not any(getattr(event, "phase", "") == "run" for event in inbox.drain(1.0)):
            pass
        time.sleep(after)
        self.mark(f"osd.{OSD} frozen")
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        self.mark(f"osd.{OSD} resumed")


def record(lab: Lab, sandbox: Sandbox) -> None:
    """All runs, in the order of the story."""
    sessions, bench = sandbox.data / "sessions", Bench(lab, sandbox)
    where = ("--config", str(bench.config), "--target", f"rbd:{lab.pool}", "--shared-pool", "--session", RECORDED)
    short: dict[str, Choice] = {**SMALL, "runtime": 15}
    lab.ceph("osd", "pool", "set", lab.pool, "size", "2")
    wait_clean(lab, 300)
    with Runner(sessions, RECORDED) as runner:
        recorded = Stage(lab, sessions, runner)
        for preset in ("write-throughput", "read-throughput", "read-iops", "latency", "mixed-75-25"):
            depth: dict[str, Choice] = {"iodepth": 1} if preset == "latency" else {}
            recorded.run(preset, "rbd", {**short, **depth})
        recorded.run("write-iops", "rbd", {**short, "runtime": 30})
        recorded.run("write-iops", "rbd", {**short, "runtime": 60}, beside=lambda: recorded.pause_osd(20.0, 5.0))
    with slow_calls(provoking.osd_pids(lab)[OSD], "io_submit", SLOW_SECONDS):
        with Runner(sessions, RECORDED) as runner:
            Stage(lab, sessions, runner).run("write-iops", "rbd", short, repeats=3)
        _said(bench, "why", *where, *(word for node in lab.nodes for word in ("--node", node)))
    with Runner(sessions, RECORDED) as runner:
        recorded = Stage(lab, sessions, runner)
        recorded.mark(f"the disk of osd.{OSD} is as fast as the others again")
        recorded.run("write-iops", "rbd", short, repeats=3)
        one: dict[str, Choice] = {**short, "iodepth": 1, "rw": "randread"}
        recorded.run("latency", "rbd", one, repeats=4)
        recorded.change("ceph config set osd osd_memory_target 6G")
        recorded.run("latency", "rbd", one, repeats=4)
    _said(bench, "run", "depth-sweep", *where, "--node", "lab1", "--set", "runtime=15", "--set", "size=256M")


def _said(bench: Bench, *words: str) -> None:
    print(bench.cephtui(*words, seconds=600).describe(), flush=True)


def pack(session: Path, path: Path) -> None:
    """A session without what names the machines that it was recorded on, the build of the kernel included."""
    kernel = os.uname().release
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for file in sorted(session.rglob("*")):
            if file.is_file() and file.name not in ("lock", "undo.jsonl", "row.json"):
                content = file.read_bytes().replace(kernel.encode(), kernel.partition("-")[0].encode())
                info = tarfile.TarInfo(str(file.relative_to(session.parent)))
                info.size, info.mtime = len(content), int(file.stat().st_mtime)
                archive.addfile(info, io.BytesIO(content))


def _renamed(recorded: Path) -> Path:
    """The session by the name that it has from now on."""
    session = recorded.rename(recorded.with_name(SESSION))
    for file in session.rglob("*.json*"):
        file.write_bytes(file.read_bytes().replace(f'"{RECORDED}"'.encode(), f'"{SESSION}"'.encode()))
    return session


def row_of(archive: Path) -> str:
    """The line of the listing of the session in an archive, for the file beside it."""
    with tempfile.TemporaryDirectory() as folder:
        demo.extract(archive, Path(folder))
        row = session_row(Path(folder) / SESSION)
        return (row.model_dump_json(exclude={"path"}, indent=1) if row else "") + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = Sandbox(Path(folder))
        record(Lab(Path(sys.argv[1])), place)
        packed = Path(sys.argv[2])
        pack(_renamed(place.data / "sessions" / RECORDED), packed)
        packed.with_name(demo.ROW.name).write_text(row_of(packed))
