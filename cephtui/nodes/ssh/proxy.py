"""A ProxyCommand: a program that carries a connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import cast

from cephtui.nodes.answers import decoded
from cephtui.printable import one_line

GOODBYE_SECONDS = 2.0
"""How long to wait for the end of a process that was closed."""


class Proxy(asyncio.SubprocessProtocol):
    """A ProxyCommand that runs. asyncssh's own would mix the command's stderr into the server's output."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._ending: asyncio.TimerHandle | None = None
        self._stderr = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, command: str, end: socket.socket) -> Proxy:
        """Run the command in a shell, as ssh does, with one end of a pair of sockets as stdin and stdout."""
        _, proxy = await asyncio.get_running_loop().subprocess_exec(
            cls, "sh", "-c", f"exec {command}", stdin=end.fileno(), stdout=end.fileno(), start_new_session=True
        )
        return proxy

    async def failure(self) -> str | None:
        """Why the process has ended, where it did so by itself and not because of the server."""
        await self.ended()
        if not self._ended.is_set():
            return None
        status = self._transport.get_returncode() if self._transport else None
        return one_line(decoded(self._stderr))[-300:] or (f"exit status {status}" if status else None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-4096:]

    def connection_lost(self, exc: Exception | None) -> None:
        # the process has ended, and so has all its output
        self._end()
        if self._ending:
            self._ending.cancel()
        self._ended.set()

    def close(self) -> None:
        """Let the process end, as its sockets do, or make it end.

        Not at once: to kill a process that is just ending takes its exit status away from asyncio.
        """
        if not self._ended.is_set() and not self._ending:
            self._ending = asyncio.get_running_loop().call_later(GOODBYE_SECONDS / 2, self._end)

    async def ended(self) -> None:
        """Wait for the process's end, but not for long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), GOODBYE_SECONDS)

    def _end(self) -> None:
        if self._transport:
            self._transport.close()
