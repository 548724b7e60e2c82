"""What is known of a cluster's ceilings now, and what is missing of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cephtui.analysis.detectors.ceiling import ClusterRecords, one_in_flight
from cephtui.analysis.detectors.osd_limit import osd_rates
from cephtui.analysis.detectors.records import (
    ClusterNow,
    blocks_missing,
    is_latency_known,
    known_ceilings,
    nodes_to_reach,
)
from cephtui.analysis.runs.links import cluster_links, nics_of
from cephtui.cli.commands.ceilings import Part, parts_missing
from cephtui.models import HostNics, Run
from cephtui.models.nodes import OsdRates
from tests.support.golden import Golden
from tests.unit.analysis.detectors.test_ceiling import CLUSTER, NIC, alone, benched, wrote
from tests.unit.analysis.runs.test_links import GBIT, TRIANGLE, link_run, of_hosts, one_way

BLOCKS = (4 << 20, 4096)
DISKS = {"0": "pve1 sda", "1": "pve1 sdb", "2": "pve1 sdc"}


def now(hours: float = 1.0, **changes: Any) -> ClusterNow:
    """Some hours after the ninth run, with three nodes."""
    hosts = {"a": "pve1", "b": "pve2", "c": "pve3.example.net"}
    nics = {name: nics_of(NIC) for name in ("pve1", "pve2", "pve3")}
    usual = {"fsid": "f", "at": wrote(9).started_at + timedelta(hours=hours), "hosts": hosts, "nics": nics, "disks": {}}
    return ClusterNow(**{**usual, **changes})


def rates(run: Run) -> OsdRates:
    measured = osd_rates(run)
    assert measured
    return measured


def records(*links: Run, osds: tuple[OsdRates, ...] = (), latency: Run | None = None) -> ClusterRecords:
    kept = one_in_flight(latency) if latency else None
    all_links = tuple(link for run in links for link in cluster_links(of_hosts(run)))
    return ClusterRecords(all_links, osds, (kept,) if kept else ())


LARGE, SMALL = rates(benched(2, 1e8, 2e8, 3e8)), rates(benched(3, 4e6, 5e6, 6e6, block="4k"))
ONE = alone(4, 0.002, cluster=CLUSTER)


def test_each_link_and_osd_is_shown_as_it_was_measured_last(golden: Golden) -> None:
    rows = known_ceilings(records(*TRIANGLE, one_way(7, "a", "b", 0.5 * GBIT), osds=(LARGE, SMALL), latency=ONE), now())
    assert [row.limit for row in rows] == ["network"] * 6 + ["OSDs"] * 6 + ["depth"]
    golden.same([f"{row.what}: {row.value:g} ({row.figure}, #{row.run})" for row in rows])
    assert {row.why_unused for row in rows} == {""}


def test_what_counts_no_more_says_why() -> None:
    other = {name: HostNics(bits_per_second={"x": 1}) for name in ("pve1", "pve2", "pve3")}
    kept = records(*TRIANGLE, osds=(LARGE,), latency=ONE)
    late = known_ceilings(kept, now(48, nics={}))
    assert {row.limit: row.why_unused.partition(",")[0] for row in late} == {
        "network": "more than 24 h before", "OSDs": "more than 24 h before", "depth": "more than 24 h before"
    }  # fmt: skip
    changed = known_ceilings(kept, now(1, nics=other, disks={**DISKS, "1": "pve1 sdx"}))
    assert {row.limit: row.why_unused for row in changed} == {
        "network": "before a NIC changed", "OSDs": "before a disk changed", "depth": ""
    }  # fmt: skip


def test_the_nodes_to_which_a_link_is_missing() -> None:
    assert nodes_to_reach(records(*TRIANGLE), now()) == []
    assert nodes_to_reach(records(*TRIANGLE), now(1000)) == [], "the NICs are the same"
    assert nodes_to_reach(records(*TRIANGLE[1:]), now()) == ["a"], "b to a was not measured"
    assert nodes_to_reach(records(), now()) == ["b", "c", "a"]
    assert nodes_to_reach(records(), now(hosts={"a": "pve1", "b": "pve1"})) == [], "of one host"
    apart = now(disks={"0": "pve1 sda", "1": "pve3 sda"})
    assert nodes_to_reach(records(*TRIANGLE), apart, "cluster") == ["c", "a"], "b has no OSDs"
    own = [link_run(7, "a", "c", network="cluster"), link_run(8, "c", "a", network="cluster")]
    assert nodes_to_reach(records(*own), apart, "cluster") == []


def test_the_blocks_that_not_all_osds_have_written() -> None:
    assert blocks_missing(records(osds=(LARGE,)), now(), BLOCKS) == [4096]
    assert blocks_missing(records(osds=(LARGE, SMALL)), now(disks=DISKS), BLOCKS) == []
    assert blocks_missing(records(osds=(LARGE, SMALL)), now(disks={**DISKS, "3": "pve2 sda"}), BLOCKS) == [*BLOCKS]
    assert blocks_missing(records(osds=(LARGE, SMALL)), now(30), BLOCKS) == [*BLOCKS]


def test_one_in_flight_is_known_of_a_target_and_its_nodes() -> None:
    kept, of_one = records(latency=ONE), now(hosts={"pve1": "pve1"})
    assert is_latency_known(kept, of_one, "latency", "rbd:bench")
    assert not is_latency_known(kept, of_one, "latency", "rbd:other")
    assert not is_latency_known(kept, now(), "latency", "rbd:bench"), "from other nodes"
    assert not is_latency_known(kept, now(30, hosts={"pve1": "pve1"}), "latency", "rbd:bench")


def test_only_what_is_missing_is_measured(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    assert list(parts_missing(records(), now(), "rbd:bench")) == [
        Part("network", ({"runtime": 3},), ("b", "c", "a")),
        Part("latency", ({"runtime": 15},), ("rbd:bench",)),
        Part("osd-write", ({"block-size": "4M", "runtime": 15}, {"block-size": "4k", "runtime": 15}), ("*",), True),
    ]
    of_own_network = now(disks={"0": "pve1 sda", "1": "pve2 sda"}, networks_apart=True)
    assert next(parts_missing(records(*TRIANGLE), of_own_network, None)) == Part(
        "network", ({"runtime": 3, "network": "cluster"},), ("b", "a"), True, ("a", "b")
    )
    assert list(parts_missing(records(*TRIANGLE, osds=(LARGE, SMALL)), now(networks_apart=True), None)) == []
    all_known = records(*TRIANGLE, osds=(LARGE, SMALL), latency=ONE)
    assert list(parts_missing(all_known, now(), None)) == []
    assert list(parts_missing(all_known, now(hosts={"pve1": "pve1"}), "rbd:bench")) == []
    golden.same(capsys.readouterr().err)
