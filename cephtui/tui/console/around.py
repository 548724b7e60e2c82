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
    """All names in the text."""


def around_of(found: Surroundings) -> Around:
    """Of a host's surroundings: nothing where it is neither of Proxmox VE nor a client of Ceph."""
    from cephtui.ceph.answers import listed
    from cephtui.targets.surroundings import candidates_in

    targets, others = [each.spec for each in candidates_in(found)], [node.name for node in found.other_nodes]
    if found.proxmox is None and not found.has_ceph:
        return Around()
    kind = "Ceph client" if found.proxmox is None else "Proxmox VE node"
    lines = [f"{kind} {found.host}"]
    lines += [f"t offers {listed(targets, _TARGETS_NAMED)}"] if targets else []
    lines += [f"n offers {listed(others, _NODES_NAMED)}"] if others else []
    names = {**names_of_hosts([found.host, *others])}
    for spec in targets:
        names |= names_of_target(spec)
    return Around("\n".join(lines) if len(lines) > 1 else "", names)
