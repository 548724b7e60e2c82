"""Screens as SVG: letters as text, blocks and braille as shapes, and only what changes drawn again."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.support.pictures import Picture, moving, picture, still

_SVG = "{http://www.w3.org/2000/svg}"
_CELLS = 6
ORANGE = "#e69f00"


class Screen(App[None]):
    """A row of text."""

    CSS = "Static { height: 1; color: #ffffff; background: #000000; }"

    def __init__(self, text: Text) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        yield Static(self._text)


async def drawn(*parts: tuple[str, str]) -> Picture:
    async with Screen(Text.assemble(*parts)).run_test(size=(_CELLS, 1)) as pilot:
        return picture(pilot.app)


def elements(svg: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{_SVG}{name}"))


async def test_letters_are_text_as_wide_as_their_cells() -> None:
    (text,) = elements(still(await drawn(("a <b", "bold"))), "text")
    assert (text.text, text.get("x"), text.get("textLength"), text.get("font-weight")) == ("a <b", "0", "48", "bold")


@pytest.mark.parametrize(
    ("signs", "path"),
    [
        (" ███", "M12 0h36v24h-36z"),
        ("▂", "M0 18h12v6h-12z"),
        ("▌", "M0 0h6v24h-6z"),
        ("▀▄", "M0 0h12v12h-12zM12 12h12v12h-12z"),
        ("▞", "M6 0h6v12h-6zM0 12h6v12h-6z"),
    ],
)
async def test_blocks_are_shapes(signs: str, path: str) -> None:
    (found,) = elements(still(await drawn((signs, ORANGE))), "path")
    assert (found.get("fill"), found.get("d")) == (ORANGE, path)


async def test_a_shape_lies_over_the_ground_of_its_cell() -> None:
    blocks = elements(still(await drawn(("█", ORANGE), ("█", f"{ORANGE} on #0000ff"))), "path")
    assert [each.get("fill") for each in blocks] == ["#0000ff", ORANGE]


async def test_braille_is_dots() -> None:
    (found,) = elements(still(await drawn(("⠁⡀", ORANGE))), "path")
    assert (found.get("stroke"), found.get("d")) == (ORANGE, "M3 3h0M15 21h0")


def test_only_rows_that_change_are_drawn_again() -> None:
    def screen(*words: str) -> Picture:
        return Picture(tuple(f"<text>{word}</text>" for word in words), _CELLS, "#000000")

    frames = [(1.0, screen("same", "a")), (1.0, screen("same", "b")), (2.0, screen("same", "b"))]
    svg = moving(frames, 1, "played at 8x")
    shown = {text.text: group for group in elements(svg, "g") for text in group}
    assert [text.text for text in elements(svg, "text") if text.text not in shown] == ["played at 8x"]
    assert {word: group.get("visibility") for word, group in shown.items()} == {"same": None, "a": "hidden", "b": None}
    assert shown["b"].get("style") == "animation-name:s1-3"
    assert "@keyframes s1-3{0%{visibility:hidden}25%{visibility:visible}}" in svg
    assert "@keyframes s0-1{0%{visibility:visible}25%{visibility:hidden}}" in svg
