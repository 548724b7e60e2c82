"""Commands of many nodes take turns."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence

from cephtui.models import Node
from cephtui.nodes.transport import COMMAND_SECONDS, Command, Completed, Connection, Process, TransportError

_TURNS_ON_A_HOST, _TURNS_IN_ALL = 6, 24
"""Commands side by side: many nodes may be containers of one host."""
_STANDSTILL_SECONDS = 2 * COMMAND_SECONDS


class Turns:
    """Bounds how many commands run, and benchmarks start, side by side: the time of each counts from its own start.

    Waits for a turn as long as other commands end well.
    """

    def __init__(self) -> None:
        self._in_all, self._hosts = asyncio.Semaphore(_TURNS_IN_ALL), dict[str | None, asyncio.Semaphore]()
        self._moved_at = 0.0

    @contextlib.asynccontextmanager
    async def take(self, node: Node) -> AsyncIterator[None]:
        """A turn on the node's host; raises TransportError where none becomes free."""
        host = self._hosts.setdefault(node.host, asyncio.Semaphore(_TURNS_ON_A_HOST))
        await self._wait_for(host, node)
        try:
            await self._wait_for(self._in_all, node)
            try:
                yield
                self._moved_at = time.monotonic()
            finally:
                self._in_all.release()
        finally:
            host.release()

    async def _wait_for(self, turn: asyncio.Semaphore, node: Node) -> None:
        waits_since = time.monotonic()
        acquiring = asyncio.ensure_future(turn.acquire())
        try:
            while not (await asyncio.wait([acquiring], timeout=1.0))[0]:
                still = time.monotonic() - max(waits_since, self._moved_at)
                if still > _STANDSTILL_SECONDS:
                    text = f"no command on any node has succeeded for {still:.0f} s, and others wait before this one"
                    raise TransportError(f"{node.name}: {text}")
        except BaseException:
            if not acquiring.cancel() and not acquiring.cancelled():
                turn.release()
            raise


class Paced:
    """A connection whose commands take turns with those of other connections."""

    def __init__(self, connection: Connection, turns: Turns) -> None:
        self._connection, self._turns = connection, turns
        self.node, self.round_trip_seconds = connection.node, connection.round_trip_seconds

    @property
    def closed(self) -> bool:
        return self._connection.closed

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        async with self._turns.take(self.node):
            return await self._connection.run(argv, timeout_seconds=timeout_seconds, stdin=stdin)

    async def start(self, command: Command) -> Process:
        async with self._turns.take(self.node):
            return await self._connection.start(command)

    async def close(self) -> None:
        await self._connection.close()
