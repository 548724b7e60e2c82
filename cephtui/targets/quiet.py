"""Background work of a cluster that a session holds back, put back at its end.

It is no target, but is on the undo list as parts of targets are.
"""

from __future__ import annotations

from cephtui.cluster.quiet import put_back
from cephtui.cluster.reader import ClusterError
from cephtui.nodes.shell import Shell
from cephtui.targets.base import Removed, Target, TargetError, TargetKind


class QuietKind(TargetKind):
    """What is held back, in the words of Ceph: ``noscrub,nodeep-scrub,balancer``; what it was is in the cluster."""

    scheme = "quiet"
    examples = ()
    ends_with_study = True

    def parse(self, name: str, owner_id: str | None = None) -> Target:
        raise TargetError(f"{self.spec(name)} is not a target")

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        """Put back what the session of this owner has noted in the cluster, and nothing else."""
        try:
            said = await put_back(shell, owner or "")
        except ClusterError as error:
            return Removed("failed", str(error))
        return Removed("absent") if said is None else Removed("done", said)
