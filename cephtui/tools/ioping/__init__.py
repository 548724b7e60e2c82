"""The tool ``ioping``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.ioping import options as allowed
from cephtui.tools.ioping.command import IopingWorkload
from cephtui.tools.options import fields

MINIMUM_VERSION = (1, 3)
"""The oldest that was tried: those before print other columns."""


class Ioping(Tool):
    """ioping reads a little of a file or device now and then, and times each request."""

    name = title = program = package = "ioping"
    version_argv = ("ioping", "-v")
    kinds = frozenset({"file", "device"})
    other_kinds = "ioping reads files and devices: use --target file:PATH or device:PATH"

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.IopingOptions, allowed.ABOUT)

    def bind(self, options: dict[str, OptionValue]) -> IopingWorkload:
        return IopingWorkload(options)

    def check_version(self, text: str | None) -> str | None:
        if not text or not text.strip():
            return super().check_version(text)
        match = re.search(r"(\d+)\.(\d+)", text)
        if not match or (int(match[1]), int(match[2])) < MINIMUM_VERSION:
            wanted = ".".join(map(str, MINIMUM_VERSION))
            return f"{text.strip()} is too old: install ioping {wanted} or later (apt-get install ioping)"
        return None
