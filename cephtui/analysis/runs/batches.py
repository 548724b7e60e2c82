"""The runs of a session as what was ordered: batches, their points, the repeats of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cephtui.analysis.statistics.ratio import LogMean, after_looks, geometric_mean, log_deviation, spread
from cephtui.frozen import dataclass
from cephtui.models.metrics import DIRECTIONS, METRICS, Metric, judged_by
from cephtui.tools import TOOLS

if TYPE_CHECKING:
    from cephtui.models import OptionValue, Run, Step

CONFIDENCE = 0.95
"""Two-sided, of the intervals of means."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """Runs that were set up alike: preset, tool, target, options and nodes."""

    options: Mapping[str, OptionValue]
    repeats: tuple[Run, ...]
    """However they ended, in the order in which they were given."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A preset as it was ordered once: a point for each combination of a sweep's values."""

    axes: tuple[str, ...]
    """Options that are not the same at all points, in the order in which the runs name them."""
    points: tuple[SweepPoint, ...]

    @property
    def runs(self) -> list[Run]:
        """The runs of all points."""
        return [run for point in self.points for run in point.repeats]

    @property
    def is_repeated(self) -> bool:
        """Whether a point was run several times."""
        return any(len(point.repeats) > 1 for point in self.points)

    def values(self, option: str) -> list[OptionValue]:
        """The values of an option at the points, each once."""
        return list(dict.fromkeys(point.options[option] for point in self.points if option in point.options))


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric of runs that repeat each other, in the metric's own unit."""

    value: float
    """The geometric mean, which stands for all of them."""
    least: float
    greatest: float
    runs: int
    """How many have the metric."""
    spread: float | None = None
    """Coefficient of variation; None for fewer than two runs."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """The estimate from the values of at least one run."""
        mean = geometric_mean(values)
        assert mean is not None
        return cls(mean, min(values), max(values), len(values), spread(values))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean; None for fewer than two runs."""
        return self._mean.interval(CONFIDENCE) if self._mean else None

    @property
    def margin(self) -> float | None:
        """How far the interval reaches above the value, as a fraction of it: below, it reaches less far."""
        return self._margin(self._mean)

    @property
    def margin_after_looks(self) -> float | None:
        """The same where it was looked at after each run, and decided whether another one followed."""
        return self._margin(after_looks(self._mean) if self._mean else None)

    def _margin(self, mean: LogMean | None) -> float | None:
        # of equal figures it is 0, but for rounding
        return max(0.0, mean.interval(CONFIDENCE)[1] / self.value - 1) if mean else None

    @property
    def _mean(self) -> LogMean | None:
        if self.spread is None:
            return None
        return LogMean(math.log(self.value), log_deviation(self.spread) / math.sqrt(self.runs), self.runs - 1.0)


@dataclass(frozen=True, slots=True)
class PointSummary:
    """The result of a point: its repeats together."""

    point: SweepPoint
    counted: tuple[Run, ...]
    """The runs that the estimates are of: those that ended well and have figures."""
    ended: int
    """How many have ended, in whatever way."""
    estimates: Mapping[str, Mapping[str, Estimate]]
    """Estimates by flow (``read``, ``write``, then others) and metric's name; a metric that no run has is left out."""

    @property
    def last(self) -> Run:
        """The last of the counted runs, if any is: it stands for all where only one can."""
        return (self.counted or self.point.repeats)[-1]

    @property
    def findings(self) -> tuple[str, ...]:
        """The codes of what limits the figures of any counted run."""
        return tuple(dict.fromkeys(finding.code for run in self.counted for finding in run.findings))


def group(runs: Iterable[Run]) -> list[Batch]:
    """The batches of runs, in the order in which they come first."""
    batches: dict[tuple[str, str], dict[object, list[Run]]] = {}
    for run in runs:
        batches.setdefault((run.session, run.batch), {}).setdefault(set_up(run), []).append(run)
    return [_batch(points.values()) for points in batches.values()]


def _batch(repeats_of_points: Iterable[list[Run]]) -> Batch:
    points = tuple(SweepPoint(all_options(repeats[0]), tuple(repeats)) for repeats in repeats_of_points)
    names = dict.fromkeys(name for point in points for name in point.options)
    return Batch(tuple(name for name in names if len({point.options.get(name) for point in points}) > 1), points)


def set_up(run: Run) -> object:
    """The key of runs that were set up alike, and in one batch repeat each other.

    Of an imported run not all is known: it is like no run of another part of the log, which is its batch.
    """
    part = (run.batch, run.heading) if run.imported_from else None
    options = frozenset(all_options(run).items())
    return run.preset, run.tool, run.target, options, tuple(node_names(run)), part


def all_options(run: Run) -> dict[str, OptionValue]:
    """The options that a preset can have, and the others that an imported run was given."""
    return {**run.options, **run.other_options}


def knows_options(run: Run) -> bool:
    """Whether what is not among its options has the tool's default."""
    return run.has_all_options or not run.imported_from


def full_names(names: Iterable[str], session: str) -> list[str]:
    """Names of runs, those of a session also by their numbers alone: ``tuning/3``."""
    return [name if "/" in name else f"{session}/{name}" for name in names]


def node_names(run: Run) -> list[str]:
    """The nodes of a run; those of a refused run, which has no results of nodes, are those of its environment."""
    return [node.node for node in run.nodes] or list(run.environment)


def tool_of(runs: Iterable[Run]) -> str:
    """The tool of these runs; empty where they have several."""
    tools = {run.tool for run in runs}
    return tools.pop() if len(tools) == 1 else ""


def host_name(run: Run, node: str) -> str:
    """The name of a node's host as it calls itself; else the name of the node."""
    environment = run.environment.get(node)
    return (environment.hostname if environment else None) or node


def name_of(run: Run) -> str:
    """``tuning/3``, as it is typed."""
    return f"{run.session}/{run.run}"


def moments(runs: Iterable[Run]) -> dict[str, datetime]:
    """The start of each run, by name; of one without a date the start of the run before it in its session.

    Where none before it has a date, it is the time of the file that it was imported from.
    """
    begun: dict[str, datetime] = {}
    newest: dict[str, datetime] = {}
    for run in sorted(runs, key=lambda run: run.run):
        at = run.started_at if run.is_dated else newest.get(run.session, run.started_at)
        begun[name_of(run)] = newest[run.session] = at
    return begun


def in_time_order(runs: Iterable[Run]) -> list[Run]:
    """The runs as they were measured, as far as that is known; one without a date stays behind the one before it."""
    runs_in_order = list(runs)
    at = moments(runs_in_order)
    return sorted(runs_in_order, key=lambda run: (at[name_of(run)], run.run))


def names_of(runs: Iterable[Run]) -> str:
    """``tuning/3, tuning/4 and 2 more``."""
    first, *more = map(name_of, runs)
    return ", ".join([first, *more[:1]]) + (f" and {len(more) - 1} more" if len(more) > 1 else "")


def flow_names(runs: Iterable[Run]) -> list[str]:
    """The flows of these runs: reads, writes, then the others."""
    names = {name for run in runs for name in run.summary.flows}
    return [*(name for name in DIRECTIONS if name in names), *sorted(names.difference(DIRECTIONS))]


def measured(runs: Iterable[Run], flow: str, metric: Metric) -> list[float]:
    """A metric of each run that has it, over the whole run."""
    values = [metric.of(run.summary.flows.get(flow)) for run in runs]
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def metric_of_flow(headline: Metric, runs: Iterable[Run], flow: str) -> Metric:
    """The metric by which a flow of these runs is judged; ``headline`` is what the runs are about."""
    return judged_by(headline, [run.summary.flows.get(flow) for run in runs])


def summarize(point: SweepPoint) -> PointSummary:
    """The result of a point; one without a run that ended well has no estimates."""
    counted = tuple(run for run in point.repeats if run.outcome == "ok" and run.summary.flows)
    flows = dict.fromkeys(flow for run in counted for flow in run.summary.flows)
    ended = sum(run.outcome is not None for run in point.repeats)
    return PointSummary(point, counted, ended, {flow: _estimates(counted, flow) for flow in flows})


def _estimates(runs: Iterable[Run], flow: str) -> dict[str, Estimate]:
    values_by_metric = {metric: measured(runs, flow, metric) for metric in METRICS}
    return {metric.name: Estimate.of(values) for metric, values in values_by_metric.items() if values}


def is_run_of(run: Run, step: Step) -> bool:
    """Whether it carried out this step of a plan."""
    ordered = step.batch, step.number, step.preset, step.repeat, step.options
    return (run.batch, run.step, run.preset, run.repeat, run.options) == ordered


def swept(batch: Batch) -> list[str]:
    """The options that set the points of a batch apart, other than whether they read or write.

    The figures are labelled with that anyway.
    """
    directions = {option for run in batch.runs if run.tool in TOOLS and (option := TOOLS[run.tool].direction_option)}
    return [name for name in batch.axes if name not in directions]


def under_heading(run: Run) -> str:
    """``under "1 OSD"``: the heading of an imported run; empty where it has none."""
    return f'under "{run.heading}"' if run.heading else ""


def varied(runs: Iterable[Run]) -> dict[int, str]:
    """Heading and options that set a run apart from others of its batch, by its number: ``iodepth=4``."""
    texts: dict[int, str] = {}
    for batch in group(runs):
        names = swept(batch)
        for run in batch.runs:
            options = (f"{name}={value}" for name, value in all_options(run).items() if name in names)
            texts[run.run] = " ".join(filter(None, [under_heading(run), *options]))
    return texts
