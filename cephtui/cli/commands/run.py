"""``cephtui run``: presets or a suite, or what is left of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from cephtui import paths
from cephtui.analysis.stable import FEWEST, MOST, Goal
from cephtui.cli.choice import check_session_name, find_catalogue, known_secrets
from cephtui.cli.errors import Refused
from cephtui.cli.expecting import check_expected, conclude_expected
from cephtui.cli.links import conclude_links
from cephtui.cli.options import Where
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import Prompts, connect
from cephtui.cli.series import run_in_order, run_until_stable, singly
from cephtui.cli.sweeping import at_depth, check_sweep, run_sweep, sweep_line
from cephtui.cli.work import Work, check_caches, consents, new_work, saved_work
from cephtui.exit_codes import EXIT_REFUSED, WORST
from cephtui.frozen import dataclass
from cephtui.models import Step
from cephtui.models.refusal import Refusal
from cephtui.nodes.transport import TransportError
from cephtui.ordering import plan_of, plans_of, points_of
from cephtui.planning import Order, Request
from cephtui.presets import PresetError, headline_metric, parse_overrides
from cephtui.reports.plan import draw_plan, draw_plans, order_line
from cephtui.reports.stable import dry_line
from cephtui.running.launch import Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.targets.base import TargetFault
from cephtui.terminal import say
from cephtui.tools.base import OptionError


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``cephtui run`` is asked for, by its arguments and options."""

    names: tuple[str, ...]
    where: Where
    targets: tuple[str, ...]
    data_pool: str | None
    overrides: tuple[str, ...]
    repeat: int | None
    order: Order | None
    until_stable: float | None
    most: int | None
    sweep_depth: str | None
    confirm: bool
    expect: tuple[str, ...]
    session: str | None
    resume: str | None
    destroy: tuple[str, ...]
    shared_pool: bool
    drop_caches: bool
    stall_timeout: float
    as_json: bool
    dry_run: bool

    @property
    def ordered(self) -> Mapping[str, Any]:
        """What says which runs there are, by what it is called: nothing of it goes with --resume."""
        return {"PRESET": self.names, "--target": self.targets, "--data-pool": self.data_pool,
                "--set": self.overrides, "--repeat": self.repeat, "--order": self.order,
                "--until-stable": self.until_stable, "--sweep-depth": self.sweep_depth, "--expect": self.expect,
                "--session": self.session}  # fmt: skip

    @property
    def consents(self) -> Mapping[str, Any]:
        """What the user has agreed to."""
        return consents(self.where, self.destroy, shared_pool=self.shared_pool, drop_caches=self.drop_caches)


def run_presets(asked: Asked) -> int:
    """Run presets, a suite, or what a session has left of them; or only show it. The exit code."""
    goal = _goal(asked)
    _check_resume(asked)
    check_session_name(asked.session)
    with ExitStack() as stack:
        try:
            session, work = _work(asked, goal, stack)
            _check_order(work, asked.order, goal)
            work = _swept(work, asked)
            if not work.slices:
                runs = sum(len(plan_of(request).steps) for request in work.requests)
                say(f"session {session}: nothing is left to run, all {runs} runs are there")
                return 0
            for note in work.notes:
                say(note)
            known = known_secrets(asked.where)
            runner = Runner(paths.sessions_dir(), session, stall_seconds=asked.stall_timeout, vault=known)
            stack.enter_context(runner)
            work = surveyed_work(runner, work, asked.consents)
            confirms = asked.confirm if asked.sweep_depth else None
            if asked.dry_run:
                return show_plans(runner, work, goal, asked.as_json, confirms)
            return _measure(runner, work, goal, confirms, asked.as_json)
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


def _work(asked: Asked, goal: Goal | None, stack: ExitStack) -> tuple[str | None, Work]:
    """New, or what its session has left of it; with the name of the session."""
    if asked.resume is not None:
        session, work = saved_work(asked.resume, asked.where, stack)
        check_caches(work.ordered.drop_caches, asked.drop_caches)
        return session, work
    options, expected = parse_overrides(asked.overrides), check_expected(asked.expect)
    least = FEWEST if goal else asked.repeat
    work = new_work(
        asked.names, asked.where, asked.targets, asked.data_pool, options, least, asked.order, expected, stack
    )
    ordered = work.ordered.model_copy(update={"drop_caches": asked.drop_caches})
    return asked.session, replace(work, ordered=ordered)


def _measure(runner: Runner, work: Work, goal: Goal | None, confirms: bool | None, as_json: bool) -> int:
    """Run what is left, and judge what is expected of it; the exit code. Raises NotRun and StoreError.

    ``confirms`` is whether a sweep of the depth is confirmed; None where there is none.
    """
    if len(work.requests) > 1:
        check_all(runner, work)
    if confirms is not None:
        return run_sweep(runner, work.requests, confirms, as_json)
    if goal:
        metric = partial(headline_metric, find_catalogue())
        code = run_until_stable(runner, work.requests, goal, metric, as_json)
    else:
        code = run_in_order(runner, work.slices, work.ordered, as_json)
    conclude_links(runner.directory, work.ordered.cells, as_json=as_json)
    expected_code = conclude_expected(runner.directory, work.ordered, as_json)
    return max(code, expected_code, key=WORST.index)


def _check_resume(asked: Asked) -> None:
    """Raises UsageError for what does not go together."""
    if asked.resume is None and not asked.names:
        raise click.UsageError("Missing argument 'PRESET...'.")
    named = next((name for name, value in asked.ordered.items() if value), None)
    if asked.resume is not None and named:
        raise click.UsageError(f"--resume continues what was ordered: leave out {named}")


def _goal(asked: Asked) -> Goal | None:
    """Of repeats until stable; None for a fixed number of them. Raises UsageError."""
    if asked.until_stable is None:
        if asked.most is not None:
            raise click.UsageError("--most belongs to --until-stable")
        return None
    for option, value in (("--repeat", asked.repeat), ("--order", asked.order)):
        if value is not None:
            raise click.UsageError(f"--until-stable decides how many repeats there are: leave out {option}")
    return Goal(asked.until_stable, asked.most or MOST)


def _check_order(work: Work, order: Order | None, goal: Goal | None) -> None:
    """Raises UsageError and OptionError, before any node is connected."""
    if order and max(request.repeats for request in work.requests) < 2:
        raise click.UsageError(f"--order {order}: give --repeat 2 or more: without repeats nothing takes turns")
    if goal and work.ordered.suite:
        raise click.UsageError("--until-stable is for presets: a suite says how often each of its steps is repeated")
    if goal and any(points_of(request) > len(request.presets) for request in work.requests):
        raise OptionError("until-stable", "repeats one value of each option, not a sweep")
    for request in work.requests:
        plan_of(request)


def _swept(work: Work, asked: Asked) -> Work:
    """Each preset at the first depth of its sweep, if there is one. Raises UsageError and OptionError."""
    if asked.sweep_depth is None:
        if asked.confirm:
            raise click.UsageError("--confirm belongs to --sweep-depth auto")
        return work
    if work.ordered.suite:
        raise click.UsageError("--sweep-depth is for presets: a suite says which depths each of its steps has")
    others = {name: asked.ordered[name] for name in ("--repeat", "--until-stable", "--expect")}
    check_sweep(work.requests, asked.confirm, asked.overrides, others)
    return replace(work, requests=tuple(at_depth(request, 1) for request, _ in singly(work.requests)))


def check_all(runner: Runner, work: Work) -> None:
    """Before anything is run on the first target, the guards of the others are asked too; raises NotRun."""
    for refusal in _refusals(runner, work.requests):
        raise NotRun(f"refused: {refusal.text}", refusal)


def _refusals(runner: Runner, requests: Sequence[Request]) -> list[Refusal]:
    """Why the guards refuse requests, all asked at the same time."""
    launcher = Launcher(runner, Prompts())

    async def asked() -> list[list[Refusal]]:
        return await asyncio.gather(*(launcher.check(plan_of(request), request.target) for request in requests))

    return [refusal for refusals in asyncio.run(asked()) for refusal in refusals]


def surveyed_work(runner: Runner, work: Work, consents: Mapping[str, Any]) -> Work:
    """With all nodes connected and all targets surveyed, each once. Raises NotRun."""
    found: dict[object, Request] = {}
    for request in work.left:
        if request.place not in found:
            same = [each for each in work.left if each.place == request.place]
            steps = [step for each in same for step in plan_of(each).steps]
            found[request.place] = surveyed(runner, replace(request, **consents), steps)
    requests = [replace(each, **consents, **_surveyed_fields(found[each.place])) for each in work.left]
    return replace(work, requests=tuple(requests))


def _surveyed_fields(request: Request) -> Mapping[str, Any]:
    names = ("nodes", "target", "room_bytes", "pool_use", "versions")
    return {name: getattr(request, name) for name in names}


def surveyed(runner: Runner, request: Request, steps: Sequence[Step]) -> Request:
    """The request with connected nodes, their Ceph access, and a surveyed target. Raises NotRun.

    ``steps`` are those of a plan made without that.
    """
    loads = len(request.nodes) > 1 or any(step.writes for step in steps)
    states = connect(runner, request.hosts, request.target.pool)
    problem = next((state.problem for state in states if state.problem), None)
    if problem:
        raise NotRun(problem)
    found = {state.node.name: state for state in states}
    versions = {name: state.environment.tools for name, state in found.items() if state.environment}
    request = replace(request, nodes=tuple(found[node.name].node for node in request.nodes), versions=versions)
    surveying = Launcher(runner, Prompts()).survey(request, patient=loads and not request.shared_pool)
    try:
        return asyncio.run(surveying)
    except NotRun as error:
        raise NotRun(f"refused: {error}", error.refusal) from None
    except (TransportError, TargetFault) as error:
        raise NotRun(str(error)) from None


def show_plans(runner: Runner, work: Work, goal: Goal | None, as_json: bool, confirms: bool | None = None) -> int:
    """Print what would happen, guards included, and run nothing; the exit code."""
    plans = plans_of(work.slices)
    lines = [dry_line(goal, plans)] if goal else []
    if confirms is not None:
        lines += [sweep_line(work.requests, confirm=confirms)]
    if not lines and (work.ordered.order or len(plans) > 1):
        lines += [order_line([step for plan in plans for step in plan.steps], work.ordered.titles)]
    promises = {step.promise: None for plan in plans for step in plan.steps if step.promise}
    lines += [f"expected of {promise.step}: {', '.join(promise.expect)}" for promise in promises]
    if as_json:
        print_lines(plans)
        sys.stdout.flush()
        for line in lines:
            say(line)
    else:
        drawn = draw_plan(plans[0]) if len(plans) == 1 else draw_plans(plans, work.ordered.titles)
        print_report(Group(drawn, *map(Text, lines)))
    found = dict.fromkeys(refusal.text for refusal in _refusals(runner, work.requests))
    for text in found:
        say(f"refused: {text}")
    return EXIT_REFUSED if found else 0
