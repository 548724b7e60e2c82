"""The greatest depth at which a latency stays within a bound: doubled, bisected, then confirmed with three runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.ratio import LogMean, mean_of
from cephtui.analysis.verdicts.expectation import Expectation, figure_of, parse_expectation
from cephtui.analysis.verdicts.knee import combined_figures
from cephtui.exit_codes import ANSWER_CODES
from cephtui.frozen import dataclass
from cephtui.models import Line, Mark, Model, Run
from cephtui.models.metrics import BY_NAME
from cephtui.models.verdict import Answer
from cephtui.planning import Request
from cephtui.studies.base import Measure, StudyResult, one_more, singly
from cephtui.studies.depth import DepthStudy, at_depth, depth_of

CONFIRMING = 3
"""Runs at a depth that confirm it: beside those that have led there, which chance has chosen too."""
CONFIDENCE = 0.95
_WORST: tuple[Answer, ...] = ("met", "undecided", "not met")


def bound_of(text: str) -> Expectation:
    """``p99=5ms``, ``write p99.9<=20ms``, ``latency=1ms``, which is the mean; raises ValueError."""
    try:
        return parse_expectation(text.replace("<=", "=").replace("=", "<=", 1))
    except ValueError:
        raise ValueError(f"{text!r}: expected a latency and its bound, such as p99=5ms or latency=1ms") from None


class BoundedGoal(Model):
    """The bound."""

    within: Line
    """``p99=5ms``."""


@dataclass(frozen=True, slots=True)
class Point:
    """A run of the search that counts."""

    depth: int
    """Of a job."""
    latency: float
    """The bounded figure, in seconds; of reads and writes the greater."""
    run: Run


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The runs that confirm a depth."""

    depth: int
    points: tuple[Point, ...]

    @property
    def mean(self) -> LogMean | None:
        """Of the bounded figure; None before the second run."""
        return mean_of([point.latency for point in self.points]) if len(self.points) > 1 else None

    @property
    def iops(self) -> float:
        """The mean, of reads and writes together."""
        rates = [rate for point in self.points for rate in combined_figures([point.run], BY_NAME["iops"])]
        return sum(rates) / len(rates) if rates else 0.0

    def holds(self, bound: float) -> bool:
        """Whether the upper end of its interval is at most the bound."""
        mean = self.mean
        return mean is not None and len(self.points) >= CONFIRMING and mean.interval(CONFIDENCE)[1] <= bound

    def is_above(self, bound: float) -> bool:
        """Whether the lower end of its interval is above the bound."""
        mean = self.mean
        return mean is not None and len(self.points) >= CONFIRMING and mean.interval(CONFIDENCE)[0] > bound


@dataclass(frozen=True, slots=True)
class Search:
    """The search of a preset on a target as far as it is measured."""

    request: Request
    bound: float
    """In seconds."""
    points: tuple[Point, ...]
    """The search itself."""
    confirmed: tuple[Confirmed, ...]
    """The depths that were confirmed after it, or not, from the greatest on."""
    next_depth: int | None
    """Of its next run; None where it has come to its end."""
    unknown: Run | None = None
    """A run that counts and does not have the figure, as with too few I/Os for a percentile: the search ends there."""

    @property
    def depth(self) -> Confirmed | None:
        """The greatest depth that holds; None where none does, or that is not known yet."""
        return next((confirmed for confirmed in self.confirmed if confirmed.holds(self.bound)), None)

    @property
    def answer(self) -> Answer:
        """Whether there is a depth within the bound."""
        if self.depth:
            return "met"
        last = self.confirmed[-1] if self.confirmed else None
        return "not met" if last and last.depth == 1 and last.is_above(self.bound) else "undecided"


class BoundedMeasured(StudyResult):
    """The searches of all presets on all targets."""

    def __init__(self, searches: Sequence[Search]) -> None:
        self.searches = tuple(searches)
        self.exit_code = ANSWER_CODES[max((search.answer for search in searches), key=_WORST.index)]


class Bounded(DepthStudy[BoundedGoal]):
    """Searches, one after the other."""

    kind = "bounded"
    Goal = BoundedGoal
    least_runs = 1 + CONFIRMING

    @property
    def bound(self) -> Expectation:
        """The figure, and what it must not exceed."""
        return bound_of(self.goal.within)

    def search(self, request: Request, runs: Sequence[Run]) -> Search:
        """Of a request of one preset, after these runs of the study."""
        own = [run for run in runs if run.batch == request.batches[0] and not why_invalid(run)]
        values = [(run, figure_of(run, self.bound)) for run in own]
        points = [Point(depth_of(request, run), value, run) for run, value in values if value]
        search = search_of(request, points, self.bound.value, self.most[request.batches[0]])
        unknown = next((run for run, value in values if not value), None)
        return replace(search, next_depth=None, unknown=unknown) if unknown else search

    def next(self, runs: Sequence[Run], without: Collection[str] = ()) -> Measure | None:
        for request in singly(self.requests):
            depth = self.search(request, runs).next_depth
            is_over = depth is None or request.batches[0] in without or self.why_given_up(request, runs)
            if depth is not None and not is_over:
                own = [run for run in runs if run.batch == request.batches[0]]
                repeat = 1 + sum(depth_of(request, run) == depth and not why_invalid(run) for run in own)
                return Measure(one_more(at_depth(request, depth), own), repeat)
        return None

    def conclude(self, runs: Sequence[Run], marks: Sequence[Mark], directory: Path, at: datetime) -> BoundedMeasured:
        return BoundedMeasured([self.search(request, runs) for request in singly(self.requests)])

    def runs_most(self, depth: int) -> int:
        """Where no depth of those within the bound is confirmed before depth 1."""
        doublings = depth.bit_length()
        return (2 * doublings - 2) + CONFIRMING * (2 * doublings - 2) if doublings > 1 else 1 + CONFIRMING


def search_of(request: Request, points: Sequence[Point], bound: float, most: int) -> Search:
    """The search that these runs are of, in the order in which they were made."""
    measured: list[Point] = []
    while (depth := _searched(measured, bound, most)) is not None:
        if len(measured) == len(points):
            return Search(request, bound, tuple(measured), (), depth)
        measured.append(points[len(measured)])
    within = sorted({point.depth for point in measured if point.latency <= bound} | {1}, reverse=True)
    rest, confirmed = [*points[len(measured) :]], list[Confirmed]()
    for depth in within:
        confirmed.append(Confirmed(depth, tuple(rest[:CONFIRMING])))
        rest = rest[CONFIRMING:]
        if len(confirmed[-1].points) < CONFIRMING:
            return Search(request, bound, tuple(measured), tuple(confirmed), depth)
        if confirmed[-1].holds(bound):
            break
    return Search(request, bound, tuple(measured), tuple(confirmed), None)


def _searched(measured: Sequence[Point], bound: float, most: int) -> int | None:
    """The next depth of the search: the double of the last, then between those within the bound and those above."""
    if not measured:
        return 1
    above = min((point.depth for point in measured if point.latency > bound), default=None)
    within = max((point.depth for point in measured if point.latency <= bound), default=0)
    if above is None:
        return 2 * within if 2 * within <= most else None
    return (within + above) // 2 if above - within > 1 else None
