"""A study as it is made: of presets or a suite on some targets and nodes, or of one that a session has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cephtui.models import Node
from cephtui.models.manner import AS_USUAL, Manner
from cephtui.models.study import CHECK, RUNS, Cell, SavedStudy
from cephtui.ordering import Groups, cells_of, place, requests_of, volume_cell
from cephtui.planning import Order
from cephtui.presets import Catalogue, Preset, choose
from cephtui.sessions.studies import check_goal, runs_before
from cephtui.studies import kind_of
from cephtui.studies.base import Study
from cephtui.suites import Suite, SuiteStep
from cephtui.targets.base import Target
from cephtui.tools.base import OptionError
from cephtui.volumes import VolumeStep


def new_study(
    steps: Sequence[SuiteStep],
    groups: Groups,
    nodes: Sequence[Node],
    *,
    kind: str = RUNS,
    values: Mapping[str, Any] | None = None,
    suite: Suite | None = None,
    order: Order | None = None,
    manner: Manner = AS_USUAL,
    all_are_optional: bool = False,
) -> tuple[Study[Any], list[str]]:
    """Steps as a study of this kind, and what is left out of them, with the reason.

    ``values`` are those of the options of the kind; ``all_are_optional`` leaves out every step that has no target.
    Raises OptionError where a step has no target, and ValueError for values that do not go together.
    """
    placed, left_out = place(steps, groups, all_are_optional=all_are_optional)
    saved = SavedStudy(
        at=datetime.now(UTC),
        suite=suite.name if suite else "",
        title=suite.file.title if suite else "",
        order=order or (suite.file.order if suite else None),
        drop_caches=manner.drop_caches,
        quiet=manner.quiet,
        diagnosis=suite is not None and suite.file.diagnosis,
        cells=cells_of(placed, [node.name for node in nodes]),
    )
    saved = kind_of(kind).ordered(saved, values or {})
    presets = {part.step.preset.name: part.step.preset for part in placed}
    targets = {target.spec: target for part in placed for target in part.targets}
    requests = requests_of(saved, presets, targets, {node.name: node for node in nodes})
    return kind_of(kind)(saved, requests), left_out


def study_of(
    directory: Path,
    saved: SavedStudy,
    catalogue: Catalogue,
    nodes: Mapping[str, Node],
    target_of: Callable[[Cell], Target],
) -> Study[Any]:
    """A study of a session with its presets, on these nodes and the target of each of its cells.

    Raises PresetError, StoreError, the errors of ``target_of``, and ValueError for one that this cephtui does not know.
    """
    targets = {spec: target_of(cell) for spec, cell in {cell.target: cell for cell in saved.cells}.items()}
    requests = requests_of(saved, presets_of(saved, catalogue), targets, nodes)
    goal = check_goal(saved) if saved.kind == CHECK else None
    return kind_of(saved.kind)(saved, requests, runs_before(directory, goal) if goal else ())


def presets_of(saved: SavedStudy, catalogue: Catalogue) -> dict[str, Preset]:
    """The presets of a study by their names; raises PresetError."""
    return {preset.name: preset for preset in choose(catalogue, [cell.preset for cell in saved.cells])}


def study_of_volumes(preset: Preset, steps: Sequence[tuple[VolumeStep, Target, Node]], *, manner: Manner) -> Study[Any]:
    """Measurements of volumes, each from one node; raises OptionError."""
    for step, target, _ in steps:
        if step.jobs > 1 and target.creates_images:
            why = f"on {target.spec} each job has an image of its own with its own limit: name one as rbd:POOL/IMAGE"
            raise OptionError("jobs", why)
    saved = SavedStudy(
        at=datetime.now(UTC),
        suite=preset.name,
        title=preset.file.title,
        drop_caches=manner.drop_caches,
        quiet=manner.quiet,
        cells=tuple(volume_cell(step, target, node.name) for step, target, node in steps),
    )
    targets = {target.spec: target for _, target, _ in steps}
    nodes = {node.name: node for _, _, node in steps}
    return kind_of(RUNS)(saved, requests_of(saved, {preset.name: preset}, targets, nodes))
