"""``cephtui ceilings``: what would limit runs on a cluster is measured, as far as it is not known, and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import click

from cephtui import paths
from cephtui.analysis.detectors.bounds import Network
from cephtui.analysis.detectors.ceiling import ClusterRecords
from cephtui.analysis.detectors.network import short_name
from cephtui.analysis.detectors.records import (
    ClusterNow,
    blocks_missing,
    is_latency_known,
    known_ceilings,
    nodes_to_reach,
)
from cephtui.analysis.runs.links import nics_of
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.choice import chosen_nodes
from cephtui.cli.emit import NOWHERE, emit
from cephtui.cli.errors import Refused
from cephtui.cli.options import Measuring
from cephtui.cli.prompts import connect, patiently
from cephtui.cli.work import NamedSteps, Work, measure, study_of_steps
from cephtui.exit_codes import EXIT_REFUSED, WORST
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.models.study import RUNS
from cephtui.nodes.transport import TransportError
from cephtui.presets import Choice, choose
from cephtui.reports.views.ceilings import ceilings_view
from cephtui.running.runner import Runner
from cephtui.sessions.cluster_records import kept_records
from cephtui.suites import SuiteStep
from cephtui.targets import KINDS
from cephtui.terminal import say

NETWORK, OSD_WRITE, LATENCY = "network", "osd-write", "latency"
"""The presets with which it is measured."""
_LINK_SECONDS, _OSD_SECONDS, _LATENCY_SECONDS = 3, 15, 15
_BLOCKS = {4 << 20: "4M", 4096: "4k"}


@dataclass(frozen=True, slots=True)
class Part:
    """What is measured together, and asked about together."""

    preset: str
    options: tuple[dict[str, Choice], ...]
    """Those of each step of it that are not as in the preset."""
    targets: tuple[str, ...]
    """Without their scheme where the tool can use no other."""
    is_optional: bool = False
    """Whether it is left out where it is refused: OSDs that serve clients, a host outside of the cluster network."""
    nodes: tuple[str, ...] = ()
    """The names of the nodes that measure; empty for all."""


def measure_ceilings(target: str | None, again: bool, options: Measuring) -> int:
    """Measure what is not known, or all of it ``again``, and print all that is known then; the exit code."""
    nodes = chosen_nodes(options.where)
    now = _now(nodes, options.where.ceph_node)
    session, codes = options.session or f"ceilings-{now.at:%Y%m%d-%H%M%S}", [0]
    output = options.output if options.as_json else NOWHERE  # of the runs only their progress is shown
    records = ClusterRecords() if again else kept_records(paths.sessions_dir(), now.fsid)
    for part in parts_missing(records, now, target):
        code = _measured(part, nodes, replace(options, session=session, output=output))
        codes.append(0 if part.is_optional and code == EXIT_REFUSED else code)
    if not options.dry_run:
        at = datetime.now(UTC)
        known = known_ceilings(kept_records(paths.sessions_dir(), now.fsid), replace(now, at=at))
        emit(ceilings_view(known, at), options.output)
    return max(codes, key=WORST.index)


def parts_missing(records: ClusterRecords, now: ClusterNow, target: str | None) -> Iterator[Part]:
    """What is not known, in the order in which it is measured; says what is known, and what can't be measured."""
    yield from _links_missing(records, now, "public", [*now.hosts])
    if now.networks_apart:
        yield from _links_missing(records, now, "cluster", now.nodes_with_osds)
    if target is None:
        say("one I/O in flight: not measured without --target")
    elif is_latency_known(records, now, LATENCY, target):
        say(f"one I/O in flight on {target}: known")
    else:
        yield Part(LATENCY, ({"runtime": _LATENCY_SECONDS},), (target,))
    if missing := blocks_missing(records, now, tuple(_BLOCKS)):
        sizes: list[dict[str, Choice]] = [{"block-size": _BLOCKS[block], "runtime": _OSD_SECONDS} for block in missing]
        yield Part(OSD_WRITE, tuple(sizes), ("*",), is_optional=True)
    else:
        say("OSDs: known")


def _links_missing(records: ClusterRecords, now: ClusterNow, network: Network, nodes: Sequence[str]) -> Iterator[Part]:
    """The links between some nodes in a network that are not known."""
    name = "links" if network == "public" else "links of the cluster network"
    if len({now.hosts[node] for node in nodes}) < 2:
        hosts = "one host" if network == "public" else "fewer than two OSD hosts"
        say(f"{name}: not measured on {hosts}: name others with --node")
    elif reached := nodes_to_reach(records, now, network):
        options: dict[str, Choice] = {"runtime": _LINK_SECONDS}
        if network == "public":
            yield Part(NETWORK, (options,), tuple(reached))
        else:
            yield Part(NETWORK, ({**options, "network": network},), tuple(reached), True, tuple(nodes))
    else:
        say(f"{name}: known")


def _measured(part: Part, nodes: Sequence[Node], options: Measuring) -> int:
    """The exit code; where it is refused, which is said, others may be measured nevertheless."""
    try:
        measuring = [node for node in nodes if not part.nodes or node.name in part.nodes]
        return measure(partial(_work, part, measuring, options), options)
    except click.UsageError as error:
        if not part.is_optional:
            raise
        say(error.message)
    except Refused as error:
        say(str(error))
    return EXIT_REFUSED


def _work(part: Part, nodes: Sequence[Node], options: Measuring, runner: Runner, stack: ExitStack) -> Work:
    (preset,) = choose(find_catalogue(), [part.preset])
    steps = [SuiteStep(preset, preset.name, changed) for changed in part.options]
    targets, (kind, *more) = part.targets, preset.tool.kinds
    if not more:
        targets = tuple(map(KINDS[kind]().spec, targets))
    study, _ = study_of_steps(steps, nodes, NamedSteps((), targets), options, stack, RUNS, {})
    return Work(study)


def _now(nodes: Sequence[Node], ceph_node: str | None) -> ClusterNow:
    """The cluster of the nodes, with their NICs and its disks; raises Refused."""
    with Runner(paths.sessions_dir()) as runner:
        states = connect(runner, nodes)
        if problem := next((state.problem for state in states if state.problem), None):
            raise Refused(problem)
        environments = {state.node.name: state.environment for state in states}
        asking = next((state.node for state in states if state.node.name == ceph_node), states[0].node)
        try:
            fsid, disks, networks_apart = patiently(runner.nodes.cluster_disks(asking), "querying the cluster ...")
        except TransportError as error:
            raise Refused(str(error)) from None
    if not fsid:
        raise Refused(f"{asking.name} can't query a cluster: name a node that can with --ceph-node")
    hosts = {name: (known.hostname if known else None) or name for name, known in environments.items()}
    nics = {short_name(hosts[name]): nics_of(known) for name, known in environments.items()}
    return ClusterNow(fsid, datetime.now(UTC), hosts, nics, disks, networks_apart)
