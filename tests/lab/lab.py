"""A running lab as tests see it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.lab import cluster, gateway, hosts, loops, network, processes
from tests.lab.machines import ADDRESSES, CLUSTER, HOSTS, KERNEL_HOST, SWITCH, Machine
from tests.lab.processes import LabError, Process
from tests.lab.state import State

_CHECKOUT = Path(__file__).resolve().parents[2]


class Lab:
    """A lab that is up. Machines are named as in `nodes`, and "ceph" and "console", from where nodes are reached."""

    nodes = HOSTS
    kernel_node = KERNEL_HOST
    """A virtual machine, in a lab that was started with ``--kernel``: reached by ssh alone."""
    pool = cluster.POOL

    def __init__(self, directory: Path) -> None:
        """The lab that is up in this directory."""
        self.directory = directory.resolve()
        self.config = self.directory / "config.toml"
        self.ssh_config = self.directory / "ssh_config"
        self.known_hosts = self.directory / "known_hosts"
        self.ceph_conf = cluster.conf_path(self.directory)
        self.ceph_keyring = cluster.keyring_path(self.directory)
        # The user bench-only can use the pool and nothing else.
        self.restricted_id = cluster.RESTRICTED.removeprefix("client.")
        self.restricted_keyring = cluster.keyring_path(self.directory, cluster.RESTRICTED)

    # --- Start and end ---------------------------------------------------------------------------

    @classmethod
    def start(cls, directory: Path, *options: str) -> Lab:
        """Brings a lab up in this directory, with options of `python -m tests.lab up`."""
        _command("up", str(directory.resolve()), *options)
        return cls(directory)

    def stop(self) -> None:
        """Ends it and removes everything of it."""
        if "_cluster" in self.__dict__:
            self._cluster.close()
        _command("down", str(self.directory))

    # --- Ceph ------------------------------------------------------------------------------------

    def ceph(self, *words: str) -> Any:
        """What a ceph command says: read from JSON where it is JSON, else as text."""
        return self._cluster.ceph(*words)

    def rbd(self, *words: str) -> str:
        """What an rbd command says."""
        return self._machines[CLUSTER].run("rbd", "--conf", self.ceph_conf, *words)

    def rados(self, *words: str) -> str:
        """What a rados command says."""
        return self._machines[CLUSTER].run("rados", "--conf", self.ceph_conf, *words)

    def gateway(self) -> str:
        """The endpoint of its object gateway, which is started when it is first asked for."""
        gateway.start(self._machines[CLUSTER])
        return gateway.ENDPOINT

    def tls_gateway(self) -> str:
        """The same with TLS; its certificate is in ``gateway_certificate``, and trusted by nobody."""
        gateway.start(self._machines[CLUSTER])
        return gateway.TLS_ENDPOINT

    @property
    def gateway_certificate(self) -> Path:
        """A file with the certificate and the key of the object gateway."""
        return gateway.certificate(self.directory)

    @property
    def gateway_log(self) -> Path:
        """What the object gateway says of each request."""
        return gateway.log(self.directory)

    # --- Machines --------------------------------------------------------------------------------

    def network(self, machine: str) -> int:
        """The number of a machine's network namespace."""
        return Path(f"/proc/{self._machines[machine].first_process()}/ns/net").stat().st_ino

    def pid_namespace(self, machine: str) -> int:
        """The number of a machine's namespace of processes."""
        return Path(f"/proc/{self._machines[machine].first_process()}/ns/pid").stat().st_ino

    def command(self, machine: str, *words: str | Path) -> list[str]:
        """What runs a command on a machine, without ssh."""
        return self._machines[machine].command(*words)

    def on(
        self, machine: str, *words: str | Path, input: str | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on a machine, without ssh, to its end; its exit status is for the caller to look at."""
        return subprocess.run(
            self.command(machine, *words),
            input=input or "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def outside(self, node: str, path: str | Path) -> Path:
        """Where a file of a node is seen from outside; ~, /tmp, /var/tmp and /var/log are its own."""
        host = self.directory / "hosts" / node
        for inside, own in hosts.OWN_FILES.items():
            if Path(path).is_relative_to(inside):
                return host / own / Path(path).relative_to(inside)
        return Path(path)

    def processes(self, text: str = "", machine: str | None = None) -> dict[int, str]:
        """The processes on a machine, or on all of them, that have this text in their command or environment.

        By their number outside; each with its command line.
        """
        machines = [self._machines[machine]] if machine else list(self._machines.values())
        pids = (pid for each in machines for pid in each.pids())
        commands = {pid: processes.command_of(pid) for pid in pids if Process.of(pid)}
        return {
            pid: command
            for pid, command in commands.items()
            if text in command or text in processes.environment_of(pid)
        }

    # --- Network ---------------------------------------------------------------------------------

    def link_down(self, machine: str) -> None:
        """Pulls the cable of a machine: nothing passes, and nobody is told."""
        network.set_link(self._machines[SWITCH], machine, "down")

    def link_up(self, machine: str) -> None:
        """Plugs the cable of a machine in again."""
        network.set_link(self._machines[SWITCH], machine, "up")

    @contextmanager
    def cut(self, machine: str) -> Iterator[None]:
        """A machine without its cable, until the end of the block."""
        self.link_down(machine)
        try:
            yield
        finally:
            self.link_up(machine)

    def address(self, machine: str) -> str:
        """The address of a machine inside the lab."""
        return ADDRESSES[machine]

    # --- OpenSSH ---------------------------------------------------------------------------------

    def sshd_pid(self, node: str) -> int:
        """The server of a node that takes new connections."""
        pid = hosts.sshd_pid(self._machines[node])
        if pid is None:
            raise LabError(f"no sshd runs on {node}")
        return pid

    def session_pids(self, node: str) -> list[int]:
        """The processes of the server that serve a connection each; to kill one is to drop its connection."""
        return hosts.session_pids(self._machines[node])

    def end_sshd(self, node: str) -> None:
        """Ends the server of a node; connections that are open stay."""
        process = Process.of(self.sshd_pid(node))
        if process:
            process.kill()

    def start_sshd(self, node: str) -> None:
        """Starts the server of a node again."""
        hosts.start_sshd(self._machines[node])

    # --- Block devices ---------------------------------------------------------------------------

    @contextmanager
    def loop_device(self, size: int) -> Iterator[Path]:
        """A block device of this many bytes that every machine sees, until the end of the block."""
        with loops.attached(self.directory, size) as device:
            yield device

    # ---------------------------------------------------------------------------------------------

    @cached_property
    def _cluster(self) -> cluster.Cluster:
        return cluster.Cluster(self._machines[CLUSTER])

    @cached_property
    def _machines(self) -> dict[str, Machine]:
        state = State.load(self.directory)
        if not state or not state.runs():
            raise LabError(f"no lab is up in {self.directory}")
        return {name: Machine(name, self.directory, process) for name, process in state.machines.items()}


def _command(*words: str) -> None:
    # In a process of its own: what is started must not be a child of the tests.
    command = [sys.executable, "-m", __package__, *words]
    done = subprocess.run(command, cwd=_CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(done.stderr.strip() or f"{' '.join(command)}: exit status {done.returncode}")
