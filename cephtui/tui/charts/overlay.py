"""One figure of two runs in one chart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui.analysis.runs.history import History
from cephtui.models.metrics import LIVE, Metric
from cephtui.tui.charts.chart import ChartLine, Picture, draw_chart
from cephtui.tui.charts.colors import SIDE_COLORS
from cephtui.tui.charts.ink import ink_of
from cephtui.tui.charts.steps import Points
from cephtui.tui.terminal.profile import profile_of

Curves = Mapping[str, Points]
"""Elapsed seconds and values by ``read.iops``, ``write.latency_p99_seconds`` and the like."""


def curve_points(history: History) -> Curves:
    """The points of every figure of all nodes."""
    return {name: curve.points() for name, curve in history.curves.items()}


_NAMES_ON_A_LINE = 3
"""How often a line carries its name where colours don't distinguish the two."""


def overlay_lines(left: Points, right: Points, *, in_pieces: bool) -> list[ChartLine]:
    """Both sides as lines named A and B; in pieces each carries its name several times where names are drawn."""
    pieces = _NAMES_ON_A_LINE if in_pieces else 1
    return [
        ChartLine(name, part, SIDE_COLORS[name])
        for name, points in (("A", left), ("B", right))
        for part in _cut(points, pieces)
    ]


def _cut(points: Points, pieces: int) -> list[tuple[tuple[float, float | None], ...]]:
    """So many parts that follow each other; each begins where the one before ends, so that the line is whole."""
    edges = [round(index * (len(points) - 1) / pieces) for index in range(pieces + 1)]
    if len(points) <= pieces:
        return [tuple(points)] if points else []
    return [tuple(points[start : end + 1]) for start, end in pairwise(edges)]


class Overlay(Widget):
    """One figure of both sides in one chart. Where there is ASCII only, names on the lines distinguish them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"overlay--axis"}
    DEFAULT_CSS = """
    Overlay { width: 1fr; height: 100%; border-top: solid $primary-darken-1; border-title-color: $foreground; }
    Overlay > .overlay--axis { color: $foreground 60%; }
    """

    def __init__(self, direction: str) -> None:
        super().__init__(id=f"{direction}-overlay")
        self._direction, self._metric = direction, LIVE[0]
        self._sides: tuple[Points, Points] = ((), ())

    def show(self, metric: Metric, left: Points, right: Points, *, flow: str = "") -> None:
        """Draw this metric of both sides; ``flow`` is given where it is not that of the chart."""
        self._metric, self._sides = metric, (left, right)
        names = "   ".join(f"[{color}]{name}[/]" for name, color in SIDE_COLORS.items())
        self.border_title = f" compare {flow or self._direction} {metric.full_title}   {names} "
        self.refresh()

    def render(self) -> Text:
        profile = profile_of(self)
        axis = Style(color=self.get_component_rich_style("overlay--axis").color)
        ink = ink_of(self, colors=not profile.ascii_only and profile.colors != "none", axis=axis)
        lines, metric = overlay_lines(*self._sides, in_pieces=not ink.colors), self._metric
        picture = Picture(lines, metric.as_text, binary=metric.binary, is_log=metric.is_log)
        return draw_chart(picture, *self.content_size, ink)
