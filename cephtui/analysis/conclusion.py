"""The answer of a check: the verdicts of all its figures together, the runs that take no part, what is to be known."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import Literal, TypeAlias

from cephtui.analysis.batches import flow_names, group, measured, name_of, names_of, summarize
from cephtui.analysis.change import Change
from cephtui.analysis.conditions import unlike
from cephtui.analysis.figures import spoiled_by
from cephtui.analysis.ratio import holm, spread
from cephtui.analysis.sides import Side
from cephtui.analysis.t_distribution import quantile
from cephtui.analysis.verdict import JUDGED_RUNS, Criteria, Figures, judge, seen_with
from cephtui.exit_codes import EXIT_NO_VERDICT, EXIT_NOT_MET
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, LIVE, METRICS, Metric
from cephtui.models.verdict import Answer, Conclusion, LeftOut, Verdict

Validity: TypeAlias = Literal["VALID", "SUSPECT", "INVALID"]
INVALID = ("thin", "holes", "unverified", "page-cache", "incomplete")
"""Findings of runs that take no part in a verdict."""
_EXIT_CODES: dict[Answer, int] = {"met": 0, "not met": EXIT_NOT_MET, "undecided": EXIT_NO_VERDICT}
_FEW_RUNS = 4
"""A side, of which it is said what they would show where there is only one."""
_ANOTHER_DAY = timedelta(hours=6)
_HOURLY_MOST = 10.0
"""Of the logarithm: runs of seconds that rise may rise without any bound in an hour."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be concluded."""

    headline: Callable[[Run], Metric]
    """The figure that a run is about."""
    criteria: Criteria = Criteria()
    metrics: tuple[Metric, ...] = ()
    """By default the headline's."""
    directions: tuple[str, ...] = ()
    """By default all that a run has."""
    without: Collection[str] = ()
    """Runs that the user leaves out: ``tuning/3``."""
    others: Sequence[Run] = ()
    """Of the sessions: how far repeats are spread, for a single run on each side."""
    beside: Sequence[LeftOut] = ()
    """Runs of the session that were not chosen for it, and why."""
    is_change: bool = True
    """Whether the sides are before and after a change: time may then have done what it is taken to have done."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of all figures, those that decide first, and what they say together."""

    verdicts: tuple[Verdict, ...]
    conclusion: Conclusion

    @property
    def deciding(self) -> list[Verdict]:
        """The figures on which the answer rests."""
        return [verdict for verdict in self.verdicts if verdict.decides]


def conclude(changes: Sequence[Change], asked: Asked, at: datetime, changed: Sequence[str] = ()) -> Judgement:
    """The verdicts of all figures, and the answer; ``at`` is the time of it.

    ``changed`` is what was seen to differ between the sides. A figure is not met by its own interval, and the answer
    is so only if that holds for all of them together (Holm 1979); it is met if every figure is (Berger 1982).
    """
    left_out = [each for change in changes for each in _left_out(change, asked.without)]
    names = {each.run for each in left_out}
    counted = [_without(change, names) for change in changes]
    verdicts = [verdict for change in counted for verdict in _verdicts(change, asked, at)]
    deciding = [verdict for verdict in verdicts if verdict.decides]
    empty = [
        change.runs[0].preset
        for change, left in zip(changes, counted, strict=True)
        if change.runs and not _has(left, deciding)
    ]
    answer = answer_of_all(deciding)
    if empty and answer == "met":
        answer = "undecided"
    conclusion = Conclusion(
        at=at,
        answer=answer,
        exit_code=_EXIT_CODES[answer],
        changed=tuple(changed),
        left_out=(*left_out, *asked.beside),
        limited=tuple(each for change in counted for each in _limited(change)),
        notes=tuple(
            dict.fromkeys(
                [
                    *(f"{preset}: nothing to judge: no run has the figure" for preset in empty),
                    *_unknown(changes, asked.without),
                    *_notes(deciding, answer),
                    *(note for change in counted for note in _of_time(change, asked)),
                ]
            )
        ),
    )
    return Judgement(tuple(sorted(verdicts, key=lambda verdict: not verdict.decides)), conclusion)


def judge_sides(left: Side, right: Side, headline: Callable[[Run], Metric], at: datetime) -> Judgement | None:
    """Two chosen runs with their repeats, by the usual criteria; None where they can't be compared."""
    if left.problem or right.problem or unlike(left, right):
        return None
    return conclude([Change(left.runs, right.runs)], Asked(headline), at)


def answer_of_all(verdicts: Sequence[Verdict]) -> Answer:
    """Of figures that decide together; one that is not judged can't be met."""
    failed = [1.0 if verdict.p_met is None or not verdict.is_judged else 1 - verdict.p_met for verdict in verdicts]
    levels = [(1 - verdict.nominal_confidence) / 2 for verdict in verdicts]
    # a figure without any spread may differ from what is required by rounding alone: its own answer counts
    if any(p < level and v.met is False for p, level, v in zip(holm(failed), levels, verdicts, strict=True)):
        return "not met"
    return "met" if verdicts and all(verdict.met for verdict in verdicts) else "undecided"


def why_invalid(run: Run) -> str:
    """Why a run takes no part in a verdict; empty where it does."""
    if run.outcome != "ok":
        return f"{run.outcome or 'running'}{f': {run.error}' if run.error else ''}"
    return next((finding.text for finding in run.findings if finding.code in INVALID), "")


def validity(run: Run) -> Validity:
    """Whether it takes part, and whether a finding limits what its figures mean."""
    if why_invalid(run):
        return "INVALID"
    return "SUSPECT" if any(_is_limiting(finding.code) for finding in run.findings) else "VALID"


def _is_limiting(code: str) -> bool:
    return any(spoiled_by([code], metric) for metric in METRICS)


def _left_out(change: Change, without: Collection[str]) -> Iterator[LeftOut]:
    for run in change.runs:
        why = "left out as asked for" if name_of(run) in without else why_invalid(run)
        if why:
            yield LeftOut(run=name_of(run), why=why)


def _without(change: Change, names: Collection[str]) -> Change:
    before, after = (tuple(r for r in side if name_of(r) not in names) for side in (change.before, change.after))
    return replace(change, before=before, after=after)


def _has(change: Change, verdicts: Sequence[Verdict]) -> bool:
    """Whether any of these is of its runs."""
    names = {name_of(run) for run in change.runs}
    return any(names.intersection((*verdict.before, *verdict.after)) for verdict in verdicts)


def _unknown(changes: Sequence[Change], without: Collection[str]) -> Iterator[str]:
    unknown = set(without).difference(name_of(run) for change in changes for run in change.runs)
    if unknown:
        yield f"to be left out, but not among these runs anyway: {', '.join(sorted(unknown))}"


def _limited(change: Change) -> Iterator[LeftOut]:
    for run in change.runs:
        for finding in run.findings:
            if _is_limiting(finding.code):
                yield LeftOut(run=name_of(run), why=finding.text)


def _verdicts(change: Change, asked: Asked, at: datetime) -> Iterator[Verdict]:
    """Of the figures that decide, then of the others that are measured each second."""
    if not change.runs:
        return
    preset = change.runs[0].preset
    deciding = asked.metrics or (asked.headline(change.runs[0]),)
    for direction in flow_names(change.runs):
        is_asked = not asked.directions or direction in asked.directions
        # IOPS and bandwidth of one block size are the same figure
        rate = {"iops", "bandwidth_bytes"} & {metric.name for metric in deciding}
        others = [m for m in LIVE if m not in deciding and not (rate and m.unit != "s")]
        for metric in (*deciding, *others):
            figures = Figures.of(direction, metric, change.before, change.after)
            if figures.before or figures.after or metric in deciding:
                verdict = judge(figures, preset, asked.criteria, at, decides=is_asked and metric in deciding)
                verdict = verdict.model_copy(update={"in_order": change.is_in_order})
                yield _would_be_seen(verdict, metric, asked)


def _notes(verdicts: Sequence[Verdict], answer: Answer) -> Iterator[str]:
    if not verdicts:
        yield "no run has the figure that is asked for"
    failed = sum(verdict.met is False for verdict in verdicts)
    if answer == "undecided" and failed:
        are = "is" if failed == 1 else "are"
        yield (f"{failed} of {len(verdicts)} figures {are} not met, each by itself: not enough for all together (Holm)")


def _of_time(change: Change, asked: Asked) -> Iterator[str]:
    """Where time may have done what the change is taken to have done."""
    if not asked.is_change or not change.before or not change.after:
        return
    metric = (asked.metrics or (asked.headline(change.runs[0]),))[0]
    if not change.is_in_order:
        yield from _out_of_order(change, metric)
    if max(_pause(change.before, change.after), _pause(change.after, change.before)) > _ANOTHER_DAY:
        first = "before was measured on another day" if change.is_in_order else "A was measured on another day than B"
        yield f"{first}: day-to-day changes are not in the interval"
    for direction in change.runs[0].summary.flows:
        figures = Figures.of(direction, metric, change.before, change.after)
        if not figures.take_turns and (hourly := trend(figures, asked.criteria)):
            verb = "rose" if hourly > 0 else "fell"
            yield (
                f"figures {verb} by {abs(100 * hourly):.0f} % an hour on both sides: the change can't be separated "
                "from that: undo it and measure again"
            )


def _out_of_order(change: Change, metric: Metric) -> Iterator[str]:
    """Which sides were named, where the first was not measured first; runs that take turns are in no order anyway."""
    sides = f"A is {names_of(change.before)}, B is {names_of(change.after)}"
    if change.is_reversed:
        yield f"{sides}: A was measured later, so that what was changed leads from B to A"
    elif not all(
        Figures.of(flow, metric, change.before, change.after).take_turns for flow in change.runs[0].summary.flows
    ):
        yield f"{sides}: their runs lie among each other, so that neither is before or after a change"


def _pause(first: Sequence[Run], second: Sequence[Run]) -> timedelta:
    ended = max(run.started_at + timedelta(seconds=run.duration_seconds) for run in first)
    return min(run.started_at for run in second) - ended


def trend(figures: Figures, criteria: Criteria) -> float | None:
    """By which fraction an hour the figures of both sides rose or fell by themselves; None where that is too little.

    The common slope of the logarithms within the sides, by least squares: where it is significant, has the same sign
    on both, and would make more than half of what counts as the same between the middles of the sides.
    """
    slopes, squares, residuals, runs, middles = [], [], [], 0, []
    for side in (figures.before, figures.after):
        if len(side) < JUDGED_RUNS or any(each.value <= 0 for each in side):
            return None
        hours = [each.run.started_at.timestamp() / 3600 for each in side]
        logs = [math.log(each.value) for each in side]
        slope, square, residual = _slope(hours, logs)
        slopes.append(slope)
        squares.append(square)
        residuals.append(residual)
        runs += len(side)
        middles.append(fmean(hours))
    if not all(squares) or slopes[0] * slopes[1] <= 0:
        return None
    common = sum(slope * square for slope, square in zip(slopes, squares, strict=True)) / sum(squares)
    error = math.sqrt(sum(residuals) / (runs - 4) / sum(squares))
    is_much = abs(math.expm1(min(common * (middles[1] - middles[0]), _HOURLY_MOST))) > criteria.same_percent / 200
    is_sure = abs(common) > quantile(0.5 + criteria.confidence / 2, runs - 4.0) * error
    return math.expm1(min(common, _HOURLY_MOST)) if is_much and is_sure else None


def _slope(hours: Sequence[float], logs: Sequence[float]) -> tuple[float, float, float]:
    """The slope, the sum of the squares of the times, and that of the residuals."""
    middle, mean = fmean(hours), fmean(logs)
    square = sum((hour - middle) ** 2 for hour in hours)
    slope = sum((hour - middle) * (log - mean) for hour, log in zip(hours, logs, strict=True)) / square if square else 0
    residual = sum((log - mean - slope * (hour - middle)) ** 2 for hour, log in zip(hours, logs, strict=True))
    return slope, square, residual


def metric_named(name: str) -> Metric:
    """``iops``, ``bandwidth``, ``latency`` (the mean), ``p50`` to ``p99.9``; raises KeyError."""
    return BY_NAME[METRIC_NAMES[name]]


METRIC_NAMES = {
    "iops": "iops",
    "bandwidth": "bandwidth_bytes",
    "latency": "latency_mean_seconds",
    "p50": "latency_p50_seconds",
    "p95": "latency_p95_seconds",
    "p99": "latency_p99_seconds",
    "p99.9": "latency_p999_seconds",
}
"""As they are typed."""


def _would_be_seen(verdict: Verdict, metric: Metric, asked: Asked) -> Verdict:
    """Of one run on each side: what a few runs would show, where repeats of the preset tell how far runs are spread."""
    if not (len(verdict.before) == len(verdict.after) == 1):
        return verdict
    alike = [
        point for batch in group(asked.others) for point in batch.points if point.repeats[0].preset == verdict.preset
    ]
    found = [measured(summarize(point).counted, verdict.direction, metric) for point in alike]
    variations = [(variation, len(values)) for values in found if (variation := spread(values))]
    if not variations:
        return verdict
    weights = sum(runs - 1 for _, runs in variations)
    pooled = math.sqrt(sum(variation**2 * (runs - 1) for variation, runs in variations) / weights)
    seen = seen_with(pooled, _FEW_RUNS, _FEW_RUNS, verdict.nominal_confidence)
    return verdict.model_copy(update={"detectable_fraction": seen})
