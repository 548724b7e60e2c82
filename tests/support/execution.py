"""Plans that are carried out without a console."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from cephtui.models import Event, Plan, Run
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.shell import NodeShell
from cephtui.running.bench import Bench
from cephtui.running.recorder import StopRequest
from cephtui.running.step_run import execute
from cephtui.sessions.writer import SessionWriter
from cephtui.targets import parse_target


async def carry_out(plan: Plan, shells: Mapping[str, NodeShell], root: Path, events: list[Event]) -> list[Run]:
    """The runs of a plan, saved in the session ``s``; what is published during them is added to the events."""
    session = SessionWriter.open(root, "s")
    bench = Bench(session, events.append, 120.0)
    try:
        session.add_plan(plan)
        async with asyncio.timeout(60):
            return [
                await execute(bench, plan, step, parse_target(step.target), shells, StopRequest())
                for step in plan.steps
            ]
    finally:
        session.close()


async def carry_out_here(plan: Plan, root: Path, events: list[Event]) -> list[Run]:
    """The same on this machine."""
    connection = LocalConnection()
    try:
        return await carry_out(plan, {"local": NodeShell(plan.hosts[0], connection)}, root, events)
    finally:
        await connection.close()
