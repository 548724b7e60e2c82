"""The tool ``dd``."""

from __future__ import annotations

from cephtui.models.metrics import BY_NAME
from cephtui.tools.dd.command import DdWorkload
from cephtui.tools.dd.options import DdOptions
from cephtui.tools.tool import Tool


class Dd(Tool):
    """dd copies one stream, a block after the other: what many measure with first."""

    Options, Workload = DdOptions, DdWorkload
    name = title = program = "dd"
    package = "coreutils"
    version_argv = ("bash", "-c", "dd --version | head -n 1")
    kinds = frozenset({"file", "device"})
    other_kinds = "dd reads and writes files, and reads devices: use --target file:PATH or device:PATH"
    accepted_targets = "a file, or a device to read"
    metrics = (BY_NAME["iops"], BY_NAME["bandwidth_bytes"])
    direction_option = "mode"
    size_option = "size"
    described = frozenset(("mode", "bs", "direct"))
