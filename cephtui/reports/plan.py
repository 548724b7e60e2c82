"""A plan, before it is run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.models import Plan, Step
from cephtui.presets import choice_text
from cephtui.reports.text import conditions, short_command

_ORDERED_MOST = 8
"""Steps whose order is shown: twice there and back for two of anything."""


def draw_plan(value: Plan) -> RenderableType:
    """Each step with its commands and writes, then the duration."""
    use = value.pool_use
    rows: list[RenderableType] = [Text(f"pool {use.pool}: {use.text}")] if use else []
    for number, step in enumerate(value.steps, 1):
        repeat = f", repeat {step.repeat}" if step.repeat > 1 else ""
        what = f"{conditions(step)}, {step.target}{repeat}"
        rows.append(Text.assemble((f"{number}. {step.preset} ", "bold"), what))
        for node in step.nodes:
            rows += [Text(f"   {node.node}: writes: {w.what}{_bytes(w.bytes)}") for w in node.writes]
            commands = [short_command(c, step.tool) for c in (node.prepare_command, node.command) if c]
            rows += [Text(f"   {node.node}$ {command}", style="cyan") for command in commands]
    prefill = sum(step.prepare_seconds for step in value.steps)
    note = f", of which about {units.duration(prefill)} to prefill the target (at 200 MB/s)" if prefill else ""
    rows.append(Text(f"takes about {units.duration(value.duration_seconds)}{note}"))
    rows.append(Text(f"the session grows by about {units.size(value.session_bytes)}"))
    return Group(*rows)


def order_line(steps: Sequence[Step]) -> str:
    """``order: write-iops, read-iops, read-iops, write-iops, ...``: the first steps by what sets them apart."""
    more = ", ..." if len(steps) > _ORDERED_MOST else ""
    return f"order: {', '.join(_apart(step, steps) for step in steps[:_ORDERED_MOST])}{more}"


def _apart(step: Step, steps: Sequence[Step]) -> str:
    """``write-iops iodepth=4 on rbd:bench``: of these only what is not the same for all steps."""
    same = [each for each in steps if each.preset == step.preset]
    parts = [f"{name}={choice_text(value)}" for name, value in step.options.items()
             if any(each.options.get(name) != value for each in same)]  # fmt: skip
    if len(same) < len(steps):
        parts.insert(0, step.preset)
    if any(each.target != step.target for each in steps):
        parts.append(f"on {step.target}" if parts else step.target)
    return " ".join(parts) or step.preset


def _bytes(number: int | None) -> str:
    return f", {units.size(number)}" if number is not None else ""
