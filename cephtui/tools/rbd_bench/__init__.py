"""The tool ``rbd-bench``."""

from __future__ import annotations

from cephtui.models.metrics import METRICS
from cephtui.tools.rbd_bench.command import RbdBenchWorkload
from cephtui.tools.rbd_bench.options import RbdBenchOptions
from cephtui.tools.tool import Tool


class RbdBench(Tool):
    """rbd bench writes and reads an image through librbd, one process on each node."""

    Options, Workload = RbdBenchOptions, RbdBenchWorkload
    name, title = "rbd-bench", "rbd bench"
    program, package = "rbd", "ceph-common"
    version_argv = ("rbd", "--version")
    minimum_version = (16, 2)
    """The oldest that was tried: some before print nothing into a pipe until they end."""
    ships_with_ceph = True
    kinds = frozenset({"rbd"})
    metrics = tuple(metric for metric in METRICS if metric.unit != "s")
    other_kinds = "rbd bench always uses a whole image, so it needs its own: use --target rbd:POOL"
    accepted_targets = "a pool for images"
    depth_option = "io-threads"
    direction_option = "io-type"
    size_option = "size"
    load_options = frozenset(("io-type", "io-size", "io-threads", "io-pattern", "rbd-cache"))
    described = frozenset(("io-type", "runtime", "io-size", "io-threads", "io-pattern", "rw-mix-read", "rbd-cache"))
