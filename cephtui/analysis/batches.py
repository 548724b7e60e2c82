"""The runs of a session as what was ordered: batches, their points, the repeats of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cephtui.models import OptionValue, Run, Step


@dataclass(frozen=True, slots=True)
class Point:
    """Runs that were set up alike: preset, tool, target, options and nodes."""

    options: Mapping[str, OptionValue]
    repeats: tuple[Run, ...]
    """However they ended, in the order in which they were given."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A preset as it was ordered once: a point for each combination of a sweep's values."""

    axes: tuple[str, ...]
    """Options that are not the same at all points, in the order in which the runs name them."""
    points: tuple[Point, ...]

    @property
    def runs(self) -> list[Run]:
        """Of all points."""
        return [run for point in self.points for run in point.repeats]


def group(runs: Iterable[Run]) -> list[Batch]:
    """The batches of runs, in the order in which they come first."""
    batches: dict[tuple[str, str], dict[object, list[Run]]] = {}
    for run in runs:
        batches.setdefault((run.session, run.batch), {}).setdefault(_set_up(run), []).append(run)
    return [_batch(points.values()) for points in batches.values()]


def _batch(found: Iterable[list[Run]]) -> Batch:
    points = tuple(Point(repeats[0].options, tuple(repeats)) for repeats in found)
    names = dict.fromkeys(name for point in points for name in point.options)
    return Batch(tuple(name for name in names if len({point.options.get(name) for point in points}) > 1), points)


def _set_up(run: Run) -> object:
    """What runs of a batch have in common that repeat each other."""
    return run.preset, run.tool, run.target, frozenset(run.options.items()), tuple(node_names(run))


def node_names(run: Run) -> list[str]:
    """A run that was refused has no results of nodes."""
    return [node.node for node in run.nodes] or list(run.environment)


def is_run_of(run: Run, step: Step) -> bool:
    """Whether it carried out this step of a plan."""
    ordered = step.batch, step.number, step.preset, step.repeat, step.options
    return (run.batch, run.step, run.preset, run.repeat, run.options) == ordered
