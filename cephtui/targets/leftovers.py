"""How the nodes are reached on which sessions have left something: as the user says, not as a session's list does.

A list may come from elsewhere, and what it says of a node can run anything (a prefix, the ProxyCommand of an
ssh_config). So a node is reached as the user's config or command line has it by its name. What a list has that is
another way is shown, and taken where the user agrees to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cephtui.config import LOCAL
from cephtui.models import Node
from cephtui.sessions.store import Undo
from cephtui.targets import kind_of

_CEPH_FIELDS = ("ceph_conf", "ceph_keyring", "ceph_id", "ceph_mon_host")
_PLAIN = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%@+\\-]*")
"""A host or a user; an ssh_config may put them into a command line for a shell."""
_LONGEST = 2000
"""Characters of a way that somebody may be expected to have read."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a node is reached to remove something of a pool, or a file, on it."""

    listed: Node
    """As the session's list has it."""
    own: Node | None
    """As the user has the node of this name."""
    pool: str | None
    """What is to be removed is in it."""

    @property
    def is_own(self) -> bool:
        """Whether the user's leads to where the list's does, what it says of Ceph left out."""
        return self.own is not None and _but_ceph(self.own) == _but_ceph(self.listed)

    def fits(self, found: Node) -> bool:
        """Whether the user's, with the way to Ceph that was found on the node, is what the list has."""
        return self.pool is None or found == self.listed

    @property
    def unusable(self) -> str | None:
        """Why the list's can't be taken, whoever agrees to it."""
        if len(describe(self.listed)) > _LONGEST:
            return "what its list says of the node is too long to be read"
        named = [name for name in (self.listed.host, self.listed.user) if name is not None]
        return None if all(map(_PLAIN.fullmatch, named)) else "what its list says is no host, or no user"


def way_of(undo: Undo, own: Mapping[str, Node]) -> Way:
    """How the node of something left behind is reached; ``own`` are the user's nodes by their names."""
    kind, rest = kind_of(undo.target), undo.target.partition(":")[2]
    listed = (undo.at or Node(name=LOCAL)).model_copy(update={"name": undo.node})
    mine = own.get(undo.node)
    if kind is not None and kind.leaves_files:
        return Way(_but_ceph(listed), _but_ceph(mine) if mine else None, None)
    return Way(listed, mine, rest.partition("/")[0])


def describe(node: Node) -> str:
    """How a node is reached, in full and harmless to print: ``host="10.0.0.2" user="root"``."""
    said = node.model_dump(exclude={"name"}, exclude_defaults=True)
    return " ".join(f"{key}={json.dumps(value)}" for key, value in said.items()) or "this machine"


def _but_ceph(node: Node) -> Node:
    """What matters where no Ceph is asked; its prefix matters elsewhere, too."""
    return node.model_copy(update=dict.fromkeys(_CEPH_FIELDS))
