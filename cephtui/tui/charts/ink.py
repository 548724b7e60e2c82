"""What charts and heat maps are drawn with: symbols and colours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.color import Color
from rich.style import Style, StyleType
from textual.widget import Widget

from cephtui.frozen import dataclass
from cephtui.tui.charts.colors import SHARE_COLOR
from cephtui.tui.terminal.downgrade import RGB, is_light
from cephtui.tui.terminal.filters import PICTURE
from cephtui.tui.terminal.profile import Graph, profile_of

_AREA, _EDGE, _EDGE_ON_LIGHT = (0.22, 0.66), 0.7, 0.8
"""How much of its line's colour an area has at the bottom and at the top of its chart, and the edge of a band."""
_SHARE, _SHARE_ON_LIGHT = 0.8, 0.55
"""How much of its colour the ground of the best figure of a row has: text in front of it can be read."""
_SHADES = 24
"""From the bottom to the top."""
_BLACK = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that a chart is drawn with."""

    marker: str
    """What plotext draws lines with, and ``edge`` the edge of a band."""
    edge: str
    dots: tuple[tuple[int, ...], ...]
    """The bits of the lowest none, one, two ... dots of each column of a cell; empty where a cell is one dot."""
    cells: str
    """The character for every sum of bits."""
    area: str
    """What areas are filled with in a shade of their line's colour."""
    areas: str
    """What areas are filled with where there are no shades, alternating."""
    gap: str
    hatch: str
    """What areas are filled with in the ramp."""
    bar: str
    tick_y: str
    corner: str
    rule: str
    tick_x: str
    ramp: str
    mark: str
    span: str

    @property
    def wide(self) -> int:
        """Dots beside each other in a cell."""
        return max(1, len(self.dots))

    @property
    def high(self) -> int:
        """Dots above each other in a cell."""
        return len(self.dots[0]) - 1 if self.dots else 1


_FRAME = ("╱", "╲", "│", "┤", "└", "─", "┬", "┊", "╎", "━")
_BRAILLE_DOTS = ((0x00, 0x40, 0x44, 0x46, 0x47), (0x00, 0x80, 0xA0, 0xB0, 0xB8))
_QUADRANT_DOTS = ((0, 4, 5), (0, 8, 10))
_GLYPHS: dict[Graph, Glyphs] = {
    "braille": Glyphs(
        "braille", "braille", _BRAILLE_DOTS, "".join(map(chr, range(0x2800, 0x2900))), "█", "⢕⠂", *_FRAME
    ),
    "block": Glyphs("hd", "hd", _QUADRANT_DOTS, " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█", "█", "▒░", *_FRAME),
    "ascii": Glyphs("*", "-", (), "", ":", ":.", "/", "\\", "|", "+", "+", "-", "+", ":", "|", "="),
}


@dataclass(frozen=True, slots=True)
class Ink:
    """What the terminal has, and the styles of what surrounds the lines."""

    colors: bool = True
    """Without them a chart has no style at all, and a heat map shades of one colour."""
    graph: Graph = "braille"
    """The symbols of lines and areas; with ``ascii`` no other character is drawn."""
    shades: bool = True
    """Whether colours can be mixed; otherwise areas have lighter symbols in the line's colour."""
    ground: RGB = (18, 18, 18)
    """The background, towards which colours are mixed."""
    axis: StyleType = "dim"
    shade: StyleType = "on grey11"
    """Style of the ramp."""
    mark: StyleType = "bold"
    span: StyleType = "yellow"
    """Style of a period on the x axis and its text, with the background of its whole height."""
    stall: StyleType = "red"
    """Like ``span``, of a stall."""

    @property
    def ascii_only(self) -> bool:
        """Whether to keep to ASCII characters."""
        return self.graph == "ascii"

    @property
    def is_light(self) -> bool:
        """Whether the background is light."""
        return is_light(self.ground)

    @property
    def glyphs(self) -> Glyphs:
        """The characters to draw with."""
        return _GLYPHS[self.graph]

    def area(self, color: str) -> Sequence[StyleType]:
        """Styles of the area below a line, from the bottom to the top."""
        if not self.shades:
            return [Style.parse(color)]
        return _shades(color, self.ground)

    def area_ground(self, color: str) -> Sequence[StyleType]:
        """Styles of an area where a line is in front of it, from the bottom to the top."""
        if not self.shades:
            return [""]
        return _grounds(color, self.ground)

    def share_ground(self, share: float) -> Style:
        """Style of the ground behind a figure that is so near to the best of its like; only where there are shades."""
        most = _SHARE_ON_LIGHT if self.is_light else _SHARE
        return Style(bgcolor=mixed(SHARE_COLOR, self.ground, most * share).color)

    def edge(self, color: str) -> Style:
        """Style of the edge of a band: between its area and its line; on a light ground, darker than the line."""
        if not self.shades:
            return Style.parse(color)
        return mixed(color, _BLACK, _EDGE_ON_LIGHT) if self.is_light else mixed(color, self.ground, _EDGE)


def ink_of(widget: Widget, *, colors: bool = True, **styles: StyleType) -> Ink:
    """What the terminal of a widget has, with these styles; ``colors`` only where the application has them.

    Where the background is the terminal's own, it is black or white by the theme.
    """
    profile, color = profile_of(widget), widget.background_colors[1]
    is_dark, has_colors = widget.app.current_theme.dark, colors and not widget.app.no_color
    ground = color.rgb if color.ansi is None else (0, 0, 0) if is_dark else (255, 255, 255)
    return Ink(has_colors, profile.symbols, profile.has_shades, ground, **styles)


@lru_cache(64)
def _shades(color: str, ground: RGB) -> list[Style]:
    """Of an area from the bottom to the top."""
    low, high = _AREA
    return [mixed(color, ground, low + (high - low) * shade / (_SHADES - 1)) for shade in range(_SHADES)]


@lru_cache(64)
def _grounds(color: str, ground: RGB) -> list[Style]:
    """The same as backgrounds."""
    return [Style(bgcolor=shade.color) for shade in _shades(color, ground)]


@lru_cache(512)
def mixed(color: str, ground: RGB, part: float) -> Style:
    """A colour of which only a part is left on a ground, for what is no text."""
    ink = Style.parse(color).color
    red, green, blue = (
        round(part * channel + (1 - part) * ground_channel)
        for channel, ground_channel in zip(ink.get_truecolor() if ink else ground, ground, strict=True)
    )
    return Style(color=Color.from_rgb(red, green, blue)) + PICTURE
