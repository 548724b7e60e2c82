"""``new-pool:pg=32,size=3``: a pool that cephtui makes for a console session, and deletes with all that is in it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from cephtui import units
from cephtui.ceph import answers, new_pool
from cephtui.ceph.new_pool import Shape
from cephtui.cluster import reader
from cephtui.cluster.reader import NEEDS_ADMIN, ClusterError, ClusterReader
from cephtui.frozen import dataclass
from cephtui.models import Kind, NameKind, Node, Part, Place, RadosPlace
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import Completed
from cephtui.targets.base import (
    OWN_NAME,
    OWN_PREFIX,
    DataLayout,
    OwnPool,
    Removed,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
    safe_name,
)
from cephtui.targets.candidates import Candidate
from cephtui.targets.pool import PoolTarget
from cephtui.targets.rbd import RbdPool
from cephtui.tools.tool import Tool

if TYPE_CHECKING:
    from cephtui.ceph.surroundings import Surroundings

_MAKE_SECONDS, _DELETE_SECONDS = 60.0, 120.0
_OBJECT_MOST = 128 << 20
"""The value of ``osd_max_object_size`` that is assumed where it can't be asked."""


@dataclass(frozen=True, slots=True)
class NewPool(Target, OwnPool):
    """A pool of cephtui's own: a tool uses it as it uses any other, or as a whole."""

    kind: ClassVar[Kind] = "new-pool"

    shape: Shape
    owner_id: str | None = None
    """The console session's id for the name of the pool."""

    @property
    def spec(self) -> str:
        return f"new-pool:{self.shape.text}"

    @property
    def new_pool(self) -> OwnPool:
        return self

    @property
    def part(self) -> str:
        return f"new-pool:{self.pool_name}"

    @property
    def pool_name(self) -> str:
        return f"{OWN_PREFIX}{self.owner_id}-{safe_name(self.shape.text.replace('=', '').replace(',', '-'))}"

    def check_tool(self, tool: Tool) -> str | None:
        """Why a tool can't use the pool: in an erasure-coded pool objects can only be written in full."""
        usable: set[Kind] = {PoolTarget.kind} if self.shape.is_erasure else {PoolTarget.kind, RbdPool.kind, self.kind}
        if tool.kinds & usable:
            return None
        if tool.kinds & {RbdPool.kind, self.kind}:
            why = "overwrites parts of objects, which an erasure-coded pool allows only with allow_ec_overwrites"
            return f"{tool.title} {why}, which cephtui does not set: use --target new-pool:size=3"
        return tool.check_kind(self.kind)

    def for_tool(self, tool: Tool) -> Target:
        if PoolTarget.kind in tool.kinds:
            return PoolTarget(self.pool_name, self.owner_id)
        if RbdPool.kind in tool.kinds:
            return RbdPool(self.pool_name, self.owner_id)
        return WholePool(pool=self.pool_name)

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        return WholePool(pool=self.pool_name).lay_out(node, layout)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Nothing: there is nothing to inspect before the pool is made."""
        return TargetState()

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Half of the room that the pool will have. Raises TargetFault where the pool can't be made."""
        cluster = ClusterReader(shell)
        try:
            state, pools = await cluster.status(), await cluster.pools()
            rules, tree, pgs = await asyncio.gather(
                cluster.optional(reader.CRUSH_RULES), cluster.optional(reader.TREE), cluster.optional(reader.PG_LIMIT)
            )
        except ClusterError as error:
            raise TargetFault(str(error)) from None
        osd_map, most = pools.osd_map, pgs or new_pool.PG_MOST_PER_OSD
        refusal = new_pool.guard_shape(self.shape, osd_map, rules, tree, state.osds_in, most)
        if refusal and self.pool_name not in osd_map.pools:
            raise TargetFault(refusal.text)
        new_bytes = new_pool.new_pool_room(self.shape, osd_map, rules, tree, pools.osds)
        return None if new_bytes is None else new_bytes // 2 // nodes

    async def make(self, shell: Shell, owner: str) -> None:
        """Make the pool; it gets its own name last: until then it has one that no other client can have given."""
        unmarked = _unmarked_name(self.pool_name, owner)
        rename = ("ceph", "osd", "pool", "rename", unmarked, self.pool_name)
        steps = [*new_pool.make_argvs(self.shape, unmarked), *new_pool.claim_argvs(unmarked, owner), rename]
        for argv in steps:
            done = await shell.ceph(argv, timeout_seconds=_MAKE_SECONDS)
            if done.status != 0:
                raise TargetFault(f"can't make pool {self.pool_name}: {_why(done)}")

    async def unready(self, shell: Shell) -> str:
        cluster = ClusterReader(shell)
        try:
            pools = await cluster.pools()
        except ClusterError as error:
            return str(error)
        pool = pools.osd_map.pools.get(self.pool_name)
        if pool is None:
            return f"there is no pool {self.pool_name}"
        if pools.usage is not None and self.pool_name not in pools.usage:
            return "the manager does not report it yet"
        pgs = pools.pgs_of(pool)
        clean = self.shape.pg if pgs is None else sum(pg.state == "active+clean" for pg in pgs)
        return "" if clean >= self.shape.pg else f"{clean} of {self.shape.pg} PGs are active+clean"


@dataclass(frozen=True, slots=True)
class WholePool(Target):
    """A pool of cephtui's own for a tool that leaves objects outside of any namespace: they go with the pool."""

    kind: ClassVar[Kind] = "new-pool"
    default_span_bytes: ClassVar[int] = 1 << 60

    @property
    def spec(self) -> str:
        return f"new-pool:{self.pool}"

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        place = RadosPlace(kind="pool", pool=str(self.pool), namespace="")
        return place, (Part(spec=self.spec, bytes=layout.size_bytes),)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Refuse objects that are too large: the message of the OSDs would not say so."""
        most = (use.object_bytes and await ClusterReader(shell).optional(reader.OBJECT_MOST)) or _OBJECT_MOST
        if use.object_bytes <= most:
            return TargetState()
        problem = f"objects of {units.size(use.object_bytes)} are larger than OSDs accept: osd_max_object_size is "
        remedy = f"choose objects of at most {units.short_size(most)}"
        return TargetState(Refusal(f"{problem}{units.size(most)}", remedy))


def _unmarked_name(pool: str, owner: str) -> str:
    """The name of a pool until it carries its owner, and of its rule and its profile: the name proves the owner."""
    return f"{OWN_PREFIX}new-{hashlib.sha256(f'{owner}/{pool}'.encode()).hexdigest()[:32]}"


def _why(failed: Completed) -> str:
    return (
        f"no permission: {NEEDS_ADMIN}" if answers.is_denied(failed.status, failed.stderr) else failure_reason(failed)
    )


class NewPoolKind(TargetKind):
    """Pools that do not exist yet."""

    scheme = "new-pool"
    examples = ("new-pool:pg=32,size=3",)
    in_pool = True
    holds_parts = True

    def parse(self, name: str, owner_id: str | None = None) -> NewPool:
        try:
            return NewPool(new_pool.parse_shape(name), owner_id)
        except ValueError as error:
            raise TargetError(f"target {self.spec(name)!r}: {error}") from None

    def names_in(self, name: str) -> Mapping[str, NameKind]:
        kinds: Mapping[str, NameKind] = {"rule": "rule", "ec": "profile"}
        words = (word.partition("=") for word in name.split(","))
        return {value: kinds[key] for key, _, value in words if key in kinds}

    def in_surroundings(self, surroundings: Surroundings) -> Sequence[Candidate]:
        return [self.in_any_cluster()] if surroundings.is_admin else []

    def in_any_cluster(self) -> Candidate:
        text = "a new pool for the session, deleted at the end; or k=2,m=1, ec=PROFILE, rule=NAME"
        return Candidate(self.examples[0], text)

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        """Delete the pool of this name if it carries its owner, and what was made before the pool had its name."""
        if not (OWN_NAME.fullmatch(name) and owner):
            return Removed("not ours", f"{name} does not have a name that cephtui gives pools")
        unmarked = _unmarked_name(name, owner)
        try:
            osd_map = await ClusterReader(shell).ask(reader.OSD_MAP)
        except ClusterError as error:
            return Removed("failed", str(error))
        existing = osd_map.pools.get(name)
        if existing and existing.owner != owner:
            by_hand = f"if it is yours: ceph osd pool rm {name}"
            return Removed("not ours", f"it does not carry the mark of its session; {by_hand}")
        names = [unmarked, name] if existing else [unmarked]
        argv = new_pool.delete_argv(names, unmarked)
        answer = await shell.ceph(argv, timeout_seconds=_DELETE_SECONDS)
        if answer.status != 0:
            return Removed("failed", _why(answer))
        return Removed("done" if existing or unmarked in osd_map.pools else "absent")
