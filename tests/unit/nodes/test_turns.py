"""Many nodes on few hosts: commands take turns, and their time counts from their own start."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cephtui.models import Node
from cephtui.nodes import turns as turns_module
from cephtui.nodes.transport import TransportError
from cephtui.nodes.turns import Turns
from cephtui.running.runner import Runner
from tests.support.fakes import FakeConnection, FakeNode
from tests.support.golden import Golden


async def test_turns_are_bounded_on_each_host_and_in_all() -> None:
    turns, running, most = Turns(), Counter[str](), Counter[str]()
    done = 0

    async def command(host: str) -> None:
        nonlocal done
        async with turns.take(Node(name=f"{host}-{done}", host=host)):
            running.update([host, "all"])
            most.update({name: max(0, running[name] - most[name]) for name in (host, "all")})
            await asyncio.sleep(0)
            running.subtract([host, "all"])
            done += 1

    await asyncio.gather(*(command(f"h{number % 8}") for number in range(400)))
    assert done == 400
    assert most["all"] <= 24
    assert {host: number for host, number in most.items() if number > 6} == {"all": most["all"]}


async def test_a_turn_is_waited_for_as_long_as_something_moves(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(turns_module, "_TURNS_ON_A_HOST", 1)
    monkeypatch.setattr(turns_module, "_STANDSTILL_SECONDS", 2.5)
    turns, node = Turns(), Node(name="n1", host="h")
    ended: list[int] = []

    async def command(number: int) -> None:
        async with turns.take(node):
            await asyncio.sleep(0.7)
            ended.append(number)

    await asyncio.gather(*map(command, range(6)))  # the last has waited longer than that
    assert ended == [0, 1, 2, 3, 4, 5]
    async with turns.take(node):
        with golden.raises(TransportError):
            async with turns.take(node):
                pass
    async with turns.take(node):  # what was given up has left no turn taken
        pass


async def test_a_turn_that_is_no_longer_waited_for_is_free() -> None:
    turns, node = Turns(), Node(name="n1", host="h")

    async def hold() -> None:
        async with turns.take(node):
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(hold()) for _ in range(40)]
    await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(5), turns.take(node):
        pass


def test_a_runner_gives_turns_to_all_nodes_of_a_host(tmp_path: Path) -> None:
    running, most = Counter[str](), Counter[str]()

    class Counting(FakeConnection):
        async def run(self, argv: Any, **how: Any) -> Any:
            running[self.node.host or ""] += 1
            most[self.node.host or ""] = max(most[self.node.host or ""], running[self.node.host or ""])
            await asyncio.sleep(0.01)
            running[self.node.host or ""] -= 1
            return await super().run(argv, **how)

    async def connect(node: Node, answers: Any) -> Any:
        return Counting(FakeNode(node))

    nodes = [Node(name=f"n{number}", host=f"h{number % 2}", ceph_conf="/c") for number in range(32)]
    with Runner(tmp_path, connect_node=connect) as runner:
        states = [future.result(30) for future in [runner.nodes.reach(node) for node in nodes]]
    assert [state.problem for state in states] == [None] * 32
    assert dict(most) == {"h0": 6, "h1": 6}
