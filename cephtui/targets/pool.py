"""``pool:POOL``: objects in a RADOS namespace of the run's own."""

from __future__ import annotations

from dataclasses import dataclass

from cephtui import observe
from cephtui.models import Kind, Node, Part, Place
from cephtui.shell import Shell
from cephtui.targets.base import (
    OWN_NAME,
    OWN_PREFIX,
    Found,
    Layout,
    Removed,
    TargetError,
    Use,
    is_text,
    reason,
    safe_name,
)
from cephtui.tools import rados_bench

_EMPTY_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class PoolTarget:
    """See Target."""

    name: str
    kind: Kind = "pool"
    data_pool: None = None
    own: bool = True
    kept: bool = False
    one_node: bool = False
    default_span_bytes: int = 1 << 60
    names: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """See Target."""
        return f"pool:{self.name}"

    @property
    def pool(self) -> str:
        """See Target."""
        return self.name

    def lay_out(self, node: Node, layout: Layout) -> tuple[Place, tuple[Part, ...]]:
        """See Target: a namespace for each node, so that what is counted and emptied is its own."""
        namespace = f"{OWN_PREFIX}{layout.batch}-{safe_name(node.name)}"
        part = Part(spec=f"pool:{self.name}/{namespace}", bytes=layout.size_bytes)
        return Place(kind="pool", pool=self.name, namespace=namespace), (part,)

    async def inspect(self, shell: Shell, use: Use) -> Found:
        """See Target: the cluster's guards are those of the pool."""
        return Found(to_create=use.parts)

    async def create(self, shell: Shell, part: Part) -> str:
        """See Target: a namespace is there as soon as an object is in it."""
        return part.spec

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """See Target: half of what the guards allow; a run ends by its time, not by this."""
        most = await observe.room_bytes(shell, self.name)
        return None if most is None else most // 2 // nodes


def parse_name(text: str, name: str) -> str:
    """The pool in a target's text; raises TargetError."""
    if "/" in name:
        raise TargetError(f"target {text!r}: expected the name of a pool; cephtui makes a namespace of its own in it")
    if not is_text(name):
        raise TargetError(f"target {text!r}: expected the name of a pool")
    return name


async def remove(shell: Shell, name: str) -> Removed:
    """Empty a namespace of cephtui's own, and see that it is empty."""
    pool, _, namespace = name.partition("/")
    if not OWN_NAME.fullmatch(namespace):
        return Removed("not ours", f"{name} is not named as cephtui names its namespaces")
    place = Place(kind="pool", pool=pool, namespace=namespace, ceph_id=shell.node.ceph_id)
    answer = await shell.ceph(rados_bench.empty_argv(place), timeout_seconds=_EMPTY_SECONDS)
    if answer.status == 0:
        return Removed("done")
    left = answer.stdout.strip()
    return Removed("busy" if left.isdigit() else "failed", f"{left or 'some'} objects are left: {reason(answer)}")
