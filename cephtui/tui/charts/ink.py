"""What charts and heat maps are drawn with."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that a chart is drawn with."""

    marker: str
    bar: str
    tick_y: str
    corner: str
    rule: str
    tick_x: str
    ramp: str
    mark: str
    span: str


_UNICODE = Glyphs("braille", "│", "┤", "└", "─", "┬", "┊", "╎", "━")
_ASCII = Glyphs("*", "|", "+", "+", "-", "+", ":", "|", "=")


@dataclass(frozen=True, slots=True)
class Ink:
    """What the terminal has, and the styles of what surrounds the lines."""

    colors: bool = True
    """Without them a chart has no style at all, and a heat map shades of one colour."""
    ascii_only: bool = False
    """Whether to keep to ASCII characters."""
    axis: str | Style = "dim"
    shade: str | Style = "on grey11"
    """Of the ramp."""
    span: str | Style = "yellow"

    @property
    def glyphs(self) -> Glyphs:
        """The characters to draw with."""
        return _ASCII if self.ascii_only else _UNICODE
