"""Figures in big digits, to be read from the last row of a room."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widget import Widget

from cephtui.tui.terminal.profile import profile_of

_ROWS = 5
_GAP = 1
"""Pixels between two characters."""
_WIDEST = 3
"""A pixel is at most so many times as many columns wide as it is rows high: a cell is twice as high as wide."""
_BLOCK, _ASCII = "█", "#"
_UNIT_PART = 4
"""A unit below its figure takes at least one part in so many of the height."""

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
    ".": (" ", " ", " ", " ", "#"),
    ",": ("  ", "  ", "  ", " #", "# "),
    ":": (" ", "#", " ", "#", " "),
    "-": ("   ", "   ", "###", "   ", "   "),
    "+": ("   ", " # ", "###", " # ", "   "),
    "/": ("  #", "  #", " # ", "#  ", "#  "),
    "%": ("#  #", "  # ", " ## ", " #  ", "#  #"),
    " ": ("  ", "  ", "  ", "  ", "  "),
    "B": ("### ", "#  #", "### ", "#  #", "### "),
    "G": (" ###", "#   ", "# ##", "#  #", " ###"),
    "I": ("###", " # ", " # ", " # ", "###"),
    "K": ("#  #", "# # ", "##  ", "# # ", "#  #"),
    "M": ("#   #", "## ##", "# # #", "#   #", "#   #"),
    "O": (" ## ", "#  #", "#  #", "#  #", " ## "),
    "P": ("### ", "#  #", "### ", "#   ", "#   "),
    "S": (" ###", "#   ", " ## ", "   #", "### "),
    "T": ("#####", "  #  ", "  #  ", "  #  ", "  #  "),
    "h": ("#  ", "#  ", "###", "# #", "# #"),
    "i": ("#", " ", "#", "#", "#"),
    "k": ("#  ", "# #", "## ", "# #", "# #"),
    "m": ("     ", "#### ", "# # #", "# # #", "# # #"),
    "n": ("   ", "## ", "# #", "# #", "# #"),
    "s": ("   ", " ##", "#  ", "  #", "## "),
    "u": ("   ", "# #", "# #", "# #", " ##"),
    "µ": ("   ", "# #", "# #", "## ", "#  "),
    "μ": ("   ", "# #", "# #", "## ", "#  "),
}


def big(text: str, width: int, height: int, *, ascii_only: bool) -> list[str]:
    """``text`` in exactly ``height`` rows of ``width`` columns, as big as whole factors make it, in the middle.

    Plain, in one row, where it does not fit even so, or where a character has no big form; cut off where not even
    that fits. ``ascii_only`` keeps to ASCII characters.
    """
    factors = _factors(text, width, height)
    if factors is None:
        plain = text.replace("µ", "u").replace("μ", "u") if ascii_only else text
        return _centred([set_cell_size(plain, min(cell_len(plain), max(0, width)))], width, height)
    across, down = factors
    ink = _ASCII if ascii_only else _BLOCK
    rows = ["".join((ink if pixel == "#" else " ") * across for pixel in row) for row in _pixels(text)]
    return _centred([row for row in rows for _ in range(down)], width, height)


def big_with_unit(value: str, unit: str, width: int, height: int, *, ascii_only: bool) -> list[str]:
    """A figure with its unit behind or below it, in whichever way the figure is the bigger."""
    if not unit:
        return big(value, width, height, ascii_only=ascii_only)
    both, rows = f"{value} {unit}", _unit_rows(value, width, height)
    above = height - rows - 1
    if _area(both, width, height) >= _area(value, width, above):
        return big(both, width, height, ascii_only=ascii_only)
    below = big(unit, width, rows, ascii_only=ascii_only)
    return [*big(value, width, above, ascii_only=ascii_only), " " * width, *below]


def _unit_rows(value: str, width: int, height: int) -> int:
    """A part of the height, and what more the figure above it has no use for."""
    least = max(1, height // _UNIT_PART)
    wanted = _area(value, width, height - least - 1)
    return max(
        rows for rows in range(least, max(least, height // 2) + 1) if _area(value, width, height - rows - 1) == wanted
    )


def _pixels(text: str) -> list[str]:
    """The rows of a text in its smallest form."""
    return [(" " * _GAP).join(_FONT[letter][row] for letter in text) for row in range(_ROWS)]


def _factors(text: str, width: int, height: int) -> tuple[int, int] | None:
    """Columns and rows of one pixel, the greatest that fit and keep the digits in shape; None where none do."""
    if not text.strip() or any(letter not in _FONT for letter in text):
        return None
    columns = sum(len(_FONT[letter][0]) + _GAP for letter in text) - _GAP
    across, down = width // columns, height // _ROWS
    if across < 1 or down < 1:
        return None
    return min(across, _WIDEST * down), min(down, across)


def _area(text: str, width: int, height: int) -> int:
    """Cells of one pixel; 0 where a text is plain."""
    factors = _factors(text, width, height)
    return factors[0] * factors[1] if factors else 0


def _centred(rows: list[str], width: int, height: int) -> list[str]:
    """In the middle of a box; nothing for a box without room."""
    if width < 1 or height < 1:
        return []
    above = (height - len(rows)) // 2
    blank = [" " * width]
    inked = [set_cell_size(" " * ((width - cell_len(row)) // 2) + row, width) for row in rows]
    return blank * above + inked + blank * (height - len(rows) - above)


class Big(Widget):
    """One figure as big as its box allows; its colour is the widget's."""

    DEFAULT_CSS = "Big { height: 1fr; }"

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        """Make one that shows nothing yet."""
        super().__init__(name=name, id=id, classes=classes)
        self._value = self._unit = ""

    def show(self, value: str, unit: str) -> None:
        """Show a figure such as ``40.7k`` with its unit; the same again costs no redraw."""
        if (value, unit) != (self._value, self._unit):
            self._value, self._unit = value, unit
            self.refresh()

    def render(self) -> Text:
        """Draw at the present size."""
        rows = big_with_unit(self._value, self._unit, *self.content_size, ascii_only=profile_of(self).ascii_only)
        return Text("\n".join(rows), no_wrap=True, end="")
