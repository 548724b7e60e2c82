"""What stands between the widgets and the terminal: fewer colours, and look-alikes in ASCII."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from enum import Enum
from functools import lru_cache, partial

from rich.cells import cell_len, set_cell_size
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from cephtui.printable import printable
from cephtui.tui.terminal import downgrade
from cephtui.tui.terminal.downgrade import RGB

_BLOCKS = {
    **dict.fromkeys("▂▃░▖▗▘▝", "."),
    **dict.fromkeys("▄▅▀▒▚▞", ":"),
    **dict.fromkeys("▆▇█▉▓▙▛▜▟", "#"),
    **dict.fromkeys("▊▋▌▍▎▏▐▕", "|"),
    "▁": "_",
    "▔": "-",
}
_LOOK_ALIKES = {
    **dict.fromkeys("↑⇑▲△▴⬆⏶", "^"),
    **dict.fromkeys("↓⇓▼▽▾⬇⏷", "v"),
    **dict.fromkeys("←⇐◀◁◂⬅❮‹⏎↵", "<"),
    **dict.fromkeys("→⇒▶▷▸►⮕❯›", ">"),
    **dict.fromkeys("•·∙●◉◆■▪★✱⬤", "*"),
    **dict.fromkeys("○◯◦◇□▫☆⭘", "o"),
    **dict.fromkeys("✓✔√", "v"),
    **dict.fromkeys("×✗✘✕✖", "x"),
    **dict.fromkeys("–—―−‐‑⎯", "-"),
    **dict.fromkeys("‘’‚′´", "'"),
    **dict.fromkeys("“”„″«»", '"'),
    **dict.fromkeys("±≈≃~", "~"),
    "…": ".",
    "≥": ">",
    "≤": "<",
    "≠": "!",
    "÷": "/",
    "µ": "u",
    "μ": "u",
    "°": "o",
    "σ": "s",
    "Δ": "d",
    "ß": "s",
    "\N{NO-BREAK SPACE}": " ",
}
_BROAD = frozenset("▉▊")
"""Characters that in a border have the colour of what it surrounds; the line is the rest of the cell."""
_HIDDEN, _FAINT = 1.1, 1.7
"""Contrast below which nothing is meant to be seen, and below which a letter is not (a check box that is off)."""
_STANDS_OUT = 2.0
"""Contrast with the ground from which on a background means something (a cursor, a bar)."""
_LINES = range(0x2500, 0x25A0)
"""The characters of boxes and blocks."""
_NO_STYLE = Style()
PICTURE = Style.from_meta({"picture": True})
"""The style of cells whose colours are what they say: they are no text, and stay as they are on any ground."""


class Visibility(Enum):
    """How much of a text is there to be seen."""

    ALL = "all"
    LINES = "lines"
    NOTHING = "nothing"


Fit = Callable[[Style, RGB], tuple[Style, Visibility]]
"""The style on the terminal and what is visible, by a style and the background of the whole screen."""


class OnGround(LineFilter):
    """Knows the background of the whole screen, which changes with the theme."""

    ground: RGB = (0, 0, 0)

    def __init__(self, fitted: Fit) -> None:
        super().__init__()
        self._fitted = lru_cache(8192)(fitted)

    def stand_on(self, ground: RGB) -> None:
        """The background has changed."""
        self.ground = ground

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same text in other styles."""
        ground, fitted = self.ground, self._fitted
        result = []
        for text, style, control in segments:
            if control:
                result.append(Segment(text, style, control))
                continue
            new, shown = fitted(style or _NO_STYLE, ground)
            result.append(Segment(text if shown is Visibility.ALL else _visible(text, shown), new))
        return result


class FewColors(OnGround):
    """Every style in the 8 or 16 colours of the terminal, or (0) without any, and readable.

    Only bold and underline are kept besides: what plain terminals make of the others is a matter of luck.
    """

    def __init__(self, count: int) -> None:
        super().__init__(partial(fitted_style, count=count))


class OnLight(OnGround):
    """What was chosen for a dark ground, in a darker shade of its colour where the ground is light."""

    def __init__(self) -> None:
        super().__init__(readable_style)
        self.enabled = False

    def stand_on(self, ground: RGB) -> None:
        """The background has changed; on a dark one nothing is to be done."""
        super().stand_on(ground)
        self.enabled = downgrade.is_light(ground)


class Printable(LineFilter):
    """Lets no text of others through that a terminal would obey, or would not show."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same styles and widths: widgets that know better have made room for the escapes."""
        return [
            segment
            if segment.control or (text := printable(segment.text)) is segment.text
            else Segment(set_cell_size(text, segment.cell_length), segment.style)
            for segment in segments
        ]


class AsciiOnly(LineFilter):
    """Every character that is not ASCII replaced by one of the same width that looks like it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same styles with other text; a line that is what a broad block leaves free becomes a line."""
        return [
            segment
            if segment.text.isascii()
            else Segment(
                in_ascii(segment.text),
                swapped(segment.style) if segment.style and _BROAD.issuperset(segment.text) else segment.style,
                segment.control,
            )
            for segment in segments
        ]


@lru_cache(1024)
def swapped(style: Style) -> Style:
    """The background's colour for the text, and the other way round."""
    if style.color is None or style.bgcolor is None:
        return style + Style(reverse=not style.reverse)
    return style + Style(color=style.bgcolor, bgcolor=style.color)


# ---------------------------------------------------------------------------------------------- colours


def readable_style(style: Style, ground: RGB) -> tuple[Style, Visibility]:
    """A style whose text is darkened until it can be read on its light background."""
    if style.color is None or style.color.triplet is None or style.reverse or "picture" in style.meta:
        return style, Visibility.ALL
    paper = _rgb(style.bgcolor, ground)
    darker = downgrade.darkened(tuple(style.color.triplet), paper) if downgrade.is_light(paper) else style.color.triplet
    return style + Style(color=RichColor.from_rgb(*darker)), Visibility.ALL


def fitted_style(style: Style, ground: RGB, count: int) -> tuple[Style, Visibility]:
    """A style for a terminal with 16, 8 or 0 colours, and what of its text is to be seen."""
    ink = _rgb(style.color, (0, 0, 0) if downgrade.is_light(ground) else (255, 255, 255))
    paper = _rgb(style.bgcolor, ground)
    if style.reverse:
        ink, paper = paper, ink
    shown = _shown(downgrade.contrast(ink, paper))
    meta = style.meta or None
    if not count:
        stands_out = downgrade.contrast(paper, ground) >= _STANDS_OUT
        return Style(bold=style.bold, underline=style.underline, reverse=stands_out or None, meta=meta), shown
    color, bgcolor, bold = _indexes(ink, paper, count, bool(style.bold))
    colors = RichColor.from_ansi(color), RichColor.from_ansi(bgcolor)
    return Style(color=colors[0], bgcolor=colors[1], bold=bold or None, underline=style.underline, meta=meta), shown


@lru_cache(4096)
def _indexes(ink: RGB, paper: RGB, count: int, bold: bool) -> tuple[int, int, bool]:
    """Numbers of the text's colour and the background's, and whether it is bold."""
    bgcolor = downgrade.paper(paper, count)
    color = downgrade.ink(ink, bgcolor, count, bold=bold)
    if count > downgrade.BRIGHT:  # which may show bold as bright besides
        return color, bgcolor, bold and downgrade.is_readable(color | downgrade.BRIGHT, bgcolor)
    return color % downgrade.BRIGHT, bgcolor, color >= downgrade.BRIGHT


def _rgb(color: RichColor | None, default: RGB) -> RGB:
    if color is None or color.is_default:
        return default
    if color.number is not None and color.number < len(downgrade.VGA):
        return downgrade.VGA[color.number]
    red, green, blue = color.get_truecolor()
    return red, green, blue


def _shown(contrast: float) -> Visibility:
    return Visibility.ALL if contrast >= _FAINT else Visibility.LINES if contrast >= _HIDDEN else Visibility.NOTHING


@lru_cache(1024)
def _visible(text: str, shown: Visibility) -> str:
    """The text with spaces in the place of what is not to be seen."""
    if shown is Visibility.LINES:
        return "".join(char if ord(char) in _LINES else " " * cell_len(char) for char in text)
    return " " * cell_len(text)


# ---------------------------------------------------------------------------------------------- characters


@lru_cache(4096)
def in_ascii(text: str) -> str:
    """A look-alike that takes as many cells."""
    replaced = "".join(map(_look_alike, text))
    width = cell_len(text)
    return replaced if len(replaced) == width else set_cell_size(replaced, width)


@lru_cache(4096)
def _look_alike(char: str) -> str:
    if char.isascii():
        return char
    width = cell_len(char)
    if width != 1:
        return "?" * width
    return _BLOCKS.get(char) or _LOOK_ALIKES.get(char) or _line(char) or _braille(char) or _letter(char) or "?"


def _line(char: str) -> str | None:
    name = unicodedata.name(char, "")
    if not name.startswith("BOX DRAWINGS"):
        return None
    if "DIAGONAL" in name:
        return {"╱": "/", "╲": "\\"}.get(char, "X")
    upright = any(word in name for word in ("VERTICAL", "UP", "DOWN"))
    flat = any(word in name for word in ("HORIZONTAL", "LEFT", "RIGHT"))
    return "+" if upright and flat else "|" if upright else "=" if char == "═" else "-"


def _braille(char: str) -> str | None:
    if char == "\N{BRAILLE PATTERN BLANK}":
        return " "
    return "*" if "\u2800" < char <= "\u28ff" else None


def _letter(char: str) -> str | None:
    """A letter without its accent."""
    plain = unicodedata.normalize("NFKD", char)[:1]
    return plain if plain.isascii() and plain.isprintable() else None
