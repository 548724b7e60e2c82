"""Scales of charts whose axes are figures: where a value is, and round labels that never collide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.cells import cell_len

from cephtui.frozen import dataclass
from cephtui.reports.ticks import WHOLE_STEPS, on_logarithms, round_down, round_up, trimmed
from cephtui.tui.charts.axes import TINY, y_axis
from cephtui.tui.charts.ink import Glyphs

_MARGIN = 0.04
"""Part of the width that is free left and right of the places."""
_MANY_TIMES = 8.0
"""Numbers that are so far apart are on a logarithmic scale."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values as fractions of an axis."""

    low: float
    high: float
    """The values at its ends; in logarithms where ``is_log``."""
    ticks: tuple[tuple[float, str], ...]
    """Values and their labels."""
    is_log: bool = False

    def fraction(self, value: float) -> float:
        """Between 0 and 1; what is outside is at an end."""
        place = math.log10(max(value, TINY)) if self.is_log else value
        return min(1.0, max(0.0, (place - self.low) / (self.high - self.low)))

    def labels_of_rows(self, rows: int) -> dict[int, str]:
        """The labels of an upright axis by row; row ``rows`` is the one below the plot area."""
        return {round((1 - self.fraction(value)) * rows): label for value, label in self.ticks}


Fitted: TypeAlias = Callable[[int], Scale]
"""The scale for an axis of so many rows, or for one whose labels are so many columns apart."""


def from_zero(peak: float, as_text: Callable[[float], str], binary: bool, rows: int) -> Scale:
    """The scale of figures that start at zero, with room for about one label in two rows."""
    top, labels = y_axis(peak, rows, as_text, binary)
    return Scale(0.0, top, tuple((top * (1 - row / max(1, rows)), text) for row, text in labels.items()))


def logarithmic(values: Sequence[float], as_text: Callable[[float], str], rows: int) -> Scale:
    """The scale from the round value below the least of ``values``, all above 0, to that above the greatest."""
    most = max(2, rows // 2)
    low, high = math.log10(round_down(min(values))), math.log10(round_up(max(values), WHOLE_STEPS))
    high = max(high, low + math.log10(2))
    inside = on_logarithms(low, high)
    whole = [step for step in inside if abs(step - round(step)) < 1e-9]
    shown = inside if len(inside) <= most else whole if len(whole) > 1 else [inside[0], inside[-1]]
    shown = shown[:: max(1, math.ceil(len(shown) / max(1, most)))]
    return Scale(low, high, tuple((10**step, trimmed(as_text(10**step))) for step in shown), is_log=True)


def scale_of_places(numbers: Sequence[float | None], labels: Sequence[str]) -> tuple[Scale, list[float]]:
    """The scale of a curve's places, and the value of each: numbers by their size, others in equal distances."""
    values = [number for number in numbers if number is not None]
    if len(values) < len(numbers) or len(set(values)) < 2:
        values = [float(number) for number in range(len(numbers))]
        return Scale(-0.5, len(values) - 0.5, tuple(zip(values, labels, strict=True))), values
    is_log = min(values) > 0 and max(values) >= _MANY_TIMES * min(values)
    ends = (math.log10(min(values)), math.log10(max(values))) if is_log else (min(values), max(values))
    room = _MARGIN * (ends[1] - ends[0])
    return Scale(ends[0] - room, ends[1] + room, tuple(zip(values, labels, strict=True)), is_log), values


def labels_below(scale: Scale, columns: int, gutter: int, glyphs: Glyphs, zero: str = "") -> tuple[str, str]:
    """The rule below a plot area with its ticks, and the row of labels; those without room are left out."""
    rule, row, end = [glyphs.rule] * columns, [" "] * (columns + gutter), 0
    for value, label in scale.ticks:
        at = min(columns - 1, int(scale.fraction(value) * columns))
        text = "".join(letter if letter.isprintable() and cell_len(letter) == 1 else "?" for letter in label)
        begin = max(0, min(gutter + at - len(text) // 2, columns + gutter - len(text)))
        if begin >= end and begin + len(text) <= columns + gutter:
            rule[at] = glyphs.tick_x
            row[begin : begin + len(text)] = text
            end = begin + len(text) + 2
    return f"{zero:>{gutter - 1}}{glyphs.corner}" + "".join(rule), "".join(row)
