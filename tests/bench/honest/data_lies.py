"""Lies about what is read and written, and about how it is measured; each function provokes one and runs it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.bench.honest import provoking
from tests.bench.honest.judging import Observed
from tests.bench.honest.scene import Scene
from tests.lab import loops
from tests.on_lab.others import pool_on

_MIB = 1 << 20
_MEMORY = Path("/dev/shm")
_SHORT: dict[str, Any] = {"runtime": 10, "ramp_time": 2, "numjobs": 1}
"""Of a run whose lie is there from its first second."""


def thin_image(scene: Scene) -> Observed:
    """An image that was never written is read."""
    with provoking.image(scene.lab, scene.lab.pool, "thin", 256, full=False) as target:
        return scene.run("read-iops", target=target, **_SHORT)


def sparse_file(scene: Scene) -> Observed:
    """A file without data is read."""
    with provoking.gone_at_the_end(scene.file("lab1", "sparse")) as file:
        file.touch()
        with file.open("r+b") as opened:
            opened.truncate(64 * _MIB)
        return scene.run("read-iops", target="file:/var/tmp/sparse", size="64M", **_SHORT)


def loop_over_sparse_file(scene: Scene) -> Observed:
    """A block device whose file has no data is read."""
    with scene.lab.loop_device(64 * _MIB) as device:
        return scene.run("read-iops", target=f"device:{device}", size="64M", **_SHORT)


def full_image(scene: Scene) -> Observed:
    """An image that was written in full is read: nothing is to be said against it."""
    with provoking.image(scene.lab, scene.lab.pool, "full", 128, full=True) as target:
        return scene.run("read-iops", target=target, **_SHORT)


def page_cache(scene: Scene) -> Observed:
    """The kernel answers from memory."""
    return scene.run("read-iops", target="file:/var/tmp/cephtui-cached", size="64M", direct=False, **_SHORT)


def librbd_cache(scene: Scene) -> Observed:
    """librbd takes writes into the client's memory."""
    return scene.run("write-iops", size="64M", direct=False, **_SHORT)


def memory(scene: Scene) -> Observed:
    """A file on a tmpfs."""
    with provoking.gone_at_the_end(_MEMORY / "cephtui-lie") as file:
        return scene.run("write-iops", target=f"file:{file}", size="32M", **_SHORT)


def loop_over_memory(scene: Scene) -> Observed:
    """A block device whose file is on a tmpfs."""
    with (
        tempfile.TemporaryDirectory(prefix="cephtui-lie-", dir=_MEMORY) as folder,
        loops.attached(Path(folder), 64 * _MIB) as device,
    ):
        words = ("--destroy", str(device))
        return scene.run("write-iops", target=f"device:{device}", size="64M", words=words, **_SHORT)


def compressible(scene: Scene) -> Observed:
    """Nine tenths of each block are as good as nothing where storage compresses."""
    return scene.run("write-iops", size="64M", buffer_compress_percentage=90, **_SHORT)


def zeros(scene: Scene) -> Observed:
    """Nothing but zeros is written."""
    return scene.run("dd-write", target="file:/var/tmp/cephtui-zeros", size="256M")


def pool_that_compresses(scene: Scene) -> Observed:
    """A pool compresses, and the data can't be compressed: nothing is to be said, and the option is to be kept."""
    with pool_on(scene.lab) as pool:
        scene.lab.ceph("osd", "pool", "set", pool, "compression_mode", "force")
        return scene.run("write-iops", target=f"rbd:{pool}", size="64M", **_SHORT)


def small_working_set(scene: Scene) -> Observed:
    """16 MiB are read, which every cache on the way holds."""
    return scene.run("read-iops", size="16M", **_SHORT)


def zipf(scene: Scene) -> Observed:
    """Nearly all reads are of the same few blocks."""
    return scene.run("read-iops", size="256M", random_distribution="zipf:1.2", **_SHORT)


def lockstep(scene: Scene) -> Observed:
    """Several jobs write one file in order."""
    options = {**_SHORT, "numjobs": 4}
    return scene.run("write-throughput", target="file:/var/tmp/cephtui-lockstep", size="32M", **options)


def too_short(scene: Scene) -> Observed:
    """Three seconds."""
    return scene.run("write-iops", size="64M", **{**_SHORT, "runtime": 3})


def ramp_counted(scene: Scene) -> Observed:
    """The first seconds are in the figures."""
    return scene.run("write-iops", size="64M", **{**_SHORT, "ramp_time": 0})


def reads_that_end(scene: Scene) -> Observed:
    """Objects are read in order, and are all read long before the time is over."""
    return scene.run("read-throughput", size="8M", time_based=False, **{**_SHORT, "ramp_time": 0})
