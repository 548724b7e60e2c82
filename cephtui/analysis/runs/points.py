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
class Part:
    """A step in one place, with all its points: a batch."""

    step: str
    target: str
    nodes: tuple[str, ...]
    runs: tuple[Run, ...]
    wanted: int = 0
    """Runs of each point; 0 where that is not known."""
    options: Options | None = None
    """As they were ordered; None where that is not known."""
    is_whole: bool = False
    """Whether the options of the preset are among them."""

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        return self.target, self.nodes


def parts_of(runs: Sequence[Run], ordered: Ordered | None) -> list[Part]:
    """What was ordered, in that order, then the batches of other runs."""
    batches: dict[str, list[Run]] = {}
    for run in runs:
        batches.setdefault(run.batch, []).append(run)
    found = [_ordered_part(cell, batches.pop(cell.batch, ())) for cell in (ordered.cells if ordered else ())]
    others: dict[tuple[str, ...], list[Run]] = {}
    for run in (run for same in batches.values() for run in same):
        others.setdefault((run.batch, run.preset, run.target, *node_names(run)), []).append(run)
    alone = [Part(name, at, tuple(nodes), tuple(own)) for (_, name, at, *nodes), own in others.items()]
    return [*found, *alone]


def _ordered_part(cell: Cell, runs: Iterable[Run]) -> Part:
    options = {**cell.of_preset, **cell.options}
    whole = bool(cell.of_preset)
    return Part(cell.step, cell.target, cell.nodes, tuple(runs), cell.repeats, options or None, is_whole=whole)


def points_of(parts: Sequence[Part]) -> list[tuple[Part, PointKey]]:
    """The parts of a step, each apart for every point that is ordered or was run, with the runs of that point."""
    names = _varied(parts)
    first = next((run for part in parts for run in part.runs), None)
    seen = list(dict.fromkeys(_key_of(run, names) for part in parts if part.wanted for run in part.runs))
    found = []
    for part in parts:
        own = [_key_of(run, names) for run in part.runs]
        for key, times in _points(_expected(part, names, first) or seen or [()], own).items():
            alike = tuple(run for run, point in zip(part.runs, own, strict=True) if point == key)
            if alike or part.wanted:
                found.append((replace(part, runs=alike, wanted=part.wanted * times), key))
    return found


def _points(expected: Iterable[PointKey], own: Sequence[PointKey]) -> dict[PointKey, int]:
    """How often each point is ordered, with those that were run.

    What was run under a cell's batch is what it has ordered, even where the options say otherwise, as after a change
    of their spelling: such a point stands for an expected one without a run.
    """
    times = Counter(expected)
    other = [key for key in dict.fromkeys(own) if key not in times]
    free = [key for key in times if key not in own] if other else []
    for key, stands in zip(free, itertools.cycle(other), strict=False):
        times[stands] += times.pop(key)
    return {**times, **{key: times[key] for key in other}}


def _varied(parts: Sequence[Part]) -> list[str]:
    """The options that set the points of a step apart: those that were swept, and others that differ on one target."""
    names = [name for part in parts for name, value in (part.options or {}).items() if isinstance(value, list)]
    by_target: dict[str, list[Mapping[str, OptionValue]]] = {}
    for part in parts:
        by_target.setdefault(part.target, []).extend(map(_as_asked, part.runs))
    for every in by_target.values():
        known = dict.fromkeys(name for options in every for name in options)
        names += [name for name in known if len({options.get(name) for options in every}) > 1]
    return list(dict.fromkeys(names))


def _as_asked(run: Run) -> Mapping[str, OptionValue]:
    """Not as the target's kind has changed them: two values that were asked for are two points."""
    return {**run.options, **run.asked}


def _key_of(run: Run, names: Iterable[str]) -> PointKey:
    return _key(_as_asked(run), names)


def _key(options: Mapping[str, OptionValue], names: Iterable[str]) -> PointKey:
    return tuple((name, options[name]) for name in names if name in options)


def _expected(part: Part, names: Sequence[str], first: Run | None) -> list[PointKey]:
    """The points that were ordered; none where that is not known. ``first`` is a run of the step, if there is any."""
    if part.options is None or not (part.is_whole or part.options.keys() >= set(names)):
        return []
    run = next(iter(part.runs), first)
    lists = [value if isinstance(value, list) else [value] for value in part.options.values()]
    every = (dict(zip(part.options, values, strict=True)) for values in itertools.product(*lists))
    return [_key(_as_run(options, run, is_whole=part.is_whole), names) for options in every]


def _as_run(options: Mapping[str, OptionValue], run: Run | None, *, is_whole: bool) -> Mapping[str, OptionValue]:
    """Options as the runs of the step have them, which may be another spelling than the one that was ordered."""
    if run is not None:
        with suppress(OptionError, LookupError, ValueError):
            return TOOLS[run.tool].check_options(options if is_whole else {**run.options, **options})
    return options
