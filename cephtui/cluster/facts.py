"""What a node's cluster is, and how it is: for a look at the node, before anything is to be run there."""

from __future__ import annotations

import asyncio

from cephtui.analysis.detectors.host import ClusterFacts
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.nodes.shell import Shell

_ANSWER_SECONDS = 8.0
"""Seconds to wait for an answer; a cluster that serves its clients answers within a second."""


async def cluster_facts(shell: Shell) -> ClusterFacts:
    """The facts, or why the cluster can't be asked; raises TransportError where the node does not answer."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await _ask(ClusterReader(shell))
    except TimeoutError:
        remedy = "check that its monitors can be reached from here: ceph -s"
        return ClusterFacts(problem=f"the cluster did not answer within {_ANSWER_SECONDS:.0f} s", remedy=remedy)
    except ClusterError as error:
        return ClusterFacts(problem=error.refusal.problem, remedy=error.refusal.remedy)


async def _ask(cluster: ClusterReader) -> ClusterFacts:
    await cluster.fetch(reader.STATUS, reader.VERSIONS, reader.GATEWAYS)
    state = await cluster.status()
    versions, gateways = await cluster.optional(reader.VERSIONS), await cluster.optional(reader.GATEWAYS)
    return ClusterFacts(state.health, ", ".join(versions or ()), state.osds, gateways or ())
