"""What is measured: presets or a suite as they are named, or a study that a session has; and how it is begun."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from cephtui import paths
from cephtui.cli.catalogue import find_all_suites, find_catalogue
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, chosen_targets, each_of, known_secrets
from cephtui.cli.errors import Refused
from cephtui.cli.measuring import carry_out
from cephtui.cli.options import Measuring
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import Prompts, connect
from cephtui.cli.saved import find_session
from cephtui.cli.where import Where
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.frozen import dataclass
from cephtui.models import Node, Run, Step
from cephtui.models.base import QUIET_OPTIONS
from cephtui.models.manner import Manner
from cephtui.models.refusal import Refusal
from cephtui.models.study import RUNS, Cell, SavedStudy
from cephtui.nodes.transport import TransportError
from cephtui.ordering import by_kind, once, plan_of, plans_of
from cephtui.planning import Order, Request, new_batch
from cephtui.presets import Catalogue, Choice, Preset, PresetError, choose, parse_overrides
from cephtui.reports.drawn.plan import draw_plans
from cephtui.reports.studies import view_of
from cephtui.running.launch import Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.names import check_writable
from cephtui.sessions.store import StoreError
from cephtui.sessions.undo import pending
from cephtui.studies import KINDS
from cephtui.studies.base import Study
from cephtui.studies.conductor import Commands
from cephtui.studies.making import new_study, presets_of, study_of
from cephtui.studies.saved import StudyState, study_states
from cephtui.suites import Suite, SuiteStep, choose_suite, shared_options
from cephtui.targets import Target, usual_target
from cephtui.targets.base import TargetFault
from cephtui.targets.scratch import is_scratch
from cephtui.terminal import say
from cephtui.tools.base import OptionError

_SURVEYED = ("nodes", "target", "room_bytes", "pool_use", "versions")
"""What requests of one place have in common after it was surveyed."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be measured of a study."""

    study: Study[Any]
    runs: tuple[Run, ...] = ()
    """Of it, that need not be made again."""
    notes: tuple[str, ...] = ()
    """What the user has to know beforehand."""
    commands: Commands = Commands()


def measure(make: Callable[[Runner, ExitStack], Work], options: Measuring, resume: str | None = None) -> int:
    """Make a study and carry it out, or only show it; the exit code.

    ``resume`` is the session that is continued, which is held before anything is read of it: what is read stays so, and
    no other cephtui undoes its change. Raises UsageError and Refused.
    """
    check_session_name(options.session)
    with ExitStack() as stack:
        try:
            session = options.session if resume is None else _free_session(resume)
            runner = stack.enter_context(
                Runner(
                    paths.sessions_dir(),
                    session,
                    stall_seconds=options.stall_timeout,
                    vault=known_secrets(options.where),
                )
            )
            if not options.dry_run:
                runner.hold().result()
            return _measure(make(runner, stack), runner, options)
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _free_session(name: str) -> str:
    """The full name of a session that may be written; raises StoreError."""
    directory = find_session(name)
    check_writable(directory)
    if store.is_locked(directory):
        raise Refused(f"session {directory.name} is being measured by another cephtui: stop that first, or wait for it")
    return directory.name


def _measure(work: Work, runner: Runner, options: Measuring) -> int:
    for note in work.notes:
        say(note)
    if work.study.next(work.runs) is None:
        runs = f"all {len(work.runs)} runs are" if len(work.runs) > 1 else "the run is"
        say(f"nothing to resume in session {runner.session}: {runs} complete")
        return 0
    study = surveyed(runner, work.study, work.runs, options)
    if options.dry_run:
        return show_plans(runner, study, work.runs, as_json=options.as_json)
    if len(study.requests) > 1:
        check_all(runner, study.pending(work.runs))
    return carry_out(runner, study, work.runs, work.commands, output=options.output)


@dataclass(frozen=True, slots=True)
class NamedSteps:
    """The presets or the suite that are named, and what is said of all of them."""

    names: tuple[str, ...]
    targets: tuple[str, ...] = ()
    repeat: int | None = None
    order: Order | None = None
    expect: tuple[str, ...] = ()


def new_work(
    ordered: NamedSteps, options: Measuring, stack: ExitStack, kind: str = RUNS, values: Mapping[str, Any] | None = None
) -> tuple[Study[Any], list[str]]:
    """What is named, as a study of this kind, and what the user has to know of it beforehand.

    Raises PresetError, OptionError and UsageError, and ValueError for ``values`` that do not go together.
    """
    nodes, catalogue = chosen_nodes(options.where), find_catalogue()
    suite = _suite(ordered.names, catalogue)
    if suite and (row := KINDS[kind]).in_suites:
        raise click.UsageError(f"{row.option or f'cephtui {row.kind}'} is for presets: {row.in_suites}")
    if suite and ordered.expect:
        raise click.UsageError(
            f"--expect is for presets: the steps of suite {suite.name} have their own: expect = [...]"
        )
    steps = list(suite.steps) if suite else [SuiteStep(p, p.name, {}) for p in choose(catalogue, ordered.names)]
    steps = _with(steps, parse_overrides(options.overrides), ordered.repeat)
    steps = [replace(step, expect=(*step.expect, *ordered.expect)) for step in steps]
    if suite and not ordered.targets:
        _check_local(suite, nodes)
    notes = []
    if len(nodes) < 2 and len(once(steps)) < len(steps):
        notes, steps = ["one node: what is run on each node is not run on all of them again"], once(steps)
    study, left_out = study_of_steps(steps, nodes, ordered, options, stack, kind, values or {}, suite)
    return study, [*notes, *(f"left out: {text}" for text in left_out)]


def study_of_steps(
    steps: Sequence[SuiteStep],
    nodes: Sequence[Node],
    ordered: NamedSteps,
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
    targets = ordered.targets or ((usual,) if usual else ())
    groups = by_kind(chosen_targets(targets, stack, nodes, options.data_pool, options.where))
    return new_study(
        steps,
        groups,
        nodes,
        kind=kind,
        values=values,
        suite=suite,
        order=ordered.order,
        manner=options.manner,
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


def _with(steps: Sequence[SuiteStep], overrides: Mapping[str, Choice], repeat: int | None) -> list[SuiteStep]:
    """The steps with what --set and --repeat say."""
    shared = shared_options([step.preset for step in steps], overrides)
    return [
        replace(step, options={**step.options, **options}, repeats=repeat or step.repeats)
        for step, options in zip(steps, shared, strict=True)
    ]


def _check_local(suite: Suite, nodes: Sequence[Node]) -> None:
    """Raises UsageError where there can't be a scratch file, with the targets that the suite needs."""
    remote = next((node.name for node in nodes if node.host is not None), None)
    if remote is None:
        return
    titles_by_kinds: dict[str, list[str]] = {}
    for step in suite.steps:
        kinds = " or ".join(f"{scheme}:..." for scheme in step.schemes) or step.preset.tool.accepted_targets
        titles_by_kinds.setdefault(kinds, []).append(step.title)
    texts = [f"{kinds} for {', '.join(dict.fromkeys(titles))}" for kinds, titles in titles_by_kinds.items()]
    raise click.UsageError(f"--target is missing: {suite.name} needs {'; '.join(texts)}")


# ------------------------------------------------------------------ what a session has


def resumed(
    directory: Path,
    name: str | None,
    options: Measuring,
    stack: ExitStack,
    *,
    kind: str = "",
    target: str | None = None,
) -> Work:
    """The study of this name in a session; by default the last, of this kind, of which something is missing.

    ``target`` stands in the place of its own. Raises PresetError, OptionError, StoreError and UsageError.
    """
    state = _chosen_study(directory, name, kind)
    if state.study is None:
        raise click.UsageError(state.problem)
    saved = state.saved
    check_manner(saved.manner, options.manner)
    catalogue, nodes = find_catalogue(), _nodes(saved, options.where)
    presets = presets_of(saved, catalogue)

    def target_of(cell: Cell) -> Target:
        return _target(cell, target, nodes, options.where, stack)

    study = study_of(directory, saved, catalogue, nodes, target_of)
    runs = study.good(store.read_runs(directory)[0])
    return Work(study, runs, (*_changed(saved, presets), *_left_behind(directory)))


def _chosen_study(directory: Path, name: str | None, kind: str) -> StudyState:
    """Raises UsageError."""
    session = directory.name
    states = [state for state in study_states(directory, find_catalogue()) if kind in ("", state.saved.kind)]
    if not states:
        none = f"no check to continue: cephtui studies {session} lists what it has"
        nothing = f"nothing to resume: cephtui run PRESET --session {session} adds to it"
        raise click.UsageError(f"session {session} has {none if kind else nothing}")
    if name is not None:
        chosen = [state for state in states if state.saved.id == name]
        if not chosen:
            names = ", ".join(state.saved.id for state in states)
            raise click.UsageError(f"session {session} has no study {name!r}, only {names}: cephtui studies {session}")
        return chosen[0]
    unfinished = [state for state in states if not state.is_finished]
    unfinished = [state for state in unfinished if state.study] or unfinished
    if len(unfinished) > 1:
        unfinished_too = ", ".join(state.saved.id for state in unfinished[:-1])
        say(f"resuming {unfinished[-1].saved.id}; also unfinished: {unfinished_too} (cephtui studies {session})")
    return unfinished[-1] if unfinished else states[-1]


def check_manner(before: Manner, now: Manner) -> None:
    """Raises UsageError where runs that belong together would differ in how they are measured."""
    if before.drop_caches and not now.drop_caches:
        raise click.UsageError("caches were dropped before the runs so far: give --drop-caches again")
    if now.drop_caches and not before.drop_caches:
        raise click.UsageError("caches were not dropped before the runs so far: leave out --drop-caches")
    if before.quiet != now.quiet:
        how = f"with {QUIET_OPTIONS[before.quiet]}" if before.quiet else "without holding scrubs back"
        raise click.UsageError(f"the runs so far were measured {how}: measure the others so too")


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

    async def answers() -> list[list[Refusal]]:
        return await asyncio.gather(*(launcher.check(plan_of(request), request.target) for request in requests))

    return [refusal for refusals in asyncio.run(answers()) for refusal in refusals]


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
    view = view_of(study)
    lines = view.planned(study, plans)
    if as_json:
        print_lines(plans)
        for line in lines:
            say(line)
    else:
        titles = study.saved.titles if study.saved.suite else {}
        drawn = draw_plans(plans, titles, is_sketch=view.plans_are_sketch)
        print_report(Group(drawn, *map(Text, lines)))
    reasons = dict.fromkeys(
        refusal.text
        for refusal in refusals(runner, [request for request in study.requests if request.batches in pending])
    )
    for text in reasons:
        say(f"refused: {text}")
    return EXIT_REFUSED if reasons else 0
