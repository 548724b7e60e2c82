"""``cephtui check`` where it measures: before and after a change, or only after it, until it is decided."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from cephtui import paths, units
from cephtui.analysis.batches import node_names
from cephtui.analysis.conclusion import why_invalid
from cephtui.analysis.looks import CONFIDENCES
from cephtui.analysis.sitting import BEFORE_RUNS, Turn, looks_of
from cephtui.analysis.verdict import JUDGED_RUNS, seen_with
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, find_catalogue
from cephtui.cli.commands.run import surveyed
from cephtui.cli.errors import Refused
from cephtui.cli.guided import Commands, Guided, ids_of, request_of_turn
from cephtui.cli.headless import measuring
from cephtui.cli.options import Question, Where
from cephtui.cli.printing import print_lines
from cephtui.cli.saved import find_run, find_session
from cephtui.models import Plan, Run
from cephtui.models.sitting import Sitting
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Choice, Preset, PresetError, PresetFile, choose, parse_overrides
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.changes import not_undone
from cephtui.sessions.saved_changes import repeats_of
from cephtui.sessions.store import StoreError
from cephtui.targets.scratch import is_scratch
from cephtui.tools.base import OptionError

_POLL_SECONDS = 0.25
_SPREADS = (0.02, 0.05, 0.10)
"""Between runs: of a quiet cluster, a usual one, a noisy one."""


def measure_and_judge(
    question: Question,
    as_json: bool,
    against: str | None,
    presets: tuple[str, ...],
    resume: str | None,
    where: Where,
    target: str | None,
    data_pool: str | None,
    overrides: tuple[str, ...],
    change: str | None,
    undo: str | None,
    runs: int | None,
    most: str,
    session: str | None,
    destroy: tuple[str, ...],
    shared_pool: bool,
    stall_timeout: float,
    dry_run: bool,
) -> int:
    """The forms of a check that measure; the exit code."""
    _check_options(question, change, undo, runs, against)
    check_session_name(session)
    commands = Commands(change, undo)
    if not (change or against or resume or dry_run or (sys.stdin.isatty() and sys.stderr.isatty())):
        raise click.UsageError(
            "there is no terminal to ask for the change: give --change, or measure before with "
            "cephtui run PRESET --repeat 6, make the change, then cephtui check --against SESSION/RUN"
        )
    with ExitStack() as stack:
        try:
            if against is not None:
                request, sitting, saved = _of_before(
                    stack, against, where, target, data_pool, question, runs, int(most)
                )
            elif resume is not None:
                directory = find_session(resume)
                request, sitting, saved = _of_saved(stack, directory, where, target)
                session, question = directory.name, _asked_in(sitting, question)
                if sitting.takes_turns and not undo:
                    raise click.UsageError("this check takes turns: give its --change and --undo again")
            else:
                request = _new_request(stack, presets, where, target, data_pool, overrides)
                sitting, saved = _new_sitting(request, question, commands, runs, int(most)), ()
                sitting = sitting.model_copy(update={"data_pool": data_pool})
            _check_undone(session, undo if resume is not None else None)
            request = replace(request, destroy=destroy, shared_pool=shared_pool, ceph_node=where.ceph_node)
            most_runs = Turn("after", looks_of(sitting).at[-1])
            draft = make_plan(request_of_turn(request, most_runs, 0), ids_of(sitting.after))
            runner = stack.enter_context(Runner(paths.sessions_dir(), session, stall_seconds=stall_timeout))
            if dry_run:
                _describe(sitting, draft, saved, as_json)
                return 0
            ready = surveyed(runner, request, draft.steps)
            with measuring(runner) as desk:
                return Guided(runner, desk, ready, sitting, question, commands, saved, as_json).carry_out()
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _check_options(
    question: Question, change: str | None, undo: str | None, runs: int | None, against: str | None
) -> None:
    """Raises UsageError."""
    if undo and not change:
        raise click.UsageError("--undo belongs to --change")
    if change and against:
        raise click.UsageError("--change belongs to --preset: with --against the change is already made")
    if runs is None and question.confidence / 100 not in CONFIDENCES:
        known = ", ".join(f"{100 * each:.0f}" for each in CONFIDENCES)
        raise click.UsageError(
            f"--confidence {question.confidence:g}: with several looks expected {known}; or give --runs"
        )


def _check_undone(session: str | None, undo: str | None) -> None:
    """Raises Refused where a change in the session would be lost sight of; ``undo`` takes it back when continued."""
    left = not_undone(paths.sessions_dir() / session) if session else None
    if left is not None and left != undo:
        raise Refused(f"session {session}: its change was not undone: cephtui cleanup --undo {session} runs: {left}")


def _asked_in(sitting: Sitting, question: Question) -> Question:
    """A check that is continued asks what it asked before."""
    return replace(
        question,
        require_percent=sitting.require_percent,
        same_percent=sitting.same_percent,
        confidence=100 * sitting.confidence,
        metrics=sitting.metrics,
        directions=sitting.directions,
    )


def _new_request(
    stack: ExitStack,
    presets: Sequence[str],
    where: Where,
    target: str | None,
    data_pool: str | None,
    overrides: Sequence[str],
) -> Request:
    chosen = choose(find_catalogue(), presets)
    given = parse_overrides(overrides)
    swept = [name for name, value in [*given.items(), *(i for p in chosen for i in p.file.options.items())]
             if isinstance(value, list) and isinstance(given.get(name, value), list)]  # fmt: skip
    if swept:
        raise click.UsageError(f"--set {swept[0]}: a check measures one value, not several")
    nodes = chosen_nodes(where)
    return Request(chosen, nodes, chosen_target(target, stack, nodes, data_pool, new_batch()), given)


def _new_sitting(request: Request, question: Question, commands: Commands, runs: int | None, most: int) -> Sitting:
    return Sitting(
        at=datetime.now(UTC),
        presets=tuple(preset.name for preset in request.presets),
        overrides=dict(request.overrides),
        target=request.target.spec,
        nodes=tuple(node.name for node in request.nodes),
        before=tuple(new_batch() for _ in request.presets),
        after=tuple(new_batch() for _ in request.presets),
        takes_turns=commands.undo is not None,
        before_runs=runs or BEFORE_RUNS,
        most=None if runs else most,
        fixed=runs,
        require_percent=question.require_percent,
        same_percent=question.same_percent,
        confidence=question.confidence / 100,
        metrics=question.metrics,
        directions=question.directions,
    )


def _of_before(
    stack: ExitStack,
    against: str,
    where: Where,
    target: str | None,
    data_pool: str | None,
    question: Question,
    runs: int | None,
    most: int,
) -> tuple[Request, Sitting, tuple[Run, ...]]:
    """What was measured before, once more; raises StoreError."""
    directory, number = find_run(against)
    before = repeats_of(directory, number)
    run = before[0]
    counting = sum(not why_invalid(each) for each in before)
    if counting < JUDGED_RUNS:
        raise click.UsageError(
            f"{directory.name}/{number} has {counting} run{'s' * (counting != 1)} that count{'s' * (counting == 1)}: "
            f"{JUDGED_RUNS} are needed before for a verdict: measure with cephtui run PRESET --repeat {BEFORE_RUNS}"
        )
    where = where if where.names else replace(where, names=tuple(node_names(run)))
    nodes = chosen_nodes(where)
    text = target or (None if is_scratch(run.target) else run.target)
    found = find_catalogue().get(run.preset)
    headline_name = found.file.headline if isinstance(found, Preset) else "iops"
    file = PresetFile.model_construct(
        title=run.preset,
        short="",
        description="",
        tool=run.tool,
        key=None,
        headline=headline_name,
        options=dict(run.options),
    )
    request = Request(
        (Preset(run.preset, Path(), user=True, file=file),),
        nodes,
        chosen_target(text, stack, nodes, data_pool, new_batch()),
        {},
    )
    sitting = _new_sitting(request, question, Commands(None, None), runs, most)
    return request, sitting.model_copy(update={"before": (run.batch,), "before_runs": 0}), before


def _of_saved(
    stack: ExitStack, directory: Path, where: Where, target: str | None
) -> tuple[Request, Sitting, tuple[Run, ...]]:
    """A sitting that was left, with its own target and nodes; raises StoreError."""
    sitting = store.read_sitting(directory)
    if sitting is None:
        raise click.UsageError(f"session {directory.name} has no check to continue")
    where = where if where.names else replace(where, names=sitting.nodes)
    nodes = chosen_nodes(where)
    text = target or (None if is_scratch(sitting.target) else sitting.target)
    given: Mapping[str, Choice] = sitting.overrides
    chosen = chosen_target(text, stack, nodes, sitting.data_pool, new_batch())
    return Request(choose(find_catalogue(), sitting.presets), nodes, chosen, given), sitting, ()


def _describe(sitting: Sitting, draft: Plan, saved: Sequence[Run], as_json: bool) -> None:
    """What would be measured, how long that takes, and what change could be seen."""
    if as_json:
        print_lines([draft])
        return
    looks = looks_of(sitting).at
    each = draft.duration_seconds / looks[-1]
    order = "A B B A" if sitting.takes_turns else "before, then after"
    sides = [runs if sitting.takes_turns else sitting.before_runs for runs in looks]
    names = ", ".join(sitting.presets)
    click.echo(f"{names} on {', '.join(sitting.nodes)}: {sitting.target}, in the order {order}")
    for look, (runs, before) in enumerate(zip(looks, sides, strict=True), 1):
        there = before or len(saved)
        takes = units.duration(each * (runs + before))
        seen = [f"{100 * seen_with(spread, there, runs, sitting.confidence):.0f} %" for spread in _SPREADS]
        click.echo(f"  look {look}: {there} before, {runs} after, about {takes}; would see a change of {_listed(seen)}")
    spreads = _listed([f"{100 * spread:.0f} %" for spread in _SPREADS])
    click.echo(f"would see: in four of five checks, where the spread between runs is {spreads}")


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
