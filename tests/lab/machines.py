"""The machines of a lab: each is a process that holds namespaces of its own, without a name or a mount outside."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.lab import processes
from tests.lab.processes import LabError, Process
from tests.lab.state import State

HOSTS = ("lab1", "lab2", "lab3")
KERNEL_HOST = "lab4"
"""A virtual machine with a kernel of its own, where it is asked for."""
CLUSTER = "ceph"
CONSOLE = "console"
SWITCH = "switch"

# Every lab has the same addresses: none of them is known outside its own namespaces.
ADDRESSES = {
    "lab1": "10.77.0.1",
    "lab2": "10.77.0.2",
    "lab3": "10.77.0.3",
    KERNEL_HOST: "10.77.0.4",
    CLUSTER: "10.77.0.10",
    CONSOLE: "10.77.0.100",
}
CLUSTER_ADDRESSES = {"lab2": "10.78.0.2", "lab3": "10.78.0.3", CLUSTER: "10.78.0.10"}
"""Over the same cables: in the network that OSDs have for themselves."""

_HERE = Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def script(name: str, *words: str | Path) -> list[str]:
    """The command of one of the scripts in this folder, free of the environment it is started from."""
    python = str(Path(sys.executable).resolve())
    return [python, "-I", "-S", str(_HERE / name), *map(str, words)]


def home(directory: Path, name: str) -> Path:
    """The home directory of root on a machine."""
    return directory / "hosts" / name / "home" if name in HOSTS else Path("/root")


@dataclass(frozen=True)
class Machine:
    """One machine of a running lab."""

    name: str
    directory: Path
    holder: Process

    def first_process(self) -> int:
        """The process that is number 1 inside, as it is seen from outside."""
        if self.holder.runs():
            for pid in processes.children(self.holder.pid):
                return pid
        raise LabError(f"{self.name} is not up")

    def command(self, *words: str | Path) -> list[str]:
        """What runs a command inside, with the environment of a fresh machine."""
        enter = ["nsenter", "--target", str(self.first_process()), "--net", "--uts", "--pid", "--mount"]
        environment = [f"HOME={home(self.directory, self.name)}", f"PATH={PATH}", "LANG=C.UTF-8", "USER=root"]
        return [*enter, "env", "-i", *environment, *map(str, words)]

    def run(self, *words: str | Path, timeout: float = 120) -> str:
        """The output of a command that has to succeed inside."""
        return processes.run(self.command(*words), timeout=timeout)

    def network(self, script: str) -> None:
        """Runs commands of ip(8), one a line, in the machine's network. Process numbers in them are those outside."""
        enter = ["nsenter", "--target", str(self.first_process()), "--net"]
        processes.run([*enter, "ip", "-batch", "-"], input=script)

    def pids(self) -> list[int]:
        """Every process inside, by its number outside."""
        inside = _pid_namespace(self.first_process())
        return [pid for pid in processes.all_pids() if _pid_namespace(pid) == inside]

    def kill(self) -> None:
        """Ends the machine and everything in it."""
        if not self.holder.runs():
            return
        for pid in processes.children(self.holder.pid):
            # The kernel lets a first process end only after all others of its namespace.
            if (first := Process.of(pid)) is not None:
                first.kill()
        self.holder.kill()


def _pid_namespace(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None


def start_machines(directory: Path, state: State) -> dict[str, Machine]:
    """Starts every machine, each written down before it does anything."""
    names = [SWITCH, CONSOLE, *([CLUSTER] if state.ceph else []), *HOSTS]
    started = {name: _start(directory, name, state.root) for name in names}
    for name, process in started.items():
        known = Process.of(process.pid)
        state.machines[name] = known or Process(process.pid, "ended at once")
    state.save(directory)
    for name, process in started.items():
        said, complaint = _converse(process)
        if said != b"ready\n":
            raise LabError(f"this machine forbids namespaces, of which {name} needs some: {complaint}")
    return {name: Machine(name, directory, process) for name, process in state.machines.items()}


def _start(directory: Path, name: str, root: str) -> subprocess.Popen[bytes]:
    own_files = ["--own-files"] if name in HOSTS else []
    own_root = ["--root", root] if root and name in (CLUSTER, *HOSTS) else []
    first = script("first_process.py", directory, name, *own_files, *own_root)
    namespaces = ["--net", "--uts", "--pid", "--mount", "--propagation=slave"]
    return subprocess.Popen(
        ["unshare", *namespaces, "--fork", "--kill-child", "--", *first],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # With a buffer, a machine that has ended at once would be noticed only when its stdin is closed.
        bufsize=0,
        cwd="/",
        env={"PATH": PATH, "LANG": "C.UTF-8"},
        start_new_session=True,
    )


def _converse(process: subprocess.Popen[bytes]) -> tuple[bytes, str]:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process.stdin, process.stdout, process.stderr:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"start\n")
        said = process.stdout.readline()
        return said, "" if said else process.stderr.read().decode(errors="replace").strip()
