"""How I/Os are spread over their latencies, drawn: every I/O is in a row, and every row fits."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models.metrics import BY_NAME
from cephtui.models.samples import GRID_BUCKETS
from cephtui.stats import bucket_of
from cephtui.tui.charts.ink import Ink
from cephtui.tui.charts.spread import draw_latencies, draw_seconds

ASCII, BLOCKS = Ink(graph="ascii"), Ink(graph="block")
MS = 1_000_000
SLOW_FEW = {bucket_of(2 * MS): 9_000, bucket_of(4 * MS): 990, bucket_of(900 * MS): 10}
HISTOGRAMS = st.dictionaries(st.integers(0, GRID_BUCKETS - 1), st.integers(1, 10**9), min_size=1, max_size=40)


def rows_of(text: str) -> list[str]:
    return text.split("\n")


def test_slow_ones_stand_at_the_top_with_their_number_and_percentiles_at_their_rows() -> None:
    rows = rows_of(draw_latencies({"read": SLOW_FEW}, 40, 12, ASCII).plain)
    assert len(rows) == 12
    filled = [row for row in rows if "#" in row]
    assert [re.search(r"#+ (.*?) *$", row)[1] for row in filled] == ["10 I/Os p99.9", "10 % p99", "90 % p50"]  # type: ignore[index]
    assert [row.count("#") for row in filled] == sorted(row.count("#") for row in filled)
    labels = [row.split("+")[0].strip() for row in rows if "+" in row]
    assert labels[0] == "1 s"
    assert labels[-1] == "10 ms"


def test_reads_and_writes_stand_beside_each_other_on_one_axis() -> None:
    flows = {"read": SLOW_FEW, "write": {bucket_of(30 * MS): 7}}
    rows = rows_of(draw_latencies(flows, 42, 12, BLOCKS).plain)
    assert rows[0].split() == ["read", "write"]
    assert len(rows) == 12
    (row,) = [row for row in rows if "100 %" in row]
    assert row.index("█") >= rows[0].index("write")
    assert "p50" not in "".join(rows), "the large digits have them"


@pytest.mark.parametrize(("width", "rows"), [(0, 0), (5, 20), (40, 1), (11, 3)])
def test_without_room_there_is_nothing(width: int, rows: int) -> None:
    assert draw_latencies({"read": SLOW_FEW}, width, rows, ASCII).plain == ""
    assert draw_seconds([1.0, 2.0], "read", BY_NAME["iops"], width, rows, ASCII).plain == ""


def test_without_figures_there_is_nothing() -> None:
    assert draw_latencies({}, 40, 10, ASCII).plain == draw_latencies({"read": {}}, 40, 10, ASCII).plain == ""
    assert draw_seconds([], "read", BY_NAME["iops"], 40, 10, ASCII).plain == ""
    assert draw_seconds([5.0, 5.0], "read", BY_NAME["iops"], 40, 10, ASCII).plain == ""


@given(HISTOGRAMS, HISTOGRAMS, st.integers(1, 2), st.integers(36, 80), st.integers(3, 40))
def test_any_histogram_fits_and_what_was_completed_is_seen(
    read: dict[int, int], write: dict[int, int], flows: int, width: int, rows: int
) -> None:
    parts = dict(list({"read": read, "write": write}.items())[:flows])
    for ink in (ASCII, BLOCKS):
        text = draw_latencies(parts, width, rows, ink)
        assert len(rows_of(text.plain)) <= rows
        assert max(map(len, rows_of(text.plain))) <= width
        assert any(symbol in text.plain for symbol in "#█▌")
        ones = [number for number in re.findall(r"(\d+) I/Os?\b", text.plain) if int(number) < 100]
        assert sum(map(int, ones)) <= sum(sum(part.values()) for part in parts.values())
    assert draw_latencies(parts, width, rows, ASCII).plain.isascii()


def test_seconds_are_spread_between_the_least_and_the_greatest() -> None:
    rows = rows_of(draw_seconds([100.0, 100.0, 150.0, 200.0], "write", BY_NAME["iops"], 30, 5, ASCII).plain)
    assert [re.findall(r"\d+ %", row) for row in rows] == [["25 %"], [], ["25 %"], [], ["50 %"]]
    assert [row.split("+")[0].strip() for row in rows if "+" in row] == ["200", "150", "100"]
