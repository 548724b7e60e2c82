"""``cephtui nodes``: whether nodes are ready."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import TypeVar

import click

from cephtui import paths
from cephtui.analysis.detectors.hardware import with_findings, with_hardware
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import chosen_nodes
from cephtui.cli.emit import Output, emit
from cephtui.cli.prompts import connect, patiently
from cephtui.cli.where import Where
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.models import Node
from cephtui.models.rows import NodeRow
from cephtui.nodes.state import diagnosis
from cephtui.nodes.transport import TransportError
from cephtui.presets import PresetError, choose, presets_by_tool
from cephtui.reports.views.nodes import nodes_view
from cephtui.running.runner import Runner

T = TypeVar("T")


def check_nodes(presets: tuple[str, ...], where: Where, output: Output) -> int:
    """Print what works on the nodes and what is missing; the exit code."""
    catalogue = find_catalogue()
    try:
        needed = {preset.tool.name for preset in choose(catalogue, presets)}
    except PresetError as error:
        raise click.UsageError(str(error)) from None
    with Runner(paths.sessions_dir()) as runner:
        rows = _diagnose(runner, chosen_nodes(where), needed, presets_by_tool(catalogue))
    emit(nodes_view(rows), output)
    return 0 if all(row.ready for row in rows) else EXIT_REFUSED


def _diagnose(
    runner: Runner, nodes: Sequence[Node], needed: Collection[str], presets: Mapping[str, Sequence[str]]
) -> list[NodeRow]:
    """The state of each node, what it has, and what is missing of the ``needed`` tools."""
    states = connect(runner, nodes)
    hardware = [runner.nodes.inventory(state) if state.environment else None for state in states]
    health_answers = [
        runner.nodes.health(s.node) if s.environment and s.environment.tools.get("ceph") else None for s in states
    ]
    rows = [
        _with(_with_cluster, diagnosis(state, needed, presets=presets), health, "querying the cluster ...")
        for state, health in zip(states, health_answers, strict=True)
    ]
    reading = "reading disks and network interfaces ..."
    return with_findings(
        [_with(with_hardware, row, inventory, reading) for row, inventory in zip(rows, hardware, strict=True)]
    )


def _with(adds: Callable[[NodeRow, T], NodeRow], row: NodeRow, answer: Future[T] | None, text: str) -> NodeRow:
    """The row with what was asked for; a connection that was lost meanwhile is a problem of the node's."""
    if answer is None:
        return row
    try:
        return adds(row, patiently(answer, text))
    except TransportError as error:
        problems = tuple(dict.fromkeys([*row.problems, str(error)]))
        return row.model_copy(update={"ready": False, "problems": problems})


def _with_cluster(row: NodeRow, health: str) -> NodeRow:
    return row.model_copy(update={"cluster": health})
