"""By which factor the runs after a change differ from those before it, and how well that is known.

All on logarithms: a factor is what a change makes of a figure, and runs are spread by percent. The unit is the run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, variance
from typing import TYPE_CHECKING, Literal, TypeAlias

from cephtui.analysis.statistics.power import df_of_welch, reach, satterthwaite, spread_at_most, spread_between
from cephtui.analysis.statistics.t_distribution import cdf, quantile
from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from cephtui.models.verdict import Answer, Word

Better: TypeAlias = Literal["more", "less"]
_LOG_MOST = 138.0
"""The greatest logarithm of a ratio or figure: below that of ``FIGURE_MOST``, so that every result can be written."""


@dataclass(frozen=True, slots=True)
class LogMean:
    """A figure, or a ratio of two, by the mean of natural logarithms."""

    log: float
    standard_error: float
    df: float
    """Degrees of freedom."""
    df_again: float | None = None
    """Degrees of freedom of further runs with the same spread, where these are estimated too; else None."""
    df_spread: float | None = None
    """Degrees of freedom of the standard error, where they are others than ``df``."""

    @property
    def value(self) -> float:
        return _exp(self.log)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The interval of the true value with this two-sided confidence, between 0 and 1."""
        half = quantile(0.5 + confidence / 2, self.df) * self.standard_error if self.standard_error else 0.0
        return _exp(self.log - half), _exp(self.log + half)

    def t(self, value: float = 1.0) -> float:
        """How many standard errors it is above this value."""
        away = self.log - math.log(value)
        return away / self.standard_error if self.standard_error else math.copysign(math.inf, away) if away else 0.0

    def p_met(self, ratio: float, better: Better) -> float:
        """How likely at least this result would be, were the true ratio just the required one: small, it is met."""
        t = self.t(ratio)
        below = float(t > 0) if math.isinf(t) else cdf(t, self.df)
        return 1 - below if better == "more" else below

    def p_same(self) -> float:
        """How likely a ratio at least this far from 1, either way, would be, were the true one 1."""
        return 2 * min(self.p_met(1.0, "more"), self.p_met(1.0, "less"))

    def detectable(self, confidence: float) -> float:
        """The least fall, as a fraction of before, that further runs would show with about 80 % power."""
        return self._fall(reach(confidence, self.df_again or self.df, self.df_spread or self.df))

    def detectable_between(self, confidence: float) -> tuple[float, float]:
        """Between which falls the least is, that would be seen with 80 % power: in four of five such estimates."""
        errors = reach(confidence, self.df_again or self.df)
        low, high = spread_between(self.df_spread or self.df)
        return self._fall(errors * low), self._fall(errors * high)

    def _fall(self, errors: float) -> float:
        return 1 - math.exp(-errors * self.standard_error)


def _exp(log: float) -> float:
    return math.exp(max(-_LOG_MOST, min(log, _LOG_MOST)))


def geometric_mean(values: Sequence[float]) -> float | None:
    """The geometric mean, which stands for several runs everywhere; None for no runs, 0 where one is 0."""
    if not values:
        return None
    if min(values) == max(values):
        return min(values[0], math.exp(_LOG_MOST))  # exactly
    if not all(value > 0 for value in values):
        return 0.0
    return math.exp(min(_mean(values), _LOG_MOST))


def _mean(values: Sequence[float]) -> float:
    """The mean of the logarithms. It is exact: equal figures have the same mean, however many they are."""
    return mean(map(math.log, values))


def ratio_of_means(before: Sequence[float], after: Sequence[float]) -> float:
    """The ratio of the geometric means; at least one figure each, all above 0."""
    return _exp(_mean(after) - _mean(before))


def mean_of(values: Sequence[float]) -> LogMean:
    """The geometric mean of one side, with its error; at least two figures, all above 0."""
    logs = [math.log(value) for value in values]
    return LogMean(mean(logs), math.sqrt(variance(logs) / len(logs)), len(logs) - 1.0)


def spread(values: Sequence[float]) -> float | None:
    """The coefficient of variation of log-normal runs, ``sqrt(exp(s^2) - 1)``; None for fewer than two, or for a 0."""
    if len(values) < 2 or not all(value > 0 for value in values):
        return None
    return math.sqrt(math.expm1(min(variance(map(math.log, values)), 2 * _LOG_MOST)))


def log_deviation(variation: float) -> float:
    """The standard deviation of the logarithms that belongs to a coefficient of variation."""
    return math.sqrt(math.log1p(variation**2))


def welch(before: Sequence[float], after: Sequence[float]) -> LogMean:
    """The ratio of two sides measured one after the other; at least two figures each, all above 0.

    Welch 1947, with the degrees of freedom of Satterthwaite 1946.
    """
    sides = [math.log(value) for value in before], [math.log(value) for value in after]
    parts = [variance(side) / len(side) for side in sides]
    runs = [len(side) for side in sides]
    ratio = LogMean(mean(sides[1]) - mean(sides[0]), math.sqrt(sum(parts)), sum(runs) - 2.0)
    if not ratio.standard_error:
        return ratio
    df_spread = satterthwaite([1 / number for number in runs], runs)
    return replace(ratio, df=satterthwaite(parts, runs), df_again=df_of_welch(parts, runs), df_spread=df_spread)


def paired(before: Sequence[float], after: Sequence[float]) -> LogMean:
    """The ratio of runs that took turns, by pairs; as many on both sides, at least two, all above 0."""
    differences = [math.log(second) - math.log(first) for first, second in zip(before, after, strict=True)]
    return LogMean(mean(differences), math.sqrt(variance(differences) / len(differences)), len(differences) - 1.0)


def word_of(interval: tuple[float, float], same_fraction: float, better: Better) -> Word:
    """The word for an interval, where changes of less than ``same_fraction`` count as none (Schuirmann 1987)."""
    low, high = interval if better == "more" else (2 - interval[1], 2 - interval[0])
    if high < 1 - same_fraction:
        return "worse"
    if low > 1 + same_fraction:
        return "better"
    if low > 1 - same_fraction:
        return "same" if high < 1 + same_fraction else "not worse"
    return "not better" if high < 1 + same_fraction else "no verdict"


def answer_of(interval: tuple[float, float], required: float, better: Better) -> Answer:
    """Whether at least this ratio is shown to be reached (of a latency: at most), or shown not to be."""
    low, high = interval
    if better == "less":
        return "met" if high < required else "not met" if low > required else "undecided"
    return "met" if low > required else "not met" if high < required else "undecided"


def required_ratio(percent: float, better: Better) -> float:
    """The ratio of a change of so many percent to the better; below 0 is to the worse.

    No latency is better by 100 %: that is a ratio which none reaches.
    """
    return max(1 + percent / 100 if better == "more" else 1 - percent / 100, _exp(-_LOG_MOST))


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities, each corrected for their number (Holm 1979), in the same order."""
    corrected, most = [0.0] * len(probabilities), 0.0
    ranked = sorted(range(len(probabilities)), key=lambda at: probabilities[at])
    for rank, at in enumerate(ranked):
        most = max(most, min(1.0, (len(probabilities) - rank) * probabilities[at]))
        corrected[at] = most
    return corrected


def prediction(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """The interval of one further run with this confidence; at least two figures, all above 0."""
    logs = [math.log(value) for value in values]
    half = quantile(0.5 + confidence / 2, len(logs) - 1.0) * math.sqrt(variance(logs) * (1 + 1 / len(logs)))
    return _exp(mean(logs) - half), _exp(mean(logs) + half)


def after_looks(mean: LogMean) -> LogMean:
    """The mean of runs that were repeated until its interval was narrow enough.

    Looked at after each run, it would be narrow enough by chance: the spread is taken to be as great as it is but for
    one case in four. The interval then holds the true mean in 95 %, whether it became narrow enough or was given up,
    and in 94 % where one of 20 runs is slower by 30 % (simulated).
    """
    return replace(mean, standard_error=mean.standard_error * spread_at_most(mean.df))
