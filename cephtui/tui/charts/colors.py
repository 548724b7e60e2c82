"""The colours of data and of what is said of it: what charts, bars, figures and words show on a dark ground.

No two meanings are near each other, on a light ground or among sixteen colours either. Most colours are from the
Okabe-Ito palette, which the colour-blind can distinguish. Whatever has a colour has a label, a tile or a row too.
"""

from __future__ import annotations

GOOD_COLOR, WARNING_COLOR, ERROR_COLOR = "#00a377", "#f0e442", "#e96700"
FLOW_COLORS = {"total": "#999999", "read": "#56b4e9", "write": "#cc79a7"}
OTHER_CLIENTS_COLOR = "#777777"
"""Of what other clients did beside the run."""
_FIRST, _SECOND = "#c8c8c8", "#8f7bff"
"""Of two of a kind."""
SIDE_COLORS = {"A": _FIRST, "B": _SECOND}
"""Before and after, or two runs beside each other."""
MEAN_COLOR, P99_COLOR = _FIRST, _SECOND
"""Of the latencies of one load."""
STAGE_COLORS = ("#56b4e9", "#8f7bff", "#bbbbbb", "#009e73", "#777777")
"""Of where the latency goes: network and client, queue, preparation, the store, the rest."""
NODE_COLORS = ("#009e73", "#0072b2", "#bbbbbb", "#99cc00", "#8f7bff", "#55e0ee", "#a66321", "#9933ff")
HEAT_COLORS = ("#2a3f6d", "#48526b", "#5f666e", "#777776", "#908a78", "#aa9f72", "#c6b567", "#e3cd53", "#fee838")
"""From few to many: cividis (Nuñez, Anderton, Renslow 2018), which the colour-blind see as others do, without its
darkest end."""
HEAT_LINE_COLORS = ("#00c8d7", P99_COLOR)
"""Of the median and the p99 in a heat map: neither is near any colour of it."""
SHARE_COLOR = "#00868b"
"""Behind a figure: the nearer it is to the best of its row, the more of it is mixed into the ground."""


def node_color(index: int) -> str:
    """The colour of a node wherever it is shown, by its place among the nodes of the run."""
    return NODE_COLORS[index % len(NODE_COLORS)]


def flow_color(flow: str) -> str:
    """The colour of reads, of writes, or of what else a tool does, by its name for it."""
    return FLOW_COLORS.get(flow) or NODE_COLORS[sum(flow.encode()) % len(NODE_COLORS)]
