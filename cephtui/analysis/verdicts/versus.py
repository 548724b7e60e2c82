"""A whole session against another: their runs in pairs, in what the pairs differ, and what all of them show together.

Paired is what was measured alike: the same preset with the same options on as many nodes. Targets and nodes may have
other names: those are what differs between two clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from cephtui.analysis.runs.batches import all_options, name_of, node_names, set_up
from cephtui.analysis.runs.change import Change
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.marks import marks_among
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement, conclude
from cephtui.analysis.verdicts.conditions import NOT_KNOWN, differences
from cephtui.analysis.verdicts.noted import difference_text
from cephtui.analysis.verdicts.verdict import why_not_judged
from cephtui.frozen import dataclass
from cephtui.models import Mark, Run
from cephtui.models.verdict import LeftOut, Verdict

if TYPE_CHECKING:
    from cephtui.models.rows import Difference

_Point: TypeAlias = tuple[Run, ...]
"""Runs of a session that were set up alike."""
_Sides: TypeAlias = tuple[list[_Point], list[_Point]]
_OF_TARGET = ("size", "ioengine")
"""Options that follow from a target: from its kind, and from how much room there is."""
_RESULTS = (("run", "outcome"), ("run", "measured"))
"""Differences that are no conditions; nor are findings."""


@dataclass(frozen=True, slots=True)
class WholeSession:
    """All runs of a session, and the marks in it."""

    runs: Sequence[Run]
    """The runs, at least one."""
    marks: Sequence[Mark] = ()

    @property
    def name(self) -> str:
        return self.runs[0].session


@dataclass(frozen=True, slots=True)
class Versus:
    """Two sessions; the runs of the first are ``before`` in each pair, those of the second ``after``."""

    left: WholeSession
    right: WholeSession
    pairs: tuple[Change, ...]
    """Pairs in the order of the first session."""
    alone: tuple[_Point, ...]
    """The points that were measured in one of the sessions only."""


def versus(left: WholeSession, right: WholeSession) -> Versus:
    """The runs of two sessions in pairs.

    Where several are alike but for the names of targets and nodes, equal names are paired first, then the others in
    their order if there are as many on both sides. Of an imported run not all options are known: it is paired by its
    load.
    """
    rest: _Sides = _points(left.runs), _points(right.runs)
    pairs: list[tuple[_Point, _Point]] = []
    for key_of in (set_up, _but_nodes, _but_names, _but_target_options, _load):
        alike_pairs, rest = _paired(rest, key_of)
        pairs += alike_pairs
    pairs.sort(key=lambda pair: pair[0][0].run)
    return Versus(left, right, tuple(Change(*pair) for pair in pairs), (*rest[0], *rest[1]))


def _points(runs: Iterable[Run]) -> list[_Point]:
    points: dict[object, list[Run]] = {}
    for run in runs:
        points.setdefault(set_up(run), []).append(run)
    return [tuple(point) for point in points.values()]


def _paired(sides: _Sides, key_of: Callable[[Run], object]) -> tuple[list[tuple[_Point, _Point]], _Sides]:
    """The points with the same key, in pairs where there are as many on both sides; and what is left."""
    groups: dict[object, _Sides] = {}
    for index, side in enumerate(sides):
        for point in side:
            groups.setdefault(key_of(point[0]), ([], []))[index].append(point)
    pairs: list[tuple[_Point, _Point]] = []
    rest: _Sides = [], []
    for left_points, right_points in groups.values():
        if len(left_points) == len(right_points) and (key_of is not _load or _any_imported(left_points, right_points)):
            pairs += zip(left_points, right_points, strict=True)
        else:
            rest[0].extend(left_points)
            rest[1].extend(right_points)
    return pairs, rest


def _but_nodes(run: Run) -> object:
    return run.target, _but_names(run)


def _but_names(run: Run) -> object:
    return run.preset, run.tool, frozenset(all_options(run).items()), len(node_names(run)), run.heading


def _but_target_options(run: Run) -> object:
    options = {name: value for name, value in all_options(run).items() if name not in _OF_TARGET}
    return run.preset, run.tool, frozenset(options.items()), len(node_names(run)), run.heading


def _load(run: Run) -> object:
    """The load of a run; one that is not known is like no other."""
    load = load_of(run)
    return (run.tool, load.block_bytes, load.pattern, load.depth, load.jobs) if load else name_of(run)


def _any_imported(*sides: Iterable[_Point]) -> bool:
    return any(point[0].imported_from for side in sides for point in side)


def differing_conditions(versus: Versus) -> list[tuple[Difference, int]]:
    """The differences of the runs of the pairs, other than their results, each with the number of pairs that has it.

    What differs in most pairs comes first.
    """
    all_differences = (difference for pair in versus.pairs for difference in dict.fromkeys(_conditions(pair)))
    return sorted(Counter(all_differences).items(), key=lambda pair: -pair[1])


def _conditions(pair: Change) -> list[Difference]:
    return [
        difference
        for difference in differences(Side(pair.before), Side(pair.after))
        if difference.topic != "finding" and (difference.topic, difference.name) not in _RESULTS
    ]


def conclude_versus(versus: Versus, terms: ConclusionTerms, at: datetime) -> Judgement:
    """The verdicts of all pairs, and the answer; ``at`` is the time of it."""
    judgement = conclude(versus.pairs, replace(terms, is_change=False), at)
    conclusion = judgement.conclusion
    in_order = all(verdict.in_order for verdict in judgement.verdicts)
    differing = (difference for difference, _ in differing_conditions(versus) if difference.topic != NOT_KNOWN)
    changed = tuple(difference_text(difference, in_order=in_order) for difference in differing)
    notes = (*_of_all(judgement.deciding), *_marked(versus), *conclusion.notes)
    update = {"changed": changed, "notes": notes, "left_out": (*conclusion.left_out, *_alone(versus))}
    return replace(judgement, conclusion=conclusion.model_copy(update=update))


def _of_all(verdicts: Sequence[Verdict]) -> Iterator[str]:
    number_judged = sum(verdict.is_judged for verdict in verdicts)
    if number_judged:
        shown = Counter(verdict.differs for verdict in verdicts)
        rest = number_judged - shown["faster"] - shown["slower"]
        yield (
            f"after Holm over {number_judged} comparison{'s' * (number_judged != 1)}: {shown['faster']} faster, "
            f"{shown['slower']} slower, {rest} not shown to differ"
        )
    reasons = Counter(why_not_judged(verdict, "of A", "of B") for verdict in verdicts if not verdict.is_judged)
    for why, number in reasons.items():
        yield f"inconclusive: {number} of {len(verdicts)} comparisons: {why}"


def _marked(versus: Versus) -> Iterator[str]:
    pairs = versus.pairs
    sides = ((versus.left, [pair.before for pair in pairs]), (versus.right, [pair.after for pair in pairs]))
    for session, points in sides:
        if any(marks_among(point, session.marks) for point in points):
            yield (
                f"{session.name} has marks between runs that are counted together here: "
                f"cephtui check {session.name} judges the runs before and after a mark"
            )


def _alone(versus: Versus) -> Iterator[LeftOut]:
    for point in versus.alone:
        is_left = point[0].session == versus.left.name
        other = (versus.right if is_left else versus.left).name
        for run in point:
            yield LeftOut(run=name_of(run), why=f"no matching run in {other}")
