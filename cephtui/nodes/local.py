"""The console's own machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar, cast

from cephtui.models import Node
from cephtui.nodes.answers import EndlessAnswer, command_text, decoded, read_answer
from cephtui.nodes.asyncio_private import transport_of
from cephtui.nodes.transport import COMMAND_SECONDS, Command, Completed, TransportError
from cephtui.nodes.watched import WatchedProcess, until_ready, watchdog_argv

_Begun = TypeVar("_Begun", bound=tuple[asyncio.SubprocessTransport, object])


class _LocalPipes(asyncio.SubprocessProtocol):
    """The channel to a process, and the receiver of asyncio's events of it."""

    def __init__(self, command: Command) -> None:
        self.process = WatchedProcess(self, command)
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.process.opened()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.process.received("stdout" if fd == 1 else "stderr", data)

    def process_exited(self) -> None:
        status = self._transport.get_returncode() if self._transport else None
        self.process.exited(status if status is not None and status >= 0 else None)

    def connection_lost(self, exc: Exception | None) -> None:
        # it has exited and all its pipes have ended
        self.abandon()
        self.process.ended()

    def write(self, data: bytes) -> None:
        if stdin := self._stdin():
            stdin.write(data)

    def write_eof(self) -> None:
        if stdin := self._stdin():
            stdin.close()

    def pause(self) -> None:
        for pipe in self._outputs():
            pipe.pause_reading()

    def resume(self) -> None:
        for pipe in self._outputs():
            pipe.resume_reading()

    def abandon(self) -> None:
        # the watcher is not killed: it may still end the command
        if self._transport:
            _close(self._transport)

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = [self._transport.get_pipe_transport(fd) for fd in (1, 2)] if self._transport else []
        return [cast(asyncio.ReadTransport, pipe) for pipe in pipes if pipe and not pipe.is_closing()]

    def _stdin(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0)) if self._transport else None


class LocalConnection:
    """The console's own machine."""

    round_trip_seconds = 0.0

    def __init__(self, node: Node | None = None) -> None:
        self.node = node or Node(name="local")
        self.closed = False
        self._starting = asyncio.Lock()

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        transport, process = await self._spawn(argv, partial(_begin, bool(stdin)))
        try:
            async with asyncio.timeout(timeout_seconds):
                assert process.stdout
                assert process.stderr
                if process.stdin:
                    process.stdin.write(stdin.encode())
                    process.stdin.close()
                stdout, stderr = await read_answer(process.stdout, process.stderr)
                await process.wait()
        except TimeoutError:
            problem = f"no answer within {timeout_seconds:.0f} s: {command_text(argv)}"
            raise TransportError(f"{self.node.name}: {problem}") from None
        except EndlessAnswer as error:
            raise TransportError(f"{self.node.name}: {error.message(argv)}") from None
        finally:
            await _let_go(transport)
        status = process.returncode or 0
        return Completed(128 - status if status < 0 else status, decoded(stdout), decoded(stderr))

    async def start(self, command: Command) -> WatchedProcess:
        transport, pipes = await self._spawn(watchdog_argv(command), partial(_begin_watched, command))
        try:
            await until_ready(pipes.process, self.node.name)
        except (TransportError, asyncio.CancelledError):
            await _let_go(transport)  # or the end of the event loop could be before that of the process
            raise
        return pipes.process

    async def close(self) -> None:
        """Close the connection, and wait for a process that is being started."""
        async with self._starting:
            self.closed = True

    async def _spawn(self, argv: Sequence[str], begin: Callable[[Sequence[str]], Awaitable[_Begun]]) -> _Begun:
        """Start a process in a session of its own, without the terminal's signals; it ends on cancellation."""
        try:
            async with self._starting:
                if self.closed:
                    raise TransportError(f"{self.node.name}: the connection is closed")
                starting = asyncio.ensure_future(begin(argv))
                try:
                    return await asyncio.shield(starting)
                except asyncio.CancelledError:  # to cancel the opening of its pipes would lose sight of it
                    with contextlib.suppress(OSError):
                        await _let_go((await starting)[0])
                    raise
        except OSError as error:
            raise TransportError(f"{self.node.name}: can't start {argv[0]}: {error.strerror}") from None


async def _begin(reads: bool, argv: Sequence[str]) -> tuple[asyncio.SubprocessTransport, asyncio.subprocess.Process]:
    """Start a short command."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    return transport_of(process), process


async def _begin_watched(command: Command, argv: Sequence[str]) -> tuple[asyncio.SubprocessTransport, _LocalPipes]:
    """Start a command behind its watchdog."""
    loop = asyncio.get_running_loop()
    return await loop.subprocess_exec(lambda: _LocalPipes(command), *argv, start_new_session=True)


async def _let_go(transport: asyncio.SubprocessTransport) -> None:
    """Kill a process and close its pipes, without waiting for a child that holds them open.

    A child, or the process itself, may be beyond KILL (a dead mount), and Python 3.11's ``Process.wait`` would wait.
    """
    if transport.get_returncode() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
    try:
        for _ in range(50):
            if transport.get_returncode() is not None:
                break
            await asyncio.sleep(0.02)
    finally:  # cancelled once more: a transport that is not closed says so after the end of the event loop
        _close(transport)


def _close(transport: asyncio.SubprocessTransport) -> None:
    """Close all pipes to a process, and kill it; sudo and its children may not be ours to kill."""
    with contextlib.suppress(PermissionError):
        transport.close()
