"""What became of a figure that was expected of a point, as data."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name, NamesOf
from cephtui.models.verdict import Answer, LeftOut

Kept: TypeAlias = Literal["PASS", "FAIL", "NOT CAPPED", "INVALID", "NO VERDICT"]
"""``NOT CAPPED`` is far above what is promised of a volume, and met; ``INVALID`` is without a run that counts."""


class Expected(Model):
    """One expectation against the runs of a point. Figures are in base units."""

    event: Literal["expectation"] = "expectation"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    """When the expectation was judged."""
    expectation: Line
    """The expectation as it is typed: ``write iops>=5000``."""
    step: Line
    """The name of the step: its preset, or its title in a suite, and what distinguishes the point from others."""
    preset: Name
    target: Annotated[Name, NamesOf("target")]
    runs: tuple[Name, ...]
    """The runs that count: ``tuning/1``."""
    left_out: tuple[LeftOut, ...] = ()
    limited: tuple[LeftOut, ...] = ()
    """Runs with a finding that limits the figure, where all runs have one: then they show neither that it is reached
    nor that it is not. Where some runs have none, those with one are left out."""
    direction: Name | None
    """``read`` or ``write``; null for both together."""
    figure: Name
    """The name of the figure as in the figures of a run: ``latency_p99_seconds``."""
    promised: float
    """The value that is expected."""
    of_volume: bool = False
    """Whether the value is promised of a volume, and not expected with ``--expect``: then 99 % of the seconds have to
    reach 90 % of it too."""
    measured: float | None
    """All I/Os of a run over its longest job, of several runs the geometric mean; null without a run that counts."""
    by_bytes: bool = False
    """Whether the I/Os of a run were counted by their bytes, since its tool has counted others."""
    interval: tuple[float, float] | None = None
    """The 95 % confidence interval of the true figure; null for fewer than 3 runs, which are judged by their mean."""
    tolerance_percent: float
    seconds: int | None = None
    """How many seconds were examined; null where none are known, or the figure is a latency."""
    seconds_reached: int | None = None
    """How many of these seconds reached 90 % of what is promised."""
    word: Kept
    answer: Answer
    given: Kept | None = None
    """The word that the same runs were given before, where that was another one; else null."""
