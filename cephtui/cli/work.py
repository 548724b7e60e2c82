"""What ``cephtui run`` is to carry out: presets or a suite as they are named, or what a session has left of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cephtui.cli.choice import chosen_nodes, chosen_target, chosen_targets, each_of, find_all_suites, find_catalogue
from cephtui.cli.errors import Refused
from cephtui.cli.options import Where
from cephtui.cli.saved import find_session
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.suite import Cell, Ordered
from cephtui.ordering import by_kind, cells, in_slices, left_of, once, place, requests_of
from cephtui.planning import Order, Request, new_batch
from cephtui.presets import Catalogue, Choice, Preset, choose
from cephtui.sessions import store
from cephtui.sessions.names import check_writable
from cephtui.sessions.undo import pending
from cephtui.suites import Suite, SuiteStep, choose_suite, shared_options
from cephtui.targets import Target, usual_target
from cephtui.targets.scratch import is_scratch


@dataclass(frozen=True, slots=True)
class Work:
    """What is ordered, and which of its runs are there already."""

    ordered: Ordered
    requests: tuple[Request, ...]
    done: frozenset[tuple[str, int | None]] = frozenset()
    """Batch and number of each step that needs no further run."""
    notes: tuple[str, ...] = ()
    """What the user has to know of it beforehand."""

    @property
    def slices(self) -> list[Request]:
        """What is left of it, in its order."""
        slices = in_slices(self.requests, self.ordered.order)
        return left_of(slices, self.done) if self.done else slices

    @property
    def left(self) -> list[Request]:
        """The requests of which something is left."""
        batches = {each.batches for each in self.slices}
        return [request for request in self.requests if request.batches in batches]


def new_work(
    names: Sequence[str],
    where: Where,
    targets: Sequence[str],
    data_pool: str | None,
    given: Mapping[str, Choice],
    repeat: int | None,
    order: Order | None,
    expect: tuple[str, ...],
    stack: ExitStack,
) -> Work:
    """Presets, or a suite, as the options say; raises PresetError, OptionError and UsageError."""
    nodes, catalogue = chosen_nodes(where), find_catalogue()
    suite = _suite(names, catalogue)
    steps = list(suite.steps) if suite else [SuiteStep(p, p.name, {}) for p in choose(catalogue, names)]
    if suite and expect:
        raise click.UsageError(
            f"--expect is for presets: the steps of suite {suite.name} have their own: expect = [...]"
        )
    steps = _with(steps, given, repeat)
    steps = [replace(step, expect=(*step.expect, *expect)) for step in steps]
    if suite and not targets:
        _check_local(suite, nodes)
    usual = usual_target({kind for step in steps for kind in step.preset.tool.kinds})
    targets = targets or tuple(filter(None, [usual]))
    notes = []
    if len(nodes) < 2 and len(once(steps)) < len(steps):
        notes, steps = ["one node: what is run on each node is not run on all of them again"], once(steps)
    placed, left_out = place(steps, by_kind(chosen_targets(targets, stack, nodes, data_pool, where)))
    ordered = Ordered(
        at=datetime.now(UTC),
        suite=suite.name if suite else "",
        title=suite.file.title if suite else "",
        order=order or (suite.file.order if suite else None),
        cells=cells(placed, [node.name for node in nodes]),
    )
    presets = {step.preset.name: step.preset for step in steps}
    every = {target.spec: target for each in placed for target in each.targets}
    requests = requests_of(ordered, presets, every, {node.name: node for node in nodes})
    return Work(ordered, tuple(requests), notes=(*notes, *(f"left out: {text}" for text in left_out)))


def _suite(names: Sequence[str], catalogue: Catalogue) -> Suite | None:
    """The suite that is named; None for presets. Raises PresetError and UsageError."""
    if all(name in catalogue for name in names):
        return None
    suites = find_all_suites(catalogue)
    found = [suite for name in names if (suite := choose_suite(suites, catalogue, name))]
    if len(names) > 1:
        raise click.UsageError(f"a suite is run alone: cephtui run {found[0].name}")
    return found[0]


def _with(steps: Sequence[SuiteStep], given: Mapping[str, Choice], repeat: int | None) -> list[SuiteStep]:
    """The steps with what --set and --repeat say."""
    shared = shared_options([step.preset for step in steps], given)
    return [
        replace(step, options={**step.options, **options}, repeats=repeat or step.repeats)
        for step, options in zip(steps, shared, strict=True)
    ]


def _check_local(suite: Suite, nodes: Sequence[Node]) -> None:
    """Raises UsageError where there can't be a scratch file, with the targets that the suite needs."""
    remote = next((node.name for node in nodes if node.host is not None), None)
    if remote is None:
        return
    wanted: dict[str, list[str]] = {}
    for step in suite.steps:
        kinds = " or ".join(f"{scheme}:..." for scheme in step.schemes) or step.preset.tool.wants
        wanted.setdefault(kinds, []).append(step.title)
    texts = [f"{kinds} for {', '.join(dict.fromkeys(titles))}" for kinds, titles in wanted.items()]
    raise click.UsageError(f"--target is missing: {suite.name} needs {'; '.join(texts)}")


def saved_work(name: str, where: Where, stack: ExitStack) -> tuple[str, Work]:
    """The name of a session, and what was ordered in it; raises PresetError, OptionError, StoreError and UsageError."""
    directory = find_session(name)
    check_writable(directory)
    ordered = store.read_ordered(directory)
    if ordered is None or not ordered.cells:
        raise click.UsageError(
            f"session {directory.name} has nothing to resume: cephtui run PRESET --session {directory.name} adds to it"
        )
    if store.is_locked(directory):
        raise Refused(f"session {directory.name} is being measured by another cephtui: stop that first, or wait for it")
    runs, _ = store.read_runs(directory)
    done = frozenset((run.batch, run.step) for run in runs if run.outcome == "ok")
    presets = {preset.name: preset for preset in choose(find_catalogue(), [cell.preset for cell in ordered.cells])}
    nodes = _nodes(ordered, where)
    targets = {cell.target: cell for cell in ordered.cells}
    found = {spec: _target(cell, nodes, where, stack) for spec, cell in targets.items()}
    requests = requests_of(ordered, presets, found, nodes)
    notes = (*_changed(ordered, presets), *_left_behind(directory))
    return directory.name, Work(ordered, tuple(requests), done, notes)


def consents(where: Where, destroy: tuple[str, ...], *, shared_pool: bool, drop_caches: bool) -> Mapping[str, Any]:
    """What a request has of the options that allow something, and of the node that asks the cluster."""
    return {"destroy": destroy, "shared_pool": shared_pool, "ceph_node": where.ceph_node,
            "drop_caches": drop_caches, "drop_agreed": drop_caches}  # fmt: skip


def check_caches(before: bool, now: bool) -> None:
    """Raises UsageError where runs that belong together would differ in whether caches are dropped before them."""
    if before and not now:
        raise click.UsageError("caches were dropped before the runs so far: give --drop-caches again")
    if now and not before:
        raise click.UsageError("caches were not dropped before the runs so far: leave out --drop-caches")


def _nodes(ordered: Ordered, where: Where) -> dict[str, Node]:
    """The nodes by their names, with the access that the options give."""
    names = dict.fromkeys([*where.names, *(name for cell in ordered.cells for name in cell.nodes)])
    return {node.name: node for node in chosen_nodes(replace(where, names=tuple(names)))}


def _target(cell: Cell, nodes: Mapping[str, Node], where: Where, stack: ExitStack) -> Target:
    scratch = is_scratch(cell.target)
    found = chosen_target(
        None if scratch else cell.target,
        stack,
        [nodes[name] for name in cell.nodes],
        cell.data_pool,
        new_batch(),
        earlier=cell.target if scratch else "",
    )
    return each_of(found, tuple(nodes.values()), where)[0]


def _changed(ordered: Ordered, presets: Mapping[str, Preset]) -> list[str]:
    """Presets that are not as they were."""
    names = {cell.preset for cell in ordered.cells
             if cell.of_preset and cell.of_preset != presets[cell.preset].file.options}  # fmt: skip
    return [f"preset {name} has changed: what is left is measured with its options of then" for name in sorted(names)]


def _left_behind(directory: Path) -> list[str]:
    """What a killed console has left on nodes; on this machine it is removed at once."""
    left = sum(undo.at is not None for undo in pending(directory))
    what = f"{left} leftover{'s' * (left > 1)} of the killed run"
    return [f"{what} on the nodes: afterwards cephtui cleanup removes them"] if left else []
