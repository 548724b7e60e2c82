"""What runs before and after a change show, as data: the public objects of a check."""

from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name
from cephtui.models.results import Stages

Word: TypeAlias = Literal["better", "not worse", "same", "not better", "worse", "no verdict"]
Answer: TypeAlias = Literal["met", "not met", "undecided"]
Lack: TypeAlias = Literal["a run", "completions", "the same load", "runs"]
JUDGED_RUNS = 3
"""Runs that a side needs to be judged; fewer are only shown."""


class LeftOut(Model):
    """A run that takes no part in a verdict, or a limit of one that does."""

    run: Name
    """The run's name: ``tuning/3``."""
    why: Line


class Verdict(Model):
    """One figure of the runs before and after a change. All figures are in base units, ratios are after / before."""

    event: Literal["verdict"] = "verdict"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    """When the verdict was given."""
    before: tuple[Name, ...]
    """The runs that take part: ``tuning/1``."""
    after: tuple[Name, ...]
    in_order: bool = True
    """Whether ``before`` and ``after`` are in the order of time, or in turns. False where two sides were named in
    another order: then nothing changed from the one to the other."""
    same_load: bool = True
    """Whether both sides measured the same operations; otherwise there is no verdict on a change."""
    preset: Name
    tool: Name = ""
    """The tool that measured all runs; empty where there were several, or none is known."""
    direction: Name
    """``read``, ``write``, or the name of another flow."""
    figure: Name
    """The figure's name as in the figures of a run: ``latency_p99_seconds``."""
    left: float | None
    """The geometric mean of the runs before; null where none has the figure."""
    right: float | None
    spread: tuple[float | None, float | None] = (None, None)
    """The coefficients of variation of the runs before and after; null for fewer than two runs."""
    run_seconds: float | None = None
    """How long one of these runs takes, prefill included."""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    """The interval of the true ratio with ``confidence``; null for fewer than two runs on a side."""
    confidence: float
    """The two-sided confidence, between 0 and 1, over all ``looks_most`` looks."""
    nominal_confidence: float
    """The confidence of this look alone, with which the interval is computed."""
    looks: int = 1
    """The number of this look at the growing sides."""
    looks_most: int = 1
    method: Literal["welch", "paired"] = "welch"
    degrees_of_freedom: float | None = None
    word: Word = "no verdict"
    differs: Literal["slower", "faster"] | None = None
    """How this figure has changed, where all figures that decide show it together (Holm 1979); null for a figure that
    does not decide."""
    same_percent: float
    require_percent: float
    met: bool | None = None
    """Whether at least ``require_percent`` is shown; false where the contrary is shown; null where neither is."""
    p_met: float | None = None
    """The probability of at least this result if the true ratio were exactly the required one."""
    p_same: float | None = None
    """The probability of at least this difference, in either direction, if nothing had changed."""
    p_same_together: float | None = None
    """``p_same`` corrected for the number of figures that are judged together; null unless it decides."""
    p_beyond: float | None = None
    """The probability of at least this result if the true change were exactly what counts as the same; null unless the
    figure is better or worse by its own interval."""
    detectable_fraction: float | None = None
    """The least fall, as a fraction of before, that would be seen with about 80 % power if the runs are spread as these
    are; ``f / (1 - f)`` is the least rise."""
    detectable_between: tuple[float, float] | None = None
    """Between which falls that least one is with a probability of 80 %: the spread of few runs is hardly known."""
    unnoticed_drift_fraction: float | None = None
    """The greatest fall between the middles of the sides, made by time alone, that would go unnoticed in one of five
    cases or more; null where the runs took turns, or nothing was changed between the sides."""
    runs_needed: int | None = None
    """How many runs a side needs for about 80 % power if the true change is the estimated one; null where it is
    decided, or too many are needed."""
    runs_needed_if_same: int | None = None
    """How many runs a side needs if nothing had changed, where the estimated change is too near to what is required."""
    runs_needed_between: tuple[int, int] | None = None
    """Between which numbers the last one that is given is with a probability of 80 %."""
    predicted: tuple[float, float] | None = None
    """The interval, with ``confidence``, of a further run before; given where there is a single run after."""
    decides: bool = True
    """Whether the answer of the check depends on this figure."""

    @property
    def lacks(self) -> Lack | None:
        """Why the figure is not judged; None where it is: a side has no run that counts, a run completed nothing, the
        sides measured other operations, or there are too few runs.
        """
        fewest = min(len(self.before), len(self.after))
        if not fewest:
            return "a run"
        if 0.0 in (self.left, self.right):
            return "completions"
        if not self.same_load:
            return "the same load"
        return "runs" if fewest < JUDGED_RUNS else None

    @property
    def is_judged(self) -> bool:
        """Whether it is a comparison: both sides have enough runs of the same load, none of which completed nothing.

        What its interval shows is another matter: "no verdict" is a result of one that was judged.
        """
        return self.lacks is None and self.interval is not None

    @property
    def shown(self) -> Literal["more", "less"] | None:
        """What the runs after are shown to be; None where the interval, or all figures that decide, show neither."""
        if not self.is_judged or self.interval is None or (self.decides and self.differs is None):
            return None
        return shown_by(self.interval)


def shown_by(interval: tuple[float, float]) -> Literal["more", "less"] | None:
    """What the interval of a ratio shows it to be; None where it holds 1."""
    low, high = interval
    return "more" if low > 1 else "less" if high < 1 else None


class StageChange(Model):
    """Where the latency of a flow went before and after a change: the means of the runs that know it."""

    preset: Name
    direction: Literal["read", "write"]
    before: Stages
    after: Stages
    message_cap: bool = False
    """Whether any of the runs reached the message cap: the first stage has that time too."""


class Conclusion(Model):
    """The answer of a check: what its verdicts show together."""

    event: Literal["conclusion"] = "conclusion"
    schema_version: int = SCHEMA_VERSION
    at: AwareDatetime
    answer: Answer
    exit_code: int
    changed: tuple[Line, ...] = ()
    """Differences that were seen between the sides, other than their figures: options, settings, versions."""
    noted: tuple[Line, ...] = ()
    """What the user noted as changed, in the words of marks, or the command that was run. In sessions of earlier
    versions it is in ``changed``."""
    left_out: tuple[LeftOut, ...] = ()
    """Runs that take no part, and why."""
    limited: tuple[LeftOut, ...] = ()
    """Runs that take part although a finding limits what their figures mean."""
    notes: tuple[Line, ...] = ()
    """Other things that a reader of the verdicts has to know."""
    stages: tuple[StageChange, ...] = Field(default=(), exclude_if=lambda stages: not stages)
    """Where the latency went on both sides; left out where that is not known."""
