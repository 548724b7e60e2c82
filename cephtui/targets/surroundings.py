"""What can be tested around cephtui with files, images and pools of its own: nothing that is there is overwritten."""

from __future__ import annotations

from cephtui.ceph.proxmox import READ_SECONDS
from cephtui.ceph.surroundings import Surroundings, parse_surroundings, surroundings_argv
from cephtui.nodes.shell import Shell
from cephtui.nodes.transport import TransportError
from cephtui.targets import every_kind
from cephtui.targets.base import TargetKind
from cephtui.targets.candidates import Candidate


async def surroundings(shell: Shell) -> Surroundings:
    """What there is around a node; raises TransportError."""
    answer = await shell.run(surroundings_argv(), timeout_seconds=READ_SECONDS)
    try:
        return parse_surroundings(answer.stdout)
    except ValueError as error:
        raise TransportError(f"{shell.node.name}: {error}") from None


def candidates_in(surroundings: Surroundings, *, served: bool = True) -> tuple[Candidate, ...]:
    """What can be tested on a host, pools first, each once; what can't be named as a target is left out.

    Pools are among it only where their cluster has ``served`` a query, or is still to be asked.
    """
    kinds = [kind for kind in sorted(every_kind(), key=_order) if served or not kind.in_pool]
    candidates = [candidate for kind in kinds for candidate in kind.in_surroundings(surroundings)]
    return tuple({candidate.spec: candidate for candidate in candidates if candidate.reason is None}.values())


def _order(kind: TargetKind) -> tuple[bool, bool]:
    """Sorts kinds of existing storage before those that have to be made, and Ceph's before others."""
    return kind.holds_parts, kind.leaves_files
