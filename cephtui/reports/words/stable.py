"""Repeats until stable in words: how well the mean is known after each run, and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui import units
from cephtui.analysis.ratio import geometric_mean
from cephtui.analysis.stable import FEWEST, Goal, half_width
from cephtui.analysis.verdict import NOT_JUDGED
from cephtui.models import Plan
from cephtui.models.metrics import Metric
from cephtui.models.plan import bound_of_all

LOOKS_LINE = (
    "the 95 % in the table is for a fixed number of runs; as each run was looked at, the mean is known as said above"
)
"""What is to be known of the interval that stands in the table of such runs."""


def stable_line(runs: int, metric: Metric, figures: Mapping[str, Sequence[float]], goal: Goal) -> str:
    """``run 5: write IOPS 10.1k +-3.2 % (goal 5 %), stable``; else with how many runs may follow."""
    known = ", ".join(
        f"{direction} {metric.full_title} {metric.as_text(geometric_mean(values))} {_width(half_width(values))}"
        for direction, values in figures.items()
    )
    follows = ", stable" if goal.is_reached(figures) else _more(FEWEST - runs, goal.most - runs)
    return f"run {runs}: {known} (goal {goal.percent:g} %){follows}"


def unstable_line(runs: int, figures: Mapping[str, Sequence[float]]) -> str:
    """``not stable after 20 runs: +-7.1 %``: of reads and writes the one that is known less well."""
    widths = [half_width(values) for values in figures.values()]
    known = [width for width in widths if width is not None]
    why = _width(max(known)) if len(known) == len(widths) > 0 else NOT_JUDGED["completions"]
    return f"not stable after {runs} runs: {why}"


def dry_line(goal: Goal, plans: Sequence[Plan]) -> str:
    """What follows these plans, which have the fewest runs of each preset."""
    first = sum(plan.duration_seconds for plan in plans)
    one_more = sum(step.likely_seconds for plan in plans for step in plan.steps if step.repeat == FEWEST)
    bound = bound_of_all(plan.bound for plan in plans)
    most = units.duration(first + (goal.most - FEWEST) * one_more)
    return f"until stable: at least these {FEWEST} runs, up to {goal.most} ({bound} {most}), goal +-{goal.percent:g} %"


def _more(least: int, most: int) -> str:
    """How many runs may follow; empty for none."""
    if most <= 0:
        return ""
    few = f"at least {least} and " if 0 < least < most else ""
    return f", {few}at most {most} more run{'s' * (most > 1)}"


def _width(value: float | None) -> str:
    """``+-3.2 %``, ``+-12 %``."""
    if value is None:
        return f"+-{units.DASH}"
    return f"+-{100 * value:.{0 if 100 * value >= 9.95 else 1}f} %"
