"""Whether a figure is better, worse or the same after a change: the one place that says so.

The unit is the run, not its seconds, which depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean, variance
from typing import Any

from cephtui.analysis.runs.batches import measured, name_of, tool_of
from cephtui.analysis.runs.turns import Sides, divided, pairs_in_turns
from cephtui.analysis.statistics.looks import ONE_LOOK, LookSchedule
from cephtui.analysis.statistics.power import df_of_welch, reach, runs_needed, spread_between
from cephtui.analysis.statistics.ratio import (
    LogMean,
    answer_of,
    geometric_mean,
    log_deviation,
    paired,
    prediction,
    ratio_of_means,
    required_ratio,
    spread,
    welch,
    word_of,
)
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.verdict import JUDGED_RUNS, Answer, Lack, Verdict

_PREDICTED_FROM = 4
"""Runs before, from which on the verdict says where a further one would lie."""
_FAR = 48
"""More runs a side than this are never made to decide."""
NOT_JUDGED: Mapping[Lack | None, str] = {
    "completions": "a run completed no I/O",
    "the same load": "not the same load",
    "runs": f"a verdict needs {JUDGED_RUNS} runs per side",
}
"""Why there is no verdict, in words that hold for several."""
MET: Mapping[Answer, bool | None] = {"met": True, "not met": False, "undecided": None}
"""Whether the requirement is met, by the answer; None is open."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria by which a change is judged."""

    require_percent: float = -10.0
    """The least change that is enough, in percent of before: -10 is at most 10 % worse, 20 at least 20 % better."""
    same_percent: float = 10.0
    """Changes up to this count as the same."""
    confidence: float = 0.95
    """Two-sided, between 0 and 1."""
    looks: LookSchedule = ONE_LOOK


@dataclass(frozen=True, slots=True)
class RunFigure:
    """A figure of one run."""

    run: Run
    value: float

    @property
    def name(self) -> str:
        return name_of(self.run)


@dataclass(frozen=True, slots=True)
class Figures:
    """One figure of the runs of both sides, those left out that do not have it."""

    direction: str
    metric: Metric
    before: Sequence[RunFigure]
    after: Sequence[RunFigure]
    is_same_load: bool = True
    """Whether both sides measured the same operations."""
    left_out: Sides = ((), ())
    """The runs of both sides that were measured among these and take no part; of runs that took turns none."""

    @classmethod
    def of(
        cls, direction: str, metric: Metric, before: Sequence[Run], after: Sequence[Run], left_out: Sides = ((), ())
    ) -> Figures:
        """The figure of each run that has it; where sides took turns, only of whole pairs."""
        lacking = {name_of(run) for run in (*before, *after) if not measured([run], direction, metric)}
        counted, without = divided((before, after), lacking)
        left_out = (*left_out[0], *without[0]), (*left_out[1], *without[1])
        if any(left_out) and (pairs := pairs_in_turns(counted, left_out)):
            counted, left_out = ([first for first, _ in pairs], [second for _, second in pairs]), ((), ())
        first, second = (_measured(side, direction, metric) for side in counted)
        return cls(direction, metric, first, second, left_out=left_out)

    @property
    def values(self) -> tuple[list[float], list[float]]:
        """The values before and after, in the order in which they were measured."""
        left, right = (sorted(side, key=lambda figure: figure.run.started_at) for side in (self.before, self.after))
        return [figure.value for figure in left], [figure.value for figure in right]

    @property
    def take_turns(self) -> bool:
        """Whether the runs, in their order, are pairs with one of each side; never of runs whose order is not known."""
        counted = [figure.run for figure in self.before], [figure.run for figure in self.after]
        return pairs_in_turns(counted, self.left_out) is not None

    @property
    def ratio(self) -> LogMean | None:
        """After against before; None for unlike loads, fewer than two runs on a side, or where one did nothing."""
        before, after = self.values
        if not self.is_same_load or spread(before) is None or spread(after) is None:
            return None
        return (paired if self.take_turns else welch)(before, after)


def _measured(runs: Sequence[Run], direction: str, metric: Metric) -> list[RunFigure]:
    return [RunFigure(run, value) for run in runs for value in measured([run], direction, metric)]


def judge(figures: Figures, preset: str, criteria: Criteria, at: datetime, *, decides: bool = True) -> Verdict:
    """The verdict on one figure of both sides; ``at`` is the time of it."""
    before, after = figures.values
    spreads = spread(before), spread(after)
    method = "paired" if min(len(before), len(after)) > 1 and figures.take_turns else "welch"
    runs = min(len(before), len(after))
    nominal = criteria.looks.nominal(criteria.confidence, paired=method == "paired")
    fields: dict[str, Any] = {}
    if ratio := figures.ratio:
        fields = _of_ratio(ratio, figures.metric, criteria, nominal, is_judged=runs >= JUDGED_RUNS)
        if fields.get("met") is None:
            fields |= _more_runs(ratio, _spread_of(figures, ratio), figures.metric, criteria, nominal)
    elif before and after and min(*before, *after) > 0:
        fields["ratio"] = ratio_of_means(before, after)
    if figures.is_same_load and len(after) == 1 and len(before) >= _PREDICTED_FROM and spreads[0] is not None:
        fields["predicted"] = prediction(before, criteria.confidence)
    return Verdict(
        at=at,
        before=tuple(figure.name for figure in figures.before),
        after=tuple(figure.name for figure in figures.after),
        same_load=figures.is_same_load,
        preset=preset,
        tool=tool_of(figure.run for figure in (*figures.before, *figures.after)),
        direction=figures.direction,
        figure=figures.metric.name,
        left=geometric_mean(before),
        right=geometric_mean(after),
        spread=spreads,
        run_seconds=_seconds([*figures.before, *figures.after]),
        confidence=criteria.confidence,
        nominal_confidence=nominal,
        looks=criteria.looks.number(len(after)),
        looks_most=max(1, len(criteria.looks.at)),
        method=method,
        same_percent=criteria.same_percent,
        require_percent=criteria.require_percent,
        decides=decides,
        **fields,
    )


def why_not_judged(verdict: Verdict, first: str, second: str) -> str:
    """Why a verdict is not judged: ``no counted run of A has write IOPS``; ``first`` and ``second`` are the sides.

    Runs of a side without the figure may count, and have done something else.
    """
    if verdict.lacks != "a run":
        return NOT_JUDGED[verdict.lacks]
    side = first if verdict.after else second if verdict.before else "on either side"
    metric = BY_NAME[verdict.figure]
    what = f"{verdict.direction} {metric.full_title}".strip()
    return f"no counted run {side} has {what if metric.percent is None else f'a {what} that enough I/Os carry'}"


def _seconds(measured: Sequence[RunFigure]) -> float | None:
    return fmean(figure.run.duration_seconds for figure in measured) if measured else None


def _of_ratio(ratio: LogMean, metric: Metric, criteria: Criteria, nominal: float, *, is_judged: bool) -> dict[str, Any]:
    interval = ratio.interval(nominal)
    required = required_ratio(criteria.require_percent, metric.better)
    fields: dict[str, Any] = {
        "ratio": ratio.value,
        "interval": interval,
        "degrees_of_freedom": ratio.df,
        "p_met": ratio.p_met(required, metric.better),
        "p_same": ratio.p_same(),
        "detectable_fraction": ratio.detectable(nominal),
        "detectable_between": ratio.detectable_between(nominal),
    }
    if is_judged:
        word = fields["word"] = word_of(interval, criteria.same_percent / 100, metric.better)
        if word in ("better", "worse"):
            sign = 1 if word == "better" else -1
            p = ratio.p_met(required_ratio(sign * criteria.same_percent, metric.better), metric.better)
            fields["p_beyond"] = p if word == "better" else 1 - p
        fields["met"] = MET[answer_of(interval, required, metric.better)]
        if not interval[0] <= 1 <= interval[1]:
            fields["differs"] = "faster" if (interval[0] > 1) == (metric.better == "more") else "slower"
    return fields


@dataclass(frozen=True, slots=True)
class _Spread:
    """How far runs are spread that were made in one order."""

    deviation: float
    """The standard deviation of the logarithms of a side."""
    df: float
    """Degrees of freedom."""
    in_turns: bool

    def needed(self, away: float, confidence: float) -> int | None:
        return runs_needed(self.deviation, away, confidence, spread_df=self.df, in_turns=self.in_turns)

    def between(self, away: float, confidence: float) -> tuple[int, int] | None:
        """The same of the least and of the greatest spread that there may be."""
        low, high = (
            runs_needed(self.deviation * factor, away, confidence, in_turns=self.in_turns)
            for factor in spread_between(self.df)
        )
        return (low, high) if low and high else None


def _spread_of(figures: Figures, ratio: LogMean) -> _Spread:
    """Of runs that took turns it is the pairs that are spread, not the sides: a drift is on both."""
    before, after = figures.values
    if figures.take_turns:
        return _Spread(ratio.standard_error * math.sqrt(len(after) / 2), ratio.df, in_turns=True)
    squares = sum(variance(map(math.log, side)) * (len(side) - 1) for side in (before, after))
    df = len(before) + len(after) - 2
    return _Spread(math.sqrt(squares / df), df, in_turns=False)


def _more_runs(ratio: LogMean, spread: _Spread, metric: Metric, criteria: Criteria, nominal: float) -> dict[str, Any]:
    """The number of runs that would decide, by an interval as wide as that of this look."""
    required = math.log(required_ratio(criteria.require_percent, metric.better))
    needed = spread.needed(required - ratio.log, nominal)
    if needed is not None and needed <= _FAR:
        return {"runs_needed": needed, "runs_needed_between": spread.between(required - ratio.log, nominal)}
    return {
        "runs_needed": needed,
        "runs_needed_if_same": spread.needed(required, nominal),
        "runs_needed_between": spread.between(required, nominal),
    }


def seen_with(
    variation: float,
    before: int,
    after: int,
    confidence: float,
    *,
    in_turns: bool = False,
    spread_df: float | None = None,
) -> float:
    """The least fall, as a fraction, that so many runs would show with about 80 % power.

    ``variation`` is the coefficient of variation between runs, with ``spread_df`` estimated, ``confidence`` that of a
    single look. In turns there are as many on both sides, and no more differences between them than pairs.
    """
    parts, runs = (1 / before, 1 / after), (before, after)
    df = after - 1.0 if in_turns else df_of_welch(parts, runs)
    errors = reach(confidence, df, spread_df)
    return 1 - math.exp(-errors * log_deviation(variation) * math.sqrt(sum(parts)))
