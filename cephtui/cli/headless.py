"""A plan carried out without the console: events printed as they come, signals, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

import click
from rich.live import Live as LiveDisplay

from cephtui.analysis.live import Live
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.models import Event, Node, NodeRow, Notice, Outcome, Plan, Run
from cephtui.models.refusal import Refusal
from cephtui.nodes.state import NodeState, diagnosis
from cephtui.nodes.transport import Question, TransportError
from cephtui.planning import Request
from cephtui.printable import one_line
from cephtui.reports import report
from cephtui.running.cleanup import leftovers
from cephtui.running.inbox import Inbox
from cephtui.running.launch import PATIENCE_SECONDS, Ask, Launcher, NotRun, Unanswered
from cephtui.running.outcomes import unsaved, worst
from cephtui.running.recorder import CUT_SHORT
from cephtui.running.runner import Runner
from cephtui.sessions.jsonlines import line
from cephtui.sessions.store import Undo
from cephtui.targets.base import Removed, Target, TargetFault
from cephtui.targets.leftovers import Way, describe, way_of
from cephtui.terminal import Ending, Interrupted, handling, make_console, say, set_waiting, silence, waiting

_GRACE_SECONDS = 15
_LIVE_PER_SECOND = 4
_SAID_AFTER_SECONDS = 1.0
_AGAIN = " (a second Ctrl+C or signal ends at once)"
_AT_ONCE, _ASKED_MOST = 32, 32
T = TypeVar("T")
log = logging.getLogger(__name__)


def dry_run(runner: Runner, plan: Plan, target: Target, as_json: bool) -> int:
    """Show what would happen, guards included, and run nothing; the exit code."""

    if as_json:
        print(line(plan), flush=True)
    else:
        make_console().print(report.plan(plan))
    refusals = runner.nodes.check(plan, target).result()
    for refusal in refusals:
        say(f"refused: {refusal.text}")
    return EXIT_REFUSED if refusals else 0


def carry_out(runner: Runner, plan: Plan, target: Target, output: Output) -> int:
    """Run a plan to its end, printing what happens; the exit code. Raises StoreError where nothing could be run."""

    inbox = runner.subscribe()
    with _stopping(runner.tidy_up, runner.cleanup.is_overdue, runner.abandon) as ending:
        runner.nodes.remove_left_behind()
        progress = _Progress(runner, ending)
        try:
            code = _followed(runner, plan, target, inbox, output, progress)
        finally:
            _tidy_up(runner, inbox, progress)
    return code or (EXIT_INCOMPLETE if ending.asked else 0)


def _followed(runner: Runner, plan: Plan, target: Target, inbox: Inbox, output: Output, progress: _Progress) -> int:
    done = runner.submit(plan, target)
    try:
        with output:
            _follow(inbox, output, done.done, progress)
    except OSError:  # who was to read it is gone: nobody is waiting for the run
        log.info("the output can't be written, stopping")
        silence(sys.stdout)
        runner.stop()
    code = _ended(plan, done)
    if inbox.dropped:
        say(f"{inbox.dropped} samples were not printed, the reader was too slow; the session has them")
    return code


class _Progress:
    """Says how far a removal is that takes longer than a moment."""

    def __init__(self, runner: Runner, ending: Ending) -> None:
        self._runner, self._ending = runner, ending
        self._said = ""

    @property
    def is_awaited(self) -> bool:
        """Whether the user has asked for the end."""
        return self._ending.asked

    def show(self) -> None:
        """Called a few times a second."""
        since, text = self._runner.cleanup.begun_at, self._runner.cleanup.progress
        if text and text != self._said and time.monotonic() - since > _SAID_AFTER_SECONDS:
            say(f"{text}{_AGAIN if self.is_awaited and not self._said else ''}")
            self._said = text


def _tidy_up(runner: Runner, inbox: Inbox, progress: _Progress) -> None:
    """Wait until all is removed; what takes longer than a moment, and what can't be removed, is told."""
    tidied = runner.tidy_up()
    while not tidied.is_set():
        for event in inbox.drain(1.0 / _LIVE_PER_SECOND):
            if isinstance(event, Notice):
                say(event.text)
        progress.show()
    for problem in runner.close():
        say(problem)


def _ended(plan: Plan, done: Future[tuple[Run, ...]]) -> int:
    """The exit code; raises StoreError."""
    try:
        return _exit_code(plan, done.result())
    except TransportError as error:  # between two steps a node has gone
        say(str(error))
        return EXIT_INCOMPLETE


class Prompts(Ask):
    """Asks on the terminal; what the guards ask is agreed to with flags, before."""

    async def answer(self, node: Node, question: Question) -> str:
        """Where there is no terminal nothing is asked, and nothing unknown is accepted."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            how = f"ssh {f'-F {node.ssh_config} ' if node.ssh_config else ''}{node.host}"
            remedy = "run it in a terminal" if question.secret else f"check the key, and accept it with: {how}"
            raise Unanswered(f"{node.name}: {question.topic}: there is no terminal to ask on: {remedy}")
        text = one_line(f"{node.name}: {question.text}")
        if question.secret:
            answer: str = click.prompt(
                text, hide_input=True, err=True, default="", show_default=False, prompt_suffix=" "
            )
            return answer
        if click.confirm(text, err=True):
            return "yes"
        raise Unanswered(f"{node.name}: its host key was not accepted")

    async def agree(self, refusal: Refusal) -> bool:
        """Raises NotRun: its remedy names the flag."""
        raise NotRun(refusal.text, refusal)

    def say(self, text: str) -> None:
        """On stderr."""
        say(text)


def connect(runner: Runner, nodes: Sequence[Node], pool: str | None = None) -> list[NodeState]:
    """See Launcher.connect."""

    async def states() -> list[NodeState]:
        return [state async for state in Launcher(runner, Prompts()).connect(nodes, pool)]

    return asyncio.run(states())


def survey(runner: Runner, request: Request, draft: Plan) -> Request:
    """The request with its nodes connected, their Ceph access found, and its target surveyed. Raises NotRun.

    ``draft`` is the plan as far as it is known without that.
    """
    loads = len(request.nodes) > 1 or any(step.writes for step in draft.steps)
    states = connect(runner, request.nodes, request.target.pool)
    problem = next((state.problem for state in states if state.problem), None)
    if problem:
        raise NotRun(problem)
    request = replace(request, nodes=tuple(state.node for state in states))
    surveying = Launcher(runner, Prompts()).survey(request, patient=loads and not request.shared_pool)
    try:
        return asyncio.run(surveying)
    except NotRun as error:
        raise NotRun(f"refused: {error}", error.refusal) from None
    except (TransportError, TargetFault) as error:
        raise NotRun(str(error)) from None


def _patiently(asked: Future[T], text: str) -> T:
    """The result; what takes longer than a moment is announced."""
    with contextlib.suppress(TimeoutError):
        return asked.result(PATIENCE_SECONDS)
    say(text)
    return asked.result()


def diagnose(runner: Runner, nodes: Sequence[Node], needed: Collection[str] = ()) -> list[NodeRow]:
    """What each node is like, and what is missing there of the tools that are ``needed`` (see ``diagnosis``)."""
    states = connect(runner, nodes)
    asked = [runner.nodes.health(s.node) if s.environment and s.environment.tools.get("ceph") else None for s in states]
    return [
        diagnosis(state, needed, _patiently(health, "asking the cluster ...") if health else None)
        for state, health in zip(states, asked, strict=True)
    ]


def clean_up(
    runner: Runner, left: Sequence[tuple[Path, Undo]], own: Mapping[str, Node], *, as_listed: bool = False
) -> int:
    """Remove what was left behind, telling each; the exit code.

    ``own`` are the user's nodes by their names. Another way to a node, that only a session's list knows, is taken
    with ``as_listed``, or where the user agrees to it on the terminal.
    """
    inbox = runner.subscribe()
    wanted: dict[Way, list[tuple[Path, Undo]]] = {}
    for path, undo in left:
        wanted.setdefault(way_of(undo, own), []).append((path, undo))
    there = dict.fromkeys((undo.node, undo.target) for _, undo in left)

    def still_there() -> list[str]:
        runner.abandon()
        return leftovers(list(there))

    try:
        states, refused = _ways_taken(runner, wanted, as_listed)
    except (Interrupted, click.Abort):
        raise Interrupted(*still_there()) from None
    failed = 0
    with _stopping(lambda: say(f"finishing the removal{_AGAIN}"), runner.cleanup.is_overdue, still_there) as ending:
        for way, found in wanted.items():
            if way in refused:
                failed += len(found)
                say(f"{one_line(way.listed.name)}: {_things(found)} not removed: {refused[way]}")
                continue
            failed += sum(_removed(runner, states[way], some, inbox, there) for some in _batches(found))
    if ending.asked:
        return EXIT_INCOMPLETE
    if not failed:
        return 0
    return EXIT_REFUSED if failed == sum(len(wanted[way]) for way in refused) else EXIT_FAILED


def _things(found: Sequence[tuple[Path, Undo]]) -> str:
    first = one_line(found[0][1].target)
    return f"{first} was" if len(found) == 1 else f"{first} and {len(found) - 1} more were"


def _ways_taken(
    runner: Runner, wanted: Mapping[Way, Sequence[tuple[Path, Undo]]], as_listed: bool
) -> tuple[dict[Way, NodeState], dict[Way, str]]:
    """The nodes as they were reached, and why some are not."""
    states = _reached(runner, {way: way.own for way in wanted if way.is_own and way.own})
    others = [way for way in wanted if way not in states or not (states[way].problem or way.fits(states[way].node))]
    refused = {way: why for way in others if (why := way.unusable)}
    asked = [way for way in others if way not in refused]
    refused |= dict.fromkeys(asked[_ASKED_MOST:], "its list says how it is reached, as too many do: clean up again")
    asked = asked[:_ASKED_MOST]
    if asked and not (as_listed or _agreed(asked, wanted)):
        remedy = "name it with --node, in --config or by --ceph-conf, or agree with --as-listed"
        refused |= dict.fromkeys(asked, f"only its list says how it is reached: {remedy}")
        asked = []
    return {**states, **_reached(runner, {way: way.listed for way in asked})}, refused


def _reached(runner: Runner, nodes: Mapping[Way, Node]) -> dict[Way, NodeState]:
    """Those of the same pool together: it helps to choose between several Ceph accesses."""
    found: dict[Way, NodeState] = {}
    for pool in dict.fromkeys(way.pool for way in nodes):
        for some in _batches([(way, node) for way, node in nodes.items() if way.pool == pool]):
            states = connect(runner, [node for _, node in some], pool)
            found |= {way: state for (way, _), state in zip(some, states, strict=True)}
    return found


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """So many as are done at once: a list may be very long."""
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _agreed(ways: Sequence[Way], wanted: Mapping[Way, Sequence[tuple[Path, Undo]]]) -> bool:
    """Show what only the lists say, and ask for it on the terminal."""
    for way in ways:
        say(f"{one_line(way.listed.name)} is reached otherwise by session {wanted[way][0][0].name} than by you:")
        say(f"  its list: {describe(way.listed)}")
        say(f"  you: {describe(way.own) if way.own else 'no such node in your config or on the command line'}")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm("Reach them as the lists say? It runs the prefixes and the ssh_config named there", err=True)


def _removed(
    runner: Runner,
    state: NodeState,
    found: Sequence[tuple[Path, Undo]],
    inbox: Inbox,
    there: dict[tuple[str, str], None],
) -> int:
    """Remove these from a node, and take them out of what is ``there``; how many could not be."""
    removing = [None if state.problem else runner.nodes.remove(state.node, undo, path) for path, undo in found]
    failed = 0
    for (_, undo), done in zip(found, removing, strict=True):
        removed = _waited_for(done, inbox) if done else Removed("failed", state.problem or "")
        node, spec = one_line(undo.node), one_line(undo.target)
        if removed.is_settled:
            there.pop((undo.node, undo.target), None)
        if removed.status == "done":
            say(f"{node}: {spec}: {removed.text}" if removed.text else f"{node}: removed {spec}")
            continue
        failed += 1
        off = " (it is off the list now)" if removed.is_settled else ""
        say(f"{node}: {spec} was not removed: {removed.text}{off}")
    return failed


def _waited_for(done: Future[Removed], inbox: Inbox) -> Removed:
    while not done.done():
        for event in inbox.drain(1.0 / _LIVE_PER_SECOND):
            if isinstance(event, Notice):
                say(event.text)
    return done.result()


def _follow(inbox: Inbox, output: Output, finished: Callable[[], bool], progress: _Progress) -> None:
    last = False
    while not last:
        last = finished()  # asked first, so that what came before the end is still drained
        for event in inbox.drain(0.0 if last else 1.0 / _LIVE_PER_SECOND):
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


@contextlib.contextmanager
def _stopping(
    first: Callable[[], object], is_overdue: Callable[[float], bool], left: Callable[[], Sequence[str]]
) -> Iterator[Ending]:
    """The first signal calls ``first`` and waits; a second, or the end of patience, says what is ``left`` and ends."""

    def leave() -> NoReturn:
        raise Interrupted(*left())

    def tick(seconds: float) -> None:
        if seconds > _GRACE_SECONDS:  # a reader that stands still is not waited for: to write to it raises OSError
            set_waiting(False)
        if ending.asked_at is not None and is_overdue(ending.asked_at):
            leave()

    ending = Ending(first, leave, tick)
    with handling(ending.handlers()):
        try:
            yield ending
        finally:
            if ending.asked:
                set_waiting(True)


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
            if not all(map(unsaved, self._finished)):
                self._console.print(f"saved as session {self._finished[0].session}", style="dim")

    def show(self, event: Event) -> None:
        """See Output."""
        self._live.take(event)
        self._changed = time.monotonic()
        if isinstance(event, Run) and event.outcome is not None:
            self._finished.append(event)
        elif isinstance(event, Run):
            self._announce(f"{event.preset} ({self._live.place})")
        elif isinstance(event, Notice):
            self._announce(event.text)

    def refresh(self) -> None:
        """See Output."""
        if self._live.current and self._display.is_started:
            self._display.update(report.live(self._live, time.monotonic() - self._changed), refresh=True)

    def _announce(self, text: str) -> None:
        if not self._console.is_terminal:
            say(text)
