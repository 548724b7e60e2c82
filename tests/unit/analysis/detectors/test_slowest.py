"""The node or OSD that is clearly slower than the others: what stands out, and how seldom one of many alike does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from cephtui.analysis.detectors.slowest import (
    NODE_FRACTION,
    NodeRates,
    OsdLatencies,
    is_beyond,
    slow_nodes,
    slow_osds,
    slowest_of,
    slowest_osd,
)
from cephtui.analysis.runs.batches import Estimate
from cephtui.models.metrics import BY_NAME
from tests.support.clean_seconds import clean_osds, clean_seconds
from tests.support.golden import Golden
from tests.support.known import known

# ---------------------------------------------------------------------------------------------- of several runs


def slowest(figures: Mapping[str, Sequence[float]]) -> tuple[str, float] | None:
    return slowest_of({name: Estimate.of(values) for name, values in figures.items()}, "more", NODE_FRACTION, 0.1)


def test_of_repeats_the_interval_has_to_lie_below_the_median() -> None:
    near = {"a": [100.0] * 4, "b": [100.0] * 4}
    name, fraction = known(slowest({**near, "c": [78.0, 79.0, 80.0, 79.0]}))
    assert (name, round(fraction, 2)) == ("c", 0.21)
    assert slowest({**near, "c": [50.0, 80.0, 105.0, 81.0]}) is None


def test_of_latency_the_slowest_is_the_greatest() -> None:
    figures = {name: Estimate.of([seconds]) for name, seconds in zip("abc", (0.001, 0.0016, 0.001), strict=True)}
    name, fraction = known(slowest_of(figures, "less", 0.15, 0.1))
    assert (name, round(fraction, 3)) == ("b", 0.6)


def test_osds_that_are_a_millisecond_apart_are_alike() -> None:
    assert slowest_osd([{"0": 0.001, "1": 0.001, "2": 0.002}]) is None
    assert slowest_osd([{"0": 0.001, "1": 0.001, "2": 0.004}]) is not None
    assert slowest_osd([{"0": 0.0, "1": 0.001, "2": 0.004}]) is None, "one has not committed anything"


@pytest.mark.parametrize("count", [3, 4, 8, 16, 48])
@pytest.mark.parametrize("spread", [0.1, 0.2])
def test_of_many_alike_the_worst_seldom_stands_out(count: int, spread: float) -> None:
    rng = np.random.default_rng([count, int(100 * spread)])
    logs = rng.normal(0, spread, (2000, count))
    marked = sum(is_beyond(np.exp(row.max()), np.exp(np.sort(row)[:-1]).tolist(), "less", spread) for row in logs)
    assert marked <= 0.015 * len(logs)
    slow = logs.copy()
    slow[:, 0] += 8 * spread
    found = sum(is_beyond(np.exp(row[0]), np.exp(row[1:]).tolist(), "less", spread) for row in slow)
    assert found >= 0.9 * len(logs)


# ---------------------------------------------------------------------------------------------- a node of a run


def rates(rng: np.random.Generator, *factors: float, seconds: int = 20, spread: float = 0.2) -> dict[str, list[float]]:
    return {f"pve{at}": (f * clean_seconds(rng, seconds, spread, 0.3)).tolist() for at, f in enumerate(factors, 1)}


def test_a_node_of_three_is_named_with_what_the_others_did(golden: Golden) -> None:
    found = NodeRates()
    for second in range(1, 16):
        for node, rate in (("pve1", 167.0), ("pve2", 37.0), ("pve3", 179.0)):
            found.add(node, second, rate + second % 3, 1)
    finding = known(found.finding(BY_NAME["iops"]))
    assert finding.code == "slow-node"
    golden.same(finding.text)


@pytest.mark.parametrize("nodes", [2, 3, 5, 16])
def test_a_slow_node_is_found_by_its_seconds(nodes: int) -> None:
    rng = np.random.default_rng(nodes)
    slow = 0.2 if nodes == 2 else 0.25
    found = [slow_nodes(rates(rng, *[1.0] * (nodes - 1), slow)) for _ in range(100)]
    assert sum(group.names == (f"pve{nodes}",) for group in found if group) >= 95
    assert not [group for group in found if group and group.names != (f"pve{nodes}",)]


@pytest.mark.parametrize(("slow", "nodes"), [(2, 4), (2, 5), (3, 6), (5, 16)])
def test_several_slow_nodes_are_all_named(slow: int, nodes: int) -> None:
    rng = np.random.default_rng(slow)
    names = tuple(f"pve{number}" for number in range(1, slow + 1))
    groups = [slow_nodes(rates(rng, *[0.2] * slow, *[1.0] * (nodes - slow))) for _ in range(50)]
    assert sum(group is not None and group.names == names for group in groups) >= 48


def test_two_slow_nodes_are_one_finding(golden: Golden) -> None:
    curves = NodeRates()
    for second in range(1, 16):
        for node, rate in (("pve1", 167.0), ("pve2", 37.0), ("pve3", 179.0), ("pve4", 39.0), ("pve5", 171.0)):
            curves.add(node, second, rate, 1)
    finding = known(curves.finding(BY_NAME["iops"]))
    assert finding.values["slow_nodes"] == ("pve2", "pve4")
    golden.same(finding.text)


def test_more_than_half_of_the_nodes_are_not_slow() -> None:
    rng = np.random.default_rng(3)
    assert slow_nodes(rates(rng, 1.0, 0.2, 0.2)) is None, "the first may as well be fast"


def test_a_node_that_is_a_little_slower_is_not() -> None:
    rng = np.random.default_rng(1)
    assert not any(slow_nodes(rates(rng, 1.0, 1.0, 0.6)) for _ in range(50))
    assert not any(slow_nodes(rates(rng, 1.0, 0.4)) for _ in range(50)), "of two: which of them is it?"
    assert not any(slow_nodes(rates(rng, 1.0, 0.1, seconds=5)) for _ in range(50))


def test_nodes_that_all_differ_have_no_slow_one() -> None:
    rng = np.random.default_rng(2)
    assert slow_nodes(rates(rng, 1.0, 3.0, 9.0)) is None


def test_a_node_that_paused_once_is_not_slow() -> None:
    values = [100.0] * 60
    assert slow_nodes({"a": values, "b": values, "c": [*[0.0] * 35, *values[35:]]}) is None


@pytest.mark.parametrize("nodes", [2, 3, 4, 8, 16])
def test_of_nodes_alike_hardly_ever_one_is_slow(nodes: int) -> None:
    """The nodes are spread by 10 %, with the heavy tails of a t distribution with 3 degrees of freedom."""
    rng = np.random.default_rng(10 + nodes)
    found = 0
    for at in range(300):
        factors = np.exp(0.1 / np.sqrt(3) * rng.standard_t(3, nodes))
        seconds = (6, 20, 60)[at % 3]
        found += (
            slow_nodes({str(at): (f * clean_seconds(rng, seconds, 0.35, 0.7)).tolist() for at, f in enumerate(factors)})
            is not None
        )
    assert found <= 3


def test_nodes_without_a_whole_second_are_not_judged() -> None:
    found = NodeRates()
    for node in ("a", "b"):
        found.add(node, 0.2, 100.0, 0)
    assert found.finding(BY_NAME["iops"]) is None


def test_the_seconds_of_a_day_are_held_in_little_room() -> None:
    found = NodeRates()
    for second in range(1, 5000):
        for node, rate in (("a", 100.0), ("b", 110.0), ("c", 20.0)):
            found.add(node, second, rate, 1)
    assert all(len(curve) <= 120 for curve in found._curves.values())
    assert known(found.finding(BY_NAME["iops"])).values["rate"] == pytest.approx(20.0)


# ---------------------------------------------------------------------------------------------- an OSD of a run


def test_a_slow_osd_is_named_with_its_latency() -> None:
    found = OsdLatencies()
    for second in range(20):
        found.add(
            {f"osd.{osd}": (100, 100 * (0.023 if osd == 2 else 0.010) * (1 + second % 3 / 10)) for osd in range(3)},
            second + 1.0,
        )
    slow = known(found.slow())
    assert slow.names == ("osd.2",)
    assert (slow.figure, slow.others) == pytest.approx((0.0246, 0.0107), rel=0.01)


def test_a_single_slow_moment_is_no_slow_osd() -> None:
    """It stood for 4 of 40 s: its mean is several times that of the others."""
    even = [(100, 1.0)] * 40
    stood = [*even[:10], *[(10, 40.0)] * 4, *even[14:]]
    assert slow_osds({"0": even, "1": even, "2": stood}) is None


def test_an_osd_that_did_little_is_not_judged() -> None:
    even = [(100, 1.0)] * 20
    idle = [(0, 0.0)] * 18 + [(1, 0.9)] * 2
    assert slow_osds({"0": even, "1": even, "2": even, "3": idle}) is None
    assert slow_osds({"0": even, "1": [(100, 5.0)] * 20}) is None, "two: the one may be slow, or the other fast"


@pytest.mark.parametrize("osds", [3, 4, 6, 12, 48])
def test_of_osds_alike_hardly_ever_one_is_slow_and_a_slow_one_is_found(osds: int) -> None:
    """Their means are spread by 20 %, or 10 % where one is slow by the factor 2.3; their seconds by as much again."""
    rng = np.random.default_rng(osds)
    runs = 150
    assert sum(slow_osds(clean_osds(rng, osds, 20, 0.2)) is not None for _ in range(runs)) <= 2
    found = [slow_osds(clean_osds(rng, osds, 20, 0.1, slow=2.3)) for _ in range(runs)]
    assert sum(group is not None and group.names == ("osd.0",) for group in found) >= 0.8 * runs


@pytest.mark.parametrize(("slow", "osds"), [(2, 6), (2, 12), (4, 12), (3, 6), (12, 48)])
def test_several_slow_osds_are_all_named(slow: int, osds: int) -> None:
    """Those of a host have one cause: they are slow by the factor 4, and alike."""
    rng = np.random.default_rng(osds)
    names = tuple(f"osd.{number}" for number in range(slow))
    groups = [slow_osds(clean_osds(rng, osds, 20, 0.1, slow=4.0, slow_osds=slow)) for _ in range(50)]
    assert sum(group is not None and group.names == names for group in groups) >= 48


def test_the_intervals_of_a_long_run_are_joined() -> None:
    found = OsdLatencies()
    for second in range(1000):
        found.add(
            {"0": (10, 0.1), "1": (10, 0.1), "2": (10, 0.3)} if second < 900 else {"0": (10, 0.1), "3": (10, 0.1)},
            second + 1.0,
        )
    lengths = {len(parts) for parts in found._operations.values()}
    (length,) = lengths
    assert length <= 120
    assert sum(ops for ops, _ in found._operations["0"]) == 10_000
    assert sum(ops for ops, _ in found._operations["3"]) == 1_000
    assert known(found.slow()).names == ("2",)


def span_of_osds(rng: np.random.Generator, osds: int, operations: int, slow: float = 1.0) -> OsdLatencies:
    """40 s in which each OSD does so many operations a second, the first of them ``slow`` times slower from 20 on."""
    latencies = OsdLatencies()
    for second in range(40):
        took = rng.lognormal(math.log(0.01), 1.0, (osds, operations))
        took[0] *= slow if second >= 20 else 1.0
        latencies.add({f"osd.{at}": (operations, float(one.sum())) for at, one in enumerate(took)}, second + 1.0)
    return latencies


@pytest.mark.parametrize("osds", [3, 12, 48])
def test_of_osds_alike_hardly_ever_one_is_slower_in_a_span_and_a_slow_one_is(osds: int) -> None:
    """Of 5 s, with as few operations as are judged, whose latencies are spread as an SSD's and more."""
    rng = np.random.default_rng(osds)
    runs = 200
    assert sum(bool(span_of_osds(rng, osds, 20).slower(20.0, 25.0)) for _ in range(runs)) <= 2
    slow = [span_of_osds(rng, osds, 40, slow=4.0).slower(20.0, 40.0) for _ in range(50)]
    assert sum(found.keys() == {"osd.0"} for found in slow) >= 45


def test_a_span_of_a_long_run_is_compared_too() -> None:
    latencies = OsdLatencies()
    for second in range(1000):
        took = {f"osd.{osd}": (10, 0.5 if osd == 2 and second >= 600 else 0.1) for osd in range(3)}
        latencies.add(took, second + 1.0)
    assert latencies.slower(600.0, 1000.0) == {"osd.2": pytest.approx(5.0)}
    assert latencies.slower(100.0, 300.0) == {}
    assert OsdLatencies().slower(0.0, 10.0) == {}
