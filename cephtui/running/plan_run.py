"""A plan carried out step after step."""

from __future__ import annotations

import logging

from cephtui.analysis.verdicts.failures import Needs, given_up
from cephtui.models import Notice, Plan, Run, Step
from cephtui.nodes.transport import TransportError
from cephtui.running.bench import Bench
from cephtui.running.cleanup import Cleanup
from cephtui.running.connections import Connections
from cephtui.running.recorder import StopRequest
from cephtui.running.step_run import execute
from cephtui.sessions.store import cannot_write
from cephtui.targets.base import Target
from cephtui.tools import TOOLS

log = logging.getLogger(__name__)


class PlanRun:
    """One plan in progress; nodes that were lost are reached again before each step."""

    def __init__(self, plan: Plan, target: Target, connections: Connections, cleanup: Cleanup) -> None:
        self._plan, self._target = plan, target
        self._connections, self._cleanup = connections, cleanup
        self._stop = StopRequest()
        """The request to stop the present step."""
        self._stopped = False
        """Whether the plan ends with its present step."""

    def skip(self) -> None:
        """End the present step, keeping what was measured."""
        self._stop.request()

    def stop(self) -> None:
        """End the plan with its present step, keeping what was measured."""
        self._stopped = True
        self._stop.request()

    async def carry_out(self, bench: Bench) -> tuple[Run, ...]:
        """The runs of all steps, fewer after a stop; raises OSError and TransportError where nothing could be run."""
        bench.session.add_plan(self._plan)
        bench.publish(self._plan)
        runs: list[Run] = []
        for step in self._plan.steps:
            if self._stopped:
                break
            if given_up(Needs(step.tool, step.target, step.names), runs):
                continue  # said by what conducts the study
            try:
                runs += await self._run(bench, step)
                continue
            except TransportError as error:
                why = str(error)
                if not runs:
                    raise
                bench.publish(Notice(0, why))
            except OSError as error:
                why = str(cannot_write(error))
                if not runs:
                    raise
                log.exception("can't write the session")
            bench.problems.append(f"{step.preset} was not run: {why}")
            break
        return tuple(runs)

    async def _run(self, bench: Bench, step: Step) -> list[Run]:
        """The step's run; none where it was skipped before it began. Raises TransportError and OSError."""
        shells = await self._connections.shells(self._plan.hosts)
        stop = self._stop
        runs: list[Run] = []
        if stop.reason is None:
            runs.append(await execute(bench, self._plan, step, self._target, shells, stop))
        self._stopped |= bool(stop.reason)
        self._stop = StopRequest()
        if not self._target.for_tool(TOOLS[step.tool]).persists_between_steps:
            used = {(node.node, part.spec) for node in step.nodes for part in node.parts}
            await self._cleanup.remove_created(bench, used)
        return runs
