"""Nodes reached over SSH, by the user's own ssh_config, keys, agent and known_hosts.

Nothing is asked in the middle: ``connect`` returns the question, and is called again with its answer. The modules
below import asyncssh, and are imported only when the first such node is connected to: that takes 0.15 s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from cephtui.models import Node
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import Connection, Question

if TYPE_CHECKING:
    from cephtui.nodes.ssh.connection import SshConnection


async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
    """A connection to a node, or what must be known before; raises TransportError.

    ``answers`` are those to earlier questions, by their ``key``. An answer that was wrong is asked for again, with
    a text that says so. An empty one to a secret question passes over that key or password.
    """
    if node.host is None:
        return LocalConnection(node)
    open_connection = await asyncio.to_thread(_load)
    return await open_connection(node, node.host, answers)


def _load() -> Callable[[Node, str, Mapping[str, str]], Awaitable[SshConnection | Question]]:
    from cephtui.nodes.ssh.connection import open_connection

    quiet = logging.getLogger("asyncssh")
    quiet.setLevel(logging.WARNING)  # below that it logs every command line
    if not quiet.handlers:
        quiet.addHandler(logging.NullHandler())  # without any handler, Python would write to the terminal
    return open_connection
