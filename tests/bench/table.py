"""The rows that `make bench` prints and stores."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_HEADER = ("measure", "value", "unit", "goal", "met", "spread")
_NUMBERS = (1, 5)


@dataclass(frozen=True, slots=True)
class Goal:
    """At least, or at most, so much."""

    sign: str
    limit: float

    def holds(self, value: float) -> bool:
        """Whether a value meets it."""
        return value >= self.limit if self.sign == ">=" else value <= self.limit

    def __str__(self) -> str:
        return f"{self.sign} {self.limit:g}"


def at_least(limit: float) -> Goal:
    """So much or more."""
    return Goal(">=", limit)


def at_most(limit: float) -> Goal:
    """So much or less."""
    return Goal("<=", limit)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    measure: str
    value: float
    unit: str
    goal: str | None = None
    met: bool | None = None
    """None where there is no goal, or where the control says that it can't be told."""
    spread: tuple[float, float] | None = None
    """Which one, ``how`` tells."""
    how: str = ""
    values: tuple[float, ...] = ()
    """What the figure was made of, in the order of measuring."""


def row(
    measure: str,
    value: float,
    unit: str,
    goal: Goal | None = None,
    *,
    told: bool = True,
    spread: tuple[float, float] | None = None,
    how: str = "",
    values: Sequence[float] = (),
) -> Row:
    """A row with its goal applied; one that is missed counts only where that can be ``told`` from noise."""
    met = None if goal is None else goal.holds(value) or (False if told else None)
    return Row(measure, value, unit, str(goal) if goal else None, met, spread, how, tuple(values))


def row_of_times(measure: str, seconds: Sequence[float], goal: Goal | None, how: str) -> Row:
    """The median of some times, in milliseconds, with the least and the greatest."""
    values = [1e3 * value for value in seconds]
    return row(
        measure, statistics.median(values), "ms", goal, spread=(min(values), max(values)), how=how, values=values
    )


def as_text(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    cells = [_HEADER, *(_cells(each) for each in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(_aligned(line, widths)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def _cells(row: Row) -> tuple[str, ...]:
    spread = f"{_number(row.spread[0])} .. {_number(row.spread[1])}" if row.spread else ""
    met = "" if row.goal is None else {True: "yes", False: "NO", None: "?"}[row.met]
    return (row.measure, _number(row.value), row.unit, row.goal or "", met, spread)


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def as_json(rows: Sequence[Row], conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The same rows, with the conditions that they were measured under."""
    return {"conditions": dict(conditions), "rows": [asdict(each) for each in rows]}
