"""A plan run without the console: output, signals, and the exit code."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Event as Flag

from cephtui.cli.output import Output
from cephtui.cli.stopping import AGAIN, stopping
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.models import Notice, Outcome, Plan, Run
from cephtui.models.suite import Ordered
from cephtui.nodes.transport import TransportError
from cephtui.running.inbox import Inbox
from cephtui.running.outcomes import unsaved, worst
from cephtui.running.recorder import CUT_SHORT
from cephtui.running.runner import Runner
from cephtui.targets.base import Target
from cephtui.terminal import Ending, say, silence

_DRAIN_SECONDS = 0.25
"""How often events are printed and the display is drawn."""
_ANNOUNCED_AFTER_SECONDS = 1.0
log = logging.getLogger(__name__)


class Measuring:
    """Carries out plans one after the other, printing what happens."""

    def __init__(self, runner: Runner, inbox: Inbox, progress: _Progress, undoing: Flag) -> None:
        self._runner, self._inbox, self._progress, self._undoing = runner, inbox, progress, undoing

    @property
    def is_asked_to_end(self) -> bool:
        """Whether the user has asked for the end."""
        return self._progress.is_awaited

    @property
    def leaves(self) -> bool:
        """Whether something of it stays on the undo list, as is known behind the block of ``measuring``."""
        return self._runner.cleanup.leaves

    @contextlib.contextmanager
    def undoing(self) -> Iterator[None]:
        """In the block a change is taken back, which has its own limit of time."""
        self._undoing.set()
        try:
            yield
        finally:
            self._undoing.clear()

    def measure(
        self, plan: Plan, target: Target, output: Output, ordered: Ordered | None = None
    ) -> tuple[int, tuple[Run, ...]]:
        """The exit code of a plan, and its runs; raises StoreError where nothing could be run.

        What is ``ordered`` as a whole is kept in the session before anything is run.
        """
        dropped, done = self._inbox.dropped, self._runner.submit(plan, target, ordered)
        try:
            with output:
                _follow(self._inbox, output, done.done, self._progress)
        except OSError:  # the reader has closed the pipe: nothing waits for the run
            log.info("the output can't be written, stopping")
            silence(sys.stdout)
            self._runner.stop()
        code, runs = _ended(plan, done)
        if missed := self._inbox.dropped - dropped:
            say(f"{missed} samples were not printed, the reader was too slow; the session has them")
        return code, runs


@contextlib.contextmanager
def measuring(runner: Runner) -> Iterator[Measuring]:
    """In the block plans are carried out; then what they created is removed, whatever ended them."""
    inbox = runner.subscribe()
    undoing = Flag()

    def is_overdue(requested_at: float) -> bool:
        return not undoing.is_set() and runner.cleanup.is_overdue(requested_at)

    with stopping(runner.tidy_up, is_overdue, runner.abandon) as ending:
        runner.nodes.remove_left_behind()
        progress = _Progress(runner, ending)
        try:
            yield Measuring(runner, inbox, progress, undoing)
        finally:
            _tidy_up(runner, inbox, progress)


def say_notices(inbox: Inbox) -> None:
    """Print the notices of the next quarter of a second, and drop other events."""
    for event in inbox.drain(_DRAIN_SECONDS):
        if isinstance(event, Notice):
            say(event.text)


class _Progress:
    """Prints the progress of a removal that takes longer than a second."""

    def __init__(self, runner: Runner, ending: Ending) -> None:
        self._runner, self._ending = runner, ending
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


def _tidy_up(runner: Runner, inbox: Inbox, progress: _Progress) -> None:
    """Wait until everything is removed; print the progress, and what can't be removed."""
    tidied = runner.tidy_up()
    while not tidied.is_set():
        say_notices(inbox)
        progress.show()
    for problem in runner.close():
        say(problem)


def _ended(plan: Plan, done: Future[tuple[Run, ...]]) -> tuple[int, tuple[Run, ...]]:
    """The exit code, and the runs; raises StoreError."""
    try:
        runs = done.result()
    except TransportError as error:  # a node was lost between two steps
        say(str(error))
        return EXIT_INCOMPLETE, ()
    return _exit_code(plan, runs), runs


def _follow(inbox: Inbox, output: Output, finished: Callable[[], bool], progress: _Progress) -> None:
    last = False
    while not last:
        last = finished()  # before draining, so that the last events are printed too
        for event in inbox.drain(0.0 if last else _DRAIN_SECONDS):
            output.show(event)
        output.refresh()
        if progress.is_awaited:
            progress.show()


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
