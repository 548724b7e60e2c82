"""The tool ``ioping``."""

from __future__ import annotations

from cephtui.tools.ioping.command import IopingWorkload
from cephtui.tools.ioping.options import IopingOptions
from cephtui.tools.tool import Tool


class Ioping(Tool):
    """ioping reads a little of a file or device now and then, and times each request."""

    Options, Workload = IopingOptions, IopingWorkload
    name = title = program = package = "ioping"
    version_argv = ("ioping", "-v")
    minimum_version = (1, 3)
    """The oldest that was tried: those before print other columns."""
    kinds = frozenset({"file", "device"})
    other_kinds = "ioping reads files and devices: use --target file:PATH or device:PATH"
    accepted_targets = "a file or a device"
    size_option = "work-size"
    described = frozenset(("runtime", "interval", "size", "linear"))
    load_options = frozenset(("size", "interval"))
