"""Which runs of a session belong to what was ordered in it: the cells of an order, and the points of their sweeps."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from cephtui.analysis.runs.batches import node_names
from cephtui.frozen import dataclass
from cephtui.models import OptionValue, Run
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError

if TYPE_CHECKING:
    from cephtui.models.study import Cell, Ordered

Options: TypeAlias = Mapping[str, OptionValue | list[OptionValue]]
"""A list is a sweep."""
PointKey: TypeAlias = tuple[tuple[str, OptionValue], ...]
"""The options that set a point apart from the others of its step, by name."""


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step in one place, with all its points: a batch."""

    step: str
    target: str
    nodes: tuple[str, ...]
    runs: tuple[Run, ...]
    runs_ordered: int = 0
    """Runs of each point; 0 where that is not known."""
    options: Options | None = None
    """The options as they were ordered; None where that is not known."""
    is_whole: bool = False
    """Whether the options of the preset are among them."""

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        return self.target, self.nodes


def placed_steps(runs: Sequence[Run], ordered: Ordered | None) -> list[PlacedStep]:
    """A step for each cell that was ordered, in that order, then those of other runs."""
    batches: dict[str, list[Run]] = {}
    for run in runs:
        batches.setdefault(run.batch, []).append(run)
    ordered_steps = [_ordered_step(cell, batches.pop(cell.batch, ())) for cell in (ordered.cells if ordered else ())]
    other_runs: dict[tuple[str, ...], list[Run]] = {}
    for run in (run for batch in batches.values() for run in batch):
        other_runs.setdefault((run.batch, run.preset, run.target, *node_names(run)), []).append(run)
    other_steps = [
        PlacedStep(name, at, tuple(nodes), tuple(runs_of_step))
        for (_, name, at, *nodes), runs_of_step in other_runs.items()
    ]
    return [*ordered_steps, *other_steps]


def _ordered_step(cell: Cell, runs: Iterable[Run]) -> PlacedStep:
    options = {**cell.of_preset, **cell.options}
    whole = bool(cell.of_preset)
    return PlacedStep(cell.step, cell.target, cell.nodes, tuple(runs), cell.repeats, options or None, is_whole=whole)


def steps_at_points(steps: Sequence[PlacedStep]) -> list[tuple[PlacedStep, PointKey]]:
    """The steps at each point that is ordered or was run, with the runs of that point."""
    names = _varied(steps)
    first = next((run for step in steps for run in step.runs), None)
    keys_of_runs = list(dict.fromkeys(_key_of(run, names) for step in steps if step.runs_ordered for run in step.runs))
    points = []
    for step in steps:
        keys = [_key_of(run, names) for run in step.runs]
        for key, times in _points(_expected(step, names, first) or keys_of_runs or [()], keys).items():
            runs = tuple(run for run, point in zip(step.runs, keys, strict=True) if point == key)
            if runs or step.runs_ordered:
                points.append((replace(step, runs=runs, runs_ordered=step.runs_ordered * times), key))
    return points


def _points(expected: Iterable[PointKey], run_keys: Sequence[PointKey]) -> dict[PointKey, int]:
    """How often each point is ordered, with those that were run.

    What was run under a cell's batch is what it has ordered, even where the options say otherwise, as after a change
    of their spelling: such a point stands for an expected one without a run.
    """
    times = Counter(expected)
    other = [key for key in dict.fromkeys(run_keys) if key not in times]
    free = [key for key in times if key not in run_keys] if other else []
    for key, stands in zip(free, itertools.cycle(other), strict=False):
        times[stands] += times.pop(key)
    return {**times, **{key: times[key] for key in other}}


def _varied(steps: Sequence[PlacedStep]) -> list[str]:
    """The options that set the points of a step apart: those that were swept, and others that differ on one target."""
    names = [name for step in steps for name, value in (step.options or {}).items() if isinstance(value, list)]
    by_target: dict[str, list[Mapping[str, OptionValue]]] = {}
    for step in steps:
        by_target.setdefault(step.target, []).extend(map(_as_asked, step.runs))
    for swept_options in by_target.values():
        all_names = dict.fromkeys(name for options in swept_options for name in options)
        names += [name for name in all_names if len({options.get(name) for options in swept_options}) > 1]
    return list(dict.fromkeys(names))


def _as_asked(run: Run) -> Mapping[str, OptionValue]:
    """The options as they were asked for, not as the target's kind has changed them: two values are two points."""
    return {**run.options, **run.asked}


def _key_of(run: Run, names: Iterable[str]) -> PointKey:
    return _key(_as_asked(run), names)


def _key(options: Mapping[str, OptionValue], names: Iterable[str]) -> PointKey:
    return tuple((name, options[name]) for name in names if name in options)


def _expected(step: PlacedStep, names: Sequence[str], first: Run | None) -> list[PointKey]:
    """The points that were ordered; none where that is not known. ``first`` is a run of the step, if there is any."""
    if step.options is None or not (step.is_whole or step.options.keys() >= set(names)):
        return []
    run = next(iter(step.runs), first)
    lists = [value if isinstance(value, list) else [value] for value in step.options.values()]
    combinations = (dict(zip(step.options, values, strict=True)) for values in itertools.product(*lists))
    return [_key(_as_run(options, run, is_whole=step.is_whole), names) for options in combinations]


def _as_run(options: Mapping[str, OptionValue], run: Run | None, *, is_whole: bool) -> Mapping[str, OptionValue]:
    """Options as the runs of the step have them, which may be another spelling than the one that was ordered."""
    if run is not None:
        with suppress(OptionError, LookupError, ValueError):
            return TOOLS[run.tool].check_options(options if is_whole else {**run.options, **options})
    return options
