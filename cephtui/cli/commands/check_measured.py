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
from cephtui.cli.choice import (
    chosen_nodes,
    find_catalogue,
)
from cephtui.cli.errors import Refused
from cephtui.cli.judging import left_out_names
from cephtui.cli.options import Measuring, Question
from cephtui.cli.saved import find_run
from cephtui.cli.work import Ordered, Work, check_caches, measure, new_work, resumed, study_of_steps
from cephtui.frozen import dataclass
from cephtui.models import Run
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
class Asked:
    """What a check that measures is asked for, beside the options of all that measures."""

    question: Question
    presets: tuple[str, ...]
    against: str | None
    resume: str | None
    study: str | None
    target: str | None
    change: str | None
    undo: str | None
    runs: int | None
    most: int


def measure_and_judge(asked: Asked, options: Measuring) -> int:
    """The forms of a check that measure; the exit code."""
    _check_options(asked, options)

    def work(runner: Runner, stack: ExitStack) -> Work:
        if asked.resume is not None:
            assert runner.directory
            left, undo = _resumed(asked, runner.directory, options, stack), asked.undo
        else:
            left, undo = Work(_new_check(asked, options, stack)), None
        if runner.directory and (why := why_refused(runner.directory, undo)):
            raise Refused(why)
        return replace(left, commands=Commands(asked.change, asked.undo))

    return measure(work, options, asked.resume)


def _resumed(asked: Asked, directory: Path, options: Measuring, stack: ExitStack) -> Work:
    """A check that was left, with its own target and nodes; raises StoreError."""
    work = resumed(directory, asked.study, options, stack, kind=CHECK, target=asked.target)
    assert isinstance(work.study, Check)
    goal = work.study.goal
    if goal.takes_turns and not asked.undo:
        raise click.UsageError("this check takes turns: give its --change and --undo again")
    if goal.is_commanded and not asked.change:
        raise click.UsageError("a command makes the change of this check: give its --change again")
    without = left_out_names(asked.question.without)
    return replace(work, study=work.study.with_goal({"without": [*goal.without, *without]}))


def _new_check(asked: Asked, options: Measuring, stack: ExitStack) -> Check:
    """Raises UsageError, OptionError and StoreError."""
    ordered = Ordered(asked.presets, (asked.target,) if asked.target else ())
    try:
        if asked.against is not None:
            return _of_before(asked, ordered, asked.against, options, stack)
        study, _ = new_work(ordered, options, stack, CHECK, _values(asked))
        return _one(study, ordered)
    except SeveralValuesError as error:
        words = " ".join(f"--set {value}" for value in error.choice)
        raise click.UsageError(f"{error}: choose it with {words}") from None


def _one(study: Study[Any], ordered: Ordered) -> Check:
    """A check, if it is of one place; raises UsageError."""
    assert isinstance(study, Check)
    if len(study.requests) > 1:
        target, number = (ordered.targets or (study.saved.cells[0].target,))[0], len(study.requests)
        raise click.UsageError(f"--target {target} is {number} pairs of nodes: a check is of one")
    study.drafts()
    return study


def _values(asked: Asked) -> dict[str, Any]:
    """What is asked of the change, by the fields of the goal."""
    question = asked.question
    commands = {name: value for name, value in (("change", asked.change), ("undo", asked.undo)) if value is not None}
    looks = {"fixed": asked.runs, "most": None} if asked.runs else {"most": asked.most}
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


def _check_options(asked: Asked, options: Measuring) -> None:
    """Raises UsageError."""
    if asked.undo and not asked.change:
        raise click.UsageError("--undo belongs to --change")
    if asked.change and asked.against:
        raise click.UsageError("--change belongs to --preset: with --against the change is already made")
    confidence = asked.question.confidence
    if asked.runs is None and confidence / 100 not in CONFIDENCES:
        known = ", ".join(f"{100 * each:.0f}" for each in CONFIDENCES)
        raise click.UsageError(f"--confidence {confidence:g}: with several looks expected {known}; or give --runs")
    is_answered = sys.stdin.isatty() and sys.stderr.isatty()
    if not (asked.change or asked.against or asked.resume or options.dry_run or is_answered):
        raise click.UsageError(
            "there is no terminal to ask for the change: give --change, or measure before with "
            "cephtui run PRESET --repeat 6, make the change, then cephtui check --against SESSION/RUN"
        )


def _of_before(asked: Asked, ordered: Ordered, against: str, options: Measuring, stack: ExitStack) -> Check:
    """What was measured before, once more; raises StoreError."""
    directory, number = find_run(against)
    repeats, marks = run_with_repeats(directory, number), store.read_marks(directory)
    run, before = repeats[0], tuple(each for each in repeats if not made_during(each, marks))
    if len(before) < len(repeats):
        say(marked_text(each for each in repeats if each not in before))
    counting = sum(not why_invalid(each) for each in before)
    if counting < JUDGED_RUNS:
        raise click.UsageError(
            f"{directory.name}/{number} has {counting} run{'s' * (counting != 1)} that count{'s' * (counting == 1)}: "
            f"{JUDGED_RUNS} are needed before for a verdict: measure with cephtui run PRESET --repeat {BEFORE_RUNS}"
        )
    check_caches(drops_caches(run), options.drop_caches)
    where = options.where
    nodes = chosen_nodes(where if where.names else replace(where, names=tuple(node_names(run))))
    if not ordered.targets and not is_scratch(run.target):
        ordered = replace(ordered, targets=(run.target,))
    own = {"before": (run.batch,), "before_runs": 0, "before_session": directory.name}
    step = SuiteStep(_preset_of(run), run.preset, {})
    study, _ = study_of_steps([step], nodes, ordered, options, stack, CHECK, {**_values(asked), **own})
    check = _one(study, ordered)
    return Check(check.saved, check.requests, before)


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
