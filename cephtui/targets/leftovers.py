"""How nodes with leftovers are reached: by the user's connection settings, not by those in a session's list.

A list may come from elsewhere, and its settings of a node can run any command (a prefix, the ProxyCommand of an
ssh_config). So the settings are those of the user's config or command line for the node's name. Where the list has
others they are shown, and used if the user agrees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from cephtui.config import LOCAL
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.sessions.undo import Undo
from cephtui.targets import target_kind

_CEPH_FIELDS = ("ceph_conf", "ceph_keyring", "ceph_id", "ceph_mon_host")
_PLAIN = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%@+\\-]*")
"""A host or a user without special characters; an ssh_config may put them into a command line for a shell."""
_LONGEST = 2000
"""The length of connection settings that a user may be expected to read."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How a node is reached to remove something of a pool, or a file, on it."""

    listed: Node
    """The node in the session's list."""
    configured: Node | None
    """The node of this name in the user's configuration."""
    pool: str | None
    """The pool that has what is to be removed."""

    @property
    def is_own(self) -> bool:
        """Whether the user's settings are those of the list, Ceph access left out."""
        return self.configured is not None and _without_ceph(self.configured) == _without_ceph(self.listed)

    def fits(self, node: Node) -> bool:
        """Whether the user's node, with the Ceph access that was found on it, is the list's."""
        return self.pool is None or node == self.listed

    @property
    def unusable(self) -> str | None:
        """Why the list's settings can't be used, even if the user agrees."""
        if len(describe(self.listed)) > _LONGEST:
            return "its settings in the list are too long"
        logins = [name for name in (self.listed.host, self.listed.user) if name is not None]
        return None if all(map(_PLAIN.fullmatch, logins)) else "its host or user in the list is not valid"


def connection_settings(undo: Undo, user_nodes: Mapping[str, Node]) -> ConnectionSettings:
    """How the node of a leftover is reached; ``user_nodes`` are the user's nodes by their names."""
    kind, name = target_kind(undo.target), undo.target.partition(":")[2]
    listed = (undo.at or Node(name=LOCAL)).model_copy(update={"name": undo.node})
    mine = user_nodes.get(undo.node)
    if kind is not None and kind.leaves_files:
        return ConnectionSettings(_without_ceph(listed), _without_ceph(mine) if mine else None, None)
    in_pool = kind is None or kind.in_pool
    return ConnectionSettings(listed, mine, name.partition("/")[0] if in_pool else None)


def describe(node: Node) -> str:
    """How a node is reached, in full and safe to print: ``host="10.0.0.2" user="root"``."""
    settings = node.model_dump(exclude={"name"}, exclude_defaults=True)
    return " ".join(f"{key}={json.dumps(value)}" for key, value in settings.items()) or "this machine"


def _without_ceph(node: Node) -> Node:
    """The node without Ceph access; the prefix is kept where Ceph is not asked."""
    return node.model_copy(update=dict.fromkeys(_CEPH_FIELDS))
