"""Preset x nodes x target x repeats -> Plan: everything is decided here, nothing is done."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from cephtui import models, units
from cephtui.ceph import access
from cephtui.frozen import dataclass
from cephtui.models.manner import AS_USUAL, Manner
from cephtui.nodes.shell import with_ceph
from cephtui.presets import Choice, Preset, Usual, choice_text, combinations, usual_options
from cephtui.printable import printable
from cephtui.targets.base import DataLayout, Target, TargetError
from cephtui.tools.base import OptionError, Workload
from cephtui.tools.tool import Tool

if TYPE_CHECKING:
    from cephtui.models import (
        CompanionStep,
        Node,
        NodeStep,
        OptionValue,
        Part,
        Place,
        Plan,
        PoolActivity,
        Promise,
        Step,
        Write,
    )

PREFILL_BYTES_PER_SECOND = 200e6
"""Assumed for the estimate of a prefill; the real rate is known only once it was measured."""
PLAN_STEPS_MOST = 1000
"""More than this many steps in one plan are taken for a mistake."""
T = TypeVar("T")
# a json+ document of one group is 13 to 20 KB, its samples 3 to 6 KB, both once a second
_STORED_BYTES_PER_SECOND = 32_000
_STORED_BYTES_PER_RUN = 64_000


Order: TypeAlias = Literal["abab", "abba"]
"""Each repeat runs all presets and values before the next one, the second of ``abba`` in reverse."""
Prefilled = Mapping[tuple[str, str], int]
"""Bytes known to be prefilled, by node and part."""


@dataclass(frozen=True, slots=True)
class Request:
    """The choice of a user."""

    presets: tuple[Preset, ...]
    nodes: tuple[Node, ...]
    target: Target
    overrides: Mapping[str, Choice]
    repeats: int = 1
    destroy: tuple[str, ...] = ()
    ceph_node: str | None = None
    shared_pool: bool = False
    manner: Manner = AS_USUAL
    drop_agreed: bool = False
    quiet_agreed: bool = False
    room_bytes: int | None = None
    """The most that the default span may take on each node."""
    pool_use: PoolActivity | None = None
    begun: int = 0
    """Number of the first steps that were run already: the plan is the rest."""
    until: int | None = None
    """Number of the step at which the plan ends; None is the last."""
    order: Order | None = None
    """How presets and values take turns; None runs all repeats of a preset before the next."""
    batches: tuple[str, ...] = ()
    """The batches of the presets, where they are decided already."""
    promises: Mapping[str, Promise] = field(default_factory=dict)
    """Promises of the runs, by batch."""
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The versions of the tools on the nodes that are connected, by node and tool, as they print them."""

    @property
    def preset(self) -> Preset:
        """The first one; the request of a queue's entry has no other."""
        return self.presets[0]

    @property
    def hosts(self) -> tuple[Node, ...]:
        """All nodes that take part: those that measure, then the target's own."""
        measuring = {node.name for node in self.nodes}
        return (*self.nodes, *(host for host in self.target.hosts if host.name not in measuring))

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        """The target, and the names of the nodes that load it."""
        return self.target.spec, tuple(node.name for node in self.nodes)

    @property
    def option_texts(self) -> list[str]:
        """The options that differ from those of the presets, in words."""
        return [f"{option} {choice_text(value)}" for option, value in self.overrides.items()]


def expand_targets(request: Request, find: Callable[[str], Sequence[Node]]) -> list[Request]:
    """A request for each target that its target stands for, and each set of nodes that measures it.

    ``find`` gives nodes by a name. Raises OptionError where there is none.
    """
    try:
        targets = request.target.expand(request.nodes, find)
    except TargetError as error:
        raise OptionError("target", str(error)) from None
    nodes = {node.name: node for node in request.nodes}
    requests = [replace(request, target=target, nodes=tuple(nodes[name] for name in names))
             for target in targets for names in target.measured_from([*nodes])]  # fmt: skip
    if not requests:
        raise OptionError("target", f"{request.target.spec} is the only node: choose another one to measure from")
    return requests


@dataclass(frozen=True, slots=True)
class _Draft:
    preset: Preset
    target: Target
    """The target as the preset's tool uses it."""
    repeat: int
    workload: Workload
    edited: tuple[str, ...]
    """The options that are not as the preset has them."""
    asked_options: Mapping[str, OptionValue]
    """The options that this kind of target changes, as they were asked for."""
    layout: DataLayout
    places: dict[str, tuple[Place, tuple[Part, ...]]]
    """Places and parts by node."""


def new_batch() -> str:
    """An id of a batch of steps, unique over sessions."""
    return secrets.token_hex(4)


def make_plan(request: Request, new_batch: Callable[[], str], prefilled: Prefilled | None = None) -> Plan:
    """The plan for a request; raises OptionError."""
    hosts = request.hosts
    if request.target.runs_from_one_node:
        request = replace(request, nodes=(_asking(request),))
    if request.target.single_client and len(request.nodes) > 1:
        raise OptionError("node", f"{request.target.spec} can be used by one node only: use rbd:POOL for several")
    drafts = _drafts(request, new_batch)[request.begun : request.until]
    needs = _needs(drafts)
    filled = dict(prefilled or {})
    may_prefill = request.target.is_managed or bool(set(request.target.names) & set(request.destroy))
    may_prefill = may_prefill or any(draft.workload.writes() for draft in drafts)
    steps: list[Step] = []
    for number, draft in enumerate(drafts, request.begun + 1):
        if not draft.target.persists_between_steps:
            filled = {}
        prefills = may_prefill and draft.workload.needs_data(draft.target.kind)
        step = _step(number, draft, request, needs, filled if prefills else None)
        filled.update({(node.node, part.spec): part.bytes for node in step.nodes for part in node.fill})
        steps.append(step)
    return models.Plan(
        steps=tuple(steps),
        hosts=hosts,
        ceph_node=request.ceph_node,
        pool_use=request.pool_use,
        shared_pool=request.shared_pool,
        drop_caches=request.manner.drop_caches,
        drop_agreed=request.drop_agreed,
        quiet=request.manner.quiet,
        quiet_agreed=request.quiet_agreed,
        destroy=request.destroy,
        duration_seconds=sum(step.likely_seconds for step in steps),
        session_bytes=sum(_stored_bytes(s, d.workload) for s, d in zip(steps, drafts, strict=True)),
    )


def _asking(request: Request) -> Node:
    """The node that asks the cluster, if it measures; else the first."""
    return next((node for node in request.nodes if node.name == request.ceph_node), request.nodes[0])


def alike_steps(plans: Iterable[Plan]) -> list[list[Step]]:
    """The steps of plans with their repeats: those of one batch with the same options, in the order of the first."""
    repeats: dict[tuple[object, ...], list[Step]] = {}
    for step in (step for plan in plans for step in plan.steps):
        repeats.setdefault((step.batch, *step.options.items()), []).append(step)
    return list(repeats.values())


def new_bytes(steps: Sequence[Step]) -> int:
    """Bytes that these steps add to a pool at most, on all nodes together."""
    parts = {(node.node, part.spec): part.bytes for step in steps for node in step.nodes for part in node.fill}
    written = {
        (node.node, part.spec): part.bytes
        for step in steps
        if step.writes and not step.filled
        for node in step.nodes
        for part in node.parts
    }
    return sum({**written, **parts}.values())


def _drafts(request: Request, new_batch: Callable[[], str]) -> list[_Draft]:
    chosen = [combinations(p.tool, {**p.file.options, **p.tool.canonical(request.overrides)}) for p in request.presets]
    number = sum(map(len, chosen)) * request.repeats
    if number > PLAN_STEPS_MOST:
        raise OptionError("repeat", f"{number:,} steps are too many, expected at most {PLAN_STEPS_MOST:,} in one plan")
    points = [[(preset, batch, options) for options in combined]
              for preset, combined in zip(request.presets, chosen, strict=True) for batch in [new_batch()]]  # fmt: skip
    for preset in request.presets:
        if problem := request.target.check_tool(preset.tool):
            raise OptionError("target", problem)
    usual = {
        p.name: usual_options(p.tool, p.file.options, request.target.for_tool(p.tool).kind) for p in request.presets
    }
    return [_draft(request, preset, batch, repeat, options, usual[preset.name])
            for repeat, (preset, batch, options) in ordered(points, request.repeats, request.order)]  # fmt: skip


def ordered(points: Sequence[Sequence[T]], repeats: int, order: Order | None) -> list[tuple[int, T]]:
    """Each point with the number of its repeat; points are grouped by their presets. Raises OptionError."""
    numbers = range(1, repeats + 1)
    if order is None:
        return [(number, point) for same in points for number in numbers for point in same]
    all_points = [point for same in points for point in same]
    if len(all_points) < 2:
        raise OptionError("order", f"{order} needs two presets, two values of an option, or two targets")
    turns = [(number, all_points[::-1] if order == "abba" and number % 2 == 0 else all_points) for number in numbers]
    return [(number, point) for number, turn in turns for point in turn]


def _draft(
    request: Request, preset: Preset, batch: str, repeat: int, options: dict[str, OptionValue], usual: Usual
) -> _Draft:
    target = request.target.for_tool(preset.tool)
    workload = preset.tool.bind(options).fit(target.kind)
    _check_needs(preset.tool, target)
    span = target.default_span_bytes
    if request.room_bytes is not None:
        span = min(span, request.room_bytes)
    jobs, size = workload.jobs_and_size(span)
    layout = DataLayout(jobs, size, len(request.nodes) == 1, batch)
    places = {node.name: target.lay_out(node, layout) for node in request.nodes}
    fitted = workload.options
    edited = tuple(name for name, value in fitted.items() if value not in usual.get(name, ()))
    named = {*preset.tool.described, *preset.tool.canonical(request.overrides)}
    asked_options = {name: value for name, value in options.items() if name in named and fitted.get(name) != value}
    return _Draft(preset, target, repeat, workload, edited, asked_options, layout, places)


def _check_needs(tool: Tool, target: Target) -> None:
    """Raises OptionError for a tool that wants what the target does not have."""
    if lacking := [name for name in tool.secrets if name not in target.secrets]:
        raise OptionError("tool", f"{tool.title} needs the {', '.join(lacking)} of {target.spec}, which has none")


def _needs(drafts: list[_Draft]) -> dict[tuple[str, str], int]:
    """The most bytes that any step needs of each part: it is prefilled once."""
    needs: dict[tuple[str, str], int] = {}
    for draft in drafts:
        for node, (_, parts) in draft.places.items():
            for part in parts:
                needs[node, part.spec] = max(part.bytes, needs.get((node, part.spec), 0))
    return needs


def _step(number: int, draft: _Draft, request: Request, needs: Prefilled, filled: Prefilled | None) -> Step:
    """The step of a draft; ``filled`` are the bytes prefilled already, None where nothing has to be prefilled."""
    workload = draft.workload
    ramp, run = workload.times()
    nodes = tuple(_node_step(draft, request, node, needs, filled) for node in request.nodes)
    fill_bytes = max(sum(part.bytes for part in node.fill) for node in nodes)
    return models.Step(
        preset=draft.preset.name,
        tool=draft.preset.tool.name,
        batch=draft.layout.batch,
        repeat=draft.repeat,
        number=number,
        target=request.target.spec,
        data_pool=request.target.data_pool,
        has_mds=request.target.has_mds,
        writes=bool(fill_bytes) or workload.writes(),
        filled=filled is not None,
        span_bytes=draft.layout.jobs * draft.layout.size_bytes,
        fill_bytes=fill_bytes,
        block_bytes=workload.block_bytes(),
        headline=draft.preset.file.headline,
        options=workload.options,
        edited=draft.edited,
        asked=dict(draft.asked_options),
        nodes=nodes,
        companions=_companions(draft, request, nodes[0].place),
        prepare_seconds=_prepare_seconds(draft, nodes, fill_bytes),
        ramp_seconds=ramp,
        run_seconds=run,
        most_seconds=workload.most_seconds(),
        promise=request.promises.get(draft.layout.batch),
    )


def _prepare_seconds(draft: _Draft, nodes: Sequence[NodeStep], fill_bytes: int) -> float:
    """Seconds of prefill and preparation: nodes share the disks for the former, and do the latter side by side."""
    filled = _likely_bytes(draft, nodes[0], fill_bytes) * len(nodes) / PREFILL_BYTES_PER_SECOND
    return filled + draft.workload.prepare_seconds()


def _likely_bytes(draft: _Draft, node: NodeStep, fill_bytes: int) -> float:
    """Bytes that will be prefilled: all, or about as many as a run reads that ends with its data."""
    sizing = draft.workload.sizing(node.place, fill_bytes) if fill_bytes else None
    return min(fill_bytes, PREFILL_BYTES_PER_SECOND * sizing.run_seconds) if sizing else fill_bytes


def _node_step(draft: _Draft, request: Request, node: Node, needs: Prefilled, filled: Prefilled | None) -> NodeStep:
    place, parts = draft.places[node.name]
    place = place.model_copy(update={"ceph_id": node.ceph_id})
    fill: tuple[Part, ...] = ()
    if filled is not None:
        unfilled = [part.spec for part in parts if filled.get((node.name, part.spec), 0) < part.bytes]
        fill = tuple(models.Part(spec=spec, bytes=needs[node.name, spec]) for spec in unfilled)
    prefix = node.ceph_prefix if draft.preset.tool.ships_with_ceph else node.prefix
    version = request.versions.get(node.name, {}).get(draft.preset.tool.name, "")
    workload = draft.workload.for_version(version)
    argv = workload.argv(draft.preset.name, draft.layout.size_bytes, place)
    command = workload.display_command(argv, place)
    if not draft.preset.tool.measures_network:
        argv, command = with_ceph(node, argv), with_ceph(node, command)
    prepare = prefill_command(draft.workload, node, place, fill) if fill else None
    fetches = isinstance(place, models.RbdPlace) and not draft.preset.tool.ships_with_ceph and access.is_elsewhere(node)
    writes = _writes(draft, place, fill, parts)
    if fetches:
        what = f"ceph.conf and the key of client.{access.ceph_user(node)}, for the time of the run"
        writes = (models.Write(what=f"{what}, fetched through ceph_prefix unless they are in /etc/ceph"), *writes)
    return models.NodeStep(
        node=node.name,
        prefix=prefix,
        argv=argv,
        command=_quoted((*prefix, *command)),
        place=place,
        parts=parts,
        fill=fill,
        prepare_argv=prepare,
        prepare_command=_quoted((*prefix, *prepare)) if prepare else None,
        writes=writes,
        access=access.fetch_argv(node) if fetches else (),
    )


def _companions(draft: _Draft, request: Request, place: Place) -> tuple[CompanionStep, ...]:
    """The processes beside a step's own, with the exact commands."""
    hosts = {node.name: node for node in request.hosts}
    steps = []
    for companion in draft.workload.companions(request.nodes, place):
        if companion.node not in hosts:
            raise OptionError("target", f"{request.target.spec} names an unknown node")
        node = hosts[companion.node]
        prefix = node.ceph_prefix if companion.ships_with_ceph else node.prefix
        argv = with_ceph(node, companion.argv) if companion.ships_with_ceph else companion.argv
        command = _quoted((*prefix, *argv))
        steps.append(
            models.CompanionStep(
                name=companion.name, node=node.name, prefix=prefix, argv=argv, command=command, ready=companion.ready
            )
        )
    return tuple(steps)


def prefill_command(workload: Workload, node: Node, place: Place, fill: tuple[Part, ...]) -> tuple[str, ...]:
    """The command that prefills these parts of a place, behind the node's prefix."""
    if isinstance(place, models.RbdPlace):
        place = place.model_copy(update={"images": tuple(part.spec.rpartition("/")[2] for part in fill)})
    return with_ceph(node, workload.prefill_argv([part.bytes for part in fill], place))


def _writes(draft: _Draft, place: Place, fill: tuple[Part, ...], parts: tuple[Part, ...]) -> tuple[Write, ...]:
    """The written data in words; of a pool, the number of objects depends on the rate of the run."""
    filled, changed = "is written in full before it is used", "is overwritten by the benchmark"
    objects = isinstance(place, models.RadosPlace | models.S3Place)
    if objects:
        filled, changed = "is prefilled with at most the data that the run reads", "gets new objects"
    elif isinstance(place, models.OsdPlace):
        changed = f"write objects and remove them, at most {units.size(parts[0].bytes)} each at a time"
    elif len(parts) > 1:
        changed = "are overwritten by the benchmark"
    writes = [models.Write(what=f"{part.spec} {filled}", bytes=part.bytes) for part in fill]
    if draft.workload.writes():
        names = ", ".join(part.spec for part in parts)
        writes.append(models.Write(what=f"{names} {changed}", bytes=parts[0].bytes or None if objects else None))
    return tuple(writes)


def _stored_bytes(step: Step, workload: Workload) -> int:
    entries = workload.entries()
    return _STORED_BYTES_PER_RUN + round(step.likely_seconds * _STORED_BYTES_PER_SECOND * entries * len(step.nodes))


def _quoted(words: Iterable[str]) -> str:
    """A readable command line that a shell takes, too; unprintable characters are escaped as bash does."""
    return " ".join(map(_word, words))


def _word(word: str) -> str:
    if printable(word) == word:
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{printable(escaped)}'"
