"""The answer of a check: the verdicts of all its figures together, the runs that take no part, and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from cephtui.analysis.runs.batches import flow_names, group, measured, metric_of_flow, name_of, names_of, summarize
from cephtui.analysis.runs.change import Change, between, marked_text
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.runs.stages import stage_changes
from cephtui.analysis.runs.turns import divided, left_alone
from cephtui.analysis.statistics.ratio import spread
from cephtui.analysis.statistics.together import answer_of_all, held_together
from cephtui.analysis.verdicts.conditions import unlike
from cephtui.analysis.verdicts.drift import trend, unnoticed_drift
from cephtui.analysis.verdicts.verdict import MET, NOT_JUDGED, Criteria, Figures, judge, seen_with
from cephtui.exit_codes import ANSWER_CODES
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.findings import limiting
from cephtui.models.metrics import BY_NAME, COMMIT, LIVE, Metric
from cephtui.models.verdict import Answer, Conclusion, LeftOut, Verdict

_FEW_RUNS = 4
"""Runs a side, of which a verdict on single runs says what they would show."""
_NAMED_MOST = 6
"""Runs in one sentence."""
_ANOTHER_DAY = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class ConclusionTerms:
    """The figures, runs and criteria of a conclusion."""

    headline: Callable[[Run], Metric]
    """The figure that a run is about."""
    criteria: Criteria = Criteria()
    metrics: tuple[Metric, ...] = ()
    """The figures; by default the headline's."""
    directions: tuple[str, ...] = ()
    """The flows; by default all that a run has."""
    without: Collection[str] = ()
    """Runs that the user leaves out: ``tuning/3``."""
    session_runs: Sequence[Run] = ()
    """The runs of the sessions: how far repeats are spread, for a single run on each side."""
    not_chosen: Sequence[LeftOut] = ()
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

    @property
    def decisive(self) -> Verdict | None:
        """The figure that makes the answer what it is: the first with that answer; None without any."""
        met = MET[self.conclusion.answer]
        first = next(iter([verdict for verdict in self.deciding if verdict.met is met] or self.deciding), None)
        return first and first.model_copy(update={"met": met})


def conclude(changes: Sequence[Change], terms: ConclusionTerms, at: datetime) -> Judgement:
    """The verdicts of all figures, and the answer; ``at`` is the time of it.

    A figure is not met by its own interval, and the answer is so only if that holds for all of them together (Holm
    1979); it is met if every figure is (Berger 1982).
    """
    left_out = [exclusion for change in changes for exclusion in _left_out(change, terms.without)]
    names = {exclusion.run for exclusion in left_out}
    counted_changes = [_without(change, names) for change in changes]
    alone = [verdict for change in counted_changes for verdict in _verdicts(change, terms, at)]
    verdicts = held_together(alone)
    deciding = [verdict for verdict in verdicts if verdict.decides]
    answer = answer_of_all(deciding)
    if answer == "met" and not all(_has(change, deciding) for change in counted_changes):
        answer = "undecided"
    lacking = [
        why
        for change, counted_change in zip(changes, counted_changes, strict=True)
        for why in _lacking(change, counted_change, left_out, terms)
    ]
    notes = [
        *lacking,
        *_unknown(changes, terms.without),
        *(note for change in counted_changes for note in _of_load(change)),
        *_notes([verdict for verdict in alone if verdict.decides], answer),
        *(note for change in counted_changes for note in _of_time(change, terms)),
    ]
    conclusion = Conclusion(
        at=at,
        answer=answer,
        exit_code=ANSWER_CODES[answer],
        left_out=(*left_out, *terms.not_chosen),
        limited=tuple(limit for change in counted_changes for limit in _limited(change, terms)),
        notes=tuple(dict.fromkeys(notes)),
        stages=tuple(
            moved
            for change in counted_changes
            if change.before and change.after
            for moved in stage_changes(change.before, change.after)
        ),
    )
    return Judgement(tuple(sorted(verdicts, key=lambda verdict: not verdict.decides)), conclusion)


def judge_sides(left: Side, right: Side, headline: Callable[[Run], Metric], at: datetime) -> Judgement | None:
    """Two chosen runs with their repeats, by the usual criteria; None where they can't be compared."""
    if left.problem or right.problem or unlike(left, right):
        return None
    return conclude([between(left, right)], ConclusionTerms(headline), at)


def _left_out(change: Change, without: Collection[str]) -> Iterator[LeftOut]:
    names = set()
    for run in change.runs:
        why = "excluded with --without" if name_of(run) in without else why_invalid(run)
        if why:
            names.add(name_of(run))
            yield LeftOut(run=name_of(run), why=why)
    for name in left_alone(*divided((change.before, change.after), names)):
        yield LeftOut(run=name, why="the other run of the pair is left out")


def _without(change: Change, names: Collection[str]) -> Change:
    counted, left_out = divided((change.before, change.after), names)
    return replace(change, before=tuple(counted[0]), after=tuple(counted[1]), left_out=left_out)


def _has(change: Change, verdicts: Sequence[Verdict]) -> bool:
    """Whether any of these verdicts is of the change's runs."""
    names = {name_of(run) for run in change.runs}
    return any(names.intersection((*verdict.before, *verdict.after)) for verdict in verdicts)


def _lacking(
    change: Change, counted_change: Change, left_out: Sequence[LeftOut], terms: ConclusionTerms
) -> Iterator[str]:
    """Why there is less to judge than was measured: a side of which no run is left, and runs without the figure."""
    sides = (change.before, counted_change.before), (change.after, counted_change.after)
    names = {name_of(run) for side, remaining in sides if not remaining for run in side}
    if names:
        which = "of one side " if counted_change.runs else ""
        why = _by_reason([exclusion for exclusion in left_out if exclusion.run in names])
        yield f"{change.runs[0].preset}: all runs {which}were left out: {why}"
    for metric in terms.metrics or tuple(terms.headline(run) for run in counted_change.runs[:1]):
        for direction in terms.directions or flow_names(counted_change.runs) or [""]:
            if lacking := [name_of(run) for run in counted_change.runs if not measured([run], direction, metric)]:
                have = "has" if len(lacking) == 1 else "have"
                what = f"{direction} {metric.full_title}".strip()
                yield f"{change.runs[0].preset}: {_few(lacking)} {have} no {what}"


def _by_reason(left_out: Sequence[LeftOut]) -> str:
    """``a/1, a/2: the image is thin; b/1: failed``."""
    runs: dict[str, list[str]] = {}
    for exclusion in left_out:
        runs.setdefault(exclusion.why, []).append(exclusion.run)
    return "; ".join(f"{_few(names)}: {why}" for why, names in runs.items())


def _few(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_MOST
    return f"{', '.join(names[:_NAMED_MOST])}{f' and {more} more' if more > 0 else ''}"


def _unknown(changes: Sequence[Change], without: Collection[str]) -> Iterator[str]:
    unknown = set(without).difference(name_of(run) for change in changes for run in change.runs)
    if unknown:
        yield f"--without names runs that are not among these: {', '.join(sorted(unknown))}"


def _limited(change: Change, terms: ConclusionTerms) -> Iterator[LeftOut]:
    """Runs of which a finding limits a figure that decides."""
    deciding = _deciding(change, terms).items() if change.runs else ()
    figures = [(flow, metric.name) for flow, metrics in deciding for metric in metrics]
    for run in change.runs:
        for finding in run.findings:
            if any(limiting([finding.code], name, flow) for flow, name in figures):
                yield LeftOut(run=name_of(run), why=finding.text)


def _verdicts(change: Change, terms: ConclusionTerms, at: datetime) -> Iterator[Verdict]:
    """The verdicts of the figures that decide, then of the others that are measured each second."""
    if not change.runs:
        return
    preset, deciding, is_same_load = change.runs[0].preset, _deciding(change, terms), not _of_load(change)
    for direction in flow_names(change.runs):
        metrics = deciding.get(direction) or [metric_of_flow(terms.headline(change.runs[0]), change.runs, direction)]
        # IOPS and bandwidth of one block size are the same figure
        rate = {"iops", "bandwidth_bytes"} & {metric.name for metric in metrics}
        other_metrics = [m for m in LIVE if m not in metrics and not (rate and m.unit != "s")]
        for metric in (*metrics, *other_metrics):
            figures = replace(_figures(change, direction, metric), is_same_load=is_same_load)
            decides = metric in deciding.get(direction, ())
            if figures.before or figures.after or decides:
                verdict = judge(figures, preset, terms.criteria, at, decides=decides)
                verdict = verdict.model_copy(update={"in_order": change.is_in_order})
                if terms.is_change and verdict.is_judged and verdict.method == "welch":
                    drift = unnoticed_drift(figures, terms.criteria)
                    verdict = verdict.model_copy(update={"unnoticed_drift_fraction": drift})
                yield _would_be_seen(verdict, metric, terms)


def _figures(change: Change, direction: str, metric: Metric) -> Figures:
    return Figures.of(direction, metric, change.before, change.after, change.left_out)


def _deciding(change: Change, terms: ConclusionTerms) -> dict[str, list[Metric]]:
    """The figures that decide, by flow: those asked for, else the headline's; of named flows, else of the whole.

    Runs of an earlier cephtui have no commits: against these a run is judged by its writes.
    """
    runs, metrics_by_flow = change.runs, dict[str, list[Metric]]()
    sides = [flow_names(side) for side in (change.before, change.after) if side]
    comparable = [name for name in flow_names(runs) if name != COMMIT or all(COMMIT in side for side in sides)]
    for metric in terms.metrics or (terms.headline(runs[0]),):
        names = [name for name in flow_names(runs) if name in (terms.directions or metric.names_of_whole(comparable))]
        having = [name for name in names if measured(runs, name, metric)]
        for name in (having or names) if terms.metrics else names:
            flow_metric = metric if terms.metrics else metric_of_flow(metric, runs, name)
            metrics_by_flow.setdefault(name, []).append(flow_metric)
    return metrics_by_flow


def _notes(verdicts: Sequence[Verdict], answer: Answer) -> Iterator[str]:
    failed = sum(verdict.met is False for verdict in verdicts)
    if answer == "undecided" and failed:
        are = "is" if failed == 1 else "are"
        yield (
            f"{failed} of {len(verdicts)} figures {are} not met on their own, but not with all taken together (Holm)"
        )


def _of_load(change: Change) -> list[str]:
    """Why runs that were named can't show what a change made; none where both sides measured the same operations."""
    if not change.before or not change.after:
        return []
    other = ", ".join(
        f"{difference.name} {difference.left} and {difference.right}"
        for difference in unlike(Side(change.before), Side(change.after))
    )
    return [f"{NOT_JUDGED['the same load']}: {other}"] if other else []


def _of_time(change: Change, terms: ConclusionTerms) -> Iterator[str]:
    """The notes on what time may have done instead of the change."""
    if not terms.is_change or not change.before or not change.after:
        return
    if undated := sum(not run.is_dated for run in change.runs):
        yield (f"{undated} of {len(change.runs)} runs have no date: the interval may not include day-to-day changes")
        return
    deciding = {flow: metrics[0] for flow, metrics in _deciding(change, terms).items()}
    if not change.is_in_order:
        yield from _out_of_order(change, deciding)
    if max(_pause(change.before, change.after), _pause(change.after, change.before)) > _ANOTHER_DAY:
        first = "before was measured on another day" if change.is_in_order else "A was measured on another day than B"
        yield f"{first}: the interval does not include day-to-day changes"
    for direction, metric in deciding.items():
        figures = _figures(change, direction, metric)
        if not figures.take_turns and (drift := trend(figures, terms.criteria)):
            verb = "rose" if drift > 0 else "fell"
            yield (
                f"figures {verb} within both sides, by {abs(100 * drift):.0f} % in the longer one, so the change can't "
                "be separated from this drift: undo the change and measure again"
            )


def _out_of_order(change: Change, deciding: Mapping[str, Metric]) -> Iterator[str]:
    """The note on sides whose first was not measured first; runs that take turns are in no order anyway."""
    sides = f"A is {names_of(change.before)}, B is {names_of(change.after)}"
    if change.is_reversed:
        yield f"{sides}: A was measured later, so the change leads from B to A"
    elif marked := [run for run in change.runs if run in change.marked]:
        yield f"{sides}: {marked_text(marked)}"
    elif not all(_figures(change, flow, metric).take_turns for flow, metric in deciding.items()):
        yield f"{sides}: their runs overlap in time, so neither side is before or after a change"


def _pause(first: Sequence[Run], second: Sequence[Run]) -> timedelta:
    ended = max(run.started_at + timedelta(seconds=run.duration_seconds) for run in first)
    return min(run.started_at for run in second) - ended


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
"""The names of metrics as they are typed."""


def _would_be_seen(verdict: Verdict, metric: Metric, terms: ConclusionTerms) -> Verdict:
    """The verdict of one run a side with what a few would show, where repeats of the preset tell how they spread."""
    if not (verdict.same_load and len(verdict.before) == len(verdict.after) == 1):
        return verdict
    points = [
        point
        for batch in group(terms.session_runs)
        for point in batch.points
        if point.repeats[0].preset == verdict.preset
    ]
    values_of_points = [measured(summarize(point).counted, verdict.direction, metric) for point in points]
    variations = [(variation, len(values)) for values in values_of_points if (variation := spread(values))]
    if not variations:
        return verdict
    weights = sum(runs - 1 for _, runs in variations)
    pooled = math.sqrt(sum(variation**2 * (runs - 1) for variation, runs in variations) / weights)
    fall = seen_with(pooled, _FEW_RUNS, _FEW_RUNS, verdict.nominal_confidence, spread_df=float(weights))
    return verdict.model_copy(update={"detectable_fraction": fall})
