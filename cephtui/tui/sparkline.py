"""One small history: a row of blocks, and a widget with a title above it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.widget import Widget

# Textual's own Sparkline does not serve here: it scales min..max, so a flat line looks like full swing,
# it keeps the maximum of each bucket, which hides a stall, and it raises on None.

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.:-=+*#"
_HUGE = 1e300  # what is larger counts as infinite, so that a sum stays finite
_STALL = 0.1  # a bucket whose lowest value is below this part of its mean holds a stall


def spark(values: Sequence[float | None], width: int, *, ascii: bool = False) -> str:
    """One row of blocks, at most `width` characters, scaled from zero to the highest bar.

    Zero (or less) is the lowest block, a flat line above zero the full one; None, NaN and infinity are a
    space. More values than `width` are taken together in buckets of equal length: each shows its mean, or its
    lowest value where that is a stall.
    """
    return spark_rows(values, width, 1, ascii=ascii)[0]


def spark_rows(values: Sequence[float | None], width: int, height: int, *, ascii: bool = False) -> list[str]:
    """The same as `spark` in `height` rows (at least one), the top row first."""
    glyphs = _ASCII if ascii else _BLOCKS
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


class Spark(Widget):
    """A label, its current value flush right, and below them the history in the rows that are left.

    The history has the colour of the widget; `.spark--label` (its colour) styles the label.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"spark--label"}
    DEFAULT_CSS = """
    Spark { height: 2; }
    Spark > .spark--label { color: $foreground 60%; }
    """

    def __init__(
        self,
        label: str = "",
        *,
        ascii: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make a sparkline without values; `ascii` is for a terminal whose font lacks the blocks."""
        super().__init__(name=name, id=id, classes=classes)
        self._label = label
        self._ascii = ascii
        self._value = ""
        self._values: tuple[float | None, ...] = ()

    def show(self, values: Sequence[float | None], value: str) -> None:
        """Show the history `values` and the text `value` for now; the same ones again cost no redraw."""
        fresh = tuple(values)
        if (fresh, value) != (self._values, self._value):
            self._values, self._value = fresh, value
            self.refresh()

    def render(self) -> Text:
        """Draw what was last shown at the present size."""
        width, height = self.content_size
        text = self._title(width)
        if height > 1:
            rows = spark_rows(self._values, width, height - 1, ascii=self._ascii)
            text.append("".join(f"\n{row}" for row in rows))
        return text

    def _title(self, width: int) -> Text:
        """The first row; the label gives way where both do not fit."""
        value = self._value if cell_len(self._value) <= width else set_cell_size(self._value, width)
        room = width - cell_len(value)
        label = set_cell_size(self._label, max(0, room - 1)) + " " * min(1, room)
        style = Style(color=self.get_component_rich_style("spark--label").color)
        return Text.assemble((label, style), value, no_wrap=True, end="")
