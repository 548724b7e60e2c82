"""The preparation of a step on one node: parts are created and prefilled."""

from __future__ import annotations

import asyncio

from cephtui.models import Part
from cephtui.nodes.shell import failure_reason, with_ceph
from cephtui.planning import prefill_command
from cephtui.running.bench import PrefilledPart
from cephtui.running.follow import Follow, NodeTask
from cephtui.running.new_pool import note_undo
from cephtui.running.outcomes import PartEnded
from cephtui.running.recorder import StopRequest
from cephtui.targets.base import TargetState
from cephtui.tools import TOOLS
from cephtui.tools.base import ToolResult
from cephtui.tools.load import Sizing

_SLOWEST_PREFILL_BYTES_PER_SECOND = 2e6
_PROBE_LIMIT_SECONDS, _PROBE_LEAST_SECONDS, _GROWTH = 30.0, 1.0, 8
_MORE_THAN_NEEDED = 2.0
"""Times the data that a run would read at the speed of the first objects."""


class Preparation:
    """Creates and prefills the parts that a task needs.

    Nothing is read or measured that was not written before, unless the user asks for that.
    """

    def __init__(self, task: NodeTask, state: TargetState, follow: Follow) -> None:
        self._task, self._state, self._follow = task, state, follow
        self._bench, self._workload = task.bench, TOOLS[task.step.tool].bind(task.step.options)

    async def carry_out(self, stop: StopRequest) -> None:
        """Create and prefill the missing parts; raises PartEnded, TransportError and TargetFault."""
        if stop.reason is not None:
            raise PartEnded("stopped", stop.reason or None)
        missing = [part for part in self._task.node_step.parts if not self._is_prefilled(part)]
        to_create = [part for part in self._state.to_create if part in missing]
        if to_create:
            specs, target = [part.spec for part in to_create], self._task.target
            await note_undo(self._bench, self._task.shell, specs, target.pool, self._state.mount)
        for argv in self._state.to_extend:
            done = await self._task.shell.run(argv)
            if done.status != 0:
                raise PartEnded("refused", failure_reason(done))
        identities = dict(
            zip((p.spec for p in to_create), await asyncio.gather(*map(self._create, to_create)), strict=True)
        )
        self._follow.identify(identities)
        if not self._task.step.filled or not missing:
            return
        parts = self._to_prefill(missing)
        await self._prefill(parts, stop)
        for part in parts:
            identity = identities.get(part.spec) or self._state.identities.get(part.spec, "")
            self._bench.prefilled[self._task.name, part.spec] = PrefilledPart(identity, part.bytes)

    def _is_prefilled(self, part: Part) -> bool:
        prefilled = self._bench.prefilled.get((self._task.name, part.spec))
        is_same = prefilled and prefilled.identity == self._state.identities.get(part.spec)
        return bool(prefilled and is_same and prefilled.bytes >= part.bytes)

    def _to_prefill(self, missing: list[Part]) -> tuple[Part, ...]:
        """The parts as planned, since later steps may need more of them; unplanned ones were replaced meanwhile."""
        planned = {part.spec: part for part in self._task.node_step.fill}
        return tuple(planned.get(part.spec, part) for part in missing)

    async def _create(self, part: Part) -> str:
        whole = next((fill for fill in self._task.node_step.fill if fill.spec == part.spec), part)
        return await self._task.target.create(self._task.shell, whole, self._bench.session.owner)

    async def _prefill(self, parts: tuple[Part, ...], stop: StopRequest) -> None:
        total_bytes = sum(part.bytes for part in parts)
        sizing = self._workload.sizing(self._task.node_step.place, total_bytes)
        if sizing:
            await self._prefill_as_needed(sizing, parts[0], stop)
        else:
            await self._write(self._prefill_argv(parts), total_bytes, stop)

    def _prefill_argv(self, parts: tuple[Part, ...]) -> tuple[str, ...]:
        planned = self._task.node_step
        if planned.prepare_argv and parts == planned.fill:
            return planned.prepare_argv
        return prefill_command(self._workload, self._task.shell.node, planned.place, parts)

    async def _prefill_as_needed(self, sizing: Sizing, part: Part, stop: StopRequest) -> None:
        """Prefill a little, measure its read rate, and size the full prefill from that.

        Where the data is read too fast to measure the rate, prefill more and try again.
        """
        node, prefilled = self._task.shell.node, sizing.first_bytes
        await self._write(self._prefill_argv((part.model_copy(update={"bytes": prefilled}),)), prefilled, stop)
        while prefilled < sizing.most_bytes:
            probe = with_ceph(node, sizing.probe_argv)
            read = (await self._run(probe, _PROBE_LIMIT_SECONDS, stop)).read
            lasted, rate = (read.runtime_seconds, read.bandwidth_bytes or 0.0) if read else (0.0, 0.0)
            is_known = lasted >= _PROBE_LEAST_SECONDS
            next_bytes = int(rate * sizing.run_seconds * _MORE_THAN_NEEDED) if is_known else _GROWTH * prefilled
            next_bytes = min(sizing.most_bytes, next_bytes - next_bytes % sizing.unit_bytes)
            if next_bytes > prefilled:
                await self._write(with_ceph(node, sizing.prefill_again_argv(next_bytes)), next_bytes, stop)
            if is_known:
                return
            prefilled = next_bytes

    async def _write(self, argv: tuple[str, ...], prefill_bytes: int, stop: StopRequest) -> None:
        self._follow.doing = f"while {self._task.target.spec} was being prefilled"
        limit = prefill_bytes / _SLOWEST_PREFILL_BYTES_PER_SECOND
        result = await self._run(argv, limit, stop)
        if result.write is None or result.write.bytes != prefill_bytes:
            raise PartEnded("failed", f"prefilling {self._task.target.spec}: not all data was written")

    async def _run(self, argv: tuple[str, ...], limit_seconds: float, stop: StopRequest) -> ToolResult:
        """Run a command of the preparation; raises PartEnded unless it succeeds."""
        process = await self._follow.start(argv, limit_seconds, stop)
        process.release()
        outcome, error, result = await self._follow.to_end(
            process, self._workload.prefill_parser(), stop, preparing=True
        )
        if outcome != "ok":
            text = f"prefilling {self._task.target.spec}: {error}"
            raise PartEnded(outcome, error and (error if error.startswith(f"{self._task.name}: ") else text))
        return result
