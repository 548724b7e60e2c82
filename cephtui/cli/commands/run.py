"""``cephtui run``: presets, one after the other."""

from __future__ import annotations

from contextlib import ExitStack

import click

from cephtui import paths
from cephtui.cli import headless
from cephtui.cli.choice import check_session_name, chosen_nodes, chosen_target, find_catalogue
from cephtui.cli.errors import Refused
from cephtui.cli.options import Where
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import PresetError, choose, parse_overrides
from cephtui.running.launch import NotRun
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
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
            draft = make_plan(request, new_batch)  # its errors come before any node is asked
            runner = stack.enter_context(Runner(paths.sessions_dir(), session, stall_seconds=stall_timeout))
            plan = make_plan(headless.survey(runner, request, draft), new_batch)
            if dry_run:
                return headless.dry_run(runner, plan, as_json)
            return headless.carry_out(runner, plan, headless.JsonOutput() if as_json else headless.TerminalOutput())
        except (PresetError, OptionError) as error:
            raise click.UsageError(str(error)) from None
        except (StoreError, NotRun) as error:
            raise Refused(str(error)) from None
