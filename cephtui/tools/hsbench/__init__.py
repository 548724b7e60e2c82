"""The tool ``hsbench``."""

from __future__ import annotations

from cephtui.tools.hsbench.command import HsbenchWorkload
from cephtui.tools.hsbench.options import HsbenchOptions
from cephtui.tools.tool import Tool

_VERSION = '"$0" -a - -s - -u - -m "" -z 1B 2>&1 | sed -n "s/.*S3 Benchmark Version /hsbench /p"'
"""It has no option for that; without an operation it prints it and ends."""


class Hsbench(Tool):
    """hsbench writes, lists, reads and deletes S3 objects, one operation after the other, from many threads."""

    Options, Workload = HsbenchOptions, HsbenchWorkload
    name = title = program = "hsbench"
    package = ""
    version_argv = ("sh", "-c", _VERSION, "hsbench")
    kinds = frozenset({"s3"})
    other_kinds = "hsbench measures S3: use --target s3:http://HOST:PORT"
    accepted_targets = "an S3 endpoint"
    has_seconds = False  # those of one operation after the other are no spread, and its end is no step
    depth_option = "threads"
    load_options = frozenset(("modes", "threads", "size", "runtime"))
    secrets = ("access key", "secret key")
    how_to_install = "build it from github.com/markhpc/hsbench, and name its path in [programs] of the config"
    described = frozenset(("modes", "threads", "size", "runtime"))
