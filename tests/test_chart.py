"""Charts and sparklines: nothing but finite numbers reaches plotext, and nothing that matters is hidden."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.errors import StyleSyntaxError
from textual.app import App, ComposeResult

from cephtui.reports.sparks import spark, spark_rows
from cephtui.tui.charts.chart import Chart, Line, Picture, draw, preload
from cephtui.tui.charts.ink import Ink
from cephtui.tui.widgets.sparkline import Spark, Sparks
from cephtui.units import bandwidth, iops

BLOCKS = "▁▂▃▄▅▆▇█"
Values = list[float | None]

numbers = st.one_of(st.floats(), st.floats(0, 1e6), st.sampled_from([0.0, 1e15, -1e15, 1e308, 5e-324]))
points = st.lists(st.tuples(numbers, st.one_of(st.none(), numbers)), max_size=40).map(tuple)
lines_of_anything = st.lists(st.builds(Line, st.text(max_size=3), points, st.just("cyan")), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    preload()


def line(values: Sequence[float | None], step: float = 1.0, label: str = "read") -> Line:
    return Line(label, tuple((index * step, value) for index, value in enumerate(values)), "cyan")


def rows(*lines: Line, width: int = 60, height: int = 12, **options: Any) -> list[str]:
    """The rows of a chart, checked for their number and width."""
    ink = Ink(colors=options.pop("color", False), ascii_only=options.pop("ascii_only", False))
    out = draw(Picture(lines, options.pop("y_format", iops), **options), width, height, ink).plain.split("\n")
    assert len(out) == height
    assert {cell_len(row) for row in out} == {width}
    return out


def plot(chart: Sequence[str]) -> list[str]:
    """The plot area alone: what is right of the y axis, without the two rows of the x axis."""
    return [re.split("[│┤]", row, maxsplit=1)[1] for row in chart[:-2]]


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


@settings(deadline=None, max_examples=300)
@given(
    lines_of_anything,
    st.integers(-1, 200),
    st.integers(-1, 60),
    st.one_of(st.none(), numbers),
    st.one_of(st.none(), numbers),
    st.booleans(),
    st.booleans(),
)
@example([Line("", ((0.0, math.nan), (1.0, 1.0), (math.nan, 2.0)), "red")], 40, 9, None, math.nan, True, True)
@example([Line("", ((0.0, 1e308), (1.0, -1e308)), "red")], 40, 9, 1e-320, 1e308, False, False)
def test_any_numbers_in_any_size_give_a_text_of_that_size(
    lines: list[Line],
    width: int,
    height: int,
    x_end: float | None,
    shade_until: float | None,
    binary: bool,
    color: bool,
) -> None:
    import plotext

    signal, passed = plotext.figure.signal, []

    def spy(x: Values, y: Values, **options: Any) -> Any:
        passed.extend([*x, *y])
        return signal(x, y, **options)

    with patch.object(plotext.figure, "signal", spy):
        picture = Picture(lines, iops, x_end=x_end, shade_until=shade_until, binary=binary)
        text = draw(picture, width, height, Ink(colors=color))
    assert all(isinstance(value, float) and 0.0 <= value <= 1.0 for value in passed)
    out = text.plain.split("\n")
    assert len(out) == max(1, height)
    assert {cell_len(row) for row in out} == {max(0, width) if height > 0 else 0}


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("color", [False, True])
def test_every_size_is_kept(ascii_only: bool, color: bool) -> None:
    series = line([100.0, 5.0, None, 70.0] * 10)
    for width in (0, 1, 2, 7, 8, 12, 13, 14, 40, 200):
        for height in (0, 1, 2, 3, 4, 5, 60):
            ink = Ink(colors=color, ascii_only=ascii_only)
            text = draw(Picture([series], bandwidth, shade_until=9), width, height, ink)
            out = text.plain.split("\n")
            assert [cell_len(row) for row in out] == ([width] * height or [0])
            assert not ascii_only or text.plain.isascii()


def test_a_point_beyond_the_axes_is_left_out() -> None:
    series = Line("", ((-1e12, 1.0), (0.0, 1.0), (5.0, 1.0), (1e12, 1e12)), "red")
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
def test_a_gap_is_blank(nothing: float | None) -> None:
    columns = drawn(rows(line([5.0] * 11 + [nothing] * 9 + [5.0] * 11), x_end=30))
    per_second = len(columns) / 30
    gap = columns[math.ceil(10 * per_second) + 1 : math.floor(20 * per_second) - 1]
    assert len(gap) > 10
    assert not any(gap)
    assert all(columns[: int(10 * per_second)])
    assert all(columns[math.ceil(20 * per_second) :])


def test_a_point_between_two_gaps_is_drawn() -> None:
    assert sum(drawn(rows(line([None, None, 5.0, None, None]), x_end=4))) == 1


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


def test_a_format_too_coarse_leaves_two_labels() -> None:
    chart = rows(line([3.4, 3.1]), y_format=lambda value: f"{round(value, -1):.0f}")
    assert sum("┤" in row for row in chart) == 1


@settings(deadline=None)
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
    assert "ramp ┊" in chart[0]
    edge = plot(chart)[0].index("┊")
    assert edge == pytest.approx(len(plot(chart)[0]) / 3, abs=1)
    assert all(row[edge] == "┊" for row in plot(chart)[:-1])


def test_the_ramp_never_covers_a_line() -> None:
    chart = rows(line([10.0] * 31), x_end=30, shade_until=10)
    assert "ramp" not in chart[0]
    assert "ramp" in chart[1]
    assert "┊" not in plot(chart)[0]


# What happened


def test_what_happened_is_a_heavy_stretch_of_the_axis_with_its_text() -> None:
    chart = rows(line([10.0] * 31), x_end=30, spans=[(10.0, 20.0, "osd.2 down")])
    rule = chart[-2]
    start = rule.index("━")
    assert set(rule[start : rule.rindex("━") + 1]) <= {"━", "┬"}
    left = rule.index("└") + 1
    assert start - left == pytest.approx((len(rule) - left) / 3, abs=1)
    assert rule.rindex("━") - left == pytest.approx(2 * (len(rule) - left) / 3, abs=1)
    (told,) = [row for row in chart if "osd.2 down" in row]
    assert told.index("osd.2 down") - 1 == pytest.approx(start, abs=1)
    plain = rows(line([10.0] * 31), x_end=30, spans=[(10.0, 20.0, "osd.2 down")], ascii_only=True)
    assert "=" in plain[-2]
    assert plain[-2].isascii()


def test_a_text_that_has_no_room_is_left_out_and_one_of_two_is_enough() -> None:
    spans = [(0.0, 1.0, "a"), (2.0, 2.0, "b" * 200), (29.9, 99.0, "at the end"), (5.0, 6.0, "a"), (40.0, 50.0, "after")]
    chart = rows(line([10.0] * 31), x_end=30, spans=[*spans, (-1.0, 3.0, "before"), (9.0, 8.0, "back")])
    text = "\n".join(chart)
    assert text.count(" a ") == 1
    assert "at the end" in text
    assert "after" not in text
    assert all(len(row) == len(chart[0]) for row in chart)


# Colour


def ansi(*lines: Line, color: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="truecolor", width=80)
    console.print(draw(Picture(lines, iops, shade_until=3), 60, 10, Ink(colors=color)))
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
    assert "p99" not in draw(Picture([high, low], iops), 60, 12, Ink()).plain


def test_each_line_has_its_own_colour() -> None:
    upper, lower = line([10.0] * 20), Line("write", line([2.0] * 20).points, "#ff8800")
    text = draw(Picture([upper, lower], iops), 40, 10, Ink())
    starts = {str(span.style): span.start // 41 for span in text.spans if span.end > span.start}
    assert starts["cyan"] == 0
    assert starts["#ff8800"] > 3


def test_a_stretch_of_the_axis_is_coloured_where_it_is() -> None:
    picture = Picture([line([10.0] * 31)], iops, x_end=30, spans=[(10.0, 20.0, "osd.2 down")])
    text = draw(picture, 60, 12, Ink(span="red"))
    (found,) = [span for span in text.spans if span.style == "red"]
    assert set(text.plain[found.start : found.end]) <= {"━", "┬"}
    assert text.plain[found.start : found.end].count("━") == text.plain.count("━")


def test_an_unknown_colour_is_an_error() -> None:
    with pytest.raises(StyleSyntaxError):
        draw(Picture([Line("read", ((0.0, 1.0),), "no such colour")], iops), 40, 10, Ink())


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


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats()), max_size=100), st.integers(-1, 60), st.integers(1, 4))
def test_spark_takes_any_numbers(values: Values, width: int, height: int) -> None:
    out = spark_rows(values, width, height)
    assert len(out) == height
    assert all(len(row) == min(len(values), max(0, width)) for row in out)
    assert set("".join(out)) <= {" ", *BLOCKS}


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
    assert out[1].startswith("│6k┤    ramp ┊")
    assert "30 s│" in out[10]
    assert out[12].rstrip() == "write bandwidth           65.4 MiB/s"
    assert out[13].rstrip() == "      █ █▁"


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


async def test_a_narrow_spark_keeps_its_value() -> None:
    app = Screenful()
    async with app.run_test(size=(80, 24)) as pilot:
        sparkline = app.query_one(Sparks)
        sparkline.show([Spark("bandwidth", "65.4 MiB/s", (1.0,))])
        for width, title in ((14, "ban 65.4 MiB/s"), (10, "65.4 MiB/s"), (4, "65.4")):
            sparkline.styles.width = width + 8
            await pilot.pause()
            assert screen(app)[12].rstrip() == f"write {title}"
