"""``cephtui run``: presets, one after the other."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import click
from rich.console import Group
from rich.text import Text

from cephtui import paths
from cephtui.analysis.stable import FEWEST, MOST, Goal
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, find_catalogue
from cephtui.cli.errors import Refused
from cephtui.cli.headless import carry_out
from cephtui.cli.options import Where
from cephtui.cli.output import JsonOutput, TerminalOutput
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import Prompts, connect
from cephtui.cli.series import run_in_turns, run_until_stable, turns
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.models import Node, Plan
from cephtui.nodes.transport import TransportError
from cephtui.planning import Order, Request, make_plan, new_batch
from cephtui.presets import PresetError, choose, headline_metric, parse_overrides
from cephtui.reports.plan import draw_plan, order_line
from cephtui.reports.stable import dry_line
from cephtui.running.launch import Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.targets.base import Target, TargetFault
from cephtui.terminal import say
from cephtui.tools.base import OptionError


def run_presets(
    presets: tuple[str, ...],
    where: Where,
    targets: tuple[str, ...],
    data_pool: str | None,
    overrides: tuple[str, ...],
    repeat: int | None,
    order: Order | None,
    until_stable: float | None,
    most: int | None,
    session: str | None,
    destroy: tuple[str, ...],
    shared_pool: bool,
    stall_timeout: float,
    as_json: bool,
    dry_run: bool,
) -> int:
    """Run presets, or only show what would be run; the exit code."""
    goal = _goal(until_stable, most, repeat, order)
    if order and (repeat or 1) < 2:
        raise click.UsageError(f"--order {order}: give --repeat 2 or more: without repeats nothing takes turns")
    check_session_name(session)
    nodes, catalogue = chosen_nodes(where), find_catalogue()
    with ExitStack() as stack:
        chosen = _targets(targets, stack, nodes, data_pool)
        try:
            request = Request(
                choose(catalogue, presets),
                nodes,
                chosen[0],
                parse_overrides(overrides),
                FEWEST if goal else repeat or 1,
                destroy,
                where.ceph_node,
                shared_pool,
                order=order,
            )
            requests = _requests(request, chosen, goal)
            drafts = [make_plan(each, new_batch) for each in requests]  # reports errors before any node is connected
            runner = stack.enter_context(Runner(paths.sessions_dir(), session, stall_seconds=stall_timeout))
            requests = [surveyed(runner, each, draft) for each, draft in zip(requests, drafts, strict=True)]
            if dry_run:
                return _dry_run(runner, requests, order, goal, as_json)
            if len(requests) > 1:
                _check_all(runner, requests)
            if goal:
                return run_until_stable(runner, requests, goal, partial(headline_metric, catalogue), as_json)
            if len(requests) > 1:
                return run_in_turns(runner, requests, order, as_json)
            plan = make_plan(requests[0], new_batch)
            return carry_out(runner, plan, chosen[0], JsonOutput() if as_json else TerminalOutput())
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _goal(percent: float | None, most: int | None, repeat: int | None, order: Order | None) -> Goal | None:
    """Of repeats until stable; None for a fixed number of them. Raises UsageError."""
    if percent is None:
        if most is not None:
            raise click.UsageError("--most belongs to --until-stable")
        return None
    for option, value in (("--repeat", repeat), ("--order", order)):
        if value is not None:
            raise click.UsageError(f"--until-stable decides how many repeats there are: leave out {option}")
    return Goal(percent, most or MOST)


def _targets(texts: tuple[str, ...], stack: ExitStack, nodes: tuple[Node, ...], data_pool: str | None) -> list[Target]:
    """Each of them once; raises UsageError."""
    chosen = [chosen_target(text, stack, nodes, data_pool, new_batch()) for text in texts or (None,)]
    specs = [target.spec for target in chosen]
    if again := next((spec for spec in specs if specs.count(spec) > 1), None):
        raise click.UsageError(f"--target {again} is given twice")
    return chosen


def _requests(request: Request, targets: Sequence[Target], goal: Goal | None) -> list[Request]:
    """One for each target; raises OptionError."""
    points = len(make_plan(replace(request, repeats=1, order=None), new_batch).steps)
    if goal and points > len(request.presets):
        raise OptionError("until-stable", "repeats one value of each option, not a sweep")
    # what takes turns may be the targets alone
    order = request.order if points > 1 or len(targets) < 2 else None
    return [replace(request, target=target, order=order) for target in targets]


def _check_all(runner: Runner, requests: Sequence[Request]) -> None:
    """Before anything is run on the first target, the guards of the others are asked too; raises NotRun."""
    for request in requests:
        for refusal in runner.nodes.check(make_plan(request, new_batch), request.target).result():
            raise NotRun(f"refused: {refusal.text}", refusal)


def surveyed(runner: Runner, request: Request, draft: Plan) -> Request:
    """The request with connected nodes, their Ceph access, and a surveyed target. Raises NotRun.

    ``draft`` is the plan made without that.
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


def _dry_run(runner: Runner, requests: Sequence[Request], order: Order | None, goal: Goal | None, as_json: bool) -> int:
    """Print what would happen, guards included, and run nothing; the exit code."""
    plans = [make_plan(request, new_batch) for request in requests]
    lines = []
    if goal:
        lines += [dry_line(goal, plans)]
    elif order or len(plans) > 1:
        steps = [
            step for number, turn in turns(requests, order) for step in plans[number].steps[turn.begun : turn.until]
        ]
        lines += [order_line(steps)]
    if as_json:
        print_lines(plans)
        sys.stdout.flush()
        for line in lines:
            say(line)
    else:
        print_report(Group(*map(draw_plan, plans), *map(Text, lines)))
    found = [refusal for plan, request in zip(plans, requests, strict=True)
             for refusal in runner.nodes.check(plan, request.target).result()]  # fmt: skip
    for refusal in found:
        say(f"refused: {refusal.text}")
    return EXIT_REFUSED if found else 0
