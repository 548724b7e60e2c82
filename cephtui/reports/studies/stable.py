"""Repeats until stable in words: how well the mean is known after each run, and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui import units
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.analysis.verdicts.stable import FEWEST, StableGoal, half_width
from cephtui.analysis.verdicts.verdict import NOT_JUDGED
from cephtui.models import Run
from cephtui.models.metrics import Metric
from cephtui.models.rows import ConcludedRow
from cephtui.reports.blocks import View
from cephtui.reports.studies.base import StudyView, concluded_view, name_of, uncounted_line
from cephtui.reports.views.runs import session_view
from cephtui.running.outcomes import unsaved
from cephtui.studies.base import singly
from cephtui.studies.stable import Mean, Stable, StableMeasured


class StableView(StudyView[Stable, StableMeasured]):
    """Of repeats until stable."""

    concludes_by_run = True

    def detail(self, study: Stable) -> str:
        return f"until the mean is known to +-{study.goal.percent:g} %"

    def brought(self, study: Stable, runs: Sequence[Run]) -> list[str]:
        newest = runs[-1]
        if uncounted := uncounted_line(study, newest):
            return [uncounted]
        mean = next(study.mean(single, runs) for single in singly(study.requests) if single.batches == (newest.batch,))
        name, lines = name_of(study, newest.batch), []
        if mean.counted > 1 and mean.metric:
            lines.append(f"{name}{stable_line(mean.counted, mean.metric, mean.figures, study.goal)}")
        if mean.counted >= study.goal.most and not mean.is_stable:
            lines.append(f"{name}{unstable_line(study.goal.most, mean.figures)}")
        return lines

    def measured(self, study: Stable, runs: Sequence[Run]) -> list[View]:
        batches = {run.batch for run in runs}
        return [session_view(runs, is_saved=not all(map(unsaved, runs)), until_stable=batches)] if runs else []

    def concluded(self, study: Stable, conclusion: StableMeasured) -> list[View]:
        means = [mean for mean in conclusion.means if mean.runs]
        names = [name_of(study, mean.request.batches[0]) for mean in means]
        return [concluded_view([_row(study, mean) for mean in means], names)]


def _row(study: Stable, mean: Mean) -> ConcludedRow:
    text, figures = unstable_line(mean.counted, mean.figures), dict[str, float | None]()
    if mean.metric:
        figures = {f"{name}_{mean.metric.name}": geometric_mean(values) for name, values in mean.figures.items()}
        if mean.is_stable:
            text = stable_line(mean.counted, mean.metric, mean.figures, study.goal)
    return ConcludedRow(
        session=mean.runs[0].session,
        kind=study.kind,
        preset=mean.request.preset.name,
        target=mean.request.target.spec,
        answer="met" if mean.is_stable else "undecided",
        text=text,
        figures=figures,
    )


def stable_line(runs: int, metric: Metric, figures: Mapping[str, Sequence[float]], goal: StableGoal) -> str:
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


VIEW = StableView()
