"""How commands run on a node: the protocols, the watchdog, and the console's own machine.

A benchmark runs behind ``watchdog.sh``, which ends it when the console's heartbeat stops; the same script will
stand on every kind of node.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from cephtui.tools import Stream

HEARTBEAT_SECONDS = 5.0
LOCK_HELD, HEARTBEAT_SILENT = 75, 76
"""Exit statuses of the watchdog itself."""
COMMAND_SECONDS = 30.0
"""Bound of a short command."""
_READ_BYTES = 65536
_ABANDON_SECONDS = 10.0
_STREAM_LINE_MOST = 1 << 20


class TransportError(Exception):
    """A node can't be reached, or can't start a command; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of output as it arrived, cut anywhere."""

    stream: Stream
    time: float
    """The console's monotonic clock."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """What a connection needs from the user before it can be made; the answer goes into the next attempt."""

    node: str
    key: str
    """Under which ``connect`` looks for the answer: a host key's fingerprint, a key file, a prompt."""
    text: str
    secret: bool
    """Masked when typed and never stored; where it is not, ``yes`` accepts."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A short command that has ended."""

    status: int
    stdout: str
    stderr: str


class Process(Protocol):
    """A benchmark behind its watchdog."""

    released_at: float
    """When the command began, by the console's monotonic clock."""

    def chunks(self) -> AsyncIterator[Chunk]:
        """All output of the command until both streams have ended."""
        ...

    async def stop(self) -> None:
        """End the command by ending its heartbeat; it may still print its figures. May be called again."""
        ...

    async def wait(self) -> int | None:
        """The command's exit status; None where there is none, because what ran it is gone."""
        ...


class Connection(Protocol):
    """A way to one node."""

    node: str

    async def run(self, argv: Sequence[str]) -> Completed:
        """Run a short command to its end; raises TransportError."""
        ...

    async def start(self, argv: Sequence[str], *, token: str, limit_seconds: float, lock: str) -> Process:
        """Start a benchmark behind the watchdog; ``lock`` is a path or empty. Raises TransportError."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


def watchdog_argv(argv: Sequence[str], *, token: str, limit_seconds: float, lock: str) -> tuple[str, ...]:
    """The command line that runs ``argv`` behind the watchdog."""
    script = importlib.resources.files("cephtui").joinpath("watchdog.sh").read_text("utf-8")
    return ("bash", "-c", script, "cephtui-watchdog", token, str(round(limit_seconds)), lock, *argv)


class LocalProcess:
    """See Process."""

    def __init__(self, process: asyncio.subprocess.Process, token: str) -> None:
        self.released_at = time.monotonic()
        self._process = process
        self._sentinel = f"cephtui started {token}\n".encode()
        self._queue: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._tasks = [
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._read("stdout", process.stdout)),
            asyncio.create_task(self._read("stderr", process.stderr)),
        ]

    async def chunks(self) -> AsyncIterator[Chunk]:
        """See Process."""
        open_streams = 2
        while open_streams:
            chunk = await self._queue.get()
            if chunk is None:
                open_streams -= 1
            else:
                yield chunk

    async def stop(self) -> None:
        """See Process."""
        if self._process.stdin:
            self._process.stdin.close()
        self._tasks.append(asyncio.create_task(self._abandon()))

    async def wait(self) -> int | None:
        """See Process."""
        status = await self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()  # where the watchdog itself was killed, its watcher ends the command
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return status if status >= 0 else None

    async def _beat(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            while not stdin.is_closing():
                stdin.write(b"\n")
                await stdin.drain()
                await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _read(self, stream: Stream, reader: asyncio.StreamReader | None) -> None:
        assert reader is not None
        try:
            if stream == "stdout":
                await self._skip_to_sentinel(reader)
            while data := await reader.read(_READ_BYTES):
                self._queue.put_nowait(Chunk(stream, time.monotonic(), data))
        finally:
            self._queue.put_nowait(None)

    async def _skip_to_sentinel(self, reader: asyncio.StreamReader) -> None:
        """What a shell's start-up files print comes first and is none of the command's output."""
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await reader.readuntil(self._sentinel)
        self.released_at = time.monotonic()

    async def _abandon(self) -> None:
        """A command that outlives even KILL must not hold the console."""
        await asyncio.sleep(_ABANDON_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()  # not its watcher, which may still get rid of the command
        await _let_go(self._process)


class LocalConnection:
    """The console's own machine."""

    def __init__(self, node: str = "local") -> None:
        self.node = node

    async def run(self, argv: Sequence[str]) -> Completed:
        """See Connection."""
        process = await _spawn(argv, stdin=asyncio.subprocess.DEVNULL)
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await _let_go(process)
            raise TransportError(f"{self.node}: no answer within {COMMAND_SECONDS:.0f} s") from None
        return Completed(process.returncode or 0, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))

    async def start(self, argv: Sequence[str], *, token: str, limit_seconds: float, lock: str) -> LocalProcess:
        """See Connection."""
        wrapped = watchdog_argv(argv, token=token, limit_seconds=limit_seconds, lock=lock)
        return LocalProcess(await _spawn(wrapped, stdin=asyncio.subprocess.PIPE), token)

    async def close(self) -> None:
        """See Connection."""


async def _spawn(argv: Sequence[str], *, stdin: int) -> asyncio.subprocess.Process:
    """A process in a session of its own, so that the terminal's signals do not reach it."""
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=_STREAM_LINE_MOST,
        )
    except OSError as error:
        raise TransportError(f"can't start {argv[0]}: {error.strerror}") from None


async def _let_go(process: asyncio.subprocess.Process) -> None:
    """Close the pipes of a process that was killed: a child that is beyond KILL (a dead mount) may hold them open.

    Python 3.11's ``Process.wait`` would wait for that child, and so would whoever reads the pipes.
    """
    while process.returncode is None:
        await asyncio.sleep(0.02)
    process._transport.close()  # type: ignore[attr-defined]  # asyncio has no public way


async def connect(node: str) -> Connection:
    """A connection to a node by its name; raises TransportError."""
    if node != "local":
        raise TransportError(f"unknown node {node!r}: the only node is local")
    return LocalConnection(node)
