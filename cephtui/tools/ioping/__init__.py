"""The tool ``ioping``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.ioping import options as allowed
from cephtui.tools.ioping.command import IopingWorkload
from cephtui.tools.options import fields


class Ioping(Tool):
    """ioping reads a little of a file or device now and then, and times each request."""

    name = title = program = package = "ioping"
    version_argv = ("ioping", "-v")
    minimum_version = (1, 3)
    """The oldest that was tried: those before print other columns."""
    kinds = frozenset({"file", "device"})
    other_kinds = "ioping reads files and devices: use --target file:PATH or device:PATH"
    wants = "a file or a device"
    size_option = "work-size"
    described = frozenset(("runtime", "interval", "size", "linear"))
    load_options = frozenset(("size", "interval"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.IopingOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> IopingWorkload:
        return IopingWorkload(options)
