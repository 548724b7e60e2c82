"""A sweep of the depth in words: each point, the curve, and what confirms its knee."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui.analysis.verdicts.knee import OF_PEAK
from cephtui.models import Run
from cephtui.models.rows import KneeRow
from cephtui.reports.blocks import View
from cephtui.reports.studies.base import StudyView, name_of, rows_view, uncounted_line
from cephtui.reports.views.curve import curve_view, curves_of, rows_of_curve
from cephtui.reports.words.curve import confirmed_line, point_line
from cephtui.studies.base import singly
from cephtui.studies.sweep import Sweep, SweepMeasured, Swept


class SweepView(StudyView[Sweep, SweepMeasured]):
    """Of sweeps that choose their depths."""

    def detail(self, study: Sweep) -> str:
        then = f", then at {100 * OF_PEAK:.0f} % of the peak" if study.goal.confirm else ""
        return f"depth 1, 2, 4, ... until the curve is flat, at most {max(study.most.values())}, and back{then}"

    def brought(self, study: Sweep, runs: Sequence[Run]) -> list[str]:
        newest = runs[-1]
        if uncounted := uncounted_line(study, newest):
            return [uncounted]
        sweeps = (study.swept(request, runs) for request in singly(study.requests))
        sweep = next(sweep for sweep in sweeps if newest in (*sweep.runs, *sweep.confirming))
        name = name_of(study, newest.batch)
        if newest in sweep.confirming:
            return [f"{name}{confirmed_line(newest)}"]
        if sweep.empty:
            return [f"{name}#{newest.run} completed no I/O: the sweep ends here"]
        return [f"{name}{point_line(sweep.measured)}", *_unconfirmed(study, sweep, runs, name)]

    def measured(self, study: Sweep, runs: Sequence[Run]) -> list[View]:
        """A run that confirms a sweep stands alone, and has had its line."""
        return [curve_view(curve) for curve in curves_of(runs)]

    def concluded(self, study: Sweep, conclusion: SweepMeasured) -> list[View]:
        runs = [run for sweep in conclusion.sweeps for run in sweep.runs]
        rows = [row for curve in curves_of(runs) for row in rows_of_curve(curve) if isinstance(row, KneeRow)]
        return [rows_view(KneeRow, rows)]


def _unconfirmed(study: Sweep, sweep: Swept, runs: Sequence[Run], name: str) -> list[str]:
    """Why nothing confirms a sweep that has come to its end."""
    is_over = study.goal.confirm and sweep.knee is None and study.next_of(sweep) is None
    return [f"{name}not confirmed: the sweep has found no knee"] if is_over else []


VIEW = SweepView()
