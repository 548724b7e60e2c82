"""Lies by nodes, their network and their clock; each function provokes one and runs it."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.bench.honest import provoking
from tests.bench.honest.judging import Observed
from tests.bench.honest.scene import NotProvoked, Scene
from tests.lab.machines import KERNEL_HOST

_LIGHT: dict[str, Any] = {"size": "32M", "numjobs": 1, "iodepth": 8, "ramp_time": 2}
_LARGE: dict[str, Any] = {"size": "128M", "numjobs": 1, "iodepth": 8, "runtime": 15, "ramp_time": 2}
_LIMIT = "80mbit"


def slow_node(scene: Scene) -> Observed:
    """One node of three sends 1.5 Mbit/s."""
    with provoking.sends_at_most(scene.lab, ["lab2"], "1500kbit", burst="16k"):
        return scene.run("write-iops", on=["lab"], runtime=20, **{**_LIGHT, "size": "4M"})


def limited_one_way(scene: Scene) -> Observed:
    """A node sends 80 Mbit/s, which was measured just before."""
    with provoking.sends_at_most(scene.lab, ["lab1"], _LIMIT):
        return _after_links(scene)


def limited_both_ways(scene: Scene) -> Observed:
    """All hosts send 80 Mbit/s, which was measured just before."""
    with provoking.sends_at_most(scene.lab, [*scene.lab.nodes, provoking.CLUSTER], _LIMIT):
        return _after_links(scene)


def _after_links(scene: Scene) -> Observed:
    session = ("--session", "L")
    links = scene.run("network", on=["lab1", "lab2"], target="host:*", runtime=3, words=session)
    if links.outcome != "ok":
        raise NotProvoked(f"the links were not measured: {links.error}")
    return scene.run("write-throughput", words=session, **_LARGE)


def limited_unmeasured(scene: Scene) -> Observed:
    """A node sends 80 Mbit/s, and nobody has measured that."""
    with provoking.sends_at_most(scene.lab, ["lab1"], _LIMIT):
        return scene.run("write-throughput", **_LARGE)


def cpu_taken(scene: Scene) -> Observed:
    """Four busy loops take the node's CPUs from second 2 on."""
    during = partial(provoking.busy_loops, scene.lab, "lab1")
    return scene.run("write-iops", during=during, runtime=20, **_LIGHT)


def packets_lost(scene: Scene) -> Observed:
    """What a node sends is dropped in part, and sent again."""
    during = partial(provoking.loses_packets, scene.lab, "lab1")
    return scene.run("write-throughput", during=during, **{**_LARGE, "runtime": 20})


def clock_off(scene: Scene) -> Observed:
    """The clock of a node is 5 min ahead: of one with a kernel of its own, since hosts share that of this machine."""
    with provoking.clock_ahead(scene.lab, KERNEL_HOST, 300):
        options = {**_LIGHT, "size": "4M", "rate_iops": 20, "runtime": 10}
        return scene.run("write-iops", on=[KERNEL_HOST], **options)


def rate_set(scene: Scene) -> Observed:
    """The user holds the run at 50 IOPS."""
    return scene.run("write-iops", runtime=10, rate_iops=50, **_LIGHT)
