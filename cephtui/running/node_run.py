"""One step on one node: inspected, prepared, held until all nodes are ready, measured."""

from __future__ import annotations

import logging
import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

from cephtui import stats
from cephtui.analysis.detectors.jobs import slow_jobs
from cephtui.analysis.detectors.other_clients import operations_per_io
from cephtui.ceph.librbd_caches import CacheSetting
from cephtui.ceph.qos import Limits, librbd_options
from cephtui.cluster.reader import ClusterReader, image_settings
from cephtui.models import Finding, NodeEnvironment, NodeResult, Outcome, Plan, RbdPlace, Step
from cephtui.models.findings.data import LIBRBD_CACHE
from cephtui.nodes.transport import Process, TransportError
from cephtui.printable import shortened
from cephtui.running.caches import drop_page_cache
from cephtui.running.follow import CONNECTION_LOST, Follow, NodeTask
from cephtui.running.inspection import inspect
from cephtui.running.outcomes import NodeEnd, PartEnded, run_findings
from cephtui.running.preparation import Preparation
from cephtui.running.recorder import StopRequest
from cephtui.targets.base import TargetFault, TargetState
from cephtui.tools import TOOLS
from cephtui.tools.base import ToolResult, Workload

_SLOWEST = 20
"""Times the estimate that a process has at most for preparing its own data."""
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
        self._failure: PartEnded | None = None
        """The failure of a companion, which ends this node's part."""
        self._task, self._follow = task, Follow(task, self.findings)
        self._state = TargetState()
        self._is_admitted = False
        """Whether no guard kept the step from beginning."""

    @property
    def _workload(self) -> Workload:
        return TOOLS[self._task.step.tool].bind(self._task.step.options)

    @property
    def prepares_itself(self) -> bool:
        """See Workload."""
        return self._workload.prepares_itself

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
        except PartEnded as ended:
            self.end(ended.outcome, ended.error)
        except TransportError as failure:
            self.end("lost", self._follow.lost if str(failure).endswith(CONNECTION_LOST) else str(failure))
        except TargetFault as failure:
            self.end("refused", str(failure))
        except Exception as failure:  # one node's trouble must neither hide nor leave behind the others
            log.exception("%s on %s", self._task.step.preset, self.name)
            self.end("failed", f"unexpected error: {failure!r}")
        if self.outcome is not None and self._is_admitted:
            self._task.recorder.node_ended(self.ending)

    @property
    def ending(self) -> NodeEnd:
        """How this node's part ended; lost where nothing is known of it."""
        return NodeEnd(self.name, self.outcome or "lost", self.error)

    # ------------------------------------------------------------------ before

    async def inspect(self, plan: Plan) -> None:
        """Inspect the node and the target, and apply the guards; ``plan`` has what the user has agreed to."""
        task = self._task
        filled = frozenset(spec for node, spec in task.bench.prefilled if node == self.name)
        inspection = await inspect(task.shell, task.step, task.node_step, task.target, plan, filled)
        self.environment, self._state = inspection.environment, inspection.state
        if inspection.problem:
            raise PartEnded("refused", inspection.problem)
        if self._state.refusal:
            raise PartEnded("refused", self._state.refusal.text)
        self.findings += self._state.findings
        self._follow.identify(self._state.identities)

    async def prepare(self, stop: StopRequest) -> None:
        """Create and prefill the missing parts."""
        self._is_admitted = True
        self._follow.doing = f"while {self._task.target.spec} was being prepared"
        try:
            await Preparation(self._task, self._state, self._follow).carry_out(stop)
        finally:
            if not self.prepares_itself:
                self._task.recorder.end(self.name, preparing=True)
        await self._note_queues()

    async def _note_queues(self) -> None:
        """Note the queue settings of devices that did not exist at the inspection."""
        if self._state.to_create and not self._state.queues:
            queues = await self._task.target.queues(self._task.shell, self._task.node_step.parts[0])
            settings = {**self.environment.settings, **queues}
            self.environment = self.environment.model_copy(update={"settings": settings})

    async def drop_page_cache(self) -> None:
        """Drop the page cache of the node; where that is not possible it is a finding."""
        finding = await drop_page_cache(self._task.shell)
        self.environment = self.environment.model_copy(update={"page_cache_dropped": finding is None})
        self.findings += [finding] if finding else []

    async def image_facts(self) -> dict[str, object]:
        """Facts of the first image, which is like the others, by field of ClusterEnvironment; raises TransportError.

        The limits are those of clients of librbd. A cache that is switched on for the image is a finding.
        """
        task, place = self._task, self._task.node_step.place
        image = self._state.image or await task.target.image_info(task.shell, task.node_step.parts[0])
        task.recorder.operations_per_io = operations_per_io(task.step, image)
        features = image.features if image else ()
        if not isinstance(place, RbdPlace):
            return {"image_features": features}
        query = image_settings(place.pool, place.images[0])
        limits, caches = await ClusterReader(task.shell).optional(query) or (Limits(), ())
        if caches:
            task.recorder.operations_per_io = None
            self.findings += [_cached(setting, place) for setting in caches if _takes_part(setting, task.step)]
        return {"image_features": features, "image_limits": librbd_options(limits)}

    # ------------------------------------------------------------------ the benchmark

    async def hold(self, stop: StopRequest) -> None:
        """Have the benchmark ready, so that all nodes can be released at once."""
        self._follow.doing = "before the benchmark began"
        step = self._task.step
        prepares = _SLOWEST * step.prepare_seconds if self.prepares_itself else 0.0
        limit = prepares + step.ramp_seconds + (step.run_seconds or step.most_seconds or 7 * 86400)
        self.process = await self._follow.start(
            self._task.node_step.argv,
            limit,
            stop,
            await self._secrets(),
            goes_on=self.prepares_itself,
            reports_machine=True,
        )

    async def _secrets(self) -> list[str]:
        """The secrets that the tool needs of the target; raises TargetFault and TransportError."""
        names, task = TOOLS[self._task.step.tool].secrets, self._task
        secrets = await task.target.secrets_for(task.shell, task.node_step.place) if names else {}
        return [secrets[name] for name in names]

    async def call_off(self, stop: StopRequest) -> None:
        """End a benchmark that has not been released."""
        assert self.process is not None
        process, self.process = self.process, None
        await process.stop()
        await process.wait()
        self._task.recorder.end(self.name, preparing=False)
        self.end("stopped", stop.reason or None)

    async def fail(self, failure: PartEnded) -> None:
        """End this node's part for a reason that lies elsewhere; where it has failed already, that is why."""
        self._failure = failure
        if self.outcome in ("failed", "lost") and self.error != failure.error:
            self.outcome, self.error = _failed_with(failure, self.error)
        elif self.outcome is None and self.process is not None:
            await self.process.stop()

    def release(self) -> None:
        """Let the benchmark begin; all nodes of a step are released before any of them is followed."""
        assert self.process is not None
        self._task.together.expect(self.name)
        self.process.release()

    async def measure(self, stop: StopRequest) -> None:
        """Measure from the release to the end."""
        assert self.process is not None
        step = self._task.step
        self._follow.doing = "in the ramp" if step.ramp_seconds else "while measuring"
        if self.prepares_itself:
            self._follow.doing = f"while {self._task.target.spec} was being prepared"
        parser = self._workload.parser(ramp=step.ramp_seconds > 0, seconds=step.run_seconds)
        outcome, error, result = await self._follow.to_end(self.process, parser, stop, preparing=False)
        error, self.result = error and _explained(error, self._state.causes), _with_causes(result, self._state.causes)
        self.ended_at = time.monotonic()
        if self._failure and outcome != "stopped":
            outcome, error = _failed_with(self._failure, self.result.error)
        self.end(outcome, error)

    # ------------------------------------------------------------------ after

    def node_result(self, released_at: float | None) -> NodeResult:
        """This node's part, with times from the release of the first."""
        result = self.result
        self.findings += [*result.findings, *run_findings(self._task.step, self.outcome or "lost", result)]
        node_result = NodeResult(
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
            machine=self._task.recorder.course.machines.use(self.name),
            jobs=result.jobs,
        )
        self.findings += slow_jobs(node_result)
        return node_result

    @staticmethod
    def _since(released_at: float | None, moment: float | None) -> float | None:
        return None if released_at is None or moment is None else round(moment - released_at, 4)


def _takes_part(setting: CacheSetting, step: Step) -> bool:
    """Whether a cache may answer I/Os of a step."""
    from cephtui.analysis.runs.facts import load_of  # no run has begun yet as the console starts

    if (load := load_of(step)) is None:
        return True
    pattern = load.pattern.removeprefix("rand")
    is_written = setting.writes and (load.flushes or not setting.after_flush)
    return (setting.reads and pattern != "write") or (is_written and pattern != "read")


def _cached(setting: CacheSetting, place: RbdPlace) -> Finding:
    where = {"pool": place.pool, "image": f"{place.pool}/{place.images[0]}"}.get(setting.source)
    return LIBRBD_CACHE.found(**{"option": setting.option, setting.source: where})


def _failed_with(failure: PartEnded, error: str | None) -> tuple[Outcome, str]:
    """The outcome of a companion's failure, and both reasons."""
    return failure.outcome, shortened("; ".join(filter(None, (error, failure.error))))


def _explained(text: str, causes: Mapping[str, str]) -> str:
    """A text of the tool, with what the target knows of the causes that it names."""
    for word, cause in causes.items():
        text = text.replace(word, f"{word}: {cause}")
    return text


def _with_causes(result: ToolResult, causes: Mapping[str, str]) -> ToolResult:
    findings = tuple(
        finding.model_copy(update={"text": _explained(finding.text, causes)}) for finding in result.findings
    )
    return replace(result, error=result.error and _explained(result.error, causes), findings=findings)
