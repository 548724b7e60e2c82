"""The colours of data: of what charts, bars and figures show. Those of words and frames are the themes'.

All but the scales are from the Okabe-Ito palette, which the colour-blind can distinguish. Yellow and vermillion are
those of warnings and errors: what is read or written never has them. Whatever has a colour has a label, a tile or a
row too.
"""

from __future__ import annotations

FLOW_COLORS = {"total": "#999999", "read": "#56b4e9", "write": "#cc79a7"}
OTHER_CLIENTS_COLOR = "#777777"
"""Of what other clients did beside the run."""
STAGE_COLORS = ("#56b4e9", "#f0e442", "#bbbbbb", "#009e73", "#777777")
"""Of where the latency goes: network and client, queue, preparation, the store, the rest."""
NODE_COLORS = ("#009e73", "#0072b2", "#bbbbbb", "#e69f00", "#f0e442", "#56b4e9", "#cc79a7", "#d55e00")
"""Those of reads, writes and stalls come last."""
SIDE_COLORS = {"A": "#009e73", "B": "#e69f00"}
"""Before and after, or two runs beside each other."""
MEAN_COLOR, P99_COLOR = "#009e73", "#e69f00"
"""Of the latencies of one load."""
HEAT_COLORS = ("#2a3f6d", "#48526b", "#5f666e", "#777776", "#908a78", "#aa9f72", "#c6b567", "#e3cd53", "#fee838")
"""From few to many: cividis (Nuñez, Anderton, Renslow 2018), which the colour-blind see as others do, without its
darkest end."""
HEAT_LINE_COLORS = ("#00c8d7", "#ff3fb0")
"""Of the median and the p99 in a heat map: neither is near any colour of it."""
SHARE_COLOR = "#00868b"
"""Behind a figure: the nearer it is to the best of its row, the more of it is mixed into the ground."""


def node_color(index: int) -> str:
    """The colour of a node wherever it is shown, by its place among the nodes of the run."""
    return NODE_COLORS[index % len(NODE_COLORS)]


def flow_color(flow: str) -> str:
    """The colour of reads, of writes, or of what else a tool does, by its name for it."""
    return FLOW_COLORS.get(flow) or NODE_COLORS[sum(flow.encode()) % len(NODE_COLORS)]
