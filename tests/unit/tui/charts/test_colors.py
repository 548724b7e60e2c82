"""The table of colours: what is read and written, and what is wrong, differ on every terminal and in every theme."""

from __future__ import annotations

import colorsys
import re
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

import cephtui
from cephtui.reports.styles import FLOW_STYLES, STYLES
from cephtui.tui.charts.colors import FLOW_COLORS, SIDE_COLORS
from cephtui.tui.charts.ink import Ink
from cephtui.tui.terminal import downgrade
from cephtui.tui.terminal.themes import BASIC_DARK, BASIC_LIGHT, DARK, LIGHT

_HEX = re.compile("#[0-9a-f]{6}", re.IGNORECASE)
_TABLES = ("charts/colors.py", "terminal/themes.py")


def hue(color: str) -> float:
    """In degrees."""
    return 360 * colorsys.rgb_to_hls(*(channel / 255 for channel in Color.parse(color).rgb))[0]


def apart(first: str, second: str) -> float:
    between = abs(hue(first) - hue(second))
    return min(between, 360 - between)


@pytest.mark.parametrize("theme", [DARK, LIGHT, BASIC_DARK, BASIC_LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("flow", ["read", "write"])
def test_a_flow_has_another_hue_than_what_is_wrong(theme: Theme, flow: str) -> None:
    for color in (theme.warning, theme.error):
        assert color
        assert apart(FLOW_COLORS[flow], color) > 30


def test_so_it_has_among_sixteen_and_eight_colours_and_by_name() -> None:
    for count in (16, 8):
        flows = {downgrade.ink(Color.parse(FLOW_COLORS[flow]).rgb, 0, count) % 8 for flow in ("read", "write")}
        assert flows == {downgrade.CYAN, downgrade.MAGENTA}
    wrong = {STYLES[style].split()[-1] for style in ("open", "limited", "bad")}
    assert wrong == {"yellow", "red"}
    assert not wrong.intersection(FLOW_STYLES.values())


def test_sides_are_no_flows() -> None:
    assert not {*SIDE_COLORS.values()}.intersection(FLOW_COLORS.values())


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
