"""The connections to all nodes: one for each node, made when it is needed and made again after it was lost."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from cephtui.models import Node
from cephtui.nodes.probe import probe
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import Connection, Question, TransportError, TurnedAway
from cephtui.nodes.turns import Paced, Turns
from cephtui.nodes.vault import Vault

CONNECTS_AT_ONCE = 4
"""An sshd refuses some of more than ten connections that have not yet logged in (MaxStartups)."""
COME_BACK_SECONDS = 130.0
"""How long a server that hangs up is tried again: an sshd that is full of clients that don't log in has a place again
after its LoginGraceTime, 120 s by default."""
_FULL = (
    "its sshd has too many logins (MaxStartups), blocks this machine (PerSourcePenalties, hosts.deny), "
    "or is not sshd: check its log"
)
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 4.0

Connect = Callable[[Node, Mapping[str, str]], Awaitable[Connection | Question]]


class Connections:
    """Connections by the name of their node, and the answers that were given to the questions of each node."""

    def __init__(self, connect: Connect, vault: Vault) -> None:
        self._connect, self._vault = connect, vault
        self._connections: dict[str, Connection] = {}
        self._answers: dict[str, dict[str, str]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._connecting = asyncio.Semaphore(CONNECTS_AT_ONCE)
        self._turns = Turns()
        self._ending = False
        self._waits: dict[str, str] = {}

    @property
    def waits(self) -> tuple[str, ...]:
        """Why nodes are waited for, each with its name; may be read from any thread."""
        return tuple(self._waits.values())

    async def reach(self, node: Node, answers: Mapping[str, str], pool: str | None) -> NodeState:
        """Connect to a node, with the answers to its questions, and probe it; raises nothing."""
        self._answers.setdefault(node.name, {}).update(answers)
        try:
            connection = await self._connection(node)
            if isinstance(connection, Question):
                return NodeState(node, question=connection)
            from cephtui.cluster.access import with_access

            node = await with_access(NodeShell(node, connection), pool)
            environment = await probe(NodeShell(node, connection))
        except TransportError as error:
            return NodeState(node, problem=str(error))
        return NodeState(node, environment, connection.round_trip_seconds)

    async def shell(self, node: Node) -> NodeShell:
        """A shell on a node whose questions have been answered before; raises TransportError."""
        connection = await self._connection(node)
        if isinstance(connection, Question):
            raise TransportError(f"{node.name}: not connected: {connection.topic}")
        return NodeShell(node, connection, self._vault)

    async def shells(self, nodes: Sequence[Node]) -> dict[str, NodeShell]:
        """Shells on several nodes by their names; raises TransportError."""
        shells = await asyncio.gather(*map(self.shell, nodes))
        return {shell.node.name: shell for shell in shells}

    async def close(self) -> None:
        """Close all connections and make no more."""
        self._ending = True
        for connection in list(self._connections.values()):
            await connection.close()

    async def _connection(self, node: Node) -> Connection | Question:
        async with self._locks.setdefault(node.name, asyncio.Lock()):  # or each of many would make a connection
            current = self._connections.get(node.name)
            if current is not None and not current.closed and _is_same_address(current.node, node):
                return current
            answers = self._answers.get(node.name, {})
            try:
                connection = await self._connect_patiently(node, answers)
            finally:
                self._waits.pop(node.name, None)
            if not isinstance(connection, Question):
                self._connections[node.name] = paced = Paced(connection, self._turns)
                return paced
            for key in (connection.key, *connection.refused):
                answers.pop(key, None)
            return connection

    async def _connect_patiently(self, node: Node, answers: Mapping[str, str]) -> Connection | Question:
        """Connect, again and again while the server hangs up: others may connect meanwhile. Raises TransportError."""
        until, pause = time.monotonic() + COME_BACK_SECONDS, _PAUSE_SECONDS
        while True:
            async with self._connecting:
                if self._ending:
                    raise TransportError(f"{node.name}: cephtui is ending")
                try:
                    return await self._connect(node, answers)
                except TurnedAway as error:
                    if time.monotonic() + pause > until:
                        raise TransportError(f"{error}, for {COME_BACK_SECONDS:.0f} s: {_FULL}") from None
                    self._waits[node.name] = f"{error}: trying again for {COME_BACK_SECONDS:.0f} s"
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # those who came together come back apart
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _is_same_address(node: Node, other: Node) -> bool:
    """Whether one connection serves both."""
    return (node.host, node.user, node.port, node.ssh_config) == (other.host, other.user, other.port, other.ssh_config)
