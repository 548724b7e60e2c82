"""The tool ``rados-bench``."""

from __future__ import annotations

from cephtui.models.metrics import METRICS
from cephtui.tools.rados_bench.command import RadosBenchWorkload
from cephtui.tools.rados_bench.options import RadosBenchOptions
from cephtui.tools.tool import Tool

_NOT_PRINTED = {f"latency_{percentile}_seconds" for percentile in ("p50", "p95", "p99", "p999")}


class RadosBench(Tool):
    """rados bench writes and reads a pool's objects, and nothing else."""

    Options, Workload = RadosBenchOptions, RadosBenchWorkload
    name, title = "rados-bench", "rados bench"
    program, package = "rados", "ceph-common"
    version_argv = ("rados", "--version")
    ships_with_ceph = True
    kinds = frozenset({"pool"})
    metrics = tuple(metric for metric in METRICS if metric.name not in _NOT_PRINTED)
    other_kinds = "rados bench measures a pool's objects: use --target pool:POOL"
    accepted_targets = "a pool"
    depth_option = "concurrent-ios"
    load_options = frozenset(("mode", "block-size", "concurrent-ios"))
    described = frozenset(("mode", "runtime", "concurrent-ios", "block-size"))
