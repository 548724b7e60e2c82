"""The slowest operations of a run: which are kept, whose they are; and that silent OSDs delay nothing."""

from __future__ import annotations

import asyncio
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cephtui.ceph.slow_operations import SlowOperation
from cephtui.models import Step
from cephtui.nodes.transport import Completed, TransportError
from cephtui.reports.words.slowest import slowest_line
from cephtui.running import slowest
from cephtui.running.slowest import kept, slowest_operations
from tests.support.plans import plan

BEGUN = 1_795_691_700.0
RECORDED = Path(__file__).parents[2] / "recordings" / "releases" / "ceph-16.2.15" / "historic-ops.stdout.xz"
ANSWER = lzma.decompress(RECORDED.read_bytes()).decode()
IMAGE = "1014b99ed0ec"


def operation(seconds: float, stages: dict[str, float] | None = None, *, is_replica: bool = False) -> SlowOperation:
    return SlowOperation("osd.0", is_replica, "x", "", BEGUN + 3, seconds, stages or {"queue": seconds})


def test_the_slowest_of_the_run_are_kept_and_one_of_others() -> None:
    own = [(operation(seconds), True) for seconds in (0.1, 0.5, 0.3, 0.2)]
    others = [(operation(seconds), False) for seconds in (9.0, 8.0)]
    replicas = [(operation(99.0, is_replica=True), True)]
    found = kept([*own, *others, *replicas], BEGUN)
    assert [(one.seconds, one.own) for one in found] == [(0.5, True), (0.3, True), (0.2, True), (9.0, False)]
    assert found[0].at_seconds == 3.0
    assert kept([], BEGUN) == ()


def test_an_operation_in_words() -> None:
    (one,) = kept([(operation(9.14, {"throttled": 7.68, "queue": 0.2, "commit of a replica": 1.14}), True)], BEGUN)
    assert slowest_line(one) == "9.14 s on osd.0 at 0:03: 7.68 s throttled, 1.14 s commit of a replica"
    (other,) = kept([(operation(0.2), False)], BEGUN)
    assert slowest_line(other) == "200 ms on osd.0 at 0:03, of another client: 200 ms queue"
    (any_client,) = kept([(operation(0.2), None)], BEGUN)
    assert ", of any client: " in slowest_line(any_client)


@dataclass
class Asked:
    """A shell whose OSDs answer as recorded, and whose images have the id of the recording, or another."""

    image: str = IMAGE
    fails: bool = False
    hangs: bool = False

    async def ceph(self, argv: Any) -> Completed:
        if self.hangs:
            await asyncio.sleep(600)
        if self.fails:
            raise TransportError("the link is down")
        if argv[0] == "python3":  # all at once: here each is asked by itself
            return Completed(1, "", "no module")
        if argv[0] == "ceph":
            return Completed(0, ANSWER, "")
        info = {"name": "i", "id": "x", "size": 1 << 22, "object_size": 1 << 22, "features": [], "flags": []}
        return Completed(0, json.dumps({**info, "block_name_prefix": f"rbd_data.{self.image}"}), "")

    @property
    def node(self) -> Any:
        return plan("write-iops").hosts[0]


def step(target: str = "rbd:bench", *options: str) -> Step:
    return plan("write-iops", target=target, options=options).steps[0]


async def asked(shell: Any, of: Step, osds: str = "0", begun: float = BEGUN) -> list[bool | None]:
    return [one.own for one in await slowest_operations(shell, of, osds, begun)]


async def test_operations_of_the_images_of_the_run_are_its_own() -> None:
    assert (await asked(Asked(), step()))[0] is True
    assert await asked(Asked("another"), step()) == [False]
    many = step("rbd:bench", "numjobs=16", "size=1M")
    assert set(await asked(Asked(), many)) == {None}, "so many images are not asked for their ids"


async def test_what_began_before_the_run_is_left_out() -> None:
    assert await asked(Asked(), step(), begun=BEGUN + 1e6) == []


@pytest.mark.parametrize("shell", [Asked(fails=True), Asked(hangs=True)])
async def test_osds_that_do_not_answer_delay_nothing(shell: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slowest, "_ASKED_SECONDS", 0.05)
    assert await asked(shell, step()) == []


async def test_without_counters_or_with_very_many_osds_nothing_is_asked() -> None:
    assert await slowest_operations(Asked(fails=True), step(), [], BEGUN) == ()  # type: ignore[arg-type]
    assert await slowest_operations(Asked(fails=True), step(), [str(n) for n in range(65)], BEGUN) == ()  # type: ignore[arg-type]
