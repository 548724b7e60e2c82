"""The depth of a job as what a study varies: how it is set, how far it goes, and what it was in a run."""

from __future__ import annotations

from dataclasses import replace

from cephtui.analysis.sweep import DEPTH_MOST
from cephtui.models import Run
from cephtui.models.study import Cell
from cephtui.ordering import plan_of, points_of
from cephtui.planning import Request
from cephtui.tools.base import OptionError


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
    if points_of(at_depth(request, 1)) > 1:
        raise ValueError(f"takes one value of each other option, and {request.preset.name} is a sweep")


def _is_possible(request: Request) -> bool:
    try:
        plan_of(request)
    except OptionError:
        return False
    return True
