"""The greatest depth within a bound in words: each run of the search, and what the confirming runs say."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import units
from cephtui.models import Run
from cephtui.models.rows import ConcludedRow
from cephtui.reports.blocks import View
from cephtui.reports.studies.base import StudyView, concluded_view, name_of, uncounted_line
from cephtui.reports.views.curve import curve_view, curves_of
from cephtui.studies.base import singly
from cephtui.studies.bounded import CONFIDENCE, CONFIRMING, Bounded, BoundedMeasured, Confirmed, Search


class BoundedView(StudyView[Bounded, BoundedMeasured]):
    """Of searches for a depth."""

    def detail(self, study: Bounded) -> str:
        most = max(study.most.values())
        search = f"{_bound(study)} at most: depth 1, 2, 4, ... up to {most}, then between"
        return f"{search}, then {CONFIRMING} runs at the greatest within it"

    def brought(self, study: Bounded, runs: Sequence[Run]) -> list[str]:
        newest = runs[-1]
        if uncounted := uncounted_line(study, newest):
            return [uncounted]
        request = next(single for single in singly(study.requests) if single.batches == (newest.batch,))
        search, name = study.search(request, runs), name_of(study, newest.batch)
        if search.unknown:
            return [f"{name}{unknown_text(study, search.unknown)}"]
        if not search.confirmed or not search.confirmed[0].points:
            point = search.points[-1]
            word = "within" if point.latency <= search.bound else "above"
            return [f"{name}depth {point.depth}: {_figure(study)} {units.latency(point.latency)}, {word}"]
        confirmed = next(depth for depth in reversed(search.confirmed) if depth.points)
        if len(confirmed.points) < CONFIRMING:
            number = f"run {len(confirmed.points)} of {CONFIRMING} at depth {confirmed.depth}"
            return [f"{name}{number}: {_figure(study)} {units.latency(confirmed.points[-1].latency)}"]
        return [f"{name}{confirmed_text(study, search, confirmed)}"]

    def measured(self, study: Bounded, runs: Sequence[Run]) -> list[View]:
        return [curve_view(curve) for curve in curves_of(runs)]

    def concluded(self, study: Bounded, conclusion: BoundedMeasured) -> list[View]:
        searches = [search for search in conclusion.searches if search.points or search.unknown]
        rows = [_row(study, search) for search in searches]
        return [concluded_view(rows, [name_of(study, search.request.batches[0]) for search in searches])]


def confirmed_text(study: Bounded, search: Search, confirmed: Confirmed) -> str:
    """``depth 24: 12.3k IOPS, p99 4.20 ms (95 %: 3.90 .. 4.60 ms), within p99 5.00 ms``."""
    mean = confirmed.mean
    assert mean is not None
    low, high = mean.interval(CONFIDENCE)
    interval = f"{100 * CONFIDENCE:.0f} %: {units.latency(low)} .. {units.latency(high)}"
    figure = f"{_figure(study)} {units.latency(mean.value)} ({interval})"
    word = "within" if confirmed.holds(search.bound) else "not shown to be within"
    if confirmed.is_above(search.bound):
        word = "above"
    return f"depth {confirmed.depth}: {units.iops(confirmed.iops)} IOPS, {figure}: {word} {_bound(study)}"


def unknown_text(study: Bounded, run: Run) -> str:
    """Why a search has ended without its figure, and what helps."""
    return f"#{run.run} has no {_figure(study)}: too few I/Os completed: choose a longer runtime"


def answer_text(study: Bounded, search: Search) -> str:
    """The greatest depth with its figures, or that there is none."""
    if search.depth:
        most = search.depth.depth == max(point.depth for point in search.points)
        note = ", the greatest that can be measured" if most and search.points[-1].latency <= search.bound else ""
        return f"greatest {confirmed_text(study, search, search.depth)}{note}"
    if search.unknown:
        return unknown_text(study, search.unknown)
    if search.next_depth is not None:
        return f"no depth within {_bound(study)} is known yet: the search has not finished"
    last = confirmed_text(study, search, search.confirmed[-1])
    word = "even depth 1 is above" if search.answer == "not met" else "no depth is shown to be within it"
    return f"{word}: {last}"


def _row(study: Bounded, search: Search) -> ConcludedRow:
    confirmed = search.depth or (search.confirmed[-1] if search.confirmed else None)
    mean = confirmed.mean if confirmed else None
    low, high = mean.interval(CONFIDENCE) if mean else (None, None)
    name = study.bound.metric.name
    return ConcludedRow(
        session=(search.unknown or search.points[0].run).session,
        kind=study.kind,
        preset=search.request.preset.name,
        target=search.request.target.spec,
        answer=search.answer,
        text=answer_text(study, search),
        figures={
            "depth": confirmed.depth if confirmed else None,
            "iops": confirmed.iops if confirmed and confirmed.points else None,
            name: mean.value if mean else None,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_bound": search.bound,
        },
    )


def _figure(study: Bounded) -> str:
    return f"{study.bound.direction or ''} {study.bound.metric.title}".strip()


def _bound(study: Bounded) -> str:
    return f"{_figure(study)} {units.latency(study.bound.value)}"


VIEW = BoundedView()
