"""The tool ``load-gen``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.models.metrics import METRICS
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.load_gen import options as allowed
from cephtui.tools.load_gen.command import LoadGenWorkload
from cephtui.tools.options import fields


class LoadGen(Tool):
    """rados load-gen reads and writes pieces of some objects, at a rate that it is given."""

    name, title = "load-gen", "rados load-gen"
    program, package = "rados", "ceph-common"
    version_argv = ("rados", "--version")
    minimum_version = (16, 2)
    """The oldest that was tried: some before take target-throughput as MB."""
    of_ceph = True
    kinds = frozenset({"new-pool"})
    metrics = tuple(metric for metric in METRICS if metric.unit != "s")
    other_kinds = (
        "rados load-gen leaves its objects among others, so it gets a pool of its own: use --target new-pool:size=3"
    )
    wants = "a new pool"
    depth_option = "max-ops"
    described = frozenset(("target-throughput", "runtime", "read-percent", "max-op-len", "max-ops"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.LoadGenOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> LoadGenWorkload:
        return LoadGenWorkload(options)
