"""What nodes did beside the benchmark: what is found of machines that are taken, and nothing of clean ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.machine import Machines
from cephtui.models import ClusterSample, Finding, Interval, MachineUse, NodeSample, OsdSample, Phase, Sample
from tests.support.golden import Golden

CLEAN: Mapping[str, Any] = {
    "cpus": 8,
    "cpu_busy_ratio": 0.4,
    "cpu_steal_ratio": 0.0,
    "cpu_own_ratio": 0.3,
    "cpu_others_ratio": 0.02,
    "processes_running": 4,
    "tcp_segments_sent": 20000,
    "tcp_segments_resent": 0,
    "nic_packets": {"eth0": 50000},
    "clock_offset_seconds": -0.001,
}
TAKEN = {"cpu_busy_ratio": 0.99, "cpu_own_ratio": 0.1, "cpu_others_ratio": 0.7}
LOSSY = {"tcp_segments_sent": 300, "tcp_segments_resent": 30}


def second(
    at: float, changes: Mapping[str, object] = MappingProxyType({}), node: str = "a", phase: Phase = "run"
) -> NodeSample:
    use = MachineUse.model_validate({**CLEAN, **changes})
    return NodeSample(run=1, phase=phase, elapsed_seconds=at, node=node, interval_seconds=1.0, machine=use)


def watched(seconds: int = 30, *during: tuple[range, Mapping[str, object]], **throughout: object) -> Machines:
    """A run in which a node was like this throughout, and in some of its seconds like that."""
    machines = Machines()
    for at in range(1, seconds + 1):
        changes = {name: value for times, what in during if at in times for name, value in what.items()}
        machines.add(second(at, {**throughout, **changes}))
    return machines


def findings(machines: Machines) -> list[Finding]:
    return [*machines.events(), *machines.states()]


def told(machines: Machines) -> list[str]:
    return [finding.text for finding in findings(machines)]


def codes(machines: Machines) -> list[str]:
    return [finding.code for finding in findings(machines)]


# ---------------------------------------------------------------------------------------------- what is nothing


def test_clean_nodes_have_no_findings() -> None:
    """However they are used, up to all that they have, by a benchmark beside daemons of Ceph."""
    chance, found = random.Random(7), list[str]()
    for _ in range(150):
        machines, level = Machines(), chance.uniform(0.05, 1.0)
        own = chance.uniform(0.05, 0.45) * level
        for at in range(1, chance.randrange(6, 120)):
            busy = min(1.0, max(0.0, chance.gauss(level, 0.1)))
            sent = chance.randrange(5, 200000)
            packets = 3 * sent + chance.randrange(50)
            others = chance.expovariate(1 / 0.03)
            if chance.random() < 0.02:
                others, busy = 0.6, 1.0  # for a second or two something else runs
            use: dict[str, object] = {
                "cpu_busy_ratio": busy,
                "cpu_own_ratio": own,
                "cpu_others_ratio": others,
                "cpu_steal_ratio": chance.expovariate(1 / 0.01),
                "processes_running": chance.randrange(40),
                "memory_wait_ratio": min(1.0, chance.expovariate(1 / 0.05)),
                "pages_swapped_in": int(chance.expovariate(1 / 15)),
                "tcp_segments_sent": sent,
                "tcp_segments_resent": sum(chance.random() < 0.0002 for _ in range(min(sent, 2000))),
                "tcp_segments_received": sent,
                "tcp_segments_disordered": chance.randrange(3) if sent < 2000 else int(sent * chance.uniform(0, 0.001)),
                "nic_packets": {"eth0": packets},
                "nic_drops": {"eth0": chance.randrange(4)},
                "clock_offset_seconds": -chance.expovariate(1 / 0.05),
            }
            machines.add(second(at, use))
        found += codes(machines)
    assert found == []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cpu_busy_ratio": 1.0, "cpu_own_ratio": 0.3, "cpu_others_ratio": 0.1},  # the rest is the kernel's, and Ceph's
        {"cpu_busy_ratio": 1.0, "cpu_own_ratio": None, "cpu_others_ratio": None},
        {"cpu_busy_ratio": 0.9, "cpu_others_ratio": 0.8},  # CPUs are left
        {"cpu_steal_ratio": 0.04},
        {"memory_wait_ratio": 0.6, "pages_swapped_in": 20},  # memory of files is made free
        {"memory_wait_ratio": 0.04, "pages_swapped_in": 2000},
        {"tcp_segments_sent": 5, "tcp_segments_resent": 1},  # nothing but the console's connection
        {"nic_packets": {"eth0": 20}, "nic_drops": {"eth0": 2}},
        {"nic_drops": {"eth0": 40}},
        {"nic_drops": {"eth1": 40}},  # an idle interface, with multicast
        {"nic_packets": {"eth0": 50000, "eth1": 300}, "nic_drops": {"eth1": 40}, "nic_errors": {"eth1": 40}},
    ],
)
def test_what_every_node_has_now_and_then_is_none(changes: Mapping[str, object]) -> None:
    assert codes(watched(30, (range(1, 31), changes))) == []


def test_what_lasts_for_a_moment_is_none() -> None:
    assert codes(watched(60, (range(10, 13), TAKEN), (range(30, 33), {"cpu_steal_ratio": 0.4}))) == []


def test_the_ramp_is_not_judged() -> None:
    machines = Machines()
    for at in range(1, 11):
        machines.add(second(at, {**TAKEN, "tcp_segments_resent": 5000}, phase="ramp"))
    assert codes(machines) == []
    assert machines.use("a") is None


# ---------------------------------------------------------------------------------------------- what is found


def test_cpus_that_others_take(golden: Golden) -> None:
    machines = watched(40, (range(11, 31), TAKEN))
    (finding,) = findings(machines)
    assert (finding.from_seconds, finding.to_seconds, finding.level) == (10, 30, "limits")
    assert finding.values == {"node": "a", "busy_ratio": 0.99, "others_ratio": 0.7}
    golden.same(finding.text)


def test_a_stretch_may_be_interrupted() -> None:
    machines = watched(60, (range(11, 15), TAKEN), (range(17, 21), TAKEN), (range(41, 51), TAKEN))
    assert [(f.from_seconds, f.to_seconds) for f in findings(machines)] == [(10, 20), (40, 50)]


def test_a_benchmark_that_uses_all_itself_is_limited_by_its_client(golden: Golden) -> None:
    machines = watched(30, cpu_busy_ratio=0.99, cpu_own_ratio=0.85)
    (finding,) = findings(machines)
    assert (finding.code, finding.from_seconds) == ("client-cpu", None)
    golden.same(finding.text)


@pytest.mark.parametrize(
    ("times", "ratio", "expected"),
    [
        (range(1, 31), 0.06, True),
        (range(1, 31), 0.04, False),
        (range(10, 15), 0.3, True),
        (range(10, 15), 0.055, False),
    ],
)
def test_steal(times: range, ratio: float, expected: bool) -> None:
    assert codes(watched(30, (times, {"cpu_steal_ratio": ratio}))) == ["steal"] * expected


def test_memory_that_comes_back_from_swap(golden: Golden) -> None:
    machines = watched(60, (range(21, 31), {"memory_wait_ratio": 0.4, "pages_swapped_in": 500}))
    (finding,) = findings(machines)
    assert (finding.code, finding.from_seconds, finding.to_seconds) == ("memory-wanted", 20, 30)
    golden.same(finding.text)


def test_a_link_that_loses_segments(golden: Golden) -> None:
    machines = watched(60, (range(21, 41), LOSSY))
    (finding,) = findings(machines)
    assert (finding.code, finding.from_seconds, finding.to_seconds) == ("retransmits", 20, 40)
    golden.same(finding.text)


def test_what_is_sent_again_is_a_share_of_all_that_is_sent() -> None:
    (finding,) = findings(watched(20, tcp_segments_sent=100, tcp_segments_resent=300))
    assert finding.text.startswith("a: 75.0 % of the TCP segments were retransmitted (6,000)")


def test_a_link_that_loses_what_is_sent_to_the_node(golden: Golden) -> None:
    lossy = {"tcp_segments_received": 300, "tcp_segments_disordered": 30}
    machines = watched(60, (range(21, 41), lossy), tcp_segments_received=90000, tcp_segments_disordered=90)
    (finding,) = findings(machines)
    assert (finding.code, finding.from_seconds, finding.to_seconds) == ("disordered", 20, 40)
    golden.same(finding.text)


def test_losses_that_an_earlier_cephtui_has_counted_are_compared_with_all_packets() -> None:
    assert codes(watched(30, packets=50_000, nic_packets={}, nic_drops={"eth0": 100})) == ["nic-drops"]
    assert codes(watched(30, packets=500_000, nic_packets={}, nic_drops={"eth0": 100})) == []


def test_interfaces_that_drop_or_damage_packets(golden: Golden) -> None:
    dropping = watched(30, nic_packets={"eth0": 40000, "eth1": 10000}, nic_drops={"eth1": 100, "eth0": 60, "eth2": 9})
    damaging = watched(30, nic_errors={"eth0": 3})
    golden.same([*told(dropping), *told(damaging)])


def test_packets_that_are_dropped_all_along_hold_up_no_run_that_stands_still() -> None:
    """Neither those of another interface, which has the most packets then, nor those of the run's own."""
    idle = {"nic_packets": {"eth1": 60}, "nic_drops": {"eth0": 30, "eth1": 30}}
    assert codes(watched(60, (range(21, 41), idle), nic_drops={"eth0": 30, "eth1": 30})) == []
    idle = {"nic_packets": {"eth0": 60}, "nic_drops": {"eth0": 30}}
    assert codes(watched(60, (range(21, 41), idle), nic_drops={"eth0": 30})) == []
    dropping = {"nic_packets": {"eth0": 600}, "nic_drops": {"eth0": 300}}
    (finding,) = findings(watched(60, (range(21, 41), dropping)))
    assert finding.text == "a: eth0 dropped 6,000 packets (50.0 % of all) from 0:20 to 0:40"


def test_the_way_to_an_osd_that_takes_long(golden: Golden) -> None:
    at_times = {"round_trips_seconds": {"10.0.0.5": 0.0022, "10.0.0.6": 0.0001, "10.0.0.7": 0.0002}}
    shorter = {"round_trips_seconds": {"10.0.0.5": 0.0021, "10.0.0.6": 0.0004}}
    machines = watched(60, (range(5, 6), at_times), (range(35, 36), shorter))
    golden.same(told(machines))
    (finding,) = findings(machines)
    assert finding.values["mean_seconds"] == pytest.approx(0.0008)
    use = machines.use("a")
    assert use
    assert use.round_trips_seconds == {"10.0.0.5": 0.0021, "10.0.0.6": 0.0001, "10.0.0.7": 0.0002}
    assert not findings(watched(20, (range(5, 6), {"round_trips_seconds": {"10.0.0.6": 0.0004}})))


def test_what_is_known_at_the_end(golden: Golden) -> None:
    machines = watched(30)
    end = {"throttled": 40, "throttled_seconds": 20.0, "kernel_errors": ("[7.1] I/O error, dev sdb",)}
    machines.add(second(30.1, end))
    assert codes(machines) == ["throttled", "kernel-errors"]
    golden.same(told(machines))
    use = machines.use("a")
    assert use
    assert (use.throttled, use.throttled_seconds, use.kernel_errors) == (40, 20.0, end["kernel_errors"])


@pytest.mark.parametrize(("times", "seconds"), [(1, 0.1), (9, 2.0), (0, 0.0)])
def test_a_moment_of_heat_is_none(times: int, seconds: float) -> None:
    machines = watched(30)
    machines.add(second(30.1, {"throttled": times, "throttled_seconds": seconds}))
    assert codes(machines) == []


def test_a_quota_that_holds_the_benchmark_back(golden: Golden) -> None:
    machines = watched(30)
    machines.add(second(30.1, {"quota_ended": 240, "quota_seconds": 21.0}))
    assert codes(machines) == ["cpu-quota"]
    golden.same(told(machines))
    use = machines.use("a")
    assert use
    assert (use.quota_ended, use.quota_seconds) == (240, 21.0)


@pytest.mark.parametrize(("times", "seconds"), [(9, 5.0), (50, 0.2), (0, 0.0)])
def test_a_quota_that_is_hardly_reached_is_none(times: int, seconds: float) -> None:
    machines = watched(30)
    machines.add(second(30.1, {"quota_ended": times, "quota_seconds": seconds}))
    assert codes(machines) == []


@pytest.mark.parametrize(("offset", "expected"), [(300.0, True), (-300.0, True), (1.5, False), (-1.5, False)])
def test_a_clock_that_is_off_is_noted(offset: float, expected: bool) -> None:
    machines = watched(30, clock_offset_seconds=offset)
    assert codes(machines) == ["clock"] * expected
    assert all(finding.level == "note" for finding in findings(machines))


def test_an_answer_that_came_late_does_not_set_a_clock_back() -> None:
    assert codes(watched(30, (range(1, 30), {"clock_offset_seconds": -8.0}))) == []


def test_a_clock_that_is_set_during_the_run(golden: Golden) -> None:
    machines = watched(30, (range(12, 13), {"clock_step_seconds": -60.0}))
    (finding,) = findings(machines)
    assert (finding.code, finding.from_seconds) == ("clock-step", 12)
    golden.same(finding.text)


def test_little_is_kept_of_a_long_run() -> None:
    machines = Machines()
    for at in range(1, 5001):
        machines.add(second(at, TAKEN if at % 20 < 6 else {}))
    assert len(findings(machines)) <= 12
    assert max(f.to_seconds or 0.0 for f in findings(machines)) > 4900


def test_the_use_of_a_whole_run() -> None:
    first = {"cpu_busy_ratio": 1.0, "nic_drops": {"eth0": 1}, "disk_busy_ratio": {"sda": 1.0}}
    machines = watched(10, (range(1, 6), first), cpu_busy_ratio=0.5, cpu_own_ratio=None)
    unknown = ("cpu_busy_ratio", "cpu_own_ratio", "tcp_segments_sent", "tcp_segments_resent")
    machines.add(second(10.1, dict.fromkeys(unknown)))
    use = machines.use("a")
    assert use
    assert use.cpu_busy_ratio == 0.75
    assert use.cpu_own_ratio is None
    assert (use.tcp_segments_sent, use.nic_drops, use.disk_busy_ratio) == (200000, {"eth0": 5}, {"sda": 0.455})
    assert machines.use("b") is None


# ---------------------------------------------------------------------------------------------- what it explains


def starved(taken: Iterable[NodeSample]) -> tuple[Finding, ...]:
    """The findings of a run of two nodes in which the first completed nothing from 0:10 to 0:16."""
    course = Course()
    course.cluster(ClusterSample(run=1, elapsed_seconds=0.0, phase="prepare", health="HEALTH_OK", osds=3, osds_up=3))
    for sample in taken:
        course.machine(sample)
    for at in range(1, 31):
        for node in ("a", "b"):
            ios = 0 if node == "a" and 10 < at <= 16 else 1000
            done = Interval(ios, 4096 * ios, float(ios), 4096.0 * ios)
            course.add(Sample(1, node, "write-iops", "run", float(at), 1.0, None, done if ios else None))
        if at % 2 == 0:
            course.cluster(ClusterSample(run=1, elapsed_seconds=float(at), health="HEALTH_OK", osds=3, osds_up=3))
    course.end("a", 30.2)
    course.end("b", 30.2)
    return course.findings()


def test_a_node_that_starves_is_explained_by_what_took_its_cpus(golden: Golden) -> None:
    taken = starved(second(at, TAKEN if 10 < at <= 20 else {}) for at in range(1, 31))
    assert [finding.code for finding in taken] == ["cpu-taken", "stalled"]
    golden.same(taken[1].text)


@pytest.mark.parametrize(("node", "since"), [("b", 10), ("a", 22)])
def test_what_happened_elsewhere_or_later_explains_nothing(node: str, since: int) -> None:
    taken = starved(second(at, TAKEN if at > since else {}, node) for at in range(1, 31))
    (stalled,) = [finding for finding in taken if finding.code == "stalled"]
    assert stalled.values["unexplained"] is True


def test_a_little_steal_explains_no_stall() -> None:
    taken = {finding.code: finding for finding in starved(second(at, {"cpu_steal_ratio": 0.08}) for at in range(1, 31))}
    assert taken.keys() == {"steal", "stalled"}
    assert "cause" not in taken["stalled"].values


def test_steal_of_the_whole_run_is_no_cause_of_a_dip_in_it() -> None:
    course = Course("iops", "fio")
    for at in range(1, 61):
        ios = 300 if 30 < at <= 36 else 1000
        for node in ("a", None):
            done = Interval(ios, 4096 * ios, float(ios), 4096.0 * ios)
            course.add(Sample(1, node, "write-iops", "run", float(at), 1.0, None, done))
        course.machine(second(at, {"cpu_steal_ratio": 0.25}))
        missing = ("1",) if 30 < at <= 36 else ()
        course.osds(OsdSample(run=1, elapsed_seconds=float(at), interval_seconds=1.0, missing=missing))
    course.end("a", 60.2)
    dip, steal = sorted(course.findings(), key=lambda finding: finding.code)
    assert (dip.code, dip.values["cause"]) == ("dip", "osd.1 did not answer")
    assert (steal.code, steal.from_seconds) == ("steal", 0.0)
