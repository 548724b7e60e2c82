"""The cluster during a run: its state every two seconds, and what its OSDs count about every second."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections.abc import AsyncGenerator, Sequence

from cephtui.ceph import watch
from cephtui.ceph.cluster import ClusterState, OsdNames
from cephtui.ceph.health import SLOW_OPS, costs_speed
from cephtui.ceph.osd_counters import OsdRound
from cephtui.ceph.rates import OsdLatency
from cephtui.cluster.reader import ClusterError
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample
from cephtui.nodes.shell import NodeShell, with_ceph_user
from cephtui.nodes.transport import Command, TransportError

WATCH_SECONDS = 2.0
_STARTS = 5
"""How often the command that asks the cluster is started, where it ends before the run."""
_A_WEEK_SECONDS = 7 * 86400


@dataclass(frozen=True, slots=True)
class Observation:
    """The state of the cluster, with the latest answer of each other kind."""

    state: ClusterState
    latency: OsdLatency | None = None
    down: tuple[str, ...] | None = None
    """The names of OSDs that are down; None where they were not asked for."""
    out: tuple[str, ...] | None = None

    def sample(self) -> ClusterSample:
        """The observation as it is stored, not yet with its run and its time."""
        state = self.state
        latency = self.latency.seconds if self.latency else {}
        slow = [check for check in state.checks if check.code == SLOW_OPS and costs_speed(check.code, check.message)]
        return ClusterSample(
            run=0,
            elapsed_seconds=0.0,
            health=state.health,
            osds=state.osds,
            osds_up=state.osds_up,
            osds_in=state.osds_in,
            osds_down=() if state.osds_up >= state.osds else self.down,
            osds_out=() if state.osds_in >= state.osds else self.out,
            checks={check.code: check.message or check.code for check in state.checks if not check.muted},
            flags=tuple(sorted(state.flags)),
            slow_ops=sum(max(1, check.count) for check in slow),
            monitors=state.monitors,
            monitors_in_quorum=state.monitors_in_quorum,
            pools=state.pools,
            pg_states=dict(state.pg_states),
            degraded_ratio=state.degraded_ratio,
            misplaced_ratio=state.misplaced_ratio,
            client_iops=state.read_iops + state.write_iops,
            client_bandwidth_bytes=state.read_bytes + state.write_bytes,
            recovery_bandwidth_bytes=state.recovery_bytes,
            osd_latency_seconds={str(osd): seconds for osd, seconds in latency.items()},
        )


@dataclass(slots=True)
class _Answers:
    """The latest answers; of two OsdNames the first has the OSDs that are down, the second those that are out."""

    latency: OsdLatency | None = None
    down: tuple[str, ...] | None = None
    out: tuple[str, ...] | None = None
    down_was_last: bool = False

    def take(self, answer: watch.Report) -> Observation | None:
        """The observation, if this answer is the state of the cluster; else None."""
        if isinstance(answer, OsdNames):
            if self.down_was_last:
                self.out = answer.names
            else:
                self.down = answer.names
            self.down_was_last = not self.down_was_last
        elif isinstance(answer, ClusterState):
            self.down_was_last = False
            return Observation(answer, self.latency, self.down, self.out)
        elif isinstance(answer, OsdLatency):
            self.latency = answer
        return None


async def observe(
    shell: NodeShell, pool: str | None, osds: Sequence[int] = ()
) -> AsyncGenerator[Observation | OsdRound, None]:
    """Observations every ``WATCH_SECONDS``, and the counters of ``osds``, until the iterator is closed.

    Raises ClusterError and TransportError.
    """
    try:
        argv = watch.watch_argv(pool, WATCH_SECONDS, osds)
    except ValueError as error:
        raise ClusterError(str(error)) from None
    for _ in range(_STARTS):
        async with contextlib.aclosing(_observe_once(shell, argv)) as observations:
            async for observation in observations:
                yield observation
        if shell.connection.closed:
            raise TransportError(f"the connection to {shell.node.name} was lost")
        await asyncio.sleep(WATCH_SECONDS)
    raise ClusterError(f"ceph ended on {shell.node.name} again and again")


async def _observe_once(shell: NodeShell, argv: tuple[str, ...]) -> AsyncGenerator[Observation | OsdRound, None]:
    """The observations until the command that asks the cluster has ended; raises TransportError."""
    watching = Command(with_ceph_user(shell.node, argv), prefix=shell.node.ceph_prefix, limit_seconds=_A_WEEK_SECONDS)
    process = await shell.connection.start(watching)
    try:
        process.release()
        parser, decoder, answers = watch.CephWatch(), codecs.getincrementaldecoder("utf-8")("replace"), _Answers()
        async for chunk in process.chunks():
            if chunk.stream != "stdout":
                continue
            for answer in parser.feed(decoder.decode(chunk.data)):
                observation = answer if isinstance(answer, OsdRound) else answers.take(answer)
                if observation:
                    yield observation
    finally:
        await process.stop()
        await process.wait()
