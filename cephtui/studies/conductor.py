"""Drives a study over a runner: the one loop, the change and its undo, and when it is given up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from cephtui.analysis.runs.marks import CHANGED, UNDONE
from cephtui.analysis.verdicts.noted import NOT_SEEN, is_seen
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.study import CheckGoal
from cephtui.nodes.transport import TransportError
from cephtui.running.changing import run_noted
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.changes import Ran, State, change_state, check_commands, remedy_of
from cephtui.sessions.store import StoreError, cannot_write
from cephtui.sessions.studies import study_in_session
from cephtui.studies.base import Measure, Study
from cephtui.targets.base import TargetFault
from cephtui.tools.base import OptionError

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Commands:
    """What makes the change and takes it back; None where the user does."""

    change: str | None = None
    undo: str | None = None


class FrontEnd(Protocol):
    """What carries out and shows what a conductor decides, on a terminal or in the console."""

    @property
    def is_ending(self) -> bool:
        """Whether the user has asked for the end."""
        ...

    async def measure(self, study: Study[Any], step: Measure, runs: Sequence[Run]) -> Sequence[Run] | None:
        """Plan it, show it, and run it; fewer runs than it has steps where the user or an error has ended it.

        None where it can't be measured, and only what else there is of the study goes on. ``runs`` are those of the
        study before it. What is wrong is shown; raises StoreError where it is the session.
        """
        ...

    def ends_with(self, runs: Sequence[Run]) -> bool:
        """Whether the user has ended the study with these runs."""
        ...

    def show(self, study: Study[Any], runs: Sequence[Run]) -> None:
        """What the newest of these runs of the study has brought."""
        ...

    def say(self, text: str) -> None:
        """A line for the user."""
        ...

    def begin_command(self, kind: Literal["change", "undo"], command: str) -> Callable[[], bool]:
        """Show that it runs; what is given tells again and again whether the user wants its end."""
        ...

    def undoing(self) -> contextlib.AbstractContextManager[None]:
        """In the block a change is taken back, which has a limit of time of its own."""
        ...

    async def make_change(self, is_unseen: Callable[[], Awaitable[bool]]) -> bool:
        """Have the user make the change, and mark that; whether it is made. If not, the study ends here for now."""
        ...

    async def is_made(self, question: str) -> bool | None:
        """Whether a change is in place whose end is not known; None where the user can't be asked."""
        ...


class _Over(Exception):
    """Nothing more is measured; the text is for the user. What is ``spoiled`` is not judged."""

    def __init__(self, code: int, text: str = "", *, spoiled: bool = False) -> None:
        super().__init__(text)
        self.code, self.spoiled = code, spoiled


@dataclass(frozen=True, slots=True)
class Ended:
    """How a study was carried out."""

    code: int
    """0 where it has come to its end, else one of ``exit_codes``."""
    runs: tuple[Run, ...]
    """That were made now."""
    is_judged: bool
    """Whether its runs say what they seem to say."""
    without: frozenset[str] = frozenset()
    """The batches that could not be measured."""


class Conductor:
    """Carries out one study."""

    def __init__(
        self,
        study: Study[Any],
        runner: Runner,
        front: FrontEnd,
        commands: Commands | None = None,
        runs: Sequence[Run] = (),
    ) -> None:
        """``runs`` are those of the study that need not be made again. Raises StoreError."""
        self._study, self._runner, self._front = study, runner, front
        self._commands = commands or Commands()
        self._before, self._now = list(runs), list[Run]()
        self._last_directory = runner.directory
        self._state = self._state_now()
        self._is_half_way = self._state == "made" and any(ran.status != 0 for ran in self._noted()[-1:])
        """Whether an earlier change, or its undo, has not come to a good end."""
        self._given_up: dict[str, str] = {}
        self._why_not_undone = ""
        self._without = set[str]()
        """The batches that can't be measured."""

    async def conduct(self) -> Ended:
        """Measure until the study has come to its end, is stopped, or given up.

        Raises StoreError where nothing could be run.
        """
        code, is_judged = 0, True
        try:
            while not self._front.is_ending and (step := self._study.next(self.runs, self._without)):
                if not self._without.isdisjoint(step.request.batches):
                    break  # it has nothing else
                await self._switch(step)
                await self._measure(step)
            if self._front.is_ending:
                code = EXIT_INCOMPLETE
            elif self._given_up or self._without:  # what has failed has an exit code of its own
                code = EXIT_FAILED if all(run.outcome == "ok" for run in self._now) else EXIT_INCOMPLETE
        except _Over as over:
            code, is_judged = over.code, not over.spoiled
            if str(over):
                self._front.say(str(over))
        except StoreError as error:
            if not self._now:
                raise
            code = EXIT_INCOMPLETE
            self._front.say(str(error))
        finally:
            await self._undo()
            await asyncio.wrap_future(self._runner.put_back())
        return Ended(code, tuple(self._now), is_judged, frozenset(self._without))

    @property
    def runs(self) -> list[Run]:
        """Of the study so far, without those of an earlier time that failed."""
        return [*self._before, *self._now]

    # ------------------------------------------------------------------ measuring

    async def _measure(self, step: Measure) -> None:
        measured = await self._front.measure(self._study, step, self.runs)
        if measured is None:
            self._without.update(step.request.batches)
            return
        self._now += measured
        if not measured:
            raise _Over(EXIT_INCOMPLETE)
        self._front.show(self._study, self.runs)
        if self._front.ends_with(measured):
            raise _Over(EXIT_INCOMPLETE)
        self._say_given_up()

    def _say_given_up(self) -> None:
        given_up = self._study.given_up(self.runs)
        batches = given_up.keys() - self._given_up.keys()
        cells = [cell for cell in self._study.saved.cells if cell.batch in batches]
        is_over = bool(cells) and self._study.next(self.runs) is None
        where = ("stopped after " if is_over else f"{cell.step} on {cell.target} is left out: " for cell in cells)
        lines = (
            f"{text}two failures in a row: {given_up[cell.batch]}" for text, cell in zip(where, cells, strict=True)
        )
        for line in dict.fromkeys(lines):
            self._front.say(line)
        self._given_up = given_up

    # ------------------------------------------------------------------ the change

    @property
    def _directory(self) -> Path:
        """Of the session, also where it has been removed: what a change has made is taken back nevertheless."""
        self._last_directory = self._runner.directory or self._last_directory
        assert self._last_directory
        return self._last_directory

    def _state_now(self) -> State:
        """Of the change, by what the session has; raises StoreError."""
        directory, goal = self._runner.directory, self._study.goal
        if directory is None or not isinstance(goal, CheckGoal):
            return "not made"
        runs = self._study.own(store.read_runs(directory)[0])
        return change_state(goal, runs, store.read_marks(directory), self._noted())

    def _noted(self) -> list[Ran]:
        """The commands of this check so far."""
        return check_commands(self._directory, study_in_session(self._directory, self._study.saved))

    async def _switch(self, step: Measure) -> None:
        """Make the change, or take it back, where what is next wants it so."""
        if step.is_changed is None:
            return
        await self._learn_state()
        self._look_at_the_change()
        is_first = step.is_changed and not any(run.batch in step.request.batches for run in self.runs)
        if step.is_changed != (self._state == "made"):
            if not step.is_changed:
                await self._undo(for_now=True)
            elif self._commands.change is None:
                await self._have_it_made(step)
                return
            else:
                await self._change(self._commands.change)
        if is_first and await self._is_unseen(step):
            self._front.say(NOT_SEEN)

    async def _learn_state(self) -> None:
        """Where the end of a change is not known, the user is asked: it is never made again unasked."""
        if self._is_half_way:
            self._is_half_way = False
            await self._undo(for_now=True)
        if self._state != "unknown":
            return
        begun = self._noted()[-1]
        what = f"the change command was started, and its result is not known: {begun.command}"
        made = await self._front.is_made(what)
        if made is None:
            undo = f": {remedy_of(self._directory.name)} undoes it" if begun.undo else ""
            code = EXIT_INCOMPLETE if self._front.is_ending else EXIT_REFUSED
            raise _Over(code, f"{what}: resume it at a terminal, which asks whether it is made{undo}")
        self._state = "made" if made else "not made"

    def _look_at_the_change(self) -> None:
        """Whether it is still as this check has left it, as far as that is noted."""
        if not self._commands.undo or self._runner.directory is None:
            return
        noted = self._noted()
        changed = change_state(self._study.goal, (), (), noted) if noted else self._state
        if "unknown" not in (changed, self._state) and changed != self._state:
            done = "undone" if self._state == "made" else "made"
            self._state = changed
            why = f"something other than this check {done} the change, so the check can't tell what it measured"
            raise _Over(EXIT_INCOMPLETE, why, spoiled=True)

    async def _change(self, command: str) -> None:
        self._state = "made"  # also where it fails half-way
        try:
            problem = await self._ran("change", command)
        except OSError as error:
            self._state = "not made"
            raise _Over(EXIT_INCOMPLETE, f"--change was not run: {cannot_write(error)}") from None
        if problem:
            raise _Over(EXIT_INCOMPLETE if self._front.is_ending else EXIT_FAILED, f"--change failed: {problem}")

    async def _undo(self, *, for_now: bool = False) -> None:
        """Take the change back, where that can be done; also at the end, whatever ended it."""
        command = self._commands.undo
        if command is None or self._state != "made":
            return
        with self._front.undoing():
            problem = await self._ran("undo", command)
        if not problem:
            self._state = "not made"
            return
        if for_now:
            raise _Over(EXIT_FAILED, f"--undo failed: {problem}")
        self._why_not_undone = problem

    @property
    def left_changed(self) -> str:
        """What to say where the change is in place and could be undone; else empty."""
        if self._commands.undo is None or self._state != "made":
            return ""
        why = f": {self._why_not_undone}" if self._why_not_undone else ""
        return f"the change was not undone{why}: {remedy_of(self._directory.name)}"

    async def _ran(self, kind: Literal["change", "undo"], command: str) -> str:
        """Run it, noted before and after; why it failed, or empty. An undo goes on where the user asks for the end."""
        is_stopped = self._front.begin_command(kind, command)
        begun = self._runner.begin_mark()  # before: what the command causes comes after its mark
        study = self._study.saved.id
        with contextlib.suppress(StoreError):  # a change is taken back nevertheless
            study = study_in_session(self._directory, self._study.saved).id
        problem = await run_noted(self._directory, kind, command, self._commands.undo, is_stopped, study)
        with contextlib.suppress(OSError, StoreError):
            await asyncio.wrap_future(begun.keep(f"{CHANGED if kind == 'change' else UNDONE}{command}"))
        return problem

    async def _have_it_made(self, step: Measure) -> None:
        if not await self._front.make_change(lambda: self._is_unseen(step)):
            raise _Over(EXIT_INCOMPLETE)
        self._state = "made"

    async def _is_unseen(self, step: Measure) -> bool:
        """Whether all that is known is as it was before the change; not where that can't be found out."""
        try:
            plan = self._study.plan(step, self._runner.prefilled())
        except OptionError:  # said as it is measured
            return False
        conditions = asyncio.wrap_future(self._runner.nodes.conditions(plan, step.request.target))
        while not (await asyncio.wait([conditions], timeout=_POLL_SECONDS))[0]:
            if self._front.is_ending:
                raise _Over(EXIT_INCOMPLETE, "stopped")
        alike = [run for run in self.runs
                 if run.preset == plan.steps[0].preset and run.batch not in step.request.batches]  # fmt: skip
        with contextlib.suppress(TransportError, TargetFault):  # else the runs say what is the matter
            now = conditions.result()
            return bool(alike) and is_seen(alike[-1], now.cluster, now.nodes) is False
        return False
