"""A bar in one row: what is done, and ticks at their places."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cephtui.tui.widgets.time_bar import TimeLine, time_line_text

LINE = TimeLine("paused 4x", 0.0, 25.0, 100.0, stalls=((50.0, 59.0),), marks=(50.0, 80.0))


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("width", [40, 78, 118, 198])
def test_the_bar_fills_the_row_and_has_its_ticks(width: int, ascii_only: bool) -> None:
    text = time_line_text(LINE, width, ascii_only=ascii_only).plain
    assert cell_len(text) == width
    word, bar, end = text[: len("paused 4x ")], text[len("paused 4x ") : -len(" 25 s of 1:40 min")], text[-17:]
    assert (word, end) == ("paused 4x ", " 25 s of 1:40 min")
    full, rest, stall, mark = "=.#|" if ascii_only else "━─▒┃"
    columns = len(bar)
    assert bar.count(full) == round(columns / 4)
    assert [at for at, symbol in enumerate(bar) if symbol == mark] == [columns // 2, int(0.8 * columns)]
    assert bar.index(stall) == columns // 2 + 1, "what was done stands before what it led to"
    assert bar.count(stall) == int(0.59 * columns) - columns // 2
    assert set(bar) == {full, rest, stall, mark}
    assert text.isascii() == ascii_only


def test_without_an_end_there_is_no_bar() -> None:
    assert time_line_text(TimeLine("prefilling", 0.0, 2.0, None), 80, ascii_only=False).plain == "prefilling 2 s"


def test_a_part_of_a_recording_has_its_own_ticks_alone() -> None:
    part = TimeLine("playing 1x", 40.0, 45.0, 60.0, stalls=((10.0, 20.0), (30.0, 42.0)), marks=(5.0, 50.0, 90.0))
    text = time_line_text(part, 60, ascii_only=True).plain
    bar = text.removeprefix("playing 1x ").removesuffix(" 5 s of 20 s")
    assert bar.index("|") == len(bar) // 2
    assert bar.count("|") == 1
    assert 0 < bar.count("#") <= len(bar) / 10 + 1
    assert bar.startswith("#")


def test_what_takes_no_time_is_done() -> None:
    assert "." not in time_line_text(TimeLine("finished 1x", 0.0, 0.0, 0.0), 60, ascii_only=True).plain
