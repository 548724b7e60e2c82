"""A quiet cluster for a study: on the undo list before anything is held back, and looked at again before each step."""

from __future__ import annotations

import time

from cephtui.ceph import quiet
from cephtui.cluster import reader
from cephtui.cluster.quiet import hold, to_hold
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import Notice
from cephtui.models.base import Quiet
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.running.bench import Bench
from cephtui.running.outcomes import PartEnded
from cephtui.running.recorder import StopRequest
from cephtui.sessions.undo import Undo

_SCRUBS_SECONDS, _ASK_SECONDS = 120.0, 3.0
"""How long scrubs in progress are waited for: the flags hold back new ones only. One that takes longer is a finding of
the run."""


async def hold_back(bench: Bench, shell: NodeShell, what: Quiet, stop: StopRequest) -> Refusal | None:
    """Hold back what is at work in the cluster of its own, and is not held already; why that can't be, or None."""
    owner, node = bench.session.owner, shell.node
    try:
        holder, fsid = await to_hold(shell, what, owner)
        if not holder.items:
            return None
        target = f"quiet:{','.join(quiet.names(holder.items))}"
        is_new = (node.name, target) not in bench.created
        if is_new:
            bench.publish(Notice(0, f"until the end of the study: {quiet.in_words(holder.items, 'set', 'off')}"))
            bench.note_undo(Undo(node=node.name, target=target, at=node, owner=owner, cluster=fsid or None))
        await hold(shell, holder, owner)
        if is_new:
            await _wait_for_scrubs(bench, shell, stop)
    except PartEnded as ended:
        return Refusal(ended.error or "")
    except (ClusterError, TransportError) as error:
        return Refusal(str(error))
    return None


async def _wait_for_scrubs(bench: Bench, shell: NodeShell, stop: StopRequest) -> None:
    """Raises ClusterError and TransportError."""
    until, is_said = time.monotonic() + _SCRUBS_SECONDS, False
    while (await ClusterReader(shell).ask(reader.STATUS)).scrubbing_pgs and time.monotonic() < until:
        if not is_said:
            bench.publish(Notice(0, f"waiting for scrubs in progress, at most {_SCRUBS_SECONDS:.0f} s ..."))
            is_said = True
        if await stop.asked_within(_ASK_SECONDS):
            return
