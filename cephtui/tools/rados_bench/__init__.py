"""The tool ``rados-bench``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.models.metrics import METRICS
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.options import fields
from cephtui.tools.rados_bench import options as allowed
from cephtui.tools.rados_bench.command import RadosBenchWorkload

_NOT_PRINTED = {f"latency_{percentile}_seconds" for percentile in ("p50", "p95", "p99", "p999")}


class RadosBench(Tool):
    """rados bench writes and reads a pool's objects, and nothing else."""

    name, title = "rados-bench", "rados bench"
    program, package = "rados", "ceph-common"
    version_argv = ("rados", "--version")
    of_ceph = True
    kinds = frozenset({"pool"})
    metrics = tuple(metric for metric in METRICS if metric.name not in _NOT_PRINTED)
    other_kinds = "rados bench measures a pool's objects: use --target pool:POOL"
    wants = "a pool"
    depth_option = "concurrent-ios"
    load_options = frozenset(("mode", "block-size", "concurrent-ios"))
    described = frozenset(("mode", "runtime", "concurrent-ios", "block-size"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.RadosBenchOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> RadosBenchWorkload:
        return RadosBenchWorkload(options)
