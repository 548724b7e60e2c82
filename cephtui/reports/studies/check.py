"""A check in words: the side that is measured, each look, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cephtui import units
from cephtui.analysis.verdicts.conclusion import conclude, metric_named
from cephtui.analysis.verdicts.guided_check import changes_of, looks_of, seen_at_look
from cephtui.models import Plan, Run
from cephtui.models.metrics import HEADLINE_BY_NAME
from cephtui.printable import either
from cephtui.reports.blocks import View
from cephtui.reports.studies.base import StudyView
from cephtui.reports.views.judgement import judgement_view
from cephtui.reports.words.verdict import answer_text, seen_text, verdict_text
from cephtui.studies.base import Measure
from cephtui.studies.check import Check, Checked

_SPREADS = (0.02, 0.05, 0.10)
"""Between runs: of a quiet cluster, a usual one, a noisy one."""


class CheckView(StudyView[Check, Checked]):
    """Of checks."""

    names_session = False

    def planned(self, study: Check, plans: Sequence[Plan]) -> list[str]:
        """What would be measured, how long that takes, and what change could be seen."""
        goal, saved, (draft,) = study.goal, study.saved, plans
        looks = looks_of(goal).at
        seconds = draft.duration_seconds / looks[-1]
        figures = {metric_named(name) for name in goal.metrics} or {
            HEADLINE_BY_NAME[step.headline].metric for step in draft.steps
        }
        betters = {figure.better for figure in figures}
        order = "A B B A" if goal.takes_turns else "before, then after"
        cell = saved.cells[0]
        names = ", ".join(cell.preset for cell in saved.cells)
        lines = [f"{names} on {', '.join(cell.nodes)}: {cell.target}, in the order {order}"]
        for look, runs in enumerate(looks, 1):
            before = runs if goal.takes_turns else goal.before_runs
            there = before or len(study.elsewhere)
            seen = seen_text([seen_at_look(goal, spread, there, runs) for spread in _SPREADS], betters)
            takes = units.duration(seconds * (runs + before))
            lines.append(f"  look {look}: {there} before, {runs} after, about {takes}; would see {seen}")
        spreads = either([f"{100 * spread:.0f} %" for spread in _SPREADS])
        return [*lines, f"would see: in four of five checks, with a spread between runs of {spreads}"]

    def begins(self, study: Check, step: Measure, plan: Plan, runs: Sequence[Run]) -> str:
        request = step.request
        side = "before" if request.batches == study.goal.before and not study.elsewhere else "after"
        names = tuple(dict.fromkeys(each.preset for each in plan.steps))
        number = len(plan.steps) // len(names)
        takes = f"{plan.bound} {units.duration(plan.duration_seconds)}"
        return f"{side}: {number} run{'s' if number > 1 else ''} of {', '.join(names)}, {takes}"

    def brought(self, study: Check, runs: Sequence[Run]) -> list[str]:
        """At a look what it says so far."""
        number = study.looked_at(runs)
        if not number:
            return []
        changes = changes_of(study.goal, [*study.elsewhere, *runs])
        judgement = conclude(changes, study.terms(runs), datetime.now(UTC))
        at = looks_of(study.goal).at
        lines = []
        for verdict in judgement.deciding:
            look = f"look {verdict.looks} of {len(at)}, " if len(at) > 1 else ""
            lines.append(f"{look}{number} runs after: {verdict.preset}: {verdict_text(verdict)}")
        return lines

    def concluded(self, study: Check, conclusion: Checked) -> list[View]:
        return [judgement_view(conclusion.judgement)] if conclusion.judgement else []

    def sentences(self, study: Check, conclusion: Checked) -> list[str]:
        judgement = conclusion.judgement
        return [answer_text(judgement, code=False)] if judgement else []


VIEW = CheckView()
