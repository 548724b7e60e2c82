"""``cephtui check`` where it measures: before and after a change, or only after it, until it is decided."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cephtui.analysis.runs.batches import node_names
from cephtui.analysis.runs.change import marked_text
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.runs.marks import made_during
from cephtui.analysis.statistics.looks import CONFIDENCES
from cephtui.analysis.verdicts.conditions import drops_caches
from cephtui.analysis.verdicts.guided_check import BEFORE_RUNS
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import chosen_nodes
from cephtui.cli.errors import Refused
from cephtui.cli.judging import left_out_names
from cephtui.cli.options import CheckQuestion, Measuring
from cephtui.cli.saved import find_run
from cephtui.cli.work import NamedSteps, Work, check_manner, measure, new_work, resumed, study_of_steps
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.manner import Manner
from cephtui.models.study import CHECK
from cephtui.models.verdict import JUDGED_RUNS
from cephtui.presets import Preset, PresetFile, SeveralValuesError
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.changes import why_refused
from cephtui.sessions.saved_changes import run_with_repeats
from cephtui.studies.base import Study
from cephtui.studies.check import Check
from cephtui.studies.conductor import Commands
from cephtui.suites import SuiteStep
from cephtui.targets.scratch import is_scratch
from cephtui.terminal import say

_OF_IMAGES = ("ioengine", "rbd")
"""What a run on an image has instead of its preset's: the target sets it again."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check that measures, beside those of all that measures."""

    question: CheckQuestion
    presets: tuple[str, ...]
    against: str | None
    resume: str | None
    study: str | None
    target: str | None
    change: str | None
    undo: str | None
    runs: int | None
    most: int


def measure_and_judge(check: CheckOptions, options: Measuring) -> int:
    """The forms of a check that measure; the exit code."""
    _check_options(check, options)

    def work(runner: Runner, stack: ExitStack) -> Work:
        if check.resume is not None:
            assert runner.directory
            left, undo = _resumed(check, runner.directory, options, stack), check.undo
        else:
            left, undo = Work(_new_check(check, options, stack)), None
        if runner.directory and (why := why_refused(runner.directory, undo)):
            raise Refused(why)
        return replace(left, commands=Commands(check.change, check.undo))

    return measure(work, options, check.resume)


def _resumed(check: CheckOptions, directory: Path, options: Measuring, stack: ExitStack) -> Work:
    """A check that was left, with its own target and nodes; raises StoreError."""
    work = resumed(directory, check.study, options, stack, kind=CHECK, target=check.target)
    assert isinstance(work.study, Check)
    goal = work.study.goal
    if goal.takes_turns and not check.undo:
        raise click.UsageError("this check alternates between before and after: give its --change and --undo again")
    if goal.is_commanded and not check.change:
        raise click.UsageError("a command makes the change in this check: give its --change again")
    without = left_out_names(check.question.without)
    return replace(work, study=work.study.with_goal({"without": [*goal.without, *without]}))


def _new_check(check: CheckOptions, options: Measuring, stack: ExitStack) -> Check:
    """Raises UsageError, OptionError and StoreError."""
    ordered = NamedSteps(check.presets, (check.target,) if check.target else ())
    try:
        if check.against is not None:
            return _of_before(check, ordered, check.against, options, stack)
        study, _ = new_work(ordered, options, stack, CHECK, _values(check))
        return _one(study, ordered)
    except SeveralValuesError as error:
        words = " ".join(f"--set {value}" for value in error.choice)
        raise click.UsageError(f"{error}: choose it with {words}") from None


def _one(study: Study[Any], ordered: NamedSteps) -> Check:
    """A check, if it is of one place; raises UsageError."""
    assert isinstance(study, Check)
    if len(study.requests) > 1:
        target, number = (ordered.targets or (study.saved.cells[0].target,))[0], len(study.requests)
        raise click.UsageError(f"--target {target} is {number} pairs of nodes: a check measures one")
    study.drafts()
    return study


def _values(check: CheckOptions) -> dict[str, Any]:
    """What the options ask of the change, by the fields of the goal."""
    question = check.question
    commands = {name: value for name, value in (("change", check.change), ("undo", check.undo)) if value is not None}
    looks = {"fixed": check.runs, "most": None} if check.runs else {"most": check.most}
    return {
        **commands,
        **looks,
        "require_percent": question.require_percent,
        "same_percent": question.same_percent,
        "confidence": question.confidence / 100,
        "metrics": question.metrics,
        "directions": question.directions,
        "without": left_out_names(question.without),
    }


def _check_options(check: CheckOptions, options: Measuring) -> None:
    """Raises UsageError."""
    if check.undo and not check.change:
        raise click.UsageError("--undo needs --change")
    if check.change and check.against:
        raise click.UsageError("--change needs --preset: with --against the change is already made")
    confidence = check.question.confidence
    if check.runs is None and confidence / 100 not in CONFIDENCES:
        confidences = ", ".join(f"{100 * usual:.0f}" for usual in CONFIDENCES)
        raise click.UsageError(
            f"--confidence {confidence:g}: with several looks expected {confidences}; or give --runs"
        )
    is_answered = sys.stdin.isatty() and sys.stderr.isatty()
    if not (check.change or check.against or check.resume or options.dry_run or is_answered):
        raise click.UsageError(
            "there is no terminal to ask for the change: give --change, or measure before with "
            "cephtui run PRESET --repeat 6, make the change, then cephtui check --against SESSION/RUN"
        )


def _of_before(check: CheckOptions, ordered: NamedSteps, against: str, options: Measuring, stack: ExitStack) -> Check:
    """What was measured before, once more; raises StoreError."""
    directory, number = find_run(against)
    repeats, marks = run_with_repeats(directory, number), store.read_marks(directory)
    run, before = repeats[0], tuple(repeat for repeat in repeats if not made_during(repeat, marks))
    if len(before) < len(repeats):
        say(marked_text(repeat for repeat in repeats if repeat not in before))
    counting = sum(not why_invalid(repeat) for repeat in before)
    if counting < JUDGED_RUNS:
        raise click.UsageError(
            f"{directory.name}/{number} has {counting} run{'s' * (counting != 1)} that count{'s' * (counting == 1)}: "
            f"{JUDGED_RUNS} are needed before for a verdict: measure with cephtui run PRESET --repeat {BEFORE_RUNS}"
        )
    check_manner(Manner(drops_caches(run), options.quiet), options.manner)
    where = options.where
    nodes = chosen_nodes(where if where.names else replace(where, names=tuple(node_names(run))))
    if not ordered.targets and not is_scratch(run.target):
        ordered = replace(ordered, targets=(run.target,))
    goal = {"before": (run.batch,), "before_runs": 0, "before_session": directory.name}
    step = SuiteStep(_preset_of(run), run.preset, {})
    study, _ = study_of_steps([step], nodes, ordered, options, stack, CHECK, {**_values(check), **goal})
    new = _one(study, ordered)
    return Check(new.saved, new.requests, before)


def _preset_of(run: Run) -> Preset:
    """As it was measured, with the headline of the preset of that name."""
    preset = find_catalogue().get(run.preset)
    file = PresetFile.model_construct(
        title=run.preset,
        short="",
        description="",
        tool=run.tool,
        key=None,
        headline=preset.file.headline if isinstance(preset, Preset) else "iops",
        options={name: value for name, value in run.options.items() if (name, value) != _OF_IMAGES},
    )
    return Preset(run.preset, Path(), user=True, file=file)
