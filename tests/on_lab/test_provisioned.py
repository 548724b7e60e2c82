"""``cephtui provisioned`` on a real Ceph, whose images are limited by librbd."""

from __future__ import annotations

from cephtui.ceph.qos import limits_argv, parse_limits
from tests.on_lab.runs import Bench, Console, Event, sets

LIMIT = 100
SIZE = "8M"
LOAD = sets(runtime=3, ramp_time=2, size=SIZE, iodepth=8)
"""The limit begins with what it has saved up, which the ramp takes."""
END_SECONDS = 180.0
PROMISED = {"limited": "", "free": "=2", "short": f"={3 * LIMIT}"}
"""Of the first the limit is read. The others are far from what a slow machine reaches, and from what a limit allows."""


def start(bench: Bench, pool: str, name: str) -> Console:
    where = ["--config", str(bench.config), "--node", "lab1", "--shared-pool", "--destroy", name, "--session", name]
    volume = f"rbd:{pool}/{name}{PROMISED[name]}"
    return bench.sandbox.start("provisioned", "--volume", volume, *where, *LOAD, "--json")


def expectations(console: Console, code: int | None = None) -> list[Event]:
    """What became of the promise in each step, of a console that ends with this exit code."""
    assert console.wait(END_SECONDS) in ((0, 5) if code is None else (code,)), console.describe()
    return [event for event in console.events if event["event"] == "expectation"]


def test_a_limit_is_read_and_holds_and_what_is_not_limited_is_found(bench: Bench, pool: str) -> None:
    lab = bench.lab
    for name in PROMISED:
        lab.rbd("create", "--size", SIZE, f"{pool}/{name}")
    for name in ("limited", "short"):
        lab.rbd("config", "image", "set", f"{pool}/{name}", "rbd_qos_iops_limit", str(LIMIT))
    assert parse_limits(lab.rbd(*limits_argv(pool, "limited")[1:])).iops == LIMIT
    assert parse_limits(lab.rbd(*limits_argv(pool, None)[1:])).iops is None

    consoles = {name: start(bench, pool, name) for name in PROMISED}
    limited = expectations(consoles["limited"])
    assert [each["promised"] for each in limited] == [LIMIT] * 3
    # of three seconds: librbd lets through later what it was too slow to let through in time
    assert max(each["measured"] for each in limited) < 1.5 * LIMIT
    assert [each["word"] for each in expectations(consoles["free"], 0)] == ["NOT CAPPED"] * 3
    assert [each["word"] for each in expectations(consoles["short"], 5)] == ["FAIL"] * 3
