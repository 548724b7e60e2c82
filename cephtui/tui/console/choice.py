"""What is to run next, as it was chosen: a preset with its options, a target, nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from cephtui.frozen import dataclass
from cephtui.nodes.state import NodeState, diagnosis
from cephtui.planning import Prefilled, Request, expand_targets, make_plan, new_batch
from cephtui.presets import Catalogue, Preset, PresetError, choose, usable_presets
from cephtui.studies.queue import Entry
from cephtui.targets import Target, parse_target, with_data_pool
from cephtui.tools.base import OptionError
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.start import Start

if TYPE_CHECKING:
    from cephtui.ceph.qos import Limits
    from cephtui.ceph.surroundings import Surroundings
    from cephtui.models import Node, Plan
    from cephtui.reports.masking.mask import Names
    from cephtui.studies.base import Study
    from cephtui.suites import Suite, Suites
    from cephtui.tui.console.ordered import Site

_TARGETS_NAMED, _NODES_NAMED = 2, 4
"""The pickers have all of them."""


@dataclass(frozen=True, slots=True)
class Around:
    """Where the console is, and which keys have what is there."""

    text: str = ""
    """Empty where there is nothing but files."""
    names: Names = field(default_factory=dict)
    """Names in the text, of all kinds."""


def around_of(surroundings: Surroundings) -> Around:
    """What a host's surroundings offer: nothing where it is neither of Proxmox VE nor a client of Ceph."""
    from cephtui.ceph.answers import listed
    from cephtui.reports.masking.mask import names_of_hosts, names_of_target
    from cephtui.targets.surroundings import candidates_in

    targets = [candidate.spec for candidate in candidates_in(surroundings)]
    node_names = [node.name for node in surroundings.other_nodes]
    if surroundings.proxmox is None and not surroundings.has_ceph:
        return Around()
    kind = "Ceph client" if surroundings.proxmox is None else "Proxmox VE node"
    lines = [f"{kind} {surroundings.host}"]
    lines += [f"t offers {listed(targets, _TARGETS_NAMED)}"] if targets else []
    lines += [f"n offers {listed(node_names, _NODES_NAMED)}"] if node_names else []
    names = {**names_of_hosts([surroundings.host, *node_names])}
    for spec in targets:
        names |= names_of_target(spec)
    return Around("\n".join(lines) if len(lines) > 1 else "", names)


class NodeBook:
    """The nodes to run on, the last state of each that was connected to, and the problems that were reported."""

    def __init__(self, hosts: tuple[Node, ...]) -> None:
        self.hosts = hosts
        """The nodes to run on."""
        self.states: dict[str, NodeState] = {}
        """The states by name of all nodes that were connected to, also those that are not used now."""
        self._reported: set[str] = set()

    def of(self, name: str | None) -> Node:
        """The node of this name, if it is one to run on, else the first."""
        return next((node for node in self.hosts if node.name == name), self.hosts[0])

    @property
    def versions(self) -> dict[str, Mapping[str, str]]:
        """The versions of the tools on each node that was connected to."""
        return {name: state.environment.tools for name, state in self.states.items() if state.environment}

    def is_ready(self, node: Node) -> bool:
        """Whether it is connected and can be used."""
        state = self.states.get(node.name)
        return state is not None and state.environment is not None

    def take(self, state: NodeState, tool: str) -> list[str]:
        """Keep a node's state; gives the problems with this tool that were not reported before."""
        self.states[state.node.name] = state
        self.hosts = tuple(state.node if node.name == state.node.name else node for node in self.hosts)
        problems = [problem for problem in diagnosis(state, [tool]).problems if problem not in self._reported]
        self._reported.update(problems)
        return problems

    def lose(self, names: Collection[str]) -> None:
        """The connections to these were lost."""
        for name in names:
            if name in self.states:
                self.states[name] = NodeState(self.states[name].node, problem=f"{name}: the connection was lost")

    def reports(self, tool: str) -> dict[str, str]:
        """What keeps a node from running this tool, or that it is ready, by its name."""
        rows = {name: diagnosis(state, [tool]) for name, state in self.states.items()}
        return {name: "; ".join(row.problems) or "ready" for name, row in rows.items()}


def first_for(catalogue: Catalogue, target: Target) -> Preset:
    """The first preset whose tool can use a target, those with a key before others; else the first of all."""
    presets = usable_presets(catalogue)
    return next((preset for preset in presets if target.check_tool(preset.tool) is None), presets[0])


class Choice:
    """The chosen preset, options, target and nodes; makes requests of them, and plans for the preview and the queue."""

    def __init__(self, start: Start, preset: Preset, prefilled: Callable[[], Prefilled]) -> None:
        self.preset, self.edits, self.target = preset, Edits(), start.target
        self.nodes = NodeBook(start.nodes)
        self.around = Around()
        """What there is to measure, where nothing was chosen at the start."""
        self._start, self._prefilled = start, prefilled
        self._surveyed: dict[str, Request] = {}
        """Requests by target, with its free space and its pool's other clients."""
        self._limits: dict[str, Limits | str] = {}
        """By target, what is set for its clients, or why that can't be known."""

    @property
    def ceph_node(self) -> Node:
        """The node on which the cluster is queried."""
        return self.nodes.of(self._start.ceph_node)

    def choose_target(self, text: str) -> None:
        """Raises TargetError."""
        target, data_pool = parse_target(text, owner_id=self._start.owner_id), self._start.data_pool
        # a data pool means something only where images are created
        self.target = with_data_pool(target, data_pool) if data_pool and target.creates_images else target

    def choose_nodes(self, names: tuple[str, ...]) -> None:
        """Raises ConfigError."""
        hosts = self._start.config.choose(names)
        self.nodes.hosts = tuple(node.model_copy(update=dict(self._start.ceph)) for node in hosts)
        self._surveyed.clear()

    def take_limits(self, target: Target, limits: Limits | str) -> None:
        """Keep what is set for the clients of a target, or why that can't be known."""
        self._limits[target.spec] = limits

    def take_survey(self, request: Request) -> None:
        """Keep the results of a survey for plans on its target."""
        self._surveyed[request.target.spec] = request

    @property
    def room_bytes(self) -> int | None:
        """Free space of the target; None where it is not known, or not yet."""
        surveyed = self._surveyed.get(self.target.spec)
        return surveyed.room_bytes if surveyed else None

    def request(self, preset: Preset | None = None, edits: Edits | None = None) -> Request:
        """The request of a preset and edits, by default those that are chosen."""
        preset, edits = preset or self.preset, edits or self.edits
        request = Request(
            (preset,),
            self.nodes.hosts,
            self.target,
            edits.overrides(preset),
            edits.repeats,
            ceph_node=self.ceph_node.name if self._start.ceph_node else None,
            order=edits.order_of(preset),
            manner=edits.manner,
            versions=self.nodes.versions,
        )
        with contextlib.suppress(OptionError):  # then its plan says so
            if len(requests := self._apart(request)) == 1:
                return requests[0]
        return request

    def find(self, name: str) -> tuple[Node, ...]:
        """The nodes of a name; raises ConfigError."""
        return self._start.config.choose([name])

    def _apart(self, request: Request) -> list[Request]:
        return expand_targets(request, self.find)

    def plan(self, request: Request) -> Plan:
        """The plan on all that the request's target stands for; raises OptionError."""
        singles = map(self._surveyed_as_known, self._apart(request))
        plans = [make_plan(single, new_batch, self._prefilled()) for single in singles]
        if len(plans) == 1:
            return plans[0]
        sums = {name: sum(getattr(plan, name) for plan in plans) for name in ("duration_seconds", "session_bytes")}
        return plans[0].model_copy(update={"steps": tuple(step for plan in plans for step in plan.steps), **sums})

    def _surveyed_as_known(self, request: Request) -> Request:
        surveyed = self._surveyed.get(request.target.spec, request)
        return replace(request, target=surveyed.target, room_bytes=surveyed.room_bytes, pool_use=surveyed.pool_use)

    # ------------------------------------------------------------------ for the queue

    @property
    def site(self) -> Site:
        """Where it is measured."""
        from cephtui.tui.console.ordered import Site

        return Site(
            self.target,
            self.nodes.hosts,
            self._start.owner_id,
            self.find,
            self.ceph_node.name if self._start.ceph_node else None,
            self.edits.manner,
            self.nodes.versions,
        )

    def plans(self, drafts: Sequence[Request]) -> list[Plan]:
        """The plans of drafts, by what is known of their targets and of prefilled data; raises OptionError."""
        from cephtui.ordering import plans_of

        return plans_of(map(self._surveyed_as_known, drafts), self._prefilled())

    def study(self, presets: Sequence[Preset], kind: str = "", values: Mapping[str, Any] | None = None) -> Study[Any]:
        """The presets as a study of this kind, by default of known runs; ``values`` are those of its options.

        Raises OptionError and ValueError.
        """
        from cephtui.models.study import RUNS
        from cephtui.suites import SuiteStep
        from cephtui.tui.console.ordered import study_of_presets

        edits = self.edits
        steps = [
            SuiteStep(preset, preset.name, preset.tool.canonical(edits.overrides(preset)), edits.repeats)
            for preset in presets
        ]
        order = edits.order_of(presets[0]) if len(presets) == 1 else edits.order
        return study_of_presets(steps, self.site, order=order, kind=kind or RUNS, values=values)

    def ordered(
        self, catalogue: Catalogue, suites: Suites, names: str, kind: str, values: Mapping[str, Any]
    ) -> tuple[Entry, list[Plan]]:
        """Presets by their names, with commas between them, or a suite, as a study of a kind; and its plans.

        Raises ValueError, OptionError and PresetError among them.
        """
        from cephtui.studies import KINDS, PROMISED
        from cephtui.suites import choose_suite
        from cephtui.tui.console.how_often import commands_of
        from cephtui.volumes import PRESET

        named = [name.strip() for name in names.split(",") if name.strip()]
        if not named:
            raise PresetError("name a preset, several separated by commas, or a suite")
        suite = choose_suite(suites, catalogue, named[0]) if len(named) == 1 else None
        presets = [] if suite else choose(catalogue, named)
        if PROMISED in values:
            (preset,) = choose(catalogue, [PRESET])
            study = self._volume(preset, values)
        elif "jobs" in values:
            raise OptionError("jobs", "jobs are for a volume: type its promised IOPS; e edits the jobs of a preset")
        elif suite:
            study = self._suite(suite, kind, values)
        else:
            study = self.study(presets, kind, values)
        plans = self.plans(study.drafts())
        return Entry(study, commands_of(KINDS[kind], values)).planned(lambda _: plans), plans

    def _suite(self, suite: Suite, kind: str, values: Mapping[str, Any]) -> Study[Any]:
        from cephtui.studies import KINDS
        from cephtui.tui.console.ordered import study_of_suite

        if why := KINDS[kind].in_suites:
            raise ValueError(why)
        if "expect" in values:
            raise OptionError("expected figures", f"the steps of suite {suite.name} have their own")
        return study_of_suite(suite, self.site, repeats=values.get("repeats"), order=values.get("order"))[0]

    def _volume(self, preset: Preset, values: Mapping[str, Any]) -> Study[Any]:
        """A study of the target as a volume of which something is promised."""
        from cephtui.ceph.qos import Limits
        from cephtui.studies import PROMISED, SET_LIMITS
        from cephtui.tui.console.ordered import study_of_volume

        options = preset.tool.canonical(self.edits.overrides(preset))
        is_set = values[PROMISED] == SET_LIMITS
        promised = self._set_limits() if is_set else Limits(iops=values[PROMISED])
        jobs, repeats = (1, *values.get("jobs", ())), values.get("repeats", self.edits.repeats)
        return study_of_volume(preset, options, self.site, promised, jobs, repeats)

    def _set_limits(self) -> Limits:
        """What is set for the clients of the target; raises OptionError where that is not known, or nothing is set."""
        from cephtui.studies import SET_LIMITS

        limits = self._limits.get(self.target.spec, f"reading the limits of {self.target.spec} ...")
        if isinstance(limits, str):
            raise OptionError(SET_LIMITS, limits)
        if not limits.is_set:
            raise OptionError(
                SET_LIMITS, f"no limit is set for the clients of {self.target.spec}: type the promised IOPS"
            )
        return limits

    def entries(self, presets: Sequence[Preset]) -> list[Entry]:
        """An entry for each preset; raises OptionError."""
        return [Entry(self.study([preset])).planned(self.plans) for preset in presets]
