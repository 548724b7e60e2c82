"""Curves: the figures of runs over what was varied between them, be it an option, the target, the nodes, or a mark."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from cephtui.analysis.batches import Estimate, Point, PointSummary, flow_names, group, node_names, summarize
from cephtui.analysis.marks import in_order
from cephtui.frozen import dataclass
from cephtui.models import Mark, OptionValue, Run
from cephtui.models.metrics import Metric
from cephtui.tools import TOOLS
from cephtui.units import parse_size

Role: TypeAlias = Literal["depth", "jobs", "direction", ""]
BEFORE = "before"
"""The place of runs before the first mark."""
_HOW_LONG = ("runtime", "ramp_time")
"""Options that do not change what is measured."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What was varied."""

    kind: Literal["option", "nodes", "target", "marks"]
    name: str = ""
    """Of an option."""
    role: Role = ""
    """What the option is to its tool, whatever it is called there."""

    @property
    def load(self) -> bool:
        """Whether it decides how many I/Os are in flight."""
        return self.role in ("depth", "jobs")

    @property
    def title(self) -> str:
        """``depth``, ``bs``, ``target``."""
        return self.role if self.load else self.name or self.kind


@dataclass(frozen=True, slots=True)
class Place:
    """Where runs are on an axis."""

    label: str
    number: float | None = None
    """Its value where it is a number; of a size the bytes."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The runs at one place, which repeat each other."""

    place: Place
    summary: PointSummary

    def estimate(self, flow: str, metric: Metric) -> Estimate | None:
        """Of all its runs together; None where none has the figure."""
        return self.summary.estimates.get(flow, {}).get(metric.name)


@dataclass(frozen=True, slots=True)
class Series:
    """Points that have all but their place on the axis in common."""

    name: str
    """What sets it apart from the others: ``bs 64k, rbd:ssd``; empty for the only one."""
    points: tuple[CurvePoint, ...]
    """In the order of the axis."""

    @property
    def flows(self) -> list[str]:
        """``read``, ``write``, then others."""
        return flow_names(run for point in self.points for run in point.summary.counted)


@dataclass(frozen=True, slots=True)
class Curve:
    """All figures over one axis."""

    axis: Axis
    places: tuple[Place, ...]
    """Numbers ascending; others in the order in which they were measured."""
    series: tuple[Series, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether every place is a number."""
        return all(place.number is not None for place in self.places)

    def name_of(self, series: Series, flow: str) -> str:
        """``bs 64k write``: with the flow where that sets anything apart."""
        return f"{series.name} {flow}".strip() if len(series.flows) > 1 else series.name or flow


_Places: TypeAlias = Mapping[Axis, Sequence[Place]]
"""Of each run, in their order, on each axis that varies."""


def family(run: Run, runs: Iterable[Run]) -> list[Run]:
    """The runs that belong on one curve with a run: of its preset, as far as they vary the same options.

    Runs that were ordered singly vary none: together they are a curve too, over what was changed between them.
    """
    kind = run.session, run.preset, run.tool
    alike = {other.run: other for other in (run, *runs) if (other.session, other.preset, other.tool) == kind}
    batches = group(alike.values())
    own = next(batch for batch in batches if any(other.run == run.run for other in batch.runs))
    found = [other for batch in batches if set(batch.axes) == set(own.axes) for other in batch.runs]
    return sorted(found, key=lambda other: other.run)


def axes(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> list[Axis]:
    """What varies between these runs: the depth first, then jobs, other options, nodes, targets and marks.

    Whether they read or write is none: these figures are apart anyway.
    """
    found = [axis for axis in _varying(runs, marks) if axis.role != "direction"]
    return sorted(found, key=lambda axis: ("depth", "jobs", "").index(axis.role))


def axes_or_depth(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> list[Axis]:
    """The same, and where nothing varies yet the depth; empty where the tool has none."""
    tool = TOOLS.get(runs[0].tool)
    depth = [_option(tool.depth_option, runs)] if tool and tool.depth_option in runs[0].options else []
    return axes(runs, marks) or depth


def curve_of(runs: Sequence[Run], axis: Axis, marks: Iterable[Mark] = ()) -> Curve:
    """These runs over one of their axes; what else varies sets series apart."""
    varying = _varying(runs, marks)
    here = varying.get(axis) or [_place(axis, run) for run in runs]
    others = {other: places for other, places in varying.items() if other != axis}
    found: dict[str, dict[Place, list[Run]]] = {}
    for number, run in enumerate(runs):
        name = ", ".join(_words(other, places[number]) for other, places in others.items())
        found.setdefault(name, {}).setdefault(here[number], []).append(run)
    places = _sorted(dict.fromkeys(here))
    series = tuple(
        Series(name, tuple(CurvePoint(place, _summary(at[place])) for place in places if place in at))
        for name, at in found.items()
    )
    return Curve(axis, tuple(places), series)


def _summary(runs: Sequence[Run]) -> PointSummary:
    return summarize(Point(runs[0].options, tuple(runs)))


def _sorted(places: Iterable[Place]) -> list[Place]:
    found = list(places)
    numbers = {place: place.number for place in found if place.number is not None}
    return sorted(found, key=lambda place: numbers[place]) if len(numbers) == len(found) else found


def _words(axis: Axis, place: Place) -> str:
    return f"{axis.title} {place.label}" if axis.kind == "option" and axis.role != "direction" else place.label


def _varying(runs: Sequence[Run], marks: Iterable[Mark]) -> dict[Axis, list[Place]]:
    """The axes on which the runs are not all at one place; how long they took is one only where it is the only one."""
    names = dict.fromkeys(name for run in runs for name in run.options)
    every = [_option(name, runs) for name in names] + [Axis("nodes"), Axis("target")]
    places = {axis: [_place(axis, run) for run in runs] for axis in every}
    varying = {axis: found for axis, found in places.items() if len(set(found)) > 1}
    found = {axis: found for axis, found in varying.items() if axis.name not in _HOW_LONG}
    if changed := _by_marks(runs, found, marks):
        found[Axis("marks")] = changed
    return found or varying


def _option(name: str, runs: Iterable[Run]) -> Axis:
    tool = next((TOOLS[run.tool] for run in runs if run.tool in TOOLS), None)
    if tool is None:
        return Axis("option", name)
    roles: dict[str, Role] = {tool.depth_option: "depth", tool.jobs_option: "jobs", tool.direction_option: "direction"}
    return Axis("option", name, roles.get(name, ""))


def _place(axis: Axis, run: Run) -> Place:
    """On any axis but that of the marks."""
    if axis.kind == "target":
        return Place(run.target)
    if axis.kind == "nodes":
        return Place(" ".join(node_names(run)))
    value = run.options.get(axis.name)
    return Place(_label(value), _number(value))


def _label(value: OptionValue | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else "default" if value is None else str(value)


def _number(value: OptionValue | None) -> float | None:
    """None for a text, a truth value, and a number that no figure can be drawn over."""
    if value is None or isinstance(value, bool):
        return None
    with suppress(ValueError, OverflowError):
        number = float(parse_size(value) if isinstance(value, str) else value)
        return number if math.isfinite(number) else None
    return None


def _by_marks(runs: Sequence[Run], varying: _Places, marks: Iterable[Mark]) -> list[Place] | None:
    """Behind which mark each run is; None where no point was measured on both sides of one.

    A mark that is set in the midst of a sweep is no reason to tear its curve apart.
    """
    ordered = sorted(runs, key=lambda run: run.run)
    place, at = Place(BEFORE), dict[int, Place]()
    for row in in_order(ordered, marks):
        if isinstance(row, Run):
            at[row.run] = place
        elif at:  # what was changed before the first run is not varied
            place = Place(_unused(row.text, at.values()))
    sides: dict[Hashable, set[Place]] = {}
    for number, run in enumerate(runs):
        sides.setdefault(tuple(places[number] for places in varying.values()), set()).add(at[run.run])
    return [at[run.run] for run in runs] if any(len(found) > 1 for found in sides.values()) else None


def _unused(text: str, places: Iterable[Place]) -> str:
    """The text of a mark, with a number where another one has the same."""
    labels, number, label = {place.label for place in places}, 1, text
    while label in labels:
        number += 1
        label = f"{text} ({number})"
    return label
