"""The tool ``dd``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.models.metrics import BY_NAME
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.dd import options as allowed
from cephtui.tools.dd.command import DdWorkload
from cephtui.tools.options import fields


class Dd(Tool):
    """dd copies one stream, a block after the other: what many measure with first."""

    name = title = program = "dd"
    package = "coreutils"
    version_argv = ("bash", "-c", "dd --version | head -n 1")
    kinds = frozenset({"file", "device"})
    other_kinds = "dd reads and writes files, and reads devices: use --target file:PATH or device:PATH"
    wants = "a file, or a device to read"
    metrics = (BY_NAME["iops"], BY_NAME["bandwidth_bytes"])
    direction_option = "mode"
    size_option = "size"
    described = frozenset(("mode", "bs", "direct"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.DdOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> DdWorkload:
        return DdWorkload(options)
