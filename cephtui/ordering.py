"""An order as a whole: steps x targets x nodes -> cells -> requests -> slices in their order -> what is left.

A slice is a request with the steps at which it begins and ends: some of the runs of a cell, up to another one's turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cephtui.frozen import dataclass
from cephtui.models import MeasuredVolume, Node, Plan
from cephtui.models.study import Cell, SavedStudy
from cephtui.planning import Order, Prefilled, Request, make_plan, new_batch, ordered
from cephtui.presets import Preset, combinations
from cephtui.suites import SuiteStep
from cephtui.targets.base import Target
from cephtui.tools.base import OptionError
from cephtui.volumes import VolumeStep

Groups = Sequence[Sequence[Target]]
"""Targets by kind: a step takes the first group that it can use, and is run on each of its targets."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A step with the targets that it is run on."""

    step: SuiteStep
    targets: tuple[Target, ...]


def by_kind(values: Iterable[Sequence[Target]]) -> list[list[Target]]:
    """Targets in groups: those of a value, and of others that begin with the same scheme."""
    groups: dict[str, list[Target]] = {}
    for targets in values:
        groups.setdefault(_scheme(targets[0]), []).extend(targets)
    return list(groups.values())


def _scheme(target: Target) -> str:
    return target.spec.partition(":")[0]


def place(
    steps: Sequence[SuiteStep], groups: Groups, *, all_are_optional: bool = False
) -> tuple[list[Placed], list[str]]:
    """Each step on the first group of targets that it can use, and those that are left out, with the reason.

    Only optional steps are left out, unless ``all_are_optional``. Raises OptionError where another one has no target,
    and for a target that no step uses.
    """
    placed: list[Placed] = []
    refused: dict[str, list[str]] = {}
    left_out: dict[str, list[str]] = {}
    for step in steps:
        targets = next((usable for group in groups if (usable := usable_targets(step, group))), None)
        if targets:
            placed.append(Placed(step, targets))
        else:
            reasons = left_out if step.optional or step.own_data or all_are_optional else refused
            reasons.setdefault(_why_not(step, groups[0][0]), []).append(step.title)
    if refused or not placed:
        raise OptionError("target", "; ".join(_with_titles(refused or left_out, len(steps))))
    _check_used(placed, groups)
    return placed, _with_titles(left_out, len(steps))


def _with_titles(reasons: Mapping[str, Sequence[str]], steps: int) -> list[str]:
    """Each reason behind the titles of its steps, unless there is only one step."""
    return [f"{', '.join(dict.fromkeys(titles))}: {text}" if steps > 1 else text for text, titles in reasons.items()]


def usable_targets(step: SuiteStep, group: Iterable[Target]) -> tuple[Target, ...]:
    """The targets of a group that a step can use."""
    return tuple(
        target
        for target in group
        if target.check_tool(step.preset.tool) is None
        and (not step.schemes or _scheme(target.for_tool(step.preset.tool)) in step.schemes)
        and (target.is_managed or not step.own_data)
    )


def _why_not(step: SuiteStep, target: Target) -> str:
    """Why a step can't use a target, with the next step."""
    if problem := target.check_tool(step.preset.tool):
        return problem
    if step.own_data and not target.is_managed:
        return f"{target.spec} is not one that cephtui creates and removes"
    return f"it is for other targets: add --target {' or '.join(f'{scheme}:...' for scheme in step.schemes)}"


def _check_used(placed: Sequence[Placed], groups: Groups) -> None:
    used = {target.spec for placed_step in placed for target in placed_step.targets}
    for target in (target for group in groups for target in group if target.spec not in used):
        specs = [placed_step.targets[0].spec for placed_step in placed if usable_targets(placed_step.step, [target])]
        before = specs[0] if specs else placed[0].targets[0].spec
        raise OptionError("target", f"no step runs on {target.spec}: for a run on both, write {before},{target.spec}")


def once(steps: Sequence[SuiteStep]) -> list[SuiteStep]:
    """The steps for a single node: one that is run on all nodes is left out where it is also run on each."""
    return [step for step in steps if step.each_node or replace(step, each_node=True) not in steps]


def cells_of(placed: Sequence[Placed], nodes: Sequence[str]) -> tuple[Cell, ...]:
    """A cell for each step, target and set of nodes: all of the first target of each step, then of the second.

    Links are measured one after the other, whatever comes next.
    Raises OptionError where no node is left for any of them.
    """
    most = max(len(placed_step.targets) for placed_step in placed)
    all_cells = tuple(
        _cell(placed_step.step, target, names)
        for number in range(most)
        for placed_step in placed
        for target in _at(placed_step, number)
        for names in _node_sets(placed_step.step, target, nodes)
    )
    if not all_cells:
        raise OptionError("target", f"{placed[0].targets[0].spec} is the only node: choose another one to measure from")
    return all_cells


def _at(placed: Placed, number: int) -> tuple[Target, ...]:
    if placed.step.preset.tool.measures_network:
        return () if number else placed.targets
    return placed.targets[number : number + 1]


def _node_sets(step: SuiteStep, target: Target, nodes: Sequence[str]) -> list[tuple[str, ...]]:
    node_sets = target.measured_from(nodes)
    return [(name,) for names in node_sets for name in names] if step.each_node else node_sets


def _cell(step: SuiteStep, target: Target, nodes: tuple[str, ...]) -> Cell:
    return Cell(
        step=step.title,
        preset=step.preset.name,
        options=dict(step.options),
        of_preset=dict(step.preset.file.options),
        target=target.spec,
        data_pool=target.data_pool,
        nodes=nodes,
        repeats=step.repeats,
        batch=new_batch(),
        expect=step.expect,
        optional=step.optional,
    )


def volume_cell(step: VolumeStep, target: Target, node: str) -> Cell:
    """A measurement of a volume, from one node; raises OptionError."""
    placed, _ = place([step.step], [[target]])
    (cell,) = cells_of(placed, [node])
    volume = MeasuredVolume(name=step.volume.title, device_class=step.volume.device_class, part=step.part)
    return cell.model_copy(update={"volume": volume})


def requests_of(
    study: SavedStudy, presets: Mapping[str, Preset], targets: Mapping[str, Target], nodes: Mapping[str, Node]
) -> list[Request]:
    """A request for each cell, with presets, targets and nodes by their names.

    Presets that were named for one target and the same nodes are one request: they have one plan.
    """
    promises = study.promises
    by_cell = [_request(cell, study.order, presets, targets, nodes) for cell in study.cells]
    by_cell = [replace(request, promises=promises) for request in by_cell]
    if study.suite or len({(cell.target, cell.nodes, cell.repeats) for cell in study.cells}) > 1:
        return by_cell
    if any(cell.options != study.cells[0].options for cell in study.cells):
        by_cell = [_with_own_options(request) for request in by_cell]
    request = replace(
        by_cell[0],
        presets=tuple(request.preset for request in by_cell),
        batches=tuple(cell.batch for cell in study.cells),
        order=study.order,
    )
    return [request]


def _request(
    cell: Cell,
    order: Order | None,
    presets: Mapping[str, Preset],
    targets: Mapping[str, Target],
    nodes: Mapping[str, Node],
) -> Request:
    preset = presets[cell.preset]
    if cell.of_preset:
        preset = replace(preset, file=preset.file.model_copy(update={"options": cell.of_preset}))
    is_sweep = len(combinations(preset.tool, {**preset.file.options, **cell.options})) > 1
    return Request(
        (preset,),
        tuple(nodes[name] for name in cell.nodes),
        targets[cell.target],
        cell.options,
        cell.repeats,
        order=order if is_sweep else None,
        batches=(cell.batch,),
    )


def _with_own_options(request: Request) -> Request:
    """A request with its options in the preset, where a request of several presets can't have them for all."""
    options = {**request.preset.file.options, **request.overrides}
    preset = replace(request.preset, file=request.preset.file.model_copy(update={"options": options}))
    return replace(request, presets=(preset,), overrides={})


def in_slices(requests: Sequence[Request], order: Order | None) -> list[Request]:
    """The requests in the order in which they are carried out, each in as many slices as it has turns."""
    if order is None or len(requests) < 2:
        return list(requests)
    slices: list[tuple[int, Request]] = []
    for repeat in range(max(request.repeats for request in requests)):
        turn = [number for number, request in enumerate(requests) if repeat < request.repeats]
        for number in turn[::-1] if order == "abba" and repeat % 2 else turn:
            points = steps_per_repeat(requests[number])
            begun, until = repeat * points, (repeat + 1) * points
            if slices and slices[-1][0] == number:  # it has two turns in a row
                begun = slices.pop()[1].begun
            slices.append((number, replace(requests[number], begun=begun, until=until)))
    return [request for _, request in slices]


def steps_per_repeat(request: Request) -> int:
    """How many steps each repeat of a request has."""
    return sum(len(combinations(p.tool, {**p.file.options, **request.overrides})) for p in request.presets)


def plan_of(request: Request, prefilled: Prefilled | None = None) -> Plan:
    """The plan of a request under its own batches; raises OptionError."""
    return make_plan(request, iter(request.batches).__next__, prefilled)


def plans_of(slices: Iterable[Request], prefilled: Prefilled | None = None) -> list[Plan]:
    """The plans of slices, as they follow each other: what one has prefilled stays for the next."""
    filled: dict[tuple[str, str], int] = {**(prefilled or {})}
    plans = []
    for request in slices:
        plan = plan_of(request, filled)
        plans.append(plan)
        if request.target.persists_between_steps:
            filled.update({(n.node, part.spec): part.bytes for s in plan.steps for n in s.nodes for part in n.fill})
    return plans


def batches_of_steps(request: Request) -> list[str]:
    """The batch of each step of a whole request, in the order of its plan; raises OptionError."""
    points = [
        [batch] * len(combinations(preset.tool, {**preset.file.options, **preset.tool.canonical(request.overrides)}))
        for preset, batch in zip(request.presets, request.batches, strict=True)
    ]
    return [batch for _, batch in ordered(points, request.repeats, request.order)]


def without_steps(request: Request, numbers: Collection[int], steps: int) -> list[Request]:
    """A slice without the steps of these numbers, in as many slices as that takes.

    ``steps`` is how many the whole request has.
    """
    slices: list[Request] = []
    for number in range(request.begun + 1, (request.until or steps) + 1):
        if number in numbers:
            continue
        if slices and slices[-1].until == number - 1:
            slices[-1] = replace(slices[-1], until=number)
        else:
            slices.append(replace(request, begun=number - 1, until=number))
    return slices
