"""The newest answer of the cluster: in one row, or as a panel."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from cephtui import units
from cephtui.models import ClusterSample
from cephtui.reports.words.text import cluster_line
from cephtui.tui.terminal.profile import profile_of

_HEALTH_STYLES = {"HEALTH_OK": "bold green", "HEALTH_WARN": "bold yellow", "HEALTH_ERR": "bold red"}
_BADGE_STYLES = {"HEALTH_OK": "bold", "HEALTH_WARN": "bold black on yellow", "HEALTH_ERR": "bold white on red"}
"""Styles that can be read on any ground."""
_STALE_SECONDS, _WIDE_COLUMNS = 5.0, 100
_BAR_COLUMNS = 20


def health_text(cluster: ClusterSample, *, badge: bool = False) -> Text:
    """``HEALTH_OK  3/3 osd``; as a ``badge`` it can be read on any ground."""
    styles = _BADGE_STYLES if badge else _HEALTH_STYLES
    text = Text.assemble((cluster.health or "health unknown", styles.get(cluster.health or "", "bold")))
    return text.append(f"  {cluster.osds_up}/{cluster.osds} osd") if cluster.osds else text


def cluster_text(cluster: ClusterSample, width: int, rows: int, *, ascii_only: bool) -> Text:
    """Health, clients, recovery, PGs that are not clean, then its slowest OSDs by their commit latency."""
    iops, bandwidth = units.iops(cluster.client_iops), units.bandwidth(cluster.client_bandwidth_bytes)
    lines = [health_text(cluster), Text(f"client {iops} IOPS, {bandwidth}")]
    if cluster.recovery_bandwidth_bytes:
        lines.append(Text(f"recovery {units.bandwidth(cluster.recovery_bandwidth_bytes)}", "yellow"))
    unclean = {state: number for state, number in cluster.pg_states.items() if state != "active+clean"}
    lines += [Text(f"{number} PGs {state}", "yellow") for state, number in unclean.items()]
    lines = lines[: max(1, rows)]
    lines += _slowest(cluster, width, rows - len(lines), "#" if ascii_only else "━")
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _slowest(cluster: ClusterSample, width: int, rows: int, bar: str) -> list[Text]:
    """A row for each OSD, with a bar by its share of the slowest one's latency."""
    osds = sorted(cluster.osd_latency_seconds.items(), key=lambda osd: -osd[1])[: max(0, rows)]
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


class ClusterPanel(Static):
    """What the cluster says, in a frame."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: ClusterSample | None = None

    def on_mount(self) -> None:
        self.border_title = " cluster, its slowest OSDs "

    def show(self, cluster: ClusterSample | None) -> None:
        self._shown = cluster
        self.on_resize()

    def on_resize(self) -> None:
        if self._shown:
            plain = profile_of(self).ascii_only
            self.update(cluster_text(self._shown, *self.content_size, ascii_only=plain), layout=False)


class ClusterNow(Static):
    """The cluster's state, in one row, with its age where it is stale."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown: ClusterSample | None = None
        self._since = 0.0

    def clear(self) -> None:
        """Forget the cluster of the last run."""
        self._shown = None
        self.display = False

    def show(self, cluster: ClusterSample | None, now: float) -> None:
        """Draw the latest answer, seen at ``now`` of any clock in seconds."""
        if cluster is None:
            return
        if cluster is not self._shown:
            self._shown, self._since = cluster, now
        age = now - self._since
        text = Text(cluster_line(cluster, narrow=self.size.width < _WIDE_COLUMNS))
        if age > _STALE_SECONDS:
            text.append(f"  {units.duration(age)} ago", "bold yellow")
        self.display = True
        self.update(text, layout=False)
