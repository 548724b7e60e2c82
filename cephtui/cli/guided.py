"""A check that measures: before and after a change, until it is decided, with the change made and taken back."""

from __future__ import annotations

import contextlib
import select
import sys
import termios
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import click

from cephtui import units
from cephtui.analysis.change import Change
from cephtui.analysis.conclusion import Asked, Judgement
from cephtui.analysis.guided_check import (
    Turn,
    begun,
    beside,
    changes_of,
    counted,
    failed_in_a_row,
    is_look,
    looks_of,
    next_turn,
    sides_of,
)
from cephtui.analysis.marks import CHANGED, UNDONE
from cephtui.analysis.noted import NOT_SEEN, is_seen
from cephtui.cli.headless import Measuring
from cephtui.cli.judging import asked_of, keep, print_judgement
from cephtui.cli.options import Question
from cephtui.cli.output import JsonOutput, TerminalOutput
from cephtui.cli.stopping import AGAIN
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_REFUSED
from cephtui.frozen import dataclass
from cephtui.models import Mark, Plan, Run
from cephtui.models.guided_check import GuidedCheck
from cephtui.nodes.transport import TransportError
from cephtui.planning import Order, Request, make_plan
from cephtui.reports.verdict import headline, verdict_text
from cephtui.running.bench import BegunMark
from cephtui.running.changing import run_noted
from cephtui.running.command import time_limit
from cephtui.running.runner import Runner
from cephtui.sessions import store
from cephtui.sessions.changes import is_change_made, newest_command, not_undone, remedy_of
from cephtui.sessions.jsonlines import as_json as json_of
from cephtui.sessions.store import GUIDED_FILE, StoreError, cannot_write
from cephtui.sessions.verdicts import judge_saved
from cephtui.sessions.writer import write_whole
from cephtui.targets.base import TargetFault
from cephtui.terminal import Interrupted, say

_POLL_SECONDS = 0.25
_MAKE_IT = "Make the change, say here what you changed, then press Enter: "
_AS_IT_IS = "Press Enter to measure as it is; or make the change, say it here, press Enter: "


@dataclass(frozen=True, slots=True)
class Commands:
    """What makes the change and takes it back; None where the user does."""

    change: str | None
    undo: str | None


class _Over(Exception):
    """The guided check ends here, with this exit code; the text is said. What is ``spoiled`` is not judged."""

    def __init__(self, code: int, text: str = "", *, spoiled: bool = False) -> None:
        super().__init__(text)
        self.code, self.spoiled = code, spoiled


def request_of_turn(request: Request, turn: Turn, begun_steps: int) -> Request:
    """The request of the next runs of a side, of which so many steps were run."""
    presets = len(request.presets)
    until = begun_steps + turn.runs * presets
    order: Order | None = "abab" if presets > 1 else None
    return replace(request, repeats=-(-until // presets), begun=begun_steps, until=until, order=order)


def ids_of(batches: Sequence[str]) -> Callable[[], str]:
    """Gives one after the other, as the presets are planned."""
    return iter(batches).__next__


class Guided:
    """A guided check that is carried out: where it stands, and what was measured."""

    def __init__(
        self,
        runner: Runner,
        desk: Measuring,
        request: Request,
        guided: GuidedCheck,
        question: Question,
        commands: Commands,
        saved: Sequence[Run],
        as_json: bool,
    ) -> None:
        self._runner, self._desk, self._request, self._guided = runner, desk, request, guided
        self._question, self._commands, self._as_json = question, commands, as_json
        self._saved = tuple(saved)
        """Runs before that are in another session."""
        directory = runner.directory
        self._runs: list[Run] = list(store.read_runs(directory)[0]) if directory else []
        self._is_changed = directory is not None and self._is_in_place(directory)

    def carry_out(self) -> int:
        """Measure until it is decided, or can't be; the exit code."""
        code, judged, spoiled = 0, None, False
        try:
            while turn := next_turn(self._guided, *(before := self._counted())):
                self._switch(turn)
                self._measure(turn)
                if self._counted() != before and is_look(self._guided, *self._counted()):
                    judged = self._look()
                    if judged.conclusion.answer != "undecided":
                        break
        except _Over as over:
            code, spoiled = over.code, over.spoiled
            if str(over):
                say(str(over))
            self._say_how_to_continue()
        finally:
            self._undo()
        if judged is None and self._runner.directory and all(all((c.before, c.after)) for c in self._changes()):
            judged = self._judged()
        if judged is not None and not (spoiled or self._desk.is_asked_to_end):
            print_judgement(judged, self._as_json)
            keep(judged, self._directory)
            return code or judged.conclusion.exit_code
        return code or EXIT_INCOMPLETE

    # ------------------------------------------------------------------ where it stands

    @property
    def _directory(self) -> Path:
        assert self._runner.directory
        return self._runner.directory

    def _counted(self) -> tuple[int, int]:
        return counted(self._guided, [*self._saved, *self._runs])

    def _changes(self) -> list[Change]:
        return changes_of(self._guided, [*self._saved, *self._runs])

    def _is_in_place(self, directory: Path) -> bool:
        """Of a guided check that is continued: whether the change is made."""
        if self._guided.takes_turns:
            return not_undone(directory) is not None
        return begun(self._guided, "after", self._runs) > 0 or is_change_made(directory)

    # ------------------------------------------------------------------ measure, and look

    def _plan_of(self, turn: Turn) -> tuple[Request, Plan]:
        batches = self._guided.before if turn.side == "before" else self._guided.after
        request = request_of_turn(self._request, turn, begun(self._guided, turn.side, self._runs))
        return request, make_plan(request, ids_of(batches), self._runner.prefilled())

    def _measure(self, turn: Turn) -> None:
        request, plan = self._plan_of(turn)
        total = f", {plan.bound} {units.duration(plan.duration_seconds)}"
        say(f"{turn.side}: {turn.runs} run{'s' * (turn.runs > 1)} of {', '.join(self._guided.presets)}{total}")
        output = JsonOutput() if self._as_json else TerminalOutput(table=False)
        code, runs = self._desk.measure(plan, request.target, output)
        self._runs += runs
        self._keep_guided_check()
        if self._desk.is_asked_to_end:
            raise _Over(EXIT_INCOMPLETE, "stopped")
        if not runs:
            raise _Over(code or EXIT_INCOMPLETE)
        if any(run.outcome in ("refused", "stopped") for run in runs):
            raise _Over(code)
        if why := failed_in_a_row(self._runs):
            raise _Over(code or EXIT_FAILED, why)

    def _keep_guided_check(self) -> None:
        """For another time; a check against saved runs is begun anew instead."""
        if self._runner.directory and not self._saved:
            with contextlib.suppress(OSError):
                write_whole(self._directory / GUIDED_FILE, json_of(self._guided))

    def _asked(self) -> Asked:
        asked = asked_of(self._question, self._directory.name, looks_of(self._guided))
        return replace(asked, beside=beside(self._guided, self._runs))

    def _judged(self) -> Judgement:
        marks: tuple[Mark, ...] = tuple(store.read_marks(self._directory))
        return judge_saved(self._changes(), self._asked(), marks, self._directory, datetime.now(UTC))

    def _look(self) -> Judgement:
        judged = self._judged()
        at = looks_of(self._guided).at
        runs = self._counted()[1]
        for verdict in judged.deciding:
            what = f"look {verdict.looks} of {len(at)}, {runs} runs after" if len(at) > 1 else f"{runs} runs after"
            say(f"{what}: {headline(verdict).plain}: {verdict_text(verdict)}")
        return judged

    def _say_how_to_continue(self) -> None:
        if self._runner.directory and not self._saved and self._runs:
            say(f"to continue it: cephtui check --continue {self._directory.name}")

    # ------------------------------------------------------------------ the change

    def _switch(self, turn: Turn) -> None:
        """Make the change, or take it back, where this side wants it so; and look whether anything of it is seen."""
        self._look_at_the_change()
        is_first = turn.side == "after" and not begun(self._guided, "after", self._runs)
        if not self._saved and (turn.side == "after") != self._is_changed:
            if turn.side == "before":
                self._undo(for_now=True)
            elif self._commands.change is None:
                self._wait_for_the_user(turn)
                self._is_changed = True
                return
            else:
                self._change(self._commands.change)
        if is_first and self._is_unseen(turn):
            say(NOT_SEEN)

    def _look_at_the_change(self) -> None:
        """Whether it is still as this check has left it, as far as that is noted."""
        directory = self._runner.directory
        noted = newest_command(directory) if directory and self._commands.undo else None
        if noted and self._is_changed != (noted.kind == "change"):
            done = "undone" if self._is_changed else "made"
            self._is_changed = not self._is_changed
            why = f"the change was {done} by something else than this check, which so can't tell what it measured"
            raise _Over(EXIT_INCOMPLETE, why, spoiled=True)

    def _change(self, command: str) -> None:
        self._is_changed = True  # also where it fails half-way
        try:
            ran = self._ran("change", command)
        except OSError as error:
            self._is_changed = False
            raise _Over(EXIT_INCOMPLETE, f"--change was not run: {cannot_write(error)}") from None
        if ran:
            raise _Over(EXIT_INCOMPLETE if self._desk.is_asked_to_end else EXIT_FAILED, f"--change failed: {ran}")

    def _undo(self, *, for_now: bool = False) -> None:
        """Take the change back, where that can be done; also at the end, whatever ended it."""
        command = self._commands.undo
        if command is None or not self._is_changed:
            return
        remedy = remedy_of(self._directory.name)
        try:
            with self._desk.undoing():
                problem = self._ran("undo", command)
        except Interrupted as ended:
            raise Interrupted(*ended.args, f"the change was not undone: {remedy}") from None
        if not problem:
            self._is_changed = False
            return
        if for_now:
            raise _Over(EXIT_FAILED, f"--undo failed: {problem}")
        say(f"the change was not undone: {problem}: {remedy}")

    def _ran(self, kind: Literal["change", "undo"], command: str) -> str:
        """Run it, noted before and after; why it failed, or empty. An undo goes on where the user asks for the end."""
        is_told = self._desk.is_asked_to_end
        say(f"{kind}, {time_limit()}: {command}{AGAIN if is_told else ''}")

        def is_stopped() -> bool:
            nonlocal is_told
            is_asked = self._desk.is_asked_to_end
            if is_asked and not is_told and kind == "undo":
                say(f"the change is still being undone, {time_limit()}{AGAIN}")
            is_told = is_asked
            return is_asked and kind == "change"

        begun = self._runner.begin_mark()  # before: what the command causes comes after its mark
        problem = run_noted(self._directory, kind, command, self._commands.undo, is_stopped)
        with contextlib.suppress(OSError, StoreError):
            begun.keep(f"{CHANGED if kind == 'change' else UNDONE}{command}").result()
        return problem

    def _wait_for_the_user(self, turn: Turn) -> None:
        """The words that are typed become the mark; where nothing of the change is seen, it is asked about first."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise _Over(EXIT_REFUSED, "there is no terminal to ask for the change: give --change")
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
        words, begun = _typed(_MAKE_IT, self._runner, self._desk)
        while self._is_unseen(turn):
            say(NOT_SEEN)
            again, at = _typed(_AS_IT_IS, self._runner, self._desk)
            if not again:
                break
            words, begun = again, at
        begun.keep(words or "the change").result()

    def _is_unseen(self, turn: Turn) -> bool:
        """Whether all that is known is as it was before the change; not where that can't be found out."""
        request, plan = self._plan_of(turn)
        before = sides_of(self._guided, [*self._saved, *self._runs])[0]
        asked = self._runner.nodes.conditions(plan, request.target)
        while not asked.done():
            wait([asked], _POLL_SECONDS)
            if self._desk.is_asked_to_end:
                raise _Over(EXIT_INCOMPLETE, "stopped")
        with contextlib.suppress(TransportError, TargetFault):  # else the runs say what is the matter
            alike = [run for run in before if run.preset == plan.steps[0].preset]
            return bool(alike) and is_seen(alike[-1], asked.result().cluster, asked.result().nodes) is False
        return False


def _typed(question: str, runner: Runner, desk: Measuring) -> tuple[str, BegunMark]:
    """A line of the user's, and a mark of the moment at which it was there."""
    click.echo(question, nl=False, err=True)
    while not select.select([sys.stdin], [], [], _POLL_SECONDS)[0]:
        if desk.is_asked_to_end:
            raise _Over(EXIT_INCOMPLETE, "stopped")
    begun = runner.begin_mark()
    words = sys.stdin.readline()
    if not words:
        raise _Over(EXIT_INCOMPLETE, "stopped: the terminal was closed")
    return words.strip(), begun
