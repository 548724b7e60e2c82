"""Figures in big digits: as big as they can be, never cut off, never drawn in vain."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from cephtui import units
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.widgets.big import Big, big, big_with_unit, fits

LETTERS = "0123456789.,:;!?-+=_*/<>→()'#%" + '"' + string.ascii_uppercase + "hikmnsuµ"
SIZES = st.tuples(st.integers(-1, 260), st.integers(-1, 75))


def drawn(text: str, width: int, height: int, *, ascii_only: bool = True) -> list[str]:
    """The rows, checked for their number and width."""
    rows = big(text, width, height, ascii_only=ascii_only)
    assert len(rows) == (max(height, 0) if width > 0 else 0)
    assert {cell_len(row) for row in rows} <= {width}
    return rows


def ink(rows: list[str]) -> list[str]:
    """The rows with something on them, without what is around it."""
    used = [row for row in rows if row.strip()]
    left = min(len(row) - len(row.lstrip()) for row in used)
    return [row[left:].rstrip() for row in used]


def test_a_figure_in_its_smallest_form() -> None:
    assert ink(drawn("42.1k", 17, 5)) == [
        "# # ###    #  #",
        "# #   #   ##  # #",
        "### ###    #  ##",
        "  # #      #  # #",
        "  # ### # ### # #",
    ]


def test_blocks_and_ascii_draw_the_same() -> None:
    blocks = drawn("40.7k", 80, 20, ascii_only=False)
    assert [row.replace("█", "#") for row in blocks] == drawn("40.7k", 80, 20)
    assert set("".join(blocks)) == {"█", " "}


def test_three_rows_are_enough_for_the_smallest_form() -> None:
    assert ink(drawn("42.1k", 17, 3, ascii_only=False)) == [
        "▄ ▄ ▄▄▄    ▄  ▄",
        "█▄█ ▄▄█   ▀█  █▄▀",
        "  █ █▄▄ ▄ ▄█▄ █ █",
    ]
    assert ink(drawn("42.1k", 17, 3)) == [
        "_ _ ___    _  _",
        '#_# __#   "#  #_"',
        "  # #__ _ _#_ # #",
    ]


@pytest.mark.parametrize(("letters", "ascii_only"), [(LETTERS, False), ("0123456789.,:-+/%kM", True)])
def test_every_character_looks_different_in_three_rows(letters: str, ascii_only: bool) -> None:
    shapes = {tuple(drawn(f"0{letter}0", 13, 3, ascii_only=ascii_only)) for letter in letters}
    assert len(shapes) == len(letters)


def test_three_rows_of_ascii_are_for_figures_only() -> None:
    assert ink(drawn("OSD.1 FROZEN", 200, 4)) == ["OSD.1 FROZEN"]
    assert len(ink(drawn("OSD.1 FROZEN", 200, 4, ascii_only=False))) == 3


def test_halves_of_rows_make_blocks_bigger_than_ascii() -> None:
    assert len(ink(drawn("7", 20, 8, ascii_only=False))) == 8
    assert len(ink(drawn("7", 20, 8))) == 5


@pytest.mark.parametrize(
    ("size", "pixel"),
    [
        ((17, 5), (1, 1)),
        ((33, 24), (1, 1)),
        ((34, 10), (2, 2)),
        ((80, 24), (4, 4)),
        ((250, 70), (14, 14)),
        ((250, 9), (3, 1)),
    ],
)
def test_it_is_as_big_as_whole_factors_make_it(size: tuple[int, int], pixel: tuple[int, int]) -> None:
    found = ink(drawn("40.7k", *size))
    assert (max(map(len, found)), len(found)) == (17 * pixel[0], 5 * pixel[1])


@pytest.mark.parametrize("size", [(16, 5), (17, 2), (5, 1), (16, 70), (250, 2)])
def test_where_it_does_not_fit_it_is_plain_and_in_the_middle(size: tuple[int, int]) -> None:
    rows = drawn("40.7k", *size)
    assert [row.strip() for row in rows if row.strip()] == ["40.7k"]
    above = next(index for index, row in enumerate(rows) if row.strip())
    assert abs(above - (size[1] - 1 - above)) <= 1
    left, right = len(rows[above]) - len(rows[above].lstrip()), len(rows[above]) - len(rows[above].rstrip())
    assert abs(left - right) <= 1


def test_a_character_without_a_big_form_makes_it_plain() -> None:
    assert ink(drawn("4 @", 80, 24)) == ["4 @"]
    assert ink(drawn("4 語", 80, 24)) == ["4 語"]


def test_small_letters_without_a_big_form_are_drawn_as_capitals() -> None:
    assert drawn("osd.1 frozen", 200, 24) == drawn("OSD.1 FROZEN", 200, 24)
    assert len(ink(drawn("OSD.1 FROZEN", 200, 24))) > 3
    assert drawn("sum in", 80, 5) == drawn("SUM IN", 80, 5)
    assert drawn("102 ms", 80, 5) != drawn("102 MS", 80, 5)


def test_the_first_text_that_fits_is_big() -> None:
    assert fits("16.7k", 17, 3, ascii_only=True)
    assert not fits("16.7k", 16, 3, ascii_only=True)
    assert not fits("16.7k", 17, 2, ascii_only=True)
    assert not fits(" ", 17, 3, ascii_only=True)


def test_plain_text_in_ascii_mode_is_ascii() -> None:
    assert ink(drawn("9 µs", 6, 2)) == ["9 us"]
    assert ink(drawn("9 µs", 6, 2, ascii_only=False)) == ["9 µs"]


@given(st.text(st.sampled_from("0123456789.,:-+/% kMGTKBIOPShimnsuµ Q語"), max_size=12), SIZES, st.booleans())
def test_it_always_fills_its_box(text: str, size: tuple[int, int], ascii_only: bool) -> None:
    drawn(text, *size, ascii_only=ascii_only)


@given(st.text(string.digits + ".kM-", max_size=8), st.sampled_from(["", "IOPS", "GiB/s", "ms", "µs"]), SIZES)
def test_with_its_unit_it_fills_its_box(value: str, unit: str, size: tuple[int, int]) -> None:
    width, height = size
    rows = big_with_unit(value, unit, width, height, ascii_only=True)
    assert len(rows) == (max(0, height) if width > 0 else 0)
    assert {cell_len(row) for row in rows} <= {width}


@pytest.mark.parametrize("value", [0.0, 999.0, 40_741.9, 9_990_000.0])
def test_whatever_the_formatter_says_has_a_big_form(value: float) -> None:
    for text in (units.iops(value), units.bandwidth(value * 4096), units.latency(value / 1e9), units.percent(value)):
        assert len(ink(drawn(text, 250, 24))) > 1


def test_every_character_looks_different() -> None:
    shapes = {char: tuple(drawn(f"0{char}0", 13, 5)) for char in LETTERS + " "}
    assert len(set(shapes.values())) == len(shapes)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50), (250, 70)])
def test_figure_and_unit_are_both_big_in_a_usual_terminal(size: tuple[int, int]) -> None:
    rows = big_with_unit("40.7k", "IOPS", *size, ascii_only=True)
    blank = [index for index, row in enumerate(rows) if not row.strip()]
    split = max(
        index for index in blank if any(row.strip() for row in rows[:index]) and any(r.strip() for r in rows[index:])
    )
    value, unit = ink(rows[:split]), ink(rows[split:])
    assert len(value) > len(unit) >= 5
    assert len(value) >= size[1] / 2


def test_in_a_flat_box_the_unit_stands_behind_the_figure() -> None:
    assert ink(big_with_unit("7", "s", 40, 5, ascii_only=True))[0].startswith("#########")
    assert ink(big_with_unit("7", "s", 8, 1, ascii_only=True)) == ["7 s"]
    assert big_with_unit("7", "", 9, 5, ascii_only=True) == drawn("7", 9, 5)


# ---------------------------------------------------------------------------------------------- widget


class Host(App[None]):
    """One big figure on the whole screen."""

    def __init__(self, profile: Profile = FULL) -> None:
        super().__init__()
        self.profile = profile

    def compose(self) -> ComposeResult:
        """The figure."""
        yield Big()


def rendered(app: App[None]) -> list[str]:
    return str(app.query_one(Big).render()).split("\n")


async def test_the_widget_draws_at_its_size_and_again_when_that_changes() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(Big).show("40.7k", "IOPS")
        await pilot.pause()
        assert rendered(app) == big_with_unit("40.7k", "IOPS", 80, 24, ascii_only=False)
        await pilot.resize_terminal(120, 50)
        await pilot.pause()
        assert rendered(app) == big_with_unit("40.7k", "IOPS", 120, 50, ascii_only=False)
        strips = [strip.text for strip in app.screen._compositor.render_strips()]
        assert strips == big_with_unit("40.7k", "IOPS", 120, 50, ascii_only=False)


async def test_the_widget_says_what_there_is_room_for() -> None:
    app = Host()
    async with app.run_test(size=(80, 5)) as pilot:
        app.query_one(Big).say("osd.1 frozen, no completion", "osd.1 frozen")
        await pilot.pause()
        assert rendered(app) == big("OSD.1 FROZEN", 80, 5, ascii_only=False)
        await pilot.resize_terminal(40, 5)
        await pilot.pause()
        assert ink(rendered(app)) == ["osd.1 frozen, no completion"]
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert ink(rendered(app)) == ["osd.1 frozen"]
        app.query_one(Big).show("7")
        assert rendered(app) == big("7", 20, 5, ascii_only=False)


async def test_the_widget_keeps_to_ascii_where_the_profile_does() -> None:
    app = Host(Profile("none", ascii_only=True))
    async with app.run_test(size=(80, 24)):
        app.query_one(Big).show("40.7k", "IOPS")
        assert set("".join(rendered(app))) == {"#", " "}


async def test_what_is_shown_already_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        figure, calls = app.query_one(Big), []
        figure.show("1", "s")
        await pilot.pause()
        monkeypatch.setattr(figure, "refresh", lambda *args, **options: calls.append(args))
        figure.show("1", "s")
        assert calls == []
        figure.show("2", "s")
        assert len(calls) == 1
