"""The links between nodes that a session has measured, each in one direction. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from cephtui.analysis.runs.batches import host_name, node_names
from cephtui.analysis.runs.facts import why_invalid
from cephtui.analysis.statistics.ratio import geometric_mean
from cephtui.frozen import dataclass
from cephtui.models import ClusterLink, HostNics, NodeEnvironment, Run, Total
from cephtui.models.findings.client import NETWORK_UNKNOWN
from cephtui.stats import mean_of_known
from cephtui.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Link:
    """A network link from one node to another."""

    network: str
    """``public``, ``cluster``; empty where an address was typed."""
    is_bidirectional: bool
    """Whether the other direction was loaded at the same time."""
    source: str
    destination: str
    bandwidth_bytes: float
    """The geometric mean of its runs."""
    retransmits: int | None
    """The most of any of its runs; None where they were not counted."""
    rtt_seconds: float | None
    """The mean of its runs; None where it is not known."""
    runs: tuple[int, ...]
    below_median: float = 0.0
    """The fraction below the median of like links, where it is the slowest of several; else 0."""
    is_slowest: bool = False

    @property
    def kind(self) -> tuple[str, bool]:
        """The network, and whether both directions were loaded: links of one kind are compared."""
        return self.network, self.is_bidirectional

    @property
    def ends(self) -> tuple[str, str]:
        """Source and destination."""
        return self.source, self.destination


def measures_links(run: Run) -> bool:
    """Whether a run measures a network link, and not data."""
    return run.tool in TOOLS and TOOLS[run.tool].measures_network


def links_of(runs: Iterable[Run]) -> list[Link]:
    """All links that were measured, in the order of their first runs; the slowest of each kind is marked."""
    totals_by_link: dict[tuple[str, bool, str, str], list[tuple[Run, Total]]] = {}
    for run in runs:
        if measures_links(run) and not why_invalid(run):
            for ends, total in _ends(run):
                totals_by_link.setdefault((*_kind(run), *ends), []).append((run, total))
    links = [_link(*key, measured) for key, measured in totals_by_link.items()]
    return [_marked(link, [other for other in links if other.kind == link.kind]) for link in links]


def _ends(run: Run) -> list[tuple[tuple[str, str], Total]]:
    """The totals that the measuring node sends and receives, with source and destination of each."""
    near = node_names(run)[0]
    far = next((name for name in run.environment if name != near), "")
    totals = (((near, far), run.summary.write), ((far, near), run.summary.read))
    return [(ends, total) for ends, total in totals if total and far]


def _kind(run: Run) -> tuple[str, bool]:
    far = [name for name in run.environment if name not in node_names(run)]
    is_typed = not run.target.endswith(tuple(far) or "")
    is_bidirectional = run.summary.read is not None and run.summary.write is not None
    return "" if is_typed else str(run.options.get("network", "")), is_bidirectional


def _link(
    network: str, is_bidirectional: bool, source: str, destination: str, measured: Sequence[tuple[Run, Total]]
) -> Link:
    totals = [total for _, total in measured]
    retransmits = [total.retransmits for total in totals if total.retransmits is not None]
    return Link(
        network,
        is_bidirectional,
        source,
        destination,
        geometric_mean([total.bandwidth_bytes or 0.0 for total in totals]) or 0.0,
        max(retransmits, default=None),
        mean_of_known(total.rtt_seconds for total in totals),
        tuple(run.run for run, _ in measured),
    )


def _marked(link: Link, links_of_kind: Sequence[Link]) -> Link:
    rates = [other.bandwidth_bytes for other in links_of_kind]
    if len(rates) < 2 or link.bandwidth_bytes > min(rates):
        return link
    middle = median(rates)
    return replace(link, is_slowest=True, below_median=1 - link.bandwidth_bytes / middle if middle else 0.0)


def cluster_links(run: Run) -> list[ClusterLink]:
    """The links that a run has measured one direction at a time, between hosts by their own names, with their NICs.

    A link at an address that was typed, or of which no network is known, may be in any network: it is none.
    """
    is_placed = not any(finding.code == NETWORK_UNKNOWN.code for finding in run.findings)
    return [
        ClusterLink(
            source=host_name(run, link.source),
            destination=host_name(run, link.destination),
            network=link.network,
            bandwidth_bytes=link.bandwidth_bytes,
            session=run.session,
            run=run.run,
            measured_at=run.started_at,
            source_nics=nics_of(run.environment.get(link.source)),
            destination_nics=nics_of(run.environment.get(link.destination)),
        )
        for link in links_of([run])
        if is_placed and link.network and not link.is_bidirectional
    ]


def nics_of(environment: NodeEnvironment | None) -> HostNics | None:
    """The NICs of a node; None where nothing is known of them."""
    if environment is None or not (environment.nic_bits_per_second or environment.nic_mtu):
        return None
    return HostNics(
        bits_per_second=environment.nic_bits_per_second,
        mtu=environment.nic_mtu,
        networks=environment.nic_networks,
        shaping=environment.nic_shaping,
    )
