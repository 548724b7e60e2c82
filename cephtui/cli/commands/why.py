"""``cephtui why``: what makes a cluster slow, by four short runs, or by runs that a session has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import click

from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import chosen_nodes
from cephtui.cli.emit import OUTPUT_OPTIONS, emit
from cephtui.cli.options import Measuring
from cephtui.cli.prompts import connect
from cephtui.cli.saved import find_run, find_session
from cephtui.cli.where import refuse_other_options
from cephtui.cli.work import NamedSteps, Work, measure, new_work
from cephtui.models import Node
from cephtui.presets import Preset, choose
from cephtui.printable import listed
from cephtui.reports.views.diagnosis import saved_diagnosis_view
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.suites import WHY
from cephtui.targets import KINDS
from cephtui.terminal import say

_NETWORK = "network"
"""The preset that measures links."""
_OSDS = "osd-write"
"""The preset that measures each OSD by itself."""
_LOAD = (
    "{target}: small writes and reads, at most 16 in flight on each node; no existing data is written, "
    "and the new images are removed (--dry-run shows the commands)"
)


def diagnose(name: str | None, target: str | None, osds: bool, options: Measuring) -> int:
    """Measure why a target is slow, with ``osds`` each OSD by itself too; or say what the runs of a session show. The
    exit code."""
    if name is not None:
        refuse_other_options(OUTPUT_OPTIONS, f"is for a new measurement: {name} is measured already")
        return _saved(name, options)
    if target is None:
        raise click.UsageError("give --target rbd:POOL to measure a pool, or a saved SESSION")
    nodes = chosen_nodes(options.where)
    session = options.session or f"{WHY}-{datetime.now(UTC):%Y%m%d-%H%M%S}"

    each_osd = _all_of(_preset(_OSDS)) if osds else []

    def work(runner: Runner, stack: ExitStack) -> Work:
        # what is left out with a single node is said at the end, with all else that is not seen
        study, _ = new_work(NamedSteps((WHY,), (target, *_links(runner, nodes), *each_osd)), options, stack)
        return Work(study, notes=(_LOAD.format(target=target),))

    return measure(work, replace(options, session=session))


def _links(runner: Runner, nodes: Sequence[Node]) -> Iterator[str]:
    """The target that is every link between the nodes; none with a single one, or where a node lacks the tool."""
    preset = _preset(_NETWORK)
    if len(nodes) < 2:
        return
    environments = {state.node.name: state.environment for state in connect(runner, nodes)}
    lacking = [name for name, known in environments.items() if known and preset.tool.name not in known.tools]
    if lacking:
        say(f"links between nodes: not measured, {preset.tool.name} is not installed on {listed(lacking)}")
    else:
        yield from _all_of(preset)


def _preset(name: str) -> Preset:
    (preset,) = choose(find_catalogue(), [name])
    return preset


def _all_of(preset: Preset) -> list[str]:
    """The targets that are all that a preset can measure."""
    return [KINDS[kind]().spec("*") for kind in preset.tool.kinds]


def _saved(name: str, options: Measuring) -> int:
    """What the runs of a session show, or a run of it with its repeats; a broken one is named behind that."""
    directory, number = find_run(name) if "/" in name else (find_session(name), None)
    try:
        view, _, broken = saved_diagnosis_view(directory, number)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    emit(view, options.output)
    if broken:
        raise click.ClickException(str(broken[0]))
    return 0
