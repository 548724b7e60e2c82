"""Line charts of a run: time in seconds to the right, a value that starts at zero upwards.

`draw` is a pure function from lines to text, `Chart` the widget around it. plotext places the dots of the
lines; the axes are set here, so that labels never collide and no row is lost to a frame, a title or a legend.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Required, TypedDict, Unpack

from rich.cells import cell_len
from rich.style import Style
from rich.text import Span, Text
from textual.widget import Widget

from cephtui.tui.look import look_of
from cephtui.tui.plotext_private import add_signal

_Point = tuple[float, float]
_Run = list[_Point]

_HUGE, _TINY = 1e300, 1e-300  # outside of these, the arithmetic of the axis would overflow or divide by zero
_MIN_COLUMNS, _MIN_ROWS = 8, 4  # a chart smaller than this shows its lines without axes
_MOST_STEPS_Y, _MOST_STEPS_X = 5, 10
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_DAYS = tuple(86400.0 * days for days in (1, 2, 5, 10, 20, 50, 100))
_HELD = "\0"
"""A blank of a text, which nothing is written on."""
_value: Callable[[_Point], float] = itemgetter(1)
_ZEROS = re.compile(r"(\.\d*?)0+(?!\d)")
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")
# plotext has one figure per process, and a call into its kernel releases the interpreter lock.
_PLOTEXT = threading.Lock()


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


class Picture(TypedDict, total=False):
    """What is drawn beside the lines, as `draw` explains it."""

    y_format: Required[Callable[[float], str]]
    x_end: float | None
    shade_until: float | None
    marks: Sequence[tuple[float, str]]
    spans: Sequence[tuple[float, float, str]]
    binary: bool
    least_gutter: int
    named: bool


@dataclass(frozen=True, slots=True)
class _Glyphs:
    """The characters of one look of the chart."""

    marker: str
    bar: str
    tick_y: str
    corner: str
    rule: str
    tick_x: str
    ramp: str
    mark: str
    span: str


MARK, ASCII_MARK = "╎", "|"
_UNICODE = _Glyphs("braille", "│", "┤", "└", "─", "┬", "┊", MARK, "━")
_ASCII = _Glyphs("*", "|", "+", "+", "-", "+", ":", ASCII_MARK, "=")


@dataclass(slots=True)
class _Row:
    """One row of the plot area: its characters and who drew which of them."""

    plain: str
    owned: list[tuple[int, int, int]]  # start, end, number of the line
    noted: list[tuple[int, int]]  # the stretches of annotations, styled like the axes

    def put(self, column: int, text: str) -> bool:
        """Write `text` at `column` if nothing is drawn there; say whether it was."""
        end = column + len(text)
        if column < 0 or end > len(self.plain) or self.plain[column:end].strip():
            return False
        self.plain = self.plain[:column] + text + self.plain[end:]
        self.noted.append((column, end))
        return True


@dataclass(frozen=True, slots=True)
class _Styles:
    """How to colour a chart: one style per line, then what surrounds them."""

    lines: Sequence[Style]
    axis: str | Style
    shade: str | Style
    span: str | Style


def preload() -> None:
    """Import plotext (about 0.1 s), so that the first chart does not wait for it; meant for a thread."""
    import plotext  # noqa: F401


def draw(
    lines: Sequence[Line],
    width: int,
    height: int,
    *,
    y_format: Callable[[float], str],
    x_end: float | None = None,
    shade_until: float | None = None,
    shade_label: str = "ramp",
    marks: Sequence[tuple[float, str]] = (),
    spans: Sequence[tuple[float, float, str]] = (),
    binary: bool = False,
    least_gutter: int = 0,
    named: bool = False,
    ascii: bool = False,
    color: bool = True,
    axis_style: str | Style = "dim",
    shade_style: str | Style = "on grey11",
    span_style: str | Style = "yellow",
) -> Text:
    """Draw `lines` into exactly `height` rows of `width` columns.

    The y axis starts at zero (a negative value is drawn as zero) and ends at a round value. `y_format`
    writes its labels, from which zeros behind the last digit are cut; `binary` makes them round in powers
    of two, for bytes. The x axis runs from 0 to `x_end` seconds (None: to the last point); points outside
    are left out. What is before `shade_until` seconds is set apart by `shade_style`, a dotted line and the
    word `shade_label`. Each of `marks`, (seconds, text), is a line of its own with its text. Each of
    `spans`, (from, to, text), is a heavy stretch of the x axis in `span_style`, its text above it where there is room.
    The y axis
    stands in column `least_gutter` or behind it, so that what is below can be in line. `ascii` keeps to
    ASCII characters. Without `color` the text has no style at all. Where it has none, or with `named`, each of
    several lines carries its label.
    """
    if width < 1 or height < 1:
        return Text("\n".join([" " * max(0, width)] * max(0, height)), no_wrap=True, end="")
    glyphs = _ASCII if ascii else _UNICODE
    right = _right_end(lines, x_end)
    series = [_runs(line.points, right) for line in lines]
    peak = max((y for runs in series for run in runs for _, y in run), default=0.0)
    top, labels = _y_axis(peak, height - 2, y_format, binary)
    gutter = max(*map(cell_len, labels.values()), least_gutter - 1) + 1
    framed = height >= _MIN_ROWS and width - gutter >= _MIN_COLUMNS
    columns, rows = (width - gutter, height - 2) if framed else (width, height)
    thinned = [[_thin(run, right, top, columns) for run in runs] for runs in series]
    canvas = _raster(thinned, columns, rows, glyphs.marker)
    if (named or not color) and len(lines) > 1:
        _names(canvas, lines, thinned)
    _put_marks(canvas, marks, right, glyphs.mark)  # what the user says comes before the dotted line
    ramp = _ramp(canvas, shade_until, right, shade_label, glyphs.ramp)
    heavy = _put_spans(canvas, spans, right)
    own = [Style.parse(line.color) for line in lines]
    styles = _Styles(own, axis_style, shade_style, span_style) if color else None
    if not framed:
        return _compose([("", row) for row in canvas], ramp, [], [], styles)
    gutters = [_gutter(labels.get(index), gutter, glyphs) for index in range(rows)]
    axes = _x_axis(right, columns, gutter, labels[rows], glyphs, heavy)
    stretches = [(gutter + 1 + begun, gutter + 1 + over) for begun, over in heavy]
    return _compose(list(zip(gutters, canvas, strict=True)), ramp, axes, stretches, styles)


def _right_end(lines: Sequence[Line], x_end: float | None) -> float:
    """The last second of the x axis."""
    if x_end is not None and _TINY < x_end < _HUGE:
        return x_end
    last = max((x for line in lines for x, _ in line.points if 0 <= x < _HUGE), default=0.0)
    return last if last > _TINY else 1.0


def _runs(points: Sequence[tuple[float, float | None]], right: float) -> list[_Run]:
    """Split `points` at every gap, leaving finite numbers inside the axes only.

    This is the one guard in front of plotext: there a NaN aborts the process, as does a point far outside
    of the limits (memory for every dot on the way to it), and None and infinity raise.
    """
    runs: list[_Run] = [[]]
    for x, y in points:
        if y is not None and -_HUGE < y < _HUGE and 0.0 <= x <= right:
            runs[-1].append((x, max(0.0, y)))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _thin(run: _Run, right: float, top: float, columns: int) -> _Run:
    """Keep the lowest and the highest point of each column, in order, as fractions (0 to 1) of the axes.

    A column is two dots wide, so two points are all it can show. A mean would hide the peak, and the second
    in which nothing was written.
    """
    out: _Run = []
    for _, group in groupby(run, lambda point: int(point[0] / right * columns)):
        bucket = list(group)
        if len(bucket) > 2:
            bucket = sorted({min(bucket, key=_value), max(bucket, key=_value)})
        out += [(x / right, min(1.0, y / top)) for x, y in bucket]
    return out


def _y_axis(peak: float, rows: int, y_format: Callable[[float], str], binary: bool) -> tuple[float, dict[int, str]]:
    """The value at the top edge, and the labels by row (row `rows` is the one below the plot area: zero)."""
    rows = max(1, rows)
    if peak < _TINY:
        return 1.0, {rows: "0"}
    step = _y_step(peak, max(1, min(_MOST_STEPS_Y, rows // 2)), binary)
    steps = max(1, math.ceil(peak / step - 1e-9))
    labels = {
        (steps - index) * rows // steps: _trimmed(y_format(step * index)) if index else "0"
        for index in range(steps + 1)
    }
    if len(set(labels.values())) <= steps:  # the format is too coarse to tell the steps apart
        labels = {rows: "0", 0: labels[0]}
    return step * steps, labels


def _trimmed(label: str) -> str:
    """`label` without the zeros that a format of fixed precision leaves: 5.00k is 5k, 2.50k is 2.5k."""
    return _ZEROS.sub(lambda match: match[1].rstrip("."), label)


def _y_step(peak: float, most: int, binary: bool) -> float:
    """The smallest round step that reaches `peak` in at most `most` steps."""
    least = peak / most
    if binary:
        return float(2.0 ** math.ceil(math.log2(least)))
    power = 10.0 ** math.floor(math.log10(least))
    return next((power * factor for factor in _ROUND if power * factor >= least), power * 10.0)


def _x_ticks(right: float, columns: int) -> list[tuple[int, str]]:
    """Column and label of each tick: as many round times as fit without crowding, at least the zero."""
    for step in (*_SECONDS, *_DAYS):
        count = math.floor(right / step + 1e-9)
        if not 1 <= count <= _MOST_STEPS_X:
            continue
        labels = _x_labels([step * index for index in range(count + 1)], right)
        if columns * step / right >= 1.5 * max(map(len, labels)) + 2:
            at = [min(columns - 1, int(step * index / right * columns)) for index in range(count + 1)]
            return list(zip(at, labels, strict=True))
    return [(0, "0")]


def _x_labels(seconds: Sequence[float], right: float) -> list[str]:
    """Plain seconds below two minutes (the last one with its unit), then m:ss, then hours."""
    if right < 120:
        labels = [f"{value:g}" for value in seconds]
        return [*labels[:-1], f"{labels[-1]} s"]
    whole = [round(value) for value in seconds]
    if right < 3600:
        return ["0", *(f"{value // 60}:{value % 60:02}" for value in whole[1:])]
    return ["0", *(f"{value // 3600}:{value // 60 % 60:02} h" for value in whole[1:])]


def time_labels(right: float, columns: int) -> str:
    """The times below a plot area of so many columns, which ends after ``right`` seconds."""
    labels = [" "] * columns
    for column, label in _x_ticks(right, columns):
        start = max(0, min(column - len(label) // 2, columns - len(label)))
        labels[start : start + len(label)] = label
    return "".join(labels)


def _x_axis(
    right: float, columns: int, gutter: int, zero: str, glyphs: _Glyphs, heavy: Sequence[tuple[int, int]]
) -> tuple[str, str]:
    """The rule below the plot area with its ticks and ``heavy`` stretches, and the row of labels below that."""
    rule = [glyphs.rule] * columns
    for begun, over in heavy:
        rule[begun:over] = [glyphs.span] * (over - begun)
    for column, _ in _x_ticks(right, columns)[1:]:
        rule[column] = glyphs.tick_x
    return _label(zero, gutter) + glyphs.corner + "".join(rule), " " * gutter + time_labels(right, columns)


def _gutter(label: str | None, gutter: int, glyphs: _Glyphs) -> str:
    """What stands left of one row of the plot area."""
    return _label(label or "", gutter) + (glyphs.bar if label is None else glyphs.tick_y)


def _label(label: str, gutter: int) -> str:
    """`label` flush right in front of the axis, the last column of the gutter."""
    return " " * (gutter - 1 - cell_len(label)) + label


def _raster(series: Sequence[Sequence[_Run]], columns: int, rows: int, marker: str) -> list[_Row]:
    """Have plotext draw the runs of each line, given as fractions of the axes."""
    import plotext

    with _PLOTEXT:
        plotext.terminal.limit(False, False)
        figure: Any = plotext.figure.clear()
        figure.canvas("default").axes(False).legend(False).plot_size(columns, rows)
        for axis in ("x", "y"):
            figure.ruler(axis).frequency(0).lim(0.0, 1.0).alignment(lim="edge")
        for index, runs in enumerate(series):
            _add(figure, runs, plotext.marker(marker, pixel=index % 256))
        drawn: str = figure.build().string()
    return [_row(row) for row in drawn.split("\n")[:rows]]


def _add(figure: Any, runs: Sequence[_Run], marker: Any) -> None:
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


def _row(drawn: str) -> _Row:
    """Read one row of plotext's output, where the number of a colour is the number of the line."""
    plain, owned, owner = "", [], -1
    for index, piece in enumerate(_ESCAPE.split(drawn)):
        if index % 2:
            owner = int(piece.rpartition(";")[2]) if piece.startswith("38;5;") else -1
        elif piece:
            if owner >= 0:
                owned.append((len(plain), len(plain) + len(piece), owner))
            plain += piece
    return _Row(plain, owned, [])


def _names(canvas: list[_Row], lines: Sequence[Line], series: Sequence[Sequence[_Run]]) -> None:
    """Write each label onto its line, at places spread over the width."""
    rows, columns = len(canvas), len(canvas[0].plain)
    for index, (line, runs) in enumerate(zip(lines, series, strict=True)):
        points = [point for run in runs for point in run]
        label = line.label[:columns]
        if points and label.isprintable() and cell_len(label) == len(label):
            x, y = points[(2 * index + 1) * len(points) // (2 * len(lines))]
            row, column = canvas[min(rows - 1, int((1 - y) * rows))], int(x * columns) - len(label) // 2
            column = max(0, min(column, columns - len(label)))
            row.plain = row.plain[:column] + label + row.plain[column + len(label) :]


def _ramp(canvas: list[_Row], until: float | None, right: float, label: str, glyph: str) -> int:
    """Mark the end of the ramp where nothing is drawn, and name it; its width in columns."""
    if until is None or not 0 < until < _HUGE:
        return 0
    columns = len(canvas[0].plain)
    end = round(min(1.0, until / right) * columns)
    if end < columns:
        for row in canvas:
            row.put(end, glyph)
    any(row.put(end - len(label) - 1, label) for row in canvas)
    return end


def mark_columns(marks: Sequence[tuple[float, str]], right: float, columns: int) -> list[tuple[int, str]]:
    """The column of each mark in a plot area of so many, which ends after ``right`` seconds."""
    return [(min(columns - 1, round(at / right * columns)), text) for at, text in marks if 0 <= at <= right]


def _put_marks(canvas: list[_Row], marks: Sequence[tuple[float, str]], right: float, glyph: str) -> None:
    """A line for each mark where nothing is drawn, and its text beside it in the first row that has room."""
    columns = len(canvas[0].plain)
    shown = mark_columns(marks, right, columns)
    for at, text in shown:  # before the lines, which leave their place to the texts
        plain = "".join(letter if letter.isprintable() and cell_len(letter) == 1 else "?" for letter in text)
        label = plain[: columns // 2].replace(" ", _HELD)
        before = at - len(label) - 1
        any(row.put(at + 2, label) or (before >= 0 and row.put(before, label)) for row in canvas)
    for row in canvas:
        for at, _ in shown:
            row.put(at, glyph)


def _put_spans(canvas: list[_Row], spans: Sequence[tuple[float, float, str]], right: float) -> list[tuple[int, int]]:
    """The columns of each stretch of time, and its text in the lowest row that has room; the same text once."""
    columns = len(canvas[0].plain)
    found, told = [], set[str]()
    for begun, over, text in spans:
        if not 0 <= begun <= right or over < begun:
            continue
        first = min(columns - 1, int(begun / right * columns))
        last = max(first + 1, min(columns, round(min(over, right) / right * columns)))
        found.append((first, last))
        label = "".join(letter if letter.isprintable() and cell_len(letter) == 1 else "?" for letter in text)
        label = f" {label[: columns // 2]} ".replace(" ", _HELD)
        at = max(0, min(first, columns - len(label)))
        if text not in told and any(row.put(at, label) for row in reversed(canvas)):
            told.add(text)
    return found


def _compose(
    rows: Sequence[tuple[str, _Row]],
    ramp: int,
    axes: Sequence[str],
    heavy: Sequence[tuple[int, int]],
    styles: _Styles | None,
) -> Text:
    """Put the rows of the plot area, each behind its gutter, on top of the rows of the axis."""
    text = Text(
        "\n".join([*(gutter + row.plain.replace(_HELD, " ") for gutter, row in rows), *axes]), no_wrap=True, end=""
    )
    if styles is None:
        return text
    at = 0
    for gutter, row in rows:
        start = at + len(gutter)
        text.spans.append(Span(at, start, styles.axis))
        text.spans.append(Span(start, start + ramp, styles.shade))
        text.spans.extend(Span(start + a, start + b, styles.axis) for a, b in row.noted)
        text.spans.extend(Span(start + a, start + b, styles.lines[i]) for a, b, i in row.owned)
        at = start + len(row.plain) + 1
    if axes:
        text.spans.append(Span(at, len(text), styles.axis))
        text.spans.extend(Span(at + begun, at + over, styles.span) for begun, over in heavy)
    return text


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

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make an empty chart."""
        super().__init__(name=name, id=id, classes=classes)
        self._shown: tuple[tuple[Line, ...], Picture] | None = None

    def show(self, lines: Sequence[Line], **picture: Unpack[Picture]) -> None:
        """Show `lines`, the arguments being those of `draw`; the same ones again cost no redraw.

        Functions are compared by identity: pass the same `y_format` each time, not a new lambda.
        """
        shown = tuple(lines), picture
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def clear(self) -> None:
        """Show nothing."""
        self._shown = None
        self.refresh()

    def render(self) -> Text:
        """Draw what was last shown at the present size."""
        if self._shown is None:
            return Text()
        lines, picture = self._shown
        plain = look_of(self).ascii
        picture = {**picture, "named": picture.get("named", False) or plain}
        return draw(
            lines,
            *self.content_size,
            **picture,
            ascii=plain,
            color=not self.app.no_color,
            axis_style=Style(color=self.get_component_rich_style("chart--axis").color),
            shade_style=Style(bgcolor=self.get_component_rich_style("chart--shade").bgcolor),
            span_style=Style(color=self.get_component_rich_style("chart--span").color),
        )
