"""Lies by what happens in the cluster; each function provokes one and runs it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from tests.bench.honest import provoking
from tests.bench.honest.judging import Observed
from tests.bench.honest.scene import NotProvoked, Scene
from tests.lab.cluster import OSDS
from tests.on_lab.others import peer_again, pool_on

_LIGHT: dict[str, Any] = {"size": "32M", "numjobs": 1, "iodepth": 8, "ramp_time": 2}
_FILL_MIB = 768
_OSD = 1
"""Which one is slow."""


def recovery(scene: Scene) -> Observed:
    """From second 8 on data moves."""
    with pool_on(scene.lab) as pool:
        provoking.fill(scene.lab, pool, _FILL_MIB)
        out = partial(provoking.osd_out, scene.lab, 2, 6.0)
        return scene.run("write-iops", target=f"rbd:{pool}", during=out, runtime=25, **_LIGHT)


def scrub(scene: Scene) -> Observed:
    """The OSDs read all of their data beside the run."""
    with pool_on(scene.lab) as pool:
        provoking.fill(scene.lab, pool, _FILL_MIB)
        during = partial(provoking.deep_scrub, scene.lab)
        return scene.run("write-iops", target=f"rbd:{pool}", during=during, runtime=20, **_LIGHT)


def split(scene: Scene) -> Observed:
    """The PGs of the pool become four times as many."""
    with pool_on(scene.lab) as pool:
        provoking.fill(scene.lab, pool, _FILL_MIB // 4)

        def during() -> AbstractContextManager[object]:
            scene.lab.ceph("osd", "pool", "set", pool, "pg_num", "32")
            return nullcontext()

        return scene.run("write-iops", target=f"rbd:{pool}", during=during, runtime=25, **_LIGHT)


def large_foreign_load(scene: Scene) -> Observed:
    """Somebody writes blocks of 4 MiB all the time."""
    with pool_on(scene.lab) as pool, provoking.another_client(scene.lab, pool, "4M", 16):
        return scene.run("write-iops", target=f"rbd:{pool}", runtime=20, **_LIGHT)


def small_foreign_load(scene: Scene) -> Observed:
    """From second 8 on somebody does more small writes than the run."""
    with pool_on(scene.lab) as pool:
        theirs = partial(provoking.another_client, scene.lab, pool, "4K", 32)
        later = partial(provoking.after, 6.0, theirs)
        return scene.run("write-iops", target=f"rbd:{pool}", during=later, runtime=30, **_LIGHT)


def osd_in_pulses(scene: Scene) -> Observed:
    """An OSD stands still for half of each second; the image has objects on all of them."""
    during = partial(provoking.pulses, scene.lab, _OSD)
    return scene.run("write-iops", during=during, runtime=20, **{**_LIGHT, "size": "128M"})


def osd_stands_still(scene: Scene) -> Observed:
    """An OSD stands still for 3.5 s."""
    during = partial(provoking.stopped_for, scene.lab, [_OSD], 3.5)
    return scene.run("write-iops", during=during, runtime=20, **_LIGHT)


def osds_stand_still(scene: Scene) -> Observed:
    """All OSDs stand still for 3.5 s."""
    scene.undo.append(partial(peer_again, scene.lab))
    during = partial(provoking.stopped_for, scene.lab, OSDS, 3.5)
    return scene.run("write-iops", during=during, runtime=20, **_LIGHT)


def message_cap(scene: Scene) -> Observed:
    """Three nodes have 1,536 I/Os in flight, and an OSD takes 256 messages: as fast as these come."""
    before = provoking.refusals(scene.lab)
    with provoking.without_delay(scene.lab):
        observed = scene.run("write-iops", on=["lab"], size="8M", numjobs=8, iodepth=64, runtime=20, ramp_time=2)
    if provoking.refusals(scene.lab) == before:
        raise NotProvoked("no OSD refused a message")
    return observed


def nearly_full(scene: Scene) -> Observed:
    """An OSD is nearly full before the run."""
    with provoking.nearly_full(scene.lab):
        return scene.run("write-iops", runtime=10, **_LIGHT)


def flag_set(scene: Scene) -> Observed:
    """Scrubs are switched off before the run."""
    with provoking.flag(scene.lab, "noscrub"):
        return scene.run("write-iops", runtime=10, **_LIGHT)
