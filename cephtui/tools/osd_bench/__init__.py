"""The tool ``osd-bench``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.models.metrics import BY_NAME
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.options import fields
from cephtui.tools.osd_bench import options as allowed
from cephtui.tools.osd_bench.command import OsdBenchWorkload


class OsdBench(Tool):
    """``ceph tell osd.N bench`` has an OSD write to its own store: no network, no copies."""

    name, title = "osd-bench", "OSD bench"
    program, package = "ceph", "ceph-common"
    version_argv = ("rados", "--version")
    """ceph itself would take eight times as long to report the same."""
    of_ceph = True
    kinds = frozenset({"osd"})
    other_kinds = "OSD bench measures OSDs: use --target 'osd:*', osd:N, osd:host=NAME or osd:class=NAME"
    wants = "OSDs"
    metrics = (BY_NAME["iops"], BY_NAME["bandwidth_bytes"])
    has_seconds = False
    """Between two portions an OSD removes what it has written."""
    described = frozenset(("block-size", "runtime", "together"))
    load_options = frozenset(("block-size", "together"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.OsdBenchOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> OsdBenchWorkload:
        return OsdBenchWorkload(options)
