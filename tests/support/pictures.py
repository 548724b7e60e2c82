"""The screen of an application as SVG, still or moving.

Letters are text, each run of them as wide as its cells; blocks and braille are shapes, which no font tears apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from textual.app import App
from textual.strip import Strip

_CELL, _ROW, _BASELINE, _MARGIN = 12, 24, 18, 12
"""Pixels."""
_CAPTION_COLOR = "#9e9e9e"
_CSS = (
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:20px}"
    "path{shape-rendering:crispEdges}"
    ".d{fill:none;stroke-width:3.6;stroke-linecap:round;shape-rendering:auto}"
)
_PIECES = re.compile("(?P<block>[▀-▟])|(?P<dots>[⠀-⣿])|(?P<text>[^ ▀-▟⠀-⣿]+(?: [^ ▀-▟⠀-⣿]+)*)")
_QUADRANTS = dict(zip("▖▗▘▙▚▛▜▝▞▟", (4, 8, 1, 13, 9, 7, 11, 2, 6, 14), strict=True))
"""Bits: upper left, upper right, lower left, lower right."""
_SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""Column and row of each bit of a braille sign."""


class Picture(NamedTuple):
    """A screen."""

    rows: tuple[str, ...]
    """The SVG of each."""
    columns: int
    ground: str


class _Box(NamedTuple):
    """In pixels."""

    x: float
    y: float
    width: float
    height: float


def picture(app: App[Any]) -> Picture:
    """What is on the screen now."""
    strips = app.screen._compositor.render_strips()
    grounds: Counter[str] = Counter()
    for text, style, _ in (segment for strip in strips for segment in strip):
        grounds[_inks(style)[1]] += cell_len(text)
    ground = grounds.most_common(1)[0][0]
    return Picture(tuple(_row(strip, y * _ROW, ground) for y, strip in enumerate(strips)), app.size.width, ground)


def still(shown: Picture) -> str:
    """One screen."""
    return _framed(shown, "\n".join(shown.rows))


def moving(frames: Sequence[tuple[float, Picture]], poster: int, caption: str) -> str:
    """Screens that follow each other for ever, each with its seconds; ``poster`` is seen where nothing may move.

    The caption stands below all of them.
    A row is drawn again only where it changes; rows that are seen during the same frames are switched together.
    """
    spans: dict[tuple[int, int], list[str]] = {}
    for versions in zip(*(shown.rows for _, shown in frames), strict=True):
        for first, last, row in _versions(versions):
            spans.setdefault((first, last), []).append(row)
    begins = [sum(seconds for seconds, _ in frames[:number]) for number in range(len(frames) + 1)]
    css, body = f"g{{animation:{begins[-1]:g}s step-end infinite}}\n", ""
    for (first, last), rows in sorted(spans.items()):
        css += f"@keyframes s{first}-{last}{{{_steps(begins[first] / begins[-1], begins[last] / begins[-1])}}}\n"
        hidden = "" if first <= poster < last else ' visibility="hidden"'
        body += f'<g style="animation-name:s{first}-{last}"{hidden}>{"".join(rows)}</g>\n'
    css += "@media(prefers-reduced-motion:reduce){g{animation:none}}"
    return _framed(frames[0][1], body, css, caption)


def _versions(rows: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """What a row shows, from one frame up to another."""
    first = 0
    for row, same in groupby(rows):
        last = first + len(list(same))
        yield first, last, row
        first = last


def _steps(begin: float, end: float) -> str:
    """Visible for a part of the time."""
    steps = {0.0: "hidden", begin: "visible"} | ({end: "hidden"} if end < 1 else {})
    return "".join(f"{100 * at:.4g}%{{visibility:{word}}}" for at, word in steps.items())


def _framed(shown: Picture, body: str, css: str = "", caption: str = "") -> str:
    width, height = shown.columns * _CELL + 2 * _MARGIN, len(shown.rows) * _ROW + 2 * _MARGIN
    if caption:
        place = f'x="{width // 2}" y="{height + _BASELINE - _MARGIN // 2}" text-anchor="middle"'
        body += f'</svg>\n<svg><text {place} fill="{_CAPTION_COLOR}">{escape(caption)}</text>'
        height += _ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<style>{_CSS}\n{css}</style>\n<rect width="{width}" height="{height}" rx="10" fill="{shown.ground}"/>\n'
        f'<svg x="{_MARGIN}" y="{_MARGIN}">\n{body}\n</svg>\n</svg>\n'
    )


# ------------------------------------------------------------------ one row


def _row(strip: Strip, y: int, ground: str) -> str:
    """Grounds, then blocks, then dots, then letters; ``y`` is its upper edge."""
    grounds: dict[str, list[_Box]] = {}
    blocks: dict[str, list[_Box]] = {}
    dots: dict[str, str] = {}
    letters, x = "", 0
    for text, style, _ in strip:
        color, behind = _inks(style)
        if behind != ground:
            _add(grounds, behind, _Box(x, y, cell_len(text) * _CELL, _ROW))
        for found in _PIECES.finditer(text):
            piece, left = found.group(), x + cell_len(text[: found.start()]) * _CELL
            if found["block"]:
                for box in _block(piece):
                    _add(blocks, _shade(piece, color, behind), box._replace(x=left + box.x, y=y + box.y))
            elif found["dots"]:
                dots[color] = dots.get(color, "") + _braille(piece, left, y)
            else:
                letters += _letters(piece, left, y + _BASELINE, color, style or Style.null())
        x += cell_len(text) * _CELL
    points = "".join(f'<path class="d" stroke="{color}" d="{places}"/>' for color, places in dots.items())
    boxes = "".join(_path(color, each) for color, each in (*grounds.items(), *blocks.items()))
    return boxes + points + letters


def _inks(style: Style | None) -> tuple[str, str]:
    """The colours of the letters and of their ground."""
    style, theme = style or Style.null(), SVG_EXPORT_THEME
    color = (style.color or Color.default()).get_truecolor(theme)
    ground = (style.bgcolor or Color.default()).get_truecolor(theme, foreground=False)
    if style.reverse:
        color, ground = ground, color
    return (blend_rgb(color, ground) if style.dim else color).hex, ground.hex


def _shade(sign: str, color: str, ground: str) -> str:
    share = _SHADES.get(sign, 1.0)
    return blend_rgb(Color.parse(ground).get_truecolor(), Color.parse(color).get_truecolor(), share).hex


def _add(boxes: dict[str, list[_Box]], color: str, box: _Box) -> None:
    """As part of the box to its left, where there is one of its kind."""
    same = boxes.setdefault(color, [])
    if same and (last := same[-1])._replace(x=last.x + last.width, width=box.width) == box:
        same[-1] = last._replace(width=last.width + box.width)
    else:
        same.append(box)


def _path(color: str, boxes: Iterable[_Box]) -> str:
    places = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h-{width:g}z" for x, y, width, height in boxes)
    return f'<path fill="{color}" d="{places}"/>'


def _block(sign: str) -> list[_Box]:
    """The filled parts of a cell."""
    code, half = ord(sign) - 0x2580, (_CELL // 2, _ROW // 2)
    if sign in _QUADRANTS:
        corners = [(column, row) for row in (0, 1) for column in (0, 1)]
        bits = [corner for bit, corner in enumerate(corners) if _QUADRANTS[sign] >> bit & 1]
        return [_Box(column * half[0], row * half[1], *half) for column, row in bits]
    lower = _Box(0, _ROW * (8 - code) / 8, _CELL, _ROW * code / 8)
    left = _Box(0, 0, _CELL * (16 - code) / 8, _ROW)
    others = {
        "▀": _Box(0, 0, _CELL, half[1]),
        "▐": _Box(half[0], 0, half[0], _ROW),
        "▔": _Box(0, 0, _CELL, _ROW / 8),
        "▕": _Box(_CELL * 7 / 8, 0, _CELL / 8, _ROW),
    }
    whole = _Box(0, 0, _CELL, _ROW)
    return [others.get(sign) or (whole if sign in _SHADES else lower if code <= 8 else left)]


def _braille(sign: str, x: float, y: float) -> str:
    """Lines without a length, whose round ends are the dots."""
    bits = [place for bit, place in enumerate(_DOTS) if ord(sign) - 0x2800 >> bit & 1]
    return "".join(f"M{x + _CELL * (1 + 2 * column) / 4:g} {y + _ROW * (1 + 2 * row) / 8:g}h0" for column, row in bits)


def _letters(text: str, x: float, y: float, color: str, style: Style) -> str:
    looks = ' font-weight="bold"' * bool(style.bold) + ' font-style="italic"' * bool(style.italic)
    looks += ' text-decoration="underline"' * bool(style.underline)
    width = cell_len(text) * _CELL
    return f'<text x="{x:g}" y="{y:g}" textLength="{width}" fill="{color}"{looks}>{escape(text)}</text>'
