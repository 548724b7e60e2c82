"""``osd:*``, ``osd:N``, ``osd:host=NAME``, ``osd:class=NAME``: OSDs, each of which writes to its own store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from cephtui import units
from cephtui.ceph import answers
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.crush_tree import CrushTree
from cephtui.ceph.pool_guards import guard_all_pgs
from cephtui.ceph.pools import Pg, PoolUsage
from cephtui.cluster import reader
from cephtui.cluster.preflight import Demand
from cephtui.cluster.reader import ClusterError, ClusterReader, Pools
from cephtui.frozen import dataclass
from cephtui.models import Kind, NameKind, Node, OsdPlace, Part, Place, Step
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.targets.base import DataLayout, Target, TargetError, TargetKind, TargetState, Use, is_text
from cephtui.targets.candidates import ASKS_FIRST, Candidate

_NUMBERS = re.compile(r"[0-9]{1,9}(,[0-9]{1,9})*")
_NAME = re.compile(r"(host|class)=([^\s,*/=-][^\s,*/=]*)")
_OF_HOST = "host="
_ROOM = 4
"""Times the most that an OSD has written before it removes it: space is free again some seconds later."""
_SHOWN_MOST = 8
_SMALL_BLOCK = 1 << 20
_ALL_PGS = "the OSDs are needed for them"
_CAN_HANG = "; on Ceph 16.2, writes below 1 MiB have made OSDs hang that were short of CPU"
"""A warning for small blocks, as seen on a lab of 16.2.15, at a new OSD map."""


@dataclass(frozen=True, slots=True)
class OsdTarget(Target):
    """Some OSDs, or all. One node asks them, however many are chosen: the load is on the OSDs."""

    kind: ClassVar[Kind] = "osd"
    runs_from_one_node: ClassVar[bool] = True
    default_span_bytes: ClassVar[int] = 1 << 30

    which: str
    """``*``, ``0,1``, ``host=NAME`` or ``class=NAME``."""

    @property
    def spec(self) -> str:
        return f"osd:{self.which}"

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        return OsdPlace(kind="osd", osds=self.which), (Part(spec=self.spec, bytes=layout.size_bytes),)

    def demand(self, step: Step, new_bytes: int) -> Demand:
        """No pool: the cluster is only watched."""
        return Demand(
            None, None, step.writes, step.writes, creates_images=False, new_bytes=0, is_watched=True, all_pgs=_ALL_PGS
        )

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Check that the OSDs exist and are up, have room and may be told to write, and whose clients they serve."""
        cluster = ClusterReader(shell)
        await cluster.fetch(reader.STATUS, *reader.POOLS, reader.TREE)
        try:
            state, tree, pools = await cluster.status(), await cluster.ask(reader.TREE), await cluster.pools()
        except ClusterError as error:
            return TargetState(error.refusal)
        osds = osd_numbers(self.which, tree)
        span_bytes = sum(part.bytes for part in use.parts)
        refusal = guard_osds(self.which, osds, tree, state) or guard_room(osds, pools, span_bytes)
        refusal = refusal or await _guard_caps(shell, osds[0])
        small = units.parse_size(str(use.options["block-size"])) < _SMALL_BLOCK
        return TargetState(refusal or (None if use.shared_pool else guard_clients(self.spec, osds, pools, small=small)))


class OsdKind(TargetKind):
    """OSDs by their numbers, hosts and device classes."""

    scheme = "osd"
    examples = ("osd:*",)

    def parse(self, name: str, owner_id: str | None = None) -> OsdTarget:
        if name != "*" and not _NUMBERS.fullmatch(name) and not (_NAME.fullmatch(name) and is_text(name)):
            raise TargetError(f"target {self.spec(name)!r}: expected osd:*, osd:0,1, osd:host=NAME or osd:class=NAME")
        if _NUMBERS.fullmatch(name):
            name = ",".join(dict.fromkeys(str(int(number)) for number in name.split(",")))
        return OsdTarget(name)

    def names_in(self, name: str) -> Mapping[str, NameKind]:
        return {name.removeprefix(_OF_HOST): "node"} if name.startswith(_OF_HOST) else {}

    def measured_by(self, name: str, nodes: str) -> str:
        """The target alone: one node runs it, whichever are chosen."""
        return self.spec(name)

    async def on_node(self, shell: Shell) -> Sequence[Candidate]:
        """All OSDs, then the OSDs of each class and host where there are several classes or hosts."""
        cluster = ClusterReader(shell)
        tree = await cluster.optional(reader.TREE)
        state = await cluster.optional(reader.STATUS) if tree else None
        if tree is None or state is None:
            return []
        names = {key: _names(key, tree) for key in ("class", "host")}
        choices = [f"{key}={name}" for key, values in names.items() if len(values) > 1 for name in values]
        return [self._candidate_of(which, osd_numbers(which, tree), tree, state) for which in ("*", *choices)]

    def _candidate_of(self, which: str, osds: Sequence[int], tree: CrushTree, state: ClusterState) -> Candidate:
        """A candidate; as OSDs usually hold the data of pools, it needs confirmation."""
        number = f"{len(osds)} OSD{'s' * (len(osds) != 1)}"
        text = f"the stores of {number} themselves ({_osd_names(osds)}), {ASKS_FIRST}"
        return self.candidate(which, text, guard_osds(which, osds, tree, state))


def osd_numbers(which: str, tree: CrushTree) -> list[int]:
    """The numbers of the OSDs that ``which`` names, whether or not they exist."""
    if _NUMBERS.fullmatch(which):
        return [int(number) for number in which.split(",")]
    osds = sorted(number for number, bucket in tree.buckets.items() if bucket.kind == "osd")
    key, _, name = which.partition("=")
    if key == "class":
        return [osd for osd in osds if tree.buckets[osd].device_class == name]
    if key == "host":
        below = tree.ids_below(name)
        return [osd for osd in osds if osd in below]
    return osds


def guard_osds(which: str, osds: Sequence[int], tree: CrushTree, state: ClusterState) -> Refusal | None:
    """Why these OSDs can't be told to write, or None: they do not exist, are down, or the cluster is not well."""
    buckets = {number: bucket for number, bucket in tree.buckets.items() if bucket.kind == "osd"}
    if unknown := [osd for osd in osds if osd not in buckets]:
        return Refusal(
            f"there is no {_osd_names(unknown)}", f"the cluster has {_osd_names(sorted(buckets)) or 'no OSD'}"
        )
    if not osds:
        return Refusal(f"there is no OSD of {which.replace('=', ' ')}", f"choose one of: {_choices(which, tree)}")
    if down := [osd for osd in osds if not buckets[osd].is_up]:
        up = ",".join(str(osd) for osd in osds if osd not in down)
        alternative = f", or measure the others: --target osd:{up}" if up else ""
        return Refusal(f"{_osd_names(down)} {_is(down)} down", f"start {_it(down)}{alternative}")
    return _guard_state(state)


def _guard_state(state: ClusterState) -> Refusal | None:
    if "full" in state.flags or any(check.code == "OSD_FULL" for check in state.checks):
        return Refusal("an OSD of the cluster is full", "see ceph health detail and free up space first")
    return guard_all_pgs(state, _ALL_PGS)


def guard_room(osds: Sequence[int], pools: Pools, portion_bytes: int) -> Refusal | None:
    """Why OSDs have no room for what they write and remove again, or None; unknown room is no reason."""
    needed, ratio = _ROOM * portion_bytes, pools.osd_map.nearfull_ratio
    for usage in pools.osds or ():
        if usage.id in osds and usage.used + needed > ratio * usage.total:
            used_percent, near_percent = units.percent(100 * usage.used / usage.total), units.percent(100 * ratio)
            text = (
                f"osd.{usage.id} is {used_percent} full, and needs {units.size(needed)} below nearfull ({near_percent})"
            )
            return Refusal(text, "free up space first, or choose other OSDs")
    return None


async def _guard_caps(shell: Shell, osd: int) -> Refusal | None:
    """Why an OSD can't be told anything, or None; raises TransportError."""
    answer = await shell.ceph(("ceph", "tell", f"osd.{osd}", "version"))
    if answer.status == 0:
        return None
    if answers.is_denied(answer.status, answer.stderr):
        text = "the cephx caps don't allow ceph tell osd.N bench"
        return Refusal(text, "start cephtui with a --ceph-id that has osd 'allow *'")
    return Refusal(f"osd.{osd} does not answer: {failure_reason(answer)}", "see ceph osd tree and its log")


def guard_clients(spec: str, osds: Sequence[int], pools: Pools, *, small: bool) -> Refusal | None:
    """The question before OSDs that hold data of pools are loaded, with the pools' names; None where there are none.

    ``small`` says that they are to write small blocks.
    """
    warning = _CAN_HANG if small else ""
    remedy = "wait for a quiet hour, choose other OSDs, or allow it with --shared-pool"
    if pools.pgs is None:
        text = f"whose clients {_osd_names(osds)} {'serve' if len(osds) > 1 else 'serves'} is not known: no permission"
        return Refusal(text + warning, remedy, confirm=spec, confirm_kind="shared-pool")
    served = dict(_pools_by_osd(osds, pools))
    if not served:
        return None
    by_pools: dict[tuple[str, ...], list[int]] = {}
    for osd, names in served.items():
        by_pools.setdefault(names, []).append(osd)
    texts = [f"{_osd_names(same)} {'serve' if len(same) > 1 else 'serves'} the clients of pool{'s' * (len(names) > 1)} "
             f"{answers.listed(names, _SHOWN_MOST)}" for names, same in by_pools.items()]  # fmt: skip
    text = f"{answers.listed(texts)}, which wait while an OSD writes"
    return Refusal(text + warning, remedy, confirm=spec, confirm_kind="shared-pool")


def _pools_by_osd(osds: Iterable[int], pools: Pools) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The OSDs with the pools that have data on them, as far as is known; the manager's pools have no clients."""
    osds_by_pool = {pool.name: _osds_of(pools.pgs_of(pool) or ()) for pool in pools.osd_map.pools.values()
              if "mgr" not in "".join(pool.applications) and _has_data(pools.usage, pool.name)}  # fmt: skip
    for osd in osds:
        names = tuple(sorted(name for name, holding in osds_by_pool.items() if osd in holding))
        if names:
            yield osd, names


def _osds_of(pgs: Iterable[Pg]) -> set[int]:
    return {osd for pg in pgs for osd in pg.osds}


def _has_data(usage: Mapping[str, PoolUsage] | None, name: str) -> bool:
    pool_usage = (usage or {}).get(name)
    return pool_usage is None or pool_usage.objects > 0


def _osd_names(osds: Sequence[int]) -> str:
    """The names of OSDs: ``osd.0, osd.1 and 4 more``."""
    return answers.listed([f"osd.{osd}" for osd in osds], _SHOWN_MOST)


def _is(osds: Sequence[int]) -> str:
    return "are" if len(osds) > 1 else "is"


def _it(osds: Sequence[int]) -> str:
    return "them" if len(osds) > 1 else "it"


def _choices(which: str, tree: CrushTree) -> str:
    """The hosts or the classes that exist."""
    return answers.listed(_names(which.partition("=")[0], tree), _SHOWN_MOST) or "none"


def _names(key: str, tree: CrushTree) -> list[str]:
    """The names of the hosts, or of the device classes, that have OSDs."""
    if key == "host":
        return sorted({bucket.name for bucket in tree.buckets.values() if bucket.kind == "host" and bucket.children})
    return sorted({bucket.device_class for bucket in tree.buckets.values() if bucket.device_class})
