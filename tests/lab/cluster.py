"""The Ceph cluster of a lab: one monitor, one manager, three OSDs on sparse files, a pool."""

from __future__ import annotations

import json
import select
import shutil
import subprocess
import threading
import uuid
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.lab import gateway, processes
from tests.lab.machines import ADDRESSES, CLUSTER, CLUSTER_ADDRESSES, Machine
from tests.lab.processes import LabError

POOL = "bench"
FILE_SYSTEM = "files"
"""A CephFS, where the lab has a kernel that can mount one."""
FILE_POOLS = ("files-metadata", "files-data")
OSDS = (0, 1, 2)
OSD_BYTES = 6 << 30
ADMIN = "client.admin"
RESTRICTED = "client.bench-only"

_PLACEMENT_GROUPS = 32
_SILENT = ("osd", "bluestore", "bluefs", "rocksdb", "bdev", "monc", "objecter", "optracker", "objclass", "finisher")
_SILENCE = "\n".join(f"debug {part} = 0/0" for part in _SILENT)
_SHORT_PERIODS = """\
# A test waits for what the cluster reports: it does so at once, and not every five seconds.
mgr stats period = 1
mgr tick period = 1
osd mon report interval = 1
"""
_COMMANDS = Path(__file__).with_name("ceph_commands.py")
_ANSWER_SECONDS = 120

# A key that is in the monitor's first keyring needs no call to the monitor later.
_CAPABILITIES = {
    "mon.": {"mon": "allow *"},
    ADMIN: {"mon": "allow *", "mgr": "allow *", "osd": "allow *", "mds": "allow *"},
    RESTRICTED: {"mon": "profile rbd", "osd": f"profile rbd pool={POOL}"},
    gateway.CLIENT: gateway.CAPABILITIES,
    "mds.x": {"mon": "allow profile mds", "mgr": "allow profile mds", "osd": "allow rwx", "mds": "allow *"},
    "mgr.x": {"mon": "allow profile mgr", "osd": "allow *", "mds": "allow *"},
    **{f"osd.{osd}": {"mon": "allow profile osd", "mgr": "allow profile osd", "osd": "allow *"} for osd in OSDS},
}


def conf_path(directory: Path) -> Path:
    """The ceph.conf of a lab."""
    return directory / "ceph.conf"


def keyring_path(directory: Path, entity: str = ADMIN) -> Path:
    """The keyring of a client."""
    return directory / f"ceph.{entity}.keyring"


def _conf(directory: Path, fsid: str, osd_bytes: int, *, usual_periods: bool) -> str:
    address = ADDRESSES[CLUSTER]
    periods = "" if usual_periods else _SHORT_PERIODS
    return f"""\
[global]
fsid = {fsid}
mon host = {_monitor_addresses()}
public addr = {address}
public network = {address}/24
cluster network = {CLUSTER_ADDRESSES[CLUSTER]}/24
ms bind ipv6 = false
auth allow insecure global id reclaim = false

run dir = {directory}/run
admin socket =
log file = {directory}/log/$name.log
log to stderr = false
err to stderr = true
mon cluster log file = {directory}/log/cluster.log
crash dir = {directory}/run
debug ms = 0

# One copy on one machine is what a lab wants; with these it is healthy too.
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd pool default pg num = {_PLACEMENT_GROUPS}
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon warn on pool no redundancy = false
# How full the disk below the lab is, is not the cluster's business.
mon data avail warn = 1
mon data avail crit = 0
{periods}osd client watch timeout = 10
paxos propose interval = 0.1

[mon]
mon data = {directory}/mon
pid file = {directory}/run/$name.pid
admin socket = {directory}/run/$name.asok
# An OSD that is stopped stays in: its data is not moved to others while a test looks at what is degraded.
mon osd down out interval = 600

[mgr]
mgr data = {directory}/mgr
pid file = {directory}/run/$name.pid
admin socket = {directory}/run/$name.asok
mgr initial modules =
# What it needs of trixie cannot be imported by more than one module.
mgr disabled modules = restful

[mds]
mds data = {directory}/mds
pid file = {directory}/run/$name.pid
admin socket = {directory}/run/$name.asok

[osd]
osd data = {directory}/osd.$id
osd journal =
pid file = {directory}/run/$name.pid
admin socket = {directory}/run/$name.asok
osd memory target = 939524096
osd class update on start = false
osd mclock skip benchmark = true
# A fifth of the CPU of an operation goes into words for the log, most of which are never written.
{_SILENCE}
bluestore block create = true
# Twenty times a second is a sixth of what a lab takes while nothing is done.
bluestore cache trim interval = 1
# An OSD that writes a bench while a new OSD map comes in can wait for itself (16.2): both are queued in one sequence,
# and what is behind in it can have all of the throttle that what is before needs. Without one nothing waits.
bluestore throttle bytes = 0
bluestore throttle deferred bytes = 0
bluestore block size = {osd_bytes}
# That an operation was slow is a warning of health for a day (Ceph 20.2), and tests make operations slow.
bluestore slow ops warn lifetime = 10

[client]
# Under [global] it would stand in for the daemons' own.
keyring = {directory}/ceph.$name.keyring
log file =
{gateway.conf(directory)}"""


def _monitor_addresses() -> str:
    address = ADDRESSES[CLUSTER]
    return f"[v2:{address}:3300,v1:{address}:6789]"


def _keyring(entity: str, key: str) -> str:
    lines = [f"[{entity}]", f"\tkey = {key}"]
    lines += [f'\tcaps {service} = "{capability}"' for service, capability in _CAPABILITIES[entity].items()]
    return "\n".join(lines) + "\n"


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def prepare(machine: Machine, osd_bytes: int, *, usual_periods: bool) -> None:
    """Writes the configuration and the keys of the cluster, daemons and clients alike.

    It reports what it does every second, or with ``usual_periods`` as often as Ceph does by itself.
    """
    directory = machine.directory
    for folder in ("run", "log", "mon", "mgr", "mds", *(f"osd.{osd}" for osd in OSDS)):
        (directory / folder).mkdir()
    fsid = str(uuid.uuid4())
    conf_path(directory).write_text(_conf(directory, fsid, osd_bytes, usual_periods=usual_periods))
    # Ceph's own, for which ciphers a key may be depends on its release.
    keys = {entity: machine.run("ceph-authtool", "--gen-print-key").strip() for entity in _CAPABILITIES}
    _write_secret(directory / "mon.keyring", "".join(_keyring(entity, key) for entity, key in keys.items()))
    for entity in (ADMIN, RESTRICTED, gateway.CLIENT):
        _write_secret(keyring_path(directory, entity), _keyring(entity, keys[entity]))
    for folder, entity in (("mgr", "mgr.x"), ("mds", "mds.x"), *((f"osd.{osd}", f"osd.{osd}") for osd in OSDS)):
        _write_secret(directory / folder / "keyring", _keyring(entity, keys[entity]))
    machine.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", _monitor_addresses(), directory / "monmap")


class _Connection:
    """One to the monitors, for all commands."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()

    def ask(self, words: Sequence[str]) -> tuple[int, str, str]:
        """The status of a command, what it prints, and what it complains of."""
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()
            if not select.select([self._process.stdout], [], [], _ANSWER_SECONDS)[0]:
                raise LabError(f"no answer within {_ANSWER_SECONDS:g} s: ceph {' '.join(words)}")
            answer = self._process.stdout.readline()
        if not answer:
            raise LabError(f"the connection to the cluster was lost: ceph {' '.join(words)}")
        status, output, complaint = json.loads(answer)
        return status, output, complaint

    def close(self) -> None:
        """Ends it."""
        with self._process as process:
            process.kill()


class Cluster:
    """Ceph on its machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._directory = machine.directory
        self._conf = conf_path(machine.directory)

    def start(self, *, files: bool = False) -> None:
        """Makes the cluster and returns when it is healthy and has its pool; with ``files`` a CephFS too."""
        directory, run, conf = self._directory, self._machine.run, self._conf
        disks = {osd: str(uuid.uuid4()) for osd in OSDS}
        making = [self._make_osd(osd, disk) for osd, disk in disks.items()]
        mon: list[str | Path] = ["ceph-mon", "--conf", conf, "--id", "a"]
        run(*mon, "--mkfs", "--monmap", directory / "monmap", "--keyring", directory / "mon.keyring")
        run(*mon)
        run("ceph-mgr", "--conf", conf, "--id", "x")
        for osd, disk in disks.items():
            given = self.ceph("osd", "new", disk)
            if given["osdid"] != osd:
                raise LabError(f"the first OSDs of the cluster got other numbers: {given}")
        for process in making:
            output, _ = process.communicate(timeout=120)
            if process.returncode:
                raise LabError(f"ceph-osd --mkfs failed: {output.strip()}")
        for osd in OSDS:
            run("ceph-osd", "--conf", conf, "--id", str(osd))
        # Not in ceph.conf, where it would hold whatever a test sets.
        self.ceph("config", "set", "mon", "mon_allow_pool_delete", "true")
        self.ceph("osd", "pool", "create", POOL, str(_PLACEMENT_GROUPS))
        run("rbd", "--conf", conf, "pool", "init", POOL)
        if files:
            self._start_files()
        processes.wait_until("the cluster is healthy", self._is_healthy, 90)

    def _start_files(self) -> None:
        for pool in FILE_POOLS:
            self.ceph("osd", "pool", "create", pool, "8")
        self.ceph("fs", "new", FILE_SYSTEM, *FILE_POOLS)
        self._machine.run("ceph-mds", "--conf", self._conf, "--id", "x")

    def _make_osd(self, osd: int, disk: str) -> subprocess.Popen[str]:
        daemon = self._machine.command("ceph-osd", "--conf", self._conf, "--id", str(osd))
        return subprocess.Popen(
            [*daemon, "--mkfs", "--osd-uuid", disk, "--no-mon-config"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ceph(self, *words: str) -> Any:
        """What a ceph command says: read from JSON where it is JSON, else as text."""
        status, output, complaint = self._connection.ask(words)
        if status:
            raise LabError(f"ceph {' '.join(words)}: {complaint or status}")
        try:
            return json.loads(output)
        except ValueError:
            return output.strip()

    @cached_property
    def _connection(self) -> _Connection:
        shutil.copy(_COMMANDS, self._directory)
        return _Connection(self._machine.command("/usr/bin/python3", self._directory / _COMMANDS.name, self._conf))

    def close(self) -> None:
        """Ends the connection."""
        if "_connection" in self.__dict__:
            self._connection.close()
            del self._connection

    def _is_healthy(self) -> bool:
        # Health alone is not enough: it is good for a while with no OSD and with placement groups that nobody knows.
        # Nor are the states alone: those of a pool that was just created are missing for a moment.
        status = self.ceph("status")
        states = [state["state_name"] for state in status["pgmap"]["pgs_by_state"]]
        all_known = status["pgmap"]["num_pgs"] == sum(pool["pg_num"] for pool in self.ceph("osd", "dump")["pools"])
        osds_up: int = status["osdmap"]["num_up_osds"]
        return (
            status["health"]["status"] == "HEALTH_OK"
            and osds_up == len(OSDS)
            and states == ["active+clean"]
            and all_known
        )
