"""Studies that are conducted without a runner: each run is what a test says, and all that is shown is kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, cast

from cephtui.models import Node, Run, Step, Summary
from cephtui.models.study import RUNS, Cell, SavedStudy
from cephtui.ordering import requests_of
from cephtui.planning import Order, new_batch
from cephtui.reports.blocks import View
from cephtui.reports.render.rich import draw
from cephtui.reports.studies import view_of
from cephtui.running.runner import Runner
from cephtui.sessions.jsonlines import line
from cephtui.studies import kind_of
from cephtui.studies.base import Measure, Study
from cephtui.studies.conductor import Commands, Conductor, Ended, FrontEnd
from cephtui.targets.file import FileTarget
from tests.support.drawings import printed
from tests.support.plans import packaged
from tests.support.runs import begun, total

Figure = float | str | None
"""IOPS; a text is why the run failed, and None that the user has stopped it."""
LOCAL = Node(name="local")
BEGUN = datetime(2026, 11, 23, tzinfo=UTC)


def study(
    *presets: str,
    kind: str = RUNS,
    goal: Mapping[str, Any] | None = None,
    paths: Sequence[str] = ("/x",),
    repeats: int = 1,
    order: Order | None = None,
    options: Mapping[str, Any] | None = None,
    batches: Sequence[str] = (),
    elsewhere: Iterable[Run] = (),
    node: Node = LOCAL,
) -> Study[Any]:
    """A new study of packaged presets on files of a node, by default of this machine."""
    ids = iter(batches)
    chosen = packaged(*presets)
    cells = tuple(
        Cell(
            step=preset.name,
            preset=preset.name,
            of_preset=dict(preset.file.options),
            options=dict(options or {}),
            target=f"file:{path}",
            nodes=(node.name,),
            repeats=repeats,
            batch=next(ids, "") or new_batch(),
        )
        for path in paths
        for preset in chosen
    )
    saved = SavedStudy(at=BEGUN, kind=kind, order=order, cells=cells, goal=dict(goal or {}))
    by_name = {preset.name: preset for preset in chosen}
    targets = {f"file:{path}": FileTarget(path) for path in paths}
    return kind_of(kind)(saved, requests_of(saved, by_name, targets, {node.name: node}), elsewhere)


def run_of(step: Step, number: int, figure: Figure, **changes: Any) -> Run:
    """The run of a step, the ``number``-th of its session."""
    fields = {name: getattr(step, name) for name in ("batch", "repeat", "preset", "tool", "target", "options")}
    fields |= {"step": step.number, "started_at": BEGUN + timedelta(minutes=number)}
    if isinstance(figure, float):
        ended = {"outcome": "ok", "summary": Summary(write=total(ios=60, bytes=60, iops=figure, bandwidth_bytes=60))}
    else:
        ended = {"outcome": "failed" if figure else "stopped", "error": figure}
    return begun(number, **{**fields, **ended, **changes})


def figures(*values: Figure) -> Callable[[Step, int], Run]:
    """Runs that have these figures one after the other."""
    left = [*values]
    return lambda step, number: run_of(step, number, left.pop(0))


class Bed(FrontEnd):
    """Gives a run for each step, and keeps what is shown."""

    is_ending = False

    def __init__(self, run: Callable[[Step, int], Run], first: int = 1, ends_after: int | None = None) -> None:
        """Its runs are numbered from ``first``; the user asks for the end after so many."""
        self.run, self._first, self._ends_after = run, first, ends_after
        self.steps: list[Step] = []
        self.runs: list[Run] = []
        self.lines: list[str] = []
        self.begun: list[str] = []

    async def measure(self, study: Study[Any], step: Measure, runs: Sequence[Run]) -> Sequence[Run]:
        plan = study.plan(step)
        self.begun.append(view_of(study).begins(study, step, plan, runs))
        measured = []
        for each in plan.steps:
            if self.is_ending:
                break
            self.steps.append(each)
            measured.append(self.run(each, self._first + len(self.steps) - 1))
            self.is_ending = len(self.steps) == self._ends_after
        self.runs += measured
        return measured

    def ends_with(self, runs: Sequence[Run]) -> bool:
        return self.is_ending or any(run.outcome == "stopped" for run in runs)

    def show(self, study: Study[Any], runs: Sequence[Run]) -> None:
        self.lines += view_of(study).brought(study, runs)

    def say(self, text: str) -> None:
        self.lines.append(text)

    def begin_command(self, kind: Literal["change", "undo"], command: str) -> Callable[[], bool]:
        self.lines.append(f"{kind}: {command}")
        return lambda: False

    def undoing(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    async def make_change(self, is_unseen: Callable[[], Awaitable[bool]]) -> bool:
        self.lines.append("make the change")
        return True

    async def is_made(self, question: str) -> bool | None:
        self.lines.append(question)
        return None


def text_of(views: Iterable[View], width: int = 120) -> str:
    """What is printed of them."""
    return "".join(printed(draw(view.document()), width) for view in views)


def lines_of(views: Iterable[View]) -> list[str]:
    """Their JSON Lines."""
    return [line(row) for view in views for row in view.lines()]


class NoRunner:
    """Nothing is prefilled, and there is no session yet."""

    directory = None

    def __init__(self) -> None:
        self.put_back_times = 0

    def put_back(self) -> Future[None]:
        self.put_back_times += 1
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def prefilled(self) -> dict[tuple[str, str], int]:
        return {}


def conduct(study: Study[Any], bed: Bed, runs: Sequence[Run] = (), commands: Commands | None = None) -> Ended:
    """Carry a study out, of which these ``runs`` are there."""
    return asyncio.run(Conductor(study, cast("Runner", NoRunner()), bed, commands, runs).conduct())


def code_of(study: Study[Any], bed: Bed) -> int:
    """The exit code of a study that is carried out, but for that of the runs."""
    ended = conduct(study, bed)
    return ended.code or study.conclude(bed.runs, (), Path("/nonexistent"), BEGUN).exit_code
