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
from cephtui.analysis.change import marked_text
from cephtui.analysis.conclusion import metric_named, why_invalid
from cephtui.analysis.conditions import drops_caches
from cephtui.analysis.guided_check import BEFORE_RUNS, Turn, looks_of, seen_at_look
from cephtui.analysis.looks import CONFIDENCES
from cephtui.analysis.marks import made_during
from cephtui.cli.choice import (
    check_session_name,
    chosen_nodes,
    chosen_target,
    find_catalogue,
    known_secrets,
    load_config,
)
from cephtui.cli.commands.run import surveyed
from cephtui.cli.errors import Refused
from cephtui.cli.guided import Commands, Guided, ids_of, request_of_turn
from cephtui.cli.headless import measuring
from cephtui.cli.options import Question, Where
from cephtui.cli.printing import print_lines
from cephtui.cli.saved import find_run, find_session
from cephtui.cli.work import check_caches, consents
from cephtui.exit_codes import EXIT_INCOMPLETE
from cephtui.frozen import dataclass
from cephtui.models import Plan, Run
from cephtui.models.guided_check import GuidedCheck
from cephtui.models.metrics import HEADLINE_BY_NAME
from cephtui.models.verdict import JUDGED_RUNS
from cephtui.planning import Request, apart, make_plan, new_batch
from cephtui.presets import (
    Choice,
    Preset,
    PresetError,
    PresetFile,
    SeveralValuesError,
    check_one_value,
    choose,
    parse_overrides,
)
from cephtui.printable import either, printable
from cephtui.reports.verdict import seen_text
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.changes import left_text, not_undone
from cephtui.sessions.names import check_writable
from cephtui.sessions.saved_changes import repeats_of
from cephtui.sessions.store import StoreError
from cephtui.targets import Target
from cephtui.targets.scratch import is_scratch
from cephtui.terminal import say
from cephtui.tools.base import OptionError

_OF_IMAGES = ("ioengine", "rbd")
"""What a run on an image has instead of its preset's: the target sets it again."""
_SPREADS = (0.02, 0.05, 0.10)
"""Between runs: of a quiet cluster, a usual one, a noisy one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a check that measures is asked for, by its options."""

    question: Question
    where: Where
    presets: tuple[str, ...]
    against: str | None
    resume: str | None
    target: str | None
    data_pool: str | None
    overrides: tuple[str, ...]
    change: str | None
    undo: str | None
    runs: int | None
    most: str
    session: str | None
    destroy: tuple[str, ...]
    shared_pool: bool
    drop_caches: bool
    stall_timeout: float
    dry_run: bool
    as_json: bool

    @property
    def commands(self) -> Commands:
        return Commands(self.change, self.undo)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A check as it begins, or goes on."""

    question: Question
    request: Request
    guided: GuidedCheck
    saved: tuple[Run, ...]
    """What was measured before already."""


def measure_and_judge(asked: Asked) -> int:
    """The forms of a check that measure; the exit code."""
    _check_options(asked)
    check_session_name(asked.session)
    with ExitStack() as stack:
        try:
            runner = stack.enter_context(_runner(asked))
            if not asked.dry_run:
                runner.hold().result()  # what is read of the session stays so, and no other check undoes the change
            begun = _begin(asked, stack)
            _check_undone(runner.session, asked.undo if asked.resume is not None else None)
            return _measure(asked, begun, runner)
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _runner(asked: Asked) -> Runner:
    """Of the session that is continued or named; raises StoreError."""
    session = asked.session
    if asked.resume is not None:
        directory = find_session(asked.resume)
        check_writable(directory)
        session = directory.name
    known = known_secrets(asked.where)
    return Runner(paths.sessions_dir(), session, stall_seconds=asked.stall_timeout, vault=known)


def _begin(asked: Asked, stack: ExitStack) -> _Begun:
    if asked.against is not None:
        begun = _of_before(asked, asked.against, stack)
    elif asked.resume is not None:
        begun = _of_saved(asked, asked.resume, stack)
    else:
        request = _new_request(asked, stack)
        guided = _new_guided_check(asked, request).model_copy(update={"data_pool": asked.data_pool})
        begun = _Begun(asked.question, request, guided, ())
    return replace(begun, guided=begun.guided.model_copy(update={"drop_caches": asked.drop_caches}))


def _measure(asked: Asked, begun: _Begun, runner: Runner) -> int:
    request = _one(begun.request, asked.where)
    agreed = consents(asked.where, asked.destroy, shared_pool=asked.shared_pool, drop_caches=asked.drop_caches)
    request = replace(request, **agreed)
    most_runs = Turn("after", looks_of(begun.guided).at[-1])
    draft = make_plan(request_of_turn(request, most_runs, 0), ids_of(begun.guided.after))
    if asked.dry_run:
        _describe(begun.guided, draft, begun.saved, asked.as_json)
        return 0
    ready = surveyed(runner, request, draft.steps)
    with measuring(runner) as desk:
        guided = Guided(runner, desk, ready, begun.guided, begun.question, asked.commands, begun.saved, asked.as_json)
        code = guided.carry_out()
    return code or (EXIT_INCOMPLETE if desk.leaves else 0)


def _one(request: Request, where: Where) -> Request:
    """The request with its target as it is on its nodes; raises OptionError, and UsageError where it is several."""
    found = apart(request, lambda name: load_config(where).choose([name]))
    if len(found) > 1:
        raise click.UsageError(f"--target {request.target.spec} is {len(found)} pairs of nodes: a check is of one")
    return found[0]


def _check_options(asked: Asked) -> None:
    """Raises UsageError."""
    if asked.undo and not asked.change:
        raise click.UsageError("--undo belongs to --change")
    for option, command in (("--change", asked.change), ("--undo", asked.undo)):
        if command is not None and printable(command) != command:
            raise click.UsageError(f"{option}: expected one line of what a terminal shows: name a script instead")
    if asked.change and asked.against:
        raise click.UsageError("--change belongs to --preset: with --against the change is already made")
    confidence = asked.question.confidence
    if asked.runs is None and confidence / 100 not in CONFIDENCES:
        known = ", ".join(f"{100 * each:.0f}" for each in CONFIDENCES)
        raise click.UsageError(f"--confidence {confidence:g}: with several looks expected {known}; or give --runs")
    is_answered = sys.stdin.isatty() and sys.stderr.isatty()
    if not (asked.change or asked.against or asked.resume or asked.dry_run or is_answered):
        raise click.UsageError(
            "there is no terminal to ask for the change: give --change, or measure before with "
            "cephtui run PRESET --repeat 6, make the change, then cephtui check --against SESSION/RUN"
        )


def _check_undone(session: str | None, undo: str | None) -> None:
    """Raises Refused where a change in the session would be lost sight of; ``undo`` takes it back when continued."""
    left = not_undone(paths.sessions_dir() / session) if session else None
    if session and left is not None and left != undo:
        raise Refused(left_text(session, left))


def _asked_in(guided: GuidedCheck, question: Question) -> Question:
    """A check that is continued asks what it asked before."""
    return replace(
        question,
        require_percent=guided.require_percent,
        same_percent=guided.same_percent,
        confidence=100 * guided.confidence,
        metrics=guided.metrics,
        directions=guided.directions,
    )


def _new_request(asked: Asked, stack: ExitStack) -> Request:
    chosen = choose(find_catalogue(), asked.presets)
    given = parse_overrides(asked.overrides)
    _check_one_value(chosen, given, "choose it with")
    nodes = chosen_nodes(asked.where)
    target = chosen_target(asked.target, stack, nodes, asked.data_pool, new_batch())
    _check_data_pool(asked, target)
    return Request(chosen, nodes, target, given)


def _check_one_value(presets: Sequence[Preset], given: Mapping[str, Choice], what_helps: str) -> None:
    """Raises UsageError, which names the options to give."""
    try:
        for preset in presets:
            check_one_value(preset, given)
    except SeveralValuesError as error:
        options = " ".join(f"--set {each}" for each in error.choice)
        raise click.UsageError(f"{error}: {what_helps} {options}") from None


def _check_data_pool(asked: Asked, target: Target) -> None:
    """Raises UsageError where no images are created."""
    if asked.data_pool and not target.creates_images:
        raise click.UsageError("--data-pool is for the images that rbd:POOL creates")


def _new_guided_check(asked: Asked, request: Request) -> GuidedCheck:
    question = asked.question
    return GuidedCheck(
        at=datetime.now(UTC),
        presets=tuple(preset.name for preset in request.presets),
        overrides=dict(request.overrides),
        target=request.target.spec,
        nodes=tuple(node.name for node in request.nodes),
        before=tuple(new_batch() for _ in request.presets),
        after=tuple(new_batch() for _ in request.presets),
        takes_turns=asked.undo is not None,
        before_runs=asked.runs or BEFORE_RUNS,
        most=None if asked.runs else int(asked.most),
        fixed=asked.runs,
        require_percent=question.require_percent,
        same_percent=question.same_percent,
        confidence=question.confidence / 100,
        metrics=question.metrics,
        directions=question.directions,
    )


def _of_before(asked: Asked, against: str, stack: ExitStack) -> _Begun:
    """What was measured before, once more; raises StoreError."""
    directory, number = find_run(against)
    repeats, marks = repeats_of(directory, number), store.read_marks(directory)
    run, before = repeats[0], tuple(each for each in repeats if not made_during(each, marks))
    if len(before) < len(repeats):
        say(marked_text(each for each in repeats if each not in before))
    counting = sum(not why_invalid(each) for each in before)
    if counting < JUDGED_RUNS:
        raise click.UsageError(
            f"{directory.name}/{number} has {counting} run{'s' * (counting != 1)} that count{'s' * (counting == 1)}: "
            f"{JUDGED_RUNS} are needed before for a verdict: measure with cephtui run PRESET --repeat {BEFORE_RUNS}"
        )
    nodes = chosen_nodes(_where(asked, tuple(node_names(run))))
    target = chosen_target(_target(asked, run.target), stack, nodes, asked.data_pool, new_batch())
    _check_data_pool(asked, target)
    request = Request((_preset_of(run),), nodes, target, {})
    guided = _new_guided_check(asked, request).model_copy(update={"before": (run.batch,), "before_runs": 0})
    check_caches(drops_caches(run), asked.drop_caches)
    return _Begun(asked.question, request, guided, before)


def _preset_of(run: Run) -> Preset:
    """As it was measured, with the headline of the preset of that name."""
    found = find_catalogue().get(run.preset)
    file = PresetFile.model_construct(
        title=run.preset,
        short="",
        description="",
        tool=run.tool,
        key=None,
        headline=found.file.headline if isinstance(found, Preset) else "iops",
        options={name: value for name, value in run.options.items() if (name, value) != _OF_IMAGES},
    )
    return Preset(run.preset, Path(), user=True, file=file)


def _of_saved(asked: Asked, resume: str, stack: ExitStack) -> _Begun:
    """A guided check that was left, with its own target and nodes; raises StoreError."""
    directory = find_session(resume)
    guided = store.read_guided_check(directory)
    if guided is None:
        raise click.UsageError(f"session {directory.name} has no check to continue")
    chosen = choose(find_catalogue(), guided.presets)
    given: Mapping[str, Choice] = guided.overrides
    _check_one_value(chosen, given, "begin another check with")
    nodes = chosen_nodes(_where(asked, guided.nodes))
    target = chosen_target(_target(asked, guided.target), stack, nodes, guided.data_pool, new_batch())
    request = Request(chosen, nodes, target, given)
    check_caches(guided.drop_caches, asked.drop_caches)
    if guided.takes_turns and not asked.undo:
        raise click.UsageError("this check takes turns: give its --change and --undo again")
    return _Begun(_asked_in(guided, asked.question), request, guided, ())


def _where(asked: Asked, names: tuple[str, ...]) -> Where:
    """The nodes that were asked for, else these."""
    return asked.where if asked.where.names else replace(asked.where, names=names)


def _target(asked: Asked, spec: str) -> str | None:
    """The target that was asked for, else this one; None is a scratch file of the check's own."""
    return asked.target or (None if is_scratch(spec) else spec)


def _describe(guided: GuidedCheck, draft: Plan, saved: Sequence[Run], as_json: bool) -> None:
    """What would be measured, how long that takes, and what change could be seen."""
    if as_json:
        print_lines([draft])
        return
    looks = looks_of(guided).at
    each = draft.duration_seconds / looks[-1]
    order = "A B B A" if guided.takes_turns else "before, then after"
    sides = [runs if guided.takes_turns else guided.before_runs for runs in looks]
    figures = {metric_named(name) for name in guided.metrics} or {
        HEADLINE_BY_NAME[step.headline].metric for step in draft.steps
    }
    betters = {figure.better for figure in figures}
    names = ", ".join(guided.presets)
    click.echo(f"{names} on {', '.join(guided.nodes)}: {guided.target}, in the order {order}")
    for look, (runs, before) in enumerate(zip(looks, sides, strict=True), 1):
        there = before or len(saved)
        takes = units.duration(each * (runs + before))
        seen = seen_text([seen_at_look(guided, spread, there, runs) for spread in _SPREADS], betters)
        click.echo(f"  look {look}: {there} before, {runs} after, about {takes}; would see {seen}")
    spreads = either([f"{100 * spread:.0f} %" for spread in _SPREADS])
    click.echo(f"would see: in four of five checks, where the spread between runs is {spreads}")
