"""``cephtui run``: presets, one after the other."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from dataclasses import replace

import click

from cephtui import paths
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, find_catalogue
from cephtui.cli.errors import Refused
from cephtui.cli.headless import carry_out
from cephtui.cli.options import Where
from cephtui.cli.output import JsonOutput, TerminalOutput
from cephtui.cli.printing import print_lines, print_report
from cephtui.cli.prompts import Prompts, connect
from cephtui.exit_codes import EXIT_REFUSED
from cephtui.models import Plan
from cephtui.nodes.transport import TransportError
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import PresetError, choose, parse_overrides
from cephtui.reports.plan import draw_plan
from cephtui.running.launch import Launcher, NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.targets.base import Target, TargetFault
from cephtui.terminal import say
from cephtui.tools.base import OptionError


def run_presets(
    presets: tuple[str, ...],
    where: Where,
    target: str | None,
    data_pool: str | None,
    overrides: tuple[str, ...],
    repeat: int,
    session: str | None,
    destroy: tuple[str, ...],
    shared_pool: bool,
    stall_timeout: float,
    as_json: bool,
    dry_run: bool,
) -> int:
    """Run presets, or only show what would be run; the exit code."""
    check_session_name(session)
    nodes = chosen_nodes(where)
    with ExitStack() as stack:
        chosen = chosen_target(target, stack, nodes, data_pool, new_batch())
        try:
            request = Request(
                choose(find_catalogue(), presets),
                nodes,
                chosen,
                parse_overrides(overrides),
                repeat,
                destroy,
                where.ceph_node,
                shared_pool,
            )
            draft = make_plan(request, new_batch)  # reports errors before any node is connected
            runner = stack.enter_context(Runner(paths.sessions_dir(), session, stall_seconds=stall_timeout))
            plan = make_plan(surveyed(runner, request, draft), new_batch)
            if dry_run:
                return _dry_run(runner, plan, chosen, as_json)
            return carry_out(runner, plan, chosen, JsonOutput() if as_json else TerminalOutput())
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None


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


def _dry_run(runner: Runner, plan: Plan, target: Target, as_json: bool) -> int:
    """Print what would happen, guards included, and run nothing; the exit code."""
    if as_json:
        print_lines([plan])
        sys.stdout.flush()
    else:
        print_report(draw_plan(plan))
    refusals = runner.nodes.check(plan, target).result()
    for refusal in refusals:
        say(f"refused: {refusal.text}")
    return EXIT_REFUSED if refusals else 0
