"""The heat map: an axis that fits, a legend, median and p99 over it, and marks."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest

from cephtui.analysis.runs.history import HeatColumn
from cephtui.stats import bucket_of
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.heat_map import GUTTER, draw_heat_map
from cephtui.tui.charts.ink import Ink

COLORED = Ink()


def spread(*latencies: float, number: int = 1000, seconds: int = 20) -> list[HeatColumn]:
    """So many completions of each of these latencies in every second."""
    rows = {bucket_of(round(latency * 1e9)) // 16: number for latency in latencies}
    return [(float(second), rows) for second in range(1, seconds + 1)]


def map_rows(columns: Sequence[HeatColumn], height: int = 20, ink: Ink = COLORED, x_end: float = 20.0) -> list[str]:
    return draw_heat_map(columns, GUTTER + 60, height, TimeSpan(0.0, x_end), ink).plain.split("\n")


def axis_labels(rows: Sequence[str]) -> list[str]:
    return [found[1] for row in rows if (found := re.match(r" *(.*?)[┤+]", row))]


@pytest.mark.parametrize(
    ("latencies", "labels"),
    [
        ((0.0002, 0.03), ["10 ms", "1 ms", "100 us"]),
        ((0.0005, 2.0), ["1 s", "100 ms", "10 ms", "1 ms"]),
        ((0.000_05, 0.2), ["100 ms", "10 ms", "1 ms", "100 us"]),
        ((0.0015, 0.0025), ["3 ms", "1 ms"]),
    ],
)
def test_the_axis_has_round_ticks_and_fits_the_data(latencies: tuple[float, ...], labels: list[str]) -> None:
    decades = math.log10(max(latencies) / min(latencies))
    for height in (20, 30):
        rows = map_rows(spread(*latencies), height)
        assert axis_labels(rows) == labels
        area = [row[GUTTER:] for row in rows[1:-1]]
        filled = [number for number, row in enumerate(area) if set(row) & set("▀▄")]
        used = min(decades / (decades + 1), decades)  # half a power of ten on either side, and one in all at least
        assert filled[-1] - filled[0] + 1 >= used * len(area) - 1
        ticks = [row[GUTTER:] for row in rows if "┤" in row]
        assert all(set(row) <= {"┈", "▀", "▄", *" p59"} for row in ticks)


def test_a_narrow_row_of_the_histogram_leaves_no_stripes() -> None:
    rows = {bucket_of(round(1e9 * 0.001 * 1.04**step)) // 16: 10 for step in range(60)}
    for height in range(6, 60):
        rows_drawn = map_rows([(float(second), rows) for second in range(1, 21)], height)
        column = "".join(row[GUTTER + 10] for row in rows_drawn[:-1] if "few" not in row).strip(" ┈")
        assert set(column) <= set("▀▄")
        assert not set(column[1:-1]) - {"▀"}


def test_the_legend_of_the_heat_map_goes_from_few_to_many() -> None:
    for ink, scale in ((Ink(), "█" * 9), (Ink(colors=False), "░▒▓█"), (Ink(graph="ascii"), ".:+*#%@")):
        (row,) = [row for row in map_rows(spread(0.001, 0.1), ink=ink) if "few" in row]
        assert row.endswith(f"few {scale} many")
    assert "few" not in "".join(map_rows(spread(0.001, 0.1), height=8)), "where there is no room"


def test_median_and_p99_are_lines_over_the_heat_map() -> None:
    columns: list[HeatColumn] = [
        (float(second), {bucket_of(1_000_000) // 16: 980, bucket_of(50_000_000) // 16: 20}) for second in range(1, 21)
    ]
    for ink in (Ink(colors=False), Ink(graph="ascii")):
        rows = map_rows(columns, ink=ink)
        for name, symbols in (("p50", "─~"), ("p99", "━=")):
            (row,) = [row for row in rows if name in row]
            assert row.endswith(f" {name} "), "at the right end"
            assert set(row[GUTTER : GUTTER + 50]) <= set(symbols)
    (high,) = [number for number, row in enumerate(rows) if "p99" in row]
    (low,) = [number for number, row in enumerate(rows) if "p50" in row]
    assert high < low
    half = next(row for row in map_rows(columns, x_end=40.0) if "p99" in row)
    assert half.index(" p99 ") == GUTTER + 30, "behind the last second of a run in progress"


def test_names_of_median_and_p99_have_a_row_each() -> None:
    rows = map_rows(spread(0.001))
    assert sum("p50" in row for row in rows) == sum("p99" in row for row in rows) == 1
    assert not any("p50" in row and "p99" in row for row in rows)


def test_marks_stand_in_the_heat_map_where_nothing_was_completed() -> None:
    columns = [(float(second), {100: 5} if second != 5 else {120: 5}) for second in range(1, 11)]
    marks = [(4.5, "osd.1 stands still"), (30.0, "later")]
    for ink, glyph in ((Ink(), "╎"), (Ink(graph="ascii", colors=False), "|")):
        rows = draw_heat_map(columns, GUTTER + 40, 8, TimeSpan(0.0, 10.0), ink, marks).plain.split("\n")
        assert [len(row) for row in rows] == [GUTTER + 40] * 8
        drawn = [row[GUTTER + 16] for row in rows[:-1]]  # where the second begins that it falls into
        assert [cell for cell in drawn if cell != glyph] in (["▀"], ["▄"], ["="]), "what was completed is not hidden"
        assert sum(row[GUTTER:].count(glyph) for row in rows) == len(drawn) - 1
        assert rows[-1].split() == ["0", "2", "4", "6", "8", "10", "s"]


def test_a_part_of_the_time_fills_the_map_with_its_seconds_and_marks() -> None:
    columns = [(float(second), {100: 5} if second <= 30 else {140: 5}) for second in range(1, 61)]
    marks = [(10.0, "before"), (30.5, "inside"), (50.0, "behind")]
    part, ink = TimeSpan(25.0, 35.0, 60.0), Ink(graph="ascii", colors=False)
    rows = draw_heat_map(columns, GUTTER + 40, 8, part, ink, marks).plain.split("\n")
    cells = [row[GUTTER:] for row in rows[:-1]]
    filled = [{at for at, cell in enumerate(row) if cell in "=@"} for row in cells]
    fast, slow = filled[-1], set.union(*filled[:-1])
    assert fast == set(range(20)), "its first half, from the edge"
    assert slow >= set(range(20, 35)), "its second half"
    assert {at for row in cells for at, cell in enumerate(row) if cell == "|"} == {20}
    assert rows[-1].split() == ["26", "28", "30", "32", "of", "60", "s"]
