"""The nodes of a console: those to run on, and the states of all that were connected to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cephtui.models import Node
from cephtui.nodes.state import NodeState, diagnosis


class NodeBook:
    """The nodes to run on, the last state of each that was connected to, and the problems that were reported."""

    def __init__(self, hosts: tuple[Node, ...]) -> None:
        self.hosts = hosts
        """Those to run on."""
        self._states: dict[str, NodeState] = {}
        self._reported: set[str] = set()

    @property
    def states(self) -> Mapping[str, NodeState]:
        """By name, of all that were connected to, also those that are not used now."""
        return self._states

    def of(self, name: str | None) -> Node:
        """The node of this name, if it is one to run on, else the first."""
        return next((node for node in self.hosts if node.name == name), self.hosts[0])

    @property
    def versions(self) -> dict[str, Mapping[str, str]]:
        """Of the tools on each node that was connected to."""
        return {name: state.environment.tools for name, state in self._states.items() if state.environment}

    def is_ready(self, node: Node) -> bool:
        """Whether it is connected and can be used."""
        state = self._states.get(node.name)
        return state is not None and state.environment is not None

    def take(self, state: NodeState, tool: str) -> list[str]:
        """Keep a node's state; gives the problems with this tool that were not reported before."""
        self._states[state.node.name] = state
        self.hosts = tuple(state.node if node.name == state.node.name else node for node in self.hosts)
        problems = [problem for problem in diagnosis(state, [tool]).problems if problem not in self._reported]
        self._reported.update(problems)
        return problems

    def lose(self, names: Collection[str]) -> None:
        """The connections to these were lost."""
        for name in names:
            if name in self._states:
                self._states[name] = NodeState(self._states[name].node, problem=f"{name}: the connection was lost")

    def reports(self, tool: str) -> dict[str, str]:
        """By name, what keeps a node from running this tool, or that it is ready."""
        rows = {name: diagnosis(state, [tool]) for name, state in self._states.items()}
        return {name: "; ".join(row.problems) or "ready" for name, row in rows.items()}
