"""Presets and suites in words: which step comes next, the table of their runs, and what was expected of them."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.analysis.runs.links import links_of
from cephtui.models import Plan, Run, Step
from cephtui.models.bounds import bound_of_all
from cephtui.reports.blocks import View
from cephtui.reports.drawn.plan import order_line
from cephtui.reports.studies.base import StudyView
from cephtui.reports.views.diagnosis import diagnosis_view
from cephtui.reports.views.expected import expected_view
from cephtui.reports.views.links import links_view
from cephtui.reports.views.runs import session_view
from cephtui.reports.words.cutting import joined
from cephtui.reports.words.diagnosis import conclusion_text, latency_sentences, look_line, network_line
from cephtui.reports.words.expectation import expected_lines
from cephtui.running.outcomes import unsaved
from cephtui.sessions.studies import ordered_in
from cephtui.studies.base import Measure
from cephtui.studies.runs import Runs, RunsMeasured


class RunsView(StudyView[Runs, RunsMeasured]):
    """Of runs that are known beforehand."""

    plans_are_sketch = False

    def planned(self, study: Runs, plans: Sequence[Plan]) -> list[str]:
        lines = []
        if study.saved.order or len(plans) > 1:
            lines.append(order_line([step for plan in plans for step in plan.steps], study.saved.titles))
        promises = dict.fromkeys(step.promise for plan in plans for step in plan.steps if step.promise)
        return [*lines, *(f"expected of {promise.step}: {', '.join(promise.expect)}" for promise in promises)]

    def begins(self, study: Runs, step: Measure, plan: Plan, runs: Sequence[Run]) -> str:
        """``3 of 12: write-iops, rbd:bench on pve1, about 22 s; all that is left about 4 min``."""
        if len(study.drafts()) < 2:
            return ""
        number, left = study.turn(step), study.steps_left(runs)
        titles = study.saved.titles
        names = ", ".join(dict.fromkeys(titles[planned.batch] for planned in plan.steps))
        nodes = joined(plan.steps[0].names, "nodes")
        rest = f"; all that is left {_time(left)}" if len(left) > len(plan.steps) else ""
        where = f"{plan.steps[0].target} on {nodes}"
        return f"{number} of {len(study.plans)}: {names}, {where}, {_time(plan.steps)}{rest}"

    def brought(self, study: Runs, runs: Sequence[Run]) -> list[str]:
        if not study.saved.diagnosis:
            return []
        is_first = runs[-1].cluster is not None and not any(run.cluster for run in runs[:-1])
        look = look_line(runs[-1]) if is_first else ""
        return [*filter(None, [look, network_line(links_of(runs[-1:]))]), *latency_sentences(runs[-1])]

    def measured(self, study: Runs, runs: Sequence[Run]) -> list[View]:
        is_shown = runs and not study.saved.diagnosis
        return [session_view(runs, is_saved=not all(map(unsaved, runs)))] if is_shown else []

    def concluded(self, study: Runs, conclusion: RunsMeasured) -> list[View]:
        if conclusion.diagnosis:
            return [diagnosis_view(conclusion.diagnosis, study.saved.titles, conclusion.earlier)]
        views = [links_view(conclusion.links, conclusion.runs[0].session)] if conclusion.links else []
        if conclusion.expected:
            views.append(expected_view(conclusion.expected, conclusion.runs, ordered_in([study.saved])))
        return views

    def sentences(self, study: Runs, conclusion: RunsMeasured) -> list[str]:
        if conclusion.diagnosis:
            return [conclusion_text(conclusion.diagnosis)]
        if not conclusion.expected:
            return super().sentences(study, conclusion)
        return [text for text, _ in expected_lines(conclusion.expected)]


def _time(steps: Sequence[Step]) -> str:
    """``about 47 s``: of all together."""
    seconds = sum(step.likely_seconds for step in steps)
    return f"{bound_of_all(step.bound for step in steps)} {units.duration(seconds)}"


VIEW = RunsView()
