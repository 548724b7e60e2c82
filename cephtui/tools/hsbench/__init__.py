"""The tool ``hsbench``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.hsbench import options as allowed
from cephtui.tools.hsbench.command import HsbenchWorkload
from cephtui.tools.options import fields

_VERSION = '"$0" -a - -s - -u - -m "" -z 1B 2>&1 | sed -n "s/.*S3 Benchmark Version /hsbench /p"'
"""It has no option for that; without an operation it prints it and ends."""


class Hsbench(Tool):
    """hsbench writes, lists, reads and deletes S3 objects, one operation after the other, from many threads."""

    name = title = program = "hsbench"
    package = ""
    version_argv = ("sh", "-c", _VERSION, "hsbench")
    kinds = frozenset({"s3"})
    other_kinds = "hsbench measures S3: use --target s3:http://HOST:PORT"
    wants = "an S3 endpoint"
    has_seconds = False  # those of one operation after the other are no spread, and its end is no step
    depth_option = "threads"
    load_options = frozenset(("modes", "threads", "size", "runtime"))
    secrets = ("access key", "secret key")
    how_to_install = "build it from github.com/markhpc/hsbench, and name its path in [programs] of the config"
    described = frozenset(("modes", "threads", "size", "runtime"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.HsbenchOptions, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> HsbenchWorkload:
        return HsbenchWorkload(options)
