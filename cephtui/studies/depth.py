"""Studies that vary the depth of a job: how it is set, how far it goes, and what it was in a run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from cephtui.analysis.verdicts.sweep import DEPTH_MOST
from cephtui.models import Plan, Run
from cephtui.models.study import Cell
from cephtui.ordering import plan_of, steps_per_repeat
from cephtui.planning import Request
from cephtui.studies.base import G, Study, singly
from cephtui.studies.extent import Extent, bound_of_plans
from cephtui.tools.base import OptionError


class DepthStudy(Study[G]):
    """The depth of each preset on each target, one after the other."""

    least_runs: ClassVar[int] = 1
    """Of a preset on a target."""

    @abstractmethod
    def runs_most(self, depth: int) -> int:
        """How many runs a preset takes at most, up to this depth."""

    @cached_property
    def most(self) -> dict[str, int]:
        """The greatest depth of each preset on each target, by its batch."""
        return {request.batches[0]: depth_most(request) for request in singly(self.requests)}

    def drafts(self) -> list[Request]:
        requests = singly(self.requests)
        for request, cell in zip(requests, self.saved.cells, strict=True):
            check_depth(request, cell)
        return [at_depth(request, 1) for request in requests]

    def extent(self, plans: Sequence[Plan]) -> Extent:
        most = [self.runs_most(depth) for depth in self.most.values()]
        steps = [step for plan in plans for step in plan.steps]
        one = [step.likely_seconds - step.prepare_seconds for step in steps]
        prepared = sum(step.prepare_seconds for step in steps)
        longest = sum(number * seconds for number, seconds in zip(most, one, strict=True))
        least = self.least_runs
        shortest = prepared + least * sum(one)
        return Extent(least * len(steps), sum(most), shortest, prepared + longest, bound_of_plans(plans))


def at_depth(request: Request, depth: int) -> Request:
    """A request of one preset with this depth of a job."""
    return replace(request, overrides={**request.overrides, request.preset.tool.depth_option: depth})


def depth_of(request: Request, run: Run) -> int:
    """The depth of a job in a run of this request; 1 where the run has none."""
    value = run.options.get(request.preset.tool.depth_option, 1)
    return int(value) if isinstance(value, int | float) else 1


def depth_most(request: Request) -> int:
    """The greatest power of two that the tool and its target take, up to 256."""
    most = 1
    while most < DEPTH_MOST and _is_possible(at_depth(request, 2 * most)):
        most *= 2
    return most


def check_depth(request: Request, cell: Cell) -> None:
    """Raises ValueError where the depth of a request of one preset, that of a cell, can't be varied."""
    tool = request.preset.tool
    if not tool.depth_option:
        raise ValueError(f"{tool.title} has no depth ({request.preset.name})")
    if tool.depth_option in cell.options:
        raise ValueError(f"chooses the depths: leave out --set {tool.depth_option}")
    if steps_per_repeat(at_depth(request, 1)) > 1:
        raise ValueError(f"takes one value per option, but {request.preset.name} is a sweep")


def _is_possible(request: Request) -> bool:
    try:
        plan_of(request)
    except OptionError:
        return False
    return True
