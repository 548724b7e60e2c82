"""Lines as rows of dots: the one door to plotext, which a NaN aborts and a far value fills the memory of."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isfinite
from typing import Any

from cephtui.tui.charts.plotext_private import add_signal
from cephtui.tui.charts.steps import PlotPoint

# plotext has one figure per process, and a call into its kernel releases the interpreter lock.
_PLOTEXT = threading.Lock()


def preload() -> None:
    """Import plotext (about 0.1 s), so that the first chart does not wait for it; meant for a thread."""
    import plotext  # noqa: F401


def rasterised(
    series: Sequence[Sequence[Sequence[PlotPoint]]], markers: Sequence[str], columns: int, rows: int
) -> list[str]:
    """The rows of a plot area with the runs of each line, which are not connected to each other.

    Points are fractions of the axes, each in the range 0 to 1: one outside is drawn at the edge, and one that has no
    finite number ends its run. In each row an escape sequence before a dot has the number of its line as a colour.
    """
    import plotext

    with _PLOTEXT:
        plotext.terminal.limit(False, False)
        figure: Any = plotext.figure.clear()
        figure.canvas("default").axes(False).legend(False).plot_size(columns, rows)
        for axis in ("x", "y"):
            figure.ruler(axis).frequency(0).lim(0.0, 1.0).alignment(lim="edge")
        for index, (runs, marker) in enumerate(zip(series, markers, strict=True)):
            _add(figure, [part for run in runs for part in _drawable(run)], plotext.marker(marker, pixel=index % 256))
        drawn: str = figure.build().string()
    return drawn.split("\n")[:rows]


def _drawable(run: Sequence[PlotPoint]) -> Iterator[list[PlotPoint]]:
    """The parts of a run between points that have no finite number."""
    for finite, points in groupby(run, lambda point: isfinite(point[0]) and isfinite(point[1])):
        if finite:
            yield [(min(1.0, max(0.0, x)), min(1.0, max(0.0, y))) for x, y in points]


def _add(figure: Any, runs: Sequence[Sequence[PlotPoint]], marker: Any) -> None:
    """Add one line to the figure, its runs not connected to each other."""
    points = [point for run in runs for point in run]
    if not points:
        return
    signal = figure.signal([x for x, _ in points], [y for _, y in points], marker=marker).lines()
    start = 0
    for run in runs:
        signal.line(start, False)
        start += len(run)
    add_signal(figure, signal)
