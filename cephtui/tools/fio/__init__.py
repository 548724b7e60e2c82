"""The tool ``fio``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from cephtui.tools.fio.command import FioWorkload
from cephtui.tools.fio.options import DEFAULTS, FLAGS, FioOptions
from cephtui.tools.tool import Tool

if TYPE_CHECKING:
    from cephtui.models import OptionValue

_CUT = re.compile(r"[#;\x7f]| $")
"""Where fio ends an option's value without a word, and would then write to the file of the shorter name."""
_IMAGE_SECTION = re.compile(r" --name=\S+ --rbdname=\S+(?: --size=\S+)?")


class Fio(Tool):
    """fio measures files, block devices and RBD images."""

    Options, Workload = FioOptions, FioWorkload
    name = title = program = package = "fio"
    version_argv = ("fio", "--version")
    minimum_version = (3, 1)
    """The first with ``clat_ns`` bins in json+ and working status intervals."""
    kinds = frozenset({"file", "device", "rbd", "image"})
    other_kinds = "fio measures images, not a pool's objects: use --target rbd:POOL"
    accepted_targets = "a file, a device or images"
    depth_option, jobs_option, direction_option = "iodepth", "numjobs", "rw"
    ramp_option = "ramp_time"
    load_options = frozenset(("rw", "bs", "iodepth", "numjobs"))
    latency = "clat"
    latency_about = "from submission to completion"
    why_fitted = MappingProxyType(
        {
            **dict.fromkeys(("numjobs", "iodepth"), "one job uses one image, with all I/Os in flight"),
            "ioengine": "images use rbd",
            "direct": "without direct=1, librbd uses its own cache",
        }
    )
    size_option = "size"
    described = frozenset(("rw", "bs", "iodepth", "numjobs", "time_based", "runtime"))

    def unusual(self, options: Mapping[str, OptionValue], edited: Collection[str] = ()) -> dict[str, OptionValue]:
        """The unusual options; for an image not its engine, as there is no other."""
        options_to_name = super().unusual(options, edited)
        return {name: value for name, value in options_to_name.items() if (name, value) != ("ioengine", "rbd")}

    def default_text(self, option: str, options: Mapping[str, OptionValue]) -> str | None:
        """fio's JSON leaves out options without a value: where such is all that there is, these are not known."""
        if option in FLAGS and "group_reporting" not in options:
            return None
        return DEFAULTS.get(option, "default")

    def check_path(self, path: str) -> str | None:
        return "fio can't use a path that contains # or ; or ends with a blank" if _CUT.search(path) else None

    def short_command(self, command: str) -> str:
        """The command with the first of the sections for many images, and the number of the others."""
        sections = _IMAGE_SECTION.findall(command)
        if len(sections) < 3:
            return command
        for section in sections[1:]:
            command = command.replace(section, "", 1)
        return f"{command}  (and {len(sections) - 1} more images)"
