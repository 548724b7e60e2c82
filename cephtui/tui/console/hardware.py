"""What the nodes of a console have: tools, disks, network interfaces."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui.analysis.detectors.hardware import with_findings, with_hardware
from cephtui.models.rows import NodeRow
from cephtui.nodes.state import NodeState, diagnosis
from cephtui.nodes.transport import TransportError
from cephtui.reports.render.rich import draw
from cephtui.reports.views.nodes import nodes_blocks
from cephtui.running.node_requests import NodeRequests


async def drawn_hardware(
    names: Collection[str],
    states: Mapping[str, NodeState],
    requests: NodeRequests,
    tool: str,
    presets: Mapping[str, Sequence[str]],
) -> RenderableType:
    """The hardware of the nodes of these names, with what differs between all that are connected."""
    connected = [state for state in states.values() if state.environment]
    rows = await asyncio.gather(*(_row(state, requests, tool, presets) for state in connected))
    chosen = [row for row in with_findings(rows) if row.node in names]
    missing = [name for name in names if name not in {row.node for row in chosen}]
    texts = [Text(f"{name} is not connected: mark it with space and press enter first") for name in missing]
    return Group(draw([*nodes_blocks(chosen)]) if chosen else Text(), *texts)


async def _row(state: NodeState, requests: NodeRequests, tool: str, presets: Mapping[str, Sequence[str]]) -> NodeRow:
    row = diagnosis(state, [tool], presets=presets)
    try:
        return with_hardware(row, await asyncio.wrap_future(requests.inventory(state)))
    except TransportError as error:
        return row.model_copy(update={"ready": False, "problems": (*row.problems, str(error))})
