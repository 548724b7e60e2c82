"""Under which conditions was measured: what was alike once, and what differed as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cephtui import units
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conditions import differences
from cephtui.models import NodeEnvironment, Run
from cephtui.reports.blocks import Block, Items
from cephtui.reports.views.comparison import differences_block
from cephtui.reports.views.report.material import Material
from cephtui.reports.words.facts import by_run, facts
from cephtui.reports.words.text import conditions

_RESULTS = ("finding",)
"""Topics of differences that stand elsewhere."""


def conditions_of(material: Material) -> tuple[Block, ...]:
    """Alike facts as a list, differences between the sides of a change below."""
    if not material.changes:
        known = {**facts(material.runs), **hardware(material.runs)}
        return (Items(tuple(f"{name}: {text}" for name, text in known.items() if name != "date")),)
    before = _facts([run for change in material.changes for run in change.before])
    after = _facts([run for change in material.changes for run in change.after])
    alike = tuple(f"{name}: {text}" for name, text in before.items() if name != "date" and after.get(name) == text)
    return (*[Items(alike)] * bool(alike), _differences(material))


def _facts(runs: Sequence[Run]) -> dict[str, str]:
    load = by_run(runs, lambda run: f"{run.preset}, {conditions(run)}")
    return {"load": load, **facts(runs), **hardware(runs)}


def _differences(material: Material) -> Block:
    """Each once, whichever change it is of."""
    differing = dict.fromkeys(
        each
        for change in material.changes
        for each in differences(Side(change.before), Side(change.after))
        if each.topic not in _RESULTS
    )
    runs = (run for change in material.changes for run in change.runs)
    return differences_block([*differing], runs, material.sides)


def hardware(runs: Iterable[Run]) -> Mapping[str, str]:
    """By nodes that are alike what they are: system, kernel, processor, memory, network."""
    environments: dict[str, NodeEnvironment] = {}
    for run in runs:
        environments |= run.environment
    alike: dict[str, list[str]] = {}
    for node, found in environments.items():
        if text := _node(found):
            alike.setdefault(text, []).append(node)
    return {", ".join(nodes): text for text, nodes in alike.items()}


def _node(environment: NodeEnvironment) -> str:
    links = sorted({units.bit_rate(speed) for speed in environment.nic_bits_per_second.values()})
    parts = (
        environment.os,
        f"kernel {environment.kernel}" if environment.kernel else "",
        f"{environment.cpu_count} x {environment.cpu}"
        if environment.cpu_count and environment.cpu
        else environment.cpu,
        units.size(environment.memory_bytes) if environment.memory_bytes else "",
        f"network {' and '.join(links)}" if links else "",
        environment.filesystem,
        environment.device,
    )
    return ", ".join(part for part in parts if part)
