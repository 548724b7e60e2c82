"""What is asked or tried again until it is so: for how long, and what is said meanwhile; waiting passes at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cephtui.ceph.pools import PoolUsage
from cephtui.models import ClusterEnvironment
from cephtui.running import new_pool
from cephtui.running.cleanup import REMOVAL_SECONDS, remove_patiently
from cephtui.running.recorder import StopRequest
from cephtui.sessions.undo import Undo
from cephtui.targets.base import Removed
from tests.support.golden import Golden

WATCH_SECONDS = 30.0
"""After so long a cluster forgets a client that has died: osd_client_watch_timeout."""
NAME = "cephtui-0a1b2c3d-pg8-size1"
KNOWN = ClusterEnvironment()


def waiting_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Let the time of the running event loop pass where it waits; gives the seconds that passed."""
    loop: Any = asyncio.get_running_loop()
    select, passed = loop._selector.select, [0.0]

    def at_once(seconds: float | None) -> Any:
        passed[0] += seconds or 0.0
        return select(0 if seconds else seconds)

    monkeypatch.setattr(loop._selector, "select", at_once)
    monkeypatch.setattr(loop, "time", lambda: passed[0])
    monkeypatch.setattr(new_pool, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    return lambda: passed[0]


@pytest.mark.parametrize(("busy_seconds", "status"), [(WATCH_SECONDS + 5, "done"), (1e6, "busy")])
async def test_a_removal_waits_for_what_lapses_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, busy_seconds: float, status: str, golden: Golden
) -> None:
    seconds, said = waiting_passes(monkeypatch), list[str]()

    async def remove(shell: object, undo: Undo) -> Removed:
        return Removed("busy", "it has a watcher") if seconds() < busy_seconds else Removed("done")

    monkeypatch.setattr("cephtui.targets.removal.remove_part", remove)
    undo = Undo(node="a", target="rbd:bench/cephtui-x", owner="me")
    removed = await remove_patiently(cast("Any", None), undo, said.append)
    assert removed.status == status
    assert min(busy_seconds, REMOVAL_SECONDS) <= seconds() < REMOVAL_SECONDS + 5
    golden.same(said)


class OnlyThen:
    """A pool that can be used after some seconds, and what is needed to make it."""

    def __init__(self, ready_after_seconds: float, seconds: Callable[[], float]) -> None:
        self.new_pool = self
        self.pool_name, self.part = NAME, f"new-pool:{NAME}"
        self.made_at: float | None = None
        self._ready_after, self._seconds = ready_after_seconds, seconds

    async def make(self, shell: object, owner: str) -> None:
        self.made_at = self._seconds()

    async def unready(self, shell: object) -> str:
        return "" if self._seconds() >= self._ready_after else "3 of 8 PGs are active"

    async def provide(self, monkeypatch: pytest.MonkeyPatch, stop: StopRequest) -> str | None:
        """Why it was not made, or None."""

        async def noted(*_: object) -> None:
            assert self.made_at is None, "it is made before it is on the undo list"

        monkeypatch.setattr(new_pool, "note_undo", noted)
        bench = SimpleNamespace(created={}, publish=lambda _: None, session=SimpleNamespace(owner="me"))
        refusal = await new_pool.provide(*cast("Any", (bench, self, None, stop)))
        return refusal.text if refusal else None


async def test_a_new_pool_is_used_once_all_its_pgs_are_active(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    seconds = waiting_passes(monkeypatch)
    assert await OnlyThen(20, seconds).provide(monkeypatch, StopRequest()) is None
    assert 20 <= seconds() < 25
    text = await OnlyThen(1e9, seconds).provide(monkeypatch, StopRequest())
    golden.same(text)
    stop = StopRequest()
    stop.request()
    golden.same(await OnlyThen(1e9, seconds).provide(monkeypatch, stop))


@pytest.mark.parametrize(
    ("says", "stored"),
    [
        ([(0, 0), (0, 0), (4096, 8192), (8192, 16384), (8192, 16384)], 8192),  # first it knows nothing, then a part
        ([(n, 2 * n) for n in range(1, 99)], 10),  # it never says the same twice: the last answer counts
        ([], None),
    ],
)
async def test_what_a_new_pool_holds_is_asked_until_it_is_known(
    monkeypatch: pytest.MonkeyPatch, says: list[tuple[int, int]], stored: int | None
) -> None:
    waiting_passes(monkeypatch)
    answers = iter(says)

    async def usage(shell: object) -> dict[str, PoolUsage]:
        answer = next(answers, None)
        return {NAME: PoolUsage(answer[0], 0, raw=answer[1])} if answer else {}

    monkeypatch.setattr(new_pool, "_usage", usage)
    target = SimpleNamespace(new_pool=SimpleNamespace(pool_name=NAME))
    found = await new_pool.with_space(KNOWN, *cast("Any", (target, None)))
    assert found is not None
    assert (found.stored_bytes, found.raw_bytes) == (stored, stored and 2 * stored)
