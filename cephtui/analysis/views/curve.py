"""Curves: the figures of runs over what was varied between them, be it an option, the target, the nodes, or a mark."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from cephtui import units
from cephtui.analysis.runs.batches import (
    Estimate,
    PointSummary,
    SweepPoint,
    all_options,
    flow_names,
    group,
    node_names,
    summarize,
)
from cephtui.analysis.runs.marks import made_during, runs_with_marks
from cephtui.frozen import dataclass
from cephtui.models import Mark, OptionValue, Run
from cephtui.models.metrics import Metric
from cephtui.tools import TOOLS
from cephtui.units import parse_size

Role: TypeAlias = Literal["depth", "jobs", "direction", ""]
BEFORE, DURING = "before", "during"
"""The place of runs before the first mark; how that of a run begins during which a mark was made."""
_ROLES: Sequence[Role] = ("depth", "jobs", "", "direction")
_HOW_LONG = ("runtime", "ramp_time")
"""Options that do not change what is measured."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A condition that was varied."""

    kind: Literal["option", "nodes", "target", "heading", "marks"]
    name: str = ""
    """The name of an option; empty for any other axis."""
    role: Role = ""
    """The role of the option for its tool, whatever it is called there."""

    @property
    def load(self) -> bool:
        """Whether it decides how many I/Os are in flight."""
        return self.role in ("depth", "jobs")

    @property
    def title(self) -> str:
        """``depth``, ``bs``, ``target``."""
        return self.role if self.load else self.name or self.kind


@dataclass(frozen=True, slots=True)
class AxisPlace:
    """A place on an axis."""

    label: str
    number: float | None = None
    """The value of the label where it is a number; of a size the bytes."""


UNKNOWN_PLACE = AxisPlace(units.DASH)
"""The place of an imported run on an axis of which its log says nothing."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The runs at one place, which repeat each other."""

    place: AxisPlace
    summary: PointSummary

    def estimate(self, flow: str, metric: Metric) -> Estimate | None:
        """The estimate of all its runs together; None where none has the figure."""
        return self.summary.estimates.get(flow, {}).get(metric.name)


@dataclass(frozen=True, slots=True)
class CurveSeries:
    """Points that have all but their place on the axis in common: a line of the curve."""

    name: str
    """The conditions that set it apart from the others: ``bs 64k, rbd:ssd``; empty for the only one."""
    points: tuple[CurvePoint, ...]
    """The points in the order of the axis."""

    @property
    def flows(self) -> list[str]:
        """``read``, ``write``, then others."""
        return flow_names(run for point in self.points for run in point.summary.counted)


@dataclass(frozen=True, slots=True)
class Curve:
    """All figures over one axis."""

    axis: Axis
    places: tuple[AxisPlace, ...]
    """Numbers ascending; others in the order in which they were measured."""
    series: tuple[CurveSeries, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether every place is a number."""
        return all(place.number is not None for place in self.places)

    def name_of(self, series: CurveSeries, flow: str) -> str:
        """``bs 64k write``: with the flow where that sets anything apart."""
        return f"{series.name} {flow}".strip() if len(series.flows) > 1 else series.name or flow


_Places: TypeAlias = Mapping[Axis, Sequence[AxisPlace]]
"""The places of the runs, in their order, on each axis that varies."""


def family(run: Run, runs: Iterable[Run]) -> list[Run]:
    """The runs that belong on one curve with a run: of its preset, as far as they vary the same options.

    Runs that were ordered singly vary none: together they are a curve too, over what was changed between them. Of
    imported ones nobody knows what was ordered: those that differ in one thing alone, which is known of all of them.
    """
    candidates = {other.run: other for other in (run, *runs) if _kind(other) == _kind(run)}
    if run.imported_from:
        return _imported_family(run, list(candidates.values()))
    batches = group(candidates.values())
    batch_of_run = next(batch for batch in batches if any(other.run == run.run for other in batch.runs))
    members = [other for batch in batches if set(batch.axes) == set(batch_of_run.axes) for other in batch.runs]
    return sorted(members, key=lambda other: other.run)


def _kind(run: Run) -> Hashable:
    return run.session, run.preset, run.tool, run.imported_from is not None


def _imported_family(run: Run, runs: Sequence[Run]) -> list[Run]:
    """The imported runs that differ from a run in one thing alone; the run itself where there are none."""
    names = [name for name in all_options(run) if name not in _HOW_LONG]
    for axis in _by_role([*(_option(name, runs) for name in names), Axis("target"), Axis("nodes"), Axis("heading")]):
        members = [other for other in runs if other.run == run.run or _differs_in(axis, run, other)]
        if axis.role != "direction" and varying_axes(members) == [axis]:
            return sorted(members, key=lambda other: other.run)
    return [run]


def _differs_in(axis: Axis, run: Run, other: Run) -> bool:
    """Whether two imported runs may differ on an axis, and in nothing else that is known of one of them."""
    facts, other_facts = _facts(run), _facts(other)
    if axis.kind == "heading":  # another heading is another part of the document
        facts, other_facts = {**facts, "part": ""}, {**other_facts, "part": ""}
    places = _place(axis, run), _place(axis, other)
    key = f"option {axis.name}" if axis.kind == "option" else axis.kind
    return UNKNOWN_PLACE not in places and {**facts, key: ""} == {**other_facts, key: ""}


def _facts(run: Run) -> dict[str, OptionValue]:
    """The facts of an imported run, with the part of the document that it stands in."""
    options = {f"option {name}": value for name, value in all_options(run).items()}
    nodes, heading = " ".join(node_names(run)), run.heading or ""
    # the same heading in a file is the same part of what the document is about
    part = f"{(run.imported_from or '').rpartition(':')[0]}: {heading}" if heading else run.batch
    return {**options, "target": run.target, "nodes": nodes, "heading": heading, "part": part}


def varying_axes(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> list[Axis]:
    """The axes that vary between these runs: the depth first, then jobs, other options, nodes, targets and marks.

    Whether they read or write is none: these figures are apart anyway. Of imported runs, whose plan is not known, it is
    one thing or none.
    """
    varying = _varying(runs, marks)
    if any(run.imported_from for run in runs) and not _is_plain(runs, varying):
        return []
    return _by_role(axis for axis in varying if axis.role != "direction")


def _is_plain(runs: Sequence[Run], varying: _Places) -> bool:
    """Whether imported runs differ in one thing that is known of all, and those at one place repeat each other."""
    if len(varying) != 1:
        return False
    (places,) = varying.values()
    parts = {(place, run.batch) for place, run in zip(places, runs, strict=True)}
    return UNKNOWN_PLACE not in places and len(parts) == len(set(places))


def _by_role(varied: Iterable[Axis]) -> list[Axis]:
    return sorted(varied, key=lambda axis: _ROLES.index(axis.role))


def axes_or_depth(runs: Sequence[Run], marks: Iterable[Mark] = ()) -> list[Axis]:
    """The axes that vary between these runs, else the depth; none for imported runs, or a tool without a depth."""
    if runs[0].imported_from:
        return varying_axes(runs, marks)
    tool = TOOLS.get(runs[0].tool)
    depth = [_option(tool.depth_option, runs)] if tool and tool.depth_option in runs[0].options else []
    return varying_axes(runs, marks) or depth


def curve_of(runs: Sequence[Run], axis: Axis, marks: Iterable[Mark] = ()) -> Curve:
    """These runs over one of their axes; what else varies sets series apart."""
    varying = _varying(runs, marks)
    here = varying.get(axis) or [_place(axis, run) for run in runs]
    other_axes = {other: places for other, places in varying.items() if other != axis}
    runs_by_name: dict[str, dict[AxisPlace, list[Run]]] = {}
    for number, run in enumerate(runs):
        name = ", ".join(_words(other, places[number]) for other, places in other_axes.items())
        runs_by_name.setdefault(name, {}).setdefault(here[number], []).append(run)
    places = _sorted(dict.fromkeys(here))
    series = tuple(
        CurveSeries(name, tuple(CurvePoint(place, _summary(at[place])) for place in places if place in at))
        for name, at in runs_by_name.items()
    )
    return Curve(axis, tuple(places), series)


def _summary(runs: Sequence[Run]) -> PointSummary:
    return summarize(SweepPoint(runs[0].options, tuple(runs)))


def _sorted(places: Iterable[AxisPlace]) -> list[AxisPlace]:
    in_order = list(places)
    numbers = {place: place.number for place in in_order if place.number is not None}
    return sorted(in_order, key=lambda place: numbers[place]) if len(numbers) == len(in_order) else in_order


def _words(axis: Axis, place: AxisPlace) -> str:
    return f"{axis.title} {place.label}" if axis.kind == "option" and axis.role != "direction" else place.label


def _varying(runs: Sequence[Run], marks: Iterable[Mark]) -> dict[Axis, list[AxisPlace]]:
    """The axes on which the runs are not all at one place; how long they took is one only where it is the only one."""
    names = dict.fromkeys(name for run in runs for name in all_options(run))
    candidates = [_option(name, runs) for name in names] + [Axis("nodes"), Axis("target"), Axis("heading")]
    by_axis = {axis: [_place(axis, run) for run in runs] for axis in candidates}
    varying = {axis: places for axis, places in by_axis.items() if len(set(places)) > 1}
    without_lengths = {axis: places for axis, places in varying.items() if axis.name not in _HOW_LONG}
    if changed := _by_marks(runs, without_lengths, marks):
        without_lengths[Axis("marks")] = changed
    return without_lengths or varying


def _option(name: str, runs: Iterable[Run]) -> Axis:
    tool = next((TOOLS[run.tool] for run in runs if run.tool in TOOLS), None)
    if tool is None:
        return Axis("option", name)
    roles: dict[str, Role] = {tool.depth_option: "depth", tool.jobs_option: "jobs", tool.direction_option: "direction"}
    return Axis("option", name, roles.get(name, ""))


def _place(axis: Axis, run: Run) -> AxisPlace:
    """The place of a run on any axis but that of the marks."""
    if axis.kind == "target":
        return AxisPlace(run.target)
    if axis.kind == "nodes":
        return AxisPlace(" ".join(node_names(run)))
    if axis.kind == "heading":
        return AxisPlace(run.heading or units.DASH)
    value = all_options(run).get(axis.name)
    if value is None and run.imported_from and not run.has_all_options:
        return UNKNOWN_PLACE
    return AxisPlace(_label(value), _number(value))


def _label(value: OptionValue | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else "default" if value is None else str(value)


def _number(value: OptionValue | None) -> float | None:
    """The number of a value; None for a text, a truth value, and a number that no figure can be drawn over."""
    if value is None or isinstance(value, bool):
        return None
    with suppress(ValueError, OverflowError):
        number = float(parse_size(value) if isinstance(value, str) else value)
        return number if math.isfinite(number) else None
    return None


def _by_marks(runs: Sequence[Run], varying: _Places, marks: Iterable[Mark]) -> list[AxisPlace] | None:
    """The place of each run behind a mark; None where no point was measured on both sides of one.

    A mark that is set in the midst of a sweep is no reason to tear its curve apart.
    """
    ordered, marks = sorted(runs, key=lambda run: run.run), list(marks)
    place, at = AxisPlace(BEFORE), dict[int, AxisPlace]()
    for row in runs_with_marks(ordered, marks):
        if isinstance(row, Run):
            at[row.run] = _during(row, marks, at.values()) or place
        elif at:  # what was changed before the first run is not varied
            place = AxisPlace(_unused(row.text, at.values()))
    sides: dict[Hashable, set[AxisPlace]] = {}
    for number, run in enumerate(runs):
        sides.setdefault(tuple(places[number] for places in varying.values()), set()).add(at[run.run])
    return [at[run.run] for run in runs] if any(len(places) > 1 for places in sides.values()) else None


def _during(run: Run, marks: Iterable[Mark], places: Iterable[AxisPlace]) -> AxisPlace | None:
    """The place of a run that is neither before a change nor after it, else None."""
    texts = [mark.text for mark in made_during(run, marks)]
    return AxisPlace(_unused(f"{DURING} {', '.join(texts)}", places)) if texts else None


def _unused(text: str, places: Iterable[AxisPlace]) -> str:
    """The text of a mark, with a number where another one has the same."""
    labels, number, label = {place.label for place in places}, 1, text
    while label in labels:
        number += 1
        label = f"{text} ({number})"
    return label
