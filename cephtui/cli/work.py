"""What is to be carried out: presets or a suite as they are named, or a study that a session has."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from cephtui.cli.choice import chosen_nodes, chosen_target, chosen_targets, each_of, find_all_suites, find_catalogue
from cephtui.cli.errors import Refused
from cephtui.cli.options import Measuring, Where
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import Prompts, connect
from cephtui.cli.saved import find_session
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.frozen import dataclass
from cephtui.models import Node, Run, Step
from cephtui.models.refusal import Refusal
from cephtui.models.study import RUNS, Cell, SavedStudy
from cephtui.nodes.transport import TransportError
from cephtui.ordering import by_kind, once, plan_of, plans_of
from cephtui.planning import Order, Request, new_batch
from cephtui.presets import Catalogue, Choice, Preset, choose, parse_overrides
from cephtui.reports.drawn.plan import draw_plan, draw_plans
from cephtui.reports.studies import view_of
from cephtui.running.launch import Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.names import check_writable
from cephtui.sessions.undo import pending
from cephtui.studies import KINDS
from cephtui.studies.base import Study
from cephtui.studies.making import new_study, presets_of, study_of
from cephtui.studies.saved import StudyState, study_states
from cephtui.suites import Suite, SuiteStep, choose_suite, shared_options
from cephtui.targets import Target, usual_target
from cephtui.targets.base import TargetFault
from cephtui.targets.scratch import is_scratch
from cephtui.terminal import say

_SURVEYED = ("nodes", "target", "room_bytes", "pool_use", "versions")
"""What requests of one place have in common after it was surveyed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The presets or the suite that are named, and what is said of all of them."""

    names: tuple[str, ...]
    targets: tuple[str, ...] = ()
    repeat: int | None = None
    order: Order | None = None
    expect: tuple[str, ...] = ()


def new_work(
    asked: Asked, options: Measuring, stack: ExitStack, kind: str = RUNS, values: Mapping[str, Any] | None = None
) -> tuple[Study[Any], list[str]]:
    """What is named, as a study of this kind, and what the user has to know of it beforehand.

    Raises PresetError, OptionError and UsageError, and ValueError for ``values`` that do not go together.
    """
    nodes, catalogue = chosen_nodes(options.where), find_catalogue()
    suite = _suite(asked.names, catalogue)
    if suite and (row := KINDS[kind]).in_suites:
        raise click.UsageError(f"{row.option} is for presets: {row.in_suites}")
    if suite and asked.expect:
        raise click.UsageError(
            f"--expect is for presets: the steps of suite {suite.name} have their own: expect = [...]"
        )
    steps = list(suite.steps) if suite else [SuiteStep(p, p.name, {}) for p in choose(catalogue, asked.names)]
    steps = _with(steps, parse_overrides(options.overrides), asked.repeat)
    steps = [replace(step, expect=(*step.expect, *asked.expect)) for step in steps]
    if suite and not asked.targets:
        _check_local(suite, nodes)
    notes = []
    if len(nodes) < 2 and len(once(steps)) < len(steps):
        notes, steps = ["one node: what is run on each node is not run on all of them again"], once(steps)
    study, left_out = study_of_steps(steps, nodes, asked, options, stack, kind, values or {}, suite)
    return study, [*notes, *(f"left out: {text}" for text in left_out)]


def study_of_steps(
    steps: Sequence[SuiteStep],
    nodes: Sequence[Node],
    asked: Asked,
    options: Measuring,
    stack: ExitStack,
    kind: str,
    values: Mapping[str, Any],
    suite: Suite | None = None,
) -> tuple[Study[Any], list[str]]:
    """Steps on these nodes and the targets that are asked for, and what is left out of them.

    Raises OptionError and UsageError, and ValueError for ``values`` that do not go together.
    """
    usual = usual_target({scheme for step in steps for scheme in step.preset.tool.kinds})
    targets = asked.targets or ((usual,) if usual else ())
    groups = by_kind(chosen_targets(targets, stack, nodes, options.data_pool, options.where))
    return new_study(
        steps,
        groups,
        nodes,
        kind=kind,
        values=values,
        suite=suite,
        order=asked.order,
        drop_caches=options.drop_caches,
    )


def _suite(names: Sequence[str], catalogue: Catalogue) -> Suite | None:
    """The suite that is named; None for presets. Raises PresetError and UsageError."""
    if all(name in catalogue for name in names):
        return None
    every = find_all_suites(catalogue)
    suites = [suite for name in names if (suite := choose_suite(every, catalogue, name))]
    if len(names) > 1:
        raise click.UsageError(f"a suite is run alone: cephtui run {suites[0].name}")
    return suites[0]


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
        kinds = " or ".join(f"{scheme}:..." for scheme in step.schemes) or step.preset.tool.accepted_targets
        wanted.setdefault(kinds, []).append(step.title)
    texts = [f"{kinds} for {', '.join(dict.fromkeys(titles))}" for kinds, titles in wanted.items()]
    raise click.UsageError(f"--target is missing: {suite.name} needs {'; '.join(texts)}")


# ------------------------------------------------------------------ what a session has


@dataclass(frozen=True, slots=True)
class Resumed:
    """A study of a session, as it goes on."""

    session: str
    study: Study[Any]
    runs: tuple[Run, ...]
    """Of it, that need not be made again."""
    notes: tuple[str, ...]


def resumed(
    session: str,
    name: str | None,
    options: Measuring,
    stack: ExitStack,
    *,
    kind: str = "",
    target: str | None = None,
    is_held: bool = False,
) -> Resumed:
    """The study of this name in a session; by default the last, of this kind, of which something is missing.

    ``target`` stands in the place of its own; the session ``is_held`` by this process already. Raises PresetError,
    OptionError, StoreError and UsageError.
    """
    directory = find_session(session)
    check_writable(directory)
    if not is_held and store.is_locked(directory):
        raise Refused(f"session {directory.name} is being measured by another cephtui: stop that first, or wait for it")
    state = _chosen_study(directory, name, kind)
    if state.study is None:
        raise click.UsageError(state.problem)
    saved = state.saved
    check_caches(saved.drop_caches, options.drop_caches)
    catalogue, nodes = find_catalogue(), _nodes(saved, options.where)
    presets = presets_of(saved, catalogue)

    def target_of(cell: Cell) -> Target:
        return _target(cell, target, nodes, options.where, stack)

    study = study_of(directory, saved, catalogue, nodes, target_of)
    runs = study.good(store.read_runs(directory)[0])
    return Resumed(directory.name, study, runs, (*_changed(saved, presets), *_left_behind(directory)))


def _chosen_study(directory: Path, name: str | None, kind: str) -> StudyState:
    """Raises UsageError."""
    session = directory.name
    states = [state for state in study_states(directory, find_catalogue()) if kind in ("", state.saved.kind)]
    if not states:
        hint = f"nothing to resume: cephtui run PRESET --session {session} adds to it"
        raise click.UsageError(f"session {session} has {'no check to continue' if kind else hint}")
    if name is not None:
        chosen = [state for state in states if state.saved.id == name]
        if not chosen:
            names = ", ".join(state.saved.id for state in states)
            raise click.UsageError(f"session {session} has no study {name!r}, only {names}: cephtui studies {session}")
        return chosen[0]
    unfinished = [state for state in states if not state.is_finished]
    unfinished = [state for state in unfinished if state.study] or unfinished
    if len(unfinished) > 1:
        others = ", ".join(state.saved.id for state in unfinished[:-1])
        say(f"resuming {unfinished[-1].saved.id}; also unfinished: {others} (cephtui studies {session})")
    return unfinished[-1] if unfinished else states[-1]


def check_caches(before: bool, now: bool) -> None:
    """Raises UsageError where runs that belong together would differ in whether caches are dropped before them."""
    if before and not now:
        raise click.UsageError("caches were dropped before the runs so far: give --drop-caches again")
    if now and not before:
        raise click.UsageError("caches were not dropped before the runs so far: leave out --drop-caches")


def _nodes(saved: SavedStudy, where: Where) -> dict[str, Node]:
    """The nodes by their names, with the access that the options give."""
    names = dict.fromkeys([*where.names, *saved.nodes])
    return {node.name: node for node in chosen_nodes(replace(where, names=tuple(names)))}


def _target(cell: Cell, spec: str | None, nodes: Mapping[str, Node], where: Where, stack: ExitStack) -> Target:
    scratch = spec is None and is_scratch(cell.target)
    target = chosen_target(
        None if scratch else spec or cell.target,
        stack,
        [nodes[name] for name in cell.nodes],
        cell.data_pool,
        new_batch(),
        earlier=cell.target if scratch else "",
    )
    return each_of(target, tuple(nodes.values()), where)[0]


def _changed(saved: SavedStudy, presets: Mapping[str, Preset]) -> list[str]:
    """Presets that are not as they were."""
    names = {cell.preset for cell in saved.cells
             if cell.of_preset and cell.of_preset != presets[cell.preset].file.options}  # fmt: skip
    return [f"preset {name} has changed: what is left is measured with its options of then" for name in sorted(names)]


def _left_behind(directory: Path) -> list[str]:
    """What a killed console has left on nodes; on this machine it is removed at once."""
    left = sum(undo.at is not None for undo in pending(directory))
    what = f"{left} leftover{'s' * (left > 1)} of the killed run"
    return [f"{what} on the nodes: afterwards cephtui cleanup removes them"] if left else []


# ------------------------------------------------------------------ before it is run


def check_all(runner: Runner, requests: Sequence[Request]) -> None:
    """Before anything is run on the first target, the guards of the others are asked too; raises NotRun."""
    for refusal in refusals(runner, requests):
        raise NotRun(f"refused: {refusal.text}", refusal)


def refusals(runner: Runner, requests: Sequence[Request]) -> list[Refusal]:
    """Why the guards refuse requests, all asked at the same time."""
    launcher = Launcher(runner, Prompts())

    async def asked() -> list[list[Refusal]]:
        return await asyncio.gather(*(launcher.check(plan_of(request), request.target) for request in requests))

    return [refusal for refusals in asyncio.run(asked()) for refusal in refusals]


def surveyed(runner: Runner, study: Study[Any], runs: Sequence[Run], options: Measuring) -> Study[Any]:
    """The study with all nodes connected and all targets surveyed of which something is left, each once.

    Raises NotRun.
    """
    drafts = study.drafts()
    by_place: dict[object, Request] = {}
    for request in study.pending(runs):
        if request.place not in by_place:
            steps = [step for draft in drafts if draft.place == request.place for step in plan_of(draft).steps]
            by_place[request.place] = _surveyed(runner, replace(request, **options.consents), steps)
    requests = [
        replace(request, **options.consents, **{name: getattr(by_place[request.place], name) for name in _SURVEYED})
        if request.place in by_place
        else request
        for request in study.requests
    ]
    return study.with_requests(requests)


def _surveyed(runner: Runner, request: Request, steps: Sequence[Step]) -> Request:
    """The request with connected nodes, their Ceph access, and a surveyed target. Raises NotRun.

    ``steps`` are those of a plan made without that.
    """
    loads = len(request.nodes) > 1 or any(step.writes for step in steps)
    states = connect(runner, request.hosts, request.target.pool)
    problem = next((state.problem for state in states if state.problem), None)
    if problem:
        raise NotRun(problem)
    by_name = {state.node.name: state for state in states}
    versions = {name: state.environment.tools for name, state in by_name.items() if state.environment}
    request = replace(request, nodes=tuple(by_name[node.name].node for node in request.nodes), versions=versions)
    surveying = Launcher(runner, Prompts()).survey(request, patient=loads and not request.shared_pool)
    try:
        return asyncio.run(surveying)
    except NotRun as error:
        raise NotRun(f"refused: {error}", error.refusal) from None
    except (TransportError, TargetFault) as error:
        raise NotRun(str(error)) from None


def show_plans(runner: Runner, study: Study[Any], runs: Sequence[Run], *, as_json: bool) -> int:
    """Print what would happen, guards included, and run nothing; the exit code."""
    pending = {request.batches for request in study.pending(runs)}
    plans = plans_of(study.drafts_left(runs))
    lines = view_of(study).planned(study, plans)
    if as_json:
        print_lines(plans)
        sys.stdout.flush()
        for line in lines:
            say(line)
    else:
        drawn = draw_plan(plans[0]) if len(plans) == 1 else draw_plans(plans, study.saved.titles)
        print_report(Group(drawn, *map(Text, lines)))
    reasons = dict.fromkeys(
        refusal.text for refusal in refusals(runner, [each for each in study.requests if each.batches in pending])
    )
    for text in reasons:
        say(f"refused: {text}")
    return EXIT_REFUSED if reasons else 0
