"""A Ceph cluster as the console sees it: asked before a run, watched during it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cephtui.models import ClusterEnvironment, ClusterSample, Finding, Node, PoolUse, Step
from cephtui.record import StopRequest
from cephtui.refusal import Refusal
from cephtui.shell import NodeShell, Shell


@dataclass(frozen=True, slots=True)
class View:
    """What the cluster is like before a run, and what follows from it."""

    refusal: Refusal | None = None
    findings: tuple[Finding, ...] = ()
    environment: ClusterEnvironment | None = None


async def with_access(shell: NodeShell) -> Node:
    return shell.node


async def pool_use(shell: Shell, pool: str) -> PoolUse:
    return PoolUse(pool=pool)


async def room_bytes(shell: Shell, pool: str) -> int | None:
    return None


def new_bytes(steps: Sequence[Step]) -> int:
    return 0


async def examine(shell: Shell, pool: str | None, step: Step, wanted: int, *, shared_pool: bool) -> View:
    return View()


async def watch(view: View, run: int, publish: Callable[[ClusterSample], None], stop: StopRequest) -> None:
    return
