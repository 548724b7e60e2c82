"""Line charts of a run: time in seconds to the right, a value that starts at zero upwards.

`draw` is a pure function from a picture to text, `Chart` the widget around it. plotext places the dots of the
lines; the axes are set here, so that labels never collide and no row is lost to a frame, a title or a legend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cephtui.tui.charts.axes import HUGE, TINY, gutter_of, mark_columns, x_axis, y_axis
from cephtui.tui.charts.canvas import Canvas, Point, Stretch
from cephtui.tui.charts.ink import Ink
from cephtui.tui.terminal.profile import profile_of

_MIN_COLUMNS, _MIN_ROWS = 8, 4  # a chart smaller than this shows its lines without axes
_value: Callable[[Point], float] = itemgetter(1)


@dataclass(frozen=True, slots=True)
class Line:
    """One series: `points` are (seconds since the start, value in base units), sorted by time.

    A value of None, NaN or infinity is a gap: nothing is drawn from the point before it to the one after it.
    `color` is a Rich colour name or '#rrggbb'; drawing an unknown one raises `rich.errors.StyleSyntaxError`.
    A point costs about a microsecond per drawing, so thin the run of a day before it gets here.
    """

    label: str
    points: tuple[tuple[float, float | None], ...]
    color: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Lines, and what is drawn beside them.

    The y axis starts at zero (a negative value is drawn as zero) and ends at a round value. The x axis starts at
    zero; points outside are left out.
    """

    lines: Sequence[Line]
    y_format: Callable[[float], str]
    """Writes the labels of the y axis, from which zeros behind the last digit are cut."""
    x_end: float | None = None
    """Where the x axis ends, in seconds; None: at the last point."""
    shade_until: float | None = None
    """The end of the ramp in seconds: what is before is set apart by its background, a dotted line and a word."""
    shade_label: str = "ramp"
    marks: Sequence[tuple[float, str]] = ()
    """Seconds and text: each is a line of its own."""
    spans: Sequence[tuple[float, float, str]] = ()
    """From, to, and text: heavy stretches of the x axis, the text above where there is room."""
    binary: bool = False
    """Whether the labels of the y axis are round in powers of two, for bytes."""
    least_gutter: int = 0
    """The y axis stands in this column or behind it, so that what is below can be in line."""
    named: bool = False
    """Whether each of several lines carries its label, as it does where there are no colours."""


def preload() -> None:
    """Import plotext (about 0.1 s), so that the first chart does not wait for it; meant for a thread."""
    import plotext  # noqa: F401


def draw(picture: Picture, width: int, height: int, ink: Ink) -> Text:
    """Draw into exactly `height` rows of `width` columns."""
    if width < 1 or height < 1:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    glyphs, right = ink.glyphs, _right_end(picture)
    series = [_runs(line.points, right) for line in picture.lines]
    peak = max((y for runs in series for run in runs for _, y in run), default=0.0)
    top, labels = y_axis(peak, height - 2, picture.y_format, picture.binary)
    gutter = max(*map(cell_len, labels.values()), picture.least_gutter - 1) + 1
    framed = height >= _MIN_ROWS and width - gutter >= _MIN_COLUMNS
    columns, rows = (width - gutter, height - 2) if framed else (width, height)
    thinned = [[_thin(run, right, top, columns) for run in runs] for runs in series]
    canvas = Canvas(thinned, columns, rows, glyphs.marker)
    if (picture.named or not ink.colors) and len(picture.lines) > 1:
        canvas.put_names([line.label for line in picture.lines], thinned)
    canvas.put_marks(mark_columns(picture.marks, right, columns), glyphs.mark)  # before the dotted line of the ramp
    ramp = _ramp_columns(picture.shade_until, right, columns)
    if ramp is not None:
        canvas.put_ramp(ramp, picture.shade_label, glyphs.ramp)
    spans = _span_columns(picture.spans, right, columns)
    canvas.put_spans(spans)
    stretches = [stretch for stretch, _ in spans]
    styles = [Style.parse(line.color) for line in picture.lines]
    gutters = [gutter_of(labels.get(index), gutter, glyphs) if framed else "" for index in range(rows)]
    axes = x_axis(right, columns, gutter, labels[height - 2], glyphs, stretches) if framed else ()
    return canvas.framed(gutters, axes, ramp or 0, stretches, ink, styles)


def _right_end(picture: Picture) -> float:
    """The last second of the x axis."""
    if picture.x_end is not None and TINY < picture.x_end < HUGE:
        return picture.x_end
    last = max((x for line in picture.lines for x, _ in line.points if 0 <= x < HUGE), default=0.0)
    return last if last > TINY else 1.0


def _runs(points: Sequence[tuple[float, float | None]], right: float) -> list[list[Point]]:
    """Split `points` at every gap, leaving finite numbers inside the axes only.

    This is the one guard in front of plotext: there a NaN aborts the process, as does a point far outside
    of the limits (memory for each dot up to it), and None and infinity raise.
    """
    runs: list[list[Point]] = [[]]
    for x, y in points:
        if y is not None and -HUGE < y < HUGE and 0.0 <= x <= right:
            runs[-1].append((x, max(0.0, y)))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _thin(run: Sequence[Point], right: float, top: float, columns: int) -> list[Point]:
    """Keep the lowest and the highest point of each column, in order, as fractions (0 to 1) of the axes.

    A column is two dots wide, so two points are all it can show. A mean would hide the peak, and the second
    in which nothing was written.
    """
    out: list[Point] = []
    for _, group in groupby(run, lambda point: int(point[0] / right * columns)):
        bucket = list(group)
        if len(bucket) > 2:
            bucket = sorted({min(bucket, key=_value), max(bucket, key=_value)})
        out += [(x / right, min(1.0, y / top)) for x, y in bucket]
    return out


def _ramp_columns(until: float | None, right: float, columns: int) -> int | None:
    """The width of the ramp; None where there is none."""
    return round(min(1.0, until / right) * columns) if until is not None and 0 < until < HUGE else None


def _span_columns(spans: Sequence[tuple[float, float, str]], right: float, columns: int) -> list[tuple[Stretch, str]]:
    """The columns of each stretch of time, at least one, and its text."""
    found = []
    for begun, over, text in spans:
        if 0 <= begun <= right and over >= begun:
            first = min(columns - 1, int(begun / right * columns))
            last = max(first + 1, min(columns, round(min(over, right) / right * columns)))
            found.append(((first, last), text))
    return found


class Chart(Widget):
    """A chart that fills its box; border and title come from CSS and `border_title`.

    `.chart--axis` (its colour) styles axes and notes, `.chart--shade` (its background) the ramp,
    `.chart--span` (its colour) the stretches of the x axis.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"chart--axis", "chart--shade", "chart--span"}
    DEFAULT_CSS = """
    Chart { height: 1fr; }
    Chart > .chart--axis { color: $foreground 60%; }
    Chart > .chart--shade { background: $foreground 8%; }
    Chart > .chart--span { color: $warning; }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        """Make an empty chart."""
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
        """Draw what was last shown at the present size."""
        if self._shown is None:
            return Text()
        plain = profile_of(self).ascii_only
        ink = Ink(
            colors=not self.app.no_color,
            ascii_only=plain,
            axis=Style(color=self.get_component_rich_style("chart--axis").color),
            shade=Style(bgcolor=self.get_component_rich_style("chart--shade").bgcolor),
            span=Style(color=self.get_component_rich_style("chart--span").color),
        )
        return draw(replace(self._shown, named=self._shown.named or plain), *self.content_size, ink)
