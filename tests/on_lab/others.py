"""What others have on the lab: pools, images, objects and devices that no cephtui may change, and who uses them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.lab import Lab, LabError
from tests.lab.cluster import OSDS
from tests.on_lab.runs import Bench, Console, wait_for

SMALL: dict[str, Any] = {"size": "8M", "numjobs": 1, "runtime": 2, "ramp_time": 0, "rate_iops": 20}
"""Of a fio preset whose figures do not matter: they leave the machine to the other tests, as ``light`` does."""
IMAGES = {
    "data": 16,
    "vm-100-disk-0": 16,
    "cephtui-notes": 4,
    # as cephtui names its own: the list of what was made decides, not the name
    "cephtui-0badcafe-lab1-0": 4,
}
"""In MiB; all are written in full."""

_KEEP = r"""
pool=$1; shift
for pair; do
    head -c "${pair#*=}M" /dev/urandom | rbd import --no-progress - "$pool/${pair%=*}" || exit 1
done
rbd create --size 1 "$pool/gone" && rbd rm --no-progress "$pool/gone" || exit 1 # makes what Ceph keeps books in
for namespace in '' theirs cephtui-0badcafe-lab1; do
    head -c 100000 /dev/urandom | rados -p "$pool" -N "$namespace" put ledger - || exit 1
done
# without metadata of its own a "rados cleanup" would take these
rados -p "$pool" bench 5 write -b 64K -t 4 --max-objects 4 --no-cleanup --run-name theirs >/dev/null
"""
_CONTENTS = Path(__file__).with_name("contents.py")


class Others:
    """What somebody else keeps in a pool."""

    def __init__(self, lab: Lab, pool: str) -> None:
        self.lab, self.pool = lab, pool
        self._script(_KEEP, *(f"{name}={size}" for name, size in IMAGES.items()))
        self.before = self.look()

    def look(self) -> list[str]:
        """Every object of the pool, and what is in it."""
        access = ("env", f"CEPH_CONF={self.lab.ceph_conf}")
        done = self.lab.on(
            "ceph", *access, "/usr/bin/python3", "-", self.pool, input=_CONTENTS.read_text(), timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def checksum(self, image: str) -> str:
        """Of an image of theirs or anybody's."""
        return self._script(f'rbd export --no-progress "$1/{image}" - | sha256sum')

    def assert_unchanged(self) -> None:
        """Nothing of it has changed, and nothing else is there."""
        found = self.look()
        differ = [line for line in (*self.before, *found) if (line in found) != (line in self.before)]
        assert not differ, f"gone, changed or new: {differ}"

    def _script(self, text: str, *words: str) -> str:
        script = f"set -o pipefail; export CEPH_CONF={self.lab.ceph_conf}\n{text}"
        done = self.lab.on("ceph", "bash", "-c", script, "others", self.pool, *words, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout


# --- Pools ---------------------------------------------------------------------------------------


def wait_clean(lab: Lab, seconds: float = 60) -> None:
    """Until every PG is active+clean, every OSD in its place, and nothing complained of."""

    def is_clean() -> bool:
        status = lab.ceph("status")
        states = [one["state_name"] for one in status["pgmap"].get("pgs_by_state", [])]
        if any("laggy" in state for state in states):
            make_another_map(lab)
        osds = status["osdmap"]
        placed = osds["num_osds"] == osds["num_up_osds"] == osds["num_in_osds"]
        return placed and states == ["active+clean"] and status["health"]["status"] == "HEALTH_OK"

    wait_for(is_clean, seconds, "a healthy cluster", lambda: str(lab.ceph("status")))


def make_another_map(lab: Lab) -> None:
    """An OSD map in which nothing differs.

    With Ceph 16.2 and 18.2 a PG that comes to be on an OSD with the newest OSD map has leases of no time until another
    comes in. It renews them without a pause, is laggy, and what is queued behind that is never done.
    """
    lab.ceph("osd", "set-nearfull-ratio", str(lab.ceph("osd", "dump")["nearfull_ratio"]))


def all_up(lab: Lab) -> bool:
    """Whether no OSD is down."""
    osds = lab.ceph("status")["osdmap"]
    return bool(osds["num_up_osds"] == osds["num_osds"])


def all_serve(lab: Lab) -> bool:
    """Whether all OSDs are up and all PGs are active and have leases."""
    states = [one["state"] for one in lab.ceph("pg", "dump", "pgs_brief")["pg_stats"]]
    return all_up(lab) and all("active" in state and "laggy" not in state for state in states)


def in_all_stores(lab: Lab, *names: str) -> int:
    """Of a counter of BlueStore, the sum of all OSDs; it has one of these names, by the release."""
    ask = ("ceph", "--conf", lab.ceph_conf, "tell")
    said = [lab.on("ceph", *ask, f"osd.{osd}", "perf", "dump", "bluestore").stdout for osd in OSDS]
    stores = [json.loads(text)["bluestore"] for text in said]
    return sum(next(store[name] for name in names if name in store) for store in stores)


def kill_osd(lab: Lab, osd: int) -> None:
    """Kill an OSD."""
    daemons = lab.processes("ceph-osd", "ceph")
    (pid,) = [pid for pid, command in daemons.items() if f"--id {osd}" in command]
    os.kill(pid, signal.SIGKILL)


def start_osd(lab: Lab, osd: int) -> None:
    """Start an OSD again that has ended; all PGs serve then."""

    def up_from() -> int:
        (found,) = [one for one in lab.ceph("osd", "dump")["osds"] if one["osd"] == osd]
        return int(found["up_from"]) if found["up"] else 0

    def serve() -> bool:
        make_another_map(lab)
        return all_serve(lab)

    before = up_from()
    start = partial(lab.on, "ceph", "ceph-osd", "--conf", lab.ceph_conf, "--id", str(osd))
    wait_for(lambda: not start().returncode, 30, f"the disk of osd.{osd}")  # who was just killed may have it still
    wait_for(lambda: up_from() not in (0, before), 60, f"the start of osd.{osd}", lambda: str(lab.ceph("status")))
    wait_for(partial(still, serve, 2.0), 90, "PGs that serve again", lambda: str(lab.ceph("status")))


def peer_again(lab: Lab) -> None:
    """After OSDs stood still: all PGs peer again.

    With Ceph 16.2 a PG whose lease has run out meanwhile does not always get a new one. It stays laggy and serves
    nothing, which is not to be seen in time: of a PG that is idle the OSD reports seldom. One OSD after the other:
    where all are down at once, the monitor tells none of them.
    """
    for osd in map(str, lab.ceph("osd", "ls")):
        lab.ceph("osd", "down", osd)
        wait_for(partial(all_up, lab), 90, f"osd.{osd}", lambda: str(lab.ceph("status")))
    wait_for(partial(still, partial(all_serve, lab), 2.0), 90, "PGs that serve again", lambda: str(lab.ceph("status")))


def still(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it is so, and so many seconds later too: what Ceph says of itself is older, and not all of one moment."""
    if not condition():
        return False
    time.sleep(seconds)
    return condition()


def wait_pgs(lab: Lab, pool: str, seconds: float = 60) -> None:
    """Until the PGs of a pool have come into being, and what the cluster says of all of them at once tells so too.

    That is seconds older.
    """

    def are_there() -> bool:
        try:
            found = lab.ceph("pg", "ls-by-pool", pool)["pg_stats"]
        except LabError:  # the manager learns of a new pool later than the monitors
            return False
        said = lab.ceph("status")["pgmap"]
        known = {one["state_name"]: one["count"] for one in said.get("pgs_by_state", [])}
        asked_for = sum(one["pg_num"] for one in lab.ceph("osd", "dump")["pools"])
        of_all = sum(known.values()) == asked_for and all("active" in state for state in known)
        return bool(found) and all("active" in one["state"] for one in found) and of_all

    wait_for(are_there, seconds, f"active PGs of {pool}", lambda: str(lab.ceph("status")))


@contextmanager
def pool_on(lab: Lab, *, size: int = 1, min_size: int = 1, profile: str | None = None, pgs: int = 8) -> Iterator[str]:
    """A pool of a test's own, erasure-coded with a profile; everything in it goes with it."""
    name = f"own-{secrets.token_hex(3)}"
    words = ("erasure", profile) if profile else ()
    lab.ceph("osd", "pool", "create", name, str(pgs), str(pgs), *words)
    try:
        if not profile and size > 1:
            lab.ceph("osd", "pool", "set", name, "size", str(size))
            lab.ceph("osd", "pool", "set", name, "min_size", str(min_size))
        lab.ceph("osd", "pool", "application", "enable", name, "rbd")
        wait_pgs(lab, name)
        yield name
    finally:
        lab.ceph("osd", "pool", "rm", name, name, "--yes-i-really-really-mean-it")


@contextmanager
def set_at_run_time(lab: Lab, name: str, value: str) -> Iterator[None]:
    """An option that the OSDs run with, and that stands in no configuration."""
    tell = partial(lab.on, "ceph", "ceph", "--conf", lab.ceph_conf, "tell", "osd.*", "config")
    tell("set", name, value).check_returncode()
    try:
        yield
    finally:
        tell("unset", name)


@contextmanager
def erasure_profile(lab: Lab) -> Iterator[str]:
    """2+1 over the three OSDs."""
    name = f"profile-{secrets.token_hex(3)}"
    lab.ceph("osd", "erasure-code-profile", "set", name, "k=2", "m=1", "crush-failure-domain=osd")
    try:
        yield name
    finally:
        lab.ceph("osd", "erasure-code-profile", "rm", name)


# --- Users ---------------------------------------------------------------------------------------


@contextmanager
def opened(lab: Lab, image: str) -> Iterator[None]:
    """Somebody has this image open: it has a watcher."""
    command = lab.command("ceph", "rbd", "--conf", lab.ceph_conf, "watch", image)
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere) as process:  # ends with stdin
        wait_for(lambda: "watcher=" in lab.rbd("status", image), 30, f"a watcher of {image}")
        yield
        assert process.poll() is None
    wait_for(lambda: "watcher=" not in lab.rbd("status", image), 60, f"no watcher of {image}")


@contextmanager
def busy(lab: Lab, pool: str) -> Iterator[None]:
    """Somebody writes to this pool, and the cluster knows it."""
    name = f"busy-{secrets.token_hex(4)}"
    words = ["bench", "300", "write", "-b", "4096", "-t", "2", "--no-cleanup", "--run-name", name]
    command = lab.command("ceph", "rados", "--conf", lab.ceph_conf, "--pool", pool, *words)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:

            def is_known() -> bool:
                (found,) = lab.ceph("osd", "pool", "stats", pool)
                return bool(found["client_io_rate"].get("write_op_per_sec", 0) > 0)

            wait_for(is_known, 30, "rates of the pool")
            yield
            assert process.poll() is None
        finally:
            for pid in lab.processes(name, "ceph"):
                os.kill(pid, signal.SIGKILL)


# --- Asking cephtui ------------------------------------------------------------------------------


def dry_run(bench: Bench, *words: str, node: str = "lab1", **options: object) -> Console:
    """A dry run that has begun, with small options; ``words`` begin with the preset and the target."""
    preset, target, *rest = words
    return bench.start(preset, on=(node,), target=target, words=["--dry-run", *rest], **{**SMALL, **options})


def said(console: Console, seconds: float = 60) -> str:
    """What a refused cephtui says; it has to be refused."""
    console.wait(seconds)
    assert console.process.returncode == 3, console.describe()
    return console.stderr


def refused(bench: Bench, *words: str, node: str = "lab1", **options: object) -> str:
    """What a dry run says that has to be refused."""
    return said(dry_run(bench, *words, node=node, **options))


def allowed(bench: Bench, *words: str, node: str = "lab1", **options: object) -> None:
    """A dry run that has to be allowed."""
    console = dry_run(bench, *words, node=node, **options)
    console.wait()
    assert console.process.returncode == 0, console.describe()


def all_refused(
    bench: Bench,
    asked: Sequence[tuple[Sequence[str], tuple[str, ...]]],
    at_once: int = 3,
    *,
    node: str = "lab1",
    **options: object,
) -> None:
    """Dry runs with their words, each of which has to be refused and to name this."""
    for first in range(0, len(asked), at_once):
        begun = asked[first : first + at_once]
        some = [(dry_run(bench, *words, node=node, **options), named) for words, named in begun]
        for console, named in some:
            text = said(console)
            assert [part for part in named if part not in text] == [], console.describe()


def findings(console: Console) -> dict[str, str]:
    """What is said beside the figures of the only run, which has to have ended well; by code."""
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "ok", run
    found: dict[str, str] = {}
    for one in run["findings"]:
        found[one["code"]] = "; ".join(filter(None, [found.get(one["code"]), one["text"]]))
    return found


__all__ = [
    "SMALL",
    "Others",
    "all_refused",
    "allowed",
    "busy",
    "dry_run",
    "erasure_profile",
    "findings",
    "opened",
    "pool_on",
    "refused",
    "said",
    "wait_clean",
    "wait_pgs",
]
