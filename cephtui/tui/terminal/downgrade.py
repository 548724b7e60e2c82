"""Any colour in one of the 8 or 16 of a plain terminal, so that what is written stays readable."""

from __future__ import annotations

from functools import lru_cache

RGB = tuple[int, int, int]
"""Red, green, blue; 0 to 255."""

BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE = range(8)
BRIGHT = 8
"""Added to one of the eight. A terminal with eight shows it as bold, and has it for text only."""
VGA: tuple[RGB, ...] = (
    *((0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170)),
    *((85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85), (85, 85, 255), (255, 85, 255), (85, 255, 255)),
    (255, 255, 255),
)
"""The sixteen as the Linux console and Proxmox's noVNC shell draw them; others differ a little."""
_HUES = ((30, RED), (90, YELLOW), (166, GREEN), (195, CYAN), (220, None), (265, BLUE), (345, MAGENTA), (361, RED))
"""Up to which degree a hue counts as which colour; sky blue is cyan and blue is blue, at the same hue."""
_COLORED = 0.18
"""A smaller difference between its strongest and its weakest part makes a grey, of 1."""
_READABLE, _EASY = 3.0, 4.5
"""Contrast that coloured text and marks need at least, and that text needs which may take any colour."""


@lru_cache(4096)
def luminance(color: RGB) -> float:
    """How bright a colour looks, 0 to 1 (WCAG's relative luminance)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def is_light(color: RGB) -> bool:
    """Whether dark text is read better on a colour than light text."""
    return luminance(color) > 0.4


def contrast(first: RGB, second: RGB) -> float:
    """1 (the same) to 21 (black and white)."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@lru_cache(4096)
def darkened(color: RGB, on: RGB) -> RGB:
    """The colour, or the first darker shade of it that text can have on a light background; of a grey, a mark."""
    shade, part = color, 1.0
    least = _EASY if max(color) - min(color) >= _COLORED * 255 else _READABLE
    while contrast(shade, on) < least and part > 0:
        part -= 0.05
        shade = (int(color[0] * part), int(color[1] * part), int(color[2] * part))
    return shade


def paper(color: RGB, count: int) -> int:
    """The background for a colour; with a count of 8 never a bright one."""
    low, high = min(color) / 255, max(color) / 255
    if high - low < _COLORED or low > 0.6:
        return _grey(high, count)
    if high < 0.35:
        return BLACK
    return _hue(color) | (BRIGHT if count > BRIGHT and high > 0.95 else 0)


def ink(color: RGB, on: int, count: int, *, bold: bool = False) -> int:
    """The text colour for a colour on one of the backgrounds, readable there; BRIGHT or not."""
    preferred = _wanted_ink(color, count) | (BRIGHT if bold and count == BRIGHT else 0)
    hue = preferred % BRIGHT
    for candidate in (preferred, preferred | BRIGHT, hue, BLUE if hue == CYAN else hue):
        if is_readable(candidate, on):
            return candidate
    dark = (BLACK | BRIGHT,) if hue == WHITE and count > BRIGHT and not bold else ()
    neutral: tuple[int, ...] = (WHITE | (BRIGHT if bold else 0), *dark, BLACK, WHITE | BRIGHT)
    easy = (candidate for candidate in neutral if contrast(VGA[candidate], VGA[on]) >= _EASY)
    return next(easy, max(neutral, key=lambda candidate: contrast(VGA[candidate], VGA[on])))


def is_readable(index: int, on: int) -> bool:
    """Whether one of the sixteen can be read on another."""
    return contrast(VGA[index], VGA[on]) >= _READABLE


def _wanted_ink(color: RGB, count: int) -> int:
    low, high = min(color) / 255, max(color) / 255
    if high - low < _COLORED or high < 0.25:
        return _grey(high, count)
    return _hue(color) | (BRIGHT if high >= 0.8 else 0)


def _grey(value: float, count: int) -> int:
    if count == BRIGHT:
        return WHITE if value >= 0.5 else BLACK
    steps = ((0.25, BLACK), (0.4, BLACK | BRIGHT), (0.83, WHITE))
    return next((index for limit, index in steps if value < limit), WHITE | BRIGHT)


def _hue(color: RGB) -> int:
    red, green, blue = color
    high, spread = max(color), max(color) - min(color)
    if high == red:
        degrees = 60 * ((green - blue) / spread) % 360
    elif high == green:
        degrees = 60 * (2 + (blue - red) / spread)
    else:
        degrees = 60 * (4 + (red - green) / spread)
    index = next(index for limit, index in _HUES if degrees < limit)
    return (CYAN if high >= 200 else BLUE) if index is None else index
