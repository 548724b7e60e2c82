"""Repeats until stable in words: how well the mean is known after each run, and at the end."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.analysis.ratio import geometric_mean
from cephtui.analysis.stable import Goal
from cephtui.models import Plan, Run
from cephtui.models.rows import ConcludedRow
from cephtui.reports.blocks import Text, View, document
from cephtui.reports.sheets import sheet_of
from cephtui.reports.studies.base import StudyView, name_of, uncounted_line
from cephtui.reports.views.runs import session_view
from cephtui.reports.words.stable import LOOKS_LINE, dry_line, stable_line, unstable_line
from cephtui.running.outcomes import unsaved
from cephtui.studies.base import singly
from cephtui.studies.stable import Mean, Stable, StableMeasured

_LOOKS = View(lambda: document("", Text(LOOKS_LINE)), lambda: (), lambda: sheet_of(ConcludedRow, (), "stable"))


class StableView(StudyView[Stable, StableMeasured]):
    """Of repeats until stable."""

    def planned(self, study: Stable, plans: Sequence[Plan]) -> list[str]:
        return [dry_line(_goal(study), plans)]

    def brought(self, study: Stable, runs: Sequence[Run]) -> list[str]:
        newest = runs[-1]
        if uncounted := uncounted_line(study, newest):
            return [uncounted]
        mean = next(study.mean(each, runs) for each in singly(study.requests) if each.batches == (newest.batch,))
        name, lines = name_of(study, newest.batch), []
        if mean.counted > 1 and mean.metric:
            lines.append(f"{name}{stable_line(mean.counted, mean.metric, mean.figures, _goal(study))}")
        if mean.counted >= study.goal.most and not mean.is_stable:
            lines.append(f"{name}{unstable_line(study.goal.most, mean.figures)}")
        return lines

    def measured(self, study: Stable, runs: Sequence[Run]) -> list[View]:
        views = [session_view(runs, is_saved=not all(map(unsaved, runs)))] if runs else []
        return [_LOOKS, *views] if len(runs) > 1 else views

    def concluded(self, study: Stable, conclusion: StableMeasured) -> list[View]:
        rows = [_row(study, mean) for mean in conclusion.means if mean.runs]
        return [View(lambda: document(""), lambda: rows, lambda: sheet_of(ConcludedRow, rows, "stable"))]


def _row(study: Stable, mean: Mean) -> ConcludedRow:
    text, figures = unstable_line(mean.counted, mean.figures), dict[str, float | None]()
    if mean.metric:
        figures = {f"{name}_{mean.metric.name}": geometric_mean(values) for name, values in mean.figures.items()}
        if mean.is_stable:
            text = stable_line(mean.counted, mean.metric, mean.figures, _goal(study))
    return ConcludedRow(
        session=mean.runs[0].session,
        kind=study.kind,
        preset=mean.request.preset.name,
        target=mean.request.target.spec,
        answer="met" if mean.is_stable else "undecided",
        text=text,
        figures=figures,
    )


def _goal(study: Stable) -> Goal:
    return Goal(study.goal.percent, study.goal.most)


VIEW = StableView()
