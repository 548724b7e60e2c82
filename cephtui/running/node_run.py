"""One step on one node: inspected, prepared, held until all nodes are ready, measured."""

from __future__ import annotations

import logging
import time
from collections.abc import Coroutine
from typing import Any

from cephtui import stats
from cephtui.models import Finding, NodeEnvironment, NodeResult, Outcome, RbdPlace
from cephtui.nodes.answers import shortened
from cephtui.nodes.transport import Process, TransportError
from cephtui.running.follow import CONNECTION_LOST, Follow, NodeTask
from cephtui.running.inspection import inspect
from cephtui.running.outcomes import Ended, run_findings
from cephtui.running.preparation import Preparation
from cephtui.running.recorder import StopRequest
from cephtui.targets.base import Found, TargetFault
from cephtui.targets.rbd import image_info
from cephtui.tools import TOOLS
from cephtui.tools.base import ToolResult

log = logging.getLogger(__name__)


class NodeRun:
    """One step on one node; an error ends this node's part and no other's."""

    def __init__(self, task: NodeTask) -> None:
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.findings: list[Finding] = []
        self.environment = NodeEnvironment()
        self.result = ToolResult()
        self.process: Process | None = None
        self.ended_at: float | None = None
        self._task, self._follow = task, Follow(task, self.findings)
        self._found = Found()

    @property
    def name(self) -> str:
        """The node's name."""
        return self._task.name

    def end(self, outcome: Outcome, error: str | None) -> None:
        """This node's part is over; the first reason counts."""
        if self.outcome is None:
            self.outcome, self.error = outcome, error and shortened(error)

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do a part of the work; raises nothing that a node can cause."""
        try:
            await work
        except Ended as ended:
            self.end(ended.outcome, ended.error)
        except TransportError as failure:
            self.end("lost", self._follow.lost if str(failure).endswith(CONNECTION_LOST) else str(failure))
        except TargetFault as failure:
            self.end("refused", str(failure))
        except Exception as failure:  # one node's trouble must neither hide nor leave behind the others
            log.exception("%s on %s", self._task.step.preset, self.name)
            self.end("failed", f"unexpected error: {failure!r}")

    # ------------------------------------------------------------------ before

    async def inspect(self, destroy: tuple[str, ...]) -> None:
        """Inspect the node and the target, and apply the guards."""
        task = self._task
        filled = frozenset(spec for node, spec in task.bench.prefilled if node == self.name)
        inspection = await inspect(task.shell, task.step, task.node_step, task.target, destroy, filled)
        self.environment, self._found = inspection.environment, inspection.found
        if inspection.problem:
            raise Ended("refused", inspection.problem)
        if self._found.refusal:
            raise Ended("refused", self._found.refusal.text)
        self.findings += self._found.findings

    async def prepare(self, stop: StopRequest) -> None:
        """Create and prefill the missing parts."""
        self._follow.doing = f"while {self._task.target.spec} was being prepared"
        try:
            await Preparation(self._task, self._found, self._follow).carry_out(stop)
        finally:
            self._task.recorder.end(self.name, preparing=True)

    async def image_features(self) -> tuple[str, ...]:
        """Of the first image that is used, which is like the others; raises TransportError."""
        place = self._task.node_step.place
        if self._found.features or not isinstance(place, RbdPlace):
            return self._found.features
        info = await image_info(self._task.shell, place.pool, place.images[0])
        return info.features if info else ()

    # ------------------------------------------------------------------ the benchmark

    async def hold(self, stop: StopRequest) -> None:
        """Have the benchmark ready, so that all nodes can be released at once."""
        self._follow.doing = "before the benchmark began"
        step = self._task.step
        limit = step.ramp_seconds + (step.run_seconds or step.most_seconds or 7 * 86400)
        self.process = await self._follow.start(self._task.node_step.argv, limit, stop)

    async def call_off(self, stop: StopRequest) -> None:
        """End a benchmark that has not been released."""
        assert self.process is not None
        process, self.process = self.process, None
        await process.stop()
        await process.wait()
        self._task.recorder.end(self.name, preparing=False)
        self.end("stopped", stop.reason or None)

    async def measure(self, stop: StopRequest) -> None:
        """From the release to the end."""
        assert self.process is not None
        step = self._task.step
        self._follow.doing = "in the ramp" if step.ramp_seconds else "while measuring"
        parser = TOOLS[step.tool].bind(step.options).parser(ramp=step.ramp_seconds > 0, seconds=step.run_seconds)
        outcome, error, self.result = await self._follow.to_end(self.process, parser, stop, preparing=False)
        self.ended_at = time.monotonic()
        self.end(outcome, error)

    # ------------------------------------------------------------------ after

    def node_result(self, released_at: float | None) -> NodeResult:
        """This node's part, with times from the release of the first."""
        result = self.result
        self.findings += [*result.findings, *run_findings(self._task.step, self.outcome or "lost", result)]
        return NodeResult(
            node=self.name,
            outcome=self.outcome or "lost",
            error=self.error,
            command=self._task.node_step.command,
            started_seconds=self._since(released_at, self.process.released_at if self.process else None),
            ended_seconds=self._since(released_at, self.ended_at),
            summary=stats.summarise([result.flows]),
            cpu_user_percent=result.cpu_user_percent,
            cpu_system_percent=result.cpu_system_percent,
            context_switches=result.context_switches,
            depths=dict(result.depths),
            disks=result.disks,
            jobs=result.jobs,
        )

    @staticmethod
    def _since(released_at: float | None, moment: float | None) -> float | None:
        return None if released_at is None or moment is None else round(moment - released_at, 4)
