"""Runs before and after a change as dots on one scale, in any room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from cephtui.models.metrics import BY_NAME
from cephtui.tui.charts.dots import Dots, Side, draw_dots
from cephtui.tui.charts.ink import Ink

IOPS = BY_NAME["iops"]
BEFORE = Side("before", (1000.0, 1010.0, 990.0), 3, 1000.0, "#009e73")
AFTER = Side("after", (500.0, 540.0), 4, 519.6, "#e69f00", hint="measuring ...")
DOTS = Dots((BEFORE, AFTER), IOPS, required=900.0)


def rows(dots: Dots, width: int, height: int, **ink: bool | str) -> list[str]:
    return draw_dots(dots, width, height, Ink(**ink)).plain.split("\n")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(10, 2), (24, 3), (76, 3), (76, 5), (56, 9), (116, 14), (196, 30)])
@pytest.mark.parametrize("graph", ["braille", "ascii"])
def test_every_size_is_filled(size: tuple[int, int], graph: str) -> None:
    drawn = rows(DOTS, *size, graph=graph)
    assert [cell_len(row) for row in drawn] == [size[0]] * size[1]
    assert graph != "ascii" or "".join(drawn).isascii()


def test_three_rows_have_a_row_for_each_side_and_the_scale() -> None:
    before, after, scale = rows(DOTS, 76, 3)
    assert before.startswith("before ")
    assert before.rstrip().endswith("mean 1.00k")
    assert after.startswith("after ")
    assert after.index("●") < before.index("●")
    assert {"600", "1k"} <= {*scale.split()}


def test_with_room_each_run_has_a_row_and_the_next_one_is_named() -> None:
    drawn = [row for row in rows(DOTS, 116, 14) if row.strip()]  # without the one between the sides
    names = [row[:9].strip() for row in drawn]
    assert names[:7] == ["before 1", "before 2", "before 3", "after 1", "after 2", "after 3", "after 4"]
    assert [row.count("●") for row in drawn[:7]] == [1, 1, 1, 1, 1, 0, 0]
    assert "measuring" in drawn[5]
    assert "┊ required" in drawn[6]
    at = [row.index("●") for row in drawn[:5]]
    assert at[2] < at[0] < at[1], "further to the right is more"
    assert max(at[3:]) < min(at[:3])
    assert all("┊" in row for row in drawn[3:7]), "where the runs after have to be"
    assert all("┊" not in row for row in drawn[:3])
    assert "┃ mean 520" in drawn[3]


def test_with_more_room_the_runs_are_as_far_apart_as_the_sides_and_the_scale_is_at_the_bottom() -> None:
    drawn = rows(DOTS, 116, 16)
    named = [row[:8].strip() for row in drawn]
    assert [place for place, name in enumerate(named) if name] == [0, 2, 4, 7, 9, 11, 13]
    assert [row.count("┃") for row in drawn[:9]] == [1, 1, 1, 1, 1, 0, 0, 2, 1]
    assert not any("●" in row or "·" in row for row, name in zip(drawn, named, strict=True) if not name)
    assert "└" in drawn[14]


def test_runs_in_one_place_are_counted() -> None:
    alike = replace(DOTS, sides=(replace(BEFORE, values=(1000.0,) * 3, mean=None), AFTER))
    assert "3" in rows(alike, 76, 3)[0].partition("before")[2]


def test_one_value_and_none_are_drawn() -> None:
    first = replace(DOTS, sides=(replace(BEFORE, values=(7.0,), mean=7.0), replace(AFTER, values=(), mean=None)))
    assert sum("●" in row for row in rows(replace(first, required=None), 76, 8)) == 1
    nothing = replace(first, sides=(replace(BEFORE, values=(), mean=None, hint="a dot for each"),), required=None)
    assert [row.strip() for row in rows(nothing, 76, 6)][:3] == ["before 1  a dot for each", "before 2", "before 3"]


def test_without_colours_there_are_no_styles() -> None:
    assert draw_dots(DOTS, 76, 9, Ink(colors=False)).spans == []
    assert draw_dots(DOTS, 76, 9, Ink()).spans
