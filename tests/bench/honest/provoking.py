"""What is done to a lab while a run goes on; each is undone at the end of its block."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.bench.honest.scene import NotProvoked, beside
from tests.lab import Lab
from tests.lab.cluster import OSDS
from tests.on_lab.conftest import SLOW_OSDS
from tests.on_lab.others import make_another_map, wait_clean
from tests.on_lab.runs import wait_for

CLUSTER = "ceph"
"""The machine on which the OSDs run."""
_SLOW_SCRUBS = {
    "osd_max_scrubs": "3",
    "osd_scrub_sleep": "0.1",
    "osd_scrub_chunk_max": "5",
    "osd_scrub_backoff_ratio": "0",
}
_SLOW_CABLE = Path(__file__).parents[1] / "slow_cable.py"
_BUSY_LOOP, _CPU = "while :; do :; done", 0


# --- OSDs ----------------------------------------------------------------------------------------


@contextmanager
def without_delay(lab: Lab) -> Iterator[None]:
    """The OSDs are as fast as they can be."""
    try:
        for name in SLOW_OSDS:
            lab.ceph("config", "rm", "osd", name)
        yield
    finally:
        for name, value in SLOW_OSDS.items():
            lab.ceph("config", "set", "osd", name, value)


def osd_pids(lab: Lab) -> dict[int, int]:
    """The processes of the OSDs, by their number."""
    daemons = lab.processes("ceph-osd", CLUSTER)
    return {osd: pid for osd in OSDS for pid, command in daemons.items() if f"--id {osd}" in command}


@contextmanager
def stopped_for(lab: Lab, osds: Sequence[int], seconds: float, after: float = 2.0) -> Iterator[None]:
    """These OSDs stand still once, so long."""
    pids = [osd_pids(lab)[osd] for osd in osds]

    def stop() -> None:
        time.sleep(after)
        _signal(pids, signal.SIGSTOP)
        time.sleep(seconds)
        _signal(pids, signal.SIGCONT)

    try:
        with meanwhile(stop):
            yield
    finally:
        _signal(pids, signal.SIGCONT)


@contextmanager
def pulses(lab: Lab, osd: int, seconds: float = 0.5) -> Iterator[None]:
    """An OSD stands still for this time, goes on for as long, and so on."""
    pid, over = osd_pids(lab)[osd], threading.Event()

    def stop_and_go() -> None:
        while not over.wait(seconds):
            _signal([pid], signal.SIGSTOP)
            time.sleep(seconds)
            _signal([pid], signal.SIGCONT)

    try:
        with meanwhile(stop_and_go, over.set):
            yield
    finally:
        _signal([pid], signal.SIGCONT)
        make_another_map(lab)


def _signal(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        os.kill(pid, number)


@contextmanager
def meanwhile(work: Callable[[], None], end: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Something is done beside the block, until ``end`` is called."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        end()
        thread.join()


@contextmanager
def osd_out(lab: Lab, osd: int, after: float) -> Iterator[None]:
    """After so many seconds an OSD is marked out: its data moves to the others, and back at the end."""

    def out() -> None:
        time.sleep(after)
        lab.ceph("osd", "out", str(osd))

    try:
        with meanwhile(out):
            yield
    finally:
        lab.ceph("osd", "in", str(osd))
        wait_clean(lab, 180)


@contextmanager
def deep_scrub(lab: Lab) -> Iterator[None]:
    """All PGs are scrubbed in full, as slowly as on disks; raises NotProvoked where none was."""
    for name, value in _SLOW_SCRUBS.items():
        lab.ceph("config", "set", "osd", name, value)
    before = _scrubbed(lab)
    try:
        for osd in OSDS:
            lab.ceph("osd", "deep-scrub", str(osd))
        yield
        if _scrubbed(lab, 1) <= before:
            raise NotProvoked("no PG with data was scrubbed during the run")
    finally:
        for name in _SLOW_SCRUBS:
            lab.ceph("config", "rm", "osd", name)


def _scrubbed(lab: Lab, least_objects: int = 0) -> set[tuple[str, str]]:
    """PGs that have so much data, and when each was scrubbed in full."""
    pgs = lab.ceph("pg", "dump", "pgs")["pg_stats"]
    return {(pg["pgid"], pg["last_deep_scrub_stamp"]) for pg in pgs if pg["stat_sum"]["num_objects"] >= least_objects}


@contextmanager
def flag(lab: Lab, name: str) -> Iterator[None]:
    """A flag of the OSD map is set."""
    lab.ceph("osd", "set", name)
    try:
        yield
    finally:
        lab.ceph("osd", "unset", name)


@contextmanager
def nearly_full(lab: Lab, ratio: str = "0.0001", usual: str = "0.85") -> Iterator[None]:
    """Every OSD counts as nearly full."""
    lab.ceph("osd", "set-nearfull-ratio", ratio)
    try:
        wait_for(lambda: "OSD_NEARFULL" in lab.ceph("health")["checks"], 60, "OSDs that are nearly full")
        yield
    finally:
        lab.ceph("osd", "set-nearfull-ratio", usual)


def refusals(lab: Lab) -> int:
    """How often OSDs took no message of a client, since they had as many as they may have."""
    ask = ("ceph", "--conf", lab.ceph_conf, "tell")
    logger = "throttle-osd_client_messages"
    said = (lab.on(CLUSTER, *ask, f"osd.{osd}", "perf", "dump", logger).stdout for osd in OSDS)
    return sum(json.loads(text)[logger]["get_or_fail_fail"] for text in said)


# --- Other clients -------------------------------------------------------------------------------


@contextmanager
def another_client(lab: Lab, pool: str, block: str, in_flight: int, node: str = "lab3") -> Iterator[None]:
    """Somebody else writes to an image of a pool, from another host; the pool does not grow beyond that image."""
    lab.rbd("create", "--size", "1024", f"{pool}/theirs")
    options = {"ioengine": "rbd", "clientname": "admin", "pool": pool, "rbdname": "theirs", "rw": "randwrite"}
    endless = {"bs": block, "iodepth": in_flight, "direct": 1, "time_based": 1, "runtime": 600, "name": "theirs"}
    words = [f"--{name}={value}" for name, value in {**options, **endless}.items()]
    with beside(lab, node, "env", f"CEPH_CONF={lab.ceph_conf}", "fio", *words) as process:
        yield
        if process.poll() is not None:
            raise NotProvoked(f"the other client has ended: {process.returncode}")


@contextmanager
def after(seconds: float, block: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """The other block, begun so much later, and ended with this one."""
    over = threading.Event()

    def wait_and_enter() -> None:
        if not over.wait(seconds):
            with block():
                over.wait()

    with meanwhile(wait_and_enter, over.set):
        yield


def fill(lab: Lab, pool: str, mebibytes: int) -> None:
    """Objects of 4 MiB of somebody else's."""
    words = ("bench", "60", "write", "-b", "4M", "--max-objects", str(mebibytes // 4), "--no-cleanup")
    lab.rados("--pool", pool, *words, "--run-name", "theirs")


# --- Hosts and their network ---------------------------------------------------------------------


@contextmanager
def busy_loops(lab: Lab, node: str, number: int = 4) -> Iterator[None]:
    """So many processes take nearly all of a CPU before all others, and all that runs on a host has only that one.

    As many more, which come before nobody, keep all other CPUs busy.
    """
    everywhere = os.sched_getaffinity(0)
    loop = ("sh", "-c", _BUSY_LOOP)
    first = ("taskset", "--cpu-list", str(_CPU), "chrt", "--rr", "1", *loop)
    with ExitStack() as stack:
        stack.callback(_run_on, lab, node, everywhere)
        _run_on(lab, node, {_CPU})
        for _ in range(number):
            stack.enter_context(beside(lab, node, *loop))
            stack.enter_context(beside(lab, node, *first))
        yield


def _run_on(lab: Lab, node: str, cpus: set[int]) -> None:
    """All threads on a host on these CPUs; the console and the OSDs, which are of the same machine, keep all."""
    for pid in lab.processes(machine=node):
        with suppress(OSError):  # it has ended
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), cpus)


@contextmanager
def sends_at_most(
    lab: Lab, machines: Sequence[str], rate: str, burst: str = "256k", limit: str = "1m"
) -> Iterator[None]:
    """These machines send no faster than that, ``80mbit``; what does not fit into the limit of the queue is dropped."""
    tbf = ("tbf", "rate", rate, "burst", burst, "limit", limit)
    try:
        for machine in machines:
            made = lab.on(machine, "tc", "qdisc", "replace", "dev", "eth0", "root", *tbf)
            if made.returncode:
                raise NotProvoked(f"tc on {machine}: {made.stderr.strip()}")
        yield
    finally:
        for machine in machines:
            lab.on(machine, "tc", "qdisc", "del", "dev", "eth0", "root")


@contextmanager
def slow_cable(lab: Lab, machine: str, seconds: float, lost: float = 0.0) -> Iterator[None]:
    """A round trip from and to a machine takes so much longer, and a share of the packets is lost.

    Raises NotProvoked where there is no TAP.
    """
    words = ("/usr/bin/python3", _SLOW_CABLE, machine, str(seconds / 2), str(lost))
    with subprocess.Popen(
        lab.command("switch", *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as cable:
        assert cable.stdin
        assert cable.stdout
        assert cable.stderr
        try:
            if not cable.stdout.readline():
                raise NotProvoked(cable.stderr.read().strip()[-200:])
            yield
        finally:
            cable.stdin.close()


@contextmanager
def loses_packets(lab: Lab, machine: str) -> Iterator[None]:
    """What a machine sends is dropped where it comes in bursts, and sent again; raises NotProvoked where none was."""
    with sends_at_most(lab, [machine], "400mbit", burst="3k", limit="8k"):
        before = _retransmitted(lab, machine)
        yield
        number = _retransmitted(lab, machine) - before
    if number < 100:
        raise NotProvoked(f"only {number} segments were sent again")


def _retransmitted(lab: Lab, machine: str) -> int:
    lines = [line.split() for line in lab.on(machine, "cat", "/proc/net/snmp").stdout.splitlines()]
    names, values = (line for line in lines if line[0] == "Tcp:")
    return int(values[names.index("RetransSegs")])


@contextmanager
def clock_ahead(lab: Lab, host: str, seconds: int) -> Iterator[None]:
    """The clock of a host with a kernel of its own is so much ahead; it is set back by the same."""

    def step(sign: str) -> None:
        words = ["ssh", "-F", str(lab.ssh_config), host, f"date --set '{sign}{seconds} seconds'"]
        made = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        if made.returncode:
            raise NotProvoked(f"date on {host}: {made.stderr.strip()}")

    step("+")
    try:
        yield
    finally:
        step("-")


# --- Files and devices ---------------------------------------------------------------------------


@contextmanager
def gone_at_the_end(path: Path) -> Iterator[Path]:
    """A file that is removed, whoever made it."""
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def image(lab: Lab, pool: str, name: str, mebibytes: int, *, full: bool) -> Iterator[str]:
    """Somebody's image, written in full or never written; gives its target."""
    there = f"{pool}/{name}"
    if full:
        script = f'head -c {mebibytes}M /dev/urandom | rbd --conf "$1" import --no-progress - "$2"'
        made = lab.on(CLUSTER, "bash", "-c", script, "image", lab.ceph_conf, there, timeout=120)
        if made.returncode:
            raise NotProvoked(made.stderr.strip())
    else:
        lab.rbd("create", "--size", str(mebibytes), there)
    try:
        yield f"rbd:{there}"
    finally:
        remove = partial(lab.on, CLUSTER, "rbd", "--conf", lab.ceph_conf, "rm", "--no-progress", there)
        wait_for(lambda: remove().returncode == 0, 90, f"the removal of {there}")
