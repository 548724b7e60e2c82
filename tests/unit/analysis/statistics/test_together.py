"""Nodes that prepare their own data begin to measure together."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

from cephtui.nodes.transport import Chunk
from cephtui.running.together import Together


class Waiting:
    """See Process: one that is only told to go on."""

    connection_lost = False

    def __init__(self) -> None:
        self.released_at, self.longest_pause_seconds = time.monotonic(), 0.0
        self.orders = 0

    def release(self) -> None:
        raise AssertionError("it was released before")

    def go_on(self) -> None:
        self.orders += 1

    async def chunks(self) -> AsyncIterator[Chunk]:
        raise AssertionError("its output is read elsewhere")
        yield

    async def stop(self) -> None:
        raise AssertionError("it is not stopped")

    async def wait(self) -> int | None:
        return 0


def expecting(*names: str, begin: Callable[[], None] = lambda: None) -> tuple[Together, dict[str, Waiting]]:
    together = Together(begin)
    for name in names:
        together.expect(name)
    return together, {name: Waiting() for name in names}


def test_the_last_that_is_prepared_lets_all_go_on() -> None:
    begun = list[str]()
    together, nodes = expecting("a", "b", "c", begin=lambda: begun.append("now"))
    for name in ("a", "b", "a"):
        together.prepared(name, nodes[name])
    assert ([node.orders for node in nodes.values()], begun) == ([0, 0, 0], [])
    together.prepared("c", nodes["c"])
    together.prepared("c", nodes["c"])
    assert ([node.orders for node in nodes.values()], begun) == ([1, 1, 1], ["now"])


def test_without_any_that_is_prepared_nothing_begins() -> None:
    begun = list[str]()
    together, nodes = expecting("a", "b", begin=lambda: begun.append("now"))
    together.prepared("a", nodes["a"])
    for name in ("a", "b"):
        together.ended(name)
    assert begun == []


def test_one_that_has_ended_is_not_waited_for() -> None:
    together, nodes = expecting("a", "b", "c")
    together.prepared("a", nodes["a"])
    together.prepared("b", nodes["b"])
    together.ended("b")
    together.ended("c")
    assert [node.orders for node in nodes.values()] == [1, 0, 0]


def test_one_that_was_not_released_waits_for_nobody() -> None:
    together, nodes = expecting("a")
    other = Waiting()
    together.prepared("b", other)
    together.prepared("a", nodes["a"])
    assert (nodes["a"].orders, other.orders) == (1, 0)
