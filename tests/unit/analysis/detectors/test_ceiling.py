"""What limits a run at the latest: the formulas against counted bytes, and what is said of a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from cephtui.analysis.detectors.bounds import Traffic, internal_bytes, network_bounds, placed_rate
from cephtui.analysis.detectors.ceiling import ceilings
from cephtui.cli.verbs import cli
from cephtui.models import (
    Ceiling,
    ClusterEnvironment,
    DiskUse,
    Finding,
    JobResult,
    MachineUse,
    NodeEnvironment,
    Run,
    Summary,
    Total,
)
from cephtui.reports.words.run import ceiling_lines, client_facts
from cephtui.units import parse_size
from tests.support.golden import Golden
from tests.support.runs import nodes, run, total

OBJECTS = 60_000
LINK = 10e9 / 8 * 0.94
CODINGS = {"size 2": (2, 1), "size 3": (3, 1), "EC 2+1": (3, 2), "EC 4+2": (6, 4)}
LAYOUTS = [(hosts, coding) for hosts in (3, 4, 8) for coding, (copies, _) in CODINGS.items() if copies <= hosts]


def counted(hosts: int, copies: int, chunks: int, clients: int, direction: str, *, apart: bool) -> float:
    """The rate at which the busiest link is full, by the bytes of each host and direction for objects placed at random.

    ``clients`` are on the first of the hosts; 0 are elsewhere.
    """
    random = np.random.default_rng(hosts * 100 + copies * 10 + clients)
    placed = np.argsort(random.random((OBJECTS, hosts)), axis=1)[:, :copies]
    primary, others = placed[:, 0], placed[:, 1:]
    client = random.integers(0, clients, OBJECTS) if clients else np.full(OBJECTS, -1)
    part = 1 / chunks
    public, own = np.zeros((2, hosts)), np.zeros((2, hosts))  # sent, received
    remote = client != primary
    to_primary = 1 if direction == "write" else 0
    np.add.at(public[to_primary], primary[remote], 1.0)
    if clients:
        np.add.at(public[1 - to_primary], client[remote], 1.0)
    partners = others if direction == "write" else others[:, : chunks - 1]
    for column in partners.T:
        np.add.at(own[1 - to_primary], column if direction == "read" else primary, part)
        np.add.at(own[to_primary], column if direction == "write" else primary, part)
    busiest = np.maximum(public, own).max() if apart else (public + own).max()
    return float(LINK * OBJECTS / busiest)


def rate(hosts: int, coding: tuple[int, int], clients: int, direction: str, *, apart: bool = False) -> float:
    """The least bound where all links have the same speed; ``clients`` as above."""
    copies, chunks = coding
    names = [f"pve{number}" for number in range(hosts)]
    traffic = Traffic(
        direction,
        tuple(names[:clients]) if clients else tuple(f"client{number}" for number in range(2 * hosts)),
        dict.fromkeys(names, 1 / hosts),
        internal_bytes(direction, copies, chunks),
        has_cluster_network=apart,
    )
    return min(bound.rate for bound in network_bounds(traffic, lambda *end: LINK))


@pytest.mark.parametrize("apart", [False, True], ids=["one network", "two networks"])
@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize(("hosts", "coding"), LAYOUTS, ids=str)
def test_the_network_is_full_when_its_busiest_link_is(hosts: int, coding: str, direction: str, apart: bool) -> None:
    copies, chunks = CODINGS[coding]
    for clients in (0, 1, 2, hosts):
        expected = counted(hosts, copies, chunks, clients, direction, apart=apart)
        assert rate(hosts, (copies, chunks), clients, direction, apart=apart) == pytest.approx(expected, rel=0.03)


EXAMPLES = [
    (3, "write", 3, 1, 3, 1.125),
    (3, "write", 3, 1, 1, 0.75),
    (3, "read", 3, 1, 1, 1.5),
    (3, "write", 3, 2, 1, 1.0),
    (3, "read", 3, 2, 1, 1.2),
]


@pytest.mark.parametrize(("hosts", "direction", "copies", "chunks", "clients", "links"), EXAMPLES)
def test_the_examples_of_three_hosts(
    hosts: int, direction: str, copies: int, chunks: int, clients: int, links: float
) -> None:
    assert rate(hosts, (copies, chunks), clients, direction) == pytest.approx(links * LINK)


@pytest.mark.parametrize(
    ("direction", "clients", "slow", "rate", "full"),
    [
        ("write", "xy", {("x", "sends"): 1.0, ("y", "sends"): 2.0}, 3.0, ("x", "y")),
        ("write", "xyzw", {("x", "receives"): 1.0}, 10.0, ("a",)),
        ("read", "xy", {("x", "receives"): 1.0}, 11.0, ("x", "y")),
        ("read", "x", {("x", "sends"): 1.0}, 10.0, ("x",)),
        ("write", "xy", {("a", "receives"): 1.0}, 1.0, ("a",)),
        ("write", "xy", {("a", "sends"): 1.0}, 1.5, ("a",)),
        ("read", "xyzw", {("a", "sends"): 1.0}, 3.0, ("a",)),
        ("read", "x", {("a", "receives"): 1.0}, 10.0, ("x",)),
        ("write", "a", {("a", "sends"): 1.0}, 0.75, ("a",)),
        ("write", "a", {("a", "receives"): 1.0}, 1.5, ("a",)),
        ("read", "a", {("a", "receives"): 1.0}, 1.5, ("a",)),
        ("read", "a", {("a", "sends"): 1.0}, 15.0, ("a",)),
        ("write", "ab", {("a", "receives"): 1.0}, 1.5, ("a",)),
        ("read", "ab", {("a", "sends"): 1.0}, 18.0, ("a",)),
        ("write", "abc", {("b", "sends"): 1.0}, 1.5, ("b",)),
    ],
    ids=str,
)
def test_each_hop_counts_in_the_direction_that_the_load_uses(
    direction: str, clients: str, slow: Mapping[tuple[str, str], float], rate: float, full: tuple[str, ...]
) -> None:
    """Three OSD hosts, a to c, with size 3; links of 10 but for a slow one."""
    internal = internal_bytes(direction, 3)
    traffic = Traffic(direction, tuple(clients), dict.fromkeys("abc", 1 / 3), internal)
    bounds = network_bounds(traffic, lambda host, way, network: slow.get((host, way), 10.0))
    least = min(bounds, key=lambda bound: bound.rate)
    assert least.rate == pytest.approx(rate)
    assert least.hosts == full


def test_of_a_link_that_is_not_known_there_is_no_bound() -> None:
    traffic = Traffic("write", ("x", "y"), dict.fromkeys("abc", 1 / 3), 2.0)
    known = {("x", "sends"): 5.0, ("a", "receives"): 4.0}
    bounds = list(network_bounds(traffic, lambda host, way, network: known.get((host, way))))
    assert [(bound.hosts, bound.rate) for bound in bounds] == [(("a",), pytest.approx(6.0)), (("a",), 4.0)]


def test_the_osd_with_the_most_pgs_for_its_capacity_is_full_first() -> None:
    assert placed_rate([1000, 1000, 1000], [32, 32, 32], 32) == 1000  # size 3 on three OSDs
    assert placed_rate([1000, 1000, 1000, 1000], [24, 24, 24, 24], 32) == pytest.approx(4000 / 3)
    assert placed_rate([1000, 1000, 500, 1000], [20, 24, 24, 28], 32) == pytest.approx(500 * 32 / 24)
    assert placed_rate([], [], 32) == float("inf")


# ---------------------------------------------------------------------------------------------- of a run

CONFIG = {f"osd.{osd} osd_mclock_max_capacity_iops_ssd": "20000" for osd in range(3)}
CLUSTER = ClusterEnvironment(
    pool={"name": "bench", "type": "replicated", "size": 3, "pg_num": 32},
    osds_by_host={"pve1": 1, "pve2": 1, "pve3": 1},
    failure_domain="host",
    pgs_by_osd={"0": 32, "1": 32, "2": 32},
    networks_apart=False,
    config=CONFIG,
)
NIC = NodeEnvironment(
    hostname="pve1",
    nic_bits_per_second={"eno1": 1_000_000_000, "bond0": 10_000_000_000},
    nic_networks={"eno1": "86f91c53", "bond0": "0a1b2c3d"},
)


def flow(iops: float, bandwidth: float = 0.0, latency: float | None = None) -> Total:
    return total(ios=1, iops=iops, bandwidth_bytes=bandwidth or iops * 4096, latency_mean_seconds=latency)


def wrote(number: int = 1, iops: float = 10_000.0, *, bandwidth: float = 0.0, **changes: Any) -> Run:
    fields: dict[str, Any] = {
        "write": flow(iops, bandwidth, changes.pop("latency", None)),
        "cluster": CLUSTER,
        "environment": {"pve1": NIC},
        "options": {"rw": "randwrite", "bs": "4k", "iodepth": 64, "numjobs": 1},
    }
    return run(number, **fields | changes)


def limits_of(run: Run, *of_session: Run) -> dict[str, Ceiling]:
    return {ceiling.limit: ceiling for ceiling in ceilings(run, of_session)}


def most(ceiling: Ceiling) -> float:
    assert ceiling.at_most
    return ceiling.at_most


def test_larger_packets_carry_more_of_a_link() -> None:
    large = NIC.model_copy(update={"nic_mtu": {"eno1": 1500, "bond0": 9000}})
    network = limits_of(wrote(bandwidth=440e6, environment={"pve1": large}))["network"]
    assert network.at_most == pytest.approx(0.75 * 10e9 / 8 * 0.99)
    assert "x 0.99" in network.basis


def test_the_network_of_one_host_of_three(golden: Golden) -> None:
    network = limits_of(wrote(bandwidth=440e6))["network"]
    assert network.at_most == pytest.approx(0.75 * LINK)
    assert network.share == pytest.approx(440e6 / (0.75 * LINK))
    golden.same(ceiling_lines([network]))


def environment(**changes: Any) -> dict[str, Any]:
    return {"cluster": CLUSTER.model_copy(update=changes)}


def test_all_hosts_and_hosts_elsewhere() -> None:
    names = ("pve1", "pve2", "pve3")
    inside = {name: NIC.model_copy(update={"hostname": f"{name}.example.net"}) for name in names}
    outside = {"pve1": NIC.model_copy(update={"hostname": "client"})}
    assert limits_of(wrote(nodes=nodes(*names), environment=inside))["network"].at_most == pytest.approx(1.125 * LINK)
    assert limits_of(wrote(environment=outside))["network"].at_most == pytest.approx(LINK)
    mixed = limits_of(wrote(nodes=nodes(*names), environment=inside | outside))["network"]
    assert mixed.at_most == pytest.approx(1.125 * LINK)
    assert mixed.basis.startswith("from 3 clients, size 3, pve2 receives: NIC 10.0 Gbit/s x 0.94")
    by_osd = CLUSTER.model_copy(update={"failure_domain": "osd"})
    assert limits_of(wrote(cluster=by_osd, environment=outside))["network"].at_most == pytest.approx(LINK)


def test_a_host_with_more_osds_is_the_primary_of_more() -> None:
    """With one copy on each host it is sent fewer of the others."""
    hosts = {"pve1": 4, "pve2": 1, "pve3": 1}
    network = limits_of(wrote(**environment(osds_by_host=hosts)))["network"]
    assert network.at_most == pytest.approx(min(LINK / (1 / 3 + 2 / 3 * 2), LINK / (1 / 3)))
    reads = wrote(**environment(osds_by_host=hosts), summary=Summary(read=flow(10.0)))
    assert limits_of(reads)["network"].at_most == pytest.approx(LINK / (1 / 3))
    two = environment(osds_by_host={**hosts, "pve4": 2}, pool={**CLUSTER.pool, "size": 2})
    assert limits_of(wrote(**two))["network"].at_most == pytest.approx(LINK / (1 / 2 + 1 / 2))


def test_what_a_host_receives_of_copies_is_what_others_are_the_primary_of() -> None:
    hosts = ("a", "b", "c")
    traffic = Traffic("write", ("x",), dict(zip(hosts, (2 / 3, 1 / 6, 1 / 6), strict=True)), 2.0,
                      dict(zip(hosts, (1 / 6, 5 / 12, 5 / 12), strict=True)))  # fmt: skip
    slow = {("b", "receives"): 1.0}
    bounds = network_bounds(traffic, lambda host, way, network: slow.get((host, way), 100.0))
    assert min(bound.rate for bound in bounds) == pytest.approx(1.0), "b has a copy of every byte"


def test_networks_apart_and_erasure_coding() -> None:
    assert limits_of(wrote(**environment(networks_apart=True)))["network"].at_most == pytest.approx(1.5 * LINK)
    coded = environment(
        pool={"name": "ec", "type": "erasure", "size": 3, "pg_num": 32}, pool_settings={"ec k": "2", "ec m": "1"}
    )
    network = limits_of(wrote(**coded))["network"]
    assert network.at_most == pytest.approx(LINK)
    assert "EC 2+1" in network.basis


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster": None},
        {"environment": {}},
        {"environment": {"pve1": NodeEnvironment()}},
        environment(failure_domain="osd"),
        environment(osds_by_host={}),
        environment(osds_by_host={"pve1": 3}),
        environment(osds_by_host={"pve1": 1, "pve2": 1}),
        environment(pool={"name": "ec", "type": "erasure", "size": 3}),
        environment(pool={}),
    ],
    ids=["file", "no node", "no NIC", "by osd", "no hosts", "one host", "too few hosts", "no k", "no pool"],
)
def test_a_network_that_is_not_known_has_no_ceiling(changes: dict[str, Any]) -> None:
    assert "network" not in limits_of(wrote(**changes))


def test_the_osds_by_what_they_have_measured() -> None:
    osds = limits_of(wrote(iops=15_000))["OSDs"]
    assert (osds.at_most, osds.share) == (20_000, 0.75)


LARGE = {"rw": "write", "bs": "4M", "iodepth": 64}


def benched(number: int, *rates: float, block: str = "4M", disks: str = "abc", **changes: Any) -> Run:
    """A run in which OSDs wrote to their own stores at these rates, in bytes; each on its disk, or without any."""
    places = [f"pve1 sd{disk}" for disk in disks] or ["pve1"] * len(rates)
    jobs = tuple(
        JobResult(
            job=f"osd.{osd}", group="hdd", place=place, summary=Summary(write=flow(rate / parse_size(block), rate))
        )
        for (osd, rate), place in zip(enumerate(rates), places, strict=False)
    )
    options = {"block-size": block, "runtime": 60, "together": False, **changes.pop("options", {})}
    fields = {"tool": "osd-bench", "options": options, "nodes": nodes("pve1", jobs=jobs), "target": "osd:*"}
    return run(number, **fields | changes)


def of_osds(run: Run, *of_session: Run) -> Ceiling:
    (osds,) = [ceiling for ceiling in ceilings(run, of_session) if ceiling.limit == "OSDs"]
    return osds


def test_the_osds_by_what_each_wrote_in_the_session() -> None:
    """The slowest one is in all PGs of size 3 on three OSDs; the newest run counts, not the fastest."""
    large = wrote(9, bandwidth=45e6, options=LARGE)
    others = [benched(2, 300e6, 100e6, 200e6), benched(3, 300e6, 90e6, 200e6), benched(10, 3e6, 3e6, 3e6)]
    osds = of_osds(large, *others)
    assert (osds.direction, osds.at_most, osds.share, osds.metric) == ("write", 90e6, 0.5, "bandwidth_bytes")
    assert osds.basis == "3 OSDs, what each wrote in #3 on 2026-11-21, 32 PGs, size 3"
    coded = CLUSTER.model_copy(update={"pool": {**CLUSTER.pool, "type": "erasure"}, "pool_settings": {"ec k": "2"}})
    osds = of_osds(wrote(9, bandwidth=5e6, cluster=coded, options=LARGE), *others)
    assert osds.at_most == 180e6, "each OSD takes half of an object"


def test_osds_that_share_a_disk_share_what_it_can_do() -> None:
    """One after the other each has the disk for itself; together they show what all of them have of it."""
    large = wrote(
        9,
        bandwidth=10e6,
        options=LARGE,
        **environment(pool={**CLUSTER.pool, "size": 1}, pgs_by_osd={"0": 11, "1": 11, "2": 10}),
    )
    apart = of_osds(large, benched(2, 100e6, 90e6, 80e6))
    assert apart.at_most == pytest.approx(80e6 * 32 / 10)
    assert not apart.is_estimate
    shared = of_osds(large, benched(2, 100e6, 90e6, 80e6, disks="aaa"))
    assert shared.at_most == pytest.approx(100e6)
    assert (shared.is_estimate, shared.is_known) == (True, True)
    assert shared.basis.startswith("3 OSDs on 1 disk, what each wrote in #2")
    both = of_osds(large, benched(2, 60e6, 50e6, 40e6, disks="aaa", options={"together": True}))
    assert both.at_most == pytest.approx(150e6)
    assert not both.is_estimate
    unknown = of_osds(large, benched(2, 100e6, 90e6, 80e6, disks=""))
    assert unknown.at_most == apart.at_most, "a place without a device is only a host"


def test_what_osds_have_measured_of_themselves_is_not_added_up_on_one_disk() -> None:
    one = environment(
        disk_by_osd=dict.fromkeys("012", "pve1 X1"),
        pool={**CLUSTER.pool, "size": 1},
        pgs_by_osd={"0": 11, "1": 11, "2": 10},
    )
    osds = of_osds(wrote(iops=15_000, **one))
    assert osds.at_most == pytest.approx(20_000)
    assert (osds.is_estimate, osds.is_exceeded) == (True, False)
    assert "about 20.0k" in ceiling_lines([osds])[0]


BLOCKS = {
    "4k": ("iops", 10e6 / 4096),
    "32k": ("iops", 10e6 / 4096),
    "64k": ("bandwidth_bytes", 100e6),
    "1M": ("bandwidth_bytes", 100e6),
}


@pytest.mark.parametrize("block", BLOCKS)
def test_between_small_and_large_blocks_the_smaller_bound_counts(block: str) -> None:
    load = wrote(
        9, bandwidth=5e6, iops=5e6 / parse_size(block), options={"rw": "randwrite", "bs": block, "iodepth": 64}
    )
    benches = benched(2, 10e6, 10e6, 10e6, block="4k"), benched(3, 100e6, 100e6, 100e6)
    osds = of_osds(load, *benches)
    metric, at_most = BLOCKS[block]
    assert osds.metric == metric
    assert osds.at_most == pytest.approx(at_most)


def test_a_bench_of_small_blocks_says_more_than_what_osds_have_once_measured() -> None:
    assert of_osds(wrote(9, 2_000.0), benched(2, 10e6, 10e6, 10e6, block="4k")).at_most == pytest.approx(10e6 / 4096)
    assert of_osds(wrote(9), benched(2, 10e6, 10e6, 10e6, block="8k")).at_most == 20_000, "4k may be faster"


def test_a_bench_is_valid_for_a_day_or_with_the_same_disks() -> None:
    disks = {str(osd): f"pve1 sd{name}" for osd, name in enumerate("abc")}
    serials = {str(osd): f"pve1 {osd}f2a9c1d" for osd in range(3)}
    other = {**disks, "1": "pve1 sdx"}
    fresh = benched(2, 1e8, 1e8, 1e8)
    old = fresh.model_copy(update={"started_at": wrote(9).started_at - timedelta(days=3)})
    by_serial = old.model_copy(update={"cluster": CLUSTER.model_copy(update={"disk_by_osd": serials})})
    for bench, known, is_valid in (
        (old, {}, False),
        (old, disks, False),
        (by_serial, serials, True),
        (by_serial, {**serials, "1": "pve1 7f2a9c1d"}, False),
        (old, other, False),
        (fresh, disks, True),
        (fresh, {}, True),
        (fresh, other, False),
    ):
        run = wrote(9, bandwidth=5e6, options=LARGE, **environment(disk_by_osd=known))
        limits = [each for each in ceilings(run, [bench]) if each.limit == "OSDs"]
        assert bool(limits) is is_valid


def test_an_estimate_that_the_run_is_above_is_no_limit(golden: Golden) -> None:
    run = wrote(9, 30_000.0, bandwidth=1e6)
    assert of_osds(run).at_most is None
    golden.same(ceiling_lines(ceilings(run), run))


@pytest.mark.parametrize("other", [benched(2, 1e8, 1e8), benched(2, 1e8, 1e8, 1e8, block="4k")])
def test_not_all_osds_or_small_blocks_are_no_ceiling(other: Run) -> None:
    assert [
        each for each in ceilings(wrote(9, bandwidth=5e6, options=LARGE), [other]) if "what each wrote" in each.basis
    ] == []


@pytest.mark.parametrize(
    "changes",
    [
        environment(config=None),
        environment(config={**CONFIG, "osd.1 osd_mclock_max_capacity_iops_ssd": "21500.000000"}),
        environment(config={**CONFIG, "osd.1 osd_mclock_max_capacity_iops_ssd": "nan"}),
        environment(pgs_by_osd={}),
        environment(pgs_by_osd={"0": 32, "1": 32, "7": 32}),
        {"options": {"rw": "write", "bs": "4k", "iodepth": 64}},
        {"options": {"rw": "randwrite", "bs": "512", "iodepth": 64}},
        {"summary": Summary(read=flow(15_000))},
    ],
    ids=["no caps", "fallback", "no number", "no PGs", "one unknown", "sequential", "tiny", "reads"],
)
def test_osds_that_are_not_known_have_no_ceiling(changes: dict[str, Any]) -> None:
    assert "OSDs" not in limits_of(wrote(**changes))


def test_an_osd_has_the_capacity_of_its_class() -> None:
    """A disk that was replaced by one of another kind leaves the figure of the former in the configuration."""
    both = {**CONFIG, **{f"osd.{osd} osd_mclock_max_capacity_iops_hdd": "500" for osd in range(3)}}
    at_most = {}
    for name in ("hdd", "ssd", "nvme"):
        classes = environment(config=both, class_by_osd=dict.fromkeys("012", name))
        at_most[name] = most(limits_of(wrote(9, 400.0, **classes))["OSDs"])
    assert at_most["ssd"] == at_most["nvme"] == 40 * at_most["hdd"]
    assert (
        limits_of(wrote(9, 400.0, **environment(config=both, osds_by_class={"hdd": 3})))["OSDs"].at_most
        == at_most["hdd"]
    )
    for unlike in ({}, {"class_by_osd": {"0": "ssd", "1": "ssd"}}, {"class_by_osd": dict.fromkeys("012", "fast")}):
        assert "OSDs" not in limits_of(wrote(9, 400.0, **environment(config=both, **unlike))), "it may be either"
    other = environment(class_by_osd=dict.fromkeys("012", "hdd"))
    assert "OSDs" not in limits_of(wrote(9, 400.0, **other)), "only that of its former disk was measured"


def alone(number: int, latency: float, **changes: Any) -> Run:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1}
    return wrote(number, 1000, latency=latency, preset="latency", **{"options": options} | changes)


def test_the_depth_by_the_latency_of_one_in_flight() -> None:
    depth = limits_of(wrote(3, 30_000), alone(1, 0.001), alone(2, 0.004))["depth"]
    assert depth.at_most == pytest.approx(64 / 0.002)
    assert ceiling_lines([depth]) == [
        "depth 94 %: write 30.0k IOPS, about 32.0k (64 in flight, 2.00 ms with 1 on each node (#1, #2))",
        "limited by depth",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"target": "rbd:other"},
        {"options": {"rw": "randread", "bs": "4k", "iodepth": 1, "numjobs": 1}},
        {"options": {"rw": "randwrite", "bs": "8k", "iodepth": 1, "numjobs": 1}},
        {"options": {"rw": "randwrite", "bs": "4k", "iodepth": 2, "numjobs": 1}},
        {"options": {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1, "fsync": 8}},
        {"options": {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1, "size": "16M"}},
        {"nodes": nodes("pve2")},
        environment(pool={"name": "bench", "type": "replicated", "size": 2, "pg_num": 32}),
        {"outcome": "failed"},
    ],
    ids=str,
)
def test_another_run_says_nothing_of_the_depth(changes: dict[str, Any]) -> None:
    assert "depth" not in limits_of(wrote(3, 30_000), alone(1, 0.001, **changes))


def test_how_long_was_measured_is_no_matter_for_the_depth() -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1, "runtime": 10.0, "ramp_time": 2.0}
    assert "depth" in limits_of(wrote(3, 30_000), alone(1, 0.001, options=options))


def flushed(depth: int, number: int, fsync: int, *, flushes: float, **other: Total) -> Run:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": depth, "numjobs": 1, "fsync": fsync}
    summary = Summary(write=flow(856, latency=805e-6), other={"flush": flow(flushes, latency=0.003), **other})
    return wrote(number, options=options, summary=summary)


def test_the_time_of_one_io_has_its_flush_in_it_or_there_is_no_such_ceiling(golden: Golden) -> None:
    few, deep = flushed(1, 1, 8, flushes=107), flushed(4, 2, 8, flushes=107)
    assert "depth" not in limits_of(deep, few)
    assert (limits_of(few)["depth"].has_flushes, limits_of(alone(1, 0.001))["depth"].has_flushes) == (True, False)
    elsewhere = limits_of(few)["depth"].model_copy(update={"basis": "masked"})
    assert ceiling_lines([elsewhere])[-1] == ceiling_lines(ceilings(few))[-1]
    golden.same(ceiling_lines(ceilings(few))[-1])
    golden.same(ceiling_lines(ceilings(deep, [few]), deep)[-1])
    commit = {"commit": flow(856, latency=0.004)}
    each = [flushed(depth, depth, 1, flushes=856, **commit) for depth in (1, 4)]
    assert limits_of(each[1], each[0])["depth"].at_most == pytest.approx(1000)
    golden.same(ceiling_lines(ceilings(each[0]))[-1])


def test_with_one_in_flight_the_depth_is_the_limit(golden: Golden) -> None:
    """Whatever the latency of the write alone is: a flush after it is part of its turn."""
    sentence = ceiling_lines(ceilings(alone(1, 0.001)))[-1]
    golden.same(sentence)
    assert ceiling_lines(ceilings(alone(1, 0.00001, cluster=None, environment={}))) == [sentence]
    dd = run(1, tool="dd", options={"mode": "write", "bs": "4M", "direct": True}, write=flow(30, 1e8))
    assert ceiling_lines(ceilings(dd)) == [sentence]


@pytest.mark.parametrize("option", [{"rate_iops": 50}, {"thinktime": 20_000}], ids=str)
def test_with_one_in_flight_that_is_kept_back_the_depth_is_no_limit(option: dict[str, int]) -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1, **option}
    assert "depth" not in limits_of(wrote(1, 50.0, latency=0.001, options=options))


@pytest.mark.parametrize(
    ("options", "measured", "line"),
    [
        ({"rate_iops": 50, "numjobs": 2}, {"iops": 99}, "write 99 IOPS, at most 100 (rate_iops=50 x 2 jobs)"),
        ({"rate": "1M"}, {"bandwidth": 1.04e6}, "write 1016 KiB/s, at most 1.00 MiB/s (rate=1M)"),
        ({"rate_iops": 20, "iodepth": 1}, {"iops": 20}, "write 20 IOPS, at most 20 (rate_iops=20)"),
    ],
    ids=str,
)
def test_a_rate_that_is_set_and_reached_is_the_limit(
    options: dict[str, Any], measured: dict[str, Any], line: str, golden: Golden
) -> None:
    """Also where something else is as near: nobody asked for more."""
    value = wrote(9, options={"rw": "randwrite", "bs": "4k", "iodepth": 64, **options}, latency=0.001, **measured)
    lines = ceiling_lines(ceilings(value, [alone(2, 0.6)]))
    assert lines[0].partition(": ")[2] == line
    golden.same(lines[-1])


def test_a_rate_that_is_not_reached_is_no_limit() -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 1, "rate_iops": 100_000}
    assert ceiling_lines(ceilings(wrote(iops=900.0, options=options)))[-1].startswith("limited by depth: ")


def test_the_rates_of_other_tools(golden: Golden) -> None:
    options = {"target-throughput": "100M", "read-percent": 50, "max-ops": 16, "min-op-len": "4M", "max-op-len": "4M",
               "runtime": 60}  # fmt: skip
    (rate,) = ceilings(run(1, tool="load-gen", options=options, read=flow(12, 52e6), write=flow(12, 52e6)))
    assert (rate.direction, rate.measured, rate.at_most) == ("read and write", 104e6, 100 << 20)
    pinged = run(1, tool="ioping", options={"interval": 0.1, "size": "4k", "runtime": 60}, read=flow(9.9))
    golden.same(ceiling_lines(ceilings(pinged))[-1])


def test_the_limits_of_images_are_limits(golden: Golden) -> None:
    limited = CLUSTER.model_copy(update={"image_limits": {"rbd_qos_iops_limit": 500.0, "rbd_qos_write_bps_limit": 1e9}})
    options = {"rw": "randrw", "bs": "4k", "iodepth": 64, "numjobs": 2}
    value = wrote(options=options, cluster=limited, read=flow(700.0), write=flow(290.0))
    assert ceiling_lines(ceilings(value))[-1] == "limited by rbd_qos"
    golden.same(ceiling_lines(ceilings(value))[0])


@pytest.mark.parametrize(("block", "is_one"), [("4k", False), ("16k", False), ("64k", True), ("4M", True)])
def test_what_osds_wrote_in_large_blocks_is_no_ceiling_of_small_ones(block: str, is_one: bool) -> None:
    iops = 5e6 / parse_size(block)
    value = wrote(
        9, iops, bandwidth=5e6, options={"rw": "randwrite", "bs": block, "iodepth": 64}, **environment(config={})
    )
    known = [each for each in ceilings(value, [benched(2, 1e8, 1e8, 1e8)]) if "what each wrote" in each.basis]
    assert bool(known) is is_one


def test_below_half_of_all_ceilings_no_limit_is_named(golden: Golden) -> None:
    lines = ceiling_lines(ceilings(wrote(9, iops=4_000.0, cluster=None), [alone(1, 0.002, cluster=None)]))
    golden.same(lines[-1])


def with_cpu(percent: float, **changes: Any) -> Run:
    busy = nodes("pve1", cpu_user_percent=percent / 2, cpu_system_percent=percent / 2)
    return wrote(nodes=busy, cluster=None, **changes)


def test_a_busy_thread_is_about_a_ceiling(golden: Golden) -> None:
    golden.same(ceiling_lines(ceilings(with_cpu(95.0))))


def test_an_idle_thread_is_none_and_what_would_show_one_is_said(golden: Golden) -> None:
    value = with_cpu(22.0, latency=0.0064)
    golden.same(ceiling_lines(ceilings(value), value))


def on_machine(value: Run, busy: float, own: float | None = None) -> Run:
    (node,) = value.nodes
    machine = MachineUse(cpus=8, cpu_busy_ratio=busy, cpu_own_ratio=own)
    return value.model_copy(update={"nodes": (node.model_copy(update={"machine": machine}),)})


@pytest.mark.parametrize(
    ("own", "limit"), [(0.05, "CPU"), (0.48, "CPU"), (0.49, "client CPU"), (0.9, "client CPU"), (None, "CPU")]
)
def test_the_cpus_of_a_node_are_the_clients_limit_where_it_uses_most_of_them(
    own: float | None, limit: str, golden: Golden
) -> None:
    """OSDs on the same host, other programs and the hypervisor may be what keeps it busy."""
    value = on_machine(with_cpu(3.0), 0.97, own)
    assert [ceiling.limit for ceiling in ceilings(value)] == [limit]
    golden.same(ceiling_lines(ceilings(value), value))


def test_where_the_whole_machine_is_watched_the_cpu_is_known(golden: Golden) -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "ioengine": "rbd"}
    watched = on_machine(wrote(9, 100.0, options=options, nodes=nodes("pve1")), 0.26, 0.2)
    golden.same(ceiling_lines(ceilings(watched), watched))
    busier = nodes("pve1", cpu_user_percent=30, cpu_system_percent=0)
    with_thread = on_machine(wrote(9, 100.0, options=options, nodes=busier), 0.26, 0.2)
    assert "all CPUs of pve1 together were 26 % busy" in "".join(ceiling_lines(ceilings(with_thread), with_thread))


@pytest.mark.parametrize("engine", ["rbd", "rados", "posixaio"])
def test_the_cpu_of_a_thread_that_leaves_the_work_to_others_says_so(engine: str, golden: Golden) -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "ioengine": engine}
    first, _ = ceiling_lines(ceilings(value := with_cpu(3.0, options=options)))
    golden.same([first, client_facts(value, value.nodes[0])["cpu"]])
    itself = with_cpu(3.0, options={**options, "ioengine": "libaio"})
    assert "not counted" in first
    assert "not counted" not in "".join(
        [*ceiling_lines(ceilings(itself)), *client_facts(itself, itself.nodes[0]).values()]
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"options": {"rw": "randwrite", "bs": "4k", "iodepth": 1, "numjobs": 1, "thinktime": 100}, "latency": 0.001},
        {"tool": "ioping", "options": {"runtime": 60}, "latency": 0.001},
        {"tool": "iperf3", "options": {"runtime": 10}},
        {"tool": "osd-bench", "options": {"runtime": 10}},
        {"tool": "not-known", "latency": 0.001},
    ],
    ids=str,
)
def test_a_run_that_has_no_depth_is_not_sent_to_one_with_one_in_flight(changes: dict[str, Any]) -> None:
    (line,) = ceiling_lines([], wrote(**changes))
    assert "depth" not in line
    assert ("network" in line) == (changes.get("tool") == "ioping"), "no other waits for the cluster's"


LONE: dict[str, Any] = {"osds_by_host": {}, "config": {}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"summary": Summary(read=flow(100.0))},
        {"options": {"rw": "write", "bs": "4k", "iodepth": 64}},
        {"options": {"rw": "write", "bs": "4M", "iodepth": 64}},
        environment(**LONE),
        environment(**LONE, pgs_by_osd={}),
        {"cluster": None, "target": "file:/srv/x", "latency": 0.001},
        {"latency": 0.001},
        {"outcome": "failed"},
    ],
    ids=["writes", "reads", "small sequential", "large", "no hosts", "no PGs", "file", "deep", "failed"],
)
def test_only_what_could_become_known_is_sent_for(changes: dict[str, Any], golden: Golden) -> None:
    """Nobody has to measure what no run like this one could use."""
    usual = environment(config={})
    golden.same(ceiling_lines([], wrote(9, 100.0, **{**usual, **changes})))


def test_a_limit_that_says_why_it_is_not_known_is_not_said_to_be_unmeasured() -> None:
    value = wrote(9, 100.0)
    why = Ceiling(
        limit="network", direction="write", metric="iops", measured=1.0, at_most=None, basis="not known: link measured"
    )
    assert "network" not in ceiling_lines([why], value)[-1]


def on_disk(busy: float, *, rotates: str | None, ios: int = 6_000, **changes: Any) -> Run:
    """A minute on a file, whose disk was so many percent busy with so many writes."""
    disks = (
        DiskUse(name="dm-0", utilisation_percent=1.0),
        DiskUse(name="sda", utilisation_percent=busy, write_ios=ios),
    )
    settings = {"queue/rotational": rotates} if rotates else {}
    local = {"nodes": nodes("pve1", disks=disks), "environment": {"pve1": NodeEnvironment(settings=settings)}}
    return wrote(9, 100.0, **{"cluster": None, "target": "file:/srv/x", **local} | changes)


@pytest.mark.parametrize(
    ("busy", "rotates", "ios"),
    [
        (97.0, "1", 6_000),
        (97.0, "0", 6_000),
        (97.0, None, 6_000),
        (97.0, "1", 900_000),
        (40.0, "1", 2_000),
        (40.0, "0", 9),
    ],
    ids=["rotates", "SSD", "unknown", "virtual", "idle", "idle SSD"],
)
def test_a_busy_disk_is_about_a_limit_where_it_serves_one_after_the_other(
    busy: float, rotates: str | None, ios: int, golden: Golden
) -> None:
    """Of SSDs being busy says little, and a virtual disk says that it rotates whatever it is on."""
    run = on_disk(busy, rotates=rotates, ios=ios)
    golden.same(ceiling_lines(ceilings(run), run))


@pytest.mark.parametrize("changes", [{"cluster": CLUSTER}, {"target": "rbd:bench"}, {"nodes": nodes("pve1")}], ids=str)
def test_the_disks_of_the_client_are_no_limit_of_a_pool(changes: dict[str, Any]) -> None:
    assert "disk" not in limits_of(on_disk(97.0, rotates="1", **changes))


def test_below_half_what_is_not_known_is_named(golden: Golden) -> None:
    few = wrote(9, 100.0)
    golden.same(ceiling_lines(ceilings(few), few)[-1])
    with_threads = wrote(
        9, 100.0, options={"rw": "randwrite", "bs": "4k", "iodepth": 64, "ioengine": "rbd"}, latency=0.1
    )
    golden.same(ceiling_lines(ceilings(with_threads), with_threads)[-1])


def test_links_of_which_only_the_speed_of_a_nic_is_known_are_named(golden: Golden) -> None:
    """They may be slower than that, so that it is not known how near they were."""
    apart = environment(networks_apart=True)
    one = environment(osds_by_host={"pve1": 1, "pve2": 1}, pool={"type": "replicated", "size": 1, "pg_num": 32})
    for changes in ({}, apart, one, {**one, "summary": Summary(read=flow(100.0))}, {"nodes": nodes("client")}):
        few = wrote(9, 100.0, **changes)
        golden.same(ceiling_lines(ceilings(few), few)[-1])


def test_above_its_own_ceiling_something_is_wrong(golden: Golden) -> None:
    lines = ceiling_lines(ceilings(wrote(iops=1.0, bandwidth=2e9)))
    golden.same(lines[-1])
    deep = ceiling_lines(ceilings(wrote(9, 80_000, cluster=None), [alone(1, 0.001, cluster=None)]))
    assert deep[-1] == "limited by depth", "an I/O may be faster with others in flight"


def test_the_nearest_is_first() -> None:
    value = wrote(3, 15_000, bandwidth=800e6)
    assert [each.limit for each in ceilings(value, [alone(1, 0.001)])] == ["network", "OSDs", "depth"]


@pytest.mark.parametrize("changes", [{"outcome": "stopped"}, {"findings": (Finding(code="thin", text="thin"),)}])
def test_a_run_that_does_not_count_has_none(changes: dict[str, Any]) -> None:
    assert ceilings(wrote(**changes)) == []


def test_a_run_is_shown_with_its_ceilings(demo_session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(demo_session.parent.parent))
    shown = CliRunner().invoke(cli, ["show", "demo/7"]).output
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    first = lines.index(next(line for line in lines if line.startswith("ceilings depth 13 %: write 4.15k IOPS")))
    assert "1.45 ms with 1 on each node (#5)" in " ".join(lines[first : first + 3])
    assert "13 % (depth)" in " ".join(lines)
