"""The colours of lines, wherever what they show has a label, a tile or a row too."""

from __future__ import annotations

FLOW_COLORS = {"total": "#999999", "read": "#56b4e9", "write": "#e69f00"}
OTHER_CLIENTS_COLOR = "#777777"
"""Of what other clients did beside the run."""
STAGE_COLORS = ("#56b4e9", "#f0e442", "#bbbbbb", "#009e73", "#777777")
"""Of where the latency goes: network and client, queue, preparation, the store, the rest."""
NODE_COLORS = ("#009e73", "#cc79a7", "#f0e442", "#0072b2", "#bbbbbb", "#56b4e9", "#e69f00", "#d55e00")
"""From the Okabe-Ito palette, which the colour-blind can distinguish; those of reads, writes and stalls come last."""


def node_color(index: int) -> str:
    """The colour of a node wherever it is shown, by its place among the nodes of the run."""
    return NODE_COLORS[index % len(NODE_COLORS)]


def flow_color(flow: str) -> str:
    """The colour of reads, of writes, or of what else a tool does, by its name for it."""
    return FLOW_COLORS.get(flow) or NODE_COLORS[sum(flow.encode()) % len(NODE_COLORS)]
