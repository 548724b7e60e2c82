"""``cephtui provisioned``: whether volumes reach the IOPS or the bandwidth that is promised of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui import paths
from cephtui.analysis.batches import name_of
from cephtui.analysis.expectation import answer_to
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, find_catalogue
from cephtui.cli.commands.run import check_all, show_plans, surveyed_work
from cephtui.cli.errors import Refused
from cephtui.cli.expecting import CODES, read_expected
from cephtui.cli.options import Where
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import connect
from cephtui.cli.series import run_in_order
from cephtui.cli.work import Work, consents
from cephtui.exit_codes import WORST
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.expectation import Expected
from cephtui.models.suite import Ordered
from cephtui.nodes.transport import TransportError
from cephtui.ordering import Placed, cells, plan_of, requests_of
from cephtui.planning import new_batch
from cephtui.presets import Choice, Preset, PresetError, choose, combinations, parse_overrides
from cephtui.reports.provisioned import Row, draw_provisioned
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.targets import TargetError, parse_target
from cephtui.targets.base import Target, TargetFault
from cephtui.terminal import say
from cephtui.tools.base import OptionError
from cephtui.volumes import PRESET, Volume, VolumeStep, load_volumes, steps_of, volume_of


@dataclass(frozen=True, slots=True)
class _Place:
    """A volume with its target, and the node that measures it."""

    volume: Volume
    target: Target
    node: Node


def measure_volumes(
    file: Path | None,
    volumes: tuple[str, ...],
    where: Where,
    jobs: tuple[int, ...],
    overrides: tuple[str, ...],
    repeat: int | None,
    session: str | None,
    destroy: tuple[str, ...],
    shared_pool: bool,
    drop_caches: bool,
    stall_timeout: float,
    as_json: bool,
    dry_run: bool,
) -> int:
    """Measure each volume, and print what became of its promise; the exit code."""
    check_session_name(session)
    with ExitStack() as stack:
        try:
            (preset,) = choose(find_catalogue(), [PRESET])
            named = [*(load_volumes(file) if file else ()), *map(volume_of, volumes)]
            places = _places(named, chosen_nodes(where), jobs, stack)
            runner = stack.enter_context(Runner(paths.sessions_dir(), session, stall_seconds=stall_timeout))
            places = [each if each.volume.is_promised else _with_limits(runner, each) for each in places]
            work, steps = _work(places, preset, (1, *jobs), repeat or 1, parse_overrides(overrides))
            work = replace(work, ordered=work.ordered.model_copy(update={"drop_caches": drop_caches}))
            agreed = consents(where, destroy, shared_pool=shared_pool, drop_caches=drop_caches)
            work = surveyed_work(runner, work, agreed)
            if dry_run:
                return show_plans(runner, work, None, as_json)
            check_all(runner, work)
            code = run_in_order(runner, work.slices, work.ordered, as_json)
            return max(code, _conclude(runner.directory, steps, work, as_json), key=WORST.index)
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _places(volumes: Sequence[Volume], nodes: Sequence[Node], jobs: Sequence[int], stack: ExitStack) -> list[_Place]:
    """Raises UsageError."""
    if not volumes:
        raise click.UsageError("name a FILE of volumes, or --volume TARGET=IOPS")
    places = [_place(volume, {node.name: node for node in nodes}, stack) for volume in volumes]
    targets = [(each.node.name, each.target.spec) for each in places]
    if again := next((spec for spec in targets if targets.count(spec) > 1), None):
        raise click.UsageError(f"volume {again[1]} is given twice")
    several = next((each.target.spec for each in places if each.target.creates_images), None)
    if jobs and several:
        raise click.UsageError(
            f"--jobs: on {several} each job has an image of its own with its own limit: name one as rbd:POOL/IMAGE"
        )
    return places


def _place(volume: Volume, nodes: Mapping[str, Node], stack: ExitStack) -> _Place:
    name = volume.node or next(iter(nodes))
    if name not in nodes or (len(nodes) > 1 and not volume.node):
        raise click.UsageError(
            f"volume {volume.target}: it is measured from one node: name it in the file, "
            f'node = "...", one of {", ".join(nodes)}'
        )
    node = nodes[name]
    return _Place(volume, chosen_target(volume.target, stack, [node], None, new_batch()), node)


def _with_limits(runner: Runner, place: _Place) -> _Place:
    """With what is set for the clients of the volume, or of another one; raises NotRun and UsageError."""
    spec = place.volume.limits_of or place.target.spec
    (state,) = connect(runner, [place.node], place.target.pool)
    if state.problem:
        raise NotRun(state.problem)
    try:
        source = parse_target(spec) if place.volume.limits_of else place.target
        found = runner.nodes.limits(state.node, source).result()
    except TargetError as error:
        raise click.UsageError(f"volume {place.volume.target}: limits_of: {error}") from None
    except (TransportError, TargetFault) as error:
        raise NotRun(str(error)) from None
    burst = max(found.burst_seconds, place.volume.promised.burst_seconds)
    volume = replace(place.volume, promised=replace(found, burst_seconds=burst))
    if not volume.is_promised:
        clients = f"the clients of {spec}" if place.volume.limits_of else "its clients"
        raise click.UsageError(
            f"nothing is promised of {place.target.spec}, and no limit is set for {clients}: "
            f"--volume {place.target.spec}=IOPS, or iops = ... in the file"
        )
    return replace(place, volume=volume)


def _work(
    places: Sequence[_Place], preset: Preset, jobs: Sequence[int], repeats: int, options: Mapping[str, Choice]
) -> tuple[Work, dict[str, VolumeStep]]:
    """The steps of all volumes, and by the batch of its cell each step; raises OptionError."""
    every = [
        (each, step)
        for each in places
        for number in dict.fromkeys(jobs)
        for step in steps_of(each.volume, preset, number, repeats, preset.tool.canonical(options))
    ]
    found = [cells([Placed(step.step, (each.target,))], [each.node.name])[0] for each, step in every]
    ordered = Ordered(at=datetime.now(UTC), suite=PRESET, title=preset.file.title, cells=tuple(found))
    targets, nodes = {p.target.spec: p.target for p in places}, {p.node.name: p.node for p in places}
    work = Work(ordered, tuple(requests_of(ordered, {preset.name: preset}, targets, nodes)))
    for request in work.requests:
        plan_of(request)
    return work, {cell.batch: step for cell, (_, step) in zip(found, every, strict=True)}


def _conclude(directory: Path | None, steps: Mapping[str, VolumeStep], work: Work, as_json: bool) -> int:
    """Print what became of each promise; the exit code, 0 where nothing was measured."""
    if directory is None:
        return 0
    runs, by_batch = read_expected(directory, work.ordered.cells)
    found = [each for every in by_batch.values() for each in every]
    if as_json:
        print_lines(found)
        sys.stdout.flush()
    elif found:
        print_report(draw_provisioned(_rows(steps, by_batch), {name_of(run): run for run in runs}))
    if missing := len(steps) - len(by_batch):
        say(f"{missing} of {len(steps)} steps were not measured")
    return CODES[answer_to(found)] if found else 0


def _rows(steps: Mapping[str, VolumeStep], found: Mapping[str, Sequence[Expected]]) -> list[Row]:
    """One for each volume, block size and number of jobs."""
    parts: dict[tuple[str, str, str, int], dict[str, Expected]] = {}
    rows: dict[tuple[str, str, str, int], VolumeStep] = {}
    for batch, step in steps.items():
        key = step.volume.target, step.volume.node, step.block, step.jobs
        rows.setdefault(key, step)
        own = parts.setdefault(key, {})
        if batch in found:
            own[step.part] = found[batch][-1]
    return [Row(step.volume.title, step.volume.device_class, _depth(step), parts[key]) for key, step in rows.items()]


def _depth(step: VolumeStep) -> str:
    """As it runs: ``64 x 8 jobs``; on one image ``512 in one job``."""
    preset = step.step.preset
    kind = parse_target(step.volume.target).for_tool(preset.tool).kind
    options = combinations(preset.tool, {**preset.file.options, **step.step.options})
    loads = [preset.tool.bind(each).fit(kind).load() for each in options]
    depth, jobs = ",".join(dict.fromkeys(str(load.depth) for load in loads)), loads[0].jobs
    return f"{depth} x {jobs} jobs" if jobs > 1 else f"{depth} in one job" if step.jobs > 1 else depth
