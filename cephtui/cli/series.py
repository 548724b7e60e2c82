"""Several plans, one after the other: repeats until a mean is stable, or what is ordered in its slices."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from cephtui.analysis.conclusion import why_invalid
from cephtui.analysis.guided_check import failed_in_a_row
from cephtui.analysis.stable import Goal, counted, figures_of
from cephtui.cli.headless import Measuring, measuring
from cephtui.cli.output import JsonOutput, TerminalOutput, print_runs
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_NO_VERDICT, WORST
from cephtui.models import Run
from cephtui.models.metrics import Metric
from cephtui.models.suite import Ordered
from cephtui.ordering import plans_of
from cephtui.planning import Request, make_plan
from cephtui.reports.plan import progress_line
from cephtui.reports.stable import LOOKS_LINE, stable_line, unstable_line
from cephtui.running.outcomes import failed_twice, yielded_nothing
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.terminal import say, silence


class _Over(Exception):
    """Nothing more is measured; the user knows why."""


def run_until_stable(
    runner: Runner, requests: Sequence[Request], goal: Goal, headline: Callable[[Run], Metric], as_json: bool
) -> int:
    """Repeat each preset of each request until its mean is known; the exit code.

    Raises StoreError where nothing could be run.
    """

    def work(series: Series) -> None:
        for each, name in singly(requests):
            series.until_stable(each, goal, headline, name)

    return in_series(runner, work, as_json, _print_looked_at)


def _print_looked_at(runs: Sequence[Run]) -> None:
    if len(runs) > 1:
        say(LOOKS_LINE)
    print_runs(runs)


def singly(requests: Sequence[Request]) -> list[tuple[Request, str]]:
    """A request for each preset, and what it is called where there are several; else the name is empty."""
    every = [replace(request, presets=(preset,), batches=(batch,)) for request in requests
             for preset, batch in zip(request.presets, request.batches, strict=True)]  # fmt: skip
    presets, targets = {each.preset.name for each in every}, {each.target.spec for each in every}
    names = [[each.preset.name] * (len(presets) > 1) + [each.target.spec] * (len(targets) > 1) for each in every]
    return [(each, " on ".join(name)) for each, name in zip(every, names, strict=True)]


def run_in_order(runner: Runner, slices: Sequence[Request], ordered: Ordered, as_json: bool) -> int:
    """Carry out one slice after the other of what is ordered; the exit code.

    Raises StoreError where nothing could be run.
    """
    return in_series(runner, lambda series: series.take_turns(slices, ordered), as_json)


def in_series(
    runner: Runner,
    work: Callable[[Series], None],
    as_json: bool,
    show: Callable[[Sequence[Run]], None] = print_runs,
) -> int:
    """Carry out what is measured in a series, and ``show`` all its runs; the exit code.

    Raises StoreError where nothing could be run.
    """
    with measuring(runner) as desk:
        series = Series(runner, desk, as_json)
        with contextlib.suppress(_Over):
            work(series)
        code = series.end(show)
    return code or (EXIT_INCOMPLETE if desk.is_asked_to_end or desk.leaves else 0)


class Series:
    """Plans that are carried out one after the other, and what came of them."""

    def __init__(self, runner: Runner, desk: Measuring, as_json: bool) -> None:
        self._runner, self._desk, self._as_json = runner, desk, as_json
        self._runs: list[Run] = []
        self._code = 0

    def end(self, show: Callable[[Sequence[Run]], None]) -> int:
        """Show all runs; the exit code."""
        if not self._as_json:
            try:
                show(self._runs)
            except OSError:  # the terminal is closed: what it created is removed nevertheless
                silence(sys.stdout)
        return self._code

    def until_stable(self, request: Request, goal: Goal, headline: Callable[[Run], Metric], name: str) -> None:
        """Repeat one preset until its mean is known, or given up. Raises _Over.

        ``name`` is what is said of it where there are several; else empty.
        """
        prefix = f"{name}: " if name else ""
        runs, figures = list[Run](), dict[str, list[float]]()
        while len(counted(runs)) < goal.most:
            begun = len(runs)
            next_one = replace(request, repeats=begun + 1, begun=begun, until=begun + 1)
            if not self.measure_another(next_one, runs, prefix):
                continue
            metric, good = headline(runs[-1]), counted(runs)
            figures = figures_of(good, metric)
            if len(good) > 1:
                say(f"{prefix}{stable_line(len(good), metric, figures, goal)}")
            if goal.is_reached(figures):
                return
        say(f"{prefix}{unstable_line(goal.most, figures)}")
        self.note(EXIT_NO_VERDICT)

    def measure_another(self, request: Request, runs: list[Run], prefix: str, repeat: int | None = None) -> bool:
        """Add the run of a request to these, and say whether it counts; ``repeat`` is its number among those alike.

        Raises _Over after two in a row that do not.
        """
        code, found = self._measure(request, request.batches, repeat=repeat)
        runs += found
        if why := failed_in_a_row(runs):
            say(why)
            self._end(code or EXIT_FAILED)
        if why := why_invalid(runs[-1]):
            say(f"{prefix}#{runs[-1].run} does not count and is measured again: {why}")
            return False
        self.note(code)
        return True

    def take_turns(self, slices: Sequence[Request], ordered: Ordered) -> None:
        """Carry out the slices, and say how what is missing at the end is measured. Raises _Over."""
        plans = plans_of(slices)
        try:
            for number, each in enumerate(slices):
                failures = [str(run.error or run.outcome) if yielded_nothing(run) else "" for run in self._runs]
                if why := failed_twice(failures):
                    say(why)
                    self._end(EXIT_INCOMPLETE)
                if len(slices) > 1:
                    say(progress_line(plans, number, ordered.titles))
                self.note(self._measure(each, each.batches, None if self._runs else ordered)[0])
        finally:
            self._say_what_is_missing(sum(len(plan.steps) for plan in plans))

    def _say_what_is_missing(self, steps: int) -> None:
        missing = steps - sum(run.outcome == "ok" for run in self._runs)
        if self._runs and missing and steps > 1:
            runs = f"{missing} run{'s are' if missing > 1 else ' is'} missing"
            say(f"{runs}: cephtui run --resume {self._runs[0].session}")

    def _measure(
        self, request: Request, batches: Sequence[str], ordered: Ordered | None = None, repeat: int | None = None
    ) -> tuple[int, Sequence[Run]]:
        """The exit code of these runs, and the runs. Raises _Over where it was stopped, or can't be continued."""
        plan = make_plan(request, iter(batches).__next__, self._runner.prefilled())
        if repeat is not None:
            plan = plan.model_copy(update={"steps": tuple(s.model_copy(update={"repeat": repeat}) for s in plan.steps)})
        output = JsonOutput() if self._as_json else TerminalOutput(table=False)
        try:
            code, runs = self._desk.measure(plan, request.target, output, ordered)
        except StoreError as error:
            if not self._runs:
                raise
            say(str(error))
            self._end(EXIT_INCOMPLETE)
        self._runs += runs
        is_short = len(runs) < len(plan.steps) or any(run.outcome == "stopped" for run in runs)
        if is_short or self._desk.is_asked_to_end:
            self._end(code or EXIT_INCOMPLETE)
        return code, runs

    def note(self, code: int) -> None:
        """Take an exit code into account."""
        self._code = max(self._code, code, key=WORST.index)

    def _end(self, code: int) -> NoReturn:
        self.note(code)
        raise _Over
