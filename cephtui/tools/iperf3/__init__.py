"""The tool ``iperf3``."""

from __future__ import annotations

from cephtui.models.metrics import BY_NAME, RETRANSMITS, RTT
from cephtui.tools.iperf3.command import Iperf3Workload
from cephtui.tools.iperf3.options import Iperf3Options
from cephtui.tools.tool import Tool


class Iperf3(Tool):
    """iperf3 sends over TCP from one node to another, back, or both."""

    Options, Workload = Iperf3Options, Iperf3Workload
    name = title = program = package = "iperf3"
    version_argv = ("iperf3", "-v")
    minimum_version = (3, 12)
    """The oldest that was tried: those before have no ``--idle-timeout``, with which a server ends by itself."""
    kinds = frozenset({"host"})
    other_kinds = "iperf3 measures the network to another node: use --target host:NODE, or host:* for every pair"
    accepted_targets = "another node"
    metrics = (BY_NAME["bandwidth_bytes"], RETRANSMITS, RTT)
    measures_network = True
    jobs_option = "parallel"
    direction_option = "direction"
    described = frozenset(("runtime", "direction", "parallel", "network"))
    load_options = frozenset(("direction", "parallel", "runtime", "network"))
