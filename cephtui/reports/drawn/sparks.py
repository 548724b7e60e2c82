"""One small history as rows of block characters or dots, scaled from zero or from its least to its greatest value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import fmean

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.:-=+*#"
_DOTS_LEFT, _DOTS_RIGHT = (0x00, 0x40, 0x44, 0x46, 0x47), (0x00, 0x80, 0xA0, 0xB0, 0xB8)
_DOTS_HIGH = 4
_CLIPPED, _CLIPPED_ASCII = "▲", "^"
_HUGE = 1e300  # larger values count as infinite, so that a sum stays finite
_STALL = 0.1  # a bucket whose lowest value is below this part of its mean holds a stall
_OUTLIER, _ABOVE, _LEAST = 3.0, 1.5, 8
"""A value so many times the upper quartile is clipped, at so many times of it, where there are so many values."""

Values = Sequence[float | None]


def spark(values: Values, width: int, *, ascii_only: bool = False, gapped: bool = False, fills: bool = False) -> str:
    """One row of blocks, at most `width` characters, scaled from zero to the highest bar.

    Zero (or less) is the lowest block, a flat line above zero the full one; None, NaN and infinity are a
    space. More values than `width` are taken together in buckets of equal length: each shows its mean, or its
    lowest value where that is a stall. A few values far above the others do not flatten them: a mark stands in their
    place. ``gapped`` leaves room to the row above, ``fills`` makes fewer values than `width` as wide as that.
    """
    return spark_rows(values, width, 1, ascii_only=ascii_only, gapped=gapped, fills=fills)[0]


def share_bar(share: float, *, ascii_only: bool = False) -> str:
    """``▅``: a share of 1 as a bar of one column."""
    levels = _ASCII if ascii_only else _BLOCKS
    return levels[min(len(levels) - 1, int(share * len(levels)))]


def spark_rows(
    values: Values,
    width: int,
    height: int,
    *,
    ascii_only: bool = False,
    dots: bool = False,
    gapped: bool = False,
    fills: bool = False,
    fitted: bool = False,
) -> list[str]:
    """Draw what `spark` draws in `height` rows (at least one), the top row first.

    ``dots`` draws braille, two values in a character, and ``fitted`` scales from the lowest bar instead of from zero.
    """
    dots, height = dots and not ascii_only, max(1, height)
    per_character = _DOTS_HIGH if dots else len(_BLOCKS)
    buckets = _buckets(values, 2 * width if dots else width)
    if fills and buckets:
        wide = (2 if dots else 1) * max(0, width)
        buckets = [buckets[at * len(buckets) // wide] for at in range(wide)]
    full = height * per_character - gapped
    levels = _levels(buckets, full, fitted=fitted)
    rows = [
        _row(levels, low, ascii_only=ascii_only, dots=dots)
        for low in range((height - 1) * per_character, -1, -per_character)
    ]
    clipped = [level > full for level in levels]
    rows[0] = _marked(rows[0], clipped, _CLIPPED_ASCII if ascii_only else _CLIPPED, 2 if dots else 1)
    return rows


def extent(values: Values, as_text: Callable[[float | None], str]) -> str:
    """The least and the greatest value with one unit, as ``44-102 ms``; empty without values."""
    numbers = [value for value in values if value is not None and -_HUGE < value < _HUGE]
    if not numbers:
        return ""
    (low, _, unit), (high, _, high_unit) = (as_text(edge(numbers)).partition(" ") for edge in (min, max))
    return f"{low}{f' {unit}' if unit != high_unit else ''}-{high} {high_unit}".rstrip()


def _row(levels: Sequence[int], low: int, *, ascii_only: bool, dots: bool) -> str:
    """One row of characters, above so many levels."""
    if dots:
        inside = [max(0, min(_DOTS_HIGH, level - low)) for level in [*levels, *[0] * (len(levels) % 2)]]
        cells = (chr(0x2800 + _DOTS_LEFT[a] + _DOTS_RIGHT[b]) for a, b in zip(inside[::2], inside[1::2], strict=True))
        return "".join(cells).replace("\u2800", " ")
    glyphs = _ASCII if ascii_only else _BLOCKS
    return "".join(" " if level <= low else glyphs[min(len(glyphs), level - low) - 1] for level in levels)


def _marked(row: str, clipped: Sequence[bool], mark: str, per_cell: int) -> str:
    """The top row with a mark in each character that holds a clipped value."""
    return "".join(mark if any(clipped[at * per_cell : (at + 1) * per_cell]) else cell for at, cell in enumerate(row))


def _buckets(values: Values, width: int) -> list[float | None]:
    """At most `width` numbers standing for `values`, the ones that are no number as None."""
    clean = [max(0.0, v) if v is not None and -_HUGE < v < _HUGE else None for v in values]
    count = min(max(0, width), len(clean))
    edges = [index * len(clean) // count for index in range(count + 1)] if count else [0]
    return [bucket(clean[a:b]) for a, b in pairwise(edges)]


def bucket(values: Iterable[float | None]) -> float | None:
    """The mean, or the lowest value if that is a stall; None if there is no value at all."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    mean, lowest = fmean(numbers), min(numbers)
    return lowest if lowest < _STALL * mean else mean


def _levels(values: Values, full: int, *, fitted: bool) -> list[int]:
    """Heights from 1 (the lowest) to `full` (the highest), one more where a value is clipped; 0 without a value."""
    numbers = sorted(value for value in values if value is not None)
    top = _top(numbers)
    low = min(numbers[0], top) if fitted and numbers else 0.0
    span, flat = top - low, full if top > 0.0 else 1
    return [
        0 if v is None else full + 1 if v > top else 1 + round((v - low) / span * (full - 1)) if span > 0.0 else flat
        for v in values
    ]


def _top(values: Sequence[float]) -> float:
    """The value of the highest bar: the greatest of these, which are in order, but for outliers."""
    if not values:
        return 0.0
    quartile = values[3 * len(values) // 4]
    if len(values) >= _LEAST and 0.0 < quartile * _OUTLIER < values[-1]:
        return max(value for value in values if value <= quartile * _ABOVE)
    return values[-1]
