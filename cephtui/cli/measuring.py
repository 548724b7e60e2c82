"""A study carried out on a terminal, or for a program: signals, output, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from threading import Event as Flag
from typing import Any, Literal

import click

from cephtui.analysis.verdicts.noted import NOT_SEEN
from cephtui.cli.emit import Output, emit, emit_table
from cephtui.cli.errors import Refused
from cephtui.cli.output import JsonOutput, TerminalOutput, print_saved
from cephtui.cli.stopping import AGAIN, stopping
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED, WORST
from cephtui.models import Notice, Outcome, Plan, Run
from cephtui.nodes.transport import TransportError
from cephtui.reports.blocks import View, together
from cephtui.reports.render import FORMATS
from cephtui.reports.studies import view_of
from cephtui.reports.studies.base import missing_text, resume_command
from cephtui.running.bench import BegunMark
from cephtui.running.command import time_limit
from cephtui.running.inbox import Inbox
from cephtui.running.outcomes import unsaved, worst
from cephtui.running.recorder import CUT_SHORT
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.kept import holds_nothing
from cephtui.sessions.store import StoreError
from cephtui.sessions.studies import study_in_session
from cephtui.studies.base import Measure, Study
from cephtui.studies.conductor import Commands, Conductor, Ended, FrontEnd
from cephtui.terminal import Ending, Interrupted, say, silence
from cephtui.tools.base import OptionError

_DRAIN_SECONDS = 0.25
"""How often events are printed and the display is drawn."""
_ANNOUNCED_AFTER_SECONDS = 1.0
_MAKE_IT = "Make the change, describe it here, then press Enter: "
_AS_IT_IS = "Press Enter to measure without a change; or make the change, describe it here, press Enter: "
_IS_IN_PLACE = "Is the change in place now? [y/n]: "
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}
log = logging.getLogger(__name__)


def carry_out(
    runner: Runner,
    study: Study[Any],
    runs: Sequence[Run] = (),
    commands: Commands | None = None,
    *,
    output: Output,
) -> int:
    """Measure what is left of a study after these runs, and write what all of them show; the exit code.

    Raises StoreError where nothing could be run.
    """
    with removing(runner) as progress:
        front = _Terminal(runner, progress, as_json=output.form == "json")
        conductor = Conductor(study, runner, front, commands, runs)
        try:
            ended = asyncio.run(conductor.conduct())
        except Interrupted as error:
            raise Interrupted(*error.args, *filter(None, [conductor.left_changed])) from None
        except (StoreError, OptionError):
            if conductor.left_changed:
                say(conductor.left_changed)
            raise
        code = max(ended.code, front.code, key=WORST.index)
        try:
            code = max(code, _conclude(runner, study, ended, front, output), key=WORST.index)
        except (StoreError, Refused) as error:  # what was measured is in the session
            say(str(error))
            code = max(code, EXIT_INCOMPLETE, key=WORST.index)
        except OSError:  # the terminal is closed: what was created is removed nevertheless
            silence(sys.stdout)
        if conductor.left_changed:
            say(conductor.left_changed)
    return code or (EXIT_INCOMPLETE if front.is_ending or runner.cleanup.leaves else 0)


def _conclude(runner: Runner, study: Study[Any], ended: Ended, front: _Terminal, output: Output) -> int:
    """Write and keep what the runs show, and say how what is missing is measured; the exit code of that.

    A file has it as one document, the conclusion first. Where nothing was measured it was said why.
    """
    view, directory = view_of(study), runner.directory
    if directory is None or holds_nothing(directory):
        return 0
    measured = view.measured(study, ended.runs)
    if output.form == "table":
        for table in measured:
            emit_table(table)
        if view.names_session:
            print_saved(ended.runs)
    runs, _ = store.read_runs(directory)
    _say_what_is_missing(study, runs, study_in_session(directory, study.saved).id, directory.name)
    is_judged = ended.is_judged and not (front.is_ending and study.needs_its_end)
    marks = store.read_marks(directory)
    conclusion = study.conclude(runs, marks, directory, datetime.now(UTC)) if is_judged else None
    concluded = view.concluded(study, conclusion) if conclusion else []
    if output.form == "table" and view.concludes_by_run:
        concluded = []
    _emit_results(concluded, measured, output)
    if conclusion is None:
        return 0
    try:
        conclusion.keep(directory)
    except OSError as error:
        say(f"the results were not saved in session {directory.name}: {error.strerror}")
    return conclusion.exit_code


def _emit_results(concluded: Sequence[View], measured: Sequence[View], output: Output) -> None:
    """The conclusions; in a file with what was measured, as one document."""
    if output.form not in FORMATS:
        for result in concluded:
            emit(result, output)
    elif concluded or measured:
        emit(together(*concluded, *measured), output)


def _say_what_is_missing(study: Study[Any], runs: Sequence[Run], name: str, session: str) -> None:
    if study.own(runs) and (missing := missing_text(study, runs)):
        say(f"{missing}: {resume_command(study.kind, session, name)}")


class _Terminal(FrontEnd):
    """Prints what happens, and asks on the terminal."""

    def __init__(self, runner: Runner, progress: _Removal, *, as_json: bool) -> None:
        self.as_json, self.code = as_json, 0
        """``code`` is the worst exit code of the runs so far."""
        self._runner, self._progress = runner, progress
        self._inbox = progress.inbox

    @property
    def is_ending(self) -> bool:
        return self._progress.is_awaited

    async def measure(self, study: Study[Any], step: Measure, runs: Sequence[Run]) -> Sequence[Run]:
        plan = study.plan(step, self._runner.prefilled())
        if line := view_of(study).begins(study, step, plan, runs):
            say(line)
        dropped = self._inbox.dropped
        done = self._runner.submit(plan, step.request.target, study.saved)
        output = JsonOutput() if self.as_json else TerminalOutput()
        try:
            with output:
                await self._follow(output, done)
        except OSError:  # the reader has closed the pipe: nothing waits for the run
            log.info("can't write the output, stopping")
            silence(sys.stdout)
            self._runner.stop()
        measured = await self._measured(plan, done)
        if missed := self._inbox.dropped - dropped:
            say(f"{missed} samples were not printed because the reader was too slow; the session has all of them")
        return measured

    async def _follow(self, output: JsonOutput | TerminalOutput, done: Future[tuple[Run, ...]]) -> None:
        ended = asyncio.wrap_future(done)
        is_last = False
        while not is_last:
            is_last = ended.done()  # before draining, so that the last events are printed too
            for event in self._inbox.drain():
                output.show(event)
            output.refresh()
            if self.is_ending:
                self._progress.show()
            if not is_last:
                await asyncio.wait([ended], timeout=_DRAIN_SECONDS)

    async def _measured(self, plan: Plan, done: Future[tuple[Run, ...]]) -> tuple[Run, ...]:
        """The runs of a plan, whose exit code is noted; raises StoreError."""
        try:
            runs = await asyncio.wrap_future(done)
        except TransportError as error:  # a node was lost between two steps
            say(str(error))
            self._note(EXIT_INCOMPLETE)
            return ()
        self._note(_exit_code(plan, runs))
        return runs

    def _note(self, code: int) -> None:
        self.code = max(self.code, code, key=WORST.index)

    def ends_with(self, runs: Sequence[Run]) -> bool:
        return self.is_ending or any(run.outcome == "stopped" for run in runs)

    def show(self, study: Study[Any], runs: Sequence[Run]) -> None:
        for line in view_of(study).brought(study, runs):
            say(line)

    def say(self, text: str) -> None:
        say(text)

    def begin_command(self, kind: Literal["change", "undo"], command: str) -> Callable[[], bool]:
        is_told = self.is_ending
        say(f"{kind}, {time_limit()}: {command}{AGAIN if is_told else ''}")

        def is_stopped() -> bool:
            nonlocal is_told
            is_asked = self.is_ending
            if is_asked and not is_told and kind == "undo":
                say(f"the change is still being undone, {time_limit()}{AGAIN}")
            is_told = is_asked
            return is_asked and kind == "change"

        return is_stopped

    @contextlib.contextmanager
    def undoing(self) -> Iterator[None]:
        self._progress.undoing.set()
        try:
            yield
        finally:
            self._progress.undoing.clear()

    async def make_change(self, is_unseen: Callable[[], Awaitable[bool]]) -> bool:
        """The words that are typed become the mark; where nothing of the change is seen, it is asked about first."""
        if not _is_terminal():
            say("there is no terminal to ask for the change: give --change")
            self._note(EXIT_REFUSED)
            return False
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
        answer = await self._typed(_MAKE_IT)
        while answer and await is_unseen():
            say(NOT_SEEN)
            again = await self._typed(_AS_IT_IS)
            if again is None or not again[0]:
                answer = answer if again else None
                break
            answer = again
        if answer:
            await asyncio.wrap_future(answer[1].keep(answer[0] or "the change"))
        return answer is not None

    async def is_made(self, question: str) -> bool | None:
        if not _is_terminal():
            return None
        say(question)
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        while answer := await self._typed(_IS_IN_PLACE):
            if answer[0].lower() in _ANSWERS:
                return _ANSWERS[answer[0].lower()]
        return None

    async def _typed(self, question: str) -> tuple[str, BegunMark] | None:
        """A line of the user's, and a mark of the moment at which it was there; None where the user wants the end."""
        click.echo(question, nl=False, err=True)
        while not select.select([sys.stdin], [], [], 0)[0]:
            await asyncio.sleep(_DRAIN_SECONDS)
            if self.is_ending:
                return None
        begun = self._runner.begin_mark()
        words = sys.stdin.readline()
        if not words:
            say("stopped: the terminal was closed")
            return None
        return words.strip(), begun


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _exit_code(plan: Plan, runs: Sequence[Run]) -> int:
    outcomes: list[Outcome] = [run.outcome or "lost" for run in runs]
    if len(runs) < len(plan.steps):
        outcomes.append("stopped")
    if not runs:
        say("stopped before the first run began")
    for run in runs:
        if run.outcome != "ok":
            say(f"{run.preset} #{run.run} {run.outcome}" + (f": {run.error}" if run.error else ""))
        if unsaved(run) and not (run.error or "").startswith(CUT_SHORT):
            say(f"{run.preset} #{run.run}: {unsaved(run)}")
    codes = {"ok": EXIT_INCOMPLETE if any(map(unsaved, runs)) else 0, "failed": EXIT_FAILED, "refused": EXIT_REFUSED}
    return codes.get(worst(outcomes), EXIT_INCOMPLETE)


# ------------------------------------------------------------------ the end


class _Removal:
    """Prints the progress of a removal that takes longer than a second."""

    def __init__(self, runner: Runner, ending: Ending, undoing: Flag) -> None:
        """``undoing`` is set while a change is taken back, which has a limit of time of its own."""
        self._runner, self._ending, self.undoing = runner, ending, undoing
        self.inbox = runner.subscribe()
        self._shown = ""
        self._is_offered = False

    @property
    def is_awaited(self) -> bool:
        """Whether the user has asked for the end."""
        return self._ending.is_requested

    def show(self) -> None:
        """Called a few times a second."""
        since, text = self._runner.cleanup.begun_at, self._runner.cleanup.progress
        offer = self.is_awaited and not self._is_offered
        if text and (text != self._shown or offer) and time.monotonic() - since > _ANNOUNCED_AFTER_SECONDS:
            say(f"{text}{AGAIN if offer else ''}")
            self._shown, self._is_offered = text, self.is_awaited


@contextlib.contextmanager
def removing(runner: Runner) -> Iterator[_Removal]:
    """Context manager: measure inside; on exit, for whatever reason, what was created is removed."""
    undoing = Flag()

    def is_overdue(asked_at: float) -> bool:
        return not undoing.is_set() and runner.cleanup.is_overdue(asked_at)

    with stopping(runner.tidy_up, is_overdue, runner.abandon) as ending:
        removal = _Removal(runner, ending, undoing)
        runner.nodes.remove_left_behind()
        try:
            yield removal
        finally:
            _tidy_up(runner, removal)


def _tidy_up(runner: Runner, removal: _Removal) -> None:
    """Wait until everything is removed; print the progress, and what can't be removed."""
    tidied = runner.tidy_up()
    while not tidied.is_set():
        say_notices(removal.inbox)
        removal.show()
    for problem in runner.close():
        say(problem)


def say_notices(inbox: Inbox) -> None:
    """Print the notices of the next quarter of a second, and drop other events."""
    for event in inbox.drain(_DRAIN_SECONDS):
        if isinstance(event, Notice):
            say(event.text)
