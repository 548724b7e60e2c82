"""A node and the target on it, inspected before anything is written."""

from __future__ import annotations

import asyncio
from typing import cast

from cephtui.frozen import dataclass
from cephtui.models import NodeEnvironment, NodeStep, Plan, Step
from cephtui.nodes.probe import probe
from cephtui.nodes.shell import Shell
from cephtui.targets.base import Target, TargetState, Use
from cephtui.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Inspection:
    """The environment of a node, and the state of the target on it."""

    environment: NodeEnvironment
    problem: str | None
    """Why the tool can't run there."""
    state: TargetState


async def inspect(
    shell: Shell,
    step: Step,
    node_step: NodeStep,
    target: Target,
    plan: Plan,
    prefilled: frozenset[str] = frozenset(),
) -> Inspection:
    """Inspect a node and the target on it, and apply the guards; writes nothing.

    ``target`` is as the tool uses it, ``plan`` has what the user has agreed to, ``prefilled`` are the parts that this
    console session has prefilled. Raises TransportError and TargetFault.
    """
    tool = TOOLS[step.tool]
    largest = tool.bind(step.options).object_bytes()
    use = Use(
        node_step.parts, step.writes, step.filled, step.options, plan.destroy, largest, prefilled, plan.shared_pool
    )
    answers = await asyncio.gather(probe(shell), target.inspect(shell, use), return_exceptions=True)
    for error in (answer for answer in answers if isinstance(answer, BaseException)):
        raise error  # the first: what keeps the node from being asked at all is why the target can't be
    environment, state = cast("tuple[NodeEnvironment, TargetState]", answers)
    problem = tool.check_version(environment.tools.get(step.tool), shell.node.programs)
    if problem:
        return Inspection(environment, f"{shell.node.name}: {problem}", TargetState())
    settings = {**environment.settings, **state.queues}
    of_target = {"filesystem": state.filesystem, "device": state.device, "settings": settings}
    environment = environment.model_copy(update=of_target)
    return Inspection(environment, None, state)
