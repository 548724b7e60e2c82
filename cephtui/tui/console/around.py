"""What there is to measure around the console, on its first screen."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from cephtui.frozen import dataclass
from cephtui.reports.masking.mask import Names, names_of_hosts, names_of_target

if TYPE_CHECKING:
    from cephtui.ceph.surroundings import Surroundings

_TARGETS_NAMED, _NODES_NAMED = 2, 4
"""The pickers have all of them."""


@dataclass(frozen=True, slots=True)
class Around:
    """Where the console is, and which keys have what is there."""

    text: str = ""
    """Empty where there is nothing but files."""
    names: Names = field(default_factory=dict)
    """Names in the text, of all kinds."""


def around_of(surroundings: Surroundings) -> Around:
    """What a host's surroundings offer: nothing where it is neither of Proxmox VE nor a client of Ceph."""
    from cephtui.ceph.answers import listed
    from cephtui.targets.surroundings import candidates_in

    targets = [candidate.spec for candidate in candidates_in(surroundings)]
    node_names = [node.name for node in surroundings.other_nodes]
    if surroundings.proxmox is None and not surroundings.has_ceph:
        return Around()
    kind = "Ceph client" if surroundings.proxmox is None else "Proxmox VE node"
    lines = [f"{kind} {surroundings.host}"]
    lines += [f"t offers {listed(targets, _TARGETS_NAMED)}"] if targets else []
    lines += [f"n offers {listed(node_names, _NODES_NAMED)}"] if node_names else []
    names = {**names_of_hosts([surroundings.host, *node_names])}
    for spec in targets:
        names |= names_of_target(spec)
    return Around("\n".join(lines) if len(lines) > 1 else "", names)
