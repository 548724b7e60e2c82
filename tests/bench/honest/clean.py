"""Clean runs: nothing is done to the lab, and what is said against their figures is invented or has a cause."""

from __future__ import annotations

from typing import Any

from cephtui.frozen import dataclass
from tests.bench.honest.judging import Observed
from tests.bench.honest.scene import Scene

_ALL = ("lab",)
_FIO: dict[str, Any] = {"size": "64M", "numjobs": 1, "ramp_time": 2}
_FILE = "file:/var/tmp/cephtui-clean"


@dataclass(frozen=True)
class Shape:
    """A kind of run, and the findings that are true of it by how it is made."""

    preset: str
    options: dict[str, Any]
    target: str = ""
    """Empty for images in the lab's pool."""
    nodes: tuple[str, ...] = ("lab1",)
    expected: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "three nodes" if self.nodes == _ALL else "one node"
        return f"{self.preset}, {self.target or 'rbd'}, {where}, {self.options['runtime']} s"


SHAPES = (
    Shape("write-iops", {**_FIO, "runtime": 15, "iodepth": 16}),
    Shape("read-iops", {**_FIO, "runtime": 12, "size": "128M"}),
    Shape("latency", {**_FIO, "runtime": 10, "rw": "randwrite"}),
    Shape("mixed-75-25", {**_FIO, "runtime": 15, "iodepth": 16}),
    Shape("write-throughput", {**_FIO, "runtime": 10, "size": "128M", "iodepth": 8}),
    Shape("rados-write", {"runtime": 12, "block-size": "256k"}, target="pool:bench"),
    Shape("write-iops", {**_FIO, "runtime": 20, "iodepth": 8}, nodes=_ALL),
    Shape("read-iops", {**_FIO, "runtime": 10, "iodepth": 4}, _FILE),
    Shape("rbd-bench-write", {"runtime": 12}),
    Shape("mixed-75-25", {**_FIO, "runtime": 10, "iodepth": 8}, nodes=_ALL),
    Shape("ping", {"runtime": 10, "work-size": "16M"}, _FILE),
    Shape("latency", {**_FIO, "runtime": 10, "rw": "randread"}, nodes=_ALL),
    Shape("write-iops", {**_FIO, "runtime": 6, "iodepth": 4}, expected=("short",)),
    Shape("read-throughput", {**_FIO, "runtime": 10, "size": "128M", "iodepth": 4}),
    Shape("write-iops", {**_FIO, "runtime": 40, "iodepth": 16}),
    Shape("sync-latency", {**_FIO, "runtime": 10}, _FILE),
    Shape("rados-write", {"runtime": 15, "block-size": "64k"}, target="pool:bench", nodes=_ALL),
    Shape("read-iops", {**_FIO, "runtime": 30, "iodepth": 16}, nodes=_ALL),
    Shape("write-iops", {**_FIO, "runtime": 15, "rate_iops": 100}),
    Shape("write-throughput", {**_FIO, "runtime": 10, "iodepth": 2}, nodes=_ALL),
)
"""In this order, again and again: 20 of them take 7 minutes."""


def shape_of(number: int) -> Shape:
    """That of a clean run, by its number from 1 on."""
    return SHAPES[(number - 1) % len(SHAPES)]


def run(shape: Shape, scene: Scene) -> Observed:
    """It to its end."""
    return scene.run(shape.preset, on=shape.nodes, target=shape.target, **shape.options)
