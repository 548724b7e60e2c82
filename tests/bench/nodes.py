"""Simulated nodes: an SSH server in a process of its own, whose hosts play a recorded run, or run what they are told.

    python -m tests.bench.nodes recorded|apart|real DIRECTORY

It writes keys and an `ssh_config` for the hosts n1, n2, ... to the directory, says "ready", and ends with its stdin.
``apart`` is ``recorded`` with each node's documents at another part of the second.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

import asyncssh

from cephtui.nodes.replay import ReplayConnection, ReplayProcess
from cephtui.nodes.transport import Command
from cephtui.sessions import store
from tests.bench import interactive
from tests.bench.recording import CHECKOUT, RECORDING, RUN, names

NODES_MOST = 64
_AT_ONCE, _STARTS, _NOTES = 1e6, "starts", "notes"
_APART = 16
"""Parts of a second that nodes begin at."""
_OTHER_TOOLS = {"rados-bench": "ceph version 16.2.15", "ceph": "ceph version 16.2.15"}
"""So that no node is reported as incomplete."""
Told = Callable[["asyncssh.SSHServerProcess[bytes]", str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Note:
    """What a recorded node noted of its benchmark."""

    what: Literal["beat", "piece"]
    """A newline of the console's, or a piece of output that was about to be written."""
    process: int
    """Number of the benchmark, over all nodes."""
    at: float
    """By the monotonic clock, which is one for all processes."""


@contextmanager
def nodes(kind: str, directory: Path) -> Iterator[Path]:
    """The simulated nodes while the block lasts; gives their ssh_config."""
    directory.mkdir(parents=True)
    command = [sys.executable, "-m", __name__, kind, str(directory)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("the simulated nodes did not start")
        yield directory / "ssh_config"
        process.stdin.close()


# ---------------------------------------------------------------------- what a node does


class Recorded:
    """Answers as the recorded node did, and plays its output: a document a second, and its filling at once."""

    def __init__(self, directory: Path, *, apart: bool) -> None:
        self._notes = (directory / _NOTES).open("a", buffering=1)
        self._numbers, self._apart = count(), apart
        raw = RECORDING / f"{RUN:03}" / "raw"
        environment = store.read_run(RECORDING, RUN).environment["local"]
        environment = environment.model_copy(update={"tools": {**environment.tools, **_OTHER_TOOLS}})
        self._playing = ReplayConnection(raw, environment)
        self._filling = ReplayConnection(raw, environment, speed=_AT_ONCE)

    async def run(self, process: asyncssh.SSHServerProcess[bytes], _: str) -> None:
        """One command, which the script on stdin ends with: see ``script_of``."""
        script = (await process.stdin.readuntil(b"\0")).decode().removesuffix("\0")
        argv = shlex.split(script.partition("exec ")[2])
        if argv == ["cat"]:
            await _echo(process)
        elif "cephtui-watchdog" in argv:
            await self._benchmark(process, argv[argv.index("cephtui-watchdog") + 1], argv)
        elif len(argv) > 3:
            answer = await self._playing.run(argv)
            process.stdout.write(answer.stdout.encode())
            process.exit(answer.status)
        else:
            process.exit(127)

    async def _benchmark(self, process: asyncssh.SSHServerProcess[bytes], token: str, argv: list[str]) -> None:
        """What watchdog.sh says, and what the tool behind it says."""
        await process.stdin.readline()
        for stream in (process.stderr, process.stdout):
            stream.write(f"cephtui ready {token}\n".encode())
        while (line := await process.stdin.readline()) != b"go\n":
            if not line:
                process.exit(77)
                return
        process.stdout.write(f"cephtui started {token}\n".encode())
        if "--name=fill" in argv:
            await self._play(process, await self._start(self._filling, argv, token), None)
            return
        number = next(self._numbers)
        await asyncio.sleep(number % _APART / _APART if self._apart else 0.0)
        await self._play(process, await self._start(self._playing, argv, token), number)

    async def _start(self, connection: ReplayConnection, argv: list[str], token: str) -> ReplayProcess:
        return await connection.start(Command(argv, token=token, limit_seconds=0))

    async def _play(self, process: asyncssh.SSHServerProcess[bytes], tool: ReplayProcess, number: int | None) -> None:
        """The tool's output; what is noted has the number of the benchmark."""
        tool.release()
        stopping = asyncio.create_task(self._stop_at_eof(process, tool, number))
        async for chunk in tool.chunks():
            self._note("piece", number)
            process.stdout.write(chunk.data)
        stopping.cancel()
        process.exit(await tool.wait() or 0)

    async def _stop_at_eof(
        self, process: asyncssh.SSHServerProcess[bytes], tool: ReplayProcess, number: int | None
    ) -> None:
        while await process.stdin.readline():
            self._note("beat", number)
        await tool.stop()

    def _note(self, what: str, number: int | None) -> None:
        if number is not None:
            self._notes.write(f"{what} {number} {time.monotonic():.6f}\n")


def told_notes(directory: Path) -> list[Note]:
    """What the recorded nodes have noted so far, in the order of time."""
    lines = [line.split() for line in (directory / _NOTES).read_text().splitlines()]
    return [Note("beat" if what == "beat" else "piece", int(number), float(at)) for what, number, at in lines]


async def _echo(process: asyncssh.SSHServerProcess[bytes]) -> None:
    while line := await process.stdin.readline():
        process.stdout.write(line)
    process.exit(0)


class Real:
    """Runs commands on this machine, with a fio that notes when a benchmark of cephtui's began."""

    def __init__(self, directory: Path) -> None:
        fio = directory / "bin" / "fio"
        fio.parent.mkdir()
        note = f'[[ "$*" == *--name={interactive.PRESET}* ]] && echo "$EPOCHREALTIME" >> {directory / _STARTS}'
        fio.write_text(f'#!/bin/bash\n{note}\nexec {shutil.which("fio")} "$@"\n')
        fio.chmod(0o755)
        self._environment = {**os.environ, "PATH": f"{fio.parent}:{os.environ['PATH']}"}

    async def run(self, process: asyncssh.SSHServerProcess[bytes], command: str) -> None:
        """One command."""
        child = await asyncio.create_subprocess_exec(
            "sh", "-c", command, stdin=-1, stdout=-1, stderr=-1, env=self._environment
        )
        await _carry_all(process, child)


def told_starts(directory: Path) -> list[float]:
    """When benchmarks have begun on the real nodes, in their order."""
    return sorted(map(float, (directory / _STARTS).read_text().split()))


async def _carry_all(process: asyncssh.SSHServerProcess[bytes], child: asyncio.subprocess.Process) -> None:
    assert child.stdin
    assert child.stdout
    assert child.stderr
    feeding = asyncio.create_task(_feed(process.stdin, child.stdin))
    await asyncio.gather(_carry(child.stdout, process.stdout), _carry(child.stderr, process.stderr))
    process.exit(abs(await child.wait()))
    await feeding


async def _feed(source: asyncssh.SSHReader[bytes], sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()


async def _carry(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while data := await source.read(65536):
            sink.write(data)


# ---------------------------------------------------------------------- the server


async def serve(told: Told, directory: Path) -> None:
    """Serve until stdin ends."""
    host, client = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))

    async def run(process: asyncssh.SSHServerProcess[bytes]) -> None:
        with contextlib.suppress(asyncssh.Error, OSError):  # whoever has gone away needs no answer
            await told(process, process.command or "")

    server = await asyncssh.create_server(
        asyncssh.SSHServer,
        "127.0.0.1",
        0,
        server_host_keys=[host],
        authorized_client_keys=asyncssh.import_authorized_keys(client.export_public_key().decode()),
        process_factory=run,
        encoding=None,
    )
    _write_client_files(directory, server.get_port(), host, client)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


def _write_client_files(directory: Path, port: int, host: asyncssh.SSHKey, client: asyncssh.SSHKey) -> None:
    client.write_private_key(str(directory / "key"))
    (directory / "key").chmod(0o600)
    (directory / "known_hosts").write_text(f"[127.0.0.1]:{port} {host.export_public_key().decode()}")
    (directory / "ssh_config").write_text(f"""\
Host {" ".join(names(NODES_MOST))}
    HostName 127.0.0.1
    Port {port}
    User root
    IdentityFile {directory}/key
    IdentitiesOnly yes
    UserKnownHostsFile {directory}/known_hosts
    StrictHostKeyChecking yes
""")


if __name__ == "__main__":
    place = Path(sys.argv[2])
    node = Real(place) if sys.argv[1] == "real" else Recorded(place, apart=sys.argv[1] == "apart")
    asyncio.run(serve(node.run, place))
