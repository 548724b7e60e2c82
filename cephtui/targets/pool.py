"""``pool:POOL``: objects in a RADOS namespace of the run's own."""

from __future__ import annotations

import re
from typing import ClassVar

from cephtui.ceph import objects
from cephtui.cluster import preflight
from cephtui.frozen import dataclass
from cephtui.models import Kind, Node, Part, Place, RadosPlace
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.targets.base import (
    OWN_NAME,
    OWN_PREFIX,
    OWNER_KEY,
    DataLayout,
    Removed,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
    is_text,
    safe_name,
)
from cephtui.targets.candidates import Candidate, PoolFacts
from cephtui.targets.rbd import RbdPool
from cephtui.tools import TOOLS

_EMPTY_SECONDS = 600.0
_NO_POOL = re.compile(r"error opening pool .*\(2\) No such file or directory")


@dataclass(frozen=True, slots=True)
class PoolTarget(Target):
    """New objects in a pool."""

    kind: ClassVar[Kind] = "pool"
    persists_between_steps: ClassVar[bool] = False
    default_span_bytes: ClassVar[int] = 1 << 60

    pool: str
    owner_id: str | None = None
    """An id that makes names of namespaces unique, where a batch is continued before its last namespace is removed."""

    @property
    def spec(self) -> str:
        return f"pool:{self.pool}"

    @property
    def listed_by(self) -> str:
        return RbdPool(self.pool).spec

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        """A namespace for each node, so that a node counts and removes only its own objects."""
        unique = "-".join(filter(None, (self.owner_id, layout.batch, safe_name(node.name))))
        namespace = f"{OWN_PREFIX}{unique}"
        part = Part(spec=f"pool:{self.pool}/{namespace}", bytes=layout.size_bytes)
        return RadosPlace(kind="pool", pool=self.pool, namespace=namespace), (part,)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Nothing: the guards of the pool are those of the cluster."""
        return TargetState(to_create=use.parts)

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make the namespace with its first object, which is the mark of its owner."""
        pool, _, namespace = part.spec.removeprefix("pool:").partition("/")
        done = await shell.ceph(objects.claim_argv(_place(shell, pool, namespace), _mark(owner)))
        if done.status != 0:
            raise TargetFault(f"can't mark namespace {namespace} of pool {pool}: {failure_reason(done)}")
        return part.spec

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Half of what the guards allow; a run ends by its time, not by this size."""
        most = await preflight.room_bytes(shell, self.pool)
        return None if most is None else most // 2 // nodes


class PoolKind(TargetKind):
    """Pools, to write objects into."""

    scheme = "pool"
    examples = ("pool:POOL",)
    in_pool = True

    def parse(self, name: str, owner_id: str | None = None) -> PoolTarget:
        return PoolTarget(parse_name(self.spec(name), name), owner_id)

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        pool, _, namespace = name.partition("/")
        return await remove_namespace(shell, pool, namespace, owner)

    def in_this_pool(self, facts: PoolFacts) -> Candidate:
        users = " and ".join(tool.title for tool in TOOLS.values() if PoolTarget.kind in tool.kinds)
        return self.candidate(facts.pool.name, f"objects for {users}, {facts.room}", facts.unserved or facts.full)


def parse_name(text: str, name: str) -> str:
    """The pool in a target's text; raises TargetError."""
    if "/" in name:
        raise TargetError(f"target {text!r}: expected the name of a pool, in which cephtui creates a namespace")
    if not is_text(name):
        raise TargetError(f"target {text!r}: expected the name of a pool")
    return name


def _mark(owner: str) -> str:
    """The object that marks the owner of a namespace: the mark is the name, so that it is never half written."""
    return f"{OWNER_KEY}.{owner}"


def _place(shell: Shell, pool: str, namespace: str) -> RadosPlace:
    return RadosPlace(kind="pool", pool=pool, namespace=namespace, ceph_id=shell.node.ceph_id)


async def remove_namespace(shell: Shell, pool: str, namespace: str, owner: str | None) -> Removed:
    """Empty a namespace that carries its owner, and check that it is empty; the mark goes last.

    Without an owner nothing is removed: that is what was made before namespaces were marked.
    """
    if not OWN_NAME.fullmatch(namespace) or not pool or pool.startswith("-") or not is_text(pool):
        return Removed("not ours", f"{pool}/{namespace} does not have a name that cephtui gives namespaces")
    argv = objects.empty_argv(_place(shell, pool, namespace), _mark(owner) if owner else "")
    answer = await shell.ceph(argv, timeout_seconds=_EMPTY_SECONDS)
    remaining = answer.stdout.strip()
    if answer.status == 0:
        return Removed("done")
    if answer.status == objects.ABSENT_STATUS or _NO_POOL.search(answer.stderr):
        return Removed("absent")
    if answer.status == objects.OTHERS_STATUS:
        by_hand = f"if they are yours: rados -p {pool} -N {namespace} ls, and rm each"
        return Removed("not ours", f"its {remaining} objects do not carry the mark of its session; {by_hand}")
    return Removed(
        "busy" if remaining.isdigit() else "failed", f"{remaining or 'some'} objects are left: {failure_reason(answer)}"
    )
