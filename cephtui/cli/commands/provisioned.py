"""``cephtui provisioned``: whether volumes deliver the IOPS or bandwidth they promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import chosen_nodes, chosen_target
from cephtui.cli.options import Measuring
from cephtui.cli.prompts import connect
from cephtui.cli.work import Work, measure
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.nodes.transport import TransportError
from cephtui.ordering import plan_of
from cephtui.planning import new_batch
from cephtui.presets import Choice, Preset, choose, parse_overrides
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.studies.making import study_of_volumes
from cephtui.targets import TargetError, parse_target, with_data_pool
from cephtui.targets.base import Target, TargetFault
from cephtui.volumes import PRESET, Volume, VolumeStep, load_volumes, steps_of, volume_of

_OF_STEPS = ("rw", "rwmixread", "rwmixwrite", "bs", "numjobs")


@dataclass(frozen=True, slots=True)
class _Place:
    """A volume with its target, and the node that measures it."""

    volume: Volume
    target: Target
    node: Node


def measure_volumes(
    file: Path | None, volumes: tuple[str, ...], jobs: tuple[int, ...], repeat: int | None, options: Measuring
) -> int:
    """Measure each volume, and print what became of its promise; the exit code."""

    def work(runner: Runner, stack: ExitStack) -> Work:
        (preset,) = choose(find_catalogue(), [PRESET])
        overrides = preset.tool.canonical(parse_overrides(options.overrides))
        _check_options(overrides)
        named = [*(load_volumes(file) if file else ()), *map(volume_of, volumes)]
        places = [
            place if place.volume.is_promised else _with_limits(runner, place)
            for place in _places(named, options, stack)
        ]
        steps = _steps(places, preset, (1, *jobs), repeat or 1, overrides)
        study = study_of_volumes(preset, steps, manner=options.manner)
        for request in study.requests:
            plan_of(request)
        return Work(study)

    return measure(work, options)


def _check_options(options: Mapping[str, Choice]) -> None:
    """Raises UsageError for what each step has of its own."""
    if option := next((name for name in _OF_STEPS if name in options), None):
        hint = "--jobs sets the number of jobs" if option == "numjobs" else "the study measures reads, writes and both"
        raise click.UsageError(f"--set {option}: each step has its own, by what is promised: {hint}")


def _places(volumes: Sequence[Volume], options: Measuring, stack: ExitStack) -> list[_Place]:
    """Raises UsageError."""
    if not volumes:
        raise click.UsageError("name a FILE of volumes, or --volume TARGET=IOPS")
    nodes = {node.name: node for node in chosen_nodes(options.where)}
    places = [_place(volume, nodes, options.data_pool, stack) for volume in volumes]
    targets = [(place.node.name, place.target.spec) for place in places]
    if again := next((spec for spec in targets if targets.count(spec) > 1), None):
        raise click.UsageError(f"volume {again[1]} is given twice")
    return places


def _place(volume: Volume, nodes: Mapping[str, Node], data_pool: str | None, stack: ExitStack) -> _Place:
    name = volume.node or next(iter(nodes))
    if name not in nodes or (len(nodes) > 1 and not volume.node):
        raise click.UsageError(
            f"volume {volume.target} is measured from one node: name the node in the file, "
            f'node = "...", one of {", ".join(nodes)}'
        )
    node = nodes[name]
    target = chosen_target(volume.target, stack, [node], None, new_batch())
    return _Place(volume, with_data_pool(target, data_pool) if data_pool and target.creates_images else target, node)


def _with_limits(runner: Runner, place: _Place) -> _Place:
    """A place whose volume has the limits of its clients, or of another volume; raises NotRun and UsageError."""
    spec = place.volume.limits_of or place.target.spec
    (state,) = connect(runner, [place.node], place.target.pool)
    if state.problem:
        raise NotRun(state.problem)
    try:
        source = parse_target(spec) if place.volume.limits_of else place.target
        limits = runner.nodes.limits(state.node, source).result()
    except TargetError as error:
        raise click.UsageError(f"volume {place.volume.target}: limits_of: {error}") from None
    except (TransportError, TargetFault) as error:
        raise NotRun(str(error)) from None
    burst = max(limits.burst_seconds, place.volume.promised.burst_seconds)
    volume = replace(place.volume, promised=replace(limits, burst_seconds=burst))
    if not volume.is_promised:
        clients = f"the clients of {spec}" if place.volume.limits_of else "its clients"
        raise click.UsageError(
            f"{place.target.spec} has no promise, and no limit is set for {clients}: "
            f"--volume {place.target.spec}=IOPS, or iops = ... in the file"
        )
    return replace(place, volume=volume)


def _steps(
    places: Sequence[_Place], preset: Preset, jobs: Sequence[int], repeats: int, options: Mapping[str, Choice]
) -> list[tuple[VolumeStep, Target, Node]]:
    """The steps of all volumes."""
    return [
        (step, place.target, place.node)
        for place in places
        for number in dict.fromkeys(jobs)
        for step in steps_of(place.volume, preset, number, repeats, options)
    ]
