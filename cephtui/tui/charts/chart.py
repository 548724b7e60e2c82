"""Line charts of a run: time in seconds to the right, a value upwards, from zero or on a logarithmic axis.

`draw` is a pure function from a picture to text, `Chart` the widget around it. plotext places the dots of the
lines; the axes are set here, so that labels never collide and no row is lost to a frame, a title or a legend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style, StyleType
from rich.text import Text

from cephtui.frozen import dataclass
from cephtui.tui.charts.areas import Area
from cephtui.tui.charts.axes import HUGE, TINY, TimeSpan, gutter_of, mark_columns, x_axis, y_axis
from cephtui.tui.charts.canvas import Canvas, ChartStyles, ColumnSpan
from cephtui.tui.charts.ink import Ink, ink_of
from cephtui.tui.charts.scales import Scale, logarithmic
from cephtui.tui.charts.steps import LineStep, Points, Raster, Trace, gaps, interval_start, steps
from cephtui.tui.charts.titled import Titled
from cephtui.tui.terminal.filters import PICTURE

_MIN_COLUMNS, _MIN_ROWS = 8, 4  # a chart smaller than this shows its lines without axes
_NO_DATA = "no data"
RAMP = "ramp, not counted"
"""What is hatched; the first word where there is no room for all."""


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One series: `points` are (seconds since the start, value in base units), sorted by time.

    A value holds from the point before to its own; several of one time are the least and greatest of an interval.
    None, NaN or infinity is a gap. `color` is a Rich colour name or '#rrggbb'; drawing an unknown one raises
    `rich.errors.StyleSyntaxError`. A point costs about a microsecond per drawing, so thin the run of a day before
    it gets here.
    """

    label: str
    points: tuple[tuple[float, float | None], ...]
    color: str
    fill: Literal["none", "zero", "band"] = "none"
    """What is filled: nothing, the area down to zero, or that between the line and the one before it in the picture."""


class Period(NamedTuple):
    """Something that took time."""

    begin_seconds: float
    end_seconds: float
    text: str
    stalled: bool = False
    """Whether no I/O was completed in it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Lines, and what is drawn beside them.

    The y axis starts at zero (a negative value is drawn as zero), or is logarithmic, and ends at a round value. What
    is outside of the x axis is left out.
    """

    lines: Sequence[ChartLine]
    y_format: Callable[[float], str]
    """Writes the labels of the y axis, from which zeros behind the last digit are cut."""
    x_end: float | None = None
    """Where the x axis ends, in seconds; None: at the last point."""
    part: TimeSpan | None = None
    """The part of a run that the x axis shows; None: from zero to ``x_end``."""
    shade_until: float | None = None
    """The end of the ramp in seconds: what is before is hatched, and set apart by a dotted line and words."""
    marks: Sequence[tuple[float, str]] = ()
    """Seconds and text: each is a line of its own, at the beginning of the interval that it falls into."""
    spans: Sequence[Period] = ()
    """Heavy stretches of the x axis on a tinted ground, the text above the axis where there is room."""
    binary: bool = False
    """Whether the labels of the y axis are round in powers of two, for bytes."""
    is_log: bool = False
    """Whether the y axis is logarithmic, from the round value below the least that is greater than zero."""
    least_gutter: int = 0
    """The y axis stands in this column or behind it, so that what is below can be in line."""
    named: bool = False
    """Whether each of several lines carries its label, as it does where there are no colours."""


@dataclass(frozen=True, slots=True)
class _Plot:
    """A picture laid out in the room that it has."""

    picture: Picture
    ink: Ink
    series: Sequence[Sequence[LineStep]]
    raster: Raster
    labels: dict[int, str]
    """Labels of the y axis by row; the row of the x axis is the one below the last."""
    gutter: int
    columns: int
    rows: int
    is_framed: bool

    @property
    def styles(self) -> list[StyleType]:
        """The styles of the lines."""
        return [
            self.ink.edge(line.color) if line.fill == "band" else Style.parse(line.color) for line in self.picture.lines
        ]


def draw_chart(picture: Picture, width: int, height: int, ink: Ink) -> Text:
    """Draw into exactly `height` rows of `width` columns."""
    if width < 1 or height < 1:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    plot = _laid_out(picture, width, height, ink)
    periods = sorted(_periods(plot), key=lambda period: period[1].stalled)
    canvas = _lines(plot)
    _annotate(canvas, plot, [(stretch, period.text, _style(period, ink)) for stretch, period in reversed(periods)])
    return _framed(canvas, plot, [(stretch, _style(period, ink)) for stretch, period in periods])


def _part_of(picture: Picture, part: TimeSpan) -> Picture:
    """The picture with its times from the beginning of a part, and what is outside left out."""
    begin, end = part.begin, part.end
    return replace(
        picture,
        lines=[replace(line, points=_points_within(line.points, part)) for line in picture.lines],
        x_end=part.seconds,
        shade_until=None if picture.shade_until is None else picture.shade_until - begin,
        marks=[(at - begin, text) for at, text in picture.marks if begin <= at <= end],
        spans=[
            period._replace(
                begin_seconds=max(0.0, period.begin_seconds - begin), end_seconds=period.end_seconds - begin
            )
            for period in picture.spans
        ],
    )


def _points_within(points: Points, part: TimeSpan) -> tuple[tuple[float, float | None], ...]:
    """The points of a part; the interval that its end falls into is cut there."""
    behind = next((at for at, _ in points if at >= part.end), HUGE)
    return tuple((min(at, part.end) - part.begin, value) for at, value in points if part.begin < at <= behind)


def _laid_out(picture: Picture, width: int, height: int, ink: Ink) -> _Plot:
    picture = _part_of(picture, picture.part) if picture.part else picture
    right = _right_end(picture)
    series = [steps(line.points, right) for line in picture.lines]
    peak = max((high for line_steps in series for *_, high in line_steps), default=0.0)
    if picture.is_log and peak > TINY:
        measured = [value for line_steps in series for *_, low, high in line_steps for value in (low, high)]
        least = min(value for value in measured if value > TINY)
        scale = logarithmic((least, peak), picture.y_format, height - 2)
        series = [_on_scale(line_steps, scale) for line_steps in series]
        top, labels = 1.0, scale.labels_of_rows(height - 2)
    else:
        top, labels = y_axis(peak, height - 2, picture.y_format, picture.binary)
    gutter = max(*map(cell_len, labels.values()), picture.least_gutter - 1) + 1
    is_framed = height >= _MIN_ROWS and width - gutter >= _MIN_COLUMNS
    columns, rows = (width - gutter, height - 2) if is_framed else (width, height)
    raster = Raster(columns * ink.glyphs.wide, rows * ink.glyphs.high, right, top)
    return _Plot(picture, ink, series, raster, labels, gutter, columns, rows, is_framed)


def _on_scale(line_steps: Sequence[LineStep], scale: Scale) -> list[LineStep]:
    """The steps with their values as fractions of an axis."""
    return [
        (begin, end, low, high) if low < 0.0 else (begin, end, scale.fraction(low), scale.fraction(high))
        for begin, end, low, high in line_steps
    ]


def _lines(plot: _Plot) -> Canvas:
    """The lines with their areas and names."""
    lines, glyphs = plot.picture.lines, plot.ink.glyphs
    traces = [Trace(line_steps, plot.raster) for line_steps in plot.series]
    runs = [trace.runs() for trace in traces]
    markers = [glyphs.edge if line.fill == "band" else glyphs.marker for line in lines]
    canvas = Canvas(runs, markers, plot.columns, plot.rows)
    areas = [*_areas(plot, traces)] or [*_ramp(plot)]
    canvas.fill([*areas, *_gaps(plot, traces)], glyphs)
    if (plot.picture.named or not plot.ink.colors) and len(lines) > 1:
        canvas.put_names([line.label for line in lines], runs, plot.styles)
    return canvas


def _areas(plot: _Plot, traces: Sequence[Trace]) -> Iterator[Area]:
    """What the lines fill."""
    glyphs, zero = plot.ink.glyphs, [0] * plot.raster.columns
    for number, (line, trace) in enumerate(zip(plot.picture.lines, traces, strict=True)):
        symbol = glyphs.area if plot.ink.shades and plot.ink.colors else glyphs.areas[number % len(glyphs.areas)]
        styles, grounds = plot.ink.area(line.color), plot.ink.area_ground(line.color)
        if line.fill == "zero":
            yield Area(zero, trace.low, styles, symbol, (number,), grounds)
        elif line.fill == "band" and number:
            yield Area(*trace.between(traces[number - 1]), styles, symbol, (number - 1, number), grounds)


def _ramp(plot: _Plot) -> Iterator[Area]:
    """All of the ramp, where no line fills a part of it."""
    if ramp := (_ramp_columns(plot) or 0) * plot.ink.glyphs.wide:
        columns, rows = plot.raster.columns, plot.raster.rows
        yield Area([0] * columns, [rows] * ramp + [0] * (columns - ramp), [plot.ink.shade], plot.ink.glyphs.hatch)


def _gaps(plot: _Plot, traces: Sequence[Trace]) -> Iterator[Area]:
    """The areas where no line has a value."""
    columns = gaps(plot.series, traces, plot.raster)
    if any(columns):
        zero, top = [0] * plot.raster.columns, [plot.raster.rows * is_gap for is_gap in columns]
        yield Area(zero, top, [plot.ink.axis], plot.ink.glyphs.gap, name=_NO_DATA)


def _annotate(canvas: Canvas, plot: _Plot, periods: Sequence[tuple[ColumnSpan, str, StyleType]]) -> None:
    """Texts and upright lines, where no line of the picture is."""
    picture, ink, right = plot.picture, plot.ink, plot.raster.right
    times = next(iter(plot.series), [])
    marks = mark_columns([(interval_start(times, at), text) for at, text in picture.marks], right, plot.columns)
    canvas.put_marks(marks, ink.mark)
    canvas.put_spans(periods)
    canvas.put_area_names(ink.axis)
    ramp = _ramp_columns(plot)
    if ramp is not None:
        canvas.put_ramp(ramp, (RAMP, RAMP.partition(",")[0]), ink.axis)
    canvas.put_upright([at for at, _ in marks], ink.glyphs.mark, ink.mark)
    if ramp is not None and ramp < plot.columns:
        canvas.put_upright([ramp], ink.glyphs.ramp, ink.axis)


def _framed(canvas: Canvas, plot: _Plot, periods: Sequence[tuple[ColumnSpan, StyleType]]) -> Text:
    """The plot with its axes."""
    ink, gutter = plot.ink, plot.gutter
    gutters = [
        gutter_of(plot.labels.get(row), gutter, ink.glyphs) if plot.is_framed else "" for row in range(plot.rows)
    ]
    stretches = [stretch for stretch, _ in periods]
    span = plot.picture.part or TimeSpan(0.0, plot.raster.right)
    axes = (
        x_axis(span, plot.columns, gutter, plot.labels.get(plot.rows, ""), ink.glyphs, stretches)
        if plot.is_framed
        else ()
    )
    styles = ChartStyles(
        ink.colors, ink.axis, plot.styles, ink.shade, _ramp_columns(plot) or 0, ink.glyphs.hatch, periods
    )
    return canvas.framed(gutters, axes, styles)


def _style(period: Period, ink: Ink) -> StyleType:
    return ink.stall if period.stalled else ink.span


def _right_end(picture: Picture) -> float:
    """The last second of the x axis."""
    if picture.x_end is not None and TINY < picture.x_end < HUGE:
        return picture.x_end
    last = max((x for line in picture.lines for x, _ in line.points if 0 <= x < HUGE), default=0.0)
    return last if last > TINY else 1.0


def _ramp_columns(plot: _Plot) -> int | None:
    """The width of the ramp; None where there is none."""
    until = plot.picture.shade_until
    return round(min(1.0, until / plot.raster.right) * plot.columns) if until is not None and 0 < until < HUGE else None


def _periods(plot: _Plot) -> Iterator[tuple[ColumnSpan, Period]]:
    """The columns of each period, at least one."""
    right, columns = plot.raster.right, plot.columns
    for period in plot.picture.spans:
        begin, end = period.begin_seconds, period.end_seconds
        if 0 <= begin <= right and end >= begin:
            first = min(columns - 1, int(begin / right * columns))
            yield (first, max(first + 1, min(columns, round(min(end, right) / right * columns)))), period


class Chart(Titled):
    """A chart that fills its box; border and title come from CSS and `border_title`.

    `.chart--axis` styles axes and notes, `.chart--mark` marks, `.chart--shade` (its backgrounds) the ramp,
    `.chart--span` and `.chart--stall` periods.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"chart--{part}" for part in ("axis", "mark", "shade", "span", "stall")}
    DEFAULT_CSS = """
    Chart { height: 1fr; }
    Chart > .chart--axis { color: $foreground 60%; }
    Chart > .chart--shade { color: $foreground 25%; background: $foreground 8%; }
    Chart > .chart--mark { color: $foreground; text-style: bold; }
    Chart > .chart--span { color: $warning; background: $warning 12%; }
    Chart > .chart--stall { color: $error; background: $error 25%; }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._shown: Picture | None = None

    def show(self, picture: Picture) -> None:
        """Show a picture; the same one again costs no redraw.

        Functions are compared by identity: pass the same `y_format` each time, not a new lambda.
        """
        if picture != self._shown:
            self._shown = picture
            self.refresh()

    def clear(self) -> None:
        """Show nothing."""
        self._shown = None
        self.refresh()

    def render(self) -> Text:
        if self._shown is None:
            return Text()
        ink = ink_of(
            self,
            axis=Style(color=self.get_component_rich_style("chart--axis").color),
            mark=Style(color=self.get_component_rich_style("chart--mark").color, bold=True),
            shade=self.get_component_rich_style("chart--shade") + PICTURE,
            span=self.get_component_rich_style("chart--span"),
            stall=self.get_component_rich_style("chart--stall"),
        )
        return draw_chart(replace(self._shown, named=self._shown.named or ink.ascii_only), *self.content_size, ink)
