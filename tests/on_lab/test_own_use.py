"""Ceph's rates are averages that outlast their clients: what one has done oneself is no reason to refuse a run."""

from __future__ import annotations

from typing import Any

from tests.on_lab.others import SMALL, busy
from tests.on_lab.runs import Bench, Console, noted

OBJECTS: dict[str, Any] = {"runtime": 2, "concurrent-ios": 2, "block-size": "64K"}
PATIENCE_SECONDS = 120.0


def pool_use(console: Console) -> str:
    """What is said of the pool's other clients in the plan of a run, which must have ended well."""
    assert console.process.returncode == 0, console.describe()
    (plan,) = [event for event in console.events if event["event"] == "plan"]
    return str(plan["pool_use"]["text"])


def test_a_run_after_another_is_not_refused_for_what_that_has_done(bench: Bench, pool: str) -> None:
    first = bench.run("rados-write", target=f"pool:{pool}", **OBJECTS)
    assert pool_use(first).endswith("0 client IOPS")
    # a process of its own each, as a script has them
    for preset in ("rados-seq", "rados-write"):
        assert pool_use(bench.run(preset, target=f"pool:{pool}", **OBJECTS)).endswith("own I/O has just ended")


def test_what_another_user_has_done_is_waited_for_until_that_has_decayed(bench: Bench, pool: str) -> None:
    with busy(bench.lab, pool):
        waited = bench.start("rados-write", target=f"pool:{pool}", **OBJECTS)
        waited.wait_for(lambda: f"cephtui: pool {pool} has " in waited.stderr, PATIENCE_SECONDS, "what it waits for")
    waited.wait(PATIENCE_SECONDS)
    assert pool_use(waited).endswith("0 client IOPS")


def test_a_run_after_a_kill_and_the_removal_of_what_that_had_made_is_not_refused(bench: Bench, pool: str) -> None:
    killed = bench.start("write-iops", target=f"rbd:{pool}", **{**SMALL, "runtime": 300})
    killed.wait_for_samples(2)
    killed.process.kill()
    killed.wait()
    assert noted(bench.sandbox)
    bench.clean_up()
    pool_use(bench.run("write-iops", target=f"rbd:{pool}", **SMALL))
