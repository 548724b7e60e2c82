"""The object gateway of a lab: radosgw beside the cluster's own daemons, for the tests that want one."""

from __future__ import annotations

from pathlib import Path

from . import processes
from .machines import ADDRESSES, CLUSTER, Machine

CLIENT = "client.rgw"
CAPABILITIES = {"mon": "allow rw", "mgr": "allow rw", "osd": "allow rwx"}
_PORT = 7480
ENDPOINT = f"http://{ADDRESSES[CLUSTER]}:{_PORT}"


def log(directory: Path) -> Path:
    """Its own log, in which each request is a line with its user, method, path, status and bytes."""
    return directory / "log" / "rgw.log"


def conf(directory: Path) -> str:
    """Its section of ceph.conf."""
    return f"""
[{CLIENT}]
rgw frontends = beast endpoint={ADDRESSES[CLUSTER]}:{_PORT}
log file = {log(directory)}
pid file = {directory}/run/rgw.pid
debug rgw = 1
# What is deleted goes at once, and not after two hours.
rgw gc obj min wait = 1
"""


def start(machine: Machine) -> None:
    """Returns when it answers; it may run already."""
    if _answers(machine):
        return
    machine.run("radosgw", "--conf", machine.directory / "ceph.conf", "--name", CLIENT)
    processes.wait_until("the object gateway answers", lambda: _answers(machine), 60)


def _answers(machine: Machine) -> bool:
    try:
        machine.run("bash", "-c", f": </dev/tcp/{ADDRESSES[CLUSTER]}/{_PORT}")
    except processes.LabError:
        return False
    return True
