"""The nodes of a run, each with its newest figures and the colour of its line."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.history import Curve
from cephtui.reports.sparks import spark
from cephtui.tui.charts.ink import node_color
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.shown import NodeNow, Shown

_FIGURES_COLUMNS = 26
_NODES_MOST = 50
"""Where the room is not known yet."""


def nodes_table(shown: Shown, width: int, rows: int, *, ascii_only: bool) -> Table:
    """Each node's last second; where there is no room for all, the slowest ones."""
    table = Table.grid(padding=(0, 1), expand=True)
    for justify in ("left", "right", "left", "right"):
        table.add_column(no_wrap=True, justify=justify)
    columns = max(0, width - _FIGURES_COLUMNS)
    found = _slowest(shown, rows if rows > 0 else _NODES_MOST)
    for number, node in found:
        iops, color = _iops(shown, node), node_color(number)
        values = iops.values()[-columns:] if columns else []
        now = iops.last() if node.iops is None else node.iops
        table.add_row(
            Text(node.name, f"bold {color}"),
            Text("no data", "bold yellow") if node.late else Text(units.iops(now)),
            Text(spark(values, columns, ascii_only=ascii_only, gapped=True, fills=True), color),
            units.latency(node.p99_seconds),
        )
    if len(found) < len(shown.nodes):
        table.add_row(Text(f"+{len(shown.nodes) - len(found)}", "dim"), Text("faster", "dim"), "", "")
    return table


def _iops(shown: Shown, node: NodeNow) -> Curve:
    return shown.history.nodes.get(node.name, {}).get("iops") or Curve()


def _slowest(shown: Shown, rows: int) -> list[tuple[int, NodeNow]]:
    """Nodes with their places in the list: all, or the slowest that fit above a line that counts the others."""
    nodes = list(enumerate(shown.nodes))
    if len(nodes) <= rows:
        return nodes
    slowest = sorted(nodes, key=lambda each: (not each[1].late, _iops(shown, each[1]).last() or 0.0))
    return sorted(slowest[: rows - 1], key=lambda each: each[0])


class NodesNow(Static):
    """Each node's last second, where there are several; one that reports nothing is marked."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: Shown | None = None

    def on_mount(self) -> None:
        self.border_title = " nodes: IOPS, lat p99 "

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self.styles.height = max(1, len(shown.nodes)) + self.gutter.height
        self.on_resize()

    def on_resize(self) -> None:
        """How many there is room for."""
        if self._shown and self._shown.nodes:
            width, rows = self.content_size
            self.update(nodes_table(self._shown, width, rows, ascii_only=profile_of(self).ascii_only), layout=False)
