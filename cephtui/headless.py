"""A plan carried out without the console: events printed as they come, signals, and the exit code."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NoReturn, Protocol

import click
from rich.live import Live as LiveDisplay

from cephtui import report
from cephtui.jsonlines import line
from cephtui.live import Live
from cephtui.models import Event, Notice, Outcome, Plan, Run
from cephtui.outcomes import worst
from cephtui.runner import Inbox, Runner
from cephtui.terminal import handling, make_console, say, silence, waiting

EXIT_FAILED, EXIT_REFUSED, EXIT_INCOMPLETE = 1, 3, 4
_GRACE_SECONDS = 15
_LIVE_PER_SECOND = 4
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
log = logging.getLogger(__name__)


def dry_run(runner: Runner, plan: Plan, as_json: bool) -> int:
    """Show what would happen, guards included, and run nothing; the exit code."""

    if as_json:
        print(line(plan), flush=True)
    else:
        make_console().print(report.plan(plan))
    refusals = runner.check(plan).result()
    for refusal in refusals:
        say(f"refused: {refusal.text}")
    return EXIT_REFUSED if refusals else 0


def carry_out(runner: Runner, plan: Plan, output: Output) -> int:
    """Run a plan to its end, printing what happens; the exit code. Raises StoreError where nothing could be run."""

    inbox = runner.subscribe()
    runner.remove_left_behind()
    with _stopping(runner):
        done = runner.submit(plan)
        try:
            with output:
                _follow(inbox, output, done.done)
        except OSError:  # who was to read it is gone: nobody is waiting for the run
            log.info("the output can't be written, stopping")
            silence(sys.stdout)
            runner.stop()
        runs = done.result()
    if inbox.dropped:
        say(f"{inbox.dropped} samples were not printed, the reader was too slow; the session has them")
    for problem in runner.close():
        say(problem)
    return _exit_code(plan, runs)


def _follow(inbox: Inbox, output: Output, finished: Callable[[], bool]) -> None:
    last = False
    while not last:
        last = finished()  # asked first, so that what came before the end is still drained
        for event in inbox.drain(0.0 if last else 1.0 / _LIVE_PER_SECOND):
            output.show(event)
        output.refresh()


def _exit_code(plan: Plan, runs: Sequence[Run]) -> int:

    outcomes: list[Outcome] = [run.outcome or "lost" for run in runs]
    if len(runs) < len(plan.steps):
        outcomes.append("stopped")
    for run in runs:
        if run.outcome != "ok":
            say(f"{run.preset} #{run.run} {run.outcome}" + (f": {run.error}" if run.error else ""))
    codes = {"ok": 0, "failed": EXIT_FAILED, "refused": EXIT_REFUSED}
    return codes.get(worst(outcomes), EXIT_INCOMPLETE)


def _stopping(runner: Runner) -> contextlib.AbstractContextManager[None]:
    """The first signal stops the run and keeps what was measured; a second, or a stuck output, ends cephtui."""

    def stop(number: int, frame: FrameType | None) -> None:
        for other in _ENDING:
            signal.signal(other, leave)
        signal.alarm(_GRACE_SECONDS)
        runner.stop()

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise click.Abort  # unlike KeyboardInterrupt, click prints nothing for it

    return handling({**dict.fromkeys(_ENDING, stop), signal.SIGALRM: leave})


class Output(Protocol):
    """Prints what a runner publishes."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...

    def show(self, event: Event) -> None:
        """Take in, and perhaps print, an event."""
        ...

    def refresh(self) -> None:
        """Called a few times a second."""
        ...


class JsonOutput:
    """The public events on stdout, a line each, and nothing else."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        pass

    def show(self, event: Event) -> None:
        """See Output."""

        if isinstance(event, Notice):
            say(event.text)
        elif not isinstance(event, Run) or event.outcome is not None:
            sys.stdout.write(line(event) + "\n")
            sys.stdout.flush()

    def refresh(self) -> None:
        """See Output."""


class TerminalOutput:
    """A live display on a terminal, and then a table; only the table, and notices, where there is none."""

    def __init__(self) -> None:
        self._live = Live()
        self._changed = time.monotonic()
        self._finished: list[Run] = []
        self._console = make_console()
        self._display = LiveDisplay(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> None:
        if self._console.is_terminal:
            self._display.start()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with contextlib.suppress(OSError), waiting(sys.stdout, kind is None):
            self._display.stop()  # where the terminal is gone, the first error is the one to tell
        if self._finished and kind is None:
            self._console.print(report.runs(self._finished, errors=False))
            self._console.print(f"saved as session {self._finished[0].session}", style="dim")

    def show(self, event: Event) -> None:
        """See Output."""
        self._live.take(event)
        self._changed = time.monotonic()
        if isinstance(event, Run) and event.outcome is not None:
            self._finished.append(event)
        elif isinstance(event, Run):
            self._announce(f"{event.preset} ({self._live.begun}/{len(self._live.steps)})")
        elif isinstance(event, Notice):
            self._announce(event.text)

    def refresh(self) -> None:
        """See Output."""
        if self._live.current and self._display.is_started:
            self._display.update(report.live(self._live, time.monotonic() - self._changed), refresh=True)

    def _announce(self, text: str) -> None:
        if not self._console.is_terminal:
            say(text)
