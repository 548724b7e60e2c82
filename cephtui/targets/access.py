"""A ceph.conf and keyring that were fetched to a node for a run: the run's watchdog removes them at its end.

It is no target, but is on the undo list as parts of targets are, for a watchdog that was killed.
"""

from __future__ import annotations

import re

from cephtui.nodes.shell import Shell, failure_reason
from cephtui.paths import packaged_text
from cephtui.targets.base import Removed, Target, TargetError, TargetKind

_SCRIPT = packaged_text("cephtui.targets", "access_remove.sh")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_BUSY_STATUS = 75


class AccessKind(TargetKind):
    """Ceph's access on a node, named by the token of the run, which names nothing else."""

    scheme = "ceph-access"
    examples = ()
    leaves_files = True

    def parse(self, name: str, owner_id: str | None = None) -> Target:
        raise TargetError(f"{self.spec(name)} is not a target")

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        if not _TOKEN.fullmatch(name):
            return Removed("not ours", "cephtui does not create such targets")
        answer = await shell.run(("bash", "-c", _SCRIPT, "cephtui-access-remove", name))
        if answer.status == 0:
            return Removed("done")
        return Removed("busy" if answer.status == _BUSY_STATUS else "failed", failure_reason(answer))
