"""A node as it was found: ready, or what is missing there, or what it asks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cephtui.models import Node, NodeEnvironment, NodeRow
from cephtui.nodes.transport import Question
from cephtui.tools import TOOLS


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node as it was found: ready, or why not, or what it asks."""

    node: Node
    """With the way to Ceph that was found on it."""
    environment: NodeEnvironment | None = None
    round_trip_seconds: float = 0.0
    problem: str | None = None
    question: Question | None = None


_OF_DEVICES = "wipefs"
"""The one command that only the guard of devices needs, which says so itself."""


def diagnosis(state: NodeState, needed: Collection[str] = (), cluster: str | None = None) -> NodeRow:
    """A node's state as a row: what is missing there, and the command that installs it.

    The tools that are ``needed`` have to work there; where none is named, one of them has to.
    """
    node, environment = state.node, state.environment
    problems, lacking = [state.problem] if state.problem else [], dict[str, str]()
    if environment:
        found = {name: tool.check_version(environment.tools.get(name)) for name, tool in TOOLS.items()}
        lacking = {name: problem for name, problem in found.items() if problem}
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
        cluster=cluster,
        problems=tuple(problems),
        lacking=tuple(problem for name, problem in lacking.items() if name not in needed),
    )
