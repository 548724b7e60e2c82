"""The interval of a ratio as a bar, on a scale of per cent."""

from __future__ import annotations

import math

from rich.text import Text

from cephtui.reports.blocks import Interval
from cephtui.reports.styles import STYLES


def interval_bar(interval: Interval, width: int, *, ascii_only: bool = False) -> list[Text]:
    """What is required, no change, the interval between them, and below it the numbers.

    Two lines of ``width`` columns; the scale is logarithmic, as the interval is.
    """
    low, high, required, same = interval.low, interval.high, interval.required, interval.same
    least, most = min(low, required, 1 - same) * 0.97, max(high, required, 1 + same) * 1.03
    scale = (width - 1) / math.log(most / least)

    def column(ratio: float) -> int:
        return max(0, min(width - 1, round(math.log(ratio / least) * scale)))

    line, full, point, edge, middle = "-=o:|" if ascii_only else "─━●┊│"
    cells = list(line * width)
    for at in range(column(low), column(high) + 1):
        cells[at] = full
    cells[column(required)], cells[column(1.0)] = edge, middle
    cells[column(interval.ratio)] = point
    row = Text("".join(cells))
    row.stylize("dim")
    row.stylize(f"not dim {STYLES[interval.style]}", column(low), column(high) + 1)
    labels = {column(1.0): "0", column(required): interval.required_text}
    ticks = [" "] * (width + 8)
    for at, text in labels.items():
        start = max(0, min(width - len(text), at - len(text) // 2))
        if all(cell == " " for cell in ticks[max(0, start - 1) : start + len(text) + 1]):
            ticks[start : start + len(text)] = text
    return [row, Text("".join(ticks).rstrip(), style="dim")]
