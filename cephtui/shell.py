"""Short commands on a node, behind its prefix and with its way to Ceph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cephtui.models import Node
from cephtui.transport import Completed, Connection


class Shell(Protocol):
    """A node as targets see it."""

    @property
    def node(self) -> Node:
        """Which node it is."""
        ...

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = ...) -> Completed:
        """A command to its end, where the benchmark runs; raises TransportError."""
        ...

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = ...) -> Completed:
        """A ceph, rbd or rados command, or a script of such, to its end; raises TransportError."""
        ...


def with_ceph(node: Node, argv: Sequence[str]) -> tuple[str, ...]:
    """``argv`` with the node's way to Ceph in its environment: paths, no secrets; behind any prefix."""
    settings = {"CEPH_CONF": node.ceph_conf, "CEPH_KEYRING": node.ceph_keyring}
    words = [f"{name}={value}" for name, value in settings.items() if value]
    return ("env", *words, *argv) if words else tuple(argv)


def ceph_argv(node: Node, argv: Sequence[str]) -> tuple[str, ...]:
    """A command of Ceph's with the node's user, and behind its ``ceph_prefix``; a script is told by ``CEPH_ARGS``."""
    if not node.ceph_id:
        return (*node.ceph_prefix, *with_ceph(node, argv))
    if argv[0] in ("ceph", "rbd", "rados"):
        return (*node.ceph_prefix, *with_ceph(node, (argv[0], "--id", node.ceph_id, *argv[1:])))
    return (*node.ceph_prefix, *with_ceph(node, ("env", f"CEPH_ARGS=--id {node.ceph_id}", *argv)))


@dataclass(frozen=True, slots=True)
class NodeShell:
    """See Shell."""

    node: Node
    connection: Connection

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        """See Shell."""
        return await self.connection.run((*self.node.prefix, *argv), timeout_seconds=timeout_seconds)

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        """See Shell."""
        return await self.connection.run(ceph_argv(self.node, argv), timeout_seconds=timeout_seconds)
