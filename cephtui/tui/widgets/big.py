"""Figures in big digits, to be read from the last row of a room."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widget import Widget

from cephtui.tui.terminal.masking import masked_text
from cephtui.tui.terminal.profile import profile_of

_ROWS = 5
"""Pixels of a character's height."""
_GAP = 1
"""Pixels between two characters."""
_UNIT_PART = 4
"""A unit below its figure takes at least one part in so many of the height."""
_BLOCKS, _ASCII = " ▀▄█", ' "_#'
"""What a cell is drawn with: nothing, its upper half, its lower half, all of it."""

_FONT = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", "  #", "  #"),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    "A": (" ## ", "#  #", "####", "#  #", "#  #"),
    "B": ("### ", "#  #", "### ", "#  #", "### "),
    "C": (" ###", "#   ", "#   ", "#   ", " ###"),
    "D": ("### ", "#  #", "#  #", "#  #", "### "),
    "E": ("###", "#  ", "## ", "#  ", "###"),
    "F": ("###", "#  ", "## ", "#  ", "#  "),
    "G": (" ###", "#   ", "# ##", "#  #", " ###"),
    "H": ("#  #", "#  #", "####", "#  #", "#  #"),
    "I": ("###", " # ", " # ", " # ", "###"),
    "J": ("  #", "  #", "  #", "# #", " # "),
    "K": ("#  #", "# # ", "##  ", "# # ", "#  #"),
    "L": ("#  ", "#  ", "#  ", "#  ", "###"),
    "M": ("#   #", "## ##", "# # #", "#   #", "#   #"),
    "N": ("#   #", "##  #", "# # #", "#  ##", "#   #"),
    "O": (" ## ", "#  #", "#  #", "#  #", " ## "),
    "P": ("### ", "#  #", "### ", "#   ", "#   "),
    "Q": (" ## ", "#  #", "#  #", "# ##", " ###"),
    "R": ("### ", "#  #", "### ", "# # ", "#  #"),
    "S": (" ###", "#   ", " ## ", "   #", "### "),
    "T": ("#####", "  #  ", "  #  ", "  #  ", "  #  "),
    "U": ("#  #", "#  #", "#  #", "#  #", " ## "),
    "V": ("#   #", "#   #", " # # ", " # # ", "  #  "),
    "W": ("#   #", "#   #", "# # #", "## ##", "#   #"),
    "X": ("#   #", " # # ", "  #  ", " # # ", "#   #"),
    "Y": ("#   #", " # # ", "  #  ", "  #  ", "  #  "),
    "Z": ("####", "  # ", " #  ", "#   ", "####"),
    "h": ("#  ", "#  ", "###", "# #", "# #"),
    "i": ("#", " ", "#", "#", "#"),
    "k": ("#  ", "# #", "## ", "# #", "# #"),
    "m": ("     ", "#### ", "# # #", "# # #", "# # #"),
    "n": ("   ", "## ", "# #", "# #", "# #"),
    "s": ("   ", " ##", "#  ", "  #", "## "),
    "u": ("   ", "# #", "# #", "# #", " ##"),
    "µ": ("   ", "# #", "# #", "## ", "#  "),
    "μ": ("   ", "# #", "# #", "## ", "#  "),
    " ": ("  ", "  ", "  ", "  ", "  "),
    ".": (" ", " ", " ", " ", "#"),
    ",": ("  ", "  ", "  ", " #", "# "),
    ":": (" ", "#", " ", "#", " "),
    ";": ("  ", " #", "  ", " #", "# "),
    "!": ("#", "#", "#", " ", "#"),
    "?": ("###", "  #", " ##", "   ", " # "),
    "-": ("   ", "   ", "###", "   ", "   "),
    "+": ("   ", " # ", "###", " # ", "   "),
    "=": ("   ", "###", "   ", "###", "   "),
    "_": ("   ", "   ", "   ", "   ", "###"),
    "*": ("   ", "# #", " # ", "# #", "   "),
    "/": ("  #", "  #", " # ", "#  ", "#  "),
    "<": ("  #", " # ", "#  ", " # ", "  #"),
    ">": ("#  ", " # ", "  #", " # ", "#  "),
    "→": ("  #  ", "   # ", "#####", "   # ", "  #  "),
    "(": (" #", "# ", "# ", "# ", " #"),
    ")": ("# ", " #", " #", " #", "# "),
    "'": ("#", "#", " ", " ", " "),
    '"': ("# #", "# #", "   ", "   ", "   "),
    "#": (" # # ", "#####", " # # ", "#####", " # # "),
    "%": ("#  #", "  # ", " ## ", " #  ", "#  #"),
}


_KEPT = re.compile(r"[num\u00b5\u03bc]?s|k|h|min|.*[^a-z.,:;!?-].*")
"""Units, numbers, and what has capitals of its own: words in which small letters mean something."""

_FIGURES = frozenset("0123456789.,:-+/% kM")
"""What is readable in ASCII with halves of cells."""


def fits(text: str, width: int, height: int, *, ascii_only: bool) -> bool:
    """Whether there is room for a text in big characters."""
    return _factors(text, width, height, ascii_only=ascii_only) is not None


def big(text: str, width: int, height: int, *, ascii_only: bool) -> list[str]:
    """``text`` in exactly ``height`` rows of ``width`` columns, as big as whole factors make it, in the middle.

    From three rows on, a pixel being half a row high at the least. Words are in capitals, units are not. Plain, in one
    row, where it does not fit even so, or where a character has no big form; cut off where not even that fits.
    ``ascii_only`` keeps to ASCII characters.
    """
    factors = _factors(text, width, height, ascii_only=ascii_only)
    if factors is None:
        plain = text.replace("µ", "u").replace("μ", "u").replace("→", ">") if ascii_only else text
        return _centred([set_cell_size(plain, min(cell_len(plain), max(0, width)))], width, height)
    across, down = factors
    halves = ["".join(pixel * across for pixel in row) for row in _pixels(text) for _ in range(down)]
    return _centred(_cells(halves, _ASCII if ascii_only else _BLOCKS), width, height)


def _cells(halves: list[str], inks: str) -> list[str]:
    """Rows of cells from rows of half their height; an odd one stands alone in the first row."""
    if len(halves) % 2:
        halves = [" " * len(halves[0]), *halves]
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return [
        "".join(inks[(top == "#") + 2 * (low == "#")] for top, low in zip(upper, lower, strict=True))
        for upper, lower in pairs
    ]


def big_with_unit(value: str, unit: str, width: int, height: int, *, ascii_only: bool) -> list[str]:
    """A figure with its unit behind or below it, in whichever way the figure is the bigger."""
    if not unit:
        return big(value, width, height, ascii_only=ascii_only)
    with_unit, rows = f"{value} {unit}", _unit_rows(value, width, height, ascii_only=ascii_only)
    above = height - rows - 1
    if _area(with_unit, width, height, ascii_only=ascii_only) >= _area(value, width, above, ascii_only=ascii_only):
        return big(with_unit, width, height, ascii_only=ascii_only)
    below = big(unit, width, rows, ascii_only=ascii_only)
    return [*big(value, width, above, ascii_only=ascii_only), " " * width, *below]


def _unit_rows(value: str, width: int, height: int, *, ascii_only: bool) -> int:
    """A part of the height, and what more the figure above it has no use for."""
    least = max(1, height // _UNIT_PART)
    areas = {
        rows: _area(value, width, height - rows - 1, ascii_only=ascii_only)
        for rows in range(least, max(least, height // 2) + 1)
    }
    return max(rows for rows, area in areas.items() if area == areas[least])


def _spelled(text: str) -> str:
    """The text in capitals but for numbers and units: most small letters have no big form of their own."""
    words = text.split(" ")
    return " ".join(word if _KEPT.fullmatch(word) and set(word) <= _FONT.keys() else word.upper() for word in words)


def _pixels(text: str) -> list[str]:
    """The rows of a text in its smallest form."""
    return [(" " * _GAP).join(_FONT[letter][row] for letter in _spelled(text)) for row in range(_ROWS)]


def _factors(text: str, width: int, height: int, *, ascii_only: bool) -> tuple[int, int] | None:
    """Columns and half rows of one pixel, the greatest that fit and keep the characters in shape; None where none do.

    ASCII has no good half of a cell: with halves there is only the smallest form of figures there.
    """
    if not text.strip() or not set(_spelled(text)) <= _FONT.keys():
        return None
    across, down = width // len(_pixels(text)[0]), 2 * height // _ROWS
    if ascii_only and down > 1:
        down -= down % 2
    if across < 1 or down < 1 or (ascii_only and down == 1 and not set(text) <= _FIGURES):
        return None
    return min(across, (3 * down + 1) // 2), min(down, 2 * across)


def _area(text: str, width: int, height: int, *, ascii_only: bool) -> int:
    """Half cells of one pixel; 0 where a text is plain."""
    factors = _factors(text, width, height, ascii_only=ascii_only)
    return factors[0] * factors[1] if factors else 0


def _centred(rows: list[str], width: int, height: int) -> list[str]:
    """The rows in the middle of a box; none for a box without room."""
    if width < 1 or height < 1:
        return []
    above = (height - len(rows)) // 2
    blank = [" " * width]
    inked = [set_cell_size(" " * ((width - cell_len(row)) // 2) + row, width) for row in rows]
    return blank * above + inked + blank * (height - len(rows) - above)


class Big(Widget):
    """One figure, or some words, as big as the box allows; the colour is the widget's."""

    DEFAULT_CSS = "Big { height: 1fr; text-style: bold; }"

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._texts: tuple[str, ...] = ()
        self._value = self._unit = ""

    def show(self, value: str, unit: str = "") -> None:
        """Show a figure such as ``40.7k`` with its unit; the same again costs no redraw."""
        self._take((), value, unit)

    def say(self, *texts: str) -> None:
        """Show the first of these texts that fits in big characters, else the first that fits in plain ones."""
        self._take(texts, "", "")

    def _take(self, texts: tuple[str, ...], value: str, unit: str) -> None:
        if (texts, value, unit) != (self._texts, self._value, self._unit):
            self._texts, self._value, self._unit = texts, value, unit
            self.refresh()

    def render(self) -> Text:
        size, plain = self.content_size, profile_of(self).ascii_only
        texts = [masked_text(self, text) for text in self._texts or (self._value,)]
        whole = next((text for text in texts if cell_len(text) <= size.width), texts[-1])
        value = next((text for text in texts if fits(text, *size, ascii_only=plain)), whole)
        return Text("\n".join(big_with_unit(value, self._unit, *size, ascii_only=plain)), no_wrap=True, end="")
