"""Short commands on a node, behind its prefix and with its Ceph access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.nodes.transport import COMMAND_SECONDS, Completed, Connection
from cephtui.nodes.vault import Vault
from cephtui.printable import one_line
from cephtui.tools.stderr import spoken


class Shell(Protocol):
    """A node as targets see it."""

    @property
    def vault(self) -> Vault:
        """The secrets that the user has."""
        ...

    @property
    def node(self) -> Node:
        """The node that the shell is on."""
        ...

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = ..., stdin: str = ...) -> Completed:
        """Run a command to its end, in the same place as the benchmark; raises TransportError."""
        ...

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = ...) -> Completed:
        """Run a ceph, rbd or rados command, or a script of such commands, to its end; raises TransportError."""
        ...


def with_ceph(node: Node, argv: Sequence[str]) -> tuple[str, ...]:
    """``argv`` with the node's Ceph access in its environment: paths and names, no secrets; behind any prefix.

    A program that the user has named a path for is run by that.
    """
    words, argv = _environment(node), with_programs(node, argv)
    return ("env", *words, *argv) if words else argv


def with_programs(node: Node, argv: Sequence[str]) -> tuple[str, ...]:
    """``argv`` with the paths that the user has named for programs."""
    return tuple(node.programs.get(word, word) for word in argv)


def _environment(node: Node, arguments: str = "") -> list[str]:
    conf = node.ceph_conf
    if conf is None and node.ceph_mon_host:
        conf = "/dev/null"  # without any file librados does not connect, even where it knows the monitors
        arguments = f"--mon-host={node.ceph_mon_host} {arguments}".strip()
    settings = {"CEPH_CONF": conf, "CEPH_KEYRING": node.ceph_keyring, "CEPH_ARGS": arguments}
    return [f"{name}={value}" for name, value in settings.items() if value]


def with_ceph_user(node: Node, argv: Sequence[str]) -> tuple[str, ...]:
    """A command of Ceph, or a script of such commands, with the node's Ceph access and its user."""
    limited = (argv[0], "--connect-timeout", "20", *argv[1:]) if argv[0] == "ceph" else tuple(argv)
    words = _environment(node, f"--id {node.ceph_id}" if node.ceph_id else "")
    return ("env", *words, *limited) if words else limited


@dataclass(frozen=True, slots=True)
class NodeShell:
    """A shell on a node, over its connection."""

    node: Node
    connection: Connection
    vault: Vault = field(default_factory=Vault, repr=False)

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        return await self.connection.run((*self.node.prefix, *argv), timeout_seconds=timeout_seconds, stdin=stdin)

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        return await self.connection.run(
            (*self.node.ceph_prefix, *with_ceph_user(self.node, argv)), timeout_seconds=timeout_seconds
        )


def failure_reason(failed: Completed) -> str:
    """The last line of a failed command's stderr, preferably none of its libraries' logs.

    An indented line continues the one before: mount(8) ends with one that says where there may be more.
    """
    printed = [line.strip() for line in failed.stderr.splitlines() if not line[:1].isspace()]
    lines = spoken(failed.stderr)
    program_lines = [line for line in lines if line in printed]
    return one_line((program_lines or lines)[-1]).rstrip(" :") if lines else f"status {failed.status}, no reason given"
