"""Expected figures in words: a line for each."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models.expectation import Expected
from cephtui.models.metrics import BY_NAME
from cephtui.reports.verdict import left_out_lines

STYLES = {"PASS": "bold green", "NOT CAPPED": "bold yellow", "FAIL": "bold red"}
"""By the word; the others are yellow."""
BY_BYTES = " (bytes / block size)"
"""How IOPS were counted where the tool has not counted all I/Os."""


def expected_lines(found: Sequence[Expected]) -> list[tuple[str, str]]:
    """A line for each, and its style; with its target where there are several."""
    several = len({each.target for each in found}) > 1
    return [
        (_line(each, f"{each.step} on {each.target}" if several else each.step), STYLES.get(each.word, "bold yellow"))
        for each in found
    ]


def _line(found: Expected, name: str) -> str:
    """``PASS write-iops: write 8,006 IOPS, promised 8,000 IOPS, 100 % of seconds >= 90 %``."""
    where = f"{found.word} {name}: "
    if found.measured is None:
        return f"{where}promised {figure_text(found, found.promised)}; {'; '.join(left_out_lines(found.left_out))}"
    figure = f"{figure_text(found, found.measured)}{BY_BYTES * found.by_bytes}"
    parts = [
        f"{found.direction or ''} {figure}{_ends(found)}".strip(),
        f"promised {figure_text(found, found.promised)}",
        *[seconds_text(found)] * (found.seconds is not None),
        *[f"{100 * found.measured / found.promised:.0f} % of it: no limit, or a burst"] * (found.word == "NOT CAPPED"),
    ]
    return "; ".join([where + ", ".join(parts), *left_out_lines(found.limited)])


def figure_text(found: Expected, value: float) -> str:
    """``8,006 IOPS``, ``200 MiB/s``, ``p99 4.81 ms``: IOPS to the last one, as they are promised."""
    metric = BY_NAME[found.figure]
    if metric.unit == "IO/s":
        return f"{value:,.0f} IOPS"
    return f"{metric.full_title} {metric.as_text(value)}" if metric.unit == "s" else units.bandwidth(value)


def seconds_text(found: Expected) -> str:
    """``100 % of seconds >= 90 %``; empty where none are known. Less than all is never rounded to 100 %."""
    if not found.seconds or found.seconds_reached is None:
        return ""
    percent = 100 * found.seconds_reached / found.seconds
    return f"{'100' if percent == 100 else f'{min(percent, 99.9):.1f}'} % of seconds >= 90 %"


def _ends(found: Expected) -> str:
    if found.interval is None:
        return ""
    low, high = (figure_text(found, end) for end in found.interval)
    return f" (95 %: {low} .. {high})"
