"""Plans, before they are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from cephtui import units
from cephtui.models.bounds import bound_of_all
from cephtui.planning import alike_steps
from cephtui.presets import choice_text
from cephtui.reports.words.cutting import joined
from cephtui.reports.words.text import conditions, short_command

if TYPE_CHECKING:
    from cephtui.models import Plan, PoolActivity, Step

HOLDS_BACK = {
    "scrubs": "until the end: noscrub and nodeep-scrub set",
    "all": "until the end: noscrub and nodeep-scrub set, the balancer and the PG autoscaler of all pools off",
}
DROPS_CACHES = "drops the page cache of the nodes and, of a target in a pool, the caches of all OSDs"
_ORDERED_MOST = 24
"""Steps whose order is shown."""


def draw_plans(
    plans: Sequence[Plan], titles: Mapping[str, str] | None = None, *, is_sketch: bool = False
) -> RenderableType:
    """Plans that follow each other: every step once, with its commands, its writes and how many times it is run.

    Then how long all of them take. ``titles`` are what the steps are called, by their batches; the default is their
    presets. A sketch shows what is run, and not how often.
    """
    titles = titles or {}
    steps = [
        _draw_step(
            first,
            number,
            titles.get(first.batch, first.preset),
            f", {1 + len(repeats)} times" if repeats and not is_sketch else "",
            next((plan.pool_use for plan in plans if plan.pool_use), None),
        )
        for number, (first, *repeats) in enumerate(alike_steps(plans), 1)
    ]
    totals = [] if is_sketch else _totals(plans)
    return Group(*_before(plans), *steps, *_idle(plans), *totals)


def _before(plans: Sequence[Plan]) -> list[Text]:
    """Who else uses the pools, and the caches that are dropped."""
    uses = dict.fromkeys(plan.pool_use for plan in plans if plan.pool_use)
    lines = [Text(f"pool {use.pool}: {use.text}") for use in uses]
    if any(plan.drop_caches for plan in plans):
        lines.append(Text(f"before each run: {DROPS_CACHES}"))
    lines += [Text(HOLDS_BACK[quiet]) for quiet in sorted({plan.quiet for plan in plans if plan.quiet})]
    return lines


def _idle(plans: Sequence[Plan]) -> list[Text]:
    """Lines that say where one node does what all chosen nodes were chosen for."""
    idle_nodes = dict.fromkeys(
        (step.target, step.names, plan.idle) for plan in plans for step in plan.steps if plan.idle
    )
    return [
        Text(f"{target}: measured from {joined(names, 'nodes')} only, {joined(idle, 'nodes')} would add nothing")
        for target, names, idle in idle_nodes
    ]


def _draw_step(step: Step, number: int, title: str, repeated: str, pool_use: PoolActivity | None) -> RenderableType:
    what = f"{conditions(step)}, {step.target}{repeated}"
    rows = [Text.assemble((f"{number}. {title} ", "bold"), what)]
    rows += [Text(f"   {companion.node}$ {companion.command}", style="cyan") for companion in step.companions]
    for node in step.nodes:
        for write in node.writes:
            size = "" if write.bytes is None else f", {units.size(write.bytes)}"
            rows.append(Text(f"   {node.node}: writes: {write.what}{size}"))
        commands = [short_command(c, step.tool) for c in (node.prepare_command, node.command) if c]
        rows += [Text(f"   {node.node}$ {command}", style="cyan") for command in commands]
    notes = (_fits_into_memory(step), above_cap_text(step, pool_use)) if pool_use else ()
    rows += [Text(f"   {note}", style="dim") for note in notes if note]
    return Group(*rows)


def above_cap_text(step: Step, pool_use: PoolActivity | None) -> str:
    """That OSDs do not receive as many messages at once as a step has in flight; empty where they do."""
    from cephtui.analysis.detectors.osds import USUAL_MESSAGE_CAP  # loads the tools
    from cephtui.analysis.runs.facts import in_flight

    osds, number = pool_use.osds_in if pool_use else None, in_flight(step)
    if not osds or not number or number <= osds * USUAL_MESSAGE_CAP:
        return ""
    they = f"{osds} OSDs accept" if osds > 1 else "1 OSD accepts"
    takes = f"{they} {osds * USUAL_MESSAGE_CAP:,} messages at once (osd_client_message_cap, by default)"
    return f"{number:,} in flight, but {takes}: choose less depth or fewer jobs"


def _fits_into_memory(step: Step) -> str:
    """That most of what a step reads fits into the memory of a single OSD; empty where it does not."""
    from cephtui.analysis.detectors.caches import OSD_MEMORY_BYTES, hot_set  # loads the tools

    hot = hot_set(step)
    if hot is None or not 0 < hot.bytes <= OSD_MEMORY_BYTES:
        return ""
    reads = "reads" if hot.share == 1 else "90 % of the reads are of"
    memory = f"{units.size(OSD_MEMORY_BYTES)} by default"
    return (
        f"{reads} {units.size(hot.bytes)}, which fits into the memory of one OSD ({memory}): reads may come from memory"
    )


def _totals(plans: Sequence[Plan]) -> list[Text]:
    steps = [step for plan in plans for step in plan.steps]
    prefill = sum(step.prepare_seconds for step in steps)
    note = f", of which about {units.duration(prefill)} to prefill the target (at 200 MB/s)" if prefill else ""
    runs = f"{len(steps)} runs take" if len(steps) > 1 else "takes"
    bound, seconds = bound_of_all(plan.bound for plan in plans), sum(plan.duration_seconds for plan in plans)
    return [
        Text(f"{runs} {bound} {units.duration(seconds)}{note}"),
        Text(f"the session grows by about {units.size(sum(plan.session_bytes for plan in plans))}"),
    ]


def order_line(steps: Sequence[Step], titles: Mapping[str, str]) -> str:
    """``order: write-iops, read-iops, read-iops, write-iops, ...``: the first steps by what sets them apart.

    ``titles`` are what the steps are called, by their batches.
    """
    more = ", ..." if len(steps) > _ORDERED_MOST else ""
    return f"order: {', '.join(_apart(step, steps, titles) for step in steps[:_ORDERED_MOST])}{more}"


def _apart(step: Step, steps: Sequence[Step], titles: Mapping[str, str]) -> str:
    """``write-iops iodepth=4 on rbd:bench (pve1)``: of these only what is not the same for all steps."""
    title = titles[step.batch]
    same = [other for other in steps if titles[other.batch] == title]
    parts = [f"{name}={choice_text(value)}" for name, value in step.options.items()
             if any(other.options.get(name) != value for other in same)]  # fmt: skip
    if len(same) < len(steps):
        parts.insert(0, title)
    if any(other.target != step.target for other in steps):
        parts.append(f"on {step.target}" if parts else step.target)
    words = " ".join(parts) or title
    nodes = [node.node for node in step.nodes]
    if all([node.node for node in other.nodes] == nodes for other in steps):
        return words
    return f"{words} ({joined(nodes, 'nodes')})"
