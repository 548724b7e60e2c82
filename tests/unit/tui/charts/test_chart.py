"""Charts and sparklines: nothing but finite numbers reaches plotext, and nothing that matters is hidden."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import pairwise
from typing import Any, Literal
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.errors import StyleSyntaxError
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult

from cephtui.reports.drawn.sparks import extent, spark, spark_rows
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import Chart, ChartLine, Period, Picture, draw_chart
from cephtui.tui.charts.colors import FLOW_COLORS, node_color
from cephtui.tui.charts.ink import Ink
from cephtui.tui.charts.rasterised import preload, rasterised
from cephtui.tui.terminal.downgrade import RGB, contrast
from cephtui.tui.terminal.profile import GRAPHS, Graph
from cephtui.tui.widgets.sparkline import Spark, Sparks
from cephtui.units import bandwidth, iops, latency

BLOCKS = "▁▂▃▄▅▆▇█"
Values = list[float | None]
Fill = Literal["none", "zero", "band"]

numbers = st.one_of(st.floats(), st.floats(0, 1e6), st.sampled_from([0.0, 1e15, -1e15, 1e308, 5e-324]))
points = st.lists(st.tuples(numbers, st.one_of(st.none(), numbers)), max_size=40).map(tuple)
lines_of_anything = st.lists(st.builds(ChartLine, st.text(max_size=3), points, st.just("cyan")), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    preload()


def line(values: Sequence[float | None], step: float = 1.0, label: str = "read") -> ChartLine:
    return ChartLine(label, tuple((index * step, value) for index, value in enumerate(values)), "cyan")


def rows(*lines: ChartLine, width: int = 60, height: int = 12, **options: Any) -> list[str]:
    """The rows of a chart, checked for their number and width."""
    ink = Ink(colors=options.pop("color", False), graph=options.pop("graph", "braille"))
    out = draw_chart(Picture(lines, options.pop("y_format", iops), **options), width, height, ink).plain.split("\n")
    assert len(out) == height
    assert {cell_len(row) for row in out} == {width}
    return out


def plot(chart: Sequence[str]) -> list[str]:
    """The plot area alone: what is right of the y axis, without the two rows of the x axis."""
    return [re.split("[│┤|+]", row, maxsplit=1)[1] for row in chart[:-2]]


def drawn(chart: Sequence[str]) -> list[bool]:
    """Whether something is drawn in each column of the plot area."""
    return [any(cell != " " for cell in column) for column in zip(*plot(chart), strict=True)]


def x_ticks(row: str) -> list[float]:
    """The seconds that the labels of an x axis stand for."""
    labels = re.findall(r"\d+:\d\d h|\d+:\d\d|\d[\d.]*", row)
    return [_seconds(label) for label in labels]


def _seconds(label: str) -> float:
    whole, _, rest = label.removesuffix(" h").partition(":")
    base = 60 if label.endswith(" h") else 1
    return float(whole) if not rest else (int(whole) * 60 + int(rest)) * base


# What reaches plotext


@given(
    lines_of_anything,
    st.integers(-1, 200),
    st.integers(-1, 60),
    st.one_of(st.none(), numbers),
    st.one_of(st.none(), numbers),
    st.sampled_from(["linear", "binary", "logarithmic"]),
    st.booleans(),
)
@example([ChartLine("", ((0.0, math.nan), (1.0, 1.0), (math.nan, 2.0)), "red")], 40, 9, None, math.nan, "binary", True)
@example([ChartLine("", ((0.0, 1e308), (1.0, -1e308)), "red")], 40, 9, 1e-320, 1e308, "linear", False)
@example([ChartLine("", ((1.0, 0.0), (1.0, 1e299), (2.0, 1e-299)), "red")], 40, 9, None, None, "logarithmic", True)
def test_any_numbers_in_any_size_give_a_text_of_that_size(
    lines: list[ChartLine],
    width: int,
    height: int,
    x_end: float | None,
    shade_until: float | None,
    scale: str,
    color: bool,
) -> None:
    import plotext

    signal, passed = plotext.figure.signal, []

    def spy(x: Values, y: Values, **options: Any) -> Any:
        passed.extend([*x, *y])
        return signal(x, y, **options)

    with patch.object(plotext.figure, "signal", spy):
        picture = Picture(lines, iops, x_end=x_end, shade_until=shade_until)
        picture = replace(picture, binary=scale == "binary", is_log=scale == "logarithmic")
        text = draw_chart(picture, width, height, Ink(colors=color))
    assert all(isinstance(value, float) and 0.0 <= value <= 1.0 for value in passed)
    out = text.plain.split("\n")
    assert len(out) == max(1, height)
    assert {cell_len(row) for row in out} == {max(0, width) if height > 0 else 0}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("color", [False, True])
def test_every_size_is_kept(graph: Graph, color: bool) -> None:
    series = replace(line([100.0, 5.0, None, 70.0] * 10), fill="zero")
    for width in (0, 1, 2, 7, 8, 12, 13, 14, 40, 200):
        for height in (0, 1, 2, 3, 4, 5, 60):
            ink = Ink(colors=color, graph=graph)
            text = draw_chart(Picture([series], bandwidth, shade_until=9), width, height, ink)
            out = text.plain.split("\n")
            assert [cell_len(row) for row in out] == ([width] * height or [0])
            assert graph != "ascii" or text.plain.isascii()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, -1e300])
def test_a_value_that_plotext_dies_of_does_not_reach_it(value: float) -> None:
    for bad in ((0.5, value), (value, 0.5), (value, value)):
        (row, *_) = rasterised([[[(0.0, 1.0), bad, (1.0, 1.0)]]], ["braille"], 20, 3)
        assert len(re.sub(r"\x1b\[[\d;]*m", "", row)) == 20


def test_a_point_beyond_the_axes_is_left_out() -> None:
    series = ChartLine("", ((-1e12, 1.0), (0.0, 1.0), (5.0, 1.0), (1e12, 1e12)), "red")
    columns = drawn(rows(series, x_end=10))
    assert columns[0]
    assert not any(columns[len(columns) // 2 + 1 :])


def test_charts_drawn_by_several_threads_do_not_mix() -> None:
    series = [line([float(value % (7 + kind)) for value in range(200)]) for kind in range(8)]
    alone = [rows(each) for each in series]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rows, series)) == alone


def test_plotext_is_imported_by_the_first_drawing_only() -> None:
    check = "import sys, cephtui.tui.charts.chart; sys.exit('plotext' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


# What is seen


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf, -math.inf])
def test_a_gap_is_hatched_and_says_so(nothing: float | None) -> None:
    area = plot(rows(line([5.0] * 11 + [nothing] * 9 + [5.0] * 11), x_end=30))
    per_second = len(area[0]) / 30
    before, after = int(10 * per_second), math.ceil(19 * per_second)  # the value at 20 s holds from 19 s on
    gap = {row[before + 1 : after - 1] for row in area}
    assert all(set(row) == {"╱"} for row in gap if "no data" not in row)
    assert sum("no data" in row for row in gap) == 1
    assert all("╱" not in row[:before] + row[after + 1 :] for row in area)
    line_of = next(row for row in area if row[0] != " ")
    assert " " not in line_of[:before] + line_of[after + 1 :]


def test_a_gap_of_one_line_is_none_where_others_have_values() -> None:
    chart = "\n".join(rows(line([5.0] * 31), line([2.0] * 10 + [None] * 11 + [2.0] * 10, label="write"), x_end=30))
    assert "╱" not in chart
    assert "no data" not in chart


def test_what_is_not_measured_at_the_beginning_is_no_gap() -> None:
    assert "╱" not in "\n".join(rows(line([None] * 10 + [5.0] * 21), x_end=30))


def test_a_value_between_two_gaps_holds_for_its_second() -> None:
    area = plot(rows(line([None, None, 5.0, None, None]), x_end=4))
    quarter = len(area[0]) / 4
    drawn_at = [column for column, cell in enumerate(area[0]) if cell not in " ╱"]
    assert drawn_at[0] == pytest.approx(quarter, abs=1)
    assert drawn_at[-1] == pytest.approx(2 * quarter, abs=1)


def test_the_y_axis_starts_at_zero() -> None:
    chart = rows(line([990.0, 1000.0, 995.0, 1000.0]))
    assert chart[0].startswith(" 1k┤")
    assert chart[-2].startswith("  0└")
    assert not any("".join(plot(chart)[1:]).strip())


def test_a_negative_value_is_drawn_as_zero() -> None:
    chart = rows(line([10.0, 10.0, -50.0, -50.0]))
    assert plot(chart)[-1].strip()


@pytest.mark.parametrize(("odd", "row"), [(0.0, -1), (20.0, 0)])
def test_one_stall_or_peak_among_many_points_is_seen(odd: float, row: int) -> None:
    values = [10.0] * 5000
    values[2500] = odd
    seen = plot(rows(line(values)))[row]
    middle = slice(len(seen) // 2 - 1, len(seen) // 2 + 2)
    assert seen[middle].strip()
    assert odd or not (seen[: middle.start] + seen[middle.stop :]).strip()


def test_a_line_of_zeros_lies_on_the_axis() -> None:
    chart = rows(line([0.0] * 10))
    assert plot(chart)[-1].strip("⣀") == ""
    assert chart[-2].startswith("0└")


@pytest.mark.parametrize("values", [[], [5.0], [1e15] * 9, [1e-9, 2e-9]])
def test_short_and_extreme_series(values: list[float]) -> None:
    assert any(drawn(rows(line(values), x_end=10))) == bool(values)


@pytest.mark.parametrize("height", [4, 6, 10, 16, 30])
@pytest.mark.parametrize("peak", [0.003, 1.0, 7.2, 16.7e3, 99.9e6, 1e15])
def test_y_labels_are_few_and_different(peak: float, height: int) -> None:
    chart = rows(line([peak, peak / 2]), height=height, width=80)
    labels = [row.partition("┤")[0].strip() for row in chart[:-2] if "┤" in row]
    assert 1 <= len(labels) <= 5
    assert len(set(labels)) == len(labels)
    assert chart[0].count("┤") == 1


def test_y_labels_lose_needless_zeros() -> None:
    labels = [row[:3] for row in rows(line([16.7e3] * 5), height=10) if "┤" in row]
    assert labels == ["20k", "15k", "10k", " 5k"]


def test_y_labels_of_bytes_are_powers_of_two() -> None:
    chart = rows(line([65.4 * 2**20] * 5), height=12, y_format=bandwidth, binary=True)
    assert [row[:8] for row in chart if "┤" in row] == [f"{mib} MiB/s" for mib in (80, 64, 48, 32, 16)]


def test_on_a_logarithmic_axis_a_latency_of_seconds_leaves_the_usual_ones_readable() -> None:
    chart = rows(line([0.012, 0.013, 2.5, 0.012]), height=12, width=50, y_format=latency, is_log=True)
    labels = {row[:6].strip(): number for number, row in enumerate(chart) if row[6] in "┤└"}
    assert list(labels) == ["1 s", "100 ms", "10 ms"]
    powers = labels["100 ms"] - labels["1 s"], labels["10 ms"] - labels["100 ms"]
    assert set(powers) <= {3, 4}, "of 10 rows, a power of ten takes 10 / lg 500"
    first, last = ([number for number, row in enumerate(plot(chart)) if row[at] != " "] for at in (8, 24))
    assert first == [labels["10 ms"] - 1]
    assert last == [labels["1 s"] - 2]


def test_a_format_too_coarse_leaves_two_labels() -> None:
    chart = rows(line([3.4, 3.1]), y_format=lambda value: f"{round(value, -1):.0f}")
    assert sum("┤" in row for row in chart) == 1


@given(st.floats(0.5, 1e6), st.integers(20, 200))
def test_x_labels_are_evenly_spaced_and_never_touch(x_end: float, width: int) -> None:
    ticks = x_ticks(rows(line([1.0]), x_end=x_end, width=width)[-1])
    assert ticks[0] == 0
    steps = [b - a for a, b in pairwise(ticks)]
    assert steps == pytest.approx(steps[:1] * len(steps))
    assert all(tick <= x_end * 1.001 for tick in ticks)


@pytest.mark.parametrize(
    ("x_end", "labels"),
    [
        (30, "0 5 10 15 20 25 30 s"),
        (60, "0 10 20 30 40 50 60 s"),
        (300, "0 1:00 2:00 3:00 4:00 5:00"),
        (86400, "0 6:00 h 12:00 h 18:00 h 24:00 h"),
    ],
)
def test_x_labels_are_round(x_end: float, labels: str) -> None:
    assert " ".join(rows(line([1.0]), x_end=x_end, width=70)[-1].split()) == labels


def test_the_ramp_is_marked_without_colour() -> None:
    chart = rows(line([0.0] * 31), x_end=30, shade_until=10)
    assert "ramp, not counted ┊" in chart[0]
    assert "ramp ┊" in rows(line([0.0] * 31), x_end=30, shade_until=5)[0], "as much as has room"
    edge = plot(chart)[0].index("┊")
    assert edge == pytest.approx(len(plot(chart)[0]) / 3, abs=1)
    assert all(row[edge] == "┊" for row in plot(chart)[:-1])


@pytest.mark.parametrize(("graph", "hatch"), [("braille", "╲"), ("block", "╲"), ("ascii", "\\")])
@pytest.mark.parametrize("color", [True, False])
def test_the_ramp_is_hatched_and_nothing_else_is(graph: Graph, hatch: str, color: bool) -> None:
    filled, unfilled = replace(line([9.0] * 31), fill="zero"), line([9.0] * 31)
    for series in (filled, unfilled):
        area = plot(rows(series, x_end=30, shade_until=10, graph=graph, color=color))
        edge = area[-1].rindex(hatch) + 1
        assert edge == pytest.approx(len(area[0]) / 3, abs=1)
        assert set(area[-1][:edge]) == {hatch}
        assert all(hatch not in row[edge:] for row in area)
    plain = rows(filled, x_end=30, graph=graph, color=color)
    assert not any(hatch in row for row in plain)


def test_the_ramp_never_covers_a_line() -> None:
    chart = rows(line([10.0] * 31), x_end=30, shade_until=10)
    assert "ramp" not in chart[0]
    assert "ramp" in chart[1]
    assert "┊" not in plot(chart)[0]


# True time


def dots(cell: str, side: int) -> list[bool]:
    """Whether the dots of one side of a braille cell are set, from the bottom up."""
    bits = ord(cell) - 0x2800 if cell != " " else 0
    return [bool(bits & bit) for bit in ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))[side]]


def dot_columns(chart: Sequence[str]) -> list[list[bool]]:
    """The columns of dots of the plot area, each from the bottom up."""
    cells = list(zip(*reversed(plot(chart)), strict=True))
    return [[dot for cell in column for dot in dots(cell, side)] for column in cells for side in (0, 1)]


def test_a_value_holds_for_its_whole_interval() -> None:
    """From the end of the one before; the edge between two is upright."""
    columns = dot_columns(rows(line([None, *[10.0] * 4, 5.0, *[10.0] * 5]), width=53, x_end=10))
    assert len(columns) == 100
    heights = [max(row for row, is_set in enumerate(column) if is_set) for column in columns]
    lows = [min(row for row, is_set in enumerate(column) if is_set) for column in columns]
    fifth = range(40, 50)
    assert {lows[at] for at in fifth} == {min(lows)}
    assert all(low == max(lows) for at, low in enumerate(lows) if at not in {*fifth, fifth[-1] + 1})
    assert all(heights[at] == lows[at] for at in fifth[1:])
    assert heights[fifth[0]] == heights[fifth[-1] + 1] == max(heights), "the edges are upright"


@given(st.integers(0, 29), st.integers(30, 130), st.floats(0, 0.99))
def test_nothing_begins_before_the_mark_of_its_cause(second: int, width: int, later: float) -> None:
    values = [10.0] * 31
    values[second + 1] = 0.0
    chart = rows(line(values), x_end=30, width=width, marks=[(second + later, "")])
    marked = {at for row in plot(chart) for at, cell in enumerate(row) if cell == "╎"}
    zero = [at for at, cell in enumerate(plot(chart)[-1]) if cell not in " ╎"]
    assert all(at <= zero[0] for at in marked)


def test_a_crowd_of_values_keeps_the_least_and_the_greatest_of_each_column() -> None:
    values = [10.0] * 5000
    values[1000], values[3000] = 0.0, 20.0
    heights = dot_columns(rows(line(values)))
    low, high = round(len(heights) * 0.2), round(len(heights) * 0.6)
    assert any(heights[at][0] for at in (low - 1, low, low + 1))
    assert any(heights[at][-1] for at in (high - 1, high, high + 1))
    assert sum(column[0] for column in heights) == sum(column[-1] for column in heights) == 1


# Areas


def styled(text: Text) -> list[list[tuple[str, Style]]]:
    """Each row as characters with their whole style."""
    console = Console(width=200, color_system="truecolor")
    lines = console.render_lines(text, console.options.update(width=max(map(len, text.plain.split("\n")))))
    return [[(letter, segment.style or Style()) for segment in row for letter in segment.text] for row in lines]


def color_of(style: Style) -> tuple[int, ...]:
    assert style.color
    return tuple(style.color.get_truecolor())


BLUE, ORANGE = "#56b4e9", "#e69f00"


def flat(value: float, color: str, label: str = "read", fill: Fill = "zero") -> ChartLine:
    return ChartLine(label, tuple((float(at), value) for at in range(31)), color, fill)


def test_the_area_below_a_line_is_a_dim_shade_of_its_colour() -> None:
    for ground in ((18, 18, 18), (255, 255, 255)):
        cells = styled(draw_chart(Picture([flat(8.5, BLUE)], iops, x_end=30), 60, 12, Ink(ground=ground)))
        (line_cell, line_style), (area, style) = cells[1][30], cells[5][30]
        assert line_cell not in " █"
        assert area == "█"
        assert color_of(line_style) == (0x56, 0xB4, 0xE9)
        between = [sorted((own, other)) for own, other in zip(color_of(line_style), ground, strict=True)]
        assert all(low <= mid <= high for mid, (low, high) in zip(color_of(style), between, strict=True))
        assert color_of(style) not in (color_of(line_style), ground)
        assert "picture" in style.meta, "no filter darkens it as if it were text"
        assert cells[0][30][0] == " ", "nothing above"


@pytest.mark.parametrize("graph", ["braille", "block"])
def test_there_is_no_hole_between_a_line_and_its_area(graph: Graph) -> None:
    values = [5.0 + 4.0 * math.sin(at / 3) for at in range(61)]
    for column in zip(*plot(rows(replace(line(values), fill="zero"), graph=graph, color=True)), strict=True):
        below = "".join(column).lstrip()
        assert " " not in below


def test_the_lower_area_is_in_front_and_the_line_above_it_is_seen() -> None:
    for lines in ([flat(15.0, BLUE), flat(6.0, ORANGE)], [flat(6.0, ORANGE), flat(15.0, BLUE)]):
        cells = styled(draw_chart(Picture([*lines, flat(19.0, "#999999", fill="none")], iops, x_end=30), 60, 22, Ink()))
        column = [row[30] for row in cells[:-2]]
        colors = [color_of(style) for letter, style in column if letter != " "]
        lines_at = [colors.index(color) for color in ((0x99,) * 3, (0x56, 0xB4, 0xE9), (0xE6, 0x9F, 0x00))]
        assert lines_at == sorted(lines_at)
        areas = [colors[lines_at[1] + 1 : lines_at[2]], colors[lines_at[2] + 1 :]]
        for area in areas:
            brightness = [sum(shade) for shade in area]
            assert len(set(area)) > 1, "from dim at zero to bright at the top"
            assert brightness == sorted(brightness, reverse=True)
        at = next(style for letter, style in column if letter != " " and color_of(style) == colors[lines_at[2]])
        assert at.bgcolor
        behind = sum(at.bgcolor.get_truecolor())
        assert sum(Ink().ground) < behind <= sum(areas[0][-1]), "the upper area is behind the line, too"


def test_a_band_lies_between_two_lines() -> None:
    picture = Picture([flat(5.0, ORANGE, "write", "none"), flat(15.0, ORANGE, "write p99", "band")], iops, x_end=30)
    column = [row[30] for row in styled(draw_chart(picture, 60, 22, Ink()))[:-2]]
    drawn_at = [number for number, (letter, _) in enumerate(column) if letter != " "]
    assert drawn_at == list(range(drawn_at[0], drawn_at[-1] + 1)), "without a hole"
    edge, mean = column[drawn_at[0]][1], column[drawn_at[-1]][1]
    assert color_of(mean) == (0xE6, 0x9F, 0x00)
    assert sum(color_of(mean)) > sum(color_of(edge)) > sum(color_of(column[10][1]))
    assert drawn_at[-1] < 17, "nothing below the mean"


def test_a_band_without_a_value_on_both_sides_is_not_filled() -> None:
    edge = ChartLine("p99", tuple((float(at), None if at > 15 else 9.0) for at in range(31)), ORANGE, "band")
    text = draw_chart(Picture([flat(5.0, ORANGE, "mean", "none"), edge], iops, x_end=30), 60, 22, Ink())
    assert {row[50] for row in text.plain.split("\n")[:8]} == {" "}


@pytest.mark.parametrize(("graph", "line_cells", "areas"), [("ascii", "*", ":."), ("braille", None, "⢕⠂")])
def test_without_shades_an_area_has_a_lighter_symbol(graph: Graph, line_cells: str | None, areas: str) -> None:
    for ink in (Ink(graph=graph, shades=False), Ink(graph=graph, colors=False)):
        text = draw_chart(Picture([flat(15.0, BLUE, ""), flat(6.0, ORANGE, "")], iops, x_end=30), 60, 22, ink)
        column = "".join(row[30] for row in text.plain.split("\n")[:-2]).strip()
        assert set(areas) < set(column)
        assert column.index(areas[0]) < column.index(areas[1])
        assert line_cells is None or line_cells in column


def test_block_symbols() -> None:
    text = "".join(plot(rows(line([5.0, 9.0] * 9), graph="block")))
    assert set(text) <= set(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")
    assert len(set(text)) > 4


# What happened


def test_the_whole_height_of_a_period_is_tinted() -> None:
    spans = [Period(5.0, 10.0, "no completion", stalled=True), Period(20.0, 25.0, "osd.2 down")]
    ink = Ink(span=Style(color="yellow", bgcolor="#202000"), stall=Style(color="red", bgcolor="#300000"))
    cells = styled(draw_chart(Picture([flat(9.0, BLUE)], iops, x_end=30, spans=spans), 70, 12, ink))
    width = len(cells[0]) - 3
    for share, color in ((7.5, "#300000"), (22.5, "#202000")):
        assert {row[3 + int(width * share / 30)][1].bgcolor for row in cells[:-2]} == {Color.parse(color)}
    assert {row[3 + int(width * 0.5)][1].bgcolor for row in cells[:-2]} == {None}


def test_two_texts_of_a_row_are_apart() -> None:
    marks = [(10.0, "osd.1 frozen"), (17.0, "osd.1 resumed"), (24.0, "third")]
    for width in range(50, 160):
        chart = rows(line([0.0] * 31), x_end=30, width=width, marks=marks)
        for row in chart:
            assert not re.search(r"frozen\S|frozen ?osd|resumed ?third", row)
        assert all(sum(text in row for row in chart) == 1 for _, text in marks)


def test_what_happened_is_a_heavy_stretch_of_the_axis_with_its_text() -> None:
    chart = rows(line([10.0] * 31), x_end=30, spans=[Period(10.0, 20.0, "osd.2 down")])
    rule = chart[-2]
    start = rule.index("━")
    assert set(rule[start : rule.rindex("━") + 1]) <= {"━", "┬"}
    left = rule.index("└") + 1
    assert start - left == pytest.approx((len(rule) - left) / 3, abs=1)
    assert rule.rindex("━") - left == pytest.approx(2 * (len(rule) - left) / 3, abs=1)
    (told,) = [row for row in chart if "osd.2 down" in row]
    assert told.index("osd.2 down") - 1 == pytest.approx(start, abs=1)
    plain = rows(line([10.0] * 31), x_end=30, spans=[Period(10.0, 20.0, "osd.2 down")], graph="ascii")
    assert "=" in plain[-2]
    assert plain[-2].isascii()


def test_a_text_that_has_no_room_is_left_out_and_one_of_two_is_enough() -> None:
    times = [(0.0, 1.0, "a"), (2.0, 2.0, "b" * 200), (29.9, 99.0, "at the end"), (5.0, 6.0, "a"), (40.0, 50.0, "after")]
    spans = [Period(*each) for each in [*times, (-1.0, 3.0, "before"), (9.0, 8.0, "back")]]
    chart = rows(line([10.0] * 31), x_end=30, spans=spans)
    text = "\n".join(chart)
    assert text.count(" a ") == 1
    assert "at the end" in text
    assert "after" not in text
    assert all(len(row) == len(chart[0]) for row in chart)


# Colour


def ansi(*lines: ChartLine, color: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="truecolor", width=80)
    console.print(draw_chart(Picture(lines, iops, shade_until=3), 60, 10, Ink(colors=color)))
    return out.getvalue()


def test_without_colour_no_escape_comes_out() -> None:
    read, write = line([5.0] * 20), line([2.0] * 20, label="write")
    assert "\x1b" not in ansi(read, write, color=False)
    assert "\x1b[36m" in ansi(read, write, color=True)


def test_without_colour_several_lines_carry_their_labels() -> None:
    high, low = line([5.0] * 20, label="p99"), line([2.0] * 20, label="p50")
    chart = plot(rows(high, low))
    assert "p99" in chart[0]
    assert "p50" in "".join(chart[4:])
    assert "p99" not in "".join(plot(rows(high)))
    assert "p99" not in draw_chart(Picture([high, low], iops), 60, 12, Ink()).plain


def test_each_line_has_its_own_colour() -> None:
    upper, lower = line([10.0] * 20), ChartLine("write", line([2.0] * 20).points, "#ff8800")
    text = draw_chart(Picture([upper, lower], iops), 40, 10, Ink())
    starts = {str(span.style): span.start // 41 for span in text.spans if span.end > span.start}
    assert starts["cyan"] == 0
    assert starts["#ff8800"] > 3


def test_a_stretch_of_the_axis_is_coloured_where_it_is() -> None:
    picture = Picture([line([10.0] * 31)], iops, x_end=30, spans=[Period(10.0, 20.0, "osd.2 down")])
    text = draw_chart(picture, 60, 12, Ink(span="red"))
    *_, found = [span for span in text.spans if span.style == "red"]
    assert set(text.plain[found.start : found.end]) <= {"━", "┬"}
    assert text.plain[found.start : found.end].count("━") == text.plain.count("━")


def test_a_name_on_a_line_has_the_colour_of_the_line_in_the_whole_word() -> None:
    lines = [
        ChartLine(f"lab{at}", line([9.0 - at / 4, 9.0 - at / 4 - 1.0] * 15).points, node_color(at)) for at in range(3)
    ]
    cells = styled(draw_chart(Picture(lines, iops, named=True), 90, 14, Ink()))
    for at in range(3):
        row = next(row for row in cells if f"lab{at}" in "".join(letter for letter, _ in row))
        begin = "".join(letter for letter, _ in row).index(f"lab{at}")
        assert {str(style.color.name) for _, style in row[begin : begin + 4] if style.color} == {node_color(at)}


def test_nodes_have_different_colours() -> None:
    assert len({node_color(index) for index in range(8)}) == 8
    assert node_color(8) == node_color(0)


def test_an_unknown_colour_is_an_error() -> None:
    with pytest.raises(StyleSyntaxError):
        draw_chart(Picture([ChartLine("read", ((0.0, 1.0),), "no such colour")], iops), 40, 10, Ink())


# Sparklines


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ([], ""),
        ([5.0] * 4, "████"),
        ([0.0] * 4, "▁▁▁▁"),
        ([0.0, 7.0], "▁█"),
        ([-3.0, 7.0], "▁█"),
        ([float(value) for value in range(8)], BLOCKS),
        ([7.0, None, math.nan, math.inf, 7.0], "█   █"),
        ([None, None], "  "),
    ],
)
def test_spark_scales_from_zero(values: Values, row: str) -> None:
    assert spark(values, 20) == row


def test_spark_keeps_a_stall_in_a_crowded_bucket() -> None:
    values: Values = [100.0] * 1000
    values[500] = 0.0
    assert spark(values, 10) == "█████▁████"


def test_spark_shows_the_mean_of_a_bucket_without_stall() -> None:
    assert spark([40.0, 60.0, 100.0, 100.0], 2) == "▅█"


def test_spark_in_ascii() -> None:
    assert spark([0.0, None, 7.0], 20, ascii_only=True) == "_ #"


def test_spark_in_several_rows() -> None:
    assert spark_rows([0.0, 8.0, 15.0, None], 4, 2) == [" ▁█ ", "▁██ "]


@given(st.lists(st.one_of(st.none(), st.floats()), max_size=100), st.integers(-1, 60), st.integers(1, 4))
def test_spark_takes_any_numbers(values: Values, width: int, height: int) -> None:
    out = spark_rows(values, width, height)
    assert len(out) == height
    assert all(len(row) == min(len(values), max(0, width)) for row in out)
    assert set("".join(out)) <= {" ", "▲", *BLOCKS}


@given(st.lists(st.one_of(st.none(), st.floats()), max_size=100), st.integers(-1, 60), st.integers(1, 4), st.booleans())
def test_spark_of_dots_fills_its_width(values: Values, width: int, height: int, fitted: bool) -> None:
    out = spark_rows(values, width, height, dots=True, fills=True, fitted=fitted)
    assert [len(row) for row in out] == [max(0, width) if values else 0] * height
    assert all(letter in " ▲" or 0x2800 < ord(letter) <= 0x28FF for letter in "".join(out))


def test_spark_of_dots_has_two_values_in_a_character() -> None:
    assert spark_rows([0.0, 1.0, 2.0, 3.0], 2, 1, dots=True) == ["⣠⣾"]
    assert spark_rows([3.0, None, 3.0], 9, 2, dots=True) == ["⡇⡇", "⡇⡇"]


def test_an_outlier_does_not_flatten_the_rest_of_a_spark() -> None:
    values = [60.0, 70.0, 80.0] * 7 + [3000.0]
    row = spark(values, 22)
    assert row.count("▲") == 1
    assert row[-1] == "▲"
    assert len(set(row)) == 4
    assert spark(values, 22, ascii_only=True)[-1] == "^"
    assert spark_rows(values, 11, 2, dots=True)[0][-1] == "▲"
    assert "▲" not in spark([0.0] * 8 + [100.0] * 8, 16), "half of them are no outliers"


def test_spark_from_its_least_to_its_greatest_value() -> None:
    assert spark_rows([44.0, 102.0], 2, 1, fitted=True) == ["▁█"]
    assert spark_rows([44.0, 44.0], 2, 1, fitted=True) == ["██"]


def test_a_spark_with_a_gap_leaves_room_to_the_row_above() -> None:
    assert spark([7.0, 0.0], 2, gapped=True) == "▇▁"
    assert spark_rows([7.0, 7.0], 1, 1, dots=True, gapped=True) == ["⣶"]


def test_a_spark_as_wide_as_its_column() -> None:
    assert spark([0.0, 7.0], 6, fills=True) == "▁▁▁███"
    assert spark([], 6, fills=True) == ""


def test_the_extent_of_a_history_has_one_unit() -> None:
    assert extent([0.044, None, 0.102], latency) == "44.0-102 ms"
    assert extent([0.0008, 0.102], latency) == "800 us-102 ms"
    assert extent([14100.0, 17400.0, math.nan], iops) == "14.1k-17.4k"
    assert extent([None], iops) == ""


# Widgets


class Screenful(App[None]):
    CSS = "Chart { width: 60; height: 12; border: round green; } Sparks { width: 38; }"

    def compose(self) -> ComposeResult:
        yield Chart()
        yield Sparks("write")


def screen(app: App[None]) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def test_widgets_draw_what_they_are_shown() -> None:
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(Chart).show(Picture([line([5e3] * 30)], iops, x_end=30, shade_until=5))
        app.query_one(Sparks).show([Spark("bandwidth", "65.4 MiB/s", (3.0, None, 3.0, 0.0))])
        await pilot.pause()
        out = screen(app)
    assert out[1].startswith("│6k┤╲╲╲ ramp ┊")
    assert "30 s│" in out[10]
    assert out[12].rstrip() == "write bandwidth           65.4 MiB/s"
    assert out[13].rstrip() == "      ⣿⣿⣿⣿⣿⣿⣿⡇       ⣿⣿⣿⣿⣿⣿⣿⣇⣀⣀⣀⣀⣀⣀⣀", "as wide as its column"


async def test_the_title_is_the_first_for_which_there_is_room() -> None:
    titles = [Text(f" {'latency ' * times}") for times in (6, 2, 1)]
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        chart = app.query_one(Chart)
        chart.show_title(*(partial(Text.copy, title) for title in titles))
        for width, title in ((60, titles[0]), (24, titles[1]), (10, titles[2]), (60, titles[0])):
            chart.styles.width = width
            await pilot.pause()
            assert chart.border_title == title.plain


async def test_widgets_redraw_only_what_changed() -> None:
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        chart, sparkline = app.query_one(Chart), app.query_one(Sparks)
        with patch.object(chart, "refresh") as redraw, patch.object(sparkline, "refresh") as respark:
            for end in (30, 30, 60):
                chart.show(Picture([line([5.0, None, 3.0])], iops, x_end=end))
            for value in ("1", "1", "2"):
                sparkline.show([Spark("IOPS", value, (1.0, 2.0))])
        assert redraw.call_count == 2
        assert respark.call_count == 2
        await pilot.pause()


async def test_a_chart_obeys_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Screenful()
    async with app.run_test(size=(80, 24)):
        chart = app.query_one(Chart)
        chart.show(Picture([line([5.0, None, 3.0])], iops, shade_until=1))
        assert chart.render().spans == []


async def test_a_spark_with_its_extent_is_scaled_to_it() -> None:
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(Sparks).show([Spark("p99", "66.3 ms", (0.044, 0.102), "44.0-102 ms")])
        await pilot.pause()
        assert screen(app)[12].rstrip() == "write p99 44.0-102 ms        66.3 ms"
        assert set(screen(app)[13].split()[0]) == {"⣀", "⣿"}
        app.query_one(Sparks).styles.width = 24
        await pilot.pause()
        assert screen(app)[12].rstrip() == "write p99      66.3 ms"


async def test_a_narrow_spark_keeps_its_value() -> None:
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        sparkline = app.query_one(Sparks)
        sparkline.show([Spark("bandwidth", "65.4 MiB/s", (1.0,))])
        for width, title in ((14, "ban 65.4 MiB/s"), (10, "65.4 MiB/s"), (4, "65.4")):
            sparkline.styles.width = width + 8
            await pilot.pause()
            assert screen(app)[12].rstrip() == f"write {title}"


@pytest.mark.parametrize("ground", [(18, 18, 18), (255, 255, 255)])
@pytest.mark.parametrize("direction", ["read", "write"])
def test_the_edge_of_a_band_is_seen_on_every_ground(ground: RGB, direction: str) -> None:
    color = Ink(ground=ground).edge(FLOW_COLORS[direction]).color
    assert color
    assert contrast(color.get_truecolor(), ground) >= 3


# A part of the time


@pytest.mark.parametrize(
    ("part", "labels"),
    [
        (TimeSpan(20.0, 35.0, 62.0), "20 22 24 26 28 30 32 of 62 s"),
        (TimeSpan(227.4, 242.4, 300.0), "3:48 3:50 3:52 3:54 3:56 3:58 of 5:00 min"),
        (TimeSpan(3585.0, 3645.0, 7200.0), "59:45 1:00:00 1:00:15 1:00:30 of 2:00:00 h"),
    ],
)
def test_the_axis_of_a_part_says_which_of_which_whole(part: TimeSpan, labels: str) -> None:
    chart = rows(line([10.0] * 7201), x_end=part.of, part=part, width=76)
    assert chart[-1].split() == labels.split()


@pytest.mark.parametrize("begin", [20.0, 20.5, 21.9])
def test_a_part_is_drawn_from_edge_to_edge_and_nothing_else_is(begin: float) -> None:
    values = [10.0 if second <= 30 else 20.0 for second in range(61)]
    chart = rows(line(values), x_end=60, part=TimeSpan(begin, begin + 15, 60.0))
    cells = plot(chart)
    assert all(drawn(chart))
    rise = round((30 - begin) / 15 * len(cells[0]))
    assert abs(len(cells[0]) - len(cells[0].lstrip()) - rise) <= 1, "the upper half begins where the line rises"


def test_marks_periods_and_the_ramp_stand_at_their_places_in_a_part() -> None:
    marks = [(5.0, "before"), (30.0, "inside"), (55.0, "behind")]
    spans, part = [Period(15.0, 24.0, "stall", True), Period(50.0, 52.0, "later")], TimeSpan(20.0, 40.0, 60.0)
    chart = rows(line([10.0] * 61), x_end=60, part=part, shade_until=22.0, marks=marks, spans=spans)
    text, columns = "\n".join(chart), len(plot(chart)[0])
    assert "inside" in text
    assert "stall" in text
    assert not any(word in text for word in ("before", "behind", "later"))
    assert chart[-2].count("━") == pytest.approx(columns * 4 / 20, abs=1)
    assert {row.index("╎") for row in plot(chart) if "╎" in row} == {int(columns * 9 / 20)}, "where its second begins"
    assert {row.index("┊") for row in plot(chart) if "┊" in row} == {round(columns * 2 / 20)}
