"""Preset x nodes x target x repeats -> Plan: everything is decided here, nothing is done."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cephtui.models import NodeStep, OptionValue, Plan, Step, Write
from cephtui.presets import Choice, Preset, combinations
from cephtui.targets import DEFAULT_SPAN_BYTES, FileTarget
from cephtui.tools import OptionError, Tool

FILL_BYTES_PER_SECOND = 200e6
"""Assumed for the estimate of a filling; only a measurement could tell."""
STEPS_MOST = 1000
"""More than this many steps in one plan are taken for a mistake."""
_OVERHEAD_SECONDS = 1.0
# a json+ document of one group is 13 to 20 KB, its samples 3 to 6 KB, both once a second
_STORED_BYTES_PER_SECOND = 32_000
_STORED_BYTES_PER_RUN = 64_000


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for."""

    presets: tuple[Preset, ...]
    nodes: tuple[str, ...]
    target: FileTarget
    overrides: Mapping[str, Choice]
    repeats: int = 1
    destroy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Draft:
    preset: Preset
    batch: str
    repeat: int
    options: dict[str, OptionValue]
    size_bytes: int
    span_bytes: int

    @property
    def tool(self) -> Tool:
        return self.preset.tool


def new_batch() -> str:
    """An id that ties steps together, unique over sessions."""
    return secrets.token_hex(4)


def make_plan(request: Request, new_batch: Callable[[], str], filled_bytes: int = 0) -> Plan:
    """The plan for a request; ``filled_bytes`` of the target are known to be filled. Raises OptionError."""
    drafts = _drafts(request, new_batch)
    span = max(draft.span_bytes for draft in drafts)
    steps: list[Step] = []
    for draft in drafts:
        fill = span if filled_bytes < draft.span_bytes else 0
        filled_bytes = max(filled_bytes, fill)
        steps.append(_step(draft, request, fill))
    return Plan(
        steps=tuple(steps),
        destroy=request.destroy,
        duration_seconds=sum(map(_seconds, steps)),
        session_bytes=sum(map(_stored_bytes, steps)),
    )


def _drafts(request: Request, new_batch: Callable[[], str]) -> list[_Draft]:
    chosen = [combinations(p.tool, {**p.file.options, **request.overrides}) for p in request.presets]
    number = sum(map(len, chosen)) * request.repeats
    if number > STEPS_MOST:
        raise OptionError("repeat", f"{number:,} steps are too many, expected at most {STEPS_MOST:,} in one plan")
    drafts = []
    for preset, combined in zip(request.presets, chosen, strict=True):
        batch = new_batch()
        for repeat in range(1, request.repeats + 1):
            for options in combined:
                jobs, size = preset.tool.jobs_and_size(options, DEFAULT_SPAN_BYTES)
                drafts.append(_Draft(preset, batch, repeat, options, size, jobs * size))
    return drafts


def _step(draft: _Draft, request: Request, fill_bytes: int) -> Step:
    ramp, run = draft.tool.times(draft.options)
    return Step(
        preset=draft.preset.name,
        tool=draft.tool.name,
        batch=draft.batch,
        repeat=draft.repeat,
        target=request.target.spec,
        span_bytes=draft.span_bytes,
        fill_bytes=fill_bytes,
        options=draft.options,
        nodes=tuple(_node_step(draft, request.target, node, fill_bytes) for node in request.nodes),
        prepare_seconds=fill_bytes / FILL_BYTES_PER_SECOND,
        ramp_seconds=ramp,
        run_seconds=run,
    )


def _node_step(draft: _Draft, target: FileTarget, node: str, fill_bytes: int) -> NodeStep:
    argv = draft.tool.argv(draft.preset.name, draft.options, draft.size_bytes, target.options)
    fill = draft.tool.fill_argv(draft.options, fill_bytes, target.options) if fill_bytes else None
    writes = []
    if fill:
        writes.append(Write(what=f"{target.spec} is written in full before its first use", bytes=fill_bytes))
    if str(draft.options["rw"]) not in ("read", "randread"):
        writes.append(Write(what=f"{target.spec} is overwritten by the benchmark"))
    return NodeStep(
        node=node,
        argv=argv,
        command=shlex.join(argv),
        prepare_argv=fill,
        prepare_command=shlex.join(fill) if fill else None,
        writes=tuple(writes),
    )


def _seconds(step: Step) -> float:
    return step.prepare_seconds + step.ramp_seconds + (step.run_seconds or 0.0) + _OVERHEAD_SECONDS


def _stored_bytes(step: Step) -> int:
    entries = 1 if step.options.get("group_reporting", True) else int(step.options.get("numjobs", 1))
    return _STORED_BYTES_PER_RUN + round(_seconds(step) * _STORED_BYTES_PER_SECOND * entries * len(step.nodes))
