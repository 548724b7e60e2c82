"""The start and the end of a lab."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.lab import checks, cluster, gateway, hosts, kernel, loops, network, releases
from tests.lab.machines import CLUSTER, HOSTS, KERNEL_HOST, Machine, start_machines
from tests.lab.processes import LabError, Process
from tests.lab.state import State, is_blank, locked

_CHECKOUT = Path(__file__).resolve().parents[2]


def up(
    directory: Path,
    *,
    ceph: bool = True,
    with_kernel: bool = False,
    with_gateway: bool = False,
    owner: int | None = None,
    osd_bytes: int = cluster.OSD_BYTES,
    release: str = "",
    system: Path = Path("/"),
) -> bool:
    """Brings a lab up in this directory; False if it is up already.

    With an owner it ends when that process does. With a release of Debian its hosts and its cluster have the programs
    of that, and Ceph reports as often as it does by itself.
    """
    reason = checks.refusal(system) or checks.missing(ceph=ceph and not release) or checks.unfit(directory)
    if reason:
        raise LabError(reason)
    root = str(releases.root_of(release)) if release else ""
    if with_kernel and (reason := kernel.missing(root)):
        raise LabError(reason)
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory) as there:
            # Another one may just have ended the lab, and its directory with it.
            if there:
                state = State(ceph=ceph, kernel=with_kernel, root=root)
                return _up(directory, state, owner, osd_bytes, with_gateway=with_gateway and ceph)


def _up(directory: Path, state: State, owner: int | None, osd_bytes: int, *, with_gateway: bool) -> bool:
    old = State.load(directory)
    if old and old.runs():
        return False
    if old:
        _end(directory, old)
    elif not is_blank(directory):
        raise LabError(f"{directory} is not empty, and what is in it is not a lab")
    state.save(directory)
    try:
        _start(directory, state, owner, osd_bytes, with_gateway=with_gateway)
    except BaseException:
        _end(directory, state)
        directory.rmdir()
        raise
    return True


def _start(directory: Path, state: State, owner: int | None, osd_bytes: int, *, with_gateway: bool) -> None:
    if owner is not None:
        _start_keeper(directory, state, owner)
    names = _host_names(state)
    hosts.prepare(directory, names, state.root)
    machines = start_machines(directory, state)
    network.connect(machines)
    hosts.start(machines)
    if state.ceph:
        cluster.prepare(machines[CLUSTER], osd_bytes, usual_periods=bool(state.root))
    if state.kernel:
        kernel.boot(directory, machines, state.root)
    if state.ceph:
        with closing(cluster.Cluster(machines[CLUSTER])) as ceph:
            ceph.start(files=state.kernel)
    if with_gateway:
        gateway.start(machines[CLUSTER])
    if state.kernel:
        kernel.wait(directory, machines)
    (directory / "config.toml").write_text(_config(directory, names, state.ceph))
    state.ready = True
    state.save(directory)


def _host_names(state: State) -> tuple[str, ...]:
    return (*HOSTS, *([KERNEL_HOST] if state.kernel else []))


def _config(directory: Path, hosts: Sequence[str], ceph: bool) -> str:
    lines = ['ssh_config = "ssh_config"  # relative to this file', ""]
    for name in hosts:
        lines += [f"[nodes.{name}]", f'host = "{name}"']
        if ceph:
            lines += [
                f'ceph_conf = "{cluster.conf_path(directory)}"',
                f'ceph_keyring = "{cluster.keyring_path(directory)}"',
                'ceph_id = "admin"',
            ]
        lines.append("")
    names = ", ".join(f'"{name}"' for name in HOSTS)
    return "\n".join([*lines, "[groups]", f"lab = [{names}]"]) + "\n"


def down(directory: Path) -> bool:
    """Ends the lab in this directory and removes it; False if there was none."""
    with locked(directory) as there:
        if not there:
            return False
        state = State.load(directory)
        if state:
            _end(directory, state)
        elif not is_blank(directory):
            raise LabError(f"{directory} is not a lab, and stays as it is")
        shutil.rmtree(directory)
        return bool(state)


def _end(directory: Path, state: State) -> None:
    for name, process in state.machines.items():
        Machine(name, directory, process).kill()
    loops.detach_all(directory)
    _empty(directory)
    # Last, so that it goes on with this if this is interrupted.
    if state.keeper and state.keeper.pid != os.getpid():
        state.keeper.kill()


def _empty(directory: Path) -> None:
    """Removes what is in the directory, its state last: as long as anything is there, it is known as a lab."""
    for path in sorted(directory.iterdir(), key=lambda path: path.name.startswith("state.json")):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _start_keeper(directory: Path, state: State, owner: int) -> None:
    known = Process.of(owner)
    if known is None:
        raise LabError(f"the lab is for process {owner}, which does not run")
    process = subprocess.Popen(
        [sys.executable, "-m", __package__, "keep", str(directory), str(known.pid), known.start],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=_CHECKOUT,
        start_new_session=True,
    )
    assert process.stdin
    with process.stdin:
        state.keeper = Process.of(process.pid)
        state.save(directory)
        process.stdin.write("start\n")


def keep(directory: Path, owner: Process) -> None:
    """Ends the lab as soon as its owner has ended, however that came."""
    if sys.stdin.readline():
        while owner.runs() and State.load(directory):
            time.sleep(0.5)
        down(directory)
