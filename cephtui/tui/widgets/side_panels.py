"""Panels beside the charts: the nodes of a run in the colours of their lines, its jobs, the cluster, its latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.text import Text
from textual.containers import Vertical
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.detectors.machine import troubles
from cephtui.analysis.runs.history import TimeSeries
from cephtui.models import OsdInterval, OsdResult
from cephtui.models.metrics import HEADLINES, Headline
from cephtui.reports.drawn.bars import bars
from cephtui.reports.drawn.sparks import spark
from cephtui.reports.words.machine import busy_text
from cephtui.reports.words.text import latency_word
from cephtui.tui.charts.colors import flow_color, node_color
from cephtui.tui.charts.ink import ink_of
from cephtui.tui.charts.spread import draw_latencies, draw_seconds
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.cluster_now import health_text
from cephtui.tui.widgets.layout import Need, share_out
from cephtui.tui.widgets.now import Now
from cephtui.tui.widgets.outcome import finding_lines, health_line
from cephtui.tui.widgets.shown import NodeNow, Shown

_IOPS_COLUMNS, _LATENCY_COLUMNS, _BUSY_COLUMNS, _GAPS = 7, 8, 5, 3
_NODES_MOST = 50
"""Nodes that are shown where the room is not known yet."""
_BAR_COLUMNS = 20
_OSDS_MOST = 8
"""The slowest ones that have a place of their own; more have what is left over."""
_SOME_ROWS = 3
"""Of a panel in a column without room for all of it."""
_SPREAD_LEAST = 3
"""Rows in which a distribution can be seen."""


def nodes_text(shown: Shown, width: int, rows: int, *, ascii_only: bool) -> Text:
    """Each node's last second, a row each; where there is no room for all, the slowest ones."""
    nodes = _slowest_nodes(shown, rows if rows > 0 else _NODES_MOST)
    busy = _BUSY_COLUMNS + 1 if _are_watched(shown) else 0
    room = width - _IOPS_COLUMNS - _LATENCY_COLUMNS - _GAPS - busy
    longest = max((cell_len(node.name) for _, node in nodes), default=0)
    names = min(longest, room) if room > 0 else longest
    columns, lines = max(0, room - names), []
    for number, node in nodes:
        name = (set_cell_size(node.name, names), f"bold {node_color(number)}")
        figures = _ended(node) if node.ended else _figures(shown, number, node, columns, ascii_only=ascii_only)
        lines.append(Text.assemble(name, *figures, *(_busy(node) if busy else ())))
    if len(nodes) < len(shown.nodes):
        lines.append(Text(f"+{len(shown.nodes) - len(nodes)} faster", "dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _figures(
    shown: Shown, number: int, node: NodeNow, columns: int, *, ascii_only: bool
) -> list[str | tuple[str, str]]:
    iops = _iops(shown, node)
    values = iops.values()[0 if shown.whole else -columns :] if columns else []
    history = (spark(values, columns, ascii_only=ascii_only, gapped=True, fills=True), node_color(number))
    if wrong := next((trouble for trouble in _troubles(node) if cell_len(trouble) <= columns), ""):
        history = (wrong, "yellow")
    now = iops.last() if node.iops is None else node.iops
    return [
        (" no data", "bold yellow") if node.late else f" {units.iops(now):>{_IOPS_COLUMNS}}",
        (f" {history[0]:{columns}}", history[1]),
        f" {units.latency(node.p99_seconds):>{_LATENCY_COLUMNS}}",
    ]


def _are_watched(shown: Shown) -> bool:
    return any(node.machine for node in shown.nodes)


def _busy(node: NodeNow) -> list[tuple[str, str]]:
    """How busy its CPUs are, of a node that goes on."""
    text = "" if node.ended and node.iops is None else busy_text(node.machine)
    return [(f" {text:>{_BUSY_COLUMNS}}", "yellow" if _troubles(node) else "")]


def _troubles(node: NodeNow) -> tuple[str, ...]:
    """What is unusual on a node; where there is room it stands in place of its history."""
    return troubles(node.machine) if node.machine else ()


def _ended(node: NodeNow) -> list[str | tuple[str, str]]:
    """How the node's part ended, in place of its figures; of a whole run, behind its IOPS."""
    figures = "" if node.iops is None else f" {units.iops(node.iops):>{_IOPS_COLUMNS}}"
    return [figures, (f" {node.ended}", "bold red" if node.left_early else "dim")]


def _iops(shown: Shown, node: NodeNow) -> TimeSeries:
    return shown.history.nodes.get(node.name, {}).get("iops") or TimeSeries()


def _slowest_nodes(shown: Shown, rows: int) -> list[tuple[int, NodeNow]]:
    """Nodes with their places in the list: all, or the slowest that fit above a line that counts the others."""
    nodes = list(enumerate(shown.nodes))
    if len(nodes) <= rows:
        return nodes

    def speed(numbered: tuple[int, NodeNow]) -> tuple[bool, float]:
        node = numbered[1]
        return not (node.late or node.left_early), _iops(shown, node).last() or 0.0

    return sorted(sorted(nodes, key=speed)[: max(1, rows - 1)], key=itemgetter(0))


def cluster_text(shown: Shown, width: int, rows: int, *, ascii_only: bool) -> Text:
    """Health, clients, recovery, PGs that are not clean, then its slowest OSDs and what happened; of a run that is over
    the health, the OSDs and the findings.
    """
    head = _cluster_lines(shown)[: max(1, rows)]
    rest, left = _findings_or_events(shown, width), rows - len(head)
    most = max((left + 2) // 3, left - len(rest))
    head += _slowest_osds(_osd_latencies(shown), width, most, "#" if ascii_only else "━")
    left = rows - len(head)
    gap = [Text()] if head and 0 < len(rest) < left else []
    rest = _cut(rest, left) if shown.run else rest[max(0, len(rest) - left) :]
    return Text("\n", no_wrap=True, overflow="ellipsis").join([*head, *gap, *rest])


def _cluster_rows(shown: Shown, width: int) -> int:
    """How many rows the whole of it needs, with so many OSDs as are of interest."""
    above = len(_cluster_lines(shown)) + min(_OSDS_MOST, len(_osd_latencies(shown)))
    rest = len(_findings_or_events(shown, width))
    return above + rest + (above > 0 and rest > 0)


def _findings_or_events(shown: Shown, width: int) -> list[Text]:
    """What stands below the OSDs."""
    return finding_lines(shown.run, width) if shown.run else _events(shown)


def _cluster_lines(shown: Shown) -> list[Text]:
    """What the cluster says of itself."""
    if shown.run:
        return [line for line in (health_line(shown.run),) if line]
    cluster = shown.cluster
    if cluster is None:
        return []
    iops, bandwidth = units.iops(cluster.client_iops), units.bandwidth(cluster.client_bandwidth_bytes)
    lines = [health_text(cluster), Text(f"client {iops} IOPS, {bandwidth}")]
    if shown.other_clients_iops is not None:
        lines.append(Text(f"other clients {units.iops(shown.other_clients_iops)}/s", "yellow"))
    if cluster.recovery_bandwidth_bytes:
        lines.append(Text(f"recovery {units.bandwidth(cluster.recovery_bandwidth_bytes)}", "yellow"))
    unclean = {state: number for state, number in cluster.pg_states.items() if state != "active+clean"}
    return lines + [Text(f"{number} PGs {state}", "yellow") for state, number in unclean.items()]


def _osd_latencies(shown: Shown) -> Mapping[str, float]:
    """Those of operations; where they are not known, in a run in progress those of commits."""
    return _op_latencies(shown) or (shown.cluster.osd_latency_seconds if shown.cluster and not shown.run else {})


def _events(shown: Shown) -> list[Text]:
    """What was marked and found so far, with its time."""
    events = [(at, text, "") for at, text in shown.marks]
    events += [(span.begin_seconds, span.text, "red" if span.stalled else "yellow") for span in shown.spans]
    return [Text.assemble((f"{units.clock(at)} ", "dim"), (text, style)) for at, text, style in sorted(events)]


def _cut(lines: list[Text], rows: int) -> list[Text]:
    if len(lines) <= rows:
        return lines
    return [*lines[: rows - 1], Text("... i shows all of it", "dim")] if rows > 0 else []


def _op_latencies(shown: Shown) -> dict[str, float]:
    """The mean latency of the reads and writes of each OSD of the pool, in the last second or over a run that is over;
    empty where not known.
    """
    osds: Mapping[str, OsdInterval | OsdResult] = {}
    if shown.run:
        osds = shown.run.osds
    elif shown.osds:
        osds = shown.osds.osds
    return {name: seconds for name, osd in osds.items() if (seconds := osd.op_seconds) is not None}


def _slowest_osds(latencies: Mapping[str, float], width: int, rows: int, bar: str) -> list[Text]:
    """A row for each OSD, with a bar by its share of the slowest one's latency."""
    osds = sorted(latencies.items(), key=lambda osd: -osd[1])[: max(0, rows)]
    names = max((len(name) for name, _ in osds), default=0) + len("osd.")
    columns = max(0, min(_BAR_COLUMNS, width - names - 10))
    slowest = osds[0][1] if osds else 0.0
    return [
        Text.assemble(
            f"{f'osd.{name}':{names}} {units.latency(seconds):>8} ",
            (bar * round(columns * seconds / slowest) if slowest > 0 else "", "dim"),
        )
        for name, seconds in osds
    ]


class SidePanel(Static):
    """A panel beside the charts, drawn again when it is shown something or gets another size."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self.on_resize()

    def need(self, width: int) -> Need:
        """The rows for what it was shown last, in a column so wide."""
        rows = self.rows(self._shown, width - self.gutter.width) if self._shown else 0
        frame = self.gutter.height
        return Need(min(rows, 1) + frame, rows + frame, min(rows, _SOME_ROWS) + frame)

    def on_resize(self) -> None:
        if self._shown:
            ascii_only = profile_of(self).ascii_only
            self.update(self.drawn(self._shown, *self.content_size, ascii_only=ascii_only), layout=False)

    def rows(self, shown: Shown, width: int) -> int:
        """How many rows all of it needs."""
        raise NotImplementedError

    def drawn(self, shown: Shown, width: int, rows: int, *, ascii_only: bool) -> RenderableType:
        """What stands in a panel of this size."""
        raise NotImplementedError


class NodesPanel(SidePanel):
    """Each node's last second, where there are several; one that reports nothing is marked."""

    def show(self, shown: Shown) -> None:
        busy = ", cpu" if _are_watched(shown) else ""
        self.border_title = f" nodes: IOPS, {latency_word([shown.tool])} p99{busy} "
        super().show(shown)

    def rows(self, shown: Shown, width: int) -> int:
        return len(shown.nodes)

    def drawn(self, shown: Shown, width: int, rows: int, *, ascii_only: bool) -> RenderableType:
        return nodes_text(shown, width, rows, ascii_only=ascii_only)


class JobsPanel(SidePanel):
    """The bandwidth of jobs that are compared with each other, such as OSDs: a bar each, the slow ones marked."""

    def show(self, shown: Shown) -> None:
        self.border_title = " bandwidth of each "
        super().show(shown)

    def rows(self, shown: Shown, width: int) -> int:
        return len(shown.jobs)

    def drawn(self, shown: Shown, width: int, rows: int, *, ascii_only: bool) -> RenderableType:
        color = flow_color(shown.jobs[0].direction) if shown.jobs else ""
        return bars(shown.jobs, width=width, rows=rows, ascii_only=ascii_only, style=color)


class ClusterPanel(SidePanel):
    """The newest answer of the cluster."""

    def show(self, shown: Shown) -> None:
        by = f"cluster, OSDs by {'op' if _op_latencies(shown) else 'commit'} latency"
        if shown.run:
            named = {"cluster": shown.run.cluster, "OSDs": shown.run.osds, "findings": True}
            by = ", ".join(name for name, is_there in named.items() if is_there)
        self.border_title = f" {by} "
        super().show(shown)

    def rows(self, shown: Shown, width: int) -> int:
        return _cluster_rows(shown, width)

    def drawn(self, shown: Shown, width: int, rows: int, *, ascii_only: bool) -> RenderableType:
        return cluster_text(shown, width, rows, ascii_only=ascii_only)


def has_spread(shown: Shown) -> bool:
    """Whether there is something of which a distribution can be drawn."""
    return not shown.prefill and (any(shown.buckets.values()) or len(set(_seconds(shown))) > 1)


def _seconds(shown: Shown) -> Sequence[float]:
    """The figure of each second since the ramp, reads and writes together."""
    curve = shown.history.total(_by_seconds(shown).metric.name)
    return [mean for end, _, mean, _ in curve.stretches() if mean is not None and end > shown.history.ramp_until]


def _by_seconds(shown: Shown) -> Headline:
    """The first figure that adds up and that the tool has."""
    sums = [headline for headline in HEADLINES if headline.sums]
    return shown.written(next((headline for headline in sums if shown.has(*headline.metrics)), sums[0]))


class SpreadPanel(SidePanel):
    """How the I/Os are spread over their latencies; of a tool without histograms, the seconds over their figure."""

    def show(self, shown: Shown) -> None:
        when = "whole run" if shown.whole else "since the ramp" if shown.history.done else "last second"
        by = f"I/Os by {latency_word([shown.tool], shown.buckets)}"
        if not any(shown.buckets.values()):
            by = f"seconds by {_by_seconds(shown).title}"
        self.border_title = f" {by}, {when} "
        super().show(shown)

    def need(self, width: int) -> Need:
        return Need(0, _SPREAD_LEAST + self.gutter.height, is_whole=True)

    def drawn(self, shown: Shown, width: int, rows: int, *, ascii_only: bool) -> RenderableType:
        if any(shown.buckets.values()):
            return draw_latencies(shown.buckets, width, rows, ink_of(self))
        flow = next(iter(shown.history.directions), "")
        return draw_seconds(_seconds(shown), flow, _by_seconds(shown).metric, width, rows, ink_of(self))


KINDS: Mapping[str, type[SidePanel]] = {
    "nodes": NodesPanel,
    "jobs": JobsPanel,
    "cluster": ClusterPanel,
    "spread": SpreadPanel,
}
"""By the names of the panels, from the top."""


class Side(Vertical):
    """The column of the large digits and these panels; divides its rows among them."""

    def __init__(self) -> None:
        super().__init__(id="side")
        self._panels: dict[str, Now | SidePanel] = {}

    def share(self, panels: Mapping[str, Now | SidePanel], columns: int) -> None:
        """Show these panels, by their names from the top, in so many columns."""
        self._panels = dict(panels)
        self.display, self.styles.width = bool(panels), columns
        self.on_resize()

    def on_resize(self) -> None:
        width, rows = self.size
        needs = {name: panel.need(width) for name, panel in self._panels.items() if isinstance(panel, SidePanel)}
        if isinstance(now := self._panels.get("now"), Now):
            needs = {"now": now.need(width, rows - sum(need.some for need in needs.values())), **needs}
        for name, given in share_out(rows, needs).items():
            self._panels[name].display = given > 0
            self._panels[name].styles.height = given
