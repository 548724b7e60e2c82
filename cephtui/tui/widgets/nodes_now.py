"""The nodes of a run, each with its newest figures and the colour of its line."""

from __future__ import annotations

from operator import itemgetter

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.runs.history import TimeSeries
from cephtui.reports.drawn.sparks import spark
from cephtui.reports.words.text import latency_word
from cephtui.tui.charts.colors import node_color
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.shown import NodeNow, Shown

_IOPS_COLUMNS, _LATENCY_COLUMNS, _GAPS = 7, 8, 3
_NODES_MOST = 50
"""Where the room is not known yet."""


def nodes_text(shown: Shown, width: int, rows: int, *, ascii_only: bool) -> Text:
    """Each node's last second, a row each; where there is no room for all, the slowest ones."""
    nodes = _slowest(shown, rows if rows > 0 else _NODES_MOST)
    room = width - _IOPS_COLUMNS - _LATENCY_COLUMNS - _GAPS
    longest = max((cell_len(node.name) for _, node in nodes), default=0)
    names = min(longest, room) if room > 0 else longest
    columns, lines = max(0, room - names), []
    for number, node in nodes:
        name = (set_cell_size(node.name, names), f"bold {node_color(number)}")
        figures = _ended(node) if node.ended else _figures(shown, number, node, columns, ascii_only=ascii_only)
        lines.append(Text.assemble(name, *figures))
    if len(nodes) < len(shown.nodes):
        lines.append(Text(f"+{len(shown.nodes) - len(nodes)} faster", "dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _figures(
    shown: Shown, number: int, node: NodeNow, columns: int, *, ascii_only: bool
) -> list[str | tuple[str, str]]:
    iops = _iops(shown, node)
    values = iops.values()[-columns:] if columns else []
    history = spark(values, columns, ascii_only=ascii_only, gapped=True, fills=True)
    now = iops.last() if node.iops is None else node.iops
    return [
        (" no data", "bold yellow") if node.late else f" {units.iops(now):>{_IOPS_COLUMNS}}",
        (f" {history:{columns}}", node_color(number)),
        f" {units.latency(node.p99_seconds):>{_LATENCY_COLUMNS}}",
    ]


def _ended(node: NodeNow) -> list[str | tuple[str, str]]:
    """How the node's part ended, in place of its figures; of a whole run, behind its IOPS."""
    figures = "" if node.iops is None else f" {units.iops(node.iops):>{_IOPS_COLUMNS}}"
    return [figures, (f" {node.ended}", "bold red" if node.left_early else "dim")]


def _iops(shown: Shown, node: NodeNow) -> TimeSeries:
    return shown.history.nodes.get(node.name, {}).get("iops") or TimeSeries()


def _slowest(shown: Shown, rows: int) -> list[tuple[int, NodeNow]]:
    """Nodes with their places in the list: all, or the slowest that fit above a line that counts the others."""
    nodes = list(enumerate(shown.nodes))
    if len(nodes) <= rows:
        return nodes

    def speed(numbered: tuple[int, NodeNow]) -> tuple[bool, float]:
        node = numbered[1]
        return not (node.late or node.left_early), _iops(shown, node).last() or 0.0

    return sorted(sorted(nodes, key=speed)[: rows - 1], key=itemgetter(0))


class NodesNow(Static):
    """Each node's last second, where there are several; one that reports nothing is marked."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self.border_title = f" nodes: IOPS, {latency_word([shown.tool])} p99 "
        self.styles.height = max(1, len(shown.nodes)) + self.gutter.height
        self.on_resize()

    def on_resize(self) -> None:
        if self._shown and self._shown.nodes:
            width, rows = self.content_size
            self.update(nodes_text(self._shown, width, rows, ascii_only=profile_of(self).ascii_only), layout=False)
