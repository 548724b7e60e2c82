"""The tool ``iperf3``."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.models import OptionValue
from cephtui.models.metrics import BY_NAME, RETRANSMITS, RTT
from cephtui.tools.base import OptionField, Tool
from cephtui.tools.iperf3 import options as allowed
from cephtui.tools.iperf3.command import Iperf3Workload
from cephtui.tools.options import fields


class Iperf3(Tool):
    """iperf3 sends over TCP from one node to another, back, or both."""

    name = title = program = package = "iperf3"
    version_argv = ("iperf3", "-v")
    minimum_version = (3, 12)
    """The oldest that was tried: those before have no ``--idle-timeout``, with which a server ends by itself."""
    kinds = frozenset({"host"})
    other_kinds = "iperf3 measures the network to another node: use --target host:NODE, or host:* for every pair"
    wants = "another node"
    metrics = (BY_NAME["bandwidth_bytes"], RETRANSMITS, RTT)
    of_links = True
    jobs_option = "parallel"
    direction_option = "direction"
    described = frozenset(("runtime", "direction", "parallel", "network"))
    load_options = frozenset(("direction", "parallel", "runtime", "network"))

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        return allowed.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        return fields(allowed.Iperf3Options, allowed.ABOUT, allowed.TITLES)

    def bind(self, options: dict[str, OptionValue]) -> Iperf3Workload:
        return Iperf3Workload(options)
