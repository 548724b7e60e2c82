"""The nodes of a corosync cluster, which a Proxmox VE cluster is: corosync.conf(5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cephtui.frozen import dataclass

_NODES_MOST = 1000
_BLOCK = re.compile(r"\bnode\s*\{([^{}]*)\}")
_LINE = re.compile(r"^\s*(\w+)\s*:\s*(\S+)\s*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
_ADDRESS = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:-]{0,252}")


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of a corosync cluster."""

    name: str
    address: str = ""
    """The address or host name of the node's first link; empty where it is not known."""


def is_node_name(text: str) -> bool:
    """Whether a host can have this name; no option of ssh is one, and nothing that a shell would interpret."""
    return bool(_NAME.fullmatch(text))


def parse_corosync(text: str) -> tuple[ClusterNode, ...]:
    """The nodes in a corosync.conf, each once; whatever else is in it is passed over."""
    by_name: dict[str, ClusterNode] = {}
    for node in _nodes(text):
        if len(by_name) < _NODES_MOST:
            by_name.setdefault(node.name, node)
    return tuple(by_name.values())


def _nodes(text: str) -> Iterator[ClusterNode]:
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for block in _BLOCK.findall(lines):
        keys: Mapping[str, str] = dict(_LINE.findall(block))
        name, address = keys.get("name", ""), keys.get("ring0_addr", "")
        if is_node_name(name or address):
            yield ClusterNode(name or address, address if _ADDRESS.fullmatch(address) else "")
