"""What was measured of a cluster in any session: what of it would count for a run that begins now. Pure.

Of several measurements of one thing the newest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import permutations

from cephtui import units
from cephtui.analysis.detectors.bounds import Network
from cephtui.analysis.detectors.ceiling import ClusterRecords
from cephtui.analysis.detectors.network import VALID_FOR, short_name, why_unusable
from cephtui.analysis.detectors.osd_limit import LARGE_BLOCK, is_valid
from cephtui.analysis.runs.batches import node_names
from cephtui.analysis.runs.facts import load_of
from cephtui.frozen import dataclass
from cephtui.models import HostNics
from cephtui.models.nodes import OsdRates
from cephtui.models.rows import KnownCeiling

_OLD = "more than 24 h before"


@dataclass(frozen=True, slots=True)
class ClusterNow:
    """What a measurement is compared with, to know whether it still holds."""

    fsid: str
    at: datetime
    hosts: Mapping[str, str]
    """The name of the host of each node."""
    nics: Mapping[str, HostNics | None]
    """By host, in its short form."""
    disks: Mapping[str, str]
    """By OSD, as in a ClusterEnvironment."""
    networks_apart: bool = False
    """Whether OSDs reach each other over another network than clients."""

    @property
    def nodes_with_osds(self) -> list[str]:
        """The nodes on the hosts of OSDs."""
        with_osds = {short_name(disk.partition(" ")[0]) for disk in self.disks.values()}
        return [node for node, host in self.hosts.items() if short_name(host) in with_osds]


def known_ceilings(records: ClusterRecords, now: ClusterNow) -> list[KnownCeiling]:
    """A row for the newest measurement of each link, OSD and block size, and of one I/O in flight."""
    rows = [*_of_links(records, now), *_of_osds(records, now), *_of_one_in_flight(records, now)]
    newest = {(row.limit, row.what): row for row in sorted(rows, key=lambda row: row.measured_at)}
    return sorted(newest.values(), key=lambda row: (("network", "OSDs", "depth").index(row.limit), row.what))


def _of_links(records: ClusterRecords, now: ClusterNow) -> Iterator[KnownCeiling]:
    for link in records.links:
        yield KnownCeiling(
            fsid=now.fsid,
            limit="network",
            what=f"{link.source} to {link.destination}, {link.network} network",
            figure="bandwidth_bytes",
            value=link.bandwidth_bytes,
            measured_at=link.measured_at,
            session=link.session,
            run=link.run,
            why_unused=why_unusable(link, now.at, now.nics),
        )


def _of_osds(records: ClusterRecords, now: ClusterNow) -> Iterator[KnownCeiling]:
    for rates in records.osds:
        together = ", all together" if rates.together else ""
        for osd, rate in rates.rates.items():
            value = rate.bandwidth_bytes if rates.block_bytes >= LARGE_BLOCK else rate.iops
            if value is not None:
                yield KnownCeiling(
                    fsid=now.fsid,
                    limit="OSDs",
                    what=f"osd.{osd}, {units.size(rates.block_bytes)} writes{together}",
                    figure="bandwidth_bytes" if rates.block_bytes >= LARGE_BLOCK else "iops",
                    value=value,
                    measured_at=rates.measured_at,
                    session=rates.session,
                    run=rates.run,
                    why_unused=_why_no_rates(rates, now),
                )


def _why_no_rates(rates: OsdRates, now: ClusterNow) -> str:
    if is_valid(rates, now.at, now.disks):
        return ""
    return _OLD if now.at - rates.measured_at > VALID_FOR else "before a disk changed"


def _of_one_in_flight(records: ClusterRecords, now: ClusterNow) -> Iterator[KnownCeiling]:
    for run in records.alone:
        load = load_of(run)
        for flow, total in run.summary.flows.items():
            if load and total.latency_mean_seconds is not None:
                what = f"{load.pattern} {units.short_size(load.block_bytes)} on {run.target}"
                yield KnownCeiling(
                    fsid=now.fsid,
                    limit="depth",
                    what=f"{what} from {', '.join(node_names(run))}, {flow} with one in flight",
                    figure="latency_mean_seconds",
                    value=total.latency_mean_seconds,
                    measured_at=run.started_at,
                    session=run.session,
                    run=run.run,
                    why_unused=_OLD if now.at - run.started_at > VALID_FOR else "",
                )


# ---------------------------------------------------------------------------------------------- what is missing


def nodes_to_reach(records: ClusterRecords, now: ClusterNow, network: Network = "public") -> list[str]:
    """The nodes to which a link from another node is not known; in the cluster network those with OSDs."""
    valid = {
        (short_name(link.source), short_name(link.destination))
        for link in records.links
        if link.network == network and not why_unusable(link, now.at, now.nics)
    }
    nodes = now.hosts if network == "public" else now.nodes_with_osds
    hosts = {node: short_name(now.hosts[node]) for node in nodes}
    pairs = [(near, far) for near, far in permutations(hosts, 2) if hosts[near] != hosts[far]]
    return list(dict.fromkeys(far for near, far in pairs if (hosts[near], hosts[far]) not in valid))


def blocks_missing(records: ClusterRecords, now: ClusterNow, blocks: Sequence[int]) -> list[int]:
    """The block sizes in which not all OSDs have written to their own stores."""
    valid = [rates for rates in records.osds if is_valid(rates, now.at, now.disks)]
    measured = {rates.block_bytes for rates in valid if now.disks.keys() <= rates.rates.keys()}
    return [block for block in blocks if block not in measured]


def is_latency_known(records: ClusterRecords, now: ClusterNow, preset: str, target: str) -> bool:
    """Whether one I/O in flight was measured with a preset on a target, from these nodes."""
    return any(
        (run.preset, run.target) == (preset, target)
        and set(node_names(run)) == set(now.hosts)
        and now.at - run.started_at <= VALID_FOR
        for run in records.alone
    )
