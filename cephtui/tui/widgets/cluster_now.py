"""The newest answer of the cluster, in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.widgets import Static

from cephtui import units
from cephtui.reports.words.text import cluster_line

if TYPE_CHECKING:
    from cephtui.models import ClusterSample

HEALTH_STYLES = {"HEALTH_OK": "bold green", "HEALTH_WARN": "bold yellow", "HEALTH_ERR": "bold red"}
_BADGE_STYLES = {"HEALTH_OK": "bold", "HEALTH_WARN": "bold black on yellow", "HEALTH_ERR": "bold white on red"}
"""Styles that can be read on any ground."""
_STALE_SECONDS, _WIDE_COLUMNS = 5.0, 100


def health_text(cluster: ClusterSample, *, badge: bool = False) -> Text:
    """``HEALTH_OK  3/3 osd``; as a ``badge`` it can be read on any ground."""
    styles = _BADGE_STYLES if badge else HEALTH_STYLES
    text = Text.assemble((cluster.health or "health unknown", styles.get(cluster.health or "", "bold")))
    return text.append(f"  {cluster.osds_up}/{cluster.osds} osd") if cluster.osds else text


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
