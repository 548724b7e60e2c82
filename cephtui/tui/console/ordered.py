"""What is chosen in the console as a study: presets or a suite, on its target and its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cephtui.ceph.qos import Limits
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.manner import AS_USUAL, Manner
from cephtui.models.study import RUNS, Cell, SavedStudy
from cephtui.ordering import Groups, once, usable_targets
from cephtui.planning import Order
from cephtui.presets import Catalogue, Choice, Preset
from cephtui.studies.making import new_study, study_of, study_of_volumes
from cephtui.suites import Suite, SuiteStep
from cephtui.targets import Target, TargetError, parse_target
from cephtui.targets.scratch import is_scratch
from cephtui.tools.base import OptionError
from cephtui.volumes import Volume, steps_of

if TYPE_CHECKING:
    from cephtui.studies.base import Study

_OTHER = {"rbd": "pool", "pool": "rbd"}


@dataclass(frozen=True, slots=True)
class Site:
    """Where it is measured, and in which way all of it is."""

    target: Target
    nodes: tuple[Node, ...]
    owner_id: str
    """Makes the names of the images that are created unique."""
    find: Callable[[str], Sequence[Node]] = lambda name: ()
    """The nodes of a name, for a target that is one; raises TargetError where it is none."""
    ceph_node: str | None = None
    manner: Manner = AS_USUAL
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[Target, ...]:
        """What the target stands for; raises OptionError."""
        try:
            return tuple(self.target.expand(self.nodes, self.find))
        except TargetError as error:
            raise OptionError("target", str(error)) from None

    def at(self, study: Study[Any]) -> Study[Any]:
        """A study as it is measured there."""
        return study.with_requests(
            replace(request, ceph_node=self.ceph_node, manner=self.manner, versions=self.versions)
            for request in study.requests
        )


def study_of_presets(
    steps: Sequence[SuiteStep],
    site: Site,
    *,
    order: Order | None = None,
    kind: str = RUNS,
    values: Mapping[str, Any] | None = None,
) -> Study[Any]:
    """A study of this kind; ``values`` are those of its options. Raises OptionError and ValueError."""
    study, _ = new_study(steps, [site.targets], site.nodes, kind=kind, values=values, order=order, manner=site.manner)
    return site.at(study)


def study_of_suite(
    suite: Suite, site: Site, *, repeats: int | None = None, order: Order | None = None
) -> tuple[Study[Any], tuple[str, ...]]:
    """The runs of a suite in their order, and the steps that are left out, as they can't use the target.

    Of a pool, its images and its objects are one target: a step takes what its tool can use. ``repeats`` and ``order``
    stand in the place of the suite's. Raises OptionError where no step can use the target.
    """
    steps = suite.steps if len(site.nodes) > 1 else tuple(once(suite.steps))
    steps = tuple(replace(step, repeats=repeats or step.repeats) for step in steps)
    chosen = site.targets
    needed = [] if len(chosen) > 1 else _needed(steps, [chosen[0], *_beside(chosen[0], site.owner_id)])
    groups: Groups = [[target] for target in needed] or [chosen]
    study, _ = new_study(steps, groups, site.nodes, suite=suite, order=order, manner=site.manner, all_are_optional=True)
    used = {cell.step for cell in study.saved.cells}
    return site.at(study), tuple(dict.fromkeys(step.title for step in steps if step.title not in used))


def study_of_volume(
    preset: Preset, options: Mapping[str, Choice], site: Site, promised: Limits, jobs: Sequence[int], repeats: int
) -> Study[Any]:
    """Whether the target reaches what is promised of it: its reads, its writes and both, with each number of jobs.

    ``options`` of the preset are set in all of them. Raises OptionError.
    """
    if len(site.nodes) > 1:
        raise OptionError("node", "a volume is measured from one node: choose one with n")
    (node,), target = site.nodes, site.targets[0]
    volume = Volume(target.spec, promised)
    steps = [(step, target, node) for number in jobs for step in steps_of(volume, preset, number, repeats, options)]
    return site.at(study_of_volumes(preset, steps, manner=site.manner))


def resumed_study(directory: Path, saved: SavedStudy, catalogue: Catalogue, site: Site) -> Study[Any]:
    """A study of a session, on its own targets and nodes.

    Raises PresetError, OptionError, StoreError, and ValueError for a node or a target that is not there any more.
    """
    hosts = {node.name: node for node in site.nodes}
    nodes = {name: hosts[name] if name in hosts else site.find(name)[0] for name in saved.nodes}

    def target_of(cell: Cell) -> Target:
        if is_scratch(cell.target) and is_scratch(site.target.spec):  # one scratch file is like another
            return site.target
        target = parse_target(cell.target, owner_id=site.owner_id, data_pool=cell.data_pool)
        return target.expand(tuple(nodes.values()), site.find)[0]

    there = replace(site, manner=saved.manner)
    return there.at(study_of(directory, saved, catalogue, nodes, target_of))


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
    needed = [
        target
        for number, target in enumerate(targets)
        if any(usable_targets(step, [target]) and not usable_targets(step, targets[:number]) for step in steps)
    ]
    return needed or [targets[0]]
