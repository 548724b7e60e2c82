"""One small history as rows of block characters, scaled from zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.:-=+*#"
_HUGE = 1e300  # larger values count as infinite, so that a sum stays finite
_STALL = 0.1  # a bucket whose lowest value is below this part of its mean holds a stall


def spark(values: Sequence[float | None], width: int, *, ascii_only: bool = False) -> str:
    """One row of blocks, at most `width` characters, scaled from zero to the highest bar.

    Zero (or less) is the lowest block, a flat line above zero the full one; None, NaN and infinity are a
    space. More values than `width` are taken together in buckets of equal length: each shows its mean, or its
    lowest value where that is a stall.
    """
    return spark_rows(values, width, 1, ascii_only=ascii_only)[0]


def spark_rows(values: Sequence[float | None], width: int, height: int, *, ascii_only: bool = False) -> list[str]:
    """The same as `spark` in `height` rows (at least one), the top row first."""
    glyphs = _ASCII if ascii_only else _BLOCKS
    height, full = max(1, height), len(glyphs)
    levels = _levels(_buckets(values, width), height * full)
    return [
        "".join(" " if level <= low else glyphs[min(full, level - low) - 1] for level in levels)
        for low in range((height - 1) * full, -1, -full)
    ]


def _buckets(values: Sequence[float | None], width: int) -> list[float | None]:
    """At most `width` numbers standing for `values`, the ones that are no number as None."""
    clean = [max(0.0, v) if v is not None and -_HUGE < v < _HUGE else None for v in values]
    count = min(max(0, width), len(clean))
    edges = [index * len(clean) // count for index in range(count + 1)] if count else [0]
    return [_bucket(clean[a:b]) for a, b in pairwise(edges)]


def _bucket(values: Iterable[float | None]) -> float | None:
    """The mean, or the lowest value if that is a stall; None if there is no value at all."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean, lowest = fmean(known), min(known)
    return lowest if lowest < _STALL * mean else mean


def _levels(values: Sequence[float | None], full: int) -> list[int]:
    """Heights from 1 (zero) to `full` (the highest of `values`); 0 where there is no value."""
    top = max((value for value in values if value is not None), default=0.0)
    return [0 if v is None else 1 + round(v / top * (full - 1)) if top > 0 else 1 for v in values]
