"""What became of a figure that was expected of a point, as data."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf
from cephtui.models.verdict import Answer, LeftOut

Kept: TypeAlias = Literal["PASS", "FAIL", "NOT CAPPED", "INVALID", "NO VERDICT"]
"""``NOT CAPPED`` is far above what is promised of a volume, and met; ``INVALID`` has no run that counts."""


class Expected(Model):
    """One expectation against the runs of a point. Figures are in base units."""

    event: Literal["expectation"] = "expectation"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    """When it was judged."""
    expectation: Line
    """As it is typed: ``write iops>=5000``."""
    step: Line
    """What the step is called: its preset, or its title in a suite, and what sets the point apart from the others."""
    preset: Name
    target: Annotated[Name, NamesOf("target")]
    runs: tuple[Name, ...]
    """Those that count: ``tuning/1``."""
    left_out: tuple[LeftOut, ...] = ()
    limited: tuple[LeftOut, ...] = ()
    """Of which a finding limits what the figure means, where that holds for all runs: they show neither that it is
    reached nor that it is not. Beside others they are left out. Also imported runs that reach it as a whole, and whose
    seconds are not known."""
    direction: Name | None
    """``read`` or ``write``; null for both together."""
    figure: Name
    """As in the figures of a run: ``latency_p99_seconds``."""
    promised: float
    """What is expected."""
    of_volume: bool = False
    """Whether it is promised of a volume, and not expected with ``--expect``."""
    measured: float | None
    """All I/Os of a run over its longest job, of several runs the geometric mean; null without a run that counts."""
    by_bytes: bool = False
    """Whether I/Os of a run were counted by their bytes, since the tool has counted fewer or more of them."""
    interval: tuple[float, float] | None = None
    """Where the true figure lies with 95 % confidence; null for fewer than 3 runs, which are judged by the mean."""
    tolerance_percent: float
    seconds: int | None = None
    """How many were looked at; null where none are known, or the figure is a latency."""
    seconds_reached: int | None = None
    """How many of them reached 90 % of what is promised."""
    word: Kept
    answer: Answer
    given: Kept | None = None
    """The word that was given for the same runs before, where it was another one; null else."""
