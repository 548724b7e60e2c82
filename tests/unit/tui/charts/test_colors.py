"""The table of colours: each meaning has its own on every terminal and in every theme."""

from __future__ import annotations

import math
import re
from itertools import combinations
from operator import mul
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

import cephtui
from cephtui.reports.styles import FLOW_STYLES, STYLES
from cephtui.tui.charts.colors import (
    ERROR_COLOR,
    FLOW_COLORS,
    HEAT_LINE_COLORS,
    NODE_COLORS,
    SIDE_COLORS,
    STAGE_COLORS,
    WARNING_COLOR,
)
from cephtui.tui.charts.ink import Ink
from cephtui.tui.terminal import downgrade
from cephtui.tui.terminal.apply import VGA_NAMES, named_colors
from cephtui.tui.terminal.filters import fitted_style, readable_style
from cephtui.tui.terminal.themes import BASIC_DARK, BASIC_LIGHT, DARK, LIGHT

_HEX = re.compile("#[0-9a-f]{6}", re.IGNORECASE)
_TABLES = ("charts/colors.py", "terminal/themes.py")


MEANINGS = {
    "read": FLOW_COLORS["read"],
    "write": FLOW_COLORS["write"],
    "A": SIDE_COLORS["A"],
    "B": SIDE_COLORS["B"],
    "ok": "green",
    "warning": "yellow",
    "error": "red",
}
"""Each as widgets name it."""
NEAREST = {"truecolor": 0.1, "256": 0.075, "16": 0.0, "8": 0.0}
"""Distances in Oklab above which all meanings are from each other; among few colours each has its own."""
GROUNDS: dict[bool, downgrade.RGB] = {False: (18, 18, 18), True: (255, 255, 255)}
_OKLAB = (
    ((0.4122214708, 0.5363325363, 0.0514459929), (0.2104542553, 0.7936177850, -0.0040720468)),
    ((0.2119034982, 0.6806995451, 0.1073969566), (1.9779984951, -2.4285922050, 0.4505937099)),
    ((0.0883024619, 0.2817188376, 0.6299787005), (0.0259040371, 0.7827717662, -0.8086757660)),
)
"""Björn Ottosson's two matrices, row by row: to the cones, and from their cube roots."""


def oklab(color: downgrade.RGB) -> tuple[float, ...]:
    """In a space in which equal distances look alike."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in color)]
    cones = [sum(map(mul, row, linear)) ** (1 / 3) for row, _ in _OKLAB]
    return tuple(sum(map(mul, row, cones)) for _, row in _OKLAB)


def shown(color: str, colors: str, *, light: bool) -> downgrade.RGB:
    """What a terminal with so many colours shows of a text in a colour."""
    ground, few = GROUNDS[light], colors in ("16", "8")
    named = VGA_NAMES if few else named_colors(LIGHT if light else DARK)
    style = Style(color=RichColor.from_rgb(*RichColor.parse(color).get_truecolor(named)))
    if few:
        black_or_white = (255, 255, 255) if light else (0, 0, 0)
        style, _ = fitted_style(style, black_or_white, int(colors))
        assert style.color
        return downgrade.VGA[(style.color.number or 0) + downgrade.BRIGHT * bool(style.bold)]
    style = readable_style(style, ground)[0] if light else style
    assert style.color
    system = ColorSystem.EIGHT_BIT if colors == "256" else ColorSystem.TRUECOLOR
    red, green, blue = style.color.downgrade(system).get_truecolor()
    return red, green, blue


@pytest.mark.parametrize(
    ("colors", "light"),
    [*((colors, False) for colors in NEAREST), *((colors, True) for colors in ("truecolor", "256", "16"))],
)
def test_no_two_meanings_are_near_each_other(colors: str, light: bool) -> None:
    seen = {meaning: shown(color, colors, light=light) for meaning, color in MEANINGS.items()}
    distances = {
        f"{one} {other}": math.dist(oklab(seen[one]), oklab(seen[other])) for one, other in combinations(seen, 2)
    }
    assert {pair: distance for pair, distance in distances.items() if distance <= NEAREST[colors]} == {}


@pytest.mark.parametrize("theme", [DARK, LIGHT, BASIC_DARK, BASIC_LIGHT], ids=lambda theme: theme.name)
def test_keys_and_words_that_are_no_data_have_no_colour_of_data(theme: Theme) -> None:
    values = {**theme.to_color_system().generate(), **theme.variables}
    for name in ("accent", "footer-key-foreground", "footer-description-foreground"):
        red, green, blue = Color.parse(values[name]).rgb
        assert max(red, green, blue) - min(red, green, blue) < 3, name


def test_nodes_and_stages_have_no_colour_of_writes_warnings_and_errors() -> None:
    taken = [oklab(Color.parse(color).rgb) for color in (FLOW_COLORS["write"], WARNING_COLOR, ERROR_COLOR)]
    for color in (*NODE_COLORS, *STAGE_COLORS, *HEAT_LINE_COLORS):
        assert min(math.dist(oklab(Color.parse(color).rgb), other) for other in taken) > NEAREST["truecolor"], color


def test_reports_name_flows_as_the_console_does() -> None:
    named = named_colors(DARK)
    for flow, name in FLOW_STYLES.items():
        assert RichColor.parse(name).get_truecolor(named) == Color.parse(FLOW_COLORS[flow]).rgb
    assert {STYLES[style].split()[-1] for style in ("open", "limited", "bad")} == {"yellow", "red"}


def test_no_colour_stands_beside_the_tables() -> None:
    folder = Path(cephtui.__file__).parent / "tui"
    files = [*folder.rglob("*.py"), *folder.rglob("*.tcss")]
    stray = {str(path.relative_to(folder)) for path in files if _HEX.search(path.read_text())}
    assert stray == {*_TABLES}


@pytest.mark.parametrize(("ground", "ink"), [((18, 18, 18), (228, 228, 228)), ((255, 255, 255), (18, 18, 18))])
def test_a_figure_is_read_on_the_ground_of_any_share(ground: downgrade.RGB, ink: downgrade.RGB) -> None:
    grounds = [Ink(ground=ground).share_ground(share / 10).bgcolor for share in range(11)]
    colors = [color.get_truecolor() for color in grounds if color]
    assert min(downgrade.contrast(ink, color) for color in colors) >= 4.5
    steps = [downgrade.contrast(color, ground) for color in colors]
    assert steps == sorted(steps), "the nearer to the best, the more it stands out"
    assert steps[-1] > 2
