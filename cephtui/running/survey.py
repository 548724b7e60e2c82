"""Checks of nodes and cluster before a plan is run: room and other clients of a target, and all refusals."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from cephtui.ceph.pool_guards import guard_busy_pool, guard_osd_caches, guard_quiet
from cephtui.cluster import preflight
from cephtui.cluster.reader import ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import ClusterEnvironment, NodeEnvironment, Plan, PoolActivity, Step
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import NodeShell
from cephtui.planning import new_bytes
from cephtui.running import own_use
from cephtui.running.companions import inspect_others
from cephtui.running.inspection import inspect
from cephtui.running.step_run import ceph_shell
from cephtui.targets.base import Target
from cephtui.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts that a plan needs of a target."""

    room_bytes: int | None = None
    pool_use: PoolActivity | None = None
    refusal: Refusal | None = None
    """Why the target can't be surveyed."""
    target: Target | None = None
    """The target, with what was found out on its own nodes."""


async def survey(
    shell: NodeShell,
    target: Target,
    nodes: int,
    hosts: Mapping[str, NodeShell],
    root: Path,
    on_wait: Callable[[str], None] | None,
) -> Survey:
    """Survey a target for so many nodes from the one that asks the cluster; raises TransportError and TargetFault.

    ``hosts`` are the target's own nodes; ``root`` has the sessions, by which cephtui knows its own load. For
    ``on_wait`` see ``preflight.pool_activity``.
    """
    target = await target.locate(hosts, shell)
    if target.pool is None:
        return Survey(await target.room(shell, nodes), target=target)
    cluster, refusal = await _guard_service(shell, target.pool, on_wait)
    if refusal:
        return Survey(refusal=refusal)
    own_load = await own_use.has_just_ended(root, cluster, target.pool)
    room, use = await asyncio.gather(
        target.room(shell, nodes),
        preflight.pool_activity(shell, target.pool, own_load=own_load, on_wait=on_wait),
    )
    state = await cluster.status()  # which the guard has asked
    return Survey(room, use.model_copy(update={"osds_in": state.osds_in}), target=target)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a run, as they are recorded before it begins."""

    cluster: ClusterEnvironment | None
    """None where the run uses none, or where it can't be asked, or refuses the run."""
    nodes: Mapping[str, NodeEnvironment]


async def plan_conditions(plan: Plan, target: Target, shells: Mapping[str, NodeShell]) -> Conditions:
    """The conditions of the first step of a plan, of which nothing is run; raises TransportError and TargetFault."""
    step = plan.steps[0]
    tested = target.for_tool(TOOLS[step.tool])
    before, inspections = await asyncio.gather(
        preflight.check(ceph_shell(plan, shells), tested.demand(step, new_bytes([step]))),
        asyncio.gather(*(inspect(shells[node.node], step, node, tested, plan) for node in step.nodes)),
    )
    nodes = {node.node: inspection.environment for node, inspection in zip(step.nodes, inspections, strict=True)}
    return Conditions(before.environment, nodes)


async def _guard_service(
    shell: NodeShell, pool: str, on_wait: Callable[[str], None] | None
) -> tuple[ClusterReader, Refusal | None]:
    """The reader of the last answer, and why the pool can't be surveyed: what passes is waited for."""
    until = time.monotonic() + preflight.PASSES_SECONDS
    while True:
        cluster = ClusterReader(shell)
        refusal = await preflight.guard_service(cluster, pool)
        if not (refusal and refusal.passes and on_wait) or time.monotonic() > until:
            return cluster, refusal
        on_wait(preflight.WAITS_FOR_PGS)
        await asyncio.sleep(own_use.CHECK_AGAIN_SECONDS)


async def plan_refusals(
    plan: Plan, target: Target, shells: Mapping[str, NodeShell], root: Path, on_wait: Callable[[str], None]
) -> list[Refusal]:
    """Why the guards refuse a plan; raises TransportError and TargetFault. ``root`` has the sessions."""
    step = next((step for step in plan.steps if step.writes), plan.steps[0])
    largest = max(new_bytes([step]) for step in plan.steps)
    persists = target.for_tool(TOOLS[step.tool]).persists_between_steps
    added_bytes = new_bytes(plan.steps) if persists else largest

    async def pause(waits_for: str) -> bool:
        on_wait(waits_for)
        await asyncio.sleep(own_use.CHECK_AGAIN_SECONDS)
        return False

    before = await own_use.check_cluster(ceph_shell(plan, shells), target.demand(step, added_bytes), root, pause)
    busy = guard_busy_pool(plan.pool_use, writes=step.writes, nodes=len(step.nodes), agreed=plan.shared_pool)
    drop = guard_osd_caches(target.pool, drops=plan.drop_caches, agreed=plan.drop_agreed)
    quiet = guard_quiet(plan.quiet, agreed=plan.quiet_agreed) if before.state else None
    refused = [refusal for refusal in (before.refusal, busy, drop, quiet) if refusal]
    if before.state is None and before.refusal:
        return refused  # a cluster that does not serve does not answer further queries either
    lacking, _ = await inspect_others(plan.steps, shells)
    if lacking:
        refused.append(Refusal(lacking))
    for name, step in _distinct(plan):
        node_step = next(node for node in step.nodes if node.node == name)
        inspection = await inspect(shells[name], step, node_step, target.for_tool(TOOLS[step.tool]), plan)
        if inspection.problem:
            refused.append(Refusal(inspection.problem))
        if inspection.state.refusal:
            refused.append(inspection.state.refusal)
    return refused


def _distinct(plan: Plan) -> list[tuple[str, Step]]:
    """The steps that differ for the guards, with their nodes: a long sweep uses the same part of the target."""
    steps = {
        (node.node, step.tool, node.parts, step.writes): step for step in reversed(plan.steps) for node in step.nodes
    }
    return [(node, step) for (node, *_), step in steps.items()]
