"""The tool ``gosbench``."""

from __future__ import annotations

from types import MappingProxyType

from cephtui.tools.gosbench.command import GosbenchWorkload
from cephtui.tools.gosbench.options import WEIGHTS, GosbenchOptions
from cephtui.tools.tool import Tool

_VERSION = """
for place in "$1" $(echo "$PATH" | tr : ' ') ~/go/bin; do
    [ -x "$place/server" ] && [ -x "$place/worker" ] || continue
    "$place/worker" -h 2>&1 </dev/null | grep -q 'Gosbench Server IP and Port' || continue
    grep -q usePathStyle "$place/worker" && version='0.7 or later' || version='0.6 or older'
    echo "gosbench $version in $place"
    exit 0
done
"""
"""gosbench does not print its version; the name of an option came with 0.7."""


class Gosbench(Tool):
    """gosbench puts, gets, lists and deletes objects of an S3 service, from a worker on each node."""

    Options, Workload = GosbenchOptions, GosbenchWorkload
    name = title = program = "gosbench"
    package = ""
    version_argv = ("bash", "-c", _VERSION, "bash", "gosbench")
    minimum_version = (0, 7)
    """The first that can be made to use path style."""
    kinds = frozenset({"s3"})
    other_kinds = "gosbench measures an S3 service: use --target s3:ENDPOINT"
    accepted_targets = "an S3 service"
    pauses = MappingProxyType({"delete": "gosbench may have written deleted objects again"})
    depth_option = "parallel_clients"
    load_options = frozenset(("size_min", "parallel_clients", "objects"))
    secrets = ("access key", "secret key")
    described = frozenset((*WEIGHTS, "size_min", "size_max", "parallel_clients", "runtime", "stop_with_ops"))

    @property
    def how_to_install(self) -> str:
        """There is no package of it: it is built."""
        built = "go install github.com/mulbc/gosbench/server@latest github.com/mulbc/gosbench/worker@latest"
        return f"{built}, and name the directory of both in the config: programs.gosbench"

    def short_command(self, command: str) -> str:
        """The command without the program that comes with it, and with what differs in its config from run to run."""
        from cephtui.tools.gosbench.command import short_config

        return f"gosbench {short_config(command.rpartition(' ')[2])}"
