"""The tool ``rados-bench``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.options import fields
from cephtui.tools.rados_bench import options as allowed
from cephtui.tools.rados_bench.command import RadosBenchWorkload


class RadosBench(Tool):
    """rados bench writes and reads a pool's objects, and nothing else."""

    name, title = "rados-bench", "rados bench"
    program, package = "rados", "ceph-common"
    version_argv = ("rados", "--version")
    of_ceph = True
    kinds = frozenset({"pool"})
    other_kinds = "rados bench measures a pool's objects: use --target pool:POOL"

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.RadosBenchOptions, allowed.ABOUT)

    def bind(self, options: dict[str, OptionValue]) -> RadosBenchWorkload:
        return RadosBenchWorkload(options)
