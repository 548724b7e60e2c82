"""Areas of a chart: which one is seen in each cell, and how they meet the lines at their edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rich.style import StyleType

from cephtui.frozen import dataclass
from cephtui.tui.charts.ink import Glyphs

_FIRST_SIGN = 0xE000
RUNS = re.compile("([\ue000-\uf8ff])\\1*")
"""Cells of one area beside each other."""


@dataclass(frozen=True, slots=True)
class Area:
    """What is filled: each column of dots from its first row, counted from the bottom, to the one behind its last."""

    bottom: Sequence[int]
    top: Sequence[int]
    styles: Sequence[StyleType]
    """From the bottom of the chart to its top."""
    symbol: str
    lines: tuple[int, ...] = ()
    """Numbers of the lines at its edges: no hole is left between them and the area."""
    grounds: Sequence[StyleType] = ("",)
    """Like ``styles``, where a line is in front."""
    name: str = ""
    """Written into each part of it that is wide enough."""


def at_height(styles: Sequence[StyleType], height: float) -> StyleType:
    """That of an area at a height between 0, the bottom of the chart, and 1."""
    return styles[min(len(styles) - 1, int(height * len(styles)))]


def sign(number: int) -> str:
    """What stands for an area in a row of cells, as long as it is not known where lines and texts are."""
    return chr(_FIRST_SIGN + number)


def area_of(signs: re.Match[str], areas: Sequence[Area]) -> Area:
    """The area of a run of signs."""
    return areas[ord(signs[1]) - _FIRST_SIGN]


def painted(areas: Sequence[Area], columns: int, rows: int, glyphs: Glyphs, *, whole: bool = False) -> list[str]:
    """The area of each cell, the lowest one in front: signs, row by row from the top.

    ``whole`` leaves out the cells that an area fills in part.
    """
    wide, high = glyphs.wide, glyphs.high
    least, most, extra = (max, min, 0) if whole else (min, max, high - 1)
    lanes = []
    for column in range(0, columns * wide, wide):
        lane, dots = [" "] * rows, slice(column, column + wide)
        tops = [(most(area.top[dots]), number) for number, area in enumerate(areas)]
        for top, number in sorted(tops, reverse=True):
            first, end = (least(areas[number].bottom[dots]) + high - 1 - extra) // high, (top + extra) // high
            if end > first:
                lane[first:end] = [sign(number)] * (end - first)
        lanes.append(lane)
    return ["".join(row) for row in zip(*lanes, strict=True)][::-1]


def closed(
    plain: str, owned: Iterable[tuple[int, int, int]], base: int, areas: Mapping[int, Area], glyphs: Glyphs
) -> str:
    """A row of lines whose cells are filled as far as their areas reach; ``base`` is the row's lowest dot.

    ``owned`` are the parts of the row (from, to, number of the line), ``areas`` those of the lines.
    """
    pieces, at = [], 0
    for start, end, line in owned:
        if area := areas.get(line):
            pieces += [plain[at:start], _filled(plain[start:end], start, base, area, glyphs)]
            at = end
    return "".join([*pieces, plain[at:]])


def _filled(cells: str, start: int, base: int, area: Area, glyphs: Glyphs) -> str:
    wide, high = glyphs.wide, glyphs.high
    indexes = [glyphs.cells.index(cell) for cell in cells]
    for side, lowest in enumerate(glyphs.dots):
        dots = slice(start * wide + side, (start + len(cells)) * wide, wide)
        for number, (bottom, top) in enumerate(zip(area.bottom[dots], area.top[dots], strict=True)):
            if top > base and top > bottom:
                below = lowest[min(high, bottom - base)] if bottom > base else 0
                indexes[number] |= lowest[min(high, top - base)] & ~below
    return "".join([glyphs.cells[index] for index in indexes])
