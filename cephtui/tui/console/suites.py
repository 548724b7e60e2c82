"""A suite as entries of the queue, on the target and the nodes of the console."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.suite import Ordered
from cephtui.ordering import cells, fitting, in_slices, once, place, plans_of, requests_of
from cephtui.planning import Request
from cephtui.running.queue import Entry
from cephtui.suites import Suite, SuiteStep
from cephtui.targets import Target, parse_target

_OTHER = {"rbd": "pool", "pool": "rbd"}


@dataclass(frozen=True, slots=True)
class Queued:
    """What is to be queued of a suite."""

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()
    """Steps that can't use the target."""

    @property
    def runs(self) -> int:
        """How many it is."""
        return sum(entry.left for entry in self.entries)


def queued(
    suite: Suite,
    target: Target,
    nodes: Sequence[Node],
    owner_id: str,
    ceph_node: str | None = None,
    find: Callable[[str], Sequence[Node]] = lambda name: (),
    *,
    drop_caches: bool = False,
) -> Queued:
    """The runs of a suite in their order, all of one order; raises OptionError where no step can use the target.

    ``find`` gives the nodes of a name, for a target that is one; raises TargetError where it is none.

    Of a pool, its images and its objects are one target: a step takes what its tool can use.
    """
    steps = [replace(step, optional=True) for step in (suite.steps if len(nodes) > 1 else once(suite.steps))]
    chosen = list(target.expand(nodes, find))
    others = [] if len(chosen) > 1 else _needed(steps, [chosen[0], *_beside(chosen[0], owner_id)])
    targets = others or chosen
    placed, _ = place(steps, [[each] for each in others] or [chosen])
    ordered = Ordered(
        at=datetime.now(UTC),
        suite=suite.name,
        title=suite.file.title,
        order=suite.file.order,
        drop_caches=drop_caches,
        cells=cells(placed, [node.name for node in nodes]),
    )
    presets = {step.preset.name: step.preset for step in steps}
    specs = {each.spec: each for each in targets}
    requests = requests_of(ordered, presets, specs, {node.name: node for node in nodes})
    requests = [replace(request, ceph_node=ceph_node, drop_caches=drop_caches) for request in requests]
    slices = in_slices(requests, ordered.order)
    used = [each.step for each in placed]
    left_out = dict.fromkeys(step.title for step in steps if step not in used)
    return Queued(tuple(_entries(slices, ordered)), tuple(left_out))


def _beside(target: Target, owner_id: str) -> list[Target]:
    """The objects of a pool beside its images, and the other way round.

    None beside a single image, which is all that was chosen, and where images have their data in another pool.
    """
    kind, _, pool = target.spec.partition(":")
    if kind not in _OTHER or "/" in pool or target.data_pool:
        return []
    return [parse_target(f"{_OTHER[kind]}:{pool}", owner_id=owner_id)]


def _needed(steps: Sequence[SuiteStep], targets: Sequence[Target]) -> list[Target]:
    """Those that a step uses that can't use one before; the first where there is none."""
    found = [
        target
        for number, target in enumerate(targets)
        if any(fitting(step, [target]) and not fitting(step, targets[:number]) for step in steps)
    ]
    return found or [targets[0]]


def _entries(slices: Sequence[Request], ordered: Ordered) -> list[Entry]:
    return [
        Entry(each, each.batches[0], plan.duration_seconds, each.begun + len(plan.steps), plan.bound, ordered)
        for each, plan in zip(slices, plans_of(slices), strict=True)
    ]


def notice(suite: Suite, found: Queued, summary: str) -> str:
    """``queued: quick, 6 runs (5 runs waiting, about 3 min); M shows its table; left out: rados-write``."""
    left_out = f"; left out, as the target is not for it: {', '.join(found.left_out)}" if found.left_out else ""
    return f"queued: {suite.name}, {found.runs} runs ({summary}); M shows its table{left_out}"
