"""Charts of figures over each other: points with whiskers, joined by lines, each with its own text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui.frozen import dataclass
from cephtui.tui.charts.axes import gutter_of
from cephtui.tui.charts.canvas import Canvas, ChartStyles
from cephtui.tui.charts.ink import Ink, ink_of
from cephtui.tui.charts.scales import Fitted, Scale, labels_below
from cephtui.tui.charts.steps import PlotPoint
from cephtui.tui.terminal.profile import profile_of

_DOT, _DOT_ASCII = "●", "o"
_MIN_COLUMNS, _MIN_ROWS = 24, 5
_LABEL_COLUMNS = 6
"""Columns for each label of an axis of figures."""
Whisker = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Dot:
    """A point, in the units of its axes."""

    x: float
    y: float
    text: str = ""
    across: Whisker | None = None
    """The ends of a whisker along the x axis, and of one ``upright``; None for a single run."""
    upright: Whisker | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Points that a line joins, in their order."""

    label: str
    dots: tuple[Dot, ...]
    color: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines on two scales, and uprights."""

    lines: tuple[Joined, ...]
    x: Fitted
    y: Fitted
    dashed: tuple[tuple[float, str], ...] = ()
    """Values of x with their texts: a line over the whole height."""
    dotted: tuple[tuple[float, str], ...] = ()


def draw_plot(plot: Plot, width: int, height: int, ink: Ink) -> Text:
    """Draw into exactly ``height`` rows of ``width`` columns; nothing where there is no room for it."""
    rows = height - 2
    if width < _MIN_COLUMNS or rows < _MIN_ROWS:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    y = plot.y(rows)
    gutter = max(cell_len(label) for _, label in y.ticks) + 1
    columns = width - gutter
    x = plot.x(columns // _LABEL_COLUMNS)
    runs = [_runs(line, x, y) for line in plot.lines]
    canvas = Canvas(runs, [ink.glyphs.marker] * len(runs), columns, rows)
    styles = [Style.parse(line.color) for line in plot.lines]
    _annotate(canvas, plot, runs, x, styles, ink, columns)
    labels = y.labels_of_rows(rows)
    gutters = [gutter_of(labels.get(row), gutter, ink.glyphs) for row in range(rows)]
    axes = labels_below(x, columns, gutter, ink.glyphs, labels.get(rows, ""))
    return canvas.framed(gutters, axes, ChartStyles(ink.colors, ink.axis, styles, "", 0, "", ()))


def _runs(line: Joined, x: Scale, y: Scale) -> list[list[PlotPoint]]:
    """The line, then each whisker by itself, as fractions of the axes."""
    whiskers = [((dot.across[0], dot.y), (dot.across[1], dot.y)) for dot in line.dots if dot.across]
    whiskers += [((dot.x, dot.upright[0]), (dot.x, dot.upright[1])) for dot in line.dots if dot.upright]
    polylines: list[Sequence[PlotPoint]] = [[(dot.x, dot.y) for dot in line.dots], *whiskers]
    return [[(x.fraction(right), y.fraction(up)) for right, up in run] for run in polylines if run]


def _annotate(
    canvas: Canvas,
    plot: Plot,
    runs: Sequence[list[list[PlotPoint]]],
    x: Scale,
    styles: Sequence[Style],
    ink: Ink,
    columns: int,
) -> None:
    """Points in front of all, then texts, then the uprights where neither is."""
    symbol = _DOT_ASCII if ink.ascii_only else _DOT
    points = [
        (place, symbol, dot.text, style)
        for line, line_runs, style in zip(plot.lines, runs, styles, strict=True)
        for dot, place in zip(line.dots, line_runs[0], strict=True)
    ]
    canvas.put_points(points)
    for uprights, glyph in ((plot.dashed, ink.glyphs.mark), (plot.dotted, ink.glyphs.ramp)):
        at = [(min(columns - 1, int(x.fraction(value) * columns)), text) for value, text in uprights]
        canvas.put_marks(at, ink.mark)
        canvas.put_upright([column for column, _ in at], glyph, ink.mark)
    if not ink.colors and len(plot.lines) > 1:
        canvas.put_names([line.label for line in plot.lines], [line_runs[:1] for line_runs in runs], styles)


class PlotChart(Widget):
    """A plot that fills its box; `.plotchart--axis` styles axes, `.plotchart--mark` uprights and their texts."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"plotchart--axis", "plotchart--mark"}
    DEFAULT_CSS = """
    PlotChart { height: 1fr; border-top: solid $primary-darken-1; border-title-color: $foreground; }
    PlotChart > .plotchart--axis { color: $foreground 60%; }
    PlotChart > .plotchart--mark { color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__(id="plot")
        self._shown: Plot | None = None
        self._empty = ""

    def show(self, plot: Plot | None, empty: str = "") -> None:
        """Draw a plot; where there is none, why."""
        self._shown, self._empty = plot, empty
        self.refresh()

    def render(self) -> Text:
        if self._shown is None:
            return Text(self._empty)
        profile = profile_of(self)
        ink = ink_of(
            self,
            colors=not profile.ascii_only and profile.colors != "none",
            axis=Style(color=self.get_component_rich_style("plotchart--axis").color),
            mark=Style(color=self.get_component_rich_style("plotchart--mark").color),
        )
        return draw_plot(self._shown, *self.content_size, ink)
