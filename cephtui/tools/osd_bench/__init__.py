"""The tool ``osd-bench``."""

from __future__ import annotations

from cephtui.models.metrics import BY_NAME
from cephtui.tools.osd_bench.command import OsdBenchWorkload
from cephtui.tools.osd_bench.options import OsdBenchOptions
from cephtui.tools.tool import Tool


class OsdBench(Tool):
    """``ceph tell osd.N bench`` has an OSD write to its own store: no network, no copies."""

    Options, Workload = OsdBenchOptions, OsdBenchWorkload
    name, title = "osd-bench", "OSD bench"
    program, package = "ceph", "ceph-common"
    version_argv = ("rados", "--version")
    """ceph itself would take eight times as long to report the same."""
    ships_with_ceph = True
    kinds = frozenset({"osd"})
    other_kinds = "OSD bench measures OSDs: use --target 'osd:*', osd:N, osd:host=NAME or osd:class=NAME"
    accepted_targets = "OSDs"
    metrics = (BY_NAME["iops"], BY_NAME["bandwidth_bytes"])
    has_seconds = False
    """Between two portions an OSD removes what it has written."""
    described = frozenset(("block-size", "runtime", "together"))
    load_options = frozenset(("block-size", "together"))
