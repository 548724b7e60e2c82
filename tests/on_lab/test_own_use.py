"""Ceph's rates are averages that outlast their clients: what one has done oneself is no reason to refuse a run."""

from __future__ import annotations

import time
from typing import Any

from .conftest import NewBench
from .others import SMALL
from .runs import Bench, Console, noted

OBJECTS: dict[str, Any] = {"runtime": 2, "concurrent-ios": 2, "block-size": "64K"}
PATIENCE_SECONDS = 120.0
DECAYS_SECONDS = 8.0
"""A machine that takes longer to ask may find nothing to wait for any more."""


def pool_use(console: Console) -> str:
    """What is said of the pool's other clients in the plan of a run, which must have ended well."""
    assert console.process.returncode == 0, console.describe()
    (plan,) = [event for event in console.events if event["event"] == "plan"]
    return str(plan["pool_use"]["text"])


def has_looked(console: Console) -> bool:
    """Whether it asks the cluster for longer than a moment, waits for it, or has planned already."""
    asks = ("cephtui: inspecting the target", "cephtui: pool ")
    return any(line in console.stderr for line in asks) or any(event["event"] == "plan" for event in console.events)


def test_a_run_after_another_is_not_refused_for_what_that_has_done(bench: Bench, pool: str) -> None:
    first = bench.run("rados-write", target=f"pool:{pool}", **OBJECTS)
    assert pool_use(first).endswith("0 client IOPS")
    # a process of its own each, as a script has them
    for preset in ("rados-seq", "rados-write"):
        assert pool_use(bench.run(preset, target=f"pool:{pool}", **OBJECTS)).endswith("own I/O has just ended")


def test_another_user_waits_until_that_has_decayed(new_bench: NewBench, pool: str) -> None:
    first, other = new_bench(), new_bench()
    # so long that the cluster knows of it at its end
    long = {**OBJECTS, "runtime": 12}
    assert pool_use(first.run("rados-write", target=f"pool:{pool}", **long)).endswith("0 client IOPS")
    ended = time.monotonic()
    waited = other.start("rados-write", target=f"pool:{pool}", **OBJECTS)
    waited.wait_for(lambda: has_looked(waited), PATIENCE_SECONDS, "its first look")
    has_decayed = time.monotonic() - ended > DECAYS_SECONDS
    waited.wait(PATIENCE_SECONDS)
    assert pool_use(waited).endswith("0 client IOPS")
    assert has_decayed or f"cephtui: pool {pool} has " in waited.stderr, "it was told why it waits"


def test_a_run_after_a_kill_and_the_removal_of_what_that_had_made_is_not_refused(bench: Bench, pool: str) -> None:
    killed = bench.start("write-iops", target=f"rbd:{pool}", **{**SMALL, "runtime": 300})
    killed.wait_for_samples(2)
    killed.process.kill()
    killed.wait()
    assert noted(bench.sandbox)
    bench.clean_up()
    pool_use(bench.run("write-iops", target=f"rbd:{pool}", **SMALL))
