"""The state of a node: ready, or the parts that are missing there, or its question to the user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from cephtui.frozen import dataclass
from cephtui.nodes.transport import Question
from cephtui.tools import TOOLS

if TYPE_CHECKING:
    from cephtui.models import Node, NodeEnvironment
    from cephtui.models.rows import NodeRow


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node that is ready, or has a problem, or a question to the user."""

    node: Node
    """The node with the Ceph access that was found on it."""
    environment: NodeEnvironment | None = None
    round_trip_seconds: float = 0.0
    problem: str | None = None
    question: Question | None = None


_OF_DEVICES = "wipefs"
"""The one command that only the guard of devices needs, which reports it itself."""


def diagnosis(
    state: NodeState,
    needed: Collection[str] = (),
    presets: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> NodeRow:
    """A node's state as a row: missing tools and commands, each with the command that installs it.

    The tools that are ``needed`` have to work there; where none is named, one of them has to. ``presets`` are those
    of each tool.
    """
    from cephtui.models.inventory import ToolRow
    from cephtui.models.rows import NodeRow

    node, environment = state.node, state.environment
    problems, lacking = [state.problem] if state.problem else [], dict[str, str]()
    tools: list[ToolRow] = []
    if environment:
        by_tool = {name: tool.check_version(environment.tools.get(name), node.programs) for name, tool in TOOLS.items()}
        lacking = {name: problem for name, problem in by_tool.items() if problem}
        tools = [
            ToolRow(
                tool=name, version=environment.tools.get(name), problem=problem, presets=tuple(presets.get(name, ()))
            )
            for name, problem in by_tool.items()
        ]
        if not needed and len(lacking) == len(TOOLS):
            needed = TOOLS
        lacking |= {text.split()[0]: text for text in environment.missing}
        needed = {*needed, *(lacking.keys() - TOOLS.keys() - {_OF_DEVICES})}
        problems += [problem for name, problem in lacking.items() if name in needed]
    return NodeRow(
        node=node.name,
        host=node.host,
        ready=environment is not None and not problems,
        round_trip_seconds=state.round_trip_seconds or None if node.host else None,
        environment=environment,
        problems=tuple(problems),
        lacking=tuple(problem for name, problem in lacking.items() if name not in needed),
        tools=tuple(tools),
    )
