"""The tool ``load-gen``."""

from __future__ import annotations

from cephtui.models.metrics import METRICS
from cephtui.tools.load_gen.command import LoadGenWorkload
from cephtui.tools.load_gen.options import LoadGenOptions
from cephtui.tools.tool import Tool


class LoadGen(Tool):
    """rados load-gen reads and writes pieces of some objects, at a rate that it is given."""

    Options, Workload = LoadGenOptions, LoadGenWorkload
    name, title = "load-gen", "rados load-gen"
    program, package = "rados", "ceph-common"
    version_argv = ("rados", "--version")
    minimum_version = (16, 2)
    """The oldest that was tried: some before take target-throughput as MB."""
    ships_with_ceph = True
    kinds = frozenset({"new-pool"})
    metrics = tuple(metric for metric in METRICS if metric.unit != "s")
    other_kinds = "rados load-gen leaves its objects behind, so it needs its own pool: use --target new-pool:size=3"
    accepted_targets = "a new pool"
    depth_option = "max-ops"
    described = frozenset(("target-throughput", "runtime", "read-percent", "max-op-len", "max-ops"))
