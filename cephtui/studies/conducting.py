"""An entry of the queue while it is conducted, and what was attempted since the queue was released."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cephtui.models import NodeResult, Outcome, Plan, Run
from cephtui.nodes.transport import TransportError
from cephtui.planning import Request
from cephtui.printable import one_line
from cephtui.running.launch import FAULTS, Ask, Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.studies.queue import Entry, Place, Queue, place_of
from cephtui.tools.base import OptionError

if TYPE_CHECKING:
    from cephtui.studies.base import Measure, Study, StudyResult
    from cephtui.studies.conductor import Conductor, Ended


class Connecting(Protocol):
    """Gets what is measured next ready, in a front end."""

    async def connect(self, request: Request) -> Request:
        """The request with its nodes connected and their Ceph access found; raises NotRun."""
        ...

    async def is_made(self, question: str) -> bool | None:
        """Whether the change that the question is about is in place; None where the user does not say."""
        ...


class Display(Protocol):
    """Shows what becomes of the entries of a queue."""

    def announce(self, text: str) -> None:
        """What is being done before a run begins, or why none has begun."""
        ...

    def announce_end(self, word: str) -> None:
        """The current run is being ended: ``stopping`` or ``skipping``."""
        ...

    def begins(self, study: Study[Any], step: Measure, plan: Plan, runs: Sequence[Run]) -> None:
        """A plan of a study begins, after these runs of it."""
        ...

    def brought(self, study: Study[Any], runs: Sequence[Run]) -> None:
        """What is known of a study after the newest of these runs."""
        ...

    def concluded(self, study: Study[Any], conclusion: StudyResult) -> None:
        """A study has come to its end."""
        ...

    def say(self, text: str) -> None:
        """A line that the user has to see."""
        ...

    def report_error(self, text: str, title: str = "") -> None:
        """An error that the user has to see."""
        ...

    def report_hold(self, queue: Queue) -> None:
        """Some of the queue is held, for the reason in its note."""
        ...

    def want_change(self, study: Study[Any]) -> None:
        """The user is to make the change of a check, which is held until that is said."""
        ...

    def catch_up(self) -> None:
        """Show what the runner has published up to now."""
        ...


class Attempts:
    """What was run, or could not be, since the queue was released."""

    def __init__(self) -> None:
        self._runs, self._optional = list[Run](), set[str]()

    def clear(self) -> None:
        """The queue is released: what was attempted before is no reason any more."""
        self._runs.clear()

    def add(self, study: Study[Any], runs: Sequence[Run]) -> None:
        """Runs of a study, in the order in which they were made."""
        self._runs += runs
        self._optional.update(cell.batch for cell in study.saved.cells if cell.optional)

    def why_given_up(self, entry: Entry) -> str:
        """Why nothing of an entry is measured after two failures in a row; empty where something is."""
        from cephtui.analysis.verdicts.failures import given_up
        from cephtui.studies.base import needs, singly

        pending = singly(entry.study.pending(entry.runs))
        reasons = [given_up(needs(request), self._runs, optional=self._optional) for request in pending]
        return reasons[0] if reasons and all(reasons) else ""


class Conducting:
    """The front end of the conductor of an entry."""

    def __init__(
        self, entry: Entry, runner: Runner, front: Connecting, display: Display, ask: Ask, attempts: Attempts
    ) -> None:
        self.entry = entry
        self._runner, self._front, self._display = runner, front, display
        self._ask, self._attempts = ask, attempts
        self._conductor: Conductor | None = None
        self.is_stopped = self.is_skipped = self.wants_change = False
        """What the user has asked for, or is asked for."""
        self.why_held = "stopped"
        self.place: Place | None = None
        """Of what is measured now."""
        self.command_text = ""
        """The command of the user that runs now, and its limit of time; empty where none does."""

    @property
    def why_refused(self) -> str:
        """Why it is not begun: a change in the session would be lost sight of; empty where it is."""
        from cephtui.models.study import CheckGoal
        from cephtui.sessions.changes import why_refused

        directory, entry = self._runner.directory, self.entry
        if directory is None or not isinstance(entry.study.goal, CheckGoal):
            return ""
        return why_refused(directory, entry.commands.undo if entry.runs and entry.commands else None)

    async def conduct(self) -> Ended:
        """Measure until the study has come to its end, is stopped, or given up; raises StoreError."""
        from cephtui.studies.conductor import Conductor

        self._conductor = Conductor(self.entry.study, self._runner, self, self.entry.commands, self.entry.runs)
        return await self._conductor.conduct()

    @property
    def left_changed(self) -> str:
        """What to say where the change is in place and could be undone; else empty."""
        return self._conductor.left_changed if self._conductor else ""

    # ------------------------------------------------------------------ for the conductor

    @property
    def is_ending(self) -> bool:
        return self.is_stopped

    async def measure(self, study: Study[Any], step: Measure, runs: Sequence[Run]) -> Sequence[Run] | None:
        self.is_skipped, self.place, self.command_text = False, place_of(step.request), ""
        self._display.announce("checking the nodes and the target ...")

        def plan_of(request: Request) -> Plan:
            return study.plan(replace(step, request=request), self._runner.prefilled())

        def is_cancelled() -> bool:
            return self.is_stopped or self.is_skipped

        try:
            request = await self._front.connect(step.request)
            plan, target = await Launcher(self._runner, self._ask).ready(request, plan_of, is_cancelled)
            self._display.begins(study, step, plan, runs)
            measured = await asyncio.wrap_future(self._runner.submit(plan, target, study.saved))
        except StoreError:
            raise
        except (NotRun, *FAULTS) as why:
            return self._not_measured(study, step.request, why)
        self._display.catch_up()
        self._attempts.add(study, measured)
        if not measured:
            self._display.announce("not run")
        return measured if measured or self.is_stopped else None

    def _not_measured(self, study: Study[Any], request: Request, why: Exception) -> Sequence[Run] | None:
        """What a request has brought that was not run."""
        text = str(why)
        self._display.announce(f"not run: {text}" if text else "not run")
        if isinstance(why, NotRun) and (self.is_stopped or self.is_skipped):
            return () if self.is_stopped else None
        if text:
            self._display.report_error(text, "not run")
            self._attempts.add(study, [_failed(request, why)])
        return None

    def ends_with(self, runs: Sequence[Run]) -> bool:
        return self.is_stopped

    def show(self, study: Study[Any], runs: Sequence[Run]) -> None:
        self._display.brought(study, runs)

    def say(self, text: str) -> None:
        from cephtui.analysis.verdicts.noted import NOT_SEEN

        if text == NOT_SEEN and not (self.entry.commands and self.entry.commands.change):
            return  # it was asked about when the user said that the change is made
        self.why_held = text
        self._display.say(text)

    def begin_command(self, kind: Literal["change", "undo"], command: str) -> Callable[[], bool]:
        from cephtui.running.command import time_limit

        text = f"{kind}, {time_limit()}: {command}"
        self.command_text = text
        self._display.announce(text)
        return lambda: kind == "change" and self.is_stopped

    @contextlib.contextmanager
    def undoing(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.command_text = ""

    async def make_change(self, is_unseen: Callable[[], Awaitable[bool]]) -> bool:
        """The user says on a screen of its own that it is made, which is marked; then the entry goes on."""
        self.wants_change, self.why_held = True, "the change is to be made"
        self._display.want_change(self.entry.study)
        return False

    async def is_made(self, question: str) -> bool | None:
        return await self._front.is_made(question)


def _failed(request: Request, why: Exception) -> Run:
    """An attempt that became no run, for the rule of two failures."""
    unusable: Collection[str] = why.unusable if isinstance(why, NotRun) else ()
    outcome: Outcome = "refused"
    if unusable or isinstance(why, TransportError):
        outcome = "lost"
    elif isinstance(why, OptionError):
        outcome = "failed"
    return Run(
        session="none",
        run=0,
        batch=request.batches[0],
        preset=request.preset.name,
        tool=request.preset.tool.name,
        target=request.target.spec,
        options={},
        command="none",
        started_at=datetime.now(UTC),
        outcome=outcome,
        error=one_line(str(why)),
        nodes=tuple(
            NodeResult(node=node.name, command="none", outcome="lost" if node.name in unusable else None)
            for node in request.hosts
        ),
    )
